"""Simulators: the steps of Gymnasium's, the same bits for the same seed, and many side by side as one by one."""

from __future__ import annotations

import copy
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import emphatic
from emphatic import Batch, collect, make_vec
from emphatic.simulators import DESCRIBED, SimulatorEnv, gymnasium_name

pytest.importorskip("gymnasium")
import gymnasium
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

NAMES = list(DESCRIBED)
MODES = list(AutoresetMode)


def behaviour(observation: Any, rng: np.random.Generator) -> tuple[float, float]:
    """Small real actions, around 0."""
    return rng.uniform(-1, 1), 0.5


def how(name: str) -> Any:
    return "uniform" if DESCRIBED[name]["actions"] else behaviour


def made(name: str, **settings: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(gymnasium_name(name), **settings)


def unwrapped(env: gymnasium.Env[Any, Any]) -> SimulatorEnv:
    assert isinstance(env.unwrapped, SimulatorEnv)
    return env.unwrapped


# --- The same steps as in Gymnasium ---


def _set_cart_pole(env: Any, state: Any) -> None:
    env.state, env.steps_beyond_terminated = np.array(state), None


def _set(env: Any, state: Any) -> None:
    env.state = np.array(state)


# The ranges of states, and how one is set.
PUBLISHED: dict[str, tuple[list[float], list[float], Any]] = {
    "mountain-car": ([-1.2, -0.07], [0.6, 0.07], _set),
    "cart-pole": ([-2.4, -3.0, -0.2, -3.0], [2.4, 3.0, 0.2, 3.0], _set_cart_pole),
    "acrobot": ([-np.pi, -np.pi, -2 * np.pi, -4.5 * np.pi], [np.pi, np.pi, 2 * np.pi, 4.5 * np.pi], _set),
    "pendulum": ([-np.pi, -8.0], [np.pi, 8.0], _set),
}


def test_all_that_gymnasium_has_are_compared() -> None:
    assert set(PUBLISHED) == {name for name, described in DESCRIBED.items() if described["gymnasium"]}


@pytest.mark.parametrize("name", PUBLISHED)
def test_steps_are_those_of_gymnasium(name: str) -> None:
    compare(name, 1.0, 1e-12)


def test_steps_of_a_fast_acrobot_are_those_of_gymnasium() -> None:
    # Up to its greatest speed a step turns a rounding error of the state, of 1e-15, into some 5e-12, in Gymnasium, too.
    compare("acrobot", 2.0, 2e-11)


def compare(name: str, speed: float, tolerance: float) -> None:
    low, high, set_state = PUBLISHED[name]
    faster = [1.0] * (len(low) // 2) + [speed] * (len(low) // 2)
    theirs: Any = gymnasium.make(DESCRIBED[name]["gymnasium"] or "").unwrapped
    ours = SimulatorEnv(name)
    theirs.reset(seed=0), ours.reset(seed=0)
    rng = np.random.default_rng(1)
    ended = 0
    for state in rng.uniform(low, high, (4000, len(low))) * faster:
        action = (
            int(rng.integers(theirs.action_space.n))
            if DESCRIBED[name]["actions"]
            else rng.uniform(-2.0, 2.0, 1)
        )
        set_state(theirs, state)
        ours.state = state
        # Theirs are rounded to float32.
        observation, reward, terminated, truncated, _ = theirs.step(action)
        mine = ours.step(action)
        np.testing.assert_allclose(ours.state, np.asarray(theirs.state, np.float64), rtol=0, atol=tolerance)
        np.testing.assert_allclose(mine[0], observation, rtol=1e-6, atol=1e-6)
        assert mine[1] == pytest.approx(float(reward), rel=0, abs=tolerance)
        assert (mine[2], mine[3]) == (terminated, truncated)
        ended += terminated
    assert (ended > 50) is (name != "pendulum")


@pytest.mark.parametrize("name", PUBLISHED)
def test_spaces_are_those_of_gymnasium(name: str) -> None:
    theirs, ours = gymnasium.make(DESCRIBED[name]["gymnasium"] or ""), made(name)
    assert ours.observation_space.shape == theirs.observation_space.shape
    assert ours.action_space.shape == theirs.action_space.shape


# --- As Gymnasium wants it ---


@pytest.mark.parametrize("name", NAMES)
def test_gymnasiums_checker_is_content(name: str) -> None:
    with warnings.catch_warnings():
        # It recommends bounds for what has none, and actions between -1 and 1.
        warnings.filterwarnings("ignore", ".*(infinity|symmetric and normalized).*")
        check_env(made(name, render_mode="ansi").unwrapped)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_observed_stays_in_the_space(name: str) -> None:
    env = SimulatorEnv(name)
    batch = collect(made(name), how(name), steps=500, seed=3)
    assert all(env.observation_space.contains(x) for x in (*batch.x, *batch.x_next))
    assert np.isfinite([env.low, env.high]).all() and (env.low < env.high).all()
    assert batch.x.shape[1] == len(env.low) == len(env.wraps)


def test_time_limits_are_truncations() -> None:
    env = made("virtual-office")
    assert env.spec is not None and env.spec.max_episode_steps == 100
    env.reset(seed=1)
    outcomes = [env.step(3)[2:4] for _ in range(100)]
    assert outcomes == [(False, False)] * 99 + [(False, True)]
    assert made("mountain-car").spec.max_episode_steps is None  # type: ignore[union-attr]


def test_render() -> None:
    env = made("mountain-car", render_mode="ansi")
    env.reset(options={"state": [-0.5, 0.05]})
    assert env.render() == "position -0.5, velocity 0.05"
    several = make_vec("mountain-car", 2, render_mode="ansi")
    several.reset(options={"state": [[-0.5, 0.05], [0, 0]]})
    assert several.render() == ("position -0.5, velocity 0.05", "position 0, velocity 0")
    assert make_vec("mountain-car", 2).render() is None
    with pytest.raises(ValueError, match="render_mode is 'human'; it must be None or 'ansi'"):
        SimulatorEnv("acrobot", render_mode="human")


# --- Seeds ---


def episode(env: Any, name: str, steps: int, seed: int) -> list[Any]:
    """All that an environment says, with resets after ends."""
    rng = np.random.default_rng(0)
    said = [env.reset(seed=seed)[0].tolist()]
    for _ in range(steps):
        action = env.action_space.sample() if DESCRIBED[name]["actions"] is None else rng.integers(2)
        if DESCRIBED[name]["actions"] is None:
            action = rng.uniform(-1, 1, 1)
        observation, *outcome, _ = env.step(action)
        said.append((observation.tolist(), *outcome))
        if outcome[1] or outcome[2]:
            said.append(env.reset()[0].tolist())
    return said


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_is_the_same_bits(name: str) -> None:
    assert episode(made(name), name, 300, 5) == episode(made(name), name, 300, 5)
    if name != "virtual-office":  # It is not random.
        assert episode(made(name), name, 300, 5) != episode(made(name), name, 300, 6)


def test_the_bits_of_a_seed_never_change() -> None:
    env = SimulatorEnv("linear-quadratic")
    env.reset(seed=1)
    first = env.state
    env.step(np.array([0.5]))
    assert first.tolist() == [-0.5037528520773729, -0.11517524565790715]
    assert env.state.tolist() == [-0.547423030437164, -0.08046226862235135]


def test_without_a_seed_they_differ() -> None:
    one, other = SimulatorEnv("mountain-car"), SimulatorEnv("mountain-car")
    assert one.reset()[0].tolist() != other.reset()[0].tolist()
    several = make_vec("mountain-car", 3).reset()[0]
    assert len(set(several[:, 0].tolist())) == 3


def test_a_reset_without_a_seed_goes_on_with_the_stream() -> None:
    env = SimulatorEnv("mountain-car")
    first, second = env.reset(seed=1)[0], env.reset()[0]
    assert first.tolist() != second.tolist()
    assert [env.reset(seed=1)[0].tolist(), env.reset()[0].tolist()] == [first.tolist(), second.tolist()]


# --- States ---


def test_an_episode_can_begin_in_a_state() -> None:
    env = made("pendulum")
    observation, _ = env.reset(seed=1, options={"state": [0.0, 1.5]})
    assert observation.tolist() == [1.0, 0.0, 1.5]
    assert unwrapped(env).state.tolist() == [0.0, 1.5]
    several = make_vec("mountain-car", 2)
    states = [[-0.5, 0.01], [0.3, -0.02]]
    assert several.reset(options={"state": states})[0].tolist() == states
    assert several.states.tolist() == states


def test_an_excursion_goes_on_from_a_state() -> None:
    env = SimulatorEnv("mountain-car")
    env.reset(seed=1)
    before = env.state
    after = env.step(2)[0]
    env.state = before
    assert env.step(2)[0].tolist() == after.tolist()
    # What was returned is a copy.
    env.state[0] = 7.0
    assert env.state.tolist() == after.tolist()
    # From an end, too.
    env.state = [0.499, 0.06]
    assert env.step(2)[2]
    env.state = before
    env.step(2)


def test_a_state_set_in_several_environments() -> None:
    several = make_vec("cart-pole", 2)
    several.reset(seed=1)
    states = several.states
    first = several.step([0, 1])[0]
    several.states = states
    np.testing.assert_array_equal(several.step([0, 1])[0], first)


# --- Many side by side ---


def assert_equal(ours: Batch, theirs: Batch) -> None:
    for name, column in ours._columns().items():
        np.testing.assert_array_equal(column, theirs._columns()[name], err_msg=name)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_several_are_one_by_one(name: str, mode: AutoresetMode) -> None:
    limit = 30
    several = make_vec(name, 3, autoreset_mode=mode, max_episode_steps=limit)
    together = collect(several, how(name), steps=600, seed=7, gamma=0.99)
    alone = [
        collect(made(name, max_episode_steps=limit), how(name), steps=200, seed=7 + i, gamma=0.99)
        for i in range(3)
    ]
    assert_equal(together, Batch.concatenate(alone))
    assert together.truncated.sum() + together.terminated.sum() > 9


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_several_say_what_gymnasiums_vector_says(name: str, mode: AutoresetMode) -> None:
    ours = make_vec(name, 4, autoreset_mode=mode, max_episode_steps=20)
    theirs = gymnasium.vector.SyncVectorEnv(
        [lambda: made(name, max_episode_steps=20) for _ in range(4)], autoreset_mode=mode
    )
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    np.testing.assert_array_equal(ours.reset(seed=3)[0], theirs.reset(seed=3)[0])
    theirs.action_space.seed(1)
    ends = 0
    for _ in range(150):
        actions = theirs.action_space.sample()
        mine, other = ours.step(actions), theirs.step(actions)
        for a, b in zip(mine[:4], other[:4], strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype
        assert mine[4].keys() == other[4].keys()
        for key in mine[4]:
            # Arrays of arrays, or None: NumPy cannot compare them.
            assert repr(mine[4][key]) == repr(other[4][key])
        ended = mine[2] | mine[3]
        ends += ended.sum()
        if mode is AutoresetMode.DISABLED and ended.any():
            begun = ours.reset(options={"reset_mask": ended.copy()})[0]
            np.testing.assert_array_equal(begun, theirs.reset(options={"reset_mask": ended.copy()})[0])
    assert ends > 5


def test_gymnasium_makes_them_too() -> None:
    ours = gymnasium.make_vec(
        "emphatic/VirtualOffice-v0",
        num_envs=3,
        vectorization_mode="vector_entry_point",
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    assert isinstance(ours, type(make_vec("acrobot", 1))) and ours.num_envs == 3
    assert ours.spec is not None and ours.spec.id == "emphatic/VirtualOffice-v0"
    ours.reset(seed=1)
    truncated = [ours.step(np.full(3, 3))[3].all() for _ in range(100)]
    assert truncated == [False] * 99 + [True]


def test_both_names_make_the_same() -> None:
    one, other = make_vec("mountain-car", 2), make_vec("emphatic/MountainCar-v0", 2)
    np.testing.assert_array_equal(one.reset(seed=1)[0], other.reset(seed=1)[0])


def test_a_limit_can_be_left_out() -> None:
    several = make_vec("virtual-office", 1, max_episode_steps=-1)
    several.reset(seed=1)
    assert not any(several.step([3])[3].any() for _ in range(150))


def test_seeds_one_by_one() -> None:
    several = make_vec("mountain-car", 3)
    by_list = several.reset(seed=[5, 6, 7])[0]
    np.testing.assert_array_equal(by_list, several.reset(seed=5)[0])
    again = several.reset(seed=[5, None, 7])[0]
    assert (again == by_list).all(axis=1).tolist() == [True, False, True]


def test_a_mask_leaves_the_others_alone() -> None:
    several = make_vec("mountain-car", 3, autoreset_mode="Disabled")
    several.reset(seed=1)
    several.step([2, 2, 2])
    before = several.states
    mask = np.array([False, True, False])
    options = {"reset_mask": mask}
    several.reset(options=options)
    assert (several.states == before).all(axis=1).tolist() == [True, False, True]
    assert options == {"reset_mask": mask}
    # Nor do the others get new streams.
    several.reset(seed=1)
    several.reset(seed=9, options={"reset_mask": mask})
    one = SimulatorEnv("mountain-car")
    one.reset(seed=1)
    assert several.reset()[0][0].tolist() == one.reset()[0].tolist()


def test_an_agent_acts_in_several() -> None:
    policy = emphatic.Softmax(emphatic.Dense(2), actions=3)
    agent = emphatic.ACE(policy, emphatic.GTD(0.1, 1e-3), alpha=0.1)
    batch = collect(make_vec("mountain-car", 4), agent, steps=100, seed=1, gamma=0.99)
    assert len(batch) == 100 and np.allclose(batch.mu, 1 / 3)


def test_threads_do_not_share_an_environment() -> None:
    several = make_vec("acrobot", 20_000)
    several.reset(seed=1)
    actions, errors, stop = np.zeros(20_000, np.int64), [], threading.Event()

    def steps() -> None:
        while not stop.is_set():
            try:
                several.step(actions)
            except RuntimeError as error:
                errors.append(str(error))
                stop.set()

    threads = [threading.Thread(target=steps) for _ in range(2)]
    for thread in threads:
        thread.start()
    stop.wait(10)
    stop.set()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)
    assert all("in use by another thread" in error for error in errors)


# --- What is refused ---


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("montain-car", "there is no environment `montain-car`; did you mean `mountain-car`?"),
        ("emphatic/MontainCar-v0", "there is no environment `montain-car`; did you mean `mountain-car`?"),
        ("", "there is no environment ``; there are mountain-car, puddle-world,"),
    ],
)
def test_unknown_names(name: str, message: str) -> None:
    for make in (SimulatorEnv, lambda name: make_vec(name, 2)):
        with pytest.raises(ValueError) as error:
            make(name)
        assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "action", "message"),
    [
        ("mountain-car", 3, r"the action is 3; it must be one of 0 to 2 \(backward, idle, forward\)"),
        ("mountain-car", -1, "the action is -1; it must be one of 0 to 2"),
        ("mountain-car", 2**70, "the action is 1180591620717411303424; it must be one of 0 to 2"),
        ("mountain-car", 0.5, "the action is 0.5; it must be one of 0 to 2"),
        ("mountain-car", None, "the action is None"),
        ("mountain-car", [1, 2], r"the action is \[1, 2\]"),
        ("pendulum", [2.5], "the action is 2.5; it must be a number between -2 and 2; .*ClipAction"),
        ("pendulum", [np.nan], "the action is NaN"),
        ("pendulum", 0.5, "the action is 0.5; it must be an array of one number"),
        ("pendulum", ["a"], r"the action is \['a'\]"),
        ("linear-quadratic", [np.inf], "the action is inf; it must be a finite number"),
    ],
)
def test_wrong_actions(name: str, action: Any, message: str) -> None:
    env = SimulatorEnv(name)
    env.reset(seed=1)
    before = env.state
    with pytest.raises(InvalidAction, match=message):
        env.step(action)
    assert env.state.tolist() == before.tolist()


