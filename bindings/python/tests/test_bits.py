"""The same bits as the Rust library: the learners of `crates/emphatic/tests/all/bindings.rs`, which writes
`bits.json`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emphatic
from agents import step
from emphatic import (
    GQ,
    GTD,
    Active,
    Advantage,
    Compatible,
    Dense,
    ExactCritic,
    FollowOn,
    NoEmphasis,
)

STEPS = 3000
BITS: dict[str, dict[str, list[str]]] = json.loads((Path(__file__).parent / "bits.json").read_text())

THREE = emphatic.Problem.open("counterexample")
REAL_ACTION = emphatic.Problem.open("continuous-counterexample")


def formula(state: Callable[[int], Any], action: Callable[[int], Any]) -> emphatic.Batch:
    """Steps whose every number is exact: small whole numbers over powers of two."""
    steps = range(STEPS)
    return emphatic.Batch(
        x=[state(t) for t in steps],
        action=[action(t) for t in steps],
        reward=[5 * t % 9 / 4 - 1 for t in steps],
        x_next=[state(t + 1) for t in steps],
        mu=[0.25 + t % 5 / 16 for t in steps],
        gamma_next=[0 if t % 17 == 16 else 0.75 + t % 4 / 16 for t in steps],
        interest=[t % 3 / 2 for t in steps],
        truncated=[t % 29 == 28 for t in steps],
    )


def vector(t: int) -> list[float]:
    return [(7 * t * k + 3 * k + t * t) % 11 / 8 - 0.5 for k in range(1, 5)]


def tiles(t: int) -> list[int]:
    return [4 * k + (7 * t // 3 + t * k + k) % 4 for k in range(3)]


def number(t: int) -> int:
    return (t * t + t // 3) % 3


def real(t: int) -> float:
    return 5 * t % 16 / 8 - 1


FINITE, CONTINUOUS = THREE.stream(STEPS, seed=1), REAL_ACTION.stream(STEPS, seed=1)
VECTORS, TILES = formula(vector, number), formula(tiles, number)
VECTORS_REAL, TILES_REAL = formula(vector, real), formula(tiles, real)


def learners() -> dict[str, tuple[emphatic.Learner, emphatic.Batch]]:
    softmax, gaussian, deterministic = THREE.softmax(), REAL_ACTION.gaussian(), REAL_ACTION.deterministic()
    exact, exact_real = ExactCritic(THREE), ExactCritic(REAL_ACTION)
    one_hot, dense, active = emphatic.OneHot(3), Dense(4), Active(12, 3)
    gtd_dense, gtd_active = GTD(0.05, 0.01, 0.4), GTD(0.05, 0.01, 0.8)
    softmax_dense, softmax_active = emphatic.Softmax(dense, 3), emphatic.Softmax(active, 3)
    action_values = GQ(0.02, 0.01, 0.3, gtd_dense)
    advantage = Advantage(0.03, gtd_active)
    return {
        "ACE, GTD": (
            emphatic.ACE(softmax, GTD(0.1, 0.01, 0.5, one_hot), alpha=0.05, emphasis=FollowOn(0.7)),
            FINITE,
        ),
        "OffPAC, exact": (emphatic.OffPAC(softmax, exact, alpha=0.05), FINITE),
        "TrueACE": (emphatic.TrueACE(THREE, alpha=0.05), FINITE),
        "AllActions, exact": (emphatic.AllActions(softmax, exact, FollowOn(1), alpha=0.05), FINITE),
        "ACE, Gaussian, exact": (
            emphatic.ACE(gaussian, exact_real, alpha=0.01, emphasis=FollowOn(0.5)),
            CONTINUOUS,
        ),
        "TrueDPGE": (emphatic.TrueDPGE(REAL_ACTION, alpha=0.1), CONTINUOUS),
        "DPG, compatible": (
            emphatic.DPG(deterministic, Compatible(0.1, 0.05, 0.01, one_hot), alpha=0.01),
            CONTINUOUS,
        ),
        "ACE, GTD, dense": (
            emphatic.ACE(softmax_dense, gtd_dense, alpha=0.02, emphasis=FollowOn(0.9)),
            VECTORS,
        ),
        "ACE, Gaussian, GTD, active": (
            emphatic.ACE(emphatic.Gaussian(active), gtd_active, alpha=0.002, emphasis=FollowOn(0.9)),
            TILES_REAL,
        ),
        "AllActions, action values, dense": (
            emphatic.AllActions(softmax_dense, action_values, FollowOn(0.6), alpha=0.02),
            VECTORS,
        ),
        "AllActions, advantage, two of three, active": (
            emphatic.AllActions(softmax_active, advantage, NoEmphasis(), alpha=0.02, subset=2, seed=7),
            TILES,
        ),
        "DPG, compatible, dense": (
            emphatic.DPG(emphatic.DeterministicLinear(dense), Compatible(0.05, 0.02, 0.01), alpha=0.005),
            VECTORS_REAL,
        ),
    }


def bits(agent: emphatic.Learner) -> dict[str, list[str]]:
    weights = {"weights": agent.weights, **agent.critic_weights}
    return {
        name: [f"{word:016x}" for word in w.ravel().view(np.uint64).tolist()] for name, w in weights.items()
    }


def test_every_learner_on_file_is_tried() -> None:
    assert list(learners()) == list(BITS)


@pytest.mark.parametrize("name", BITS)
def test_a_batch_gives_the_bits_of_the_rust_library(name: str) -> None:
    agent, batch = learners()[name]
    agent.learn(batch)
    assert bits(agent) == BITS[name]


@pytest.mark.parametrize("name", BITS)
def test_steps_give_the_bits_of_the_rust_library(name: str) -> None:
    agent, batch = learners()[name]
    for t in range(len(batch)):
        step(agent, batch, t)
    assert bits(agent) == BITS[name]


@pytest.mark.parametrize("name", BITS)
def test_a_sweep_gives_the_bits_of_the_rust_library(name: str) -> None:
    agent, batch = learners()[name]
    # Several, so that it is done in lanes.
    for swept in emphatic.sweep([agent, agent.copy(), agent.copy()], batch):
        assert bits(swept) == BITS[name]


def diverging(kind: str, k: int) -> emphatic.Learner:
    """Learner number `k` of those whose critics, most of them, grow until products of their weights overflow, at other
    steps each."""
    alpha_v, alpha_w, lambda_ = (0.3, 1.0, 3.0)[k % 3], (10.0, 0.1)[k // 3 % 2], (0.0, 0.9, 0.5)[k // 2 % 3]
    alpha, lambda_a = (0.07, 0.5)[k // 5 % 2], (0.0, 0.5)[k % 2]
    problem = emphatic.Problem.open("five-states")
    features = emphatic.OneHot(5)
    gtd = GTD(alpha_v, alpha_w, lambda_, features)
    softmax = emphatic.Softmax(features, 2)
    if kind == "GTD":
        return emphatic.ACE(softmax, gtd, alpha=alpha, emphasis=FollowOn(lambda_a))
    if kind == "GTD, active":
        active = Active(12, 3)
        return emphatic.ACE(
            emphatic.Softmax(active, 3),
            GTD(alpha_v, alpha_w, lambda_),
            alpha=alpha,
            emphasis=FollowOn(0.1),
        )
    if kind == "action values":
        values = GQ((0.1, 3.0)[k % 2], (0.0, 1.0)[k // 2 % 2], lambda_, gtd, features)
        return emphatic.AllActions(problem.softmax(), values, FollowOn(lambda_a), alpha=alpha)
    if kind == "advantage":
        return emphatic.AllActions(
            problem.softmax(), Advantage((0.1, 4.0)[k % 2], gtd, features), NoEmphasis(), alpha=alpha
        )
    return emphatic.DPG(
        emphatic.DeterministicLinear(Dense(4)), Compatible(alpha_v, 3 * alpha_v, alpha_w), alpha=0.1 * alpha
    )


def outcome(agent: emphatic.Learner) -> tuple[Any, list[float]]:
    return agent.diverged, np.nan_to_num(agent.weights.ravel(), nan=np.inf, posinf=1, neginf=2).tolist()


@pytest.mark.filterwarnings("ignore:.*diverged:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::emphatic.UnevenEmphasisWarning")
@pytest.mark.parametrize("kind", ["GTD", "GTD, active", "action values", "advantage", "compatible"])
def test_when_a_learner_diverged_depends_on_it_alone(kind: str) -> None:
    """Once `sweep` and `learn` disagreed on `.diverged`: which weights were summed depended on the other lanes."""
    five = emphatic.Problem.open("five-states")
    diverged, all_ = 0, 0
    for seed in range(10):
        batch = {"GTD, active": TILES, "compatible": VECTORS_REAL}.get(kind) or five.stream(2000, seed=seed)
        alone = []
        for k in range(16):
            agent = diverging(kind, k)
            agent.learn(batch)
            alone.append(outcome(agent))
        for count in (2, 3, 5, 8, 13, 16):
            first = seed % (17 - count)
            learners = [diverging(kind, k) for k in range(first, first + count)]
            assert [outcome(agent) for agent in emphatic.sweep(learners, batch)] == alone[
                first : first + count
            ]
        diverged += sum(when is not None for when, _ in alone)
        all_ += len(alone)
        if kind in ("GTD, active", "compatible"):
            break
    assert all_ / 4 < diverged < all_
