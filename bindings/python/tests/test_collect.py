"""Experience from environments: each transition as it happened, whatever it comes from."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import emphatic
from agents import same, step
from emphatic import Batch, TileCoder, collect

pytest.importorskip("gymnasium")
import gymnasium
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]
# (observation, reward, terminated, truncated) of each step; the first observation is given by reset.
Episode = tuple[int, list[tuple[int, float, bool, bool]]]
# One that terminates, one that is truncated, one of a single step that is both, and one that goes on.
EPISODES: list[Episode] = [
    (0, [(1, 0.1, False, False), (2, 0.2, True, False)]),
    (3, [(4, 0.3, False, False), (5, 0.4, False, True)]),
    (6, [(7, 0.5, True, True)]),
    (8, [(9, 0.6, False, False), (8, 0.7, False, False), (9, 0.8, False, False), (8, 0.9, False, False)]),
]


class Script(gymnasium.Env[Any, Any]):
    """Plays episodes as they are written, and keeps the actions that it got."""

    def __init__(
        self,
        episodes: list[Episode] = EPISODES,
        observation_space: Any = None,
        action_space: Any = None,
        see: Callable[[int], Any] = int,
        info: dict[str, Any] | None = None,
    ) -> None:
        self.observation_space = observation_space or spaces.Discrete(10)
        self.action_space = action_space or spaces.Discrete(2)
        self.episodes, self.see, self.info = episodes, see, info or {}
        self.episode, self.step_number, self.running = -1, 0, False
        self.taken: list[Any] = []
        self.seeds: list[int | None] = []
        self.closed = False

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.episode, self.step_number, self.running = self.episode + 1, 0, True
        return self.see(self.episodes[self.episode][0]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.running, "a step after an end"
        assert action in self.action_space
        self.taken.append(action)
        observation, reward, terminated, truncated = self.episodes[self.episode][1][self.step_number]
        self.step_number += 1
        self.running = not (terminated or truncated)
        return self.see(observation), reward, terminated, truncated, dict(self.info)

    def close(self) -> None:
        self.closed = True


def check_script(batch: Batch) -> None:
    """The first eight steps of EPISODES with a discount of 0.9."""
    np.testing.assert_array_equal(batch.x, [0, 1, 3, 4, 6, 8, 9, 8])
    np.testing.assert_array_equal(batch.x_next, [1, 2, 4, 5, 7, 9, 8, 9])
    np.testing.assert_array_equal(batch.reward, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    np.testing.assert_array_equal(batch.gamma_next, [0.9, 0, 0.9, 0.9, 0, 0.9, 0.9, 0.9])
    np.testing.assert_array_equal(batch.gamma, [0, 0.9, 0, 0.9, 0, 0, 0.9, 0.9])
    np.testing.assert_array_equal(batch.terminated, [0, 1, 0, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(batch.truncated, [0, 0, 0, 1, 1, 0, 0, 1])  # At the last the record is cut.
    np.testing.assert_array_equal(batch.mu, [0.5] * 8)
    np.testing.assert_array_equal(batch.interest, [1.0] * 8)


def test_ends_and_time_limits_of_one_environment() -> None:
    env = Script()
    batch = collect(env, "uniform", 8, 5, gamma=0.9)
    check_script(batch)
    assert batch.x.dtype == np.int64 and batch.action.dtype == np.int64
    np.testing.assert_array_equal(env.taken, batch.action)
    assert env.seeds == [5, None, None, None]
    assert not env.closed


@pytest.mark.parametrize("mode", MODES)
def test_ends_and_time_limits_of_several_environments(mode: Any) -> None:
    scripts = [Script(), Script()]
    env = SyncVectorEnv([lambda: scripts[0], lambda: scripts[1]], autoreset_mode=mode)
    batch = collect(env, "uniform", 16, 5, gamma=0.9)
    check_script(batch[:8])
    check_script(batch[8:])
    assert [script.seeds[0] for script in scripts] == [5, 6]
    for script, part in zip(scripts, (batch[:8], batch[8:]), strict=True):
        np.testing.assert_array_equal(script.taken[:8], part.action)


def test_nothing_is_reset_after_the_last_step() -> None:
    env = Script(EPISODES[:1])
    assert len(collect(env, "uniform", 2, 0)) == 2
    assert len(env.seeds) == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("steps", "shares"), [(7, [3, 2, 2]), (6, [2, 2, 2]), (8, [3, 3, 2]), (2, [1, 1, 0])]
)
def test_steps_are_shared_evenly(mode: Any, steps: int, shares: list[int]) -> None:
    firsts = [[(10 * i, [(10 * i + j + 1, 0.0, False, False) for j in range(9)])] for i in range(3)]
    fns = [functools.partial(Script, episodes, spaces.Discrete(40)) for episodes in firsts]
    batch = collect(SyncVectorEnv(fns, autoreset_mode=mode), "uniform", steps, 0, gamma=0.5)
    expected = [10 * i + j for i, share in enumerate(shares) for j in range(share)]
    np.testing.assert_array_equal(batch.x, expected)
    np.testing.assert_array_equal(batch.gamma, [0.0 if x % 10 == 0 else 0.5 for x in expected])
    np.testing.assert_array_equal(batch.gamma_next, [0.5] * steps)


def cart_pole() -> Any:
    return gymnasium.make("CartPole-v1")


def mountain_car() -> Any:
    return gymnasium.make("MountainCar-v0", max_episode_steps=7)


def pendulum() -> Any:
    return gymnasium.make("Pendulum-v1", max_episode_steps=5)


def frozen_lake() -> Any:
    return gymnasium.make("FrozenLake-v1", max_episode_steps=6)


def one_by_one(make: Callable[[], Any], behaviour: Any, shares: list[int], seed: int) -> Batch:
    return Batch.concatenate(
        [collect(make(), behaviour, share, seed + i, gamma=0.99) for i, share in enumerate(shares)]
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", [cart_pole, mountain_car, pendulum, frozen_lake])
def test_several_environments_give_what_each_gives_alone(make: Callable[[], Any], mode: Any) -> None:
    expected = one_by_one(make, "uniform", [101, 100, 100], 42)
    env = SyncVectorEnv([make] * 3, autoreset_mode=mode)
    same(collect(env, "uniform", 301, 42, gamma=0.99), expected)
    same(collect(env, "uniform", 301, 42, gamma=0.99), expected)  # Nothing is left over from the first time.
    assert (expected.terminated | expected.truncated).sum() > 6


@pytest.mark.parametrize("mode", MODES)
def test_environments_that_use_their_memory_again(mode: Any) -> None:
    env = SyncVectorEnv([mountain_car] * 2, copy=False, autoreset_mode=mode)
    same(collect(env, "uniform", 60, 3, gamma=0.99), one_by_one(mountain_car, "uniform", [30, 30], 3))


@pytest.mark.parametrize("mode", MODES)
def test_environments_in_other_processes(mode: Any) -> None:
    # Not forked: JAX, which other tests load, runs threads of its own.
    env = AsyncVectorEnv([cart_pole, cart_pole], autoreset_mode=mode, context="spawn")
    try:
        same(collect(env, "uniform", 201, 7, gamma=0.99), one_by_one(cart_pole, "uniform", [101, 100], 7))
    finally:
        env.close()


def test_environments_that_step_together() -> None:
    """They draw from one stream, so there is nothing to compare with but the rules."""
    env = gymnasium.make_vec("CartPole-v1", 3, vectorization_mode="vector_entry_point")
    batch = collect(env, "uniform", 300, 1, gamma=0.9)
    same(batch, collect(env, "uniform", 300, 1, gamma=0.9))
    assert batch.terminated.sum() > 5
    for first in range(0, 300, 100):
        part = batch[first : first + 100]
        goes_on = ~(part.terminated | part.truncated)[:-1]
        np.testing.assert_array_equal(part.x[1:][goes_on], part.x_next[:-1][goes_on])
        assert (np.abs(part.x[1:][~goes_on]) <= 0.05).all()  # Episodes begin near the middle.
        np.testing.assert_array_equal(part.gamma, [0.0, *np.where(goes_on, 0.9, 0.0)])
        np.testing.assert_array_equal(part.reward, np.ones(100))


def test_the_last_observation_before_a_time_limit_is_the_real_one() -> None:
    batch = collect(mountain_car(), "uniform", 21, 0)
    np.testing.assert_array_equal(np.flatnonzero(batch.truncated), [6, 13, 20])
    velocity = batch.x_next[:, 1]
    np.testing.assert_allclose(batch.x_next[:, 0] - batch.x[:, 0], velocity, atol=1e-6)  # Also at the limit.
    np.testing.assert_array_equal(batch.x[[7, 14], 1], [0.0, 0.0])
    np.testing.assert_array_equal(batch.gamma_next, np.ones(21))
    np.testing.assert_array_equal(np.flatnonzero(batch.gamma == 0), [0, 7, 14])


class Noise(gymnasium.Env[Any, Any]):
    """Shows what it draws."""

    observation_space = spaces.Box(0.0, 1.0, (1,), np.float64)
    action_space = spaces.Box(0.0, 1.0, (1,), np.float64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.np_random.random(1), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.np_random.random(1), 0.0, False, False, {}


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_the_behaviour_does_not_draw_what_the_environment_draws(seed: int) -> None:
    batch = collect(SyncVectorEnv([Noise] * 3), "uniform", 60, seed)
    assert len(np.unique(batch.action)) == 60
    assert not np.isin(batch.action, np.concatenate([batch.x, batch.x_next])).any()


def test_other_seeds_give_other_experience() -> None:
    first, second = (collect(cart_pole(), "uniform", 50, seed) for seed in (0, 1))
    assert (first.action != second.action).any() and (first.x[0] != second.x[0]).all()


LONG: list[Episode] = [(0, [(i % 2, 0.0, False, False) for i in range(1, 5000)])]


def test_probabilities_are_those_given() -> None:
    batch = collect(Script(LONG), [0.2, 0.8], 4000, 0)
    np.testing.assert_array_equal(batch.mu, np.array([0.2, 0.8])[batch.action])
    assert abs(batch.action.mean() - 0.8) < 4 * np.sqrt(0.16 / 4000)


def test_probabilities_by_state() -> None:
    table = np.full((10, 2), 0.5)
    table[0], table[1] = [0.0, 1.0], [0.75, 0.25]
    batch = collect(Script(LONG), table, 4000, 0)
    np.testing.assert_array_equal(batch.mu, table[batch.x, batch.action])
    assert (batch.action[batch.x == 0] == 1).all()
    assert abs(batch.action[batch.x == 1].mean() - 0.25) < 4 * np.sqrt(0.1875 / 2000)


def test_probabilities_of_a_network_in_float32() -> None:
    """They sum to one only roughly; what is recorded does so exactly."""
    row = np.array([0.1, 0.2, 0.7], np.float32)
    assert abs(row.astype(np.float64).sum() - 1) > 1e-9
    env = Script(LONG, action_space=spaces.Discrete(3))
    batch = collect(env, row, 50, 0)
    expected = row.astype(np.float64) / row.astype(np.float64).sum()
    np.testing.assert_allclose(batch.mu, expected[batch.action], rtol=1e-15)


def test_the_record_of_an_episode_that_goes_on_is_cut() -> None:
    """Regression: a learner went on from it in the next episode."""
    batch = collect(SyncVectorEnv([functools.partial(Script, LONG)] * 2), "uniform", 6, 0, gamma=0.9)
    np.testing.assert_array_equal(batch.truncated, [0, 0, 1, 0, 0, 1])
    again = Batch(
        batch.x, batch.action, batch.reward, batch.x_next, mu=0.5, gamma_next=0.9, truncated=batch.truncated
    )
    np.testing.assert_array_equal(again.gamma, batch.gamma)


def test_the_columns_of_mountain_car_and_cart_pole_are_learned_from_step_by_step() -> None:
    """What `collect` records, driven by hand through `step`, is `learn` to the bit; with ends and time limits among the steps."""
    for make, low, high, actions in [
        (mountain_car, [-1.2, -0.07], [0.6, 0.07], 3),
        (cart_pole, [-2.4, -3, -0.21, -3], [2.4, 3, 0.21, 3], 2),
    ]:
        tiles = TileCoder(low, high, tiles=4, tilings=4)
        batch = collect(make(), "uniform", 3000, 1, gamma=0.99, features=tiles)
        assert (batch.terminated | batch.truncated).sum() > 50
        policy = emphatic.Softmax(tiles.features, actions)
        by_step, by_batch = (
            emphatic.ACE(
                policy, emphatic.GTD(0.1, 1e-3, 0.5), alpha=0.05, emphasis=emphatic.FollowOn(lambda_a=0.5)
            )
            for _ in range(2)
        )
        for t in range(len(batch)):
            step(by_step, batch, t)
        by_batch.learn(batch)
        assert by_step._state() == by_batch._state() and by_step.weights.any()


@pytest.mark.parametrize("make", [mountain_car, cart_pole])
def test_a_loop_by_hand_is_collect_and_learn(make: Callable[[], Any]) -> None:
    """The loop of the README: the behaviour draws as `collect` lets it."""
    env, seed = make(), 3
    width, actions = env.observation_space.shape[0], int(env.action_space.n)
    policy = emphatic.Softmax(emphatic.Dense(width), actions)
    by_hand, by_batch = (emphatic.ACE(policy, emphatic.GTD(0.1, 1e-3, 0.5), alpha=0.05) for _ in range(2))
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    cumulative = np.cumsum(np.full(actions, 1 / actions))
    x, _ = env.reset(seed=seed)
    for _ in range(500):
        action = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        x_next, reward, terminated, truncated, _ = env.step(action)
        gamma_next = 0.0 if terminated else 0.99
        by_hand.step(x, action, reward, x_next, mu=1 / actions, gamma_next=gamma_next)
        x = x_next
        if terminated or truncated:
            by_hand.new_episode()
            x, _ = env.reset()
    by_batch.learn(collect(make(), "uniform", 500, seed, gamma=0.99))
    np.testing.assert_array_equal(by_hand.weights, by_batch.weights)
    assert by_hand.steps == 500 and by_hand.weights.any()


def test_infos_as_a_list_are_refused() -> None:
    """Regression: the environment's own discounts were silently lost."""
    env = gymnasium.wrappers.vector.DictInfoToList(SyncVectorEnv([Script]))
    with pytest.raises(TypeError, match="infos .* are a list; .* DictInfoToList"):
        collect(env, "uniform", 2, 0)


