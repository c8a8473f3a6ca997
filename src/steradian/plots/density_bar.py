"""The bar of colours of a density, on which the uniform law is marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steradian.plots.palette import GREY, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

_LEAST_TOP = 1.2  # of the bar, times uniform, so that one is on it


def density_norm(most: float) -> Normalize:
    """Colours from nothing to the densest, in proportion."""
    from matplotlib.colors import Normalize

    return Normalize(0.0, max(most, _LEAST_TOP))


def density_bar(painted: Any, ax: Axes, words: str, *, orientation: str = "horizontal") -> Any:
    """A bar of colours with its quantity, and a line where the density is that of uniform."""
    bar = ax.figure.colorbar(
        painted, ax=ax, orientation=orientation, shrink=0.85, aspect=32, pad=0.03, fraction=0.05
    )
    bar.set_label(words, fontsize=TEXT)
    bar.ax.tick_params(labelsize=TEXT, width=0.6, length=2.5)
    bar.outline.set_linewidth(0.5)
    bar.ax.locator_params(nbins=5)
    line = bar.ax.axvline if orientation == "horizontal" else bar.ax.axhline
    line(1.0, color=GREY, linewidth=1.4)
    if orientation == "horizontal":
        bar.ax.annotate(
            "uniform", (1.0, 1.0), xycoords=("data", "axes fraction"), xytext=(-2.0, 1.5),
            textcoords="offset points", fontsize=TEXT, color=GREY, ha="left", va="bottom",
        )  # fmt: skip
    return bar


def pale_edges(lines: Any) -> None:
    """White edges beside contours, so that they are seen on every colour of a density."""
    from matplotlib import patheffects

    lines.set_path_effects([patheffects.withStroke(linewidth=2.2, foreground="white", alpha=0.8)])
