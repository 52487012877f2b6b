"""Experience of a behaviour in Gymnasium's environments."""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import convert
from .batch import LEAST_MU, MOST_PROBABILITY, Batch
from .progress import Bar

if TYPE_CHECKING:
    import gymnasium
    import gymnasium.vector


@runtime_checkable
class Actor(Protocol):
    """What can act: every agent of this package."""

    def sample(self, x: Any, rng: np.random.Generator) -> Any: ...

    def probability(self, x: Any, action: Any) -> float: ...


Behaviour: TypeAlias = "str | ArrayLike | Callable[[Any, np.random.Generator], tuple[Any, float]] | Actor"
# (observation, its features, rng) -> (action, mu)
_Draw: TypeAlias = "Callable[[Any, Any, np.random.Generator], tuple[Any, float]]"


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
    count, action_space, observation_space = _parts(env)
    steps, seed = convert.count(steps, "steps"), convert.count(seed, "seed", least=0)
    actions = _Actions(action_space)
    recorder = _Recorder(steps, actions, gamma, interest)
    draw = _draw(behaviour, actions, observation_space)
    see = _default_features(observation_space) if features is None else features
    walks = [_Walk(recorder, i, count or 1, seed, draw, see) for i in range(count or 1)]
    with Bar("collecting", progress) as recorder.bar:
        if count is None:
            _collect_one(env, walks[0], actions, seed)
        else:
            _collect_several(env, walks, actions, seed)
    return recorder.batch()


def _parts(env: Any) -> tuple[int | None, Any, Any]:
    """How many environments there are (None: it is no vector environment), and the spaces of one."""
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


def _collect_one(env: Any, walk: _Walk, actions: _Actions, seed: int) -> None:
    walk.begin(env.reset(seed=seed)[0])
    while walk.goes_on:
        observation, reward, terminated, truncated, info = env.step(actions.of_env(walk.act()))
        walk.record(observation, reward, terminated, truncated, info.get("gamma_next"))
        if (terminated or truncated) and walk.goes_on:
            walk.begin(env.reset()[0])


def _collect_several(env: Any, walks: list[_Walk], actions: _Actions, seed: int) -> None:
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import iterate

    mode = _autoreset_mode(env)

    def begin(observations: Any, which: NDArray[np.bool_]) -> None:
        for walk, observation, begins in zip(
            walks, iterate(env.observation_space, observations), which, strict=True
        ):
            if begins and walk.goes_on:
                walk.begin(observation)

    begin(env.reset(seed=seed)[0], np.ones(len(walks), np.bool_))
    taken = actions.of_several(len(walks))
    resets = np.zeros(len(walks), np.bool_)  # Environments whose next step only resets them.
    while any(walk.goes_on for walk in walks):
        for i, walk in enumerate(walks):
            # Others are sent their last action again: what comes of it is not looked at.
            if walk.goes_on and not resets[i]:
                taken[i] = walk.act()
        observations, rewards, terminated, truncated, info = env.step(taken)
        if not isinstance(info, dict):
            raise TypeError(
                f"the infos of the vector environment are a {type(info).__name__}; they must be a dict, as Gymnasium gives"
                " them: leave out wrappers such as DictInfoToList"
            )
        ended = np.logical_or(terminated, truncated)
        same_step = mode is AutoresetMode.SAME_STEP
        for i, (walk, observation) in enumerate(
            zip(walks, iterate(env.observation_space, observations), strict=True)
        ):
            if walk.goes_on and not resets[i]:
                said = info
                if same_step and ended[i]:  # What came back is of the next episode already.
                    observation, said = _final(info, i), info.get("final_info", {})
                walk.record(
                    observation, rewards[i], terminated[i], truncated[i], _entry(said, "gamma_next", i)
                )
        if mode is AutoresetMode.NEXT_STEP:
            begin(observations, resets)
            resets = ended
        elif same_step:
            begin(observations, ended)
        elif ended.any():
            begin(env.reset(options={"reset_mask": ended.copy()})[0], ended)


