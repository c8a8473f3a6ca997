"""What a profile found: which levels are there, how sure that is, and what else to know."""

from __future__ import annotations

from typing import Any

import numpy as np

from steradian.diagnostics import Diagnostic, Verdict
from steradian.profile.level_table import LevelTable, names_of, waits_for_others
from steradian.profile.peaks import densest_places

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
