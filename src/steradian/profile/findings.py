"""What a profile found, in the sentences of a scientist: what is there, and how sure it is."""

from __future__ import annotations

import numpy as np

from steradian.estimation.interval_concerns import DECIDED, NO_INTERVAL
from steradian.profile.level_table import LevelTable, names_of, waits_for_others
from steradian.profile.peaks import peaks_in_words
from steradian.wording import (
    Verdict,
    digits,
    levels_in_words,
    listed,
    percent,
    pvalue_words,
    sentence,
    to_be,
)

_NAMED = 4  # levels that are named one by one
_CERTAIN = (Verdict.CLEAR, Verdict.LIKELY)
_UNJUDGED = f"{Verdict.UNJUDGED}: "


def findings(table: LevelTable) -> list[str]:
    """One sentence for each verdict, the surest first.

    Caveats come after the finding: what is clear, what is likely, what noise explains, what
    nobody can tell.
    """
    if table.tests is None:
        return [_untested(table)]
    verdicts = table.verdicts
    if not any(v in _CERTAIN for v in verdicts) and Verdict.NOISE in verdicts:
        return [_all_noise(table), *_open(table)]
    said = []
    for verdict in _CERTAIN:
        found = [k for k, v in enumerate(verdicts) if v is verdict]
        said += [_sized(table, verdict, found)] if found else []
    said += peaks_in_words(table)
    noise = [k for k, v in enumerate(verdicts) if v is Verdict.NOISE]
    said += [_within_noise(table, noise)] if noise else []
    return [*said, *_open(table), *_smallest(table)]


def _sized(table: LevelTable, verdict: Verdict, levels: list[int]) -> str:
    """What is clear, or likely, with its size; the largest first."""
    gaps, shares = table.profile.gaps, table.shares
    ranked = sorted(levels, key=lambda k: -gaps[k])
    sizes = [f"{_level(table, k)}, {digits(gaps[k])} nats ({percent(shares[k])})" for k in ranked]
    return sentence(f"{verdict}: {'; '.join(sizes)}")


def _within_noise(table: LevelTable, levels: list[int]) -> str:
    return sentence(f"{_levels(table, levels)} {to_be(levels)} {Verdict.NOISE}")


def _all_noise(table: LevelTable) -> str:
    """Nothing was found, and what noise gives."""
    p = table.profile
    tested = [k for k, v in enumerate(table.verdicts) if v is Verdict.NOISE]
    if len(tested) < len(p.levels):
        return _within_noise(table, tested)
    total, noise = float(p.deficits[-1]), float(p.noise.sum())
    against = f"{digits(total, 2)} nats, where noise gives {digits(noise, 2)}"
    return sentence(f"Nothing is told apart from noise, at any level ({against})")


def _open(table: LevelTable) -> list[str]:
    """Levels that nobody can judge, with the reason, and what is not computed."""
    assert table.tests is not None
    reasons: dict[str, list[int]] = {}
    for k, verdict in enumerate(table.verdicts):
        if verdict is Verdict.UNJUDGED:
            reasons.setdefault(_reason(table, k + 1), []).append(k)
    said = [
        sentence(f"{_levels(table, levels)} {Verdict.UNJUDGED}: {why}")
        for why, levels in reasons.items()
    ]
    later = [sentence(f"Intervals: {table.intervals_later}")] if table.intervals_later else []
    return [*said, *_later(table), *later, *_no_interval(table), *_wide(table)]


def _no_interval(table: LevelTable) -> list[str]:
    """Levels with too few units for an interval, and the reason of the lowest."""
    known = _said_of_intervals(table, NO_INTERVAL)
    if not known:
        return []
    have = "has" if len(known) == 1 else "have"
    return [sentence(f"{_levels(table, list(known))} {have} {NO_INTERVAL}{known[min(known)]}")]


