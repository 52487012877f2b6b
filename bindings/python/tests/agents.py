"""Learners of every kind, and experience that suits them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from emphatic import (
    ACE,
    COFPAC,
    DPG,
    GEM,
    GQ,
    GTD,
    TDERC,
    Active,
    ActorCritic,
    ActorTrace,
    Advantage,
    AllActions,
    Batch,
    Compatible,
    CounterfactualGradient,
    Dense,
    DeterministicActorCritic,
    DeterministicLinear,
    ExactCritic,
    ExactEmphasis,
    FollowOn,
    Gaussian,
    GeoffPAC,
    GradientCritic,
    GradientValues,
    Learner,
    ModelGradient,
    NoEmphasis,
    OffPAC,
    OneHot,
    Polynomial,
    Problem,
    Softmax,
    Table,
    TrueACE,
    TrueDPGE,
    Update,
)
from emphatic.bases import Basis

FINITE = Problem.open("counterexample")
REAL = Problem.open("continuous-counterexample")
TABLE = Table([[1, 0.1], [0.3, 0], [0, -0.7]])
VALUES = GTD(0.05, 1e-3, 0.5)
SLOPE = Compatible(0.05, 0.04, 1e-3)

AGENTS: dict[str, Callable[[], Learner]] = {
    "ACE": lambda: ACE(Softmax(Dense(4), 3), VALUES, alpha=0.1, emphasis=FollowOn()),
    "ACE active": lambda: ACE(
        Softmax(Active(6, 2), 2), GTD(0.05, 1e-3, 0.5, Active(9, 3)), alpha=0.1, emphasis=FollowOn()
    ),
    "ACE one-hot": lambda: ACE(
        Softmax(OneHot(3), 2), GTD(0.05, 1e-3, 0.9, TABLE), alpha=0.1, emphasis=FollowOn(0.5)
    ),
    "ACE Gaussian": lambda: ACE(Gaussian(Dense(4)), VALUES, alpha=0.01, emphasis=FollowOn()),
    "ACE by default": lambda: ACE(Softmax(Dense(4), 3), VALUES, alpha=0.1),
    "ACE by default, with features of the critic": lambda: ACE(
        Softmax(OneHot(3), 2), GTD(0.05, 1e-3, 0.9, TABLE), alpha=0.1, lambda_a=0.5, warm_up=7
    ),
    "ActorCritic with a schedule": lambda: ActorCritic(
        Softmax(Active(6, 2), 2), VALUES, TDERC(0.1, schedule=Polynomial(over=30)), alpha=0.1, warm_up=3
    ),
    "OffPAC": lambda: OffPAC(Softmax(TABLE, 2), VALUES, alpha=0.1),
    "OffPAC exact": lambda: OffPAC(FINITE.softmax(), ExactCritic(FINITE), alpha=0.1),
    "ActorCritic": lambda: ActorCritic(Softmax(Dense(16), 2), VALUES, FollowOn(), alpha=0.1),
    "ActorCritic Gaussian": lambda: ActorCritic(
        Gaussian(OneHot(3)), ExactCritic(REAL), FollowOn(1), alpha=0.01
    ),
    "AllActions": lambda: AllActions(
        Softmax(Dense(4), 3), GQ(0.05, 1e-3, 0.5, VALUES), FollowOn(), alpha=0.1
    ),
    "AllActions subset": lambda: AllActions(
        Softmax(Active(6, 2), 3), Advantage(0.1, VALUES), NoEmphasis(), alpha=0.1, subset=2, seed=5
    ),
    "AllActions exact": lambda: AllActions(FINITE.softmax(), ExactCritic(FINITE), FollowOn(), alpha=0.1),
    "TrueACE": lambda: TrueACE(FINITE, alpha=0.1),
    "TrueACE Gaussian": lambda: TrueACE(REAL, alpha=0.01),
    "DPG": lambda: DPG(DeterministicLinear(Dense(4)), SLOPE, alpha=0.1),
    "DPG active": lambda: DPG(DeterministicLinear(Active(6, 2)), SLOPE, alpha=0.1),
    "TrueDPGE": lambda: TrueDPGE(REAL, alpha=0.1),
    "OffPAC with its trace": lambda: OffPAC(Softmax(Dense(4), 3), VALUES, alpha=0.1, actor=ActorTrace(0.6)),
    "OffPAC with its trace, Gaussian": lambda: OffPAC(
        Gaussian(Active(6, 2)), VALUES, alpha=0.01, actor=ActorTrace(0.6)
    ),
    "COFPAC": lambda: COFPAC(Softmax(OneHot(3), 2), VALUES, GEM(0.1, features=TABLE), alpha=0.1),
    "GeoffPAC": lambda: GeoffPAC(
        Softmax(OneHot(3), 2), VALUES, CounterfactualGradient(0.8, 0.1, features=TABLE), alpha=0.1
    ),
    "ActorCritic with GradientValues": lambda: ActorCritic(
        Softmax(Dense(4), 3), VALUES, FollowOn(0.5), alpha=0.1, actor=GradientValues(0.1), warm_up=3
    ),
    "AllActions with GradientCritic": lambda: AllActions(
        Softmax(Active(6, 2), 3),
        Advantage(0.1, VALUES),
        NoEmphasis(),
        alpha=0.1,
        actor=GradientCritic(0.1, features=Active(9, 3)),
    ),
    "AllActions with ModelGradient": lambda: AllActions(
        Softmax(OneHot(3), 2),
        GQ(0.05, 1e-3, 0.5, VALUES),
        NoEmphasis(),
        alpha=0.1,
        actor=ModelGradient(7, features=TABLE),
    ),
    "DeterministicActorCritic": lambda: DeterministicActorCritic(
        REAL.deterministic(), SLOPE, ExactEmphasis(REAL), alpha=0.1
    ),
}

# Those that no version could write in format 1.
SINCE_FORMAT_2 = {
    *("ACE by default", "ACE by default, with features of the critic"),
    "ActorCritic with a schedule",
    *("OffPAC with its trace", "OffPAC with its trace, Gaussian", "COFPAC", "GeoffPAC"),
    *("ActorCritic with GradientValues", "AllActions with GradientCritic", "AllActions with ModelGradient"),
}


def states(agent: Learner, count: int, seed: int = 0) -> npt.NDArray[Any]:
    """What the agent could see of so many states."""
    rng, features = np.random.default_rng(seed), agent.policy.features
    if isinstance(features, Dense):
        return rng.normal(size=(count, features.len))
    if isinstance(features, Active):
        return np.stack([rng.permutation(features.len)[: features.most_active] for _ in range(count)])
    if isinstance(features, Basis):
        return rng.uniform(features.low, features.high, (count, features.low.size))
    return rng.integers(features.states, size=count)


def experience(agent: Learner, steps: int = 40, seed: int = 0) -> Batch:
    """Steps that the agent could learn from, with ends among them but not at the last step."""
    rng = np.random.default_rng(seed)
    x = states(agent, steps + 1, seed)
    action: npt.NDArray[Any] = rng.normal(size=steps)
    mu: Any = np.exp(-(action**2) / 2) / np.sqrt(2 * np.pi)
    if isinstance(agent.policy, Softmax):
        action, mu = rng.integers(agent.policy.actions, size=steps), 1 / agent.policy.actions
    gamma_next = np.where(rng.random(steps) < 0.1, 0.0, 0.9)
    gamma_next[-1:] = 0.9
    return Batch(x[:-1], action, rng.normal(size=steps), x[1:].copy(), mu=mu, gamma_next=gamma_next)


def step(agent: Learner, batch: Batch, t: int, **changes: Any) -> Update:
    """One step of a batch, with the discount into the state left to the agent."""
    usual = {
        name: getattr(batch, name)[t]
        for name in ("x", "action", "reward", "x_next", "mu", "gamma_next", "interest")
    }
    if usual["x"].ndim == 0:
        usual |= {"x": int(usual["x"]), "x_next": int(usual["x_next"])}
    update = agent.step(**(usual | changes))
    if batch.truncated[t]:
        agent.new_episode()
    return update


def same(one: Batch, other: Batch) -> None:
    """All columns are the same, to the bit and of the same type."""
    for name, column in one._columns().items():
        expected = getattr(other, name)
        assert column.dtype == expected.dtype, name
        np.testing.assert_array_equal(column, expected, err_msg=name)
