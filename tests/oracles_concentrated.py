"""Brute force for concentrated laws on the two-sphere: one dense rule, extended precision.

Nothing here uses the package. A thousand and more Gauss-Legendre rings carry twice as many
longitudes, so the nodes number in the millions; exponents and means separate into rings and
longitudes, which keeps them in extended precision at little cost. Given natural parameters,
Newton steps on this rule move them to its own optimum: what is returned is the deficit there,
and the decrement that remains, whatever the start was worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import oracles

Array = NDArray[np.float64]
Long = NDArray[np.longdouble]

BLOCK = 100_000  # nodes whose features are held at once


@dataclass(frozen=True)
class Dense:
    """Rings and longitudes, with the ring profiles of the features of one level."""

    level: int
    profiles: Long  # (q, rings): each feature without its longitude part
    waves: Long  # (2 level + 1, longitudes): 1, cos 1, sin 1, …
    wave: NDArray[np.int64]  # (q,): which of these a feature carries
    weights: Long  # (rings,): of each node

    def _coefficients(self, lam: Long) -> Long:
        """Per wave the profile of lam · φ, (2 level + 1, rings)."""
        out = np.zeros((len(self.waves), self.profiles.shape[1]), dtype=np.longdouble)
        np.add.at(out, self.wave, lam[:, None] * self.profiles)
        return out

    def law(self, lam: Long) -> tuple[np.longdouble, Long]:
        """ψ and the masses (rings, longitudes) of exp(lam · φ)."""
        exponent = self._coefficients(lam).T @ self.waves
        peak = exponent.max()
        mass = self.weights[:, None] * np.exp(exponent - peak)
        total = mass.sum()
        return np.log(total) + peak, mass / total

    def mean(self, mass: Long) -> Long:
        along = mass @ self.waves.T  # (rings, waves)
        return np.einsum("qr,rq->q", self.profiles, along[:, self.wave])

    def features(self, rings: NDArray[np.int64], turns: NDArray[np.int64]) -> Long:
        return (self.profiles[:, rings] * self.waves[self.wave][:, turns]).T


@cache
def dense(level: int, rings: int) -> Dense:
    z, weight = oracles.gauss_legendre(rings)
    radius = np.sqrt((1 - z) * (1 + z))
    meridian = np.column_stack([radius, np.zeros_like(z), z])
    at_zero = oracles.harmonics(meridian, level)
    count = 2 * rings + 1
    angle = (np.arange(count) + np.longdouble(0.381966)) * (8 * np.arctan(np.longdouble(1)) / count)
    waves = [np.ones(count, dtype=np.longdouble)]
    for m in range(1, level + 1):
        waves += [np.cos(m * angle), np.sin(m * angle)]
    order = [w for ell in range(1, level + 1) for w in range(2 * ell + 1)]
    columns = [k - (w > 0 and w % 2 == 0) for k, w in enumerate(order)]  # sines vanish there
    profiles = np.ascontiguousarray(at_zero[:, columns].T)
    return Dense(level, profiles, np.array(waves), np.array(order), weight / count)


@dataclass(frozen=True)
class Optimum:
    """The fit on the dense rule."""

    deficit: float
    decrement: float  # what a further Newton step would still find
    moved: float  # decrement at the parameters given
    mass: Long  # (rings, longitudes)


def optimum(level: int, rings: int, lam: Array, moments: Long, steps: int = 4) -> Optimum:
    """Newton from ``lam`` (q,), in features made orthonormal under each law."""
    rule = dense(level, rings)
    here, first = oracles.long(lam), np.inf
    for count in range(steps + 1):
        psi, mass = rule.law(here)
        gradient = moments - rule.mean(mass)
        step, decrement = _newton(rule, mass, gradient)
        first = decrement if count == 0 else first
        if decrement < 1e-9 or count == steps:
            break
        here = here + step
    return Optimum(float(here @ moments - psi), decrement, first, mass)


def _newton(rule: Dense, mass: Long, gradient: Long) -> tuple[Long, float]:
    """The step Cov⁻¹ gradient and its decrement, from a factor of the centred features."""
    _, values, axes = np.linalg.svd(_factor(rule, mass))
    along = axes @ gradient.astype(np.float64) / values
    return oracles.long(axes.T @ (along / values)), float(np.linalg.norm(along))


def _factor(rule: Dense, mass: Long) -> Array:
    """Upper triangular R with RᵀR the covariance, from centred features block by block."""
    mean = rule.mean(mass)
    rings, turns = np.nonzero(mass > 1e-30)
    factor = np.zeros((0, len(mean)))
    for k in range(0, len(rings), BLOCK):
        where = rings[k : k + BLOCK], turns[k : k + BLOCK]
        centred = np.sqrt(mass[where])[:, None] * (rule.features(*where) - mean)
        rows = np.vstack([factor, centred.astype(np.float64)])
        factor = np.asarray(np.linalg.qr(rows, mode="r"))
    return factor


def points(level: int, rings: int, where: NDArray[np.bool_]) -> Array:
    """The nodes marked in ``where`` (rings, longitudes) as unit vectors, in row order."""
    z, _ = oracles.gauss_legendre(rings)
    cos, sin = dense(level, rings).waves[1:3].astype(np.float64)
    ring, turn = np.nonzero(where)
    height = z.astype(np.float64)[ring]
    radius = np.sqrt((1 - height) * (1 + height))
    return np.column_stack([radius * cos[turn], radius * sin[turn], height])


def covariance(rule: Dense, mass: Long) -> Array:
    """Of the features under a law on the dense rule."""
    factor = _factor(rule, mass)
    return np.asarray(factor.T @ factor)
