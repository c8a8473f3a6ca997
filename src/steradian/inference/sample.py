"""What inference needs to know about a profiled sample, or about groups that are compared."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.resolution import Resolution
from steradian.designs import Design
from steradian.designs.base import Units
from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError, ResolutionError
from steradian.families.base import Family
from steradian.families.whitening import Whitening, inverse_roots
from steradian.fitting.label_levels import LabelLevels, forms_covariances
from steradian.fitting.maxent import MaxEntFit
from steradian.fitting.nested import NestedFits
from steradian.fitting.solution import NO_RUNG
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.tolerances import DRAWN_QUADRATURE, KEPT_BLUR
from steradian.references.base import reference_rows, reference_words, underlying
from steradian.text.audience import Advice

Answer = TypeVar("Answer")


class Memo:
    """Answers about one object that does not change, by what was asked.

    Examples
    --------
    >>> memo = Memo()
    >>> memo.once("six", lambda: 2 * 3), memo.once("six", lambda: 7)
    (6, 6)
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def once(self, asked: Hashable, work: Callable[[], Answer]) -> Answer:
        """The answer of ``work``, which is done the first time that ``asked`` is asked.

        What cannot be looked up is worked out, or refused by ``work`` in its own words.
        """
        try:
            known = asked in self._known
        except TypeError:
            return work()
        if not known:
            self._known[asked] = work()
        found: Answer = self._known[asked]
        return found

    def known(self, asked: Hashable) -> bool:
        """Whether it was asked before."""
        return asked in self._known


class SharedMemo(Memo):
    """Answers that people hold: their arrays are read-only, so that nobody changes another's.

    Examples
    --------
    >>> SharedMemo().once("zeros", lambda: np.zeros(2)).flags.writeable
    False
    """

    __slots__ = ()

    def once(self, asked: Hashable, work: Callable[[], Answer]) -> Answer:
        """As `Memo.once`."""
        return super().once(asked, lambda: _read_only(work()))


def _read_only(answer: Answer) -> Answer:
    """The same, its arrays and those of what it holds locked."""
    if isinstance(answer, np.ndarray):
        answer.flags.writeable = False
    elif isinstance(answer, tuple | list):
        for part in answer:
            _read_only(part)
    elif is_dataclass(answer) and not isinstance(answer, type):
        for field in fields(answer):
            _read_only(getattr(answer, field.name, None))
    return answer


_ABOVE = 4  # levels above the highest that residuals look at
_MOST_KEPT = 4_000_000  # features of rows: 32 MB


