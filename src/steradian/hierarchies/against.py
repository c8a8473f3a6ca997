"""Against(hierarchy, space): the same functions, relative to another law than the uniform one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from steradian.errors import InvalidArgument
from steradian.existence.squares import HasSquares, Roots
from steradian.families.nodes.family import AgainstFamily
from steradian.hierarchies.base import Hierarchy, LevelsAreDegrees
from steradian.hierarchies.basis import independent, orthonormal
from steradian.hierarchies.on_nodes import NodeHierarchy, checked_level
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.grown_polynomials import GrownPolynomials
from steradian.numerics.paths import Paths
from steradian.numerics.tolerances import BASIS_AGREED
from steradian.references.base import (
    HasHalfSpaces,
    Reference,
    ReferenceSpace,
    reference_space,
    reference_words,
)
from steradian.spaces import Rule

_MOST_NODES = 300_000  # of the rule under which functions are made orthonormal
_HEIGHTS, _POWERS = 5, 16  # by which rules are compared


@dataclass(frozen=True, slots=True, repr=False)
class Against(NodeHierarchy):
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
        if linear and isinstance(law, HasHalfSpaces):
            lower = self.base.roots(level - 1)
            found += [replace(r, free=side.edge) for side in law.half_spaces for r in lower]
        return found

    def paths(self, x: Array) -> Paths:
        assert isinstance(self.base, HasSquares)  # who has no roots is not asked
        return self.base.paths(x)

    def family(self, level: int) -> AgainstFamily:
        return AgainstFamily(self, checked_level(level, self.levels))

    def to_dict(self) -> dict[str, Any]:
        """What it is, for people: a reference is given again, not read again."""
        return {
            "kind": "Against",
            "base": self.base.to_dict(),
            "reference": reference_words(self.space),
        }


class _Basis(Protocol):
    """How orthonormal features are made."""

    @property
    def dims(self) -> tuple[int, ...]:
        """Those of each level that are independent where the reference is not zero."""
        ...

    def values(self, x: Array) -> Array:
        """At ``x`` (n, d): (n, q)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class _Changed:
    """Any functions, by a triangular matrix."""

    base: Hierarchy
    mean: Array  # (q,)
    change: Array  # (q, q): features = (base features - mean) @ change
    dims: tuple[int, ...]

    @classmethod
    def under(cls, base: Hierarchy, rule: Rule) -> _Changed:
        values = np.asarray(base.features(rule.points), dtype=np.float64)
        mean = rule.weights @ values
        scaled = np.sqrt(rule.weights)[:, None] * (values - mean)
        kept = independent(scaled, np.abs(values).max(axis=0))
        level = np.repeat(np.arange(base.levels), base.dims)[kept]
        dims = tuple(np.bincount(level, minlength=base.levels).tolist())
        whole = len(kept) == len(mean)
        return cls(base, mean, orthonormal(scaled) if whole else np.eye(len(mean)), dims)

    def values(self, x: Array) -> Array:
        return np.asarray((self.base.features(x) - self.mean) @ self.change)


@lru_cache(maxsize=64)
def _basis(against: Against) -> _Basis:
    """Levels that are degrees are grown as polynomials; others are changed by a matrix."""
    base = against.base
    if isinstance(base, LevelsAreDegrees):
        return _grown(against.space, base.dims)
    return _Changed.under(base, _measure(against.space))


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
