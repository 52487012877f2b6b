"""Environments of Gymnasium for experiment files: several of a kind are opened, and stepped in one call from Rust."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .rollout import EpisodeError

if TYPE_CHECKING:
    import gymnasium

# What `run` takes as an environment: an id, or a class or function that returns an environment.
Opener: TypeAlias = "str | Callable[[], gymnasium.Env[Any, Any]]"

# What stands before the name in files.
_PREFIX = "gymnasium:"

# Bounds from here on, such as the largest float32, are none.
_UNBOUNDED = float(np.finfo(np.float32).max)


class SessionError(EpisodeError):
    """An environment failed: `which` of those that a call was about. `help` says what would be right."""

    def __init__(self, message: str, which: int = 0, help: str | None = None) -> None:
        super().__init__(message)
        self.which, self.help = which, help


class Environments:
    """Finds the environments that an experiment file names: all are made by `env`, if it is given."""

    def __init__(self, env: Opener | None) -> None:
        if env is not None and not isinstance(env, str) and not callable(env):
            right = "an id, a class, or a function without arguments that returns an environment"
            raise TypeError(
                f"env is a {type(env).__name__}; it must be {right}, since several are opened: env=lambda: gymnasium.make(...)"
            )
        self.env = env
        self.names: list[str] = []

    def __call__(self, name: str) -> Kind:
        """Returns the kind of environment that is named `gymnasium:ID`."""
        if self.env is not None and self.names and name not in self.names:
            raise SessionError(
                f"env= is one environment, and the file names two: {self.names[0]} and {name}",
                help="name one, or leave env= out and name both by their ids",
            )
        self.names.append(name)
        return Kind(name, name.removeprefix(_PREFIX) if self.env is None else self.env)

    def check(self, file: str) -> None:
        """Refuses an environment that the file has no use for."""
        if self.env is not None and not self.names:
            raise ValueError(
                f'env= is given, but {file} names no environment of Gymnasium: problem = "gymnasium:NAME", where NAME is any label,'
                " makes it use env=; or leave env= out"
            )


class Kind:
    """A kind of environment: what is seen of it, how one acts in it, and how more of it are opened."""

    def __init__(self, name: str, env: Opener) -> None:
        self.name, self.env = name, env
        # By their ids. Several threads open and close environments.
        self._open: dict[int, Any] = {}
        first = self._first = self._made()
        try:
            self.space, self.action_space = first.observation_space, first.action_space
            self.shape, self.low, self.high, self.shown = _observed(self.space)
            self.actions, self.act = _acting(self.action_space)
            self.limit = _limit(first)
            self.identity = json.dumps(_identity(first), default=_plain, sort_keys=True)
        finally:
            self._close(first)

    def _made(self) -> Any:
        """Returns another environment."""
        try:
            import gymnasium
        except ImportError as error:
            raise SessionError(f"`{self.name}` needs Gymnasium", help="pip install gymnasium") from error
        try:
            env: Any = gymnasium.make(self.env) if isinstance(self.env, str) else self.env()
        except Exception as error:
            raise self._not_made(error) from error
        if not isinstance(env, gymnasium.Env):
            several = isinstance(env, gymnasium.vector.VectorEnv)
            message = f"env= returned a {type(env).__name__}; it must return a gymnasium.Env"
            raise SessionError(
                message, help="one alone: several are opened side by side" if several else None
            )
        if id(env) in self._open:
            raise SessionError(
                "env= returned the same environment twice; each call must make another one",
                help="env=lambda: gymnasium.make(...), which makes one at every call",
            )
        self._open[id(env)] = env
        return env

    def _not_made(self, error: Exception) -> SessionError:
        said = _said(error)
        if isinstance(self.env, str):
            return SessionError(
                f"Gymnasium cannot make `{self.env}`: {said}",
                help="gymnasium.pprint_registry() shows all ids; one of another package is `gymnasium:MODULE:ID`; and a class or a function"
                " that makes environments can be given to run() as env=",
            )
        right = (
            "it is called without arguments: env=lambda: MyEnv(...)" if isinstance(error, TypeError) else None
        )
        return SessionError(f"env= could not make an environment: {said}", help=right)

    def made(self) -> Any:
        """Returns another environment, which must be like the first."""
        env = self._made()
        for what, one, first in (
            ("observations", env.observation_space, self.space),
            ("actions", env.action_space, self.action_space),
        ):
            if one != first:
                self._close(env)
                raise SessionError(
                    f"the {what} of another environment of the same kind are {one}, where those of the first are {first};"
                    " they must be the same"
                )
        return env

    def _close(self, env: Any) -> None:
        with suppress(Exception):  # Nobody wants to know.
            env.close()
        # The first is kept, so that one that is opened again is noticed.
        if env is not self._first:
            self._open.pop(id(env), None)

    def open(self, count: int) -> Session:
        """Opens some environments of this kind."""
        return Session(self, count)

    def seen(self, observation: Any) -> Any:
        """Returns an observation as numbers of the right shape, or refuses it."""
        if self.shape is None:
            try:
                number = operator.index(observation)
            except TypeError:
                number = None
            if number is None or not self.low[0] <= number <= self.high[0]:
                raise ValueError(f"the observation {observation!r}; it must be in {self.space}")
            return number
        seen = np.asarray(observation)
        if seen.shape != self.shape or seen.dtype.kind not in "fiub":
            raise ValueError(
                f"an observation of shape {seen.shape} and dtype {seen.dtype}; it must be in {self.space}"
            )
        return seen.ravel()


class Session:
    """Some environments of a kind, side by side."""

    def __init__(self, kind: Kind, count: int) -> None:
        self.kind = kind
        self.envs: list[Any] = []
        # What is observed: a row for each environment that a call is about.
        self.rows: NDArray[np.float64] = np.zeros((count, len(kind.low)))
        try:
            for _ in range(count):
                self.envs.append(kind.made())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes the environments."""
        for env in self.envs:
            self.kind._close(env)
        self.envs = []

    def reset(self, place: int, seed: int) -> None:
        """Begins an episode at a place."""
        try:
            answer = self.envs[place].reset(seed=seed)
        except Exception as error:
            raise SessionError(f"the environment's reset() raised {_said(error)}") from error
        try:
            observation, _info = answer
        except (TypeError, ValueError):
            right = "(observation, info), as Gymnasium's do"
            raise SessionError(
                f"the environment's reset() returned {answer!r}; it must return {right}"
            ) from None
        self._see(observation, 0, "reset()")

    def step(
        self, places: Sequence[int], actions: Sequence[int | float]
    ) -> list[tuple[float, bool, bool, float | None]]:
        """Takes a step at each of these places. Returns rewards, whether episodes ended or were cut short, and discounts."""
        return [self._stepped(i, place, action) for i, (place, action) in enumerate(zip(places, actions))]

    def _stepped(self, i: int, place: int, action: int | float) -> tuple[float, bool, bool, float | None]:
        try:
            answer = self.envs[place].step(self.kind.act(action))
        except Exception as error:
            raise SessionError(f"the environment's step() raised {_said(error)}", i) from error
        try:
            observation, reward, terminated, truncated, info = answer
        except (TypeError, ValueError):
            right = "(observation, reward, terminated, truncated, info), as Gymnasium's do"
            raise SessionError(
                f"the environment's step() returned {answer!r}; it must return {right}", i
            ) from None
        self._see(observation, i, "step()")
        gamma = info.get("gamma_next") if info else None
        for name, flag in (("terminated", terminated), ("truncated", truncated)):
            if flag is None:
                raise SessionError(
                    f"the environment's step() returned {name} = None; it must be True or False", i
                )
        returned = "the environment's step() returned"
        paid = self._number(reward, f"{returned} the reward", i)
        discount = None if gamma is None else self._number(gamma, f'{returned} info["gamma_next"] =', i)
        return paid, bool(terminated), bool(truncated), discount

    @staticmethod
    def _number(x: Any, what: str, i: int) -> float:
        try:
            return float(x)
        except (TypeError, ValueError) as error:
            raise SessionError(f"{what} {x!r}; it must be a real number", i) from error

    def _see(self, observation: Any, i: int, method: str) -> None:
        try:
            self.rows[i] = self.kind.seen(observation)
        except (TypeError, ValueError, OverflowError) as error:
            raise SessionError(f"the environment's {method} returned {error}", i) from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _observed(space: Any) -> tuple[tuple[int, ...] | None, list[float], list[float], str]:
    """Returns the shape of observations, None for a number, their bounds, and what they are in a few words."""
    from gymnasium.spaces import Box, Discrete

    if isinstance(space, Discrete):
        least, greatest = int(space.start), int(space.start + space.n - 1)
        return None, [least], [greatest], f"a whole number from {least} to {greatest}"
    if isinstance(space, Box) and space.low.size:
        low, high = _bounds(space.low), _bounds(space.high)
        return space.shape, low, high, f"{len(low)} numbers of shape {list(space.shape)}"
    raise SessionError(
        f"observations are {space}; they must be a Box of any shape or Discrete",
        help="gymnasium.wrappers.FlattenObservation makes a Box of others: env=lambda: FlattenObservation(gymnasium.make(...))",
    )


