"""Tile coding: binary features of a box."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .bases import Basis

if TYPE_CHECKING:
    from .parts import Active


class TileCoding(Basis):
    """Tile coding of the box from `low` to `high` by `tilings` grids, each displaced by a part of a tile.

    An observation activates one tile of each tiling, so every call returns `tilings` indices out of `len`, and with `bias` one
    more. `tiles` says how many tiles span the box, one number or one for each dimension; each tiling has one
    more, so that it covers the box when displaced. Observations outside are moved to the edge of the box, unless `outside` says otherwise.

    The displacements of the dimensions are 1, 3, 5, … parts of a tile, so that the tilings do not line up
    along the diagonal. They are spread best if `tilings` is a power of two, and at least four times the
    number of dimensions.

    >>> from emphatic import Softmax, TileCoder
    >>> coder = TileCoder([-1.2, -0.07], [0.6, 0.07], tiles=8, tilings=8)
    >>> coder.len
    648
    >>> coder([-0.4, 0.01])
    array([ 31, 112, 194, 274, 365, 446, 526, 608])

    Experience can be coded when it is collected (`collect(..., features=coder)` for a policy with `coder.features`), or by the
    learner, which then takes the observations themselves:

    >>> Softmax(coder, actions=3)
    Softmax(features=TileCoder(low=[-1.2, -0.07], high=[0.6, 0.07], tiles=[8, 8], tilings=8), actions=3)
    """

    @property
    def features(self) -> Active:
        """The active features as a policy or a critic takes them: for observations that have been coded before."""
        from .parts import Active

        return Active(self.len, self._basis.most_active)

    def __call__(self, observations: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The active features: `[tilings]`, or `[..., tilings]` of observations `[..., dimensions]`; with `bias`, one more."""
        return self._basis.active(observations)

    def collisions(self, observations: npt.ArrayLike) -> tuple[int, int]:
        """In how many tiles these observations lie, and how many of the tiles share their feature with another. Without `memory` none
        does.

        >>> import numpy
        >>> from emphatic import TileCoder
        >>> coder = TileCoder([0, 0], [1, 1], tiles=9, tilings=2, memory=50)
        >>> tiles, shared = coder.collisions(numpy.random.default_rng(1).random((1000, 2)))
        >>> shared / tiles > 0.8
        True
        """
        return self._basis.collisions(observations)
