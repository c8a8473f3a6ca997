"""Quadratics(d, partitions), Diagonal(d), Blocks(sizes): some of the quadratics, in any dimension.

Level 1 is von Mises-Fisher; each further level adds the products of coordinates that share a group,
with ever larger groups: squares alone, blocks, everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from steradian.arguments import shown, whole_number
from steradian.data.stacks import MomentStack
from steradian.errors import InvalidArgument
from steradian.families.base import Family
from steradian.families.quadratics.blocks import MULTIPLIED, BlockFamily, LinearFamily
from steradian.hierarchies.base import Hierarchy, checked_level, checked_levels
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.numerics.fisher_bingham.partition import Partition
from steradian.numerics.quadratics import (
    Pairs,
    contrasts,
    features_to_matrix,
    matrix_to_features,
    quadratic_features,
)
from steradian.spaces import HarmonicSpace, unit_sphere
from steradian.spaces.quadratic import coordinates, linear_axes, linear_features

MOST_DIMENSIONS = 1 << 12
_MOST_FEATURES = 200_000  # whose sums are held


@dataclass(frozen=True, slots=True)
class Quadratics(Hierarchy):
    """Level 1 adds x, level 2 squares and the products within groups, further ones larger groups.

    Every level is fitted exactly in any dimension, by a contour integral. Gaps depend on the axes
    that the coordinates are counted along: a rotation of the data changes them, unless it mixes
    no groups.

    Parameters
    ----------
    d : int
        Ambient dimension.
    partitions : sequence of sequences of int
        For each level above the first the group of each coordinate; each must join groups of the
        one before.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Quadratics(4, [(0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0)]).dims
    (4, 3, 2, 4)
    """

    d: int
    partitions: tuple[tuple[int, ...], ...]

    def __init__(self, d: int, partitions: Sequence[Sequence[int]]) -> None:
        if whole_number(d, "d") < 2:
            raise InvalidArgument(f"d is {d}; directions need at least two dimensions")
        if d > MOST_DIMENSIONS:
            raise InvalidArgument(f"d is {d}; at most {MOST_DIMENSIONS} are possible")
        object.__setattr__(self, "d", d)
        object.__setattr__(self, "partitions", _checked(d, partitions))
        if sum(self.dims) > _MOST_FEATURES:
            raise InvalidArgument(
                f"{sum(self.dims)} features; at most {_MOST_FEATURES} are held: take smaller "
                "groups, or sr.Harmonics(d, 2) for all quadratics"
            )

    @property
    def space(self) -> HarmonicSpace:
        return unit_sphere(self.d)

    @property
    def levels(self) -> int:
        return 1 + len(self.partitions)

    @property
    def dims(self) -> tuple[int, ...]:
        added = [len(pairs[0]) for pairs in _added_pairs(self.partitions)]
        squares = [self.d - 1, *[0] * len(added)]
        return (self.d, *(new + more for new, more in zip(added, squares, strict=False)))

    @property
    def level_names(self) -> tuple[str, ...]:
        return ("mean direction", *(_name(labels) for labels in self.partitions))

    @property
    def enough(self) -> str:
        return "at least two different directions"

    def up_to(self, levels: int) -> Quadratics:
        checked_levels(levels, self.levels, f"{self!r} has no more")
        if levels == self.levels:
            return self
        return Quadratics(self.d, self.partitions[: levels - 1])

    def wider(self, levels: int) -> Quadratics | None:
        """With all quadratics as one more level, where they are not too many."""
        if levels <= self.levels:
            return self.up_to(levels)
        everything = (0,) * self.d
        many = self.d * (self.d + 3) // 2 > MULTIPLIED
        if levels > self.levels + 1 or many or everything in self.partitions:
            return None
        return Quadratics(self.d, (*self.partitions, everything))

    def partition(self, level: int) -> Partition:
        """What the quadratics of a level above the first mix."""
        return _partition(self.partitions[level - 2])

    # --- features -------------------------------------------------------------------------

    def features(self, x: AnyArray) -> AnyArray:
        linear = self.space.harmonics(x, 1)[:, 1:]
        if not self.partitions:
            return linear
        return np.hstack([linear, quadratic_features(x, self._pairs(self.levels))])

    def _pairs(self, level: int) -> Pairs:
        """Products of levels 2..level, in the order of the features."""
        return _pairs_up_to(self.partitions[: level - 1])

    def monomials(self, level: int) -> Pairs:
        """All squares, then the products of levels 2..level."""
        rows, columns = self._pairs(level)
        each = np.arange(self.d)
        return np.concatenate([each, rows]), np.concatenate([each, columns])

    def of_monomials(self, level: int) -> Array:
        """The features of levels 1..level from x and its `monomials`, (q, d + d + p)."""
        d, norm = self.d, np.sqrt(self.d * (self.d + 2.0))
        out = np.zeros((self.q(level), 2 * d + len(self._pairs(level)[0])))
        out[:d, :d] = linear_features(d).T
        out[d : 2 * d - 1, d : 2 * d] = norm / np.sqrt(2.0) * contrasts(np.eye(d)).T
        rest = np.arange(2 * d - 1, len(out))
        out[rest, rest + 1] = norm
        return out

    def natural(self, lam: Array) -> tuple[Array, Array]:
        """η (…, d) and B (…, d, d) of parameters (…, q) of level 1 or more."""
        eta = lam[..., : self.d] @ linear_features(self.d).T
        if lam.shape[-1] == self.d:
            return eta, np.zeros((*lam.shape, self.d))
        rows, columns = self._pairs(self.levels)
        some = lam.shape[-1] - 2 * self.d + 1
        return eta, features_to_matrix(lam[..., self.d :], self.d, (rows[:some], columns[:some]))

    def parameters(self, eta: Array, quadratic: Array) -> Array:
        """The inverse of `natural` for all levels."""
        linear = eta @ linear_features(self.d) / self.d
        forms = matrix_to_features(quadratic, self._pairs(self.levels))
        return np.concatenate([linear, forms], axis=-1)

    def of_second(self, mean: Array, second: Array) -> Array:
        """E φ (…, q) from E x (…, d) and E xxᵀ (…, d, d)."""
        linear = mean @ linear_features(self.d)
        if not self.partitions:
            return np.asarray(linear)
        forms = matrix_to_features(second, self._pairs(self.levels))
        return np.concatenate([linear, 0.5 * self.d * (self.d + 2.0) * forms], axis=-1)

    # --- moments --------------------------------------------------------------------------

    def expectations(self, moments: MomentStack, level: int) -> Array:
        """From the features that are held, or where there are none from E x and E xxᵀ."""
        q = self.q(level)
        if moments.features.shape[1] >= q:
            return moments.features[:, :q]
        both = zip(moments.mean, moments.scatter, strict=True)
        found = [self.of_second(mean, scatter + np.outer(mean, mean))[:q] for mean, scatter in both]
        return np.array(found).reshape(-1, q)

    def stack_of_means(self, means: Array) -> MomentStack:
        """Products that no level looks at are taken for uncorrelated."""
        mean = self.coordinates(means)
        scatter = []
        for row, centre in zip(means, mean, strict=True):
            _, form = self.natural(row)
            second = 2.0 * form / (self.d * (self.d + 2.0)) + np.eye(self.d) / self.d
            scatter.append(self.partition(self.levels).masked(second - np.outer(centre, centre)))
        return MomentStack(means, mean, np.array(scatter).reshape(-1, self.d, self.d))

    def coordinates(self, features: Array) -> Array:
        return coordinates(self.d, features)

    @property
    def second_moment_levels(self) -> int:
        return self.levels

    # --- laws -----------------------------------------------------------------------------

    def family(self, level: int) -> Family:
        if checked_level(level, self.levels) > 1:
            return BlockFamily(self, level)
        return LinearFamily(self.d, linear_axes(self.d))

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        features = self.family(self.level_of(lam.shape[1])).expectations(lam, self)
        laws = [FisherBinghamLaw.of(*self.natural(row)) for row in lam]
        scatter = np.array([law.covariance() for law in laws]).reshape(-1, self.d, self.d)
        return MomentStack(features, mean, scatter)


@dataclass(frozen=True, slots=True)
class Diagonal(Quadratics):
    """Level 1 is the mean direction, level 2 the squares of the coordinates.

    The information that the spread of single coordinates holds beyond the mean: d - 1 numbers where
    all quadratics are d (d + 1) / 2 - 1. Raw coordinates of embeddings mix what belongs together:
    see `Quadratics` for groups, and turn the rows onto axes that mean something.

    Parameters
    ----------
    d : int
        Ambient dimension.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Diagonal(768).dims
    (768, 767)
    """

    def __init__(self, d: int) -> None:
        Quadratics.__init__(self, d, [range(whole_number(d, "d", least=1))])

    def __repr__(self) -> str:
        return f"Diagonal(d={self.d})"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "Diagonal", "d": self.d}


@dataclass(frozen=True, slots=True)
class Blocks(Quadratics):
    """Level 1 is the mean direction, level 2 all quadratics within blocks of coordinates.

    Parameters
    ----------
    sizes : sequence of int
        How many coordinates, one after the other, each block has; they add up to the dimension.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Blocks([2, 3]).dims
    (5, 8)
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        if not _is_list(sizes) or not len(sizes):
            raise InvalidArgument(f"sizes is {shown(sizes)}; give the size of each block")
        each = [whole_number(size, "sizes", least=1) for size in sizes]
        if sum(each) > MOST_DIMENSIONS:
            raise InvalidArgument(
                f"sizes add up to {sum(each)}; at most {MOST_DIMENSIONS} dimensions are possible"
            )
        labels = tuple(k for k, size in enumerate(each) for _ in range(size))
        Quadratics.__init__(self, len(labels), [labels])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Coordinates of each block."""
        return tuple(np.bincount(self.partitions[0]).tolist())

    def __repr__(self) -> str:
        return f"Blocks(sizes={list(self.sizes)})"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "Blocks", "sizes": list(self.sizes)}


def _checked(d: int, partitions: Any) -> tuple[tuple[int, ...], ...]:
    """The groups of every level, counted from zero as they appear, each of which joins others."""
    if not _is_list(partitions):
        raise InvalidArgument(f"partitions is {shown(partitions)}; give the groups of each level")
    out: list[tuple[int, ...]] = []
    for level, labels in enumerate(partitions, 2):
        if not _is_list(labels):
            raise InvalidArgument(f"level {level}: {shown(labels)} are no groups of coordinates")
        if len(labels) != d:
            raise InvalidArgument(f"level {level} has {len(labels)} coordinates in groups, not {d}")
        first: dict[int, int] = {}
        found = tuple(
            first.setdefault(whole_number(label, f"a group of level {level}"), len(first))
            for label in labels
        )
        joins = not out or len(set(zip(out[-1], found, strict=True))) == len(set(out[-1]))
        if not joins or (out and found == out[-1]):
            raise InvalidArgument(
                f"level {level} does not join groups of the level before: levels must grow"
            )
        out.append(found)
    return tuple(out)


def _is_list(values: Any) -> bool:
    listed = isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes)
    return listed and np.ndim(values) > 0 if isinstance(values, np.ndarray) else listed


def _name(labels: tuple[int, ...]) -> str:
    groups = len(set(labels))
    if groups == len(labels):
        return "squares of the coordinates"
    return "axis or girdle" if groups == 1 else "axes within blocks"


@cache
def _partition(labels: tuple[int, ...]) -> Partition:
    return Partition.of(labels)


@cache
def _added_pairs(partitions: tuple[tuple[int, ...], ...]) -> tuple[Pairs, ...]:
    """The pairs i < j of coordinates that each level is the first to have in one group."""
    out, known = [], None
    for labels in partitions:
        each = np.array(labels)
        together = np.triu(each[:, None] == each, 1)
        new = together if known is None else together & ~known
        out.append(np.nonzero(new))
        known = together
    return tuple((rows, columns) for rows, columns in out)


@cache
def _pairs_up_to(partitions: tuple[tuple[int, ...], ...]) -> Pairs:
    added = _added_pairs(partitions)
    none = np.zeros(0, dtype=np.int64)
    rows, columns = (np.concatenate([none, *(pairs[k] for pairs in added)]) for k in (0, 1))
    return rows, columns
