"""Environments of Gymnasium in experiment files: the numbers of a loop by hand, the same bits however they are run, and what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emphatic
from command import command, python
from emphatic import EpisodeError, FileError, Results, check, run

pytest.importorskip("gymnasium")
import gymnasium
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
from gymnasium.wrappers import TimeLimit

MASK = 2**64 - 1


class Random:
    """The streams of experiments, as they are documented: xoshiro256++, seeded by SplitMix64 with a seed and a run."""

    def __init__(self, seed: int, run: int) -> None:
        word = _mix((_mix(seed) + run) & MASK)
        self.state = []
        for _ in range(4):
            self.state.append(_mix(word))
            word = (word + 0x9E3779B97F4A7C15) & MASK

    def word(self) -> int:
        a, b, c, d = self.state
        word = (_rotated((a + d) & MASK, 23) + a) & MASK
        shifted = (b << 17) & MASK
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        self.state = [a, b, c, _rotated(d, 45)]
        return word

    def uniform(self) -> float:
        return (self.word() >> 11) / 2**53

    def index(self, probabilities: Any) -> int:
        left = self.uniform()
        for k, p in enumerate(probabilities):
            if left < p:
                return k
            left -= p
        return len(probabilities) - 1

    def seed(self) -> int:
        return self.word() >> 33


def _mix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def _rotated(x: int, by: int) -> int:
    return ((x << by) | (x >> (64 - by))) & MASK


def test_the_streams_here_are_those_of_the_library() -> None:
    random = Random(1, 2)
    right = [13_502_186_381_601_466_101, 14_010_220_477_554_852_104, 6_828_232_781_586_495_118]
    assert [random.word() for _ in range(3)] == right


class Corridor(gymnasium.Env[Any, Any]):
    """States 3 to 7 in a row, actions 1 (left) and 2 (right). The episode ends on the right; on the left one stays. It slips sometimes."""

    open = 0
    most = 0
    resets: list[int] = []
    steps = 0
    fails: str | None = None
    threads: set[int] = set()

    def __init__(self, length: int = 5) -> None:
        self.observation_space = Discrete(length, start=3)
        self.action_space = Discrete(2, start=1)
        self.busy = threading.Lock()
        Corridor.open += 1
        Corridor.most = max(Corridor.most, Corridor.open)

    def close(self) -> None:
        Corridor.open -= 1

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        assert seed is not None
        Corridor.resets.append(seed)
        self.state = 4
        return self.state, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in self.action_space and self.busy.acquire(blocking=False)
        Corridor.steps += 1
        Corridor.threads.add(threading.get_ident())
        if Corridor.fails and Corridor.steps > 3000:
            self.busy.release()
            return self.failed()
        right = (action == 2) != (self.np_random.random() < 0.2)
        self.state = max(self.state + (1 if right else -1), 3)
        over = self.state == 7
        self.busy.release()
        return self.state, 1.0 if over else -0.125, over, False, {}

    def failed(self) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if Corridor.fails == "raises":
            raise RuntimeError("out of order")
        answers: dict[str, Any] = {
            "observation": (99, 0.0, False, False, {}),
            "kind": ("left", 0.0, False, False, {}),
            "reward": (4, float("nan"), False, False, {}),
            "word": (4, "much", False, False, {}),
            "tuple": (4, 0.0, False, {}),
            "gamma": (4, 0.0, False, False, {"gamma_next": 1.5}),
            "flag": (4, 0.0, None, False, {}),
            "discount": (4, 0.0, False, False, {"gamma_next": "none"}),
        }
        return answers[str(Corridor.fails)]  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def _afresh() -> None:
    Corridor.open, Corridor.most, Corridor.steps, Corridor.resets = 0, 0, 0, []
    Corridor.fails, Corridor.threads = None, set()


CORRIDOR = """
problem = "gymnasium:corridor"
gamma = 0.9
features = "one-hot"
behaviour = { 1 = 0.4, 2 = 0.6 }
seed = 5
runs = 3
steps = 400
evaluations = 2
record = ["return", "episode_length", "weights"]
fresh_runs = 1

