"""Problems from arrays and files: what is true of them, as the equations say in NumPy; and what is refused."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import agents
import emphatic
from command import command
from emphatic import FileError, Problem

Array = npt.NDArray[Any]

QUICK = [
    "counterexample",
    "near-optimal",
    "long-counterexample",
    "slippery-long-counterexample",
    "continuous-counterexample",
    "shop",
    "baird",
    "baird-one-hot",
    "baird-zero-hot",
    "baird-aliased",
    "baird-control",
    "theta-2theta",
    "lc-etd",
    "five-states",
    "maei",
    "two-circles",
    "collision",
    "random-walk",
    "random-walk-inverted",
    "random-walk-dependent",
    "boyan",
    "chain",
]
SOLVED = [*QUICK, "hallways", "hallways-high-variance", "four-rooms", "random"]


@dataclass
class Arrays:
    """The arguments of `Problem.from_arrays`, and the theory written out over them."""

    probability: Array
    reward: Array
    gamma: Array
    ends: Array
    end_reward: Array
    start: Array
    behaviour: Array
    interest: Array
    actor: Array

    def problem(self, **others: Any) -> Problem:
        return Problem.from_arrays(**(vars(self) | others))

    def softmax(self, weights: Array) -> Any:
        exp = np.exp(self.actor @ weights)
        return exp / exp.sum(axis=1, keepdims=True)

    def discounted(self, pi: Array) -> Any:
        return np.einsum("sa,san->sn", pi, self.probability * self.gamma)

    def value(self, pi: Array) -> Any:
        rewards = (self.probability * self.reward).sum(axis=2) + self.ends * self.end_reward
        return np.linalg.solve(np.eye(len(pi)) - self.discounted(pi), (pi * rewards).sum(axis=1))

    def action_value(self, pi: Array) -> Any:
        rewards = (self.probability * self.reward).sum(axis=2) + self.ends * self.end_reward
        return rewards + (self.probability * self.gamma) @ self.value(pi)

    def stationary(self) -> Any:
        """By power iteration of the lazy chain, which cannot be periodic."""
        ends = (self.behaviour * self.ends).sum(axis=1)
        chain = np.einsum("sa,san->sn", self.behaviour, self.probability) + np.outer(ends, self.start)
        return self.start @ np.linalg.matrix_power((np.eye(len(chain)) + chain) / 2, 2**16)

    def weighting(self, pi: Array, lambda_a: float) -> Any:
        i = self.stationary() * self.interest
        m = np.linalg.solve((np.eye(len(pi)) - self.discounted(pi)).T, i)
        return (1 - lambda_a) * i + lambda_a * m

    def objective(self, weights: Array) -> Any:
        return (self.stationary() * self.interest) @ self.value(self.softmax(weights))

    def complex_step(self, weights: Array) -> Array:
        """The gradient without the theorem, and without cancellation."""
        steps = 1e-30j * np.eye(weights.size).reshape(-1, *weights.shape)
        return np.array([self.objective(weights + step).imag / 1e-30 for step in steps]).reshape(
            weights.shape
        )

    def update(self, weights: Array, lambda_a: float) -> Any:
        """The expected update, by the theorem."""
        pi = self.softmax(weights)
        advantage = self.action_value(pi) - self.value(pi)[:, None]
        return self.actor.T @ (self.weighting(pi, lambda_a)[:, None] * pi * advantage)


def counterexample() -> Arrays:
    probability = np.zeros((3, 2, 3))
    probability[0, 0, 1] = probability[0, 1, 2] = 1.0
    return Arrays(
        probability,
        reward=np.zeros((3, 2, 3)),
        gamma=np.ones((3, 2, 3)),
        ends=np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]),
        end_reward=np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]),
        start=np.array([1.0, 0.0, 0.0]),
        behaviour=np.array([[0.25, 0.75]] * 3),
        interest=np.ones(3),
        actor=np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]),
    )


def garnet(seed: int, states: int = 7, actions: int = 3) -> Arrays:
    """Everything at random: a discount for each transition (some of them 0), several starts, states without interest."""
    rng = np.random.default_rng(seed)
    out = rng.dirichlet(np.full(states + 1, 0.5), size=(states, actions))
    probability = np.where(out[..., :-1] < 0.05, 0.0, out[..., :-1])
    start = rng.dirichlet(np.ones(states)) * (np.arange(states) < 3)
    return Arrays(
        probability,
        reward=rng.normal(size=probability.shape),
        gamma=rng.choice([0.0, 0.5, 0.9, 1.0], size=probability.shape),
        ends=1 - probability.sum(axis=2),
        end_reward=rng.normal(size=(states, actions)),
        start=start / start.sum(),
        behaviour=rng.dirichlet(np.full(actions, 2.0), size=states),
        interest=rng.choice([0.0, 1.0, 2.5], size=states),
        actor=rng.normal(size=(states, 4)),
    )


ALL = [counterexample(), garnet(1), garnet(2), garnet(3, states=12, actions=2), garnet(4, states=1)]


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


# --- From arrays ---


@pytest.mark.parametrize("arrays", ALL)
@pytest.mark.parametrize("lambda_a", [0.0, 0.3, 1.0])
def test_a_solution_for_weights_is_what_the_equations_say(arrays: Arrays, lambda_a: float) -> None:
    weights = np.random.default_rng(5).normal(size=(arrays.actor.shape[1], arrays.behaviour.shape[1]))
    solution = arrays.problem().solve(lambda_a, weights=weights)
    pi = arrays.softmax(weights)
    close(solution.stationary, arrays.stationary())
    close(solution.target, pi)
    close(solution.value, arrays.value(pi))
    close(solution.action_value, arrays.action_value(pi))
    close(solution.emphatic_weighting, arrays.weighting(pi, lambda_a))
    visited = solution.stationary > 0
    close(solution.emphatic_density[visited], (solution.emphatic_weighting / solution.stationary)[visited])
    close(solution.objective, arrays.objective(weights))
    close(arrays.problem().objective(weights), arrays.objective(weights))
    np.testing.assert_array_equal(solution.weights, weights)
    close(solution.gradient, arrays.update(weights, 1.0))
    close(solution.gradient, arrays.complex_step(weights))
    close(solution.semi_gradient, arrays.update(weights, 0.0))
    if lambda_a in (0.0, 1.0):
        assert solution.with_lambda_a is None
    else:
        close(solution.with_lambda_a, arrays.update(weights, lambda_a))


@pytest.mark.parametrize("arrays", ALL)
def test_a_solution_for_probabilities_is_what_the_equations_say(arrays: Arrays) -> None:
    pi = np.random.default_rng(6).dirichlet(
        np.full(arrays.behaviour.shape[1], 0.5), size=len(arrays.behaviour)
    )
    for solution in (arrays.problem().solve(probabilities=pi), arrays.problem(target=pi).solve()):
        close(solution.target, pi)
        close(solution.value, arrays.value(pi))
        close(solution.emphatic_weighting, arrays.weighting(pi, 1.0))
        close(solution.objective, (arrays.stationary() * arrays.interest) @ arrays.value(pi))


def test_one_row_of_probabilities_stands_for_all_states() -> None:
    problem = counterexample().problem()
    close(problem.solve(probabilities=[0.9, 0.1]).target, [[0.9, 0.1]] * 3)
    close(counterexample().problem(behaviour=[0.5, 0.5]).behaviour, [[0.5, 0.5]] * 3)


def test_probabilities_that_no_weights_have_give_no_gradient() -> None:
    solution = counterexample().problem().solve(probabilities=[1.0, 0.0])
    assert (solution.weights, solution.gradient, solution.semi_gradient, solution.angle) == (None,) * 4
    np.testing.assert_array_equal(solution.value, [2.0, 2.0, 0.0])


def test_the_counterexample_from_arrays_is_the_one_that_comes_along() -> None:
    shipped, ours = (
        Problem.open("counterexample"),
        counterexample().problem(states=["S0", "S1", "S2"], actions=["A0", "A1"]),
    )
    assert (ours.states, ours.actions) == (shipped.states, shipped.actions)
    for name in ("behaviour", "start", "interest", "stationary"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(shipped, name))
    for ours_column, shipped_column in zip(ours.transitions, shipped.transitions):
        np.testing.assert_array_equal(ours_column, shipped_column)
    assert str(ours.solve(0.5)).splitlines()[1:] == str(shipped.solve(0.5)).splitlines()[1:]


def test_transitions_are_what_was_given() -> None:
    arrays = garnet(1)
    problem = arrays.problem()
    state, action, following, probability, reward, gamma = problem.transitions
    assert (np.diff(state * 3 + action) >= 0).all()
    whole = np.zeros_like(arrays.probability)
    np.add.at(whole, (state, action, following), probability)
    close(whole, arrays.probability + arrays.ends[:, :, None] * arrays.start)
    discounted = np.zeros_like(whole)
    np.add.at(discounted, (state, action, following), probability * gamma)
    close(discounted, arrays.probability * arrays.gamma)
    rewards = np.zeros_like(arrays.ends)
    np.add.at(rewards, (state, action), probability * reward)
    close(rewards, (arrays.probability * arrays.reward).sum(axis=2) + arrays.ends * arrays.end_reward)
    for column, given in ((problem.start, arrays.start), (problem.behaviour, arrays.behaviour)):
        close(column, given)
    np.testing.assert_array_equal(problem.interest, arrays.interest)
    np.testing.assert_array_equal(problem.actor.array(), arrays.actor)
    np.testing.assert_array_equal(problem.critic.array(), np.eye(7))


def test_starts_by_number_by_name_and_everywhere() -> None:
    arrays = counterexample()
    np.testing.assert_array_equal(arrays.problem(start=np.int32(1)).start, [0, 1, 0])
    np.testing.assert_array_equal(arrays.problem(start="two", states=["zero", "one", "two"]).start, [0, 0, 1])
    close(arrays.problem(start="uniform").start, [1 / 3] * 3)
    # A number is a place, also where the names are other numbers.
    np.testing.assert_array_equal(arrays.problem(start=2, states=["2", "0", "1"]).start, [0, 0, 1])


def test_rewards_by_state_and_action_and_of_transitions_that_cannot_be() -> None:
    by_pair = np.arange(6.0).reshape(3, 2)
    close(counterexample().problem(reward=by_pair[:, :, None]).transitions.reward, [0, 1, 2, 0, 0, 1])
    arrays = counterexample()
    unknown = np.where(arrays.probability > 0, 3.0, np.nan)
    close(arrays.problem(reward=unknown).transitions.reward, [3, 3, 2, 0, 0, 1])


def test_weights_of_a_target() -> None:
    target = counterexample().problem(target=[0.2, 0.8]).target_weights
    assert target is not None and target.shape == (2, 2)
    close(target[:, 1] - target[:, 0], np.log(4))
    np.testing.assert_array_equal(counterexample().problem().target_weights, np.zeros((2, 2)))
    assert counterexample().problem(target=[[0.2, 0.8], [0.5, 0.5], [0.4, 0.6]]).target_weights is None


def test_a_state_that_is_never_visited_has_no_density() -> None:
    arrays = replace(counterexample(), behaviour=np.array([[1.0, 0.0]] * 3))
    solution = arrays.problem().solve(probabilities=[1.0, 0.0])
    np.testing.assert_array_equal(np.isnan(solution.emphatic_density), [False, False, True])


def test_probabilities_in_float32() -> None:
    """They sum to one only roughly, and are made to."""
    arrays = garnet(1)
    rough: Any = {name: np.asarray(value, np.float32) for name, value in vars(arrays).items()}
    sums = rough["probability"].astype(float).sum(axis=2) + rough["ends"].astype(float)
    assert abs(sums - 1).max() > 1e-9
    problem = Problem.from_arrays(**rough)
    exactly = arrays.problem().solve()
    np.testing.assert_allclose(problem.solve().value, exactly.value, rtol=1e-5, atol=1e-5)
    way = problem.transitions
    pairs = np.zeros((7, 3))
    np.add.at(pairs, (way.state, way.action), way.probability)
    np.testing.assert_allclose(pairs, 1, rtol=0, atol=1e-12)
    third = np.full((7, 3), 1 / 3, np.float32)
    np.testing.assert_allclose(problem.solve(probabilities=third).target, 1 / 3, rtol=1e-15)


def test_uniform_policies_by_name() -> None:
    named = counterexample().problem(behaviour="uniform", target="uniform")
    np.testing.assert_array_equal(named.behaviour, np.full((3, 2), 0.5))
    with pytest.raises(ValueError, match="uniformly"):
        counterexample().problem(behaviour="uniformly")


def test_a_problem_from_arrays_goes_by_its_name() -> None:
    assert repr(counterexample().problem(name="mine")) == "<Problem mine: 3 states, 2 actions>"


TWO_LOOPS = {
    "probability": [[[1.0, 0.0]], [[0.0, 1.0]]],
    "ends": 0.0,
    "end_reward": 0.0,
    "gamma": 0.5,
    "reward": 0.0,
}


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"probability": np.zeros((3, 2))}, ValueError, r"probability has the shape \(3, 2\)"),
        (
            {"probability": np.zeros((3, 2, 4))},
            ValueError,
            r"probability has the shape .* \[states, actions, states\]",
        ),
        ({"probability": np.zeros((0, 2, 0))}, ValueError, "probability has the shape"),
        ({"probability": "x"}, TypeError, "probability has dtype"),
        ({"probability": [[[0, 1], [1]]]}, ValueError, "probability is no array"),
        ({"probability": np.full((3, 2, 3), np.nan)}, ValueError, r"probability\[0, 0, 0\] is nan"),
        (
            {"probability": np.array([[[-1.0, 1.0, 1.0]] * 2] * 3), "ends": 0.0},
            ValueError,
            "^the probability of a transition from '0' by '0' is -1",
        ),
        ({"ends": 0.5}, ValueError, r"probability\[0, 0\] and ends\[0, 0\] sum to 1.5; they must sum to 1"),
        ({"ends": 0.0}, ValueError, r"probability\[1, 0\] and ends\[1, 0\] sum to 0.0;"),
        ({"ends": [0.0, 1.0]}, ValueError, r"ends has the shape \(2,\)"),
        ({"reward": np.inf}, ValueError, r"reward\[0, 0, 1\] is inf"),
        ({"reward": np.zeros((3, 2))}, ValueError, r"reward has the shape \(3, 2\); .* \(3, 2, 3\)"),
        # As [A, S] it would fit; by state and action is what is meant.
        ({"reward": np.zeros((2, 3))}, ValueError, r"reward has the shape \(2, 3\)"),
        ({"end_reward": np.full((3, 2), np.nan)}, ValueError, r"end_reward\[1, 0\] is nan"),
        (
            {"gamma": 1.5},
            ValueError,
            "^gamma of a transition from '0' by '0' is 1.5; it must lie between 0 and 1",
        ),
        ({"gamma": np.nan}, ValueError, r"gamma\[0, 0, 1\] is nan"),
        ({"start": 3}, IndexError, "start is 3; there are 3 states"),
        ({"start": -1}, IndexError, "start is -1"),
        ({"start": "S0"}, ValueError, "^the problem has no state `S0`\nhelp: did you mean `0`?"),
        ({"start": [0.5, 0.4, 0.0]}, ValueError, "^the start probabilities sum to 0.9"),
        ({"start": [0.0, 0.0, 0.0]}, ValueError, "^the problem has no start"),
        ({"start": [1.0]}, ValueError, r"start has the shape \(1,\)"),
        ({"start": [np.nan, 1.0, 0.0]}, ValueError, r"start\[0\] is nan"),
        ({"behaviour": [0.5, 0.6]}, ValueError, "^the behaviour's probabilities in '0' sum to 1.1"),
        ({"behaviour": [1.5, -0.5]}, ValueError, "^the behaviour's probability of '1' in '0' is -0.5"),
        (
            {"behaviour": [0.5, 0.5, 0.0]},
            ValueError,
            r"behaviour has the shape \(3,\); it must be \[3, 2\] or \[2\]",
        ),
        ({"behaviour": 0.5}, ValueError, r"behaviour has the shape \(\)"),
        ({"behaviour": [np.nan, 1.0]}, ValueError, r"behaviour\[0\] is nan"),
        ({"behaviour": None}, TypeError, "behaviour has dtype object"),
        ({"target": [0.5, 0.6]}, ValueError, "^the target's probabilities in '0' sum to 1.1"),
        ({"interest": -1.0}, ValueError, "^the interest in '0' is -1"),
        ({"interest": [1.0, np.nan, 1.0]}, ValueError, r"interest\[1\] is nan"),
        (
            {"actor": np.ones((4, 2))},
            ValueError,
            r"actor has the shape \(4, 2\); it must have a row for each of 3 states",
        ),
        ({"critic": [1.0, 2.0, 3.0]}, ValueError, r"critic has the shape \(3,\)"),
        ({"actor": [[np.nan], [1], [1]]}, ValueError, r"actor\[0, 0\] is nan"),
        ({"states": ["a", "b"]}, ValueError, "there are 2 names of states for 3 states"),
        ({"states": ["a", "b", "a"]}, ValueError, "^there are two states named 'a'"),
        ({"actions": ["a"]}, ValueError, "there are 1 names of actions for 2 actions"),
        (
            TWO_LOOPS | {"start": [0.5, 0.5], "behaviour": [1.0], "interest": 1.0, "actor": None},
            ValueError,
            "^the behaviour has more than one stationary",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as raised:
        counterexample().problem(**changes)
    assert ".json" not in str(raised.value) and "column" not in str(raised.value)


def test_a_policy_that_never_ends_is_refused_where_nothing_is_discounted() -> None:
    arrays: dict[str, Any] = {
        "probability": [[[0, 1], [0, 0]], [[1, 0], [0, 0]]],
        "ends": [[0, 1], [0, 1]],
        "reward": 1.0,
        "start": 0,
        "behaviour": [0.5, 0.5],
    }
    problem = Problem.from_arrays(**arrays)
    with pytest.raises(ValueError, match="an episode never ends and nothing is discounted"):
        problem.solve(probabilities=[1.0, 0.0])
    close(Problem.from_arrays(**arrays, gamma=0.5).solve(probabilities=[1.0, 0.0]).value, [2.0, 2.0])


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (
            {"weights": [[0, 0], [0, 0]], "probabilities": [0.5, 0.5]},
            ValueError,
            "weights or probabilities, not both",
        ),
        ({"weights": [0.0, 0.0]}, ValueError, r"weights have the shape \(2,\); they must have \(2, 2\)"),
        ({"weights": [[0.0, np.nan], [0.0, 0.0]]}, ValueError, r"weights\[0, 1\] is nan"),
        ({"probabilities": [0.5, 0.6]}, ValueError, "sum to 1.1"),
        (
            {"probabilities": [0.5, 0.5, 0.0]},
            ValueError,
            r"probabilities has the shape \(3,\); it must be \[3, 2\] or \[2\]",
        ),
        ({"probabilities": [[0.5, np.nan]] * 3}, ValueError, r"probabilities\[0, 1\] is nan"),
        ({"lambda_a": 1.5}, ValueError, "lambda_a is 1.5; it must lie between 0 and 1"),
        ({"lambda_a": np.nan}, ValueError, "lambda_a is nan"),
        ({"lambda_a": "1"}, TypeError, "lambda_a is '1'"),
    ],
)
def test_questions_that_make_no_sense(arguments: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        counterexample().problem().solve(**arguments)


# --- A real action ---


def test_a_real_action() -> None:
    problem = Problem.open("continuous-counterexample")
    assert problem.actions == [] and problem.behaviour.shape == (3, 2)
    deterministic, gaussian = (
        problem.solve(weights=[0.5, -1.0]),
        problem.solve(weights=[[0.5, 0.0], [-1.0, 0.0]]),
    )
    right = 1 / (1 + np.exp(-np.array([0.5, -1.0, -1.0])))
    end = np.array([2 * (1 - right[1]), right[2]])
    close(deterministic.value, [(1 - right[0]) * end[0] + right[0] * end[1], *end])
    assert (deterministic.target.shape, gaussian.target.shape) == ((3, 1), (3, 2))
    assert (deterministic.action_value.shape, gaussian.action_value.shape) == ((3, 1), (3, 1))
    assert deterministic.gradient is not None and deterministic.gradient.shape == (2,)
    assert gaussian.gradient is not None and gaussian.gradient.shape == (2, 2)
    for solution, weights in (
        (deterministic, np.array([0.5, -1.0])),
        (gaussian, np.array([[0.5, 0.0], [-1.0, 0.0]])),
    ):
        steps = 1e-5 * np.eye(weights.size).reshape(-1, *weights.shape)
        slopes = [(problem.objective(weights + h) - problem.objective(weights - h)) / 2e-5 for h in steps]
        np.testing.assert_allclose(np.ravel(solution.gradient), slopes, rtol=1e-6)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a real action"):
        problem.solve(probabilities=[1.0])
    with pytest.raises(TypeError, match="a real action"):
        problem.transitions
    with pytest.raises(ValueError, match=r"they must have \(2, 2\) or \(2,\)"):
        problem.solve(weights=[1.0])


# --- Files ---


def test_problems_that_come_along_open_and_say_what_they_are() -> None:
    about = emphatic.problems()
    assert set(SOLVED) | {"large-grid"} == set(about) and all(about.values())
    assert repr(Problem.open("shop")) == "<Problem shop: 3 states, 2 actions>"
    assert (
        repr(Problem.open("continuous-counterexample"))
        == "<Problem continuous-counterexample: 3 states, a real action>"
    )


@pytest.mark.parametrize("problem", [Problem.open("shop"), garnet(2).problem(name="garnet")])
def test_saved_pickled_and_copied_it_is_the_same(problem: Problem, tmp_path: Path) -> None:
    path = tmp_path / ("x.json" if problem.name == "garnet.json" else "x.toml")
    problem.save(path)
    copies = [copy.copy(problem), copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))]
    assert all(repr(it) == repr(problem) for it in copies)
    for it in [*copies, Problem.open(path), Problem.parse(problem.text, path.name)]:
        assert type(it) is Problem and it.text == problem.text
        np.testing.assert_array_equal(it.solve().gradient, problem.solve().gradient)
    solution = problem.solve()
    assert str(pickle.loads(pickle.dumps(solution))) == str(solution)


def test_json_is_saved_as_json_and_toml_as_toml(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is JSON; let the name end in `.json`"):
        garnet(1).problem().save(tmp_path / "x.toml")
    with pytest.raises(ValueError, match="is TOML; let the name end in no `.json`"):
        Problem.open("shop").save(tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_a_file_says_where_and_what_would_be_right(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text('states = 2\nactions = 2\nstart = 0\nbehaviour = "unifrom"\ntransitions = []\n')
    with pytest.raises(FileError) as raised:
        Problem.open(path)
    assert (
        str(raised.value)
        == f"{path}, line 4, column 13: the word `unifrom` is not known here\nhelp: did you mean `uniform`?"
    )
    with pytest.raises(
        FileError,
        match="x.json, line 2, column 2: there is no key `actons` here\nhelp: did you mean `actions`?",
    ):
        Problem.parse('{"states": 2,\n "actons": 3}', "x.json")
    with pytest.raises(FileError, match="problem.toml: the key `states` is missing"):
        Problem.parse("")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="not a text file"):
        Problem.open(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere.toml cannot be read"):
        Problem.open(tmp_path / "nowhere.toml")
    with pytest.raises(FileNotFoundError, match="help: did you mean `counterexample`?"):
        Problem.open("counterexampel")
    with pytest.raises(OSError, match="cannot be read"):
        Problem.open(tmp_path)


# --- Experience ---


def test_a_stream_has_the_statistics_of_the_problem() -> None:
    arrays = garnet(3, states=12, actions=2)
    batch = arrays.problem().stream(200_000, seed=7)
    states, actions = len(arrays.start), 2
    np.testing.assert_allclose(
        np.bincount(batch.x, minlength=states) / len(batch), arrays.stationary(), atol=0.01
    )
    counts = np.zeros_like(arrays.probability)
    np.add.at(counts, (batch.x, batch.action, batch.x_next), 1)
    chain = arrays.probability + arrays.ends[:, :, None] * arrays.start
    for s in range(states):
        for a in range(actions):
            expected, seen = chain[s, a], counts[s, a]
            assert (seen[expected == 0] == 0).all()
            possible = expected > 0
            visits, freedom = seen.sum(), possible.sum() - 1
            chi2 = (((seen - visits * expected)[possible]) ** 2 / (visits * expected[possible])).sum()
            assert chi2 < freedom + 6 * np.sqrt(2 * freedom) + 6, (s, a)
    np.testing.assert_array_equal(batch.mu, arrays.problem().behaviour[batch.x, batch.action])
    np.testing.assert_array_equal(batch.interest, arrays.interest[batch.x])


def test_a_stream_goes_on_from_state_to_state_and_says_where_episodes_end() -> None:
    batch = garnet(1).problem().stream(1000, seed=1)
    np.testing.assert_array_equal(batch.x[1:], batch.x_next[:-1])
    np.testing.assert_array_equal(batch.gamma, [0.0, *batch.gamma_next[:-1]])
    np.testing.assert_array_equal(batch.terminated, batch.gamma_next == 0)
    assert batch.terminated.any() and not batch.truncated.any()


def test_a_stream_is_the_same_for_the_same_seed_and_run_and_a_short_one_the_start_of_a_long_one() -> None:
    problem = garnet(1).problem()
    stream = problem.stream(500, seed=3, run=2)
    for again in (problem.stream(500, seed=3, run=2), problem.stream(900, seed=3, run=2)[:500]):
        agents.same(stream, again)
    for other in (problem.stream(500, seed=3), problem.stream(500, seed=2, run=3)):
        assert (stream.action != other.action).any()
    assert len(problem.stream(0, seed=0)) == 0


def test_a_stream_of_a_real_action() -> None:
    batch = Problem.open("continuous-counterexample").stream(20_000, seed=1)
    assert batch.action.dtype == np.float64
    assert abs(batch.action.mean() - 1) < 0.03 and abs(batch.action.std() - 1) < 0.03
    close(batch.mu, np.exp(-((batch.action - 1) ** 2) / 2) / np.sqrt(2 * np.pi))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"steps": -1, "seed": 0}, ValueError),
        ({"steps": 1.5, "seed": 0}, TypeError),
        ({"steps": 1, "seed": -1}, ValueError),
    ],
)
def test_streams_that_make_no_sense(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="steps is|seed is"):
        Problem.open("shop").stream(**arguments)


# --- The same as the command ---


def same(found: Any, expected: list[float | None]) -> None:
    """To the bit; what is not finite is null in JSON."""
    np.testing.assert_array_equal(np.ravel(found), np.array(expected, dtype=np.float64))


@pytest.mark.parametrize("name", SOLVED)
@pytest.mark.parametrize("lambda_a", ["1", "0.5", "0"])
def test_solve_is_the_command(name: str, lambda_a: str) -> None:
    expected = json.loads(command("solve", name, "--json", "--lambda-a", lambda_a))
    solution = Problem.open(name).solve(float(lambda_a))
    assert solution.objective == expected["objective"] and solution.states == expected["states"]
    columns = expected["columns"]
    for of in ("stationary", "interest", "value", "emphatic_weighting", "emphatic_density"):
        same(getattr(solution, of), columns.pop(of))
    for of in ("target", "action_value"):
        names = [column for column in columns if column.startswith(f"{of}.")]
        same(getattr(solution, of).T, [x for column in names for x in columns.pop(column)])
    assert columns == {}
    gradients = expected["gradients"]
    assert (gradients is None) == (solution.weights is None)
    for of, values in (gradients or {}).items():
        found = getattr(solution, "weight_names" if of == "names" else of)
        same(found, values) if isinstance(values, list) and of != "names" else np.testing.assert_equal(
            found, values
        )
    assert str(solution) == command("solve", name, "--lambda-a", lambda_a)


def test_a_diagnosis_says_what_features_cannot_hold_and_what_becomes_unstable() -> None:
    """Collision's six features cannot hold its eight values; Baird's make TD(0) unstable once the policy is certain."""
    critics = Problem.open("collision").diagnose(starts=0, threads=1).critics
    assert critics.value_error is not None and critics.value_size is not None
    assert 0.1 < critics.value_error < critics.value_size
    control = Problem.open("baird-control").diagnose(starts=0, threads=1)
    assert control.critics_at_end is not None and control.suggestion is not None
    assert (control.critics.td_stable, control.critics_at_end.td_stable) == (True, False)
    assert control.suggestion.warm_up == 0.3


@pytest.mark.parametrize("name", QUICK)
def test_diagnose_is_the_command(name: str, tmp_path: Path) -> None:
    diagnosis = Problem.open(name).diagnose(starts=3, seed=2, threads=1)
    arguments = ("diagnose", name, "--starts", "3", "--seed", "2", "--quiet")
    assert diagnosis.data == json.loads(command(*arguments, "--json"))
    assert str(diagnosis) == command(*arguments)
    if diagnosis.svg is None:
        with pytest.raises(ValueError, match="nothing to draw"):
            diagnosis.figure(tmp_path / "ours.svg")
    else:
        command(*arguments, "--figure", str(tmp_path / "command.svg"))
        diagnosis.figure(tmp_path / "ours.svg")
        assert (tmp_path / "ours.svg").read_bytes() == (tmp_path / "command.svg").read_bytes()
    if diagnosis.experiment is not None:
        command(*arguments, "--write", str(tmp_path / "experiment.toml"))
        assert diagnosis.experiment == (tmp_path / "experiment.toml").read_text(encoding="utf-8")


# --- Diagnosis ---


@pytest.mark.parametrize("name", ["shop", "continuous-counterexample", "baird"])
def test_what_a_diagnosis_says_is_what_is_in_its_data(name: str) -> None:
    diagnosis = Problem.open(name).diagnose(starts=2)
    data: Any = diagnosis.data
    assert (diagnosis.verdict, diagnosis.objective, diagnosis.angle) == (
        data["verdict"],
        data["objective"],
        data["angle"],
    )
    assert diagnosis.uncovered == [tuple(pair) for pair in data["uncovered"]]
    assert repr(diagnosis) == f"<Diagnosis: {data['verdict'][0]}>"
    if diagnosis.flows is None:
        assert data["flows"] is None
    else:
        flows, reached = diagnosis.flows, data["flows"]["reached"]
        assert flows.from_random.shape == (len(reached), 2)
        for of in ("lambda_a", "objective", "settled", "from_random"):
            np.testing.assert_array_equal(getattr(flows, of), [flow[of] for flow in reached])
        for of in ("start", "best", "unbounded", "smallest_lambda_a", "highest_on_semi_gradient"):
            assert getattr(flows, of) == data["flows"][of]
    for which in ("emphasis", "emphasis_at_end"):
        spread = getattr(diagnosis, which)
        if data[which] is None:
            assert spread is None
            continue
        states = data[which]["states"]
        assert (
            spread.states == [state["state"] for state in states] and spread.finite == data[which]["finite"]
        )
        for of in ("share", "mean", "standard_deviation", "steps"):
            same(getattr(spread, of), [state[of] for state in states])
        assert (
            list(spread.spectral_radius) == data[which]["spectral_radius"]
            and spread.steps_in_all == data[which]["steps"]
        )
    assert diagnosis.size._asdict() == data["size"]
    assert (diagnosis.problem, diagnosis.given, diagnosis.start) == (
        data["problem"],
        data["given"],
        data["start"],
    )
    if data["suggestion"] is None:
        assert diagnosis.suggestion is None
    else:
        assert diagnosis.suggestion is not None
        told = vars(diagnosis.suggestion) | {"reasons": [list(pair) for pair in diagnosis.suggestion.reasons]}
        assert told == data["suggestion"]
    if diagnosis.flows is not None:
        np.testing.assert_array_equal(diagnosis.flows.times, data["flows"]["times"])
        assert [apart._asdict() for apart in diagnosis.flows.apart] == data["flows"]["apart"]
    critics = diagnosis.critics
    assert (critics.features, critics.tabular) == (data["critics"]["features"], data["critics"]["tabular"])
    for of in ("td", "etd"):
        assert getattr(critics, f"{of}_stable") == data["critics"][of]["stable"]
        eigenvalues = [complex(re, im) for re, im in data["critics"][of]["eigenvalues"]]
        np.testing.assert_array_equal(getattr(critics, f"{of}_eigenvalues"), eigenvalues)


def test_eigenvalues_of_the_key_matrices_and_flows_are_right() -> None:
    arrays = garnet(2)
    critic = np.random.default_rng(0).normal(size=(7, 3))
    diagnosis = arrays.problem(critic=critic).diagnose(starts=0)
    pi = arrays.softmax(np.zeros((4, 3)))
    for weighting, found in (
        (arrays.stationary(), diagnosis.critics.td_eigenvalues),
        (arrays.weighting(pi, 1.0), diagnosis.critics.etd_eigenvalues),
    ):
        key = critic.T @ np.diag(weighting) @ (np.eye(7) - arrays.discounted(pi)) @ critic
        np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(np.linalg.eigvals(key)), rtol=1e-8)
    assert diagnosis.flows is not None and diagnosis.flows.from_random.shape == (5, 0)
    close(diagnosis.flows.start, arrays.objective(np.zeros((4, 3))))
    assert diagnosis.flows.objective[-1] >= diagnosis.flows.start


def test_a_picture_of_a_diagnosis(tmp_path: Path) -> None:
    diagnosis = Problem.open("shop").diagnose(starts=0)
    diagnosis.figure(tmp_path / "x.svg")
    assert diagnosis.svg is not None and diagnosis.svg.startswith("<svg")
    assert diagnosis.svg == (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert diagnosis.svg in diagnosis._repr_html_() and "is not safe here" in diagnosis._repr_html_()
    diagnosis.figure(tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_names_are_no_html_in_a_notebook() -> None:
    """What files call things is escaped, in the verdict and in the picture."""
    bad = "<script>alert('x')</script>"
    text = Problem.open("counterexample").text.replace('"S1"', f'"{bad}"')
    assert bad in text
    shown = Problem.parse(text, f"{bad}.toml").diagnose(starts=0)._repr_html_()
    assert "<script" not in shown and "&lt;script&gt;" in shown


@pytest.mark.parametrize("arguments", [{"starts": -1}, {"starts": 10**12}, {"seed": -1}, {"threads": 0}])
def test_diagnoses_that_make_no_sense(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(arguments))} is"):
        Problem.open("shop").diagnose(**arguments)  # type: ignore[arg-type]
