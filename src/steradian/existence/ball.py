"""Whether polynomials of k coordinates of unit vectors have a fit: y lies in the unit ball.

A fit of a level exists unless a polynomial of its degree that is nowhere negative on the ball, and
not zero, vanishes on all data. Those of degree one, 1 - u·y, vanish at a single point of the unit
sphere. Those of degree two are sums of squares of affine functions and a multiple of 1 - |y|² (the
S-lemma: Pólik and Terlaky, SIAM Review 49, 2007), so that data have a fit of level 2 unless they
lie on a hyperplane, or all on the unit sphere. Of the higher ones squares, and 1 - |y|² times
squares, are looked for; and where all polynomials that vanish at the data with their slopes,
as one that is nowhere negative does inside, are zero, a fit exists.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from steradian.existence.placement import Placement, Verdict
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray
from steradian.numerics.linalg import null_space
from steradian.numerics.tolerances import (
    CONTACT_CLEAR,
    CONTACT_NULL,
    GRAM_CLEAR,
    MOMENT_ROUNDING,
    RANK,
    ROOT_CLEAR,
    TINY,
    UNIT_ROUNDING,
)

_FLATS = "at one point", "on a line", "on a plane"
_CURVES = {2: "curve", 3: "surface"}


def moments_in_ball(mean: Array, second: Array | None) -> Verdict:
    """By the mean (k,) of y and its covariance (k, k), where that is known."""
    room = 1.0 - float(mean @ mean)
    if second is None:
        return Verdict.INSIDE if room > MOMENT_ROUNDING else Verdict.UNSURE
    room -= float(np.trace(second))
    least, *_, most = np.linalg.eigvalsh(second).tolist() * 2
    clear = least > GRAM_CLEAR * max(1.0, most) and room > GRAM_CLEAR
    return Verdict.INSIDE if clear else Verdict.UNSURE


def examine_heights(t: Array, level: int) -> Placement:
    """For the heights ``t`` (n,) of a support along one axis, exactly.

    A polynomial of t that is nowhere negative has double roots but at the ends.
    """
    t = np.unique(t)
    apart = t[np.concatenate([[True], np.diff(t) > RANK])]
    at_end = 1.0 - np.abs(apart) <= 4.0 * ROUNDOFF
    if int(2 * len(apart) - at_end.sum()) > level:
        return Placement(Verdict.INSIDE)
    what = "height" if len(apart) == 1 else "heights"
    return Placement(Verdict.OUTSIDE, f"all data have {len(apart)} {what} along the axis")


def examine_in_ball(y: Array, level: int) -> Placement:
    """For the distinct coordinates ``y`` (n, k) of a support."""
    k = y.shape[1]
    if k == 1:
        return examine_heights(y[:, 0], level)
    inside = 1.0 - np.einsum("nk,nk->n", y, y) > UNIT_ROUNDING
    centre = y.mean(axis=0)
    away = y - centre
    sizes = np.linalg.svd(away, compute_uv=False)
    rank = int((sizes > np.sqrt(len(y)) * RANK).sum())
    if rank < k and level > 1:
        what = f"all data lie {_FLATS[rank]} in the subspace"
        return Placement(Verdict.OUTSIDE, what)
    if not inside.any() and (level > 1 or rank == 0):
        return Placement(Verdict.OUTSIDE, "all data lie in the subspace itself")
    if level <= 2:
        return Placement(Verdict.INSIDE)
    white = away @ np.linalg.inv(np.linalg.cholesky(away.T @ away / len(y))).T
    return _higher(white, inside, level)


def _higher(y: Array, inside: BoolArray, level: int) -> Placement:
    """Levels above two, for ``y`` of mean zero and unit covariance."""
    k, half = y.shape[1], level // 2
    values, slopes = _monomials(y, level)
    contact = np.vstack([values, *(slope[inside] for slope in slopes)])
    contact /= np.linalg.norm(contact, axis=0)
    if not null_space(contact, CONTACT_CLEAR).shape[1]:
        return Placement(Verdict.INSIDE)
    for degree, some, rest in (
        (half, slice(None), ""),
        (half - 1, inside, ", or themselves in it"),
    ):
        columns = _monomials(y[some], degree)[0]
        columns /= np.maximum(np.linalg.norm(columns, axis=0), TINY)
        if _certain_root(columns):
            what = f"a {_CURVES[k]} of degree {degree} in the subspace"
            return Placement(Verdict.OUTSIDE, f"all data lie on {what}{rest}")
    return Placement(Verdict.UNSURE)


def _certain_root(columns: Array) -> bool:
    """Whether a combination of functions (n, p) vanishes: fewer rows than they, or a clear zero.

    Singular values of tight clusters fall as powers of their spread, and leave no gap.
    """
    if len(columns) < columns.shape[1]:
        return True
    null = null_space(columns, CONTACT_NULL).shape[1]
    return null > 0 and null == null_space(columns, ROOT_CLEAR).shape[1]


def _monomials(y: Array, degree: int) -> tuple[Array, list[Array]]:
    """All monomials to a degree at ``y`` (n, k), (n, p), and their slopes along each axis."""
    k = y.shape[1]
    powers = np.array([n for n in product(range(degree + 1), repeat=k) if sum(n) <= degree])
    values = np.prod(y[:, None, :] ** powers, axis=2)
    slopes = []
    for j in range(k):
        lower = powers.copy()
        lower[:, j] = np.maximum(lower[:, j] - 1, 0)
        slopes.append(powers[:, j] * np.prod(y[:, None, :] ** lower, axis=2))
    return values, slopes
