"""What learners do: discounts, weights, the policy, divergence, reprs."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emphatic
from agents import AGENTS, FINITE, REAL, TABLE, VALUES, experience, states, step
from emphatic import (
    ACE,
    DPG,
    GQ,
    GTD,
    Active,
    ActorCritic,
    AllActions,
    Batch,
    Compatible,
    Dense,
    DeterministicLinear,
    Direct,
    DivergedError,
    ExactCritic,
    FollowOn,
    Gaussian,
    LambdaReturn,
    Learner,
    ModelEmphasis,
    NoEmphasis,
    OffPAC,
    OneHot,
    PerFeature,
    Polynomial,
    Softmax,
    Table,
    TrueACE,
)
from emphatic.parts import Part

every_agent = pytest.mark.parametrize("name", AGENTS)


@every_agent
def test_learn_is_step_after_step_to_the_bit(name: str) -> None:
    by_batch, by_step = AGENTS[name](), AGENTS[name]()
    batch = experience(by_batch)
    by_batch.learn(batch)
    for t in range(len(batch)):
        step(by_step, batch, t)
    assert by_batch._state() == by_step._state()
    assert by_batch.steps == len(batch)
    assert by_batch.weights.any()


@every_agent
def test_sweep_is_learn_to_the_bit(name: str) -> None:
    agents = [AGENTS[name]() for _ in range(18)]
    for k, agent in enumerate(agents):
        agent.weights = agent.weights + 0.1 * k
    batch = experience(agents[0])
    swept = emphatic.sweep(agents, batch)
    assert all(agent.steps == 0 for agent in agents)
    for agent in agents:
        agent.learn(batch)
    assert [agent._state() for agent in swept] == [agent._state() for agent in agents]


def test_a_sweep_of_few_steps_over_many_features_is_learn_to_the_bit() -> None:
    """It is not worth lanes then, and done without."""
    agents = [ACE(Softmax(Active(5000, 2), 2), VALUES, alpha=0.1 * k) for k in range(3)]
    batch = experience(agents[0], 30)
    swept = emphatic.sweep(agents, batch)
    for one, other in zip(agents, swept, strict=True):
        one.learn(batch)
        assert one._state() == other._state()


def agent() -> ACE:
    return ACE(Softmax(OneHot(3), 2), VALUES, alpha=0.1, emphasis=FollowOn(1.0))


def emphasis(learner: Learner, **more: Any) -> float:
    return learner.step(0, 0, 0.0, 0, mu=0.5, **{"gamma_next": 0.5, **more}).emphasis


def test_gamma_is_remembered_from_the_step_before() -> None:
    learner = agent()
    assert [emphasis(learner, gamma_next=g) for g in (0.5, 0.25, 0.0, 1.0)] == [1, 1.5, 1.375, 1]


def test_a_new_episode_starts_afresh() -> None:
    learner = agent()
    emphasis(learner)
    learner.new_episode()
    assert [emphasis(learner), emphasis(learner)] == [1, 1.5]


def test_a_gamma_that_is_given_counts_once() -> None:
    learner = agent()
    assert [emphasis(learner), emphasis(learner, gamma=1.0), emphasis(learner)] == [1, 2, 2]


def test_a_step_that_is_refused_leaves_gamma_as_it_was() -> None:
    learner = agent()
    emphasis(learner)
    with pytest.raises(ValueError, match="gamma_next"):
        emphasis(learner, gamma_next=2.0)
    assert emphasis(learner) == 1.5


@pytest.mark.parametrize(
    ("gamma_next", "truncated", "after"), [(0.5, False, 1.5), (0.0, False, 1), (0.5, True, 1)]
)
def test_a_step_after_a_batch_continues_it_unless_a_time_limit_cut_it(
    gamma_next: float, truncated: bool, after: float
) -> None:
    learner = agent()
    batch = Batch([0], [0], [0], [0], mu=0.5, gamma_next=gamma_next, truncated=[truncated])
    learner.learn(batch)
    assert emphasis(learner) == after
    (swept,) = emphatic.sweep([agent()], batch)
    assert emphasis(swept) == after


def test_nothing_is_learned_from_no_steps() -> None:
    learner = agent()
    emphasis(learner)
    before = learner._state()
    learner.learn(experience(learner, 0))
    assert learner._state() == before


def test_parts_of_a_batch_in_turn_are_the_batch() -> None:
    whole, parts = AGENTS["ACE"](), AGENTS["ACE"]()
    batch = experience(whole)
    whole.learn(batch)
    for first in range(0, 40, 7):
        parts.learn(batch[first : first + 7])
    assert whole._state() == parts._state()


def test_the_state_beyond_an_end_is_not_looked_at() -> None:
    learner, other = agent(), agent()
    assert learner.step(0, 0, 1.0, None, mu=0.5, gamma_next=0) == other.step(
        0, 0, 1.0, 2, mu=0.5, gamma_next=0
    )
    assert learner._state() == other._state()


def test_an_update_is_unpacked_copied_and_pickled() -> None:
    update = agent().step(0, 0, 1.0, 1, mu=0.5, gamma_next=0.9)
    rho, emphasis, delta = update
    assert (rho, emphasis, delta) == (update.rho, update.emphasis, update.delta)
    for again in (copy.copy(update), copy.deepcopy(update), pickle.loads(pickle.dumps(update))):
        assert again == update


def test_update_by_hand() -> None:
    learner = OffPAC(Softmax(Dense(2), 2), GTD(0.5, 0.0, 0.0), alpha=1.0)
    update = learner.step([1, 2], 1, 3.0, [0, 0], mu=0.25, gamma_next=0.0)
    assert (update.rho, update.emphasis, update.delta) == (2.0, 1.0, 3.0)
    assert repr(update) == "Update(rho=2.0, emphasis=1.0, delta=3.0)"
    # θ += α/2 ρ δ x (1 − π); v += α_v/2 ρ δ x.
    np.testing.assert_allclose(learner.weights, np.array([[-1.5, 1.5], [-3, 3]]))
    np.testing.assert_allclose(learner.critic_weights["v"], [1.5, 3])


# --- Weights ---


@every_agent
def test_weights_are_copies_and_can_be_set(name: str) -> None:
    learner = AGENTS[name]()
    learner.learn(experience(learner))
    weights, critic = learner.weights, learner.critic_weights
    new = np.arange(weights.size, dtype=float).reshape(weights.shape) / 10
    learner.weights = np.asfortranarray(new)
    for copied in (weights, *critic.values()):
        with pytest.raises(ValueError, match="read-only"):  # It would be lost.
            copied[:] = 7
    np.testing.assert_array_equal(learner.weights, new)
    assert learner.steps == 40
    assert learner.critic_weights.keys() == critic.keys()
    for key, values in critic.items():
        np.testing.assert_array_equal(learner.critic_weights[key], values)


def test_setting_the_weights_leaves_the_traces() -> None:
    learner, other = agent(), agent()
    for each in (learner, other):
        each.learn(experience(each))
    learner.weights = learner.weights
    assert learner._state() == other._state()


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("ACE", {"v"}),
        ("AllActions", {"q", "v"}),
        ("AllActions subset", {"u", "v"}),
        ("DPG", {"v", "u"}),
        ("TrueACE", set()),
    ],
)
def test_the_critics_weights_by_name(name: str, keys: set[str]) -> None:
    learner = AGENTS[name]()
    learner.learn(experience(learner))
    assert learner.critic_weights.keys() == keys
    assert all(weights.any() for weights in learner.critic_weights.values())


# --- The policy ---


def softmax_agents() -> list[str]:
    return [name for name, make in AGENTS.items() if isinstance(make().policy, Softmax)]


@pytest.mark.parametrize("name", softmax_agents())
def test_probabilities_of_one_state_and_of_many(name: str) -> None:
    learner = AGENTS[name]()
    learner.learn(experience(learner))
    x = states(learner, 5)
    many = learner.probabilities(x)
    assert many.shape == (5, learner.weights.shape[1])
    np.testing.assert_allclose(many.sum(axis=1), 1)
    for row, seen in zip(many, x):
        one = int(seen) if x.ndim == 1 else seen
        np.testing.assert_array_equal(learner.probabilities(one), row)
        assert [learner.probability(one, a) for a in range(len(row))] == list(row)


def test_probabilities_are_the_softmax_of_the_weights() -> None:
    cases: list[tuple[Any, Any, list[float]]] = [
        (Dense(2), [1, 0.5], [1, 0.5]),
        (Active(2, 2), [0, 1], [1, 1]),
        (OneHot(2), 1, [0, 1]),
        (Table(np.array([[1, 0], [0.25, -2]])), 1, [0.25, -2]),
    ]
    for features, x, row in cases:
        learner = OffPAC(Softmax(features, 3), VALUES, alpha=0.1)
        learner.weights = np.array([[1, 2, 3], [0.5, -1, 0]])
        exp = np.exp(np.array(row) @ learner.weights)
        np.testing.assert_allclose(learner.probabilities(x), exp / exp.sum())


def test_the_forms_in_which_a_state_may_come() -> None:
    learner = AGENTS["ACE"]()
    learner.learn(experience(learner))
    x = np.array([1.0, 2.0, 3.0, 4.0])
    right = learner.probabilities(x)
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.float64, offset=1)
    frozen = x.copy()
    frozen.flags.writeable = False
    for other in (
        list(x),
        tuple(x),
        x.astype(np.float32),
        x.astype(">f8"),
        np.repeat(x, 2)[::2],
        x.astype(np.uint8),
        frozen,
    ):
        np.testing.assert_array_equal(learner.probabilities(other), right)
    np.testing.assert_array_equal(learner.probabilities(unaligned[None]), right[None])


def test_no_states_have_no_probabilities() -> None:
    assert AGENTS["ACE"]().probabilities(np.zeros((0, 4))).shape == (0, 3)
    assert AGENTS["ACE active"]().probabilities(np.zeros((0, 2), int)).shape == (0, 2)
    assert AGENTS["ACE one-hot"]().probabilities([]).shape == (0, 2)
    assert AGENTS["ACE Gaussian"]().normal(np.zeros((0, 4))).shape == (0, 2)


def test_states_without_active_features() -> None:
    np.testing.assert_array_equal(
        AGENTS["ACE active"]().probabilities(np.zeros((3, 0), int)), np.full((3, 2), 0.5)
    )


def test_a_gaussian() -> None:
    learner = OffPAC(Gaussian(Dense(2)), VALUES, alpha=0.1)
    learner.weights = [[1, 0], [2, 1]]
    mean, deviation = 2.0, np.log1p(np.exp(0.5))
    np.testing.assert_allclose(learner.normal([1, 0.5]), [mean, deviation])
    np.testing.assert_allclose(learner.normal([[1, 0.5]] * 3), [[mean, deviation]] * 3)
    density = np.exp(-(((1 - mean) / deviation) ** 2) / 2) / deviation / np.sqrt(2 * np.pi)
    assert learner.probability([1, 0.5], 1) == pytest.approx(density)
    rng, other = np.random.default_rng(3), np.random.default_rng(3)
    drawn = [learner.sample([1, 0.5], rng) for _ in range(5)]
    np.testing.assert_allclose(drawn, mean + deviation * other.standard_normal(5))
    assert rng.random() == other.random()


def test_a_deterministic_policy() -> None:
    learner = DPG(DeterministicLinear(Dense(2)), Compatible(0.1, 0.1, 0.1), alpha=0.1)
    learner.weights = [2, -1]
    rng = np.random.default_rng(3)
    assert learner.action([1, 0.5]) == 1.5 == learner.sample([1, 0.5], rng)
    assert rng.random() == np.random.default_rng(3).random()


def test_what_a_policy_does_not_have() -> None:
    softmax, gaussian, deterministic = AGENTS["TrueACE"](), AGENTS["TrueACE Gaussian"](), AGENTS["TrueDPGE"]()
    for refused in (
        lambda: softmax.normal(0),
        lambda: softmax.action(0),
        lambda: gaussian.probabilities(0),
        lambda: gaussian.action(0),
        lambda: deterministic.probabilities(0),
        lambda: deterministic.normal(0),
        lambda: deterministic.probability(0, 0.5),
    ):
        with pytest.raises(TypeError, match="polic"):
            refused()


def test_sample_draws_by_the_probabilities() -> None:
    learner = OffPAC(Softmax(OneHot(1), 4), VALUES, alpha=0.1)
    learner.weights = [[0, 1, -800, 2]]  # The third never.
    rng = np.random.default_rng(1)
    drawn = [learner.sample(0, rng) for _ in range(20_000)]
    assert all(type(action) is int for action in drawn[:10])
    counts = np.bincount(drawn, minlength=4)
    expected = 20_000 * learner.probabilities(0)
    assert counts[2] == 0 == expected[2]
    seen = [0, 1, 3]
    chi_square = ((counts - expected)[seen] ** 2 / expected[seen]).sum()
    assert chi_square < 13.8  # Two degrees of freedom: one in a thousand.


def test_sample_takes_one_number_of_the_generator() -> None:
    learner, rng, other = agent(), np.random.default_rng(1), np.random.default_rng(1)
    uniform = [other.random() for _ in range(10)]
    assert [learner.sample(0, rng) for _ in range(10)] == [int(u >= 0.5) for u in uniform]
    assert rng.random() == other.random()


# --- Divergence ---


def wild() -> ACE:
    return ACE(Softmax(OneHot(3), 2), GTD(1e200, 1e200, 1.0), alpha=1e200, emphasis=FollowOn(1.0))


def rewards(size: float) -> Batch:
    return Batch([0] * 5, [0] * 5, [0, 0, size, size, size], [1] * 5, mu=0.5, gamma_next=1.0)


def test_divergence_is_warned_of_once_and_checked() -> None:
    learner = wild()
    learner.check()
    assert learner.diverged is None
    with pytest.warns(RuntimeWarning, match="ACE diverged at step 3: .* smaller step-sizes") as record:
        learner.learn(rewards(1e200))
    assert record[0].filename == __file__
    assert learner.diverged == 3
    with pytest.raises(DivergedError, match="step 3"):
        learner.check()
    learner.learn(rewards(1e200))
    assert issubclass(DivergedError, ArithmeticError)


def test_divergence_by_steps_and_in_a_sweep_raises_nothing() -> None:
    learner = wild()
    for t in range(5):
        step(learner, rewards(1e200), t)
    (swept, tame) = emphatic.sweep([wild(), agent()], rewards(1e200))
    assert tame.diverged is None
    assert (learner.diverged, swept.diverged) == (3, 3)


def test_a_policy_that_diverged_draws_no_action() -> None:
    learner = wild()
    with pytest.warns(RuntimeWarning):
        learner.learn(rewards(1e200))
    assert np.isnan(learner.probabilities(0)).any()
    with pytest.raises(DivergedError):
        learner.sample(0, np.random.default_rng(1))


# --- What a learner is made of ---


def test_a_learner_tells_what_it_is_made_of() -> None:
    critic = GQ(0.1, 0.2, 0.3, GTD(0.4, 0.5, 0.6, Active(4, 2)), Active(5, 1))
    learner = AllActions(Softmax(Active(3, 1), 2), critic, FollowOn(0.7), alpha=0.8)
    assert learner.policy == Softmax(Active(3, 1), 2)
    assert learner.critic == critic
    assert learner.emphasis == FollowOn(0.7)
    assert learner.alpha == 0.8
    exact = TrueACE(FINITE, alpha=0.1)
    assert exact.critic == ExactCritic(FINITE)
    assert exact.policy == FINITE.softmax()


def test_a_table_keeps_its_numbers_to_the_bit() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 7))
    learner = OffPAC(Softmax(Table(rows), 2), VALUES, alpha=1 / 3)
    assert learner.policy.features == Table(rows)
    assert learner.alpha == 1 / 3


@pytest.mark.parametrize(
    "name",
    [
        *("policy", "critic", "emphasis", "alpha", "warm_up", "steps", "diverged", "effective_sample"),
        *("critic_weights", "emphasis_weights"),
    ],
)
def test_what_a_learner_is_made_of_cannot_be_assigned(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(agent(), name, None)


@every_agent
def test_repr(name: str) -> None:
    learner = AGENTS[name]()
    text = repr(learner)
    assert text.startswith(f"<{type(learner).__name__}({learner.policy!r}, {learner.critic!r}, ")
    assert text.endswith("after 0 steps>")


def test_reprs() -> None:
    learner = agent()
    emphasis(learner)
    critic = "GTD(alpha_v=0.05, alpha_w=0.001, lambda_=0.5)"
    policy = "Softmax(features=OneHot(states=3), actions=2)"
    assert (
        repr(learner) == f"<ACE({policy}, {critic}, emphasis=FollowOn(lambda_a=1.0), alpha=0.1) after 1 step>"
    )
    general = ActorCritic(Gaussian(TABLE), VALUES, FollowOn(), alpha=1)
    gaussian = "Gaussian(features=Table(3 states, 2 features))"
    assert (
        repr(general)
        == f"<ActorCritic({gaussian}, {critic}, FollowOn(lambda_a=0.9), alpha=1.0) after 0 steps>"
    )
    assert "a real action" in repr(TrueACE(REAL, alpha=0.1))
    by_default = ACE(Softmax(OneHot(3), 2), VALUES, alpha=0.1, lambda_a=0.5, warm_up=20)
    assert repr(by_default) == f"<ACE({policy}, {critic}, lambda_a=0.5, alpha=0.1, warm_up=20) after 0 steps>"
    other = ACE(Softmax(OneHot(3), 2), VALUES, alpha=0.1, emphasis=LambdaReturn(lambda_e=0.2))
    assert "emphasis=LambdaReturn(lambda_a=1.0, lambda_e=0.2, " in repr(other)


def test_ace_has_the_emphasis_that_it_is_given_or_learns_one() -> None:
    policy, critic = Softmax(OneHot(3), 2), GTD(0.05, 1e-3, 0.5, TABLE)
    assert ACE(policy, VALUES, alpha=0.1).emphasis == LambdaReturn()
    assert ACE(policy, critic, alpha=0.1).emphasis == LambdaReturn(features=TABLE)
    assert ACE(policy, ExactCritic(FINITE), alpha=0.1).emphasis == LambdaReturn()
    assert ACE(policy, critic, alpha=0.1, lambda_a=0.3).emphasis == LambdaReturn(0.3, features=TABLE)
    assert ACE(policy, critic, alpha=0.1).lambda_a == 1.0
    assert ACE(policy, critic, alpha=0.1, emphasis=FollowOn(0.3)).lambda_a == 0.3
    with pytest.raises(TypeError, match="lambda_a is 0.3 and the emphasis FollowOn.*not both"):
        ACE(policy, critic, alpha=0.1, lambda_a=0.3, emphasis=FollowOn())
    with pytest.raises(AttributeError, match="NoEmphasis.* has no `lambda_a`"):
        ACE(policy, critic, alpha=0.1, emphasis=NoEmphasis()).lambda_a


def test_what_an_emphasis_has_learned() -> None:
    learner = AGENTS["ACE by default, with features of the critic"]()
    assert not learner.emphasis_weights["u"].any()
    learner.learn(experience(learner))
    u = learner.emphasis_weights["u"]
    assert u.shape == (TABLE.len,) and u.any() and not u.flags.writeable
    assert AGENTS["ACE"]().emphasis_weights == {}


# --- Warm-up ---


def test_the_actor_waits_while_the_others_learn(tmp_path: Path) -> None:
    def make(warm_up: int) -> ACE:
        return ACE(Softmax(Dense(4), 3), VALUES, alpha=0.1, warm_up=warm_up)

    batch = experience(make(0))
    waiting, waited, never = make(30), make(30), make(0)
    waiting.learn(batch[:30])
    assert waiting.warm_up == 30 and not waiting.weights.any()
    assert waiting.critic_weights["v"].any() and waiting.emphasis_weights["u"].any()
    waiting.save(tmp_path / "waiting")
    again = emphatic.load(tmp_path / "waiting")
    for learner in (waiting, again):
        learner.learn(batch[30:])
    waited.learn(batch)
    never.learn(batch)
    assert again.warm_up == 30 and again._state() == waiting._state() == waited._state()
    assert waiting.weights.any() and (waiting.weights != never.weights).any()
    for one, other in zip((make(k) for k in (0, 5, 30)), emphatic.sweep([make(0), make(5), make(30)], batch)):
        one.learn(batch)
        assert one._state() == other._state() and one.warm_up == other.warm_up


@pytest.mark.parametrize(
    ("warm_up", "error", "right"),
    [(-1, ValueError, "at least 0"), (2**60, ValueError, "at most"), (1.0, TypeError, "a whole number")],
)
def test_warm_ups_that_make_no_sense(warm_up: Any, error: type[Exception], right: str) -> None:
    with pytest.raises(error, match=f"warm_up is .*; it must be {right}"):
        TrueACE(FINITE, alpha=0.1, warm_up=warm_up)


# --- Parts inside parts ---


def test_a_part_inside_another() -> None:
    direct = Direct(schedule=Polynomial(power=1, over=7))
    assert direct.schedule == Polynomial(1.0, 7) and Direct().schedule == PerFeature()
    assert "schedule=Polynomial(power=1.0, over=7, floor=0.0)" in repr(direct)
    with pytest.raises(TypeError, match="schedule is 3; it must be Constant, Polynomial or PerFeature"):
        Direct(schedule=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="schedule is FollowOn"):
        Direct(schedule=FollowOn())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="over is 7.0; it must be a whole number"):
        Polynomial(over=7.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="over is 2000000; it must be a whole number between"):
        ActorCritic(Softmax(Dense(4), 2), VALUES, Direct(schedule=Polynomial(over=2_000_000)), alpha=0.1)


@dataclass(frozen=True, repr=False)
class Emphatic(Part):
    """A critic with an emphasis inside it."""

    emphasis: emphatic.catalogue.Emphasis = FollowOn(lambda_a=1.0)

    _role = "critic"
    _kind = "emphatic"
    _inner = (("emphasis", "emphasis", None),)


def test_an_emphasis_inside_a_critic_has_no_lambda_a_of_its_own() -> None:
    assert Emphatic() == Emphatic(FollowOn()) == Emphatic(FollowOn(1.0))
    assert repr(Emphatic(FollowOn())) == "Emphatic()"
    assert repr(Emphatic(emphatic.Truncated(3))) == "Emphatic(emphasis=Truncated(n=3, lambda_a=1.0))"
    assert Emphatic(NoEmphasis()).emphasis == NoEmphasis()
    with pytest.raises(ValueError, match="lambda_a is 0.5 in `emphasis` of Emphatic; .* always 1: leave it"):
        Emphatic(FollowOn(0.5))
    with pytest.raises(TypeError, match="emphasis is Constant.*; it must be NoEmphasis, FollowOn"):
        Emphatic(emphatic.Constant())  # type: ignore[arg-type]


def test_an_emphasis_of_finitely_many_actions() -> None:
    with pytest.raises(TypeError, match="ModelEmphasis.* needs finitely many actions: use a Softmax policy"):
        ActorCritic(Gaussian(Dense(4)), VALUES, ModelEmphasis(), alpha=0.1)


class Named(ACE):
    """As one would write it."""

    def __init__(self, *parts: Any, **settings: Any) -> None:
        super().__init__(*parts, **settings)
        self.name = "mine"


def test_a_subclass_may_call_the_constructor_as_usual() -> None:
    """Regression: `object.__init__() takes exactly one argument`."""
    mine = Named(Softmax(Dense(4), 2), VALUES, alpha=0.1)
    for each in (mine, mine.copy(), pickle.loads(pickle.dumps(mine))):
        assert type(each) is Named and each.name == "mine" and each.alpha == 0.1


def test_parts_are_values() -> None:
    three: Any = np.int8(3)
    assert Dense(3) == Dense(three) != Dense(4)
    assert hash(GTD(1, 0, 0)) == hash(GTD(1.0, 0.0, 0.0))
    assert Table([[1, 0], [0, 1], [0, 1]]) == Table.aliased([0, 1, 1])
    assert hash(Table.aliased([0, 1, 1])) == hash(Table.aliased([0, 1, 1]))
    np.testing.assert_array_equal(TABLE.array(), [[1, 0.1], [0.3, 0], [0, -0.7]])

    class Mine(Softmax):
        pass

    assert repr(Mine(Dense(3), 2)) == "Mine(features=Dense(len=3), actions=2)"
    with pytest.raises(TypeError, match="actions"):
        Mine(Dense(3), 2.5)  # type: ignore[arg-type]
