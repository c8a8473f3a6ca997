"""Laws of the height along one axis, in any dimension: one-dimensional integrals.

With ``t = a·x`` the uniform law of the sphere gives the angle θ = arccos t the density
``sin^{d-2} θ``, which enters with its logarithm: where d is large the law lies where that weight is
too small for a number, and rules that are exact for polynomials of t have no node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from steradian.data.stacks import MomentStack, Support
from steradian.existence.ball import examine_heights
from steradian.existence.placement import Placement
from steradian.families.nodes.family import NodeFamily
from steradian.families.nodes.rules import Nodes
from steradian.families.whitening import Whitening, formed_whitening
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.heights.bessel import concentration
from steradian.numerics.heights.polar_angle import polar_exponent
from steradian.numerics.rejection import draws_of_boxes
from steradian.numerics.tolerances import POINT
from steradian.spaces.pieces import ORDER, gauss_legendre, highest

if TYPE_CHECKING:
    from steradian.hierarchies.zonal import AlongAxis, BoundedZonal

RULES = 9
_PANELS = 16  # of the first rule, each of `ORDER` nodes; twice as many in each that follows
_CLEARANCE = 0.1  # nats above the values at the nodes, and half their differences
_BATCH = 1 << 16


@dataclass(frozen=True, slots=True)
class ZonalFamily(NodeFamily):
    """p ∝ exp(λ·φ(t)), φ the polynomials of the height that levels 1..level have."""

    hierarchy: AlongAxis
    level: int

    @property
    def examines_quickly(self) -> bool:
        return True

    def examine(self, x: Array, weights: Array) -> Placement:
        return examine_heights(self.hierarchy.heights(x), self.level)

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """As on any nodes; level 1 from the von Mises-Fisher law of this height."""
        if self.level == 1:
            start = self.linear_start(moments)
        return NodeFamily.solve(self, moments, start, support)

    def linear_start(self, moments: MomentStack) -> Array:
        """Parameters (B, 1) of the von Mises-Fisher laws of these heights."""
        centre, scale = self.hierarchy.linear
        height = centre + scale * self.hierarchy.expectations(moments, 1)[:, 0]
        spread = np.maximum(1.0 - height * height, POINT)
        kappa = concentration(self.hierarchy.d, np.abs(height), spread).kappa
        return np.asarray((np.sign(height) * kappa * scale)[:, None])

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        """Nodes on one great half circle: good for functions of the height, and no others."""
        nodes = self._nodes(self._resolving(lam[None]))
        mass = nodes.masses(lam[None])[1][0]
        felt = mass > 0.0
        angle = nodes.points[felt, 0]
        axis, across = self.hierarchy.direction, self.hierarchy.across
        return np.outer(np.cos(angle), axis) + np.outer(np.sin(angle), across), mass[felt]

    def variances(self, lam: Array) -> tuple[float, float]:
        """Of the height under one law ``lam`` (q,), and of each coordinate across the axis."""
        nodes = self._nodes(self._resolving(lam[None]))
        mass, angle = nodes.masses(lam[None])[1][0], nodes.points[:, 0]
        t = np.cos(angle)
        across = mass @ np.sin(angle) ** 2 / (self.hierarchy.d - 1.0)
        return float(mass @ (t - mass @ t) ** 2), float(across)

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        """Exact draws: the angle by rejection from constants on panels, the rest is uniform."""
        nodes = self._nodes(self._resolving(lam[None]))
        angle = nodes.points[:, 0].reshape(-1, ORDER)
        exponent = (nodes.phi @ lam).reshape(angle.shape) + self._log_sine(angle)
        ceiling = highest(exponent) + _CLEARANCE
        room = np.exp(ceiling - ceiling.max())
        width = np.pi / len(angle)

        def keep(which: IntArray) -> Array:
            theta = width * (which + rng.random(len(which)))
            height = self.hierarchy.of_angles(theta) @ self._padded(lam) + self._log_sine(theta)
            return theta[np.log(rng.random(len(theta))) < height - ceiling[which]]

        theta = draws_of_boxes(room, keep, n, rng, batch=_BATCH)[0]
        axis = self.hierarchy.direction
        across = rng.standard_normal((n, len(axis)))
        for _ in range(2):  # what is nearly along the axis loses digits
            across -= np.outer(across @ axis, axis)
            across /= np.linalg.norm(across, axis=1, keepdims=True)
        return np.asarray(np.cos(theta)[:, None] * axis + np.sin(theta)[:, None] * across)

    def _padded(self, lam: Array) -> Array:
        out = np.zeros(self.hierarchy.levels)
        out[: len(lam)] = lam
        return out

    def _log_sine(self, angle: Array) -> Array:
        return np.asarray((self.hierarchy.d - 2.0) * np.log(np.sin(angle)))


@dataclass(frozen=True, slots=True)
class BoundedZonalFamily(ZonalFamily):
    """p ∝ exp(λ·φ(t)), φ the height and functions of its rank under a law of the first level."""

    hierarchy: BoundedZonal
    level: int

    def examine(self, x: Array, weights: Array) -> Placement:
        """As on any nodes: these functions are no polynomials whose roots could be counted."""
        return NodeFamily.examine(self, x, weights)

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """From the von Mises-Fisher law of this height where nothing better is known."""
        bare = ~start.any(axis=1)
        if bare.any():
            start = start.copy()
            start[bare, :1] = self.linear_start(moments.take(np.flatnonzero(bare)))
        return NodeFamily.solve(self, moments, start, support)

    def whitening(self, below: Array) -> Whitening:
        """Under the uniform law these features are not white as they stand."""
        features = self.hierarchy.up_to(self.level).features
        return formed_whitening(self, features, below, white_reference=False)


def zonal_nodes(hierarchy: AlongAxis, rung: int) -> Nodes:
    """Angles from the axis by Gauss-Legendre nodes on ever more panels."""
    at, weight = gauss_legendre()
    panels, d = _PANELS << rung, hierarchy.d
    half = 0.5 * np.pi / panels
    angle = (half * (2.0 * np.arange(panels)[:, None] + 1.0 + at)).ravel()
    area = gammaln(0.5 * d) - gammaln(0.5 * (d - 1.0)) - 0.5 * np.log(np.pi)
    steps = np.log(np.tile(half * weight, panels))
    logs = steps + (d - 2.0) * np.log(np.sin(angle)) + area
    phi = np.ascontiguousarray(hierarchy.of_angles(angle))
    basis = None
    if hierarchy.basis_kappa:
        heights = polar_exponent(d, np.full(1, hierarchy.basis_kappa), angle) + steps
        basis = np.exp(heights - heights.max())
        basis /= basis.sum()
    return Nodes(angle[:, None], np.exp(logs), phi, log_weights=logs, basis=basis)
