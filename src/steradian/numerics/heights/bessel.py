"""Bessel ratios and log-partitions of von Mises-Fisher laws in any dimension.

With ``nu = d/2 - 1`` the von Mises-Fisher law on the unit sphere of R^d has

    A_d(kappa)   = I_{nu+1}(kappa) / I_nu(kappa)                 (mean resultant length)
    psi_d(kappa) = log[Gamma(nu+1) (2/kappa)^nu I_nu(kappa)]     (log-partition)

against the uniform law of mass one. Library Bessel functions underflow for large
orders and overflow for large arguments, and their ratio loses ``1 - A`` when the law
is concentrated. Here the uniform (Debye) expansion of I at an order of at least 16,
where twelve terms reach rounding ([DLMF]_ 10.41), is carried down to the order wanted by
recurrences whose terms all have one sign, so nothing cancels ([DLMF]_ 10.29):

    r_nu   = kappa / (2 nu + 2 + kappa r_{nu+1}),
    t_nu   = kappa (2 nu + 2 - t_{nu+1}) / (2 nu + 2 + kappa - t_{nu+1}),  t = kappa (1 - r),
    psi_nu = psi_{nu+1} + log1p(kappa r_{nu+1} / (2 nu + 2)).

References
----------
.. [DLMF] NIST Digital Library of Mathematical Functions, sections 10.29 and 10.41.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import i0e, i1e

from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.tolerances import SUBTRACTED_POINT, TINY_ROOT

_DEBYE_ORDER = 16.0  # from this order on, twelve Debye terms leave less than 1e-16
_FACTORS = 8  # of up to 1e30 each that one number holds
_DEBYE_TERMS = 12
_SERIES_BELOW = 0.25  # kappa^2 / (2 d) below which the power series keeps relative accuracy
_SERIES_TERMS = 16
_HALLEY_STEPS = 20
_FEW_ROUNDINGS, _MANY_ROUNDINGS = 8.0, 64.0  # of a sum of logs, and of a series
_MODERATE = 20.0  # concentration up to which forms that lose 2 kappa roundings keep 1e-14
_SPREAD_OF_MODERATE = 0.052  # 1 - R² above which it is less in the plane: 0.05002 there
_STIRLING_FROM = 16.0  # argument from which the series of its error serves


class VonMisesFisher(NamedTuple):
    """What a von Mises-Fisher law needs at one concentration; all of the shape of ``kappa``."""

    kappa: Array | float
    ratio: Array  # A_d(kappa)
    defect: Array  # kappa (1 - A_d(kappa)), without cancellation
    psi: Array  # log-partition, relative accuracy also near zero
    deficit: Array  # kappa A - psi in nats, relative accuracy also near zero


@cache
def _debye_coefficients(order: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """U(t) = sum_k u_k(t) / order^k and U'(t) as polynomials, highest power first."""
    polynomials = [[Fraction(1)]]
    for _ in range(_DEBYE_TERMS):
        u = polynomials[-1]
        following = [Fraction(0)] * (len(u) + 3)
        for power, c in enumerate(u):
            following[power + 1] += c * (Fraction(power, 2) + Fraction(1, 8 * (power + 1)))
            following[power + 3] -= c * (Fraction(power, 2) + Fraction(5, 8 * (power + 3)))
        polynomials.append(following)
    total = [0.0] * len(polynomials[-1])
    for k, u in enumerate(polynomials):
        for power, c in enumerate(u):
            total[power] += float(c) / order**k
    slope = [power * c for power, c in enumerate(total)][1:]
    return tuple(reversed(total)), tuple(reversed(slope))


def _choose(condition: Any, yes: Any, no: Any) -> Any:
    """``np.where`` that leaves scalars scalars, which are much quicker here."""
    if isinstance(condition, bool | np.bool_):
        return yes if condition else no
    return np.where(condition, yes, no)


def _functions(values: Any) -> Any:
    """Where √ and logarithms of a number or of an array are: those of `math` keep floats floats."""
    return math if isinstance(values, float) else np


