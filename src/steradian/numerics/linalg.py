"""Small symmetric systems, by the stack or one at a time.

NumPy's batched routines serve stacks; for a stack of one their set-up costs more than the
work, so LAPACK is called directly.
"""

from __future__ import annotations

import contextlib

import numpy as np
from scipy.linalg import lapack

from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.tolerances import RANK

_LARGE = 24  # matrices whose Cholesky factor pays for being made one by one
_MANY = 256  # systems that are quicker solved side by side
_ROUGHLY_FINE = 1e3  # Cholesky diagonals this even mean a condition far below 1e9


def on_diagonal(matrices: AnyArray) -> AnyArray:
    """The diagonals (…, d) of matrices (…, d, d), to read or to write through."""
    return np.einsum("...ii->...i", matrices)


def real_product(left: AnyArray, right: AnyArray) -> Array:
    """Re(leftᵀ right) of complex (…, n, d) arrays, by real products."""
    turned = left.swapaxes(-1, -2)
    return np.asarray(turned.real @ right.real - turned.imag @ right.imag)


def triangle(rows: AnyArray) -> AnyArray:
    """At most q rows with the same Gram matrix as ``rows`` (n, q)."""
    if len(rows) <= rows.shape[1]:
        return rows
    return np.asarray(np.linalg.qr(rows, mode="r"))


def null_space(rows: AnyArray, tolerance: float = RANK) -> AnyArray:
    """Orthonormal basis (q, k) of the vectors that ``rows`` (n, q) send to zero, to rounding."""
    _, values, axes = np.linalg.svd(triangle(rows))
    values = np.concatenate([values, np.zeros(rows.shape[1] - len(values))])
    return np.asarray(axes[values <= tolerance * values[0]].conj().T)


def eigenvalues(matrices: Array) -> Array:
    """Eigenvalues of symmetric (B, q, q) matrices in ascending order, (B, q)."""
    if len(matrices) == 1:
        values, _, failed = lapack.dsyev(matrices[0], compute_v=0)
        if not failed:
            return np.array([values])
    return np.asarray(np.linalg.eigvalsh(matrices), dtype=np.float64)


def solve_positive(matrices: Array, right: Array) -> Array:
    """Solve positive definite (B, q, q) systems for (B, q), in the precision of the matrices."""
    single = matrices.dtype == np.float32
    if single and len(matrices) >= _MANY and matrices.shape[1] <= _LARGE:
        return _eliminated(matrices, right.astype(np.float32))
    if len(matrices) > 1 and matrices.shape[1] < _LARGE:
        return solve_each(matrices, right)
    out = np.empty_like(right)
    solved = lapack.sposv if single else lapack.dposv
    for row, (matrix, vector) in enumerate(zip(matrices, right, strict=True)):
        _, solution, failed = solved(matrix, vector)
        out[row] = solve_each(matrix[None], vector[None])[0] if failed else solution
    return out


def _eliminated(matrices: AnyArray, right: AnyArray) -> AnyArray:
    """Gauss's elimination without pivots, each step of all systems at once.

    Singular systems yield what is not finite, in their rows only.
    """
    a = np.ascontiguousarray(matrices.transpose(1, 2, 0))
    x = np.ascontiguousarray(right.T)
    last = len(x) - 1
    with np.errstate(all="ignore"):
        for j in range(last):
            share = a[j + 1 :, j] / a[j, j]
            a[j + 1 :, j + 1 :] -= share[:, None] * a[j, j + 1 :]
            x[j + 1 :] -= share * x[j]
        for j in range(last, -1, -1):
            x[j] = (x[j] - (a[j, j + 1 :] * x[j + 1 :]).sum(axis=0)) / a[j, j]
    return x.T


def solve_each(matrices: Array, right: Array) -> Array:
    """Solve (B, q, q) systems for (B, q); a singular one yields NaN in its row only."""
    try:
        return np.asarray(np.linalg.solve(matrices, right[..., None])[..., 0])
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return np.full_like(right, np.nan)
        halves = np.array_split(np.arange(len(matrices)), 2)
        return np.concatenate([solve_each(matrices[h], right[h]) for h in halves])


def conditions(matrices: Array) -> Array:
    """Condition of positive definite (B, q, q) matrices in the 1-norm, inf where they are not.

    In a large stack those that are clearly well conditioned get a quick lower bound.
    """
    if len(matrices) == 1:
        return np.array([_condition(matrices[0])])
    with contextlib.suppress(np.linalg.LinAlgError):
        diagonal = np.einsum("bii->bi", np.linalg.cholesky(matrices))
        rough = (diagonal.max(axis=1) / diagonal.min(axis=1)) ** 2  # never above the truth
        doubtful = rough > _ROUGHLY_FINE
        if not doubtful.any():
            return rough
        if not doubtful.all():
            rough[doubtful] = conditions(matrices[doubtful])
            return rough
    if matrices.shape[1] >= _LARGE:
        return np.array([_condition(matrix) for matrix in matrices])
    inverse = inverses(matrices)
    norms = [np.abs(c).sum(axis=1).max(axis=1) for c in (matrices, inverse)]
    result = norms[0] * norms[1]
    return np.where(np.isfinite(result), result, np.inf)


def _condition(matrix: Array) -> float:
    """The same of one of them, from its factor."""
    factor, failed = lapack.dpotrf(matrix)
    if failed:
        return np.inf
    reciprocal, _ = lapack.dpocon(factor, np.abs(matrix).sum(axis=0).max())
    return 1.0 / float(reciprocal) if reciprocal > 0 else np.inf


def inverses(matrices: Array) -> Array:
    """Inverses of positive definite (B, q, q) matrices; NaN for a singular one only."""
    if len(matrices) == 1:
        _, inverse, failed = lapack.dposv(matrices[0], np.eye(matrices.shape[1]))
        if not failed:
            return np.asarray(inverse[None])
    try:
        return np.asarray(np.linalg.inv(matrices))
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return np.full_like(matrices, np.nan)
        halves = np.array_split(np.arange(len(matrices)), 2)
        return np.concatenate([inverses(matrices[h]) for h in halves])
