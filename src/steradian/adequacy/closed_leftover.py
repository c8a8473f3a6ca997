"""What von Mises-Fisher and uniform laws leave over in degree 2 of any dimension, in closed form.

No feature of a row is formed: R² and the spread of ξ (see `adequacy.leftover`) follow from the
mean and second moment, and from moments of the coordinate along the axis of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.families.quadratics.polar_whitening import PolarWhitening, polar_whitening
from steradian.fitting.maxent import MaxEntFit
from steradian.hierarchies.base import Hierarchy
from steradian.numerics.arrays import Array
from steradian.numerics.heights.bessel import concentration, von_mises_fisher
from steradian.numerics.heights.von_mises_fisher_sample import von_mises_fisher_draws
from steradian.numerics.quadratics import quadratic_size
from steradian.numerics.tolerances import DEGREE_MOMENT_ROUNDING, TINY

_OF_NUMBER = 0.4  # work of a number that is drawn and summed


class _Closed:
    """What both share: samples of the fit are drawn about any axis, and judged by their moments."""

    hierarchy: Hierarchy

    @property
    def _d(self) -> int:
        return self.hierarchy.space.d

    def work(self, rows: float) -> float:
        return _OF_NUMBER * rows * self._d

    @property
    def by_rows(self) -> None:
        return None

    @property
    def width(self) -> int:
        return self._d

    def draws(self, fit: MaxEntFit, rate: float, n: int, rng: np.random.Generator) -> Array:
        """About the first axis: R² does not see where the fit points to."""
        return von_mises_fisher_draws(self._d, debiased(self._d, fit.kappa, rate), n, rng)


def debiased(d: int, kappa: float, rate: float) -> float:
    """The concentration whose samples are as long in the mean as the fitted one says.

    The mean of n rows is too long: ``E R̂² = R² + (1 - R²) / n``, which with few rows per dimension
    is mostly the second term. Samples of the fit itself would have that term twice, their own fits
    would take away more than that of the data did, and noise would be found to leave too much.
    So 1 - R² is taken as (1 - R̂²) n / (n - 1), with a² for n. Kappa is 0 where nothing is left.
    """
    if kappa <= 0.0:
        return 0.0
    lack = float(von_mises_fisher(d, kappa).defect) / kappa  # 1 - R̂
    spread = lack * (2.0 - lack) * rate**2 / max(rate**2 - 1.0, TINY)
    if spread >= 1.0:
        return 0.0
    return float(concentration(d, float(np.sqrt(1.0 - spread)), spread).kappa)


@dataclass(frozen=True, eq=False)
class PolarLeftover(_Closed):
    """Level 1 and degree 2 in any dimension, in closed form about the mean direction."""

    hierarchy: Hierarchy
    white: PolarWhitening  # a stack of one
    weight: float  # a_2
    expected: Array  # (q_2,) moments of degree 2 under the fit
    level: int = 1

    @classmethod
    def of(cls, hierarchy: Hierarchy, lam: Array, weight: float) -> PolarLeftover:
        """From the natural parameters ``lam`` (d,) of the von Mises-Fisher fit."""
        white = polar_whitening(len(lam), lam[None])
        expected = hierarchy.family(1).expectations(lam[None], hierarchy)[0, len(lam) :]
        return cls(hierarchy, white, weight, expected)

    def excess(self, moments: Array) -> Array:
        away = moments[..., self._d :] - self.expected
        return np.asarray(np.sqrt(self.weight) * away)

    @property
    def noise(self) -> float:
        return float(DEGREE_MOMENT_ROUNDING * np.sqrt(self.weight * len(self.expected)))

    @cached_property
    def coefficients(self) -> Array:
        """``|φ₂|² = ½ d(d+2) |xxᵀ - I/d|²`` splits into the blocks of the whitening."""
        d = self._d
        *_, var_0, _, _, var_1, fourth = self.white.moments[0]
        blocks = (
            (d / (d - 1.0) * var_0, 1),
            (2.0 * var_1, d - 1),
            (2.0 * fourth / ((d - 1.0) * (d + 1.0)), quadratic_size(d - 1)),
        )
        values = np.concatenate([np.full(count, value) for value, count in blocks])
        return np.sort(0.5 * d * (d + 2.0) * self.weight * values)[::-1]

    def squares_of(self, stack: MomentStack, about: float, fits: object = None) -> Array:  # noqa: ARG002
        """``½ d(d+2) |E xxᵀ - E_fit xxᵀ|²``: no feature is formed."""
        d = self._d
        lam = self.hierarchy.family(1).solve(stack, np.zeros((len(stack), d))).lam
        out = np.empty(len(stack))
        for k, (mean, scatter) in enumerate(zip(stack.mean, stack.scatter, strict=True)):
            white = polar_whitening(d, lam[k : k + 1])
            mean_t, var_t, *_, across, _, _, _ = white.moments[0]
            away = scatter - across * np.eye(d)
            away += np.outer(mean, mean)
            away -= (var_t + mean_t**2 - across) * np.outer(white.axes[0], white.axes[0])
            out[k] = (away**2).sum()
        return np.asarray(0.5 * d * (d + 2.0) * self.weight * out)

    def sizes(self, x: Array, features: Array | None = None) -> Array:  # noqa: ARG002
        """From the coordinate along the axis alone, and the coefficients of its blocks."""
        mean_t, _, mean_tt, slope, _, _, shift, _, _ = self.white.moments[0]
        d = self._d
        t = x @ self.white.axes[0]
        rest = np.maximum(1.0 - t * t, 0.0)
        along = d / (d - 1.0) * (t * t - mean_tt - slope * (t - mean_t)) ** 2
        cross = 2.0 * (t - shift) ** 2 * rest
        across = (1.0 - 1.0 / (d - 1.0)) * rest**2
        return np.sqrt(0.5 * d * (d + 2.0) * self.weight * (along + cross + across))


@dataclass(frozen=True, eq=False)
class UniformLeftover(_Closed):
    """Level 0 and degree 2 in any dimension: the uniform law leaves all moments over."""

    hierarchy: Hierarchy
    scale: Array  # (q_2,) √a of each feature
    level: int = 0

    @classmethod
    def of(cls, hierarchy: Hierarchy, weights: Array) -> UniformLeftover:
        """From the weights a (2,)."""
        return cls(hierarchy, np.sqrt(np.repeat(weights, hierarchy.dims)))

    def excess(self, moments: Array) -> Array:
        return np.asarray(self.scale * moments)

    @property
    def noise(self) -> float:
        return float(DEGREE_MOMENT_ROUNDING * np.linalg.norm(self.scale))

    @property
    def coefficients(self) -> Array:
        return np.sort(self.scale**2)[::-1]

    def squares_of(self, stack: MomentStack, about: float, fits: object = None) -> Array:  # noqa: ARG002
        d = self._d
        first, second = self.scale[0] ** 2, self.scale[-1] ** 2
        away = stack.scatter + stack.mean[:, :, None] * stack.mean[:, None, :] - np.eye(d) / d
        lengths = d * np.einsum("bi,bi->b", stack.mean, stack.mean)
        return np.asarray(
            first * lengths + second * 0.5 * d * (d + 2.0) * (away**2).sum(axis=(1, 2))
        )

    def sizes(self, x: Array, features: Array | None = None) -> Array:  # noqa: ARG002
        return np.full(len(x), float(np.linalg.norm(self.scale)))
