"""Is a moment vector inside the moment body? Exact tests, of the moments or of the points.

A finite fit exists unless some non-zero function ``f = c + lam · phi >= 0`` vanishes on the
whole support. Squares of polynomials of half the degree are such functions, so the Gram
matrix of the half-degree polynomials under the data must be positive definite; on the
circle that is all there is (Fejér-Riesz: the Toeplitz matrix of the moments), and on the
two-sphere at level 2 (S-lemma) as well. For odd levels on the two-sphere squares of half the
degree are those of spinors (`spin_functions`), ``(1 - a·x) g(x)²`` among them.
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
from steradian.existence.squares import Roots, lone_row, sphere_roots, vanishing_roots
from steradian.existence.support_words import (
    face_words,
    few_words,
    sphere_words,
    undecided_words,
    vector_words,
)
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.linalg import all_positive, eigenvalues
from steradian.numerics.paths import great_circles
from steradian.numerics.tolerances import CERTIFIED, GRAM_CLEAR
from steradian.spaces import Sphere
from steradian.spaces.boost import boost_onto
from steradian.spaces.products import second_moments

_INSIDE = Placement(Verdict.INSIDE)


def _verdicts(gram: Array) -> IntArray:
    """From Gram matrices (B, h, h) of trace h."""
    if all_positive(gram - GRAM_CLEAR * np.eye(gram.shape[1])):  # most often they are far inside
        return np.full(len(gram), int(Verdict.INSIDE))
    least = np.linalg.eigvalsh(gram)[:, 0]
    inside = np.where(least > GRAM_CLEAR, int(Verdict.INSIDE), int(Verdict.UNSURE))
    return np.where(least < -GRAM_CLEAR, int(Verdict.OUTSIDE), inside)


def scatter_verdicts(scatter: Array) -> IntArray:
    """Level 2 in any dimension (S-lemma): the centred second moment is positive definite."""
    if len(scatter) > 1:
        size = np.einsum("bii->b", scatter)
        least = (GRAM_CLEAR * size)[:, None, None] * np.eye(scatter.shape[1])
        if all_positive(scatter - least):  # most often they are far inside
            return np.full(len(scatter), int(Verdict.INSIDE))
    values = eigenvalues(scatter)
    return flat_verdicts(values, GRAM_CLEAR, Verdict.UNSURE)


def flat_verdicts(values: Array, clear: float, flat: Verdict) -> IntArray:
    """Of second moments with eigenvalues (B, d), ascending: those of no data are negative.

    ``flat`` where the least is not above ``clear`` of the largest.
    """
    most = values[:, -1]
    none = np.where(values[:, 0] < -GRAM_CLEAR * most, int(Verdict.OUTSIDE), int(flat))
    return np.where(values[:, 0] > clear * most, int(Verdict.INSIDE), none)


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

    Exact to the rounding of rows: a half-degree polynomial counts as vanishing on them where
    `vanishing_roots` is certain, the contact conditions as independent when their least singular
    value is above 2e-13 of the largest (over the scale of concentrated points); between the two
    nothing is claimed. Existence is a matter of the support alone, so weights do not enter. UNSURE
    leaves the question to the solver.
    """
    zoom = boost_onto(Sphere(), x)
    seen = zoom.up(x)[0]
    roots = sphere_roots(level)
    kernel = vanishing_roots(roots, seen, great_circles, zoom.scale)
    if kernel.size:
        f = zoom.pulled_back(sphere_square(roots.function, kernel, level), level)
        return _shown(x, level, f, _square_words(x, seen, level, zoom.scale))
    return _INSIDE if level <= 2 else _from_face(x, level, quick=True)


def _square_words(x: Array, seen: Array, level: int, scale: float) -> str:
    """What points lie on when a square shows the boundary: of odd levels perhaps all but one do."""
    half = sphere_roots(2 * (level // 2))
    if level % 2 and level > 1 and not _vanish(half, seen, scale):
        alone = lone_row(half.function(seen))
        rest = np.arange(len(x)) != alone
        if alone is None or not _vanish(half, seen[rest], scale):
            return face_words(len(x), level)
        others = sphere_words(x[rest], level - 1) if rest.any() else "nothing else"
        return f"away from the single point {vector_words(x[alone])}, {others}"
    return sphere_words(x, level)


def _vanish(roots: Roots, x: Array, scale: float) -> bool:
    return vanishing_roots(roots, x, great_circles, scale).size > 0


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
    """On the boundary, with the function of coefficients ``f`` where these keep its zeros."""
    function = sphere_function(f, level)
    shown = np.abs(function(x)).max() <= CERTIFIED
    return Placement(Verdict.OUTSIDE, words, function if shown else None)
