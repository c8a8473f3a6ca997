"""The bar of colours of a density, on which the uniform law is marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steradian.plots.palette import GREY, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

_LEAST_TOP = 1.2  # of the bar, times uniform, so that one is on it
_ABOVE, _HIGH = 15.0, 6.0  # points above the bar, for the word on it, and of the bar
_INDENT = 0.08  # of the width of the axes on either side


def density_norm(most: float) -> Normalize:
    """Colours from nothing to the densest, in proportion."""
    from matplotlib.colors import Normalize

    return Normalize(0.0, max(most, _LEAST_TOP))


def density_bar(painted: Any, ax: Axes, words: str) -> Any:
    """A bar of colours below axes and their label, and a line where the density is uniform.

    It hangs on the axes, wherever a layout puts them and whatever shape they have.
    """
    below = ax.inset_axes((_INDENT, -0.2, 1.0 - 2.0 * _INDENT, 0.03))
    below.set_axes_locator(lambda _, renderer: _place(ax, renderer))
    bar = ax.figure.colorbar(painted, cax=below, orientation="horizontal")
    bar.set_label(words, fontsize=TEXT)
    below.tick_params(labelsize=TEXT, width=0.6, length=2.5)
    bar.outline.set_linewidth(0.5)
    below.locator_params(nbins=5)
    below.axvline(1.0, color=GREY, linewidth=1.4)
    below.annotate(
        "uniform", (1.0, 1.0), xycoords=("data", "axes fraction"), xytext=(-2.0, 1.5),
        textcoords="offset points", fontsize=TEXT, color=GREY, ha="left", va="bottom",
    )  # fmt: skip
    return bar


def _place(ax: Axes, renderer: Any) -> Any:
    """Where the bar is on the figure: below the axes, their ticks and their label."""
    from matplotlib.transforms import Bbox

    ax.apply_aspect()
    figure: Any = ax.figure
    point = figure.dpi / 72.0
    box, ticks = ax.bbox, ax.xaxis.get_tightbbox(renderer)
    top = min(box.y0, box.y0 if ticks is None else ticks.y0) - _ABOVE * point
    left, right = box.x0 + _INDENT * box.width, box.x1 - _INDENT * box.width
    on_screen = Bbox.from_extents(left, top - _HIGH * point, right, top)
    return on_screen.transformed(figure.transSubfigure.inverted())


def pale_edges(lines: Any) -> None:
    """White edges beside contours, so that they are seen on every colour of a density."""
    from matplotlib import patheffects

    lines.set_path_effects([patheffects.withStroke(linewidth=2.2, foreground="white", alpha=0.8)])
