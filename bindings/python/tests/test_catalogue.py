"""Every part of the catalogue, in every learner that takes it: made, saved, loaded, swept."""

from __future__ import annotations

import pickle
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emphatic
from agents import FINITE, REAL, experience
from emphatic import ActorCritic, AllActions, DeterministicActorCritic, Learner
from emphatic.catalogue import PARTS, RatioFreeEmphasis
from emphatic.parts import Part, kinds

# What each kind of learner takes: what its policy does, and what its critic tells.
LEARNERS: dict[type[Any], tuple[tuple[str, ...], str]] = {
    ActorCritic: (("finite", "real"), "delta"),
    AllActions: (("finite",), "advantages"),
    DeterministicActorCritic: (("deterministic",), "slope"),
}


def part(kind: type[Part], problem: Any, shift: float) -> Part:
    """A part with all its settings, each another number."""
    values: dict[str, Any] = {}
    for number, field in enumerate(fields(kind)):
        if field.name == "features":
            values["features"] = (
                problem.softmax().features if problem is FINITE else problem.gaussian().features
            )
        elif field.name == "actions":
            values["actions"] = len(problem.actions)
        elif field.name == "problem":
            values["problem"] = problem
        elif kind._inner is not None and field.name == kind._inner[0]:
            tells = kind._inner[1]
            inner = next(critic for critic in PARTS["critic"].values() if tells in critic._tells)
            values[field.name] = part(inner, problem, shift)
        else:
            values[field.name] = 0.01 * (number + 1) + shift
    return kind(**values)


def learners() -> dict[str, tuple[type[Any], type[Part], type[Part], type[Part]]]:
    found = {}
    for learner, (acts, tells) in LEARNERS.items():
        for policy in PARTS["policy"].values():
            for critic in PARTS["critic"].values():
                for emphasis in PARTS["emphasis"].values():
                    ratio = learner is DeterministicActorCritic and emphasis not in kinds(RatioFreeEmphasis)
                    if policy._acts in acts and tells in critic._tells and not ratio:
                        names = [learner, policy, critic, emphasis]
                        found[" ".join(kind.__name__ for kind in names)] = (learner, policy, critic, emphasis)
    return found


def make(name: str, shift: float = 0.0) -> Learner:
    learner, policy, critic, emphasis = learners()[name]
    problem = FINITE if policy._acts == "finite" else REAL
    made: Learner = learner(
        part(policy, problem, 0.0),
        part(critic, problem, shift),
        part(emphasis, problem, shift),
        alpha=0.01 + shift,
    )
    return made


def test_no_part_is_left_out() -> None:
    used = {kind for _, *kinds in learners().values() for kind in kinds}
    assert used == {kind for role in PARTS.values() for kind in role.values()}


@pytest.mark.parametrize("name", learners())
def test_every_part_comes_back_from_a_file_and_goes_on_to_the_bit(name: str, tmp_path: Path) -> None:
    agent = make(name)
    batch = experience(agent, 30)
    agent.learn(batch)
    agent.save(tmp_path / "agent")
    for again in (emphatic.load(tmp_path / "agent"), pickle.loads(pickle.dumps(agent)), agent.copy()):
        assert (again.policy, again.alpha) == (agent.policy, agent.alpha)
        for ours, theirs in ((agent.critic, again.critic), (agent.emphasis, again.emphasis)):
            assert type(ours) is type(theirs)
            for field in fields(ours):
                if field.name != "problem" and not isinstance(getattr(ours, field.name), Part):
                    assert getattr(ours, field.name) == getattr(theirs, field.name), field.name
        again.learn(batch)
    agent.learn(batch)
    assert np.array_equal(again.weights, agent.weights)
    assert again._state() == agent._state()


@pytest.mark.parametrize("name", learners())
def test_every_part_can_be_swept(name: str) -> None:
    agents = [make(name, shift) for shift in (0.0, 0.005, 0.02)]
    batch = experience(agents[0], 30)
    swept = emphatic.sweep(agents, batch)
    for agent, other in zip(agents, swept):
        agent.learn(batch)
        assert np.array_equal(agent.weights, other.weights)
