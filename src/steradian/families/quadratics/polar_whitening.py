"""White features of level 2 in any dimension, in closed form: nothing of q × q is formed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.families.quadratics.polar_kernel import PolarKernel, about_axes
from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.heights.polar_angle import PolarAngle
from steradian.numerics.quadratics import quadratic_features, quadratic_size
from steradian.numerics.tolerances import SPREADLESS, TINY

_AT_ONCE = 16  # laws whose nodes stay in the processor's cache


@dataclass(frozen=True, slots=True)
class PolarWhitening:
    """Level 2 in any dimension, about the axes of von Mises-Fisher laws, in closed form.

    With ``t`` the coordinate along the axis and ``y`` the part across it, symmetry splits the
    features into t and y (level 1), and t², t y and the traceless part of y yᵀ (level 2), each
    uncorrelated with the others but for t² with t and t y with y.
    """

    axes: Array  # (B, d)
    kappa: Array  # (B,)
    moments: Array  # (B, 9) of t, see `polar_moments`

    @property
    def below(self) -> int:
        return self.axes.shape[1]

    @property
    def q(self) -> int:
        return quadratic_size(self.axes.shape[1])

    @property
    def sound(self) -> BoolArray:
        """All but laws that are a point to rounding."""
        return np.asarray(np.isfinite(self.moments).all(axis=1))

    @property
    def formed(self) -> None:
        """Nothing: that is what this form is for."""

    @property
    def kernel(self) -> PolarKernel:
        return PolarKernel.of(self.axes[0], float(self.kappa[0]))

    def rows(self, x: Array, features: Array | None = None) -> Array:
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

    def score(self, moments: MomentStack) -> Array:
        """From E x and E xxᵀ alone."""
        outer = moments.mean[:, :, None] * moments.mean[:, None, :]
        return self.score_of(moments.mean, moments.scatter + outer)

    def score_of(self, mean: Array, second: Array) -> Array:
        """|E ζ_added|² from E x (B, d) and E xxᵀ (B, d, d), (B,)."""
        mean_t, _, mean_tt, slope, var_0, _, shift, var_1, fourth = self.moments.T
        m = np.concatenate([part.reshape(len(mean), -1) for part in self._split(mean[:, None])], 1)
        s = about_axes(self.axes, np.swapaxes(about_axes(self.axes, second), 1, 2))
        k = m.shape[1] - 1
        trace = np.trace(s[:, 1:, 1:], axis1=1, axis2=2)
        across = s[:, 1:, 1:] - np.eye(k) * (trace / k)[:, None, None]
        with np.errstate(divide="ignore", invalid="ignore"):  # of a law that is a point to rounding
            square = (s[:, 0, 0] - mean_tt - slope * (m[:, 0] - mean_t)) ** 2 / var_0
            cross = ((s[:, 0, 1:] - shift[:, None] * m[:, 1:]) ** 2).sum(axis=1) / var_1
            rest = 0.5 * k * (k + 2.0) * (across**2).sum(axis=(1, 2)) / fourth
        total = square + cross + rest
        return np.where(np.isnan(total), np.inf, total)  # such a law tells nothing of its level

    def _split(self, x: Array) -> tuple[Array, Array]:
        turned = about_axes(self.axes, x)
        return turned[:, :, 0], turned[:, :, 1:]


def polar_whitening(d: int, lam: Array) -> PolarWhitening:
    """White features of level 2 about the laws ``lam`` (B, d) of level 1."""
    eta = np.sqrt(d) * lam
    kappa = np.linalg.norm(eta, axis=1)
    axes = np.where(kappa[:, None] > 0.0, eta / np.maximum(kappa, TINY)[:, None], np.eye(d)[0])
    parts = [
        polar_moments(d, kappa[k : k + _AT_ONCE]) for k in range(0, max(1, len(kappa)), _AT_ONCE)
    ]
    return PolarWhitening(axes, kappa, np.concatenate(parts))


def polar_moments(d: int, kappa: Array) -> Array:
    """Moments (B, 9) of the coordinate t along the axis of von Mises-Fisher laws κ (B,).

    E t, var t, E t², the slope of t² on t and the variance left, E y_i², the slope of t y on y
    and the variance left, E |y|⁴, all but the first from 1 - t, which a sharp law holds to all
    digits. Where rounding of t² would pass for what varies beyond t there is no slope: NaN.
    """
    heights = PolarAngle.of(d, kappa)
    t, mean, across = heights.t, heights.mean, heights.sine**2
    short = np.where(t > 0.0, across / (1.0 + np.abs(t)), 1.0 - t)  # 1 - t, to all digits
    mean_s, mean_ss, var_y = mean(short), mean(short**2), mean(across)
    away = mean_s[:, None] - short
    var_t = mean(away**2)
    with np.errstate(divide="ignore", invalid="ignore"):  # of a point, where nothing varies
        bend = -mean(away * short**2) / var_t
        shift_s = mean(short * across) / var_y
    var_0 = mean((short**2 - mean_ss[:, None] + bend[:, None] * away) ** 2)
    var_1 = mean((short - shift_s[:, None]) ** 2 * across) / (d - 1.0)
    slope = np.where(var_0 > SPREADLESS**2, 2.0 - bend, np.nan)
    second = 1.0 - 2.0 * mean_s + mean_ss
    var_y, shift, fourth = var_y / (d - 1.0), 1.0 - shift_s, mean(across**2)
    return np.stack([1.0 - mean_s, var_t, second, slope, var_0, var_y, shift, var_1, fourth], 1)
