"""Behaviours: how actions are drawn in an environment, and with which probabilities."""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import isfinite
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import convert
from .batch import LEAST_MU, MOST_PROBABILITY
from .learners import Learner
from .mixture import EpsilonGreedy, Mixture


@runtime_checkable
class Actor(Protocol):
    """What can act: every agent of this package."""

    def sample(self, x: Any, rng: np.random.Generator) -> Any: ...

    def probability(self, x: Any, action: Any) -> float: ...


Behaviour: TypeAlias = "str | ArrayLike | Callable[[Any, np.random.Generator], tuple[Any, float]] | Actor | EpsilonGreedy | Mixture"

_RIGHT = "'uniform', probabilities, a function (observation, rng) -> (action, mu), an agent, EpsilonGreedy or Mixture"


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


class Draws(Protocol):
    """A behaviour in an environment. All see an observation and its features, and use what they need of them."""

    # Whether it looks at the features.
    sees_features: bool

    def draw(self, observation: Any, x: Any, rng: np.random.Generator) -> tuple[Any, float]:
        """Draws an action. Returns it with its probability, or density."""
        ...

    def act(self, observation: Any, x: Any, rng: np.random.Generator) -> Any:
        """Draws the same action as `draw`, whose probability need not be known."""
        ...


class Known(Draws, Protocol):
    """A behaviour that knows the probability of every action, not only of those it takes."""

    def probabilities(self, observation: Any, x: Any) -> Sequence[float]:
        """Returns the probabilities of finitely many actions."""
        ...

    def density(self, observation: Any, x: Any, action: float) -> float:
        """Returns the density of a real action."""
        ...


def drawn_by(behaviour: Any, actions: ActionSpace, observations: Any) -> Draws:
    """Returns a behaviour in an environment."""
    if callable(behaviour) and not isinstance(behaviour, Actor):
        return _Function(behaviour, actions)
    return _known(behaviour, actions, observations)


def _known(behaviour: Any, actions: ActionSpace, observations: Any, inside: str = "") -> Known:
    """Returns a behaviour that knows the probability of every action; `inside` is what it is a part of."""
    if isinstance(behaviour, str):
        if behaviour != "uniform":
            raise ValueError(f"the behaviour is {behaviour!r}; the only one that has a name is 'uniform'")
        if not actions.discrete:
            return _Uniform(actions)
        return _Table(np.full(actions.count, 1.0 / actions.count), actions, observations)
    if isinstance(behaviour, EpsilonGreedy):
        return _EpsilonGreedy(behaviour, actions, observations)
    if isinstance(behaviour, Mixture):
        return _Mixture(behaviour, actions, observations)
    if isinstance(behaviour, Actor):
        return _Agent(behaviour, actions)
    if callable(behaviour):
        raise TypeError(
            f"{inside} has the function {behaviour!r}, which says the probability of no action but its own; give it 'uniform', "
            "probabilities, or an object with the methods sample(x, rng) and probability(x, action)"
        )
    return _Table(behaviour, actions, observations)


class _Uniform:
    """Real actions of an interval, all alike."""

    sees_features = False

    def __init__(self, actions: ActionSpace) -> None:
        low, high = actions.low, actions.high
        if not np.isfinite(high - low) or not low < high:
            right = "a function (observation, rng) -> (action, mu), in a mixture an object with sample(x, rng) and probability(x, action)"
            raise ValueError(f"no behaviour is uniform on {actions.space}; give {right}")
        self.low, self.high, self.mu = low, high, 1.0 / (high - low)
        self.to_env = actions.space.dtype.type

    def draw(self, observation: Any, x: Any, rng: np.random.Generator) -> tuple[float, float]:
        return self.act(observation, x, rng), self.mu

    def act(self, observation: Any, x: Any, rng: np.random.Generator) -> float:
        return float(self.to_env(rng.uniform(self.low, self.high)))

    def density(self, observation: Any, x: Any, action: float) -> float:
        return self.mu if self.low <= action <= self.high else 0.0

    def probabilities(self, observation: Any, x: Any) -> Sequence[float]:
        raise TypeError("real actions have densities, not probabilities")


