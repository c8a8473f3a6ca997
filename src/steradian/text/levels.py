"""The levels of a profile in words: the table of what each adds, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.diagnostics import Diagnostic, Verdict
from steradian.errors import SteradianError
from steradian.inference.effort import TakesLong
from steradian.inference.gap_tests import GapTests
from steradian.inference.intervals import GapIntervals, disagreement
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import NOTHING
from steradian.text.numbers import NOTHING_KNOWN, digits, pvalue_number
from steradian.text.places import densest_places
from steradian.text.table import Column, Table

if TYPE_CHECKING:
    from steradian.decomposition import Profile


_WIDTH = 80
_LONGEST_NAME, _SHORTEST_NAME = 34, 14
_NAMES = "what it adds"
_MOST_LINES = 16  # more levels share lines, so that all fits a screen
_WHOLE = 100.0  # nats of noise, from which they are shown as a whole number


@dataclass(frozen=True, slots=True, eq=False)
class LevelTable:
    """What is known of the levels of a profile without a wait.

    Attributes
    ----------
    profile : Profile
        Whose levels they are.
    tests : GapTests or None
        With NaN and the code ``not_computed`` for levels whose p-value takes longer; None without
        any.
    intervals : GapIntervals or None
        None where the design defines none, or they are not computed.
    refusal : Diagnostic or None
        Why nothing is tested, where nothing is.
    intervals_later : Diagnostic or None
        That intervals are not computed, if so.
    """

    profile: Profile
    tests: GapTests | None
    intervals: GapIntervals | None
    refusal: Diagnostic | None = None
    intervals_later: Diagnostic | None = None

    @classmethod
    def of(cls, profile: Profile, patience: float) -> LevelTable:
        """Ask what takes no more work than ``patience``."""
        if profile.shrinkage is not None:
            return cls(profile, None, None, Diagnostic("fits_of_shrunk_data"))
        if not profile.design.defines_inference:
            data = {"design": profile.design.name}
            return cls(profile, None, None, Diagnostic("design_without_tests", data=data))
        try:
            tests = profile.tests_within(patience)
        except SteradianError as error:
            return cls(profile, None, None, error.diagnostic)
        try:
            return cls(profile, tests, profile.intervals_within(patience))
        except TakesLong as error:
            return cls(profile, tests, None, intervals_later=error.diagnostic)
        except SteradianError:  # what `intervals` says itself
            return cls(profile, tests, None)

    @property
    def pvalues(self) -> Array:
        """After Holm's correction over all levels; NaN while one is not computed."""
        if self.tests is None:
            return np.full(len(self.profile.levels), np.nan)
        return self.tests.pvalue_holm

    @property
    def later(self) -> list[int]:
        """Levels whose p-value is not computed."""
        return [] if self.tests is None else self.tests.later

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """How sure it is that each level adds anything."""
        if self.tests is None:
            return (Verdict.UNJUDGED,) * len(self.profile.levels)
        return self.tests.verdicts

    @property
    def reasons(self) -> tuple[Diagnostic | None, ...]:
        """Why each level is not judged; None where it is."""
        if self.tests is None:
            return (self.refusal,) * len(self.profile.levels)
        return tuple(_reason(self.tests, level) for level in self.profile.levels.tolist())

    @property
    def told(self) -> tuple[int, ...]:
        """Significant levels."""
        return () if self.tests is None else self.tests.told

    @property
    def disagreements(self) -> dict[int, Diagnostic]:
        """Levels, counted from 0, whose verdict and interval do not agree, and why."""
        if self.tests is None or self.intervals is None:
            return {}
        pairs = enumerate(zip(self.verdicts, self.tests.pvalue, strict=True))
        each = ((k, disagreement(self.intervals, k + 1, v, float(p))) for k, (v, p) in pairs)
        return {k: found for k, found in each if found is not None}

    @property
    def shares(self) -> Array:
        """Of the deficit of the highest level; NaN where there is none."""
        total = float(self.profile.deficits[-1])
        count = len(self.profile.levels)
        return self.profile.gaps / total if total > NOTHING else np.full(count, np.nan)

    def table(self, most: int = _MOST_LINES, gap: int = 2) -> Table:
        """Every column that has anything to say, in ``most`` lines.

        Levels that share a line are added up; their p-value is the smallest, which is corrected
        for all levels, and they have no interval.
        """
        p, names = self.profile, names_of(self.profile)
        bands = _bands(len(p.levels), most)
        table = [
            ("level", [_joined(str(p.levels[b[0]]), str(p.levels[b[-1]])) for b in bands]),
            (_NAMES, [shortened(_joined(names[b[0]], names[b[-1]])) for b in bands]),
            ("nats", [digits(float(p.gaps[b].sum())) for b in bands]),
        ]
        if np.isfinite(p.noise).all():
            table.append(("noise", [_noise(float(p.noise[b].sum())) for b in bands]))
        if self.intervals is not None:
            low, high = self.intervals.low, self.intervals.high
            percent = f"{self.intervals.confidence:.0%} interval"
            table.append((percent, [
                _interval(low[b[0]], high[b[0]]) if len(b) == 1 else NOTHING_KNOWN for b in bands
            ]))  # fmt: skip
        if self.tests is not None:
            name = "p (uncorrected)" if self.later else "p (Holm)"
            table.append((name, [self._pvalue(b) for b in bands]))
        shares = [float(self.shares[b].sum()) for b in bands]
        table.append(("share", [NOTHING_KNOWN if np.isnan(s) else f"{s:.1%}" for s in shares]))
        return Table(*(
            Column(name, cells, left=name == _NAMES, gap=gap) for name, cells in table
        ))  # fmt: skip

    def _pvalue(self, band: IntArray) -> str:
        assert self.tests is not None
        if any(int(k) + 1 in self.later for k in band):
            return Verdict.OPEN.words
        shown = (self.tests.pvalue if self.later else self.pvalues)[band]
        known = shown[~np.isnan(shown) & self.tests.judged[band]]
        return pvalue_number(float(known.min())) if len(known) else NOTHING_KNOWN

    def __str__(self) -> str:
        table = self.table()
        if table.width <= _WIDTH:
            return str(table)
        table = self.table(gap=1)
        if (over := table.width - _WIDTH) > 0:  # not enough: names give way
            level, names, *others = table.columns
            room = max(len(names.aligned()[0]) - over, _SHORTEST_NAME)
            short = [shortened(name, room) for name in names.words]
            table = Table(level, replace(names, cells=short, width=room), *others)
        return str(table)