[rollouts]
episodes = 20
cap = 30

[[method]]
algorithm = "ace"
emphasis = { kind = "follow-on", lambda_a = 0.5 }
alpha = [0.05, 0.2]
critic = { kind = "tdrc", alpha_v = [0.1, 0.3] }

[[method]]
algorithm = "offpac"
alpha = 0.1
critic = { kind = "tdrc", alpha_v = 0.1 }
"""

CART_POLE = """
problem = { name = "gymnasium:CartPole-v1", limit = 40 }
gamma = 0.95
features = { kind = "tiles", tilings = 4, tiles = 3, low = [-2.4, -2, -0.2, -2], high = [2.4, 2, 0.2, 2] }
seed = 2
runs = 2
steps = 600
evaluations = 2
record = ["return", "weights"]

[rollouts]
episodes = 18
gamma = 0.99

[[method]]
algorithm = "ace"
emphasis = { kind = "follow-on", lambda_a = 0.5 }
alpha = [0.05, 0.2]
critic = { kind = "tdrc", alpha_v = 0.1, lambda = 0.3 }
"""


def written(tmp_path: Path, text: str, name: str = "x.toml") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


def tables(results: Results) -> list[bytes]:
    return [(results.directory / f"{name}.parquet").read_bytes() for name in ("results", "settings", "fresh")]


# --- How much work it is ---


def test_an_experiment_with_an_environment_of_ones_own_is_checked(tmp_path: Path) -> None:
    file = written(tmp_path, CORRIDOR)
    text = check(file, env=Corridor, runs=7, threads=1)
    assert text.splitlines()[:2] == [f"  {'ACE':<24} {4:>12} settings", f"  {'OffPAC':<24} {1:>12} settings"]
    assert (
        f"  {'runs':<24} {7:>12}" in text
        and "time on 1 core, about" in text
        and "to evaluate, at most" in text
    )
    assert "and 1 fresh runs of each method's best setting" in text
    assert Corridor.open == 0 and not (tmp_path / "results").exists()
    Corridor.fails, Corridor.steps = "raises", 3000
    with pytest.raises(EpisodeError, match="out of order"):
        check(file, env=Corridor)
    assert Corridor.open == 0


# --- A loop by hand ---


def by_hand(
    make: Any,
    agent: Any,
    *,
    seed: int,
    run: int,
    mu: list[float],
    first_action: int,
    gamma: float,
    steps: int,
    limit: int,
    episodes: int,
    cap: int,
    discount: float,
    see: Any = lambda observation: observation,
) -> tuple[list[float], list[float]]:
    """Two rounds of learning in one environment. Returns the mean returns and lengths before, between and after."""
    random, env, trials = Random(seed, run), make(), Random(seed ^ 0x5BD1E9959D1CF3A7, run)
    seed_of_returns, returns, lengths = trials.word(), [], []
    x, taken = see(env.reset(seed=random.seed())[0]), 0
    for evaluation in range(3):
        totals, all_steps = [], 0
        for number in range(episodes):
            own, trial = Random((seed_of_returns + evaluation) & MASK, number), make()
            observation, total, factor = see(trial.reset(seed=own.seed())[0]), 0.0, 1.0
            for _ in range(cap):
                action = own.index(agent.probabilities(observation))
                observation, reward, terminated, truncated, _ = trial.step(first_action + action)
                observation = see(observation)
                total, factor, all_steps = total + factor * reward, factor * discount, all_steps + 1
                if terminated or truncated:
                    break
            totals.append(total)
        returns.append(sum(totals) / episodes)
        lengths.append(all_steps / episodes)
        for _ in range(steps // 2 if evaluation < 2 else 0):
            action = random.index(mu)
            x_next, reward, terminated, truncated, _ = env.step(first_action + action)
            x_next, taken = see(x_next), taken + 1
            agent.step(
                x, action, float(reward), x_next, mu=mu[action], gamma_next=0.0 if terminated else gamma
            )
            x = x_next
            if terminated or truncated or taken == limit:
                agent.new_episode()
                x, taken = see(env.reset(seed=random.seed())[0]), 0
    return returns, lengths


def recorded(results: Results, column: str, setting: int, run: int) -> list[Any]:
    columns = results.columns()
    mine = (np.asarray(columns["setting"]) == setting) & (np.asarray(columns["run"]) == run)
    return [columns[column][k] for k in np.flatnonzero(mine)]


def test_cart_pole_is_a_loop_by_hand(tmp_path: Path) -> None:
    results = run(written(tmp_path, CART_POLE), tmp_path / "out")
    tiles = emphatic.TileCoder([-2.4, -2, -0.2, -2], [2.4, 2, 0.2, 2], tiles=3, tilings=4)
    for number, (setting, alpha) in ((n, s) for n in range(2) for s in enumerate([0.05, 0.2])):
        agent = emphatic.ACE(
            emphatic.Softmax(tiles, actions=2),
            emphatic.TDRC(0.1, lambda_=0.3),
            alpha=alpha,
            emphasis=emphatic.FollowOn(0.5),
        )
        returns, _ = by_hand(
            lambda: gymnasium.make("CartPole-v1"),
            agent,
            seed=2,
            run=number,
            mu=[0.5, 0.5],
            first_action=0,
            gamma=0.95,
            steps=600,
            limit=40,
            episodes=18,
            cap=40,
            discount=0.99,
            see=lambda observation: np.asarray(observation, float),
        )
        assert recorded(results, "return", setting, number) == returns
        weights = recorded(results, "weights", setting, number)[-1]
        np.testing.assert_array_equal(weights, agent.weights.ravel())
        assert len(set(returns)) > 1


def test_an_own_class_is_a_loop_by_hand(tmp_path: Path) -> None:
    """With states and actions that are not numbered from 0, without registration."""
    results = run(written(tmp_path, CORRIDOR), tmp_path / "out", env=Corridor)
    assert Corridor.open == 0 and Corridor.most >= 20 // 2
    states = emphatic.OneHotBasis(low=[3], high=[7])
    for number in range(3):
        agent = emphatic.OffPAC(emphatic.Softmax(states, actions=2), emphatic.TDRC(0.1), alpha=0.1)
        returns, lengths = by_hand(
            Corridor,
            agent,
            seed=5,
            run=number,
            mu=[0.4, 0.6],
            first_action=1,
            gamma=0.9,
            steps=400,
            limit=0,
            episodes=20,
            cap=30,
            discount=1.0,
            see=lambda observation: [float(observation)],
        )
        assert recorded(results, "return", 4, number) == returns
        assert recorded(results, "episode_length", 4, number) == lengths
        np.testing.assert_array_equal(recorded(results, "weights", 4, number)[-1], agent.weights.ravel())
    # It learns to go to the right.
    best = results.summarise()["methods"][0]
    assert max(np.asarray(results.columns("fresh")["return"], float)) > 0, best


def test_a_stream_is_collected_once_for_all_settings(tmp_path: Path) -> None:
    text = CORRIDOR.replace('["return", "episode_length", "weights"]', '["weights"]').replace(
        "fresh_runs = 1", ""
    )
    run(written(tmp_path, text), tmp_path / "out", env=Corridor, threads=1)
    assert Corridor.steps == 3 * 400 and Corridor.open == 0 and Corridor.most == 1
    # Every episode has a seed of its own, of 31 bits.
    assert len(set(Corridor.resets)) == len(Corridor.resets) and max(Corridor.resets) < 2**31


def test_the_packages_mountain_car_in_gymnasium_is_as_good(tmp_path: Path) -> None:
    """The same dynamics by other random numbers: the returns of many episodes are alike."""
    text = """
