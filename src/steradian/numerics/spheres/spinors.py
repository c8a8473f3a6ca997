"""Functions on the two-sphere whose squares are of odd degree: half the degree is no whole number.

A unit vector is a spinor (u, v), |u|² + |v|² = 1, up to a phase: ``z = |u|² - |v|²`` and
``x + iy = 2 ū v``. Polynomials of degree a in (u, v) and b = a + 1 in their conjugates have a phase
that nobody knows, but squares |g|² that are functions of degree L = a + b: there are
(a + 1)(b + 1) = (L + 1)(L + 3)/4 of them, among them all ``√(1 - c·x) h`` with h of degree a.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import comb

from steradian.numerics.arrays import AnyArray, Array


def spinors(x: Array) -> tuple[AnyArray, AnyArray]:
    """(u, v) of unit vectors ``x`` (n, 3), each in the phase that makes the larger one real."""
    north = x[:, 2] >= 0.0
    large = np.sqrt(0.5 * (1.0 + np.abs(x[:, 2])))
    small = 0.5 * (x[:, 0] + 1j * np.where(north, x[:, 1], -x[:, 1])) / large
    return np.where(north, large, small), np.where(north, small, large)


def spin_functions(x: Array, level: int) -> AnyArray:
    """The functions g of an odd ``level``, orthonormal, times u and times v, which have no phase.

    At ``x`` (n, 3): (n, 2, p), of degree (level + 1)/2 along great circles.
    """
    values, u, v = _raw(x, level)
    white = values @ _white(level)
    return np.asarray(np.stack([u, v], axis=1)[:, :, None] * white[:, None, :])


def _raw(x: Array, level: int) -> tuple[AnyArray, AnyArray, AnyArray]:
    u, v = spinors(x)
    a = (level - 1) // 2
    first, second = _monomials(u, v, a), _monomials(u, v, a + 1).conj()
    return (first[:, :, None] * second[:, None, :]).reshape(len(x), -1), u, v


def _monomials(u: AnyArray, v: AnyArray, degree: int) -> AnyArray:
    k = np.arange(degree + 1)
    powers = u[:, None] ** (degree - k) * v[:, None] ** k
    return np.asarray(np.sqrt(comb(degree, k)) * powers)


@cache
def _white(level: int) -> AnyArray:
    """What makes the products of monomials orthonormal under the uniform law, (p, p)."""
    z, weights = np.polynomial.legendre.leggauss(level)
    angle = np.pi / level * np.arange(2 * level)
    rows = [np.outer(np.sqrt(1.0 - z * z), f(angle)).ravel() for f in (np.cos, np.sin)]
    values = _raw(np.stack([*rows, np.repeat(z, len(angle))], axis=1), level)[0]
    mass = np.repeat(0.5 * weights, len(angle)) / len(angle)
    gram = values.conj().T @ (mass[:, None] * values)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(gram)).conj().T)
