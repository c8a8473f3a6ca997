"""Reference tails of weighted chi-square sums, in mpmath; nothing here uses the package.

Two routes that share nothing:

* `paired_tail`: when every coefficient occurs twice the sum is one of exponential variables and
  the tail a finite sum of exponentials, taken with enough digits for its cancellation;
* `contour_tail`: for any coefficients the inverse Laplace integral along a parabola (the package
  bends a hyperbola), halving the step of the trapezoidal rule until two agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np

DIGITS = 40


def paired_tail(t: float, pairs: Sequence[float], dof: float = np.inf) -> mpmath.mpf:
    """P(Σ_k ω_k χ²_2 > t S) for distinct ω; S = 1, or χ²_ν / ν for a finite ``dof`` ν."""
    with mpmath.workdps(DIGITS + 20 * len(pairs)):
        omega, level = [mpmath.mpf(float(w)) for w in pairs], mpmath.mpf(t)
        total = mpmath.mpf(0)
        for i, w in enumerate(omega):
            share = mpmath.fprod(w / (w - v) for j, v in enumerate(omega) if j != i)
            if np.isinf(dof):
                total += share * mpmath.exp(-level / (2 * w))
            else:
                total += share * (1 + level / (w * dof)) ** (-mpmath.mpf(dof) / 2)
        return +total


def paired_level(target: float, pairs: Sequence[float]) -> float:
    """The level whose tail is ``target``, by bisection of its logarithm."""
    low, high = mpmath.log(min(pairs)) - 60, mpmath.log(max(pairs)) + 12
    for _ in range(60):
        middle = (low + high) / 2
        above = paired_tail(float(mpmath.exp(middle)), pairs) > target
        low, high = (middle, high) if above else (low, middle)
    return float(mpmath.exp((low + high) / 2))


def contour_tail(
    t: float, coefficients: Sequence[float], digits: int = 15, dof: float = np.inf
) -> mpmath.mpf:
    """P(Σ_j ω_j χ²_1 > t S) from (1/2πi) ∫ E exp(s t S) Π (1 + 2 ω_j s)^{-1/2} (-s)^{-1} ds."""
    with mpmath.workdps(DIGITS):
        omega = [mpmath.mpf(float(w)) for w in coefficients if w > 0]
        level = mpmath.mpf(t)
        edge = 1 / (2 * max(omega))  # the cuts begin at -edge, the pole is 0
        vertex = _vertex(level, omega, edge)
        width = min(vertex, edge - vertex)

        def integrand(v: mpmath.mpf) -> mpmath.mpf:
            s = mpmath.mpc(-vertex - width * v * v / 4, width * v)
            speed = mpmath.mpc(-width * v / 2, width)
            log: Any = -mpmath.fsum(mpmath.log(1 + 2 * w * s) for w in omega) / 2
            if np.isinf(dof):
                log += s * level
            else:
                log -= mpmath.mpf(dof) / 2 * mpmath.log(1 - 2 * s * level / dof)
            return (mpmath.exp(log) * speed / (-s)).imag

        start = integrand(mpmath.mpf(0)) / 2
        step, total = mpmath.mpf(1) / 4, mpmath.mpf(0)
        previous = mpmath.mpf(0)
        nodes = range(1, 10**6)
        while True:
            for k in nodes:
                term = integrand(k * step)
                total += term
                if abs(term) < abs(start) * mpmath.mpf(10) ** (-digits - 5):
                    break
            value = (start + total) * step / mpmath.pi
            if abs(value - previous) < abs(value) * mpmath.mpf(10) ** (-digits):
                return value
            previous, step = value, step / 2
            nodes = range(1, 10**6, 2)  # the others are there already


def _vertex(t: mpmath.mpf, omega: list[mpmath.mpf], edge: mpmath.mpf) -> mpmath.mpf:
    """Minus the saddle: where -u t - ½ Σ log(1 - 2 ω u) - log u is least, 0 < u < edge."""
    low, high = mpmath.mpf(0), edge
    for _ in range(80):
        u = (low + high) / 2
        slope = mpmath.fsum(w / (1 - 2 * w * u) for w in omega) - t - 1 / u
        low, high = (low, u) if slope > 0 else (u, high)
    return (low + high) / 2