def _reason(tests: GapTests, level: int) -> Diagnostic | None:
    """Why a level has no verdict."""
    waits = tests.later and level not in tests.later and not np.isnan(tests.pvalue[level - 1])
    if waits and tests.verdicts[level - 1] is Verdict.OPEN:
        return waits_for_others(tests)
    return tests.reason(level)


def waits_for_others(tests: GapTests) -> Diagnostic:
    """Why a level with a p-value has no verdict yet."""
    return Diagnostic("correction_waits", data={"levels": tests.later})


def _bands(levels: int, most: int) -> list[IntArray]:
    """Which levels, counted from 0, share a line: the first ones none, higher ones with others."""
    every = np.arange(levels)
    if levels <= most:
        return np.split(every, levels)
    alone = most // 2
    return [*np.split(every[:alone], alone), *np.array_split(every[alone:], most - alone)]


def _joined(first: str, last: str) -> str:
    """One name, or a range of them, whose common first word is said once."""
    if first == last:
        return first
    (word, *_), (again, *rest) = first.split(), last.split()
    return f"{first}–{' '.join(rest)}" if rest and word == again else f"{first}–{last}"


def names_of(profile: Profile) -> tuple[str, ...]:
    """What the levels of a profile add, in words."""
    return tuple(profile.moments.hierarchy.level_names[: len(profile.levels)])


