"""Independent reference values: mpmath, and maximum entropy by brute force.

Nothing here uses the package. Three things are different from it on purpose:

* harmonics come from exact Legendre coefficients, in extended precision;
* integrals run over other rules (thousands of equispaced angles; Gauss-Legendre rings about
  a random axis; one-dimensional rules where symmetry allows), in extended precision;
* the solver knows no natural parameters: it moves the log-density at the nodes along
  features made orthonormal under the current law, so collinear features cost no digits.

Features follow the documented order: circle ``√2 cos kθ, √2 sin kθ``; sphere, per degree,
``0, cos 1, sin 1, …``, with no Condon-Shortley sign and orthonormal under the uniform law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb, factorial
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Long = NDArray[np.longdouble]

DIGITS = 40


def long(value: Any) -> Long:
    """An array of extended precision, without a detour through double for mpmath numbers."""
    if isinstance(value, mpmath.mpf):
        with mpmath.workdps(DIGITS):
            head = float(value)
            return np.asarray(np.longdouble(head) + np.longdouble(float(value - head)))
    return np.asarray(value, dtype=np.longdouble)


@dataclass(frozen=True)
class VonMisesFisher:
    """A_d, kappa (1 - A_d), psi and the deficit, with `DIGITS` digits."""

    kappa: mpmath.mpf
    ratio: mpmath.mpf
    defect: mpmath.mpf
    psi: mpmath.mpf
    deficit: mpmath.mpf


@cache
def von_mises_fisher(d: int, kappa: float | mpmath.mpf) -> VonMisesFisher:
    """From the hypergeometric form 0F1(; d/2; kappa²/4) of the partition function."""
    with mpmath.workdps(DIGITS + 30):
        k, half = mpmath.mpf(kappa), mpmath.mpf(d) / 2
        if k > 1e4:  # the series would need kappa terms; these are asymptotic Bessel functions
            low, high = mpmath.besseli(half - 1, k), mpmath.besseli(half, k)
            partition, ratio = mpmath.gamma(half) * (2 / k) ** (half - 1) * low, high / low
        else:
            partition = mpmath.hyp0f1(half, k * k / 4)
            ratio = k / d * mpmath.hyp0f1(half + 1, k * k / 4) / partition
        psi = mpmath.log(partition)
        return VonMisesFisher(k, ratio, k * (1 - ratio), psi, k * ratio - psi)


@cache
def degree_ratio(d: int, degree: int, kappa: float) -> mpmath.mpf:
    """E of the zonal harmonic of this degree under vMF(kappa), over its value at the mean."""
    with mpmath.workdps(DIGITS):
        order = mpmath.mpf(d) / 2 - 1
        return mpmath.besseli(order + degree, kappa) / mpmath.besseli(order, kappa)


def size(d: int, degree: int) -> int:
    """Features of degree 1..degree."""
    return 2 * degree if d == 2 else (degree + 1) ** 2 - 1


@cache
def _legendre(ell: int, m: int) -> Long:
    """Normalised m-th derivative of the Legendre polynomial: coefficients, highest first."""
    coefficients = [0] * (ell + 1)  # of 2^ell P_ell, exact
    for k in range(ell // 2 + 1):
        coefficients[ell - 2 * k] = (-1) ** k * comb(ell, k) * comb(2 * ell - 2 * k, ell)
    slope = [c * factorial(p) // factorial(p - m) for p, c in enumerate(coefficients) if p >= m]
    with mpmath.workdps(DIGITS):
        norm = mpmath.sqrt(
            mpmath.mpf((2 * ell + 1) * (2 if m else 1) * factorial(ell - m)) / factorial(ell + m)
        )
        return np.array([long(norm * c / 2**ell) for c in reversed(slope)])


def harmonics(x: NDArray[Any], degree: int) -> Long:
    """All features of degree 1..degree at ``x`` (n, 2 or 3), in the documented order."""
    points = long(x)
    points = points / np.sqrt((points * points).sum(axis=1, keepdims=True))
    plane = points[:, 0] + 1j * points[:, 1]
    turns = np.cumprod(np.broadcast_to(plane, (degree, len(plane))), axis=0)
    columns: list[Long] = []
    if points.shape[1] == 2:
        for turn in np.sqrt(np.longdouble(2)) * turns:
            columns += [turn.real, turn.imag]
        return np.stack(columns, axis=1)
    for ell in range(1, degree + 1):
        columns.append(np.polyval(_legendre(ell, 0), points[:, 2]))
        for m in range(1, ell + 1):
            turn = np.polyval(_legendre(ell, m), points[:, 2]) * turns[m - 1]
            columns += [turn.real, turn.imag]
    return np.stack(columns, axis=1)


@dataclass(frozen=True, eq=False)
class Rule:
    """Nodes and weights of sum one."""

    points: Long
    weights: Long

    @lru_cache(maxsize=3)  # noqa: B019 - of all rules together; they live for the whole run
    def harmonics(self, degree: int) -> Long:
        return harmonics(self.points, degree)


@cache
def gauss_legendre(n: int) -> tuple[Long, Long]:
    """Nodes and weights (sum one) on [-1, 1]: NumPy's, polished once in extended precision."""
    z: Any = long(np.polynomial.legendre.leggauss(n)[0])
    for _ in range(2):
        before, here = z**0, z
        for k in range(2, n + 1):
            before, here = here, ((2 * k - 1) * z * here - (k - 1) * before) / k
        slope = n * (before - z * here) / (1 - z * z)
        z = z - here / slope
    weights = 1 / ((1 - z * z) * slope * slope)
    return z, weights / weights.sum()


