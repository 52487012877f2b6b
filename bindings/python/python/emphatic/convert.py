"""What users write, as the arrays that the native code reads; or an error that says what would be right."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def array(value: Any, name: str) -> npt.NDArray[Any]:
    """An array of real numbers, of whatever kind."""
    try:
        found = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} is no array of numbers: {error}") from None
    if found.dtype.kind not in "fiu":
        raise TypeError(f"{name} has dtype {found.dtype}; it must be real numbers")
    return found


def floats(value: Any, name: str, ndim: int) -> Floats:
    """A contiguous and aligned array of float64 with so many dimensions."""
    found = array(value, name)
    if found.ndim != ndim:
        raise ValueError(f"{name} has the shape {found.shape}; it must have {_dimensions(ndim)}")
    return np.require(found, np.float64, ["C", "A"])


def ints(value: Any, name: str, ndim: int) -> Ints:
    """A contiguous and aligned array of int64, none negative, with so many dimensions."""
    found = array(value, name)
    if found.size == 0:
        found = found.astype(np.int64)
    if found.dtype.kind == "f":
        raise TypeError(f"{name} has dtype {found.dtype}; it must be whole numbers")
    if found.ndim != ndim:
        raise ValueError(f"{name} has the shape {found.shape}; it must have {_dimensions(ndim)}")
    if found.size and (found.min() < 0 or found.max() > np.iinfo(np.int64).max):
        raise IndexError(
            f"{name} has the entry {found[(found < 0) | (found > np.iinfo(np.int64).max)][0]}; numbers count from 0"
        )
    return np.require(found, np.int64, ["C", "A"])


def vector(value: Any, name: str) -> Floats:
    """A vector of features."""
    return floats(value, name, 1)


def active(value: Any, name: str) -> Ints:
    """A list of active features."""
    return ints(value, name, 1)


def _dimensions(count: int) -> str:
    return "one dimension" if count == 1 else f"{count} dimensions"
