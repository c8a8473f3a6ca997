"""Zonal(axis, levels): polynomials of the height along one axis, in any dimension."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.stacks import MomentStack, moments_of_samples
from steradian.data.validation import as_numeric
from steradian.errors import InvalidArgument
from steradian.families.base import Family, Law
from steradian.families.node_rules import Nodes
from steradian.families.nodes import NodeLaw
from steradian.families.zonal import RULES, ZonalFamily, zonal_nodes
from steradian.hierarchies.bare import BareHierarchy
from steradian.hierarchies.on_nodes import checked_level, checked_levels, summed_features
from steradian.numerics.arrays import AnyArray, Array
from steradian.spaces import HarmonicSpace, unit_sphere

MOST_LEVELS = 24
_MOST_DIMENSIONS = 1 << 14


@dataclass(frozen=True, slots=True)
class Zonal(BareHierarchy):
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
        given = np.asarray(as_numeric(axis, "axis"), dtype=np.float64)
        if given.ndim != 1 or not 2 <= len(given) <= _MOST_DIMENSIONS:
            raise InvalidArgument(f"axis has shape {given.shape}; give one vector of a sphere")
        size = float(np.abs(given).max())
        if not 0.0 < size < np.inf:
            raise InvalidArgument("axis must be finite and not zero")
        unit = given / size
        unit /= np.linalg.norm(unit)
        checked_levels(levels, MOST_LEVELS, "more polynomials are hardly told apart")
        object.__setattr__(self, "axis", tuple(unit.tolist()))
        object.__setattr__(self, "levels", levels)

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
    def level_names(self) -> tuple[str, ...]:
        higher = (f"degree {k} about the axis" for k in range(2, self.levels + 1))
        return ("along the axis", *higher)

    @property
    def enough(self) -> str:
        return "directions of at least two different heights along the axis"

    def up_to(self, levels: int) -> Zonal:
        return Zonal(self.axis, levels)

    def wider(self, levels: int) -> Zonal | None:
        return Zonal(self.axis, levels) if levels <= MOST_LEVELS else None

    def heights(self, x: Array) -> Array:
        """T = axis · x of unit vectors (n, d), (n,)."""
        return np.clip(x @ self.direction, -1.0, 1.0)

    def features(self, x: AnyArray) -> AnyArray:
        t = np.clip(x @ self.direction.astype(x.dtype), -1.0, 1.0)
        return self.of_heights(t)

    def of_heights(self, t: AnyArray) -> AnyArray:
        """Orthonormal polynomials of degree 1..L at heights (n,): (n, L), by their recurrence."""
        out = np.empty((len(t), self.levels), dtype=t.dtype)
        before, last = np.zeros_like(t), np.ones_like(t)
        for k, (down, up) in enumerate(_steps(self.d, self.levels, t.dtype)):
            before, last = last, (t * last - down * before) / up
            out[:, k] = last
        return out

    @property
    def node_rules(self) -> int:
        """Rules in the angle."""
        return RULES

    def nodes(self, rung: int) -> Nodes:
        """The nodes of one of them."""
        return zonal_nodes(self, rung)

    def sums(self, x: Array, weights: Array | None) -> Array:
        return summed_features(self, x, weights)

    def stack(self, x: Array, weights: Array, features: Array | None = None) -> MomentStack:
        return moments_of_samples(self, x, weights, features)

    def stack_of_means(self, means: Array) -> MomentStack:
        return MomentStack.of_features(means, self.d)

    def coordinates(self, features: Array) -> None:  # noqa: ARG002 - only their height is known
        return None

    def family(self, level: int) -> Family:
        return ZonalFamily(self, checked_level(level, self.levels))

    def law(self, level: int, lam: Array, psi: float) -> Law:
        return NodeLaw(self.family(level), lam, psi)

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        family = ZonalFamily(self, lam.shape[1])
        outer, eye = np.outer(self.direction, self.direction), np.eye(self.d)
        scatter = [
            across * (eye - outer) + along * outer
            for along, across in (family.variances(row) for row in lam)
        ]
        features = family.expectations(lam, self)
        return MomentStack(features, mean, np.array(scatter).reshape(-1, self.d, self.d))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "Zonal", "axis": list(self.axis), "levels": self.levels}


def _steps(d: int, levels: int, dtype: Any) -> list[tuple[Any, Any]]:
    """b_k and b_{k+1} of t p_k = b_{k+1} p_{k+1} + b_k p_{k-1}, Gegenbauer's recurrence."""
    k = np.arange(1.0, levels + 1.0)
    square = np.full(levels, 1.0 / d)  # b_1² = E t²
    above = k[1:]
    square[1:] = above * (above + d - 3.0) / ((2.0 * above + d - 2.0) * (2.0 * above + d - 4.0))
    b = np.concatenate([[0.0], np.sqrt(square)]).astype(dtype)
    return list(pairwise(b))
