"""Log-densities against extended precision: each is within the error that it states.

The oracle solves the dual with features, moments, means and ψ in 64-bit mantissas (80-bit floats);
only the covariance, which steers the steps, is in double precision.
"""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.numerics.arrays import AnyArray, Array

EXTENDED = np.finfo(np.longdouble).eps < 1e-18
needs_extended = pytest.mark.skipif(not EXTENDED, reason="no floats longer than double here")


def gauss(count: int) -> tuple[AnyArray, AnyArray]:
    """Gauss-Legendre nodes and weights in extended precision, by Newton's method."""
    x = np.polynomial.legendre.leggauss(count)[0].astype(np.longdouble)
    for _ in range(3):
        before, here = np.ones_like(x), x.copy()
        for k in range(2, count + 1):
            before, here = here, ((2 * k - 1) * x * here - (k - 1) * before) / np.longdouble(k)
        slope = count * (before - x * here) / (1 - x * x)
        x = x - here / slope
    return x, 1 / ((1 - x * x) * slope**2)


def harmonics(x: AnyArray, level: int) -> AnyArray:
    """Orthonormal functions that span the harmonics of degree 1..level, (n, q)."""
    x = np.asarray(x, dtype=np.longdouble)
    x = x / np.sqrt((x * x).sum(axis=1))[:, None]
    if x.shape[1] == 2:
        power, out = x[:, 0] + 1j * x[:, 1], []
        turned = np.ones(len(x), dtype=np.clongdouble)
        for _ in range(level):
            turned = turned * power
            out += [turned.real, turned.imag]
        return np.sqrt(np.longdouble(2)) * np.column_stack(out)
    z, root = x[:, 2], np.sqrt(np.longdouble(2))
    sectoral, power = np.ones_like(z), np.ones(len(x), dtype=np.clongdouble)
    out = []
    for m in range(level + 1):
        if m:  # P_mm over sin^m, times (x + iy)^m
            sectoral = sectoral * np.sqrt(np.longdouble(2 * m + 1) / np.longdouble(2 * m))
            power = power * (x[:, 0] + 1j * x[:, 1])
        before, here = np.zeros_like(z), sectoral
        for degree in range(m, level + 1):
            if degree > m:
                lead = np.longdouble(4 * degree**2 - 1) / np.longdouble(degree**2 - m**2)
                lag = np.longdouble((degree - 1) ** 2 - m**2) / np.longdouble(
                    4 * (degree - 1) ** 2 - 1
                )
                before, here = here, np.sqrt(lead) * (z * here - np.sqrt(lag) * before)
            if degree:
                out += [here] if m == 0 else [root * here * power.real, root * here * power.imag]
    return np.column_stack(out)


def rule(d: int, size: int) -> tuple[AnyArray, AnyArray]:
    """Points and weights on the circle or the sphere."""
    turn = 2 * np.arctan2(np.longdouble(0), np.longdouble(-1)) * np.arange(2 * size) / (2 * size)
    if d == 2:
        return np.column_stack([np.cos(turn), np.sin(turn)]), np.full(
            2 * size, np.longdouble(1) / (2 * size)
        )
    z, weight = gauss(size)
    ring = np.sqrt((1 - z) * (1 + z))
    points = np.stack(
        [
            np.outer(ring, np.cos(turn)),
            np.outer(ring, np.sin(turn)),
            np.repeat(z[:, None], 2 * size, axis=1),
        ],
        axis=2,
    ).reshape(-1, 3)
    return points, np.repeat(weight / (2 * size), 2 * size)


def exact_logpdf(x: Array, level: int, at: Array, size: int) -> AnyArray:
    """Log-density of the fit to rows ``x`` of equal weight, at other points."""
    rows = np.asarray(x, dtype=np.longdouble)
    m = harmonics(rows, level).sum(axis=0) / len(x)
    points, weight = rule(x.shape[1], size)
    phi = harmonics(points, level)
    fit = sr.profile(x, levels=level).fits[level]
    fine = np.asarray(points, dtype=np.float64)
    lam = np.linalg.lstsq(
        np.asarray(phi, dtype=np.float64), fit.law.logpdf(fine) + fit.psi, rcond=None
    )[0].astype(np.longdouble)  # the same law in these functions, to begin with
    for _ in range(12):
        mass = weight * np.exp(phi @ lam)
        total = mass.sum()
        mean = (mass @ phi) / total
        gap = m - mean
        centred = np.asarray(phi - mean, dtype=np.float64)
        root = np.linalg.qr(np.sqrt(np.asarray(mass / total, dtype=float))[:, None] * centred)[1]
        step = np.linalg.solve(root, np.linalg.solve(root.T, np.asarray(gap, dtype=float)))
        lam = lam + step
    assert np.abs(gap).max() < 1e-17
    psi = np.log((weight * np.exp(phi @ lam)).sum())
    return harmonics(np.asarray(at, dtype=np.longdouble), level) @ lam - psi


