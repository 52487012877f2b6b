"""Arguments, checked and converted to what the native module reads. An error says what would be right."""

from __future__ import annotations

import math
import re
from importlib import import_module
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# How far a sum of probabilities may be from one.
ROUNDING = 1e-9

_LARGEST_INT = np.iinfo(np.int64).max


def anything(value: Any, name: str, right: str) -> Array:
    """Returns an array of any type."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name} is masked in places; fill them or leave them out")
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} is no array ({error}); it must be {right}") from None


def of_kind(value: Any, name: str, kinds: str, right: str) -> Array:
    """Returns an array with one of the kinds of dtype."""
    found = anything(value, name, right)
    if found.dtype.kind not in kinds:
        raise TypeError(f"{name} has dtype {found.dtype} and shape {found.shape}; it must be {right}")
    return found


def array(value: Any, name: str) -> Array:
    """Returns an array of real numbers."""
    found = anything(value, name, "real numbers")
    if found.dtype.kind not in "fiu":
        raise TypeError(f"{name} has dtype {found.dtype}; it must be real numbers")
    return found


def readable(array: Array) -> Floats:
    """Returns contiguous and aligned float64, copied only if the array is not."""
    return np.require(array, np.float64, ["C", "A"])


def numbers(array: Array, name: str) -> Array:
    """Returns contiguous and aligned float64 or int64, copied only if the array is not."""
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # A number that is too large becomes infinite and is refused.
            return readable(array)
    if array.dtype.kind == "u" and array.size and array.max() > _LARGEST_INT:
        raise ValueError(f"{name} has {array.max()}, which is larger than any int64")
    return np.require(array, np.int64, ["C", "A"])


def first(wrong: npt.NDArray[np.bool_]) -> tuple[int, ...] | None:
    """Returns the index of the first wrong number, None if there is none."""
    return tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.any() else None


def finite(array: Floats, name: str) -> Floats:
    """Refuses a number that is not finite."""
    at = first(~np.isfinite(array))
    if at is not None:
        raise ValueError(f"{name}[{', '.join(map(str, at))}] is {array[at]}; it must be finite")
    return array


def broadcast(value: npt.ArrayLike, name: str, shape: tuple[int, ...]) -> Floats:
    """Returns an array of this shape, from a number or an array with as many dimensions."""
    found = array(value, name).astype(np.float64)
    # Fewer dimensions would be taken for the last ones: [S, A] for [A, S] where both fit.
    if found.ndim in (0, len(shape)):
        try:
            return np.broadcast_to(found, shape)
        except ValueError:
            pass
    raise ValueError(f"{name} has the shape {found.shape}; it must be a number or have the shape {shape}")


def floats(value: Any, name: str, ndim: int) -> Floats:
    """Returns a contiguous and aligned array of float64 with this many dimensions."""
    found = array(value, name)
    if found.ndim != ndim:
        raise ValueError(f"{name} has the shape {found.shape}; it must have {_dimensions(ndim)}")
    return readable(found)


def ints(value: Any, name: str, ndim: int) -> Ints:
    """Returns a contiguous and aligned array of int64, none negative, with this many dimensions."""
    found = array(value, name)
    if found.size == 0:
        found = found.astype(np.int64)
    if found.dtype.kind == "f":
        raise TypeError(
            f"{name} has dtype {found.dtype}; it must be whole numbers: active features, or states by number"
        )
    if found.ndim != ndim:
        raise ValueError(f"{name} has the shape {found.shape}; it must have {_dimensions(ndim)}")
    if found.size and (found.min() < 0 or found.max() > _LARGEST_INT):
        wrong = found[(found < 0) | (found > _LARGEST_INT)][0]
        raise IndexError(f"{name} has the entry {wrong}; numbers count from 0")
    return np.require(found, np.int64, ["C", "A"])


def vector(value: Any, name: str) -> Floats:
    """Returns a vector of features."""
    _check_there(value, name)
    return floats(value, name, 1)


def active(value: Any, name: str) -> Ints:
    """Returns a list of active features."""
    _check_there(value, name)
    return ints(value, name, 1)


def observations(value: Any, dimensions: int) -> Floats:
    """Returns observations [..., dimensions] as contiguous and aligned float64."""
    found = anything(value, "the observation", "numbers")
    if found.dtype.kind not in "iuf":
        raise TypeError(f"the observation has dtype {found.dtype}; it must be numbers")
    if found.ndim == 0 or found.shape[-1] != dimensions:
        right = f"({dimensions},) or (..., {dimensions})"
        raise ValueError(f"the observation has the shape {found.shape}; it must be {right}")
    with np.errstate(over="ignore"):  # A number that is too large becomes infinite.
        return readable(found)


def _check_there(value: Any, name: str) -> None:
    if value is None:
        raise TypeError(f"{name} is None; only beyond an end (gamma_next = 0) may x_next be left open")


def normalised(rows: Floats) -> Floats:
    """Returns probabilities that sum to one. Those that are off by more than the rounding of float32 are left as they are."""
    sums = rows.sum(axis=-1, keepdims=True)
    off = abs(sums - 1)
    return np.asarray(rows / np.where((off > ROUNDING) & (off <= 1e-6), sums, 1.0), np.float64)


def library(name: str) -> Any:
    """Imports an optional library."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ImportError(f"this needs {name}: pip install {name}") from None