@cache
def circle_rule(n: int = 2048) -> Rule:
    """Equispaced angles that start nowhere special."""
    angle = (np.arange(n) + np.longdouble(0.381966)) * (8 * np.arctan(np.longdouble(1)) / n)
    return Rule(np.stack([np.cos(angle), np.sin(angle)], axis=1), np.full(n, 1 / np.longdouble(n)))


@cache
def sphere_rule(rings: int, seed: int = 20) -> Rule:
    """Gauss-Legendre rings about a random axis, an odd number of longitudes each."""
    z, weight = gauss_legendre(rings)
    around = circle_rule(2 * rings + 1).points
    radius = np.sqrt((1 - z) * (1 + z))
    flat = (radius[:, None, None] * around).reshape(-1, 2)
    points = np.column_stack([flat, np.repeat(z, len(around))])
    near = long(rotation(3, np.random.default_rng(seed)))
    turn = near @ (3 * np.eye(3) - near.T @ near) / 2  # orthogonal beyond double precision
    points = points @ turn.T
    points /= np.sqrt((points * points).sum(axis=1, keepdims=True))
    return Rule(points, np.repeat(weight / len(around), len(around)))


def rule_for(d: int, rings: int) -> Rule:
    return circle_rule() if d == 2 else sphere_rule(rings)


def rotation(d: int, rng: np.random.Generator) -> Array:
    """A uniform random rotation."""
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    q = q * np.sign(np.diag(r))
    q[:, 0] *= np.sign(np.linalg.det(q))
    return np.asarray(q)


def _cholesky(a: Long) -> Long:
    lower = np.zeros_like(a)
    rest = a.copy()
    for k in range(len(a)):
        if not rest[k, k] > 0:
            raise ArithmeticError(f"pivot {k} is {rest[k, k]}: features collinear")
        lower[k:, k] = rest[k:, k] / np.sqrt(rest[k, k])
        rest[k:, k:] -= np.outer(lower[k:, k], lower[k:, k])
    return lower


def _orthonormal(features: Long, mass: Long) -> Long:
    """The span of the columns, orthonormal under ``mass``, in extended precision."""
    for _ in range(2):
        scaled = features * np.sqrt(mass)[:, None]
        lower = _cholesky(scaled.T @ scaled)
        columns = np.empty_like(features)
        for k in range(len(lower)):
            columns[:, k] = (features[:, k] - columns[:, :k] @ lower[k, :k]) / lower[k, k]
        features = columns
    return features


def normalised(weights: Long, value: Long) -> tuple[Long, np.longdouble]:
    """Law ∝ weights · exp(value), and minus the log of its total."""
    peak = value.max()
    mass = weights * np.exp(value - peak)
    total = mass.sum()
    return mass / total, -(np.log(total) + peak)


@dataclass(frozen=True)
class Law:
    """A fitted law as log-density values at the nodes."""

    value: Long  # log-density at the nodes plus a constant
    deficit: np.longdouble


