"""Every learner against the equations in plain NumPy (`reference.py`), step by step; and batches and sweeps
against steps, bit by bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pytest

import emphatic
import reference
from agents import step
from emphatic import (
    GQ,
    GTD,
    Active,
    ActorCritic,
    ActorTrace,
    Advantage,
    AllActions,
    Compatible,
    CounterfactualGradient,
    Dense,
    DeterministicActorCritic,
    DeterministicLinear,
    ExactCritic,
    ExactEmphasis,
    FollowOn,
    Gaussian,
    GradientCritic,
    GradientValues,
    NoEmphasis,
    OneHot,
    Softmax,
    Table,
    catalogue,
    parts,
)
from reference import Array

STEPS = 2000
ACTIONS = 3
STATES = 6
TOLERANCE = 1e-12

# --- Problems that are known ---


def random_problem() -> emphatic.Problem:
    """Discounts, ends, starts and interest of all kinds, and features that say too little."""
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(STATES), (STATES, ACTIONS))
    ends = rng.choice([0.0, 0.0, 0.3], (STATES, ACTIONS))
    return emphatic.Problem.from_arrays(
        p * (1 - ends)[:, :, None],
        rng.normal(size=p.shape),
        gamma=rng.choice([0.0, 0.5, 0.9], p.shape),
        ends=ends,
        end_reward=rng.normal(size=ends.shape),
        start=rng.dirichlet(np.ones(STATES)),
        behaviour=rng.dirichlet(3 * np.ones(ACTIONS), STATES),
        interest=[1.0, 0.0, 2.0, 0.5, 1.0, 0.0],
        actor=some_zeros(rng, rng.normal(size=(STATES, 4))),
    )


def some_zeros(rng: np.random.Generator, numbers: Array) -> Array:
    return np.where(rng.random(numbers.shape) < 0.3, 0.0, numbers)


RANDOM = random_problem()
THREE = emphatic.Problem.open("counterexample")
REAL = emphatic.Problem.open("continuous-counterexample")
UNEVEN_REAL = emphatic.Problem.parse(
    'problem = "continuous-counterexample"\nbehaviour = { mean = -0.4, standard_deviation = 0.7 }\n'
    "interest = { S0 = 0.5, S1 = 2.0, S2 = 0.0 }\n"
)

# --- Learners ---


class Case(NamedTuple):
    name: str
    kind: Callable[..., emphatic.Learner]
    policy: catalogue.Policy
    critic: catalogue.Critic
    emphasis: catalogue.Emphasis
    alpha: float = 0.02
    actor: catalogue.Actor | None = None

    def agent(self) -> emphatic.Learner:
        # A deterministic policy can have no actor.
        actor = {} if self.actor is None else {"actor": self.actor}
        return self.kind(self.policy, self.critic, self.emphasis, alpha=self.alpha, **actor)


ROWS = some_zeros(np.random.default_rng(6), np.random.default_rng(7).normal(size=(STATES, 4)))

#: What the policy sees, and what the critic sees of the same state (None: the same).
SIGHTS: dict[str, tuple[parts.Features, parts.Features | None]] = {
    "dense": (Dense(5), None),
    "active": (Active(12, 4), Active(13, 3)),
    "table": (Table(ROWS), OneHot(STATES)),
    "one hot": (OneHot(STATES), Table(ROWS[:, :3])),
}
#: Each emphasis with some λ of the critic.
EMPHASES: list[tuple[catalogue.Emphasis, float]] = [
    (NoEmphasis(), 0.6),
    (FollowOn(0.0), 1.0),
    (FollowOn(0.3), 0.0),
    (FollowOn(1.0), 0.6),
]


def learned() -> Iterator[Case]:
    for sight, (seen, of_critic) in SIGHTS.items():
        # One-hot features are a table too: one emphasis will do.
        for emphasis, lambda_ in EMPHASES[-1:] if sight == "one hot" else EMPHASES:
            gtd = GTD(0.05, 0.02, lambda_, of_critic)
            action_values = GQ(0.04, 0.01, 1 - lambda_, GTD(0.05, 0.02, lambda_), of_critic)
            advantage = Advantage(0.03, gtd)
            softmax = Softmax(seen, ACTIONS)
            yield Case(sight, ActorCritic, softmax, gtd, emphasis)
            yield Case(sight, ActorCritic, Gaussian(seen), gtd, emphasis, 0.005)
            yield Case(sight, AllActions, softmax, action_values, emphasis)
            yield Case(sight, AllActions, softmax, advantage, emphasis)
        compatible = Compatible(0.05, 0.04, 0.02, of_critic)
        yield Case(sight, DeterministicActorCritic, DeterministicLinear(seen), compatible, NoEmphasis())


def with_actors() -> Iterator[Case]:
    for sight, (seen, of_critic) in SIGHTS.items():
        gtd = GTD(0.05, 0.02, 0.6, of_critic)
        by_values: list[tuple[catalogue.ValueActor, catalogue.Emphasis]] = [
            (ActorTrace(0.6), NoEmphasis()),
            (ActorTrace(1.0), FollowOn(0.3)),
            (GradientValues(0.05, eta=0.0), NoEmphasis()),
            (GradientValues(0.05, 0.7, 0.4, of_critic), FollowOn(0.3)),
            (CounterfactualGradient(0.7, 0.05, 0.8, 0.6, 0.3, of_critic), NoEmphasis()),
        ]
        for actor, emphasis in by_values:
            yield Case(sight, ActorCritic, Softmax(seen, ACTIONS), gtd, emphasis, actor=actor)
            yield Case(sight, ActorCritic, Gaussian(seen), gtd, emphasis, 0.005, actor)
        by_actions: list[tuple[catalogue.Critic, catalogue.ActionActor, catalogue.Emphasis]] = [
            (GQ(0.04, 0.01, 0.3, gtd, of_critic), GradientCritic(0.05, eta=0.0), NoEmphasis()),
            (Advantage(0.03, gtd), GradientCritic(0.05, 1.0, 1.0, 0.4, of_critic), FollowOn(0.3)),
        ]
        for critic, action_actor, emphasis in by_actions:
            yield Case(sight, AllActions, Softmax(seen, ACTIONS), critic, emphasis, actor=action_actor)
    exact, softmax = ExactCritic(RANDOM), RANDOM.softmax()
    yield Case("exact", ActorCritic, softmax, exact, NoEmphasis(), actor=CounterfactualGradient(0.9, 0.05))
    yield Case("exact", AllActions, softmax, exact, NoEmphasis(), actor=GradientCritic(0.05))


def exact_finite(problem: emphatic.Problem) -> Iterator[Case]:
    name, policy, exact = problem.name, problem.softmax(), ExactCritic(problem)
    true, gtd = ExactEmphasis(problem), GTD(0.05, 0.02, 0.6, problem.critic)
    for emphasis in (true, NoEmphasis(), FollowOn(0.3), FollowOn(1.0)):
        yield Case(name, ActorCritic, policy, exact, emphasis)
        yield Case(name, AllActions, policy, exact, emphasis)
    yield Case(name, ActorCritic, policy, gtd, true)
    for values in (exact, gtd):
        yield Case(name, AllActions, policy, GQ(0.04, 0.01, 0.3, values), true)
        yield Case(name, AllActions, policy, Advantage(0.03, values), true)
    yield Case(name, AllActions, policy, GQ(0.04, 0.01, 0.3, exact), FollowOn(0.3))
    yield Case(name, AllActions, policy, Advantage(0.03, exact), FollowOn(0.3))


def exact_real(problem: emphatic.Problem) -> Iterator[Case]:
    name, exact, true = problem.name, ExactCritic(problem), ExactEmphasis(problem)
    gaussian, deterministic = problem.gaussian(), problem.deterministic()
    for emphasis in (true, NoEmphasis(), FollowOn(0.3), FollowOn(1.0)):
        yield Case(name, ActorCritic, gaussian, exact, emphasis, 0.005)
    yield Case(name, ActorCritic, gaussian, GTD(0.05, 0.02, 0.6, OneHot(3)), true, 0.005)
    yield Case(name, DeterministicActorCritic, deterministic, exact, NoEmphasis())
    yield Case(name, DeterministicActorCritic, deterministic, exact, true)
    yield Case(name, DeterministicActorCritic, deterministic, Compatible(0.05, 0.04, 0.02, OneHot(3)), true)


CASES = [
    *learned(),
    *with_actors(),
    *exact_finite(RANDOM),
    *exact_finite(THREE),
    *exact_real(REAL),
    *exact_real(UNEVEN_REAL),
]


def described(case: Case) -> str:
    within = getattr(case.critic, "values", None)
    words = [case.kind.__name__, type(case.policy).__name__, type(case.critic).__name__]
    words += [] if within is None else [type(within).__name__]
    words += [type(case.emphasis).__name__ + str(getattr(case.emphasis, "lambda_a", "")), case.name]
    words += [] if case.actor is None else [type(case.actor).__name__]
    return "-".join(words)


every_case = pytest.mark.parametrize("case", CASES, ids=described)

# --- Experience ---


def random_states(features: parts.Features, rng: np.random.Generator, number: int) -> Array:
    if isinstance(features, Dense):
        return rng.uniform(-1, 1, (number, features.len))
    if isinstance(features, Active):
        return np.array([rng.choice(features.len, 3, replace=False) for _ in range(number)])
    assert isinstance(features, (parts.OneHot, parts.Table))
    return rng.integers(features.states, size=number)


def experience(case: Case, steps: int = STEPS, seed: int = 1) -> emphatic.Batch:
    """Random steps with ends, time limits, every discount and interest, and ratios around one."""
    rng = np.random.default_rng(seed)
    x = random_states(case.policy.features, rng, steps + 1)
    softmax = case.policy if isinstance(case.policy, Softmax) else None
    action = rng.uniform(-1.5, 1.5, steps) if softmax is None else rng.integers(softmax.actions, size=steps)
    terminated, truncated = rng.random(steps) < 0.1, rng.random(steps) < 0.06
    # Nothing may depend on what follows an end, and the next episode does not start where a time limit cut.
    x_next, last = x[1:].copy(), terminated | truncated
    x_next[last] = random_states(case.policy.features, rng, last.sum())
    return emphatic.Batch(
        x[:-1],
        action,
        rng.normal(size=steps),
        x_next,
        mu=rng.uniform(0.25, 1, steps),
        gamma_next=np.where(terminated, 0, rng.choice([0.3, 0.8, 0.95, 1.0], steps)),
        interest=rng.choice([0.0, 0.5, 1.0, 3.0], steps),
        terminated=terminated,
        truncated=truncated & ~terminated,
    )


def reference_step(batch: emphatic.Batch, t: int) -> reference.Step:
    return reference.Step(*(getattr(batch, name)[t] for name in reference.Step._fields))


def first_weights(agent: emphatic.Learner) -> Array:
    return np.random.default_rng(8).normal(scale=0.3, size=agent.weights.shape)


# --- Against the equations ---


def assert_close(name: str, ours: list[Any], expected: list[Any]) -> None:
    """All along: relative to the largest number that there has been so far."""
    a, b = np.array(ours).reshape(len(ours), -1), np.array(expected).reshape(len(expected), -1)
    assert np.isfinite(b).all() and np.abs(b).max() > 0, f"{name}: the comparison means nothing"
    assert np.abs(b).max() < 1e6, f"{name}: too wild for a comparison"
    largest = np.maximum.accumulate(np.abs(b).max(axis=1))
    wrong = np.flatnonzero(~(np.abs(a - b).max(axis=1) <= TOLERANCE * largest))
    if wrong.size:
        t = wrong[0]
        pytest.fail(f"{name} differs from step {t} on: {a[t]}, by the equations {b[t]}")


def of_actor(weights: dict[str, Array]) -> dict[str, Array]:
    return {f"the actor's {name}": array for name, array in weights.items()}


@every_case
def test_every_step_is_that_of_the_equations(case: Case) -> None:
    agent, by_hand = case.agent(), reference.learner(case.kind, *case[2:])
    agent.weights = by_hand.policy.theta = first_weights(agent)
    batch = experience(case)
    ours: list[dict[str, Any]] = []
    expected: list[dict[str, Any]] = []
    for t in range(len(batch)):
        update = step(agent, batch, t)
        told = {"rho": update.rho, "emphasis": update.emphasis, "delta": update.delta}
        ours.append(
            {**told, "weights": agent.weights, **agent.critic_weights, **of_actor(agent.actor_weights)}
        )
        told = dict(zip(told, by_hand.step(reference_step(batch, t))))
        learned = {**by_hand.critic.weights, **of_actor(getattr(by_hand, "actor", reference.Taken()).weights)}
        expected.append({**told, "weights": by_hand.policy.theta, **learned})
    assert ours[0].keys() == expected[0].keys()
    for name in expected[0]:
        assert_close(name, [at[name] for at in ours], [at[name] for at in expected])


@every_case
def test_a_learner_says_what_it_is_made_of(case: Case) -> None:
    agent = case.agent()
    assert (agent.policy, agent.critic, agent.emphasis, agent.alpha, agent.actor) == case[2:]


# --- Bit by bit ---


def bits(agent: emphatic.Learner) -> dict[str, bytes]:
    numbers = {"weights": agent.weights, **agent.critic_weights, **of_actor(agent.actor_weights)}
    return {name: array.tobytes() for name, array in numbers.items()}


def go_on(agent: emphatic.Learner, batch: emphatic.Batch) -> list[list[float]]:
    updates = [step(agent, batch, t) for t in range(len(batch))]
    return [[update.rho, update.emphasis, update.delta] for update in updates]


def halves(batch: emphatic.Batch) -> list[tuple[emphatic.Batch, emphatic.Batch]]:
    """A batch cut in the middle of an episode, and cut where a time limit did so."""
    within = np.flatnonzero((batch.gamma_next > 0) & ~batch.truncated)
    limits = np.flatnonzero(batch.truncated)
    cuts = [int(places[len(places) // 2]) + 1 for places in (within, limits)]
    return [(batch[:cut], batch[cut : cut + 50]) for cut in cuts]


@every_case
def test_a_batch_is_learned_as_if_step_by_step(case: Case) -> None:
    for batch, more in halves(experience(case, 800)):
        by_step, by_batch, in_parts = case.agent(), case.agent(), case.agent()
        go_on(by_step, batch)
        by_batch.learn(batch)
        for first in range(0, len(batch), 33):
            in_parts.learn(batch[first : first + 33])
        assert bits(by_batch) == bits(in_parts) == bits(by_step)
        assert go_on(by_batch, more) == go_on(in_parts, more) == go_on(by_step, more)
        assert bits(by_batch) == bits(in_parts) == bits(by_step)


_P = TypeVar("_P", bound=Any)


def varied(part: _P, k: int) -> _P:
    """The same part with other step-sizes and λ."""
    numbers = {}
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if field.name.startswith("alpha"):
            numbers[field.name] = value * (1 + k % 5 / 4)
        elif field.name.startswith("lambda"):
            numbers[field.name] = k % 4 / 3
        elif field.name == "eta":
            numbers[field.name] = k % 3 / 2
        elif field.name == "values":
            numbers[field.name] = varied(value, k + 1)
    return dataclasses.replace(part, **numbers)


def settings(case: Case, number: int) -> list[Case]:
    """The same learner with other numbers, which all share lanes."""
    return [
        case._replace(
            critic=varied(case.critic, k),
            emphasis=varied(case.emphasis, k + 2),
            alpha=case.alpha * (1 + k % 3),
            actor=None if case.actor is None else varied(case.actor, k + 1),
        )
        for k in range(number)
    ]


def assert_swept(cases: list[Case], batch: emphatic.Batch, more: emphatic.Batch) -> None:
    swept = emphatic.sweep([case.agent() for case in cases], batch)
    assert len(swept) == len(cases)
    for case, agent in zip(cases, swept):
        alone = case.agent()
        alone.learn(batch)
        assert type(agent) is type(alone) and agent.steps == alone.steps == len(batch)
        assert (agent.critic, agent.emphasis, agent.alpha, agent.actor) == case[3:]
        assert bits(agent) == bits(alone)
        assert go_on(agent, more) == go_on(alone, more)
        agent.learn(more)
        alone.learn(more)
        assert bits(agent) == bits(alone)


@every_case
def test_a_sweep_is_many_learners_alone(case: Case) -> None:
    cases = settings(case, 19)
    batch = experience(case, 600, seed=2)
    for first, more in halves(batch):
        assert_swept(cases, first, more)
    ends = {bits(agent)["weights"] for agent in emphatic.sweep([case.agent() for case in cases], batch)}
    assert len(ends) > 2, "all settings end alike, so the test means nothing"


@pytest.mark.parametrize("sight", SIGHTS)
def test_a_sweep_takes_all_kinds_at_once(sight: str) -> None:
    softmaxes = [case for case in learned() if case.name == sight and isinstance(case.policy, Softmax)]
    batch = experience(softmaxes[0], 200, seed=3)
    assert_swept([each for case in softmaxes for each in settings(case, 3)][::-1], batch[:180], batch[180:])


@pytest.mark.parametrize("subset", [1, 2, 3])
def test_a_random_subset_of_actions_is_the_same_everywhere(subset: int) -> None:
    case = next(case for case in CASES if case.kind is AllActions)
    batch = experience(case, 300)

    def make(seed: int) -> emphatic.Learner:
        return case.kind(case.policy, case.critic, case.emphasis, alpha=0.1, subset=subset, seed=seed)

    by_step, by_batch, (swept, other) = make(4), make(4), emphatic.sweep([make(4), make(5)], batch)
    go_on(by_step, batch)
    by_batch.learn(batch)
    assert bits(by_step) == bits(by_batch) == bits(swept)
    if subset < ACTIONS:
        assert bits(other) != bits(swept)
    else:
        # All of them, in another order.
        whole = case._replace(alpha=0.1).agent()
        whole.learn(batch)
        np.testing.assert_allclose(by_step.weights, whole.weights, rtol=0, atol=TOLERANCE)


def test_the_names_stand_for_compositions() -> None:
    gtd, compatible = GTD(0.05, 0.02, 0.6, OneHot(3)), Compatible(0.05, 0.04, 0.02, OneHot(3))
    exact, true = ExactCritic(THREE), ExactEmphasis(THREE)
    exact_real, true_real = ExactCritic(REAL), ExactEmphasis(REAL)
    softmax, normal, action = THREE.softmax(), REAL.gaussian(), REAL.deterministic()
    deterministic = DeterministicActorCritic
    pairs: list[tuple[emphatic.Learner, Case]] = [
        (
            emphatic.ACE(softmax, gtd, alpha=0.1, emphasis=FollowOn(0.9)),
            Case("", ActorCritic, softmax, gtd, FollowOn(0.9), 0.1),
        ),
        (emphatic.OffPAC(softmax, gtd, alpha=0.1), Case("", ActorCritic, softmax, gtd, NoEmphasis(), 0.1)),
        (emphatic.TrueACE(THREE, alpha=0.1), Case("", ActorCritic, softmax, exact, true, 0.1)),
        (emphatic.TrueACE(REAL, alpha=0.01), Case("", ActorCritic, normal, exact_real, true_real, 0.01)),
        (
            emphatic.DPG(action, compatible, alpha=0.1),
            Case("", deterministic, action, compatible, NoEmphasis(), 0.1),
        ),
        (emphatic.TrueDPGE(REAL, alpha=0.1), Case("", deterministic, action, exact_real, true_real, 0.1)),
    ]
    for named, case in pairs:
        composed, batch = case.agent(), experience(case, 200)
        assert go_on(named, batch) == go_on(composed, batch)
        assert bits(named) == bits(composed)


@pytest.mark.parametrize("lambda_a", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("kind", [ActorCritic, AllActions])
def test_a_learner_has_the_emphasis_of_the_array_function(kind: Any, sight: str, lambda_a: float) -> None:
    case = next(case for case in learned() if case.kind is kind and case.name == sight)
    case = case._replace(emphasis=FollowOn(lambda_a))
    batch = experience(case, 500)
    rho, emphasis, _ = np.array(go_on(case.agent(), batch)).T
    assert rho.std() > 0.1
    expected = emphatic.emphasis(rho, batch.gamma, batch.interest, lambda_a)
    assert emphasis.tobytes() == expected.tobytes()
