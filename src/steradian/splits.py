"""SplitProfile: some rows choose what is measured, the others are profiled, several times over."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steradian.data.directions import Directions
from steradian.designs import Design
from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError, InvalidArgument
from steradian.hierarchies import OnSplits
from steradian.inference.gap_tests import SplitTests, combined_tests
from steradian.inference.intervals import IntervalMethod, SplitIntervals, combined_intervals
from steradian.inference.sample import Memo, SharedMemo
from steradian.inference.score_tests import Method, Null, Statistic
from steradian.inference.scores import PER_FEATURE, Covariance
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import NOTHING
from steradian.references.base import reference_words
from steradian.text.table import Column, Table

if TYPE_CHECKING:
    from steradian.decomposition import Profile


@dataclass(frozen=True, eq=False, repr=False)
class SplitProfile(LevelFrame):
    """The decomposition about what other rows chose, over several splits of one sample.

    Attributes
    ----------
    choice : OnSplits
        What is chosen, and by which rows.
    splits : tuple of Profile
        The profile of each split: of the rows that did not choose, about what the others chose,
        which is ``splits[k].moments.hierarchy``.
    design : Design
        How the whole sample came about.
    n : int
        Rows of the whole sample.
    levels, dims : arrays of int, (L,)
        1..L, and the features each level adds.
    gaps, deficits, uncertainty : arrays, (L,)
        Medians over the splits, in nats; U = exp(-D). Medians of gaps need not add up to those of
        deficits.
    split_gaps, split_deficits : arrays, (K, L)
        Of each split.
    """

    _columns: ClassVar[tuple[str, ...]] = ("dims", "deficits", "gaps", "uncertainty")

    choice: OnSplits
    splits: tuple[Profile, ...]
    design: Design
    n: int

    @property
    def levels(self) -> IntArray:
        """1..L."""
        return self.splits[0].levels

    @property
    def dims(self) -> IntArray:
        """Features each level adds."""
        return self.splits[0].dims

    @property
    def d(self) -> int:
        """Ambient dimension."""
        return self.splits[0].d

    @property
    def split_gaps(self) -> Array:
        """I of each split, (K, L)."""
        return np.array([one.gaps for one in self.splits])

    @property
    def split_deficits(self) -> Array:
        """D of each split, (K, L)."""
        return np.array([one.deficits for one in self.splits])

    @property
    def gaps(self) -> Array:
        """Medians of I over the splits, nats."""
        return np.median(self.split_gaps, axis=0)

    @property
    def deficits(self) -> Array:
        """Medians of D over the splits, nats."""
        return np.median(self.split_deficits, axis=0)

    @property
    def uncertainty(self) -> Array:
        """U = exp(-D) of these."""
        return np.exp(-self.deficits)

    def tests(
        self,
        null: Null = "moment",
        statistic: Statistic = "score",
        covariance: Covariance | None = None,
        method: Method | None = None,
        *,
        replicates: int = 999,
        seed: int = 0,
    ) -> SplitTests:
        """Test, level by level, whether the gap about what is chosen is zero.

        The options are those of `Profile.tests`, for every split; the p-values are combined as
        `SplitTests` says.
        """
        rest: dict[str, Any] = {"replicates": replicates, "seed": seed}
        asked = ("tests", null, statistic, covariance, method, replicates, seed)
        return self._answers.once(asked, lambda: combined_tests(
            [one.tests(null, statistic, covariance, method, **rest) for one in self.splits]
        ))  # fmt: skip

    def intervals(
        self, confidence: float = 0.95, *, method: IntervalMethod = "noncentral"
    ) -> SplitIntervals:
        """Intervals for the gaps about what is chosen, as `SplitIntervals` says."""
        return self._answers.once(
            ("intervals", confidence, method),
            lambda: combined_intervals(
                confidence,
                len(self.splits),
                lambda each: tuple(one.intervals(each, method=method) for one in self.splits),
            ),
        )

    @cached_property
    def _answers(self) -> Memo:
        return SharedMemo()

    def summary(self) -> str:
        """The table that ``print`` shows."""
        split, first = self.choice.split, self.splits[0]
        lines = [
            f"Geometric information profile on the {first.moments.hierarchy.space.name}"
            f" (d = {self.d}), in nats",
            *textwrap.wrap(
                f"Chosen from other rows than are profiled: {self.choice.recipe.words}. Of n = "
                f"{self.n} rows, {self.n - first.n} choose and {first.n} are profiled; "
                f"{len(self.splits)} split{'s' * (len(self.splits) > 1)}, seed {split.seed}.",
                80,
            ),
            "",
            *self._gap_table().lines(),
            "",
            f"D deficit from {self._zero}, I information the level's features add.",
            "Medians of I and their shares need not add up.",
            first.design.in_short,
            *(line for said in self.diagnostics for line in textwrap.wrap(f"! {said}", 80)),
        ]
        return "\n".join(lines)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What speaks against trusting the splits: too few rows on either side of them."""
        profiled = min(one.ess for one in self.splits)
        choosing, features = self.n - max(one.n for one in self.splits), int(self.dims.sum())
        enough = PER_FEATURE * features
        if min(profiled, choosing) >= enough:
            return ()
        data = {"choosing": int(choosing), "profiled": float(profiled), "features": features}
        return (Diagnostic("few_rows_in_splits", data={**data, "safe": int(enough)}),)

    @property
    def _zero(self) -> str:
        space = self.splits[0].moments.hierarchy.space
        return "the reference" if reference_words(space) else "uniform"

    def _gap_table(self) -> Table:
        total, seen = float(self.deficits[-1]), self.split_gaps
        shares = self.gaps / total if total > NOTHING else np.full(len(self.levels), np.nan)
        return Table(
            Column("level", self.levels, width=5),
            Column("features", self.dims, width=8),
            Column("median D", self.deficits, ".5f", 10),
            Column("median I", self.gaps, ".5f", 10),
            Column("smallest", seen.min(axis=0), ".5f", 10),
            Column("largest", seen.max(axis=0), ".5f", 10),
            Column("share", shares, ".1%", 7, dash=True),
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the gaps of all splits on axes, new ones unless given (needs matplotlib)."""
        from steradian.plots import split_gaps

        return split_gaps(self, ax)

    def report(self, path: str | Path, *, title: str = "", call: str = "") -> Path:  # noqa: ARG002
        """Refuse: a page is about one profile, and here is one for each split."""
        raise InvalidArgument(
            f"{path} would be a report of {len(self.splits)} profiles at once; "
            "p.splits[0].report(...) writes that of one split, and print(p) and p.plot() have all"
        )

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain lists, ready for JSON, with the profile of each split."""
        return {
            "n": self.n,
            "d": self.d,
            "choice": self.choice.recipe.to_dict(),
            "split": asdict(self.choice.split),
            "levels": self.levels.tolist(),
            "dims": self.dims.tolist(),
            "deficits": self.deficits.tolist(),
            "gaps": self.gaps.tolist(),
            "uncertainty": self.uncertainty.tolist(),
            "split_gaps": self.split_gaps.tolist(),
            "split_deficits": self.split_deficits.tolist(),
            "hierarchies": [one.moments.hierarchy.to_dict() for one in self.splits],
            "splits": [one.to_dict() for one in self.splits],
            "design": self.design.name,
            "design_sentence": self.design.sentence,
            "diagnostics": [one.to_dict() for one in self.diagnostics],
            "unit": "nats",
        }

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        gaps = ", ".join(f"{gap:.4g}" for gap in self.gaps)
        count = len(self.splits)
        return f"SplitProfile(n={self.n}, d={self.d}, {count} splits, median gaps=[{gaps}] nats)"


def split_profile(
    choice: OnSplits, rows: Directions, design: Design, profiled: Callable[..., Profile]
) -> SplitProfile:
    """The profiles of all splits, each about what the rows it leaves out chose."""
    found = []
    for rng in choice.split.generators():
        drawn = design.drawn_rows(rows, choice.split.share, rng)
        _refuse_weightless(rows, drawn)
        chosen = choice.recipe.from_data(rows.take(drawn))
        own = design.of_rows(~drawn)
        found.append(profiled(rows.take(~drawn), hierarchy=chosen, design=own))
    return SplitProfile(choice, tuple(found), design, rows.n)


def _refuse_weightless(rows: Directions, drawn: BoolArray) -> None:
    """Refuse a split one side of which has no weight."""
    for side, what in ((drawn, "choose"), (~drawn, "are profiled")):
        if not rows.weights[side].any():
            raise DesignError(
                f"all {int(side.sum())} rows that {what} in one split have zero weight; leave out "
                "rows without weight, or choose another share"
            )