def _horner(coefficients: tuple[float, ...], t: Any) -> Any:
    value = t * 0.0 + coefficients[0]
    for c in coefficients[1:]:
        value = value * t + c
    return value


def _debye(order: float, kappa: Any, *, logs: bool) -> tuple[Any, Any, Any]:
    """(r, t, kappa - psi) at one large order; the last only with ``logs``, which take longest."""
    z, of = kappa / order, _functions(kappa)
    root = of.sqrt(1.0 + z * z)
    inverse = 1.0 / root
    total, slope = _debye_coefficients(order)
    u = _horner(total, inverse)
    bend = z * inverse * inverse * (0.5 + inverse * _horner(slope, inverse) / u)
    ratio = z / (1.0 + root) - bend / order
    defect = kappa * (1.0 + 1.0 / (root + z)) / (1.0 + root) + z * bend
    if not logs:
        return ratio, defect, 0.0
    small = z * z / (1.0 + root)  # root - 1
    excess = (
        order * (1.0 - 1.0 / (root + z) + of.log1p(0.5 * small))
        + 0.5 * of.log(root)
        - of.log(u)
        - stirling_error(order)
    )
    return ratio, defect, excess


def _recurrence_steps(order: float) -> int:
    return max(0, math.ceil(_DEBYE_ORDER - order))


def _descend(d: int, kappa: Any, *, logs: bool = True) -> tuple[Any, Any, Any]:
    """(r, t, kappa - psi) at the order of dimension d, carried down from the Debye order.

    Without ``logs`` the last is left out. In the plane and, of stacks, in space there are quicker
    ways while no law is concentrated.
    """
    if isinstance(kappa, float):
        if d == 2 and kappa <= _MODERATE:
            return _in_plane(kappa, logs)
    elif d in _QUICK and np.max(kappa, initial=0.0) <= _MODERATE:
        return _QUICK[d](np.asarray(kappa), logs)
    order, log = 0.5 * d - 1.0, _functions(kappa).log
    steps = _recurrence_steps(order)
    ratio, defect, excess = _debye(order + steps, kappa, logs=logs)
    growth = 1.0
    for j in range(steps - 1, -1, -1):
        twice = 2.0 * (order + j) + 2.0
        lower = twice + kappa * ratio
        if logs and j % _FACTORS == 0:  # before a product of concentrations overflows
            excess, growth = excess - log(growth), 1.0
        if logs:
            growth = growth * (lower / twice)
        ratio = kappa / lower
        defect = kappa * ((twice - defect) / (twice + kappa - defect))
    return ratio, defect, excess - log(growth) if logs else excess


def _in_plane(kappa: Any, logs: bool) -> tuple[Any, Any, Any]:
    """(r, t, kappa - psi) in two dimensions from library Bessel functions, scaled by exp(-kappa).

    1 - r = (I₀ - I₁) / I₀ is about 1 / (2 kappa), so that it loses 2 kappa roundings.
    """
    zeroth, first = i0e(kappa), i1e(kappa)
    if isinstance(kappa, float):
        zeroth, first = float(zeroth), float(first)
    excess = -_functions(zeroth).log(zeroth) if logs else 0.0
    return first / zeroth, kappa * ((zeroth - first) / zeroth), excess


def _in_space(kappa: Array, logs: bool) -> tuple[Any, Any, Any]:
    """The same in three dimensions, where all terms are elementary (`_elementary`)."""
    large = np.maximum(kappa, 1.0)
    far = 2.0 * large / np.expm1(2.0 * large)
    ratio = _continued_fraction(np.minimum(kappa, 1.0))
    small = kappa <= 1.0
    ratio = np.where(small, ratio, 1.0 / np.tanh(large) - 1.0 / large)
    defect = np.where(small, kappa * (1.0 - ratio), 1.0 - far)
    if not logs:
        return ratio, defect, 0.0
    some = np.maximum(kappa, TINY_ROOT)
    return ratio, defect, np.log(2.0 * some) - np.log(-np.expm1(-2.0 * some))


_QUICK = {2: _in_plane, 3: _in_space}


