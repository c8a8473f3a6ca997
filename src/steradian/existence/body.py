"""Is a moment vector inside the moment body? Exact tests, of the moments or of the points.

A finite fit exists unless some non-zero function ``f = c + lam · phi >= 0`` vanishes on the
whole support. Squares of polynomials of half the degree are such functions, so the Gram
matrix of the half-degree polynomials under the data must be positive definite; on the
circle that is all there is (Fejér-Riesz: the Toeplitz matrix of the moments), and on the
two-sphere at level 2 (S-lemma) as well. For odd levels on the two-sphere
``(1 - a·x) g(x)²`` adds: no single atom may carry a direction of the Gram matrix alone.
What is left above level 2 (few points, or points on special curves, on which a function that
is no such square vanishes) is decided by the contact conditions of the points (`face`): at once
where they leave no function, by small linear programmes where they leave some. What takes
longer than milliseconds waits until the solver has failed (`examine_face`).
"""

from __future__ import annotations

import numpy as np

from steradian.existence.certificate import (
    circle_rows,
    circle_square,
    circle_toeplitz,
    sphere_function,
    sphere_square,
)
from steradian.existence.face import face_of
from steradian.existence.placement import Placement, Verdict
from steradian.existence.support_words import (
    face_words,
    few_words,
    sphere_words,
    undecided_words,
    vector_words,
)
from steradian.existence.zoom import Zoom
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.linalg import all_positive, eigenvalues, null_space
from steradian.numerics.spheres.harmonics import sphere_harmonics
from steradian.numerics.tolerances import CERTIFIED, GRAM_CLEAR, LEVERAGE, RANK
from steradian.spaces import Sphere
from steradian.spaces.products import second_moments

_INSIDE = Placement(Verdict.INSIDE)


def _verdicts(gram: Array) -> IntArray:
    """From Gram matrices (B, h, h) of trace h."""
    if all_positive(gram - GRAM_CLEAR * np.eye(gram.shape[1])):  # most often they are far inside
        return np.full(len(gram), int(Verdict.INSIDE))
    least = np.linalg.eigvalsh(gram)[:, 0]
    return np.where(least > GRAM_CLEAR, Verdict.INSIDE, Verdict.UNSURE) - (least < -GRAM_CLEAR)


def scatter_verdicts(scatter: Array) -> IntArray:
    """Level 2 in any dimension (S-lemma): the centred second moment is positive definite."""
    if len(scatter) > 1:
        size = np.einsum("bii->b", scatter)
        least = (GRAM_CLEAR * size)[:, None, None] * np.eye(scatter.shape[1])
        if all_positive(scatter - least):  # most often they are far inside
            return np.full(len(scatter), int(Verdict.INSIDE))
    values = eigenvalues(scatter)
    clear = values[:, 0] > GRAM_CLEAR * values[:, -1]
    return np.where(clear, int(Verdict.INSIDE), int(Verdict.UNSURE))


def circle_verdicts(features: Array, level: int) -> IntArray:
    """Toeplitz test on the circle; ``features`` (B, >= 2 level)."""
    return _verdicts(circle_toeplitz(features, level))


def sphere_verdicts(features: Array, level: int) -> IntArray:
    """Half-degree Gram test on the two-sphere; ``features`` (B, >= (level + 1)² - 1)."""
    moments = np.hstack([np.ones((len(features), 1)), features])
    return _verdicts(second_moments(Sphere(), level // 2, moments))


def examine_circle(x: Array, weights: Array, level: int) -> Placement:
    """Exact: up to ``level`` distinct points lie on the boundary, more never do."""
    if len(x) > level:
        return _INSIDE
    rows = np.sqrt(weights)[:, None] * circle_rows(x, level)
    return Placement(Verdict.OUTSIDE, few_words(len(x), level), circle_square(rows)[1])


def examine_sphere(x: Array, _weights: Array, level: int) -> Placement:
    """In milliseconds, before any long search: squares, and contact conditions above level 2.

    Exact to rounding: a half-degree polynomial counts as vanishing on the points when its
    values are below 1e-14 of the largest possible (over the scale of concentrated points), the
    contact conditions as independent when their least singular value is above 2e-13 of the
    largest; between the two nothing is claimed. Existence is a matter of the support alone,
    so weights do not enter. UNSURE leaves the question to the solver.
    """
    zoom = Zoom.onto(x)
    rows = sphere_harmonics(zoom(x), level // 2)
    kernel = null_space(rows, RANK / zoom.scale)
    if kernel.size:
        f = zoom.pulled_back(sphere_square(kernel, level), level)
        placement = _shown(x, level, f, sphere_words(x, level))
    elif level % 2 and level > 1:
        placement = _examine_atoms(x, rows, level, zoom)
    else:
        placement = _INSIDE
    if placement.verdict is Verdict.OUTSIDE or level <= 2:
        return placement
    return _from_face(x, level, quick=True)


def examine_face(x: Array, level: int) -> Placement:
    """Whether any function at all, a square or not, shows the boundary of a level above 2.

    For when the solver has failed. The work is bounded; UNSURE says by what.
    """
    return _from_face(x, level, quick=False)


def _from_face(x: Array, level: int, *, quick: bool) -> Placement:
    found = face_of(x, level, quick=quick)
    if found.verdict is Verdict.UNSURE:
        return Placement(Verdict.UNSURE, undecided_words(level, found.words))
    if found.function is None:
        return _INSIDE
    f = sphere_function(found.function, level)
    return Placement(Verdict.OUTSIDE, face_words(len(x), level), f)


def _shown(x: Array, level: int, f: Array, words: str) -> Placement:
    """On the boundary, if the function of coefficients ``f`` does vanish on all points."""
    function = sphere_function(f, level)
    if np.abs(function(x)).max() > CERTIFIED:
        return Placement(Verdict.UNSURE)
    return Placement(Verdict.OUTSIDE, words, function)


def _examine_atoms(x: Array, rows: Array, level: int, zoom: Zoom) -> Placement:
    """An atom of leverage one leaves the others on the zero set of a half-degree polynomial."""
    q, _ = np.linalg.qr(rows)
    leverage = np.einsum("ij,ij->i", q, q)
    worst = int(np.argmax(leverage))
    if leverage[worst] < LEVERAGE:
        return _INSIDE
    rest = np.delete(x, worst, axis=0)
    others = sphere_words(rest, level - 1) if len(rest) else "nothing else"
    # the direction the atom alone carries: the rows of the others vanish along it
    unit = np.zeros(len(x))
    unit[worst] = 1.0
    alone = np.asarray(np.linalg.lstsq(rows, unit, rcond=None)[0], dtype=np.float64)
    square = sphere_square(alone[:, None], level, zoom(x[worst : worst + 1])[0])
    words = f"away from the single point {vector_words(x[worst])}, {others}"
    return _shown(x, level, zoom.pulled_back(square, level), words)
