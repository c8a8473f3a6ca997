"""Comparison: which groups differ, in what, by how much. A façade over the fits on M × {labels}."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import one_of
from steradian.data.notation import Reading, told_of_rows
from steradian.data.stacks import MomentStack
from steradian.decomposition import Profile, profile
from steradian.designs import Design
from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError, InvalidArgument, LevelError, SteradianError
from steradian.fitting.label_information import (
    GroupDensities,
    LabelInformation,
    entropy_of,
    group_densities,
)
from steradian.fitting.label_levels import LabelLevels, label_levels
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.groups import Groups, as_groups
from steradian.hierarchies import Hierarchy
from steradian.inference.group_intervals import (
    BetweenIntervals,
    GapDifferences,
    between_bias,
    between_intervals,
    gap_differences,
    plain_noise,
)
from steradian.inference.group_steps import shuffling_refusal
from steradian.inference.group_tests import (
    ComparisonMethod,
    ComparisonTests,
    Pairs,
    comparison_tests,
    judged_same_law,
    same_law,
)
from steradian.inference.monte_carlo import Replicates
from steradian.inference.sample import GroupedRows, GroupedSample, Memo, SharedMemo
from steradian.io.frames import frame_of_columns
from steradian.io.records import without_nan
from steradian.notebook import NotebookView
from steradian.numerics.arrays import Array, IntArray
from steradian.references.base import reference_words, underlying
from steradian.text.audience import Advice
from steradian.text.comparison_summary import summarise
from steradian.text.differences import default_tests, differences, headline, verdict
from steradian.text.messages import Name
from steradian.text.numbers import capital

_QUICK = 2e9  # multiplications of shuffles that nobody notices
_PAIR_PERMUTATIONS = 1999
_RARE = 2  # samples as extreme, up to which more are drawn


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(NotebookView):
    """What tells groups apart: the information decomposition on M × {labels}.

    Attributes
    ----------
    names : tuple of str
        The groups that are compared.
    shares : array, (G,)
        π, of sum one.
    between : array, (L,)
        C_l in nats: what the features of level l tell the groups apart by, beyond the levels below.
    total : float
        J = Σ C_l = Σ π_g KL(p_g ‖ p): between-group information of the fits of level L.
    level1 : mapping
        C_1 in two parts, as "direction" and "concentration" on spheres; empty where it has none.
    label_information : LabelInformation
        JS, what a point tells about its label: at most the label's entropy; and what labels that
        mean nothing would give.
    groups : mapping
        The profile of each group, made when it is asked for.
    left_out : mapping
        Groups without a fit of all levels, and why.
    """

    sample: GroupedSample
    source: Groups
    left_out: Mapping[str, Diagnostic]
    shares_kind: str
    elapsed: float

    @property
    def names(self) -> tuple[str, ...]:
        """The groups that are compared."""
        return self.sample.names

    @property
    def shares(self) -> Array:
        """π, (G,)."""
        return self.sample.shares

    @property
    def sizes(self) -> IntArray:
        """Rows of each group, (G,)."""
        return self.sample.sizes

    @property
    def hierarchy(self) -> Hierarchy:
        """The nested features."""
        return self.sample.hierarchy

    @property
    def levels(self) -> IntArray:
        """1..L."""
        return np.arange(1, self.hierarchy.levels + 1)

    @property
    def design(self) -> Design:
        """How the rows came about."""
        return self.sample.design

    @property
    def reading(self) -> Reading | None:
        """What was understood of the source of the rows, None where that was an array."""
        return self.source.reading

    @property
    def fits(self) -> LabelLevels:
        """The fits on M × {labels}."""
        return self.sample.levels

    @property
    def between(self) -> Array:
        """C_l, (L,), nats. Never clipped."""
        return self.fits.between

    @property
    def total(self) -> float:
        """J = Σ C_l = Σ π_g D(P_g) - D(P), nats."""
        return float(self.fits.deficits[-1] - self.fits.deficits[0])

    @property
    def level1(self) -> dict[str, float]:
        """C_1 in two parts: across the pooled mean, and along it; empty without these."""
        parts, names = self.fits.level1, self.hierarchy.level_one_parts
        if parts is None or names is None:
            return {}
        return dict(zip(names, parts.tolist(), strict=True))

    @cached_property
    def _densities(self) -> tuple[GroupDensities, float]:
        return group_densities(self.hierarchy, self.sample.groups, self.shares, 0)

    @cached_property
    def label_information(self) -> LabelInformation:
        """JS = Σ π_g KL(p_g ‖ Σ π_h p_h): what a point tells about its label.

        Of the rows that were fitted, so that labels that mean nothing tell something too: `noise`.
        """
        entropy = entropy_of(self.shares)
        if len(self.names) == 1:
            return LabelInformation(0.0, 0.0, 0.0, 0.0)
        seen, error = self._densities
        noise = label_noise(self.sample, entropy)
        return LabelInformation(seen.information(self.shares)[0], entropy, error, noise)

    @property
    def noise(self) -> Array:
        """What noise alone adds to each C on average, (L,); NaN where nothing tells."""
        return self._answers.once("noise", self._noise)

    def _noise(self) -> Array:
        if not self.design.defines_inference or len(self.names) == 1:
            return np.full(len(self.levels), np.nan)
        try:
            return between_bias(self.sample)
        except DesignError:
            return np.full(len(self.levels), np.nan)

    @property
    def debiased(self) -> Array:
        """C less its `noise`, (L,); not above zero where noise explains it."""
        return self.between - self.noise

    @property
    def groups(self) -> Mapping[str, Profile]:
        """The profile of each group, made when it is asked for."""
        return self._answers.once("groups", lambda: GroupProfiles(self.source, self.hierarchy, {}))

    def tests(
        self,
        method: ComparisonMethod = "default",
        *,
        permutations: int | None = None,
        replicates: int = 999,
        seed: int = 0,
    ) -> ComparisonTests:
        """Test whether all groups have the same law, and what differs.

        Parameters
        ----------
        method : {"default", "permutation"}
            How levels are tested: by default their score given the levels below, with the damped
            tilt; where a group has fewer than ten rows per feature, level 1 by a studentised
            permutation and the others by a labelled parametric bootstrap. ``"permutation"`` for a
            single level only: above it, it is not valid while the level below differs.
        permutations : int, optional
            Shuffles of whole units; by default 9999, fewer where they would take long.
        replicates, seed : int
            Samples of the bootstrap, and where all draws start from. Fewer are drawn where twenty
            are as extreme, four times as many where at most two of all are.

        Raises
        ------
        DesignError
            The design defines no p-value, or what was asked for is not valid.
        """
        shuffles = self._permutations if permutations is None else permutations
        many = Replicates(shuffles, replicates, seed, rare=_RARE)
        return self._answers.once(
            (method, many), lambda: comparison_tests(self.sample, many, method)
        )

    @property
    def _permutations(self) -> int:
        """As many as nobody waits long for."""
        work = float(self.sizes.sum()) * (1.0 + sum(self.hierarchy.dims)) * len(self.names)
        return 9999 if 9999 * work <= _QUICK else 999 if 999 * work <= 10.0 * _QUICK else 199

    def intervals(self, confidence: float = 0.95) -> BetweenIntervals:
        """Standard errors, intervals and debiased values of C and J."""
        return self._answers.once(
            ("intervals", confidence), lambda: between_intervals(self.sample, confidence)
        )

    def pairs(self) -> Pairs:
        """Every two groups: √JS of their fits, and whether they differ, with Holm's correction."""
        return self._answers.once("pairs", self._pairs)

    def _pairs(self) -> Pairs:
        def test(g: int, h: int) -> float:
            self.sample.check_inference()
            if len(self.names) == 2:  # the same question as of all groups
                whole = Replicates(self._permutations)
                return judged_same_law(self.sample, whole)[0].pvalue
            many = Replicates(min(self._permutations, _PAIR_PERMUTATIONS), 999, 0)
            return same_law(self.sample, many, (g, h)).pvalue

        alone = len(self.names) == 1
        distance = np.zeros((1, 1)) if alone else self._densities[0].distances()
        return Pairs(self.names, distance, test)

    def gap_differences(self, confidence: float = 0.95) -> GapDifferences:
        """Whether groups have the same shape up to a rotation: differences of their gaps."""
        intervals = [self.groups[name].intervals(confidence) for name in self.names]
        return gap_differences(self.names, intervals, confidence, self.relative_to)

    @property
    def relative_to(self) -> str:
        """What information is relative to, in words; empty where that is the uniform law."""
        return reference_words(self.hierarchy.space)

    @cached_property
    def _answers(self) -> Memo:
        return SharedMemo()

    def summary(self) -> str:
        """What ``print`` shows: what differs, how sure that is, and a table."""
        return self._answers.once("summary", lambda: summarise(self))

    @property
    def headline(self) -> str:
        """In what the groups differ, in the words of `summary` without its numbers."""
        return self._answers.once("headline", lambda: capital(headline(self).words))

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain lists, ready for JSON; NaN is None."""
        return comparison_record(self)

    def to_frame(self) -> Any:
        """One row per level as a pandas frame (pandas must be installed)."""
        return comparison_frame(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw C of every level with its interval, noise and p-value, and return the axes.

        Without axes, beside the gaps of the groups. Needs matplotlib.
        """
        from steradian.plots import between

        return between(self, ax)

    def report(self, path: str | Path, *, title: str = "", call: str = "") -> Path:
        """Write one self-contained HTML file that can be sent to a colleague; its path.

        As that of a profile: ``title`` says what the data are, ``call`` how it was asked for. It
        fetches and sends nothing. Needs the extra ``report``.
        """
        from steradian.report import file_for, write_page
        from steradian.report.comparison_page import page_of_comparison

        target = file_for(path)
        return write_page(page_of_comparison(self, title, call), target)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        between = ", ".join(f"{c:.4g}" for c in self.between)
        return f"Comparison({len(self.names)} groups, C = [{between}] nats)"