def von_mises_fisher(d: int, kappa: Array | float) -> VonMisesFisher:
    """All terms of the von Mises-Fisher law on S^{d-1} at concentrations ``kappa`` >= 0.

    Relative error below 1e-12 for d from 2 to 1024 and kappa from 0 to 1e8.

    Examples
    --------
    >>> import numpy as np
    >>> terms = von_mises_fisher(3, np.array([2.0]))
    >>> bool(np.allclose(terms.ratio, 1 / np.tanh(2) - 1 / 2))
    True
    """
    order = 0.5 * d - 1.0
    ratio, defect, excess = _descend(d, kappa)
    series = _log_partition_series(order, kappa)
    near = kappa * kappa < 2.0 * d * _SERIES_BELOW
    psi = _choose(near, series, kappa - excess)
    deficit = _choose(near, kappa * ratio - series, excess - defect)
    return VonMisesFisher(kappa, ratio, defect, psi, deficit)


def deficit_rounding(d: int, kappa: Any, deficit: Any, spread: Any) -> Any:
    """Nats by which the rounding of moments and of the terms of D moves it, at most.

    Lengths are good to a rounding for each coordinate, and 1 - R² likewise. Of D itself: near zero
    the power series keeps relative accuracy; elsewhere the terms at the Debye order N are of size
    N (1 + log(1 + κ/N)), or of κ if that is less, and each step down from it rounds eight times. In
    space D has two terms, of its own size and one.
    """
    of = _functions(kappa)
    moments = d * (1.0 + 1.0 / of.sqrt(spread))
    if d == 3:
        own = _FEW_ROUNDINGS * (_choose(kappa < 1.0, 0.0, 1.0) + deficit)
    else:
        order = 0.5 * d - 1.0
        steps = _recurrence_steps(order)
        top = order + steps
        size = top * of.log1p(kappa / top)
        terms = _FEW_ROUNDINGS * (steps + size + deficit)
        near = kappa * kappa < 2.0 * d * _SERIES_BELOW
        own = _choose(near, _MANY_ROUNDINGS * deficit, terms)
    return ROUNDOFF * (2.0 * moments + own)


def _log_partition_series(order: float, kappa: Any) -> Array:
    """Log 0F1(; order + 1; kappa^2/4) by its power series, for small kappa only."""
    z, limit = 0.25 * kappa * kappa, (order + 1.0) * _SERIES_BELOW
    z = _choose(z < limit, z, limit)
    total = z * 0.0
    for k in range(_SERIES_TERMS, 0, -1):
        total = (1.0 + total) * (z / (k * (order + k)))
    return _functions(total).log1p(total)


def concentration(d: int, length: Array | float, spread: Array | float) -> VonMisesFisher:
    """Invert A_d(kappa) = length.

    Parameters
    ----------
    d : int
        Ambient dimension, at least 2.
    length : array
        Mean resultant length R in [0, 1).
    spread : array
        1 - R^2, given separately because subtraction would lose it for concentrated data.

    Notes
    -----
    Halley's iteration from the approximation R (d - R^2) / (1 - R^2) of [Banerjee2005]_,
    with A' = 1 - A^2 - (d - 1) A / kappa.

    References
    ----------
    .. [Banerjee2005] Banerjee, Dhillon, Ghosh, Sra (2005), JMLR 6, 1345-1382.
    """
    if isinstance(length, float) and isinstance(spread, float):
        length, spread = float(length), float(spread)
        if d == 3:
            return _law_in_space(_concentration_of_one(d, length, spread))
        if d == 2 and spread > _SPREAD_OF_MODERATE:
            return von_mises_fisher(d, _concentration_of_one(d, length, spread))
    missing = spread / (1.0 + length)  # 1 - R
    kappa = length * (d - 1.0 + spread) / spread
    for _ in range(_HALLEY_STEPS):
        safe = _choose(kappa > TINY_ROOT, kappa, TINY_ROOT)
        ratio, defect, _ = _descend(d, safe, logs=False)
        lack = defect / safe  # 1 - A
        error = _choose(length < 0.5, length - ratio, lack - missing)
        slope = _choose(safe < 1e-4, 1.0 / d, lack * (2.0 - lack) - (d - 1.0) * (ratio / safe))
        point = safe > SUBTRACTED_POINT
        far = _choose(point, safe, 1.0)
        bent = 1.0 - 0.5 * (d - 3.0) / far
        slope = _choose(point, 0.5 * (d - 1.0) / far / far * bent, slope)
        curve = -2.0 * ratio * slope - (d - 1.0) * (slope - ratio / safe) / safe
        newton = error / slope
        bend = 1.0 + 0.5 * newton * curve / slope
        step = newton / _choose(bend > 0.5, bend, 0.5)
        kappa = _choose(step > -0.5 * kappa, kappa + step, 0.5 * kappa)
        near = abs(step) <= _choose(point, 1e-13, 1e-5) * kappa  # cubic, but for points
        if near if isinstance(near, bool) else near.all():
            break
    return von_mises_fisher(d, kappa)


