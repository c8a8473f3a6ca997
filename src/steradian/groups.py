"""What people hand over to be compared, as groups of rows or of sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import is_frame, shown
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.notation import Reading, pooled_reading
from steradian.data.source import as_source, first_levels, refuse_unfittable
from steradian.data.stacks import MomentStack, Support
from steradian.designs import Design
from steradian.designs.base import unit_labels, unit_names
from steradian.designs.registry import as_design, design_of_rows
from steradian.errors import InvalidArgument
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.contract import refuse_unproven
from steradian.hierarchies.registry import default_hierarchy
from steradian.inference.sample import GroupedRows
from steradian.io.frames import column
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.relative import relative_hierarchy
from steradian.text.messages import arguments

_FEW_GROUPS = 64  # whose rows are summed group by group
_STRETCH = 1.5  # by which the sizes of groups of one stack may differ
_ENTRIES = 4_000_000  # features of rows that are held at once
_EXAMINED_ROWS = 100_000  # above it only the moments decide about the boundary
_LEVELS = 2  # unless more are asked for: the mean, and shape beyond it


@dataclass(frozen=True, eq=False)
class Groups:
    """Named groups, as rows or as sums."""

    names: tuple[str, ...]
    rows: GroupedRows | None
    sums: tuple[Moments, ...]  # where there are no rows
    design: Design

    @cached_property
    def sizes(self) -> IntArray:
        """Rows of each group, (G,)."""
        if self.rows is None:
            return np.array([m.n for m in self.sums])
        return np.bincount(self.rows.labels, minlength=len(self.names))

    @cached_property
    def ess(self) -> Array:
        """Kish's effective size of each group, (G,)."""
        if self.rows is None:
            return np.array([m.ess for m in self.sums])
        if not self.rows.directions.weighted:
            return self.sizes.astype(np.float64)
        w, count = self.rows.directions.weights, len(self.names)
        squares = np.bincount(self.rows.labels, weights=w * w, minlength=count)
        return np.asarray(self.weights**2 / squares)

    @cached_property
    def weights(self) -> Array:
        """Weight of each group, (G,), up to a factor."""
        if self.rows is None:
            top = max(m.exponent for m in self.sums)
            return np.array([np.ldexp(m.weight, m.exponent - top) for m in self.sums])
        if not self.rows.directions.weighted:
            return self.sizes / self.rows.directions.n
        w, labels = self.rows.directions.weights, self.rows.labels
        return np.asarray(np.bincount(labels, weights=w, minlength=len(self.names)), dtype=float)

    @property
    def reading(self) -> Reading | None:
        """What was understood of the source of all rows; None where that was an array."""
        if self.rows is not None:
            return self.rows.directions.reading
        return pooled_reading(m.reading for m in self.sums)

    def hierarchy(
        self, levels: int | None, hierarchy: Hierarchy | None, reference: Any = None
    ) -> Hierarchy:
        """The features asked for, relative to a reference; by default two levels of the space."""
        plain = self._features(levels, hierarchy)
        if reference is None:
            return plain
        source = self.sums[0] if self.rows is None else self.rows.directions
        return relative_hierarchy(reference, source, None, plain) or plain

    def _features(self, levels: int | None, hierarchy: Hierarchy | None) -> Hierarchy:
        if self.rows is None:
            own = self.sums[0].hierarchy
            if hierarchy not in (None, own):
                raise InvalidArgument(f"these moments are of {own}, not {hierarchy}")
            return first_levels(own, levels)
        if hierarchy is not None:
            return first_levels(hierarchy, levels)
        space = self.rows.directions.space
        if levels is not None:
            return default_hierarchy(space, levels)
        whole = default_hierarchy(space)
        return whole.up_to(min(_LEVELS, whole.levels))

    def moments(self, hierarchy: Hierarchy) -> MomentStack:
        """Moments of all groups, a stack of G."""
        refuse_unproven(hierarchy)
        refuse_unfittable(hierarchy)
        if self.rows is None:
            parts = [m.up_to(hierarchy.levels).stack() for m in self.sums]
            return MomentStack.concatenated(parts)
        if len(self.names) <= _FEW_GROUPS:
            return MomentStack.concatenated([
                Moments.from_directions(self.directions(group), hierarchy).stack()
                for group in range(len(self.names))
            ])  # fmt: skip
        return self._moments_together(self.rows, hierarchy)

    def _moments_together(self, rows: GroupedRows, hierarchy: Hierarchy) -> MomentStack:
        """Of many groups: those of about the same size as one stack of samples.

        Shorter ones repeat their first row with weight zero.
        """
        Moments.from_directions(rows.directions.take(np.arange(1)), hierarchy)  # checks the space
        sizes, order = self.sizes, _sorting(rows.labels)
        first = np.cumsum(sizes) - sizes
        by_size = np.argsort(sizes, kind="stable")
        parts, at = [], 0
        while at < len(sizes):
            most = max(sizes[by_size[at]] * _STRETCH, sizes[by_size[at]] + 8)
            step = max(1, _ENTRIES // int(most * hierarchy.q(hierarchy.levels)))
            some = by_size[at : at + step]
            some = some[sizes[some] <= most]
            samples = _samples(rows.directions, order, first[some], sizes[some])
            samples[1][...] /= self.weights[some][:, None]
            parts.append(hierarchy.stack(*samples))
            at += len(some)
        return MomentStack.concatenated(parts).take(np.argsort(by_size, kind="stable"))

    def directions(self, group: int) -> Directions:
        """The rows of one group."""
        assert self.rows is not None
        return self.rows.directions.take(self.rows.of(group))

    def support(self) -> Support | None:
        """What lets rows be examined exactly, unless there are none or too many."""
        if self.rows is None or self.rows.directions.n > _EXAMINED_ROWS * len(self.names):
            return None
        return lambda group: self.directions(group).support()

    def some(self, kept: BoolArray) -> Groups:
        """Some of the groups."""
        if kept.all():
            return self
        names = tuple(name for name, keep in zip(self.names, kept, strict=True) if keep)
        sums = (
            tuple(m for m, keep in zip(self.sums, kept, strict=True) if keep) if self.sums else ()
        )
        if self.rows is None:
            return Groups(names, None, sums, self.design)
        mask = kept[self.rows.labels]
        codes = np.cumsum(kept) - 1
        some = self.rows.directions.take(mask).with_reading(self.reading)  # of all that was read
        rows = GroupedRows(some, codes[self.rows.labels[mask]])
        return Groups(names, rows, (), self.design.of_rows(mask))


def _sorting(labels: IntArray) -> IntArray | None:
    """What sorts rows by their group; None where they are."""
    if (labels[1:] >= labels[:-1]).all():
        return None
    few = labels.max() <= np.iinfo(np.uint16).max  # numbers so short are sorted by their digits
    return np.argsort(labels.astype(np.uint16) if few else labels, kind="stable")


def _samples(
    directions: Directions, order: IntArray | None, first: IntArray, sizes: IntArray
) -> tuple[Array, Array]:
    """Groups of rows as a stack: points (B, n, d), and weights (B, n) that are zero beyond a group.

    ``first`` (B,) is where each begins among all rows in their ``order``.
    """
    x, w, longest = directions.x, directions.weights, int(sizes.max())
    begin, end = int(first[0]), int(first[-1] + sizes[-1])
    if order is None and end - begin == longest * len(sizes) and (sizes == longest).all():
        shape = len(sizes), longest
        return x[begin:end].reshape(*shape, -1), w[begin:end].reshape(shape).copy()
    columns = np.arange(longest)
    there = columns < sizes[:, None]
    places = first[:, None] + np.where(there, columns, 0)
    places = places if order is None else order[places]
    return x.take(places, axis=0), np.where(there, w.take(places), 0.0)


def as_groups(
    data: Any,
    by: ArrayLike | str | None,
    weights: ArrayLike | str | None,
    design: Design | str | None,
) -> Groups:
    """Groups from rows with a label each, from a mapping, or from a list of moments."""
    if by is not None:
        return _labelled(data, by, weights, design)
    if isinstance(data, Mapping) and not is_frame(data):
        named = {str(name): part for name, part in data.items()}
    elif isinstance(data, Sequence) and all(isinstance(m, Moments | Directions) for m in data):
        named = {str(k): part for k, part in enumerate(data, 1)}
    else:
        raise InvalidArgument(
            "data is {data}; give rows with {by} (a label for each, or the name of a column), or a "
            "mapping from names to groups",
            data=shown(data), by=arguments(by=...),
        )  # fmt: skip
    if not named:
        raise InvalidArgument("there are no groups; give at least two")
    if weights is not None:
        raise InvalidArgument(
            "{weights} is for rows with {by}; groups of a mapping carry their own",
            weights=arguments(weights=...), by=arguments(by=...),
        )  # fmt: skip
    sources = [as_source(part, None) for part in named.values()]
    return _together(tuple(named), sources, design)


def _labelled(
    data: Any, by: ArrayLike | str, weights: ArrayLike | str | None, design: Design | str | None
) -> Groups:
    source = as_source(data, weights)
    if isinstance(source, Moments):
        raise InvalidArgument("moments have no rows to label; give a mapping from names to moments")
    ids: Any = by
    if isinstance(by, str):
        if not is_frame(data):
            raise InvalidArgument(
                f"by={by!r} names a column, but data is not a frame; pass the labels themselves: "
                f"by=table[{by!r}].to_numpy()[directions.rows] for directions read from a table"
            )
        ids = column(data, by)
    _refuse_left_out(source, ids)
    labels = unit_labels(ids, source.n, "group")
    names = tuple(str(name) for name in unit_names(ids, labels))
    return Groups(names, GroupedRows(source, labels), (), design_of_rows(design, data, source))


def _refuse_left_out(source: Directions, ids: Any) -> None:
    """Refuse labels of all rows of a table of which some were left out."""
    skipped = 0 if source.reading is None else source.reading.skipped
    if skipped and np.shape(ids) != (source.n,) and np.ndim(ids) == 1:
        raise InvalidArgument(
            f"by has {len(ids)} labels for {source.n} rows: {skipped} of the table were left out; "
            "pass those of the others, by=labels[directions.rows], from an array of labels"
        )


def _together(
    names: tuple[str, ...], sources: list[Directions | Moments], design: Design | str | None
) -> Groups:
    if any(isinstance(source, Moments) for source in sources):
        return _of_sums(names, sources, design)
    rows = [source for source in sources if isinstance(source, Directions)]
    spaces = {source.space for source in rows}
    if len(spaces) > 1:
        found = " and ".join(sorted(f"the {space.name}" for space in spaces))
        raise InvalidArgument(f"the groups live on {found}; compare points of one space")
    x = np.concatenate([source.x for source in rows])
    weighted = any(source.weighted for source in rows)
    weights = np.concatenate([_raw(source) for source in rows]) if weighted else None
    reading = pooled_reading(one.reading for one in rows)
    whole = Directions(x, weights, space=rows[0].space).with_reading(reading)
    labels = np.repeat(np.arange(len(rows)), [source.n for source in rows])
    plan = as_design(design, weighted=weighted)
    if design is not None:
        plan.check(whole)
    return Groups(names, GroupedRows(whole, labels), (), plan)


def _raw(source: Directions) -> Array:
    """Weights with the scale they were given."""
    raw = np.concatenate([w for _, w in source.blocks()])
    return np.asarray(np.ldexp(raw, source.weight_exponent))


def _of_sums(
    names: tuple[str, ...], sources: list[Directions | Moments], design: Design | str | None
) -> Groups:
    known = next(source for source in sources if isinstance(source, Moments))
    sums = tuple(
        Moments.from_directions(source, known.hierarchy)
        if isinstance(source, Directions)
        else source
        for source in sources
    )
    for name, moments in zip(names, sums, strict=True):
        if moments.hierarchy != known.hierarchy:
            raise InvalidArgument(
                f"group {name} has moments of {moments.hierarchy}, another of {known.hierarchy}; "
                "make them with one hierarchy"
            )
    weighted = any(m.ess < m.n * (1.0 - 1e-9) for m in sums)
    plan = as_design(design, weighted=weighted)
    if design is not None:
        plan.check_sums(weighted=weighted)
    return Groups(names, None, sums, plan)
