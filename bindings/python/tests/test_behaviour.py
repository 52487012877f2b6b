"""Behaviours that are made of others: what they do has exactly the probability that they say."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import emphatic
from emphatic import EpsilonGreedy, Mixture, collect, evaluate

pytest.importorskip("gymnasium")
import gymnasium
from gymnasium import spaces

from emphatic.behaviour import ActionSpace, Known, drawn_by

THREE = ActionSpace(spaces.Discrete(3))
BOX = ActionSpace(spaces.Box(-8.0, 8.0, (1,), np.float64))
PLANE = spaces.Box(-1.0, 1.0, (2,))
X = np.array([0.3, -0.7])


def agent(weights: Any = ((0.5, -0.2, 1.0), (0.1, 0.4, -0.3))) -> emphatic.Learner:
    learner = emphatic.OffPAC(emphatic.Softmax(emphatic.Dense(2), 3), emphatic.TD(0.1), alpha=0.1)
    learner.weights = weights
    return learner


def gaussian(mean: float = 0.2) -> emphatic.Learner:
    learner = emphatic.OffPAC(emphatic.Gaussian(emphatic.Dense(2)), emphatic.TD(0.1), alpha=0.1)
    learner.weights = [[mean, -0.9], [0.1, 0.2]]
    return learner


class Steady:
    """Somebody else's agent, which says the probabilities of single actions."""

    def __init__(self, *probabilities: Any) -> None:
        self.of = probabilities

    def sample(self, x: Any, rng: np.random.Generator) -> int:
        return int(rng.choice(len(self.of), p=self.of))

    def probability(self, x: Any, action: int) -> Any:
        return self.of[action]


def known(behaviour: Any, actions: ActionSpace = THREE, observations: Any = PLANE) -> Known:
    return cast(Known, drawn_by(behaviour, actions, observations))


PI = agent().probabilities(X)
BEST = [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (EpsilonGreedy(agent(), 0.3), [0.1, 0.1, 0.8]),
        (EpsilonGreedy(agent()), [0.1 / 3, 0.1 / 3, 0.9 + 0.1 / 3]),
        (EpsilonGreedy(agent(), 0), BEST),
        (EpsilonGreedy(agent(), 1), [1 / 3] * 3),
        (EpsilonGreedy([0.4, 0.2, 0.4], 0.3), [0.45, 0.1, 0.45]),
        (EpsilonGreedy(agent(np.zeros((2, 3))), 0.3), [1 / 3] * 3),  # All are tied.
        (EpsilonGreedy("uniform", 0.5), [1 / 3] * 3),
        (EpsilonGreedy(Steady(0.25, 0.5, 0.25), 0.3), [0.1, 0.8, 0.1]),
        (Mixture([(0.5, "uniform"), (0.5, agent())]), 0.5 / 3 + 0.5 * PI),
        (Mixture([(1, agent())]), PI),
        (Mixture([(0, "uniform"), (1.0, [0.2, 0.8, 0.0])]), [0.2, 0.8, 0.0]),
        (Mixture([(0.25, Steady(0.1, 0.2, 0.7)), (0.75, [1, 0, 0])]), [0.775, 0.05, 0.175]),
        (
            Mixture([(0.2, EpsilonGreedy(agent(), 0.3)), (0.8, Mixture([(0.5, "uniform"), (0.5, agent())]))]),
            0.2 * np.array([0.1, 0.1, 0.8]) + 0.8 * (0.5 / 3 + 0.5 * PI),
        ),
        (EpsilonGreedy(Mixture([(0.9, [0, 1, 0]), (0.1, agent())]), 0.3), [0.1, 0.8, 0.1]),
        (Mixture([(1 / 3, "uniform")] * 3), [1 / 3] * 3),
    ],
)
def test_probabilities_by_enumeration(behaviour: Any, expected: Any) -> None:
    draws, rng = known(behaviour), np.random.default_rng(1)
    np.testing.assert_allclose(draws.probabilities(None, X), expected, rtol=1e-15, atol=1e-17)
    taken = [draws.draw(None, X, rng) for _ in range(3000)]
    np.testing.assert_allclose([mu for _, mu in taken], np.asarray(expected)[[a for a, _ in taken]])
    seen = Counter(action for action, _ in taken)
    for action, p in enumerate(expected):
        assert abs(seen[action] / 3000 - p) <= 4 * np.sqrt(p * (1 - p) / 3000)
    one, other = np.random.default_rng(2), np.random.default_rng(2)
    drawn = [draws.draw(None, X, one)[0] for _ in range(100)]
    assert drawn == [draws.act(None, X, other) for _ in range(100)], "act draws what draw does"
    fresh = np.random.default_rng(2)
    fresh.random(100)
    assert one.random() == fresh.random(), "one number for each action, whatever it is made of"


