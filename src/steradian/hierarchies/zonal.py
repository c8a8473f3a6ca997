"""Functions of the height along one axis, in any dimension.

`Zonal`: its polynomials; `BoundedZonal`: Legendre polynomials of its rank under a law.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike

from steradian.arguments import real_number
from steradian.data.stacks import MomentStack
from steradian.data.validation import as_numeric
from steradian.errors import InvalidArgument
from steradian.families.nodes.rules import Nodes
from steradian.families.projections.zonal import (
    RULES,
    BoundedZonalFamily,
    ZonalFamily,
    zonal_nodes,
)
from steradian.hierarchies.base import Hierarchy, checked_level, checked_levels
from steradian.numerics.arrays import ROUNDOFF, AnyArray, Array
from steradian.numerics.heights.gegenbauer import polynomials
from steradian.numerics.heights.height_law import height_law
from steradian.spaces import HarmonicSpace, unit_sphere

MOST_LEVELS = 24
MOST_KAPPA = 1e6  # angles of 1e-3, whose rounding u then moves the distribution function by 1e-13
_REMEDY = "give the concentration of the law that the functions are made for, 0 or more"
_MOST_DIMENSIONS = 1 << 14


def unit_axis(axis: ArrayLike) -> tuple[float, ...]:
    """A vector of any length but zero, as a unit vector that can be hashed."""
    given = np.asarray(as_numeric(axis, "axis"), dtype=np.float64)
    if given.ndim != 1 or not 2 <= len(given) <= _MOST_DIMENSIONS:
        raise InvalidArgument(f"axis has shape {given.shape}; give one vector of a sphere")
    size = float(np.abs(given).max())
    if not 0.0 < size < np.inf:
        raise InvalidArgument("axis must be finite and not zero")
    if size <= 1.0 and abs(float(given @ given) - 1.0) <= 16.0 * ROUNDOFF:
        return tuple(given.tolist())  # what is read again stays what it is, to the last digit
    unit = given / size
    unit /= np.linalg.norm(unit)
    return tuple(unit.tolist())


class AlongAxis(Hierarchy, ABC):
    """One function of the height t = axis · x a level, the first of them linear."""

    __slots__ = ()
    axis: tuple[float, ...]

    @property
    @abstractmethod
    def linear(self) -> tuple[float, float]:
        """Centre and scale: the first feature is (t - centre) / scale."""

    @abstractmethod
    def of_angles(self, angle: Array) -> Array:
        """Features at angles from the axis (n,): (n, L)."""

    @abstractmethod
    def family(self, level: int) -> ZonalFamily:
        """As `Hierarchy` asks."""

    @property
    def d(self) -> int:
        """Ambient dimension."""
        return len(self.axis)

    @property
    def space(self) -> HarmonicSpace:
        return unit_sphere(self.d)

    @property
    def direction(self) -> Array:
        """The axis as a unit vector, (d,)."""
        return np.array(self.axis)

    def heights(self, x: Array) -> Array:
        """T = axis · x of unit vectors (n, d), (n,)."""
        return np.clip(x @ self.direction, -1.0, 1.0)

    def angles(self, x: Array) -> Array:
        """From the axis to unit vectors (n, d), (n,), exact near either end."""
        axis = self.direction
        t = x @ axis
        return np.arctan2(np.linalg.norm(x - t[:, None] * axis, axis=1), t)

    def seen(self, x: Array) -> Array:
        """The angle from the axis is all that the features see, (n, 1)."""
        return self.angles(x)[:, None]

    @property
    def basis_kappa(self) -> float:
        """Concentration of the law about the axis that features are white under."""
        return 0.0

    def wider(self, levels: int) -> Hierarchy | None:
        return self.up_to(levels) if levels <= MOST_LEVELS else None

    @property
    def across(self) -> Array:
        """A unit vector at right angles to it, (d,)."""
        axis = self.direction
        other = np.eye(self.d)[int(np.argmin(np.abs(axis)))]
        other -= (other @ axis) * axis
        return np.asarray(other / np.linalg.norm(other))

    @property
    def dims(self) -> tuple[int, ...]:
        return (1,) * self.levels

    @property
    def enough(self) -> str:
        return "directions of at least two different heights along the axis"

    @property
    def node_rules(self) -> int:
        """Rules in the angle."""
        return RULES

    def nodes(self, rung: int) -> Nodes:
        """The nodes of one of them."""
        return zonal_nodes(self, rung)

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        family = self.family(lam.shape[1])
        outer, eye = np.outer(self.direction, self.direction), np.eye(self.d)
        scatter = [
            across * (eye - outer) + along * outer
            for along, across in (family.variances(row) for row in lam)
        ]
        features = family.expectations(lam, self)
        return MomentStack(features, mean, np.array(scatter).reshape(-1, self.d, self.d))


@dataclass(frozen=True, slots=True)
class Zonal(AlongAxis):
    """Level l adds the harmonic of degree l that is symmetric about one axis.

    The axis is given, not fitted: level 1 is the von Mises-Fisher law about it, higher levels shape
    how the height t = axis · x is spread. One feature a level, one-dimensional integrals, any
    dimension. Only rotations about the axis leave the gaps as they are.

    Parameters
    ----------
    axis : array_like, (d,)
        The axis, of any length but zero.
    levels : int
        Number of levels, at most 24.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Zonal([0.0, 0.0, 1.0], 3).dims
    (1, 1, 1)
    """

    axis: tuple[float, ...]
    levels: int

    def __init__(self, axis: ArrayLike, levels: int) -> None:
        unit = unit_axis(axis)
        checked_levels(levels, MOST_LEVELS, "more polynomials are hardly told apart")
        object.__setattr__(self, "axis", unit)
        object.__setattr__(self, "levels", levels)

    @property
    def level_names(self) -> tuple[str, ...]:
        higher = (f"degree {k} about the axis" for k in range(2, self.levels + 1))
        return ("along the axis", *higher)

    @property
    def instead(self) -> str:
        """Polynomials grow away from the data, where their laws may end in far modes."""
        return "take bounded functions of the height (features='bounded', kappa=that of the data)"

    @property
    def linear(self) -> tuple[float, float]:
        """The first polynomial is √d t."""
        return 0.0, float(self.d**-0.5)

    def features(self, x: AnyArray) -> AnyArray:
        t = np.clip(x @ self.direction.astype(x.dtype), -1.0, 1.0)
        return self.of_heights(t)

    def of_heights(self, t: AnyArray) -> AnyArray:
        """Orthonormal polynomials of degree 1..L at heights (n,): (n, L), by their recurrence."""
        return np.ascontiguousarray(polynomials(t, self.d, self.levels)[1:].T)

    def of_angles(self, angle: Array) -> Array:
        """The same at angles."""
        return self.of_heights(np.cos(angle))

    def family(self, level: int) -> ZonalFamily:
        return ZonalFamily(self, checked_level(level, self.levels))


@dataclass(frozen=True, slots=True)
class BoundedZonal(AlongAxis):
    """Level 1 is the height along an axis, level l adds a Legendre polynomial of its rank.

    With F the distribution function of the height t = axis · x under a von Mises-Fisher law of
    concentration κ, level l >= 2 adds P_l(2 F(t) - 1), which is bounded: a fit bends the law where
    rows are, and raises none where there are none. The polynomial of degree 1 is left out, since t
    takes its part. Where d is large t is nearly normal under the law: it correlates with its rank
    by √(3/π) = 0.98, and with all the other polynomials together by 0.21, so that t and they are
    nearly orthogonal, whereas t and its rank are nearly the same; and no function of t is missed.
    Features are centred and orthonormal under that law (`basis_lam`): under the uniform one they
    are nearly constant where d or κ is large.

    Parameters
    ----------
    axis : array_like, (d,)
        The axis, of any length but zero.
    levels : int
        Number of levels, at most 24.
    kappa : float
        Concentration κ >= 0 of the law whose distribution function is F.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Zonal([0.0, 0.0, 1.0], 3, features="bounded", kappa=5.0).dims
    (1, 1, 1)
    """

    axis: tuple[float, ...]
    levels: int
    kappa: float

    def __init__(self, axis: ArrayLike, levels: int, kappa: float) -> None:
        unit = unit_axis(axis)
        if len(unit) < 3:
            raise InvalidArgument(
                "on the circle the rank of a height has a kink at the axis; take polynomials of it"
            )
        checked_levels(levels, MOST_LEVELS, "more functions are hardly told apart")
        number = real_number(kappa, "kappa", _REMEDY)
        if not 0.0 <= number <= MOST_KAPPA:
            raise InvalidArgument(
                f"kappa is {number:g}; {_REMEDY}, up to {MOST_KAPPA:g} (for a negative one turn "
                "the axis round)"
            )
        object.__setattr__(self, "axis", unit)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "kappa", number)

    @property
    def level_names(self) -> tuple[str, ...]:
        higher = (f"degree {k} of the rank along the axis" for k in range(2, self.levels + 1))
        return ("along the axis", *higher)

    @property
    def linear(self) -> tuple[float, float]:
        """Mean and standard deviation of the height under the law of the basis."""
        law = height_law(self.d, self.kappa)
        return law.mean, law.spread

    @property
    def basis_kappa(self) -> float:
        """Features are white under the law that they are made for."""
        return self.kappa

    @property
    def basis_lam(self) -> Array:
        """The natural parameter of exp(κ t) in units of the first feature, (1,)."""
        return np.array([self.kappa * self.linear[1]])

    def features(self, x: AnyArray) -> AnyArray:
        return self.of_angles(self.angles(x)).astype(x.dtype)

    def of_angles(self, angle: Array) -> Array:
        """Features at angles from the axis (n,): (n, L)."""
        raw = _raw(self.d, self.kappa, self.levels, np.asarray(angle, dtype=np.float64))
        return np.asarray(raw @ _triangle(self.d, self.kappa, self.levels).T)

    def family(self, level: int) -> BoundedZonalFamily:
        return BoundedZonalFamily(self, checked_level(level, self.levels))


def _raw(d: int, kappa: float, levels: int, angle: Array) -> Array:
    """(t - E t) / sd, then √(2l + 1) P_l of twice the rank less one, l = 2..L: (n, L)."""
    law = height_law(d, kappa)
    rank = legendre.legvander(2.0 * law.height_cdf(angle) - 1.0, max(levels, 1))[:, 1:]
    rank *= np.sqrt(2.0 * np.arange(1, rank.shape[1] + 1) + 1.0)
    rank[:, 0] = (np.cos(angle) - law.mean) / law.spread
    return np.asarray(rank, dtype=np.float64)


@lru_cache(maxsize=256)
def _triangle(d: int, kappa: float, levels: int) -> Array:
    """What makes `_raw` orthonormal under the law: C⁻¹, with C Cᵀ their Gram matrix, (L, L)."""
    law = height_law(d, kappa)
    raw = _raw(d, kappa, levels, law.angles)
    gram = np.eye(levels)  # ranks are uniform there, and their polynomials orthonormal
    gram[0, 1:] = gram[1:, 0] = (law.masses * raw[:, 0]) @ raw[:, 1:]
    return np.asarray(np.linalg.inv(np.linalg.cholesky(gram)))