def _autoreset_mode(env: Any) -> Any:
    from gymnasium.vector import AutoresetMode

    mode = env.metadata.get("autoreset_mode")
    try:
        return AutoresetMode(mode)
    except ValueError as error:
        raise ValueError(
            "the vector environment does not say what it does after an end: "
            f"metadata['autoreset_mode'] is {mode!r}; it must be a gymnasium.vector.AutoresetMode"
        ) from error


def _entry(info: dict[str, Any], key: str, i: int) -> Any:
    """What the i-th environment said, None if it said nothing."""
    said = key in info and info.get(f"_{key}", np.ones(i + 1))[i]
    return info[key][i] if said else None


def _final(info: dict[str, Any], i: int) -> Any:
    final = _entry(info, "final_obs", i)
    if final is None:
        raise ValueError(
            f"environment {i} ended and was reset in the same step, but info['final_obs'][{i}] is missing"
        )
    return final


class _Actions:
    """Discrete actions or a Box of one dimension."""

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
        """An action as the environment takes it."""
        return action if self.discrete else np.array([action], self.space.dtype)

    def of_several(self, count: int) -> NDArray[Any]:
        """Room for an action of each environment, filled with one that is possible."""
        if self.discrete:
            return np.zeros(count, self.space.dtype)
        return np.full((count, 1), np.clip(0.0, self.low, self.high), self.space.dtype)

    def checked(self, action: Any) -> int | float:
        """The action, as the environment gets it, if it is one."""
        try:
            taken = operator.index(action) if self.discrete else self._rounded(action)
        except (TypeError, ValueError):
            taken = None
        if taken is None or not self._contains(taken):
            help = "" if self.discrete else "; gymnasium.wrappers.ClipAction takes any action"
            raise ValueError(f"the behaviour took the action {action!r}; it must be in {self.space}{help}")
        return taken

    def _rounded(self, action: Any) -> float:
        with np.errstate(over="ignore"):  # What is too large becomes infinite and is refused as such.
            return float(self.space.dtype.type(np.asarray(action).item()))

    def _contains(self, action: float) -> bool:
        if self.discrete:
            return 0 <= action < self.count
        return self.low <= action <= self.high and isfinite(action)


def _draw(behaviour: Behaviour, actions: _Actions, observations: Any) -> _Draw:
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


def _uniform(actions: _Actions) -> _Draw:
    low, high = actions.low, actions.high
    if not np.isfinite(high - low) or not low < high:
        right = "a function (observation, rng) -> (action, mu)"
        raise ValueError(f"no behaviour is uniform on {actions.space}; give {right}")
    mu, to_env = 1.0 / (high - low), actions.space.dtype.type
    return lambda _observation, _x, rng: (float(to_env(rng.uniform(low, high))), mu)


def _by_table(table: ArrayLike, actions: _Actions, observations: Any) -> _Draw:
    from gymnasium.spaces import Discrete

    if not actions.discrete:
        raise ValueError(f"actions are {actions.space}; only Discrete actions have a list of probabilities")
    probabilities = _array(table)
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


def _array(table: ArrayLike) -> NDArray[np.float64]:
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
        # Less than the total, so an action of probability 0 is never taken.
        action = bisect_right(cumulative, rng.random() * total)
        return action, mu[action]

    return draw


def _by_agent(agent: Actor, actions: _Actions) -> _Draw:
    def draw(_observation: Any, x: Any, rng: np.random.Generator) -> tuple[Any, float]:
        action = actions.checked(agent.sample(x, rng))
        return action, _checked_mu(agent.probability(x, action), action, actions)

    return draw


def _by_function(
    behaviour: Callable[[Any, np.random.Generator], tuple[Any, float]], actions: _Actions
) -> _Draw:
    def draw(observation: Any, _x: Any, rng: np.random.Generator) -> tuple[Any, float]:
        answer = behaviour(observation, rng)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise ValueError(f"the behaviour returned {answer!r}; it must return (action, mu)")
        action = actions.checked(answer[0])
        return action, _checked_mu(answer[1], action, actions)

    return draw


