"""GroupedSample: what inference needs to know about several groups that are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.designs import Design
from steradian.designs.units import Units
from steradian.errors import DesignError
from steradian.families.whitening import inverse_roots
from steradian.fitting.label_levels import LabelLevels, forms_covariances
from steradian.fitting.nested import NestedFits
from steradian.fitting.solution import NO_RUNG
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import DRAWN_QUADRATURE
from steradian.significance.sample import Sample
from steradian.text.audience import Advice

_MOST_KEPT = 30_000_000  # features of rows that are held at once: 240 MB


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """The rows of all groups together, and the group of each."""

    directions: Directions
    labels: IntArray  # (n,) in 0..G-1

    def of(self, group: int) -> IntArray:
        """Where the rows of a group stand."""
        return np.flatnonzero(self.labels == group)


@dataclass(frozen=True, eq=False)
class GroupedSample:
    """Groups with their fits, how they came about, and their rows when they are at hand."""

    names: tuple[str, ...]
    levels: LabelLevels
    groups: NestedFits  # a stack of G
    whole: NestedFits  # of one
    sizes: IntArray  # (G,) rows
    ess: Array  # (G,) Kish
    design: Design
    rows: GroupedRows | None
    sums: tuple[Moments, ...]  # of the groups, where there are no rows

    @property
    def hierarchy(self) -> Hierarchy:
        """The nested features."""
        return self.levels.hierarchy

    @property
    def shares(self) -> Array:
        """π, (G,)."""
        return self.levels.shares

    @property
    def count(self) -> int:
        """Number of groups."""
        return len(self.names)

    @property
    def forms(self) -> bool:
        """Whether covariances of all features are formed."""
        return forms_covariances(self.hierarchy)

    @property
    def draws_quickly(self) -> bool:
        """Whether samples of shared fits are drawn and fitted again by the hundred."""
        return self.hierarchy.family(self.hierarchy.levels).forms_matrices

    @property
    def has_units(self) -> bool:
        """Whether rows are at hand and the design speaks of them."""
        return self.rows is not None and self.design.has_units

    @property
    def rung(self) -> int:
        """Of the ladder of rules, that served the sharpest fit; `NO_RUNG` where one had none."""
        rungs = np.concatenate([self.groups.solutions[-1].rungs, self.whole.solutions[-1].rungs])
        return NO_RUNG if (rungs == NO_RUNG).any() else int(rungs.max())

    @cached_property
    def drawn_rung(self) -> int:
        """The lowest rung of rules that serve samples drawn from laws like these.

        What a sample tells is known to 1 / √n at best: the laws of the groups, the sharpest there
        are, are compared with what the rule of the fits says, in standard deviations.
        """
        family, lam = self.hierarchy.family(self.hierarchy.levels), self.groups.solutions[-1].lam
        if self.rung == NO_RUNG:
            return NO_RUNG
        _, mean, covariance = family.resolved_by(self.rung).log_partition(lam)
        white = inverse_roots(covariance)
        for rung in range(self.rung):
            _, near, spread = family.resolved_by(rung).log_partition(lam)
            away = (white @ (near - mean)[:, :, None])[:, :, 0]
            ratio = white @ (spread - covariance) @ np.swapaxes(white, 1, 2)
            if max(np.abs(away).max(), np.abs(ratio).max()) <= DRAWN_QUADRATURE:  # NaN is not
                return rung
        return self.rung

    def check_inference(self) -> None:
        """Raise `DesignError` where nothing can be inferred."""
        if not self.design.defines_inference:
            raise self.design.refusal()
        if self.design.known_covariance is not None:
            raise DesignError(
                "a known covariance is that of one sample; give how the rows of the groups came "
                "about instead, like {remedy}",
                remedy=Advice(
                    "design='iid' or sr.designs.Clusters(ids)", "--design iid or clusters:COLUMN"
                ),
            )

    @property
    def known_rows(self) -> GroupedRows:
        """The rows, which sums alone cannot replace."""
        self.check_inference()
        if self.rows is None:
            raise DesignError(
                "these groups are known by their moments, and what was asked for needs the rows; "
                "compare the directions instead"
            )
        return self.rows

    @cached_property
    def observed_units(self) -> Units:
        """The independent units of the rows, with the weights these were given."""
        rows = self.known_rows
        found = self.design.units_for(rows.directions, self.hierarchy.features)
        return self._by_group(rows) if found.serial else found

    def _by_group(self, rows: GroupedRows) -> Units:
        """Stretches of a series that end with the group."""
        weights = rows.directions.weights
        labels, factors, used, unseen, units = (
            np.zeros(len(weights), dtype=np.int64),
            [],
            0,
            0.0,
            None,
        )
        for group in range(self.count):
            mask = rows.labels == group
            some = rows.directions.take(mask)
            units = self.design.of_rows(mask).units_for(some, self.hierarchy.features)
            labels[mask] = used + (np.arange(some.n) if units.labels is None else units.labels)
            factors.append(units.factors)
            used, unseen = used + units.count, max(unseen, units.unseen)
        assert units is not None
        return replace(
            units, weights=weights, count=used, rate=float(np.sqrt(len(weights))), labels=labels,
            factor=np.concatenate(factors), dof=used - self.count, unseen=unseen, names=None,
        )  # fmt: skip

    @cached_property
    def units(self) -> Units:
        """The same with weights that give each group its share."""
        rows, seen = self.known_rows, self.observed_units
        own = np.bincount(rows.labels, weights=seen.weights, minlength=self.count)
        w = seen.weights * (self.shares / own)[rows.labels]
        rate = float((w @ w) ** -0.5) if seen.rows_of_one_law else seen.rate
        return replace(seen, weights=w, rate=rate)

    @property
    def rate(self) -> float:
        """a_n."""
        self.check_inference()
        if self.has_units:
            return self.units.rate
        total = float((self.shares**2 / self._rates**2).sum())
        return total**-0.5

    @property
    def _rates(self) -> Array:
        return np.array([self.design.rate_from_sums(m) for m in self.sums])

    @cached_property
    def group_of_unit(self) -> IntArray:
        """The group of each unit, (U,); -1 where a unit has rows of several."""
        rows, units = self.known_rows, self.observed_units
        if units.labels is None:
            return rows.labels
        least = np.full(units.count, self.count, dtype=np.int64)
        most = np.full(units.count, -1, dtype=np.int64)
        np.minimum.at(least, units.labels, rows.labels)
        np.maximum.at(most, units.labels, rows.labels)
        return np.where(least == most, least, -1)

    @property
    def units_per_group(self) -> Array:
        """Kish's effective number of units of each group, (G,)."""
        if not self.has_units:
            return self.ess
        units, labels = self.units, self.known_rows.labels
        of = labels if units.labels is None else units.labels * self.count + labels
        _, pair = np.unique(of, return_inverse=True) if units.labels is not None else (None, None)
        if pair is None:
            squares = np.bincount(labels, weights=units.weights**2, minlength=self.count)
        else:
            each = np.bincount(pair, weights=units.weights)
            group = np.zeros(len(each), dtype=np.int64)
            group[pair] = labels
            squares = np.bincount(group, weights=each**2, minlength=self.count)
        return np.asarray(self.shares**2 / squares)

    @cached_property
    def features(self) -> Array | None:
        """Features of the rows, (n, q); None where they are too many to be kept."""
        rows = self.known_rows
        if rows.directions.n * self.hierarchy.q(self.hierarchy.levels) > _MOST_KEPT:
            return None
        return np.asarray(self.hierarchy.features(rows.directions.x))

    @cached_property
    def variances(self) -> Array:
        """Variances (G, q, q) of the groups' E φ, where covariances of all features are formed."""
        self.check_inference()
        if not self.has_units:
            return self._variances_from_sums()
        phi, rows, units = self.features, self.known_rows, self.units
        if phi is None:
            raise DesignError("too many rows for a covariance of their features; compare moments")
        out = np.empty((self.count, phi.shape[1], phi.shape[1]))
        order = np.argsort(rows.labels, kind="stable")
        ends = np.cumsum(np.bincount(rows.labels, minlength=self.count))
        for group, (stop, size) in enumerate(zip(ends, np.diff(ends, prepend=0), strict=True)):
            some = order[stop - size : stop]
            w = units.weights[some] / self.shares[group]
            away = w[:, None] * (phi[some] - w @ phi[some])
            out[group] = _between_units(away, units, some)
        return out

    @property
    def has_shared_units(self) -> bool:
        """Whether units have rows of several groups, whose errors then go together."""
        return self.has_units and bool(self.group_of_unit.min() < 0)

    def variance_of_sum(self, maps: Array) -> Array:
        """Variance (k, k) of Σ π_g P_gᵀ E_g φ for ``maps`` P (G, q, k).

        A unit that has rows of several groups counts once, with what it adds to all of them.
        """
        if not self.has_shared_units:
            return np.einsum(
                "g,gki,gkl,glj->ij", self.shares**2, maps, self.variances, maps, optimize=True
            )
        phi, rows, units = self.features, self.known_rows, self.units
        if phi is None:
            raise DesignError("too many rows for a covariance of their features; compare moments")
        away = units.weights[:, None] * (phi - self.levels.means[rows.labels])
        seen = np.empty((len(away), maps.shape[2]))
        for group, each in enumerate(maps):
            some = rows.of(group)
            seen[some] = away[some] @ each
        g = units.gather(seen)
        return np.asarray(g.T @ (units.factors[:, None] * g))

    def _variances_from_sums(self) -> Array:
        top = self.hierarchy.levels
        found = []
        for k, moments in enumerate(self.sums):
            nested = _row(self.groups, k)
            sample = Sample(moments, nested, (), self.design, None)
            found.append(sample.covariance(top) / sample.rate**2)
        return np.array(found)


def _between_units(away: Array, units: Units, rows: IntArray) -> Array:
    """Σ_u c_u g_u g_uᵀ of weighted centred rows that stand at ``rows`` of the whole."""
    if units.labels is None:
        factors = units.factors[rows]
        return np.asarray(away.T @ (factors[:, None] * away))
    seen, inverse = np.unique(units.labels[rows], return_inverse=True)
    g = np.zeros((len(seen), away.shape[1]))
    np.add.at(g, inverse, away)
    return np.asarray(g.T @ (units.factors[seen][:, None] * g))


def _row(fits: NestedFits, row: int) -> NestedFits:
    """One row of a stack of fits."""
    pick = np.array([row])
    return NestedFits(fits.hierarchy, tuple(s.take(pick) for s in fits.solutions), {})


def too_few(sample: GroupedSample, least: float) -> BoolArray:
    """Groups with fewer effective units than this, (G,)."""
    return np.asarray(sample.units_per_group < least)
