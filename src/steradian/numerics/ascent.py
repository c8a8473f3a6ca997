"""The tops of smooth functions on a manifold or in a box, from starts near them.

Along the tangent plane at x a function is seen on a stencil of steps -h, 0, h in each direction.
Its differences are a slope and a Hessian, whose Newton step is taken where it rises; else the best
point of the stencil is; where neither rises, h is divided. No derivative is asked for, and a step
never falls, so that edges where the function drops to nothing are climbed along as well. In more
than three dimensions the stencil is that of the axes alone, of which the Hessian's diagonal is
known, and a step along the slope is tried beside.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import SLOPE_STEP

Function = Callable[[Array], Array]
Functions = Callable[[Array, IntArray], Array]
"""Points (s, m, d) and the starts they belong to (s,) → values of the functions of these (s, m)."""

_SHRINK = 0.25
_MOST_STEPS = 80
_WHOLE = 3  # dimensions up to which the stencil holds all corners
DEEPEST = 700.0  # below a start, where an exponential is nothing and all is flat
_FAR = 2.0  # stencils that a Newton step may leave behind


def ascended(f: Function, onto: Function, starts: Array, dimension: int, reach: float) -> Array:
    """Tops (S, d) of one ``f``, points (n, d) → (n,), climbed to from ``starts`` (S, d)."""

    def values(y: Array, _: IntArray) -> Array:
        return f(y.reshape(-1, y.shape[2])).reshape(y.shape[:2])

    return climbed(values, onto, starts, dimension, np.full(len(starts), reach))[0]


def climbed(
    f: Functions, onto: Function, starts: Array, dimension: int, reach: Array
) -> tuple[Array, Array]:
    """Tops (S, d) of functions that each have a start (S, d), and the values there (S,).

    ``onto`` takes rows of R^d to the nearest points of a manifold of ``dimension``, or of a box
    where that is d; ``reach`` (S,) is how far starts may be from their tops.
    """
    x, h = starts.copy(), reach.copy()
    steps, rows = _stencil(dimension), np.arange(len(starts))
    best = f(x[:, None], rows)[:, 0]
    floor = np.where(np.isfinite(best), best, best.max(initial=-DEEPEST)) - DEEPEST
    best = np.maximum(best, floor)
    for _ in range(_MOST_STEPS):
        open_ = np.flatnonzero(h > SLOPE_STEP)
        if not len(open_):
            break

        def bounded(y: Array, rows: IntArray = open_) -> Array:
            points = onto(y.reshape(-1, y.shape[2])).reshape(y.shape)
            return np.maximum(f(points, rows), floor[rows, None])

        x[open_], best[open_], rose = _step(bounded, onto, x[open_], best[open_], h[open_], steps)
        h[open_] = np.where(rose, h[open_], _SHRINK * h[open_])
    return x, best


def unit_length(x: Array) -> Array:
    """Rows (n, d) on the unit sphere."""
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def _stencil(dimension: int) -> Array:
    """Steps (m, k), the middle first: to all neighbours, or along the axes where those are many."""
    if dimension > _WHOLE:
        return np.concatenate([np.zeros((1, dimension)), np.eye(dimension), -np.eye(dimension)])
    return np.array(sorted(product((-1.0, 0.0, 1.0), repeat=dimension), key=np.count_nonzero))


def _step(
    f: Function, onto: Function, x: Array, here: Array, h: Array, steps: Array
) -> tuple[Array, Array, BoolArray]:
    """The best that is seen from each x (S, d), its value, and whether it is far enough to go on.

    That is farther than half a stencil.
    """
    tangent = _tangents(onto, x, steps.shape[1])
    around = x[:, None] + h[:, None, None] * (steps[1:] @ tangent)
    values = np.concatenate([here[:, None], f(around)], axis=1)
    newton, slope = _newton_step(values, steps)
    tried = [newton]
    if steps.shape[1] > _WHOLE:
        tried.append(slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-300))
    more = x[:, None] + h[:, None, None] * (np.stack(tried, axis=1) @ tangent)
    around = np.concatenate([x[:, None], around, more], axis=1)
    values = np.concatenate([values, f(more)], axis=1)
    best = np.argmax(values, axis=1)  # the first of equals is x itself
    near = np.abs(newton).max(axis=1) < 0.5
    rose = (best > 0) & ~((best == len(steps)) & near)
    rows = np.arange(len(x))
    return onto(around[rows, best]), values[rows, best], rose


def _tangents(onto: Function, x: Array, dimension: int) -> Array:
    """Orthonormal rows (S, k, d) along the manifold at x (S, d): what is left of small steps."""
    d = x.shape[1]
    if dimension == d:
        return np.broadcast_to(np.eye(d), (len(x), d, d))
    small = SLOPE_STEP * np.eye(d)
    ends = [onto((x[:, None] + sign * small).reshape(-1, d)).reshape(-1, d, d) for sign in (1, -1)]
    moved = (ends[0] - ends[1]) / (2.0 * SLOPE_STEP)
    return np.asarray(np.linalg.svd(moved)[2][:, :dimension])


def _newton_step(values: Array, steps: Array) -> tuple[Array, Array]:
    """The top (S, k) of the quadratic through values (S, m) on a stencil, and its slope (S, k).

    In units of the stencil. Zero where the quadratic has no top, or one that is far away.
    """
    k = steps.shape[1]
    e = np.eye(k)

    def at(step: Array) -> Array:
        return np.asarray(values[:, int(np.flatnonzero((steps == step).all(axis=1))[0])])

    slope = np.stack([0.5 * (at(e[i]) - at(-e[i])) for i in range(k)], axis=1)
    bend = np.zeros((len(values), k, k))
    for i in range(k):
        bend[:, i, i] = at(e[i]) - 2.0 * values[:, 0] + at(-e[i])
        for j in range(i if k <= _WHOLE else 0):
            same, other = at(e[i] + e[j]) + at(-e[i] - e[j]), at(e[i] - e[j]) + at(e[j] - e[i])
            bend[:, i, j] = bend[:, j, i] = 0.25 * (same - other)
    curved, axes = np.linalg.eigh(bend)
    sound = curved < 0.0
    along = np.einsum("sji,sj->si", axes, slope) / np.where(sound, -curved, 1.0)
    step = np.einsum("sij,sj->si", axes, np.where(sound, along, 0.0))
    found = np.abs(step).max(axis=1, keepdims=True) <= _FAR
    return np.asarray(np.where(found, step, 0.0)), slope
