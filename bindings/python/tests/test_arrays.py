"""Rollouts as arrays: against the equations, and every kind of wrong argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import emphatic

Array = npt.NDArray[Any]


class Rollout(NamedTuple):
    """Random streams with ends, truncations, and zeros in everything that may be 0."""

    rho: Array
    gamma_next: Array
    truncated: Array
    interest: Array
    reward: Array
    value: Array
    value_next: Array
    lambda_: Array

    @property
    def gamma(self) -> Array:
        return np.asarray(emphatic.gamma_into(self.gamma_next, self.truncated))

    def part(self, steps: slice) -> Rollout:
        return Rollout(*(column[steps] for column in self))

    def returns(self) -> Array:
        return np.asarray(
            emphatic.lambda_returns(
                self.reward,
                self.gamma_next,
                self.value,
                self.value_next,
                self.rho,
                self.lambda_,
                self.truncated,
            )
        )


def some_zeros(rng: np.random.Generator, numbers: Array) -> Array:
    return np.where(rng.random(numbers.shape) < 0.2, 0.0, numbers)


def random_rollout(*shape: int, seed: int = 0) -> Rollout:
    rng = np.random.default_rng(seed)
    value = rng.normal(size=shape)
    truncated = rng.random(shape) < 0.1
    following = np.concatenate([value[1:], rng.normal(size=(1, *shape[1:]))])
    return Rollout(
        rho=some_zeros(rng, rng.exponential(size=shape)),
        gamma_next=some_zeros(rng, rng.random(shape)),
        truncated=truncated,
        interest=some_zeros(rng, rng.exponential(size=shape)),
        reward=rng.normal(size=shape),
        value=value,
        value_next=np.where(truncated, rng.normal(size=shape), following),
        lambda_=some_zeros(rng, rng.random(shape)),
    )


SHAPES = [(1,), (50,), (1, 3), (50, 1), (50, 7), (300, 100)]


@pytest.mark.parametrize("shape", SHAPES)
def test_rho_is_the_ratio_of_probabilities(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    pi, mu = rng.random(shape), rng.random(shape)
    np.testing.assert_allclose(emphatic.rho(np.log(pi), np.log(mu)), pi / mu, rtol=1e-12)
    clipped = emphatic.rho(np.log(pi), np.log(mu), clip=1.5)
    np.testing.assert_allclose(clipped, np.minimum(pi / mu, 1.5), rtol=1e-12)


def test_an_action_that_the_target_never_takes_has_ratio_zero() -> None:
    assert emphatic.rho([-np.inf, 0.0], [-1.0, 0.0]).tolist() == [0.0, 1.0]


def test_an_endless_ratio_is_bounded_by_clip_or_refused() -> None:
    assert emphatic.rho([800.0], [0.0], clip=10.0).tolist() == [10.0]
    with pytest.raises(ValueError, match=r"`rho\[1\]` overflows: bound it by `clip`"):
        emphatic.rho([0.0, 800.0], [0.0, 0.0])
    with pytest.raises(ValueError, match=r"`rho\[0, 0\]` overflows"):
        emphatic.rho(np.array([[100.0]], dtype=np.float32), 0.0)


def test_gamma_into_is_the_discount_of_the_step_before() -> None:
    gamma_next = [[0.9, 0.5], [0.0, 0.5], [0.9, 0.5]]
    assert emphatic.gamma_into(gamma_next).tolist() == [[0.0, 0.0], [0.9, 0.5], [0.0, 0.5]]


def test_gamma_into_is_zero_after_a_truncation() -> None:
    assert emphatic.gamma_into([0.9, 0.8, 0.7], [0, 1, 0]).tolist() == [0.0, 0.9, 0.0]


def test_gamma_into_goes_on_from_a_rollout_before() -> None:
    assert emphatic.gamma_into([[0.9, 0.8]] * 2, first=[0.3, 0.0]).tolist() == [[0.3, 0.0], [0.9, 0.8]]
    assert emphatic.gamma_into([0.9, 0.8], first=0.5).tolist() == [0.5, 0.9]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_trace_and_the_emphasis_are_those_of_the_equations(shape: tuple[int, ...]) -> None:
    r = random_rollout(*shape)
    expected = np.empty(shape)
    for t in range(shape[0]):
        before = r.rho[t - 1] * expected[t - 1] if t > 0 else 0.0
        expected[t] = r.gamma[t] * before + r.interest[t]
    np.testing.assert_allclose(emphatic.follow_on(r.rho, r.gamma, r.interest), expected, rtol=1e-12)
    for lambda_a in (0.0, 0.3, 1.0):
        weights = emphatic.emphasis(r.rho, r.gamma, r.interest, lambda_a)
        np.testing.assert_allclose(weights, (1 - lambda_a) * r.interest + lambda_a * expected, rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_returns_are_those_of_the_equations(shape: tuple[int, ...]) -> None:
    r = random_rollout(*shape)
    expected = np.empty(shape)
    for t in reversed(range(shape[0])):
        delta = r.reward[t] + r.gamma_next[t] * r.value_next[t] - r.value[t]
        rest = np.zeros(shape[1:])
        if t + 1 < shape[0]:
            rest = r.gamma_next[t] * r.lambda_[t + 1] * (expected[t + 1] - r.value[t + 1])
        expected[t] = r.value[t] + r.rho[t] * (delta + np.where(r.truncated[t], 0.0, rest))
    np.testing.assert_allclose(r.returns(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("how", ["ended", "truncated"])
def test_two_episodes_in_one_stream_are_the_two_alone(how: str) -> None:
    r = random_rollout(60, 3)
    r.gamma_next[24] = 0.0 if how == "ended" else 0.9
    r.truncated[24] = how == "truncated"
    first, second = r.part(slice(25)), r.part(slice(25, 60))
    whole = emphatic.emphasis(r.rho, r.gamma, r.interest, 0.7)
    alone = [emphatic.emphasis(e.rho, e.gamma, e.interest, 0.7) for e in (first, second)]
    np.testing.assert_array_equal(whole, np.concatenate(alone))
    np.testing.assert_array_equal(r.returns(), np.concatenate([first.returns(), second.returns()]))


@pytest.mark.parametrize("shape", [(60,), (60, 3)])
def test_a_rollout_in_chunks_is_the_whole(shape: tuple[int, ...]) -> None:
    r = random_rollout(*shape)
    carried: Any = None
    discount: Any = 0.0
    weights = []
    for chunk in (r.part(slice(0, 1)), r.part(slice(1, 20)), r.part(slice(20, 60))):
        gamma = emphatic.gamma_into(chunk.gamma_next, chunk.truncated, first=discount)
        weights.append(emphatic.emphasis(chunk.rho, gamma, chunk.interest, 0.7, initial=carried))
        trace = emphatic.follow_on(chunk.rho, gamma, chunk.interest, initial=carried)
        carried = chunk.rho[-1] * trace[-1]
        discount = np.where(chunk.truncated[-1], 0.0, chunk.gamma_next[-1])
    whole = emphatic.emphasis(r.rho, r.gamma, r.interest, 0.7)
    np.testing.assert_array_equal(np.concatenate(weights), whole)


def test_one_number_for_initial_stands_for_every_stream() -> None:
    trace = emphatic.follow_on(np.ones((1, 2)), [[0.5, 0.25]], initial=4.0)
    assert trace.tolist() == [[3.0, 2.0]]


def test_on_policy_without_bootstrapping_the_return_is_that_of_monte_carlo() -> None:
    r = random_rollout(20, 4)
    r.gamma_next[-1] = 0.0
    expected = np.zeros(4)
    for t in reversed(range(20)):
        expected = r.reward[t] + r.gamma_next[t] * expected
    following = np.concatenate([r.value[1:], np.zeros((1, 4))])
    returns = emphatic.lambda_returns(r.reward, r.gamma_next, r.value, following, 1.0, 1.0)
    np.testing.assert_allclose(returns[0], expected, rtol=1e-12, atol=1e-12)


def test_with_lambda_zero_the_return_is_the_weighted_one_step_target() -> None:
    r = random_rollout(20, 4)
    returns = emphatic.lambda_returns(r.reward, r.gamma_next, r.value, r.value_next, r.rho, 0.0, r.truncated)
    target = r.reward + r.gamma_next * r.value_next
    np.testing.assert_allclose(returns, r.rho * target + (1 - r.rho) * r.value, rtol=1e-12, atol=1e-12)


def test_the_forward_view_is_the_backward_view() -> None:
    """Summed over time, (G - v) x is delta e with the trace of GTD(lambda)."""
    r = random_rollout(40)
    x = np.random.default_rng(2).normal(size=(40, 5))
    trace, backward = np.zeros(5), np.zeros(5)
    for t in range(40):
        trace = r.rho[t] * (r.gamma[t] * r.lambda_[t] * trace + x[t])
        backward += (r.reward[t] + r.gamma_next[t] * r.value_next[t] - r.value[t]) * trace
    np.testing.assert_allclose((r.returns() - r.value) @ x, backward, rtol=1e-12, atol=1e-12)


def test_a_trace_that_has_overflowed_starts_afresh() -> None:
    huge = [1e200, 1e200, 1.0, 1.0, 1.0]
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert emphatic.follow_on(huge, [0, 1, 1, 0, 1]).tolist() == [1.0, 1e200, np.inf, 1.0, 2.0]
        assert emphatic.follow_on([1e200, 1e200, 0.0, 1.0, 1.0], 1.0).tolist()[3:] == [1.0, 2.0]
    assert emphatic.follow_on([1.0], [0.0], initial=np.inf).tolist() == [1.0]


@pytest.mark.filterwarnings("ignore:.*overflow:RuntimeWarning")
@pytest.mark.parametrize("interest", [1.0, 1e308])
@pytest.mark.parametrize("lambda_a", [0.0, 0.3, 1.0])
def test_the_emphasis_of_arrays_is_that_of_learners_to_the_bit(lambda_a: float, interest: float) -> None:
    """The formula stood here a second time, and learners made 0 · ∞ of a ratio of 0 after an overflow."""
    rng = np.random.default_rng(3)
    critic = emphatic.GTD(0.0, 0.0)
    trace = emphatic.FollowOn(lambda_a)
    agent = emphatic.ACE(emphatic.Softmax(emphatic.OneHot(1), 2), critic, emphasis=trace, alpha=0.0)
    gamma_next = some_zeros(rng, rng.random(200))
    gamma_next[rng.random(200) < 0.5] = 1.0
    updates = []
    for gamma in gamma_next:
        # The second action is never taken by the target. (Without end, even a step of size 0 is not a number.)
        agent.weights = [[0.0, -800.0]]
        action = int(rng.random() < 0.1)
        mu = float(rng.uniform(0.2, 1))
        updates.append(agent.step(0, action, 0.0, 0, mu=mu, gamma_next=gamma, interest=interest))
    rho = np.array([update.rho for update in updates])
    gamma = emphatic.gamma_into(gamma_next)
    emphasis = emphatic.emphasis(rho, gamma, lambda_a=lambda_a, interest=np.full(200, interest))
    assert (rho == 0).any() and np.isinf(emphasis).any() == (interest > 1 and lambda_a > 0)
    np.testing.assert_array_equal(emphasis, [update.emphasis for update in updates])


def test_no_emphasis_has_no_use_for_a_trace_that_has_overflowed() -> None:
    assert emphatic.emphasis([1e200] * 4, 1.0, 3.0, lambda_a=0.0).tolist() == [3.0] * 4


def test_a_return_that_has_overflowed_does_not_reach_another_episode() -> None:
    with pytest.warns(RuntimeWarning, match="overflow"):
        returns = emphatic.lambda_returns([1.0, 1e308, 1e308], [0.0, 1.0, 1.0], 0.0, 0.0, 1.0, 1.0)
    assert returns.tolist() == [1.0, np.inf, 1e308]


RHO = np.ones((5, 2))
RHO[1:3, 1] = 1e200


@pytest.mark.parametrize(
    ("compute", "where"),
    [
        (lambda: emphatic.emphasis(RHO, 1.0), r"emphasis, first at \[3, 1\]: .* float64; .*`clip`"),
        (lambda: emphatic.follow_on(RHO, 1.0), r"follow_on, first at \[3, 1\]"),
        (lambda: emphatic.follow_on(RHO[:, 1], 1.0), r"follow_on, first at \[3\]"),
        (
            lambda: emphatic.follow_on(RHO.clip(max=1e20).astype(np.float32), 1.0),
            r"first at \[3, 1\]: it is too large for float32",
        ),
        (lambda: emphatic.follow_on(RHO, 1.0, initial=[np.inf, 0]), r"first at \[3, 1\]"),
        (
            lambda: emphatic.lambda_returns(RHO, 1.0, 0.0, 0.0, RHO, 1.0),
            r"lambda_returns, first at \[2, 1\]: .*`lambda_`",
        ),
        (
            lambda: emphatic.lambda_returns([1e308], 1.0, -1e308, 1.0, 1.0, 1.0),
            r"lambda_returns, first at \[0\]",
        ),
    ],
)
def test_an_overflow_is_warned_of(compute: Callable[[], Any], where: str) -> None:
    """Regression: weights and targets became inf in silence. It is said where they first did, and what would help."""
    with pytest.warns(RuntimeWarning, match=f"^overflow in .*{where}") as caught:
        assert not np.isfinite(compute()).all()
    assert len(caught) == 1 and caught[0].filename == __file__


def test_a_trace_that_is_known_to_have_overflowed_is_not_warned_of() -> None:
    assert emphatic.follow_on([1.0, 1.0], 1.0, initial=np.inf).tolist() == [np.inf] * 2


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_no_steps_give_no_numbers(shape: tuple[int, ...]) -> None:
    r = random_rollout(*shape) if shape[0] > 0 else Rollout(*[np.zeros(shape)] * 8)
    for result in (emphatic.emphasis(r.rho, r.gamma), r.returns(), emphatic.rho(r.rho, r.rho), r.gamma):
        assert result.shape == shape


def test_numbers_and_lists_and_single_columns_broadcast() -> None:
    rho, gamma = np.full((4, 3), 2.0), np.full((4, 3), 0.5)
    expected = emphatic.emphasis(rho, gamma, np.full((4, 3), 1.5))
    for others in ((rho, 0.5, 1.5), ([[2] * 3] * 4, [[0.5]] * 4, [[1.5] * 3]), (2, gamma, np.float32(1.5))):
        np.testing.assert_array_equal(emphatic.emphasis(*others), expected)


def test_arrays_in_any_order_of_memory_are_read() -> None:
    r = random_rollout(30, 4)
    weird = np.asfortranarray(r.rho), np.repeat(r.gamma, 2, axis=1)[:, ::2], r.interest[::-1].copy()[::-1]
    np.testing.assert_array_equal(emphatic.emphasis(*weird), emphatic.emphasis(r.rho, r.gamma, r.interest))


def test_no_argument_is_written_to_or_given_back() -> None:
    r = random_rollout(20, 3)
    gamma = r.gamma
    given = [*r, gamma]
    before = [array.copy() for array in given]
    for array in given:
        array.flags.writeable = False
    results = [
        emphatic.rho(r.value, r.value_next),
        emphatic.gamma_into(r.gamma_next, r.truncated),
        emphatic.follow_on(r.rho, gamma, r.interest, initial=r.rho[0]),
        emphatic.emphasis(r.rho, gamma, r.interest, 0.0),
        r.returns(),
    ]
    for result in results:
        assert result.flags.writeable
        assert not any(np.shares_memory(result, array) for array in given)
    for array, same in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, same)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_result_has_the_dtype_of_the_first_floats(dtype: type[np.floating[Any]]) -> None:
    rho = np.full(3, 0.1, dtype=dtype)
    integers = np.ones(3, dtype=np.int64)
    for result in (
        emphatic.rho(-rho, -1.0),
        emphatic.gamma_into(rho, integers),
        emphatic.follow_on(rho, np.zeros(3)),
        emphatic.emphasis(integers, rho),
        emphatic.lambda_returns(rho, 0.5, np.zeros(3), 0.0, 1.0, 0.5),
    ):
        assert result.dtype == dtype
    assert emphatic.follow_on(integers, 1).dtype == np.float64
    assert emphatic.follow_on([1.0, 1.0], np.ones(2, dtype=dtype)).dtype == dtype


def test_float32_is_computed_in_float64() -> None:
    r = random_rollout(200)
    rho, gamma = r.rho.astype(np.float32), r.gamma.astype(np.float32)
    exact = emphatic.follow_on(rho.astype(np.float64), gamma.astype(np.float64))
    np.testing.assert_array_equal(emphatic.follow_on(rho, gamma), exact.astype(np.float32))


def test_pytorch_gives_pytorch() -> None:
    torch = pytest.importorskip("torch")
    r = random_rollout(30, 4)
    for dtype, numpy_dtype in ((torch.float32, np.float32), (torch.float64, np.float64)):
        rho, gamma_next = torch.tensor(r.rho, dtype=dtype), torch.tensor(r.gamma_next, dtype=dtype)
        gamma = emphatic.gamma_into(gamma_next, torch.tensor(r.truncated))
        weights = emphatic.emphasis(rho, gamma, initial=rho[0])
        assert isinstance(weights, torch.Tensor)
        assert weights.dtype == gamma.dtype == dtype
        numpy_gamma = gamma.numpy()
        expected = emphatic.emphasis(r.rho.astype(numpy_dtype), numpy_gamma, initial=rho[0].numpy())
        np.testing.assert_array_equal(weights.numpy(), expected)
    batch_first = torch.tensor(r.rho).T.contiguous()
    np.testing.assert_array_equal(emphatic.follow_on(batch_first.T, 0.5), emphatic.follow_on(r.rho, 0.5))
    assert isinstance(emphatic.rho([-1.0], torch.tensor([-1.0])), torch.Tensor)
    assert emphatic.follow_on(torch.tensor([1, 1]), 1).dtype == torch.float64


def test_what_pytorch_cannot_give_is_refused() -> None:
    torch = pytest.importorskip("torch")
    ones = torch.ones(3)
    with pytest.raises(ValueError, match=r"`gamma` requires grad: detach it first \(gamma.detach\(\)\)"):
        emphatic.emphasis(ones, torch.ones(3, requires_grad=True))
    with pytest.raises(ValueError, match=r"`rho` requires grad"):
        emphatic.emphasis(torch.nn.Parameter(ones), 0.5)
    with pytest.raises(ValueError, match=r"`rho` cannot be read .*on the CPU"):
        emphatic.emphasis(torch.ones(3, device="meta"), 0.5)
    for dtype in ("float16", "bfloat16"):
        with pytest.raises(TypeError, match=f"`rho` is {dtype}, too coarse .* convert it to float32"):
            emphatic.emphasis(ones.to(getattr(torch, dtype)), 0.5)
    with pytest.raises(TypeError, match="`rho` is complex64"):
        emphatic.emphasis(ones.to(torch.complex64), 0.5)


def test_jax_gives_jax() -> None:
    jax = pytest.importorskip("jax")
    r = random_rollout(30, 4)
    rho, gamma_next = jax.numpy.asarray(r.rho), jax.numpy.asarray(r.gamma_next)
    gamma = emphatic.gamma_into(gamma_next, jax.numpy.asarray(r.truncated))
    weights = emphatic.emphasis(rho, gamma)
    assert isinstance(weights, jax.Array)
    assert weights.dtype == gamma.dtype == rho.dtype
    np.testing.assert_array_equal(np.asarray(weights), emphatic.emphasis(np.asarray(rho), np.asarray(gamma)))
    with pytest.raises(TypeError, match="`rho` is bfloat16"):
        emphatic.emphasis(rho.astype("bfloat16"), gamma)
    with pytest.raises(ValueError, match="outside of jit"):
        jax.jit(emphatic.follow_on)(rho, gamma)


class Bare:
    """All that DLPack asks for, and no more."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, Any]:
        return self.values.__dlpack_device__()


