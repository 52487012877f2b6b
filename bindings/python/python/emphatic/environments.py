"""Problems as environments of Gymnasium."""

from __future__ import annotations

import os
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .problem import Problem

if TYPE_CHECKING:
    from gymnasium import Env
    from gymnasium.error import InvalidAction, ResetNeeded
    from gymnasium.spaces import Box, Discrete
else:
    try:
        from gymnasium import Env
        from gymnasium.error import InvalidAction, ResetNeeded
        from gymnasium.spaces import Box, Discrete
    except ImportError:

        class Env:
            """Replaces Gymnasium's, so that this module can be imported without it."""

            def __class_getitem__(cls, _types: object) -> type:
                return cls

            def __new__(cls, *_args: object, **_kwargs: object) -> Env:
                raise ImportError(_MISSING)


_MISSING = "environments need Gymnasium: pip install gymnasium"


class _StateEnv(Env[Any, Any]):
    """What the environments here have in common: named states, and episodes that begin with `reset`."""

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(self, names: list[str], render_mode: str | None) -> None:
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is {render_mode!r}; it must be None or 'ansi'")
        self.observation_space = Discrete(len(names))
        self.render_mode = render_mode
        self._names = names
        self._state = 0
        self._running = False

    def _begin(self, state: int) -> tuple[int, dict[str, Any]]:
        self._state, self._running = state, True
        return state, {}

    def _check_running(self) -> None:
        if not self._running:
            raise ResetNeeded("no episode is running: call reset() first, and after every end")

    def _answer(
        self, state: int, reward: float, gamma: float
    ) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Returns what step() returns. At an end, `state` is the one it ended in: there is no state after it."""
        self._state, self._running = state, gamma != 0.0
        return state, reward, not self._running, False, {"gamma_next": gamma}

    def render(self) -> str | None:
        """The name of the state."""
        return None if self.render_mode is None else self._names[self._state]


class ProblemEnv(_StateEnv):
    """A finite problem as an environment: states and actions by number.

    `problem` is a `Problem`, the path of a problem file, or the name of a shipped one.

    `info["gamma_next"]` is the discount of the transition. A discount of 0 ends the episode (`terminated`),
    and the last observation is the state in which it ended: a problem has no state after an end. The next
    `reset()` begins where the problem goes on: by its start distribution, or, if a transition of discount 0
    leads to a certain state, there. So over many episodes one sees the problem's own stream of experience.
    `reset(seed=...)` and a reset amid an episode draw from the start distribution.

    >>> import gymnasium
    >>> env = gymnasium.make("emphatic/Counterexample-v0", render_mode="ansi")
    >>> env.reset(seed=1)
    (0, {})
    >>> env.step(1)
    (2, 0.0, False, False, {'gamma_next': 1.0})
    >>> env.render()
    'S2'
    """

    def __init__(self, problem: Problem | str | os.PathLike[str], render_mode: str | None = None) -> None:
        self.problem = _opened(problem)
        if not len(self.problem.actions):
            raise ValueError(
                "this problem has real actions; make emphatic/ContinuousCounterexample-v0 instead"
            )
        super().__init__(list(self.problem.states), render_mode)
        self._actions = len(self.problem.actions)
        self.action_space = Discrete(self._actions)
        rows = self.problem.transitions
        self._next, self._reward, self._gamma = rows.next, rows.reward, rows.gamma
        self._start = np.cumsum(self.problem.start)
        # The outcomes of state s and action a are the rows from first[s, a] to first[s, a + 1].
        pairs = np.asarray(rows.state, np.int64) * self._actions + rows.action
        self._first = np.searchsorted(pairs, np.arange(len(self._names) * self._actions + 1))
        self._probability = rows.probability
        self._start_next: int | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        start, self._start_next = self._start_next, None
        if start is None or seed is not None:
            start = _draw(self._start, self.np_random)
        return self._begin(start)

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self._check_running()
        if not self.action_space.contains(action):
            raise InvalidAction(f"the action is {action!r}; it must be one of 0 to {self._actions - 1}")
        pair = self._state * self._actions + int(action)
        first, last = self._first[pair], self._first[pair + 1]
        row = first + _draw(np.cumsum(self._probability[first:last]), self.np_random)
        gamma, following = float(self._gamma[row]), int(self._next[row])
        if gamma == 0.0:
            self._start_next, following = following, self._state
        return self._answer(following, float(self._reward[row]), gamma)


def _opened(problem: Problem | str | os.PathLike[str]) -> Problem:
    if isinstance(problem, (str, os.PathLike)):
        return Problem.open(os.fspath(problem))
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is a {type(problem).__name__}; it must be a Problem, a path or a name")
    return problem


def _draw(cumulative: NDArray[np.float64], rng: np.random.Generator) -> int:
    # Less than the total, so an outcome of probability 0 is never drawn.
    return int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))


class ContinuousCounterexampleEnv(_StateEnv):
    """The paper's counterexample with one real action a.

    S0 leads to S2 with probability σ(a) and to S1 otherwise; S1 ends with reward 2σ(−a), S2 with σ(a).
    Observations are state numbers; at an end, the state in which it ended. `info["gamma_next"]` is 1, and 0
    at an end. The paper's behaviour is a Gaussian of mean 1 and standard deviation 1:

    >>> import gymnasium, numpy
    >>> from emphatic import collect
    >>> def behaviour(observation, rng):
    ...     action = rng.normal(1.0, 1.0)
    ...     return action, numpy.exp(-0.5 * (action - 1.0) ** 2) / numpy.sqrt(2 * numpy.pi)
    >>> collect(gymnasium.make("emphatic/ContinuousCounterexample-v0"), behaviour, steps=10, seed=1)
    Batch(10 steps, state numbers, real actions, 5 terminated, 0 truncated)
    """

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(["S0", "S1", "S2"], render_mode)
        self.action_space = Box(-np.inf, np.inf, (1,), np.float64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        return self._begin(0)

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self._check_running()
        numbers = np.asarray(action, np.float64)
        if numbers.shape != (1,) or np.isnan(numbers[0]):
            raise InvalidAction(f"the action is {action!r}; it must be an array of one number")
        right, left = _sigmoid(float(numbers[0])), _sigmoid(-float(numbers[0]))
        if self._state == 0:
            return self._answer(2 if self.np_random.random() < right else 1, 0.0, 1.0)
        return self._answer(self._state, 2.0 * left if self._state == 1 else right, 0.0)


def _sigmoid(a: float) -> float:
    # Neither form overflows.
    return 1.0 / (1.0 + exp(-a)) if a >= 0 else exp(a) / (1.0 + exp(a))


def register() -> None:
    """Registers the environments with Gymnasium. `import emphatic` does so; a second call changes nothing.

    They are `emphatic/Counterexample-v0`, `emphatic/LongCounterexample-v0`,
    `emphatic/ContinuousCounterexample-v0`, and `emphatic/Problem-v0`, which takes `problem=`; and the simulators, from
    `emphatic/MountainCar-v0` on, which `emphatic.simulators.SimulatorEnv` lists.
    """
    try:
        import gymnasium
    except ImportError as error:
        raise ImportError(_MISSING) from error
    from .simulators import DESCRIBED, gymnasium_name

    here = "emphatic.environments"
    for name, entry_point, kwargs in [
        ("Counterexample", f"{here}:ProblemEnv", {"problem": "counterexample"}),
        ("LongCounterexample", f"{here}:ProblemEnv", {"problem": "long-counterexample"}),
        ("ContinuousCounterexample", f"{here}:ContinuousCounterexampleEnv", {}),
        ("Problem", f"{here}:ProblemEnv", {}),
    ]:
        id = f"emphatic/{name}-v0"
        if id not in gymnasium.registry:
            gymnasium.register(id, entry_point, kwargs=kwargs)
    here = "emphatic.simulators"
    for name, described in DESCRIBED.items():
        id = gymnasium_name(name)
        if id not in gymnasium.registry:
            gymnasium.register(
                id,
                f"{here}:SimulatorEnv",
                vector_entry_point=f"{here}:SimulatorVectorEnv",
                max_episode_steps=described["limit"],
                kwargs={"name": name},
            )
