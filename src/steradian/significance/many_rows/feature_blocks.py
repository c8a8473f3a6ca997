"""Features of very many rows, a block at a time: nothing is held that grows with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from steradian.data.directions import Directions
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import AnyArray, Array

MANY_ROWS = 10_000  # from which passes over blocks are quicker than features that are held
_BLOCK_ENTRIES = 1 << 17  # features at a time: they stay in the processor's cache
_FEWEST = 1024  # rows of a block, however many features there are


@dataclass(frozen=True, slots=True)
class FeatureBlocks:
    """Points with their masses, and the features of all levels there.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> x = sr.Sphere().uniform(3000, np.random.default_rng(0))
    >>> blocks = FeatureBlocks(sr.Harmonics(3, 8), x, np.full(3000, 1.0 / 3000.0))
    >>> [phi.shape for phi, _ in blocks]
    [(80, 1638), (80, 1362)]
    """

    hierarchy: Hierarchy
    points: Directions | Array  # n of them
    masses: Array  # (n,)
    single: bool = False  # whether single precision is enough

    def __iter__(self) -> Iterator[tuple[AnyArray, Array]]:
        """Features (q, rows) and masses (rows,)."""
        size = max(_FEWEST, _BLOCK_ENTRIES // self.hierarchy.q(self.hierarchy.levels))
        first, kind = 0, np.float32 if self.single else np.float64
        for x in self._parts(size):
            phi = np.asarray(self.hierarchy.features(x.astype(kind, copy=False)), dtype=kind).T
            yield np.ascontiguousarray(phi), self.masses[first : first + len(x)]
            first += len(x)

    def _parts(self, size: int) -> Iterator[Array]:
        points = self.points
        if isinstance(points, Directions):
            return (x for x, _ in points.blocks(size))
        return (points[k : k + size] for k in range(0, len(points), size))
