"""Laws on the circle that have given moments and a closed form: autoregressive ones.

Of all densities with the moments ``c_k = E z^k``, k = 1..L, the one of largest ∫ log f (Burg's) is
``f = E / |A(z)|²`` with a polynomial A of degree L without zeros in the disc, which Levinson's
recursion finds in L² products. The waves of its logarithm, ``-2 Re log A``, cut off at degree L
make an exponential model (Bloomfield 1973) near the maximum-entropy one. None of them exceeds 2L/k,
so that a Newton path that begins there comes from blunter laws and has no far modes to undo.

References
----------
Bloomfield (1973), Biometrika 60, 217-226.
"""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import AnyArray, Array


def autoregressive_parameters(features: Array) -> Array:
    """λ (B, 2L) of the waves of log f, for means ``features`` (B, 2L) of √2 cos kθ and √2 sin kθ.

    Not finite, or of no use, in rows that are the moments of no law.
    """
    pairs = np.ascontiguousarray(features).view(complex)
    with np.errstate(all="ignore"):
        logs = _log_series(_polynomial(np.multiply(pairs.T, np.sqrt(0.5), order="C")))
    out = np.empty(pairs.shape, dtype=complex)
    np.multiply(logs.T, -np.sqrt(2.0), out=out)
    return out.view(np.float64)


def _polynomial(c: AnyArray) -> AnyArray:
    """Coefficients a_1..a_L (L, B) of A = 1 + Σ a_k z^k, by Levinson's recursion."""
    a, left = np.empty_like(c), np.ones(c.shape[1])
    for k in range(len(c)):
        lower = a[:k]
        reflected = -(c[k] + (lower * c[:k][::-1]).sum(axis=0)) / left
        lower += reflected * lower[::-1].conj()
        a[k] = reflected
        left *= 1.0 - (reflected.real**2 + reflected.imag**2)
    return a


def _log_series(a: AnyArray) -> AnyArray:
    """Coefficients g_1..g_L (L, B) of log A: n a_n = n g_n + Σ_j j g_j a_{n-j}."""
    g = a.copy()
    degree = np.arange(1.0, len(a) + 1.0)[:, None]
    for n in range(1, len(a)):
        g[n] -= (degree[:n] * g[:n] * a[:n][::-1]).sum(axis=0) / (n + 1.0)
    return g
