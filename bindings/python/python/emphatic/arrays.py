"""Emphasis for your own networks: weights and targets of whole rollouts, as arrays.

All functions take rollouts as arrays ``[time, batch]``, or ``[time]`` for one stream. Any mix of NumPy
arrays, PyTorch tensors, JAX arrays (whatever has ``__dlpack__``, on the CPU), lists and plain numbers will
do:

- A number stands for every step. Arrays of two dimensions broadcast as in NumPy: ``[time, 1]`` is one number
  a step, ``[1, batch]`` one a stream. One dimension does not broadcast to two: ``[time]`` could be mistaken
  for ``[batch]``.
- The result is a new array of the library and dtype (float32 or float64) of the first argument that is an
  array of floats. Everything is computed in float64. Half precision is refused: it is too coarse for ratios.
- Nothing is differentiated through. The results are weights and targets: detach what requires grad, and call
  from outside of ``jax.jit`` and ``jax.grad``.
- No argument is changed.

One update of ACE, where ``log_pi`` and ``value`` come from networks of your own::

    rho = emphatic.rho(log_pi.detach(), log_mu)
    gamma = emphatic.gamma_into(gamma_next, truncated)
    weight = emphatic.emphasis(rho, gamma, lambda_a=0.9)
    returns = emphatic.lambda_returns(reward, gamma_next, value.detach(), value_next, rho, lambda_=0.0)
    advantage = returns - value.detach()  # has the factor rho already
    actor_loss = -(weight * advantage * log_pi).mean()
    critic_loss = 0.5 * ((returns - value) ** 2).mean()
"""

from __future__ import annotations

import itertools
import sys
import warnings
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _native, convert
from .convert import Array, Floats

__all__ = ["emphasis", "follow_on", "gamma_into", "lambda_returns", "rho"]


class SupportsDLPack(Protocol):
    """An array of any library that shares its memory, such as a tensor of PyTorch."""

    def __dlpack__(self, *, stream: Any = ...) -> Any: ...

    def __dlpack_device__(self) -> tuple[Any, Any]: ...


Numbers: TypeAlias = "npt.ArrayLike | SupportsDLPack"
"""What the functions take: an array of any library, a list or a number."""


def rho(log_pi: Numbers, log_mu: Numbers, clip: float | None = None) -> Any:
    """The ratios rho_t = pi(A_t|S_t) / mu(A_t|S_t) of the actions taken: ``exp(log_pi - log_mu)``.

    ``log_pi`` and ``log_mu`` are the log-probabilities (or log-densities) of the action taken, under the
    target and under the behaviour. The target may exclude it (-inf gives 0), the behaviour may not. ``clip``
    bounds the ratio from above, which trades variance for bias. The result has the same bits on every
    machine.

    >>> rho([-0.5, -1.0, -3.0], [-1.0, -1.0, -1.0], clip=1.5)
    array([1.5       , 1.        , 0.13533528])
    """
    rollout = _Rollout(log_pi=log_pi, log_mu=log_mu)
    above = np.inf if clip is None else _number("clip", clip)
    ratios = rollout.numbers(_native.rho(rollout["log_pi"], rollout["log_mu"], above))
    _refuse("rho", np.isinf(ratios), "overflows: bound it by `clip`")
    return rollout.like(ratios)


def gamma_into(gamma_next: Numbers, truncated: Numbers | None = None, first: Numbers = 0.0) -> Any:
    """The discounts gamma_t *into* S_t, from those *out of* it: ``gamma[t] = gamma_next[t - 1]``.

    A step after a truncation (a time limit) comes from another episode, so it has gamma 0, though
    ``gamma_next`` of the truncated step is not 0. After an end ``gamma_next`` is 0 already. ``first`` is
    ``gamma[0]``, a number or one for each stream: 0 where an episode starts. If the rollout goes on from one
    before it, ``first`` is ``gamma_next`` of that one's last step, and 0 where that is truncated.

    >>> gamma_into([0.9, 0.9, 0.0, 0.9, 0.9], truncated=[False, True, False, False, False])
    array([0. , 0.9, 0. , 0. , 0.9])
    """
    rollout = _Rollout(gamma_next=gamma_next, truncated=False if truncated is None else truncated)
    gamma = np.empty(rollout.shape)
    gamma[:1] = rollout.row("first", first)
    gamma[1:] = np.where(rollout["truncated"], 0.0, rollout["gamma_next"])[:-1]
    return rollout.like(rollout.numbers(gamma))


