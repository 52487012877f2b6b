"""Problems as environments: their transitions, their ends, and Gymnasium's rules."""

from __future__ import annotations

import copy
import math
import pathlib
import warnings
from typing import Any

import numpy as np
import pytest

from agents import same
from command import python
from emphatic import Problem, collect

pytest.importorskip("gymnasium")
import gymnasium
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.spaces import Discrete
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from emphatic.environments import ContinuousCounterexampleEnv, ProblemEnv, register
from emphatic.simulators import DESCRIBED, gymnasium_name

IDS = ["Counterexample", "LongCounterexample", "ContinuousCounterexample", "Problem"]


# Three states, two actions, rows of every kind: state, action, next, probability, reward, gamma.
ROWS = [
    (0, 0, 1, 0.5, 1.0, 0.9),
    (0, 0, 2, 0.5, 2.0, 0.8),
    (0, 1, 0, 1.0, 0.0, 0.9),
    (1, 0, 0, 0.7, 3.0, 0.5),
    (1, 0, 0, 0.075, -1.0, 0.0),  # An end: it goes on where the start distribution says.
    (1, 0, 1, 0.225, -1.0, 0.0),
    (1, 1, 2, 1.0, 0.5, 0.0),  # A discount of 0 that leads to a certain state.
    (2, 0, 0, 1.0, 4.0, 1.0),
    (2, 1, 1, 1.0, 5.0, 1.0),
]
SMALL = Problem.parse("""
states = ["here", "there", "last"]
actions = ["go", "stay"]
start = { here = 0.25, there = 0.75 }
behaviour = "uniform"
transitions = [
  { from = "here", action = "go", to = "there", probability = 0.5, reward = 1, gamma = 0.9 },
  { from = "here", action = "go", to = "last", probability = 0.5, reward = 2, gamma = 0.8 },
  { from = "here", action = "stay", to = "here", gamma = 0.9 },
  { from = "there", action = "go", to = "here", probability = 0.7, reward = 3, gamma = 0.5 },
  { from = "there", action = "go", end = true, probability = 0.3, reward = -1 },
  { from = "there", action = "stay", to = "last", reward = 0.5, gamma = 0 },
  { from = "last", action = "go", to = "here", reward = 4, gamma = 1 },
  { from = "last", action = "stay", to = "there", reward = 5, gamma = 1 },
]
""")


def small(**options: Any) -> ProblemEnv:
    return ProblemEnv(SMALL, **options)


def test_the_problem_has_the_rows_written_down_by_hand() -> None:
    np.testing.assert_allclose(np.column_stack(SMALL.transitions), ROWS, rtol=1e-15)


def test_transitions_come_as_often_as_they_should() -> None:
    steps = 40_000
    env = small()
    state, _ = env.reset(seed=0)
    rng = np.random.default_rng(0)
    counts: dict[tuple[int, int], dict[Any, int]] = {}
    for _ in range(steps):
        action = int(rng.integers(2))
        following, reward, terminated, truncated, info = env.step(action)
        assert not truncated and info.keys() == {"gamma_next"} and terminated == (info["gamma_next"] == 0)
        before = state
        if terminated:
            assert following == state, "an episode ends in the state in which it ended"
            following, _ = env.reset()
        outcome = (following, reward, info["gamma_next"])
        outcomes = counts.setdefault((before, action), {})
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        state = following
    assert len(counts) == 6
    for pair, outcomes in counts.items():
        n = sum(outcomes.values())
        expected = {(r[2], r[4], r[5]): r[3] for r in ROWS if r[:2] == pair}
        assert outcomes.keys() == expected.keys(), pair
        for outcome, p in expected.items():
            assert abs(outcomes[outcome] / n - p) <= 5 * math.sqrt(p * (1 - p) / n), (pair, outcome)


class Lowest:
    def random(self) -> float:
        return 0.0


def test_what_has_no_probability_does_not_happen_however_small_the_draw() -> None:
    env = small()
    env.reset(seed=0)
    env._state = 0
    env._probability = np.array([0.0, *env._probability[1:]])
    env.np_random = Lowest()  # type: ignore[assignment]
    assert env.step(0)[:2] == (2, 2.0)


def test_episodes_begin_by_the_start_distribution() -> None:
    env = small()
    starts = np.bincount([env.reset(seed=seed)[0] for seed in range(2000)], minlength=3) / 2000
    assert starts[2] == 0 and abs(starts[0] - 0.25) < 0.05
    env.reset(seed=0)
    again = np.bincount([env.reset()[0] for _ in range(2000)], minlength=3) / 2000  # Amid an episode.
    assert again[2] == 0 and abs(again[0] - 0.25) < 0.05


def until_there(env: ProblemEnv) -> None:
    """Begins an episode in state 1."""
    seed = 0
    while env.reset(seed=seed)[0] != 1:
        seed += 1


def test_a_discount_of_0_that_leads_to_a_certain_state_goes_on_there() -> None:
    env = small()
    until_there(env)
    assert env.step(1) == (1, 0.5, True, False, {"gamma_next": 0.0})
    assert env.reset()[0] == 2
    until_there(env)
    env.step(1)
    assert env.reset(seed=0)[0] != 2, "a seed begins anew"
    assert env.reset()[0] != 2, "and what was left over is forgotten"


