"""Steps of a behaviour in Gymnasium's environments, whatever is made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .behaviour import ActionSpace, Draws

if TYPE_CHECKING:
    from .batch import Batch


class EpisodeError(RuntimeError):
    """An environment failed while `collect` or `evaluate` took steps in it: it raised an exception, which is the `__cause__`, gave
    numbers that are not finite, or its episodes did not end. The message says where."""

    batch: Batch | None = None
    """What `collect` had collected until then, None if that is nothing. Where it was cut, it is `truncated`."""


def spaces_of(env: Any, function: str) -> tuple[int | None, Any, Any]:
    """Returns the number of environments, None if it is no vector environment, and the spaces of one."""
    try:
        from gymnasium import Env
        from gymnasium.vector import VectorEnv
    except ImportError as error:
        raise ImportError(f"{function}() needs Gymnasium: pip install gymnasium") from error
    if isinstance(env, VectorEnv):
        return env.num_envs, env.single_action_space, env.single_observation_space
    if isinstance(env, Env):
        return None, env.action_space, env.observation_space
    right = "a gymnasium.Env or a gymnasium.vector.VectorEnv, such as gymnasium.make(...) gives"
    help = f": gymnasium.make({env!r}) makes one" if isinstance(env, str) else ""
    raise TypeError(f"env is a {type(env).__name__}; it must be {right}{help}")


def _stream(seed: int) -> np.random.Generator:
    """Returns what a behaviour draws from: another stream than the environment's, which is seeded with the same number."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))


class Sight:
    """Features of observations, which must always be alike."""

    def __init__(self, features: Callable[[Any], Any] | None, space: Any) -> None:
        if features is not None and not callable(features):
            raise TypeError(f"features is {features!r}; it must be a function of an observation")
        self.own = features is None
        self.features = _default_features(space) if features is None else features
        self.said = "the environment gave the observation" if self.own else "features gave"
        self.first: NDArray[Any] | None = None

    def __call__(self, observation: Any) -> int | NDArray[Any]:
        """Returns what agents see: a copy, because environments may reuse their arrays."""
        if not self.own:
            return self._checked(self.features(observation), ValueError)
        try:
            seen = self.features(observation)
        except (TypeError, ValueError, OverflowError) as error:
            raise EpisodeError(f"{self.said} {observation!r}: {error}") from error
        return self._checked(seen, EpisodeError)

    def _checked(self, x: Any, unlike: type[Exception]) -> int | NDArray[Any]:
        seen = np.array(x)
        right = "a vector of floats, a vector of integers (active features) or an integer (a state)"
        if seen.dtype.kind not in "iuf" or seen.ndim > 1 or (seen.ndim == 0 and seen.dtype.kind == "f"):
            raise TypeError(f"{self.said} {x!r}; they must give {right}")
        is_float = seen.dtype.kind == "f"
        seen = seen.astype(np.float64 if is_float else np.int64, copy=False)
        first = self.first = seen if self.first is None else self.first
        if seen.shape != first.shape or seen.dtype != first.dtype:
            raise unlike(
                f"{self.said} {x!r}, of shape {seen.shape} and dtype {seen.dtype}; "
                f"at first it was of shape {first.shape} and dtype {first.dtype}"
            )
        if is_float and not np.isfinite(seen).all():
            raise unlike(f"{self.said} {x!r}; {'it' if self.own else 'they'} must be finite")
        return int(seen) if seen.ndim == 0 else seen


def _default_features(space: Any) -> Callable[[Any], Any]:
    from gymnasium.spaces import Box, Discrete

    if isinstance(space, Discrete) and space.start == 0:
        return int
    if isinstance(space, Box):
        return lambda observation: np.asarray(observation, np.float64).ravel()
    raise TypeError(
        f"observations are {space}, not Discrete states from 0 or a Box; pass features=, a function of them"
    )


class Tally:
    """How many steps all environments have taken together."""

    steps = 0


