"""Where plots are drawn: new axes and figures, and colours everybody can tell apart."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from steradian.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito (2008), "Color universal design", without yellow, which is faint on white.
BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
ORANGE, SKY, PURPLE = "#E69F00", "#56B4E9", "#CC79A7"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
DASHES = ("-", "--", "-.", ":")  # beside the colours, for print in grey
GREY = "#666666"


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


def new_axes() -> Axes:
    """Axes of a new figure that an interactive session shows."""
    require()
    from matplotlib import pyplot as plt

    return plt.subplots(layout="constrained")[1]


def new_figure(width: float, height: float) -> Figure:
    """A figure for files, in inches, that no session keeps alive."""
    require()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def frame(ax: Axes) -> None:
    """Only the sides that carry ticks."""
    ax.spines[["top", "right"]].set_visible(False)