def maximum_entropy(weights: Long, features: Long, moments: Long, start: Long | None = None) -> Law:
    """The law of largest entropy with these moments; deficits against ``weights``.

    Minimises log Σ w exp(v) over v in the span of the centred features. Newton's method in a
    basis orthonormal under the current law; ends when the decrement is below 1e-15.
    """
    centred = features - moments
    quick = centred.astype(np.float64)
    value = np.zeros(len(weights), dtype=np.longdouble) if start is None else start
    mass, dual = normalised(weights, value)
    for _ in range(300):
        gradient, covariance = np.einsum("n,nq->q", mass, centred), _covariance(quick, mass)
        if np.linalg.cond(covariance) > 1e8:
            centred = _orthonormal(centred, mass)
            quick = centred.astype(np.float64)
            gradient, covariance = np.einsum("n,nq->q", mass, centred), _covariance(quick, mass)
        step = np.linalg.solve(covariance, -gradient.astype(np.float64)).astype(np.longdouble)
        decrement = np.sqrt(abs(gradient @ step))
        if decrement < 1e-15:
            return Law(value, dual)
        length, along = np.longdouble(1), centred @ step
        trial, rise = normalised(weights, value + along)
        while decrement > 1e-6 and not rise - dual >= 1e-4 * length * decrement**2:
            if length < 1e-9:
                raise ArithmeticError("no step raises the dual")
            length /= 2
            trial, rise = normalised(weights, value + length * along)
        value, mass, dual = value + length * along, trial, rise
    raise ArithmeticError(f"decrement still {decrement}")


def _covariance(features: Array, mass: Long) -> Array:
    """In double precision: it only aims the step."""
    law = mass.astype(np.float64)
    deviation = np.sqrt(law)[:, None] * (features - law @ features)
    return np.asarray(deviation.T @ deviation)


def deficits(rule: Rule, moments: Long, levels: int, basis: Array | None = None) -> Array:
    """D_1 … D_levels of harmonic moments, each from the one below.

    ``basis`` (q, q), invertible and block upper triangular by level, changes the features.
    """
    d, features, value = rule.points.shape[1], rule.harmonics(levels), None
    if basis is not None:
        features, moments = features @ long(basis), moments @ long(basis)
    found = []
    for level in range(1, levels + 1):
        q = size(d, level)
        law = maximum_entropy(rule.weights, features[:, :q], moments[:q], value)
        value = law.value
        found.append(law.deficit)
    return np.array(found, dtype=np.float64)


def sample_moments(x: NDArray[Any], levels: int, weights: NDArray[Any] | None = None) -> Long:
    """Weighted mean of the features, summed in extended precision."""
    w = np.ones(len(x), dtype=np.longdouble) if weights is None else long(weights)
    return (w @ harmonics(x, levels)) / w.sum()


@dataclass(frozen=True)
class Population:
    """A law through its exact moments, and its fits of every level."""

    rule: Rule
    moments: Long  # of degree 1..levels
    fit: Callable[[int], Law]  # level -> its maximum-entropy law at the nodes

    @property
    def d(self) -> int:
        return int(self.rule.points.shape[1])

    def deficits(self, levels: int) -> Array:
        return np.array([self.fit(k).deficit for k in range(1, levels + 1)], dtype=np.float64)


def _blocks(d: int, levels: int) -> list[slice]:
    return [slice(size(d, k - 1), size(d, k)) for k in range(1, levels + 1)]


def _zonal(centres: Array, ratios: list[mpmath.mpf]) -> Long:
    """Moments of equal mixtures of a zonal law with these E P_1, E P_2, … about each centre."""
    blocks = _blocks(centres.shape[1], len(ratios))
    mean = harmonics(centres, len(ratios)).mean(axis=0)
    return np.concatenate([long(r) * mean[b] for r, b in zip(ratios, blocks, strict=True)])


def _exact_from(
    level: int, rule: Rule, moments: Long, value: Long, deficit: mpmath.mpf
) -> Population:
    """A law that is uniform to the levels below ``level`` and fits that one exactly."""
    exact = Law(value, np.longdouble(long(deficit)[()]))
    uniform = Law(np.zeros_like(value), np.longdouble(0))
    return Population(rule, moments, lambda k: exact if k >= level else uniform)