def _bounds(bounds: NDArray[Any]) -> list[float]:
    numbers = np.asarray(bounds, np.float64).ravel()
    return [float(x) if abs(x) < _UNBOUNDED else float(np.copysign(np.inf, x)) for x in numbers]


def _acting(space: Any) -> tuple[list[str] | tuple[float, float], Callable[[Any], Any]]:
    """Returns the names of actions, or the bounds of a real one, and what makes of an action what the environment takes."""
    from gymnasium.spaces import Box, Discrete

    if isinstance(space, Discrete):
        start, count = int(space.start), int(space.n)
        return [str(start + k) for k in range(count)], lambda action: start + action
    if isinstance(space, Box) and space.shape == (1,) and space.dtype.kind == "f":
        # As in the simulators of this package, one that is out of bounds is taken for the nearest that is not.
        low, high, dtype = float(space.low[0]), float(space.high[0]), space.dtype
        [least], [greatest] = _bounds(space.low), _bounds(space.high)
        return (least, greatest), lambda action: np.array([min(max(action, low), high)], dtype)
    raise SessionError(
        f"actions are {space}; they must be Discrete or a Box of one dimension, of floats",
        help="a wrapper that derives from gymnasium.ActionWrapper can make one of the two of others",
    )


def _layers(env: Any) -> Iterator[Any]:
    """The wrappers of an environment, from outside."""
    from gymnasium import Wrapper

    while isinstance(env, Wrapper):
        yield env
        env = env.env


def _limit(env: Any) -> int | None:
    """Returns after how many steps an episode is cut short, if that is known."""
    from gymnasium.wrappers import TimeLimit

    limits = [layer._max_episode_steps for layer in _layers(env) if isinstance(layer, TimeLimit)]
    return min(limits, default=None)


def _identity(env: Any) -> dict[str, Any]:
    """Returns what distinguishes an environment from others: its class, its wrappers and how Gymnasium made it."""
    spec = env.spec
    return {
        "class": _qualified(type(env.unwrapped)),
        "wrappers": [_wrapper(layer) for layer in _layers(env)],
        "id": None if spec is None else spec.id,
        "kwargs": {} if spec is None else {key: value for key, value in spec.kwargs.items()},
        "max_episode_steps": _limit(env),
    }


def _wrapper(layer: Any) -> dict[str, Any]:
    """Returns the class of a wrapper, and its arguments if it keeps them, as those of Gymnasium do."""
    return {"class": _qualified(type(layer)), "kwargs": getattr(layer, "_saved_kwargs", {})}


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _plain(value: Any) -> Any:
    """Returns something as JSON can hold it, the same in every process: the text of an object may have its address."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return _qualified(value if isinstance(value, type) else type(value))
