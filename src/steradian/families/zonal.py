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
from steradian.existence.placement import Placement, Verdict
from steradian.families.node_rules import Nodes
from steradian.families.nodes import NodeFamily
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.bessel import concentration
from steradian.numerics.tolerances import POINT, SAME_VALUE
from steradian.spaces.cells import ORDER, gauss_legendre, highest

if TYPE_CHECKING:
    from steradian.hierarchies.zonal import Zonal

RULES = 9
_PANELS = 16  # of the first rule, each of `ORDER` nodes; twice as many in each that follows
_CLEARANCE = 0.1  # nats above the values at the nodes, and half their differences
_BATCH = 1 << 16


@dataclass(frozen=True, slots=True)
class ZonalFamily(NodeFamily):
    """p ∝ exp(λ·φ(t)), φ the polynomials of the height that levels 1..level have."""

    hierarchy: Zonal
    level: int

    @property
    def examines_quickly(self) -> bool:
        return True

    def examine(self, x: Array, weights: Array) -> Placement:  # noqa: ARG002
        """Exact: a polynomial of t that is nowhere negative has double roots but at the ends."""
        t = np.unique(self.hierarchy.heights(x))
        apart = t[np.concatenate([[True], np.diff(t) > SAME_VALUE])]
        at_end = 1.0 - np.abs(apart) <= 4.0 * ROUNDOFF
        if int(2 * len(apart) - at_end.sum()) > self.level:
            return Placement(Verdict.INSIDE)
        what = "height" if len(apart) == 1 else "heights"
        return Placement(Verdict.OUTSIDE, f"all data have {len(apart)} {what} along the axis")

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """As on any nodes; level 1 from the von Mises-Fisher law of this height."""
        if self.level == 1:
            d = self.hierarchy.d
            height = self.hierarchy.expectations(moments, 1)[:, 0] / np.sqrt(d)
            spread = np.maximum(1.0 - height * height, POINT)
            kappa = concentration(d, np.abs(height), spread).kappa
            start = (np.sign(height) * kappa / np.sqrt(d))[:, None]
        return NodeFamily.solve(self, moments, start, support)

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:  # noqa: ARG002
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
        width, kept = np.pi / len(angle), [np.zeros(0)]
        while (missing := n - sum(len(part) for part in kept)) > 0:
            which = rng.choice(len(room), size=min(2 * missing + 64, _BATCH), p=room / room.sum())
            theta = width * (which + rng.random(len(which)))
            height = self.hierarchy.of_heights(np.cos(theta)) @ self._padded(lam)
            good = np.log(rng.random(len(theta))) < height + self._log_sine(theta) - ceiling[which]
            kept.append(theta[good][:missing])
        theta = np.concatenate(kept)
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


def zonal_nodes(hierarchy: Zonal, rung: int) -> Nodes:
    """Angles from the axis by Gauss-Legendre nodes on ever more panels."""
    at, weight = gauss_legendre()
    panels, d = _PANELS << rung, hierarchy.d
    half = 0.5 * np.pi / panels
    angle = (half * (2.0 * np.arange(panels)[:, None] + 1.0 + at)).ravel()
    area = gammaln(0.5 * d) - gammaln(0.5 * (d - 1.0)) - 0.5 * np.log(np.pi)
    logs = np.log(np.tile(half * weight, panels)) + (d - 2.0) * np.log(np.sin(angle)) + area
    phi = np.ascontiguousarray(hierarchy.of_heights(np.cos(angle)))
    return Nodes(angle[:, None], np.exp(logs), phi, log_weights=logs)
