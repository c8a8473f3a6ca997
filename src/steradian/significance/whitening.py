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
_COLLINEAR = 1e-6  # ratio of diagonals of C below which C⁻¹ would be made of rounding
_AT_ONCE = 16  # laws whose nodes stay in the processor's cache
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
class PolarStack:
    """Level 2 in any dimension, about the axes of von Mises-Fisher laws, in closed form.

    With ``t`` the coordinate along the axis and ``y`` the part across it, symmetry splits the
    features into t and y (level 1), and t², t y and the traceless part of y yᵀ (level 2), each
    uncorrelated with the others but for t² with t and t y with y.
    """

    axes: Array  # (B, d)
    moments: Array  # (B, 9) of t, see `_stacked_moments`

    @property
    def below(self) -> int:
        return self.axes.shape[1]

    @property
    def q(self) -> int:
        return quadratic_size(self.axes.shape[1])

    def rows(self, x: Array) -> Array:
        mean_t, var_t, mean_tt, slope, var_0, var_y, shift, var_1, fourth = self.moments.T[
            :, :, None
        ]  # each (B, 1)
        t, y = self._split(x)
        k = y.shape[2]
        square = (t * t - mean_tt - slope * (t - mean_t)) / np.sqrt(var_0)
        across = quadratic_features(y.reshape(-1, k)).reshape(*t.shape, -1)
        return np.concatenate(
            [
                ((t - mean_t) / np.sqrt(var_t))[:, :, None],
                y / np.sqrt(var_y)[:, :, None],
                square[:, :, None],
                ((t - shift) / np.sqrt(var_1))[:, :, None] * y,
                across / np.sqrt(fourth)[:, :, None],
            ],
            axis=2,
        )

    def score(self, mean: Array, second: Array) -> Array:
        """|Σ w ζ_added|² from E x (B, d) and E xxᵀ (B, d, d) alone, (B,)."""
        mean_t, _, mean_tt, slope, var_0, _, shift, var_1, fourth = self.moments.T
        m = np.concatenate([part.reshape(len(mean), -1) for part in self._split(mean[:, None])], 1)
        s = self._turned(np.swapaxes(self._turned(second), 1, 2))
        k = m.shape[1] - 1
        square = (s[:, 0, 0] - mean_tt - slope * (m[:, 0] - mean_t)) ** 2 / var_0
        cross = ((s[:, 0, 1:] - shift[:, None] * m[:, 1:]) ** 2).sum(axis=1) / var_1
        trace = np.trace(s[:, 1:, 1:], axis1=1, axis2=2)
        across = s[:, 1:, 1:] - np.eye(k) * (trace / k)[:, None, None]
        rest = 0.5 * k * (k + 2.0) * (across**2).sum(axis=(1, 2)) / fourth
        return np.asarray(square + cross + rest)

    def _split(self, x: Array) -> tuple[Array, Array]:
        turned = self._turned(x)
        return turned[:, :, 0], turned[:, :, 1:]

    def _turned(self, x: Array) -> Array:
        """Rows ``x`` (B, n, d) in a frame with the axis first: a reflection takes e₁ there."""
        sign = np.where(self.axes[:, :1] < 0.0, 1.0, -1.0)
        mirror = self.axes - sign * np.eye(self.axes.shape[1])[0]
        scaled = mirror * (2.0 / np.einsum("bd,bd->b", mirror, mirror))[:, None]
        turned = x - (x @ mirror[:, :, None]) * scaled[:, None, :]
        turned[:, :, 0] *= sign
        return np.asarray(turned)


@dataclass(frozen=True, slots=True)
class PolarWhitening:
    """The same about one axis."""

    axis: Array  # (d,)
    moments: tuple[float, ...]

    @property
    def below(self) -> int:
        return len(self.axis)

    @property
    def q(self) -> int:
        return quadratic_size(len(self.axis))

    @property
    def _stack(self) -> PolarStack:
        return PolarStack(self.axis[None], np.array([self.moments]))

    def rows(self, x: Array) -> Array:
        return self._stack.rows(x.reshape(1, -1, x.shape[-1])).reshape(*x.shape[:-1], -1)

    def score(self, mean: Array, second: Array) -> float:
        """|Σ w ζ_added|² from E x and E xxᵀ alone."""
        return float(self._stack.score(mean[None], second[None])[0])


