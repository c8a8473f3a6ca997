"""How far inside the moment body a sample lies, and the function that shows the closest face.

The margin of a level is the least ``E_P f`` over all ``f = 1 + lam · φ >= 0`` of that level.
By duality it is the largest ε for which the moments are ``(1 - ε) m' + ε · 0`` with m' still in
the body, i.e. the share of the uniform law that they contain: free of scale, invariant under
rotation, one for uniform moments, zero on the boundary, and never rising with the level.

Above level 2 of the two-sphere it is found by programmes with cuts. ``f = Σ_k c_k φ_k >= 0`` is one
linear condition for every point of the sphere. A finite cover states most of them; wherever the
solution still dips below zero its lowest points become conditions too, until it dips nowhere
(exchange method). Once the dips are shallow, the bottoms move with f: a bottom z of curvature H
lies ``½ ∇fᵀH⁻¹∇f`` below f(z), and with that term in the programme the dips shrink quadratically
(local reduction; R. Hettich and K. O. Kortanek, SIAM Review 35, 1993, section 7.3). The multipliers
of the last linear programme bound the least mean from below, so that the answer comes with its
error.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.existence.certificate import (
    Certificate,
    affine_square,
    circle_rows,
    circle_square,
    circle_toeplitz,
    linear_function,
    sphere_function,
    sphere_square,
)
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.ascent import ascended, unit_length
from steradian.numerics.linalg import triangle
from steradian.numerics.linear_programme import minimise
from steradian.numerics.neighbours import neighbour_tree
from steradian.numerics.spheres.harmonics import sphere_harmonics, sphere_size
from steradian.numerics.spheres.sphere_minima import cover, curvatures, dips, slopes
from steradian.numerics.tolerances import (
    DEEP,
    HELD_MULTIPLIER,
    LEAST_BEND,
    MARGIN_PROGRAMME,
    MARGIN_ROUNDING,
    PROGRAMME_EXACT,
    PROGRAMME_ROUGH,
    SAFE,
)
from steradian.spaces import Sphere
from steradian.spaces.products import second_moments

_ATOM_DEGREE = 30  # of the grid of vectors a that are tried
_TOUCHED = 200  # supports of at most so many points are stated in the programme
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
class Closest:
    """The function of least mean under the data, and that mean."""

    margin: float
    function: Certificate
    slack: float = 0.0  # the least of all means may be smaller by so much
    rounding: float = MARGIN_ROUNDING  # from moments alone it cannot be told from zero below


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one sample, as the faces want it."""

    features: Array  # (q,): E φ, constant left out
    mean: Array  # (d,): E x
    root: Array  # (k, d): rootᵀ root is the centred second moment
    support: tuple[Array, Array] | None  # distinct points (n, d), weights (n,) of sum one
    powers: dict[int, AnyArray] = field(default_factory=dict, repr=False)  # level → of the circle

    @classmethod
    def of(cls, moments: MomentStack, support: tuple[Array, Array] | None) -> Evidence:
        """From a stack of one; the rows, where there are any, keep digits that sums lose."""
        features, mean = moments.features[0], moments.mean[0]
        if support is None:
            return cls(features, mean, _root(moments.scatter[0]), None)
        x, weights = support
        mean = weights @ x
        return cls(features, mean, triangle(np.sqrt(weights)[:, None] * (x - mean)), support)

    def stack(self) -> MomentStack:
        """Its moments as a stack of one."""
        scatter = self.root.T @ self.root
        return MomentStack(self.features[None], self.mean[None], scatter[None])


def linear_face(known: Evidence) -> Closest:
    """Level 1 on any unit sphere."""
    return Closest(*linear_function(known.mean, float((known.root**2).sum())))


def quadratic_face(known: Evidence, below: Closest | None = None) -> Closest:
    """Level 2 on any unit sphere; ``below`` is the answer of the level below, never smaller."""
    return _least(Closest(*affine_square(known.mean, known.root)), below, 2)


def circle_face(known: Evidence, level: int, below: Closest | None = None) -> Closest:
    """Any level on the circle."""
    return _least(Closest(*circle_square(_powers(known, level))), below, level)


def _least(found: Closest, below: Closest | None, level: int) -> Closest:
    if below is None or found.margin <= below.margin:
        return found
    return Closest(below.margin, below.function.at_level(level))