problem = "PROBLEM"
gamma = 0.99
features = { kind = "tiles", tilings = 4, tiles = 4 }
runs = 4
steps = 3000
evaluations = 1
[rollouts]
episodes = 40
cap = 200
[[method]]
algorithm = "offpac"
alpha = 0.5
critic = { kind = "tdrc", alpha_v = 0.5, lambda = 0.9 }
"""
    text = text.replace('"PROBLEM"', '{ name = "PROBLEM", limit = 200 }')
    lasts: list[float] = []
    for name in ("mountain-car", "gymnasium:MountainCar-v0", "gymnasium:emphatic/MountainCar-v0"):
        file = written(tmp_path, text.replace("PROBLEM", name), f"{len(lasts)}.toml")
        results = run(file, tmp_path / f"out{len(lasts)}")
        lasts.append(float(np.mean([recorded(results, "return", 0, number) for number in range(4)])))
    assert max(lasts) - min(lasts) < 15, lasts


def test_real_actions(tmp_path: Path) -> None:
    text = """
problem = "gymnasium:Pendulum-v1"
features = { kind = "tiles", tilings = 4, tiles = 4 }
BEHAVIOUR
runs = 2
steps = 300
evaluations = 1
[rollouts]
episodes = 3
[[method]]
algorithm = "offpac"
alpha = 0.01
critic = { kind = "tdrc", alpha_v = 0.1 }
"""
    for k, behaviour in enumerate(["", "behaviour = { mean = 0, standard_deviation = 3 }"]):
        results = run(written(tmp_path, text.replace("BEHAVIOUR", behaviour)), tmp_path / f"out{k}")
        returns = np.asarray(results.columns()["return"], float)
        assert ((-2500 < returns) & (returns < -100)).all()


def test_frozen_lake_by_id_and_by_function(tmp_path: Path) -> None:
    text = """
