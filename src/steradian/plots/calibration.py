"""Whether p-values are uniform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from steradian.numerics.arrays import Array
from steradian.plots.canvas import GREY, axes_for, colour, dash, frame, settled, titled
from steradian.plots.palette import COLUMN, TEXT
from steradian.text.numbers import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = 0.05  # of the tests whose p-values these are
_MOST = 2000  # steps of a curve


def pvalue_ecdf(pvalues: Mapping[str, ArrayLike], ax: Axes | None = None) -> Axes:
    """Draw the empirical distribution function of each set of p-values, by name.

    The dotted diagonal is the uniform law: a curve above it rejects too often.
    """
    own, ax = ax is None, axes_for(ax, COLUMN, 3.6)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.2, label="uniform")
    for index, (name, values) in enumerate(pvalues.items()):
        line = ax.ecdf(_thinned(values), label=name, color=colour(index))
        line.set(linestyle=dash(index), linewidth=1.6)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="p-value", ylabel="empirical distribution function")
    ax.set_aspect("equal")
    ax.legend(frameon=False, fontsize=TEXT, loc="lower right")
    frame(ax)
    if own:  # axes that were given have their own title
        titled(ax, _finding([np.asarray(values, dtype=np.float64) for values in pvalues.values()]))
        return settled(ax)
    return ax


def _thinned(values: ArrayLike) -> Array:
    """Values that have the steps of all of them, of many as many as paper shows."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if len(ordered) <= _MOST:
        return ordered
    return ordered[np.linspace(0, len(ordered) - 1, _MOST).astype(np.intp)]


def _finding(sets: list[Array]) -> str:
    """How often a test at the usual size would reject."""
    shares = [float((values <= _SIZE).mean()) for values in sets if len(values)]
    if not shares:
        return "There are no p-values"
    low, high = percent(min(shares)), percent(max(shares))
    return f"{low if low == high else f'{low} to {high}'} of p-values are at most {_SIZE:g}"
