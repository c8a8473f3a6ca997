"""Which levels a picture shows, and what is written of them: as much as there is room for."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.diagnostics import Verdict, verdict_of
from steradian.errors import SteradianError
from steradian.numerics.arrays import Array, IntArray
from steradian.plots.canvas import text_width
from steradian.plots.palette import TEXT
from steradian.text.numbers import capital, digits, levels_in_words, percent, to_be

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.decomposition import Profile
    from steradian.inference.gap_tests import GapTests


LINE = 1.2 * TEXT
"""Points from one line of text to the next."""
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_BETWEEN = 4.0  # points between two names
_SHORTEST = 4  # letters of a line of a name
_LAST_DRAWN = 8  # level up to which the last four are told apart
_MOST = 4  # levels that are drawn together


def levels_up_to(top: int) -> tuple[int, ...]:
    """Levels that are drawn together: all up to one, or four; 0 below the first.

    The last four up to level 8. Above it neighbours look alike, and their greys do too: there it
    is the top and levels 1, 2 and 4, whose laws differ as their colours do.

    Examples
    --------
    >>> levels_up_to(3), levels_up_to(6), levels_up_to(64)
    ((1, 2, 3), (3, 4, 5, 6), (1, 2, 4, 64))
    """
    if top > _LAST_DRAWN:
        return 1, 2, 4, top
    return tuple(range(1, top + 1))[-_MOST:] or (0,)


def round_ticks(at: Array | IntArray, most: int) -> list[int]:
    """Levels or degrees that are written below a picture: all of few, else every second, fifth,
    tenth and so on.
    """
    span = int(at[-1] - at[0])
    step = next((s for s in _STEPS if span <= most * s), span)
    return [int(k) for k in at if step == 1 or int(k) % step == 0]


def kept_apart(places: Array, least: float, worth: Array) -> IntArray:
    """Which of some places can have words that are ``least`` apart, ascending.

    The worthiest first, of equals the first; none whose worth is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> kept_apart(np.arange(6.0), 2.0, np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])).tolist()
    [0, 3, 5]
    """
    kept: list[int] = []
    for k in np.argsort(-worth, kind="stable"):
        free = all(abs(places[k] - places[j]) >= least for j in kept)
        if free and not np.isnan(worth[k]):
            kept.append(int(k))
    return np.sort(np.array(kept, dtype=np.int64))


def lines_apart(ax: Axes, count: int, *, upright: bool) -> float:
    """How many of ``count`` places along axes a line of text covers, words that stand upright or
    rows of words one below the other.
    """
    pixels = ax.bbox.width if upright else ax.bbox.height
    return LINE * (count + 0.2) / (72.0 * pixels / ax.figure.dpi)


def names_that_fit(ax: Axes, names: Sequence[str]) -> list[str]:
    """Names in lines that fit side by side below axes; none where a word is too wide."""
    room = 72.0 * ax.bbox.width / ax.figure.dpi / max(len(names), 1) - _BETWEEN
    for letters in range(max(map(len, names), default=0), _SHORTEST, -1):
        lines = [textwrap.wrap(name, letters, break_long_words=False) for name in names]
        if max(text_width(line, TEXT) for name in lines for line in name) <= room:
            return ["\n".join(name) for name in lines]
    return []


_PATIENCE = 2e8  # work of tests, some ten seconds; `Profile.tests` takes the time it needs


def asked(profile: Profile, method: str, *arguments: float) -> Any:
    """What a method of the profile answers, None where its design or data give no answer."""
    try:
        return getattr(profile, method)(*arguments)
    except SteradianError:
        return None


def gap_tests(profile: Profile) -> GapTests | None:
    """The tests of a profile that a picture waits for, None where there are none."""
    found: GapTests | None = asked(profile, "tests_within", _PATIENCE)
    return found


def chosen_level(profile: Profile) -> tuple[int, bool]:
    """The highest significant level, else the highest; whether all are noise."""
    tests = gap_tests(profile)
    if tests is None or tests.told:
        return (len(profile.levels) if tests is None else tests.told[-1]), False
    return len(profile.levels), all(verdict is Verdict.NOISE for verdict in tests.verdicts)


def gaps_finding(names: Sequence[str], gaps: Array, pvalues: Array | None) -> str:
    """Which level holds the information, and which are clear."""
    total = float(gaps.sum())
    top = int(np.argmax(gaps))
    largest = f"{capital(names[top])} (level {top + 1})"
    if not total > 0.0:
        return "No level adds information"
    share = f"{largest} holds {percent(float(gaps[top]) / total)} of {digits(total)} nats"
    if pvalues is None:
        return share
    said = [verdict_of(float(p)) for p in pvalues]
    clear, likely = (
        [k + 1 for k, word in enumerate(said) if word is sure]
        for sure in (Verdict.CLEAR, Verdict.LIKELY)
    )
    if not clear and not likely:
        unknown = all(word is Verdict.UNJUDGED for word in said)
        what = "No level is testable" if unknown else "No level is significant"
        return f"{what} ({digits(total)} nats in all)"
    found = ((Verdict.CLEAR, clear), (Verdict.LIKELY, likely))
    parts = [f"{levels_in_words(k)} {to_be(k)} {sure.words}" for sure, k in found if k]
    return f"{share}; {', '.join(parts)}"
