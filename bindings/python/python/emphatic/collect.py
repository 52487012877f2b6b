"""Experience of a behaviour in Gymnasium's environments."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from . import convert
from .autoreset import run_several
from .batch import Batch
from .behaviour import ActionSpace, Behaviour, Draws, drawn_by, real
from .progress import Bar
from .rollout import EpisodeError, Rollout, Sight, Tally, run_one, spaces_of

if TYPE_CHECKING:
    import gymnasium
    import gymnasium.vector

# How many steps episodes may take in all, if nothing else is said.
_LIMIT = 1_000_000


@overload
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
) -> Batch: ...


@overload
def collect(
    env: gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any],
    behaviour: Behaviour,
    *,
    episodes: int,
    seed: int,
    limit: int = _LIMIT,
    gamma: float = 1.0,
    features: Callable[[Any], Any] | None = None,
    interest: float | Callable[[Any], float] = 1.0,
    progress: bool | None = None,
) -> Batch: ...


def collect(
    env: gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any],
    behaviour: Behaviour,
    steps: int | None = None,
    seed: int | None = None,
    *,
    episodes: int | None = None,
    limit: int | None = None,
    gamma: float = 1.0,
    features: Callable[[Any], Any] | None = None,
    interest: float | Callable[[Any], float] = 1.0,
    progress: bool | None = None,
) -> Batch:
    """Lets the behaviour take `steps` steps in the environment, or go through `episodes` whole episodes, and returns the steps.

    env
        An environment of Gymnasium, or several (`gymnasium.vector`) in any autoreset mode. Actions must be
        `Discrete` or a `Box` of one dimension. It is reset first and stays open.
    behaviour
        `"uniform"`; probabilities of the actions, `[A]`, or `[S, A]` by state if observations are
        `Discrete`; a function `(observation, rng) -> (action, mu)`, where mu is the probability (or density)
        of the action; an agent, which sees what `features` gives; `EpsilonGreedy` or a `Mixture` of these.
    steps, episodes
        How much to collect: one of the two. Episodes are complete, terminated or truncated by the environment.
    limit
        With `episodes`: after how many steps in all, 1,000,000 if it is left out, to give up with an `EpisodeError`, because
        episodes may never end. It has the steps until then as its `batch`.
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
    its episode would go on: there the record is cut. Several environments share the steps, or the episodes, evenly; those of
    the first come first, then those of the second and so on, each beginning with `gamma` 0.

    The i-th environment is seeded with `seed + i`, and the behaviour in it draws from a stream of its own
    that depends on `seed + i` alone. So several environments give what they would give one by one, whatever
    the autoreset mode; and seeds closer together than there are environments give partly the same
    experience.

    If the environment raises an exception or gives NaN, there is an `EpisodeError`, which says where and has the steps before
    as its `batch`.

    >>> import gymnasium
    >>> env = gymnasium.make("CartPole-v1")
    >>> collect(env, "uniform", steps=100, seed=1, gamma=0.99)
    Batch(100 steps, 4 features, action numbers, 5 terminated, 1 truncated)
    >>> collect(env, "uniform", episodes=5, seed=1, gamma=0.99)
    Batch(95 steps, 4 features, action numbers, 5 terminated, 0 truncated)
    """
    count, action_space, observation_space = spaces_of(env, "collect")
    plan = _Plan(steps, episodes, limit, gamma, interest)
    seed = convert.count(seed, "seed", least=0)
    actions = ActionSpace(action_space)
    draws, sight = drawn_by(behaviour, actions, observation_space), Sight(features, observation_space)
    trajectories = [Trajectory(plan, i, count, seed, actions, draws, sight) for i in range(count or 1)]
    try:
        with Bar("collecting", progress) as plan.bar:
            if count is None:
                run_one(env, trajectories[0], actions, seed)
            else:
                run_several(env, trajectories, actions, seed)
    except EpisodeError as error:
        if plan.steps:
            error.batch = _batch(trajectories, actions)
        raise
    return _batch(trajectories, actions)


def _batch(trajectories: list[Trajectory], actions: ActionSpace) -> Batch:
    parts = [trajectory.columns.taken() for trajectory in trajectories if len(trajectory.columns)]
    columns: dict[str, Any] = {}
    for name in _Columns.names:  # The parts of one column are free before the next is put together.
        each = [part.pop(name) for part in parts]
        columns[name] = each[0] if len(each) == 1 else np.concatenate(each)
    return Batch(**columns)._with_actions(actions.count if actions.discrete else 0)


def _checked_interest(interest: Any) -> float:
    number = real(interest, f"the interest is {interest!r}")
    if not 0 <= number < np.inf:
        raise ValueError(f"the interest is {number}; it must be finite and not negative")
    return number


class _Plan(Tally):
    """What is to be collected, and how much of it there is."""

    def __init__(
        self,
        steps: int | None,
        episodes: int | None,
        limit: int | None,
        gamma: float,
        interest: float | Callable[[Any], float],
    ) -> None:
        if (steps is None) == (episodes is None):
            given = "neither" if steps is None else "both"
            raise TypeError(f"{given} of steps and episodes are given; give one: steps=1000 or episodes=10")
        if limit is not None and episodes is None:
            raise TypeError(
                f"limit is {limit!r}, but it limits the steps of episodes=; leave it out with steps="
            )
        self.all_steps = None if steps is None else convert.count(steps, "steps")
        self.all_episodes = None if episodes is None else convert.count(episodes, "episodes")
        self.limit: float = (
            inf if episodes is None else convert.count(_LIMIT if limit is None else limit, "limit")
        )
        if not 0 <= convert.number(gamma, "gamma") <= 1:
            raise ValueError(f"gamma is {gamma}; a discount lies between 0 and 1")
        self.gamma = gamma
        if callable(interest):
            function = interest
            self.interest_of: Callable[[Any], float] = lambda observation: _checked_interest(
                function(observation)
            )
        else:
            everywhere = _checked_interest(interest)
            self.interest_of = lambda _observation: everywhere
        self.episodes = 0
        self.bar: Bar

    def check_limit(self) -> None:
        """Refuses another step beyond the limit."""
        if self.steps >= self.limit:
            raise EpisodeError(
                f"{self.steps} steps were taken, and {self.episodes} of {self.all_episodes} episodes have ended: if they end at all, "
                "give a larger limit=; if not, a time limit (max_episode_steps= of gymnasium.make, or gymnasium.wrappers.TimeLimit) "
                "or steps= instead of episodes=; this exception's `batch` has the steps until here"
            )

    def report(self) -> None:
        if self.all_steps is not None:
            self.bar(self.steps + 1, self.all_steps)
        elif self.all_episodes is not None:
            self.bar(self.episodes, self.all_episodes)


def _share(all: int | None, i: int, count: int) -> float:
    """Returns the i-th environment's share of the steps or the episodes."""
    if all is None:
        return inf
    share, more = divmod(all, count)
    return share + (i < more)


