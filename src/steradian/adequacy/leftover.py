"""What a level leaves over: the features above it, free of those its fit has matched.

With u the features of level L and v those of degrees L + 1..K, J their covariance under the fit
p_L and μ their mean, the leftover of a direction is
``ξ(x) = √a {φ_v(x) - μ_v - J_vu J_uu⁻¹ (φ_u(x) - μ_u)}``, with a weight a per degree. The fit
matches u, so the weighted mean of ξ over the sample is ``√a (ĉ_v - c_v)`` itself, whose squared
length is the residual R²; and its spread over samples is that of ξ, since the second term is
what estimating the fit takes away.

**In closed form** for von Mises-Fisher and uniform laws in degree 2 of any dimension. No feature
of a row is formed: R² and the spread of ξ (see `adequacy.leftover`) follow from the mean and
second moment, and from moments of the coordinate along the axis of the fit.

**How far above its levels** a hierarchy can be looked at. Residuals and kernels compare data and
fits in features that no level has matched yet. Those are the hierarchy's own higher levels, and
wider ones of the same kind where it has any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.linalg import solve_triangular

from steradian.data.moments import Moments
from steradian.data.stacks import MomentStack
from steradian.errors import DesignError
from steradian.families.base import Family, QuickRefits
from steradian.families.quadratics.polar_whitening import PolarWhitening, polar_whitening
from steradian.fitting.maxent import MaxEntFit
from steradian.fitting.nested import fit_levels
from steradian.fitting.solution import NO_RUNG
from steradian.hierarchies.base import Hierarchy
from steradian.inference.effort import Patience
from steradian.inference.sample import Sample
from steradian.numerics.arrays import Array
from steradian.numerics.heights.bessel import concentration, von_mises_fisher
from steradian.numerics.heights.von_mises_fisher_sample import von_mises_fisher_draws
from steradian.numerics.quadratics import quadratic_size
from steradian.numerics.tolerances import (
    COLLINEAR_ROWS,
    DEGREE_MOMENT_ROUNDING,
    NEGLIGIBLE_MASS,
    TINY,
)

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


_MOST_KEPT = 1000  # features whose covariance is kept: 8 MB
_BLOCK_ENTRIES = 1 << 21  # features at nodes that are held at a time: 16 MB,
_BLOCK_OF_ROOTS = 8  # or so many times their number, of which what is carried on is then a ninth
_OF_PRODUCT = 1 / 300  # work of a product of two features at a node
_OF_SIGN = 0.01  # work of a feature of a row in one replicate of random signs
_CLEARLY = 0.5  # log of the ratio of two R² beyond which a grid that is too coarse may decide


Fits = Callable[[int], None]
"""Told of so many fits before they are begun; it may raise `TakesLong`."""


def at_will(count: int) -> None:
    """As many fits as it takes."""


class Leftover(Protocol):
    """What one level of one sample leaves over."""

    @property
    def hierarchy(self) -> Hierarchy:
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

    def squares_of(self, stack: MomentStack, about: float, fits: Fits = at_will) -> Array:
        """R² of other samples (B,), each against its own fit; NaN where there is none.

        Roughly where that is enough to tell on which side of ``about`` it lies. ``fits`` is told
        how many samples are about to be fitted by themselves.
        """
        ...

    def work(self, rows: float) -> float:
        """Work of drawing samples of so many ``rows`` in all; infinite where none are drawn."""
        ...

    def sizes(self, x: Array, features: Array | None = None) -> Array:
        """|ξ| at ``x`` (n, d): (n,); ``features`` (n, q_K) where they have been formed already."""
        ...

    @property
    def by_rows(self) -> GriddedLeftover | None:
        """Itself where ξ of every row is formed, so that units of any design can be judged."""
        ...

    @property
    def width(self) -> int:
        """Numbers formed per row to find `sizes`."""
        ...

    def draws(self, fit: MaxEntFit, rate: float, n: int, rng: np.random.Generator) -> Array:
        """``n`` draws, (n, d), of the law that a sample of this ``rate`` with this fit came from.

        Up to a symmetry that no residual sees.
        """
        ...


@dataclass(frozen=True, slots=True)
class Served:
    """What served a fit, and how much work integrating its law again may be."""

    rung: int = NO_RUNG  # the rule
    patience: Patience = field(default_factory=Patience)


ANYHOW = Served()


@dataclass(frozen=True, eq=False)
class GriddedLeftover:
    """Any level whose family has a `rule`, or of whose features the covariance is formed."""

    hierarchy: Hierarchy
    level: int
    scale: Array  # (q_v,) √a of each feature above the level
    mean: Array  # (q_K,) μ under the fit
    slope: Array  # (q_u, q_v): J_uu⁻¹ J_uv
    covariance: Array  # (q_v, q_v) of ξ under the fit
    lam: Array  # (q_u,) natural parameters of the fit

    @classmethod
    def of(
        cls,
        hierarchy: Hierarchy,
        level: int,
        lam: Array,
        weights: Array,
        served: Served = ANYHOW,
    ) -> GriddedLeftover:
        """From the natural parameters ``lam`` (q_u,) of the level and weights a (K,)."""
        if not level:
            return cls._of_uniform(hierarchy, weights)
        family = hierarchy.family(level).resolved_by(served.rung)
        formed = family.wide_covariance(lam, hierarchy)
        if formed is not None:
            return cls._of_formed(hierarchy, level, lam, weights, formed)
        points, mass = family.rule(lam, 2 * hierarchy.levels)
        seen = mass > NEGLIGIBLE_MASS
        products = np.count_nonzero(seen) * float(hierarchy.q(hierarchy.levels)) ** 2
        served.patience.begin(level, _OF_PRODUCT * products)
        mean, root = _centred_root(hierarchy, points[seen], mass[seen])
        matched, above = root[:, : len(lam)], root[:, len(lam) :]
        slope = _slope(matched[: len(lam)], above[: len(lam)])
        scale = np.sqrt(np.repeat(weights, hierarchy.dims))[len(lam) :]
        left = scale * (above - matched @ slope)
        return cls(hierarchy, level, scale, mean, slope, left.T @ left, lam)

    @classmethod
    def of_covariance(
        cls, hierarchy: Hierarchy, level: int, lam: Array, weights: Array
    ) -> GriddedLeftover:
        """From the covariance of all features under the law, which is one of the top level too."""
        top = hierarchy.family(hierarchy.levels)
        padded = np.zeros((1, top.q))
        padded[0, : len(lam)] = lam
        _, mean, covariance = top.log_partition(padded)
        return cls._of_formed(hierarchy, level, lam, weights, (mean[0], covariance[0]))

    @classmethod
    def _of_formed(
        cls,
        hierarchy: Hierarchy,
        level: int,
        lam: Array,
        weights: Array,
        formed: tuple[Array, Array],
    ) -> GriddedLeftover:
        """From the mean and the covariance of all features, which are at hand."""
        (mean, covariance), below = formed, len(lam)
        matched, mixed = covariance[:below, :below], covariance[:below, below:]
        slope = np.asarray(np.linalg.solve(matched, mixed), dtype=np.float64)
        scale = np.sqrt(np.repeat(weights, hierarchy.dims))[below:]
        left = scale[:, None] * (covariance[below:, below:] - mixed.T @ slope) * scale
        return cls(hierarchy, level, scale, mean, slope, left, lam)

    @classmethod
    def _of_uniform(cls, hierarchy: Hierarchy, weights: Array) -> GriddedLeftover:
        """Level 0: nothing is matched, and the features are white, or their own law says how."""
        if hierarchy.basis_lam is not None:
            return cls.of_covariance(hierarchy, 0, np.zeros(0), weights)
        scale = np.sqrt(np.repeat(weights, hierarchy.dims))
        none = np.zeros((0, len(scale)))
        flat = np.zeros(len(scale))
        return cls(hierarchy, 0, scale, flat, none, np.diag(scale**2), np.zeros(0))

    @property
    def below(self) -> int:
        """Features of the level, which come first among `rows`."""
        return len(self.slope)

    @property
    def q(self) -> int:
        """Features above the level."""
        return len(self.scale)

    def rows(self, x: Array, features: Array | None = None) -> Array:
        """Centred features of the level, then ξ, at ``x`` (B, n, d): (B, n, q_K)."""
        if features is None:
            features = self.hierarchy.features(x.reshape(-1, x.shape[-1]))
        phi = features.reshape(-1, features.shape[-1])[:, : len(self.mean)] - self.mean
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
        return float(DEGREE_MOMENT_ROUNDING * np.linalg.norm(self.scale * moved))

    @cached_property
    def coefficients(self) -> Array:
        return np.maximum(np.linalg.eigvalsh(self.covariance)[::-1], 0.0)

    def squares_of(self, stack: MomentStack, about: float, fits: Fits = at_will) -> Array:
        seen = self.hierarchy.expectations(stack, self.hierarchy.levels)
        if not self.level:
            return np.asarray(((self.scale * seen) ** 2).sum(axis=1))
        quick = self._quick
        if quick is None:
            fits(len(stack))
            return self._squares(seen - self._verified(stack))
        expected, sure = quick.expectations(seen[:, : self.below], self.hierarchy.levels)
        out = self._squares(seen - expected)
        with np.errstate(invalid="ignore"):
            clear = np.abs(np.log(out / about)) > _CLEARLY
        left = np.flatnonzero(~(sure | clear))
        if len(left) and quick.verifiable:
            fits(len(left))
            out[left] = self._squares(seen[left] - self._verified(stack.take(left)))
        return out

    @property
    def _family(self) -> Family:
        return self.hierarchy.family(self.level)

    @property
    def _quick(self) -> QuickRefits | None:
        return self._family.refits(self.lam)

    def work(self, rows: float) -> float:
        """Random signs are little, and fits are counted when they come to be made.

        Infinite where every sample would be fitted by itself: the asymptotic law serves.
        """
        quick = self._quick if self.level else None
        possible = not self.level or (quick is not None and quick.possible)
        return _OF_SIGN * rows * len(self.mean) if possible else np.inf

    def _squares(self, away: Array) -> Array:
        return np.asarray(((self.scale * away[:, self.below :]) ** 2).sum(axis=1))

    def _verified(self, stack: MomentStack) -> Array:
        """E φ through degree K of verified fits; NaN where there is none."""
        out = np.full((len(stack), len(self.mean)), np.nan)
        fits = fit_levels(self.hierarchy.up_to(self.level), stack)
        good = fits.sound_rows
        if len(good):
            lam = fits.solutions[-1].lam[good]
            out[good] = self._family.expectations(lam, self.hierarchy)
        return out

    def sizes(self, x: Array, features: Array | None = None) -> Array:
        """|ξ| at ``x`` (n, d): (n,)."""
        phi = None if features is None else features[None]
        return np.asarray(np.linalg.norm(self.rows(x[None], phi)[0, :, self.below :], axis=1))

    @property
    def longest(self) -> float | None:
        """No |ξ| is larger; None where features have not one length everywhere."""
        whole = self.hierarchy.squared_length(self.hierarchy.levels)
        below = self.hierarchy.squared_length(self.level)
        if whole is None or below is None:
            return None
        own = np.sqrt(below) + np.linalg.norm(self.mean[: self.below])
        slope = np.linalg.norm(self.slope, 2) if self.level else 0.0
        above = np.sqrt(whole - below) + np.linalg.norm(self.mean[self.below :])
        return float(self.scale.max() * (above + slope * own))

    @property
    def by_rows(self) -> GriddedLeftover:
        return self

    @property
    def width(self) -> int:
        return len(self.mean) + 1

    def draws(self, fit: MaxEntFit, rate: float, n: int, rng: np.random.Generator) -> Array:  # noqa: ARG002
        return fit.sample(n, rng)


def _centred_root(hierarchy: Hierarchy, points: Array, mass: Array) -> tuple[Array, Array]:
    """Mean (q,) of the features under masses (N,) at ``points``, and a root (<= q, q).

    The root R is triangular with ``RᵀR`` the covariance. It grows by blocks of nodes, since the
    features at all nodes of a fine grid are gigabytes; a constant before them takes the mean
    out, so that nothing is formed twice.
    """
    q = hierarchy.q(hierarchy.levels)
    root = np.zeros((0, q + 1))
    size = max(_BLOCK_ENTRIES // (q + 1), _BLOCK_OF_ROOTS * (q + 1))
    for first in range(0, len(mass), size):
        block = slice(first, first + size)
        phi = np.concatenate([np.ones((len(mass[block]), 1)), hierarchy.features(points[block])], 1)
        phi *= np.sqrt(mass[block])[:, None]
        root = np.asarray(np.linalg.qr(np.concatenate([root, phi]), mode="r"))
    return root[0, 1:] / root[0, 0], root[1:, 1:]


def _slope(matched: Array, above: Array) -> Array:
    """The least squares of ``above`` on ``matched``, both of a triangular root: (q_u, q_v).

    By singular values only where the matched features are nearly collinear under the law.
    """
    if len(matched) == matched.shape[1]:
        diagonal = np.abs(np.diag(matched))
        if diagonal.min() > COLLINEAR_ROWS * diagonal.max():
            return np.asarray(solve_triangular(matched, above))
    return np.asarray(np.linalg.lstsq(matched, above, rcond=None)[0])


def leftover_of(
    wide: Hierarchy, level: int, lam: Array, weights: Array, served: Served = ANYHOW
) -> Leftover:
    """What ``level`` with natural parameters ``lam`` (q_u,) leaves over in all levels of ``wide``.

    The uniform law is that of level 1 with no
    parameters, so its family is asked for level 0.
    """
    family = wide.family(max(level, 1))
    if family.closed_leftover:
        if level:
            return PolarLeftover.of(wide, lam, float(weights[1]))
        return UniformLeftover.of(wide, weights)
    if level and not family.has_rule and wide.family(wide.levels).forms_matrices:
        return GriddedLeftover.of_covariance(wide, level, lam, weights)
    if level and not family.has_rule:
        raise DesignError(
            f"level {level}: what it leaves over is not known, since nothing integrates against "
            "its law"
        )
    return GriddedLeftover.of(wide, level, lam, weights, served)


def sample_leftover(
    sample: Sample, wide: Hierarchy, level: int, weights: Array, patience: Patience | None = None
) -> Leftover:
    """What a level of a sample leaves over; found once for all that ask, unless it is large.

    Raises `TakesLong` where it is more work than ``patience`` has left.
    """
    lam = sample.parameters(level)[0]

    def made() -> Leftover:
        served = Served(sample.rung(level), patience or Patience())
        return leftover_of(wide, level, lam, weights, served)

    if wide.q(wide.levels) > _MOST_KEPT:
        return made()
    return sample.memo.once(("leftover", wide, level, weights.tobytes()), made)


def levels_through(hierarchy: Hierarchy, degree: int) -> Hierarchy | None:
    """The features of levels 1..degree; None where there are none so high."""
    return hierarchy.up_to(degree) if degree <= hierarchy.levels else hierarchy.wider(degree)


def highest_degree(hierarchy: Hierarchy, most_features: int) -> int:
    """The highest degree that `levels_through` reaches with no more than so many features."""
    degree = 1
    while (wide := levels_through(hierarchy, degree + 1)) is not None:
        if wide.q(degree + 1) > most_features:
            break
        degree += 1
    return degree


def moments_to_degree(sample: Sample, degree: int) -> Moments:
    """Moments of the data that hold at least this degree."""
    moments = sample.moments
    if moments.degree >= degree:
        return moments
    if sample.directions is None:
        raise DesignError(
            f"these moments hold degree {moments.degree}, not {degree}; ask for no more, or "
            "profile the directions"
        )
    wide: Any = _holding(moments.hierarchy, degree)
    rows = sample.directions
    return sample.memo.once(("moments", wide), lambda: Moments.from_directions(rows, wide))


def _holding(hierarchy: Hierarchy, degree: int) -> Hierarchy:
    """The fewest levels whose moments hold this degree: products of features reach beyond them."""
    for levels in range(1, degree + 1):
        found = levels_through(hierarchy, levels)
        if found is not None and found.held_levels >= degree:
            return found
    raise DesignError(f"no moments of {hierarchy} hold degree {degree}; ask for a lower one")