def test_whatever_speaks_dlpack_is_read() -> None:
    """Regression: it had to have a `dtype`, too."""
    rho, pyarrow = np.array([2.0, 0.5, 1.0]), pytest.importorskip("pyarrow")
    expected = emphatic.emphasis(rho, 0.9)
    for given in (Bare(rho), pyarrow.array(rho)):
        np.testing.assert_array_equal(emphatic.emphasis(given, 0.9), expected)
    with pytest.raises(TypeError, match="`rho` is complex128"):
        emphatic.emphasis(Bare(rho.astype(complex)), 0.9)


def test_misaligned_arrays_are_read() -> None:
    bytes_ = np.zeros(8 * 6 + 1, np.uint8)
    rho = bytes_[1:].view(np.float64).reshape(3, 2)
    assert not rho.flags.aligned
    rho[:] = 0.5
    np.testing.assert_array_equal(emphatic.emphasis(rho, 0.9), emphatic.emphasis(rho.copy(), 0.9))
    np.testing.assert_array_equal(emphatic.rho(rho, rho), np.ones((3, 2)))


class Elsewhere:
    """An array on a GPU, as far as one can see."""

    dtype = "float32"
    device = "cuda:1"

    def __dlpack__(self, *, stream: Any = None) -> Any:
        raise AssertionError("must not be asked")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 1


