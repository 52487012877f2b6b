"""Gymnasium's tables as problems: values and visits against NumPy, from the tables themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest

from emphatic import Problem

Array = npt.NDArray[Any]

ENVIRONMENTS: list[tuple[str, dict[str, Any]]] = [
    ("FrozenLake-v1", {}),
    ("FrozenLake-v1", {"is_slippery": False}),
    ("FrozenLake-v1", {"map_name": "8x8"}),
    ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": False}),
    ("CliffWalking-v1", {}),
    ("CliffWalking-v1", {"is_slippery": True}),
    ("Taxi-v4", {}),
]


@pytest.fixture(params=ENVIRONMENTS, ids=str)
def env(request: pytest.FixtureRequest) -> Iterator[gymnasium.Env[Any, Any]]:
    name, arguments = request.param
    with gymnasium.make(name, **arguments) as made:
        yield made


def tables(env: Any) -> tuple[Array, Array]:
    """The probability of going on from each state and action to each state, and the expected reward."""
    inner = env.unwrapped
    going_on = np.zeros((inner.observation_space.n, inner.action_space.n, inner.observation_space.n))
    reward = np.zeros(going_on.shape[:2])
    for state, actions in inner.P.items():
        for action, outcomes in actions.items():
            for probability, following, gain, terminated in outcomes:
                reward[state, action] += probability * gain
                going_on[state, action, following] += probability * (not terminated)
    return going_on, reward


def evaluate(going_on: Array, reward: Array, gamma: float) -> Any:
    """Values of the uniform policy, by squaring: v_2n = v_n + P^n v_n."""
    power, value = gamma * going_on.mean(axis=1), reward.mean(axis=1)
    for _ in range(30):
        value, power = value + power @ value, power @ power
    return value


@pytest.mark.parametrize("gamma", [1.0, 0.95])
def test_values_of_the_uniform_policy(env: gymnasium.Env[Any, Any], gamma: float) -> None:
    solution = Problem.from_gymnasium(env, gamma=gamma).solve()
    going_on, reward = tables(env)
    np.testing.assert_allclose(solution.value, evaluate(going_on, reward, gamma), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(
        solution.action_value, reward + gamma * going_on @ solution.value, rtol=1e-8, atol=1e-12
    )


def test_visits_of_the_behaviour(env: gymnasium.Env[Any, Any]) -> None:
    """d_μ is the expected number of visits in an episode, over its expected length: also where episodes are very long."""
    problem = Problem.from_gymnasium(env)
    start = np.asarray(env.unwrapped.initial_state_distrib, dtype=np.float64)  # type: ignore[attr-defined]
    going_on, _ = tables(env)
    power, visits = going_on.mean(axis=1), start / start.sum()
    for _ in range(30):
        visits, power = visits + visits @ power, power @ power
    np.testing.assert_allclose(problem.stationary, visits / visits.sum(), rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(problem.start, start / start.sum(), rtol=1e-12)
    # What cannot be reached is kept, and never visited.
    unreached = visits == 0
    assert unreached.any() and (problem.stationary[unreached] == 0).all()
    np.testing.assert_array_equal(np.isnan(problem.solve().emphatic_density), unreached)


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1"])
def test_visits_are_those_of_the_environment_itself(name: str) -> None:
    problem = Problem.from_gymnasium(name)
    counts, rng = np.zeros(len(problem.states)), np.random.default_rng(1)
    with gymnasium.make(name, max_episode_steps=10**9) as env:
        state, _ = env.reset(seed=1)
        for action in rng.integers(len(problem.actions), size=60_000):
            counts[state] += 1
            state, _, terminated, _, _ = env.step(action)
            if terminated:
                state, _ = env.reset()
    np.testing.assert_allclose(counts / counts.sum(), problem.stationary, atol=0.03)
    assert (counts[problem.stationary == 0] == 0).all()


def test_a_gradient_raises_the_objective_of_taxi() -> None:
    problem = Problem.from_gymnasium("Taxi-v4", gamma=0.95)
    assert problem.name == "Taxi-v4.json" and (len(problem.states), len(problem.actions)) == (500, 6)
    solution = problem.solve()
    assert solution.gradient is not None and solution.gradient.shape == (500, 6)
    step = 1e-6 * solution.gradient / np.linalg.norm(solution.gradient)
    rise = (problem.objective(step) - problem.objective(-step)) / 2e-6
    np.testing.assert_allclose(rise, np.linalg.norm(solution.gradient), rtol=1e-5)


def test_diagnoses() -> None:
    lake = Problem.from_gymnasium("FrozenLake-v1", gamma=0.9).diagnose(starts=0)
    assert lake.flows is not None and lake.flows.best > lake.flows.start
    taxi = Problem.from_gymnasium("Taxi-v4", gamma=0.9).diagnose()
    assert taxi.flows is None and "too large" in taxi.verdict[0] and taxi.critics.td_stable


def test_behaviour_target_interest_and_features_are_taken_over() -> None:
    behaviour = np.array([0.1, 0.2, 0.3, 0.4])
    aliased = np.eye(4)[np.arange(16) % 4]
    problem = Problem.from_gymnasium(
        "FrozenLake-v1",
        behaviour=behaviour,
        target=[0.25] * 4,
        interest=np.arange(16.0),
        actor=aliased,
        critic=aliased,
    )
    np.testing.assert_array_equal(problem.behaviour, [behaviour] * 16)
    np.testing.assert_array_equal(problem.interest, np.arange(16.0))
    np.testing.assert_array_equal(problem.actor.array(), aliased)
    np.testing.assert_array_equal(problem.critic.array(), aliased)


def test_a_policy_that_may_never_end() -> None:
    left = [1.0, 0.0, 0.0, 0.0]
    with gymnasium.make("FrozenLake-v1", is_slippery=False) as env:
        with pytest.raises(ValueError, match="an episode never ends and nothing is discounted"):
            Problem.from_gymnasium(env).solve(probabilities=left)
        assert Problem.from_gymnasium(env, gamma=0.99).solve(probabilities=left).value[0] == 0.0
    # On ice even that policy ends.
    assert Problem.from_gymnasium("FrozenLake-v1").solve(probabilities=left).value[0] == 0.0


class Odd(gymnasium.Env[Any, Any]):
    """A table of one's own, without a name; `P` may be wrong."""

    initial_state_distrib = np.array([1.0, 0.0])

    def __init__(self, probability: float = 1.0) -> None:
        self.P = {0: {0: [(probability, 1, 1.0, False)]}, 1: {0: [(1.0, 0, 2.0, True), (0.0, 0, 0.0, False)]}}


