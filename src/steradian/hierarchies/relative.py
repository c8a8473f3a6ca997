"""Levels of a hierarchy relative to another law than the uniform one.

`Against` any reference, with the same functions made orthonormal under it; `Shifted` where the
reference is itself a law of these features, whose fits are then those of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.errors import InvalidArgument
from steradian.existence.squares import HasSquares, Roots
from steradian.families.nodes.family import AgainstFamily
from steradian.families.relative.shifted import Origin, ShiftedFamily
from steradian.hierarchies.base import Hierarchy, checked_level, checked_levels
from steradian.hierarchies.basis import OrthonormalBasis
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.grown_polynomials import GrownPolynomials
from steradian.numerics.paths import Paths
from steradian.numerics.tolerances import BASIS_AGREED
from steradian.references.base import (
    Reference,
    ReferenceSpace,
    reference_space,
    reference_words,
)
from steradian.spaces import Rule

_MOST_NODES = 300_000  # of the rule under which functions are made orthonormal
_HEIGHTS, _POWERS = 5, 16  # by which rules are compared


@dataclass(frozen=True, slots=True, repr=False)
class Against(Hierarchy):
    """The levels of ``base``, with ν₀ = p₀ ν of ``space`` in the place of the uniform law ν.

    Fits are p_L ∝ p₀ exp(λ·φ) and deficits KL(p_L ‖ p₀). Functions are those of ``base``, centred
    and made orthonormal under p₀, each after those before, so that levels hold the same functions
    as before: a cap of 30° would leave the harmonics of four levels a condition of 10⁹.
    """

    base: Hierarchy
    space: ReferenceSpace

    @classmethod
    def of(cls, base: Hierarchy, reference: Reference) -> Against:
        """Relative to ``reference`` on the space of ``base``."""
        found = cls(base, reference_space(base.space, reference))
        short = [k for k, dim in enumerate(_basis(found).dims) if dim < base.dims[k]]
        if short:
            raise InvalidArgument(
                f"level {short[0] + 1} of {base!r} adds {base.dims[short[0]]} functions, and only "
                f"{_basis(found).dims[short[0]]} of them can be told apart where {reference.words} "
                f"is not zero; {'ask for fewer levels' if short[0] else 'give a wider reference'}"
            )
        return found

    def __repr__(self) -> str:
        return f"{self.base!r} relative to {reference_words(self.space)}"

    @property
    def levels(self) -> int:
        return self.base.levels

    @property
    def dims(self) -> tuple[int, ...]:
        return self.base.dims

    @property
    def level_names(self) -> tuple[str, ...]:
        return self.base.level_names

    def up_to(self, levels: int) -> Against:
        return Against(self.base.up_to(levels), self.space)

    def wider(self, levels: int) -> Against | None:
        wide = self.base.wider(levels)
        if wide is None:
            return None
        found = Against(wide, self.space)
        return found if _basis(found).dims == wide.dims else None

    def coordinates(self, features: Array) -> Array | None:
        """E x from E φ, where levels are polynomials: those of the first are linear."""
        basis = _basis(self)
        if not isinstance(basis, GrownPolynomials) or len(basis.linear) != self.space.d:
            return None
        return np.asarray(basis.mean + features[..., : self.space.d] @ basis.linear)

    def features(self, x: AnyArray) -> AnyArray:
        return _basis(self).values(np.asarray(x, dtype=np.float64))

    def roots(self, level: int) -> Sequence[Roots]:
        """Those of the base: levels hold the same functions, and squares are so on any part.

        Where the reference lies on one side of a plane, its distance from that is nowhere negative
        there, and may take the place of a degree.
        """
        if not isinstance(self.base, HasSquares):
            return ()
        found, law = list(self.base.roots(level)), self.space.reference
        linear = self.base.coordinates(np.zeros(self.base.q(1))) is not None
        if linear:
            lower = self.base.roots(level - 1)
            found += [replace(r, free=side.edge) for side in law.half_spaces for r in lower]
        return found

    def paths(self, x: Array) -> Paths:
        assert isinstance(self.base, HasSquares)  # who has no roots is not asked
        return self.base.paths(x)

    def family(self, level: int) -> AgainstFamily:
        return AgainstFamily(self, checked_level(level, self.levels))

    @property
    def built_of(self) -> tuple[Any, ...]:
        return (self.base,)

    def to_dict(self) -> dict[str, Any]:
        """What it is, for people: a reference is given again, not read again."""
        return {
            "kind": "Against",
            "base": self.base.to_dict(),
            "reference": reference_words(self.space),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Shifted(Hierarchy):
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

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        family = self.family(self.level_of(lam.shape[1]))
        return self.whole.moments_of(family.absolute(lam), mean)

    def family(self, level: int) -> ShiftedFamily:
        return ShiftedFamily(self.whole, checked_level(level, self.levels), self.origin)

    @property
    def built_of(self) -> tuple[Any, ...]:
        return (self.whole,)

    def to_dict(self) -> dict[str, Any]:
        """What it is, for people: a reference is given again, not read again."""
        base = self._base.to_dict()
        return {"kind": "Shifted", "base": base, "reference": reference_words(self.space)}


@dataclass(frozen=True, slots=True, eq=False)
class _Changed:
    """Any functions, by a triangular matrix."""

    base: Hierarchy
    made: OrthonormalBasis

    @property
    def dims(self) -> tuple[int, ...]:
        """Those of each level that are independent where the reference is not zero."""
        level = np.repeat(np.arange(1, self.base.levels + 1), self.base.dims)
        return self.made.dims(level, self.base.levels)

    def values(self, x: Array) -> Array:
        return np.asarray(self.made.features(self.base.features(x)))


@lru_cache(maxsize=64)
def _basis(against: Against) -> GrownPolynomials | _Changed:
    """Levels that are degrees are grown as polynomials; others are changed by a matrix."""
    base = against.base
    if base.counts_degrees:
        return _grown(against.space, base.dims)
    rule = _measure(against.space)
    values = np.asarray(base.features(rule.points), dtype=np.float64)
    return _Changed(base, OrthonormalBasis.under(values, rule.weights))


@lru_cache(maxsize=64)
def _grown(space: ReferenceSpace, dims: tuple[int, ...]) -> GrownPolynomials:
    """Each degree from those below, which are grown once."""
    if not dims:
        rule = _measure(space)
        return GrownPolynomials.seed(rule.points, rule.weights)
    return _grown(space, dims[:-1]).grown(dims[-1])


@lru_cache(maxsize=64)
def _measure(space: ReferenceSpace) -> Rule:
    """The first rule that agrees with the one before about powers of a few heights.

    It does not depend on how many levels are asked for, so that those of fewer are the same.
    """
    along = np.random.default_rng(0).standard_normal((space.d, _HEIGHTS)) / np.sqrt(space.d)
    rule = space.rule(0)
    before = _powers(rule, along)
    for rung in range(1, space.rules()):
        finer = space.rule(rung)
        if len(finer.weights) > _MOST_NODES:
            break
        rule, found = finer, _powers(finer, along)
        if np.abs(found - before).max() <= BASIS_AGREED:
            break
        before = found
    return rule


def _powers(rule: Rule, along: Array) -> Array:
    """Mean powers 1..K of the heights of the nodes along some axes (d, k)."""
    heights = rule.points @ along
    power, found = np.ones_like(heights), []
    for _ in range(_POWERS):
        power = power * heights
        found.append(rule.weights @ power)
    return np.concatenate(found)


@lru_cache(maxsize=16)
def _reference_features(shifted: Shifted) -> Array:
    origin, whole = shifted.origin, shifted.whole
    found = whole.family(origin.level).expectations(origin.lam[None], whole.up_to(shifted.levels))
    return np.asarray(found[0])