@pytest.mark.parametrize(
    ("name", "actions", "message"),
    [
        ("mountain-car", [0, 1, 3], "the action of environment 2 is 3; it must be one of 0 to 2"),
        (
            "mountain-car",
            [0, 1],
            r"the actions are \[0, 1\]; they must be an array of the shape \(3,\), each action",
        ),
        ("mountain-car", [0.0, 1.0, 2.0], "the actions are"),
        ("mountain-car", "ab", "the actions are 'ab'"),
        ("mountain-car", [[0], [1, 2], [1]], "the actions are"),
        ("pendulum", [0.0, 0.0, 0.0], r"they must be an array of the shape \(3, 1\)"),
        ("pendulum", [[0.0], [np.nan], [0.0]], "the action of environment 1 is NaN"),
    ],
)
def test_wrong_actions_of_several(name: str, actions: Any, message: str) -> None:
    several = make_vec(name, 3)
    several.reset(seed=1)
    before = several.states
    with pytest.raises(InvalidAction, match=message):
        several.step(actions)
    assert several.states.tolist() == before.tolist()


def test_steps_out_of_an_episode() -> None:
    env = SimulatorEnv("mountain-car")
    with pytest.raises(ResetNeeded, match=r"no episode is running: call reset\(\) first"):
        env.step(0)
    env.reset(options={"state": [0.499, 0.06]})
    assert env.step(2)[2]
    with pytest.raises(ResetNeeded, match="after every end"):
        env.step(0)
    several = make_vec("mountain-car", 2, autoreset_mode="Disabled")
    with pytest.raises(ResetNeeded, match="no episode is running"):
        several.step([0, 0])
    several.reset(options={"state": [[-0.5, 0.0], [0.499, 0.06]]})
    several.step([2, 2])
    with pytest.raises(ResetNeeded, match="the episode of environment 1 is over: .*reset_mask"):
        several.step([2, 2])