def comparison_record(c: Comparison) -> dict[str, Any]:
    """Every number of a comparison, ready for JSON."""
    tests, refused = default_tests(c)
    known = c.label_information
    few = 2 <= len(c.names) <= _FEW_PAIRS
    record: dict[str, Any] = {
        "names": list(c.names),
        "sizes": c.sizes.tolist(),
        "shares": c.shares.tolist(),
        "shares_kind": c.shares_kind,
        "space": underlying(c.hierarchy.space).name,
        "reference": c.relative_to or "uniform",
        "d": c.hierarchy.space.d,
        "hierarchy": c.hierarchy.to_dict()["kind"],
        "levels": c.levels.tolist(),
        "level_names": list(c.hierarchy.level_names),
        "dims": list(c.hierarchy.dims),
        "between": c.between.tolist(),
        "noise": c.noise.tolist(),
        "debiased": c.debiased.tolist(),
        "total": c.total,
        "level1": c.level1,
        "label_information": {
            "value": known.value,
            "entropy": known.entropy,
            "share": known.share,
            "error": known.error,
            "noise": known.noise,
        },
        "groups": {
            name: {"deficits": d.tolist(), "gaps": g.tolist()}
            for name, d, g in zip(
                c.names, c.sample.groups.deficits, c.sample.groups.gaps, strict=True
            )
        },
        "distance": c.pairs().distance.tolist() if few else None,
        "left_out": {name: why.to_dict() for name, why in c.left_out.items()},
        "design": c.design.name,
        "tests": None if tests is None else tests.to_dict(),
        "refused": None if refused is None else refused.to_dict(),
        "intervals": c.intervals().to_dict() if tests is not None else None,
        "verdict": [one.to_dict() for one in verdict(c, tests)],
        "differences": [] if tests is None else [one.to_dict() for one in differences(c, tests)],
        "read": "" if c.reading is None else c.reading.words,
        **told_of_rows(c.reading),
        "unit": "nats",
    }
    return without_nan(record)


