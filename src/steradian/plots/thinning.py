"""What is written of many levels: as much as there is room for, what was found first."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.plots.canvas import text_width
from steradian.plots.palette import TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
