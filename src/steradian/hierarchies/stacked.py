"""Stacked(parts): the levels of one hierarchy, and then what those of others add to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from steradian.arguments import shown
from steradian.contract import is_object_of
from steradian.data.stacks import MomentStack
from steradian.errors import InvalidArgument
from steradian.families.base import Family
from steradian.families.lower import LowerFamily
from steradian.families.nodes.family import NodeFamily
from steradian.families.quadratics.skewed import SkewedQuadraticFamily
from steradian.hierarchies.base import Hierarchy, checked_level, checked_levels
from steradian.hierarchies.basis import OrthonormalBasis, measure
from steradian.hierarchies.quadratics import Quadratics
from steradian.hierarchies.zonal import Zonal
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.fisher_bingham.about_axis import AxisLaw
from steradian.spaces import Space

_MOST_DIMENSIONS = 128
_GRIDDED = 3  # dimensions up to which rules of a few thousand nodes are exact


@dataclass(frozen=True, slots=True)
class Stacked(Hierarchy):
    """The levels of the first part, then those of each further part that add anything to them.

    What a level of a further part has in common with the levels before is taken off, and what is
    left is made orthonormal, so that gaps add up over all parts; levels that add nothing are left
    out. The levels of the first part are fitted as they are without the others, the further ones
    on the rules of the space. Above the two-sphere `Quadratics` that end with all of them may be
    followed by `Zonal`, by an exact integral over the height along its axis.

    Parameters
    ----------
    parts : sequence of hierarchies
        Two or more on one space that has rules (the circle, the two-sphere, tori of a few angles,
        axes of up to four dimensions, rotations); in R^d up to d = 128 `Quadratics` and a `Zonal`.

    Examples
    --------
    Mean, squares, all quadratics, and then skewness along one axis:

    >>> import steradian as sr
    >>> h = sr.Stacked([sr.Quadratics(3, [(0, 1, 2), (0, 0, 0)]), sr.Zonal([0, 0, 1], 3)])
    >>> h.dims
    (3, 2, 3, 1)
    >>> h.level_names[-1]
    'degree 3 about the axis'
    """

    parts: tuple[Hierarchy, ...]

    def __init__(self, parts: Sequence[Hierarchy]) -> None:
        object.__setattr__(self, "parts", _checked(parts))
        if self.levels == self.parts[0].levels:
            raise InvalidArgument(f"{self.parts[1]} adds nothing to {self.parts[0]}; leave it out")

    @property
    def first(self) -> Hierarchy:
        """The first part, whose levels are the lowest."""
        return self.parts[0]

    @property
    def on_nodes(self) -> bool:
        """Whether rules of the space integrate; else the law is known given the height."""
        return not _known_by_height(self.parts)

    @property
    def space(self) -> Space:
        return self.first.space

    @property
    def levels(self) -> int:
        return len(self.dims)

    @property
    def dims(self) -> tuple[int, ...]:
        return (*self.first.dims, *(len(each.kept) for each in _added(self)))

    @property
    def level_names(self) -> tuple[str, ...]:
        further = (self.parts[each.part].level_names[each.level - 1] for each in _added(self))
        return (*self.first.level_names, *further)

    @property
    def enough(self) -> str:
        return self.first.enough

    def up_to(self, levels: int) -> Hierarchy:
        checked_levels(levels, self.levels, "no more are stacked")
        if levels == self.levels:
            return self
        if levels <= self.first.levels:
            return self.first.up_to(levels)
        last = _added(self)[levels - self.first.levels - 1]
        return Stacked([*self.parts[: last.part], self.parts[last.part].up_to(last.level)])

    def wider(self, levels: int) -> Hierarchy | None:
        """With more levels of the last part, where it has them."""
        if levels <= self.levels:
            return self.up_to(levels)
        last = self.parts[-1]
        more = last.wider(last.levels + levels - self.levels)
        found = None if more is None else Stacked([*self.parts[:-1], more])
        return found if found is not None and found.levels == levels else None

    def features(self, x: AnyArray) -> AnyArray:
        if not self.on_nodes:  # orthonormal as they are
            columns = [each.level - 1 for each in _added(self)]
            return np.hstack([self.first.features(x), self.parts[1].features(x)[:, columns]])
        values, own = self.values(x), self.first.q(self.first.levels)
        return np.hstack([values[:, :own], _basis(self).features(values, own)])

    def values(self, x: AnyArray) -> AnyArray:
        """The features of all parts at ``x`` (n, d), side by side."""
        return np.hstack([np.asarray(part.features(x)) for part in self.parts])

    def coordinates(self, features: Array) -> Array | None:
        return self.first.coordinates(features)

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        if self.on_nodes:
            return Hierarchy.moments_of(self, lam, mean)
        family = self._skewed(self.levels)
        laws = [family.resolved(row) for row in lam]
        scatter = np.empty((len(lam), self.space.d, self.space.d))
        for row, law in enumerate(laws):
            cross = np.outer(law.moments()[0], mean[row])
            scatter[row] = law.moments()[1] - cross - cross.T + np.outer(mean[row], mean[row])
        features = np.array([self.of_axis_law(family, law) for law in laws])
        return MomentStack(features.reshape(len(lam), -1), mean, scatter)

    def of_axis_law(self, family: SkewedQuadraticFamily, law: AxisLaw) -> Array:
        """E φ of one law of ``family``, (q,)."""
        return family.means(law, cast("Zonal", self.parts[1]))

    def _skewed(self, level: int) -> SkewedQuadraticFamily:
        zonal = self.parts[1].up_to(level - self.first.levels + 2)
        return SkewedQuadraticFamily(cast("Quadratics", self.first), cast("Zonal", zonal))

    def stack_of_means(self, means: Array) -> MomentStack:
        lower = self.first.stack_of_means(means[:, : self.first.q(self.first.levels)])
        return MomentStack(means, lower.mean, lower.scatter)

    def family(self, level: int) -> Family:
        if checked_level(level, self.levels) > self.first.levels:
            return NodeFamily(self, level) if self.on_nodes else self._skewed(level)
        further = NodeFamily(self, level) if self.on_nodes else self._skewed(self.levels)
        return cast("Family", LowerFamily(self.first.family(level), further))

    @property
    def built_of(self) -> tuple[Any, ...]:
        return self.parts

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "Stacked", "parts": [part.to_dict() for part in self.parts]}


@dataclass(frozen=True, slots=True, eq=False)
class _Added:
    """One level beyond those of the first part: where it is from, and its columns of all."""

    part: int
    level: int
    kept: AnyArray


def _checked(parts: Any) -> tuple[Hierarchy, ...]:
    if not isinstance(parts, Sequence) or len(parts) < 2:
        raise InvalidArgument(f"parts is {shown(parts)}; give a list of two hierarchies or more")
    flat: list[Hierarchy] = []
    for part in parts:
        if not is_object_of(part, Hierarchy):
            raise InvalidArgument(f"{shown(part)} is no hierarchy; give objects like sr.Zonal")
        flat += part.parts if isinstance(part, Stacked) else [part]
    space = flat[0].space
    for part in flat[1:]:
        if part.space != space:
            raise InvalidArgument(
                f"{part} is on the {part.space.name}, not on the {space.name} of {flat[0]}; stack "
                "hierarchies of one space"
            )
    if not space.rules():
        _refuse_without_rules(flat)
    return tuple(flat)


def _known_by_height(parts: Sequence[Hierarchy]) -> bool:
    """Whether they are all quadratics and then one axis, above what few nodes integrate exactly."""
    first, d = parts[0], parts[0].space.d
    known = isinstance(first, Quadratics) and first.partitions[-1:] == ((0,) * d,)
    return known and d > _GRIDDED and len(parts) == 2 and isinstance(parts[1], Zonal)


def _refuse_without_rules(parts: list[Hierarchy]) -> None:
    """Where nothing else integrates."""
    first, d = parts[0], parts[0].space.d
    if not _known_by_height(parts):
        raise InvalidArgument(
            f"on the {first.space.name}, which has no rule of nodes, only sr.Quadratics that end "
            "with all coordinates in one group and one sr.Zonal are stacked"
        )
    if d > _MOST_DIMENSIONS:
        raise InvalidArgument(f"d is {d}; in more than {_MOST_DIMENSIONS} nothing is stacked")


@lru_cache(maxsize=64)
def _basis(stacked: Stacked) -> OrthonormalBasis:
    points, weights, _ = measure(stacked.space)
    return OrthonormalBasis.under(stacked.values(points), weights)


@lru_cache(maxsize=64)
def _added(stacked: Stacked) -> tuple[_Added, ...]:
    """The levels of further parts that add anything."""
    if not stacked.on_nodes:  # of one axis all degrees that quadratics have not
        return tuple(_Added(1, k, np.array([k])) for k in range(3, stacked.parts[1].levels + 1))
    kept, first, out = _basis(stacked).kept, 0, []
    for number, part in enumerate(stacked.parts):
        for level in range(1, part.levels + 1):
            last = first + part.dims[level - 1]
            mine = kept[(kept >= first) & (kept < last)]
            if number and len(mine):
                out.append(_Added(number, level, mine))
            first = last
    return tuple(out)
