"""What policies earn: closed forms, and the same episodes whatever runs them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import emphatic
from agents import SLOPE
from emphatic import EpisodeError, Evaluation, collect, evaluate

pytest.importorskip("gymnasium")
import gymnasium
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]


class Luck(gymnasium.Env[Any, Any]):
    """Ends after each step with a probability of 0.2, 0.5 after action 1; a step is worth 1. Shows the number that it draws."""

    observation_space = spaces.Box(0.0, 1.0, (1,), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, limit: int | None = None) -> None:
        self.limit, self.steps = limit, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self.np_random.random(1), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        drawn = self.np_random.random(1)
        ends = bool(drawn[0] < (0.5 if action else 0.2))
        return drawn, 1.0, ends, not ends and self.steps == self.limit, {}


def first(observation: Any, rng: np.random.Generator) -> int:
    return 0


def sometimes(observation: Any, rng: np.random.Generator) -> int:
    """Depends on what it sees and on what it draws."""
    return int(rng.random() < observation[0])


def same(one: Evaluation, other: Evaluation) -> None:
    for name in ("returns", "lengths", "terminated", "truncated"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def several(count: int, mode: Any = MODES[0], make: Callable[[], Any] = Luck) -> SyncVectorEnv:
    return SyncVectorEnv([make] * count, autoreset_mode=mode)


@pytest.mark.parametrize("count", [None, 1, 8, 64])
def test_closed_forms(count: int | None) -> None:
    """The length is geometric: its mean is 1/p, its variance (1 − p)/p². With more environments short episodes are not more frequent."""
    env = Luck() if count is None else several(count)
    for agent, p in ((first, 0.2), ([0.0, 1.0], 0.5), ("uniform", 0.35)):
        found = evaluate(env, agent, episodes=2000, seed=1)
        deviation = np.sqrt(1 - p) / p
        assert abs(found.mean - 1 / p) < 4 * deviation / np.sqrt(2000)
        assert abs(found.returns.std() / deviation - 1) < 0.15
        assert found.standard_error == pytest.approx(found.returns.std(ddof=1) / np.sqrt(2000), rel=1e-12)
        np.testing.assert_array_equal(found.returns, found.lengths)
        assert found.terminated.all() and not found.truncated.any()
        for k in (1, 2, 3):  # P(length = k) = p (1 − p)^(k − 1)
            share = p * (1 - p) ** (k - 1)
            assert abs((found.lengths == k).mean() - share) < 4 * np.sqrt(share * (1 - share) / 2000)


def test_discounted_returns() -> None:
    found = evaluate(Luck(), first, episodes=2000, seed=1, gamma=0.9)
    np.testing.assert_allclose(found.returns, (1 - 0.9**found.lengths) / 0.1)
    assert abs(found.mean - 1 / (1 - 0.9 * 0.8)) < 4 * found.standard_error
    assert (evaluate(Luck(), first, episodes=20, seed=1, gamma=0.0).returns == 1).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("episodes", "count"), [(20, 3), (20, 20), (3, 7), (1, 1), (21, 7)])
def test_several_environments_give_the_episodes_of_one(mode: Any, episodes: int, count: int) -> None:
    make = functools.partial(Luck, limit=6)
    for agent in ("uniform", sometimes):
        expected = evaluate(make(), agent, episodes, 7, gamma=0.9, cap=5)
        env = several(count, mode, make)
        same(evaluate(env, agent, episodes, 7, gamma=0.9, cap=5), expected)
        same(evaluate(env, agent, episodes, 7, gamma=0.9, cap=5), expected)  # Nothing is left over.


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["mountain-car", "cart-pole", "acrobot"])
def test_simulators_give_the_same_episodes_many_at_once(name: str, mode: Any) -> None:
    single = gymnasium.make(emphatic.simulators.gymnasium_name(name))
    vector = emphatic.make_vec(name, 4, autoreset_mode=mode)
    same(evaluate(vector, "uniform", 6, 3, cap=60), evaluate(single, "uniform", 6, 3, cap=60))


def test_environments_in_other_processes() -> None:
    env = AsyncVectorEnv([functools.partial(gymnasium.make, "CartPole-v1")] * 2, context="spawn")
    try:
        same(evaluate(env, "uniform", 5, 1), evaluate(gymnasium.make("CartPole-v1"), "uniform", 5, 1))
    finally:
        env.close()


def test_environments_that_step_together() -> None:
    env = gymnasium.make_vec("CartPole-v1", 3, vectorization_mode="vector_entry_point")
    found = evaluate(env, "uniform", 60, 1)
    same(evaluate(env, "uniform", 60, 1), found)
    assert abs(found.mean - 22.2) < 4 * found.standard_error


def test_an_episode_is_the_first_that_collect_gives() -> None:
    learner = emphatic.OffPAC(emphatic.Softmax(emphatic.Dense(1), 2), emphatic.TD(0.1), alpha=0.1)
    learner.weights = [[0.0, -2.0]]
    found = evaluate(Luck(), learner, episodes=10, seed=5)
    for k in range(10):
        batch = collect(Luck(), learner, episodes=1, seed=5 + k)
        assert len(batch) == found.lengths[k] and batch.terminated[-1] == found.terminated[k]


def test_all_agents_meet_the_same_luck() -> None:
    """Common random numbers: the starts and the draws of an episode are the same, whatever was done before."""
    seen: dict[bool, list[tuple[float, float]]] = {True: [], False: []}

    def agent(short: bool, observation: Any, rng: np.random.Generator) -> int:
        seen[short].append((float(observation[0]), rng.random()))
        return int(short)

    long, short = (evaluate(Luck(), functools.partial(agent, it), 30, 9) for it in (False, True))
    assert (long.lengths > short.lengths).any() and (long.lengths >= short.lengths).all()
    starts = [np.cumsum([0, *found.lengths[:-1]]) for found in (long, short)]
    for one, other, steps in zip(*starts, short.lengths, strict=True):
        assert seen[False][one : one + steps] == seen[True][other : other + steps]
    difference = long.returns - short.returns
    assert difference.std() < np.hypot(long.returns.std(), short.returns.std())


def test_what_the_cap_cuts_is_truncated() -> None:
    whole, cut = (evaluate(Luck(), first, 200, 1, cap=cap) for cap in (1000, 4))
    np.testing.assert_array_equal(cut.lengths, np.minimum(whole.lengths, 4))
    np.testing.assert_array_equal(cut.terminated, whole.lengths <= 4)
    np.testing.assert_array_equal(cut.truncated, whole.lengths > 4)
    limited = evaluate(Luck(limit=4), first, 200, 1)
    same(limited, cut)
    assert (evaluate(several(3), first, 10, 1, cap=1).lengths == 1).all()


@pytest.mark.parametrize("count", [None, 2])
def test_an_environments_own_discounts(count: int | None) -> None:
    name = "emphatic/Counterexample-v0"
    env = gymnasium.make(name) if count is None else gymnasium.make_vec(name, count)
    found = evaluate(env, [1.0, 0.0], 5, 1, gamma=0.5)
    assert (found.returns == 2.0).all() and (found.lengths == 2).all(), "the problem says that gamma is 1"


def test_agents_of_all_kinds() -> None:
    env = gymnasium.make("Pendulum-v1", max_episode_steps=5)
    deterministic = emphatic.DPG(emphatic.DeterministicLinear(emphatic.Dense(3)), SLOPE, alpha=0.1)
    still = evaluate(env, deterministic, 4, 1)
    same(still, evaluate(env, lambda observation, rng: 0.0, 4, 1))
    same(still, evaluate(env, lambda observation, rng: (0.0, 1.0), 4, 1))
    same(still, evaluate(env, lambda observation, rng: np.array([0.0], np.float32), 4, 1))
    same(still, evaluate(env, emphatic.Mixture([(1, deterministic)]), 4, 1))
    assert still.mean != evaluate(env, "uniform", 4, 1).mean


def test_features() -> None:
    tiles = emphatic.TileCoder([0], [1], tiles=4, tilings=2)
    inside = emphatic.OffPAC(emphatic.Softmax(tiles, 2), emphatic.TD(0.1), alpha=0.1)
    outside = emphatic.OffPAC(emphatic.Softmax(tiles.features, 2), emphatic.TD(0.1), alpha=0.1)
    inside.weights = outside.weights = np.random.default_rng(1).normal(size=(tiles.len, 2))
    same(evaluate(Luck(), inside, 20, 1), evaluate(Luck(), outside, 20, 1, features=tiles))


def test_observations_that_nobody_looks_at_need_no_features() -> None:
    env = gymnasium.make("Blackjack-v1")
    assert evaluate(env, "uniform", 20, 1).terminated.all()
    stick = evaluate(env, lambda observation, rng: int(observation[0] < 18), 200, 1)
    assert stick.mean > evaluate(env, "uniform", 200, 1).mean
    learner = emphatic.OffPAC(emphatic.Softmax(emphatic.Dense(3), 2), emphatic.TD(0.1), alpha=0.1)
    with pytest.raises(TypeError, match="pass features="):
        evaluate(env, learner, 1, 1)


def test_policies_trained_here_act_in_gymnasium() -> None:
    """Off-policy from random steps that hardly ever reach the hill; then in both versions of Mountain Car."""
    envs = emphatic.make_vec("mountain-car", 16)
    tiles = emphatic.TileCoder(envs.low, envs.high, tiles=4, tilings=8, bias=True)
    policy = emphatic.Softmax(features=tiles, actions=3)
    agent = emphatic.OffPAC(policy, emphatic.TDRC(alpha_v=0.5), alpha=1.0)
    agent.learn(collect(envs, "uniform", steps=100_000, seed=1, gamma=0.95))
    unlimited = emphatic.make_vec("mountain-car", 16, max_episode_steps=-1)
    ours = evaluate(unlimited, agent, episodes=100, seed=1, cap=2000)
    env = gymnasium.make("MountainCar-v0", max_episode_steps=2000)
    theirs = evaluate(env, agent, episodes=100, seed=1001, cap=2000)
    assert ours.mean > -250 and theirs.mean > -250
    assert abs(ours.mean - theirs.mean) < 4 * np.hypot(ours.standard_error, theirs.standard_error)
    assert evaluate(unlimited, "uniform", episodes=16, seed=1, cap=400).mean < -350


@pytest.mark.parametrize(
    ("returns", "text"),
    [
        (
            [-149.1, -157.3],
            "2 episodes, mean return -153.2 ± 4.1, mean length 7.0, 1 terminated, 1 truncated",
        ),
        ([0.5, 0.51], "2 episodes, mean return 0.5050 ± 0.0050, mean length 7.0, 1 terminated, 1 truncated"),
        ([1e6, 2e6], "2 episodes, mean return 1.5e+06 ± 5e+05, mean length 7.0, 1 terminated, 1 truncated"),
        ([2.0, 2.0], "2 episodes, mean return 2 ± 0, mean length 7.0, 1 terminated, 1 truncated"),
        ([1 / 3], "1 episode, mean return 0.333333, mean length 7.0, 1 terminated"),
    ],
)
def test_how_it_looks(returns: list[float], text: str) -> None:
    flags = np.arange(len(returns)) == 0
    found = Evaluation(np.array(returns), np.full(len(returns), 7), flags, ~flags)
    assert repr(found) == f"Evaluation({text})"
    assert len(found) == len(returns)
    assert np.isnan(found.standard_error) == (len(returns) == 1)


def test_it_does_not_change() -> None:
    found = evaluate(Luck(), first, 3, 1)
    with pytest.raises(ValueError, match="read-only"):
        found.returns[0] = 1.0
    with pytest.raises(AttributeError):
        found.returns = found.returns  # type: ignore[misc]


def test_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(np.arange(0, 1000, 0.5))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    evaluate(Luck(), first, 10, 1, progress=True)
    assert "evaluating: 50 %" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("CartPole-v1", "uniform", 1, 0), {}, TypeError, "^env is a str"),
        ((Luck(), "uniform", 0, 0), {}, ValueError, "^episodes is 0; it must be at least 1"),
        ((Luck(), "uniform", 2.0, 0), {}, TypeError, "^episodes is 2.0; it must be a whole number"),
        ((Luck(), "uniform", 1, -1), {}, ValueError, "^seed is -1"),
        ((Luck(), "uniform", 1, 0), {"cap": 0}, ValueError, "^cap is 0; it must be at least 1"),
        ((Luck(), "uniform", 1, 0), {"cap": None}, TypeError, "^cap is None"),
        ((Luck(), "uniform", 1, 0), {"gamma": 1.1}, ValueError, "^gamma is 1.1; a discount lies between"),
        ((Luck(), "uniform", 1, 0), {"features": 3}, TypeError, "^features is 3; it must be a function"),
        ((Luck(), "best", 1, 0), {}, ValueError, "the behaviour is 'best'"),
        ((Luck(), None, 1, 0), {}, TypeError, "the behaviour is None"),
        (
            (Luck(), lambda observation, rng: 7, 1, 0),
            {},
            ValueError,
            r"took the action 7; it must be in Discrete\(2\) \(at step 0 of episode 0, counted from 0\)$",
        ),
        (
            (Luck(), lambda observation, rng: (0, 1, 2), 1, 0),
            {},
            ValueError,
            r"took the action \(0, 1, 2\)",
        ),
    ],
)
def test_wrong_arguments(arguments: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        evaluate(*arguments, **options)


class Broken(gymnasium.Env[Any, Any]):
    """Episodes of three steps. In one, after a step, it does something wrong."""

    observation_space = spaces.Box(-9, 9, (2,), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, wrong: str, wrong_in: int = 1) -> None:
        self.wrong, self.wrong_in, self.episode, self.steps = wrong, wrong_in, -1, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.episode, self.steps = self.episode + 1, 0
        if self.wrong == "reset" and self.episode == 1:
            raise KeyError("no more")
        return np.zeros(2), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        observation, reward = np.zeros(2), 1.0
        info: dict[str, Any] = {}
        if self.episode == self.wrong_in and self.steps == 2:
            if self.wrong == "raise":
                raise ZeroDivisionError("boom")
            if self.wrong == "four":
                return observation, reward, False, info
            observation = {"nan": np.array([0, np.nan]), "shape": np.zeros(3)}.get(self.wrong, observation)
            reward = {"reward": np.nan, "none": None}.get(self.wrong, reward)  # type: ignore[assignment]
            info = {"gamma_next": 1.5} if self.wrong == "discount" else {}
        return observation, reward, self.steps == 3, False, info


WRONG = [
    ("raise", r"^the environment's step\(\) raised ZeroDivisionError: boom"),
    ("four", r"^the environment's step\(\) returned .*; it must return \(observation, reward, terminated"),
    ("nan", r"^the environment gave the observation array\(\[ 0., nan\]\); it must be finite"),
    ("shape", r"^the environment gave the observation .* of shape \(3,\).*at first it was of shape \(2,\)"),
    ("reward", "^the environment gave the reward nan; it must be finite"),
    ("none", "^the environment gave the reward None; it must be a real number"),
    ("discount", "^the environment gave the discount 1.5; it must lie between 0 and 1"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_an_environment_that_is_wrong(wrong: str, message: str) -> None:
    where = r" \(at step 1 of episode 1, counted from 0"
    with pytest.raises(EpisodeError, match=f"(?s){message}.*{where}") as raised:
        evaluate(Broken(wrong), "uniform", episodes=3, seed=0)
    assert raised.value.batch is None
    with pytest.raises(EpisodeError, match=f"(?s){message}.*{where}") as raised:
        collect(Broken(wrong), "uniform", episodes=3, seed=0)
    batch = raised.value.batch
    assert batch is not None and len(batch) == 4 and batch.reward.tolist() == [1] * 4
    assert batch.terminated.tolist() == [False, False, True, False]
    assert batch.truncated.tolist() == [False, False, False, True]
    if wrong == "raise":
        assert isinstance(raised.value.__cause__, ZeroDivisionError)
        assert "after 4 steps in all" in str(raised.value)


def test_a_reset_that_raises() -> None:
    said = r"reset\(\) raised KeyError: 'no more' \(before episode 1, counted from 0, after 3 steps in all\)$"
    with pytest.raises(EpisodeError, match=said) as raised:
        collect(Broken("reset"), "uniform", steps=10, seed=0)
    assert isinstance(raised.value.__cause__, KeyError)
    assert raised.value.batch is not None and len(raised.value.batch) == 3
    with pytest.raises(EpisodeError, match=said):
        evaluate(Broken("reset"), "uniform", episodes=2, seed=0)


@pytest.mark.parametrize("mode", MODES)
def test_several_environments_one_of_which_is_wrong(mode: Any) -> None:
    def make(wrong: str, wrong_in: int = 1) -> SyncVectorEnv:
        fns = [functools.partial(Broken, it, wrong_in) for it in ("", wrong)]
        return SyncVectorEnv(fns, autoreset_mode=mode)

    with pytest.raises(
        EpisodeError, match=r"raised ZeroDivisionError: boom \(after 8 steps in all\)"
    ) as error:
        collect(make("raise"), "uniform", steps=20, seed=0)
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    assert error.value.batch is not None and len(error.value.batch) == 8
    with pytest.raises(
        EpisodeError, match="nan; .*at step 1 of episode 1 of environment 1, counted"
    ) as error:
        collect(make("reward"), "uniform", steps=20, seed=0)
    assert error.value.batch is not None and len(error.value.batch) == 9, "the first took its step"
    with pytest.raises(EpisodeError, match="nan; .*at step 1 of episode 1 of environment 1, counted"):
        evaluate(make("reward", wrong_in=0), "uniform", episodes=6, seed=0)


def test_an_error_of_the_users_own_says_where() -> None:
    def fails(observation: Any, rng: np.random.Generator) -> int:
        if rng.random() < 0.2:
            raise LookupError("lost")
        return 0

    with pytest.raises(LookupError, match="^lost") as raised:
        evaluate(Luck(), fails, episodes=100, seed=0)
    assert raised.value.args == ("lost",)
    notes = getattr(raised.value, "__notes__", ["at step 1 of episode 1"])  # Since Python 3.11.
    assert notes[0].startswith("at step 1 of episode 1")
