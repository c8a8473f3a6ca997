"""Harmonics of the three-sphere, of any degree.

With z₁ = x₁ + i x₂ and z₂ = x₃ + i x₄, s = |z₁|², the harmonics of degree n are

    z₁^a z₂^b P_k^{(|b|, |a|)}(2s - 1),    |a| + |b| + 2k = n,

a negative power meaning one of the conjugate and P_k Jacobi's polynomials (Vilenkin 1968, ch. III:
matrix elements of the representations of SU(2)). In the coordinates (s, arg z₁, arg z₂) the
uniform law is a product, so that different ones are orthogonal and the mean square of one is

    (k + |a|)! (k + |b|)! / ((n + 1) k! (k + |a| + |b|)!).

Real and imaginary parts, times √2, make them real; (a, b) and (-a, -b) are conjugate.
"""

from __future__ import annotations

from functools import cache
from math import factorial

import numpy as np
from scipy.special import eval_jacobi

from steradian.numerics.arrays import Array
from steradian.numerics.contour import Complex


def three_sphere_size(degree: int) -> int:
    """Number of harmonics of exactly this degree."""
    return (degree + 1) ** 2


def three_sphere_harmonics(x: Array, degree: int) -> Array:
    """Orthonormal harmonics of exactly this degree at ``x`` (n, 4): (n, (degree + 1)²)."""
    first, second = (_powers(x[:, j] + 1j * x[:, j + 1], degree) for j in (0, 2))
    t = 2.0 * (x[:, 0] ** 2 + x[:, 1] ** 2) - 1.0
    columns = []
    for a, b, k, scale in _terms(degree):
        radial = scale * eval_jacobi(k, abs(b), a, t)
        value = first[a] * (second[b] if b >= 0 else second[-b].conj())
        columns.append(radial * value.real)
        if a or b:
            columns.append(radial * value.imag)
    return np.stack(columns, axis=1)


def _powers(z: Complex, degree: int) -> list[Complex]:
    """1, z, …, z^degree."""
    powers = [np.ones_like(z)]
    for _ in range(degree):
        powers.append(powers[-1] * z)
    return powers


@cache
def _terms(degree: int) -> tuple[tuple[int, int, int, float], ...]:
    """(a, b, k, scale), one of each conjugate pair: a > 0, or a = 0 and b >= 0."""
    found = []
    for a in range(degree + 1):
        for b in range(-(degree - a), degree - a + 1):
            k, odd = divmod(degree - a - abs(b), 2)
            if odd or (a == 0 and b < 0):
                continue
            above = factorial(k + a) * factorial(k + abs(b))
            square = above / ((degree + 1) * factorial(k) * factorial(k + a + abs(b)))
            found.append((a, b, k, float(np.sqrt((2.0 if a or b else 1.0) / square))))
    return tuple(found)
