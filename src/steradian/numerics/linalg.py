"""Small symmetric systems, by the stack or one at a time.

NumPy's batched routines serve stacks; for a stack of one their set-up costs more than the
work, so LAPACK is called directly.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import lapack

from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.tolerances import RANK, TINY

_LARGE = 24  # matrices whose Cholesky factor pays for being made one by one
_MANY = 256  # systems that are quicker solved side by side,
_SEVERAL = 128  # and those that are to be solved more than once
_ROUGHLY_FINE = 1e3  # Cholesky diagonals this even mean a condition far below 1e9


def on_diagonal(matrices: AnyArray) -> AnyArray:
    """The diagonals (…, d) of matrices (…, d, d), to read or to write through."""
    if matrices.flags.c_contiguous:  # every d + 1st number, which is told sooner
        size = matrices.shape[-1]
        return matrices.reshape(*matrices.shape[:-2], size * size)[..., :: size + 1]
    return np.einsum("...ii->...i", matrices)


def real_product(left: AnyArray, right: AnyArray) -> Array:
    """Re(leftᵀ right) of complex (…, n, d) arrays, by one product of real ones."""
    return np.asarray(planar(left, -1).swapaxes(-1, -2) @ planar(right))


def planar(nodes: AnyArray, sign: int = 1) -> AnyArray:
    """Complex (…, n, d) as their real parts and then their imaginary ones times a sign, (…, 2n, d).

    Products want numbers side by side, and parts of complex numbers are not.
    """
    n = nodes.shape[-2]
    out = np.empty((*nodes.shape[:-2], 2 * n, nodes.shape[-1]), dtype=nodes.real.dtype)
    out[..., :n, :] = nodes.real
    np.multiply(nodes.imag, sign, out=out[..., n:, :])
    return out


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


def least_eigenvalues(matrices: Array) -> Array:
    """The least eigenvalue of each symmetric (B, q, q) matrix, (B,).

    Of stacks of small ones in closed form (Smith 1961), good to 1e-8 of the largest.
    """
    if len(matrices) == 1 or matrices.shape[1] not in (2, 3):
        return eigenvalues(matrices)[:, 0]
    entries = np.ascontiguousarray(matrices.transpose(1, 2, 0))
    if matrices.shape[1] == 2:
        (a, b), (_, c) = entries
        return np.asarray(0.5 * (a + c) - np.hypot(0.5 * (a - c), b))
    (a, b, c), (_, e, f), (_, _, i) = entries
    mean = (a + e + i) / 3.0
    a, e, i = a - mean, e - mean, i - mean
    size = np.sqrt((a * a + e * e + i * i + 2.0 * (b * b + c * c + f * f)) / 6.0)
    halved = 0.5 * (a * (e * i - f * f) - b * (b * i - c * f) + c * (b * f - c * e))
    cosine = halved / np.maximum(size**3, TINY)
    angle = np.arccos(np.clip(cosine, -1.0, 1.0)) / 3.0
    return np.asarray(mean + 2.0 * size * np.cos(angle + 2.0 * np.pi / 3.0))


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
    """Solve positive definite systems by Gauss's elimination, each step of all of them at once."""
    return SideBySide.of(matrices).solve(right)


