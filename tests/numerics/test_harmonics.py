"""Real harmonics against mpmath at awkward points, and the transforms that sum them."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

import oracles
from oracles import Array
from steradian.numerics.spheres import harmonics as h
from steradian.numerics.tolerances import MOMENT_ROUNDING

DEGREE = 9
HALF = np.sqrt(0.5)
AWKWARD = np.array(  # poles, antipodes, the date line from both sides, ties, a tiny sine
    [
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
        [-1.0, 0.0, 0.0],
        [-1.0, -0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, -1.0, 0.0],
        [HALF, -HALF, 0.0],
        [-0.6, 0.0, -0.8],
        [0.6, 0.0, 0.8],
        [1e-9, -1e-9, 1.0],
        [-1e-200, 0.0, -1.0],
        [1 / 3, -2 / 3, 2 / 3],
    ]
)


def mp_sphere(point: Array, ell: int, m: int, sine: bool) -> mpmath.mpf:
    """√(4π) times the real spherical harmonic, from mpmath's complex one."""
    with mpmath.workdps(oracles.DIGITS):
        x, y, z = (mpmath.mpf(float(c)) for c in point)
        theta, phi = mpmath.atan2(mpmath.hypot(x, y), z), mpmath.atan2(y, x)
        value = mpmath.spherharm(ell, m, theta, phi) * mpmath.sqrt(4 * mpmath.pi)
        if m == 0:
            return mpmath.re(value)
        part = mpmath.im(value) if sine else mpmath.re(value)
        return (-1) ** m * mpmath.sqrt(2) * part


@pytest.mark.parametrize("row", range(len(AWKWARD)))
def test_sphere_agrees_with_mpmath(row: int) -> None:
    found = h.sphere_harmonics(AWKWARD[row : row + 1], DEGREE)[0]
    expected = []
    for ell in range(DEGREE + 1):
        expected.append(mp_sphere(AWKWARD[row], ell, 0, sine=False))
        for m in range(1, ell + 1):
            expected += [mp_sphere(AWKWARD[row], ell, m, sine=s) for s in (False, True)]
    np.testing.assert_allclose(found, np.array(expected, dtype=float), atol=2e-14, rtol=1e-13)


@pytest.mark.parametrize("angle", [0.0, np.pi, -np.pi, np.pi / 2, -np.pi / 2, 3.0, -1e-9])
def test_circle_agrees_with_mpmath(angle: float) -> None:
    point = np.array([[np.cos(angle), np.sin(angle)]])
    found = h.circle_harmonics(point, DEGREE)[0]
    with mpmath.workdps(oracles.DIGITS):
        turn = mpmath.atan2(*(mpmath.mpf(float(c)) for c in point[0, ::-1]))
        expected = [mpmath.mpf(1)]
        for k in range(1, DEGREE + 1):
            expected += [mpmath.sqrt(2) * f(k * turn) for f in (mpmath.cos, mpmath.sin)]
    np.testing.assert_allclose(found, np.array(expected, dtype=float), atol=2e-15)


def test_first_degree_is_the_coordinates() -> None:
    linear = h.sphere_harmonics(AWKWARD, 1)[:, 1:]
    np.testing.assert_allclose(linear, np.sqrt(3) * AWKWARD[:, [2, 0, 1]], atol=1e-15)
    flat = AWKWARD[2:8, :2]
    np.testing.assert_allclose(h.circle_harmonics(flat, 1)[:, 1:], np.sqrt(2) * flat, atol=1e-15)


@pytest.mark.parametrize(
    ("evaluate", "rule"),
    [(h.circle_harmonics, oracles.circle_rule(64)), (h.sphere_harmonics, oracles.sphere_rule(24))],
)
def test_orthonormal_under_the_uniform_law(
    evaluate: Callable[..., Array], rule: oracles.Rule
) -> None:
    phi = evaluate(rule.points, 20)
    gram = (rule.weights[:, None] * phi).T @ phi
    np.testing.assert_allclose(gram.astype(float), np.eye(phi.shape[1]), atol=1e-14)


@pytest.mark.parametrize("d", [2, 3])
def test_agrees_with_exact_coefficients_everywhere(d: int) -> None:
    x = np.random.default_rng(3).standard_normal((400, d))
    x = np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True), dtype=np.longdouble)
    x /= np.sqrt((x * x).sum(axis=1, keepdims=True))
    evaluate = h.circle_harmonics if d == 2 else h.sphere_harmonics
    found, expected = evaluate(x, 8)[:, 1:], oracles.harmonics(x, 8)
    assert found.dtype == np.longdouble
    assert np.abs(found - expected).max() < 1e-16


@pytest.mark.parametrize("degree", [0, 1, 40])
def test_addition_theorem(degree: int) -> None:
    phi = h.sphere_harmonics(AWKWARD, degree)
    for ell in range(degree + 1):
        block = phi[:, ell * ell : (ell + 1) ** 2]
        np.testing.assert_allclose((block**2).sum(axis=1), 2 * ell + 1, rtol=1e-12)
    assert phi.shape == (len(AWKWARD), h.sphere_size(degree))


