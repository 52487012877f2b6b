"""Transitions as columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import convert
from .convert import Floats

Bools = NDArray[np.bool_]

# Below the first a ratio may overflow; up to the second a sum of probabilities may be off by rounding.
LEAST_MU = float(np.finfo(np.float64).tiny)
MOST_PROBABILITY = 1 + 1e-9


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Batch:
    """Transitions of a behaviour, in the order in which they happened. `agent.learn(batch)` learns from them.

    All columns are NumPy arrays of the same length T. What has the right type already is not copied.

    x, x_next
        What was seen of S_t and S_{t+1}: feature vectors (floats, `[T, n]`), active features (integers,
        `[T, k]`) or state numbers (integers, `[T]`). Beyond an end `x_next` is not looked at.
    action
        Action numbers from 0 (integers) or real actions (floats).
    mu
        The behaviour's probability (or density) of the action it took. One number stands for all steps, as it
        does for `gamma_next` and `interest`.
    gamma_next, gamma
        The discounts out of and into S_t. An end has `gamma_next` 0. Left out, `gamma` is `gamma_next` of the
        step before, and 0 after a truncated one. At the first step it is `first`: 0, or, for a batch that goes
        on where another was cut, the last `gamma_next` of that one.
    terminated, truncated
        Where episodes ended (left out: where `gamma_next` is 0), and where only a time limit cut them (left
        out: nowhere).

    >>> batch = Batch(x=[0, 1], action=[0, 1], reward=[0, 1], x_next=[1, 0], mu=0.5, gamma_next=[1, 0])
    >>> batch
    Batch(2 steps, state numbers, action numbers, 1 terminated, 0 truncated)
    >>> batch.gamma
    array([0., 1.])
    """

    # Integers or floats.
    x: NDArray[Any]
    action: NDArray[Any]
    reward: Floats
    x_next: NDArray[Any]
    mu: Floats
    gamma: Floats
    gamma_next: Floats
    interest: Floats
    terminated: Bools
    truncated: Bools

    # How many actions there are, where that is known: some may never be taken.
    _action_count: ClassVar[int] = 0

    # Without this Python would iterate by `batch[0]`, `batch[1]`, …
    __iter__: ClassVar[None] = None

    def __init__(
        self,
        x: ArrayLike,
        action: ArrayLike,
        reward: ArrayLike,
        x_next: ArrayLike,
        *,
        mu: ArrayLike,
        gamma_next: ArrayLike,
        interest: ArrayLike = 1.0,
        gamma: ArrayLike | None = None,
        first: float = 0.0,
        terminated: ArrayLike | None = None,
        truncated: ArrayLike | None = None,
    ) -> None:
        actions = _actions(action)
        steps = len(actions)
        discounts = _spread("gamma_next", gamma_next, steps)
        _check_discounts("gamma_next", discounts)
        seen, seen_next = _seen("x", x, steps), _seen("x_next", x_next, steps, beyond=discounts == 0)
        _check_alike(seen, seen_next)
        ends = discounts == 0 if terminated is None else _flags("terminated", terminated, steps)
        limits = np.zeros(steps, np.bool_) if truncated is None else _flags("truncated", truncated, steps)
        right = "a terminated step has gamma_next 0, for example np.where(terminated, 0, gamma)"
        _check("gamma_next", discounts, ~ends | (discounts == 0), right)
        if terminated is not None:
            _warn_of_limits_that_end(discounts, ends, limits)
        self._set(
            x=seen,
            action=actions,
            reward=_finite("reward", _floats("reward", reward, steps)),
            x_next=seen_next,
            mu=_mu(mu, actions),
            gamma=_previous(discounts, limits, first) if gamma is None else _gamma(gamma, steps),
            gamma_next=discounts,
            interest=_interest(interest, steps),
            terminated=ends,
            truncated=limits,
        )

    def _with_actions(self, count: int) -> Batch:
        object.__setattr__(self, "_action_count", count)
        return self

    def _set(self, **columns: NDArray[Any]) -> None:
        for name, column in columns.items():
            object.__setattr__(self, name, column)

    @classmethod
    def _of(cls, columns: dict[str, NDArray[Any]]) -> Batch:
        """Returns a batch of columns that were checked before."""
        batch = cls.__new__(cls)
        batch._set(**columns)
        return batch

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, steps: slice) -> Batch:
        """The steps of a slice, for example `batch[10:20]`. They share memory with this batch."""
        if not isinstance(steps, slice):
            raise TypeError(f"a batch is cut by slices, not by {steps!r}: batch[10:20], or batch.reward[10]")
        if steps.step not in (None, 1):
            raise ValueError(
                f"a slice by {steps.step} leaves steps out or turns them round; "
                "traces need each step after the one before, so slice by 1"
            )
        part = Batch._of({name: column[steps] for name, column in self._columns().items()})
        return part._with_actions(self._action_count)

    def __repr__(self) -> str:
        ends = f"{self.terminated.sum()} terminated, {self.truncated.sum()} truncated"
        return f"Batch({len(self)} steps, {self._kinds()}, {ends})"

    def _kinds(self) -> str:
        """Returns in words what x and the actions are."""
        actions = "real actions" if self.action.dtype.kind == "f" else "action numbers"
        if self.x.ndim == 1:
            return f"state numbers, {actions}"
        features = "features" if self.x.dtype.kind == "f" else "active features"
        return f"{self.x.shape[1]} {features}, {actions}"

    @staticmethod
    def concatenate(batches: Iterable[Batch]) -> Batch:
        """One batch after the other. Each keeps its `gamma`, so slices of a batch make up the batch again."""
        parts = list(batches)
        if not parts:
            raise ValueError("there is nothing to concatenate: give at least one batch")
        for i, part in enumerate(parts):
            if not isinstance(part, Batch):
                raise TypeError(f"batches[{i}] is a {type(part).__name__}; it must be a Batch")
            ours, first = part._kinds(), parts[0]._kinds()
            if ours != first:
                raise ValueError(f"batches[{i}] has {ours}, batches[0] has {first}; they must be alike")
        columns = [part._columns() for part in parts]
        whole = Batch._of({name: np.concatenate([column[name] for column in columns]) for name in columns[0]})
        return whole._with_actions(max(part._action_count for part in parts))


def _column(name: str, array: NDArray[Any], steps: int) -> NDArray[Any]:
    if array.shape != (steps,):
        raise ValueError(
            f"{name} has the shape {array.shape}; it must be ({steps},), a number for each action"
        )
    return array


def _actions(value: ArrayLike) -> NDArray[Any]:
    array = convert.of_kind(value, "action", "iuf", "integers (action numbers) or floats (real actions)")
    if array.ndim != 1:
        raise ValueError(f"action has the shape {array.shape}; it must be (T,), an action for each step")
    array = convert.numbers(array, "action")
    if array.dtype.kind == "f":
        return _finite("action", array)
    _check("action", array, array >= 0, "actions are numbered from 0")
    return array


def _seen(name: str, value: ArrayLike, steps: int, beyond: Bools | None = None) -> NDArray[Any]:
    """Returns a column of states; those `beyond` an end may be anything."""
    right = "floats [T, n] (features), integers [T, k] (active features) or integers [T] (state numbers)"
    array = convert.of_kind(value, name, "iuf", right)
    if array.ndim not in (1, 2) or len(array) != steps:
        right = f"({steps},) or ({steps}, n)"
        raise ValueError(f"{name} has the shape {array.shape}; with {steps} actions it must be {right}")
    if array.ndim == 1 and array.dtype.kind == "f":
        raise TypeError(f"{name} has dtype {array.dtype} and shape {array.shape}; it must be {right}")
    array = convert.numbers(array, name)
    good, right = array >= 0, "states and features are numbered from 0"
    if array.dtype.kind == "f":
        good, right = np.isfinite(array), "it must be finite"
    if beyond is not None:
        good = good | (beyond if array.ndim == 1 else beyond[:, None])
    _check(name, array, good, right)
    return array


def _check_alike(x: NDArray[Any], x_next: NDArray[Any]) -> None:
    if x.dtype != x_next.dtype:
        raise TypeError(f"x has dtype {x.dtype} and x_next {x_next.dtype}; they must be the same")
    if x.shape != x_next.shape:
        raise ValueError(f"x has the shape {x.shape} and x_next {x_next.shape}; they must be the same")


def _floats(name: str, value: ArrayLike, steps: int) -> Floats:
    array = convert.of_kind(value, name, "iuf", f"numbers, ({steps},)")
    return convert.readable(_column(name, array, steps))


def _spread(name: str, value: ArrayLike, steps: int) -> Floats:
    """Returns a column, also of one number for all steps."""
    if np.ndim(value) == 0:
        value = np.full(steps, convert.of_kind(value, name, "iuf", f"a number, or numbers ({steps},)"))
    return _floats(name, value, steps)


def _flags(name: str, value: ArrayLike, steps: int) -> Bools:
    array = convert.of_kind(value, name, "b", f"booleans, ({steps},); .astype(bool) makes them of numbers")
    return np.ascontiguousarray(_column(name, array, steps))


def _mu(value: ArrayLike, actions: NDArray[Any]) -> Floats:
    mu = _spread("mu", value, len(actions))
    right = "the behaviour took the action, so it must be at least 2.3e-308 and finite"
    _check("mu", mu, (mu >= LEAST_MU) & (mu < np.inf), right)
    if actions.dtype.kind == "i":
        _check("mu", mu, mu <= MOST_PROBABILITY, "a probability is at most 1")
    return mu


def _gamma(value: ArrayLike, steps: int) -> Floats:
    gamma = _floats("gamma", value, steps)
    _check_discounts("gamma", gamma)
    return gamma


def _check_discounts(name: str, gamma: Floats) -> None:
    _check(name, gamma, (gamma >= 0) & (gamma <= 1), "a discount lies between 0 and 1")


def _interest(value: ArrayLike, steps: int) -> Floats:
    interest = _spread("interest", value, steps)
    _check("interest", interest, (interest >= 0) & (interest < np.inf), "it must be finite and not negative")
    return interest


def _previous(gamma_next: Floats, truncated: Bools, first: float) -> Floats:
    """Returns the discount into each state: 0 after a time limit, so that traces start afresh."""
    gamma = np.full_like(gamma_next, convert.number(first, "first"))
    gamma[1:] = np.where(truncated[:-1], 0.0, gamma_next[:-1])
    _check_discounts("first", gamma[:1])
    return gamma


def _warn_of_limits_that_end(gamma_next: Floats, terminated: Bools, truncated: Bools) -> None:
    """Warns of a time limit with discount 0: it was probably set to 0 by mistake, if other steps have a discount."""
    wrong = np.flatnonzero(truncated & ~terminated & (gamma_next == 0))
    if wrong.size and gamma_next.any():
        warnings.warn(
            f"step {wrong[0]} is truncated and not terminated, but its gamma_next is 0; a time limit is no end:"
            " give the step its discount, for example np.where(terminated, 0, gamma)",
            RuntimeWarning,
            stacklevel=3,
        )


def _finite(name: str, array: Floats) -> Floats:
    _check(name, array, np.isfinite(array), "it must be finite")
    return array


def _check(name: str, array: NDArray[Any], good: NDArray[np.bool_], right: str) -> None:
    """Refuses the first number that is not good."""
    where = convert.first(~good)
    if where is not None:
        raise ValueError(f"{name} is {array[where]} at step {where[0]}; {right}")