class _Finite:
    """What behaviours with a list of probabilities have in common."""

    def probabilities(self, observation: Any, x: Any) -> Sequence[float]:
        raise NotImplementedError

    def draw(self, observation: Any, x: Any, rng: np.random.Generator) -> tuple[int, float]:
        mu = self.probabilities(observation, x)
        action = _drawn(list(accumulate(mu)), rng)
        return action, mu[action]

    def act(self, observation: Any, x: Any, rng: np.random.Generator) -> int:
        return self.draw(observation, x, rng)[0]

    def density(self, observation: Any, x: Any, action: float) -> float:
        raise TypeError("actions have probabilities, not densities")


def _drawn(cumulative: list[float], rng: np.random.Generator) -> int:
    # Less than the total, so an action of probability 0 is never drawn.
    return bisect_right(cumulative, rng.random() * cumulative[-1])


class _Table(_Finite):
    """Probabilities that are given, perhaps by state."""

    sees_features = False

    def __init__(self, table: Any, actions: ActionSpace, observations: Any) -> None:
        from gymnasium.spaces import Discrete

        probabilities = _probabilities(table)
        if not actions.discrete:
            raise ValueError(
                f"actions are {actions.space}; only Discrete actions have a list of probabilities"
            )
        numbered = isinstance(observations, Discrete) and observations.start == 0
        right = [(actions.count,)] + ([(int(observations.n), actions.count)] if numbered else [])
        if probabilities.shape not in right:
            shapes = " or ".join(map(str, right))
            why = "" if numbered else ", because observations are not Discrete states from 0"
            shape = probabilities.shape
            raise ValueError(
                f"the behaviour's probabilities have the shape {shape}; it must be {shapes}{why}"
            )
        self.everywhere = _row(probabilities, "") if probabilities.ndim == 1 else None
        self.rows = (
            [_row(p, f" in state {state}") for state, p in enumerate(probabilities)]
            if probabilities.ndim == 2
            else []
        )

    def _row_of(self, observation: Any) -> _Row:
        return self.rows[observation] if self.everywhere is None else self.everywhere

    def draw(self, observation: Any, x: Any, rng: np.random.Generator) -> tuple[int, float]:
        return self._row_of(observation)(rng)

    def probabilities(self, observation: Any, x: Any) -> Sequence[float]:
        return self._row_of(observation).mu


def _probabilities(table: Any) -> NDArray[np.float64]:
    try:
        array = np.asarray(table)
    except ValueError as error:
        raise ValueError("the rows of the behaviour's probabilities differ in length") from error
    if array.dtype.kind not in "iuf":
        raise TypeError(f"the behaviour is {table!r}; it must be {_RIGHT}")
    return array.astype(np.float64)


class _Row:
    """The probabilities of the actions in a state."""

    def __init__(self, mu: list[float]) -> None:
        self.mu, self.cumulative = mu, list(accumulate(mu))

    def __call__(self, rng: np.random.Generator) -> tuple[int, float]:
        action = _drawn(self.cumulative, rng)
        return action, self.mu[action]


def _row(probabilities: NDArray[np.float64], where: str) -> _Row:
    row = _Row(convert.normalised(probabilities).tolist())
    for action, p in enumerate(row.mu):
        if not 0 <= p < np.inf:
            raise ValueError(f"the behaviour's probability of action {action}{where} is {p}")
    total = row.cumulative[-1]
    if abs(total - 1) > convert.ROUNDING:
        raise ValueError(f"the behaviour's probabilities{where} sum to {total}; they must sum to 1")
    return row


