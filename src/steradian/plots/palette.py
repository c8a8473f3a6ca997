"""Colours and sizes that every picture shares.

A level has one colour everywhere: Okabe and Ito (2008), "Color universal design", which readers
with any colour vision tell apart; levels above the fourth go from dark to light grey. Groups have
another set (Tol 2021, "Colour schemes", SRON/EPS/TN/09-002, "muted"), so that nobody takes a group
for a level. Densities have one perceptually uniform map, light where there is little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY = "#E69F00", "#56B4E9"
LEVELS = (BLUE, VERMILION, GREEN, PURPLE)
"""Colours of levels 1 to 4."""
GROUPS = ("#332288", "#CC6677", "#999933", "#88CCEE", "#882255", "#44AA99")
"""Colours of groups, samples and other things that are no levels."""
GROUP_MARKERS = "osD^vP"
INK, GREY, PALE = "#222222", "#666666", "#D9D9D9"
"""Text and data; lines that help reading; the noise floor."""
UNIFORM_STYLE = {"color": GREY, "linestyle": (0, (1, 1.5)), "linewidth": 1.0}
"""The uniform law, wherever it is a line."""

COLUMN, PAGE = 3.5, 7.2
"""Widths of one and two columns of a journal, inches (89 and 183 mm)."""
TEXT, TITLE = 8.0, 9.0
"""Points; no text is smaller."""

_NEUTRAL = (0.15, 0.70)  # lightness of the first and of the last grey of the ramp
_RAMP = 12  # levels over which it runs


def level_colour(level: int) -> str:
    """The colour of a level; 0, the uniform law, is grey.

    >>> level_colour(1), level_colour(2), level_colour(5)
    ('#0072B2', '#D55E00', '#262626')
    """
    if level < 1:
        return GREY
    if level <= len(LEVELS):
        return LEVELS[level - 1]
    dark, light = _NEUTRAL
    step = min(level - len(LEVELS) - 1, _RAMP) / _RAMP
    shade = round(255 * (dark + (light - dark) * step))
    return f"#{shade:02x}{shade:02x}{shade:02x}"


def group_colour(index: int) -> str:
    """The colour of the ``index``-th group; they repeat after six, with other markers."""
    return GROUPS[index % len(GROUPS)]


def group_marker(index: int) -> str:
    """The marker of the ``index``-th group."""
    return GROUP_MARKERS[(index + index // len(GROUPS)) % len(GROUP_MARKERS)]


def density_map() -> Colormap:
    """The map of every density and count: pale where there is little, dark where there is much."""
    from matplotlib import colormaps

    return colormaps["magma_r"]


def difference_map() -> Colormap:
    """The map of differences that may have either sign; white is none."""
    from matplotlib import colormaps

    return colormaps["PuOr_r"]
