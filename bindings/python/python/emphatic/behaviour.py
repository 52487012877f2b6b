"""Behaviours: how actions are drawn in an environment, and with which probabilities."""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from math import isfinite
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import convert
from .batch import LEAST_MU, MOST_PROBABILITY


@runtime_checkable
class Actor(Protocol):
    """What can act: every agent of this package."""

    def sample(self, x: Any, rng: np.random.Generator) -> Any: ...

    def probability(self, x: Any, action: Any) -> float: ...


Behaviour: TypeAlias = "str | ArrayLike | Callable[[Any, np.random.Generator], tuple[Any, float]] | Actor"
# (observation, its features, rng) -> (action, mu)
Draw: TypeAlias = "Callable[[Any, Any, np.random.Generator], tuple[Any, float]]"


class ActionSpace:
    """A space of actions: Discrete, or a Box of one dimension."""

    def __init__(self, space: Any) -> None:
        from gymnasium.spaces import Box, Discrete

        self.space = space
        self.discrete = isinstance(space, Discrete)
        if self.discrete:
            if space.start != 0:
                raise ValueError(f"actions are numbered from {space.start}; they must be numbered from 0")
            self.count = int(space.n)
        elif isinstance(space, Box) and space.shape == (1,) and space.dtype.kind == "f":
            self.low, self.high = float(space.low.item()), float(space.high.item())
        else:
            raise ValueError(
                f"actions are {space}; they must be Discrete or a Box of one dimension, of floats"
            )

    def of_env(self, action: Any) -> Any:
        """Returns an action as the environment takes it."""
        return action if self.discrete else np.array([action], self.space.dtype)

    def of_several(self, count: int) -> NDArray[Any]:
        """Returns an array for an action of each environment, filled with a possible one."""
        if self.discrete:
            return np.zeros(count, self.space.dtype)
        return np.full((count, 1), np.clip(0.0, self.low, self.high), self.space.dtype)

    def checked(self, action: Any) -> int | float:
        """Returns an action as the environment gets it, or refuses it."""
        try:
            taken = operator.index(action) if self.discrete else self._rounded(action)
        except (TypeError, ValueError):
            taken = None
        if taken is None or not self._contains(taken):
            help = "" if self.discrete else "; gymnasium.wrappers.ClipAction takes any action"
            raise ValueError(f"the behaviour took the action {action!r}; it must be in {self.space}{help}")
        return taken

    def _rounded(self, action: Any) -> float:
        with np.errstate(over="ignore"):  # A number that is too large becomes infinite and is refused.
            return float(self.space.dtype.type(np.asarray(action).item()))

    def _contains(self, action: float) -> bool:
        if self.discrete:
            return 0 <= action < self.count
        return self.low <= action <= self.high and isfinite(action)


def drawn_by(behaviour: Behaviour, actions: ActionSpace, observations: Any) -> Draw:
    """Returns a function that draws the behaviour's actions."""
    if isinstance(behaviour, str):
        if behaviour != "uniform":
            raise ValueError(f"the behaviour is {behaviour!r}; the only one that has a name is 'uniform'")
        if not actions.discrete:
            return _uniform(actions)
        return _by_table(np.full(actions.count, 1.0 / actions.count), actions, observations)
    if isinstance(behaviour, Actor):
        return _by_agent(behaviour, actions)
    if callable(behaviour):
        return _by_function(behaviour, actions)
    return _by_table(behaviour, actions, observations)


def _uniform(actions: ActionSpace) -> Draw:
    low, high = actions.low, actions.high
    if not np.isfinite(high - low) or not low < high:
        right = "a function (observation, rng) -> (action, mu)"
        raise ValueError(f"no behaviour is uniform on {actions.space}; give {right}")
    mu, to_env = 1.0 / (high - low), actions.space.dtype.type
    return lambda _observation, _x, rng: (float(to_env(rng.uniform(low, high))), mu)


def _by_table(table: ArrayLike, actions: ActionSpace, observations: Any) -> Draw:
    from gymnasium.spaces import Discrete

    if not actions.discrete:
        raise ValueError(f"actions are {actions.space}; only Discrete actions have a list of probabilities")
    probabilities = _probabilities(table)
    numbered = isinstance(observations, Discrete) and observations.start == 0
    right = [(actions.count,)] + ([(int(observations.n), actions.count)] if numbered else [])
    if probabilities.shape not in right:
        shapes = " or ".join(map(str, right))
        why = "" if numbered else ", because observations are not Discrete states from 0"
        shape = probabilities.shape
        raise ValueError(f"the behaviour's probabilities have the shape {shape}; it must be {shapes}{why}")
    if probabilities.ndim == 1:
        row = _row(probabilities, "")
        return lambda _observation, _x, rng: row(rng)
    rows = [_row(p, f" in state {state}") for state, p in enumerate(probabilities)]
    return lambda observation, _x, rng: rows[observation](rng)


def _probabilities(table: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.asarray(table)
    except ValueError as error:
        raise ValueError("the rows of the behaviour's probabilities differ in length") from error
    if array.dtype.kind not in "iuf":
        right = "'uniform', probabilities, a function (observation, rng) -> (action, mu) or an agent"
        raise TypeError(f"the behaviour is {table!r}; it must be {right}")
    return array.astype(np.float64)


def _row(
    probabilities: NDArray[np.float64], where: str
) -> Callable[[np.random.Generator], tuple[int, float]]:
    mu: list[float] = convert.normalised(probabilities).tolist()
    for action, p in enumerate(mu):
        if not 0 <= p < np.inf:
            raise ValueError(f"the behaviour's probability of action {action}{where} is {p}")
    cumulative = list(accumulate(mu))
    total = cumulative[-1]
    if abs(total - 1) > convert.ROUNDING:
        raise ValueError(f"the behaviour's probabilities{where} sum to {total}; they must sum to 1")

    def draw(rng: np.random.Generator) -> tuple[int, float]:
        # Less than the total, so an action of probability 0 is never drawn.
        action = bisect_right(cumulative, rng.random() * total)
        return action, mu[action]

    return draw


def _by_agent(agent: Actor, actions: ActionSpace) -> Draw:
    def draw(_observation: Any, x: Any, rng: np.random.Generator) -> tuple[Any, float]:
        action = actions.checked(agent.sample(x, rng))
        return action, _checked_mu(agent.probability(x, action), action, actions)

    return draw


def _by_function(
    behaviour: Callable[[Any, np.random.Generator], tuple[Any, float]], actions: ActionSpace
) -> Draw:
    def draw(observation: Any, _x: Any, rng: np.random.Generator) -> tuple[Any, float]:
        answer = behaviour(observation, rng)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise ValueError(f"the behaviour returned {answer!r}; it must return (action, mu)")
        action = actions.checked(answer[0])
        return action, _checked_mu(answer[1], action, actions)

    return draw


def _checked_mu(mu: Any, action: Any, actions: ActionSpace) -> float:
    said = f"the behaviour took action {action} and says that its mu is {mu!r}"
    number = real(mu, said)
    if not LEAST_MU <= number < np.inf:
        raise ValueError(f"{said}; it must be at least 2.3e-308 and finite")
    if actions.discrete and number > MOST_PROBABILITY:
        raise ValueError(f"{said}; a probability is at most 1")
    return number


def real(value: Any, said: str) -> float:
    """Returns a float; `said` begins the message if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{said}; it must be a real number") from None