def comparison_frame(c: Comparison) -> Any:
    """One row per level."""
    tests, _ = default_tests(c)
    table: dict[str, Any] = {
        "level": c.levels,
        "name": list(c.hierarchy.level_names),
        "features": list(c.hierarchy.dims),
        "between": c.between,
        "noise": c.noise,
        "debiased": c.debiased,
    }
    if tests is not None:
        found = c.intervals()
        table |= {"se": found.se, "low": found.low, "high": found.high}
        table |= {"pvalue": tests.pvalue, "pvalue_holm": tests.pvalue_holm}
    return frame_of_columns(table)


_FEW_PAIRS = 45  # pairs that are tested for print: ten groups
_SHARES = ("observed", "equal")


def compare(  # noqa: PLR0913 - one for each thing people say about groups
    data: Any,
    *,
    by: ArrayLike | str | None = None,
    weights: ArrayLike | str | None = None,
    levels: int | None = None,
    hierarchy: Hierarchy | None = None,
    design: Design | str | None = None,
    shares: str = "observed",
    reference: Any = None,
) -> Comparison:
    """Which groups differ, in what, by how much.

    Parameters
    ----------
    data : rows, a mapping from names to groups, or a list of moments
        Anything `profile` takes, with ``by``; or groups that are each anything it takes.
    by : array_like or column name, optional
        The label of each row.
    weights, hierarchy, design
        As in `profile`. A design says how all rows came about; clusters may belong to one group or
        have rows of several.
    levels : int, optional
        Highest level; by default 2, so that what differs in shape does not pass for a difference
        of means.
    shares : {"observed", "equal"}
        The share π_g of each group in the pooled sample: that of its weight, or the same for all.
    reference : MaxEntFit, callable, Mask, HealpixMap or Directions, optional
        The law that all fits, of the groups and of the pooled sample, are relative to, as in
        `profile`; uniform unless given.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> rng = np.random.default_rng(0)
    >>> one, two = rng.normal([0, 0, 3], 1, (2, 200, 3))
    >>> x = sr.Directions(np.concatenate([one, two]), normalize=True)
    >>> c = sr.compare(x, by=np.repeat(["here", "there"], 200))
    >>> bool(abs(c.between.sum() - c.total) < 1e-9)
    True
    """
    began = time.perf_counter()
    one_of(shares, "shares", _SHARES)
    given = as_groups(data, by, weights, design)
    explicit = levels is not None or hierarchy is not None
    wanted = given.hierarchy(levels, hierarchy, reference)
    found = _fitted(given, wanted)
    if found.kept < 2 <= len(given.names) and not explicit and wanted.levels > 1:
        lower = _fitted(given, wanted.up_to(1))
        found = lower if lower.kept > found.kept else found
    if not found.kept:
        raise _none_fitted(given, found.errors)
    return _compared(given, found, shares, began)