def _checked_mu(mu: Any, action: Any, actions: _Actions) -> float:
    said = f"the behaviour took action {action} and says that its mu is {mu!r}"
    number = _float(mu, said)
    if not LEAST_MU <= number < np.inf:
        raise ValueError(f"{said}; it must be at least 2.3e-308 and finite")
    if actions.discrete and number > MOST_PROBABILITY:
        raise ValueError(f"{said}; a probability is at most 1")
    return number


def _checked_interest(interest: Any) -> float:
    number = _float(interest, f"the interest is {interest!r}")
    if not 0 <= number < np.inf:
        raise ValueError(f"the interest is {number}; it must be finite and not negative")
    return number


def _float(value: Any, said: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{said}; it must be a real number") from None


def _default_features(space: Any) -> Callable[[Any], Any]:
    from gymnasium.spaces import Box, Discrete

    if isinstance(space, Discrete) and space.start == 0:
        return int
    if isinstance(space, Box):
        return lambda observation: np.asarray(observation, np.float64).ravel()
    raise TypeError(
        f"observations are {space}, not Discrete states from 0 or a Box; pass features=, a function of them"
    )


class _Recorder:
    """The columns of a batch in the making."""

    def __init__(
        self,
        steps: int,
        actions: _Actions,
        gamma: float,
        interest: float | Callable[[Any], float],
    ) -> None:
        if not 0 <= convert.number(gamma, "gamma") <= 1:
            raise ValueError(f"gamma is {gamma}; a discount lies between 0 and 1")
        self.steps, self.default_gamma = steps, gamma
        if not callable(interest):
            of_all = _checked_interest(interest)
            self.interest_of: Callable[[Any], float] = lambda _observation: of_all
        else:
            asked = interest
            self.interest_of = lambda observation: _checked_interest(asked(observation))
        self.action = np.empty(steps, np.int64 if actions.discrete else np.float64)
        self.reward, self.mu, self.interest, self.gamma, self.gamma_next = (np.empty(steps) for _ in range(5))
        self.terminated, self.truncated = np.empty(steps, np.bool_), np.empty(steps, np.bool_)
        self.x: NDArray[Any] | None = None
        self.x_next: NDArray[Any] | None = None
        self.done = 0
        self.bar: Bar

    def copy_of(self, x: Any) -> int | NDArray[Any]:
        """What was seen as agents take it, in memory of its own: environments may use theirs again."""
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
        assert self.x is not None and self.x_next is not None
        return Batch(
            self.x,
            self.action,
            self.reward,
            self.x_next,
            mu=self.mu,
            gamma=self.gamma,
            gamma_next=self.gamma_next,
            interest=self.interest,
            terminated=self.terminated,
            truncated=self.truncated,
        )


class _Walk:
    """The behaviour's way through one environment: its share of the rows."""

    def __init__(
        self, recorder: _Recorder, i: int, count: int, seed: int, draw: _Draw, features: Callable[[Any], Any]
    ) -> None:
        share, more = divmod(recorder.steps, count)
        self.recorder, self.draw, self.features = recorder, draw, features
        self.row = i * share + min(i, more)
        self.end = self.row + share + (i < more)
        # The environment draws from the stream of the seed itself; a spawn key makes another.
        self.rng = np.random.default_rng(np.random.SeedSequence(seed + i, spawn_key=(0,)))

    @property
    def goes_on(self) -> bool:
        return self.row < self.end

    def begin(self, observation: Any) -> None:
        self.observation, self.x = observation, self.recorder.copy_of(self.features(observation))
        self.gamma = 0.0

    def act(self) -> Any:
        # The interest is asked for now: the environment may write the next observation over this one.
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
        # Checked now: a batch that is refused at the end would take all steps with it.
        reward = _float(reward, f"the environment gave the reward {reward!r}")
        gamma_next = _float(gamma_next, f"the environment gave the discount {gamma_next!r}")
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
