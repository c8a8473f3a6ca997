"""The non-negative function of least mean on the two-sphere, by programmes with cuts.

``f = Σ_k c_k φ_k >= 0`` is one linear condition for every point of the sphere. A finite cover
states most of them; wherever the solution still dips below zero its lowest points become
conditions too, until it dips nowhere (exchange method). Once the dips are shallow, the bottoms
move with f: a bottom z of curvature H lies ``½ ∇fᵀH⁻¹∇f`` below f(z), and with that term in
the programme the dips shrink quadratically (local reduction; R. Hettich and K. O. Kortanek,
SIAM Review 35, 1993, section 7.3). The multipliers of the last linear programme bound the
least mean from below, so that the answer comes with its error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.linear_programme import minimise
from steradian.numerics.neighbours import neighbour_tree
from steradian.numerics.spheres.harmonics import sphere_harmonics, sphere_size
from steradian.numerics.spheres.sphere_minima import cover, curvatures, dips, slopes
from steradian.numerics.tolerances import (
    DEEP,
    HELD_MULTIPLIER,
    LEAST_BEND,
    PROGRAMME_EXACT,
    PROGRAMME_ROUGH,
    SAFE,
)

WORK = 2e10  # rows × unknowns² × steps of all programmes of one level: seconds
_ROUNDS = 30
_USUAL_STEPS = 20  # of the interior-point method
_EVERY = 8  # every so many nodes of the cover stay whatever happens; as many more begin
_NEAR = 0.1  # a condition that f clears by more is dropped
_SHALLOW = 0.05  # dip from which the bottoms are followed
_INNER = 0.5  # of the half-width of a dip: where its slopes are cut
_FLATTEST = 1e-3  # curvature that limits that width
_FEW_PERCENT = 0.02  # of the mean of a known function: dip at which it is believed the best
_PROGRESS = 0.7  # of the dip: what following the bottoms must bring it down to
_LOST = 2  # after so many failures to do so they are only cut
_INSIDE = 0.9  # share of the last f in the start of the next programme; the rest is uniform


@dataclass(frozen=True, slots=True)
class LeastMean:
    """The f >= 0 of integral one with the least mean, as far as it was found.

    Attributes
    ----------
    function : array, ((level + 1)²,)
        Its coefficients, the constant one first. Non-negative, so that its mean is an upper bound.
    upper, lower : float
        Its mean, and what no f >= 0 falls below.
    contacts : array, (n, 3)
        Where it nearly vanishes.
    """

    function: Array
    upper: float
    lower: float
    contacts: Array


def least_mean(moments: Array, level: int, known: Array, touching: Array | None) -> LeastMean:
    """Among all f >= 0 of integral one that of least ``E_P f``.

    ``moments`` (q,) are E φ; ``known`` ((level + 1)²,) is some f >= 0 of integral one with a
    small mean, and ``touching`` (n, 3) are points where f is likely to vanish. What dip is left
    is lifted. The work is bounded by `WORK`: what is left then is the difference of the bounds.
    """
    search = _Exchange.begun(moments, level, known, touching)
    for _ in range(_ROUNDS):
        if not search.affordable:
            break
        search.solve()
        if search.done:
            break
        search.refine()
    search.bound()
    return LeastMean(search.best, search.upper, max(search.lower, 0.0), search.contacts)


@dataclass(slots=True)
class _Exchange:
    """The programme as it grows."""

    moments: Array
    level: int
    points: Array  # (N, 3): where f >= 0 is asked, beside the guards
    moving: Array  # (M, 3): the same at bottoms that are followed
    f: Array  # the last solution
    best: Array  # the best function without a dip
    upper: float  # its mean
    lower: float
    bottoms: tuple[Array, Array]
    multipliers: Array
    bend: Array | None = None
    accuracy: float = 1.0  # of the last programme
    beaten: bool = False  # whether `best` is no longer what was known before
    astray: bool = False  # whether the bottoms ran away when they were last followed
    lost: int = 0  # how often they did
    spent: float = 0.0

    @classmethod
    def begun(cls, moments: Array, level: int, known: Array, touching: Array | None) -> _Exchange:
        bottoms = dips(known, level)
        nodes = cover(level).points[_EVERY // 2 :: _EVERY], bottoms[0][bottoms[1] < _SHALLOW]
        points = np.vstack(nodes if touching is None else (*nodes, touching))
        upper = float(1.0 + known[1:] @ moments)
        none = np.empty((0, 3))
        return cls(moments, level, points, none, known, known, upper, 0.0, bottoms, np.empty(0))

    @property
    def dip(self) -> float:
        values = self.bottoms[1]
        return max(0.0, -float(values[0]))

    @property
    def contacts(self) -> Array:
        x, values = self.bottoms
        return x[values < _SHALLOW]

    @property
    def _asked(self) -> Array:
        return np.vstack([cover(self.level).points[::_EVERY], self.points, self.moving])

    @property
    def _cost(self) -> float:
        return _USUAL_STEPS * len(self._asked) * float(len(self.moments)) ** 2

    @property
    def affordable(self) -> bool:
        """Whether the next programme fits into the work allowed."""
        return self.spent + self._cost <= WORK

    def solve(self) -> None:
        """The programme as it stands; where its solution dips; and what that gives."""
        before = self.dip
        wanted = 1e-3 * min(self.dip, self.upper) if len(self.multipliers) else PROGRAMME_ROUGH
        self._minimise(max(PROGRAMME_EXACT, wanted))
        self.bottoms = dips(self.f, self.level)
        following = self.bend is not None
        self.astray = following and self.dip > max(_PROGRESS * before, SAFE)
        self.lost += self.astray
        lifted = self.f / (1.0 + self.dip)
        lifted[0] = 1.0
        mean = float(1.0 + lifted[1:] @ self.moments)
        if mean < self.upper:
            self.best, self.upper, self.beaten = lifted, mean, True

    @property
    def done(self) -> bool:
        """Whether what is left does not matter."""
        enough = SAFE
        if not self.beaten:
            enough = max(enough, min(DEEP, _FEW_PERCENT * self.upper))
        return max(self.dip, self.accuracy) <= enough or self.upper - self.lower <= SAFE

    def _minimise(self, accuracy: float) -> None:
        rows = np.ascontiguousarray(sphere_harmonics(self._asked, self.level)[:, 1:])
        here = self.f[1:]
        cost = self.moments if self.bend is None else self.moments - self.bend @ here
        start = _INSIDE * self.best[1:]
        floor = np.full(len(rows), -1.0)
        found = minimise(cost, rows, floor, start=start, accuracy=accuracy, bend=self.bend)
        self.f, self.multipliers = np.append(1.0, found.point), found.multipliers
        self.accuracy = accuracy
        self.spent += self._cost
        left = np.abs(self.moments - found.multipliers @ rows) @ _largest(self.level)
        self.lower = max(self.lower, 1.0 - float(found.multipliers.sum() + left))

    def refine(self) -> None:
        """Ask for f >= 0 at the dips; once they are shallow, follow them unless they run away."""
        x, values = self.bottoms
        if self.dip > _SHALLOW or self.astray or self.lost > _LOST:
            low = values < 0.0
            found = _surrounded(self.f, x[low], -values[low], self.level)
            asked = np.vstack([self.points, self.moving])
            near = sphere_harmonics(asked, self.level) @ self.f < _NEAR
            self.points, self.moving = np.vstack([asked[near], found]), found[:0]
            self.bend = None
        elif len(self.contacts):  # else only the last digits are missing
            self._follow(self.contacts)

    def _follow(self, x: Array) -> None:
        """Ask at the bottoms ``x`` (n, 3), and let the programme know that they move."""
        away, nearest = neighbour_tree(x).query(self._asked)
        here = away < 2.0 * cover(self.level).spacing
        weight = np.bincount(nearest[here], self.multipliers[here], len(x))
        _, curvature, axes, frame = curvatures(self.f, x, self.level)
        along = np.stack([slopes(x, u, self.level)[0][:, 1:] for u in frame])
        along = np.einsum("nij,inq->jnq", axes, along)
        bent = np.maximum(curvature.T, LEAST_BEND * self.level**2)
        roots = (np.sqrt(weight / bent)[:, :, None] * along).reshape(-1, len(self.moments))
        self.bend = roots.T @ roots
        held = self.multipliers[len(self._asked) - len(self.moving) :]
        held_on = held > HELD_MULTIPLIER * self.multipliers.sum()
        self.moving = np.vstack([self.moving[held_on], x])

    def bound(self) -> None:
        """One linear programme on the last points, for its multipliers."""
        if self.bend is not None and self.affordable:
            self.moving = np.vstack([self.moving, self.contacts])
            self.bend = None
            self._minimise(PROGRAMME_EXACT)


def _largest(level: int) -> Array:
    """What |∫ f φ| is at most for f >= 0 of integral one: max |φ|, (q,)."""
    degree = np.sqrt(np.arange(1, sphere_size(level))).astype(int)
    return np.asarray(np.sqrt(2.0 * degree + 1.0))


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
