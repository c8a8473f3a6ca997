"""What a level leaves over: the features above it, free of those its fit has matched.

With u the features of level L and v those of degrees L + 1..K, J their covariance under the fit
p_L and μ their mean, the leftover of a direction is
``ξ(x) = √a {φ_v(x) - μ_v - J_vu J_uu⁻¹ (φ_u(x) - μ_u)}``, with a weight a per degree. The fit
matches u, so the weighted mean of ξ over the sample is ``√a (ĉ_v - c_v)`` itself, whose squared
length is the residual R²; and its spread over samples is that of ξ, since the second term is
what estimating the fit takes away.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from steradian.hierarchies import GriddedFamily, Harmonics, MomentStack
from steradian.hierarchies.quadratic import coordinates, feature_moments
from steradian.inference.whitening import PolarWhitening, whitening
from steradian.nested import fit_levels
from steradian.numerics.arrays import Array
from steradian.numerics.quadratics import quadratic_size
from steradian.spaces import Circle, Sphere

_NEGLIGIBLE = 1e-24  # node masses below it move no covariance
_MOMENT_ROUNDING = 4e-15  # of a moment, over the root of the number of its degree's features


class Leftover(Protocol):
    """What one level of one sample leaves over."""

    @property
    def hierarchy(self) -> Harmonics:
        """Through degree K."""
        ...

    @property
    def level(self) -> int:
        """L."""
        ...

    def excess(self, moments: Array) -> Array:
        """Σ w ξ for moments (q_K,) that have the level's own: (q_v,)."""
        ...

    @property
    def noise(self) -> float:
        """How large R may come out through the rounding of the moments alone."""
        ...

    @property
    def coefficients(self) -> Array:
        """Eigenvalues of the covariance of ξ under the fit, descending."""
        ...

    def squares_of(self, stack: MomentStack) -> Array:
        """R² of other samples (B,), each against its own fit; NaN where there is none."""
        ...


@dataclass(frozen=True, eq=False)
class GriddedLeftover:
    """On the circle and the two-sphere, any level and degree."""

    hierarchy: Harmonics
    level: int
    scale: Array  # (q_v,) √a of each feature above the level
    mean: Array  # (q_K,) μ under the fit
    slope: Array  # (q_u, q_v): J_uu⁻¹ J_uv
    covariance: Array  # (q_v, q_v) of ξ under the fit

    @classmethod
    def of(cls, hierarchy: Harmonics, level: int, lam: Array, weights: Array) -> GriddedLeftover:
        """From the natural parameters ``lam`` (q_u,) of the level and weights a (K,)."""
        points, mass = gridded_law(hierarchy, level).rule(lam, 2 * hierarchy.levels)
        seen = mass > _NEGLIGIBLE
        phi, root = hierarchy.features(points[seen]), np.sqrt(mass[seen])[:, None]
        mean = mass[seen] @ phi
        phi -= mean
        phi *= root
        matched, above = phi[:, : len(lam)], phi[:, len(lam) :]
        slope = np.linalg.lstsq(matched, above, rcond=None)[0]
        scale = np.sqrt(np.repeat(weights, hierarchy.dims))[len(lam) :]
        left = scale * (above - matched @ slope)
        return cls(hierarchy, level, scale, mean, slope, left.T @ left)

    @property
    def below(self) -> int:
        """Features of the level, which come first among `rows`."""
        return len(self.slope)

    @property
    def q(self) -> int:
        """Features above the level."""
        return len(self.scale)

    def rows(self, x: Array) -> Array:
        """Centred features of the level, then ξ, at ``x`` (B, n, d): (B, n, q_K)."""
        phi = self.hierarchy.features(x.reshape(-1, x.shape[-1])) - self.mean
        phi[:, self.below :] -= phi[:, : self.below] @ self.slope
        phi[:, self.below :] *= self.scale
        return phi.reshape(*x.shape[:-1], -1)

    def excess(self, moments: Array) -> Array:
        """With the term of the level's own features, which are matched only to rounding."""
        away = moments - self.mean
        return np.asarray(self.scale * (away[self.below :] - away[: self.below] @ self.slope))

    @property
    def noise(self) -> float:
        size = np.sqrt(np.repeat(self.hierarchy.dims, self.hierarchy.dims))  # |φ_l|² is constant
        moved = size[self.below :] + size[: self.below] @ np.abs(self.slope)
        return float(_MOMENT_ROUNDING * np.linalg.norm(self.scale * moved))

    @cached_property
    def coefficients(self) -> Array:
        return np.maximum(np.linalg.eigvalsh(self.covariance)[::-1], 0.0)

    def squares_of(self, stack: MomentStack) -> Array:
        fits = fit_levels(Harmonics(self.hierarchy.d, self.level), stack)
        out = np.full(len(stack), np.nan)
        good = np.array([r for r in range(len(stack)) if r not in fits.failures], dtype=np.int64)
        if not len(good):
            return out
        lam = fits.solutions[-1].lam[good]
        expected = gridded_law(self.hierarchy, self.level).expectations(lam, self.hierarchy.levels)
        away = (stack.features[good, : len(self.mean)] - expected)[:, self.below :]
        out[good] = ((self.scale * away) ** 2).sum(axis=1)
        return out