def test_a_seed_gives_the_same_experience() -> None:
    def play(env: ProblemEnv) -> list[Any]:
        seen: list[Any] = [env.reset(seed=3)]
        for t in range(200):
            seen.append(env.step(t % 2))
            if seen[-1][2]:
                seen.append(env.reset())
        return seen

    env = small()
    assert play(env) == play(env) == play(small())


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_several_environments_give_what_each_gives_alone(mode: Any) -> None:
    env = SyncVectorEnv([small, small], autoreset_mode=mode)
    both = collect(env, "uniform", 400, 7)
    for i in range(2):
        alone, part = collect(small(), "uniform", 200, 7 + i), both[200 * i : 200 * (i + 1)]
        assert alone.terminated.sum() > 20
        same(part, alone)


def test_collecting_gives_the_stream_of_the_problem() -> None:
    """How often each state is visited is the stationary distribution of the chain that goes on after ends."""
    chain = np.zeros((3, 3))
    for state, _, following, probability, _, _ in ROWS:
        chain[state, following] += 0.5 * probability
    stationary = np.linalg.matrix_power(chain, 1000)[0]
    batch = collect(small(), "uniform", 40_000, 1)
    np.testing.assert_allclose(np.bincount(batch.x) / 40_000, stationary, atol=0.015)
    assert set(np.unique(batch.gamma_next)) == {0.0, 0.5, 0.8, 0.9, 1.0}


def test_rendering_shows_the_name_of_the_state() -> None:
    env = small(render_mode="ansi")
    until_there(env)
    assert env.render() == "there"
    env.step(1)
    assert env.render() == "there"
    env.reset()
    assert env.render() == "last"
    silent = small()
    silent.reset()
    assert silent.render() is None


@pytest.mark.parametrize("make", [small, ContinuousCounterexampleEnv])
def test_render_modes(make: Any) -> None:
    with pytest.raises(ValueError, match="render_mode is 'human'; it must be None or 'ansi'"):
        make(render_mode="human")


@pytest.mark.parametrize(("env", "action"), [(small(), 1), (ContinuousCounterexampleEnv(), np.zeros(1))])
def test_a_step_needs_an_episode(env: Any, action: Any) -> None:
    env = copy.deepcopy(env)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(action)
    env.reset(seed=0)
    while not env.step(action)[2]:
        pass
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(action)


@pytest.mark.parametrize("action", [2, -1, 0.0, None, [1], np.array([1])])
def test_actions_that_do_not_exist(action: Any) -> None:
    env = small()
    env.reset()
    with pytest.raises(InvalidAction, match="it must be one of 0 to 1"):
        env.step(action)


def test_what_is_no_problem() -> None:
    with pytest.raises(TypeError, match="problem is a int; it must be a Problem, a path or a name"):
        ProblemEnv(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "states"), [("Counterexample", 3), ("LongCounterexample", 11)])
def test_the_papers_problems_by_name(name: str, states: int) -> None:
    env = gymnasium.make(f"emphatic/{name}-v0", render_mode="ansi")
    assert env.reset(seed=0) == (0, {}) and env.render() == "S0"
    assert env.action_space == Discrete(2) and env.observation_space == Discrete(states)


@pytest.mark.parametrize(
    ("first", "second", "state", "reward"), [(0, 0, 1, 2.0), (0, 1, 1, 0.0), (1, 0, 2, 0.0), (1, 1, 2, 1.0)]
)
def test_the_counterexample(first: int, second: int, state: int, reward: float) -> None:
    env = gymnasium.make("emphatic/Counterexample-v0")
    env.reset(seed=0)
    assert env.step(first) == (state, 0.0, False, False, {"gamma_next": 1.0})
    assert env.step(second) == (state, reward, True, False, {"gamma_next": 0.0})
    assert env.reset()[0] == 0


def test_the_counterexample_ends_every_other_step() -> None:
    batch = collect(gymnasium.make("emphatic/Counterexample-v0"), [0.25, 0.75], 1000, 0)
    np.testing.assert_array_equal(batch.gamma_next, [1, 0] * 500)
    np.testing.assert_array_equal(batch.gamma, [0, 1] * 500)
    assert abs(batch.reward.mean() * 2 - (0.25 * 0.25 * 2 + 0.75 * 0.75)) < 0.15