def follow_on(rho: Numbers, gamma: Numbers, interest: Numbers = 1.0, initial: Numbers | None = None) -> Any:
    """The follow-on trace F_t = gamma_t rho_{t-1} F_{t-1} + i_t, :func:`emphasis` with ``lambda_a=1``.

    A trace that has overflowed is inf, until a factor of 0 starts it afresh; there is a warning.

    >>> follow_on(rho=[2.0, 0.5, 1.0, 1.0], gamma=[0.0, 0.9, 0.9, 0.0])
    array([1.  , 2.8 , 2.26, 1.  ])
    """
    rollout, weights, carried = _weights(rho, gamma, interest, 1.0, initial)
    _warn_of_overflow("follow_on", weights, _SMALLER, known=np.isinf(carried))
    return rollout.like(weights)


def emphasis(
    rho: Numbers,
    gamma: Numbers,
    interest: Numbers = 1.0,
    lambda_a: float = 0.9,
    initial: Numbers | None = None,
) -> Any:
    """The emphasis M_t = (1 - lambda_a) i_t + lambda_a F_t, where F_t = gamma_t rho_{t-1} F_{t-1} + i_t.

    Weight the policy's loss of each step by it. ``lambda_a=1`` is full emphasis, the gradient; ``lambda_a=0``
    is none, the semi-gradient of the usual off-policy methods; values between trade bias for variance.

    ``rho`` is that of the action taken at t (see :func:`rho`), ``gamma`` the discount *into* S_t (see
    :func:`gamma_into`), 0 where an episode starts.

    A long rollout can come in chunks: ``initial`` is rho_{t-1} F_{t-1} of the step before the first, a number
    or one for each stream. It is ``rho[-1] * F[-1]`` of the chunk before, where F is its :func:`follow_on`
    (with its own ``initial``):

    >>> rho, gamma = np.array([2.0, 0.5, 1.0]), np.array([0.0, 0.9, 0.9])
    >>> whole = emphasis(rho, gamma, lambda_a=0.5)
    >>> F = follow_on(rho[:2], gamma[:2])
    >>> bool(emphasis(rho[2:], gamma[2:], lambda_a=0.5, initial=rho[1] * F[1])[0] == whole[2])
    True

    Without ``initial`` the trace starts from F = 0, whatever ``gamma[0]`` is. If the trace overflows, there is a
    warning.
    """
    rollout, weights, carried = _weights(rho, gamma, interest, lambda_a, initial)
    _warn_of_overflow("emphasis", weights, _SMALLER, known=np.isinf(carried))
    return rollout.like(weights)


def _weights(
    rho: Numbers, gamma: Numbers, interest: Numbers, lambda_a: float, initial: Numbers | None
) -> tuple[_Rollout, Array, Floats]:
    """Returns the emphasis as a NumPy array, and what the trace starts from."""
    rollout = _Rollout(rho=rho, gamma=gamma, interest=interest)
    carried = rollout.row("initial", 0.0 if initial is None else initial)
    fraction = _number("lambda_a", lambda_a)
    weights = _native.emphasis(rollout["rho"], rollout["gamma"], rollout["interest"], fraction, carried)
    return rollout, rollout.numbers(weights), carried


