"""Whatever makes no sense is refused by an error that says what, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emphatic
from agents import AGENTS, FINITE, REAL, SLOPE, TABLE, VALUES, experience, states, step
from command import python
from emphatic import Batch, Learner, OneHot, Table

# As a user without a type checker sees them.
untyped: Any = emphatic
ACE, DPG, OffPAC = untyped.ACE, untyped.DPG, untyped.OffPAC
TrueACE, TrueDPGE = untyped.TrueACE, untyped.TrueDPGE
ActorCritic, AllActions = untyped.ActorCritic, untyped.AllActions
DeterministicActorCritic, DeterministicLinear = untyped.DeterministicActorCritic, untyped.DeterministicLinear
Softmax, Gaussian, Dense, Active = untyped.Softmax, untyped.Gaussian, untyped.Dense, untyped.Active
GTD, GQ, Advantage = untyped.GTD, untyped.GQ, untyped.Advantage
Compatible, ExactCritic, ExactEmphasis = untyped.Compatible, untyped.ExactCritic, untyped.ExactEmphasis
FollowOn, NoEmphasis = untyped.FollowOn, untyped.NoEmphasis

NAN, INF = float("nan"), float("inf")
every_agent = pytest.mark.parametrize("name", AGENTS)
Refusal = type[Exception]


def refused(agent: Learner, error: Refusal, match: str, **changes: Any) -> None:
    """A step with these changes is refused and leaves the agent as it was."""
    batch = experience(agent)
    agent.learn(batch)
    before = agent._state()
    with pytest.raises(error, match=match):
        step(agent, batch, 0, **({"gamma_next": 0.5} | changes))
    assert agent._state() == before


# --- Steps ---

VECTORS: list[tuple[Any, Refusal, str]] = [
    ([1, 2, 3], ValueError, "has 3 entries; it must have 4"),
    ([], ValueError, "has 0 entries"),
    ([[1, 2, 3, 4]], ValueError, "one dimension"),
    (1.0, ValueError, "one dimension"),
    ([1, 2, NAN, 4], ValueError, "feature 2 is NaN"),
    ([-INF, 2, 3, 4], ValueError, "feature 0 is -inf"),
    ([[1], [2, 3]], ValueError, "no array"),
    ("abcd", TypeError, "real numbers"),
    (["1", "2", "3", "4"], TypeError, "real numbers"),
    ([1j, 0, 0, 0], TypeError, "complex"),
    ([True] * 4, TypeError, "bool"),
    ([None] * 4, TypeError, "object"),
    (np.ones(4, object), TypeError, "object"),
    ([2**70, 0, 0, 0], TypeError, "object"),
    (None, TypeError, "is None"),
    ({}, TypeError, "real numbers"),
]

ACTIVE: list[tuple[Any, Refusal, str]] = [
    ([0, 6], IndexError, "feature 6 does not exist: there are 6"),
    ([-1], IndexError, "-1"),
    (np.array([2**63], np.uint64), IndexError, "9223372036854775808"),
    ([0, 1, 2], ValueError, "3 features are active at once; at most 2"),
    ([0.0, 1.0], TypeError, "whole numbers"),
    ([True], TypeError, "bool"),
    (3, ValueError, "one dimension"),
    ([[0]], ValueError, "one dimension"),
    ("a", TypeError, "real numbers"),
]

NUMBERS: list[tuple[Any, Refusal, str]] = [
    (3, IndexError, "state 3 does not exist: there are 3"),
    (-1, IndexError, "-1; states are numbered from 0"),
    (1.0, TypeError, "1.0; it must be a whole number"),
    (np.float64(1), TypeError, "whole number"),
    (True, TypeError, "True"),
    (np.True_, TypeError, "True"),
    ("1", TypeError, "'1'"),
    (None, TypeError, "None"),
    ([1], TypeError, "whole number"),
    (np.array([1]), TypeError, "whole number"),
]


@pytest.mark.parametrize("where", ["x", "x_next"])
@pytest.mark.parametrize(
    ("name", "bad", "error", "match"),
    [("ACE", *case) for case in VECTORS]
    + [("DPG active", *case) for case in ACTIVE]
    + [(name, *case) for name in ("ACE one-hot", "TrueACE", "TrueDPGE") for case in NUMBERS],
)
def test_a_state_that_makes_no_sense(name: str, bad: Any, error: Refusal, match: str, where: str) -> None:
    refused(AGENTS[name](), error, match, **{where: bad})
    if where == "x":
        with pytest.raises(error, match=match):
            AGENTS[name]().sample(bad, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("name", "bad", "error", "match"),
    [
        ("ACE", np.zeros((1, 2, 4)), ValueError, "2 dimensions"),
        ("ACE", [[1, 2, 3]], ValueError, "has 3 entries; it must have 4"),
        ("ACE", [[1, 2, 3, 4], [1, 2, 3, NAN]], ValueError, "feature 3 is NaN"),
        ("ACE", [[1], [2, 3]], ValueError, "x is no array"),
        ("ACE", [["a"]], TypeError, "real numbers"),
        ("ACE active", [[0, 6]], IndexError, "feature 6 does not exist"),
        ("ACE active", [[0, 1, 2]], ValueError, "at most 2"),
        ("ACE active", [[0.5]], TypeError, "whole numbers"),
        ("ACE one-hot", [0, 3], IndexError, "state 3 does not exist"),
        ("ACE one-hot", [0, -1], IndexError, "-1"),
        ("ACE one-hot", [0.5], TypeError, "whole numbers"),
        ("ACE one-hot", [[0]], ValueError, "one dimension"),
    ],
)
def test_many_states_that_make_no_sense(name: str, bad: Any, error: Refusal, match: str) -> None:
    with pytest.raises(error, match=match):
        AGENTS[name]().probabilities(bad)


@pytest.mark.parametrize("name", ["ACE", "ACE active", "ACE one-hot", "AllActions", "TrueACE"])
@pytest.mark.parametrize(
    ("bad", "error", "match"),
    [
        (3, IndexError, "action 3 does not exist: there are [23]"),
        (-1, IndexError, "action -1 does not exist"),
        (1.0, TypeError, "1.0; it must be a whole number"),
        (True, TypeError, "True"),
        ("1", TypeError, "'1'"),
        (None, TypeError, "None"),
        (1j, TypeError, "1j"),
        ([1], TypeError, "whole number"),
    ],
)
def test_an_action_that_makes_no_sense(name: str, bad: Any, error: Refusal, match: str) -> None:
    agent = AGENTS[name]()
    refused(agent, error, match, action=bad)
    with pytest.raises(error, match=match):
        agent.probability(experience(agent).x[0] if "one" not in name and name != "TrueACE" else 0, bad)


@pytest.mark.parametrize("name", ["ACE Gaussian", "TrueACE Gaussian", "DPG", "TrueDPGE"])
@pytest.mark.parametrize(
    ("bad", "error", "match"),
    [
        (NAN, ValueError, "action is NaN"),
        (INF, ValueError, "action is inf"),
        ("1", TypeError, "real number"),
        (None, TypeError, "real number"),
        (1j, TypeError, "real number"),
        ([1.0], TypeError, "real number"),
    ],
)
def test_a_real_action_that_makes_no_sense(name: str, bad: Any, error: Refusal, match: str) -> None:
    refused(AGENTS[name](), error, match, action=bad)


@every_agent
@pytest.mark.parametrize(
    ("what", "bad", "match"),
    [
        ("reward", NAN, "reward is NaN"),
        ("reward", -INF, "reward is -inf"),
        ("mu", 0.0, "mu, .* is 0.0; it must be finite and at least"),
        ("mu", -0.5, "mu"),
        ("mu", NAN, "mu"),
        ("mu", INF, "mu"),
        ("mu", 1e-310, "mu"),
        ("gamma_next", -0.1, "gamma_next is -0.1; a discount lies between 0 and 1"),
        ("gamma_next", 1.1, "gamma_next"),
        ("gamma_next", NAN, "gamma_next"),
        ("gamma", 1.1, "gamma is 1.1"),
        ("gamma", -1e-9, "gamma"),
        ("gamma", NAN, "gamma"),
        ("interest", -1.0, "interest is -1; it must be finite and not negative"),
        ("interest", NAN, "interest"),
        ("interest", INF, "interest"),
    ],
)
def test_a_number_that_makes_no_sense(name: str, what: str, bad: float, match: str) -> None:
    refused(AGENTS[name](), ValueError, match, **{what: bad})


def test_a_probability_is_at_most_1_but_a_density_need_not_be() -> None:
    refused(AGENTS["ACE"](), ValueError, "mu.* is 1.5; a probability is at most 1", mu=1.5)
    agent = AGENTS["ACE Gaussian"]()
    step(agent, experience(agent), 0, mu=1.5)


@pytest.mark.parametrize("what", ["reward", "mu", "gamma_next", "gamma", "interest"])
@pytest.mark.parametrize("bad", ["1", 1j, [0.5], {}, object()])
def test_what_is_no_number(what: str, bad: Any) -> None:
    refused(AGENTS["ACE"](), TypeError, "real number", **{what: bad})


def test_none_for_a_state_is_told_from_an_array() -> None:
    refused(AGENTS["ACE"](), TypeError, "x_next is None; only beyond an end", x_next=None)
    refused(AGENTS["DPG active"](), TypeError, "x is None", x=None)
    agent = AGENTS["ACE"]()
    agent.step(np.ones(4), 0, 1.0, None, mu=0.5, gamma_next=0.0)


def test_a_number_larger_than_any_float() -> None:
    refused(AGENTS["ACE"](), ValueError, "reward is larger than any float", reward=10**400)


@pytest.mark.parametrize("what", ["x", "action"])
def test_a_huge_number_does_not_exist(what: str) -> None:
    refused(AGENTS["ACE one-hot"](), IndexError, "there are not that many", **{what: 2**70})


MASKED: Any = np.ma.masked_array([1.0, 999.0, 3.0, 4.0], mask=[False, True, False, False])


def test_what_is_masked_is_refused() -> None:
    """Regression: what lay behind the mask was taken."""
    refused(AGENTS["ACE"](), ValueError, "x is masked in places", x=MASKED)
    agent = AGENTS["ACE"]()
    with pytest.raises(ValueError, match="reward is masked in places"):
        Batch(np.ones((4, 4)), [0] * 4, MASKED, np.ones((4, 4)), mu=0.5, gamma_next=0.9)
    with pytest.raises(ValueError, match="rho` is masked in places"):
        emphatic.emphasis(MASKED, 0.9)
    x: Any = np.ma.masked_array(np.ones(4), mask=False)
    agent.step(x, 0, 1.0, x, mu=0.5, gamma_next=0.9)


def test_a_misaligned_state() -> None:
    agent = AGENTS["ACE"]()
    x = np.frombuffer(bytes(33), np.float64, offset=1)
    assert not x.flags.aligned
    agent.step(x, 0, 1.0, x, mu=0.5, gamma_next=0.9)


# --- Batches ---


@every_agent
@pytest.mark.parametrize("bad", [None, [], "batch", {"x": [0]}, np.zeros(3), 3])
def test_what_is_no_batch(name: str, bad: Any) -> None:
    agent = AGENTS[name]()
    with pytest.raises(TypeError, match="must be an emphatic.Batch"):
        agent.learn(bad)
    with pytest.raises(TypeError, match="must be an emphatic.Batch"):
        emphatic.sweep([agent], bad)


def kind(name: str) -> tuple[str, bool]:
    policy = AGENTS[name]().policy
    features = "numbers" if isinstance(policy.features, (OneHot, Table)) else type(policy.features).__name__
    return features, isinstance(policy, Softmax)


@pytest.mark.parametrize(("name", "other"), [(a, b) for a in AGENTS for b in AGENTS if kind(a) != kind(b)])
def test_a_batch_of_another_kind(name: str, other: str) -> None:
    agent = AGENTS[name]()
    batch, before = experience(AGENTS[other]()), agent._state()
    with pytest.raises(TypeError, match="the batch has .*; a learner with .* needs "):
        agent.learn(batch)
    with pytest.raises(TypeError, match="the batch has"):
        emphatic.sweep([agent], batch)
    assert agent._state() == before


def test_a_batch_of_another_width() -> None:
    agent = AGENTS["ACE"]()
    with pytest.raises(ValueError, match="step 0 .*: a feature vector has 16 entries; it must have 4"):
        agent.learn(experience(AGENTS["ActorCritic"]()))
    assert agent.steps == 0


MIDDLE: list[tuple[str, Any, Refusal]] = [
    ("x", 9, IndexError),
    ("x", -1, IndexError),
    ("x_next", 3, IndexError),
    ("action", 2, IndexError),
    ("action", -1, IndexError),
    ("reward", NAN, ValueError),
    ("mu", 0, ValueError),
    ("mu", 1.5, ValueError),
    ("gamma", -1, ValueError),
    ("gamma_next", 1.5, ValueError),
    ("interest", INF, ValueError),
]


def broken(agent: Learner, column: str, bad: Any) -> Batch:
    """A batch that makes no sense at step 7 and was changed after it was made."""
    batch = experience(agent)
    batch.gamma_next[6:8] = batch.gamma[7:9] = 0.8
    getattr(batch, column)[7] = bad
    return batch


@pytest.mark.parametrize(("column", "bad", "error"), MIDDLE)
def test_a_bad_step_in_the_middle_is_named_and_what_came_before_is_learned(
    column: str, bad: Any, error: Refusal
) -> None:
    agent, other = AGENTS["ACE one-hot"](), AGENTS["ACE one-hot"]()
    batch = broken(agent, column, bad)
    with pytest.raises(error, match="step 7 "):
        agent.learn(batch)
    other.learn(batch[:7])
    assert agent.steps == 7
    np.testing.assert_array_equal(agent.weights, other.weights)
    with pytest.raises(error, match="step 7 "):
        emphatic.sweep([AGENTS["ACE one-hot"]()], batch)


@pytest.mark.parametrize("truncated", [False, True])
def test_after_a_bad_step_the_next_continues_the_good_ones(truncated: bool) -> None:
    """Regression: after a time limit the trace went on."""
    agent, other = AGENTS["ACE one-hot"](), AGENTS["ACE one-hot"]()
    batch = broken(agent, "reward", NAN)
    batch.truncated[6] = truncated
    with pytest.raises(ValueError, match="step 7 "):
        agent.learn(batch)
    other.learn(batch[:7])
    assert agent._state() == other._state()


# --- Sweeps ---


def test_sweeps_that_make_no_sense() -> None:
    agent = AGENTS["ACE"]()
    batch = experience(agent)
    assert emphatic.sweep([], batch) == []
    with pytest.raises(TypeError, match=r"settings\[1\] is a int"):
        untyped.sweep([agent, 3], batch)
    for threads, error in [(0, ValueError), (-1, ValueError), (1.5, TypeError), (2**70, ValueError)]:
        with pytest.raises(error, match="threads"):
            untyped.sweep([agent], batch, threads=threads)


# --- Parts ---

Q = GQ(0.1, 0.1, 0.5, VALUES)
SOFTMAX, GAUSSIAN, ACTION = Softmax(Dense(3), 2), Gaussian(Dense(3)), DeterministicLinear(Dense(3))
NO_EMPHASIS, EXACT, EXACT_EMPHASIS = NoEmphasis(), ExactCritic(FINITE), ExactEmphasis(FINITE)


@pytest.mark.parametrize(
    ("make", "parts", "error", "match"),
    [
        (ACE, (ACTION, VALUES), TypeError, "Softmax or Gaussian"),
        (AllActions, (GAUSSIAN, Q, NO_EMPHASIS), TypeError, "a Softmax policy"),
        (AllActions, (SOFTMAX, VALUES, NO_EMPHASIS), TypeError, "GQ"),
        (ACE, (SOFTMAX, Q), TypeError, "needs .*GTD,.* or ExactCritic"),
        (ACE, (SOFTMAX, SLOPE), TypeError, "needs .*GTD,.* or ExactCritic"),
        (DPG, (SOFTMAX, SLOPE), TypeError, "DeterministicLinear"),
        (DPG, (GAUSSIAN, SLOPE), TypeError, "DeterministicLinear"),
        (DPG, (ACTION, VALUES), TypeError, "Compatible or ExactCritic"),
        (
            DeterministicActorCritic,
            (ACTION, SLOPE, FollowOn()),
            TypeError,
            "no ratio, which this emphasis needs: use NoEmphasis or ExactEmphasis",
        ),
        (OffPAC, (Gaussian(OneHot(3)), EXACT), TypeError, "finitely many actions"),
        (OffPAC, (Softmax(OneHot(3), 2), ExactCritic(REAL)), TypeError, "real action"),
        (OffPAC, (Softmax(OneHot(3), 3), EXACT), ValueError, "3 actions.* has 2"),
        (ACE, (Softmax(OneHot(3), 2), GTD(0.1, 0.1, 0.5, OneHot(2))), TypeError, "must see the same states"),
        (ACE, (SOFTMAX, GTD(0.1, 0.1, 0.5, Dense(2))), TypeError, "must see the same states"),
        (DPG, (DeterministicLinear(OneHot(3)), EXACT), TypeError, "finitely many"),
        (TrueDPGE, (FINITE,), TypeError, "finitely many actions"),
        (TrueACE, (FINITE, FINITE.softmax(), SLOPE), TypeError, "needs .*GTD,.* or ExactCritic"),
        (ACE, (SOFTMAX, GTD(0.1, 0.1, 0.1, TABLE)), TypeError, "the same form"),
        (ACE, (Softmax(OneHot(3), 2), GTD(0.1, 0.1, 0.1, Active(3, 1))), TypeError, "same form"),
        (DPG, (DeterministicLinear(Active(3, 1)), Compatible(0, 0, 0, Dense(3))), TypeError, "form"),
        # Exact parts need the numbers of states.
        (ActorCritic, (SOFTMAX, VALUES, EXACT_EMPHASIS), TypeError, "numbers"),
        (ActorCritic, (Gaussian(Active(3, 1)), VALUES, ExactEmphasis(REAL)), TypeError, "numbers"),
        (AllActions, (SOFTMAX, Q, EXACT_EMPHASIS), TypeError, "numbers"),
        (DeterministicActorCritic, (ACTION, SLOPE, ExactEmphasis(REAL)), TypeError, "numbers"),
        (OffPAC, (SOFTMAX, EXACT), TypeError, "numbers"),
        (AllActions, (SOFTMAX, Advantage(0.1, EXACT), NO_EMPHASIS), TypeError, "numbers"),
    ],
)
def test_parts_that_do_not_go_together(make: Any, parts: Any, error: Refusal, match: str) -> None:
    with pytest.raises(error, match=match):
        make(*parts, alpha=0.1)


@pytest.mark.parametrize("states", [2, 4])
def test_an_exact_critic_knows_how_many_states_there_are(states: int) -> None:
    with pytest.raises(ValueError, match=f"the policy's features are of {states} states; the problem has 3"):
        OffPAC(Softmax(OneHot(states), 2), EXACT, alpha=0.1)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"subset": 3}, "subset is 3"),
        ({"subset": 0}, "subset is 0"),
        ({"subset": 1, "seed": -1}, "seed"),
        ({"subset": 1, "seed": 2**64}, "seed"),
    ],
)
def test_subsets_that_make_no_sense(settings: dict[str, int], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        AllActions(SOFTMAX, Q, NO_EMPHASIS, alpha=0.1, **settings)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: ACE(3, VALUES, alpha=0.1), "the policy is 3; it must be Softmax, Gaussian"),
        (lambda: ACE(SOFTMAX, None, alpha=0.1), "the critic is None; it must be .*GTD,"),
        (lambda: ActorCritic(SOFTMAX, VALUES, 0.9, alpha=0.1), "the emphasis is 0.9; it must be NoEm"),
        (lambda: ACE(Softmax([1, 2], 2), VALUES, alpha=0.1), "features are .1, 2.; they must be Dense"),
        (lambda: ACE(Softmax(3, 2), VALUES, alpha=0.1), "features are 3"),
        (lambda: ACE(SOFTMAX, GTD(0.1, 0.1, 0.1, 0), alpha=0.1), "features are 0"),
        (lambda: AllActions(SOFTMAX, GQ(0.1, 0.1, 0.1, None), NO_EMPHASIS, alpha=0.1), "values"),
        (lambda: AllActions(SOFTMAX, Advantage(0.1, SLOPE), NO_EMPHASIS, alpha=0.1), "values is"),
        (
            lambda: OffPAC(Softmax(OneHot(3), 2), ExactCritic("counterexample"), alpha=0.1),
            "must be a Problem",
        ),
        (lambda: TrueACE("counterexample", alpha=0.1), "must be a Problem"),
        (lambda: TrueDPGE(None, alpha=0.1), "must be a Problem"),
        (lambda: TrueACE(FINITE, 0, alpha=0.1), "the policy is 0"),
        (lambda: TrueACE(FINITE, None, 0, alpha=0.1), "the critic is 0"),
        (lambda: ACE(SOFTMAX, VALUES, alpha="0.1"), "alpha is '0.1'; it must be a real number"),
        (lambda: ACE(SOFTMAX, VALUES, alpha=None), "alpha is None"),
        (lambda: ACE(SOFTMAX, VALUES, alpha=True), "alpha is True"),
        (lambda: ACE(SOFTMAX, VALUES), "alpha"),
        (lambda: GTD(1j, 0.1, 0.1), "alpha_v is 1j"),
        (lambda: Dense(2.0), "len is 2.0; it must be a whole number"),
        (lambda: Dense(True), "len is True"),
        (lambda: Active(3, "2"), "most_active is '2'"),
        (lambda: Softmax(Dense(3), None), "actions is None"),
        (lambda: Table([["a"]]), "rows has dtype"),
        (lambda: untyped.Table.aliased([0, 0.5]), "groups.1. is 0.5"),
    ],
)
def test_parts_of_the_wrong_type(make: Callable[[], Any], match: str) -> None:
    with pytest.raises(TypeError, match=match):
        make()


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Dense(0), "len is 0; it must be at least 1"),
        (lambda: Dense(-1), "len is -1"),
        (lambda: OneHot(0), "states is 0"),
        (lambda: Active(3, 0), "most_active is 0"),
        (lambda: Softmax(Dense(3), 0), "actions is 0"),
        (lambda: Dense(2**70), "len is 1180591620717411303424; it must be at most"),
        (lambda: GTD(10**400, 0.1, 0.1), "alpha_v is inf; it must be finite"),
        (lambda: Table([1, 2]), "rows has the shape"),
        (lambda: Table([[1, NAN]]), "feature 1 of state 0 is nan"),
        (lambda: Table([[1], [2, 3]]), "rows is no array"),
        (lambda: Table.aliased([-1]), "groups.0. is -1"),
    ],
)
def test_parts_of_the_wrong_value(make: Callable[[], Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make()


BAD_NUMBERS = [-0.1, NAN, INF, -INF]


@pytest.mark.parametrize("bad", BAD_NUMBERS)
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("alpha", lambda x: ACE(SOFTMAX, VALUES, alpha=x)),
        ("alpha", lambda x: TrueACE(FINITE, alpha=x)),
        ("lambda_a", lambda x: ACE(SOFTMAX, VALUES, lambda_a=x, alpha=0.1)),
        ("alpha_v", lambda x: ACE(SOFTMAX, GTD(x, 0.1, 0.1), alpha=0.1)),
        ("alpha_w", lambda x: ACE(SOFTMAX, GTD(0.1, x, 0.1), alpha=0.1)),
        ("lambda", lambda x: ACE(SOFTMAX, GTD(0.1, 0.1, x), alpha=0.1)),
        ("alpha_v", lambda x: DPG(ACTION, Compatible(x, 0.1, 0.1), alpha=0.1)),
        ("alpha_u", lambda x: DPG(ACTION, Compatible(0.1, x, 0.1), alpha=0.1)),
        ("alpha_h", lambda x: DPG(ACTION, Compatible(0.1, 0.1, x), alpha=0.1)),
        ("alpha", lambda x: AllActions(SOFTMAX, GQ(x, 0.1, 0.1, VALUES), FollowOn(), alpha=0.1)),
        ("alpha_h", lambda x: AllActions(SOFTMAX, GQ(0.1, x, 0.1, VALUES), FollowOn(), alpha=0.1)),
        ("lambda", lambda x: AllActions(SOFTMAX, GQ(0.1, 0.1, x, VALUES), FollowOn(), alpha=0.1)),
        ("alpha", lambda x: AllActions(SOFTMAX, Advantage(x, VALUES), FollowOn(), alpha=0.1)),
    ],
)
def test_step_sizes_and_lambdas_that_make_no_sense(
    name: str, make: Callable[[float], Learner], bad: float
) -> None:
    with pytest.raises(ValueError, match=f"{name}.* is {bad}"):
        make(bad)


def test_lambdas_are_at_most_1() -> None:
    with pytest.raises(ValueError, match="lambda_a is 1.5; it must lie between 0 and 1"):
        ACE(SOFTMAX, VALUES, lambda_a=1.5, alpha=0.1)
    with pytest.raises(ValueError, match="lambda is 1.5"):
        ACE(SOFTMAX, GTD(0.1, 0.1, 1.5), alpha=0.1)


@pytest.mark.parametrize("size", [10**12, 10**18, 2**64 - 1])
@pytest.mark.parametrize(
    "make",
    [
        lambda n: Softmax(Dense(n), 2),
        lambda n: Softmax(Active(n, 3), 2),
        lambda n: Softmax(OneHot(n), 2),
        lambda n: Softmax(Table.aliased([0, n - 2]), 2),
        lambda n: Softmax(Dense(3), n),
        lambda n: Softmax(Dense(n), n),
        lambda n: Gaussian(Dense(n)),
    ],
)
def test_what_does_not_fit_into_memory(make: Callable[[int], Any], size: int) -> None:
    with pytest.raises(MemoryError, match="features and .* outputs does not fit into memory"):
        ACE(make(size), VALUES, alpha=0.1)


@pytest.mark.parametrize(
    "make",
    [
        "ACE(Softmax(Active(3, 2), 2), GTD(0.1, 0.1, 0.1, Active(10**13, 2)), alpha=0.1)",
        "ACE(Softmax(OneHot(3), 2), GTD(0.1, 0.1, 0.1, Table.aliased([0, 1, 10**13])), alpha=0.1)",
        "AllActions(Softmax(Active(3, 2), 2), GQ(0.1, 0.1, 0.1, VALUES, Active(10**13, 2)), FollowOn(), alpha=0.1)",
        "AllActions(Softmax(Active(3, 2), 2), Advantage(0.1, VALUES, Active(10**13, 2)), FollowOn(), alpha=0.1)",
        "DPG(DeterministicLinear(Active(3, 2)), Compatible(0.1, 0.1, 0.1, Active(10**13, 2)), alpha=0.1)",
    ],
)
def test_a_critic_that_does_not_fit_into_memory(make: str) -> None:
    code = f"from test_errors import *\ntry:\n    {make}\nexcept MemoryError as error:\n    print(error)"
    assert "fit into memory" in python(code)


# --- Weights ---


@pytest.mark.parametrize(
    ("bad", "error", "match"),
    [
        (np.ones((3, 3)), ValueError, r"shape \(3, 3\); they must have \(4, 3\)"),
        (np.ones(12), ValueError, "2 dimensions"),
        (np.full((4, 3), NAN), ValueError, "weight 0 is NaN; weights must be finite"),
        (np.full((4, 3), INF), ValueError, "weight 0 is inf"),
        (np.ones((4, 3), complex), TypeError, "complex"),
        (np.ones((4, 3), bool), TypeError, "bool"),
        (np.ones((4, 3), object), TypeError, "object"),
        ("weights", TypeError, "real numbers"),
        (None, TypeError, "real numbers"),
        ([[1, 2, 3]] * 3 + [[1]], ValueError, "no array"),
    ],
)
def test_weights_that_make_no_sense(bad: Any, error: Refusal, match: str) -> None:
    agent = AGENTS["ACE"]()
    agent.learn(experience(agent))
    before = agent._state()
    with pytest.raises(error, match=match):
        agent.weights = bad
    assert agent._state() == before


def test_only_a_numpy_generator_draws() -> None:
    for bad in (None, 3, np.random, np.random.RandomState(0)):
        with pytest.raises(TypeError, match="default_rng"):
            AGENTS["ACE one-hot"]().sample(0, bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arguments", [(), ("ACE",), ("ACE", "{}", {}, []), ("ACE", "{", {}, []), ("ACE", "{}", {}, [3])]
)
def test_a_learner_of_no_kind(arguments: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        Learner(*arguments)


# --- Garbage ---


class Rude:
    """Raises whatever it is asked."""

    def _refuse(self, *_: Any) -> Any:
        raise OSError("no")

    __array__ = __index__ = __float__ = __len__ = __iter__ = __repr__ = __eq__ = __bool__ = __fspath__ = (
        _refuse
    )
    __hash__ = None  # type: ignore[assignment]


class Odd:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise UnicodeDecodeError("utf-8", b"x", 0, 1, "odd")


GARBAGE: list[Any] = [
    *(None, True, 0, 1, 2, -1, 2**63, 2**70, -(2**70), 10**400, 0.5, -0.0, NAN, INF, 1e308, 5e-324, 1j),
    *("", "x", "\udcff", b"x", memoryview(b"abcd"), bytearray(4)),
    *([], [0], [0, 1], [-1], [1.0, 2, 3, 4], [NAN] * 4, [[0, 1]], [[0.5] * 4], {}, {1: 2}, set()),
    *(object(), Rude(), Odd(), int, len, range(3), slice(3), iter([1]), ..., NotImplemented),
    *(np, np.random.default_rng(0), np.float32(0.5), np.array(1), np.arange(2), np.full(4, NAN)),
    *(np.zeros(shape) for shape in (4, 0, (0, 4), (2, 4), (4, 0), (1,) * 32)),
    *(np.zeros(4, dtype) for dtype in (">f8", object, "M8[s]", "U3", "f2", [("a", float)], np.longdouble)),
    *(np.array([2**63], np.uint64), np.zeros((3, 2), int), np.zeros(8)[::2], np.arange(4.0)[::-1]),
    *(np.frombuffer(bytes(33), float, offset=1), np.ma.array([1.0] * 4, mask=True)),
    *(np.broadcast_to(1.0, 4), np.broadcast_to(0, (10**6, 2))),
    *(FINITE, VALUES, Dense(3)),
    *(experience(AGENTS["ACE"]()), experience(AGENTS["TrueACE"](), 0), AGENTS["DPG"]()),
]


def throw_garbage(seed: int, rounds: int) -> int:
    """Calls everything with whatever; only an Exception is caught. Gives how often there was none."""
    rng = np.random.default_rng(seed)

    def some() -> Any:
        return GARBAGE[rng.integers(len(GARBAGE))]

    accepted = 0
    for _ in range(rounds):
        agent = AGENTS[list(AGENTS)[rng.integers(len(AGENTS))]]()
        usual: Any = states(agent, 1)[0]
        usual = int(usual) if usual.ndim == 0 else usual

        def one(good: Any) -> Any:
            return good if rng.random() < 0.6 else some()

        calls: list[Callable[[], Any]] = [
            lambda: agent.step(
                one(usual),
                one(1),
                one(0.5),
                one(usual),
                mu=one(0.5),
                gamma_next=one(0.9),
                interest=one(1),
                gamma=one(None),
            ),
            lambda: agent.learn(some()),
            lambda: agent.probabilities(some()),
            lambda: agent.normal(some()),
            lambda: agent.action(some()),
            lambda: agent.probability(one(usual), some()),
            lambda: agent.sample(some(), one(np.random.default_rng(0))),
            lambda: setattr(agent, "weights", some()),
            lambda: agent.save(Path("/nowhere") / str(some())),
            lambda: emphatic.load(some()),
            lambda: emphatic.sweep(one([agent]), one(experience(agent)), threads=one(None)),
            lambda: getattr(untyped, type(agent).__name__)(some(), some(), alpha=one(0.1)),
            lambda: untyped.Learner(some(), some(), some()),
            lambda: getattr(untyped, ["Dense", "OneHot", "Table", "Gaussian", "FollowOn"][rng.integers(5)])(
                some()
            ),
            lambda: Table.aliased(some()),
            lambda: ACE(
                Softmax(one(Dense(4)), one(2)), GTD(one(0.1), one(0.1), one(0.1), some()), alpha=one(0.1)
            ),
            lambda: Batch(some(), some(), some(), some(), mu=one(0.5), gamma_next=one(0.9)),
            lambda: agent._like(some()),
        ]
        try:
            calls[rng.integers(len(calls))]()
            accepted += 1
        except Exception:
            pass
        agent.check()
        agent.copy()
        assert agent.sample(usual, rng) is not None
    return accepted


@pytest.mark.parametrize("seed", range(3))
def test_garbage_ends_in_exceptions_only(seed: int) -> None:
    assert int(python(f"from test_errors import *\nprint(throw_garbage({seed}, 4000))")) > 100
