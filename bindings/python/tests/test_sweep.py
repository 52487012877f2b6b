"""Sweeps with evaluations on the way, and from learners that have learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import emphatic
from agents import AGENTS, experience
from emphatic import ACE, EvaluationError, FollowOn, OneHot, Softmax

gymnasium = pytest.importorskip("gymnasium")

# For arguments of wrong types.
untyped: Any = emphatic


def different(name: str, count: int) -> list[Any]:
    """Returns learners that start from different weights."""
    agents = [AGENTS[name]() for _ in range(count)]
    for k, agent in enumerate(agents):
        agent.weights = agent.weights + 0.1 * k
    return agents


@pytest.mark.parametrize("name", AGENTS)
def test_a_sweep_goes_on_to_the_bit(name: str) -> None:
    """From learners that have learned, some from more steps than others, and from one that has not."""
    agents = different(name, 18)
    batch = experience(agents[0])
    for k, agent in enumerate(agents[1:]):
        agent.learn(batch)
        if k % 3 == 0:
            agent.learn(batch)
    swept = emphatic.sweep(agents, batch)
    for agent in agents:
        agent.learn(batch)
    assert [agent._state() for agent in swept] == [agent._state() for agent in agents]


@pytest.mark.parametrize("name", AGENTS)
def test_evaluations_change_nothing(name: str) -> None:
    agents = different(name, 3)
    batch = experience(agents[0])
    curves = emphatic.sweep(agents, batch, evaluations=[0, 7, 20], evaluate=lambda agent: agent.steps)
    assert curves.steps.tolist() == [0, 7, 20] and curves.values.tolist() == [[0.0, 7.0, 20.0]] * 3
    whole = emphatic.sweep(agents, batch)
    assert [agent._state() for agent in curves.agents] == [agent._state() for agent in whole]
    assert all(agent.steps == 0 for agent in agents)


def cart_pole_agents() -> tuple[list[ACE], emphatic.Batch]:
    tiles = emphatic.TileCoder([-2.4, -2, -0.2, -2], [2.4, 2, 0.2, 2], tiles=3, tilings=4)
    batch = emphatic.collect(gymnasium.make("CartPole-v1"), "uniform", 600, seed=1, gamma=0.9)
    critic = emphatic.TDRC(0.1)
    return [ACE(Softmax(tiles, 2), critic, alpha=alpha) for alpha in (0.01, 0.1, 1.0)], batch


def test_values_are_those_of_evaluate() -> None:
    agents, batch = cart_pole_agents()
    curves = emphatic.sweep(agents, batch, evaluations=2, env="CartPole-v1", episodes=3, seed=4)
    assert curves.steps.tolist() == [300, 600]
    assert repr(curves) == "Curves(3 settings, 2 evaluations)"
    env = gymnasium.make("CartPole-v1")
    for agent, values in zip(agents, curves.values, strict=True):
        for steps, value in zip(curves.steps, values, strict=True):
            [alone] = emphatic.sweep([agent], batch[: int(steps)])
            assert emphatic.evaluate(env, alone, 3, 4).mean == value
    # The environment of a user stays open, and is asked in the same way.
    again = emphatic.sweep(agents, batch, evaluations=2, env=env, episodes=3, seed=4)
    np.testing.assert_array_equal(again.values, curves.values)
    env.reset()


def test_learners_that_diverged_are_not_evaluated() -> None:
    problem = emphatic.Problem.open("counterexample")
    critics = [emphatic.TD(alpha_v=alpha_v) for alpha_v in (0.1, 1e200)]
    agents = [ACE(Softmax(OneHot(3), 2), critic, alpha=0.1, emphasis=FollowOn()) for critic in critics]
    batch = problem.stream(400, seed=1)
    curves = emphatic.sweep(agents, batch, evaluations=2, evaluate=lambda agent: agent.weights.sum())
    assert curves.agents[1].diverged is not None
    assert np.isfinite(curves.values[0]).all() and np.isnan(curves.values[1]).all()


def test_an_evaluation_that_fails_loses_nothing() -> None:
    agents, batch = cart_pole_agents()

    def fails(agent: ACE) -> float:
        if agent.steps == 400:
            raise OSError("no more room")
        return 1.0

    with pytest.raises(
        EvaluationError, match=r"settings\[0\] after 400 steps raised OSError: no more room"
    ) as raised:
        emphatic.sweep(agents, batch, evaluations=3, evaluate=fails)
    assert isinstance(raised.value.__cause__, OSError)
    curves = raised.value.curves
    np.testing.assert_array_equal(curves.values, [[1.0, np.nan, np.nan]] * 3)
    gone_on = emphatic.sweep(curves.agents, batch[400:])
    assert [a._state() for a in gone_on] == [a._state() for a in emphatic.sweep(agents, batch)]


def test_what_makes_no_sense_is_refused() -> None:
    agents, batch = cart_pole_agents()

    def refused(says: str, kind: type[Exception] = TypeError, **arguments: Any) -> None:
        with pytest.raises(kind, match=says):
            untyped.sweep(agents, batch, **arguments)

    one: dict[str, Any] = {"evaluate": lambda agent: 1.0}
    refused("env is given, but no evaluations", env="CartPole-v1")
    refused("but not how to evaluate", evaluations=3)
    refused("env is given without episodes", evaluations=3, env="CartPole-v1", seed=1)
    refused("env is given without seed", evaluations=3, env="CartPole-v1", episodes=1)
    refused("seed and evaluate are given", evaluations=3, seed=1, **one)
    refused("evaluate is 3; it must be a function", evaluations=3, evaluate=3)
    refused(
        "evaluate returned 'much'; it must", EvaluationError, evaluations=3, evaluate=lambda agent: "much"
    )
    refused("env is a int; it must be an environment", evaluations=3, env=3, episodes=1, seed=1)
    refused("evaluations is 601; the batch has 600", ValueError, evaluations=601, **one)
    refused("evaluations", ValueError, evaluations=0, **one)
    refused("an empty list", ValueError, evaluations=[], **one)
    refused(r"evaluations\[1\] is 5, after 5", ValueError, evaluations=[5, 5], **one)
    refused(r"evaluations\[0\]", ValueError, evaluations=[601], **one)
    refused(
        r"settings\[0\] does not fit env", ValueError, evaluations=1, env="Acrobot-v1", episodes=1, seed=1
    )
    refused("evaluations", TypeError, evaluations="two", **one)