@dataclass(frozen=True, eq=False)
class Sample:
    """The moments and fits of a sample, how it came about, and its rows when they are at hand."""

    moments: Moments
    nested: NestedFits
    fits: tuple[MaxEntFit, ...]
    design: Design
    directions: Directions | None

    @property
    def hierarchy(self) -> Hierarchy:
        """The nested features."""
        return self.moments.hierarchy

    def parameters(self, level: int) -> Array:
        """Natural parameters of the fit of ``level``, (1, q); none at level 0.

        Refused where they do not hold the law: covariances from them would be made of rounding.
        """
        if not self.held_by_parameters(level):
            raise ResolutionError(
                level,
                "is so concentrated that its harmonic parameters do not hold it to rounding, and "
                "what was asked for is computed from them",
                "ask for fewer levels; density, draws and intervals are sound",
            )
        return self.nested.solutions[level - 1].lam if level else np.zeros((1, 0))

    def whitening(self, level: int) -> Whitening:
        """White features of ``level`` under the fit of the level below, a stack of one."""
        return self.memo.once(("white", level), lambda: self._whitening(level))

    def _whitening(self, level: int) -> Whitening:
        white = self.served(level, level - 1).whitening(self.parameters(level - 1))
        if not white.sound.all():
            raise ResolutionError(
                level,
                "cannot be tested: the fit below is so concentrated that the features of the level "
                "cannot be told apart in double precision",
                "ask for fewer levels, or look at the rows of largest weight",
            )
        return white

    @cached_property
    def memo(self) -> Memo:
        """What was worked out about it before."""
        return Memo()

    def rung(self, level: int) -> int:
        """Of the ladder of rules, that served the fit of ``level``; `NO_RUNG` without one."""
        return int(self.nested.solutions[level - 1].rungs[0]) if level else NO_RUNG

    def served(self, level: int, fit: int) -> Family:
        """The family of ``level`` on the rule that served the fit of level ``fit``."""
        return self.hierarchy.family(level).resolved_by(self.rung(fit))

    def features(self, hierarchy: Hierarchy) -> Array | None:
        """Features of the rows, (n, q), formed once; None where they are too many to be kept.

        ``hierarchy`` has the levels of the sample, or wider ones of the same kind.
        """
        q = hierarchy.q(hierarchy.levels)
        if self.rows.n * q > _MOST_KEPT or not hierarchy.family(hierarchy.levels).forms_matrices:
            return None
        held = self.__dict__.get("_held")
        if (
            held is None
            or held[0].levels < hierarchy.levels
            or (held[0].up_to(hierarchy.levels) != hierarchy)
        ):
            held = hierarchy, np.asarray(hierarchy.features(self.rows.x))
            self.__dict__["_held"] = held
        return np.asarray(held[1][:, :q])

    @cached_property
    def log_densities(self) -> Array:
        """Of the fits of levels 0..L at the rows, (n, L + 1)."""
        return np.stack([self._log_density(fit) for fit in self.fits], axis=1)

    def _log_density(self, fit: MaxEntFit) -> Array:
        level = fit.level
        own = level == 0 or self.nested.solutions[level - 1].laws[0] is not None
        if own or self.hierarchy.family(level).natural(fit.lam) is not None:
            return fit.logpdf(self.rows, measure="reference")  # by a law that lam does not hold
        phi = self.features(self.hierarchy)
        if phi is None:
            return fit.logpdf(self.rows, measure="reference")
        return phi[:, : len(fit.lam)] @ fit.lam - fit.psi

    @property
    def formed_levels(self) -> int:
        """How many of the fitted levels, from the first, form matrices of their features."""
        levels = range(1, len(self.nested.solutions) + 1)
        formed = [self.hierarchy.family(level).forms_matrices for level in levels]
        return (*formed, False).index(False)

    def held_by_parameters(self, level: int) -> bool:
        """Whether the harmonic parameters of a level determine its law."""
        if level == 0 or self.nested.solutions[level - 1].laws[0] is None:
            return True
        size = float(np.abs(self.nested.solutions[level - 1].lam).sum())
        return ROUNDOFF * size <= KEPT_BLUR

    def refit_work(self, level: int) -> float:
        """Numbers to be multiplied to fit a sample like this one at ``level`` again.

        Nothing where batches of samples are fitted on one grid or in closed form; what one
        fit on a mesh of its own takes otherwise.
        """
        if level == 0 or self.nested.solutions[level - 1].laws[0] is None:
            return 0.0
        found = self.nested.solutions[level - 1]
        return float(found.nodes[0]) * found.lam.shape[1] ** 2

    @cached_property
    def units(self) -> Units:
        """The independent units of the rows."""
        return self.design.units_for(self.rows, self._watched)

    def _watched(self, x: Array) -> Array:
        """Features of the levels and of those above that residuals look at."""
        seen = self.hierarchy
        wide = seen.wider(seen.levels + _ABOVE) or seen
        return wide.features(x)

    @cached_property
    def resolution(self) -> Resolution:
        """How many values the rows can take; not limited where they are not at hand."""
        if self.directions is None:
            return Resolution()
        return Resolution.of(self.directions, underlying(self.hierarchy.space))

    def untold(self, through: int) -> Diagnostic | None:
        """Why levels up to ``through`` are not all seen on the values that rows take.

        Names the first that is not; None where all are.
        """
        seen = self.resolution
        if np.isinf(seen.values):
            return None
        for level in range(1, through + 1):
            wide = self.hierarchy
            wide = wide if level <= wide.levels else wide.wider(level) or wide
            if not seen.tells(wide.q(min(level, wide.levels))):
                kind = "degrees" if wide.counts_degrees else "levels"
                data = {"step": float(seen.step), "values": float(seen.values)}
                return Diagnostic("coarse_values", data={**data, "kind": kind, "first": level})
        return None

    @property
    def rows(self) -> Directions:
        """The rows, which sums alone cannot replace."""
        if self.directions is None:
            self.check_design()
            raise DesignError(
                "this profile was made from moments, and what was asked for needs the rows; "
                "profile the directions instead"
            )
        return self.directions

    @property
    def has_rows(self) -> bool:
        """Whether rows are at hand and the design speaks of them."""
        return self.directions is not None and self.design.has_units

    @property
    def sentence(self) -> str:
        """What the design assumes and, where it matters, found."""
        note = self.units.note if self.has_rows else ""
        words = reference_words(self.hierarchy.space)
        relative = f"; relative to {words}" if words else ""
        return self.design.sentence + (f" ({note})" if note else "") + relative

    def check_design(self) -> None:
        """Raise `DesignError` where the design defines no sampling law."""
        if not self.design.defines_inference:
            raise self.design.refusal()

    @property
    def rate(self) -> float:
        """a, with a² = a_n² n₀ / (a_n² + n₀) where the reference is a sample of n₀ rows itself.

        Under the null the moments of data and reference are both noise about the same numbers,
        and what is tested is their difference.
        """
        own = self.own_rate
        return float(own / np.sqrt(1.0 + own**2 / reference_rows(self.hierarchy.space)))

    @property
    def own_rate(self) -> float:
        """a_n, of the rows or sums alone."""
        self.check_design()
        return self.units.rate if self.has_rows else self.design.rate_from_sums(self.moments)

    @property
    def own_share(self) -> float:
        """What part of the variance of a difference from the reference is the sample's own."""
        return (self.rate / self.own_rate) ** 2

    def covariance(self, level: int, centre: Array | None = None) -> Array:
        """Σ of a_n (m̂ - m) for the features of ``level`` from sums alone, (p, p).

        ``centre`` is the mean the features are taken about; by default their own.
        """
        self.check_design()
        p = self.hierarchy.q(level)
        sigma = self.design.known_covariance
        if sigma is not None:
            top = self.hierarchy.q(self.hierarchy.levels)
            if len(sigma) < top:
                raise DesignError(
                    f"covariance is {len(sigma)} × {len(sigma)}; the {self.hierarchy.levels} "
                    f"levels have {top} features"
                )
            return sigma[:p, :p]
        if not self.design.from_sums:
            raise DesignError(
                f"design {self.design.name!r} needs the rows, and this profile was made from "
                "moments; profile the directions instead"
            )
        found = self.covariance_of_sums(level, centre)
        if found is None:
            raise DesignError(
                f"sums of {self.hierarchy} hold no covariance of level {level}, which needs the "
                "rows; profile the directions instead of moments"
            )
        return found

    def covariance_of_sums(self, level: int, centre: Array | None = None) -> Array | None:
        """Σ = a² Σ_i w_i² (φ_i - μ)(φ_i - μ)ᵀ / (Σ w)², (p, p), where the sums hold products."""
        m, p = self.moments, self.hierarchy.q(level)
        squares = np.concatenate([[m.weight_sq], m.total_sq])
        second = self.hierarchy.second_moments(level, squares)  # Σ w² (1, φ)(1, φ)ᵀ
        if second is None:
            return None
        about = m.features[:p] if centre is None else centre
        shift = np.eye(p + 1)[1:].copy()
        shift[:, 0] = -about
        total = shift @ second @ shift.T / m.weight**2
        return np.asarray(self.own_rate**2 * total)


_MOST_GROUP_FEATURES = 30_000_000  # features of rows that are held at once: 240 MB


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
        if rows.directions.n * self.hierarchy.q(self.hierarchy.levels) > _MOST_GROUP_FEATURES:
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