def _concentration_of_one(d: int, length: float, spread: float) -> float:
    """The inverse for one sample in the plane or in space, by Newton's method on plain numbers."""
    missing = spread / (1.0 + length)
    kappa = length * (d - 1.0 + spread) / spread
    for _ in range(_HALLEY_STEPS):
        ratio, defect = _elementary(kappa) if d == 3 else _in_plane(kappa, logs=False)[:2]
        if kappa < 0.05:
            slope = 1.0 / d - 3.0 * kappa * kappa / (d * d * (d + 2.0))
            error = length - ratio
        else:
            lack = defect / kappa
            slope = lack * (2.0 - lack) - (d - 1.0) * ratio / kappa
            slope = 1.0 / (kappa * kappa) if kappa > SUBTRACTED_POINT else slope  # in space
            error = length - ratio if length < 0.5 else lack - missing
        step = error / slope
        kappa = max(kappa + step, 0.5 * kappa)
        if abs(step) <= 1e-8 * kappa:
            break
    return kappa


def _law_in_space(kappa: float) -> VonMisesFisher:
    """All terms in three dimensions, where they are elementary:

    A = coth kappa - 1/kappa and psi = log(sinh kappa / kappa).
    """
    ratio, defect = _elementary(kappa)
    if kappa < 1.0:
        psi = float(_log_partition_series(0.5, kappa))
        return VonMisesFisher(kappa, ratio, defect, psi, kappa * ratio - psi)  # type: ignore[arg-type]
    excess = math.log(2.0 * kappa) - math.log1p(-math.exp(-2.0 * kappa))
    return VonMisesFisher(kappa, ratio, defect, kappa - excess, excess - defect)  # type: ignore[arg-type]


def _elementary(kappa: float) -> tuple[float, float]:
    """(A, kappa (1 - A)) in three dimensions."""
    if kappa > 1.0:
        far = 2.0 * kappa / math.expm1(2.0 * kappa) if kappa < 350.0 else 0.0
        return 1.0 / math.tanh(kappa) - 1.0 / kappa, 1.0 - far
    ratio = _continued_fraction(kappa)
    return ratio, kappa * (1.0 - ratio)


def _continued_fraction(kappa: Any) -> Any:
    """A = kappa / (3 + kappa² / (5 + …)) of kappa <= 1: rounding after ten terms."""
    ratio = 0.0
    for k in range(21, 1, -2):
        ratio = kappa / (k + kappa * ratio)
    return ratio


def stirling_error(x: float) -> float:
    """Log Γ(x) minus its leading Stirling form (x - ½) log x - x + ½ log 2π.

    Equally log Γ(x + 1) minus (x + ½) log x - x + ½ log 2π.
    """
    if x < _STIRLING_FROM:
        return math.lgamma(x) - ((x - 0.5) * math.log(x) - x + 0.5 * math.log(2.0 * math.pi))
    inverse = 1.0 / (x * x)
    tail = 1 / 1260 - inverse * (1 / 1680 - inverse * (1 / 1188 - inverse * 691 / 360360))
    return (1 / 12 - inverse * (1 / 360 - inverse * tail)) / x
