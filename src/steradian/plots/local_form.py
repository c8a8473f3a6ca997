"""A gap near uniformity against its quadratic form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from steradian.numerics.arrays import Array
from steradian.plots.canvas import GREY, axes_for, colour, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "os^Dv*"


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
    ax = axes_for(ax)
    for index, (name, (quadratic, exact)) in enumerate(paths.items()):
        (line,) = ax.plot(quadratic, exact, color=colour(index), linewidth=1.0, label=name)
        line.set(marker=_MARKERS[index % len(_MARKERS)], markersize=4)
    corner = max(float(np.max([quadratic, exact])) for quadratic, exact in paths.values())
    ax.plot([0, corner], [0, corner], color=GREY, linestyle="--", linewidth=1.2, label="identity")
    ax.set_xlabel(f"local form of $I_{level}$ (nats)")
    ax.set_ylabel(f"exact gap $I_{level}$ (nats)")
    ax.set(xlim=(0, None), ylim=(0, None), aspect="equal")
    ax.locator_params(nbins=6)
    ax.legend(frameon=False)
    frame(ax)
    return ax
