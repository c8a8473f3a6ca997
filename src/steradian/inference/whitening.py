"""The null of a level seen from its reduced fit: features that are white under it.

With ``J = C Cᵀ`` the covariance of the level's features under the reduced fit (C lower
triangular) and μ₀ their mean, ``ζ = C⁻¹(φ - μ₀)`` has unit covariance there. Its first
components are the features of the levels below; its last q are what the level adds, free of
the others: ``S^{-1/2} N₀ (φ - μ₀)`` of the paper, up to a rotation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from steradian.errors import ResolutionError
from steradian.hierarchies import Harmonics
from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.quadratics import quadratic_features, quadratic_size

_NODES = 4001
_REACH = 14.0  # standard deviations of the polar angle that are integrated over


class Whitening(Protocol):
    """White features of one level for a stack of B reduced fits."""

    @property
    def below(self) -> int:
        """Features of the levels below."""
        ...

    @property
    def q(self) -> int:
        """Features the level adds."""
        ...

    def rows(self, x: Array) -> Array:
        """ζ at ``x`` (B, n, d): (B, n, below + q)."""
        ...


@dataclass(frozen=True, slots=True)
class GriddedWhitening:
    """On the circle and the two-sphere: the covariance itself."""

    hierarchy: Harmonics
    below: int
    mean: Array  # (B, p): μ₀
    inverse: Array  # (B, p, p): C⁻¹

    @property
    def q(self) -> int:
        return self.mean.shape[1] - self.below

    @property
    def sound(self) -> BoolArray:
        """Which fits of a stack have white features at all, (B,)."""
        return np.asarray(np.isfinite(self.inverse).all(axis=(1, 2)))

    def rows(self, x: Array) -> Array:
        p = self.mean.shape[1]
        phi = self.hierarchy.features(x.reshape(-1, x.shape[2]))[:, :p].reshape(*x.shape[:2], p)
        return self.of_features(phi)

    def of_features(self, phi: Array) -> Array:
        """ζ from features (B, n, p); in memory one feature after the other, as the sums like it."""
        if not self.below:
            return phi  # under the uniform law they are white as they stand
        columns = self.inverse @ np.swapaxes(phi, 1, 2)
        columns -= self.inverse @ self.mean[:, :, None]
        return np.swapaxes(columns, 1, 2)


@dataclass(frozen=True, slots=True)
class PolarWhitening:
    """Level 2 in any dimension, about the axis of a von Mises-Fisher law, in closed form.

    With ``t`` the coordinate along the axis and ``y`` the part across it, symmetry splits the
    features into t and y (level 1), and t², t y and the traceless part of y yᵀ (level 2), each
    uncorrelated with the others but for t² with t and t y with y.
    """

    axis: Array  # (d,)
    moments: tuple[float, ...]  # of t, see `_polar_moments`

    @property
    def below(self) -> int:
        return len(self.axis)

    @property
    def q(self) -> int:
        return quadratic_size(len(self.axis))

    def rows(self, x: Array) -> Array:
        mean_t, var_t, mean_tt, slope, var_0, var_y, shift, var_1, fourth = self.moments
        flat = x.reshape(-1, x.shape[-1])
        t, y = self._split(flat)
        level_1 = [((t - mean_t) / np.sqrt(var_t))[:, None], y / np.sqrt(var_y)]
        square = (t * t - mean_tt - slope * (t - mean_t)) / np.sqrt(var_0)
        cross = (t - shift)[:, None] * y / np.sqrt(var_1)
        across = quadratic_features(y) / np.sqrt(fourth)
        out = np.hstack([*level_1, square[:, None], cross, across])
        return out.reshape(*x.shape[:-1], -1)

    def score(self, mean: Array, second: Array) -> float:
        """|Σ w ζ_added|² from E x and E xxᵀ alone."""
        mean_t, _, mean_tt, slope, var_0, _, shift, var_1, fourth = self.moments
        frame = self._frame()
        m, s = frame.T @ mean, frame.T @ second @ frame
        k = len(m) - 1
        square = (s[0, 0] - mean_tt - slope * (m[0] - mean_t)) ** 2 / var_0
        cross = ((s[0, 1:] - shift * m[1:]) ** 2).sum() / var_1
        across = s[1:, 1:] - np.eye(k) * np.trace(s[1:, 1:]) / k
        return float(square + cross + 0.5 * k * (k + 2.0) * (across**2).sum() / fourth)

    def _split(self, x: Array) -> tuple[Array, Array]:
        rotated = x @ self._frame()
        return rotated[:, 0], rotated[:, 1:]

    def _frame(self) -> Array:
        """An orthonormal basis with the axis first (a reflection that takes e₁ there)."""
        d = len(self.axis)
        sign = 1.0 if self.axis[0] < 0.0 else -1.0
        mirror = self.axis - sign * np.eye(d)[0]
        frame = np.eye(d) - 2.0 * np.outer(mirror, mirror) / (mirror @ mirror)
        frame[:, 0] *= sign
        return frame


def whitening(hierarchy: Harmonics, level: int, lam: Array) -> Whitening:
    """The white features of ``level`` under the fit ``lam`` (1, q) of the level below."""
    if hierarchy.d > 3 and level == 2:
        return _polar(hierarchy.d, lam)
    white = gridded_whitening(hierarchy, level, lam)
    if not white.sound.all():
        raise ResolutionError(
            level,
            "cannot be tested: the fit below is so concentrated that the features of the level "
            "cannot be told apart in double precision",
            "ask for fewer levels, or look at the rows of largest weight",
        )
    return white


def gridded_whitening(hierarchy: Harmonics, level: int, lam: Array) -> GriddedWhitening:
    """The same from the covariance itself, where that is formed."""
    family = hierarchy.family(level)
    if not lam.shape[1]:
        none, eye = np.zeros((len(lam), family.q)), np.eye(family.q)
        white = np.broadcast_to(eye, (len(lam), *eye.shape))
        return GriddedWhitening(Harmonics(hierarchy.d, level), 0, none, white)
    start = np.zeros((len(lam), family.q))
    start[:, : lam.shape[1]] = lam
    _, mean, covariance = family.log_partition(start)
    inverse = _inverse_roots(covariance)
    seen = Harmonics(hierarchy.d, level)
    return GriddedWhitening(seen, lam.shape[1], mean, inverse)


def _inverse_roots(covariance: Array) -> Array:
    """C⁻¹ of J = C Cᵀ for a stack (B, p, p); NaN where J is not positive definite."""
    try:
        return np.tril(np.linalg.inv(np.linalg.cholesky(covariance)))
    except np.linalg.LinAlgError:
        if len(covariance) == 1:
            return np.full_like(covariance, np.nan)
        return np.concatenate([_inverse_roots(one[None]) for one in covariance])


def _polar(d: int, lam: Array) -> PolarWhitening:
    if len(lam) != 1:
        raise ValueError("above dimension 3 samples are tested one at a time")
    eta = np.sqrt(d) * lam[0]
    kappa = float(np.linalg.norm(eta))
    axis = eta / kappa if kappa > 0.0 else np.eye(d)[0]
    return PolarWhitening(axis, _polar_moments(d, kappa))


def _polar_moments(d: int, kappa: float) -> tuple[float, ...]:
    """Moments of the coordinate t along the axis of a von Mises-Fisher law.

    By the trapezoidal rule in the polar angle, which for this smooth periodic density
    converges geometrically: E t, var t, E t², the slope of t² on t and the variance left,
    E y_i², the slope of t y on y and the variance left, E |y|⁴.
    """
    power = d - 2.0
    ratio = 2.0 * kappa / (power + np.sqrt(power * power + 4.0 * kappa * kappa))
    mode = float(np.arccos(min(ratio, 1.0)))  # of the angle: κ sin² = power cos
    width = 1.0 / np.sqrt(kappa * ratio + power)
    angle = np.linspace(max(0.0, mode - _REACH * width), min(np.pi, mode + _REACH * width), _NODES)
    sine, t = np.sin(angle), np.cos(angle)
    with np.errstate(divide="ignore"):
        log_density = kappa * (t - 1.0) + power * np.log(sine)
    log_density[[0, -1]] -= np.log(2.0)
    weight = np.exp(log_density - logsumexp(log_density))
    mean_t = float(weight @ t)
    away = t - mean_t
    var_t = float(weight @ away**2)
    mean_tt = float(weight @ (t * t))
    slope = float(weight @ (away * t * t)) / var_t
    var_0 = float(weight @ (t * t - mean_tt - slope * away) ** 2)
    across = sine**2
    var_y = float(weight @ across) / (d - 1.0)
    shift = float(weight @ (t * across)) / float(weight @ across)
    var_1 = float(weight @ ((t - shift) ** 2 * across)) / (d - 1.0)
    fourth = float(weight @ across**2)
    return mean_t, var_t, mean_tt, slope, var_0, var_y, shift, var_1, fourth
