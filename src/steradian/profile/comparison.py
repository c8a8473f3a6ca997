"""Comparison: which groups differ, in what, by how much. A façade over the fits on M × {labels}."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from steradian.data.notation import Reading
from steradian.designs import Design
from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError
from steradian.fitting.label_information import (
    GroupDensities,
    LabelInformation,
    entropy_of,
    group_densities,
)
from steradian.fitting.label_levels import LabelLevels
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.base import SplitsLevelOne
from steradian.inference.group_intervals import (
    BetweenIntervals,
    GapDifferences,
    between_bias,
    between_intervals,
    gap_differences,
)
from steradian.inference.group_tests import (
    ComparisonMethod,
    ComparisonTests,
    Pairs,
    comparison_tests,
    judged_same_law,
    same_law,
)
from steradian.inference.monte_carlo import Replicates
from steradian.inference.sample import GroupedSample, Memo, SharedMemo
from steradian.notebook import NotebookView
from steradian.numerics.arrays import Array, IntArray
from steradian.profile.comparison_findings import headline
from steradian.profile.comparison_text import comparison_frame, comparison_record, summarise
from steradian.profile.group_profiles import GroupProfiles
from steradian.profile.grouping import Groups
from steradian.profile.label_noise import label_noise
from steradian.profile.profile import Profile
from steradian.references.base import reference_words
from steradian.wording import capital

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
        parts = self.fits.level1
        if parts is None or not isinstance(self.hierarchy, SplitsLevelOne):
            return {}
        return dict(zip(self.hierarchy.level_one_parts, parts.tolist(), strict=True))

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

    @property
    def pvalue(self) -> Array:
        """P-value of each level, (L,), by the default tests."""
        return self.tests().pvalue

    @property
    def overall_pvalue(self) -> float:
        """P-value of "all groups have the same law", by permutation; NaN where it is refused."""
        many = Replicates(self._permutations)
        return self._answers.once("same law", lambda: judged_same_law(self.sample, many)[0].pvalue)

    def intervals(self, confidence: float = 0.95) -> BetweenIntervals:
        """Standard errors, intervals and debiased values of C and J."""
        return self._answers.once(
            ("intervals", confidence), lambda: between_intervals(self.sample, confidence)
        )

    @property
    def pairs(self) -> Pairs:
        """Every two groups: √JS of their fits, and whether they differ, with Holm's correction."""
        return self._answers.once("pairs", self._pairs)

    def _pairs(self) -> Pairs:
        def test(g: int, h: int) -> float:
            self.sample.check_inference()
            if len(self.names) == 2:  # the same question as of all groups
                return self.overall_pvalue
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
        from steradian.profile.comparison_report import page_of_comparison
        from steradian.report import file_for, write_page

        target = file_for(path)
        return write_page(page_of_comparison(self, title, call), target)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        between = ", ".join(f"{c:.4g}" for c in self.between)
        return f"Comparison({len(self.names)} groups, C = [{between}] nats)"