def whitening(hierarchy: Harmonics, level: int, lam: Array) -> Whitening:
    """The white features of ``level`` under the fit ``lam`` (1, q) of the level below."""
    if hierarchy.d > 3 and level == 2:
        stack = polar_stack(hierarchy.d, lam)
        return PolarWhitening(stack.axes[0], tuple(stack.moments[0].tolist()))
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
    """C⁻¹ of J = C Cᵀ for a stack (B, p, p); NaN where J is singular to rounding."""
    try:
        root = np.linalg.cholesky(covariance)
        diagonal = np.diagonal(root, axis1=1, axis2=2)
        singular = diagonal.min(axis=1) < _COLLINEAR * diagonal.max(axis=1)
        inverse = np.tril(np.linalg.inv(root))
        inverse[singular] = np.nan
        return inverse
    except np.linalg.LinAlgError:
        if len(covariance) == 1:
            return np.full_like(covariance, np.nan)
        return np.concatenate([_inverse_roots(one[None]) for one in covariance])


def polar_stack(d: int, lam: Array) -> PolarStack:
    """White features of level 2 about the laws ``lam`` (B, d) of level 1."""
    eta = np.sqrt(d) * lam
    kappa = np.linalg.norm(eta, axis=1)
    axes = np.where(kappa[:, None] > 0.0, eta / np.maximum(kappa, 1e-300)[:, None], np.eye(d)[0])
    parts = [
        _stacked_moments(d, kappa[k : k + _AT_ONCE]) for k in range(0, max(1, len(kappa)), _AT_ONCE)
    ]
    return PolarStack(axes, np.concatenate(parts))


def _polar_moments(d: int, kappa: float) -> tuple[float, ...]:
    return tuple(_stacked_moments(d, np.array([kappa]))[0].tolist())


def _stacked_moments(d: int, kappa: Array) -> Array:
    """Moments (B, 9) of the coordinate t along the axis of von Mises-Fisher laws κ (B,).

    By the trapezoidal rule in the polar angle, which for this smooth periodic density
    converges geometrically: E t, var t, E t², the slope of t² on t and the variance left,
    E y_i², the slope of t y on y and the variance left, E |y|⁴.
    """
    power = d - 2.0
    ratio = 2.0 * kappa / (power + np.sqrt(power * power + 4.0 * kappa * kappa))
    mode = np.arccos(np.minimum(ratio, 1.0))  # of the angle: κ sin² = power cos
    width = 1.0 / np.sqrt(kappa * ratio + power)
    low, high = np.maximum(0.0, mode - _REACH * width), np.minimum(np.pi, mode + _REACH * width)
    angle = np.linspace(low, high, _NODES, axis=1)
    sine, t = np.sin(angle), np.cos(angle)
    with np.errstate(divide="ignore"):
        log_density = kappa[:, None] * (t - 1.0) + power * np.log(sine)
    log_density[:, [0, -1]] -= np.log(2.0)
    weight = np.exp(log_density - logsumexp(log_density, axis=1, keepdims=True))

    def mean(values: Array) -> Array:
        return np.einsum("bk,bk->b", weight, values)

    mean_t = mean(t)
    away = t - mean_t[:, None]
    var_t = mean(away**2)
    mean_tt = mean(t * t)
    slope = mean(away * t * t) / var_t
    var_0 = mean((t * t - mean_tt[:, None] - slope[:, None] * away) ** 2)
    across = sine**2
    var_y = mean(across) / (d - 1.0)
    shift = mean(t * across) / mean(across)
    var_1 = mean((t - shift[:, None]) ** 2 * across) / (d - 1.0)
    fourth = mean(across**2)
    return np.stack([mean_t, var_t, mean_tt, slope, var_0, var_y, shift, var_1, fourth], axis=1)