problem = "gymnasium:FrozenLake-v1"
features = "one-hot"
runs = 2
episodes = 30
evaluations = 1
record = ["return", "episode_length"]
[[method]]
algorithm = "offpac"
alpha = 0.1
critic = { kind = "tdrc", alpha_v = 0.1 }
"""
    file = written(tmp_path, text)
    slippery = run(file, tmp_path / "slippery")
    np.testing.assert_array_equal(slippery.columns()["episode"], [k for _ in range(2) for k in (0, 30)])
    by_id = run(file, tmp_path / "id", env="FrozenLake-v1")
    assert slippery.path().read_bytes() == by_id.path().read_bytes()
    solid = run(file, tmp_path / "solid", env=lambda: gymnasium.make("FrozenLake-v1", is_slippery=False))
    assert solid.path().read_bytes() != by_id.path().read_bytes()
    # Gymnasium's description says that it is another one.
    with pytest.raises(ValueError, match="kwargs.is_slippery"):
        run(file, tmp_path / "id", env=lambda: gymnasium.make("FrozenLake-v1", is_slippery=False))


def test_an_environments_own_discount_comes_first(tmp_path: Path) -> None:
    """As in collect(): the problem's discounts are 1, and 0 at the end, whatever the file says."""
    text = """
problem = "gymnasium:emphatic/Counterexample-v0"
gamma = GAMMA
features = "one-hot"
runs = 1
steps = 200
evaluations = 1
record = ["weights"]
[[method]]
algorithm = "offpac"
alpha = 0.1
critic = { kind = "td", alpha_v = 0.1 }
"""
    one, other = (
        recorded(run(written(tmp_path, text.replace("GAMMA", g)), tmp_path / g), "weights", 0, 0)[-1]
        for g in ("0.5", "0.9")
    )
    np.testing.assert_array_equal(one, other)
    assert np.any(one != 0)


def test_a_wrapper_with_other_arguments_is_another_environment(tmp_path: Path) -> None:
    file = written(tmp_path, CART_POLE.replace("CartPole-v1", "cart"))

    def sticky(repeats: float) -> Any:
        return gymnasium.wrappers.StickyAction(gymnasium.make("CartPole-v1"), repeats)

    run(file, tmp_path / "out", env=lambda: sticky(0.25))
    with pytest.raises(ValueError, match="another"):
        run(file, tmp_path / "out", env=lambda: sticky(0.5))


# --- The same bits ---