class _Agent:
    """An agent, which sees features."""

    sees_features = True

    def __init__(self, agent: Actor, actions: ActionSpace) -> None:
        self.agent, self.actions = agent, actions

    def draw(self, observation: Any, x: Any, rng: np.random.Generator) -> tuple[Any, float]:
        action = self.actions.checked(self.agent.sample(x, rng))
        return action, _checked_mu(self.agent.probability(x, action), action, self.actions)

    def act(self, observation: Any, x: Any, rng: np.random.Generator) -> Any:
        return self.actions.checked(self.agent.sample(x, rng))

    def probabilities(self, observation: Any, x: Any) -> Sequence[float]:
        count = self.actions.count
        if isinstance(self.agent, Learner):
            mu: list[float] = self.agent.probabilities(x).tolist()
        else:
            said = "the agent says that the probability of action"
            mu = [real(p, f"{said} {a} is {p!r}") for a, p in enumerate(self._each(x))]
        if len(mu) != count:
            raise ValueError(f"the agent has {len(mu)} actions; the environment has {count}")
        # Also if one of them is NaN.
        if not (min(mu) >= 0 and abs(sum(mu) - 1) <= 1e-6):
            raise ValueError(f"the agent's probabilities are {mu}; they must not be negative and sum to 1")
        return mu

    def _each(self, x: Any) -> list[Any]:
        return [self.agent.probability(x, action) for action in range(self.actions.count)]

    def density(self, observation: Any, x: Any, action: float) -> float:
        said = self.agent.probability(x, action)
        density = real(said, f"the agent says that the density of action {action} is {said!r}")
        if not 0 <= density < np.inf:
            raise ValueError(f"the agent says that the density of action {action} is {density}")
        return density


class _EpsilonGreedy(_Finite):
    def __init__(self, greedy: EpsilonGreedy, actions: ActionSpace, observations: Any) -> None:
        if not actions.discrete:
            raise ValueError(
                f"actions are {actions.space}, and EpsilonGreedy needs Discrete ones; "
                "of real actions there are mixtures: Mixture([(0.1, 'uniform'), (0.9, agent)])"
            )
        self.of = _known(greedy.agent, actions, observations, "EpsilonGreedy")
        self.sees_features = self.of.sees_features
        self.any, self.rest = greedy.epsilon / actions.count, 1 - greedy.epsilon

    def probabilities(self, observation: Any, x: Any) -> Sequence[float]:
        of = self.of.probabilities(observation, x)
        most = max(of)
        share = self.rest / of.count(most)
        return [self.any + share if p == most else self.any for p in of]


class _Mixture(_Finite):
    def __init__(self, mixture: Mixture, actions: ActionSpace, observations: Any) -> None:
        self.actions = actions
        self.shares = [share for share, _ in mixture.parts if share > 0]
        self.parts = [
            _known(part, actions, observations, "a mixture") for share, part in mixture.parts if share > 0
        ]
        self.cumulative = list(accumulate(self.shares))
        self.sees_features = any(part.sees_features for part in self.parts)

    def probabilities(self, observation: Any, x: Any) -> Sequence[float]:
        of = [part.probabilities(observation, x) for part in self.parts]
        return [sum(map(operator.mul, self.shares, each)) for each in zip(*of, strict=True)]

    def density(self, observation: Any, x: Any, action: float) -> float:
        of = [part.density(observation, x, action) for part in self.parts]
        return float(sum(map(operator.mul, self.shares, of)))

    def draw(self, observation: Any, x: Any, rng: np.random.Generator) -> tuple[Any, float]:
        if self.actions.discrete:
            return super().draw(observation, x, rng)
        action = self.act(observation, x, rng)
        return action, _checked_mu(self.density(observation, x, action), action, self.actions)

    def act(self, observation: Any, x: Any, rng: np.random.Generator) -> Any:
        if self.actions.discrete:
            return super().draw(observation, x, rng)[0]
        return self.parts[_drawn(self.cumulative, rng)].act(observation, x, rng)


class _Function:
    """A function (observation, rng) -> (action, mu), or only the action where its probability need not be known."""

    sees_features = False

    def __init__(self, function: Callable[[Any, Any], Any], actions: ActionSpace) -> None:
        self.function, self.actions = function, actions

    def draw(self, observation: Any, x: Any, rng: np.random.Generator) -> tuple[Any, float]:
        answer = self.function(observation, rng)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise ValueError(f"the behaviour returned {answer!r}; it must return (action, mu)")
        action = self.actions.checked(answer[0])
        return action, _checked_mu(answer[1], action, self.actions)

    def act(self, observation: Any, x: Any, rng: np.random.Generator) -> Any:
        answer = self.function(observation, rng)
        action = answer[0] if isinstance(answer, tuple) and len(answer) == 2 else answer
        return self.actions.checked(action)


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
