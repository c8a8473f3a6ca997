"""Whether p-values are uniform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from steradian.plots.canvas import GREY, axes_for, colour, dash, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def pvalue_ecdf(pvalues: Mapping[str, ArrayLike], ax: Axes | None = None) -> Axes:
    """Draw the empirical distribution function of each set of p-values, by name.

    The dotted diagonal is the uniform law: a curve above it rejects too often.
    """
    ax = axes_for(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.2, label="uniform")
    for index, (name, values) in enumerate(pvalues.items()):
        line = ax.ecdf(np.asarray(values, dtype=np.float64), label=name, color=colour(index))
        line.set(linestyle=dash(index), linewidth=1.6)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="p-value", ylabel="empirical distribution function")
    ax.set_aspect("equal")
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    frame(ax)
    return ax
