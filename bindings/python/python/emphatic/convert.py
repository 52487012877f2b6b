"""What users write, as the arrays that the native code reads; or an error that says what would be right."""

from __future__ import annotations

import math
from importlib import import_module
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# How far a sum of probabilities may be from one.
ROUNDING = 1e-9


def anything(value: Any, name: str, right: str) -> npt.NDArray[Any]:
    """An array of whatever it is."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name} is masked in places; fill them or leave them out")
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} is no array ({error}); it must be {right}") from None


def array(value: Any, name: str) -> npt.NDArray[Any]:
    """An array of real numbers, of whatever kind."""
    found = anything(value, name, "real numbers")
    if found.dtype.kind not in "fiu":
        raise TypeError(f"{name} has dtype {found.dtype}; it must be real numbers")
    return found


def readable(array: npt.NDArray[Any]) -> Floats:
    """Contiguous and aligned float64, copied only if it is not."""
    return np.require(array, np.float64, ["C", "A"])


def floats(value: Any, name: str, ndim: int) -> Floats:
    """A contiguous and aligned array of float64 with so many dimensions."""
    found = array(value, name)
    if found.ndim != ndim:
        raise ValueError(f"{name} has the shape {found.shape}; it must have {_dimensions(ndim)}")
    return readable(found)


def ints(value: Any, name: str, ndim: int) -> Ints:
    """A contiguous and aligned array of int64, none negative, with so many dimensions."""
    found = array(value, name)
    if found.size == 0:
        found = found.astype(np.int64)
    if found.dtype.kind == "f":
        raise TypeError(
            f"{name} has dtype {found.dtype}; it must be whole numbers: active features, or states by number"
        )
    if found.ndim != ndim:
        raise ValueError(f"{name} has the shape {found.shape}; it must have {_dimensions(ndim)}")
    if found.size and (found.min() < 0 or found.max() > np.iinfo(np.int64).max):
        raise IndexError(
            f"{name} has the entry {found[(found < 0) | (found > np.iinfo(np.int64).max)][0]}; numbers count from 0"
        )
    return np.require(found, np.int64, ["C", "A"])


def vector(value: Any, name: str) -> Floats:
    """A vector of features."""
    _check_there(value, name)
    return floats(value, name, 1)


def active(value: Any, name: str) -> Ints:
    """A list of active features."""
    _check_there(value, name)
    return ints(value, name, 1)


def _check_there(value: Any, name: str) -> None:
    if value is None:
        raise TypeError(f"{name} is None; only beyond an end (gamma_next = 0) may x_next be left open")


def normalised(rows: Floats) -> Floats:
    """Probabilities that sum to one but for the rounding of float32, made to; all others as they are."""
    sums = rows.sum(axis=-1, keepdims=True)
    off = abs(sums - 1)
    return np.asarray(rows / np.where((off > ROUNDING) & (off <= 1e-6), sums, 1.0), np.float64)


def library(name: str) -> Any:
    """A library that not everybody needs."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ImportError(f"this needs {name}: pip install {name}") from None


def _dimensions(count: int) -> str:
    return "one dimension" if count == 1 else f"{count} dimensions"


def count(value: Any, name: str, least: int = 1, most: int = 2**64 - 1) -> int:
    """A whole number within bounds."""
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
    """A finite real number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} is {value!r}; it must be a real number")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ValueError(f"{name} is {found}; it must be finite")
    return found