def test_a_table_of_ones_own() -> None:
    problem = Problem.from_gymnasium(Odd(), gamma=0.5)
    assert problem.name == "Odd.json"
    np.testing.assert_array_equal(problem.solve().value, [2.0, 2.0])


def with_table(table: Any) -> Odd:
    env = Odd()
    env.P = table
    return env


def test_what_is_not_in_the_table_is_warned_of() -> None:
    """Regression: it was left out without a word."""
    richer = gymnasium.wrappers.TransformReward(
        gymnasium.make("FrozenLake-v1"), lambda reward: 100 * float(reward)
    )
    with pytest.warns(
        RuntimeWarning, match="^TransformReward: this is not in the environment's transition table"
    ):
        Problem.from_gymnasium(richer)
    with pytest.warns(RuntimeWarning, match="^fickle_passenger: "):
        Problem.from_gymnasium(gymnasium.make("Taxi-v4", fickle_passenger=True), gamma=0.9)
    # A time limit, and what keeps order or counts, change nothing.
    Problem.from_gymnasium(gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("FrozenLake-v1")))


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Problem.from_gymnasium(with_table({})), ValueError, "no states at all"),
        (lambda: Problem.from_gymnasium(with_table({0: {}, 1: {}})), ValueError, "a state without actions"),
        (
            lambda: Problem.from_gymnasium(with_table({0: {0: [(1.0, 7, 0.0, False)]}})),
            ValueError,
            r"P\[0\]\[0\] leads to 7; there are 1 states",
        ),
        (lambda: Problem.from_gymnasium(object()), TypeError, "has no transition table `P`"),
        (
            lambda: Problem.from_gymnasium(Odd(0.5)),
            ValueError,
            "^the probabilities of the transitions from '0' by '0' sum to 0.5",
        ),
        (lambda: Problem.from_gymnasium(Odd(np.inf)), ValueError, "infinite or not a number"),
        (
            lambda: Problem.from_gymnasium(Odd(), gamma=1.5),
            ValueError,
            "^gamma of a transition from '0' by '0' is 1.5",
        ),
        (lambda: Problem.from_gymnasium(Odd(), gamma="1"), TypeError, "gamma is '1'"),  # type: ignore[arg-type]
        (
            lambda: Problem.from_gymnasium(Odd(), behaviour=[0.5, 0.5]),
            ValueError,
            r"behaviour has the shape \(2,\)",
        ),
        (lambda: Problem.from_gymnasium("NoLake-v1"), gymnasium.error.Error, "NoLake"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        make()
