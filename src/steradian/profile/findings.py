"""What a profile found, in the sentences of a scientist: what is there, and how sure it is."""

from __future__ import annotations

import numpy as np

from steradian.profile.level_table import LevelTable, names_of
from steradian.significance.effort import LATER
from steradian.wording import Verdict, digits, listed, percent, sentence

_NAMED = 4  # levels that are named one by one
_CERTAIN = (Verdict.CLEAR, Verdict.LIKELY)
_VERBS = {
    Verdict.LIKELY: "likely",
    Verdict.NOISE: "not told apart from noise",
    Verdict.UNJUDGED: "cannot be judged",
}


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
    clear = [k for k, v in enumerate(verdicts) if v is Verdict.CLEAR]
    said = [_clear(table, clear)] if clear else []
    for verdict in (Verdict.LIKELY, Verdict.NOISE):
        found = [k for k, v in enumerate(verdicts) if v is verdict]
        if found:
            said.append(sentence(f"{_levels(table, found)} {_is(found)} {_VERBS[verdict]}"))
    return [*said, *_open(table)]


def _clear(table: LevelTable, levels: list[int]) -> str:
    """What is clear, with its size; the largest first."""
    gaps, shares = table.profile.gaps, table.shares
    ranked = sorted(levels, key=lambda k: -gaps[k])
    sizes = [f"{_level(table, k)}, {digits(gaps[k])} nats ({percent(shares[k])})" for k in ranked]
    return sentence(f"Clear: {'; '.join(sizes)}")


def _all_noise(table: LevelTable) -> str:
    """Nothing was found, and what noise gives."""
    p = table.profile
    tested = [k for k, v in enumerate(table.verdicts) if v is Verdict.NOISE]
    if len(tested) < len(p.levels):
        return sentence(f"{_levels(table, tested)} {_is(tested)} {_VERBS[Verdict.NOISE]}")
    total, noise = float(p.deficits[-1]), float(p.noise.sum())
    against = f"{digits(total, 2)} nats, where noise gives {digits(noise, 2)}"
    return sentence(f"Nothing is told apart from noise, at any level ({against})")


def _open(table: LevelTable) -> list[str]:
    """Levels that nobody can judge, with the reason, and those that take longer."""
    assert table.tests is not None
    later = table.later
    unjudged = [
        k
        for k, verdict in enumerate(table.verdicts)
        if verdict is Verdict.UNJUDGED and table.tests.methods[k] != LATER
    ]
    said = []
    if unjudged:
        begins = f"{_levels(table, unjudged)} cannot be judged"
        said.append(sentence(f"{begins}: {_reason(table, unjudged[0] + 1)}"))
    if later:
        names = listed([str(level) for level in later])
        said.append(
            f"Level{'s' * (len(later) > 1)} {names}: p takes a while, and tests() finds it."
        )
    return said


def _reason(table: LevelTable, level: int) -> str:
    assert table.tests is not None
    begins = f"level {level}: "
    for words in table.tests.warnings:
        if words.startswith(begins):
            return words.removeprefix(begins).removeprefix("cannot be judged: ")
    return "see tests()"


def _untested(table: LevelTable) -> str:
    """What there is most of, and why nothing says whether it is noise."""
    p, shares = table.profile, table.shares
    why = sentence(f"not tested: {table.refusal}")
    if np.isnan(shares).any():
        return why
    k = int(p.gaps.argmax())
    most = f"Most is in {_level(table, k)}: {digits(p.gaps[k])} nats ({percent(shares[k])})"
    return f"{sentence(most)} {why}"


def _level(table: LevelTable, k: int) -> str:
    name = names_of(table.profile)[k]
    own = f"level {k + 1}"
    return own if name == own else f"{own} ({name})"


def _levels(table: LevelTable, found: list[int]) -> str:
    if len(found) > _NAMED:
        return f"levels {listed(_runs(found))}"
    return listed([_level(table, k) for k in found])


def _runs(found: list[int]) -> list[str]:
    """Levels by their numbers, neighbours as a range: "3", "5 to 24"."""
    starts = [k for k in found if k - 1 not in found]
    ends = [k for k in found if k + 1 not in found]
    pairs = zip(starts, ends, strict=True)
    return [str(a + 1) if a == b else f"{a + 1} to {b + 1}" for a, b in pairs]


def _is(found: list[int]) -> str:
    return "is" if len(found) == 1 else "are"