@pytest.mark.parametrize(
    ("state", "error", "message"),
    [
        (
            [1.0],
            ValueError,
            r"state has the shape \(1,\); it must have \(2,\): a state of mountain-car is 2 numbers",
        ),
        ([[1.0, 2.0]], ValueError, "state has the shape"),
        ([0.0, np.nan], ValueError, r"state\[1\] is nan; it must be finite"),
        (["a", "b"], TypeError, "state has dtype"),
    ],
)
def test_wrong_states(state: Any, error: type[Exception], message: str) -> None:
    env = SimulatorEnv("mountain-car")
    first = env.reset(seed=1)[0]
    with pytest.raises(error, match=message):
        env.state = state
    with pytest.raises(error, match=message):
        env.reset(seed=2, options={"state": state})
    assert env.state.tolist() == first.tolist()
    several = make_vec("mountain-car", 2)
    with pytest.raises(error):
        several.reset(options={"state": state})


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"seed": -1}, ValueError, "seed is -1; it must be at least 0"),
        ({"seed": 2**64}, ValueError, "seed is 18446744073709551616; it must be at most"),
        ({"seed": 0.5}, TypeError, "seed is 0.5; it must be a whole number"),
        ({"options": {"sate": [0, 0]}}, ValueError, "options have 'sate'; they may have 'state'"),
    ],
)
def test_wrong_resets(arguments: Any, error: type[Exception], message: str) -> None:
    for env in (SimulatorEnv("mountain-car"), make_vec("mountain-car", 2)):
        with pytest.raises(error, match=message):
            env.reset(**arguments)


