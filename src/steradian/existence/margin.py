"""How far inside the moment body a sample lies, and the function that shows the closest face.

The margin of a level is the least ``E_P f`` over all ``f = 1 + lam · φ >= 0`` of that level.
By duality it is the largest ε for which the moments are ``(1 - ε) m' + ε · 0`` with m' still in
the body, i.e. the share of the uniform law that they contain: free of scale, invariant under
rotation, one for uniform moments, zero on the boundary, and never rising with the level.
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
from steradian.existence.semi_infinite import least_mean
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.linalg import triangle
from steradian.numerics.spheres.harmonics import sphere_harmonics, sphere_size
from steradian.numerics.tolerances import MARGIN_PROGRAMME, MARGIN_ROUNDING
from steradian.spaces import Sphere
from steradian.spaces.products import second_moments

_ATOM_DEGREE = 30  # of the grid of vectors a that are tried
_TOUCHED = 200  # supports of at most so many points are stated in the programme


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
    best = atoms[int(np.argmin(least(atoms)))]
    from scipy.optimize import minimize  # its module is slow to import

    found = minimize(
        lambda a: float(least((a / np.linalg.norm(a))[None])[0]), best, method="Nelder-Mead"
    )
    return max(float(found.fun), 0.0)


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
