"""What all hierarchies of the height along one axis share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.stacks import MomentStack, moments_of_samples
from steradian.data.validation import as_numeric
from steradian.errors import InvalidArgument
from steradian.families.nodes.rules import Nodes
from steradian.families.projections.zonal import RULES, ZonalFamily, zonal_nodes
from steradian.hierarchies.bare import BareHierarchy
from steradian.hierarchies.on_nodes import summed_features
from steradian.numerics.arrays import ROUNDOFF, AnyArray, Array
from steradian.spaces import HarmonicSpace, unit_sphere

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


class AlongAxis(BareHierarchy, ABC):
    """One function of the height t = axis · x a level, the first of them linear."""

    __slots__ = ()
    axis: tuple[float, ...]
    levels: int

    @property
    @abstractmethod
    def level_names(self) -> tuple[str, ...]:
        """As `Hierarchy` asks."""

    @property
    @abstractmethod
    def linear(self) -> tuple[float, float]:
        """Centre and scale: the first feature is (t - centre) / scale."""

    @property
    @abstractmethod
    def basis_kappa(self) -> float:
        """Concentration of the law about the axis that features are white under."""

    @abstractmethod
    def of_angles(self, angle: Array) -> Array:
        """Features at angles from the axis (n,): (n, L)."""

    @abstractmethod
    def features(self, x: AnyArray) -> AnyArray:
        """As `Hierarchy` asks."""

    @abstractmethod
    def up_to(self, levels: int) -> AlongAxis:
        """As `Hierarchy` asks."""

    @abstractmethod
    def wider(self, levels: int) -> AlongAxis | None:
        """As `Hierarchy` asks."""

    @abstractmethod
    def family(self, level: int) -> ZonalFamily:
        """As `Hierarchy` asks."""

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
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

    def sums(self, x: Array, weights: Array | None) -> Array:
        return summed_features(self, x, weights)

    def stack(self, x: Array, weights: Array, features: Array | None = None) -> MomentStack:
        return moments_of_samples(self, x, weights, features)

    def stack_of_means(self, means: Array) -> MomentStack:
        return MomentStack.of_features(means, self.d)

    def coordinates(self, features: Array) -> None:  # noqa: ARG002 - only their height is known
        return None

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        family = self.family(lam.shape[1])
        outer, eye = np.outer(self.direction, self.direction), np.eye(self.d)
        scatter = [
            across * (eye - outer) + along * outer
            for along, across in (family.variances(row) for row in lam)
        ]
        features = family.expectations(lam, self)
        return MomentStack(features, mean, np.array(scatter).reshape(-1, self.d, self.d))
