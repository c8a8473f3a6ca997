"""The unit circle: equispaced nodes, which converge geometrically."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import ducc0
import numpy as np

from steradian.arguments import draws_asked
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.spheres.aliasing import extrapolated_tail, tail_windows
from steradian.numerics.spheres.condensation import condensed_on_circle
from steradian.numerics.spheres.harmonics import circle_harmonics, circle_size, circle_sums
from steradian.spaces.base import Chart, Rule
from steradian.spaces.classical import Classical, bingham, circular_spread, rayleigh
from steradian.spaces.unit_vectors import UnitVectors, refuse_other_dimension

_LADDER = np.array([32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192, 16384, 32768])
_FEW_LEVELS = 8  # up to which small matrices are quicker than Fourier transforms
_FEW_NODES = 512  # likewise, of a few waves
_ROOT_HALF, _ROOT_TWO = np.sqrt([0.5, 2.0])
_CONDENSED = 128  # degree to which few nodes have the sums of many points


@dataclass(frozen=True)
class Circle(UnitVectors):
    """Unit vectors of the plane, with the uniform law.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> sr.Circle().uniform(3, np.random.default_rng(0)).shape
    (3, 2)
    """

    d: int = 2
    name: str = "circle"

    def __post_init__(self) -> None:
        refuse_other_dimension("sr.Circle()", self.d, 2)

    @property
    def chart(self) -> Chart:
        return "circle"

    @property
    def log_area(self) -> float:
        return float(np.log(2.0 * np.pi))

    size = staticmethod(circle_size)
    harmonics = staticmethod(circle_harmonics)
    sums = staticmethod(circle_sums)

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        n, rng = draws_asked(n, self.d, rng)
        angle = rng.uniform(0.0, 2.0 * np.pi, n)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)

    def classical(self, n: int, mean: Array, second: Array) -> tuple[Classical, ...]:
        """The circular standard deviation before the two tests."""
        return *circular_spread(mean), rayleigh(n, mean), bingham(n, second)

    def condensed(self, x: Array, weights: Array) -> tuple[Array, Array]:
        """Nodes and masses with the sums of functions to degree 128."""
        return condensed_on_circle(x, weights, _CONDENSED)

    def grid(self, rung: int) -> CircleGrid:
        return _grid(int(_LADDER[rung]))

    def exact_grid(self, degree: int) -> CircleGrid:
        """The smallest grid exact for harmonics of this degree."""
        return _grid(degree + 1)

    def rules(self) -> int:
        return len(_LADDER)

    def rule(self, rung: int) -> Rule:
        grid = self.grid(rung)
        return Rule(grid.points, grid.weights)

    def rungs(self) -> int:
        return len(_LADDER)

    def fine_rungs(self) -> int:
        return len(_LADDER)


@dataclass(frozen=True, eq=False)
class CircleGrid:
    """``nodes`` equispaced angles starting at 0."""

    nodes: int

    @property
    def reach(self) -> int:
        return self.nodes - 1

    @cached_property
    def points(self) -> Array:
        angle = np.arange(self.nodes) * (2.0 * np.pi / self.nodes)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)

    @cached_property
    def weights(self) -> Array:
        return np.full(self.nodes, 1.0 / self.nodes)

    @lru_cache(maxsize=64)  # noqa: B019 - grids are few and live for the whole run
    def _harmonics(self, degree: int) -> Array:
        return np.ascontiguousarray(circle_harmonics(self.points, degree).T)

    def waves_to_values(self, lam: Array, constant: Array | float = 0.0) -> Array:
        """Σ_k lam_k φ_k of ``lam`` (…, q), and a constant (…,): (…, nodes), by one transform."""
        level = lam.shape[-1] // 2
        waves = np.zeros((*lam.shape[:-1], self.nodes // 2 + 1), dtype=complex)
        waves[..., 0] = constant
        pairs = np.ascontiguousarray(lam).view(complex)  # of cosine and sine
        np.multiply(pairs, _ROOT_HALF, out=waves[..., 1 : level + 1])
        return np.asarray(ducc0.fft.c2r(waves, axes=(-1,), lastsize=self.nodes, forward=True))

    def values_to_waves(self, values: Array, degree: int) -> Array:
        """∫ values φ dν of functions (…, nodes), for degree 0..degree: (…, size)."""
        waves = ducc0.fft.r2c(values, axes=(-1,), forward=False, inorm=2)
        out = np.empty((*values.shape[:-1], circle_size(degree)))
        out[..., 0] = waves[..., 0].real
        np.multiply(waves[..., 1 : degree + 1], _ROOT_TWO, out=out[..., 1:].view(complex))
        return out

    def synthesize(self, lam: Array) -> Array:
        if lam.shape[1] // 2 > _FEW_LEVELS and self.nodes > lam.shape[1]:
            return self.waves_to_values(lam)
        return lam @ self._harmonics(lam.shape[1] // 2)[1:]

    def analyze(self, values: Array, degree: int) -> Array:
        if 2 * _FEW_LEVELS < degree < self.nodes // 2:
            return self.values_to_waves(values, degree)
        return (values @ self._harmonics(degree).T) / self.nodes

    def unresolved(self, density: Array, width: int) -> Array:
        sizes, starts = self._tail_sizes(density, width)
        largest = np.maximum.reduceat(sizes, starts, axis=1)
        return extrapolated_tail(largest, self.nodes // 2, width)

    def _tail_sizes(self, density: Array, width: int) -> tuple[Array, list[int]]:
        """Sizes of the waves in the tail windows (…, degrees), and where each window starts."""
        columns, starts, waves = self._tail_waves(width)
        if waves is not None:
            return np.abs(density.dot(waves).view(complex)), starts
        return np.abs(ducc0.fft.r2c(density, axes=(-1,)))[..., columns], starts

    @lru_cache(maxsize=48)  # noqa: B019 - grids are few and live for the whole run
    def _tail_waves(self, width: int) -> tuple[IntArray, list[int], Array | None]:
        """Degrees k of the tail windows and of the constant, where each window begins, cos and sin.

        The last are (nodes, 2 degrees), where a product with them is quicker than a transform.
        """
        windows = (*tail_windows(self.nodes // 2, width), range(1))
        columns = np.array([degree for window in windows for degree in window])
        starts = np.cumsum([0, *(len(window) for window in windows[:-1])]).tolist()
        if width > _FEW_LEVELS or self.nodes > _FEW_NODES:
            return columns, starts, None
        turns = np.outer(np.arange(self.nodes), columns) % self.nodes
        angle = turns * (2.0 * np.pi / self.nodes)
        waves = np.stack([np.cos(angle), np.sin(angle)], axis=2)
        return columns, starts, waves.reshape(self.nodes, -1)


@cache
def _grid(nodes: int) -> CircleGrid:
    return CircleGrid(nodes)