def two_lobes(n: int, seed: int, strength: float) -> Array:
    law = sr.FisherBingham([0.3 * strength, 0.0, strength], strength * np.diag([0.6, -0.2, -0.4]))
    return law.sample(n, seed)


@needs_extended
@pytest.mark.parametrize(
    ("level", "n", "strength", "seed"), [(3, 60, 1.0, 0), (4, 150, 2.0, 1), (5, 200, 2.5, 2)]
)
def test_on_the_sphere(level: int, n: int, strength: float, seed: int) -> None:
    x = two_lobes(n, seed, strength)
    far = sr.Sphere().uniform(300, np.random.default_rng(seed))
    at = np.concatenate([far, x[:50], -x[:50]])
    fit = sr.profile(x, levels=level).fits[level]
    off = np.abs(fit.logpdf(at) - exact_logpdf(x, level, at, 96))
    assert (off <= fit.logpdf_error(at)).all()
    assert fit.logpdf_error(x).max() < 1e-8


@needs_extended
@pytest.mark.slow
@pytest.mark.parametrize(("n", "strength", "seed"), [(300, 2.0, 3), (400, 1.0, 4)])
def test_at_level_eight(n: int, strength: float, seed: int) -> None:
    """Where the log-density falls to thousands below zero."""
    x = two_lobes(n, seed, strength)
    at = np.concatenate([sr.Sphere().uniform(300, np.random.default_rng(seed)), x])
    fit = sr.profile(x, levels=8).fits[8]
    off = np.abs(fit.logpdf(at) - exact_logpdf(x, 8, at, 160))
    assert (off <= fit.logpdf_error(at)).all()


@needs_extended
@pytest.mark.parametrize(("level", "kappa", "seed"), [(3, 2.0, 0), (4, 3.0, 1), (6, 1.0, 2)])
def test_on_the_circle(level: int, kappa: float, seed: int) -> None:
    angle = np.random.default_rng(seed).vonmises(0.5, kappa, 150)
    x = np.column_stack([np.cos(angle), np.sin(angle)])
    turn = np.linspace(0.0, 6.2, 300)
    at = np.column_stack([np.cos(turn), np.sin(turn)])
    fit = sr.profile(x, levels=level).fits[level]
    off = np.abs(fit.logpdf(at) - exact_logpdf(x, level, at, 600))
    assert (off <= fit.logpdf_error(at)).all()


@pytest.mark.parametrize(
    ("space", "levels"), [(sr.Axes(3), 3), (sr.Torus(2), 2), (sr.Hypersphere(4), 3)], ids=repr
)
def test_one_more_step_moves_no_density_beyond_its_error(space: sr.Space, levels: int) -> None:
    """On spaces with rules: Newton's method to its end, on the rule that verifies."""
    rng = np.random.default_rng(5)
    x = space.uniform(4000, rng)
    x = x[rng.random(4000) < np.exp(1.5 * (x[:, 0] * x[:, 1] - 0.5))][:300]
    at = space.uniform(2000, rng)
    fit = sr.profile(sr.Directions(x, space=space), levels=levels).fits[levels]
    family, lam = fit.hierarchy.family(levels), fit.lam
    for _ in range(3):
        _, mean, covariance = family.log_partition(lam[None])
        lam = lam + np.linalg.solve(covariance[0], fit.moments - mean[0])
    end = family.exponent(at, lam) - family.log_partition(lam[None])[0][0]
    assert (np.abs(fit.logpdf(at) - end) <= fit.logpdf_error(at)).all()
    assert fit.logpdf_error(at).max() < 1e-8


def test_tight_clusters_and_closed_forms_state_theirs() -> None:
    law = sr.FisherBingham(2000.0 * np.array([0.0, 0.6, 0.8]), np.zeros((3, 3)))
    x = law.sample(300, 1)
    p = sr.profile(x, levels=3)
    for fit in p.fits:
        errors = fit.logpdf_error(x)
        assert errors.shape == (300,)
        assert (errors >= 0.0).all()
        assert errors.max() < 1e-2
    assert (p.fits[0].logpdf_error(x) == 0.0).all()


def test_too_many_features_are_told() -> None:
    x = np.random.default_rng(0).normal(size=(300, 80))
    p = sr.profile(sr.Directions(x, normalize=True), levels=2)
    with pytest.raises(sr.InvalidArgument, match="covariance of 3319 features is too large"):
        p.fits[2].logpdf_error(p.fits[2].sample(3, 0))
    assert p.fits[1].logpdf_error(p.fits[1].sample(3, 0)).max() < 1e-10
