"""Simulators in Rust as environments of Gymnasium, one by one or many side by side."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _native, convert
from .convert import Floats

if TYPE_CHECKING:
    from gymnasium import Env
    from gymnasium.error import InvalidAction, ResetNeeded
    from gymnasium.spaces import Box, Discrete
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
else:
    try:
        from gymnasium import Env
        from gymnasium.error import InvalidAction, ResetNeeded
        from gymnasium.spaces import Box, Discrete
        from gymnasium.vector import AutoresetMode, VectorEnv
        from gymnasium.vector.utils import batch_space
    except ImportError:
        from .environments import Env

        VectorEnv = Env

Bools = NDArray[np.bool_]

# By their names in files.
DESCRIBED = {described["name"]: described for described in _native.simulators()}

_METADATA: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 30}

_MOST_SEED = 2**64 - 1


def gymnasium_name(name: str) -> str:
    """The name of a simulator in Gymnasium.

    >>> gymnasium_name("mountain-car")
    'emphatic/MountainCar-v0'
    """
    return f"emphatic/{name.title().replace('-', '')}-v0"


def _file_name(name: str) -> str:
    """The name of a simulator in files, also of its name in Gymnasium."""
    match = re.fullmatch(r"emphatic/(\w+)-v0", name)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", match[1]).lower() if match else name


class _Episodes:
    """Episodes of one simulator side by side, and what is known of it."""

    def __init__(self, name: str, count: int, limit: int | None, render_mode: str | None) -> None:
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is {render_mode!r}; it must be None or 'ansi'")
        name = _file_name(name)
        self.native = _native.Simulator(name, count, limit)
        self.described = DESCRIBED[name]
        self.count = count
        self.names, low, high, bounded, wraps = zip(*self.described["observations"], strict=True)
        self.low, self.high, self.wraps = np.array(low), np.array(high), wraps
        self.observed = Box(
            np.where(bounded, low, -np.inf), np.where(bounded, high, np.inf), dtype=np.float64
        )
        self.actions: Box | Discrete
        if self.described["range"] is None:
            self.actions = Discrete(len(self.described["actions"] or ()))
        else:
            self.actions = Box(*self.described["range"], (1,), np.float64)
        self.seeded = self.none()

    def none(self) -> Bools:
        return np.zeros(self.count, np.bool_)

    def all(self) -> Bools:
        return np.ones(self.count, np.bool_)

    def seed(self, seeds: Sequence[int | None], rng: np.random.Generator) -> None:
        """Begins the random streams of these seeds. One that has never had a seed is given one by `rng`."""
        drawn = [
            int(rng.integers(_MOST_SEED, dtype=np.uint64)) if seed is None and not seeded else seed
            for seed, seeded in zip(seeds, self.seeded, strict=True)
        ]
        self.native.seed(drawn)
        self.seeded = self.all()

    def states(self, given: Any, shape: tuple[int, ...]) -> Floats:
        """Returns states that may be set, or refuses them."""
        states = convert.finite(convert.floats(given, "state", len(shape)), "state")
        if states.shape != shape:
            right = f"{shape}: a state of {self.described['name']} is {shape[-1]} numbers"
            raise ValueError(f"state has the shape {states.shape}; it must have {right}")
        return states.reshape(self.count, shape[-1])

    def actions_of(self, given: Any) -> NDArray[Any]:
        """Returns an action for each environment, or refuses them."""
        whole = isinstance(self.actions, Discrete)
        shape = (self.count,) if whole else (self.count, 1)
        try:
            actions = np.asarray(given)
            if actions.shape == shape and actions.dtype.kind in ("iu" if whole else "iuf"):
                return np.ascontiguousarray(actions, np.int64 if whole else np.float64)
        except (TypeError, ValueError):
            pass
        right = f"an array of the shape {shape}, each action {self.native.right_action}"
        raise InvalidAction(f"the actions are {given!r}; they must be {right}")

    def text(self, observation: Floats) -> str:
        return ", ".join(f"{name} {x:.6g}" for name, x in zip(self.names, observation.tolist(), strict=True))


def _seed(seed: Any) -> int:
    return convert.count(seed, "seed", least=0, most=_MOST_SEED)


def _options(options: dict[str, Any] | None, known: tuple[str, ...]) -> dict[str, Any]:
    for name in options or {}:
        if name not in known:
            raise ValueError(f"options have {name!r}; they may have {' and '.join(map(repr, known))}")
    return options or {}


class SimulatorEnv(Env[Any, Any]):
    """A simulator in Rust as an environment of Gymnasium, with the same bits on every machine for the same seed.

    `name` is `"mountain-car"`, `"puddle-world"`, `"virtual-office"`, `"cart-pole"`, `"acrobot"`, `"pendulum"` or `"linear-quadratic"`;
    in Gymnasium they are `emphatic/MountainCar-v0` and so on. Observations are float64. Those that Gymnasium has, too, take the same steps there.
    `low` and `high` are the range of observations that features should cover, finite also where the space is not; in dimensions with `wraps`
    its ends meet.

    `reset(options={"state": [...]})` begins in a given state. `state` can be read and set: an excursion goes on from there.

    >>> import gymnasium
    >>> env = gymnasium.make("emphatic/MountainCar-v0")
    >>> observation, info = env.reset(seed=1, options={"state": [-0.5, 0.0]})
    >>> env.step(2)
    (array([-0.49917684,  0.00082316]), -1.0, False, False, {})
    """

    metadata = _METADATA

    def __init__(self, name: str, render_mode: str | None = None) -> None:
        self._episodes = episodes = _Episodes(name, 1, None, render_mode)
        self.render_mode = render_mode
        self.observation_space, self.action_space = episodes.observed, episodes.actions
        self.low, self.high, self.wraps = episodes.low, episodes.high, episodes.wraps
        self._running = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        given = _options(options, ("state",)).get("state")
        states = None if given is None else self._states(given)
        seed = None if seed is None else _seed(seed)
        super().reset(seed=seed)
        self._episodes.seed([seed], self.np_random)
        self._episodes.native.begin(self._episodes.all(), states)
        self._running = True
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        if not self._running:
            raise ResetNeeded("no episode is running: call reset() first, and after every end")
        taken = self._action(action)
        observations, reward, terminated, _ = self._episodes.native.step(taken, self._episodes.none())
        self._running = not terminated[0]
        return observations[0], float(reward[0]), bool(terminated[0]), False, {}

    def _action(self, action: Any) -> NDArray[Any]:
        try:
            if isinstance(self.action_space, Discrete):
                return np.array([operator.index(action)], np.int64)
            numbers = np.asarray(action, np.float64)
            if numbers.shape == (1,):
                return numbers.reshape(1, 1)
        except (TypeError, ValueError, OverflowError):
            pass
        array = "" if isinstance(self.action_space, Discrete) else "an array of one number: "
        right = f"{array}{self._episodes.native.right_action}"
        raise InvalidAction(f"the action is {action!r}; it must be {right}")

    @property
    def state(self) -> Floats:
        """The state: a copy."""
        return np.asarray(self._episodes.native.states[0])

    @state.setter
    def state(self, state: Any) -> None:
        self._episodes.native.set_states(self._states(state))
        self._running = True

    def _states(self, state: Any) -> Floats:
        return self._episodes.states(state, (self._episodes.described["state"],))

    def _observation(self) -> Floats:
        return np.asarray(self._episodes.native.observations()[0])

    def render(self) -> str | None:
        """What is observed."""
        return None if self.render_mode is None else self._episodes.text(self._observation())


class SimulatorVectorEnv(VectorEnv[Any, Any, Any]):
    """Many environments of one simulator, which take their steps in one call: see `make_vec`."""

    metadata = _METADATA

    def __init__(
        self,
        name: str,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = "NextStep",
        render_mode: str | None = None,
    ) -> None:
        self.num_envs = convert.count(num_envs, "num_envs")
        self._mode = _autoreset_mode(autoreset_mode)
        self.metadata = {**_METADATA, "autoreset_mode": self._mode}
        limit = _limit(name, max_episode_steps)
        self._episodes = episodes = _Episodes(name, self.num_envs, limit, render_mode)
        self.render_mode = render_mode
        self.single_observation_space, self.single_action_space = episodes.observed, episodes.actions
        self.observation_space = batch_space(episodes.observed, self.num_envs)
        self.action_space = batch_space(episodes.actions, self.num_envs)
        self.low, self.high, self.wraps = episodes.low, episodes.high, episodes.wraps
        # Where episodes have not begun, or have ended and not begun again.
        self._over = episodes.all()
        self._begun = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begins episodes: the i-th with `seed + i`, or with a seed of its own.

        `options`: `"state"` [num_envs, numbers], where to begin; `"reset_mask"` [num_envs], which begin (the others go on)."""
        given = _options(options, ("state", "reset_mask"))
        chosen = self._mask(given.get("reset_mask"))
        states = None if given.get("state") is None else self._states(given["state"])
        seeds = self._seeds(seed)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        # Those that go on keep their streams.
        wanted = [one if begins else None for one, begins in zip(seeds, chosen, strict=True)]
        self._episodes.seed(wanted, self.np_random)
        self._episodes.native.begin(chosen, states)
        self._over = self._over & ~chosen
        self._begun = self._begun or not self._over.any()
        return self._episodes.native.observations(), {}

    def _mask(self, mask: Any) -> Bools:
        if mask is None:
            return self._episodes.all()
        right = f"an array of {self.num_envs} booleans"
        found = convert.of_kind(mask, "options['reset_mask']", "b", right)
        if found.shape != (self.num_envs,):
            raise ValueError(f"options['reset_mask'] has the shape {found.shape}; it must be {right}")
        return np.ascontiguousarray(found)

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, Sequence):
            if len(seed) != self.num_envs:
                raise ValueError(f"there are {len(seed)} seeds; there must be {self.num_envs}")
            return [None if one is None else _seed(one) for one in seed]
        return [_seed(_seed(seed) + i) for i in range(self.num_envs)]

    def step(self, actions: Any) -> tuple[Floats, Floats, Bools, Bools, dict[str, Any]]:
        self._check_running()
        taken = self._episodes.actions_of(actions)
        resets = self._over if self._mode is AutoresetMode.NEXT_STEP else self._episodes.none()
        observations, reward, terminated, truncated = self._episodes.native.step(taken, resets)
        self._over = terminated | truncated
        infos: dict[str, Any] = {}
        if self._mode is AutoresetMode.SAME_STEP and self._over.any():
            for i in np.flatnonzero(self._over):
                infos = self._add_info(infos, {"final_obs": observations[i], "final_info": {}}, int(i))
            self._episodes.native.begin(self._over, None)
            observations, self._over = self._episodes.native.observations(), self._episodes.none()
        return observations, reward, terminated, truncated, infos

    def _check_running(self) -> None:
        if not self._begun:
            raise ResetNeeded("no episode is running: call reset() first")
        if self._mode is AutoresetMode.DISABLED and self._over.any():
            mask = "{'reset_mask': terminated | truncated}"
            raise ResetNeeded(
                f"the episode of environment {np.argmax(self._over)} is over: call reset(options={mask}) first"
            )

    @property
    def states(self) -> Floats:
        """The states, [num_envs, numbers]: a copy."""
        return self._episodes.native.states

    @states.setter
    def states(self, states: Any) -> None:
        self._episodes.native.set_states(self._states(states))
        # Episodes go on from there, also those that were over.
        self._over, self._begun = self._episodes.none(), True

    def _states(self, states: Any) -> Floats:
        return self._episodes.states(states, (self.num_envs, self._episodes.described["state"]))

    def render(self) -> tuple[str, ...] | None:
        """What is observed in each."""
        if self.render_mode is None:
            return None
        return tuple(self._episodes.text(each) for each in self._episodes.native.observations())


