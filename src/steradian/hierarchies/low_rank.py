"""LowRank(basis, levels): polynomials of a few coordinates, in any dimension."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.stacks import MomentStack
from steradian.data.validation import as_numeric
from steradian.errors import InvalidArgument
from steradian.families.base import Family
from steradian.families.nodes.rules import Nodes
from steradian.families.projections.low_rank import LowRankFamily, framed_nodes
from steradian.families.projections.low_rank_quadratics import LowRankQuadratics
from steradian.hierarchies.base import Hierarchy, checked_level, checked_levels
from steradian.numerics.arrays import ROUNDOFF, AnyArray, Array
from steradian.numerics.balls.hemisphere_frame import Frame
from steradian.numerics.balls.polynomials import ball_polynomials, degrees
from steradian.numerics.fisher_bingham.subspace import Quadratics
from steradian.numerics.tolerances import DEPENDENT_FUNCTION
from steradian.spaces import HarmonicSpace, unit_sphere

MOST_LEVELS = 6
MOST_AXES = 3
_MOST_DIMENSIONS = 1 << 12


@dataclass(frozen=True, slots=True)
class LowRank(Hierarchy):
    """Level l adds all polynomials of degree l of the coordinates y = Uᵀx in a subspace.

    The subspace is given, not fitted. Level 1 is the von Mises-Fisher law of the mean within it,
    level 2 the Fisher-Bingham law exp(η·y + yᵀBy), higher ones shape how y is spread. What
    happens across the subspace is not measured: a law is uniform there, given y. Integrals are over
    the unit ball of at most three dimensions, whatever the dimension of the sphere. Rotations
    within the subspace, and across it, leave the gaps as they are; others do not.

    Parameters
    ----------
    basis : array_like, (d, k)
        Vectors that span the subspace, as columns, 1 <= k <= 3 and k < d; made orthonormal.
    levels : int
        Number of levels, at most 6.

    Examples
    --------
    >>> import numpy as np
    >>> import steradian as sr
    >>> sr.LowRank(np.eye(384)[:, :2], 3).dims
    (2, 3, 4)
    """

    basis: tuple[tuple[float, ...], ...]
    levels: int
    axes: Array = field(compare=False, repr=False)

    def __init__(self, basis: ArrayLike, levels: int) -> None:
        axes = _orthonormal(_checked(basis))
        checked_levels(levels, MOST_LEVELS, "integrals of more are not resolved")
        object.__setattr__(self, "basis", tuple(tuple(row) for row in axes.tolist()))
        object.__setattr__(self, "levels", levels)
        axes.setflags(write=False)
        object.__setattr__(self, "axes", axes)

    def __repr__(self) -> str:
        if self.d <= 8:
            return f"LowRank(basis={[list(row) for row in self.basis]}, levels={self.levels})"
        return f"LowRank({self.k} axes of R^{self.d}, levels={self.levels})"

    @property
    def d(self) -> int:
        """Ambient dimension."""
        return len(self.basis)

    @property
    def k(self) -> int:
        """Dimension of the subspace."""
        return len(self.basis[0])

    @property
    def space(self) -> HarmonicSpace:
        return unit_sphere(self.d)

    @property
    def across(self) -> Array:
        """A unit vector at right angles to the subspace, (d,)."""
        other = np.eye(self.d)[int(np.argmin(np.einsum("dk,dk->d", self.axes, self.axes)))]
        for _ in range(2):
            other = other - self.axes @ (self.axes.T @ other)
            other /= np.linalg.norm(other)
        return np.asarray(other)

    @property
    def dims(self) -> tuple[int, ...]:
        sizes = [len(degrees(self.k, level)) for level in range(self.levels + 1)]
        return tuple(np.diff(sizes).tolist())

    @property
    def level_names(self) -> tuple[str, ...]:
        higher = (f"degree {level} within the subspace" for level in range(3, self.levels + 1))
        names = "mean within the subspace", "axis or spread within the subspace", *higher
        return names[: self.levels]

    @property
    def enough(self) -> str:
        return "directions that are not all one direction of the subspace"

    def up_to(self, levels: int) -> LowRank:
        checked_levels(levels, MOST_LEVELS, "integrals of more are not resolved")
        return self if levels == self.levels else LowRank(self.axes, levels)

    def wider(self, levels: int) -> LowRank | None:
        return self.up_to(levels) if levels <= MOST_LEVELS else None

    def within(self, x: AnyArray) -> AnyArray:
        """The coordinates y of unit vectors (n, d) in the subspace, (n, k)."""
        y = x @ self.axes.astype(x.dtype)
        return y / np.maximum(np.linalg.norm(y, axis=1, keepdims=True), 1.0)

    def seen(self, x: Array) -> Array:
        return self.within(x)

    def features(self, x: AnyArray) -> AnyArray:
        return self.of_coordinates(self.within(x))

    def of_coordinates(self, y: AnyArray) -> AnyArray:
        """All features at coordinates (n, k): (n, q)."""
        return ball_polynomials(y, self.d, self.levels)

    @property
    def quadratic_features(self) -> tuple[Array, Quadratics]:
        """The features of levels 1 and 2: constants (q,) and what they are of y beside these."""
        constants, linear, forms = _coefficients(self.k, self.d)
        return constants, Quadratics(linear, forms, np.zeros(self.k))

    def quadratic_parameters(self, eta: Array, quadratic: Array) -> Array:
        """λ (B, q) of levels 1 and 2 with λ·φ = η·y + yᵀBy but for a constant."""
        i, j = np.triu_indices(self.k)
        twice = np.where(i == j, 1.0, 2.0)
        wanted = np.hstack([eta, twice * quadratic[:, i, j]])
        return np.asarray(wanted @ _inverse_coefficients(self.k, self.d))

    def second_of(self, means: Array) -> tuple[Array, Array | None]:
        """Mean (k,) and covariance (k, k) of y from E φ (q,), the latter from level 2 on."""
        mean = means[: self.k] / np.sqrt(self.d)
        q = len(degrees(self.k, 2))
        if len(means) < q:
            return mean, None
        constants = _coefficients(self.k, self.d)[0]
        i, j = np.triu_indices(self.k)
        second = np.empty((self.k, self.k))
        known = _inverse_coefficients(self.k, self.d) @ (means[:q] - constants)
        second[i, j] = second[j, i] = known[self.k :]
        return mean, second - np.outer(mean, mean)

    @property
    def plain_frame(self) -> Frame:
        """Where the uniform law is of order one."""
        return Frame.plain(self.k, self.d)

    @property
    def node_rules(self) -> int:
        """Rules about the uniform law."""
        return LowRankFamily(self, self.levels)._rungs

    def nodes(self, rung: int) -> Nodes:
        """The nodes of one of them."""
        return framed_nodes(self, self.levels, self.plain_frame, rung)

    def family(self, level: int) -> Family:
        if checked_level(level, self.levels) <= 2:
            return LowRankQuadratics(self, level)
        return LowRankFamily(self, level)

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        level = self.level_of(lam.shape[1])
        family = (LowRankQuadratics if level <= 2 else LowRankFamily)(self, level)
        beside = np.eye(self.d) - self.axes @ self.axes.T
        scatter = [
            self.axes @ within @ self.axes.T + across * beside
            for within, across in (family.covariance(row) for row in lam)
        ]
        features = family.expectations(lam, self)
        return MomentStack(features, mean, np.array(scatter).reshape(-1, self.d, self.d))


def _checked(basis: ArrayLike) -> Array:
    """The columns as they are given, finite and of a size that can be squared."""
    given = np.array(as_numeric(basis, "basis"), dtype=np.float64)
    if given.ndim != 2:
        raise InvalidArgument(f"basis has shape {given.shape}; give vectors as columns, (d, k)")
    d, k = given.shape
    if k > MOST_AXES or not k:
        raise InvalidArgument(f"basis has {k} columns; give one to {MOST_AXES}, as shape (d, k)")
    if d > _MOST_DIMENSIONS:
        raise InvalidArgument(f"d is {d}; at most {_MOST_DIMENSIONS} are possible")
    if k >= d:
        raise InvalidArgument(
            f"basis spans all of R^{d}; take sr.Harmonics({d}, levels), or fewer columns"
        )
    sizes = np.abs(given).max(axis=0)
    if not ((sizes > 0.0) & (sizes < np.inf)).all():
        column = int(np.argmin((sizes > 0.0) & (sizes < np.inf)))
        raise InvalidArgument(f"basis: column {column} must be finite and not zero")
    return np.asarray(given)


def _orthonormal(columns: Array) -> Array:
    """An orthonormal basis of the same span; columns that are one stay as they are."""
    for _ in range(3):
        k = columns.shape[1]
        with np.errstate(over="ignore", under="ignore"):
            off = np.abs(columns.T @ columns - np.eye(k)).max()
        if off <= 16.0 * ROUNDOFF:
            return columns
        columns = columns / np.abs(columns).max(axis=0)
        columns = columns / np.linalg.norm(columns, axis=0)
        q, r = np.linalg.qr(columns)
        size = np.diag(r)
        if np.abs(size).min() < DEPENDENT_FUNCTION:
            column = int(np.argmin(np.abs(size)))
            raise InvalidArgument(f"basis: column {column} depends on others; leave it out")
        columns = q * np.sign(size)
    return columns


@lru_cache(maxsize=32)
def _coefficients(k: int, d: int) -> tuple[Array, Array, Array]:
    """The polynomials of degree one and two as c + g·y + yᵀQy: (q,), (q, k), (q, k, k).

    From their values at zero, at unit vectors and at sums of two.
    """

    def at(y: Array) -> Array:
        return np.asarray(ball_polynomials(y[None], d, 2)[0])

    eye, constants = np.eye(k), at(np.zeros(k))
    ahead, behind = np.array([at(e) for e in eye]), np.array([at(-e) for e in eye])
    forms = np.empty((k, k, len(constants)))
    for i in range(k):
        for j in range(k):
            mixed = at(eye[i] + eye[j]) - ahead[i] - ahead[j] + constants
            forms[i, j] = 0.5 * mixed if i != j else 0.5 * (ahead[i] + behind[i]) - constants
    return constants, (0.5 * (ahead - behind)).T, np.moveaxis(forms, -1, 0)


@lru_cache(maxsize=32)
def _inverse_coefficients(k: int, d: int) -> Array:
    """From φ - c to y and the products y_i y_j, i <= j: (q, q)."""
    _, linear, forms = _coefficients(k, d)
    i, j = np.triu_indices(k)
    twice = np.where(i == j, 1.0, 2.0)
    return np.asarray(np.linalg.inv(np.hstack([linear, twice * forms[:, i, j]])))
