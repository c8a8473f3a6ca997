"""The covariance of harmonic features under a law on nodes, ready for a Newton step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from steradian.fitting.newton import DenseCurvature
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.tolerances import (
    EVEN_FACTOR,
    MISMATCH_ROUNDING,
    MOMENT_ROUNDING,
    QUADRATURE_TOLERANCE,
    ROUNDED_QUADRATURE,
    TINY_SINGULAR,
)

_BLOCK = 1 << 16  # numbers at nodes that are worked on at once: they stay near the processor


@dataclass(frozen=True, slots=True)
class Covariance(DenseCurvature):
    """Moments through degree 2L turned into a covariance."""

    density: Array  # at the nodes, up to a factor


@dataclass(frozen=True, slots=True)
class Root:
    """The covariance as RᵀR, R from the centred features at the nodes."""

    psi: Array
    mean: Array
    density: Array  # at the nodes
    root: Array  # (B, q, q), upper triangular

    def newton(self, gradient: Array) -> Array:
        """Along directions whose mismatch is rounding no step is taken: it would follow noise."""
        return self.step(gradient, MISMATCH_ROUNDING)

    def step(self, gradient: Array, least: float) -> Array:
        """The Newton step along the directions whose mismatch exceeds ``least``, (B, q)."""
        values, axes, along = self._turned(gradient)
        known = (np.abs(along) > least) & (values > TINY_SINGULAR)
        scaled = np.where(known, along, 0.0) / np.where(known, values, 1.0) ** 2
        return np.asarray((scaled[:, None, :] @ axes)[:, 0, :])

    def hidden(self, gradient: Array) -> Array:
        """Nats that mismatches lost in the rounding of moments may carry, (B,).

        Along a direction of variance v a mismatch of ε is worth ε²/2v, which is much where the
        features are collinear.
        """
        values, _, along = self._turned(gradient)
        lost = np.where(np.abs(along) > MISMATCH_ROUNDING, 0.0, MOMENT_ROUNDING)
        with np.errstate(over="ignore"):
            return np.asarray(0.5 * ((lost / np.maximum(values, TINY_SINGULAR)) ** 2).sum(axis=1))

    def _turned(self, gradient: Array) -> tuple[Array, Array, Array]:
        """Singular values (B, q), axes (B, q, q), and what a mismatch has along them, (B, q)."""
        _, values, axes = np.linalg.svd(self._finite)
        return values, axes, (axes @ gradient[..., None])[..., 0]

    def condition(self) -> Array:
        values = np.linalg.svd(self._finite, compute_uv=False)
        return np.asarray((values[:, 0] / np.maximum(values[:, -1], TINY_SINGULAR)) ** 2)

    @property
    def covariance(self) -> Array:
        return np.swapaxes(self.root, 1, 2) @ self.root

    @property
    def _finite(self) -> Array:
        return np.nan_to_num(self.root, nan=0.0, posinf=0.0, neginf=0.0)


def mean_and_root(mass: Array, phi: Array) -> tuple[Array, Array]:
    """E φ (q,) and R (q, q) of features ``phi`` (n, q) under node masses ``mass`` (n,)."""
    mean = mass @ phi
    q = phi.shape[1]
    square = np.zeros((q, q))
    for rows in _centred(mass, phi, mean):
        square += rows.T @ rows
    factor, failed = lapack.dpotrf(square, clean=1)
    if not failed:
        diagonal = np.abs(np.diag(factor))
        if diagonal.max() < EVEN_FACTOR * diagonal.min():
            return mean, factor
    root = np.zeros((q, q))
    for rows in _centred(mass, phi, mean):
        root = np.asarray(np.linalg.qr(np.vstack([root, rows]), mode="r"))
    return mean, root


def _centred(mass: Array, phi: Array, mean: Array) -> Iterator[Array]:
    """√p (φ - E φ) at the nodes that have mass, some at a time."""
    many = max(1, _BLOCK // phi.shape[1])
    for first in range(0, len(phi), many):
        some = mass[first : first + many]
        felt = some > 0.0
        rows = phi[first : first + many][felt] - mean
        rows *= np.sqrt(some[felt])[:, None]
        yield rows


def allowed_quadrature(lam: Array) -> Array:
    """Quadrature error that laws ``lam`` (..., q) may show, (...,).

    The rounding of the exponent leaves a flat spectrum that no finer rule can lower.
    """
    rounding = ROUNDOFF * np.abs(lam).sum(axis=-1)
    return np.clip(rounding, QUADRATURE_TOLERANCE, ROUNDED_QUADRATURE)