def _limit(name: str, given: int | None) -> int | None:
    """Returns the time limit: None for the simulator's own and -1 for none, as in Gymnasium."""
    if given is None:
        described = DESCRIBED.get(_file_name(name))
        return None if described is None else described["limit"]
    return None if given == -1 else convert.count(given, "max_episode_steps")


def _autoreset_mode(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        right = ", ".join(repr(each.value) for each in AutoresetMode)
        raise ValueError(f"autoreset_mode is {mode!r}; it must be one of {right}") from None


def make_vec(
    name: str,
    num_envs: int,
    *,
    max_episode_steps: int | None = None,
    autoreset_mode: AutoresetMode | str = "NextStep",
    render_mode: str | None = None,
) -> SimulatorVectorEnv:
    """Makes many environments of one simulator, which take their steps in one call of Rust.

    name
        `"mountain-car"`, or as in Gymnasium `"emphatic/MountainCar-v0"`: see `SimulatorEnv`.
    max_episode_steps
        After how many steps an episode is truncated. Left out, the simulator's own limit, if it has one; -1 is no limit.
    autoreset_mode
        What happens after an end, as Gymnasium defines it: `"NextStep"`, `"SameStep"` or `"Disabled"`.

    The i-th environment with seed s is to the bit the single one with seed s + i.

    >>> env = make_vec("mountain-car", 3)
    >>> observations, _ = env.reset(seed=1)
    >>> observations.shape
    (3, 2)
    >>> env.step([0, 1, 2])[1]
    array([-1., -1., -1.])
    """
    return SimulatorVectorEnv(
        name,
        num_envs,
        max_episode_steps=max_episode_steps,
        autoreset_mode=autoreset_mode,
        render_mode=render_mode,
    )