def shortened(name: str, most: int = _LONGEST_NAME) -> str:
    """A name that fits a column."""
    return name if len(name) <= most else name[: most - 1].rstrip() + "…"


def _noise(value: float) -> str:
    return f"{value:.0f}" if value >= _WHOLE else digits(float(value), 2)


def _interval(low: float, high: float) -> str:
    return NOTHING_KNOWN if np.isnan(low) else f"{digits(float(low))} to {digits(float(high))}"


_NAMED = 4  # levels whose sizes are given one by one
_CERTAIN = (Verdict.CLEAR, Verdict.LIKELY)


def findings(table: LevelTable) -> list[Diagnostic]:
    """One for each verdict, the surest first.

    Caveats come after the finding: what is clear, what is likely, what is not significant, what is
    not testable.
    """
    if table.tests is None:
        return _untested(table)
    verdicts = table.verdicts
    if not any(v in _CERTAIN for v in verdicts) and Verdict.NOISE in verdicts:
        return [_nothing_significant(table), *_open(table)]
    said = []
    for verdict in _CERTAIN:
        found = [k for k, v in enumerate(verdicts) if v is verdict]
        said += [_sized(table, verdict, found)] if found else []
    said += densest_places(table)
    noise = [k for k, v in enumerate(verdicts) if v is Verdict.NOISE]
    said += [_not_significant(table, noise)] if noise else []
    return [*said, *_open(table), *_smallest(table)]


def _sized(table: LevelTable, verdict: Verdict, levels: list[int]) -> Diagnostic:
    """What is clear, or likely, with its size; the largest first."""
    gaps, shares = table.profile.gaps, table.shares
    ranked = sorted(levels, key=lambda k: -gaps[k])
    sizes = [
        {**_level(table, k), "nats": float(gaps[k]), "share": float(shares[k])} for k in ranked
    ]
    return Diagnostic(f"levels_{verdict}", data={"sizes": sizes})


def _not_significant(table: LevelTable, levels: list[int]) -> Diagnostic:
    data: dict[str, Any] = {"levels": _levels(table, levels)}
    pvalue = float(table.pvalues[levels[0]])
    if len(levels) > 1 or np.isnan(pvalue):
        return Diagnostic("levels_not_significant", data=data)
    return Diagnostic("level_not_significant", data={**data, "pvalue": pvalue})


def _nothing_significant(table: LevelTable) -> Diagnostic:
    """Nothing was found, and the noise level."""
    p = table.profile
    tested = [k for k, v in enumerate(table.verdicts) if v is Verdict.NOISE]
    if len(tested) < len(p.levels):
        return _not_significant(table, tested)
    data = {"nats": float(p.deficits[-1]), "noise": float(p.noise.sum())}
    return Diagnostic("nothing_significant", data=data)


def _open(table: LevelTable) -> list[Diagnostic]:
    """Levels that are not testable, with the reason, and what is not computed."""
    reasons: dict[Diagnostic, list[int]] = {}
    for k, reason in enumerate(table.reasons):
        if table.verdicts[k] is Verdict.UNJUDGED:
            why = Diagnostic("see_tests") if reason is None else reason
            reasons.setdefault(Diagnostic(why.code, data=why.data), []).append(k)
    said = [
        Diagnostic(
            "levels_not_testable", data={"levels": _levels(table, levels), "why": why.nested}
        )
        for why, levels in reasons.items()
    ]
    later = table.intervals_later
    more = [] if later is None else [Diagnostic("intervals_left_open", data={"why": later.nested})]
    return [*said, *_later(table), *more, *_no_interval(table), *_against(table)]


def _no_interval(table: LevelTable) -> list[Diagnostic]:
    """Levels without an interval, and the reason of the lowest."""
    codes = ("sums_without_variance", "too_few_for_interval")
    known = {level: said for code in codes for level, said in _of_intervals(table, code).items()}
    if not known:
        return []
    data = {"levels": _levels(table, list(known)), "why": known[min(known)].nested}
    return [Diagnostic("levels_without_interval", data=data)]