def _none_fitted(given: Groups, errors: dict[str, LevelError]) -> SteradianError:
    """Why there is nothing to compare: what the first group lacks, or what labels look like."""
    rows, groups = int(given.sizes.sum()), len(given.names)
    if groups > 2 and rows < 2 * groups:
        return InvalidArgument(
            "{by} has {groups} different labels for {rows} rows, too few in each group for a fit: "
            "they look like a measurement rather than groups; cut it into a few ranges{example}, "
            "or give the column that names the groups",
            by=Name("by"), groups=groups, rows=rows,
            example=Advice(", such as by=np.digitize(values, edges)", ""),
        )  # fmt: skip
    name, error = next(iter(errors.items()))
    return error.of_group(name)


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """Fits of all groups, and which have none."""

    moments: MomentStack
    fits: NestedFits
    errors: dict[str, LevelError]

    @property
    def kept(self) -> int:
        return len(self.moments) - len(self.errors)


def _fitted(given: Groups, hierarchy: Hierarchy) -> _Fitted:
    moments = given.moments(hierarchy)
    fits = fit_levels(hierarchy, moments, given.support())
    failures = sorted(fits.failures.items())
    errors = {given.names[row]: failure.error(mixing=False) for row, failure in failures}
    return _Fitted(moments, fits, errors)


