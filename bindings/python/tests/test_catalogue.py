"""Every part of the catalogue, in every learner that takes it: made, saved, loaded, swept."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Optional

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

# Of any two parts that go together, one is one of these.
USUAL = (
    *(emphatic.GTD, emphatic.GQ, emphatic.Compatible, emphatic.ExactCritic),
    *(emphatic.NoEmphasis, emphatic.FollowOn),
)


def part(kind: type[Part], problem: Any, shift: float, inside: bool = False) -> Part:
    """A part with all its settings, each another number, and with other parts inside it than the default ones."""
    values: dict[str, Any] = {}
    inner = {name: (role, tells) for name, role, tells in kind._inner}
    for number, field in enumerate(fields(kind)):
        if field.name == "features":
            values["features"] = (
                problem.softmax().features if problem is FINITE else problem.gaussian().features
            )
        elif field.name == "actions":
            values["actions"] = len(problem.actions)
        elif field.name == "problem":
            values["problem"] = problem
        elif field.name in inner:
            role, tells = inner[field.name]
            suits = [other for other in PARTS[role].values() if tells in (None, *other._tells)]
            without_problem = [other for other in suits if "problem" not in other._needs]
            other = next(other for other in without_problem if other is not type(field.default))
            values[field.name] = part(other, problem, shift, inside=True)
        elif field.type == "int":
            values[field.name] = 2 + number % 2
        elif field.name == "lambda_a" and inside:
            values[field.name] = 1.0
        else:
            values[field.name] = 0.01 * (number + 1) + shift
    return kind(**values)


# A learner, its policy, its critic, its emphasis, and its actor if it has one.
Kinds = tuple[type[Any], type[Part], type[Part], type[Part], Optional[type[Part]]]


def learners() -> dict[str, Kinds]:
    found: dict[str, Kinds] = {}
    for learner, (acts, tells) in LEARNERS.items():
        for policy in PARTS["policy"].values():
            for critic in PARTS["critic"].values():
                for emphasis in PARTS["emphasis"].values():
                    ratio = learner is DeterministicActorCritic and emphasis not in kinds(RatioFreeEmphasis)
                    finite = policy._acts != "finite" and "finite" in emphasis._needs
                    usual = critic in USUAL or emphasis in USUAL
                    if policy._acts not in acts or tells not in critic._tells or not usual or ratio or finite:
                        continue
                    found[named(learner, policy, critic, emphasis)] = (
                        learner,
                        policy,
                        critic,
                        emphasis,
                        None,
                    )
                    # Every actor with the usual parts: it sees the others through what they tell alone.
                    if critic in (emphatic.GTD, emphatic.GQ) and emphasis in (
                        emphatic.NoEmphasis,
                        emphatic.FollowOn,
                    ):
                        for actor in PARTS["actor"].values():
                            own = "no_emphasis" in actor._needs and emphasis is not emphatic.NoEmphasis
                            if tells in actor._tells and not own:
                                with_actor = (learner, policy, critic, emphasis, actor)
                                found[named(*with_actor)] = with_actor
    return found


def test_an_actor_with_its_own_emphasis_refuses_another() -> None:
    policy = emphatic.Softmax(emphatic.OneHot(3), actions=2)
    critic = emphatic.GTD(alpha_v=0.1, alpha_w=0.1)
    actor = emphatic.CounterfactualGradient(gamma_hat=0.5, alpha_c=0.1)
    with pytest.raises(TypeError, match="since it has its own: use `none`, not `follow-on`"):
        emphatic.ActorCritic(policy, critic, emphatic.FollowOn(), alpha=0.1, actor=actor)


def named(*kinds: type[Any]) -> str:
    return " ".join(kind.__name__ for kind in kinds)


def make(name: str, shift: float = 0.0) -> Learner:
    learner, policy, critic, emphasis, actor = learners()[name]
    problem = FINITE if policy._acts == "finite" else REAL
    made: Learner = learner(
        part(policy, problem, 0.0),
        part(critic, problem, shift),
        part(emphasis, problem, shift),
        alpha=0.01 + shift,
        **({} if actor is None else {"actor": part(actor, problem, shift)}),
    )
    return made


def _has_problem(value: object) -> bool:
    """Whether it is a part that knows a problem, or has one inside it: a problem equals itself alone."""
    return isinstance(value, Part) and (
        "problem" in value._needs or any(_has_problem(getattr(value, name)) for name, *_ in value._inner)
    )


def test_no_part_is_left_out() -> None:
    used = {kind for _, *kinds in learners().values() for kind in kinds if kind is not None}
    # A schedule is always inside another part.
    roles = [kinds for role, kinds in PARTS.items() if role != "schedule"]
    assert used == {kind for kinds in roles for kind in kinds.values()}


def schedulable() -> list[str]:
    return [
        f"{outside.__name__} {schedule.__name__}"
        for role in ("critic", "emphasis")
        for outside in PARTS[role].values()
        if any(inner == "schedule" for _, inner, _ in outside._inner)
        for schedule in PARTS["schedule"].values()
    ]


@pytest.mark.parametrize("names", schedulable())
def test_every_schedule_inside_every_part(names: str, tmp_path: Path) -> None:
    outside, schedule = (getattr(emphatic, name) for name in names.split())
    within: Any = part(outside, FINITE, 0.0)
    (name,) = (name for name, role, _ in outside._inner if role == "schedule")
    within = replace(within, **{name: part(schedule, FINITE, 0.0)})
    policy, values = FINITE.softmax(), emphatic.GTD(0.05, 1e-3)
    agent: Learner
    if outside._role == "emphasis":
        agent = ActorCritic(policy, values, within, alpha=0.1)
    elif "delta" in outside._tells:
        agent = ActorCritic(policy, within, emphatic.NoEmphasis(), alpha=0.1)
    elif "advantages" in outside._tells:
        agent = AllActions(policy, within, emphatic.NoEmphasis(), alpha=0.1)
    else:
        policy = part(emphatic.DeterministicLinear, REAL, 0.0)  # type: ignore[assignment]
        agent = DeterministicActorCritic(policy, within, emphatic.NoEmphasis(), alpha=0.1)  # type: ignore[arg-type]
    batch = experience(agent, 30)
    (swept, _) = emphatic.sweep([agent, agent.copy()], batch)
    agent.learn(batch)
    agent.save(tmp_path / "agent")
    for again in (emphatic.load(tmp_path / "agent"), pickle.loads(pickle.dumps(agent)), swept):
        assert (again.critic, again.emphasis) == (agent.critic, agent.emphasis)
        assert again._state() == agent._state()


@pytest.mark.parametrize("name", learners())
def test_every_part_comes_back_from_a_file_and_goes_on_to_the_bit(name: str, tmp_path: Path) -> None:
    agent = make(name)
    batch = experience(agent, 30)
    agent.learn(batch)
    agent.save(tmp_path / "agent")
    for again in (emphatic.load(tmp_path / "agent"), pickle.loads(pickle.dumps(agent)), agent.copy()):
        assert (again.policy, again.alpha, again.actor) == (agent.policy, agent.alpha, agent.actor)
        for ours, theirs in ((agent.critic, again.critic), (agent.emphasis, again.emphasis)):
            assert type(ours) is type(theirs)
            for field in fields(ours):
                if field.name != "problem" and not _has_problem(getattr(ours, field.name)):
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
        assert agent.actor == other.actor
