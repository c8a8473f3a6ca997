"""BoundedZonal(axis, levels, kappa): bounded functions of the height along one axis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike

from steradian.arguments import real_number
from steradian.errors import InvalidArgument
from steradian.families.projections.zonal import BoundedZonalFamily
from steradian.hierarchies.along_axis import AlongAxis, unit_axis
from steradian.hierarchies.on_nodes import checked_level, checked_levels
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.heights.height_law import height_law

MOST_LEVELS = 24
MOST_KAPPA = 1e6  # angles of 1e-3, whose rounding u then moves the distribution function by 1e-13
_REMEDY = "give the concentration of the law that the functions are made for, 0 or more"


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

    def up_to(self, levels: int) -> BoundedZonal:
        return BoundedZonal(self.axis, levels, self.kappa)

    def wider(self, levels: int) -> BoundedZonal | None:
        return self.up_to(levels) if levels <= MOST_LEVELS else None

    def features(self, x: AnyArray) -> AnyArray:
        return self.of_angles(self.angles(x)).astype(x.dtype)

    def of_angles(self, angle: Array) -> Array:
        """Features at angles from the axis (n,): (n, L)."""
        raw = _raw(self.d, self.kappa, self.levels, np.asarray(angle, dtype=np.float64))
        return np.asarray(raw @ _triangle(self.d, self.kappa, self.levels).T)

    def family(self, level: int) -> BoundedZonalFamily:
        return BoundedZonalFamily(self, checked_level(level, self.levels))

    def to_dict(self) -> dict[str, Any]:
        own = {"axis": list(self.axis), "levels": self.levels, "kappa": self.kappa}
        return {"kind": "BoundedZonal", **own}


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