def test_parity() -> None:
    here, there = h.sphere_harmonics(AWKWARD, DEGREE), h.sphere_harmonics(-AWKWARD, DEGREE)
    sign = np.concatenate([np.full(2 * k + 1, (-1.0) ** k) for k in range(DEGREE + 1)])
    np.testing.assert_allclose(there, sign * here, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_follows_the_input(dtype: type) -> None:
    assert h.sphere_harmonics(AWKWARD.astype(dtype), 3).dtype == dtype
    assert h.circle_harmonics(AWKWARD[2:8, :2].astype(dtype), 3).dtype == dtype


def cloud(d: int, n: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    special = AWKWARD if d == 3 else AWKWARD[2:8, :2]
    x[: len(special)] = special[: min(n, len(special))]
    return x, rng.exponential(size=n)


@pytest.mark.parametrize("degree", [0, 1, 2, 8, 17])
@pytest.mark.parametrize("n", [13, 1000])
def test_sphere_transform_is_the_sum(n: int, degree: int) -> None:
    x, w = cloud(3, n, degree)
    direct = np.concatenate(
        [[w.sum()], w @ oracles.harmonics(x, degree)] if degree else [[w.sum()]]
    )
    found = h.sphere_sums(x, w, degree)
    assert np.abs(found - direct).max() <= 1e-12 * w.sum()


@pytest.mark.parametrize("degree", [0, 1, 2, 8, 31])
@pytest.mark.parametrize("n", [6, 1000])
def test_circle_transform_is_the_sum(n: int, degree: int) -> None:
    x, w = cloud(2, n, degree)
    direct = np.concatenate(
        [[w.sum()], w @ oracles.harmonics(x, degree)] if degree else [[w.sum()]]
    )
    found = h.circle_sums(x, w, degree)
    assert np.abs(found - direct).max() <= 1e-12 * w.sum()


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("n", [400, 5025, 60_000])
def test_rows_that_repeat_few_points_are_summed_to_the_stated_rounding(d: int, n: int) -> None:
    """One transform of all rows is off by 3,000 roundings there, at an accuracy of 1e-13 by 600."""
    rng = np.random.default_rng(n)
    points = np.concatenate([np.eye(d), -np.eye(d), cloud(d, 4, 3)[0]])
    places = rng.integers(0, len(points), n)
    counts = np.bincount(places, minlength=len(points)).astype(np.longdouble)
    features = h.circle_harmonics if d == 2 else h.sphere_harmonics
    sums = h.circle_sums if d == 2 else h.sphere_sums
    exact = counts @ features(points.astype(np.longdouble), 8) / n
    for weights in (None, np.full(n, 0.3)):
        found = sums(points[places], weights, 8) / (n if weights is None else weights.sum())
        assert np.abs(found - exact).max() <= MOMENT_ROUNDING


@pytest.mark.parametrize("degree", [33, 128, 257, 2000])
def test_circle_sums_are_exact_to_rounding_at_any_degree(degree: int) -> None:
    """Points at the edges of cells, on both ends of the axis and in more than one block."""
    rng = np.random.default_rng(degree)
    edges = (np.arange(512) + 0.5) * (2.0 * np.pi / 512)
    spread = np.concatenate([edges, rng.uniform(-np.pi, np.pi, 20_000)])
    turn = np.concatenate([spread, np.pi + 1e-9 * rng.normal(size=50), 1e-12 * rng.normal(size=50)])
    x = np.concatenate([np.stack([np.cos(turn), np.sin(turn)], axis=1), AWKWARD[2:8, :2]])
    w = rng.exponential(size=len(x))
    z = x[:, 0].astype(np.longdouble) + 1j * x[:, 1].astype(np.longdouble)
    for k in {1, degree // 2, degree}:
        wave = np.sqrt(2.0) * complex((w * (z / np.abs(z)) ** k).sum())
        cosine, sine = h.circle_sums(x, w, degree)[2 * k - 1 : 2 * k + 1]
        rounding = 1e-16 * (k + 20.0) * w.sum()  # of the angles: half a unit of each coordinate
        assert abs(cosine + 1j * sine - wave) <= rounding
        cosine, sine = h.circle_sums(x, None, degree)[2 * k - 1 : 2 * k + 1]
        wave = np.sqrt(2.0) * complex(((z / np.abs(z)) ** k).sum())
        assert abs(cosine + 1j * sine - wave) <= 1e-16 * (k + 20.0) * len(x)


def test_transforms_ignore_rows_without_weight() -> None:
    x, w = cloud(3, 50, 1)
    w[20:] = 0.0
    np.testing.assert_allclose(h.sphere_sums(x, w, 4), h.sphere_sums(x[:20], w[:20], 4), atol=1e-12)
