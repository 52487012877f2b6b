"""What a policy earns in Gymnasium's environments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, isfinite, log10, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import convert
from .autoreset import run_several
from .behaviour import ActionSpace, Behaviour, Draws, drawn_by
from .convert import Floats
from .progress import Bar
from .rollout import Rollout, Sight, Tally, run_one, spaces_of

if TYPE_CHECKING:
    import gymnasium
    import gymnasium.vector


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Episodes of a policy, as `evaluate` returns them: a number for each, in read-only arrays.

    >>> import numpy
    >>> flags = numpy.array([True, True])
    >>> Evaluation(numpy.array([-110.0, -130.0]), numpy.array([110, 130]), flags, ~flags)
    Evaluation(2 episodes, mean return -120 ± 10, mean length 120.0, 2 terminated)
    """

    returns: Floats
    """The discounted sum of an episode's rewards."""
    lengths: NDArray[np.int64]
    """How many steps it took."""
    terminated: NDArray[np.bool_]
    """Whether it came to an end of its own."""
    truncated: NDArray[np.bool_]
    """Whether it was cut short, by the environment or by the cap."""

    def __post_init__(self) -> None:
        for column in (self.returns, self.lengths, self.terminated, self.truncated):
            column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.returns)

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(self.returns.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the mean return: by how much it is typically off. NaN of one episode."""
        if len(self) < 2:
            return float("nan")
        return float(self.returns.std(ddof=1)) / sqrt(len(self))

    def __repr__(self) -> str:
        words = [
            f"{len(self)} episode{'' if len(self) == 1 else 's'}",
            f"mean return {_with_error(self.mean, self.standard_error)}",
            f"mean length {self.lengths.mean():.1f}",
        ]
        for flags, what in ((self.terminated, "terminated"), (self.truncated, "truncated")):
            if flags.any():
                words.append(f"{flags.sum()} {what}")
        return f"Evaluation({', '.join(words)})"


def _with_error(mean: float, error: float) -> str:
    """Returns as many digits as mean something: those down to the second of the error."""
    if not isfinite(error):
        return f"{mean:.6g}"
    if error == 0:
        return f"{mean:.6g} ± 0"
    decimals = 1 - floor(log10(error))
    if not 0 <= decimals <= 9:
        return f"{mean:.6g} ± {error:.2g}"
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}"


def evaluate(
    env: gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any],
    agent: Behaviour | Callable[[Any, np.random.Generator], Any],
    episodes: int,
    seed: int,
    *,
    cap: int = 1000,
    gamma: float = 1.0,
    features: Callable[[Any], Any] | None = None,
    progress: bool | None = None,
) -> Evaluation:
    """Lets a policy act for whole episodes, and returns what it earned in each.

    env
        An environment of Gymnasium, or several (`gymnasium.vector`) in any autoreset mode, as for `collect`. It stays open.
    agent
        What `collect` takes as a behaviour: an agent, `"uniform"`, probabilities, `EpsilonGreedy`, a `Mixture`. A function
        `(observation, rng)` may return the action alone.
    cap
        After how many steps an episode is cut short, and counts as truncated, if the environment has not ended it.
    gamma
        The discount of the returns. `info["gamma_next"]` comes before it, as in `collect`.
    features
        A function of an observation, which the agent sees in its place, as in `collect`.

    Episode k begins with `env.reset(seed=seed + k)`, and the policy draws from a stream of its own that depends on `seed + k` alone:
    it is the first episode of `collect(env, agent, episodes=1, seed=seed + k)`. So two agents with the same seed meet the same
    starts and the same luck, and the standard error of `one.returns - other.returns` is often much smaller than those
    of both. Seeds that are closer together than `episodes` share episodes.

    Of n environments the i-th runs the episodes i, i + n, i + 2n, …, whatever their lengths, so that short ones are not
    preferred: n episodes run side by side, and the next n begin when the longest has ended. They are the episodes of one environment, unless
    the environments draw from one stream, as some that Gymnasium steps together do (`vectorization_mode="vector_entry_point"`).

    An environment that raises an exception or gives NaN leads to an `EpisodeError`, which says where.

    >>> import emphatic
    >>> env = emphatic.make_vec("cart-pole", 4)
    >>> evaluate(env, "uniform", episodes=20, seed=1)
    Evaluation(20 episodes, mean return 29.0 ± 4.4, mean length 29.0, 20 terminated)
    >>> evaluate(env, lambda observation, rng: int(observation[2] > 0), episodes=20, seed=1).mean  # where the pole leans
    47.3
    """
    count, action_space, observation_space = spaces_of(env, "evaluate")
    episodes, seed = convert.count(episodes, "episodes"), convert.count(seed, "seed", least=0)
    if not 0 <= convert.number(gamma, "gamma") <= 1:
        raise ValueError(f"gamma is {gamma}; a discount lies between 0 and 1")
    actions = ActionSpace(action_space)
    found = _Found(episodes, convert.count(cap, "cap"), gamma)
    draws = drawn_by(agent, actions, observation_space)
    sight = _sight(features, observation_space, draws)
    with Bar("evaluating", progress) as found.bar:
        for first in range(0, episodes, count or 1):
            running = [
                _Episode(found, first + i, seed, draws, sight, None if count is None else i)
                for i in range(count or 1)
            ]
            if count is None:
                run_one(env, running[0], actions, seed + first)
            else:
                run_several(env, running, actions, seed + first)
    return Evaluation(found.returns, found.lengths, found.terminated, found.truncated)


def _sight(features: Callable[[Any], Any] | None, space: Any, draws: Draws) -> Callable[[Any], Any]:
    try:
        return Sight(features, space)
    except TypeError:
        if features is not None or draws.sees_features:
            raise
        return lambda _observation: None  # Nobody looks.


class _Found(Tally):
    """The results of all episodes."""

    def __init__(self, episodes: int, cap: int, gamma: float) -> None:
        self.cap, self.gamma = cap, gamma
        self.returns, self.lengths = np.zeros(episodes), np.zeros(episodes, np.int64)
        self.terminated, self.truncated = np.zeros(episodes, np.bool_), np.zeros(episodes, np.bool_)
        self.done = 0
        self.bar: Bar


class _Episode(Rollout):
    """An episode. One whose number is too large only fills the place of an environment that is not needed."""

    def __init__(
        self,
        found: _Found,
        number: int,
        seed: int,
        draws: Draws,
        sight: Callable[[Any], Any],
        environment: int | None,
    ) -> None:
        super().__init__(draws, sight, seed + number, environment, found)
        self.found, self.number = found, number
        # So that `begin` counts up to it.
        self.episode = number - 1
        self.discount, self.over = 1.0, number >= len(found.returns)

    @property
    def goes_on(self) -> bool:
        return not self.over

    def _begun(self) -> None: ...

    def _acted(self) -> Any:
        return self.draws.act(self.observation, self.x, self.rng)

    def _recorded(
        self, x_next: Any, reward: float, terminated: bool, truncated: bool, gamma_next: float | None
    ) -> None:
        to, k = self.found, self.number
        to.returns[k] += self.discount * reward
        to.lengths[k] += 1
        self.discount *= to.gamma if gamma_next is None else gamma_next
        self.over = terminated or truncated or bool(to.lengths[k] >= to.cap)
        if self.over:
            to.terminated[k], to.truncated[k] = terminated, truncated or not terminated
            to.done += 1
        to.bar(to.done, len(to.returns))
