"""The two-sphere: Gauss-Legendre in z times equispaced longitudes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import ducc0
import numpy as np

from steradian.arguments import draws_asked
from steradian.numerics.arrays import Array
from steradian.numerics.spheres.aliasing import extrapolated_tail, tail_windows
from steradian.numerics.spheres.condensation import condensed_on_sphere
from steradian.numerics.spheres.harmonics import (
    circle_harmonics,
    legendre_functions,
    sphere_alm,
    sphere_coefficients,
    sphere_harmonics,
    sphere_size,
    sphere_sums,
)
from steradian.numerics.spheres.separable_sums import MOST_DEGREES, separable_sphere_sums
from steradian.spaces.base import Chart, Rule
from steradian.spaces.classical import Classical, bingham, fisher, rayleigh
from steradian.spaces.unit_vectors import UnitVectors, refuse_other_dimension

_LADDER = np.array([12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256, 384])
_FINER = np.array([512, 768, 1024, 1536, 2048])  # where only transforms are affordable
_FEW_DEGREES = 8  # up to which products of small matrices are quicker than a transform
_FEW_RINGS = 64  # likewise
_FEW_ORDERS = 32  # up to which a product with cos and sin is quicker than a Fourier transform
_CONDENSED = 48  # degree to which few nodes have the sums of many points


@dataclass(frozen=True)
class Sphere(UnitVectors):
    """Unit vectors of space, with the uniform law.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> sr.Sphere().uniform(3, np.random.default_rng(0)).shape
    (3, 3)
    """

    d: int = 3
    name: str = "sphere"

    def __post_init__(self) -> None:
        refuse_other_dimension("sr.Sphere()", self.d, 3)

    @property
    def chart(self) -> Chart:
        return "sphere"

    @property
    def log_area(self) -> float:
        return float(np.log(4.0 * np.pi))

    size = staticmethod(sphere_size)
    harmonics = staticmethod(sphere_harmonics)

    @staticmethod
    def sums(x: Array, weights: Array | None, degree: int) -> Array:
        """Σ_i w_i φ(x_i) for degree 0..degree, by products or by a transform."""
        few = degree <= MOST_DEGREES
        return (separable_sphere_sums if few else sphere_sums)(x, weights, degree)

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        n, rng = draws_asked(n, self.d, rng)
        z = rng.uniform(-1.0, 1.0, n)
        angle = rng.uniform(0.0, 2.0 * np.pi, n)
        radius = np.sqrt(1.0 - z * z)
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)

    def classical(self, n: int, mean: Array, second: Array) -> tuple[Classical, ...]:
        """What a palaeomagnetist prints before the two tests."""
        return *fisher(n, mean), rayleigh(n, mean), bingham(n, second)

    def condensed(self, x: Array, weights: Array) -> tuple[Array, Array]:
        """Nodes and masses with the sums of functions to degree 48."""
        return condensed_on_sphere(x, weights, _CONDENSED)

    def grid(self, rung: int) -> SphereGrid:
        beyond = rung - len(_LADDER)
        return _grid(int(_LADDER[rung] if beyond < 0 else _FINER[beyond]))

    def exact_grid(self, degree: int) -> SphereGrid:
        """The smallest grid exact for harmonics of this degree."""
        return _grid(degree // 2 + 1)

    def rules(self) -> int:
        return len(_LADDER)

    def rule(self, rung: int) -> Rule:
        grid = self.grid(rung)
        return Rule(grid.points, grid.weights)

    def rungs(self) -> int:
        return len(_LADDER)

    def fine_rungs(self) -> int:
        return len(_LADDER) + len(_FINER)


@dataclass(frozen=True, eq=False)
class SphereGrid:
    """``rings`` Gauss-Legendre latitudes with ``2 rings`` longitudes each.

    Exact for harmonics of degree below ``2 rings``. Transforms of few degrees are two small
    matrix products, first along the rings and then across them; others are those of ducc0.
    """

    rings: int

    @property
    def nodes(self) -> int:
        return 2 * self.rings * self.rings

    @property
    def reach(self) -> int:
        return 2 * self.rings - 1

    @cached_property
    def _latitudes(self) -> tuple[Array, Array]:
        z = np.cos(ducc0.misc.GL_thetas(self.rings))
        return z, ducc0.misc.GL_weights(self.rings, 1) / (4.0 * np.pi)

    @cached_property
    def _longitudes(self) -> Array:
        angle = np.arange(2 * self.rings) * (np.pi / self.rings)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)

    @cached_property
    def points(self) -> Array:
        z, _ = self._latitudes
        radius = np.sqrt((1.0 - z) * (1.0 + z))
        grid = np.empty((self.rings, 2 * self.rings, 3))
        grid[..., :2] = radius[:, None, None] * self._longitudes
        grid[..., 2] = z[:, None]
        return grid.reshape(-1, 3)

    @cached_property
    def weights(self) -> Array:
        _, weight = self._latitudes
        return np.repeat(weight / (2 * self.rings), 2 * self.rings)

    @lru_cache(maxsize=48)  # noqa: B019 - grids are few and live for the whole run
    def _transforms(self, degree: int) -> tuple[Array, Array, Array]:
        """Ring profiles (size, rings·T), the same with weights, and the T = 2·degree + 1
        longitude functions (T, 2·rings).
        """
        z, weight = self._latitudes
        radius = np.sqrt((1.0 - z) * (1.0 + z))
        meridian = np.stack([radius, np.zeros_like(z), z], axis=1)
        columns = sphere_harmonics(meridian, degree)
        profiles = np.zeros((sphere_size(degree), self.rings, 2 * degree + 1))
        for ell in range(degree + 1):
            profiles[ell * ell, :, 0] = columns[:, ell * ell]
            for m in range(1, ell + 1):
                cosine = columns[:, ell * ell + 2 * m - 1] / np.sqrt(2.0)
                profiles[ell * ell + 2 * m - 1, :, 2 * m - 1] = cosine
                profiles[ell * ell + 2 * m, :, 2 * m] = cosine
        weighted = profiles * (weight / (2 * self.rings))[None, :, None]
        flat = (sphere_size(degree), -1)
        around = np.ascontiguousarray(circle_harmonics(self._longitudes, degree).T)
        return profiles.reshape(flat), weighted.reshape(flat), around

    def _by_products(self, degree: int) -> bool:
        return degree <= _FEW_DEGREES and self.rings <= _FEW_RINGS

    def _synthesized(self, lam: Array) -> Array:
        """Σ_k lam_k φ_k of one ``lam`` (q,): (rings, 2 rings)."""
        degree = math.isqrt(len(lam) + 1) - 1
        return np.asarray(
            ducc0.sht.synthesis_2d(
                alm=sphere_alm(lam, degree),
                spin=0,
                lmax=degree,
                geometry="GL",
                ntheta=self.rings,
                nphi=2 * self.rings,
            )[0]
        )

    def _analyzed(self, values: Array, degree: int) -> Array:
        """∫ values φ dν of one function (rings, 2 rings), for degree 0..degree: (size,)."""
        _, weight = self._latitudes
        weighted = values * (weight / (2 * self.rings))[:, None]
        alm = ducc0.sht.adjoint_synthesis_2d(
            map=weighted[None], spin=0, lmax=degree, geometry="GL"
        )[0]
        return sphere_coefficients(alm, degree)

    def synthesize(self, lam: Array) -> Array:
        degree = math.isqrt(lam.shape[1] + 1) - 1
        if not self._by_products(degree):
            return np.array([self._synthesized(row).ravel() for row in lam])
        profiles, _, around = self._transforms(degree)
        along = (lam @ profiles[1:]).reshape(-1, 2 * degree + 1)
        return (along @ around).reshape(len(lam), self.nodes)

    def analyze(self, values: Array, degree: int) -> Array:
        if not self._by_products(degree):
            shape = self.rings, 2 * self.rings
            return np.array([self._analyzed(row.reshape(shape), degree) for row in values])
        _, weighted, around = self._transforms(degree)
        along = values.reshape(-1, 2 * self.rings) @ around.T
        return along.reshape(len(values), -1) @ weighted.T

    def _orders(self, values: Array) -> Array:
        """Fourier sums along the rings of functions (B, rings, 2 rings): (orders, 2 B, rings)."""
        if len(values) == 1 and self.rings <= _FEW_ORDERS:
            return self._waves.dot(values[0].T).reshape(self.rings, 2, self.rings)
        orders = ducc0.fft.r2c(values, axes=(2,))[:, :, : self.rings]
        pairs = orders.view(np.float64).reshape(len(values), self.rings, -1, 2)
        by_order = np.ascontiguousarray(pairs.transpose(2, 0, 3, 1))
        return by_order.reshape(self.rings, -1, self.rings)

    @cached_property
    def _waves(self) -> Array:
        """Cos and sin of order · longitude, one order after the other, (2 orders, 2 rings)."""
        phase = np.outer(np.arange(self.rings), np.arange(2 * self.rings)) % (2 * self.rings)
        angle = phase * (np.pi / self.rings)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1).reshape(2 * self.rings, -1)

    @lru_cache(maxsize=48)  # noqa: B019 - grids are few and live for the whole run
    def _tail_functions(self, width: int) -> tuple[Array, list[int]]:
        """Weighted Legendre functions of the degrees in the tail windows, and the constant.

        Shape (rings orders, rings, degrees), and where each window starts among the degrees.
        """
        windows = tail_windows(self.rings - 1, width)
        z, weight = self._latitudes
        degrees = [degree for window in windows for degree in window] + [0]
        table = legendre_functions(z, self.rings - 1, set(degrees))
        functions = np.stack([table[degree] for degree in degrees], axis=-1)
        functions *= (weight / (2 * self.rings))[None, :, None]
        last, below, middle = (len(window) for window in windows)
        return functions, [0, last, last + below, last + below + middle]

    def unresolved(self, density: Array, width: int) -> Array:
        functions, starts = self._tail_functions(width)
        rings = density.reshape(-1, self.rings, 2 * self.rings)
        spectrum = self._orders(rings) @ functions  # orders, 2 B, degrees; one product for each
        np.square(spectrum, out=spectrum)
        spectrum = spectrum.reshape(self.rings * len(rings), 2, -1)
        squares = (spectrum[:, 0] + spectrum[:, 1]).reshape(self.rings, -1)
        power = np.maximum.reduce(squares, axis=0).reshape(len(rings), -1)  # (B, degrees)
        parts = np.sqrt(np.maximum.reduceat(power, starts, axis=1))
        return extrapolated_tail(parts, self.rings - 1, width)


@cache
def _grid(rings: int) -> SphereGrid:
    return SphereGrid(rings)
