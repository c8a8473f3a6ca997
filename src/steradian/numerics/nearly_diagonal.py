"""Rough eigenbases of stacks of symmetric matrices that are nearly diagonal, by products alone.

An iterate that changes its matrix a little needs no eigendecomposition from scratch: with λ the
diagonal and E the rest, the rotations of Jacobi's method,

    K_ij = tan θ_ij,  tan 2θ_ij = 2 E_ij / (λ_j - λ_i),

taken for all pairs at once, leave a rest of second order. The rotation is the polar factor of
I + K, which is exact for one pair, however close its two eigenvalues are. Where whatever rest there
is may be dropped, single precision is enough, and a few products of small matrices are far quicker
than LAPACK.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from steradian.numerics.arrays import AnyArray
from steradian.numerics.linalg import on_diagonal

_SWEEPS = 2
_LINEAR, _SQUARE = 0.44838, 0.15844  # 1 - αp + βp² is 1/√(1 + p) to 0.4 percent for p up to one
_MOST_POLISHED = 4  # steps to orthogonality, each of which squares what is missing


def rough_eigenbases(matrices: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Eigenvalues (R, d) and nearly orthogonal bases (R, d, d) of positive definite matrices.

    And the root of Σ E_ij² / (λ_i λ_j) over the pairs in what is left off the diagonal, (R,). Of
    matrices that were not nearly diagonal it is large or NaN, and the rest means nothing. All in
    single precision.
    """
    a = matrices.astype(np.float32, copy=False)
    turn: AnyArray | None = None
    with np.errstate(all="ignore"):
        for _ in range(_SWEEPS):
            f = _rotation(a)
            half = a + a @ f
            a = half + f.swapaxes(1, 2) @ half
            turn = f if turn is None else turn + f + turn @ f
        values = on_diagonal(a).copy()
        on_diagonal(a)[...] = 0.0
        a /= values[:, :, None]
        left = np.sqrt(0.5 * np.maximum(np.einsum("rij,rji->r", a, a), 0.0))
    basis = np.asarray(turn)
    on_diagonal(basis)[...] += 1.0
    return values, basis, left


def _rotation(a: AnyArray) -> AnyArray:
    """F = Q - I of rotations Q that bring ``a`` nearer to its diagonal.

    Kept without the identity, beside which single precision would lose its digits.
    """
    diagonal = on_diagonal(a)
    gap = diagonal[:, None, :] - diagonal[:, :, None]
    gap += _in_order(a.shape[1])
    twice = a + a
    on_diagonal(twice)[...] = 0.0
    k = gap * gap
    k += twice * twice
    np.sqrt(k, out=k)
    k += np.abs(gap)
    np.copysign(k, gap, out=k)
    on_diagonal(k)[...] = 1.0
    np.divide(twice, k, out=k)
    square = k @ k  # -p
    f = _SQUARE * (square @ square)
    f += _LINEAR * square
    f += k @ f
    f += k
    return _nearer_to_orthogonal(f)


@cache
def _in_order(d: int) -> AnyArray:
    """Gaps below every other, (d, d): of two equal eigenvalues the second counts as larger."""
    return np.finfo(np.float32).tiny * np.sign(
        np.arange(d)[None, :] - np.arange(d)[:, None]
    ).astype(np.float32)


def _nearer_to_orthogonal(f: AnyArray) -> AnyArray:
    """One step of Newton's method for the polar factor of I + F, less I."""
    missing = f.swapaxes(1, 2) @ f
    missing += f
    missing += f.swapaxes(1, 2)
    missing *= -0.5
    f = f + missing
    f += (f - missing) @ missing
    return f


def orthonormal(bases: AnyArray) -> AnyArray:
    """Nearly orthogonal bases (R, d, d), made so to rounding by Newton's method likewise."""
    known = np.sqrt(np.finfo(bases.dtype).eps)  # what is missing is squared
    for _ in range(_MOST_POLISHED):
        missing = bases.swapaxes(1, 2) @ bases
        on_diagonal(missing)[...] -= 1.0
        bases = bases - 0.5 * (bases @ missing)
        if np.abs(missing).max() <= known:
            break
    return bases