@dataclass(frozen=True, eq=False)
class PolarLeftover:
    """Level 1 and degree 2 in any dimension, in closed form about the mean direction."""

    hierarchy: Harmonics
    white: PolarWhitening
    weight: float  # a_2
    expected: Array  # (q_2,) moments of degree 2 under the fit
    level: int = 1

    @classmethod
    def of(cls, hierarchy: Harmonics, lam: Array, weight: float) -> PolarLeftover:
        """From the natural parameters ``lam`` (d,) of the von Mises-Fisher fit."""
        white = whitening(hierarchy, 2, lam[None])
        assert isinstance(white, PolarWhitening)
        return cls(hierarchy, white, weight, _degree_2(hierarchy, lam[None])[0])

    def excess(self, moments: Array) -> Array:
        away = moments[..., self.hierarchy.d :] - self.expected
        return np.asarray(np.sqrt(self.weight) * away)

    @property
    def noise(self) -> float:
        return float(_MOMENT_ROUNDING * np.sqrt(self.weight * len(self.expected)))

    @cached_property
    def coefficients(self) -> Array:
        """``|φ₂|² = ½ d(d+2) |xxᵀ - I/d|²`` splits into the blocks of the whitening."""
        d = self.hierarchy.d
        *_, var_0, _, _, var_1, fourth = self.white.moments
        blocks = (
            (d / (d - 1.0) * var_0, 1),
            (2.0 * var_1, d - 1),
            (2.0 * fourth / ((d - 1.0) * (d + 1.0)), quadratic_size(d - 1)),
        )
        values = np.concatenate([np.full(count, value) for value, count in blocks])
        return np.sort(0.5 * d * (d + 2.0) * self.weight * values)[::-1]

    def squares_of(self, stack: MomentStack) -> Array:
        below = Harmonics(self.hierarchy.d, 1)
        start = np.zeros((len(stack), below.d))
        lam = below.family(1).solve(stack, start).lam
        second = stack.scatter + stack.mean[:, :, None] * stack.mean[:, None, :]
        seen = [feature_moments(below.space, m, s) for m, s in zip(stack.mean, second, strict=True)]
        away = np.array(seen)[:, below.d :] - _degree_2(self.hierarchy, lam)
        return np.asarray(self.weight * (away**2).sum(axis=1))


def gridded_law(hierarchy: Harmonics, level: int) -> GriddedFamily:
    """The family of a level, integrated on a grid."""
    space = hierarchy.space
    assert isinstance(space, Circle | Sphere)
    return GriddedFamily(space, level)


def _degree_2(hierarchy: Harmonics, lam: Array) -> Array:
    """Moments of degree 2 of von Mises-Fisher laws ``lam`` (B, d): (B, q_2)."""
    d = hierarchy.d
    out = []
    for row in lam:
        _, mean, covariance = hierarchy.family(1).log_partition(row[None])
        mean = coordinates(d, mean[0])
        second = covariance[0] / d + np.outer(mean, mean)
        out.append(feature_moments(hierarchy.space, mean, second)[d:])
    return np.array(out)


def leftover_of(d: int, level: int, lam: Array, weights: Array) -> Leftover:
    """What ``level`` with natural parameters ``lam`` (q_u,) leaves over through degree K."""
    hierarchy = Harmonics(d, len(weights))
    if hierarchy.d > 3:
        return PolarLeftover.of(hierarchy, lam, float(weights[1]))
    return GriddedLeftover.of(hierarchy, level, lam, weights)