class Rollout(ABC):
    """The steps of one environment. `begin` starts an episode, `act` and `record` alternate."""

    # The episode, the steps in it until now, and whether it is under way.
    episode, steps, running = -1, 0, False

    def __init__(
        self,
        draws: Draws,
        sight: Callable[[Any], Any],
        seed: int,
        environment: int | None,
        tally: Tally,
    ) -> None:
        """`environment` is the place in a vector environment."""
        self.draws, self.sight, self.rng = draws, sight, _stream(seed)
        self.environment, self.tally = environment, tally
        self.observation: Any = None
        self.x: Any = None

    @property
    @abstractmethod
    def goes_on(self) -> bool:
        """Whether it needs more steps."""

    def where(self) -> str:
        """Returns in words where it is."""
        several = "" if self.environment is None else f" of environment {self.environment}"
        if not self.running:
            return f"before episode {self.episode + 1}{several}, counted from 0"
        return f"at step {self.steps} of episode {self.episode}{several}, counted from 0"

    def begin(self, observation: Any) -> None:
        self.episode, self.steps, self.running = self.episode + 1, 0, True
        try:
            self.observation, self.x = observation, self.sight(observation)
            self._begun()
        except Exception as error:
            located(error, self.where())
            raise

    def act(self) -> Any:
        try:
            return self._acted()
        except Exception as error:
            located(error, self.where())
            raise

    def record(self, observation: Any, reward: Any, terminated: Any, truncated: Any, gamma_next: Any) -> None:
        """Takes what a step returned; `gamma_next` is None if the environment says nothing of it."""
        try:
            reward = _number(reward, "reward")
            if not isfinite(reward):
                raise EpisodeError(f"the environment gave the reward {reward}; it must be finite")
            if terminated:
                gamma_next = 0.0
            elif gamma_next is not None:
                gamma_next = _number(gamma_next, "discount")
                if not 0 <= gamma_next <= 1:
                    raise EpisodeError(
                        f"the environment gave the discount {gamma_next}; it must lie between 0 and 1"
                    )
            x_next = self.sight(observation)
            self._recorded(x_next, reward, bool(terminated), bool(truncated), gamma_next)
        except Exception as error:
            located(error, self.where())
            raise
        self.observation, self.x = observation, x_next
        self.steps += 1
        self.tally.steps += 1
        self.running = not (terminated or truncated)

    @abstractmethod
    def _begun(self) -> None: ...

    @abstractmethod
    def _acted(self) -> Any: ...

    @abstractmethod
    def _recorded(
        self, x_next: Any, reward: float, terminated: bool, truncated: bool, gamma_next: float | None
    ) -> None: ...


def _number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise EpisodeError(f"the environment gave the {what} {value!r}; it must be a real number") from error


def located(error: Exception, where: str) -> None:
    """Lets an exception say where it was raised, in its message or below it."""
    if type(error) in (TypeError, ValueError, EpisodeError) and len(error.args) == 1:
        error.args = (f"{error.args[0]} ({where})",)
    elif hasattr(error, "add_note"):
        error.add_note(where)


def reset(env: Any, where: Callable[[], str], **arguments: Any) -> Any:
    """Resets an environment. Returns what it observes."""
    answer = _asked(env.reset, "reset()", where, **arguments)
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        said = f"the environment's reset() returned {answer!r}; it must return (observation, info), as Gymnasium's do"
        raise EpisodeError(f"{said} ({where()})")
    return answer[0]


def step(env: Any, where: Callable[[], str], action: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Takes a step in an environment."""
    answer = _asked(env.step, "step()", where, action)
    if not isinstance(answer, (tuple, list)) or len(answer) != 5:
        right = "(observation, reward, terminated, truncated, info), as Gymnasium's do"
        raise EpisodeError(
            f"the environment's step() returned {answer!r}; it must return {right} ({where()})"
        )
    observation, reward, terminated, truncated, info = answer
    return observation, reward, terminated, truncated, info


def _asked(function: Any, name: str, where: Callable[[], str], *arguments: Any, **named: Any) -> Any:
    try:
        return function(*arguments, **named)
    except Exception as error:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise EpisodeError(f"the environment's {name} raised {said} ({where()})") from error


def run_one(env: Any, rollout: Rollout, actions: ActionSpace, seed: int) -> None:
    """Lets the behaviour act in an environment until its rollout is complete."""

    def where() -> str:
        return f"{rollout.where()}, after {rollout.tally.steps} steps in all"

    rollout.begin(reset(env, where, seed=seed))
    while rollout.goes_on:
        observation, reward, terminated, truncated, info = step(env, where, actions.of_env(rollout.act()))
        rollout.record(observation, reward, terminated, truncated, (info or {}).get("gamma_next"))
        if (terminated or truncated) and rollout.goes_on:
            rollout.begin(reset(env, where))
