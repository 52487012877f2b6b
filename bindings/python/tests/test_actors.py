"""Actors in place of a learner's own: what they follow, what is refused, and what files have of them.

`test_reference.py` holds them against the equations, `test_catalogue.py` saves and sweeps every one."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emphatic
from agents import AGENTS, FINITE, SLOPE, VALUES, experience

# As a user without a type checker sees them.
untyped: Any = emphatic
ActorCritic, AllActions, OffPAC = untyped.ActorCritic, untyped.AllActions, untyped.OffPAC
COFPAC, GeoffPAC = untyped.COFPAC, untyped.GeoffPAC
ActorTrace, GradientValues = untyped.ActorTrace, untyped.GradientValues
GradientCritic, ModelGradient = untyped.GradientCritic, untyped.ModelGradient
CounterfactualGradient = untyped.CounterfactualGradient

NONE = emphatic.NoEmphasis()
Q = emphatic.GQ(0.05, 1e-3, 0.5, VALUES)
SOFTMAX, GAUSSIAN = emphatic.Softmax(emphatic.OneHot(3), 2), emphatic.Gaussian(emphatic.OneHot(3))
DENSE, ACTION = emphatic.Softmax(emphatic.Dense(3), 2), emphatic.DeterministicLinear(emphatic.OneHot(3))

WITH_ACTORS = [name for name, make in AGENTS.items() if make().actor is not None]


@pytest.mark.parametrize("name", WITH_ACTORS)
def test_every_actor_learns(name: str) -> None:
    agent = AGENTS[name]()
    agent.learn(experience(agent))
    assert agent.diverged is None and agent.weights.any() and repr(agent.actor) in repr(agent)


def test_the_expected_step_is_the_gradient() -> None:
    """With an actor that estimates the gradient of the values, no emphasis is needed."""
    exact, batch = emphatic.ExactCritic(FINITE), FINITE.stream(4000, seed=1)
    solution = FINITE.solve()
    assert solution.gradient is not None and solution.semi_gradient is not None
    count = solution.stationary * FINITE.interest
    features = FINITE.critic
    agent = AllActions(FINITE.softmax(), exact, NONE, alpha=0.0, actor=ModelGradient(features=features))
    agent.learn(batch)
    step = np.einsum("s,sij->ij", count, agent.actor_weights["g"])
    np.testing.assert_allclose(step, solution.gradient, atol=1e-5)

    agent = AllActions(FINITE.softmax(), exact, NONE, alpha=0.0, actor=GradientCritic(0.1, features=features))
    agent.learn(batch)
    g = agent.actor_weights["g"].reshape(features.len, 2, *agent.weights.shape)
    later = np.einsum("s,sb,sbij->ij", count, agent.probabilities([0, 1, 2]), g)
    np.testing.assert_allclose(solution.semi_gradient + later, solution.gradient, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: OffPAC(ACTION, VALUES, alpha=0.1, actor=ActorTrace(0.5)),
            "needs a Softmax or Gaussian policy",
        ),
        (lambda: ActorCritic(ACTION, SLOPE, NONE, alpha=0.1, actor=ActorTrace(0.5)), "Softmax or Gaussian"),
        (
            lambda: untyped.DeterministicActorCritic(ACTION, SLOPE, NONE, alpha=0.1, actor=ActorTrace(0.5)),
            "'actor'",
        ),
        (
            lambda: ActorCritic(SOFTMAX, Q, NONE, alpha=0.1, actor=GradientCritic(0.1)),
            "needs ActorTrace, .*; GradientCritic is an actor of AllActions",
        ),
        (
            lambda: AllActions(SOFTMAX, VALUES, NONE, alpha=0.1, actor=GradientValues(0.1)),
            "needs GradientCritic or ModelGradient; GradientValues is an actor of ActorCritic",
        ),
        (
            lambda: ActorCritic(SOFTMAX, Q, NONE, alpha=0.1, actor=ActorTrace(0.5)),
            "the critic is GQ.* needs TD,",
        ),
        (
            lambda: AllActions(SOFTMAX, VALUES, NONE, alpha=0.1, actor=ModelGradient()),
            "the critic is GTD.* GQ,",
        ),
        (lambda: AllActions(GAUSSIAN, Q, NONE, alpha=0.1, actor=ModelGradient()), "needs a Softmax policy"),
        (
            lambda: AllActions(DENSE, Q, NONE, alpha=0.1, actor=ModelGradient()),
            "ModelGradient knows states by their numbers: give the policy OneHot or Table features",
        ),
        (
            lambda: AllActions(SOFTMAX, Q, NONE, alpha=0.1, actor=ModelGradient(features=emphatic.OneHot(4))),
            "policy and actor must see the same states",
        ),
        (
            lambda: ActorCritic(
                DENSE, VALUES, NONE, alpha=0.1, actor=GradientValues(0.1, features=emphatic.OneHot(3))
            ),
            "the same form",
        ),
        (
            lambda: AllActions(SOFTMAX, Q, NONE, alpha=0.1, subset=1, actor=GradientCritic(0.1)),
            "subset is 1 and the actor .*which learns from all actions: give one",
        ),
        (
            lambda: OffPAC(SOFTMAX, VALUES, alpha=0.1, actor=GradientValues(0.1)),
            "needs ActorTrace; GradientValues is an actor of ActorCritic",
        ),
        (
            lambda: OffPAC(SOFTMAX, VALUES, alpha=0.1, actor=0.6),
            "the actor is 0.6; this learner needs ActorTrace$",
        ),
        (
            lambda: GeoffPAC(SOFTMAX, VALUES, None, alpha=0.1),
            "the actor is None.* needs CounterfactualGradient",
        ),
        (lambda: COFPAC(SOFTMAX, VALUES, NONE, alpha=0.1), "the emphasis is NoEmphasis.*needs GEM"),
        (lambda: GradientValues("0.1"), "alpha_g is '0.1'; it must be a real number"),
    ],
)
def test_what_does_not_go_together(make: Callable[[], Any], match: str) -> None:
    with pytest.raises(TypeError, match=match):
        make()


@pytest.mark.parametrize(
    ("actor", "match"),
    [
        (ActorTrace(1.5), "lambda is 1.5; it must lie between 0 and 1"),
        (GradientValues(-0.1), "alpha_g is -0.1"),
        (CounterfactualGradient(2.0, 0.1), "gamma_hat is 2"),
    ],
)
def test_settings_out_of_range(actor: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        ActorCritic(SOFTMAX, VALUES, NONE, alpha=0.1, actor=actor)


# --- Names ---


def test_the_names_stand_for_compositions() -> None:
    gem, actor = emphatic.GEM(0.1), CounterfactualGradient(0.8, 0.1)
    for named, composed in (
        (OffPAC(SOFTMAX, VALUES, alpha=0.1, actor=ActorTrace(0)), OffPAC(SOFTMAX, VALUES, alpha=0.1)),
        (COFPAC(SOFTMAX, VALUES, gem, alpha=0.1), ActorCritic(SOFTMAX, VALUES, gem, alpha=0.1)),
        (
            GeoffPAC(SOFTMAX, VALUES, actor, alpha=0.1),
            ActorCritic(SOFTMAX, VALUES, NONE, alpha=0.1, actor=actor),
        ),
    ):
        batch = experience(named)
        named.learn(batch)
        composed.learn(batch)
        np.testing.assert_allclose(named.weights, composed.weights, rtol=1e-12)


# --- Lanes ---


@pytest.mark.parametrize(
    "actor", [ActorTrace(0.0), GradientValues(0.1, eta=0.0), GradientCritic(0.1, eta=0.0)]
)
def test_zeros_share_lanes_with_other_numbers(actor: Any) -> None:
    """Regression: with η = 0 a learner had no second weights, so it could not be taken out of lanes with others."""
    other = {"trace": ActorTrace(0.7)}.get(actor._kind, type(actor)(0.2))
    by_actions = isinstance(actor, GradientCritic)
    kind, critic = (AllActions, Q) if by_actions else (ActorCritic, VALUES)
    agents = [kind(SOFTMAX, critic, NONE, alpha=0.1, actor=each) for each in (actor, other, None)]
    batch = experience(agents[0])
    for agent, swept in zip(agents, emphatic.sweep(agents, batch)):
        agent.learn(batch)
        assert swept.actor == agent.actor
        assert np.array_equal(swept.weights, agent.weights)
        assert pickle.loads(pickle.dumps(swept))._state() == swept._state()


# --- Files ---


def settings_of(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    settings: dict[str, Any] = json.loads(header["__metadata__"]["settings"])
    return settings


def rewrite(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    data = path.read_bytes()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    header, settings = json.loads(data[8:end]), settings_of(path)
    change(settings)
    header["__metadata__"]["settings"] = json.dumps(settings)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[end:])


def test_the_settings_have_the_actor(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    OffPAC(SOFTMAX, VALUES, alpha=0.1, actor=ActorTrace(0.6)).save(path)
    assert settings_of(path)["actor"] == {"kind": "trace", "numbers": {"lambda": 0.6}}
    assert emphatic.load(path).actor == ActorTrace(0.6)


def test_a_file_of_before_there_were_actors(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    OffPAC(SOFTMAX, VALUES, alpha=0.1).save(path)
    assert "actor" not in settings_of(path)
    assert emphatic.load(path).actor is None


@pytest.mark.parametrize(
    ("name", "change", "match"),
    [
        ("GeoffPAC", {"class": "OffPAC"}, "OffPAC with CounterfactualGradient"),
        ("OffPAC with its trace", {"class": "ACE"}, "ACE with ActorTrace"),
        ("OffPAC", {"class": "GeoffPAC"}, "GeoffPAC with no actor"),
        ("OffPAC", {"actor": {"kind": "none"}}, "there is no actor `none`"),
        ("OffPAC", {"actor": {"kind": "model-gradient"}}, "an actor that needs a critic of actions"),
        ("DPG", {"actor": {"kind": "trace", "numbers": {"lambda": 0.5}}}, "a deterministic policy"),
        (
            "AllActions subset",
            {"actor": {"kind": "gradient-critic", "numbers": {"alpha_g": 0.1}}},
            "draws some",
        ),
    ],
)
def test_a_file_whose_parts_do_not_go_together(
    name: str, change: dict[str, Any], match: str, tmp_path: Path
) -> None:
    path = tmp_path / "agent"
    AGENTS[name]().save(path)
    rewrite(path, lambda settings: settings.update(change))
    with pytest.raises(ValueError, match=match):
        emphatic.load(path)


@pytest.mark.parametrize(
    "agent",
    [
        lambda: ActorCritic(
            emphatic.Softmax(emphatic.Dense(400), 2), VALUES, NONE, alpha=0.1, actor=GradientValues(0.1)
        ),
        # Features of the actor that are fewer, or more, than the policy's.
        lambda: ActorCritic(
            emphatic.Softmax(emphatic.Active(9000, 1), 2),
            VALUES,
            NONE,
            alpha=0.1,
            actor=GradientValues(0.1, features=emphatic.Active(3, 1)),
        ),
        lambda: AllActions(
            emphatic.Softmax(emphatic.Table(np.ones((200, 1))), 2),
            Q,
            NONE,
            alpha=0.1,
            actor=ModelGradient(features=emphatic.OneHot(200)),
        ),
        # Many states, few features.
        lambda: AllActions(
            emphatic.Softmax(emphatic.Table(np.ones((20_000, 1))), 2),
            Q,
            NONE,
            alpha=0.1,
            actor=ModelGradient(),
        ),
    ],
)
def test_a_large_learner_can_be_loaded(agent: Callable[[], Any], tmp_path: Path) -> None:
    """Regression: the file was refused for being longer than its settings allow."""
    made = agent()
    made.save(tmp_path / "agent")
    assert emphatic.load(tmp_path / "agent")._state() == made._state()
