"""A gap near uniformity against its quadratic form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from steradian.numerics.arrays import Array
from steradian.plots.canvas import GREY, axes_for, colour, frame, settled, titled
from steradian.plots.palette import COLUMN, TEXT
from steradian.text.numbers import digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "os^Dv*"
_MARKED = 24  # points of a path that have a marker, of many
_MOST = 2000  # points of a path that paper shows


def local_form(
    paths: Mapping[str, tuple[Array, Array]], ax: Axes | None = None, *, level: int
) -> Axes:
    """Draw exact gaps against their local form; the dashed line is identity.

    Parameters
    ----------
    paths : mapping from name to (local forms, exact gaps)
        One curve of laws each, nats.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    level : int
        Whose gap it is, for the labels.
    """
    own, ax = ax is None, axes_for(ax, COLUMN, 3.6)
    for index, (name, (quadratic, exact)) in enumerate(paths.items()):
        some = slice(None, None, 1 + len(quadratic) // _MOST)
        (line,) = ax.plot(quadratic[some], exact[some], color=colour(index), label=name)
        line.set(marker=_MARKERS[index % len(_MARKERS)], markersize=4, linewidth=1.0)
        line.set_markevery(1 + len(quadratic[some]) // _MARKED)
    corner = max(float(np.max([quadratic, exact])) for quadratic, exact in paths.values())
    ax.plot([0, corner], [0, corner], color=GREY, linestyle="--", linewidth=1.2, label="identity")
    ax.set_xlabel(f"local form of $I_{level}$ (nats)")
    ax.set_ylabel(f"exact gap $I_{level}$ (nats)")
    ax.set(xlim=(0, None), ylim=(0, None), aspect="equal")
    ax.locator_params(nbins=6)
    ax.legend(frameon=False, fontsize=TEXT, loc="upper left")
    frame(ax)
    if own:  # axes that were given have their own title
        titled(ax, _finding(paths))
        return settled(ax)
    return ax


def _finding(paths: Mapping[str, tuple[Array, Array]]) -> str:
    """How far the form is off at the far end of the paths."""
    ends = [(float(form[-1]), float(gap[-1])) for form, gap in paths.values() if len(form)]
    ratios = [gap / form for form, gap in ends if form > 0.0]
    if not ratios:
        return "Every law is uniform"
    low, high = digits(min(ratios)), digits(max(ratios))
    times = low if low == high else f"{low} to {high}"
    return f"Where the paths end, the exact gap is {times}\u00a0× its local form"
