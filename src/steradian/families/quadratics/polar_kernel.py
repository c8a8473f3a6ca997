"""Inner products of white residual quadratics about a von Mises-Fisher law, without the features.

With μ the axis, t = μ·x, k = d - 1, y = x - μt, s = |y|², e = 1 - t and E under the law, the white
features that level 2 adds are z = (a, b y, √C (y yᵀ - s I/k)):

    a = (e² - E e² - β (e - E e)) / √v₀,    β = Cov(e, e²) / Var e,   v₀ the variance that is left
    b = (c - e) / √v₁,                      c = E[e s] / E s,         v₁ = E[(e - c)² s] / k
    C = k (k + 2) / (2 E s²)

so that z·z' = a a' + b b' g + C (g² - s s'/k) with g = y·y'. Level 1 has the white features
v = ((E e - e) / √Var e, y / √V), V = E s / k. In t instead of e sharp laws would lose digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.families.whitening import RowFeatures
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.heights.polar_angle import PolarAngle
from steradian.numerics.quadratics import quadratic_size

_HELD = 1 << 24  # numbers of unit sums held at a time: 134 MB
_LONG = 8  # rows per unit from which sums of their forms cost less than products of rows


@dataclass(frozen=True, slots=True)
class PolarParts:
    """What of some rows their features are made of."""

    e: Array  # (n,)
    a: Array  # (n,)
    b: Array  # (n,)
    s: Array  # (n,)
    y: Array  # (n, k)


@dataclass(frozen=True, slots=True)
class PolarKernel:
    """White features of level 2 about one von Mises-Fisher law, by their inner products."""

    axis: Array  # (d,)
    mean_e: float
    var_e: float
    mean_ee: float
    beta: float  # β
    var_0: float  # v₀
    across: float  # V
    centre: float  # c
    var_1: float  # v₁
    fourth: float  # E s²
    mixed: float  # E[v₀ b s] / (k √V): what third moments of t and y are under the law

    @classmethod
    def of(cls, axis: Array, kappa: float) -> PolarKernel:
        """About the law with this axis and concentration."""
        d = len(axis)
        nodes, k = PolarAngle.of(d, np.array([kappa])), d - 1.0
        t, s = nodes.t, nodes.sine**2
        e = np.where(t > 0.0, s / (1.0 + np.abs(t)), 1.0 - t)

        def mean(values: Array) -> float:
            return float(nodes.mean(values)[0])

        mean_e, mean_ee, mean_s = mean(e), mean(e * e), mean(s)
        away = e - mean_e
        var_e = mean(away**2)
        beta = mean(away * e * e) / var_e
        var_0 = mean((e * e - mean_ee - beta * away) ** 2)
        across, centre = mean_s / k, mean(e * s) / mean_s
        var_1 = mean((e - centre) ** 2 * s) / k
        mixed = mean(away * (e - centre) * s) / (k * np.sqrt(var_e * var_1 * across))
        return cls(
            axis, mean_e, var_e, mean_ee, beta, var_0, across, centre, var_1, mean(s * s), mixed
        )

    @property
    def q(self) -> int:
        """Features that level 2 adds."""
        return quadratic_size(len(self.axis))

    @property
    def _k(self) -> int:
        return len(self.axis) - 1

    @property
    def forms(self) -> float:
        """C."""
        return 0.5 * self._k * (self._k + 2.0) / self.fourth

    def parts(self, x: Array) -> PolarParts:
        """Of rows ``x`` (n, d)."""
        turned = about_axes(self.axis[None], x[None])[0]
        t, y = turned[:, 0], turned[:, 1:]
        s = np.einsum("nk,nk->n", y, y)
        e = np.where(t > 0.0, s / (1.0 + np.abs(t)), 1.0 - t)
        a = (e * e - self.mean_ee - self.beta * (e - self.mean_e)) / np.sqrt(self.var_0)
        return PolarParts(e, a, (self.centre - e) / np.sqrt(self.var_1), s, y)

    # --- inner products of added features ----------------------------------------------------

    def squares(self, rows: PolarParts) -> Array:
        """|z|² of every row, (n,)."""
        trace = self.forms * (1.0 - 1.0 / self._k)
        return np.asarray(rows.a**2 + rows.b**2 * rows.s + trace * rows.s**2)

    def gram(self, rows: PolarParts) -> Array:
        """z·z' of every two rows, (n, n)."""
        g = rows.y @ rows.y.T
        out = self.forms * g
        out += np.outer(rows.b, rows.b)
        out *= g
        out += np.outer(rows.a, rows.a)
        out -= np.outer((self.forms / self._k) * rows.s, rows.s)
        return out

    def sums(self, rows: PolarParts, weights: Array, starts: IntArray) -> Array:
        """Vectors (G, 1 + k + k²) whose inner products are those of Σ w z of G units.

        A unit is the rows from one of ``starts`` to the next.
        """
        k = self._k
        out = np.empty((len(starts), 1 + k + k * k))
        out[:, 0] = np.add.reduceat(weights * rows.a, starts)
        out[:, 1 : 1 + k] = np.add.reduceat((weights * rows.b)[:, None] * rows.y, starts)
        stops = np.append(starts[1:], len(weights))
        for unit, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            y, w = rows.y[start:stop], weights[start:stop]
            form = (w[:, None] * y).T @ y
            form.flat[:: k + 1] -= float(w @ rows.s[start:stop]) / k
            out[unit, 1 + k :] = np.sqrt(self.forms) * form.ravel()
        return out

    def most_units(self, rows_per_unit: float) -> int:
        """How many units' sums may be held; none where products of rows cost less."""
        return 0 if rows_per_unit < _LONG else max(2, _HELD // (1 + self._k + self._k**2))

    # --- what estimating level 1 does to the score -------------------------------------------

    def below(self, rows: PolarParts) -> Array:
        """White features v of level 1, (n, d)."""
        tau = (self.mean_e - rows.e) / np.sqrt(self.var_e)
        return np.concatenate([tau[:, None], rows.y / np.sqrt(self.across)], axis=1)

    def curved(self, rows: PolarParts, v: Array) -> Array:
        """z·H[v, v] of every row and its own ``v`` (n, d), with H = E[z v v] under the law."""
        along, y = v[:, 0], v[:, 1:]
        length, k = np.einsum("nk,nk->n", y, y), self._k
        turned = np.einsum("nk,nk->n", rows.y, y)
        first = np.sqrt(self.var_0) * (along**2 / self.var_e - length / (k * self.across))
        third = (turned**2 - rows.s * length / k) / self.across
        return np.asarray(rows.a * first + 2.0 * self.mixed * rows.b * turned * along + third)

    @property
    def curvature(self) -> tuple[float, float]:
        """|H|² and |tr H|² over the features of level 1."""
        k = self._k
        root, per = np.sqrt(self.var_0), 1.0 / (k * self.across)
        polar = self.var_0 * (1.0 / self.var_e**2 + k * per**2)
        third = self.fourth * (1.0 - 1.0 / k) / self.across**2
        trace = root * (1.0 / self.var_e - k * per)
        return float(polar + 2.0 * k * self.mixed**2 + third), float(trace**2)

    @property
    def alone(self) -> RowFeatures:
        """The one added feature along the axis: the spread of t, which drowns among all others."""
        return _AlongAxis(self)


@dataclass(frozen=True, slots=True)
class _AlongAxis:
    """(τ, a) of rows: the features of levels 1 and 2 that are functions of t alone."""

    kernel: PolarKernel
    below: int = 1
    q: int = 1

    def rows(self, x: Array, features: Array | None = None) -> Array:
        parts = self.kernel.parts(x[0])
        return np.stack([self.kernel.below(parts)[:, 0], parts.a], axis=1)[None]


def about_axes(axes: Array, x: Array) -> Array:
    """Rows ``x`` (B, n, d) in frames with ``axes`` (B, d) first: a reflection takes e₁ there."""
    sign = np.where(axes[:, :1] < 0.0, 1.0, -1.0)
    mirror = axes - sign * np.eye(axes.shape[1])[0]
    scaled = mirror * (2.0 / np.einsum("bd,bd->b", mirror, mirror))[:, None]
    turned = x - (x @ mirror[:, :, None]) * scaled[:, None, :]
    turned[:, :, 0] *= sign
    return np.asarray(turned)
