"""Bases: features that are computed from observations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from . import _native, convert

if TYPE_CHECKING:
    from .parts import Active, Dense

_B = TypeVar("_B", bound="Basis")

# What a setting may be, and its default. None: it has none, or can be left out.
Setting = tuple[str, Any]

# The bound of an unbounded dimension, such as CartPole's velocities: infinity or the largest float32.
_UNBOUNDED = float(np.finfo(np.float32).max)

# The largest number of tiles, centres and the like in a dimension.
_MOST = 10**6


class Basis:
    """Features of observations, for the range from `low` to `high` in each dimension.

    Called with observations `[..., dimensions]`, a basis returns all features, `[..., len]`. Given as `features` to a
    policy, a critic or an emphasis, it lets the learner take observations as they are: features are computed
    in Rust, and saved with the learner is which. Step-sizes are divided by the number of features that are active at once.

    >>> import emphatic
    >>> basis = emphatic.PolynomialBasis(low=[-1.2, -0.07], high=[0.6, 0.07], degree=2)
    >>> basis([0.15, 0.035])
    array([1.  , 0.5 , 0.5 , 0.25, 0.25, 0.25])
    >>> agent = emphatic.ACE(emphatic.Softmax(basis, actions=3), emphatic.GTD(0.1, 1e-3), alpha=0.1)
    >>> agent.step([0.15, 0.035], 2, -1.0, [0.185, 0.034], mu=1 / 3, gamma_next=0.99).delta
    -1.0
    """

    low: convert.Floats
    high: convert.Floats

    # The name in files.
    _kind: ClassVar[str]
    # Besides `low` and `high`.
    _settings: ClassVar[dict[str, Setting]]

    _basis: _native.Basis
    _recipe: str

    def _set(self, low: npt.ArrayLike, high: npt.ArrayLike, **given: Any) -> None:
        """Sets all settings. Those that are left out have their defaults."""
        lower, upper = _box(low, high)
        settings, recipe = {}, {"kind": self._kind, "low": lower.tolist(), "high": upper.tolist()}
        for name, (kind, default) in self._settings.items():
            settings[name] = _READ[kind](given.get(name, default), name, lower.size)
            if settings[name] != _READ[kind](default, name, lower.size):
                recipe[name] = settings[name]
        text = json.dumps(recipe)
        self.__dict__.update(low=lower, high=upper, **settings, _recipe=text, _basis=_native.Basis(text))

    @classmethod
    def _of(cls: type[_B], recipe: str) -> _B:
        """Makes a basis of its recipe as JSON, in which whole numbers may have been written as floats."""
        settings = json.loads(recipe)
        del settings["kind"]
        for name, (kind, _) in cls._settings.items():
            if name in settings and kind in ("count", "counts", "whole"):
                settings[name] = np.asarray(settings[name], np.int64).tolist()
        basis = cls.__new__(cls)
        basis._set(**settings)
        return basis

    @property
    def len(self) -> int:
        """The number of features."""
        return self._basis.len

    @property
    def features(self) -> Dense | Active:
        """What this basis returns, as a policy or a critic takes it: for observations that have become features before. Learners learn the same from them, to the
        bit; where an `ObservationBasis` with `norm` or `none` leaves zeros out, sums are in another order."""
        from .parts import Dense

        return Dense(self.len)

    def __call__(self, observations: npt.ArrayLike) -> npt.NDArray[Any]:
        """All features, `[len]`, or `[..., len]` of observations `[..., dimensions]`."""
        return self._basis.values(observations)

    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"{name} of a {type(self).__name__} cannot be changed; make another one")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Basis) and self._recipe == other._recipe

    def __hash__(self) -> int:
        return hash(self._recipe)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (self._recipe,)

    def __repr__(self) -> str:
        """Leaves out what has its default."""
        settings = {name: value for name, value in json.loads(self._recipe).items() if name != "kind"}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in settings.items())})"


def restored(recipe: str) -> Basis:
    """Makes a basis of its recipe in a file."""
    from .catalogue import BASES

    return BASES[json.loads(recipe)["kind"]]._of(recipe)


def _box(low: npt.ArrayLike, high: npt.ArrayLike) -> tuple[convert.Floats, convert.Floats]:
    lower = np.atleast_1d(np.array(low, np.float64))
    upper = np.atleast_1d(np.array(high, np.float64))
    if lower.ndim != 1 or lower.shape != upper.shape or lower.size == 0:
        raise ValueError(
            f"low has the shape {lower.shape} and high {upper.shape}; both must have a number for each dimension"
        )
    for i, (a, b) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        if not b - a < _UNBOUNDED:
            raise ValueError(
                f"dimension {i} reaches from {a} to {b}, which no number of features covers; "
                "give finite low and high, such as the range that observations really have"
            )
        if not a < b:
            raise ValueError(f"dimension {i} reaches from {a} to {b}; low must be less than high")
    # They are the basis's own.
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper


def _count(value: Any, name: str, _dimensions: int) -> int | None:
    return None if value is None else convert.count(value, name, most=_MOST)


def _whole(value: Any, name: str, _dimensions: int) -> int:
    return convert.count(value, name, least=0)


def _positive(value: Any, name: str, _dimensions: int) -> float:
    return convert.number(value, name)


def _flag(value: Any, name: str, _dimensions: int) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def _word(value: Any, name: str, _dimensions: int) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; it must be a word")
    return str(value)


def _counts(value: Any, name: str, dimensions: int) -> tuple[Any, ...] | None:
    return None if value is None else _each(_count, value, name, dimensions)


def _flags(value: Any, name: str, dimensions: int) -> tuple[Any, ...]:
    return _each(_flag, value, name, dimensions)


def _each(read: Any, value: Any, name: str, dimensions: int) -> tuple[Any, ...]:
    """Reads a value for each dimension, or one for all."""
    if np.ndim(value) == 0:
        return (read(value, name, dimensions),) * dimensions
    values = tuple(read(one, f"{name}[{i}]", dimensions) for i, one in enumerate(np.asarray(value).tolist()))
    if len(values) != dimensions:
        right = f"one for all, or one for each of {dimensions} dimensions"
        raise ValueError(f"{name} has {len(values)} entries; it must have {right}")
    return values


# How each kind of setting is read.
_READ: dict[str, Any] = {
    "count": _count,
    "counts": _counts,
    "whole": _whole,
    "positive": _positive,
    "flag": _flag,
    "flags": _flags,
    "word": _word,
}
