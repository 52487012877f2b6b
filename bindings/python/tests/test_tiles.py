"""Tile coding: which tiles are active, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from emphatic import Active, TileCoder


def by_hand(low: list[float], high: list[float], tiles: list[int], tilings: int, at: Any) -> list[int]:
    """The definition, one tile at a time."""
    active = []
    for tiling in range(tilings):
        tile = 0
        for j in range(len(low)):
            value = min(max(at[j], low[j]), high[j])
            displacement = (tiling * (2 * j + 1) / tilings) % 1.0
            share = (value - low[j]) / (high[j] - low[j]) * tiles[j]
            if value == high[j]:
                share = tiles[j] - 1e-12
            tile = tile * (tiles[j] + 1) + int(share + displacement)
        per_tiling = int(np.prod([count + 1 for count in tiles]))
        active.append(tiling * per_tiling + tile)
    return active


def test_one_dimension_by_hand() -> None:
    coder = TileCoder(
        0.0, 4.0, tiles=4, tilings=2
    )  # Tiling 0 begins tiles at 0, 1, 2, 3; tiling 1 at -0.5, 0.5, 1.5, …
    assert coder.len == 10 and coder.tilings == 2
    for at, active in [
        (0.0, [0, 5]),
        (0.49, [0, 5]),
        (0.5, [0, 6]),
        (1.0, [1, 6]),
        (1.5, [1, 7]),
        (3.9, [3, 9]),
    ]:
        np.testing.assert_array_equal(coder([at]), active)


def test_the_definition() -> None:
    low, high, tiles, tilings = [-1.0, 0.0, 10.0], [1.0, 5.0, 20.0], [3, 1, 7], 16
    coder = TileCoder(low, high, tiles, tilings)
    assert coder.len == 16 * 4 * 2 * 8
    at = np.random.default_rng(0).uniform([-1.2, -1, 9], [1.2, 6, 21], (500, 3))
    expected = np.array([by_hand(low, high, tiles, tilings, row) for row in at])
    np.testing.assert_array_equal(coder(at), expected)
    assert expected.min() >= 0 and expected.max() < coder.len


def test_leading_dimensions_are_kept() -> None:
    coder = TileCoder([0, 0], [1, 1], 4, 8)
    at = np.random.default_rng(0).random((2, 3, 2))
    active = coder(at)
    assert active.shape == (2, 3, 8) and active.dtype == np.int64
    np.testing.assert_array_equal(active[1, 2], coder(at[1, 2]))
    assert coder(np.empty((0, 2))).shape == (0, 8)


def test_outside_is_the_edge() -> None:
    coder = TileCoder([0, 0], [1, 1], [4, 5], 8)
    np.testing.assert_array_equal(coder([-3, 7]), coder([0, 1]))
    np.testing.assert_array_equal(coder([-np.inf, np.inf]), coder([0, 1]))


@pytest.mark.parametrize("tilings", [1, 3, 8])
def test_the_upper_edge_belongs_to_the_last_tile(tilings: int) -> None:
    for high in (1.0, 0.1, 3.3, 1e-300, 1e30):
        coder = TileCoder([0.0], [high], 10, tilings)
        np.testing.assert_array_equal(coder([high]), coder([high * (1 - 1e-15)]))
        assert coder([high])[0] == 9


def test_tilings_are_displaced_by_1_3_5_parts_of_a_tile() -> None:
    coder = TileCoder([0, 0, 0], [1, 1, 1], 1, 8)
    # On a box of one tile, tiling k first changes where the displacement reaches the next tile.
    for j, parts in enumerate([1, 3, 5]):
        at = np.zeros(3)
        for part in range(8):
            at[j] = (part + 0.5) / 8
            tile = coder(at) // (4, 2, 1)[j] % 2
            np.testing.assert_array_equal(tile, [(part + 0.5 + (k * parts) % 8) >= 8 for k in range(8)])


def test_near_is_alike_and_far_is_not() -> None:
    coder = TileCoder([0, 0], [1, 1], 8, 16)
    here = set(coder([0.5, 0.5]).tolist())
    assert len(here & set(coder([0.51, 0.5]).tolist())) >= 14
    assert not here & set(coder([0.8, 0.2]).tolist())


def test_features_say_how_many() -> None:
    features = TileCoder([0, 0], [1, 1], 4, 8).features
    assert isinstance(features, Active)
    assert (features.len, features.most_active) == (200, 8)


def test_numbers_of_any_kind() -> None:
    coder = TileCoder(np.array([0, 0], np.float32), (10, 10), np.array([5, 5]), np.int64(4))  # type: ignore[arg-type]
    np.testing.assert_array_equal(coder([3, 4]), coder(np.array([3.0, 4.0], np.float32)))


def test_the_box_is_copied() -> None:
    low = np.array([0.0])
    coder = TileCoder(low, [1.0], 4, 1)
    low[0] = 0.9
    assert coder([0.5])[0] == 2


def test_a_coder_can_be_sent() -> None:
    coder = TileCoder([0, 0], [1, 1], 4, 8)
    again = pickle.loads(pickle.dumps(coder))
    np.testing.assert_array_equal(again([0.3, 0.7]), coder([0.3, 0.7]))
    assert repr(again) == "TileCoder(low=[0.0, 0.0], high=[1.0, 1.0], tiles=[4, 4], tilings=8)"


@pytest.mark.parametrize("endless", [np.inf, np.finfo(np.float32).max, np.finfo(np.float64).max])
def test_boxes_without_bounds_are_refused_with_advice(endless: float) -> None:
    with pytest.raises(ValueError, match="dimension 1 reaches from .*give finite low and high"):
        TileCoder([-4.8, -endless], [4.8, endless], 8, 8)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0.0], [0.0, 1.0], 8, 8), ValueError, r"low has the shape \(1,\) and high \(2,\)"),
        (([[0.0]], [[1.0]], 8, 8), ValueError, r"low has the shape \(1, 1\)"),
        (([], [], 8, 8), ValueError, r"low has the shape \(0,\)"),
        (([1.0], [1.0], 8, 8), ValueError, "dimension 0 reaches from 1.0 to 1.0; low must be less than high"),
        (([0.0], [np.nan], 8, 8), ValueError, "give finite low and high"),
        (([0.0], [1.0], 0, 8), ValueError, "tiles is 0; it must be at least 1"),
        (([0.0], [1.0], 2.5, 8), TypeError, "tiles is 2.5; it must be a whole number"),
        (([0.0], [1.0], "8", 8), TypeError, "tiles is '8'; it must be a whole number"),
        (
            ([0.0, 0.0], [1.0, 1.0], [8], 8),
            ValueError,
            "tiles has 1 entries; it must have one for all, or one for each of 2 dimensions",
        ),
        (([0.0, 0.0], [1.0, 1.0], [8, 0], 8), ValueError, r"tiles\[1\] is 0"),
        (([0.0], [1.0], 8, 0), ValueError, "tilings is 0"),
        (([0.0], [1.0], 8, 8.0), TypeError, "tilings is 8.0"),
        (([0.0] * 8, [1.0] * 8, 1000, 8), ValueError, "there would be .* features; at most 268435456"),
    ],
)
def test_what_no_coder_can_be_made_of(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TileCoder(*arguments)


@pytest.mark.parametrize(
    ("observation", "error", "message"),
    [
        ([0.5], ValueError, r"the observation has the shape \(1,\); it must be \(2,\) or \(..., 2\)"),
        (0.5, ValueError, r"the observation has the shape \(\)"),
        ([0.5, np.nan], ValueError, "NaN"),
        (["a", "b"], TypeError, "dtype"),
        ([1j, 1j], TypeError, "dtype complex128"),
    ],
)
def test_what_is_no_observation(observation: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TileCoder([0, 0], [1, 1], 4, 8)(observation)
