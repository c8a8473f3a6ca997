"""Pictures of examples/attention.py: one cell per head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steradian.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

    from attention import Change, Queries

Array = NDArray[np.float64]

AROUND_ZERO = "PuOr_r"  # orange above, purple below: told apart by everybody


def changes(change: Change) -> Figure:
    """What attention changes in I₁ and I₂, with and without [CLS] and [SEP]."""
    from matplotlib.colors import Normalize

    figure = new_figure(7.2, 4.6)
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for row, tokens in enumerate(("all tokens", "without [CLS], [SEP]")):
        values = change.of(bool(row))[:, :, 0]
        for column in (0, 1):
            largest = float(np.abs(change.of(False)[:, :, 0, column]).max())
            scale = Normalize(-largest, largest)
            image = heads(axes[row, column], values[:, :, column], AROUND_ZERO, scale)
            axes[row, column].set_title(f"$I_{column + 1}$, {tokens}", fontsize=9)
            if row:
                words = f"change of $I_{column + 1}$ by attention (nats)"
                figure.colorbar(
                    image, ax=axes[:, column], label=words, location="bottom", aspect=35
                )
    label(axes)
    return figure


def queries(single: Queries) -> Figure:
    """What single queries' own keys add to as many others, median."""
    from matplotlib.colors import Normalize

    figure = new_figure(7.2, 2.9)
    axes = figure.subplots(1, 2, sharey=True)
    middle = np.median(single.more, axis=2)
    for column in (0, 1):
        largest = float(np.abs(middle[..., column]).max())
        scale = Normalize(-largest, largest)
        image = heads(axes[column], middle[..., column], AROUND_ZERO, scale)
        words = f"$I_{column + 1}$ of a query over shuffled, median (nats)"
        figure.colorbar(image, ax=axes[column], label=words, location="bottom", aspect=35)
    label(axes[None])
    return figure


def heads(ax: Axes, values: Array, colours: str, scale: Normalize) -> AxesImage:
    """Cells (6, 12), layer 1 at the bottom."""
    image = ax.imshow(values, cmap=colours, norm=scale, origin="lower", aspect="auto")
    layers, count = values.shape
    ax.set_xticks(range(count), [str(k + 1) for k in range(count)], fontsize=8)
    ax.set_yticks(range(layers), [str(k + 1) for k in range(layers)], fontsize=8)
    return image


def label(axes: NDArray[np.object_]) -> None:
    """Layer and head, once at each side."""
    for ax in axes[:, 0]:
        ax.set_ylabel("layer")
    for ax in axes[-1]:
        ax.set_xlabel("head")