def test_uniform_is_the_table_of_equal_probabilities() -> None:
    same(collect(Script(), "uniform", 8, 0), collect(Script(), np.array([0.5, 0.5]), 8, 0))


class Always:
    """Draws one number only."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self) -> float:
        return self.number


@pytest.mark.parametrize("row", [[0.5, 0.5, 0.0], [0.1] * 10 + [0.0], [0.7, 0.1, 0.2 - 1e-10, 0.0]])
def test_an_action_without_probability_is_never_taken(row: list[float]) -> None:
    from emphatic.behaviour import _row

    last: Any = Always(float(np.nextafter(1.0, 0.0)))
    assert _row(np.array(row), "")(last) == (len(row) - 2, row[-2])
    first: Any = Always(0.0)
    assert _row(np.array(row[::-1]), "")(first) == (1, row[-2])


def test_uniform_real_actions_have_a_density() -> None:
    batch = collect(pendulum(), "uniform", 2000, 0)
    assert batch.action.dtype == np.float64
    np.testing.assert_array_equal(batch.mu, [0.25] * 2000)
    np.testing.assert_array_equal(batch.action, batch.action.astype(np.float32), "as the environment got it")
    assert batch.action.min() < -1.9 and batch.action.max() > 1.9 and abs(batch.action.mean()) < 0.12


def test_real_actions_are_logged_as_the_environment_got_them() -> None:
    env = Script(action_space=spaces.Box(-1, 1, (1,), np.float32))
    batch = collect(env, lambda observation, rng: (0.1, 2.0), 2, 0)
    assert env.taken[0].shape == (1,) and env.taken[0].dtype == np.float32
    np.testing.assert_array_equal(batch.action, [np.float32(0.1)] * 2)
    np.testing.assert_array_equal(batch.mu, [2.0, 2.0])


def test_a_function_sees_observations_and_one_stream_for_each_environment() -> None:
    def behaviour(observation: Any, rng: np.random.Generator) -> tuple[int, float]:
        seen.append((observation, rng))
        return (1, 0.3) if observation % 2 else (0, 0.6)

    seen: list[Any] = []
    batch = collect(SyncVectorEnv([Script, Script]), behaviour, 10, 0)
    np.testing.assert_array_equal(batch.action, batch.x % 2)
    np.testing.assert_array_equal(batch.mu, np.where(batch.x % 2, 0.3, 0.6))
    assert len(seen) == 10, "it is not asked where nothing is recorded"
    assert len({id(rng) for _, rng in seen}) == 2


@pytest.mark.parametrize("answer", [(np.int64(1), np.float32(0.5)), (np.array(1), 0.5), (True, 1)])
def test_actions_of_any_integer_kind(answer: Any) -> None:
    assert collect(Script(), lambda observation, rng: answer, 1, 0).action[0] == 1


@pytest.mark.parametrize("action", [0.5, np.array([0.5]), np.float32(0.5), np.array(0.5)])
def test_actions_of_any_real_kind(action: Any) -> None:
    make = functools.partial(Script, action_space=spaces.Box(-1, 1, (1,)))
    for env in (make(), SyncVectorEnv([make])):
        assert collect(env, lambda observation, rng: (action, 1.0), 1, 0).action[0] == 0.5


class Agent:
    """Takes action 1 with the probability that it sees."""

    def sample(self, x: Any, rng: np.random.Generator) -> int:
        return int(rng.random() < x[0])

    def probability(self, x: Any, action: int) -> float:
        return float(x[0] if action == 1 else 1 - x[0])

    def __call__(self, observation: Any, rng: Any) -> Any:
        raise AssertionError("an agent is not called")


def test_an_agent_sees_features() -> None:
    batch = collect(
        Script(), Agent(), 8, 0, features=lambda observation: np.array([(observation + 1) / 12, 1.0])
    )
    np.testing.assert_array_equal(batch.x[:, 0], np.array([1, 2, 4, 5, 7, 9, 10, 9]) / 12)
    np.testing.assert_array_equal(batch.mu, np.where(batch.action == 1, batch.x[:, 0], 1 - batch.x[:, 0]))
    assert set(batch.action.tolist()) == {0, 1}


@pytest.mark.parametrize(
    ("features", "kind"),
    [
        (None, int),
        (np.int32, int),
        (lambda i: np.array([i], np.float32), np.dtype(np.float64)),
        (lambda i: [i], np.dtype(np.int64)),
    ],
)
def test_an_agent_sees_what_is_logged(features: Any, kind: Any) -> None:
    class Watching:
        def sample(self, x: Any, rng: np.random.Generator) -> int:
            assert type(x) is int if kind is int else x.dtype == kind
            seen.append(x)
            return 0

        def probability(self, x: Any, action: int) -> float:
            return 1.0

    seen: list[Any] = []
    np.testing.assert_array_equal(collect(Script(), Watching(), 8, 0, features=features).x, seen)


def test_boxes_are_flattened() -> None:
    env = Script(
        observation_space=spaces.Box(0, 99, (2, 3), np.float32),
        see=lambda i: np.full((2, 3), i + 0.5, np.float32),
    )
    batch = collect(env, "uniform", 8, 0)
    assert batch.x.shape == (8, 6) and batch.x.dtype == np.float64
    np.testing.assert_array_equal(batch.x[:, 3], np.array([0, 1, 3, 4, 6, 8, 9, 8]) + 0.5)


def test_boxes_of_integers_are_features_too() -> None:
    env = Script(observation_space=spaces.Box(0, 99, (1,), np.uint8), see=lambda i: np.array([i], np.uint8))
    assert collect(env, "uniform", 8, 0).x.dtype == np.float64


def test_tiles_as_features() -> None:
    coder = TileCoder([-1.2, -0.07], [0.6, 0.07], 8, 8)
    raw, coded = (
        collect(mountain_car(), "uniform", 30, 0),
        collect(mountain_car(), "uniform", 30, 0, features=coder),
    )
    assert coded.x.shape == (30, 8) and coded.x.dtype == np.int64
    np.testing.assert_array_equal(coded.x, coder(raw.x))
    np.testing.assert_array_equal(coded.x_next, coder(raw.x_next))


def test_features_are_asked_once_for_each_observation() -> None:
    seen: list[int] = []
    collect(Script(), "uniform", 5, 0, features=lambda i: seen.append(i) or i)  # type: ignore[func-returns-value]
    assert seen == [0, 1, 2, 3, 4, 5, 6, 7]


class Reused(Script):
    """Writes every observation over the last."""

    def __init__(self) -> None:
        self.memory = np.zeros(1)
        super().__init__(observation_space=spaces.Box(0, 9, (1,), np.float64), see=self.show)

    def show(self, i: int) -> Any:
        self.memory[0] = i
        return self.memory


@pytest.mark.parametrize("features", [None, lambda observation: observation])
def test_an_observation_that_is_written_over(features: Any) -> None:
    batch = collect(Reused(), "uniform", 8, 0, features=features, interest=lambda observation: observation[0])
    np.testing.assert_array_equal(batch.x[:, 0], [0, 1, 3, 4, 6, 8, 9, 8])
    np.testing.assert_array_equal(batch.x_next[:, 0], [1, 2, 4, 5, 7, 9, 8, 9])
    np.testing.assert_array_equal(batch.interest, batch.x[:, 0])


def test_interest() -> None:
    np.testing.assert_array_equal(collect(Script(), "uniform", 3, 0, interest=2).interest, [2.0] * 3)
    batch = collect(Script(), "uniform", 8, 0, interest=lambda observation: observation / 2)
    np.testing.assert_array_equal(batch.interest, batch.x / 2)


@pytest.mark.parametrize("mode", [None, *MODES])
def test_a_discount_in_info_comes_before_gamma(mode: Any) -> None:
    make = functools.partial(Script, info={"gamma_next": 0.25})
    env = make() if mode is None else SyncVectorEnv([make], autoreset_mode=mode)
    batch = collect(env, "uniform", 8, 0, gamma=0.9)
    np.testing.assert_array_equal(batch.gamma_next, [0.25, 0, 0.25, 0.25, 0, 0.25, 0.25, 0.25])
    np.testing.assert_array_equal(batch.gamma, [0, 0.25, 0, 0.25, 0, 0, 0.25, 0.25])


@pytest.mark.parametrize("mode", MODES)
def test_a_discount_of_one_environment_is_not_the_others(mode: Any) -> None:
    env = SyncVectorEnv([Script, functools.partial(Script, info={"gamma_next": 0.25})], autoreset_mode=mode)
    batch = collect(env, "uniform", 16, 0, gamma=0.9)
    np.testing.assert_array_equal(batch.gamma_next, np.outer([0.9, 0.25], [1, 0, 1, 1, 0, 1, 1, 1]).ravel())


def test_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    collect(Script(LONG), "uniform", 10, 0)
    assert capsys.readouterr().err == "", "nobody looks, and it did not take long"

    clock = iter(np.arange(0, 1000, 0.5))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    collect(Script(LONG), "uniform", 10, 0, progress=True)
    assert "collecting: 50 %" in capsys.readouterr().err


def test_gymnasium_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ImportError, match="pip install gymnasium"):
        collect(Script(), "uniform", 1, 0)


def says(answer: Any) -> Callable[[Any, Any], Any]:
    return lambda observation, rng: answer


real = functools.partial(Script, action_space=spaces.Box(-1, 1, (1,)))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((Script(), "uniform", 0, 0), ValueError, "^steps is 0; it must be at least 1"),
        ((Script(), "uniform", -3, 0), ValueError, "^steps is -3"),
        ((Script(), "uniform", 1.5, 0), TypeError, "^steps is 1.5"),
        ((Script(), "uniform", 1, -1), ValueError, "^seed is -1; it must be at least 0"),
        ((Script(), "uniform", 1, None), TypeError, "^seed is None"),
        (("CartPole-v1", "uniform", 1, 0), TypeError, "^env is a str"),
        ((Script(), "random", 1, 0), ValueError, "the behaviour is 'random'"),
        ((Script(), None, 1, 0), TypeError, "the behaviour is None"),
        ((Script(), [[0.5, 0.5], [1.0]], 1, 0), ValueError, "rows .* differ in length"),
        ((Script(), ["a", "b"], 1, 0), TypeError, "the behaviour is"),
        ((Script(), [0.5, 0.4], 1, 0), ValueError, "probabilities sum to 0.9; they must sum to 1"),
        ((Script(), [[0.5, 0.5], [0.5, 0.6]] * 5, 1, 0), ValueError, "probabilities in state 1 sum to 1.1"),
        ((Script(), [1.5, -0.5], 1, 0), ValueError, "probability of action 1 is -0.5"),
        ((Script(), [np.nan, 0.5], 1, 0), ValueError, "probability of action 0 is nan"),
        ((Script(), [0.5, 0.25, 0.25], 1, 0), ValueError, r"shape \(3,\); it must be \(2,\) or \(10, 2\)"),
        ((Script(), [[0.5, 0.5]], 1, 0), ValueError, r"shape \(1, 2\); it must be"),
        ((Script(), 1.0, 1, 0), ValueError, r"shape \(\); it must be"),
        ((Script(), [], 1, 0), ValueError, r"shape \(0,\); it must be"),
        (
            (cart_pole(), [[0.5, 0.5]], 1, 0),
            ValueError,
            r"it must be \(2,\), because observations are not Discrete",
        ),
        ((Script(action_space=spaces.Box(-1, 1, ())), "uniform", 1, 0), ValueError, "a Box of one dimension"),
        ((real(), [0.5, 0.5], 1, 0), ValueError, "only Discrete actions have a list of probabilities"),
        ((Script(), says((0, 0.0)), 1, 0), ValueError, "took action 0 and says that its mu is 0.0"),
        ((Script(), says((0, np.nan)), 1, 0), ValueError, "its mu is nan"),
        ((Script(), says((0, 1.5)), 1, 0), ValueError, "its mu is 1.5; a probability is at most 1"),
        ((real(), says((0.0, np.inf)), 1, 0), ValueError, "its mu is inf"),
        ((Script(), says((2, 0.5)), 1, 0), ValueError, r"took the action 2; it must be in Discrete\(2\)"),
        ((Script(), says((-1, 0.5)), 1, 0), ValueError, "took the action -1"),
        ((Script(), says((0.0, 0.5)), 1, 0), ValueError, "took the action 0.0"),
        ((Script(), says((None, 0.5)), 1, 0), ValueError, "took the action None"),
        ((real(), says((1.5, 0.5)), 1, 0), ValueError, "took the action 1.5; it must be in Box"),
        ((real(), says((np.nan, 0.5)), 1, 0), ValueError, "took the action nan"),
        ((real(), says(([0.1, 0.2], 0.5)), 1, 0), ValueError, r"took the action \[0.1, 0.2\]"),
        ((Script(), says(1), 1, 0), ValueError, r"returned 1; it must return \(action, mu\)"),
        (
            (Script(action_space=spaces.Box(-1, np.inf, (1,))), "uniform", 1, 0),
            ValueError,
            "no behaviour is uniform on",
        ),
        (
            (Script(action_space=spaces.Box(-1, 1, (2,))), "uniform", 1, 0),
            ValueError,
            "a Box of one dimension",
        ),
        ((Script(action_space=spaces.Box(0, 9, (1,), np.int64)), "uniform", 1, 0), ValueError, "of floats"),
        (
            (Script(action_space=spaces.MultiDiscrete([2, 2])), "uniform", 1, 0),
            ValueError,
            "they must be Discrete or",
        ),
        ((Script(action_space=spaces.Discrete(2, start=1)), "uniform", 1, 0), ValueError, "numbered from 1"),
        ((Script(observation_space=spaces.MultiBinary(3)), "uniform", 1, 0), TypeError, "pass features="),
        (
            (Script(observation_space=spaces.Discrete(10, start=1)), "uniform", 1, 0),
            TypeError,
            "pass features=",
        ),
        (
            (Script(observation_space=spaces.Dict(a=spaces.Discrete(2))), "uniform", 1, 0),
            TypeError,
            "pass features=",
        ),
    ],
)
def test_what_cannot_be_collected(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        collect(*arguments)


def test_an_unbounded_box_takes_no_infinite_action() -> None:
    env = Script(action_space=spaces.Box(-np.inf, np.inf, (1,)))
    with pytest.raises(ValueError, match="took the action inf"):
        collect(env, says((np.inf, 0.5)), 1, 0)
    assert collect(env, says((1e30, 0.5)), 1, 0).action[0] == np.float32(1e30)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"gamma": 1.5}, ValueError, "^gamma is 1.5; a discount lies between 0 and 1"),
        ({"gamma": np.nan}, ValueError, "^gamma is nan"),
        ({"interest": -1.0}, ValueError, "^the interest is -1.0"),
        ({"interest": "a"}, TypeError, "^the interest is 'a'; it must be a real number"),
        ({"interest": lambda observation: None}, TypeError, "^the interest is None"),
        ({"features": lambda i: 0.5}, TypeError, "features gave 0.5"),
        ({"features": lambda i: "a"}, TypeError, "features gave 'a'"),
        ({"features": lambda i: np.ones((2, 2))}, TypeError, "features gave"),
        (
            {"features": lambda i: np.ones(i + 1)},
            ValueError,
            r"of shape \(2,\).*at first it was of shape \(1,\)",
        ),
        ({"features": lambda i: [1] if i == 0 else [0.5]}, ValueError, "dtype float64; at first .* int64"),
        ({"features": lambda i: [0.5] if i == 0 else [1]}, ValueError, "dtype int64; at first .* float64"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        collect(Script(), "uniform", 5, 0, **options)


def test_a_tuple_of_observations_with_features() -> None:
    env = gymnasium.make("Blackjack-v1")
    batch = collect(env, "uniform", 50, 0, features=lambda o: np.array([o[0], o[1], o[2]], np.float64))
    assert batch.x.shape == (50, 3) and batch.terminated.any()
    several = SyncVectorEnv(
        [lambda: gymnasium.make("Blackjack-v1")] * 2, autoreset_mode=AutoresetMode.SAME_STEP
    )
    both = collect(several, "uniform", 100, 0, features=lambda o: np.array([o[0], o[1], o[2]], np.float64))
    same(both[:50], batch)


def test_a_vector_environment_must_say_how_it_resets() -> None:
    env = SyncVectorEnv([Script])
    del env.metadata["autoreset_mode"]
    with pytest.raises(ValueError, match=r"metadata\['autoreset_mode'\] is None"):
        collect(env, "uniform", 1, 0)


def test_an_end_without_a_final_observation_is_refused() -> None:
    class Forgetful(gymnasium.vector.VectorWrapper):
        def step(self, actions: Any) -> Any:
            *rest, info = self.env.step(actions)
            return *rest, {key: value for key, value in info.items() if "final" not in key}

    env = Forgetful(SyncVectorEnv([Script], autoreset_mode=AutoresetMode.SAME_STEP))
    with pytest.raises(ValueError, match=r"info\['final_obs'\]\[0\] is missing"):
        collect(env, "uniform", 8, 0)


def test_an_info_without_masks_speaks_for_all_environments() -> None:
    class Plain(gymnasium.vector.VectorWrapper):
        def step(self, actions: Any) -> Any:
            *rest, _ = self.env.step(actions)
            return *rest, {"gamma_next": np.array([0.5, 0.25])}

    batch = collect(Plain(SyncVectorEnv([Script, Script])), "uniform", 2, 0)
    np.testing.assert_array_equal(batch.gamma_next, [0.5, 0.25])


def test_wrapped_vector_environments() -> None:
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(SyncVectorEnv([cart_pole] * 2))
    same(collect(env, "uniform", 100, 9, gamma=0.99), one_by_one(cart_pole, "uniform", [50, 50], 9))


# --- Whole episodes ---


def test_whole_episodes_of_one_environment() -> None:
    env = Script()
    batch = collect(env, "uniform", episodes=3, seed=5, gamma=0.9)
    same(batch, collect(Script(), "uniform", steps=5, seed=5, gamma=0.9))
    np.testing.assert_array_equal(batch.terminated, [0, 1, 0, 0, 1])
    np.testing.assert_array_equal(batch.truncated, [0, 0, 0, 1, 1])
    assert len(env.seeds) == 3, "nothing is reset after the last one"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("episodes", "shares"), [(6, [2, 2, 2]), (7, [3, 2, 2]), (2, [1, 1, 0]), (1, [1, 0, 0])]
)
def test_episodes_are_shared_evenly(mode: Any, episodes: int, shares: list[int]) -> None:
    for make in (cart_pole, mountain_car):
        env = SyncVectorEnv([make] * 3, autoreset_mode=mode)
        batch = collect(env, "uniform", episodes=episodes, seed=4, gamma=0.99)
        alone = [
            collect(make(), "uniform", episodes=share, seed=4 + i, gamma=0.99)
            for i, share in enumerate(shares)
            if share
        ]
        same(batch, Batch.concatenate(alone))
        assert (batch.terminated | batch.truncated).sum() == episodes
        assert (batch.terminated | batch.truncated)[-1]


def test_episodes_that_are_longer_than_expected() -> None:
    """The columns grow as they must."""
    long: list[Episode] = [(0, [(i % 10, float(i), False, i == 3000) for i in range(1, 3001)])]
    batch = collect(Script(long), "uniform", episodes=1, seed=0)
    same(batch, collect(Script(long), "uniform", steps=3000, seed=0))
    np.testing.assert_array_equal(batch.reward, np.arange(1.0, 3001.0))
    assert all(column.base is None for column in batch._columns().values()), "nothing else is kept"


@pytest.mark.parametrize("mode", [None, *MODES])
def test_episodes_that_never_end(mode: Any) -> None:
    make = functools.partial(Script, LONG)
    env = make() if mode is None else SyncVectorEnv([make] * 2, autoreset_mode=mode)
    said = r"^100 steps were taken, and 0 of 3 episodes have ended: .* a larger limit=; .*TimeLimit"
    with pytest.raises(emphatic.EpisodeError, match=said) as raised:
        collect(env, "uniform", episodes=3, seed=0, limit=100)
    assert "of episode 0" in str(raised.value)
    batch = raised.value.batch
    assert batch is not None
    each = [100] if mode is None else [50, 50]
    np.testing.assert_array_equal(np.flatnonzero(batch.truncated), np.cumsum(each) - 1)
    same(batch, collect(make() if mode is None else SyncVectorEnv([make] * 2), "uniform", 100, 0))


def test_a_limit_that_is_just_enough() -> None:
    assert len(collect(Script(), "uniform", episodes=3, seed=0, limit=5)) == 5
    with pytest.raises(emphatic.EpisodeError, match="^4 steps were taken, and 2 of 3 episodes have ended"):
        collect(Script(), "uniform", episodes=3, seed=0, limit=4)


def test_progress_of_episodes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(np.arange(0, 1000, 1.0))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    collect(Script(), "uniform", episodes=3, seed=0, progress=True)
    assert "collecting: 66 %" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, TypeError, "^neither of steps and episodes .* give one: steps=1000 or episodes=10"),
        ({"steps": 1, "episodes": 1}, TypeError, "^both of steps and episodes"),
        ({"episodes": 0}, ValueError, "^episodes is 0; it must be at least 1"),
        ({"episodes": 1.5}, TypeError, "^episodes is 1.5"),
        ({"episodes": 1, "limit": 0}, ValueError, "^limit is 0; it must be at least 1"),
        ({"episodes": 1, "limit": "a"}, TypeError, "^limit is 'a'"),
        ({"steps": 1, "limit": 10}, TypeError, "^limit is 10, but it limits the steps of episodes="),
        ({"episodes": 1, "seed": None}, TypeError, "^seed is None"),
        ({"steps": 1, "features": 3}, TypeError, "^features is 3; it must be a function"),
    ],
)
def test_steps_or_episodes(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        collect(Script(), "uniform", **({"seed": 0} | options))


def test_where_a_behaviour_or_a_feature_was_wrong() -> None:
    where = r"\(at step 1 of episode 1, counted from 0\)$"
    with pytest.raises(ValueError, match=f"took the action 2.*{where}"):
        collect(Script(), lambda observation, rng: (2 * (observation == 4), 1.0), 8, 0)
    with pytest.raises(ValueError, match=f"features gave .*nan.*finite {where}"):
        collect(Script(), "uniform", 8, 0, features=lambda i: np.array([np.nan if i == 5 else 1.0]))
    with pytest.raises(ValueError, match=f"the interest is -1.0.*{where}"):
        collect(Script(), "uniform", 8, 0, interest=lambda i: -1.0 if i == 4 else 1.0)
    with pytest.raises(ValueError, match=r"\(at step 1 of episode 1 of environment 0, counted from 0\)$"):
        collect(SyncVectorEnv([Script]), "uniform", 8, 0, interest=lambda i: -1.0 if i == 4 else 1.0)
