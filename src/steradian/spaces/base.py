"""What a space must provide."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from steradian.numerics.arrays import AnyArray, Array, IntArray


class Space(Protocol):
    """A unit sphere with its uniform law of mass one."""

    @property
    def d(self) -> int:
        """Ambient dimension: directions are unit vectors of R^d."""
        ...

    @property
    def name(self) -> str:
        """How people call it."""
        ...

    @property
    def log_area(self) -> float:
        """Log of the surface area, in the units that make the radius one."""
        ...

    def size(self, degree: int) -> int:
        """Number of harmonics of degree 0..degree."""
        ...

    def harmonics(self, x: AnyArray, degree: int) -> AnyArray:
        """Orthonormal harmonics of degree 0..degree at ``x`` (n, d): (n, size)."""
        ...

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` uniform draws, (n, d)."""
        ...


class Grid(Protocol):
    """A quadrature rule for the uniform law, with its harmonic transforms.

    Functions on the grid are stacks (B, nodes); harmonic coefficients are stacks too.
    """

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        ...

    @property
    def reach(self) -> int:
        """Highest degree of the harmonics it integrates exactly."""
        ...

    @property
    def points(self) -> Array:
        """The nodes as unit vectors, (nodes, d)."""
        ...

    @property
    def weights(self) -> Array:
        """Quadrature weights, (nodes,), of sum one."""
        ...

    def synthesize(self, lam: Array) -> Array:
        """Σ_k lam_k φ_k at the nodes; ``lam`` (B, q) without the constant: (B, nodes)."""
        ...

    def analyze(self, values: Array, degree: int) -> Array:
        """∫ values φ dν for degree 0..degree: (B, size(degree))."""
        ...

    def unresolved(self, density: Array, width: int) -> Array:
        """Estimated quadrature error of densities at the nodes, from their own spectra, (B,).

        ``width`` is the period with which the spectra may oscillate, in degrees.
        """
        ...


class GriddedSpace(Space, Protocol):
    """A space of low dimension, where a grid integrates anything smooth."""

    def sums(self, x: Array, weights: Array, degree: int) -> Array:
        """Σ_i w_i φ(x_i), degree 0..degree, without the feature matrix: (size,)."""
        ...

    def grid(self, rung: int) -> Grid:
        """The grid of this rung of the ladder; higher rungs resolve more."""
        ...

    def rungs(self) -> int:
        """How many rungs the node budget allows."""
        ...

    def rung_for(self, concentration: Array, level: int) -> IntArray:
        """The first rung expected to resolve laws of this concentration and level."""
        ...
