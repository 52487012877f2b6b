"""Bases: what they compute, and learners that take observations as they are."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emphatic
from emphatic import (
    Active,
    Batch,
    Dense,
    FourierBasis,
    ObservationBasis,
    OneHotBasis,
    PolynomialBasis,
    RadialBasis,
    TileCoder,
)
from emphatic.bases import Basis
from emphatic.catalogue import BASES

LOW, HIGH = [-1.0, 0.0], [3.0, 2.0]

# Every basis, with as little set as it needs, and with everything set.
ALL: dict[str, Basis] = {
    "tiles": TileCoder(LOW, HIGH, 4, 8),
    "tiles with all": TileCoder(
        LOW,
        HIGH,
        [4, 3],
        8,
        bias=True,
        displacement=[1, 5],
        wraps=[True, False],
        outside="go-on",
        edge_tile=True,
        memory=100,
    ),
    "fourier": FourierBasis(LOW, HIGH, 3),
    "fourier with all": FourierBasis(LOW, HIGH, 2, coupled=False),
    "radial": RadialBasis(LOW, HIGH, 3),
    "radial with all": RadialBasis(
        LOW, HIGH, [3, 4], width=0.5, normalised=True, bias=True, wraps=[False, True]
    ),
    "polynomial": PolynomialBasis(LOW, HIGH, 3),
    "one-hot": OneHotBasis(LOW, HIGH),
    "one-hot with all": OneHotBasis(LOW, HIGH, bias=True),
    "observation": ObservationBasis(LOW, HIGH),
    "observation with all": ObservationBasis(LOW, HIGH, scale="norm", bias=True),
}


def observations(basis: Basis, *shape: int) -> Any:
    drawn = np.random.default_rng(1).uniform(basis.low, basis.high, (*shape, 2))
    return np.round(drawn) if isinstance(basis, OneHotBasis) else drawn


def test_no_basis_is_left_out() -> None:
    assert {type(basis) for basis in ALL.values()} == set(BASES.values())
    assert set(BASES) == {basis._kind for basis in ALL.values()}
    for kind in BASES.values():
        assert getattr(emphatic, kind.__name__) is kind and kind.__name__ in emphatic.__all__


# --- What they compute ---


def test_fourier() -> None:
    basis, x = FourierBasis(LOW, HIGH, 3), observations(ALL["fourier"], 50)
    share = (x - LOW) / (np.array(HIGH) - LOW)
    frequencies = np.array(list(itertools.product(range(4), repeat=2)))
    np.testing.assert_allclose(basis(x), np.cos(np.pi * share @ frequencies.T), atol=1e-13)
    assert FourierBasis(LOW, HIGH, 3, coupled=False).len == 1 + 2 * 3


def test_radial() -> None:
    basis, x = RadialBasis(LOW, HIGH, 3, width=0.5), observations(ALL["radial"], 50)
    centres = np.array(list(itertools.product([-1, 1, 3], [0, 1, 2])))
    apart = (x[:, None] - centres) / [2, 1]
    bumps = np.exp(-0.5 * (apart**2).sum(-1) / 0.25)
    np.testing.assert_allclose(basis(x), bumps, atol=1e-13)
    normalised = RadialBasis(LOW, HIGH, 3, width=0.5, normalised=True)(x)
    np.testing.assert_allclose(normalised, bumps / bumps.sum(1, keepdims=True), atol=1e-13)


def test_polynomial() -> None:
    a, b = (2 * (observations(ALL["polynomial"], 50) - LOW) / (np.array(HIGH) - LOW) - 1).T
    basis, x = PolynomialBasis(LOW, HIGH, 2), observations(ALL["polynomial"], 50)
    np.testing.assert_allclose(basis(x), np.stack([a**0, a, b, a * a, a * b, b * b], 1), atol=1e-14)


def test_one_hot() -> None:
    basis = OneHotBasis(LOW, HIGH, bias=True)
    np.testing.assert_array_equal(basis([-1, 2]), [1, 0, 0, 0, 0, 0, 0, 1, 1])
    with pytest.raises(
        ValueError, match="entry 0 of the observation is 0.5; it must be a whole number between"
    ):
        basis([0.5, 1])


def test_observation() -> None:
    np.testing.assert_allclose(ObservationBasis(LOW, HIGH)([0, 2]), [-0.5, 1])
    np.testing.assert_allclose(ObservationBasis(LOW, HIGH, scale="norm", bias=True)([3, 4]), [0.6, 0.8, 1])
    np.testing.assert_array_equal(ObservationBasis(LOW, HIGH, scale="none")([9, -4]), [9, -4])


def test_tiles_with_all_settings() -> None:
    coder = TileCoder(LOW, HIGH, 4, 8, bias=True)
    assert (coder.len, coder.features) == (8 * 25 + 1, Active(201, 9))
    assert coder([0, 0])[-1] == 200
    np.testing.assert_array_equal(coder([0, 0])[:-1], TileCoder(LOW, HIGH, 4, 8)([0, 0]))
    angles = TileCoder(-np.pi, np.pi, 4, 8, wraps=True)
    np.testing.assert_array_equal(angles([-3.0]), angles([-3.0 + 2 * np.pi]))
    with pytest.raises(ValueError, match="entry 1 of the observation is 2.5, outside of the bounds 0 to 2"):
        TileCoder(LOW, HIGH, 4, 8, outside="refuse")([0, 2.5])
    diagonal = TileCoder(LOW, HIGH, 4, 8, displacement=1)
    assert diagonal.displacement == (1, 1) and TileCoder(LOW, HIGH, 4, 8).displacement is None
    # All tilings change the tile of both dimensions at once.
    before, after = diagonal([0.999, 0.4999]), diagonal([1.001, 0.5001])
    assert (before != after).sum() == 1
    own, plain = TileCoder(0, 1, 2, 1, edge_tile=True), TileCoder(0, 1, 2, 1)
    assert (own([1.0]).tolist(), plain([1.0]).tolist()) == ([2], [1])


def test_only_where_observations_are_moved_to_the_edge_they_may_be_infinite() -> None:
    x = [np.inf, -np.inf]
    np.testing.assert_array_equal(TileCoder(LOW, HIGH, 4, 8)(x), TileCoder(LOW, HIGH, 4, 8)([3, 0]))
    refusing = [
        TileCoder(LOW, HIGH, 4, 8, wraps=True),
        TileCoder(LOW, HIGH, 4, 8, wraps=[True, False]),
        TileCoder(LOW, HIGH, 4, 8, outside="refuse"),
        TileCoder(LOW, HIGH, 4, 8, outside="go-on", memory=100),
        *(basis for name, basis in ALL.items() if not name.startswith("tiles")),
    ]
    for basis in refusing:
        with pytest.raises(ValueError, match="entry 0 of the observation is inf"):
            basis(x)


def test_collisions() -> None:
    x = np.random.default_rng(0).uniform(LOW, HIGH, (20, 25, 2))
    assert TileCoder(LOW, HIGH, 9, 2).collisions(x)[1] == 0
    tiles, shared = TileCoder(LOW, HIGH, 9, 2, memory=50).collisions(x)
    assert tiles == TileCoder(LOW, HIGH, 9, 2).collisions(x)[0] and 0.8 * tiles < shared <= tiles
    assert TileCoder(LOW, HIGH, 9, 2, memory=50).collisions([np.inf, 0]) == (2, 0)
    with pytest.raises(ValueError, match="observation 1: entry 0 of the observation is NaN"):
        TileCoder(LOW, HIGH, 9, 2).collisions([[0.0, 0.0], [np.nan, 0.0]])


@pytest.mark.parametrize("name", ALL)
def test_leading_dimensions_are_kept(name: str) -> None:
    basis = ALL[name]
    x = observations(basis, 2, 3)
    found = basis(x)
    width = basis._basis.most_active if isinstance(basis, TileCoder) else basis.len
    assert found.shape == (2, 3, width)
    assert found.dtype == (np.int64 if isinstance(basis, TileCoder) else np.float64)
    np.testing.assert_array_equal(found[1, 2], basis(x[1, 2]))
    np.testing.assert_array_equal(found[1, 2], basis(x[1, 2].tolist()))
    assert basis(np.empty((0, 2))).shape == (0, width)
    assert basis(np.empty((4, 0, 2))).shape == (4, 0, width)


@pytest.mark.parametrize("name", ALL)
def test_arrays_of_any_layout(name: str) -> None:
    basis = ALL[name]
    x = observations(basis, 6)
    expected = basis(x)
    for other in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], x.astype(">f8"), np.ma.array(x)):
        np.testing.assert_array_equal(basis(other), expected)
    x.flags.writeable = False
    np.testing.assert_array_equal(basis(x), expected)
    with pytest.raises(ValueError, match="masked"):
        basis(np.ma.array(x, mask=True))


def test_whole_numbers_and_float32_are_observations() -> None:
    basis = FourierBasis(LOW, HIGH, 2)
    np.testing.assert_array_equal(basis([1, 2]), basis(np.array([1, 2], np.float32)))
    x = np.random.default_rng(1).uniform(LOW, HIGH, (3, 4, 2)).astype(np.float32)
    for singles in (x, x[::2], np.asfortranarray(x), x.astype(np.float16)):
        found = basis(singles)
        assert found.shape == (*singles.shape[:-1], 9)
        np.testing.assert_array_equal(found, basis(singles.astype(np.float64)))
    with pytest.raises(ValueError, match=r"has the shape \(3,\)"):
        basis(np.zeros(3, np.float32))


# --- What they are ---


@pytest.mark.parametrize("name", ALL)
def test_copies_are_equal(name: str) -> None:
    basis = ALL[name]
    same = [copy.deepcopy(basis), copy.copy(basis), pickle.loads(pickle.dumps(basis)), eval(repr(basis))]
    for other in same:
        assert type(other) is type(basis) and other == basis and hash(other) == hash(basis)
        assert repr(other) == repr(basis)
        x = observations(basis, 5)
        np.testing.assert_array_equal(other(x), basis(x))
    assert sum(basis == other for other in ALL.values()) == 1
    assert basis != basis.features


def test_what_has_its_default_is_not_shown() -> None:
    coder = TileCoder([0, 0], [1, 1], 4, 8, bias=False, wraps=[False, False], memory=0, outside="clip")
    assert repr(coder) == "TileCoder(low=[0.0, 0.0], high=[1.0, 1.0], tiles=[4, 4], tilings=8)"
    assert coder == TileCoder([0, 0], [1, 1], 4, 8)
    assert repr(ALL["radial with all"]).endswith(
        "centres=[3, 4], width=0.5, normalised=True, bias=True, wraps=[False, True])"
    )


@pytest.mark.parametrize("name", ALL)
def test_a_basis_cannot_be_changed(name: str) -> None:
    basis = ALL[name]
    with pytest.raises(AttributeError, match="len of a .* cannot be changed; make another one"):
        basis.len = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        basis.low[0] = 7.0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: FourierBasis(LOW, HIGH, 0), ValueError, "order is 0; it must be at least 1"),
        (lambda: FourierBasis(LOW, HIGH, 2.0), TypeError, "order is 2.0; it must be a whole number"),  # type: ignore[arg-type]
        (lambda: FourierBasis(LOW, HIGH, None), ValueError, "the basis `fourier` needs `order`"),  # type: ignore[arg-type]
        (lambda: FourierBasis(LOW, HIGH), TypeError, "order"),  # type: ignore[call-arg]
        (lambda: FourierBasis(LOW, HIGH, 2, coupled=1), TypeError, "coupled is 1; it must be True or False"),  # type: ignore[arg-type]
        (lambda: FourierBasis([0.0] * 9, [1.0] * 9, 9), ValueError, "there would be 1.000e9 features"),
        (
            lambda: RadialBasis(LOW, HIGH, 3, width=0),
            ValueError,
            "`width` is 0; it must be a finite number above 0",
        ),
        (lambda: RadialBasis(LOW, HIGH, 3, width=np.inf), ValueError, "width is inf; it must be finite"),
        (lambda: RadialBasis(LOW, HIGH, [3]), ValueError, "centres has 1 entries; it must have one for all"),
        (lambda: RadialBasis(LOW, HIGH, 3, wraps=[True]), ValueError, "wraps has 1 entries"),
        (lambda: RadialBasis(LOW, HIGH, 3, wraps=[1, 0]), TypeError, r"wraps\[0\] is 1; it must be True"),  # type: ignore[list-item]
        (lambda: OneHotBasis([0.5], [2]), ValueError, "the observations of `one-hot` are whole numbers"),
        (
            lambda: ObservationBasis(LOW, HIGH, scale="rang"),  # type: ignore[arg-type]
            ValueError,
            '`scale` is "rang"; it must be "range" or',
        ),
        (lambda: ObservationBasis(LOW, HIGH, scale=1), TypeError, "scale is 1; it must be a word"),  # type: ignore[arg-type]
        (lambda: TileCoder(LOW, HIGH, 4, 8, outside="go-on"), ValueError, "need `memory`"),
        (lambda: TileCoder(LOW, HIGH, 4, 8, memory=-1), ValueError, "memory is -1; it must be at least 0"),
        (lambda: TileCoder(LOW, HIGH, 4, 8, memory=3), ValueError, "at least the number of tilings, 8"),
        (lambda: PolynomialBasis([0], [np.inf], 2), ValueError, "give finite low and high"),
    ],
)
def test_what_no_basis_can_be_made_of(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("name", ALL)
def test_what_is_no_observation(name: str) -> None:
    basis = ALL[name]
    with pytest.raises(ValueError, match="entry 1 of the observation is NaN; it must be finite"):
        basis([0.0, np.nan])
    with pytest.raises(ValueError, match="observation 2: entry 1 of the observation is NaN"):
        basis([[0.0, 1.0], [0.0, 1.0], [0.0, np.nan]])
    with pytest.raises(ValueError, match=r"has the shape \(3,\); it must be \(2,\) or \(..., 2\)"):
        basis([0.0, 1.0, 2.0])
    with pytest.raises(TypeError, match="dtype"):
        basis(["a", "b"])


# --- Learners that take observations ---


def learners(policys: Any, critics: Any) -> list[Any]:
    softmax, gtd = emphatic.Softmax(policys, actions=3), emphatic.GTD(0.1, 1e-3, 0.4, features=critics)
    gq = emphatic.GQ(alpha_q=0.1, alpha_h=1e-3, values=gtd, features=critics)
    compatible = emphatic.Compatible(0.1, 0.1, 0.1, features=critics)
    return [
        emphatic.ACE(softmax, gtd, alpha=0.1),
        emphatic.AllActions(softmax, gq, emphatic.FollowOn(), alpha=0.1),
        emphatic.ActorCritic(softmax, gtd, emphatic.Direct(features=critics), alpha=0.1),
        emphatic.OffPAC(emphatic.Gaussian(policys), gtd, alpha=0.01),
        emphatic.DPG(emphatic.DeterministicLinear(policys), compatible, alpha=0.1),
    ]


def steps(see: Any, learner: Any, count: int = 300, whole: bool = False) -> Batch:
    """Transitions from random observation to random observation."""
    rng = np.random.default_rng(2)
    x = rng.uniform(LOW, HIGH, (count + 1, 2))
    x = np.round(x) if whole else x
    finite = learner.policy._acts == "finite"
    return Batch(
        x=see(x[:-1]),
        action=rng.integers(3, size=count) if finite else rng.normal(size=count),
        reward=rng.normal(size=count),
        x_next=see(x[1:]),
        mu=1 / 3,
        gamma_next=np.where(rng.random(count) < 0.1, 0.0, 0.95),
    )


def as_it_is(x: Any) -> Any:
    return x


def active(basis: Basis, x: Any) -> Any:
    """The numbers of the features that are one."""
    return np.stack([np.flatnonzero(row) for row in basis(x)])


def assert_same(ours: Any, theirs: Any) -> None:
    """All that was learned is the same to the bit."""
    np.testing.assert_array_equal(ours.weights, theirs.weights)
    for one, other in (
        (ours.critic_weights, theirs.critic_weights),
        (ours.emphasis_weights, theirs.emphasis_weights),
    ):
        assert one.keys() == other.keys()
        for key in one:
            np.testing.assert_array_equal(one[key], other[key])


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("k", range(5))
def test_features_that_a_learner_computes_are_those_computed_before(name: str, k: int) -> None:
    basis = ALL[name]
    before, see = basis.features, basis.__call__
    whole = isinstance(basis, OneHotBasis)
    if whole:
        # As active features: step-sizes are divided by their number.
        before = Active(basis.len, basis._basis.most_active)
        see = functools.partial(active, basis)
    ours, theirs = learners(basis, None)[k], learners(before, None)[k]
    raw, coded = steps(as_it_is, ours, whole=whole), steps(see, theirs, whole=whole)
    ours.learn(raw)
    theirs.learn(coded)
    assert np.abs(ours.weights).max() > 0
    assert_same(ours, theirs)
    x, seen = raw.x[3], coded.x[3]
    assert ours.step(x, raw.action[3], 1.0, raw.x[4], mu=0.5, gamma_next=0.9) == theirs.step(
        seen, coded.action[3], 1.0, coded.x[4], mu=0.5, gamma_next=0.9
    )
    assert_same(ours, theirs)
    rngs = np.random.default_rng(3), np.random.default_rng(3)
    assert ours.sample(x, rngs[0]) == theirs.sample(seen, rngs[1])
    if ours.policy._acts != "deterministic":
        assert ours.probability(x, raw.action[3]) == theirs.probability(seen, raw.action[3])
    if ours.policy._acts == "finite":
        np.testing.assert_array_equal(ours.probabilities(raw.x), theirs.probabilities(coded.x))
        np.testing.assert_array_equal(ours.probabilities(x), theirs.probabilities(x=seen))


@pytest.mark.parametrize("k", range(5))
def test_parts_may_have_bases_of_their_own(k: int) -> None:
    tiles, fourier = TileCoder(LOW, HIGH, 4, 8), FourierBasis(LOW, HIGH, 2)
    one, other = learners(tiles, fourier)[k], learners(fourier, None)[k]
    one.learn(steps(as_it_is, one))
    other.learn(steps(as_it_is, other))
    assert one.weights.shape[0] == tiles.len and one.critic.features == fourier
    if k == 0:  # Critics do not look at the policy's features until it changes.
        assert one.critic_weights["v"].shape == (fourier.len,)
    # A vector of features, of the same length as an observation, goes with a basis.
    mixed = learners(tiles, Dense(2))[k]
    mixed.learn(steps(as_it_is, mixed))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("k", range(5))
def test_files_remember_the_basis(name: str, k: int, tmp_path: Path) -> None:
    basis = ALL[name]
    whole = isinstance(basis, OneHotBasis)
    agent = learners(basis, basis)[k]
    batch = steps(as_it_is, agent, whole=whole)
    agent.learn(batch[:150])
    agent.save(tmp_path / "agent")
    others = [emphatic.load(tmp_path / "agent"), pickle.loads(pickle.dumps(agent)), agent.copy()]
    agent.learn(batch[150:])
    for other in others:
        assert other.policy == agent.policy and other.policy.features == basis
        assert type(other.policy.features) is type(basis)
        other.learn(batch[150:])
        assert_same(other, agent)
        assert other._state() == agent._state()


@pytest.mark.parametrize("name", ALL)
def test_sweeps(name: str) -> None:
    basis = ALL[name]
    agents = [
        emphatic.ACE(emphatic.Softmax(basis, actions=3), emphatic.GTD(alpha_v, 1e-3), alpha=0.1)
        for alpha_v in np.linspace(0.01, 0.3, 18)
    ]
    # One that does not fit into the lanes of the others.
    other = TileCoder(LOW, HIGH, 5, 8)
    whole = isinstance(basis, OneHotBasis)
    agents.append(emphatic.ACE(emphatic.Softmax(other, actions=3), emphatic.GTD(0.1, 1e-3), alpha=0.1))
    batch = steps(as_it_is, agents[0], whole=whole)
    swept = emphatic.sweep(agents, batch)
    for agent, learned in zip(agents, swept, strict=True):
        agent.learn(batch)
        assert_same(learned, agent)


def test_an_emphasis_in_python_sees_the_features() -> None:
    seen: list[Any] = []

    @dataclasses.dataclass
    class Watching(emphatic.PythonEmphasis):
        features: Any = None

        def weigh(self, step: Any, rho: Any) -> Any:
            seen.append(step.x)
            return np.ones_like(rho)

    whole = ObservationBasis(LOW, HIGH, scale="norm", bias=True)
    for basis in (FourierBasis(LOW, HIGH, 1), TileCoder(LOW, HIGH, 4, 8), whole):
        policy, critic = emphatic.Softmax(basis, actions=3), emphatic.GTD(0.1, 1e-3)
        agent = emphatic.ActorCritic(policy, critic, Watching(features=basis), alpha=0.1)
        agent.step([0.5, 0.5], 0, 1.0, [0.6, 0.5], mu=0.5, gamma_next=0.9)
        agent.step([0.5, 0.0], 0, 1.0, None, mu=0.5, gamma_next=0.0)
    # All features as one vector, or the numbers and values of the active ones.
    np.testing.assert_array_equal(seen[0], FourierBasis(LOW, HIGH, 1)([0.5, 0.5]))
    np.testing.assert_array_equal(seen[2][0], TileCoder(LOW, HIGH, 4, 8)([0.5, 0.5]))
    np.testing.assert_array_equal(seen[2][1], np.ones(8))
    # What is zero is not left out of a vector.
    np.testing.assert_array_equal(seen[5], whole([0.5, 0.0]))
    assert seen[5].shape == (3,)


def test_collected_observations_teach_a_learner() -> None:
    pytest.importorskip("gymnasium")
    env = emphatic.make_vec("mountain-car", 4)
    coder = TileCoder(env.low, env.high, tiles=8, tilings=8)
    raw = emphatic.collect(env, "uniform", 400, 1, gamma=0.99)
    coded = emphatic.collect(env, "uniform", 400, 1, gamma=0.99, features=coder)
    np.testing.assert_array_equal(coder(raw.x), coded.x)
    ours, theirs = (
        emphatic.ACE(emphatic.Softmax(features, actions=3), emphatic.GTD(0.1, 1e-3), alpha=0.1)
        for features in (coder, coder.features)
    )
    ours.learn(raw)
    theirs.learn(coded)
    assert_same(ours, theirs)
    # The learned policy acts on observations, too.
    again = emphatic.collect(env, ours, 100, 2, gamma=0.99)
    assert again.x.shape == (100, 2)


def test_wrong_observations_of_a_learner() -> None:
    agent = learners(TileCoder(LOW, HIGH, 4, 8), None)[0]
    x = [0.0, 1.0]
    for wrong, message in [
        ([0.0, 1.0, 2.0], "an observation has 3 entries; it must have 2"),
        ([0.0, np.nan], "entry 1 of the observation is NaN; it must be finite"),
        ([np.inf, 0.0], "entry 0 of the observation is inf; it must be finite"),
    ]:
        with pytest.raises(ValueError, match=message):
            agent.step(wrong, 0, 1.0, x, mu=0.5, gamma_next=0.9)
        with pytest.raises(ValueError, match=message):
            agent.step(x, 0, 1.0, wrong, mu=0.5, gamma_next=0.9)
        with pytest.raises(ValueError, match=message):
            agent.probabilities(wrong)
        with pytest.raises(ValueError, match=message):
            agent.sample(wrong, np.random.default_rng(0))
    assert agent.steps == 0
    batch = steps(lambda x: np.pad(x, ((0, 0), (0, 1))), agent)
    with pytest.raises(ValueError, match="an observation has 3 entries; it must have 2"):
        agent.learn(batch)
    with pytest.raises(
        TypeError, match="the batch has 8 active features, action numbers; a learner with .* needs"
    ):
        agent.learn(steps(TileCoder(LOW, HIGH, 4, 8), agent))
    refusing = learners(TileCoder(LOW, HIGH, 4, 8, outside="refuse"), None)[0]
    with pytest.raises(ValueError, match="entry 0 of the observation is 9, outside of the bounds -1 to 3"):
        refusing.step([9.0, 0.0], 0, 1.0, x, mu=0.5, gamma_next=0.9)


def test_parts_must_see_the_same_observations() -> None:
    tiles = TileCoder(LOW, HIGH, 4, 8)
    with pytest.raises(TypeError, match="policy and critic must see the same states"):
        learners(tiles, FourierBasis([0, 0, 0], [1, 1, 1], 2))
    with pytest.raises(TypeError, match="in the same form"):
        learners(tiles, tiles.features)
    with pytest.raises(
        TypeError, match="they must be Dense, Active, OneHot, Table or a basis such as TileCoder"
    ):
        emphatic.Softmax("tiles", actions=2)  # type: ignore[arg-type]


def test_a_file_with_a_wrong_basis_is_refused(tmp_path: Path) -> None:
    agent = learners(TileCoder(LOW, HIGH, 4, 8), None)[0]
    agent.save(tmp_path / "agent")
    data = (tmp_path / "agent").read_bytes()
    quote = b'\\"'
    for right, wrong, message in [
        (b"tilings@:8", b"tilings@:0", "`tilings` is 0; it must be a whole number"),
        (b"kind@:@tiles@", b"kind@:@title@", "there is no basis `title`"),
        (b"tilings@:8", b"tiling@: 8", "the basis `tiles` has no setting `tiling`"),
    ]:
        right, wrong = right.replace(b"@", quote), wrong.replace(b"@", quote)
        assert right in data and len(right) == len(wrong)
        (tmp_path / "wrong").write_bytes(data.replace(right, wrong))
        with pytest.raises(ValueError, match=message):
            emphatic.load(tmp_path / "wrong")
