"""What the parts of a learner have in common, and the features they see of a state. Plain data, which the native module reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Optional, Union, get_args

import numpy as np
import numpy.typing as npt

from . import convert
from .bases import Basis


class _Checked:
    """A dataclass that converts whole numbers to int and real numbers to float, or refuses them."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # Every class of parts is a dataclass.
            if field.type == "int":
                object.__setattr__(self, field.name, convert.count(getattr(self, field.name), field.name))
            elif field.type in ("float", float):
                object.__setattr__(self, field.name, convert.number(getattr(self, field.name), field.name))
            elif field.name == "features" and getattr(self, "features") is not None:
                _check_features(getattr(self, "features"))

    def __repr__(self) -> str:
        """Leaves out what is None, and a part inside that is the default one."""
        shown = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is not None and not (isinstance(value, Part) and value == field.default):
                shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


# --- Features: what is seen of a state ---


@dataclass(frozen=True, repr=False)
class Dense(_Checked):
    """States that come as vectors of `len` features. Step-sizes are divided by `len`."""

    len: int


@dataclass(frozen=True, repr=False)
class Active(_Checked):
    """States that come as lists of active features, each with the value one (tile coding): at most `most_active` out of
    `len` at once. Step-sizes are divided by `most_active`."""

    len: int
    most_active: int


@dataclass(frozen=True, repr=False)
class OneHot(_Checked):
    """States that come as numbers from 0, with a feature for each: the tabular case."""

    states: int

    @property
    def len(self) -> int:
        """The number of features."""
        return self.states


class Table:
    """States that come as numbers from 0, with features written out in a table [states, features]. States with the same row
    look the same.

    >>> Table([[1, 0], [0, 1], [0, 1]])  # the counterexample: the last two states are aliased
    Table(3 states, 2 features)
    """

    def __init__(self, rows: npt.ArrayLike) -> None:
        matrix = convert.floats(rows, "rows", 2)
        wrong = convert.first(~np.isfinite(matrix))
        if wrong is not None:
            state, feature = wrong
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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and (self.len, self._rows) == (other.len, other._rows)

    def __hash__(self) -> int:
        return hash((self.len, self.states))

    def __repr__(self) -> str:
        return f"Table({self.states} states, {self.len} features)"


Features = Union[Dense, Active, OneHot, Table, Basis]

# --- Parts: policies, critics, emphases, actors, schedules ---

# The default of a required field that follows fields with defaults.
REQUIRED: Any = None

# A part inside another: its field, its role, and what it must estimate if it is a critic.
Inner = tuple[str, str, Optional[str]]


@dataclass(frozen=True, repr=False)
class Part(_Checked):
    """A policy, a critic, an emphasis, an actor or a schedule of the catalogue.

    An emphasis inside a critic has no λ_a of its own: it is 1. One that is left at its default becomes 1, any other is refused."""

    # "policy", "critic", "emphasis", "actor" or "schedule".
    _role: ClassVar[str]
    # The name in files.
    _kind: ClassVar[str]
    # What a critic estimates, or what an actor needs its critic to.
    _tells: ClassVar[tuple[str, ...]] = ()
    # What it cannot do without: a "problem" that is known, a "ratio", "finite" actions, or states with numbers (a "table").
    _needs: ClassVar[tuple[str, ...]] = ()
    # The parts inside it.
    _inner: ClassVar[tuple[Inner, ...]] = ()
    # How a policy chooses an action: it draws one of finitely many ("finite") or a real one ("real"), or computes it ("deterministic").
    _acts: ClassVar[str] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, role, tells in self._inner:
            inner = getattr(self, name)
            if not (isinstance(inner, Part) and inner._role == role and tells in (None, *inner._tells)):
                from .catalogue import PARTS

                right = [kind for kind in PARTS[role].values() if tells in (None, *kind._tells)]
                raise TypeError(f"{name} is {inner!r}; it must be {either(right)}")
            if role == "emphasis":
                object.__setattr__(self, name, self._full(inner, name))

    def _full(self, emphasis: Part, name: str) -> Part:
        """Returns an emphasis inside this part with λ_a = 1."""
        default = next((field.default for field in fields(emphasis) if field.name == "lambda_a"), None)
        if default is None:
            return emphasis
        given = getattr(emphasis, "lambda_a")
        if given not in (1.0, default):
            raise ValueError(
                f"lambda_a is {given} in `{name}` of {type(self).__name__}; inside a critic it is always 1: leave it out"
            )
        return replace(emphasis, lambda_a=1.0)  # type: ignore[call-arg]  # It has this field.


def kinds(union: Any) -> tuple[type[Part], ...]:
    """Returns the classes of a union, or the one class that it is."""
    return get_args(union) or (union,)


def either(classes: Sequence[type[Part]]) -> str:
    """Returns the names of the classes: A, B or C."""
    *others, last = [kind.__name__ for kind in classes]
    return f"{', '.join(others)} or {last}" if others else last


def _check_features(features: object) -> None:
    if not isinstance(features, (Dense, Active, OneHot, Table, Basis)):
        right = "Dense, Active, OneHot, Table or a basis such as TileCoder"
        raise TypeError(f"features are {features!r}; they must be {right}")