class Solver(Protocol):
    """Positive definite (B, q, q) systems, to be solved more than once."""

    def solve(self, right: Array) -> Array:
        """Solutions for (B, q); what is not finite for a singular one, in its row only."""
        ...

    @property
    def pivots(self) -> AnyArray | None:
        """Squared diagonals of their Cholesky factors, (B, q), where these are known."""
        ...


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Gauss's elimination without pivots, each step of all systems at once."""

    triangles: AnyArray  # (q, q, B): upper ones, and below them the shares that were taken off

    @classmethod
    def of(cls, matrices: AnyArray) -> SideBySide:
        return cls.in_place(np.array(matrices.transpose(1, 2, 0), order="C"))

    @classmethod
    def in_place(cls, a: AnyArray) -> SideBySide:
        """Of systems (q, q, B), which are lost."""
        with np.errstate(all="ignore"):
            for j in range(len(a) - 1):
                a[j + 1 :, j] /= a[j, j]
                a[j + 1 :, j + 1 :] -= a[j + 1 :, j, None] * a[j, j + 1 :]
        return cls(a)

    def solve(self, right: AnyArray) -> AnyArray:
        return self.columns(right.T).T

    def columns(self, right: AnyArray) -> AnyArray:
        """Solutions (q, B) for ``right`` (q, B); the shares are those of rows and of columns."""
        a, x = self.triangles, np.array(right, order="C")
        with np.errstate(all="ignore"):
            for j in range(len(x) - 1):
                x[j + 1 :] -= a[j + 1 :, j] * x[j]
            x /= np.einsum("jjb->jb", a)
            for j in range(len(x) - 1, 0, -1):
                x[:j] -= a[j, :j] * x[j]
        return x

    @property
    def pivots(self) -> AnyArray | None:
        return np.einsum("jjb->bj", self.triangles)


@dataclass(frozen=True, slots=True)
class OneByOne:
    """Cholesky factors of large systems."""

    factors: Array  # (B, q, q), lower

    def solve(self, right: Array) -> Array:
        out = np.empty_like(right)
        for row, (factor, vector) in enumerate(zip(self.factors, right, strict=True)):
            out[row] = lapack.dpotrs(factor.T, vector, lower=0)[0]
        return out

    @property
    def pivots(self) -> AnyArray | None:
        return on_diagonal(self.factors) ** 2


@dataclass(frozen=True, slots=True)
class Unfactored:
    """Systems that are solved from scratch."""

    matrices: Array

    def solve(self, right: Array) -> Array:
        return solve_positive(self.matrices, right)

    @property
    def pivots(self) -> AnyArray | None:
        return None


def solver(matrices: Array) -> Solver:
    """A solver of positive definite (B, q, q) systems in double precision."""
    if matrices.shape[1] < _LARGE:
        return SideBySide.of(matrices) if len(matrices) >= _SEVERAL else Unfactored(matrices)
    try:
        return OneByOne(np.asarray(np.linalg.cholesky(matrices), dtype=np.float64))
    except np.linalg.LinAlgError:
        return Unfactored(matrices)


def all_positive(matrices: AnyArray) -> bool:
    """Whether all Hermitian (B, q, q) matrices are positive definite, to rounding."""
    if len(matrices) >= _SEVERAL and matrices.shape[1] < _LARGE:
        pivots = np.einsum("jjb->jb", SideBySide.of(matrices).triangles)
        return bool(pivots.real.min() > 0.0)
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        return False
    return True


def solve_each(matrices: Array, right: Array) -> Array:
    """Solve (B, q, q) systems for (B, q); a singular one yields NaN in its row only."""
    try:
        return np.asarray(np.linalg.solve(matrices, right[..., None])[..., 0])
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return np.full_like(right, np.nan)
        halves = np.array_split(np.arange(len(matrices)), 2)
        return np.concatenate([solve_each(matrices[h], right[h]) for h in halves])


def conditions(matrices: Array, systems: Solver | None = None) -> Array:
    """Condition of positive definite (B, q, q) matrices in the 1-norm, inf where they are not.

    From their factors where ``systems`` hold them. In a large stack those that are clearly well
    conditioned get a quick lower bound.
    """
    if len(matrices) == 1:
        known = systems.factors[0].T if isinstance(systems, OneByOne) else None
        return np.array([_condition(matrices[0], known)])
    pivots = None if systems is None else systems.pivots
    with contextlib.suppress(np.linalg.LinAlgError):
        squares = on_diagonal(np.linalg.cholesky(matrices)) ** 2 if pivots is None else pivots
        rough = squares.max(axis=1) / squares.min(axis=1)  # never above the truth
        doubtful = ~((rough <= _ROUGHLY_FINE) & (squares.min(axis=1) > 0.0))
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


def _condition(matrix: Array, factor: Array | None = None) -> float:
    """The same of one of them, from its upper factor."""
    if factor is None:
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