def normal(action: float, mean: float, deviation: float) -> float:
    return float(np.exp(-(((action - mean) / deviation) ** 2) / 2) / (deviation * np.sqrt(2 * np.pi)))


def test_a_mixture_of_densities() -> None:
    one, other = gaussian(), gaussian(-0.8)
    mixture = known(Mixture([(0.25, "uniform"), (0.25, one), (0.5, other)]), BOX)
    rng = np.random.default_rng(1)
    taken = [mixture.draw(None, X, rng) for _ in range(4000)]
    for action, mu in taken[:100]:
        exact = 0.25 / 16 + 0.25 * normal(action, *one.normal(X)) + 0.5 * normal(action, *other.normal(X))
        assert mu == pytest.approx(exact, rel=1e-12)
    mean = 0.25 * one.normal(X)[0] + 0.5 * other.normal(X)[0]
    assert abs(np.mean([action for action, _ in taken]) - mean) < 4 * 3 / np.sqrt(4000)
    # The mean of 1/mu over the actions taken is the length of the interval.
    assert np.mean([1 / mu for _, mu in taken]) == pytest.approx(16.0, abs=1.7)


def test_mixtures_by_state() -> None:
    table = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    mixture = known(Mixture([(0.5, table), (0.5, "uniform")]), observations=spaces.Discrete(2))
    np.testing.assert_allclose(mixture.probabilities(0, None), [5 / 12, 5 / 12, 1 / 6])
    np.testing.assert_allclose(mixture.probabilities(np.int64(1), None), [1 / 6, 1 / 6, 2 / 3])


def test_they_act_in_environments() -> None:
    env = gymnasium.make("CartPole-v1")
    learner = emphatic.OffPAC(emphatic.Softmax(emphatic.Dense(4), 2), emphatic.TD(0.1), alpha=0.1)
    learner.weights = [[0.0, 0.0], [0.0, 0.5], [0.0, 20.0], [0.0, 5.0]]
    for behaviour in (EpsilonGreedy(learner, 0.2), Mixture([(0.2, "uniform"), (0.8, learner)])):
        batch = collect(env, behaviour, steps=400, seed=1)
        pi = learner.probabilities(batch.x)
        if isinstance(behaviour, EpsilonGreedy):
            pi = np.where(pi == pi.max(axis=1, keepdims=True), 1.0, 0.0)
        expected = 0.1 + 0.8 * pi[np.arange(400), batch.action]
        np.testing.assert_allclose(batch.mu, expected, rtol=1e-14)
        assert len(np.unique(batch.action)) == 2
        assert evaluate(env, behaviour, episodes=5, seed=1).mean > 100
        collect(gymnasium.make_vec("CartPole-v1", 2), behaviour, episodes=3, seed=1)


def test_a_saved_learner_acts(tmp_path: Path) -> None:
    learner = agent()
    learner.save(tmp_path / "agent.safetensors")
    loaded = emphatic.load(tmp_path / "agent.safetensors")
    env = emphatic.make_vec("mountain-car", 2)
    for wrap in (lambda it: it, EpsilonGreedy, lambda it: Mixture([(0.5, "uniform"), (0.5, it)])):
        one, other = (collect(env, wrap(it), steps=50, seed=1) for it in (learner, loaded))
        np.testing.assert_array_equal(one.action, other.action)
        np.testing.assert_array_equal(one.mu, other.mu)


