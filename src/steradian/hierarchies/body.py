"""Is a moment vector inside the moment body? Exact tests, made before any iteration.

A finite fit exists unless some non-zero function ``f = c + lam · phi >= 0`` vanishes on the
whole support. Squares of polynomials of half the degree are such functions, so the Gram
matrix of the half-degree polynomials under the data must be positive definite; on the
circle that is all there is (Fejér-Riesz: the Toeplitz matrix of the moments), and on the
two-sphere at level 2 (S-lemma) as well. For odd levels on the two-sphere
``(1 - a·x) g(x)²`` adds: no single atom may carry a direction of the Gram matrix alone.
"""

from __future__ import annotations

import contextlib

import numpy as np

from steradian.hierarchies.base import Placement, Verdict
from steradian.hierarchies.products import product_tensor
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.harmonics import circle_harmonics, sphere_harmonics
from steradian.numerics.linalg import eigenvalues
from steradian.spaces import Sphere

_CLEAR = 1e-11  # Gram eigenvalues above it are beyond doubt, whatever the rounding
_ROW_RANK = 1e-14  # relative singular value of the rows below which they are dependent
_INSIDE = Placement(Verdict.INSIDE)


def _verdicts(gram: Array) -> IntArray:
    """From Gram matrices (B, h, h) of trace h."""
    with contextlib.suppress(np.linalg.LinAlgError):  # most often all are far inside
        np.linalg.cholesky(gram - _CLEAR * np.eye(gram.shape[1]))
        return np.full(len(gram), int(Verdict.INSIDE))
    least = np.linalg.eigvalsh(gram)[:, 0]
    return np.where(least > _CLEAR, Verdict.INSIDE, Verdict.UNSURE) - (least < -_CLEAR)


def scatter_verdicts(scatter: Array) -> IntArray:
    """Level 2 in any dimension (S-lemma): the centred second moment is positive definite."""
    values = eigenvalues(scatter)
    clear = values[:, 0] > _CLEAR * values[:, -1]
    return np.where(clear, int(Verdict.INSIDE), int(Verdict.UNSURE))


def circle_verdicts(features: Array, level: int) -> IntArray:
    """Toeplitz test on the circle; ``features`` (B, >= 2 level)."""
    modes = np.ones((len(features), level + 1), dtype=complex)
    modes.real[:, 1:] = features[:, 0 : 2 * level : 2] / np.sqrt(2.0)
    modes.imag[:, 1:] = features[:, 1 : 2 * level : 2] / np.sqrt(2.0)
    row, column = np.indices((level + 1, level + 1))
    lag = row - column
    toeplitz = np.where(lag >= 0, modes[:, np.abs(lag)], modes[:, np.abs(lag)].conj())
    return _verdicts(toeplitz)


def sphere_verdicts(features: Array, level: int) -> IntArray:
    """Half-degree Gram test on the two-sphere; ``features`` (B, >= (level + 1)² - 1)."""
    half = level // 2
    table = product_tensor(Sphere(), half)
    gram = table[0] + np.tensordot(features[:, : len(table) - 1], table[1:], axes=1)
    return _verdicts(gram)


def examine_circle(x: Array, weights: Array, level: int) -> Placement:
    """Exact: fewer than ``level + 1`` distinct points lie on the boundary."""
    angles = circle_harmonics(x, level)
    modes = angles[:, 1::2] + 1j * angles[:, 2::2]
    rows = np.hstack([np.full((len(x), 1), np.sqrt(2.0)), modes])
    if not _dependent(np.sqrt(weights)[:, None] * rows):
        return _INSIDE
    points = "one point" if len(x) == 1 else f"only {min(len(x), level)} distinct points"
    return Placement(
        Verdict.OUTSIDE, f"the support is {points}, and level {level} needs at least {level + 1}"
    )


def examine_sphere(x: Array, weights: Array, level: int) -> Placement:
    """Exact at level 2; above it the necessary conditions of this module."""
    half = level // 2
    rows = np.sqrt(weights)[:, None] * sphere_harmonics(x, half)
    if _dependent(rows):
        return Placement(Verdict.OUTSIDE, _describe_sphere(x, level))
    if level % 2 and level > 1:
        return _examine_atoms(x, rows, level)
    return _INSIDE


def _dependent(rows: Array) -> bool:
    """Whether the columns are linearly dependent to the rounding of the rows."""
    if len(rows) < rows.shape[1]:
        return True
    singular = np.linalg.svd(_triangle(rows), compute_uv=False)
    return bool(singular[-1] <= _ROW_RANK * singular[0])


def _triangle(rows: Array) -> Array:
    return np.asarray(np.linalg.qr(rows, mode="r"))


def _examine_atoms(x: Array, rows: Array, level: int) -> Placement:
    """An atom of leverage one leaves the others on the zero set of a half-degree polynomial."""
    q, _ = np.linalg.qr(rows)
    leverage = np.einsum("ij,ij->i", q, q)
    worst = int(np.argmax(leverage))
    if leverage[worst] < 1.0 - 1e-12:
        return _INSIDE
    rest = np.delete(x, worst, axis=0)
    others = _describe_sphere(rest, level - 1) if len(rest) else "nothing else"
    return Placement(
        Verdict.OUTSIDE,
        f"away from the single point {_vector(x[worst])}, {others}",
    )


def _vector(v: Array) -> str:
    return "(" + ", ".join(f"{c + 0.0:.4g}" for c in v) + ")"


def _describe_sphere(x: Array, level: int) -> str:
    """What distinct points lie on, in words."""
    if len(x) == 1:
        return f"the support is the single point {_vector(x[0])}"
    if len(x) == 2:
        return "the support is two points" + (
            ", antipodal" if np.linalg.norm(x.sum(axis=0)) < 1e-12 else ""
        )
    centre = x.mean(axis=0)
    _, singular, axes = np.linalg.svd(x - centre, full_matrices=False)
    if len(singular) < 3 or singular[-1] <= _ROW_RANK * len(x):
        return _describe_plane(np.cross(axes[0], axes[1]), centre)
    half = level // 2
    needed = (half + 1) ** 2
    if len(x) < needed:
        return f"the support is only {len(x)} distinct points, and level {level} needs {needed}"
    return f"the support lies on the zero set of a polynomial of degree {half}"


def _describe_plane(normal: Array, centre: Array) -> str:
    height = float(normal @ centre)
    if height < 0:
        normal, height = -normal, -height
    if height < 1e-12:
        return f"all points lie on the great circle with pole {_vector(normal)}"
    angle = np.degrees(np.arccos(min(height, 1.0)))
    return f"all points lie on the small circle of radius {angle:.4g}° about {_vector(normal)}"