def _compared(given: Groups, found: _Fitted, kind: str, began: float) -> Comparison:
    hierarchy = found.fits.hierarchy
    kept = np.array([name not in found.errors for name in given.names])
    groups, pick = given.some(kept), np.flatnonzero(kept)
    moments = found.moments.take(pick)
    nested = NestedFits(hierarchy, tuple(s.take(pick) for s in found.fits.solutions), {})
    weight = groups.weights
    shares = weight / weight.sum() if kind == "observed" else np.full(len(pick), 1.0 / len(pick))
    pooled = moments.pooled(shares)
    whole = fit_levels(hierarchy, pooled)
    if whole.failures:
        raise whole.failures[0].error(mixing=False)
    rows = float(1.0 / (shares**2 / groups.ess).sum())
    fits = label_levels(moments, shares, nested, whole, rows=rows)
    sample = GroupedSample(
        groups.names, fits, nested, whole, groups.sizes, groups.ess, groups.design, groups.rows,
        groups.sums,
    )  # fmt: skip
    words = {name: error.diagnostic for name, error in found.errors.items()}
    return Comparison(sample, groups, words, kind, time.perf_counter() - began)


@dataclass(frozen=True, eq=False)
class GroupProfiles(Mapping[str, Profile]):
    """Profiles of groups by name, each made when it is asked for."""

    source: Groups
    hierarchy: Hierarchy
    made: dict[str, Profile]

    def __getitem__(self, name: str) -> Profile:
        if name not in self.source.names:
            raise KeyError(name)
        if name not in self.made:
            group = self.source.names.index(name)
            rows = self.source.rows
            if rows is None:
                data: Any = self.source.sums[group]
                design: Any = self.source.design
                self.made[name] = profile(data, levels=self.hierarchy.levels, design=design)
            else:
                design = self.source.design.of_rows(rows.labels == group)
                data = self.source.directions(group)
                self.made[name] = profile(data, hierarchy=self.hierarchy, design=design)
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.source.names)

    def __len__(self) -> int:
        return len(self.source.names)


_FIRST_ORDER = 0.1  # of the entropy, up to which the first order is good
_SHUFFLES = 5  # of which JS varies by a tenth of itself, and less in high dimension
_QUICK_SHUFFLE = 10_000_000  # features of rows, above which one shuffle must do


def label_noise(sample: GroupedSample, entropy: float) -> float:
    """JS on average where labels mean nothing, nats; NaN where nothing tells."""
    try:
        sample.check_inference()
        if sample.has_units and shuffling_refusal(sample):
            return np.nan  # a unit that has rows of several groups is noise of none
        first_order = float(plain_noise(sample).sum())
        if first_order <= _FIRST_ORDER * entropy:
            return first_order
        found = [_information(sample, labels) for labels in _shuffled_labels(sample)]
    except SteradianError:  # no design, no rows, or fits too sharp to be looked at
        return np.nan
    known = [value for value in found if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


def _shuffled_labels(sample: GroupedSample, seed: int = 0) -> Iterator[IntArray]:
    """Labels of the rows after those of their units were shuffled, within strata."""
    rows, units = sample.known_rows, sample.observed_units
    rng, many = np.random.default_rng(seed), rows.directions.n * sum(sample.hierarchy.dims)
    strata = np.zeros(units.count, dtype=np.int64) if units.strata is None else units.strata
    for _ in range(_SHUFFLES if many <= _QUICK_SHUFFLE else 1):
        groups = sample.group_of_unit.copy()
        for stratum in np.unique(strata):
            here = np.flatnonzero(strata == stratum)
            groups[here] = groups[rng.permutation(here)]
        yield groups if units.labels is None else groups[units.labels]


def _information(sample: GroupedSample, labels: IntArray) -> float:
    """JS of groups with other labels and the same shares; NaN where one has no fit."""
    rows = GroupedRows(sample.known_rows.directions, labels)
    groups = Groups(sample.names, rows, (), sample.design)
    fits = fit_levels(sample.hierarchy, groups.moments(sample.hierarchy), groups.support())
    if fits.failures:
        return np.nan
    seen, _ = group_densities(sample.hierarchy, fits, sample.shares, 0)
    return seen.information(sample.shares)[0]