def _against(table: LevelTable) -> list[Diagnostic]:
    """Levels whose interval rests on one unit, or does not agree with the verdict."""
    resting = _of_intervals(table, "interval_rests_on_unit")
    said, apart = [], dict[str, list[int]]()
    for k, why in table.disagreements.items():
        if k not in resting:
            apart.setdefault(why.code, []).append(k)
    for k, why in resting.items():
        if table.verdicts[k] in _CERTAIN or k in table.disagreements:
            data = {"levels": _levels(table, [k]), **why.data}
            said.append(Diagnostic("interval_of_one_unit", data=data))
    every = apart.items()
    return [*said, *(Diagnostic(code, data={"levels": _levels(table, k)}) for code, k in every)]


def _of_intervals(table: LevelTable, code: str) -> dict[int, Diagnostic]:
    """What intervals have of one code, by level counted from 0."""
    known = () if table.intervals is None else table.intervals.diagnostics
    return {one.level - 1: one for one in known if one.code == code and one.level is not None}


def _smallest(table: LevelTable) -> list[Diagnostic]:
    """Levels whose p-value is the smallest that so many draws can give, and more might make clear.

    With B draws that is 1 / (B + 1).
    """
    tests = table.tests
    assert tests is not None
    draws = tests.options.replicates
    bound = [
        k
        for k, verdict in enumerate(table.verdicts)
        if verdict is Verdict.LIKELY and tests.methods[k].by_bootstrap
        and (draws + 1) * tests.pvalue[k] < 1.5  # a count, so one
    ]  # fmt: skip
    if not bound:
        return []
    data = {"levels": _levels(table, bound), "draws": draws, "more": 10 * draws + 9}
    return [Diagnostic("smallest_pvalue", data=data)]


def _later(table: LevelTable) -> list[Diagnostic]:
    """Levels whose p-value is not computed, and those whose correction waits for it."""
    p, tests = table.profile, table.tests
    assert tests is not None
    said: list[Diagnostic] = []
    for one in tests.not_computed[:_NAMED]:
        assert one.level is not None  # it is of a level
        k = one.level - 1
        size = {**_level(table, k), "nats": float(p.gaps[k]), "noise": float(p.noise[k])}
        said.append(Diagnostic("level_left_open", data={"sizes": [size], "why": one.nested}))
    if len(tests.later) > _NAMED:
        levels = _levels(table, [k - 1 for k in tests.later])
        data = {"levels": levels, "why": tests.left_open.nested}
        said = [Diagnostic("levels_left_open", data=data)]
    verdicts = enumerate(table.verdicts)
    waiting = [k for k, v in verdicts if v is Verdict.OPEN and k + 1 not in tests.later]
    if waiting:
        values = [{**_level(table, k), "pvalue": float(tests.pvalue[k])} for k in waiting]
        data = {"pvalues": values, "why": waits_for_others(tests).nested}
        said.append(Diagnostic("levels_waiting", data=data))
    return said


def _untested(table: LevelTable) -> list[Diagnostic]:
    """What there is most of, and why nothing is tested."""
    p, shares = table.profile, table.shares
    assert table.refusal is not None  # nothing is tested
    why = Diagnostic("not_tested", data={"why": table.refusal.nested})
    if np.isnan(shares).any():
        return [why]
    features = int(p.dims.sum())
    if p.design.defines_inference and p.ess < features:
        data = {"nats": float(p.deficits[-1]), "rows": float(p.ess), "features": features}
        return [Diagnostic("rows_below_features", data=data), why]
    k = int(p.gaps.argmax())
    size = {**_level(table, k), "nats": float(p.gaps[k]), "share": float(shares[k])}
    return [Diagnostic("largest_level", data={"sizes": [size]}), why]


def _level(table: LevelTable, k: int) -> dict[str, Any]:
    return {"level": k + 1, "name": names_of(table.profile)[k]}


def _levels(table: LevelTable, found: list[int]) -> list[dict[str, Any]]:
    return [_level(table, k) for k in found]
