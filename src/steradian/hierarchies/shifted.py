"""Shifted(whole, levels, origin, space): relative to a law of the same features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.families.relative.shifted import Origin, ShiftedFamily
from steradian.hierarchies.bare import BareHierarchy
from steradian.hierarchies.base import Hierarchy
from steradian.hierarchies.on_nodes import checked_level, checked_levels
from steradian.numerics.arrays import AnyArray, Array
from steradian.references.base import ReferenceSpace, reference_words


@dataclass(frozen=True, slots=True, repr=False)
class Shifted(BareHierarchy):
    """The first ``levels`` levels of ``whole`` relative to a law ``origin`` of that hierarchy.

    Fits are those of ``whole`` with other origins: see `families.shifted`. Features stay as they
    are, white under the uniform law and not under the reference: `reference_features` says so.
    """

    whole: Hierarchy
    levels: int
    origin: Origin
    space: ReferenceSpace

    def __repr__(self) -> str:
        return f"{self._base!r} relative to {reference_words(self.space)}"

    @property
    def _base(self) -> Hierarchy:
        return self.whole.up_to(self.levels)

    @property
    def dims(self) -> tuple[int, ...]:
        return self.whole.dims[: self.levels]

    @property
    def level_names(self) -> tuple[str, ...]:
        return self.whole.level_names[: self.levels]

    @property
    def reference_features(self) -> Array:
        """E φ under the reference, (q,)."""
        return _reference_features(self)

    def up_to(self, levels: int) -> Shifted:
        checked_levels(levels, self.whole.levels, "no more are at hand")
        return Shifted(self.whole, levels, self.origin, self.space)

    def wider(self, levels: int) -> Shifted | None:
        return self.up_to(levels) if levels <= self.whole.levels else None

    def features(self, x: AnyArray) -> AnyArray:
        return self._base.features(x)

    def sums(self, x: Array, weights: Array | None) -> Array:
        return self._base.sums(x, weights)

    @property
    def held_levels(self) -> int:
        return self._base.held_levels

    @property
    def held(self) -> int:
        return self._base.held

    def stack(self, x: Array, weights: Array, features: Array | None = None) -> MomentStack:
        return self._base.stack(x, weights, features)

    def expectations(self, moments: MomentStack, level: int) -> Array:
        return self._base.expectations(moments, level)

    @property
    def second_moment_levels(self) -> int:
        return self._base.second_moment_levels

    def coordinates(self, features: Array) -> Array | None:
        return self._base.coordinates(features)

    def stack_of_means(self, means: Array) -> MomentStack:
        return self._base.stack_of_means(means)

    def family(self, level: int) -> ShiftedFamily:
        return ShiftedFamily(self.whole, checked_level(level, self.levels), self.origin)

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        level = next(k for k in range(1, self.levels + 1) if self.q(k) == lam.shape[1])
        return self.whole.moments_of(self.family(level).absolute(lam), mean)

    def to_dict(self) -> dict[str, Any]:
        """What it is, for people: a reference is given again, not read again."""
        base = self._base.to_dict()
        return {"kind": "Shifted", "base": base, "reference": reference_words(self.space)}


@lru_cache(maxsize=16)
def _reference_features(shifted: Shifted) -> Array:
    origin, whole = shifted.origin, shifted.whole
    found = whole.family(origin.level).expectations(origin.lam[None], whole.up_to(shifted.levels))
    return np.asarray(found[0])