def test_any_problem_by_path_name_or_itself(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(
        'states = ["a", "b"]\nactions = ["x", "y"]\nstart = "b"\ngamma = 0.5\n'
        "behaviour = { x = 0.5, y = 0.5 }\n"
        'transitions = [\n  { from = ["a", "b"], action = "x", to = "a" },\n'
        '  { from = ["a", "b"], action = "y", reward = 7, end = true },\n]\n'
    )
    for problem in [file, str(file), Problem.open(str(file))]:
        env = gymnasium.make("emphatic/Problem-v0", problem=problem)
        assert env.reset(seed=0)[0] == 1
        assert env.step(0) == (0, 0.0, False, False, {"gamma_next": 0.5})
        assert env.step(1) == (0, 7.0, True, False, {"gamma_next": 0.0})
        assert env.reset()[0] == 1
    env = gymnasium.make("emphatic/Problem-v0", problem="counterexample")
    assert env.observation_space == Discrete(3)


def test_a_problem_of_real_actions_has_an_environment_of_its_own() -> None:
    for problem in ("continuous-counterexample", Problem.open("continuous-counterexample")):
        with pytest.raises(ValueError, match="make emphatic/ContinuousCounterexample-v0 instead"):
            ProblemEnv(problem)
    with pytest.raises(ValueError, match="make emphatic/ContinuousCounterexample-v0 instead"):
        ProblemEnv("continuous-counterexample")


def sigmoid(a: float) -> float:
    return 0.5 * (1 + math.tanh(a / 2))


@pytest.mark.parametrize("a", [-3.0, -0.2, 0.0, 1.0, 40.0])
def test_the_continuous_counterexample(a: float) -> None:
    env = ContinuousCounterexampleEnv()
    env.reset(seed=0)
    visited = []
    for _ in range(3000):
        assert env.reset() == (0, {})
        state, reward, terminated, truncated, info = env.step(np.array([a]))
        assert (reward, terminated, truncated, info) == (0.0, False, False, {"gamma_next": 1.0})
        visited.append(state)
        end = env.step(np.array([a]))
        assert end[0] == state and end[2:] == (True, False, {"gamma_next": 0.0})
        assert end[1] == pytest.approx(2 * sigmoid(-a) if state == 1 else sigmoid(a), abs=1e-15)
    assert set(visited) <= {1, 2}
    p = sigmoid(a)
    assert abs(np.mean(np.array(visited) == 2) - p) <= 5 * math.sqrt(p * (1 - p) / 3000)


def test_large_actions_do_not_overflow() -> None:
    env = ContinuousCounterexampleEnv(render_mode="ansi")
    for a, state, rewards in [(1e6, 2, 1.0), (-1e6, 1, 2.0), (math.inf, 2, 1.0), (-math.inf, 1, 2.0)]:
        env.reset(seed=0)
        assert env.step(np.array([a]))[0] == state and env.render() == f"S{state}"
        assert env.step(np.array([a]))[1] == rewards


@pytest.mark.parametrize("action", [0.5, [0.5, 0.5], [math.nan], [[0.5]]])
def test_actions_that_are_not_one_number(action: Any) -> None:
    env = ContinuousCounterexampleEnv()
    env.reset()
    with pytest.raises(InvalidAction, match="an array of one number"):
        env.step(action)


def test_the_papers_continuous_behaviour() -> None:
    def behaviour(observation: int, rng: np.random.Generator) -> tuple[float, float]:
        a = rng.normal(1.0, 1.0)
        return a, math.exp(-0.5 * (a - 1.0) ** 2) / math.sqrt(2 * math.pi)

    batch = collect(gymnasium.make("emphatic/ContinuousCounterexample-v0"), behaviour, 20_000, 0)
    assert batch.action.dtype == np.float64
    np.testing.assert_allclose(np.bincount(batch.x) / 20_000, [0.5, 0.151633, 0.348367], atol=0.01)


@pytest.mark.parametrize(
    ("id", "options"),
    [
        ("Counterexample", {}),
        ("LongCounterexample", {}),
        ("Problem", {"problem": "shop"}),
        ("Counterexample", {"render_mode": "ansi"}),
    ],
)
def test_gymnasium_finds_nothing_to_warn_of(id: str, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(f"emphatic/{id}-v0", **options).unwrapped)


def test_gymnasium_warns_of_real_actions_without_bounds_only() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(gymnasium.make("emphatic/ContinuousCounterexample-v0").unwrapped)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 3 and all("Box action space" in message for message in messages), messages


def test_registering_again_changes_nothing() -> None:
    before = dict(gymnasium.registry)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register()
    assert gymnasium.registry == before
    ours = {f"emphatic/{name}-v0" for name in IDS} | {gymnasium_name(name) for name in DESCRIBED}
    assert {id for id in before if id.startswith("emphatic/")} == ours


@pytest.mark.parametrize(
    "program",
    [
        "import emphatic, gymnasium; gymnasium.make('emphatic/Counterexample-v0')",
        "import gymnasium, emphatic; gymnasium.make('emphatic/Counterexample-v0')",
        "import gymnasium; gymnasium.make('emphatic:emphatic/Counterexample-v0')",
    ],
)
def test_importing_registers(program: str) -> None:
    python(program)


def test_without_gymnasium() -> None:
    python("""
import sys
sys.modules["gymnasium"] = None
import emphatic
from emphatic import environments, simulators
of_problem = lambda: environments.ProblemEnv("x")
one, many = lambda: simulators.SimulatorEnv("acrobot"), lambda: emphatic.make_vec("acrobot", 2)
for need in (environments.register, environments.ContinuousCounterexampleEnv, of_problem, one, many):
    try:
        need()
    except ImportError as error:
        assert "pip install gymnasium" in str(error), error
    else:
        raise AssertionError(need)
""")
