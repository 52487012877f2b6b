"""Experience of a behaviour in Gymnasium's environments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import convert
from .autoreset import collect_from_several
from .batch import Batch
from .behaviour import ActionSpace, Behaviour, Draw, drawn_by, real
from .progress import Bar

if TYPE_CHECKING:
    import gymnasium
    import gymnasium.vector


def collect(
    env: gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any],
    behaviour: Behaviour,
    steps: int,
    seed: int,
    *,
    gamma: float = 1.0,
    features: Callable[[Any], Any] | None = None,
    interest: float | Callable[[Any], float] = 1.0,
    progress: bool | None = None,
) -> Batch:
    """Lets the behaviour take `steps` steps in the environment, and returns them.

    env
        An environment of Gymnasium, or several (`gymnasium.vector`) in any autoreset mode. Actions must be
        `Discrete` or a `Box` of one dimension. It is reset first and stays open.
    behaviour
        `"uniform"`; probabilities of the actions, `[A]`, or `[S, A]` by state if observations are
        `Discrete`; a function `(observation, rng) -> (action, mu)`, where mu is the probability (or density)
        of the action; or an agent, which sees what `features` gives.
    gamma
        The discount. `info["gamma_next"]` comes before it, as in this package's own environments.
    features
        A function of an observation: a vector of floats, the integers of active features (always as many),
        or a state number. Left out: the number itself if observations are `Discrete`, a flat vector of a
        `Box`.
    interest
        A number, or a function of an observation.
    progress
        Whether to show a bar if it takes long. Left out: on a terminal and in a notebook.

    What terminated has `gamma_next` 0. What a time limit truncated keeps its `gamma_next` and its last
    observation, and the step after it has `gamma` 0. The last step of an environment counts as truncated if
    its episode would go on: there the record is cut. Several environments share the steps evenly; those of
    the first come first, then those of the second and so on, each beginning with `gamma` 0.

    The i-th environment is seeded with `seed + i`, and the behaviour in it draws from a stream of its own
    that depends on `seed + i` alone. So several environments give what they would give one by one, whatever
    the autoreset mode; and seeds closer together than there are environments give partly the same
    experience.

    >>> import gymnasium
    >>> batch = collect(gymnasium.make("CartPole-v1"), "uniform", steps=100, seed=1, gamma=0.99)
    >>> batch
    Batch(100 steps, 4 features, action numbers, 5 terminated, 1 truncated)
    """
    count, action_space, observation_space = _spaces(env)
    steps, seed = convert.count(steps, "steps"), convert.count(seed, "seed", least=0)
    actions = ActionSpace(action_space)
    recorder = Recorder(steps, actions, gamma, interest)
    draw = drawn_by(behaviour, actions, observation_space)
    see = _default_features(observation_space) if features is None else features
    trajectories = [Trajectory(recorder, i, count or 1, seed, draw, see) for i in range(count or 1)]
    with Bar("collecting", progress) as recorder.bar:
        if count is None:
            _collect_from_one(env, trajectories[0], actions, seed)
        else:
            collect_from_several(env, trajectories, actions, seed)
    return recorder.batch()


def _spaces(env: Any) -> tuple[int | None, Any, Any]:
    """Returns the number of environments, None if it is no vector environment, and the spaces of one."""
    try:
        from gymnasium import Env
        from gymnasium.vector import VectorEnv
    except ImportError as error:
        raise ImportError("collect() needs Gymnasium: pip install gymnasium") from error
    if isinstance(env, VectorEnv):
        return env.num_envs, env.single_action_space, env.single_observation_space
    if isinstance(env, Env):
        return None, env.action_space, env.observation_space
    right = "a gymnasium.Env or a gymnasium.vector.VectorEnv, such as gymnasium.make(...) gives"
    raise TypeError(f"env is a {type(env).__name__}; it must be {right}")


def _collect_from_one(env: Any, trajectory: Trajectory, actions: ActionSpace, seed: int) -> None:
    trajectory.begin(env.reset(seed=seed)[0])
    while trajectory.goes_on:
        observation, reward, terminated, truncated, info = env.step(actions.of_env(trajectory.act()))
        trajectory.record(observation, reward, terminated, truncated, info.get("gamma_next"))
        if (terminated or truncated) and trajectory.goes_on:
            trajectory.begin(env.reset()[0])


def _default_features(space: Any) -> Callable[[Any], Any]:
    from gymnasium.spaces import Box, Discrete

    if isinstance(space, Discrete) and space.start == 0:
        return int
    if isinstance(space, Box):
        return lambda observation: np.asarray(observation, np.float64).ravel()
    raise TypeError(
        f"observations are {space}, not Discrete states from 0 or a Box; pass features=, a function of them"
    )


def _checked_interest(interest: Any) -> float:
    number = real(interest, f"the interest is {interest!r}")
    if not 0 <= number < np.inf:
        raise ValueError(f"the interest is {number}; it must be finite and not negative")
    return number


class Recorder:
    """The columns of a batch in the making."""

    def __init__(
        self,
        steps: int,
        actions: ActionSpace,
        gamma: float,
        interest: float | Callable[[Any], float],
    ) -> None:
        if not 0 <= convert.number(gamma, "gamma") <= 1:
            raise ValueError(f"gamma is {gamma}; a discount lies between 0 and 1")
        self.steps, self.default_gamma = steps, gamma
        if callable(interest):
            function = interest
            self.interest_of: Callable[[Any], float] = lambda observation: _checked_interest(
                function(observation)
            )
        else:
            everywhere = _checked_interest(interest)
            self.interest_of = lambda _observation: everywhere
        self.action = np.empty(steps, np.int64 if actions.discrete else np.float64)
        self.reward, self.mu, self.interest, self.gamma, self.gamma_next = (np.empty(steps) for _ in range(5))
        self.terminated, self.truncated = np.empty(steps, np.bool_), np.empty(steps, np.bool_)
        self.x: NDArray[Any] | None = None
        self.x_next: NDArray[Any] | None = None
        self.done = 0
        self.bar: Bar

    def copy_of(self, x: Any) -> int | NDArray[Any]:
        """Returns a copy of a state as agents take it: environments may reuse their arrays."""
        seen = np.array(x)
        right = "a vector of floats, a vector of integers (active features) or an integer (a state)"
        if seen.dtype.kind not in "iuf" or seen.ndim > 1 or (seen.ndim == 0 and seen.dtype.kind == "f"):
            raise TypeError(f"features gave {x!r}; they must give {right}")
        if self.x is None:
            dtype = np.float64 if seen.dtype.kind == "f" else np.int64
            self.x = np.empty((self.steps, *seen.shape), dtype)
            self.x_next = np.empty_like(self.x)
        if seen.shape != self.x.shape[1:] or (seen.dtype.kind == "f") != (self.x.dtype.kind == "f"):
            raise ValueError(
                f"features gave {x!r}, of shape {seen.shape} and dtype {seen.dtype}; "
                f"at first it was of shape {self.x.shape[1:]} and dtype {self.x.dtype}"
            )
        if seen.dtype.kind == "f" and not np.isfinite(seen).all():
            raise ValueError(f"features gave {x!r}; they must be finite")
        return int(seen) if seen.ndim == 0 else seen.astype(self.x.dtype, copy=False)

    def report(self) -> None:
        self.done += 1
        self.bar(self.done, self.steps)

    def batch(self) -> Batch:
        return Batch(**{field.name: getattr(self, field.name) for field in fields(Batch)})


class Trajectory:
    """The steps of one environment: its share of the batch's rows."""

    def __init__(
        self, recorder: Recorder, i: int, count: int, seed: int, draw: Draw, features: Callable[[Any], Any]
    ) -> None:
        share, more = divmod(recorder.steps, count)
        self.recorder, self.draw, self.features = recorder, draw, features
        self.row = i * share + min(i, more)
        self.end = self.row + share + (i < more)
        # Another stream than the environment's, which is seeded with the same number.
        self.rng = np.random.default_rng(np.random.SeedSequence(seed + i, spawn_key=(0,)))

    @property
    def goes_on(self) -> bool:
        return self.row < self.end

    def begin(self, observation: Any) -> None:
        self.observation, self.x = observation, self.recorder.copy_of(self.features(observation))
        self.gamma = 0.0

    def act(self) -> Any:
        # Now, because the environment may overwrite this observation with the next one.
        self.interest = self.recorder.interest_of(self.observation)
        self.action, self.mu = self.draw(self.observation, self.x, self.rng)
        return self.action

    def record(self, observation: Any, reward: Any, terminated: Any, truncated: Any, gamma_next: Any) -> None:
        to, row = self.recorder, self.row
        assert to.x is not None and to.x_next is not None
        if terminated:
            gamma_next = 0.0
        elif gamma_next is None:
            gamma_next = to.default_gamma
        # Now, because a batch that is refused at the end would lose all steps.
        reward = real(reward, f"the environment gave the reward {reward!r}")
        gamma_next = real(gamma_next, f"the environment gave the discount {gamma_next!r}")
        if not isfinite(reward) or not 0 <= gamma_next <= 1:
            raise ValueError(f"the environment gave the reward {reward} and the discount {gamma_next}")
        to.x[row], to.action[row], to.mu[row], to.reward[row] = self.x, self.action, self.mu, reward
        to.gamma[row], to.gamma_next[row], to.interest[row] = self.gamma, gamma_next, self.interest
        self.row += 1
        cut = not self.goes_on and not terminated
        to.terminated[row], to.truncated[row] = terminated, truncated or cut
        self.observation, self.x = observation, to.copy_of(self.features(observation))
        to.x_next[row] = self.x
        self.gamma = gamma_next
        to.report()
