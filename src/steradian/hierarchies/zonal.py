"""Zonal(axis, levels): polynomials of the height along one axis, in any dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.families.projections.zonal import ZonalFamily
from steradian.hierarchies.along_axis import AlongAxis, unit_axis
from steradian.hierarchies.on_nodes import checked_level, checked_levels
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.heights.gegenbauer import polynomials

MOST_LEVELS = 24


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

    @property
    def basis_kappa(self) -> float:
        """Features are white under the uniform law."""
        return 0.0

    def up_to(self, levels: int) -> Zonal:
        return Zonal(self.axis, levels)

    def wider(self, levels: int) -> Zonal | None:
        return Zonal(self.axis, levels) if levels <= MOST_LEVELS else None

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

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "Zonal", "axis": list(self.axis), "levels": self.levels}