def vmf(mean: Array, kappa: float, levels: int, rings: int) -> Population:
    """The von Mises-Fisher law: every level fits it exactly."""
    d = len(mean)
    rule = rule_for(d, rings)
    moments = _zonal(mean[None], [degree_ratio(d, k + 1, kappa) for k in range(levels)])
    value = kappa * (rule.points @ long(mean))
    return _exact_from(1, rule, moments, value, von_mises_fisher(d, kappa).deficit)


def girdle(kappa: float, axis: Array, levels: int, rings: int) -> Population:
    """Density ∝ exp(-kappa (axis·x)²) on the sphere: a level-2 law."""

    def mean(degree: int) -> mpmath.mpf:
        def integrand(t: mpmath.mpf) -> mpmath.mpf:
            return mpmath.legendre(degree, t) * mpmath.exp(-kappa * t * t)

        return mpmath.quad(integrand, mpmath.linspace(0, 1, 9))

    with mpmath.workdps(DIGITS):
        total = mean(0)
        ratios = [mean(k) / total if k % 2 == 0 else mpmath.mpf(0) for k in range(1, levels + 1)]
        deficit = -kappa * (1 + 2 * ratios[1]) / 3 - mpmath.log(total)
    rule = sphere_rule(rings)
    value = -np.longdouble(kappa) * (rule.points @ long(axis)) ** 2
    return _exact_from(2, rule, _zonal(axis[None], ratios), value, deficit)


def petals(kappa: float, k: int, turn: float, levels: int) -> Population:
    """Density ∝ exp(kappa cos k(θ - turn)) on the circle: a level-k law."""
    rule, phase = circle_rule(), long(k * turn)
    moments = np.zeros(2 * levels, dtype=np.longdouble)
    for j in range(1, levels // k + 1):
        length = np.sqrt(np.longdouble(2)) * long(degree_ratio(2, j, kappa))
        moments[2 * k * j - 2 : 2 * k * j] = length * np.cos(j * phase), length * np.sin(j * phase)
    waves = rule.harmonics(k)[:, -2:] / np.sqrt(np.longdouble(2))
    value = kappa * (waves @ np.array([np.cos(phase), np.sin(phase)]))
    return _exact_from(k, rule, moments, value, von_mises_fisher(2, kappa).deficit)


def orbit(centres: Array, kappa: float, levels: int, rings: int) -> Population:
    """Equal mixture of vMF(kappa) laws about the vertices of a regular figure.

    The fits inherit its symmetry, which leaves one feature per degree, the one along the
    moments of that degree (none where they vanish): at most ``levels`` unknowns. True of an
    antipodal pair, a regular polygon and, to degree 8, the tetrahedron.
    """
    d = centres.shape[1]
    moments = _zonal(centres, [degree_ratio(d, k + 1, kappa) for k in range(levels)])
    rule = rule_for(d, rings)
    phi = rule.harmonics(levels)
    columns: dict[int, Long] = {}
    for k, block in enumerate(_blocks(d, levels), start=1):
        length = np.sqrt((moments[block] ** 2).sum())
        if length > 1e-16:
            columns[k] = phi[:, block] @ (moments[block] / length) / length  # of mean one
    uniform = Law(np.zeros(len(phi), dtype=np.longdouble), np.longdouble(0))

    @cache
    def fit(level: int) -> Law:
        below = fit(level - 1) if level else uniform
        if level not in columns:
            return below
        features = np.stack([columns[k] for k in columns if k <= level], axis=1)
        ones = np.ones(features.shape[1], dtype=np.longdouble)
        return maximum_entropy(rule.weights, features, ones, below.value)

    return Population(rule, moments, fit)


def random_harmonic(d: int, degree: int, scale: float, levels: int, seed: int) -> Population:
    """Density ∝ exp(lam·phi) with random lam of this degree: exact from that level on."""
    rule = rule_for(d, 64)
    phi = rule.harmonics(levels)
    q = size(d, degree)
    lam = long(scale * np.random.default_rng(seed).standard_normal(q))
    value = phi[:, :q] @ lam
    mass, log_total = normalised(rule.weights, value)
    moments = mass @ phi
    exact = Law(value, np.longdouble(lam @ moments[:q] + log_total))

    @cache
    def fit(level: int) -> Law:
        if level >= degree:
            return exact
        start = fit(level - 1).value if level > 1 else None
        p = size(d, level)
        return maximum_entropy(rule.weights, phi[:, :p], moments[:p], start)

    return Population(rule, moments, fit)