def margin_bound(known: Evidence, level: int) -> float:
    """At most so much is the margin of a level above 2 on the two-sphere.

    The least mean of a square, for odd levels also of ``(1 - a·x) g(x)²``, where `sphere_face`
    looks at all f, which takes longer.
    """
    found = [quadratic_face(known).margin, _least_square(known, level).margin]
    if level % 2:
        found.append(_least_odd_square(known.features, level))
    return min(found)


def _least_odd_square(features: Array, level: int) -> float:
    """The least mean of ``(1 - a·x) g(x)²`` of integral one over unit vectors a and all g."""
    space = Sphere()
    grid = space.exact_grid(2 * level)
    phi = space.harmonics(grid.points, (level - 1) // 2)
    moments = np.append(1.0, features[: space.size(level) - 1])
    height = space.harmonics(grid.points, level) @ moments  # the function with these moments
    parts = []
    for weight in (grid.weights * height, grid.weights):
        times = np.concatenate([np.ones((1, len(phi))), grid.points.T]) * weight
        parts.append(np.stack([phi.T @ (w[:, None] * phi) for w in times]))

    def least(a: Array) -> Array:
        signed = np.concatenate([np.ones((len(a), 1)), -a], axis=1)
        mean, whole = (np.tensordot(signed, part, axes=1) for part in parts)
        white = np.linalg.inv(np.linalg.cholesky(whole))
        values = np.linalg.eigvalsh(white @ mean @ np.swapaxes(white, 1, 2))
        return np.asarray(values[:, 0], dtype=np.float64)

    atoms = space.exact_grid(_ATOM_DEGREE).points
    best = atoms[[int(np.argmin(least(atoms)))]]
    top = ascended(lambda a: -least(a), unit_length, best, 2, 1.0 / _ATOM_DEGREE)
    return max(float(least(top)[0]), 0.0)


def _powers(known: Evidence, level: int) -> AnyArray:
    """Rows whose Gram matrix is that of the powers of the circle."""
    if known.support is None:
        gram = circle_toeplitz(known.features[None], level)[0]
        return _root(gram.T)  # E z̄^j z^k, as the rows of the points would give
    if level not in known.powers:  # first columns are those of lower levels
        x, weights = known.support
        rows = triangle(np.sqrt(weights)[:, None] * circle_rows(x, 1 << (level - 1).bit_length()))
        known.powers.update(dict.fromkeys(range(rows.shape[1]), rows))
    return triangle(known.powers[level][:, : level + 1])


def _root(gram: AnyArray) -> AnyArray:
    values, axes = np.linalg.eigh(gram)
    return np.sqrt(np.maximum(values, 0.0))[:, None] * axes.conj().T


def _least_square(known: Evidence, level: int) -> Closest:
    """The square of a polynomial of half the degree with the least mean, in closed form.

    Not the least of all f, but with all its digits where the margin is lost in rounding.
    """
    half = level // 2
    if known.support is None:
        moments = np.concatenate([[1.0], known.features])
        rows = _root(second_moments(Sphere(), half, moments[None])[0])
    else:
        x, weights = known.support
        rows = triangle(np.sqrt(weights)[:, None] * sphere_harmonics(x, half))
    _, values, axes = np.linalg.svd(rows)
    least = float(values[-1] ** 2) if len(values) == rows.shape[1] else 0.0
    harmonics = partial(sphere_harmonics, degree=half)
    square = sphere_square(harmonics, axes[-1][:, None], level)
    return Closest(least, sphere_function(square, level))


def sphere_face(known: Evidence, level: int, below: Closest | None) -> Closest:
    """The least of all on the two-sphere, by linear programming from the best function at hand."""
    at_hand = _least(_least_square(known, level), below, level)
    moments = known.features[: sphere_size(level) - 1]
    points = None if known.support is None else known.support[0]
    touching = points if points is not None and len(points) <= _TOUCHED else None
    result = least_mean(moments, level, np.append(1.0, at_hand.function.lam), touching)
    if result.upper < at_hand.margin - MARGIN_ROUNDING:
        at_hand = Closest(result.upper, sphere_function(result.function, level))
    slack = max(0.0, at_hand.margin - result.lower)
    return replace(at_hand, slack=slack, rounding=MARGIN_PROGRAMME)


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
