"""Proof that a function on the two-sphere is nowhere negative, whatever lies between nodes.

Along every great circle a function f of degree K is a trigonometric polynomial of degree K, so that
Bernstein's inequality bounds its k-th derivative by ``K^k A``, A half the range of f. The range
itself follows from nodes: a polynomial of amplitude A that is extreme at one point is still at
``A cos Kρ`` a distance ρ away (M. Riesz). With value, slopes and curvatures at the centre of a
cell of radius ρ, f is then bounded below on all of it; a cell where that bound is not positive is
cut in four. Around a zero with both slopes zero f is followed by its second and third derivatives,
with ``K⁴A`` for the fourth: cells within the distance to which it is positive need no bound. The
work is limited: no proof is no answer.
"""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.paths import stencil
from steradian.numerics.spheres.harmonics import sphere_harmonics
from steradian.numerics.spheres.sphere_minima import curvatures, derivatives
from steradian.numerics.tolerances import PROVEN
from steradian.spaces.pieces import Pieces, sphere_cells

_MOST_CELLS = 200_000
_HALVINGS = 40  # of the distance from a zero
_KEPT = 0.25  # of a curvature: what higher derivatives take of its half
_BEYOND = 4.0  # times what counts as positive: where the neighbourhood of a zero ends


def nowhere_negative(f: Array, zeros: Array, degree: int) -> bool:
    """Whether Σ_k f_k φ_k is proven to be positive but at ``zeros`` (n, 3), where it is zero.

    ``f`` ((degree + 1)²,) vanishes at the zeros with both slopes, to rounding.
    """
    cells, half = sphere_cells(2 * degree), 0.5 / degree
    centres = _middles(cells)
    reach = degree * np.sqrt(2.0) * half
    values = derivatives(f, centres, degree)[0]
    size = 0.5 * float(np.ptp(values)) / float(np.cos(reach))  # half the range of f at most
    clear = _clear_radius(f, zeros, degree, size)
    if clear is None:
        return False
    seen = len(centres)
    while len(cells):
        radius = np.sqrt(2.0) * half  # in space; an angle from a cube outside is smaller
        left = _lower_bound(f, centres, degree, radius, size) <= PROVEN * size
        if len(zeros):
            angle = np.arccos(np.clip(centres[left] @ zeros.T, -1.0, 1.0))
            left[left] = ~(angle + radius <= clear).any(axis=1)
        cells, half = cells.take(left).parts(), 0.5 * half
        seen += len(cells)
        if seen > _MOST_CELLS:
            return False
        centres = _middles(cells)
    return True


def _middles(cells: Pieces) -> Array:
    """Unit vectors (k, 3)."""
    return cells.points_at(np.zeros((len(cells), 1, 2)))[:, 0]


def _clear_radius(f: Array, zeros: Array, degree: int, size: float) -> Array | None:
    """How far around each of ``zeros`` f is positive, (n,); None where that is nearly nothing.

    With curvatures p < q along axes u and v, and third derivatives a, b, d, e along uuu, uuv, uvv
    and vvv, in the direction c u + s v the function over t² is at least
    ``½(p c² + q s²) - (a c³ + 3b c²s + 3d cs² + e s³) t/6 - K⁴A t²/24``, and c²|s| is at most
    ``½(ε c² + s²/ε)`` for every ε: with ε = 2|b|t/q both squares keep factors of their own.
    """
    if not len(zeros):
        return np.zeros(0)
    _, bent, axes, frame = curvatures(f, zeros, degree)
    p, q = bent.T
    if p.min() <= 0.0:
        return None
    u, v = np.einsum("nik,ind->knd", axes, frame)
    a, e, b, d = np.abs(_cubic(f, zeros, (u, v), degree))
    rest = degree**4 * size / 24.0
    t = np.full(len(zeros), 1.0 / degree)
    for _ in range(_HALVINGS):
        low = a * t / 6.0 + (b * b / (2.0 * q) + rest) * t * t
        high = d * t / 2.0 + e * t / 6.0 + rest * t * t
        far = (low > _KEPT * p) | (high > _KEPT * q)
        if not far.any():
            break
        t[far] *= 0.5
    clear = ~far & ((0.5 - _KEPT) * p * t * t > _BEYOND * PROVEN * size)
    return t if clear.all() else None


def _cubic(f: Array, x: Array, axes: tuple[Array, Array], degree: int) -> Array:
    """Third derivatives along uuu, vvv, uuv and uvv for two ``axes`` at ``x`` (n, 3): (4, n)."""
    u, v = axes
    angle, weights = stencil(degree)
    along = np.stack([u, v, (u + v) / np.sqrt(2.0), (u - v) / np.sqrt(2.0)])
    path = np.cos(angle)[:, None, None, None] * x + np.sin(angle)[:, None, None, None] * along
    values = sphere_harmonics(path.reshape(-1, 3), degree) @ f
    a, e, plus, minus = np.tensordot(weights[2], values.reshape(len(angle), 4, -1), axes=1)
    plus, minus = np.sqrt(8.0) * plus, np.sqrt(8.0) * minus
    return np.stack([a, e, (plus - minus - 2.0 * e) / 6.0, (plus + minus - 2.0 * a) / 6.0])


def _lower_bound(f: Array, x: Array, degree: int, radius: float, size: float) -> Array:
    """What f is at least within ``radius`` of each of ``x`` (n, 3), (n,).

    To second order along both axes of the curvature, apart.
    """
    if not len(x):
        return np.zeros(0)
    slope, curvature, axes, _ = curvatures(f, x, degree)
    steep = np.abs(np.einsum("nij,ni->nj", axes, slope))
    bent = curvature > 0.0
    lowest = np.where(bent, np.minimum(steep / np.where(bent, curvature, 1.0), radius), radius)
    fall = (0.5 * curvature * lowest - steep) * lowest
    value = derivatives(f, x, degree)[0] + fall.sum(axis=1)
    return np.asarray(value - size * (degree * radius) ** 3 / 6.0)