def test_how_they_look() -> None:
    assert repr(EpsilonGreedy("uniform", 1)) == "EpsilonGreedy(agent='uniform', epsilon=1.0)"
    assert repr(Mixture([(0.5, "uniform"), (0.5, [1, 0])])) == "Mixture([(0.5, 'uniform'), (0.5, [1, 0])])"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: EpsilonGreedy("uniform", 1.5), ValueError, "^epsilon is 1.5; a probability lies between"),
        (lambda: EpsilonGreedy("uniform", float("nan")), ValueError, "^epsilon is nan"),
        (lambda: EpsilonGreedy("uniform", "a"), TypeError, "^epsilon is 'a'"),  # type: ignore[arg-type]
        (lambda: Mixture([]), ValueError, "^a mixture has no parts"),
        (lambda: Mixture("uniform"), TypeError, "^a mixture's parts are 'uniform'"),  # type: ignore[arg-type]
        (lambda: Mixture(3), TypeError, "^a mixture's parts are 3"),  # type: ignore[arg-type]
        (lambda: Mixture(["uniform"]), TypeError, r"^part 0 of a mixture is 'uniform'; parts must be pairs"),  # type: ignore[list-item]
        (lambda: Mixture([(0.5, "uniform"), (0.6, "uniform")]), ValueError, "sum to 1.1; they must sum to 1"),
        (
            lambda: Mixture([(1.5, "uniform"), (-0.5, "uniform")]),
            ValueError,
            "^the probability of part 0 of a mixture is 1.5",
        ),
        (lambda: Mixture([("a", "uniform")]), TypeError, "^the probability of part 0 of a mixture is 'a'"),  # type: ignore[list-item]
        (
            lambda: known(EpsilonGreedy(gaussian()), BOX),
            ValueError,
            r"^actions are Box.*EpsilonGreedy needs Discrete ones; .*Mixture\(",
        ),
        (
            lambda: known(EpsilonGreedy(lambda observation, rng: (0, 1.0))),
            TypeError,
            "^EpsilonGreedy has the function .* no action but its own",
        ),
        (
            lambda: known(Mixture([(1.0, lambda observation, rng: (0, 1.0))])),
            TypeError,
            "^a mixture has the function",
        ),
        (lambda: known(Mixture([(1.0, "greedy")])), ValueError, "the behaviour is 'greedy'"),
        (lambda: known(Mixture([(1.0, None)])), TypeError, "the behaviour is None; it must be"),  # type: ignore[list-item]
        (lambda: known(Mixture([(1.0, [0.5, 0.5])])), ValueError, r"shape \(2,\); it must be \(3,\)"),
        (
            lambda: known(EpsilonGreedy(Steady(0.5, 0.4, 0.3))).probabilities(None, X),
            ValueError,
            re.escape(
                "the agent's probabilities are [0.5, 0.4, 0.3]; they must not be negative and sum to 1"
            ),
        ),
        (
            lambda: known(EpsilonGreedy(Steady(0.5, float("nan"), 0.5))).probabilities(None, X),
            ValueError,
            "the agent's probabilities are",
        ),
        (
            lambda: known(EpsilonGreedy(Steady(0.5, None, 0.5))).probabilities(None, X),
            TypeError,
            "the probability of action 1 is None; it must be a real number",
        ),
        (
            lambda: known(EpsilonGreedy(agent()), ActionSpace(spaces.Discrete(2))).probabilities(None, X),
            ValueError,
            "the agent has 3 actions; the environment has 2",
        ),
        (
            lambda: known(Mixture([(1.0, gaussian())])).probabilities(None, X),
            TypeError,
            "only a Softmax policy has probabilities",
        ),
        (
            lambda: known(Mixture([(1.0, Steady(-1.0))]), BOX).density(None, X, 0),
            ValueError,
            "the density of action 0 is -1.0",
        ),
    ],
)
def test_what_cannot_be_mixed(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