def test_threads_do_not_matter(tmp_path: Path) -> None:
    file = written(tmp_path, CORRIDOR)
    one = run(file, tmp_path / "one", env=Corridor, threads=1)
    two = run(file, tmp_path / "two", env=Corridor, threads=2)
    assert tables(one) == tables(two) and Corridor.open == 0
    assert threading.get_ident() not in Corridor.threads


SLOW = """
import sys, time
sys.path.insert(0, sys.argv[3])
import gymnasium, emphatic
from test_gymnasium_experiments import Corridor
class Slow(Corridor):
    def step(self, action):
        time.sleep(1e-4)
        return super().step(action)
Slow.__module__, Slow.__qualname__ = Corridor.__module__, Corridor.__qualname__
emphatic.run(sys.argv[1], sys.argv[2], env=Slow, threads=2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
@pytest.mark.parametrize("end", ["SIGKILL", "SIGINT"])
def test_a_process_that_is_ended_goes_on(tmp_path: Path, end: str) -> None:
    file, out = written(tmp_path, CORRIDOR.replace("runs = 3", "runs = 12")), tmp_path / "out"
    here = str(Path(__file__).parent)
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, file, out, here], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not list(out.glob("parts/*.parquet")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.Signals[end])
    _, wrong = process.communicate()
    assert process.returncode != 0 and (end == "SIGKILL" or b"KeyboardInterrupt" in wrong)
    summary = Results(out).summarise()
    assert 0 < summary["units_done"] < summary["units"]
    # Its class is called as it is called in the other process.
    whole = run(file, tmp_path / "whole", env=Corridor)
    before = Corridor.steps
    went_on = run(file, out, env=Corridor)
    assert tables(went_on) == tables(whole)
    assert Corridor.steps - before < before, "what was finished is not done again"


# --- Results without the environment ---


def test_the_command_reads_the_results(tmp_path: Path) -> None:
    results = run(written(tmp_path, CORRIDOR), tmp_path / "out", env=Corridor)
    assert str(results) == command("summarise", tmp_path / "out")
    command("plot", tmp_path / "out", "--out", tmp_path / "x.svg")
    command("merge", tmp_path / "out", "--out", tmp_path / "merged")
    assert tables(Results(tmp_path / "merged")) == tables(results)
    command("summarise", tmp_path / "merged")


def test_the_command_cannot_run_it(tmp_path: Path) -> None:
    program = os.environ.get("EMPHATIC_COMMAND")
    if program is None:
        pytest.skip("EMPHATIC_COMMAND is not set")
    for verb in ("run", "check"):
        done = subprocess.run(
            [program, verb, written(tmp_path, CORRIDOR)], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 1 and "emphatic.run(" in done.stderr and "lives in Python" in done.stderr


# --- What fails ---


@pytest.mark.parametrize(
    ("fails", "says"),
    [
        ("raises", r"the environment's step\(\) raised RuntimeError: out of order"),
        ("observation", r"step\(\) returned the observation 99; it must be in Discrete\(5, start=3\)"),
        ("kind", r"step\(\) returned the observation 'left'; it must be in Discrete\(5, start=3\)"),
        ("reward", r"step\(\) returned the reward NaN; it must be finite"),
        ("word", r"step\(\) returned the reward 'much'; it must be a real number"),
        ("tuple", r"it must return \(observation, reward, terminated, truncated, info\)"),
        ("gamma", r"gamma_next 1.5; it must lie between 0 and 1"),
        ("flag", r"returned terminated = None; it must be True or False"),
        ("discount", r'returned info\["gamma_next"\] = \'none\'; it must be a real number'),
    ],
)
def test_an_environment_that_fails(tmp_path: Path, fails: str, says: str) -> None:
    file = written(tmp_path, CORRIDOR)
    Corridor.fails = fails
    where = r"(?s)^run \d, settings \d to \d: .*SAYS.* \(at step \d+ of episode \d+ of .*, counted from 0\).*what was finished is kept"
    with pytest.raises(EpisodeError, match=where.replace("SAYS", says)) as raised:
        run(file, tmp_path / "out", env=Corridor)
    assert fails != "raises" or isinstance(raised.value.__cause__, RuntimeError)
    assert Corridor.open == 0
    Corridor.fails = None
    mended = run(file, tmp_path / "out", env=Corridor)
    assert tables(mended) == tables(run(file, tmp_path / "whole", env=Corridor))


def test_an_environment_that_cannot_begin(tmp_path: Path) -> None:
    class Stuck(Corridor):
        def reset(self, **_: Any) -> Any:
            raise OSError("no key")

    class Silent(Corridor):
        def reset(self, **_: Any) -> Any:
            return 4

    for kind, says in (
        (Stuck, r"reset\(\) raised OSError: no key \(before episode 0 of evaluation 0, counted from 0\)"),
        (Silent, r"reset\(\) returned 4; it must return \(observation, info\)"),
    ):
        with pytest.raises(EpisodeError, match=says):
            run(written(tmp_path, CORRIDOR), tmp_path / kind.__name__, env=kind)
        assert Corridor.open == 0


class Boxed(gymnasium.Env[Any, Any]):
    """Two numbers in a square; nothing happens."""

    def __init__(self, observation: Any = (0.0, 0.0), space: Any = None, actions: Any = None) -> None:
        self.observation_space = Box(-1, 1, (2,), np.float64) if space is None else space
        self.action_space = Discrete(2) if actions is None else actions
        self.observation = observation

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        return self.observation, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.observation, 0.0, False, False, {}


BOXED = """
problem = "gymnasium:boxed"
features = { kind = "polynomial", degree = 1 }
runs = 1
steps = 20
evaluations = 1
[rollouts]
episodes = 2
cap = 10
[[method]]
algorithm = "offpac"
alpha = 0.1
critic = { kind = "td", alpha_v = 0.1 }
"""


@pytest.mark.parametrize(
    ("observation", "says"),
    [
        ((0.0, float("inf")), "reset\\(\\) returned an observation whose entry 1 is inf; all must be finite"),
        (
            (0.0, 0.0, 0.0),
            r"an observation of shape \(3,\) and dtype float64; it must be in Box\(-1.0, 1.0, \(2,\)",
        ),
        (0.0, r"an observation of shape \(\)"),
        (("a", "b"), r"an observation of shape \(2,\) and dtype <U1"),
    ],
)
def test_observations_that_are_not_in_the_space(tmp_path: Path, observation: Any, says: str) -> None:
    with pytest.raises(EpisodeError, match=says):
        run(written(tmp_path, BOXED), tmp_path / "out", env=lambda: Boxed(observation))


@pytest.mark.parametrize(
    ("space", "actions", "says"),
    [
        (
            Dict({"a": Discrete(2)}),
            None,
            r"observations are Dict.*a Box of any shape or Discrete.*FlattenObservation",
        ),
        (
            None,
            MultiDiscrete([2, 2]),
            r"actions are MultiDiscrete.*must be Discrete or a Box of one dimension",
        ),
        (None, Box(-1, 1, (2,)), r"actions are Box.*must be Discrete or a Box of one dimension"),
        (
            Box(-np.inf, np.array([1, np.inf]), dtype=np.float64),
            None,
            r"needs `low`, since number 0 of what is observed.*low = \[\?, \?\]",
        ),
    ],
)
def test_spaces_that_are_not_supported(tmp_path: Path, space: Any, actions: Any, says: str) -> None:
    with pytest.raises(FileError, match=f"(?s)x.toml, line .*{says}"):
        run(written(tmp_path, BOXED), tmp_path / "out", env=lambda: Boxed(space=space, actions=actions))
    assert not (tmp_path / "out").exists()


def test_boxes_of_any_shape_are_flat(tmp_path: Path) -> None:
    image = np.arange(6, dtype=np.uint8).reshape(2, 3)
    text = BOXED.replace("steps = 20", 'steps = 20\nrecord = ["return", "weights"]')
    space = Box(0, 255, (2, 3), np.uint8)
    results = run(written(tmp_path, text), tmp_path / "out", env=lambda: Boxed(image, space))
    # One for the bias and one for each number, for each of two actions.
    assert len(results.columns()["weights"][0]) == (6 + 1) * 2


def test_environments_that_are_not_all_alike(tmp_path: Path) -> None:
    lengths = iter(range(5, 100))
    with pytest.raises(
        EpisodeError, match=r"are Discrete\(6, start=3\), where those of the first are Discrete\(5, start=3\)"
    ):
        run(written(tmp_path, CORRIDOR), tmp_path / "out", env=lambda: Corridor(next(lengths)))
    same = Corridor()
    with pytest.raises(EpisodeError, match="env= returned the same environment twice"):
        run(written(tmp_path, CORRIDOR), tmp_path / "out", env=lambda: same)


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    def refused(
        text: str, says: str, kind: type[Exception] = FileError, **arguments: Any
    ) -> BaseException | None:
        with pytest.raises(kind, match=says) as raised:
            run(written(tmp_path, text), tmp_path / "out", **arguments)
        assert not (tmp_path / "out").exists()
        return raised.value.__cause__

    unknown = CORRIDOR.replace("gymnasium:corridor", "gymnasium:CartPol-v1")
    cause = refused(
        unknown, r"(?s)line 2.*Gymnasium cannot make `CartPol-v1`: NameNotFound: .*CartPole.*pprint_registry"
    )
    assert isinstance(cause, gymnasium.error.NameNotFound)
    refused(CORRIDOR.replace("corridor", "no_such_module:X-v0"), "ModuleNotFoundError")
    refused(CORRIDOR.replace("gymnasium:corridor", "CartPole-v1"), "`gymnasium:CartPole-v1`")
    refused(
        CORRIDOR, "env is a Corridor; it must be an id, a class, or a function", TypeError, env=Corridor()
    )
    refused(CORRIDOR, "env= returned a int; it must return a gymnasium.Env", env=lambda: 3)
    refused(
        CORRIDOR,
        "(?s)must return a gymnasium.Env.*one alone",
        env=lambda: gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync"),
    )
    refused(
        CORRIDOR,
        r"(?s)env= could not make an environment: TypeError.*env=lambda: MyEnv",
        env=lambda _: Corridor(),
    )
    for name in ("mountain-car", "counterexample"):
        text = BOXED.replace("gymnasium:boxed", name)
        text = (
            text
            if name == "mountain-car"
            else "\n".join(text.split("\n")[:2] + text.split("\n")[3:6] + text.split("\n")[9:])
        )
        refused(text, "env= is given, but .* names no environment of Gymnasium", ValueError, env=Boxed)
    two = CORRIDOR.replace('"gymnasium:corridor"', '["gymnasium:one", "gymnasium:two"]')
    refused(two, "(?s)env= is one environment, and the file names two.*leave env= out", env=Corridor)
    for measure in ("excursions_return", "value_error"):
        refused(CORRIDOR.replace('"return"', f'"{measure}"'), "cannot be put into a state", env=Corridor)
    endless = CORRIDOR.replace("steps = 400", "episodes = 10")
    refused(endless, "(?s)episodes of `gymnasium:corridor` may never end.*limit = 1000", env=Corridor)
    run(written(tmp_path, endless), tmp_path / "limited", env=lambda: TimeLimit(Corridor(), 50))
    refused(
        CORRIDOR.replace('"one-hot"', '{ kind = "tiles", low = [0, 0] }'),
        "one entry for each of 1",
        env=Corridor,
    )
    Corridor.open = 0


def test_without_gymnasium(tmp_path: Path) -> None:
    file = written(tmp_path, CORRIDOR)
    code = f"""
import sys
sys.modules["gymnasium"] = None
import emphatic
try:
    emphatic.run({str(file)!r}, {str(tmp_path / "out")!r})
except emphatic.FileError as error:
    print(error)
"""
    assert "`gymnasium:corridor` needs Gymnasium\nhelp: pip install gymnasium" in python(code)