def lambda_returns(
    reward: Numbers,
    gamma_next: Numbers,
    value: Numbers,
    value_next: Numbers,
    rho: Numbers,
    lambda_: Numbers,
    truncated: Numbers | None = None,
) -> Any:
    """Off-policy lambda-returns G_t, each decision weighted by its ratio, with the value as control variate::

        G_t - v_t = rho_t (delta_t + gamma_{t+1} lambda_{t+1} (G_{t+1} - v_{t+1}))
        delta_t   = R_{t+1} + gamma_{t+1} v(S_{t+1}) - v_t

    ``reward`` is R_{t+1}, ``gamma_next`` the discount of the step out of S_t, 0 if it ends the episode.
    ``value`` is v(S_t) and ``value_next`` v(S_{t+1}): ``value`` one row on, except in truncated rows and the
    last one, after which comes another episode or nothing. In those G_t - v_t is ``rho * delta``: the return
    bootstraps from ``value_next`` alone. (Where ``gamma_next`` is 0 it may be any finite number.)

    ``lambda_`` is a number or an array. In an array it belongs to S_t, as all names do: row t uses
    ``lambda_[t + 1]``, and the first is not used. 1 is no bootstrapping, 0 is one step; it has nothing to do
    with ``lambda_a``.

    This is the forward view of GTD(lambda): with fixed values, (G_t - v_t) x_t summed over an episode is
    delta_t e_t summed over it, with the trace e_t = rho_t (gamma_t lambda_t e_{t-1} + x_t). ``G - value`` has
    the factor rho_t already: weight the policy's loss by ``emphasis * (G - value)``, without another rho. If a return
    overflows, there is a warning.

    >>> lambda_returns(
    ...     reward=[0, 2], gamma_next=[1, 0], value=[1, 1.5], value_next=[1.5, 0], rho=[1, 4], lambda_=1
    ... )
    array([3.5, 3.5])
    """
    rollout = _Rollout(
        reward=reward,
        gamma_next=gamma_next,
        value=value,
        value_next=value_next,
        rho=rho,
        lambda_=lambda_,
        truncated=False if truncated is None else truncated,
    )
    # The last row and truncated ones have no next row: as if lambda were 0 there.
    lambda_next = np.zeros(rollout.shape)
    lambda_next[:-1] = np.where(rollout["truncated"][:-1], 0.0, rollout["lambda_"][1:])
    found = _native.lambda_returns(
        rollout["reward"],
        rollout["gamma_next"],
        rollout["value"],
        rollout["value_next"],
        rollout["rho"],
        lambda_next,
    )
    returns = rollout.numbers(found)
    _warn_of_overflow(
        "lambda_returns",
        returns,
        "smaller ratios (`rho` with `clip`), a smaller `lambda_`, or rewards and values of another scale",
        backwards=True,
    )
    return rollout.like(returns)


_LARGEST = sys.float_info.max
_FRACTION = (0.0, 1.0, "between 0 and 1")
_FINITE = (-_LARGEST, _LARGEST, "finite")
_WEIGHT = (0.0, _LARGEST, "finite and not negative")

# The range of each argument: least, largest, in words.
_RANGES = {
    "log_pi": (-np.inf, _LARGEST, "finite, or -inf for an action that the target never takes"),
    "log_mu": (-_LARGEST, _LARGEST, "finite: the behaviour took this action"),
    "clip": (0.0, np.inf, "not negative"),
    "gamma": _FRACTION,
    "gamma_next": _FRACTION,
    "first": _FRACTION,
    "truncated": (0.0, 1.0, "true or false"),
    "rho": _WEIGHT,
    "interest": _WEIGHT,
    "initial": (0.0, np.inf, "not negative"),
    "lambda_a": _FRACTION,
    "lambda_": _FRACTION,
    "reward": _FINITE,
    "value": _FINITE,
    "value_next": _FINITE,
}


