"""Tile coding: binary features of a box."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import convert
from .parts import Active

# The bound of an unbounded dimension, such as CartPole's velocities: infinity or the largest float32.
_UNBOUNDED = float(np.finfo(np.float32).max)


class TileCoder:
    """Tile coding of the box from `low` to `high` by `tilings` grids, each displaced by a part of a tile.

    An observation activates one tile of each tiling, so every call returns `tilings` indices out of `len`. `tiles` says how many tiles span the box, one number or one for each dimension; each tiling has one
    more, so that it covers the box when displaced. Observations outside are moved to the edge of the box.

    The displacements of the dimensions are 1, 3, 5, … parts of a tile, so that the tilings do not line up
    along the diagonal. They are spread best if `tilings` is a power of two, and at least four times the
    number of dimensions.

    >>> coder = TileCoder([-1.2, -0.07], [0.6, 0.07], tiles=8, tilings=8)
    >>> coder.len
    648
    >>> coder([-0.4, 0.01])
    array([ 31, 112, 194, 274, 365, 446, 526, 608])
    """

    len: int
    tilings: int

    def __init__(self, low: ArrayLike, high: ArrayLike, tiles: int | Sequence[int], tilings: int) -> None:
        self.low, self.high = _box(low, high)
        self.tiles = _tiles(tiles, self.low.size)
        self.tilings = convert.count(tilings, "tilings")
        sides = [count + 1 for count in self.tiles]
        self.len = self.tilings * prod(sides)
        if self.len > np.iinfo(np.int64).max:
            raise ValueError(f"there are {self.len} features, tilings times tiles; there must be fewer")
        # The number of a tile is the dot product of its coordinates and the strides.
        self._strides = np.array([prod(sides[i + 1 :]) for i in range(self.low.size)], np.int64)
        self._first = np.arange(self.tilings, dtype=np.int64) * prod(sides)
        steps = np.outer(np.arange(self.tilings), 2 * np.arange(self.low.size) + 1)
        self._displacements = steps % self.tilings / self.tilings

    @property
    def features(self) -> Active:
        """The features as a policy or a critic takes them."""
        return Active(self.len, self.tilings)

    def __call__(self, observation: ArrayLike) -> NDArray[np.int64]:
        """The active features: `[tilings]`, or `[..., tilings]` of observations `[..., dimensions]`."""
        values = np.asarray(observation)
        if values.dtype.kind not in "iuf":
            raise TypeError(f"the observation has dtype {values.dtype}; it must be numbers")
        if values.ndim == 0 or values.shape[-1] != self.low.size:
            right = f"({self.low.size},) or (..., {self.low.size})"
            raise ValueError(f"the observation has the shape {values.shape}; it must be {right}")
        if np.isnan(values).any():
            raise ValueError(f"the observation has NaN in it: {values}")
        share = (np.clip(values.astype(np.float64), self.low, self.high) - self.low) / (self.high - self.low)
        # The upper edge belongs to the last tile.
        at = np.minimum(share * self.tiles, np.nextafter(np.array(self.tiles, np.float64), 0.0))
        tile = np.floor(at[..., None, :] + self._displacements).astype(np.int64)
        return np.asarray(tile @ self._strides + self._first, np.int64)

    def __repr__(self) -> str:
        low, high = self.low.tolist(), self.high.tolist()
        return f"TileCoder(low={low}, high={high}, tiles={list(self.tiles)}, tilings={self.tilings})"


def _box(low: ArrayLike, high: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    lower = np.atleast_1d(np.array(low, np.float64))
    upper = np.atleast_1d(np.array(high, np.float64))
    if lower.ndim != 1 or lower.shape != upper.shape or lower.size == 0:
        raise ValueError(
            f"low has the shape {lower.shape} and high {upper.shape}; both must have a number for each dimension"
        )
    for i, (a, b) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        if not b - a < _UNBOUNDED:
            raise ValueError(
                f"dimension {i} reaches from {a} to {b}, which no number of tiles covers; "
                "give finite low and high, such as the range that observations really have"
            )
        if not a < b:
            raise ValueError(f"dimension {i} reaches from {a} to {b}; low must be less than high")
    return lower, upper


def _tiles(tiles: int | Sequence[int], dimensions: int) -> tuple[int, ...]:
    if np.ndim(tiles) == 0:
        return (convert.count(tiles, "tiles"),) * dimensions
    counts = tuple(convert.count(count, f"tiles[{i}]") for i, count in enumerate(np.asarray(tiles).tolist()))
    if len(counts) != dimensions:
        right = f"one number, or one for each of {dimensions} dimensions"
        raise ValueError(f"tiles has {len(counts)} numbers; it must be {right}")
    return counts