def test_another_device_is_refused() -> None:
    with pytest.raises(ValueError, match=r"`rho` is on another device \(cuda:1\): move it to the CPU first"):
        emphatic.emphasis(Elsewhere(), 0.5)


def call(**changed: Any) -> None:
    """Calls the function that has such an argument, all others right."""
    ones = np.ones((4, 3))
    functions: dict[Any, str] = {
        emphatic.emphasis: "rho gamma interest lambda_a initial",
        emphatic.rho: "log_pi log_mu clip",
        emphatic.gamma_into: "gamma_next truncated first",
        emphatic.lambda_returns: "reward gamma_next value value_next rho lambda_ truncated",
    }
    for function, names in functions.items():
        arguments = {
            name: 1.0 if name in ("lambda_a", "initial", "clip", "first") else ones for name in names.split()
        }
        if changed.keys() <= arguments.keys():
            function(**arguments | changed)


def with_one(number: float) -> Array:
    array = np.ones((4, 3))
    array[2, 1] = number
    return array


@pytest.mark.parametrize(
    ("name", "numbers", "right"),
    [
        ("rho", [np.nan, np.inf, -0.1], "finite and not negative"),
        ("gamma", [np.nan, -0.1, 1.1], "between 0 and 1"),
        ("gamma_next", [np.nan, -0.1, 1.1], "between 0 and 1"),
        ("interest", [np.nan, np.inf, -0.1], "finite and not negative"),
        ("lambda_", [np.nan, -0.1, 1.1], "between 0 and 1"),
        ("truncated", [np.nan, -1.0, 0.5], "true or false"),
        ("log_pi", [np.nan, np.inf], "finite, or -inf for an action that the target never takes"),
        ("log_mu", [np.nan, np.inf, -np.inf], "finite: the behaviour took this action"),
        ("reward", [np.nan, np.inf], "finite"),
        ("value", [np.nan, -np.inf], "finite"),
        ("value_next", [np.nan, np.inf], "finite"),
    ],
)
def test_a_wrong_number_is_refused_with_its_place(name: str, numbers: list[float], right: str) -> None:
    for number in numbers:
        with pytest.raises(ValueError) as error:
            call(**{name: with_one(number)})
        assert str(error.value) == f"`{name}[2, 1]` is {number}: it must be {right}"
    with pytest.raises(ValueError) as error:
        call(**{name: float("nan")})
    assert str(error.value) == f"`{name}` is nan: it must be {right}"