def _wide(table: LevelTable) -> list[str]:
    """Levels that are told apart from noise, and whose interval one unit makes as wide as it is."""
    return [
        sentence(f"{_level(table, k)}: {DECIDED}{why}; profile the others to see without it")
        for k, why in _said_of_intervals(table, DECIDED).items()
        if table.verdicts[k] in _CERTAIN
    ]


def _said_of_intervals(table: LevelTable, kind: str) -> dict[int, str]:
    """What the intervals warn of in this way, by level counted from 0."""
    warned = () if table.intervals is None else table.intervals.warnings
    begins = {k: f"level {k + 1}: {kind}" for k in range(len(table.profile.levels))}
    return {k: w.removeprefix(b) for k, b in begins.items() for w in warned if w.startswith(b)}


def _smallest(table: LevelTable) -> list[str]:
    """Levels whose p-value is the smallest that so many draws can give, and more might make clear.

    With B draws that is 1 / (B + 1).
    """
    tests = table.tests
    assert tests is not None
    draws = tests.options.replicates
    bound = [
        k
        for k, verdict in enumerate(table.verdicts)
        if verdict is Verdict.LIKELY and "bootstrap" in tests.methods[k]
        and (draws + 1) * tests.pvalue[k] < 1.5  # a count, so one
    ]  # fmt: skip
    if not bound:
        return []
    more = f"tests(replicates={10 * draws + 9}) in Python may call it clear"
    return [sentence(f"{_levels(table, bound)}: none of {draws} draws came near; {more}")]


def _later(table: LevelTable) -> list[str]:
    """Levels whose p-value is not computed, and those whose correction waits for it."""
    p, tests = table.profile, table.tests
    assert tests is not None
    said: list[str] = []
    for level in tests.later[:_NAMED]:
        k = level - 1
        noise = "" if np.isnan(p.noise[k]) else f" where noise gives {digits(p.noise[k], 2)}"
        why = tests.not_computed[len(said)].words
        said.append(f"{_level(table, k)}, {digits(p.gaps[k])} nats{noise}: {why}")
    if len(tests.later) > _NAMED:
        said = [f"{_levels(table, [k - 1 for k in tests.later])}: {tests.left_open.words}"]
    verdicts = enumerate(table.verdicts)
    waiting = [k for k, v in verdicts if v is Verdict.OPEN and k + 1 not in tests.later]
    if waiting:
        values = [f"{_level(table, k)}, {pvalue_words(float(tests.pvalue[k]))}" for k in waiting]
        said.append(f"{'; '.join(values)} alone; {waits_for_others(tests)}")
    return [sentence(one) for one in said]


def _reason(table: LevelTable, level: int) -> str:
    assert table.tests is not None
    begins = f"level {level}: "
    said = [w.removeprefix(begins) for w in table.tests.warnings if w.startswith(begins)]
    own = [w.removeprefix(_UNJUDGED) for w in said if w.startswith(_UNJUDGED)]
    return (own or said[-1:] or ["see tests()"])[0]  # what refuses is said last


def _untested(table: LevelTable) -> str:
    """What there is most of, and why nothing says whether it is noise."""
    p, shares = table.profile, table.shares
    why = sentence(f"not tested: {table.refusal}")
    if np.isnan(shares).any():
        return why
    features = int(p.dims.sum())
    if p.design.defines_inference and p.ess < features:
        size = f"{digits(p.deficits[-1])} nats"
        few = f"{p.ess:.0f} rows for {features} features, where noise alone gives nats like these"
        return f"{sentence(f'{size} cannot be told from noise: {few}')} {why}"
    k = int(p.gaps.argmax())
    most = f"Most is in {_level(table, k)}: {digits(p.gaps[k])} nats ({percent(shares[k])})"
    return f"{sentence(most)} {why}"


def _level(table: LevelTable, k: int) -> str:
    name = names_of(table.profile)[k]
    own = f"level {k + 1}"
    return own if name == own else f"{own} ({name})"


def _levels(table: LevelTable, found: list[int]) -> str:
    if len(found) > _NAMED:
        return levels_in_words([k + 1 for k in found])
    return listed([_level(table, k) for k in found])
