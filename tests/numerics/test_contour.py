"""The contour kernel on inverse Laplace integrals with closed forms, and its weights."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import oracles
from oracles import Array
from steradian.numerics.arrays import IntArray
from steradian.numerics.contour import Complex, Contour, integrate

ORDERS = (1.0, 1.5, 2.0, 3.5, 10.0, 100.0, 512.0, 1e4)


def saddle(order: Array, a: Array) -> Array:
    """Of s - order log s + a / s."""
    return np.asarray(0.5 * (order + np.sqrt(order * order + 4.0 * a)))


def bessel(order: Array, a: Array, stretch: float = 1.0) -> tuple[Contour, Array]:
    """(1/2πi) ∫ exp(s + a/s) s^{-order} ds relative to its saddle, and the saddles."""
    s = saddle(order, a)
    second = order / s**2 + 2.0 * a / s**3
    third = 2.0 * order / s**3 + 6.0 * a / s**4
    width = stretch * 3.15 * second / third

    def increment(z: Complex, rows: IntArray) -> Complex:
        at, n, c = s[rows, None], order[rows, None], a[rows, None]
        t = z / at  # and at = n + c / at at the saddle, so the linear terms are left out
        size = 0.5 * np.log1p(t.real * (2.0 + t.real) + t.imag**2)  # NumPy's log1p is real only
        log = size + 1j * np.arctan2(t.imag, 1.0 + t.real)
        return np.asarray(n * (t - log) + c / at * t * t / (1.0 + t))

    return integrate(increment, width, np.sqrt(80.0 / second) / width), s


def expected_log(order: float, a: float, at: float) -> float:
    """a^{(1-order)/2} I_{order-1}(2√a), or 1/Γ(order), over the integrand at the saddle."""
    with mpmath.workdps(oracles.DIGITS):
        n, c, s = mpmath.mpf(order), mpmath.mpf(a), mpmath.mpf(at)
        exact = -mpmath.loggamma(n)
        if c:
            value = mpmath.besseli(n - 1, 2 * mpmath.sqrt(c))
            exact = mpmath.log(value) + (1 - n) / 2 * mpmath.log(c)
        return float(exact - (s - n * mpmath.log(s) + c / s))


@pytest.mark.parametrize("a", [0.0, 1e-6, 1.0, 1e3, 1e8])
def test_gamma_and_bessel_functions(a: float) -> None:
    order = np.array(ORDERS)
    contour, at = bessel(order, np.full_like(order, a))
    expected = [expected_log(n, a, s) for n, s in zip(ORDERS, at.tolist(), strict=True)]
    np.testing.assert_allclose(contour.log_integral, expected, rtol=0, atol=1e-13)


def test_weights_are_those_of_a_mean() -> None:
    """Under exp(s) s^{-order} the mean of s^{-k} is Γ(order) / Γ(order + k)."""
    order = np.array(ORDERS)
    contour, at = bessel(order, np.zeros_like(order))
    s = at[:, None] + contour.z
    np.testing.assert_allclose(contour.weights.sum(axis=1).real, 1.0, atol=1e-14)
    for k, exact in ((1, 1 / order), (2, 1 / (order * (order + 1)))):
        found = (contour.weights * s**-k).sum(axis=1).real
        np.testing.assert_allclose(found, exact, rtol=1e-13)


@pytest.mark.parametrize("stretch", [0.25, 0.5, 1.0])
def test_a_narrower_hyperbola_gives_the_same_integral(stretch: float) -> None:
    order, a = np.array([1.0, 2.5, 40.0]), np.array([3.0, 0.0, 700.0])
    contour, _ = bessel(order, a, stretch)
    reference, _ = bessel(order, a)
    np.testing.assert_allclose(contour.log_integral, reference.log_integral, atol=1e-13)


def test_each_row_of_a_stack_is_what_it_is_alone() -> None:
    """Rows that need more nodes leave the others as they are; unused nodes weigh nothing."""
    order, a = np.array([1.0, 300.0, 1.5, 2.0]), np.array([0.0, 5.0, 1e6, 1e-3])
    stack, _ = bessel(order, a)
    for row in range(len(order)):
        alone, _ = bessel(order[row : row + 1], a[row : row + 1])
        used = alone.z.shape[1]
        assert stack.log_integral[row] == pytest.approx(alone.log_integral[0], abs=1e-15)
        assert stack.error[row] == pytest.approx(alone.error[0], rel=1e-6, abs=1e-15)
        np.testing.assert_allclose(stack.weights[row, :used], alone.weights[0], atol=1e-15)
        assert not stack.weights[row, used:].any()


def test_the_error_estimate_is_honest() -> None:
    rng = np.random.default_rng(0)
    order, a = 10 ** rng.uniform(0, 4, 60), 10 ** rng.uniform(-4, 8, 60)
    contour, at = bessel(order, a)
    rows = zip(order.tolist(), a.tolist(), at.tolist(), strict=True)
    expected = [expected_log(*row) for row in rows]
    true = np.abs(contour.log_integral - expected)
    assert (contour.error < 1e-14).all()
    assert (true <= contour.error + 1e-13).all()  # besides the rounding of large exponents
