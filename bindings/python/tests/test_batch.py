"""Columns of transitions: what they become, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from agents import same
from emphatic import ACE, GTD, Batch, Dense, Softmax

FLOATS = ["reward", "mu", "gamma", "gamma_next", "interest"]


def columns(**changes: Any) -> dict[str, Any]:
    """Four steps of two features: the second truncated, the last terminated."""
    usual = {
        "x": [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [3.0, 4.0]],
        "action": [0, 1, 0, 1],
        "reward": [1.0, 2.0, 3.0, 4.0],
        "x_next": [[1.0, 2.0], [9.0, 9.0], [3.0, 4.0], [4.0, 5.0]],
        "mu": [0.5, 0.25, 0.5, 0.25],
        "gamma_next": [0.9, 0.8, 0.7, 0.0],
        "truncated": [False, True, False, False],
    }
    return usual | changes


def test_gamma_is_that_of_the_step_before_but_0_at_first_and_after_a_time_limit() -> None:
    np.testing.assert_array_equal(Batch(**columns()).gamma, [0.0, 0.9, 0.0, 0.7])
    np.testing.assert_array_equal(Batch(**columns(truncated=None)).gamma, [0.0, 0.9, 0.8, 0.7])


def test_a_gamma_that_is_given_stays() -> None:
    np.testing.assert_array_equal(Batch(**columns(gamma=[0.5, 0.1, 0.2, 1])).gamma, [0.5, 0.1, 0.2, 1.0])


def test_what_is_left_out() -> None:
    batch = Batch(**columns(truncated=None))
    np.testing.assert_array_equal(batch.interest, [1.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(batch.terminated, [False, False, False, True])
    np.testing.assert_array_equal(batch.truncated, [False, False, False, False])


def test_one_number_stands_for_all_steps() -> None:
    batch = Batch(**columns(mu=1, gamma_next=0.5, interest=np.float32(2)))
    for column, value in [(batch.mu, 1.0), (batch.gamma_next, 0.5), (batch.interest, 2.0)]:
        assert column.dtype == np.float64
        np.testing.assert_array_equal(column, [value] * 4)


@pytest.mark.parametrize(
    ("x", "dtype", "shape"),
    [
        (np.ones((4, 3), np.float32), np.float64, (4, 3)),
        (np.asfortranarray(np.ones((4, 3))), np.float64, (4, 3)),
        (np.ones((4, 6))[:, ::2], np.float64, (4, 3)),
        ([[1, 2], [3, 4], [5, 6], [7, 8]], np.int64, (4, 2)),
        (np.arange(4, dtype=np.uint8), np.int64, (4,)),
        (range(4), np.int64, (4,)),
    ],
)
def test_x_becomes_contiguous_floats_or_integers(x: Any, dtype: type, shape: tuple[int, ...]) -> None:
    batch = Batch(**columns(x=x, x_next=x))
    for column in (batch.x, batch.x_next):
        assert column.dtype == dtype and column.shape == shape and column.flags.c_contiguous
    np.testing.assert_array_equal(batch.x, np.asarray(x))


def test_actions_are_numbers_or_real() -> None:
    assert Batch(**columns(action=np.array([0, 1, 0, 1], np.int32))).action.dtype == np.int64
    assert Batch(**columns(action=np.array([0, 1, 0, 1], np.float32))).action.dtype == np.float64


def test_what_has_the_right_type_is_not_copied() -> None:
    reward = np.arange(4.0)
    assert Batch(**columns(reward=reward)).reward is reward


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": [[1.0]] * 3}, r"x has the shape \(3, 1\); with 4 actions it must be \(4,\) or \(4, n\)"),
        ({"x": np.ones((4, 2, 2))}, r"x has the shape \(4, 2, 2\)"),
        ({"x": 1.0}, r"x has the shape \(\)"),
        ({"x": [[1.0], [1.0, 2.0], [1.0], [1.0]]}, "x is no array "),
        ({"x_next": [[1.0]] * 4}, r"x has the shape \(4, 2\) and x_next \(4, 1\)"),
        ({"action": [[0], [1], [0], [1]]}, r"action has the shape \(4, 1\); it must be \(T,\)"),
        ({"action": 1}, r"action has the shape \(\)"),
        ({"reward": 1.0}, r"reward has the shape \(\); it must be \(4,\)"),
        ({"gamma": 0.5}, r"gamma has the shape \(\); it must be \(4,\)"),
        ({"mu": [0.5]}, r"mu has the shape \(1,\); it must be \(4,\)"),
        ({"terminated": [True]}, r"terminated has the shape \(1,\); it must be \(4,\)"),
    ]
    + [({name: [0.5] * 5}, rf"{name} has the shape \(5,\); it must be \(4,\)") for name in FLOATS],
)
def test_a_wrong_shape_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="^" + message):
        Batch(**columns(**change))


@pytest.mark.parametrize("name", ["x", "x_next", "action", *FLOATS])
@pytest.mark.parametrize("bad", [["a"] * 4, [1j] * 4, [True] * 4, [None] * 4, np.zeros(4, "datetime64[s]")])
def test_what_is_no_number_is_refused(name: str, bad: Any) -> None:
    with pytest.raises(TypeError, match=f"^{name} has dtype"):
        Batch(**columns(**{name: bad}))


@pytest.mark.parametrize("name", ["mu", "gamma_next", "interest"])
@pytest.mark.parametrize("bad", ["a", 1j, True, None])
def test_one_number_that_is_no_number_is_refused(name: str, bad: Any) -> None:
    with pytest.raises(TypeError, match=f"^{name} has dtype"):
        Batch(**columns(**{name: bad}))


def test_states_that_are_floats_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^x has dtype float64 and shape \(4,\).*state numbers"):
        Batch(**columns(x=np.arange(4.0)))


def test_x_and_x_next_must_be_of_one_kind() -> None:
    with pytest.raises(TypeError, match="^x has dtype int64 and x_next float64"):
        Batch(**columns(x=np.ones((4, 2), np.int64)))


@pytest.mark.parametrize("name", ["terminated", "truncated"])
def test_flags_must_be_booleans(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name} has dtype int64.*astype\(bool\)"):
        Batch(**columns(**{name: np.array([0, 0, 0, 1])}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"action": [0, 1, -1, 0]}, "action is -1 at step 2; actions are numbered from 0"),
        ({"action": [0.0, 1.0, np.nan, 0.0]}, "action is nan at step 2"),
        ({"x": [0, 1, -2, 3]}, "x is -2 at step 2"),
        ({"x": [[0, 1], [0, -3], [-1, 0], [0, 0]]}, "x is -3 at step 1"),
        ({"x": [[0.0, 1.0], [np.inf, 0.0], [0.0, 0.0], [0.0, 0.0]]}, "x is inf at step 1; it must be finite"),
        ({"x_next": [[0.0, 1.0], [0.0, np.nan], [0.0, 0.0], [0.0, 0.0]]}, "x_next is nan at step 1"),
        ({"x": np.array([0, 1, 2**63, 3], np.uint64)}, "x has 9223372036854775808, which is larger"),
        ({"reward": [0, 0, np.inf, 0]}, "reward is inf at step 2"),
        ({"mu": [0.5, 0.0, 0.5, 0.5]}, "mu is 0.0 at step 1"),
        ({"mu": [0.5, 5e-324, 0.5, 0.5]}, "mu is 5e-324 at step 1"),
        ({"mu": [0.5, 0.5, -1, 0.5]}, "mu is -1.0 at step 2"),
        ({"mu": np.nan}, "mu is nan at step 0"),
        ({"mu": np.inf}, "mu is inf at step 0"),
        ({"mu": 1.5}, "mu is 1.5 at step 0; a probability is at most 1"),
        ({"gamma_next": [1, 1.1, 1, 0]}, "gamma_next is 1.1 at step 1"),
        ({"gamma_next": [1, 1, 1, np.nan]}, "gamma_next is nan at step 3"),
        ({"gamma": [0, -0.1, 1, 0]}, "gamma is -0.1 at step 1"),
        ({"interest": [0, -1, 1, 0]}, "interest is -1.0 at step 1"),
        ({"interest": np.inf}, "interest is inf at step 0"),
        (
            {"gamma_next": 0.9, "terminated": [False, False, True, False]},
            "gamma_next is 0.9 at step 2; a terminated",
        ),
    ],
)
def test_the_first_bad_step_is_named(change: dict[str, Any], message: str) -> None:
    if "x" in change and np.asarray(change["x"]).dtype.kind in "iu":
        change = change | {"x_next": np.zeros(np.shape(change["x"]), np.int64)}
    with pytest.raises(ValueError, match="^" + message):
        Batch(**columns(**change))


def test_a_density_may_be_larger_than_1() -> None:
    assert Batch(**columns(action=[0.1, 0.2, 0.3, 0.4], mu=3.5)).mu[0] == 3.5


def test_an_end_without_a_discount_need_not_be_an_end() -> None:
    """A discount may be 0 where experience goes on."""
    batch = Batch(**columns(terminated=[False] * 4))
    assert not batch.terminated.any()


def test_a_time_limit_that_was_made_an_end_is_warned_of() -> None:
    """`done = terminated | truncated` is the commonest mistake; but an end may fall on a time limit."""
    flags = {"terminated": [False, False, False, True], "truncated": [False, True, False, False]}
    with pytest.warns(
        RuntimeWarning, match="step 1 is truncated and not terminated, but its gamma_next is 0"
    ):
        Batch(**columns(gamma_next=[0.9, 0, 0.7, 0], **flags))
    Batch(**columns(gamma_next=0, **flags))  # A bandit has no discounts at all.
    Batch(**columns(**flags))


def test_a_slice_shares_memory_and_keeps_its_gamma() -> None:
    batch = Batch(**columns())
    part = batch[1:3]
    assert len(part) == 2
    np.testing.assert_array_equal(part.gamma, [0.9, 0.0])
    for name, column in part._columns().items():
        assert np.shares_memory(column, getattr(batch, name)), name
        np.testing.assert_array_equal(column, getattr(batch, name)[1:3])


def test_slices_may_be_open_negative_or_empty() -> None:
    batch = Batch(**columns())
    parts = (batch[:], batch[-1:], batch[2:2], batch[1:100], batch[:3:1])
    assert [len(part) for part in parts] == [4, 1, 0, 3, 3]


@pytest.mark.parametrize("key", [0, -1, np.int64(1), [0, 1], np.array([True] * 4), "x", (1, 2), None])
def test_only_slices_cut(key: Any) -> None:
    with pytest.raises(TypeError, match="cut by slices"):
        Batch(**columns())[key]


@pytest.mark.parametrize("step", [2, -1])
def test_slices_go_step_by_step(step: int) -> None:
    with pytest.raises(ValueError, match=rf"^a slice by {step} leaves steps out"):
        Batch(**columns())[1::step]


def test_a_batch_is_not_iterated() -> None:
    with pytest.raises(TypeError, match="not iterable"):
        iter(Batch(**columns()))  # type: ignore[call-overload]


def test_slices_make_up_the_batch_again() -> None:
    batch = Batch(**columns())
    same(Batch.concatenate(batch[a:b] for a, b in [(0, 1), (1, 1), (1, 4)]), batch)


def test_concatenated_batches_begin_afresh() -> None:
    batch = Batch(**columns(gamma_next=0.9))
    twice = Batch.concatenate([batch, batch])
    np.testing.assert_array_equal(twice.gamma, [0, 0.9, 0, 0.9, 0, 0.9, 0, 0.9])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": np.ones((4, 3)), "x_next": np.ones((4, 3))}, "batches.1. has 3 features, action numbers"),
        ({"x": np.arange(4), "x_next": np.arange(4)}, "batches.1. has state numbers"),
        ({"x": [[1, 2]] * 4, "x_next": [[1, 2]] * 4}, "batches.1. has 2 active features"),
        ({"action": [0.5] * 4}, "batches.1. has 2 features, real actions, batches.0. has 2 features, action"),
    ],
)
def test_only_like_batches_are_concatenated(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="^" + message):
        Batch.concatenate([Batch(**columns()), Batch(**columns(**change))])


def test_nothing_cannot_be_concatenated() -> None:
    with pytest.raises(ValueError, match="at least one batch"):
        Batch.concatenate([])
    with pytest.raises(TypeError, match=r"batches\[0\] is a int"):
        Batch.concatenate([1])  # type: ignore[list-item]


def test_repr_says_what_is_in_it() -> None:
    assert repr(Batch(**columns())) == "Batch(4 steps, 2 features, action numbers, 1 terminated, 1 truncated)"


def test_columns_cannot_be_replaced_but_can_be_changed() -> None:
    batch = Batch(**columns())
    with pytest.raises(AttributeError):
        batch.reward = np.zeros(4)  # type: ignore[misc]
    batch.interest[:] = [1, 2, 3, 4]
    assert batch.interest[2] == 3


@pytest.mark.parametrize("again", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_a_batch_can_be_copied_and_sent(again: Any) -> None:
    batch = Batch(**columns())
    other = again(batch)
    for name, column in batch._columns().items():
        np.testing.assert_array_equal(getattr(other, name), column)
        assert not np.shares_memory(getattr(other, name), column)


def test_no_steps_at_all() -> None:
    none = Batch(np.empty((0, 2)), np.empty(0, np.int64), [], np.empty((0, 2)), mu=0.5, gamma_next=1.0)
    assert len(none) == 0 and none.gamma.shape == (0,)


def test_a_batch_that_goes_on_from_another_continues_the_traces() -> None:
    """Chunks of one stream, put into batches apart, once lost their traces at every cut."""
    rng = np.random.default_rng(1)
    x, action, reward = rng.normal(size=(101, 3)), rng.integers(2, size=100), rng.normal(size=100)

    def batch(first: int, last: int, gamma: float) -> Batch:
        cut = slice(first, last)
        return Batch(
            x[cut], action[cut], reward[cut], x[first + 1 : last + 1], mu=0.5, gamma_next=0.9, first=gamma
        )

    def learned(*batches: Batch) -> bytes:
        agent = ACE(Softmax(Dense(3), 2), GTD(0.1, 0.01, 0.9), alpha=0.1)
        for batch in batches:
            agent.learn(batch)
        return agent.weights.tobytes()

    assert learned(batch(0, 50, 0.0), batch(50, 100, 0.9)) == learned(batch(0, 100, 0.0))
    assert learned(batch(0, 50, 0.0), batch(50, 100, 0.0)) != learned(batch(0, 100, 0.0))
    with pytest.raises(ValueError, match="first is 2.0 at step 0; a discount lies between 0 and 1"):
        batch(0, 50, 2.0)


def test_what_lies_beyond_an_end_is_not_looked_at() -> None:
    agent, other = (ACE(Softmax(Dense(2), 2), GTD(0.1, 0.01, 0.9), alpha=0.1) for _ in range(2))
    for learner, beyond in ((agent, np.nan), (other, 7.0)):
        learner.learn(
            Batch(
                np.ones((2, 2)), [0, 1], [1, 2], np.array([[1, 1], [beyond, 0]]), mu=0.5, gamma_next=[0.9, 0]
            )
        )
    assert agent.weights.tobytes() == other.weights.tobytes()
    with pytest.raises(ValueError, match="x_next is nan at step 0"):
        Batch(np.ones((2, 2)), [0, 1], [1, 2], np.array([[np.nan, 1], [1, 1]]), mu=0.5, gamma_next=[0.9, 0])