def _dimensions(count: int) -> str:
    return "one dimension" if count == 1 else f"{count} dimensions"


def count(value: Any, name: str, least: int = 1, most: int = 2**64 - 1) -> int:
    """Returns a whole number within bounds."""
    try:
        if isinstance(value, bool):
            raise TypeError
        count = index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be a whole number") from None
    if not least <= count <= most:
        right = f"at least {least}" if count < least else f"at most {most}"
        raise ValueError(f"{name} is {count}; it must be {right}")
    return count


def number(value: Any, name: str) -> float:
    """Returns a finite real number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} is {value!r}; it must be a real number")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ValueError(f"{name} is {found}; it must be finite")
    return found


def of_any_library(given: Any, name: str) -> Array:
    """Returns the numbers of an array of any library; what is on the CPU is not copied."""
    if isinstance(given, np.ndarray) or not hasattr(given, "__dlpack__"):
        found = anything(given, f"`{name}`", "numbers")
        _check_dtype(name, found.dtype.name)
        return found
    if getattr(given, "requires_grad", False):
        reason = "nothing is differentiated through a weight or a target"
        raise ValueError(f"`{name}` requires grad: detach it first ({name}.detach()), {reason}")
    if hasattr(given, "dtype"):  # A dtype that NumPy lacks cannot be read.
        _check_dtype(name, str(given.dtype).removeprefix("torch."))
    try:
        device, _ = given.__dlpack_device__()
        values: Array | None = np.from_dlpack(given) if device == _DLPACK_CPU else None
    except (BufferError, RuntimeError, TypeError, ValueError, AttributeError) as error:
        right = "it must be a dense array on the CPU, outside of jit"
        raise ValueError(f"`{name}` cannot be read ({error}): {right}") from error
    if values is None:
        where = getattr(given, "device", f"number {device}")
        raise ValueError(f"`{name}` is on another device ({where}): move it to the CPU first")
    _check_dtype(name, values.dtype.name)
    return values


# kDLCPU of the DLPack standard.
_DLPACK_CPU = 1


def _check_dtype(name: str, dtype: str) -> None:
    if dtype in ("float16", "bfloat16"):
        raise TypeError(f"`{name}` is {dtype}, too coarse for ratios and traces: convert it to float32")
    if not re.fullmatch(r"float32|float64|u?int\d+|bool", dtype):
        raise TypeError(f"`{name}` is {dtype}: it must be float32, float64, integers or booleans")