@pytest.mark.parametrize(
    ("name", "numbers", "right"),
    [
        ("lambda_a", [np.nan, -0.1, 1.1], "between 0 and 1"),
        ("clip", [np.nan, -0.1], "not negative"),
        ("initial", [np.nan, -0.1], "not negative"),
        ("first", [np.nan, -0.1, 1.1], "between 0 and 1"),
    ],
)
def test_a_wrong_setting_is_refused(name: str, numbers: list[float], right: str) -> None:
    for number in numbers:
        with pytest.raises(ValueError) as error:
            call(**{name: number})
        assert str(error.value) == f"`{name}` is {number}: it must be {right}"


def test_the_place_in_one_stream_is_one_number() -> None:
    with pytest.raises(ValueError, match=r"^`rho\[1\]` is nan"):
        emphatic.emphasis([1.0, np.nan], 0.5)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"gamma": np.ones((4, 2))},
            "`gamma` has the shape (4, 2), but `rho` has (4, 3): they must be equal",
        ),
        (
            {"interest": np.ones(3)},
            "`interest` has the shape (3,), but `rho` has (4, 3): add [:, None] for one",
        ),
        (
            {"value": np.ones((4, 3, 1))},
            "`value` has the shape (4, 3, 1): it must be [time, batch] or [time]",
        ),
        ({"initial": np.ones(4)}, "`initial` has the shape (4,): it must be (3,) for the shape (4, 3)"),
        ({"first": np.ones((1, 3))}, "`first` has the shape (1, 3): it must be (3,) for the shape (4, 3)"),
        ({"lambda_a": [0.5]}, "`lambda_a` has the shape (1,): it must be one number"),
        ({"rho": [[1.0, 2.0], [3.0]]}, "`rho` is no array"),
    ],
)
def test_a_wrong_shape_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:
        call(**changed)
    assert str(error.value).startswith(message)


def test_initial_of_one_stream_is_one_number() -> None:
    with pytest.raises(ValueError, match=r"`initial` has the shape \(2,\): it must be one number"):
        emphatic.follow_on([1.0, 1.0], 0.5, initial=[1.0, 1.0])


def test_without_any_array_there_is_no_time() -> None:
    with pytest.raises(ValueError, match="`rho`, `gamma`, `interest`: all are numbers"):
        emphatic.emphasis(1.0, 0.5)


@pytest.mark.parametrize("wrong", ["abc", ["a", "b"], None, [None, 1.0], 1j, np.ones(3, dtype=np.float16)])
def test_what_is_no_number_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^`rho` is "):
        call(rho=wrong)
