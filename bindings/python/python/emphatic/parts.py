"""What the parts of a learner have in common, and what they see of a state. Plain data; a learner is put together from them."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, Union, get_args

import numpy as np
import numpy.typing as npt

from . import convert

if TYPE_CHECKING:
    from .problem import Problem

Data = dict[str, Any]


class _Checked:
    """Whole numbers are made ints and real numbers floats, or refused."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # Every class of parts is a dataclass.
            if field.type == "int":
                object.__setattr__(self, field.name, convert.count(getattr(self, field.name), field.name))
            elif field.type in ("float", float):
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

# --- Parts: policies, critics, emphases ---

_P = TypeVar("_P", bound="Part")

# Stands where something must be said after what need not be.
REQUIRED: Any = None


@dataclass(frozen=True, repr=False)
class Part(_Checked):
    """A policy, a critic or an emphasis of the catalogue."""

    # What it is there for, and its name in files.
    _role: ClassVar[str]
    _kind: ClassVar[str]
    # The numbers it is set by, as files call them.
    _settings: ClassVar[tuple[str, ...]] = ()
    # What a critic tells.
    _tells: ClassVar[tuple[str, ...]] = ()
    # The field of the part inside it, and what that must tell.
    _inner: ClassVar[tuple[str, str] | None] = None
    # What a policy does: it draws one of finitely many actions ("finite") or a real one ("real"), or computes it ("deterministic").
    _acts: ClassVar[str] = ""
    # How many weights a policy has for each feature; None if it is one for each action.
    _outputs: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._inner is not None:
            name, tells = self._inner
            inner = getattr(self, name)
            if not (isinstance(inner, Part) and tells in inner._tells):
                right = [kind for kind in kinds_of("critic") if tells in kind._tells]
                raise TypeError(f"{name} is {inner!r}; it must be {either(right)}")

    def _data(self, problems: list[Problem]) -> Data:
        """The part as data; a problem is its place in a list."""
        data: Data = {"kind": self._kind}
        if self._settings:
            data["numbers"] = {name: getattr(self, _field(name)) for name in self._settings}
        if getattr(self, "features", None) is not None:
            data["features"] = _features(getattr(self, "features"))
        if self._inner is not None:
            data["inner"] = getattr(self, self._inner[0])._data(problems)
        if hasattr(self, "problem"):
            data["problem"] = _number_of(getattr(self, "problem"), problems)
        return data

    @classmethod
    def _read(cls: type[_P], data: Data, problems: Sequence[Problem], **more: Any) -> _P:
        """The part again."""
        numbers = data.get("numbers", {})
        values = {_field(name): numbers[name] for name in cls._settings if name in numbers} | more
        if data.get("features") is not None:
            values["features"] = _read_features(data["features"])
        if cls._inner is not None and data.get("inner") is not None:
            values[cls._inner[0]] = read("critic", data["inner"], problems)
        if any(field.name == "problem" for field in fields(cls)):
            values["problem"] = problems[data.get("problem") or 0]
        return cls(**values)


def _field(name: str) -> str:
    """The field of a setting: Python has other uses for some words."""
    return f"{name}_" if keyword.iskeyword(name) else name


def kinds_of(role: str) -> list[type[Part]]:
    """The parts of a role."""
    from .catalogue import PARTS

    return list(PARTS[role].values())


def kinds(union: Any) -> tuple[type[Part], ...]:
    """The classes of a union, which may be one."""
    return get_args(union) or (union,)


def either(classes: Sequence[type[Part]]) -> str:
    """A, B or C."""
    *others, last = [kind.__name__ for kind in classes]
    return f"{', '.join(others)} or {last}" if others else last


def read(role: str, data: Data, problems: Sequence[Problem], **more: Any) -> Any:
    """A part from data."""
    from .catalogue import PARTS

    return PARTS[role][data["kind"]]._read(data, problems, **more)


def _features(features: Features) -> Data:
    if not isinstance(features, (Dense, Active, OneHot, Table)):
        raise TypeError(f"features are {features!r}; they must be Dense, Active, OneHot or Table")
    return features._data()


def _read_features(data: Data) -> Features:
    kind = data["kind"]
    if kind == "dense":
        return Dense(data["len"])
    if kind == "active":
        return Active(data["len"], data["most_active"])
    if kind == "one_hot":
        return OneHot(data["states"])
    return Table._sparse(data["len"], data["rows"])


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
