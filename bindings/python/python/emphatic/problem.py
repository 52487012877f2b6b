"""Decision problems, their exact solutions and diagnoses."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _native, catalogue, convert, parts
from .batch import Batch
from .convert import Floats, Ints
from .diagnosis import Diagnosis
from .progress import Bar
from .solution import Solution, shaped


class Transitions(NamedTuple):
    """All transitions of a problem, sorted by state and action. One that ends the episode has gamma 0; `next` is where the next
    episode starts, so an end may take several rows."""

    state: Ints
    action: Ints
    next: Ints
    probability: Floats
    reward: Floats
    gamma: Floats


class Problem(_native.Problem):
    """A decision problem with a behaviour, a target policy, an interest and what actor and critic see.

    >>> problem = Problem.open("counterexample")
    >>> problem
    <Problem counterexample: 3 states, 2 actions>
    >>> problem.solve().objective
    0.6875
    """

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Problem:
        """A problem file (TOML or JSON), or one of `emphatic.problems()` by its name."""
        return cls(path)

    @classmethod
    def parse(cls, text: str, name: str = "problem.toml") -> Problem:
        """The text of a problem file; JSON if the name ends in `.json`."""
        return cls(name, text)

    @classmethod
    def from_arrays(
        cls,
        probability: npt.ArrayLike,
        reward: npt.ArrayLike,
        *,
        gamma: npt.ArrayLike = 1.0,
        ends: npt.ArrayLike = 0.0,
        end_reward: npt.ArrayLike = 0.0,
        start: int | str | npt.ArrayLike,
        behaviour: npt.ArrayLike,
        target: npt.ArrayLike | None = None,
        interest: npt.ArrayLike = 1.0,
        actor: npt.ArrayLike | None = None,
        critic: npt.ArrayLike | None = None,
        states: Sequence[str] | None = None,
        actions: Sequence[str] | None = None,
        name: str = "problem",
    ) -> Problem:
        """A problem from arrays over S states and A actions.

        `probability` [S, A, S] is that of each next state, `ends` [S, A] that of ending the episode: together they sum
        to one. `reward` and `gamma` [S, A, S] go with the transitions and `end_reward` [S, A] with the ends. A number will do for
        all, and a dimension of length 1: rewards by state and action are reward[:, :, None]. `start` is a state, "uniform" or probabilities [S]; `behaviour` and `target` are
        [S, A] or [A], or "uniform"; `interest` [S] or a number; `actor` and `critic` are features [S, F], by default the states themselves.

        >>> Problem.from_arrays([[[0, 1], [1, 0]], [[0, 0], [0, 0]]], reward=0, start=0, behaviour=[0.5, 0.5],
        ...                     ends=[[0, 0], [1, 1]], end_reward=[[0, 0], [1, 2]], gamma=0.9).solve().value.round(3)
        array([1.227, 1.5  ])
        """
        p = convert.floats(probability, "probability", 3)
        if p.shape[0] != p.shape[2] or 0 in p.shape:
            raise ValueError(f"probability has the shape {p.shape}; it must be [states, actions, states]")
        names = _Names(_named(states, "states", p.shape[0]), _named(actions, "actions", p.shape[1]))
        rows = _rows_from_arrays(names, p, ends, reward, gamma, end_reward)
        rest = _Rest(start, behaviour, target, interest, actor, critic)
        return cls._from_rows(names, rows, rest, name)

    @classmethod
    def from_gymnasium(
        cls,
        env: Any,
        *,
        gamma: float = 1.0,
        behaviour: npt.ArrayLike | None = None,
        target: npt.ArrayLike | None = None,
        interest: npt.ArrayLike = 1.0,
        actor: npt.ArrayLike | None = None,
        critic: npt.ArrayLike | None = None,
    ) -> Problem:
        """A problem from a Gymnasium environment with a transition table `P`, or its name: FrozenLake, Taxi, CliffWalking.
        `behaviour` left out: all actions alike. States that cannot be reached from the start are kept."""
        gamma = convert.number(gamma, "gamma")
        opened = convert.library("gymnasium").make(env) if isinstance(env, str) else nullcontext(env)
        with opened as env:
            inner = getattr(env, "unwrapped", env)
            table, start = getattr(inner, "P", None), getattr(inner, "initial_state_distrib", None)
            if not isinstance(table, Mapping) or start is None:
                right = "FrozenLake, Taxi and CliffWalking have"
                raise TypeError(f"{env} has no transition table `P` with `initial_state_distrib`; {right}")
            _warn_of_what_is_not_in_the_table(env)
            if not table or not all(isinstance(actions, Mapping) and actions for actions in table.values()):
                wrong = "has a state without actions, or no states at all"
                raise ValueError(f"the transition table `P` of {env} {wrong}")
            count = len(next(iter(table.values())))
            names = _Names(_named(None, "states", len(table)), _named(None, "actions", count))
            mu = np.full(count, 1.0 / count) if behaviour is None else behaviour
            rest = _Rest(start, mu, target, interest, actor, critic)
            spec = getattr(env, "spec", None)
            name = type(inner).__name__ if spec is None else spec.id
            return cls._from_rows(names, _rows_from_table(names, table, gamma), rest, name)

    @classmethod
    def _from_rows(cls, names: _Names, rows: list[dict[str, Any]], rest: _Rest, name: str) -> Problem:
        """Makes a problem by way of a problem file, which is checked in one place and can be saved."""
        data = {"states": names.states, "actions": names.actions, "transitions": rows, **rest.data(names)}
        try:
            text = json.dumps(data, allow_nan=False)
        except ValueError:
            raise ValueError(
                "a number of the problem is infinite or not a number; all must be finite"
            ) from None
        file = name if name.endswith(".json") else f"{name}.json"
        try:
            return cls(file, text)
        except _native.FileError as error:
            # The user wrote arrays: a place in the text would not help.
            place = rf"{re.escape(file)}(, line \d+, column \d+)?: "
            raise ValueError(re.sub(f"^{place}", "", str(error))) from None

    # --- What it is ---

    @property
    def transitions(self) -> Transitions:
        """All transitions, as columns."""
        return Transitions(**self._transitions())

    @property
    def actor(self) -> parts.Table:
        """What the actor sees of each state."""
        return parts.Table._sparse(*self._features(False))

    @property
    def critic(self) -> parts.Table:
        """What the critic sees of each state."""
        return parts.Table._sparse(*self._features(True))

    @property
    def target_weights(self) -> Floats | None:
        """The weights of the target policy in the shape of a learner's; None if it is given by probabilities that no weights have."""
        kind, weights = self._target()
        return None if weights is None else shaped(weights, kind, len(self.actions))

    def softmax(self) -> catalogue.Softmax:
        """A softmax policy over what the actor sees."""
        if not self.actions:
            raise TypeError("this problem has a real action: use gaussian() or deterministic()")
        return catalogue.Softmax(self.actor, len(self.actions))

    def gaussian(self) -> catalogue.Gaussian:
        """A Gaussian policy over what the actor sees, where the action is a real number."""
        if self.actions:
            raise TypeError("this problem has finitely many actions: use softmax()")
        return catalogue.Gaussian(self.actor)

    def deterministic(self) -> catalogue.DeterministicLinear:
        """A deterministic policy over what the actor sees, where the action is a real number."""
        if self.actions:
            raise TypeError("this problem has finitely many actions: use softmax()")
        return catalogue.DeterministicLinear(self.actor)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the problem file; a problem from arrays is JSON, so let the name end in `.json`."""
        is_json = self.text.lstrip().startswith("{")
        if is_json != os.fspath(path).endswith(".json"):
            right = "in" if is_json else "in no"
            raise ValueError(
                f"{os.fspath(path)}: the text of this problem is {'JSON' if is_json else 'TOML'}; let the name end {right} `.json`"
            )
        _native.write_file(path, self.text.encode())

    def __repr__(self) -> str:
        actions = f"{len(self.actions)} actions" if self.actions else "a real action"
        return f"<Problem {self.name.removesuffix('.json')}: {len(self.states)} states, {actions}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.text)

    # --- What is true of it ---

    def stream(self, steps: int, *, seed: int, run: int = 0) -> Batch:
        """Experience of the behaviour: the same bits for the same seed and run as everywhere in emphatic. `x` are the numbers of states."""
        columns = self._experience(
            convert.count(steps, "steps", least=0),
            convert.count(seed, "seed", 0),
            convert.count(run, "run", 0),
        )
        ended = columns["gamma_next"] == 0
        return Batch(**columns, terminated=ended)._with_actions(len(self.actions or ()))

    def objective(self, weights: npt.ArrayLike) -> float:
        """J_μ of the policy with these weights, in the shape of a learner's."""
        flat, outputs = self._flat(weights)
        return self._objective(flat, outputs)

    def solve(
        self,
        lambda_a: float = 1.0,
        *,
        weights: npt.ArrayLike | None = None,
        probabilities: npt.ArrayLike | None = None,
    ) -> Solution:
        """Everything that is exactly true of the problem's target policy, of the policy with other `weights`, or of a policy given by
        its `probabilities` [S, A]. `lambda_a` is that of the emphatic weighting and of `Solution.with_lambda_a`."""
        if weights is not None and probabilities is not None:
            raise ValueError("give weights or probabilities, not both")
        flat, outputs = (None, 1) if weights is None else self._flat(weights)
        rows = None
        if probabilities is not None:
            if not self.actions:
                raise TypeError(
                    "this problem has a real action: its policies have weights, not probabilities"
                )
            rows = convert.readable(
                _probabilities(probabilities, "probabilities", len(self.states), len(self.actions))
            )
        found = self._solve(convert.number(lambda_a, "lambda_a"), flat, outputs, rows)
        return Solution._of(self, found)

    def diagnose(
        self,
        *,
        starts: int | None = None,
        seed: int = 1,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Diagnosis:
        """What it means to learn off-policy here: where the gradient and the semi-gradient lead, whether the emphasis can be
        estimated, whether critics are stable, and what to try. `starts` is the number of random starts; by default what
        the size of the problem allows."""
        starts = None if starts is None else convert.count(starts, "starts", least=0, most=1_000_000)
        threads = None if threads is None else convert.count(threads, "threads")
        with Bar("following flows", progress) as bar:
            found = self._diagnose(starts, convert.count(seed, "seed", 0), threads, bar)
        return Diagnosis._of(json.loads(found["json"]), found["text"], found["svg"], found["experiment"])

    def _flat(self, weights: npt.ArrayLike) -> tuple[Floats, int]:
        found = convert.array(weights, "weights")
        features = self._actor_len()
        if self.actions:
            right: tuple[tuple[int, ...], ...] = ((features, len(self.actions)),)
        else:
            right = ((features, 2), (features,))
        if found.shape not in right:
            shapes = " or ".join(str(shape) for shape in right)
            raise ValueError(f"weights have the shape {found.shape}; they must have {shapes}")
        flat = convert.readable(convert.finite(found, "weights")).ravel()
        return flat, 1 if found.ndim == 1 else found.shape[1]


@dataclass
class _Names:
    """The names of states and actions."""

    states: list[str]
    actions: list[str]


def _named(given: Sequence[str] | None, what: str, count: int) -> list[str]:
    """Returns the given names; those left out are numbers."""
    names = [str(name) for name in (range(count) if given is None else given)]
    if len(names) != count:
        raise ValueError(f"there are {len(names)} names of {what} for {count} {what}")
    return names


@dataclass
class _Rest:
    """All of a problem but its transitions, as a user writes it."""

    start: int | str | npt.ArrayLike
    behaviour: npt.ArrayLike
    target: npt.ArrayLike | None
    interest: npt.ArrayLike
    actor: npt.ArrayLike | None
    critic: npt.ArrayLike | None

    def data(self, names: _Names) -> dict[str, Any]:
        """Returns the entries of a problem file."""
        states, count = names.states, len(names.states)
        data: dict[str, Any] = {
            "start": _start(self.start, states),
            "behaviour": _policy(self.behaviour, "behaviour", names),
        }
        if self.target is not None:
            data["target"] = _policy(self.target, "target", names)
        interest = convert.finite(convert.broadcast(self.interest, "interest", (count,)), "interest")
        data["interest"] = dict(zip(states, interest.tolist()))
        features = {
            whose: dict(zip(states, _features(table, whose, count).tolist()))
            for whose, table in (("actor", self.actor), ("critic", self.critic))
            if table is not None
        }
        return data | ({"features": features} if features else {})


def _rows_from_arrays(
    names: _Names,
    probability: Floats,
    ends: npt.ArrayLike,
    reward: npt.ArrayLike,
    gamma: npt.ArrayLike,
    end_reward: npt.ArrayLike,
) -> list[dict[str, Any]]:
    """Returns the transitions of a problem file."""
    shape, pairs = probability.shape, probability.shape[:2]
    end = convert.finite(convert.broadcast(ends, "ends", pairs), "ends")
    outcomes = np.concatenate([convert.finite(probability, "probability"), end[:, :, None]], axis=2)
    outcomes = convert.normalised(outcomes)
    sums = outcomes.sum(axis=2)
    wrong = convert.first(abs(sums - 1) > convert.ROUNDING)
    if wrong is not None:
        s, a = wrong
        raise ValueError(f"probability[{s}, {a}] and ends[{s}, {a}] sum to {sums[s, a]}; they must sum to 1")
    p, end = outcomes[:, :, :-1], outcomes[:, :, -1]

    def where_possible(possible: Floats, value: npt.ArrayLike, name: str, shape: tuple[int, ...]) -> Floats:
        # Numbers of impossible transitions are ignored.
        return convert.finite(np.where(possible != 0, convert.broadcast(value, name, shape), 0.0), name)

    rewards, gammas = where_possible(p, reward, "reward", shape), where_possible(p, gamma, "gamma", shape)
    end_rewards = where_possible(end, end_reward, "end_reward", pairs)

    rows: list[dict[str, Any]] = [
        {
            "from": names.states[s],
            "action": names.actions[a],
            "to": names.states[n],
            "probability": float(p[s, a, n]),
            "reward": float(rewards[s, a, n]),
            "gamma": float(gammas[s, a, n]),
        }
        for s, a, n in np.argwhere(p != 0)
    ]
    rows += [
        {
            "from": names.states[s],
            "action": names.actions[a],
            "end": True,
            "probability": float(end[s, a]),
            "reward": float(end_rewards[s, a]),
        }
        for s, a in np.argwhere(end != 0)
    ]
    return rows


def _rows_from_table(names: _Names, table: Mapping[Any, Any], gamma: float) -> list[dict[str, Any]]:
    """Returns the transitions of a problem file from Gymnasium's table."""
    rows: list[dict[str, Any]] = []
    states = len(names.states)
    outcomes = (
        (state, action, outcome)
        for state, by_action in table.items()
        for action, all_outcomes in by_action.items()
        for outcome in all_outcomes
    )
    for state, action, (probability, following, reward, terminated) in outcomes:
        if not 0 <= following < states:
            raise ValueError(
                f"P[{state}][{action}] leads to {following}; there are {states} states, numbered from 0"
            )
        row = {
            "from": names.states[int(state)],
            "action": names.actions[int(action)],
            "probability": float(probability),
            "reward": float(reward),
        }
        to = {"end": True} if terminated else {"to": names.states[int(following)], "gamma": gamma}
        rows.append(row | to)
    return [row for row in rows if row["probability"] > 0]


def _warn_of_what_is_not_in_the_table(env: Any) -> None:
    """Warns of wrappers and options that change the environment but not its transition table."""
    ignored = []
    while (inner := getattr(env, "env", None)) is not None:
        if any(kind in {base.__name__ for base in type(env).__mro__} for kind in _CHANGING):
            ignored.append(type(env).__name__)
        env = inner
    ignored += ["fickle_passenger"] if getattr(env, "fickle_passenger", False) else []
    if ignored:
        warnings.warn(
            f"{', '.join(ignored)}: this is not in the environment's transition table and is left out",
            RuntimeWarning,
            stacklevel=3,
        )


# Gymnasium's wrappers that change what is seen, done or earned.
_CHANGING = ("ObservationWrapper", "ActionWrapper", "RewardWrapper")


def problems() -> dict[str, str]:
    """The shipped problems: their names, and what each is."""
    return dict(_native.shipped_problems())


def _probabilities(value: npt.ArrayLike, name: str, states: int, actions: int) -> Floats:
    found = convert.array(value, name).astype(np.float64)
    if found.shape not in ((states, actions), (actions,)):
        raise ValueError(
            f"{name} has the shape {found.shape}; it must be [{states}, {actions}] or [{actions}]"
        )
    return np.broadcast_to(convert.normalised(convert.finite(found, name)), (states, actions))


def _policy(value: npt.ArrayLike, name: str, names: _Names) -> Any:
    if isinstance(value, str):
        return value
    rows = _probabilities(value, name, len(names.states), len(names.actions))
    return {state: dict(zip(names.actions, row.tolist())) for state, row in zip(names.states, rows)}


def _features(value: npt.ArrayLike, whose: str, states: int) -> Floats:
    found = convert.floats(value, whose, 2)
    if len(found) != states:
        raise ValueError(
            f"{whose} has the shape {found.shape}; it must have a row for each of {states} states"
        )
    return convert.finite(found, whose)


def _start(start: int | str | npt.ArrayLike, states: list[str]) -> Any:
    if isinstance(start, str):
        return start
    if isinstance(start, (int, np.integer)) and not isinstance(start, bool):
        if not 0 <= start < len(states):
            raise IndexError(f"start is {start}; there are {len(states)} states, numbered from 0")
        return states[int(start)]
    shares = convert.floats(start, "start", 1)
    if len(shares) != len(states):
        raise ValueError(
            f"start has the shape {shares.shape}; it must have one probability for each of {len(states)} states"
        )
    convert.finite(shares, "start")
    return {state: float(share) for state, share in zip(states, convert.normalised(shares)) if share != 0}