def test_wrong_resets_of_several() -> None:
    several = make_vec("mountain-car", 2)
    with pytest.raises(ValueError, match="there are 3 seeds; there must be 2"):
        several.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match=r"has the shape \(3,\); it must be an array of 2 booleans"):
        several.reset(options={"reset_mask": np.ones(3, bool)})
    with pytest.raises(TypeError, match="has dtype int64"):
        several.reset(options={"reset_mask": np.ones(2, int)})
    with pytest.raises(ValueError, match="seed is 18446744073709551616"):
        several.reset(seed=2**64 - 1)


def test_wrong_settings_of_several() -> None:
    with pytest.raises(ValueError, match="num_envs is 0; it must be at least 1"):
        make_vec("mountain-car", 0)
    with pytest.raises(ValueError, match="autoreset_mode is 'never'; it must be one of 'NextStep'"):
        make_vec("mountain-car", 2, autoreset_mode="never")
    with pytest.raises(ValueError, match="max_episode_steps is 0"):
        make_vec("mountain-car", 2, max_episode_steps=0)
    with pytest.raises(MemoryError, match="environments does not fit into memory"):
        make_vec("mountain-car", 2**50)


@pytest.mark.parametrize("name", NAMES)
def test_copies_go_on_on_their_own(name: str) -> None:
    env: Any = SimulatorEnv(name)
    env.reset(seed=4)
    action = env.action_space.sample()
    env.step(action)
    other = copy.deepcopy(env)
    expected = env.step(action)[0].tolist(), env.reset()[0].tolist()
    assert (other.step(action)[0].tolist(), other.reset()[0].tolist()) == expected


def test_a_state_that_is_set_is_where_an_episode_goes_on() -> None:
    """Once it was thrown away by the reset that follows an end."""
    several = emphatic.make_vec("mountain-car", 2)
    several.states = [[-0.5, 0.0], [-0.4, 0.0]]  # Without a reset, too.
    several.step(np.array([1, 1]))
    several.states = [[0.499, 0.07], [-0.4, 0.0]]
    assert several.step(np.array([2, 2]))[2].tolist() == [True, False]
    several.states = [[-0.9, 0.0], [-0.4, 0.0]]
    observations, rewards, *_ = several.step(np.array([1, 1]))
    assert abs(observations[0, 0] + 0.9) < 0.01 and rewards.tolist() == [-1.0, -1.0]
