"""Laws exp(ηᵀx + xᵀBx + g(a·x)) in any dimension, exactly: one integral over the height on a.

With t = a·x and ``x = t a + √(1-t²) y``, y is given t a Fisher-Bingham law on the unit sphere
across the axis, with ``(1-t²) P B P`` and ``√(1-t²) P(η + 2t B a)`` (P the projection across a):
one eigenbasis serves all heights, and `fisher_bingham` takes them as one stack. What is left is a
one-dimensional integral over the angle θ = arccos t, of weight sin^{d-2} θ, which enters with its
logarithm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham

ORDER = 16  # Gauss-Legendre nodes of each panel

Height = Callable[[Array], Array]
"""Heights (n,) → g there, (n,)."""


@dataclass(frozen=True, slots=True, eq=False)
class AxisLaw:
    """One law at the nodes of a rule over the angle from the axis."""

    axis: Array  # (d,)
    across: Array  # (d, d - 1): the eigenbasis of P B P across the axis
    angle: Array  # (R,)
    mass: Array  # (R,): what the nodes carry, of sum one
    terms: FisherBinghamTerms  # of y given the height, a stack of R
    psi: float

    @classmethod
    def of(cls, axis: Array, natural: tuple[Array, Array], g: Height, panels: int) -> AxisLaw:
        """From the unit vector a (d,), η (d,) and B (d, d), and g."""
        angle, weight = panels_of_angles(panels)
        across, terms, logs = given_angles(axis, natural, angle)
        logs = logs + np.log(weight) + g(np.cos(angle))
        top = float(logs.max())
        mass = np.exp(logs - top)
        total = float(mass.sum())
        return cls(axis, across, angle, mass / total, terms, top + float(np.log(total)))

    @property
    def heights(self) -> Array:
        """T at the nodes, (R,)."""
        return np.cos(self.angle)

    def moments(self, weights: Array | None = None) -> tuple[Array, Array]:
        """E x (d,) and E xxᵀ (d, d), or those times a function of the height, ``weights`` (R,)."""
        mass = self.mass if weights is None else self.mass * weights
        t, s, a = self.heights, np.sin(self.angle), self.axis
        mean = self.terms.mean * s[:, None]
        felt = self.mass > ROUNDOFF**1.5
        share = (mass * s * s)[felt]
        v, b = self.terms.v_mean[felt], self.terms.b[felt]
        away = (b[:, None, :] * (self.terms.v[felt] - v[:, None, :])).reshape(-1, b.shape[1])
        left = (share[:, None] * self.terms.weights[felt]).reshape(-1, 1) * away
        second = left.real.T @ away.real - left.imag.T @ away.imag
        second[np.diag_indices(len(second))] += share @ v
        second += (mass[:, None] * mean).T @ mean
        mixed = np.outer(a, self.across @ ((mass * t) @ mean))
        whole = self.across @ second @ self.across.T + mixed + mixed.T
        return (mass @ t) * a + self.across @ (mass @ mean), whole + (mass @ t**2) * np.outer(a, a)


def given_angles(
    axis: Array, natural: tuple[Array, Array], angle: Array
) -> tuple[Array, FisherBinghamTerms, Array]:
    """The eigenbasis across the axis, the laws there, and the log-density of angles (R,) but for g.

    The density is with respect to dθ.
    """
    eta, quadratic = natural
    d = len(axis)
    complement = np.linalg.svd(axis[None])[2][1:].T
    beta, turn = np.linalg.eigh(complement.T @ quadratic @ complement)
    across = complement @ turn
    t, s = np.cos(angle), np.sin(angle)
    pull = across.T @ eta + 2.0 * t[:, None] * (across.T @ (quadratic @ axis))
    terms = fisher_bingham(s[:, None] ** 2 * beta, s[:, None] * pull)
    area = gammaln(0.5 * d) - gammaln(0.5 * (d - 1.0)) - 0.5 * np.log(np.pi)
    logs = (d - 2.0) * np.log(s) + area + terms.psi
    logs += t * (eta @ axis) + t * t * (axis @ quadratic @ axis)
    return across, terms, logs


def panels_of_angles(panels: int) -> tuple[Array, Array]:
    """Angles and weights of Gauss-Legendre nodes on so many panels of 0..π."""
    at, weight = np.polynomial.legendre.leggauss(ORDER)
    half = 0.5 * np.pi / panels
    angle = half * (2.0 * np.arange(panels)[:, None] + 1.0 + at)
    return angle.ravel(), np.tile(half * weight, panels)
