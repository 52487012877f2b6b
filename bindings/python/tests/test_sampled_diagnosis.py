"""Batches diagnosed by sampling, and emphases by which a few steps count for all."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import emphatic

SHOP = emphatic.Problem.open("shop")


def shop_batch(steps: int = 4000) -> emphatic.Batch:
    return SHOP.stream(steps, seed=1)


def test_a_batch_is_diagnosed_in_words() -> None:
    found = emphatic.diagnose(shop_batch(), emphatic.OneHot(3))
    assert list(found.effective_samples) == ["all actions alike", "always 0", "always 1"]
    assert found.suggestion["algorithm"] == "ace"
    assert found.verdict[0] in " ".join(str(found).split())
    assert "<li>" in found._repr_html_()


def test_on_policy_all_steps_count() -> None:
    batch = shop_batch()
    policy = emphatic.diagnose(batch, emphatic.OneHot(3), target=batch.mu).data["policies"][0]
    assert policy["spread"]["effective_sample_of_ratio"] == {"value": 1.0, "standard_error": 0.0}


def test_the_effective_sample_is_that_of_numpy() -> None:
    """F and its effective sample, written out with the array functions."""
    batch = shop_batch()
    pi = np.where(batch.action == 1, 0.9, 0.1)
    found = emphatic.diagnose(batch, emphatic.OneHot(3), target=pi)
    trace, past = np.zeros(len(batch)), 0.0
    for t in range(len(batch)):
        trace[t] = batch.interest[t] + batch.gamma[t] * past
        past = pi[t] / batch.mu[t] * trace[t]
    assert found.effective_samples["the target"] == pytest.approx(
        trace.sum() ** 2 / (trace**2).sum() / len(batch), rel=1e-12
    )


def test_a_target_is_a_learner_a_table_or_probabilities_of_actions_taken() -> None:
    batch = shop_batch()
    agent = emphatic.OffPAC(emphatic.Softmax(emphatic.OneHot(3), actions=2), emphatic.TD(0.1), alpha=0.1)
    agent.weights = np.array([[1, 0], [0, 1], [0.5, 0]])
    table = agent.probabilities(batch.x)
    taken = table[np.arange(len(batch)), batch.action]
    texts = {
        str(emphatic.diagnose(batch, emphatic.OneHot(3), target=target)) for target in (agent, table, taken)
    }
    assert len(texts) == 1


def test_what_makes_no_sense_is_refused() -> None:
    batch, features = shop_batch(), emphatic.OneHot(3)
    with pytest.raises(TypeError, match="must be an emphatic.Batch"):
        emphatic.diagnose([1, 2], features)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="features are 3"):
        emphatic.diagnose(batch, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="0 steps; a diagnosis needs at least 100"):
        emphatic.diagnose(batch[:0], features)
    with pytest.raises(ValueError, match=r"the target has the shape \(3,\); it must have \(4000,\)"):
        emphatic.diagnose(batch, features, target=[1, 0, 0])
    with pytest.raises(
        ValueError, match=r"the target has the shape \(4000, 3\); it must have \(4000, 2\) or \(4000,\)"
    ):
        emphatic.diagnose(batch, features, target=np.ones((4000, 3)))
    with pytest.raises(ValueError, match="is 1.5; it must lie between 0 and 1"):
        emphatic.diagnose(batch, features, target=np.full(4000, 1.5))
    with pytest.raises(TypeError, match="x is of another kind"):
        emphatic.diagnose(batch, emphatic.Dense(3))
    with pytest.raises(ValueError, match="step"):
        emphatic.diagnose(batch, emphatic.OneHot(2))
    with pytest.raises(ValueError, match="action 1 does not exist"):
        emphatic.diagnose(batch, features, actions=1)
    with pytest.raises(TypeError, match="mu"):
        emphatic.Batch(x=[0], action=[0], reward=[0], x_next=[0], gamma_next=0.9)  # type: ignore[call-arg]


def endless(steps: int) -> emphatic.Batch:
    """One state, two actions alike: for a policy that always takes one, the trace has no finite variance."""
    actions = np.random.default_rng(1).integers(2, size=steps)
    zeros = np.zeros(steps, dtype=int)
    return emphatic.Batch(
        x=zeros, action=actions, reward=actions.astype(float), x_next=zeros, mu=0.5, gamma_next=0.99
    )


def certain(
    emphasis: emphatic.FollowOn | emphatic.LambdaReturn | emphatic.NoEmphasis,
) -> emphatic.ActorCritic:
    policy = emphatic.Softmax(emphatic.OneHot(1), actions=2)
    agent = emphatic.ActorCritic(policy, emphatic.TD(0.01), emphasis, alpha=1e-300)
    agent.weights = [[-3.0, 3.0]]
    return agent


def test_an_uneven_emphasis_is_warned_of_once() -> None:
    batch = endless(20000)
    agent = certain(emphatic.FollowOn(0.9))
    assert agent.effective_sample is None
    with pytest.warns(emphatic.UnevenEmphasisWarning, match="so uneven that only"):
        agent.learn(batch[:10000])
    assert agent.effective_sample is not None and agent.effective_sample < 0.025
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.learn(batch[10000:])
        for even in (emphatic.LambdaReturn(), emphatic.NoEmphasis()):
            certain(even).learn(batch)
    with pytest.warns(emphatic.UnevenEmphasisWarning, match="2 of 3 learners: the emphasis is so uneven"):
        emphatic.sweep([certain(emphatic.FollowOn(x)) for x in (0, 0.9, 1)], batch)


def test_actions_that_are_never_taken_are_counted() -> None:
    """The one with the highest number was once forgotten: all was well with what is left."""
    gymnasium = pytest.importorskip("gymnasium")
    env, features = gymnasium.make("CartPole-v1"), emphatic.Dense(4)
    batch = emphatic.collect(env, [1.0, 0.0], 500, seed=1, gamma=0.9)
    for part in (batch, batch[100:], emphatic.Batch.concatenate([batch[:100], batch[100:]])):
        assert any(
            "never takes some of its actions" in word for word in emphatic.diagnose(part, features).verdict
        )
    # A batch of one's own does not know, but a target does.
    own = emphatic.Batch(
        batch.x, batch.action, batch.reward, batch.x_next, mu=1.0, gamma_next=batch.gamma_next
    )
    agent = emphatic.OffPAC(emphatic.Softmax(features, actions=2), emphatic.TD(0.1), alpha=0.1)
    for target in (agent, np.full((500, 2), 0.5)):
        found = emphatic.diagnose(own, features, target=target)
        assert any("never takes some of its actions" in word for word in found.verdict)


def test_without_an_emphasis_all_steps_count() -> None:
    agent = certain(emphatic.NoEmphasis())
    agent.learn(endless(1000))
    assert agent.effective_sample == 1.0


def test_it_goes_with_copies_pickles_files_and_sweeps(tmp_path: Path) -> None:
    batch = shop_batch()
    agent = certain_shop()
    agent.learn(batch)
    share = agent.effective_sample
    assert share is not None and 0.1 < share < 1
    agent.save(tmp_path / "agent")
    others = [copy.copy(agent), pickle.loads(pickle.dumps(agent)), emphatic.load(tmp_path / "agent")]
    others += emphatic.sweep([certain_shop(), certain_shop(), certain_shop()], batch)
    assert {other.effective_sample for other in others} == {share}


def certain_shop() -> emphatic.ActorCritic:
    policy = emphatic.Softmax(emphatic.OneHot(3), actions=2)
    return emphatic.ActorCritic(policy, emphatic.TD(0.01), emphatic.FollowOn(1), alpha=0.01)
