"""Harmonics of unit spheres of any dimension, of any degree, as homogeneous polynomials.

With x = (y, t), t the last coordinate and r = |x|, the harmonics of degree l in d dimensions are

    H_j(y) r^{l-j} p_{l-j}(t / r),    j = 0..l,

H_j the harmonics of degree j in d - 1 dimensions and p_n the orthonormal polynomials of the height
on the sphere of d + 2j dimensions (Vilenkin and Klimyk 1993, vol. 2, ch. 9; Müller 1966). Down to
the plane, where they are √2 Re (x₁ + i x₂)^j and √2 Im. Orthonormal under the uniform law of mass
one, since E (1 - t²)^j is what |y|^{2j} is on average. Being polynomials they are
evaluated off the sphere and at complex points too, where means against Gaussians are taken.
"""

from __future__ import annotations

from math import comb

import numpy as np

from steradian.numerics.arrays import AnyArray
from steradian.numerics.heights.gegenbauer import mean_power, polynomials


def harmonic_size(d: int, degree: int) -> int:
    """Number of harmonics of exactly this degree in d >= 2 dimensions."""
    return comb(d + degree - 1, degree) - (comb(d + degree - 3, degree - 2) if degree > 1 else 0)


def hyperspherical_harmonics(x: AnyArray, first: int, last: int) -> AnyArray:
    """Orthonormal harmonics of degrees first..last at ``x`` (n, d): (n, size), lowest first."""
    parts = _of_plane(x[:, 0], x[:, 1], last)
    square = x[:, 0] ** 2 + x[:, 1] ** 2
    for d in range(3, x.shape[1] + 1):
        t = x[:, d - 1]
        square = square + t * t
        scaled = [
            [part / np.sqrt(mean_power(d, j)) for part in heights]
            for j, heights in enumerate(
                polynomials(t, d + 2 * j, last - j, square) for j in range(last + 1)
            )
        ]
        lowest = first if d == x.shape[1] else 0
        parts = [
            np.concatenate([scaled[j][n - j] * parts[j] for j in range(n + 1)])
            if n >= lowest
            else parts[n][:0]
            for n in range(last + 1)
        ]
    return np.concatenate(parts[first:]).T


def _of_plane(x: AnyArray, y: AnyArray, degree: int) -> list[AnyArray]:
    """√2 Re (x + iy)^j and √2 Im: for complex x and y too, so without complex powers."""
    out = [np.ones((1, len(x)), dtype=x.dtype)]
    cosine, sine = np.ones_like(x), np.zeros_like(x)
    root = np.sqrt(np.asarray(2.0, dtype=x.real.dtype))
    for _ in range(degree):
        cosine, sine = x * cosine - y * sine, x * sine + y * cosine
        out.append(root * np.stack([cosine, sine]))
    return out
