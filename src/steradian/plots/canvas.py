"""Where pictures are drawn: new axes and figures, titles, notes and bars of colour."""

from __future__ import annotations

import textwrap
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from steradian.arguments import shown
from steradian.errors import InvalidArgument, MissingExtra
from steradian.plots.palette import (
    BLUE,
    COLUMN,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    TEXT,
    TITLE,
    VERMILION,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [  # the colours have their home in the palette, and older callers look for them here
    "BLUE", "GREEN", "GREY", "ORANGE", "PURPLE", "SKY", "VERMILION", "axes_for", "colour", "dash",
    "frame", "new_axes", "new_figure", "note", "require", "titled",
]  # fmt: skip

PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
DASHES = ("-", "--", "-.", ":")  # beside the colours, for print in grey
_RC: dict[str, Any] = {
    "font.size": TEXT,
    "axes.labelsize": TEXT,
    "axes.titlesize": TITLE,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": TEXT,
    "savefig.dpi": 300,
}
_WIDTH_OF_LETTER = 0.5  # of the size of the font, on average
_SHORTEST_LINE = 16  # letters of a title


def colour(index: int) -> str:
    """Colour of the ``index``-th thing; they repeat after six."""
    return PALETTE[index % len(PALETTE)]


def dash(index: int) -> str:
    """Line style of the ``index``-th thing."""
    return DASHES[index % len(DASHES)]


def require() -> None:
    """Say which extra is missing, if it is."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("plots need matplotlib; install it with: pip install 'steradian[plots]'")


def new_axes(width: float = COLUMN, height: float = 2.7) -> Axes:
    """Axes of a new figure, one column of a journal wide, that an interactive session shows."""
    require()
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    with mpl.rc_context(_RC):
        return plt.subplots(figsize=(width, height), layout="constrained")[1]


def new_figure(width: float, height: float) -> Figure:
    """A figure for files, in inches, that no session keeps alive."""
    require()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def axes_for(ax: Axes | None, width: float = COLUMN, height: float = 2.7) -> Axes:
    """The axes that were given, or new ones of this size in inches."""
    if ax is None:
        return new_axes(width, height)
    if not hasattr(ax, "bar"):
        raise InvalidArgument(f"ax is {shown(ax)}; give the axes of a figure, or nothing")
    return ax


def frame(ax: Axes) -> None:
    """Only the sides that carry ticks."""
    ax.spines[["top", "right"]].set_visible(False)


def titled(ax: Axes, finding: str) -> None:
    """The finding above the axes, in lines that are no wider than they are."""
    ax.set_title(wrapped(ax, finding, TITLE), loc="left", fontsize=TITLE, color=INK)


def note(ax: Axes, words: str) -> None:
    """What a reader should know besides, in grey below everything else on the axes."""
    below: Any = ("axes fraction", ax.xaxis.label) if ax.axison else "axes fraction"
    ax.annotate(
        wrapped(ax, words, TEXT), (0.0, 0.0), xycoords=below, xytext=(0.0, -3.0),
        textcoords="offset points", va="top", ha="left", fontsize=TEXT, color=GREY,
    )  # fmt: skip


def wrapped(ax: Axes, words: str, size: float) -> str:
    """``words`` in lines that fit the width of the axes in letters of ``size`` points."""
    inches = ax.bbox.width / ax.figure.dpi
    letters = max(_SHORTEST_LINE, int(inches * 72.0 / (size * _WIDTH_OF_LETTER)))
    return textwrap.fill(words, letters, break_long_words=False)
