"""The parts of a learner: features, policies, critics, emphases. Plain data; a learner is put together from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from . import convert

if TYPE_CHECKING:
    from .problem import Problem

Data = dict[str, Any]


class _Checked:
    """Whole numbers are made ints and real numbers floats, or refused."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # Every class below is a dataclass.
            if field.type == "int":
                object.__setattr__(self, field.name, convert.count(getattr(self, field.name), field.name))
            elif field.type == "float":
                object.__setattr__(self, field.name, convert.number(getattr(self, field.name), field.name))
            elif field.name == "features" and getattr(self, "features") is not None:
                _features(getattr(self, "features"))

    def __repr__(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        said = ", ".join(f"{name}={value!r}" for name, value in values.items() if value is not None)
        return f"{type(self).__name__}({said})"


# --- Features: what is seen of a state ---


@dataclass(frozen=True, repr=False)
class Dense(_Checked):
    """States that come as vectors of `len` features. Step-sizes are divided by `len`."""

    len: int

    def _data(self) -> Data:
        return {"kind": "dense", "len": self.len}


@dataclass(frozen=True, repr=False)
class Active(_Checked):
    """States that come as lists of active features, each with the value one (tile coding): at most `most_active` out of
    `len` at once. Step-sizes are divided by `most_active`."""

    len: int
    most_active: int

    def _data(self) -> Data:
        return {"kind": "active", "len": self.len, "most_active": self.most_active}


@dataclass(frozen=True, repr=False)
class OneHot(_Checked):
    """States that come as numbers from 0, with a feature for each: the tabular case."""

    states: int

    @property
    def len(self) -> int:
        """The number of features."""
        return self.states

    def _data(self) -> Data:
        return {"kind": "one_hot", "states": self.states}


class Table:
    """States that come as numbers from 0, with features written out in a table [states, features]. States with the same row
    look the same.

    >>> Table([[1, 0], [0, 1], [0, 1]])  # the counterexample: the last two states are aliased
    Table(3 states, 2 features)
    """

    def __init__(self, rows: npt.ArrayLike) -> None:
        matrix = convert.floats(rows, "rows", 2)
        wrong = np.argwhere(~np.isfinite(matrix))
        if wrong.size:
            state, feature = wrong[0]
            raise ValueError(
                f"feature {feature} of state {state} is {matrix[state, feature]}; features must be finite"
            )
        self.len: int = matrix.shape[1]
        self._rows: list[list[tuple[int, float]]] = [
            [(int(f), float(row[f])) for f in np.flatnonzero(row)] for row in matrix
        ]

    @classmethod
    def _sparse(cls, len: int, rows: Iterable[Iterable[tuple[int, float]]]) -> Table:
        table = cls.__new__(cls)
        table.len = len
        table._rows = [[(int(f), float(x)) for f, x in row] for row in rows]
        return table

    @classmethod
    def aliased(cls, groups: Sequence[int]) -> Table:
        """One feature for each group: state `s` has the single feature `groups[s]`."""
        groups = [convert.count(group, f"groups[{k}]", least=0) for k, group in enumerate(groups)]
        return cls._sparse(max(groups, default=-1) + 1, ([(group, 1.0)] for group in groups))

    @property
    def states(self) -> int:
        """The number of states."""
        return self._rows.__len__()

    def array(self) -> convert.Floats:
        """The table as an array [states, features]."""
        matrix = np.zeros((self.states, self.len))
        for state, row in enumerate(self._rows):
            for feature, value in row:
                matrix[state, feature] = value
        return matrix

    def _data(self) -> Data:
        return {"kind": "table", "len": self.len, "rows": self._rows}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and (self.len, self._rows) == (other.len, other._rows)

    def __hash__(self) -> int:
        return hash((self.len, self.states))

    def __repr__(self) -> str:
        return f"Table({self.states} states, {self.len} features)"


Features = Union[Dense, Active, OneHot, Table]

# --- Policies: how to act ---


@dataclass(frozen=True, repr=False)
class Softmax(_Checked):
    """Finitely many actions, with probabilities proportional to exp(x·θ_a). The weights are [features, actions]."""

    features: Features
    actions: int

    def _data(self) -> Data:
        return {"kind": "softmax", "features": _features(self.features), "actions": self.actions}


@dataclass(frozen=True, repr=False)
class Gaussian(_Checked):
    """A real action with mean x·θ₀ and standard deviation softplus(x·θ₁). The weights are [features, 2]."""

    features: Features

    def _data(self) -> Data:
        return {"kind": "gaussian", "features": _features(self.features)}


@dataclass(frozen=True, repr=False)
class DeterministicLinear(_Checked):
    """The action x·θ. The weights are [features]."""

    features: Features

    def _data(self) -> Data:
        return {"kind": "deterministic_linear", "features": _features(self.features)}


Policy = Union[Softmax, Gaussian, DeterministicLinear]

# --- Critics: how good was it? ---


@dataclass(frozen=True, repr=False)
class GTD(_Checked):
    """GTD(λ): learns the state's value v·x with step-size `alpha_v`, second weights with `alpha_w`, and traces with `lambda_`
    (1 means full returns; it has nothing to do with λ_a). `features` left out: the policy's."""

    alpha_v: float
    alpha_w: float
    lambda_: float
    features: Features | None = None

    def _data(self, policy: Policy, problems: list[Problem]) -> Data:
        return {"kind": "gtd", "features": _own(self.features, policy)}

    def _numbers(self) -> dict[str, float]:
        return {"alpha_v": self.alpha_v, "alpha_w": self.alpha_w, "lambda": self.lambda_}


@dataclass(frozen=True)
class ExactCritic:
    """v, q or ∂q/∂a of the current target policy, computed from the problem itself."""

    problem: Problem

    def _data(self, policy: Policy, problems: list[Problem]) -> Data:
        return {"kind": "exact", "problem": _number_of(self.problem, problems)}

    def _numbers(self) -> dict[str, float]:
        return {}


ValueCritic = Union[GTD, ExactCritic]


@dataclass(frozen=True, repr=False)
class ActionValues(_Checked):
    """q̂(s, b) by GQ(λ), with the v̂ of another critic as the baseline; for `AllActions`."""

    alpha_q: float
    alpha_h: float
    lambda_q: float
    values: ValueCritic
    features: Features | None = None

    def _data(self, policy: Policy, problems: list[Problem]) -> Data:
        features = _own(self.features, policy)
        values = _values(self.values, "values")._data(policy, problems)
        return {"kind": "action_values", "features": features, "values": values}

    def _numbers(self) -> dict[str, float]:
        own = {"alpha_q": self.alpha_q, "alpha_h": self.alpha_h, "lambda_q": self.lambda_q}
        return own | self.values._numbers()


@dataclass(frozen=True, repr=False)
class LearnedAdvantage(_Checked):
    """The advantage of each action, regressed on the δ of another critic; for `AllActions`."""

    alpha_u: float
    values: ValueCritic
    features: Features | None = None

    def _data(self, policy: Policy, problems: list[Problem]) -> Data:
        features = _own(self.features, policy)
        values = _values(self.values, "values")._data(policy, problems)
        return {"kind": "learned_advantage", "features": features, "values": values}

    def _numbers(self) -> dict[str, float]:
        return {"alpha_u": self.alpha_u} | self.values._numbers()


@dataclass(frozen=True, repr=False)
class Compatible(_Checked):
    """q̂(s, a) = v·x + (a − π(s)) u·x by GQ(0), for deterministic policies: COPDAC-GQ (Silver et al. 2014), with second weights
    (`alpha_h`) for all features."""

    alpha_v: float
    alpha_u: float
    alpha_h: float
    features: Features | None = None

    def _data(self, policy: Policy, problems: list[Problem]) -> Data:
        return {"kind": "compatible", "features": _own(self.features, policy)}

    def _numbers(self) -> dict[str, float]:
        return {"alpha_v": self.alpha_v, "alpha_u": self.alpha_u, "alpha_h": self.alpha_h}


# What each kind of learner takes: a critic of values, of all actions, or of ∂q/∂a.
ActionCritic = Union[ActionValues, LearnedAdvantage, ExactCritic]
SlopeCritic = Union[Compatible, ExactCritic]
Critic = Union[ValueCritic, ActionCritic, SlopeCritic]

# --- Emphases: how much does a state count? ---


@dataclass(frozen=True)
class NoEmphasis:
    """Every state counts by its interest: the semi-gradient of OffPAC and DPG."""

    def _data(self, problems: list[Problem]) -> Data:
        return {"kind": "none"}

    def _numbers(self) -> dict[str, float]:
        return {}


@dataclass(frozen=True, repr=False)
class FollowOn(_Checked):
    """F_t = γ_t ρ_{t−1} F_{t−1} + i_t and M_t = (1 − λ_a) i_t + λ_a F_t. λ_a = 1 is full emphasis, 0 none."""

    lambda_a: float = 0.9

    def _data(self, problems: list[Problem]) -> Data:
        return {"kind": "follow_on"}

    def _numbers(self) -> dict[str, float]:
        return {"lambda_a": self.lambda_a}


@dataclass(frozen=True)
class ExactEmphasis:
    """m(S_t)/d_μ(S_t) of the current target policy, computed from the problem itself. The interest is the problem's."""

    problem: Problem

    def _data(self, problems: list[Problem]) -> Data:
        return {"kind": "exact", "problem": _number_of(self.problem, problems)}

    def _numbers(self) -> dict[str, float]:
        return {}


Emphasis = Union[NoEmphasis, FollowOn, ExactEmphasis]


def _features(features: Features) -> Data:
    if not isinstance(features, (Dense, Active, OneHot, Table)):
        raise TypeError(f"features are {features!r}; they must be Dense, Active, OneHot or Table")
    return features._data()


def _own(features: Features | None, policy: Policy) -> Data:
    """A critic's own features, or the policy's."""
    return _features(policy.features if features is None else features)


def _values(critic: ValueCritic, name: str) -> ValueCritic:
    if not isinstance(critic, (GTD, ExactCritic)):
        raise TypeError(f"{name} is {critic!r}; it must be GTD or ExactCritic")
    return critic


def _check_problem(problem: Problem) -> None:
    from .problem import Problem

    if not isinstance(problem, Problem):
        raise TypeError(f"the problem is {problem!r}; it must be a Problem")


def _number_of(problem: Problem, problems: list[Problem]) -> int:
    """The place of a problem in a learner's list."""
    _check_problem(problem)
    for number, known in enumerate(problems):
        if known is problem:
            return number
    problems.append(problem)
    return len(problems) - 1


# --- From data again ---


def _read_features(data: Data) -> Features:
    kind = data["kind"]
    if kind == "dense":
        return Dense(data["len"])
    if kind == "active":
        return Active(data["len"], data["most_active"])
    if kind == "one_hot":
        return OneHot(data["states"])
    return Table._sparse(data["len"], data["rows"])


def _read_policy(data: Data) -> Policy:
    features = _read_features(data["features"])
    if data["kind"] == "softmax":
        return Softmax(features, data["actions"])
    return Gaussian(features) if data["kind"] == "gaussian" else DeterministicLinear(features)


def _read_values(
    data: Data, policy: Policy, numbers: dict[str, float], problems: Sequence[Problem]
) -> ValueCritic:
    if data["kind"] == "exact":
        return ExactCritic(problems[data["problem"]])
    own = _read_features(data["features"])
    return GTD(
        numbers["alpha_v"], numbers["alpha_w"], numbers["lambda"], None if own == policy.features else own
    )


def _read_critic(
    data: Data, policy: Policy, numbers: dict[str, float], problems: Sequence[Problem]
) -> Critic:
    kind = data["kind"]
    if kind in ("gtd", "exact"):
        return _read_values(data, policy, numbers, problems)
    own: Features | None = _read_features(data["features"])
    own = None if own == policy.features else own
    if kind == "compatible":
        return Compatible(numbers["alpha_v"], numbers["alpha_u"], numbers["alpha_h"], own)
    values = _read_values(data["values"], policy, numbers, problems)
    if kind == "action_values":
        return ActionValues(numbers["alpha_q"], numbers["alpha_h"], numbers["lambda_q"], values, own)
    return LearnedAdvantage(numbers["alpha_u"], values, own)


def _read_emphasis(data: Data, numbers: dict[str, float], problems: Sequence[Problem]) -> Emphasis:
    if data["kind"] == "exact":
        return ExactEmphasis(problems[data["problem"]])
    return FollowOn(numbers["lambda_a"]) if data["kind"] == "follow_on" else NoEmphasis()