class _Rollout:
    """The arguments of a function, checked, as arrays of one shape [time, batch]."""

    def __init__(self, **given: Numbers) -> None:
        self._values = {name: _checked(name, numbers) for name, numbers in given.items()}
        self._shape = _common_shape(self._values)
        self._like = _first_floats(given, self._values)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape in two dimensions."""
        return self._shape[0], self._shape[1] if len(self._shape) == 2 else 1

    def __getitem__(self, name: str) -> Floats:
        full = np.broadcast_to(self._values[name], self._shape)
        return convert.readable(full).reshape(self.shape)

    def row(self, name: str, given: Numbers) -> Floats:
        """Returns an argument with one number for each stream."""
        values = _checked(name, given)
        if values.ndim > 0 and values.shape != self._shape[1:]:
            right = f"{self._shape[1:]} for the shape {self._shape}" if self._shape[1:] else "one number"
            raise ValueError(f"`{name}` has the shape {values.shape}: it must be {right}")
        return convert.readable(np.broadcast_to(values, self.shape[1:]))

    def numbers(self, result: Floats) -> Array:
        """Returns a result in the shape and dtype of the arguments."""
        with np.errstate(over="ignore"):
            return result.reshape(self._shape).astype(self._like[1], copy=False)

    def like(self, result: Array) -> Any:
        """Returns a result in the library of the arguments."""
        given, _ = self._like
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(given, torch.Tensor):
            return torch.from_numpy(result)
        if isinstance(given, np.ndarray) or not hasattr(given, "__array_namespace__"):
            return result
        return given.__array_namespace__().asarray(result, device=given.device)


def _first_floats(given: dict[str, Numbers], values: dict[str, Array]) -> tuple[Any, Any]:
    """Returns the first argument that is an array of floats, else the first array, and the dtype of the result."""
    is_array = {
        name: hasattr(value, "dtype") or hasattr(value, "__dlpack__") for name, value in given.items()
    }
    arrays = [name for name in given if is_array[name] and values[name].ndim > 0]
    for name in arrays:
        if values[name].dtype.kind == "f":
            return given[name], values[name].dtype.newbyteorder("=")
    return given[arrays[0]] if arrays else None, np.dtype(np.float64)


def _common_shape(values: dict[str, Array]) -> tuple[int, ...]:
    """Returns the shape that all arguments broadcast to."""
    arrays = {name: array.shape for name, array in values.items() if array.ndim > 0}
    if not arrays:
        names = ", ".join(f"`{name}`" for name in values)
        raise ValueError(f"{names}: all are numbers, at least one must be an array [time, batch] or [time]")
    for name, shape in arrays.items():
        if len(shape) > 2:
            raise ValueError(f"`{name}` has the shape {shape}: it must be [time, batch] or [time]")
    for (other, wanted), (name, shape) in itertools.combinations(arrays.items(), 2):
        both = f"`{name}` has the shape {shape}, but `{other}` has {wanted}"
        if len(shape) != len(wanted):
            raise ValueError(f"{both}: add [:, None] for one number a step, [None, :] for one a stream")
        if any(n != m and 1 not in (n, m) for n, m in zip(shape, wanted, strict=True)):
            raise ValueError(f"{both}: they must be equal, or 1 where one number stands for all")
    return np.broadcast_shapes(*arrays.values())


def _number(name: str, given: Numbers) -> float:
    values = _checked(name, given)
    if values.ndim > 0:
        raise ValueError(f"`{name}` has the shape {values.shape}: it must be one number")
    return float(values)


def _checked(name: str, given: Numbers) -> Array:
    """Returns the numbers of an argument, or refuses one out of its range."""
    values = convert.of_any_library(given, name)
    least, largest, right = _RANGES[name]
    # NaN fails both comparisons.
    if values.size > 0 and not (least <= float(values.min()) and float(values.max()) <= largest):
        _refuse(name, ~((values >= least) & (values <= largest)), f"must be {right}", values)
    if name == "truncated":
        _refuse(name, (values != 0) & (values != 1), f"must be {right}", values)
    return values


_SMALLER = "smaller ratios (`rho` with `clip`), or `gamma` 0 where an episode starts"


def _warn_of_overflow(
    name: str, result: Array, help: str, known: npt.NDArray[np.bool_] | None = None, backwards: bool = False
) -> None:
    """Warns of the first overflow, in the order of computation, except in streams where it is `known`."""
    wrong = ~np.isfinite(result)
    if known is not None:
        wrong &= ~known.reshape(result.shape[1:])
    if wrong.any():
        where = np.argwhere(wrong)
        index = ", ".join(map(str, where[-1 if backwards else 0]))
        warnings.warn(
            f"overflow in {name}, first at [{index}]: it is too large for {result.dtype}; what helps: {help}",
            RuntimeWarning,
            stacklevel=3,
        )


def _refuse(name: str, wrong: npt.NDArray[np.bool_], what: str, values: Array | None = None) -> None:
    """Refuses the first wrong number, if there is one."""
    where = convert.first(wrong)
    if where is not None:
        index = f"[{', '.join(map(str, where))}]" if where else ""
        number = "" if values is None else f" is {values[where]}: it"
        raise ValueError(f"`{name}{index}`{number} {what}")
