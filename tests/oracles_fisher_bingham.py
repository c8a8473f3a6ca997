"""Independent Fisher-Bingham reference values: mpmath, by three roads that share no formula.

* `on_circle`, `on_sphere`, `on_three_sphere` integrate the density itself: equispaced angles on
  the circle, and Gauss-Legendre over how a point divides between a circle and the rest.
* `series` is the Taylor series of the normaliser in any dimension: for eigenvalues that are not
  negative all its terms are positive, so nothing cancels.
* `watson` and `complex_bingham` are closed forms: Kummer's function, and the divided
  difference of the exponential (Kent 1994) that doubled eigenvalues give.

All take the parameters in the eigenbasis of B, ``exp(b·x + Σ lam_i x_i²)``, with the
eigenvalues as they are, trace and all, and nothing here uses the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf
from mpmath.calculus.quadrature import GaussLegendre

from oracles import DIGITS, Array

Numbers = Sequence[float]


@dataclass(frozen=True)
class Reference:
    """Log-partition against the uniform law, E x and E xxᵀ, as mpmath numbers."""

    psi: Any
    mean: list[Any]
    second: list[list[Any]]

    @classmethod
    def of(cls, total: Any, mean: list[Any], second: list[list[Any]]) -> Reference:
        """From integrals not yet divided by the total."""
        return cls(
            mpmath.log(total), [m / total for m in mean], [[q / total for q in r] for r in second]
        )

    def psi_traceless(self, lam: Numbers) -> Any:
        """ψ once the trace of B is removed."""
        return self.psi - mpmath.fsum(mpf(v) for v in lam) / len(lam)

    def moments(self) -> tuple[Array, Array]:
        """E x (d,) and E xxᵀ (d, d) in double precision."""
        return np.array([float(m) for m in self.mean]), np.array(
            [[float(q) for q in row] for row in self.second]
        )

    def moments_in(self, axes: Array) -> tuple[Array, Array]:
        """The same for the law whose eigenvectors are the columns of ``axes``."""
        mean, second = self.moments()
        return axes @ mean, axes @ second @ axes.T

    def covariance(self) -> Array:
        """Cov x, subtracted before it is rounded."""
        m = self.mean
        return np.array(
            [[float(q - m[i] * m[j]) for j, q in enumerate(r)] for i, r in enumerate(self.second)]
        )

    def deficit(self, b: Numbers, lam: Numbers) -> Any:
        """D₂ = b·E x + Σ lam E x² - ψ."""
        linear = mpmath.fdot([mpf(v) for v in b], self.mean)
        squares = [row[i] for i, row in enumerate(self.second)]
        return linear + mpmath.fdot([mpf(v) for v in lam], squares) - self.psi


@cache
def _angles(n: int, digits: int) -> list[tuple[Any, Any]]:
    with mpmath.workdps(digits):
        turns = [2 * mpmath.pi * (k + mpf("0.381966")) / n for k in range(n)]
        return [(mpmath.cos(t), mpmath.sin(t)) for t in turns]


def _circle(b: Sequence[Any], lam: Sequence[Any], n: int) -> tuple[Any, list[Any], list[Any]]:
    """Total, first moments, and E of cc, cs, ss, all against the uniform law, not divided."""
    if not any(b):  # Bessel functions in longitude
        middle, half = (lam[0] + lam[1]) / 2, (lam[0] - lam[1]) / 2
        total = mpmath.exp(middle) * mpmath.besseli(0, half)
        tilt = mpmath.exp(middle) * mpmath.besseli(1, half)
        return total, [mpf(0), mpf(0)], [(total + tilt) / 2, mpf(0), (total - tilt) / 2]
    sums = [mpf(0)] * 6
    for c, s in _angles(n, mpmath.mp.dps):
        w = mpmath.exp(c * (b[0] + lam[0] * c) + s * (b[1] + lam[1] * s))
        wc, ws = w * c, w * s
        terms = (w, wc, ws, wc * c, wc * s, ws * s)
        sums = [a + t for a, t in zip(sums, terms, strict=True)]
    total, c, s, cc, cs, ss = (v / n for v in sums)
    return total, [c, s], [cc, cs, ss]


def on_circle(b: Numbers, lam: Numbers, n: int) -> Reference:
    """d = 2 by ``n`` equispaced angles; n² of about 300 times the largest parameter is ample."""
    with mpmath.workdps(DIGITS):
        total, first, (cc, cs, ss) = _circle(_mp(b), _mp(lam), n)
        return Reference.of(total, first, [[cc, cs], [cs, ss]])


def _mp(values: Numbers) -> list[Any]:
    return [mpf(float(v)) for v in values]


@cache
def _legendre(level: int, digits: int) -> list[tuple[Any, Any]]:
    """3·2^(level-1) Gauss-Legendre nodes on [-1, 1], weights of sum two."""
    with mpmath.workdps(digits):
        return list(GaussLegendre(mpmath.mp).calc_nodes(level, mpmath.mp.prec))


def _panels(edges: Sequence[Any], level: int) -> list[tuple[Any, Any]]:
    """Composite Gauss-Legendre between consecutive edges."""
    nodes = []
    for low, high in pairwise(edges):
        half, middle = (high - low) / 2, (high + low) / 2
        rule = _legendre(level, mpmath.mp.dps)
        nodes += [(middle + half * x, half * w) for x, w in rule]
    return nodes


def towards(centre: float, low: float, high: float, depth: int) -> list[float]:
    """Edges of [low, high] that halve their distance to ``centre`` ``depth`` times."""
    steps = [0.5**k for k in range(depth)]
    left = [centre - (centre - low) * s for s in steps] if centre > low else []
    right = [centre + (high - centre) * s for s in steps[::-1]] if centre < high else []
    return [*left, centre, *right]


def on_sphere(
    b: Numbers, lam: Numbers, n: int = 1, edges: Numbers = (-1.0, 1.0), level: int = 6
) -> Reference:
    """d = 3: a circle of ``n`` longitudes at every height z, Gauss-Legendre over z."""
    with mpmath.workdps(DIGITS):
        v, q = _mp(b), _mp(lam)
        total, mean = mpf(0), [mpf(0)] * 3
        second = [[mpf(0)] * 3 for _ in range(3)]
        for z, weight in _panels(_mp(edges), level):
            r2 = 1 - z * z
            r = mpmath.sqrt(r2)
            c, first, (cc, cs, ss) = _circle([r * v[0], r * v[1]], [r2 * q[0], r2 * q[1]], n)
            w = weight / 2 * mpmath.exp(z * (v[2] + q[2] * z))
            x, y = r * first[0], r * first[1]
            total += w * c
            mean = [m + w * t for m, t in zip(mean, (x, y, z * c), strict=True)]
            rows = [[r2 * cc, r2 * cs, z * x], [r2 * cs, r2 * ss, z * y], [z * x, z * y, z * z * c]]
            second = _plus(second, rows, w)
        return Reference.of(total, mean, second)


def on_three_sphere(
    b: Numbers, lam: Numbers, n: int = 1, edges: Numbers = (0.0, 1.0), level: int = 6
) -> Reference:
    """d = 4, Hopf: (√t u, √(1-t) w) with u, w on circles of ``n`` angles and t uniform."""
    with mpmath.workdps(DIGITS):
        v, q = _mp(b), _mp(lam)
        total, mean = mpf(0), [mpf(0)] * 4
        second = [[mpf(0)] * 4 for _ in range(4)]
        for t, weight in _panels(_mp(edges), level):
            p, r = mpmath.sqrt(t), mpmath.sqrt(1 - t)
            c, u, (uu, uv, vv) = _circle([p * x for x in v[:2]], [t * x for x in q[:2]], n)
            e, w, (ww, wz, zz) = _circle([r * x for x in v[2:]], [(1 - t) * x for x in q[2:]], n)
            total += weight * c * e
            first = [p * e * u[0], p * e * u[1], r * c * w[0], r * c * w[1]]
            mean = [m + weight * f for m, f in zip(mean, first, strict=True)]
            near, far = t * e, (1 - t) * c
            cross = [[p * r * u[i] * w[j] for j in range(2)] for i in range(2)]
            rows = [
                [near * uu, near * uv, *cross[0]],
                [near * uv, near * vv, *cross[1]],
                [cross[0][0], cross[1][0], far * ww, far * wz],
                [cross[0][1], cross[1][1], far * wz, far * zz],
            ]
            second = _plus(second, rows, weight)
        return Reference.of(total, mean, second)


def _plus(into: list[list[Any]], rows: list[list[Any]], scale: Any) -> list[list[Any]]:
    return [
        [a + scale * x for a, x in zip(have, row, strict=True)]
        for have, row in zip(into, rows, strict=True)
    ]


def series(b: Numbers, lam: Numbers, *, pairs: bool = True) -> Reference:
    """Any d: e^ψ = Γ(ν) Σ c_n / Γ(ν + n), Σ c_n tⁿ = Π (1 - λt)^{-1/2} exp{b²t / 4(1 - λt)}.

    For parameters up to some hundreds. The derivatives with respect to b and λ multiply the
    generating function by t/(1 - λt), which is one recurrence each; ``pairs`` asks for the
    products of different coordinates as well.
    """
    with mpmath.workdps(DIGITS):
        low = mpf(float(min(lam)))
        v, q = _mp(b), [x - low for x in _mp(lam)]
        d = len(v)
        terms = _terms_needed(v, q)
        gamma = [mpf(1)]  # Γ(ν) / Γ(ν + n)
        for n in range(terms):
            gamma.append(gamma[-1] / (mpf(d) / 2 + n))
        c = _coefficients(v, q, terms)
        total = mpmath.fdot(c, gamma[: len(c)])
        over = [_divided(c, x) for x in q]
        mean = [x / 2 * mpmath.fdot(o, gamma) for x, o in zip(v, over, strict=True)]
        second = [[mpf(0)] * d for _ in range(d)]
        for i in range(d):
            twice = _divided(over[i], q[i])
            own = mpmath.fdot(twice, gamma) * v[i] ** 2 / 4
            second[i][i] = mpmath.fdot(over[i], gamma) / 2 + own
            for j in range(i) if pairs else ():
                both = mpmath.fdot(_divided(over[i], q[j]), gamma) if v[i] and v[j] else mpf(0)
                second[i][j] = second[j][i] = v[i] * v[j] / 4 * both
        result = Reference.of(total, mean, second)
        return Reference(result.psi + low, result.mean, result.second)


def _terms_needed(v: list[Any], q: list[Any]) -> int:
    """The terms peak before n = max λ + |b|² / 4 or so and then fall faster than a Poisson tail."""
    size = float(max(q)) + float(mpmath.norm(v))
    return int(40 + 2 * size + 12 * np.sqrt(size))


def _coefficients(v: list[Any], q: list[Any], terms: int) -> list[Any]:
    """From n c_n = Σ a_k c_{n-k}, a_k the coefficients of the logarithmic derivative."""
    powers = [mpf(1)] * len(q)
    a = []
    for k in range(1, terms + 1):
        slope = mpmath.fdot([x * x for x in v], powers) * k / 4
        powers = [p * x for p, x in zip(powers, q, strict=True)]
        a.append(mpmath.fsum(powers) / 2 + slope)
    c = [mpf(1)]
    for n in range(1, terms + 1):
        c.append(mpmath.fdot(a[:n], c[::-1]) / n)
    return c


def _divided(c: list[Any], x: Any) -> list[Any]:
    """Coefficients of t/(1 - x t) times the series, as many as it has."""
    out = [mpf(0)]
    for value in c[:-1]:
        out.append(value + x * out[-1])
    return out


def watson(d: int, kappa: float) -> tuple[Any, Any]:
    """ψ and E (axis·x)² of exp(κ (axis·x)²): Kummer's function."""
    with mpmath.workdps(DIGITS):
        k, half = mpf(kappa), mpf(d) / 2
        total = mpmath.hyp1f1(mpf(1) / 2, half, k)
        above = mpmath.hyp1f1(mpf(3) / 2, half + 1, k)
        return mpmath.log(total), above / total / d


def complex_bingham(lam: Numbers, digits: int) -> tuple[Any, list[Any]]:
    """Every eigenvalue twice, all different: ψ and E x² of one coordinate of each pair.

    Σ lam_j t_j with t uniform on the simplex: (k-1)! times the divided difference of exp at
    lam, a sum that cancels to as many ``digits`` as one has patience for.
    """
    with mpmath.workdps(digits):
        q = [mpf(float(v)) for v in lam]
        k = len(q)
        gaps = [[x - y for i, y in enumerate(q) if i != j] for j, x in enumerate(q)]
        terms = [mpmath.exp(x) / mpmath.fprod(g) for x, g in zip(q, gaps, strict=True)]
        total = mpmath.fsum(terms)
        shares = []
        for j, x in enumerate(q):  # the derivative of the sum with respect to lam_j
            own = terms[j] * (1 - mpmath.fsum(1 / g for g in gaps[j]))
            rest = mpmath.fsum(
                t / (y - x) for i, (t, y) in enumerate(zip(terms, q, strict=True)) if i != j
            )
            shares.append((own + rest) / total / 2)
        return mpmath.log(total * mpmath.factorial(k - 1)), shares
