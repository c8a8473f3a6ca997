"""Non-negative functions on the two-sphere by linear programming with cuts.

``f = Σ_k c_k φ_k >= 0`` is one linear condition for every point of the sphere. A finite cover
states most of them; wherever the solution of that programme still dips below zero, its
lowest points become conditions too, until it dips nowhere (exchange method). Two programmes
are solved this way:

* the least mean ``E_P f`` among all f >= 0 of integral one: how far inside a moment lies;
* the face of a support: the f >= 0 that vanish on given points. Touching zero from above
  forces value and slope to vanish there, which leaves a small linear space, often of one
  dimension, and makes the zeros exact to rounding.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from steradian.hierarchies.zoom import Zoom
from steradian.numerics.arrays import Array
from steradian.numerics.harmonics import sphere_harmonics, sphere_size
from steradian.numerics.linalg import null_space
from steradian.numerics.sphere_minima import contact_rows, cover, curvatures, dips, slopes, tangents

LP_ACCURACY = 1e-9  # dip below zero, for ∫ f dν = 1, that counts as none
_NULL = 4e-15  # relative singular value of conditions that a function meets to rounding
_GAP = 50.0  # factor above it within which no other singular value may lie
_ROUNDS = 40
_COARSE = 8  # every so many nodes of the cover start the search for the least mean
_SLACK = 0.1  # a cut that f clears by this much is dropped
_INNER = 0.5  # of the half-width of a dip: where its slopes are cut
_FLATTEST = 1e-3  # curvature that limits that width
_PART = 6  # points per feature that are asked first
ZERO = 1e-9  # value of f on the support that counts as zero
_CLEARLY = 1e-6  # depth below zero that no cut will mend
_DIRECTIONS = 8  # in which the curvature at a zero is kept positive from the start
_CLEARANCE = 0.5  # times the spacing: how far from a zero its curvature is followed
_TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def least_mean(moments: Array, level: int, touching: Array | None = None) -> Array:
    """The f >= 0 of integral one and least ``E_P f``: coefficients ((level + 1)²,), c_0 = 1.

    ``moments`` (q,) are E φ; ``touching`` (n, 3) are points where f is likely to vanish. What
    dip is left is lifted, so that the result is non-negative and its mean an upper bound.
    """
    base = cover(level).harmonics[::_COARSE]
    if touching is not None:
        base = np.vstack([base, sphere_harmonics(touching, level)])
    cuts = base[:0]
    degrees = np.sqrt(np.arange(1, sphere_size(level))).astype(int)
    limit = np.sqrt(2.0 * degrees + 1.0)  # |∫ f φ| <= max |φ|
    box = np.stack([-limit, limit], axis=1)
    f, dip = np.append(1.0, np.zeros(len(moments))), 0.0
    for _ in range(_ROUNDS):
        rows = np.vstack([base, cuts])
        found = linprog(moments, -rows[:, 1:], np.ones(len(rows)), bounds=box, options=_TOLERANCES)
        if found.x is None:
            break
        f = np.append(1.0, found.x)
        x, values = dips(f, level)
        dip = max(0.0, -float(values[0]))
        if dip <= LP_ACCURACY:
            break
        low = values < 0.0
        around = _surrounded(f, x[low], -values[low], level)
        cuts = np.vstack([cuts[cuts @ f < _SLACK], sphere_harmonics(around, level)])
    f[1:] /= 1.0 + dip
    return f


def _surrounded(f: Array, x: Array, depth: Array, level: int) -> Array:
    """The lowest points and, along both curvatures, points on the slopes of their dips.

    Cuts at the bottom alone leave f free to dip beside them; cuts on the slopes do not.
    """
    _, curvature, axes, frame = curvatures(f, x, level)
    points = [x]
    for k in (0, 1):
        width = _INNER * np.sqrt(2.0 * depth / np.maximum(curvature[:, k], _FLATTEST))
        aside = width[:, None] * np.einsum("ni,ind->nd", axes[:, :, k], frame)
        points += [x + aside, x - aside]
    around = np.vstack(points)
    return np.asarray(around / np.linalg.norm(around, axis=1, keepdims=True))


def face_function(x: Array, level: int) -> Array | None:
    """A non-zero f >= 0 that vanishes on ``x`` (n, 3), ∫ f dν = 1; None when there is none.

    Concentrated points are enlarged first. Fewer points leave more functions, so of many
    points a part is asked first.
    """
    zoom = Zoom.onto(x)
    seen = zoom(x)
    part = _PART * sphere_size(level)
    chosen = np.zeros(len(x), dtype=bool)
    chosen[:: max(1, len(x) // part)] = True
    while True:
        f = _face_function(seen[chosen], level, zoom.scale)
        off = None if f is None else np.abs(sphere_harmonics(seen, level) @ f) > ZERO
        if f is None or off is None:
            return None
        if chosen.all() or not off.any():
            f = zoom.pulled_back(f, level)
            return np.asarray(f / f[0])
        chosen |= off


def _face_function(x: Array, level: int, scale: float) -> Array | None:
    """The same for points that are known to within rounding over ``scale``."""
    basis, doubtful = (null_space(contact_rows(x, level), t / scale) for t in (_NULL, _GAP * _NULL))
    if not basis.size or basis.shape != doubtful.shape:
        return None  # none, or rounding hides which functions vanish there
    if np.abs(basis[0]).max() < LP_ACCURACY:
        return None  # without a mean f has both signs
    if basis.shape[1] == 1:
        f = np.asarray(basis[:, 0] / basis[0, 0])
        return f if _deepest(f, x, level)[1][0] >= -LP_ACCURACY else None
    return _highest(basis, x, level)


def _deepest(f: Array, x: Array, level: int) -> tuple[Array, Array]:
    """Minima of ``f``, those beside the zeros ``x`` included: all below zero, or the lowest."""
    _, _, axes, frame = curvatures(f, x, level)
    down = np.einsum("ni,ind->nd", axes[:, :, 0], frame)
    angle = _CLEARANCE * cover(level).spacing
    beside = [np.cos(angle) * x + side * np.sin(angle) * down for side in (1.0, -1.0)]
    points, values = dips(f, level, np.vstack(beside))
    count = max(1, int((values < 0.0).sum()))
    return points[:count], values[:count]


def _highest(basis: Array, x: Array, level: int) -> Array | None:
    """Within a face of several dimensions, the f that stays highest above zero off ``x``.

    Maximise t subject to ``f >= t · min(1, L² (1 - cos dist))`` and curvature ``>= t L²`` at
    the points themselves: t > 0 is a function with no other zeros.
    """
    nodes, harmonics = cover(level).points[::2], cover(level).harmonics[::2]
    lift = np.minimum(1.0, level**2 * (1.0 - (nodes @ x.T).max(axis=1)))
    rows = np.vstack([harmonics, *_bends(x, level)]) @ basis
    lift = np.concatenate([lift, np.full(len(rows) - len(lift), float(level**2))])
    k = basis.shape[1]
    limit = 2.0 * (level + 1.0)  # ‖f‖ <= level + 1 for f >= 0 of integral one
    bounds = [(-limit, limit)] * k + [(None, 1.0)]
    mean = np.append(basis[0], 0.0)[None]
    for _ in range(_ROUNDS):
        found = linprog(
            np.append(np.zeros(k), -1.0),
            np.column_stack([-rows, lift]),
            np.zeros(len(rows)),
            mean,
            [1.0],
            bounds=bounds,
            options=_TOLERANCES,
        )
        if found.x is None or found.x[-1] < -_CLEARLY:
            return None
        f = basis @ found.x[:-1]
        f /= f[0]
        bottoms, values = _deepest(f, x, level)
        if values[0] >= -LP_ACCURACY:
            return np.asarray(f)
        points = _surrounded(f, bottoms, -values, level)
        rows = np.vstack([rows, sphere_harmonics(points, level) @ basis])
        lift = np.concatenate([lift, np.zeros(len(points))])
    return None


def _bends(x: Array, level: int) -> list[Array]:
    """Second derivatives of all harmonics at ``x`` in some directions each."""
    u, v = tangents(x)
    angles = np.pi / _DIRECTIONS * np.arange(_DIRECTIONS)
    return [slopes(x, np.cos(a) * u + np.sin(a) * v, level)[1] for a in angles]
