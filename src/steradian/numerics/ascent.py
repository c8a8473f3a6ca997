"""The tops of a smooth function on a manifold, from starts near them.

Along the tangent plane at x the function is seen on a stencil of steps -h, 0, h in each direction.
Its differences are a slope and a Hessian, whose Newton step is taken where it rises; else the best
point of the stencil is; where neither rises, h is divided. No derivative is asked for, and a step
never falls, so that edges where the function drops to nothing are climbed along as well.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.tolerances import SLOPE_STEP

Function = Callable[[Array], Array]

_SHRINK = 0.25
_MOST_STEPS = 80
DEEPEST = 700.0  # below the highest start, where an exponential is nothing and all is flat
_FAR = 2.0  # stencils that a Newton step may leave behind


def ascended(f: Function, onto: Function, starts: Array, dimension: int, reach: float) -> Array:
    """Tops (S, d) of ``f`` climbed to from ``starts`` (S, d).

    ``f`` takes points (n, d) to values (n,), ``onto`` rows of R^d to the nearest points of a
    manifold of ``dimension``, and ``reach`` is how far starts may be from their tops.
    """
    x, h = starts.copy(), np.full(len(starts), reach)
    floor = float(f(x).max()) - DEEPEST

    def bounded(y: Array) -> Array:
        return np.maximum(f(onto(y.reshape(-1, y.shape[-1]))), floor).reshape(y.shape[:-1])

    steps = np.array(sorted(product((-1.0, 0.0, 1.0), repeat=dimension), key=np.count_nonzero))
    for _ in range(_MOST_STEPS):
        open_ = np.flatnonzero(h > SLOPE_STEP)
        if not len(open_):
            break
        x[open_], rose = _step(bounded, onto, x[open_], h[open_], steps)
        h[open_] = np.where(rose, h[open_], _SHRINK * h[open_])
    return x


def _step(f: Function, onto: Function, x: Array, h: Array, steps: Array) -> tuple[Array, BoolArray]:
    """The best that is seen from each x (S, d), and whether it is farther than half a stencil."""
    tangent = _tangents(onto, x, steps.shape[1])
    around = x[:, None] + h[:, None, None] * (steps @ tangent)
    values = f(around)
    newton = _newton_step(values, steps)
    around = np.concatenate([around, x[:, None] + (h[:, None] * newton)[:, None] @ tangent], axis=1)
    values = np.concatenate([values, f(around[:, -1:])], axis=1)
    best = np.argmax(values, axis=1)  # the first of equals is x itself
    near = np.abs(newton).max(axis=1) < 0.5
    rose = (best > 0) & ~((best == len(steps)) & near)
    return onto(around[np.arange(len(x)), best]), rose


def _tangents(onto: Function, x: Array, dimension: int) -> Array:
    """Orthonormal rows (S, k, d) along the manifold at x (S, d): what is left of small steps."""
    d = x.shape[1]
    small = SLOPE_STEP * np.eye(d)
    ends = [onto((x[:, None] + sign * small).reshape(-1, d)).reshape(-1, d, d) for sign in (1, -1)]
    moved = (ends[0] - ends[1]) / (2.0 * SLOPE_STEP)
    return np.asarray(np.linalg.svd(moved)[2][:, :dimension])


def _newton_step(values: Array, steps: Array) -> Array:
    """The top (S, k) of the quadratic through values (S, 3^k) on a stencil, in units of it.

    Zero where the quadratic has no top, or one that is far away.
    """
    k = steps.shape[1]
    slope = np.stack([_first(values, steps, i) for i in range(k)], axis=1)
    bend = np.stack(
        [np.stack([_second(values, steps, i, j) for j in range(k)], axis=1) for i in range(k)],
        axis=1,
    )
    curved, axes = np.linalg.eigh(bend)
    sound = curved < 0.0
    along = np.einsum("sji,sj->si", axes, slope) / np.where(sound, -curved, 1.0)
    step = np.einsum("sij,sj->si", axes, np.where(sound, along, 0.0))
    return np.asarray(np.where(np.abs(step).max(axis=1, keepdims=True) <= _FAR, step, 0.0))


def _at(values: Array, steps: Array, step: Array) -> Array:
    return np.asarray(values[:, int(np.flatnonzero((steps == step).all(axis=1))[0])])


def _first(values: Array, steps: Array, i: int) -> Array:
    e = np.eye(steps.shape[1])
    return 0.5 * (_at(values, steps, e[i]) - _at(values, steps, -e[i]))


def _second(values: Array, steps: Array, i: int, j: int) -> Array:
    e = np.eye(steps.shape[1])
    if i == j:
        centre = _at(values, steps, 0.0 * e[i])
        return _at(values, steps, e[i]) - 2.0 * centre + _at(values, steps, -e[i])
    same = _at(values, steps, e[i] + e[j]) + _at(values, steps, -e[i] - e[j])
    other = _at(values, steps, e[i] - e[j]) + _at(values, steps, e[j] - e[i])
    return 0.25 * (same - other)
