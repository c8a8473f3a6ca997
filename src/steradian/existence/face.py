"""The face of a support: the functions f >= 0 that vanish on given points of the two-sphere.

Touching zero from above forces value and both slopes to vanish at every point. These *contact
conditions* leave a small linear space, often of no dimension, and make the zeros exact to
rounding. What is left is a linear programme in that space: conditions on a cover, then cuts
where the solution dips. Its multipliers prove that there is no such f; an f that dips nowhere
is the certificate once that is proven of all points (`nowhere_negative`). The first programmes are
solved roughly on purpose: a point well within the conditions has room for those not yet stated,
where an optimum touches as many as it can. Neither proof nor certificate within the rounds allowed
is an answer too, and says so.

That a function is nowhere negative, whatever lies between nodes, is proven on cells. Along every
great circle a function f of degree K is a trigonometric polynomial of degree K, so that Bernstein's
inequality bounds its k-th derivative by ``K^k A``, A half the range of f. The range itself follows
from nodes: a polynomial of amplitude A that is extreme at one point is still at ``A cos Kρ`` a
distance ρ away (M. Riesz). With value, slopes and curvatures at the centre of a cell of radius ρ, f
is then bounded below on all of it; a cell where that bound is not positive is cut in four. Around a
zero with both slopes zero f is followed by its second and third derivatives, with ``K⁴A`` for the
fourth: cells within the distance to which it is positive need no bound. The work is limited: no
proof is no answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.existence.placement import Verdict
from steradian.existence.span import centred, flat_axes
from steradian.existence.squares import sphere_roots, squares_vanish
from steradian.numerics.arrays import Array
from steradian.numerics.linalg import triangle
from steradian.numerics.linear_programme import minimise
from steradian.numerics.paths import great_circles, stencil
from steradian.numerics.spheres.harmonics import sphere_harmonics, sphere_size
from steradian.numerics.spheres.sphere_minima import (
    bend_rows,
    contact_rows,
    cover,
    curvatures,
    derivatives,
    dips,
)
from steradian.numerics.tolerances import (
    CERTIFIED,
    CONTACT_CLEAR,
    CONTACT_NULL,
    DEEP,
    FLAT_ZERO,
    LEAST_LIFT,
    NODE_ACCURACY,
    PROVEN,
    SAFE,
    SQUARE_ROUNDING,
)
from steradian.spaces import Sphere
from steradian.spaces.boost import Boost, boost_onto
from steradian.spaces.pieces import Pieces, sphere_cells

ROUNDS = 40  # programmes before a question stays open
QUICK_ROUNDS = 8  # before the solver, which would take longer to fail
_HIDDEN_ROUNDS = 15  # where only a proof that there is none can count
_QUICK_SIZE = 48  # dimension of the space up to which those are a matter of milliseconds
_PART = 6  # points per feature that are asked first
_DIRECTIONS = 8  # in which the curvature at a zero is kept positive from the start
_BENT = 64  # points at which it is
_EVERY = 4  # nodes of the cover
_CLEARANCE = 0.5  # times the spacing: how far from a zero its curvature is followed
_CENTRAL = 0.03  # accuracy of the first programme: a point well within what is left
_UNPROVEN = "a function that vanishes on all points and dips nowhere is not proven to be one"
_MOST_ZEROS = 4  # times level²: isolated ones, of value and slopes, that are surely fewer
_HIDDEN = "rounding hides which functions vanish on all points"
_MOST_CELLS = 200_000
_HALVINGS = 40  # of the distance from a zero
_KEPT = 0.25  # of a curvature: what higher derivatives take of its half
_BEYOND = 4.0  # times what counts as positive: where the neighbourhood of a zero ends


@dataclass(frozen=True, slots=True)
class Face:
    """Whether some f >= 0 vanishes on a support; the function, or why nobody knows.

    INSIDE: none does. OUTSIDE: ``function`` ((level + 1)²,) of integral one does. UNSURE:
    ``words`` say what stood in the way.
    """

    verdict: Verdict
    function: Array | None = None
    words: str = ""


_NONE = Face(Verdict.INSIDE)


def face_of(x: Array, level: int, *, quick: bool = False) -> Face:
    """Ask for a non-zero f >= 0 of ``level`` that vanishes on ``x`` (n, 3).

    Concentrated points are enlarged first. Fewer points leave more functions, so of many
    points a part is asked first. ``quick`` asks small spaces only, and for few rounds.
    """
    zoom = boost_onto(Sphere(), x)
    seen = zoom.up(x)[0]
    chosen = np.zeros(len(x), dtype=bool)
    chosen[:: max(1, len(x) // (_PART * sphere_size(level)))] = True
    while True:
        found = _Contact.of(seen[chosen], level, zoom.scale).face(quick)
        if found.function is None:
            return found
        off = np.abs(sphere_harmonics(seen, level) @ found.function) > SAFE
        if (off & ~chosen).any():
            chosen |= off
        elif len(x) <= _MOST_ZEROS * level**2 and not chosen.all():
            chosen[:] = True
        elif _proven(found.function, seen, level, zoom.scale):
            return _verified(found.function, x, level, zoom)
        else:
            return Face(Verdict.UNSURE, None, _UNPROVEN)


def _proven(f: Array, x: Array, level: int, scale: float) -> bool:
    """Whether some function that vanishes on all of ``x`` is proven to be nowhere negative.

    ``f`` itself, if its zeros are isolated. If it is flat along a circle that holds many of them,
    ``(c - n·x)² g`` for a g of two levels less that does so on the others.
    """
    if len(x) <= _MOST_ZEROS * level**2 and nowhere_negative(f, x, level):
        return True
    if level < 3:
        return False
    bent = curvatures(f, x, level)[1]
    ring = x[bent[:, 0] <= FLAT_ZERO * bent[:, 1]]
    if len(ring) <= 3:
        return False
    axes, flat = flat_axes(centred(ring), scale)
    if flat.sum() != 1:
        return False
    height = x @ axes[flat][0]
    rest = x[np.abs(height - ring[0] @ axes[flat][0]) > SQUARE_ROUNDING / scale]
    if not len(rest) or squares_vanish(sphere_roots(level - 2), rest, great_circles):
        return True
    return level > 4 and face_of(rest, level - 2).verdict is Verdict.OUTSIDE


def _verified(f: Array, x: Array, level: int, zoom: Boost) -> Face:
    """The function of the points as they are, if it is what it claims to be."""
    dip = SAFE
    if zoom.scale < 1.0:
        f = zoom.pulled_back(f, level)
        f = np.asarray(f / f[0])
        dip = max(dip, -float(dips(f, level, _thinned(x))[1][0]))
    away = float(np.abs(sphere_harmonics(x, level) @ f).max())
    if max(away, dip) <= CERTIFIED:
        return Face(Verdict.OUTSIDE, f)
    words = f"a function was found that rounding keeps {max(away, dip):.0e} from a certificate"
    return Face(Verdict.UNSURE, None, words)


@dataclass(frozen=True, slots=True)
class _Contact:
    """Functions that meet the contact conditions at ``x`` (n, 3)."""

    x: Array
    level: int
    axes: Array  # (size, size): right singular vectors of the conditions as rows
    values: Array  # (size,): singular values over the largest, descending
    scale: float  # the points are known to within rounding over it

    @classmethod
    def of(cls, x: Array, level: int, scale: float) -> _Contact:
        rows = contact_rows(x, level)
        _, values, axes = np.linalg.svd(triangle(rows))
        values = np.concatenate([values, np.zeros(rows.shape[1] - len(values))])
        return cls(x, level, axes, values / values[0], scale)

    def face(self, quick: bool) -> Face:
        """Whether any of the functions that vanish, or nearly so, is nowhere negative."""
        wide = self._basis(CONTACT_CLEAR)
        size = wide.shape[1]
        if not size:
            return _NONE
        hidden = size != self._basis(CONTACT_NULL).shape[1]  # some only nearly vanish
        if quick and (hidden or size > _QUICK_SIZE):
            return Face(Verdict.UNSURE, None, f"{size} functions meet the contact conditions")
        rounds = QUICK_ROUNDS if quick else _HIDDEN_ROUNDS if hidden else ROUNDS
        found = _Programme.of(wide, self).answer(rounds)
        if hidden and found.verdict is not Verdict.INSIDE:
            return Face(Verdict.UNSURE, None, _HIDDEN)
        return found

    def _basis(self, tolerance: float) -> Array:
        """Orthonormal (size, k): the functions that meet the conditions to ``tolerance``."""
        return np.asarray(self.axes[self.values <= tolerance / self.scale].T)


@dataclass(slots=True)
class _Programme:
    """Over the f of integral one in a space, the one that stays highest above zero off ``x``.

    Maximise t subject to ``f >= t · min(1, L² (1 - cos dist))`` and curvature ``>= t L²`` at the
    points themselves: t > 0 is a function with no other zeros, t < 0 proves that there is none.
    """

    basis: Array  # (size, k)
    x: Array
    level: int
    rows: Array  # (N, k): conditions on the coordinates
    lift: Array  # (N,)

    @classmethod
    def of(cls, basis: Array, contact: _Contact) -> _Programme:
        x, level = contact.x, contact.level
        nodes = cover(level)
        bends = bend_rows(_thinned(x), level, _DIRECTIONS)
        rows = np.vstack([nodes.harmonics[::_EVERY], bends]) @ basis
        lift = _lift(nodes.points[::_EVERY], x, level)
        lift = np.concatenate([lift, np.full(len(bends), float(level**2))])
        return cls(basis, x, level, rows, lift)

    def answer(self, rounds: int) -> Face:
        mean = self.basis[0]
        if np.abs(mean).max() < SAFE:
            return _NONE  # without a mean f has both signs
        if len(mean) == 1:
            return self._only()
        for turn in range(rounds):
            f, depth = self._solve(mean, max(_CENTRAL * 0.5**turn, NODE_ACCURACY))
            if depth > DEEP:
                return _NONE
            f = f / f[0]
            bottoms, values = self._bottoms(f)
            if values[0] >= -SAFE:
                return Face(Verdict.OUTSIDE, f)
            self.rows = np.vstack([self.rows, sphere_harmonics(bottoms, self.level) @ self.basis])
            self.lift = np.concatenate([self.lift, _lift(bottoms, self.x, self.level)])
        words = f"{rounds} linear programmes were not enough"
        return Face(Verdict.UNSURE, None, words)

    def _only(self) -> Face:
        """A space of one dimension holds one function of integral one."""
        f = self.basis[:, 0] / self.basis[0, 0]
        lowest = float((cover(self.level).harmonics @ f).min())
        if lowest >= -DEEP:
            lowest = float(self._bottoms(f)[1][0])
        if lowest >= -SAFE:
            return Face(Verdict.OUTSIDE, f)
        words = f"the only function left dips to {lowest:.0e}, too little to tell"
        return _NONE if lowest < -DEEP else Face(Verdict.UNSURE, None, words)

    def _solve(self, mean: Array, accuracy: float) -> tuple[Array, float]:
        """A high f, and how deep every f of the space dips as the multipliers prove."""
        point = mean / (mean @ mean)
        across = np.linalg.svd(mean[None])[2][1:].T  # (k, k - 1)
        flat, free = self.rows @ point, self.rows @ across
        k = free.shape[1]
        top = np.append(np.zeros(k), -1.0)
        rows = np.vstack([np.column_stack([free, -self.lift]), top])
        start = np.append(np.zeros(k), -1.0)
        found = minimise(top, rows, np.append(-flat, -1.0), start=start, accuracy=accuracy)
        y = found.multipliers[:-1]
        bound = float(y @ flat + np.linalg.norm(y @ free) * (self.level + 1.0))
        f = self.basis @ (point + across @ found.point[:-1])
        return f, -bound / float(y.sum())

    def _bottoms(self, f: Array) -> tuple[Array, Array]:
        """Minima of ``f``, those beside its zeros included: all below zero, or the lowest."""
        x = _thinned(self.x)
        _, _, axes, frame = curvatures(f, x, self.level)
        down = np.einsum("ni,ind->nd", axes[:, :, 0], frame)
        angle = _CLEARANCE * cover(self.level).spacing
        beside = [np.cos(angle) * x + side * np.sin(angle) * down for side in (1.0, -1.0)]
        points, values = dips(f, self.level, np.vstack(beside))
        count = max(1, int((values < 0.0).sum()))
        return points[:count], values[:count]


def _thinned(x: Array) -> Array:
    """At most about `_BENT` of the points."""
    return x[:: max(1, len(x) // _BENT)]


def _lift(points: Array, x: Array, level: int) -> Array:
    """``min(1, L² (1 - cos dist))`` of the distance to the closest of ``x``."""
    return np.clip(level**2 * (1.0 - (points @ x.T).max(axis=1)), LEAST_LIFT, 1.0)


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
