"""The numbers that textbooks print of directions of equal weight, each under its own name.

Fisher (1953), Proc. R. Soc. A 217: k̂ and α95 on the sphere; Mardia and Jupp (2000), Directional
Statistics, sections 2.3, 9.4 and 10.7: circular standard deviation, Rayleigh's and Bingham's
tests; Woodcock (1977), GSA Bulletin 88: shape and strength of fabrics. ``mean`` is E x (d,) and
``second`` E xxᵀ (d, d), R the length of the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc

from steradian.numerics.arrays import Array

_NINETY_FIVE = 0.05  # of α95


@dataclass(frozen=True, slots=True)
class Classical:
    """One such number: what people call it, its value and unit, and its p-value or NaN.

    Examples
    --------
    >>> Classical("circular standard deviation", 41.2, "°").unit
    '°'
    """

    name: str
    value: float
    unit: str = ""
    pvalue: float = math.nan


def rayleigh(n: int, mean: Array) -> Classical:
    """``d n R²`` against χ² with d degrees of freedom: is there a mean direction?"""
    d = len(mean)
    value = d * n * float(mean @ mean)
    return Classical("Rayleigh", value, pvalue=_tail(value, d))


def bingham(n: int, second: Array) -> Classical:
    """``½ d (d + 2) n (tr T² - 1/d)``, T = E xxᵀ, against χ² with ½ (d - 1)(d + 2)."""
    d = len(second)
    away = second - np.eye(d) / d
    value = 0.5 * d * (d + 2.0) * n * float((away**2).sum())
    return Classical("Bingham", value, pvalue=_tail(value, (d - 1) * (d + 2) // 2))


def fisher(n: int, mean: Array) -> tuple[Classical, ...]:
    """Fisher's ``k̂ = (n - 1) / (n - nR)`` and α95, the cone about the mean, on the two-sphere."""
    length = float(np.linalg.norm(mean))
    if n < 2 or not 0.0 < length < 1.0:
        return ()
    cone = fisher_cone(n, length, _NINETY_FIVE)
    found = Classical("Fisher's k̂", (n - 1.0) / (n * (1.0 - length)))
    return (found, Classical("α95", cone, "°")) if math.isfinite(cone) else (found,)


def fisher_cone(n: int, length: float, alpha: float) -> float:
    """Half angle in degrees of the cone about a mean of ``n`` unit vectors of mean length R.

    ``cos α = 1 - (1 - R)/R {alpha^{-1/(n-1)} - 1}``; NaN where that is below -1.
    """
    cosine = 1.0 - (1.0 - length) / length * (alpha ** (-1.0 / (n - 1)) - 1.0)
    return math.degrees(math.acos(cosine)) if cosine >= -1.0 else math.nan


def circular_spread(mean: Array) -> tuple[Classical, ...]:
    """The circular standard deviation ``√(-2 log R)``, in degrees; none without a mean."""
    length = float(np.linalg.norm(mean))
    if not 0.0 < length < 1.0:
        return ()
    spread = math.degrees(math.sqrt(-2.0 * math.log(length)))
    return (Classical("circular standard deviation", spread, "°"),)


def woodcock(second: Array) -> tuple[Classical, ...]:
    """Eigenvalues S₁ ≥ S₂ ≥ S₃ of E xxᵀ, shape ``K = log(S₁/S₂)/log(S₂/S₃)``, ``C = log(S₁/S₃)``.

    K is above one for clusters and below for girdles.
    """
    s = np.linalg.eigvalsh(second)[::-1]
    found = [Classical(f"S{k}", float(v)) for k, v in zip("₁₂₃", s, strict=False)]
    if len(s) == 3 and s[2] > 0.0 and s[1] > s[2]:
        found.append(Classical("Woodcock's K", float(np.log(s[0] / s[1]) / np.log(s[1] / s[2]))))
        found.append(Classical("C", float(np.log(s[0] / s[2]))))
    return tuple(found)


def _tail(value: float, dof: int) -> float:
    return float(gammaincc(0.5 * dof, 0.5 * value))