class _Columns:
    """The columns of a batch in the making, of one environment."""

    # In the order in which `append` takes them.
    names = (
        "x",
        "action",
        "reward",
        "x_next",
        "mu",
        "gamma",
        "gamma_next",
        "interest",
        "terminated",
        "truncated",
    )

    def __init__(self, room: int, actions: ActionSpace) -> None:
        """`room`: for so many steps at first."""
        self.room, self.length = room, 0
        self.action_type = np.int64 if actions.discrete else np.float64
        self.columns: tuple[NDArray[Any], ...] = ()

    def __len__(self) -> int:
        return self.length

    def append(self, *step: Any) -> None:
        row = self.length
        if row == 0:
            self._begin(np.asarray(step[0]))
        elif row == self.room:
            self._grow()
        for column, value in zip(self.columns, step):
            column[row] = value
        self.length = row + 1

    def _begin(self, x: NDArray[Any]) -> None:
        flags, seen = np.bool_, ((self.room, *x.shape), x.dtype)
        kinds = {"action": self.action_type, "terminated": flags, "truncated": flags}
        self.columns = tuple(
            np.empty(*seen) if name in ("x", "x_next") else np.empty(self.room, kinds.get(name, np.float64))
            for name in self.names
        )

    def _grow(self) -> None:
        self.columns = tuple(np.concatenate([column, np.empty_like(column)]) for column in self.columns)
        self.room *= 2

    def taken(self) -> dict[str, NDArray[Any]]:
        """Returns the steps, and forgets them. The last one is truncated if the episode would go on."""
        columns: dict[str, NDArray[Any]] = dict(zip(self.names, self.columns, strict=True))
        last = self.length - 1
        columns["truncated"][last] |= not columns["terminated"][last]
        self.columns = ()
        # Copies, so that what is not needed becomes free.
        whole = self.length == self.room
        return columns if whole else {name: columns.pop(name)[: self.length].copy() for name in self.names}


class Trajectory(Rollout):
    """The steps of one environment: its share of the batch."""

    def __init__(
        self,
        plan: _Plan,
        i: int,
        count: int | None,
        seed: int,
        actions: ActionSpace,
        draws: Draws,
        sight: Sight,
    ) -> None:
        super().__init__(draws, sight, seed + i, None if count is None else i, plan)
        self.plan = plan
        self.most_steps = _share(plan.all_steps, i, count or 1)
        self.most_episodes = _share(plan.all_episodes, i, count or 1)
        self.ended = 0
        self.gamma = 0.0
        self.columns = _Columns(256 if plan.all_steps is None else int(self.most_steps), actions)

    @property
    def goes_on(self) -> bool:
        return len(self.columns) < self.most_steps and self.ended < self.most_episodes

    def _begun(self) -> None:
        self.gamma = 0.0

    def _acted(self) -> Any:
        self.plan.check_limit()
        # Now, because the environment may overwrite this observation with the next one.
        self.interest = self.plan.interest_of(self.observation)
        self.action, self.mu = self.draws.draw(self.observation, self.x, self.rng)
        return self.action

    def _recorded(
        self, x_next: Any, reward: float, terminated: bool, truncated: bool, gamma_next: float | None
    ) -> None:
        if gamma_next is None:
            gamma_next = self.plan.gamma
        self.columns.append(
            self.x,
            self.action,
            reward,
            x_next,
            self.mu,
            self.gamma,
            gamma_next,
            self.interest,
            terminated,
            truncated,
        )
        self.gamma = gamma_next
        if terminated or truncated:
            self.ended += 1
            self.plan.episodes += 1
        self.plan.report()
