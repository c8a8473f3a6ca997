"""How gaps move when a share of another law is mixed into the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result
from steradian.plots.canvas import axes_for, frame, note, settled, titled
from steradian.plots.palette import GREY, LEVELS, TEXT, level_colour
from steradian.text.numbers import counted, digits, power_of_ten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.adequacy.sensitivity import Sensitivity

_NAMED = 6  # levels up to which each has an entry in the legend


def sensitivity_curves(sensitivity: Sensitivity, ax: Axes | None = None) -> Axes:
    """Draw gaps against the share ε of the uniform law, and of the level below, mixed in.

    Parameters
    ----------
    sensitivity : Sensitivity
        Of `Profile.sensitivity`.
    ax : matplotlib Axes, optional
        Where; new ones unless given.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    >>> ax = sr.plots.sensitivity_curves(p.sensitivity())  # doctest: +SKIP
    """
    checked_result(sensitivity, "quadrature_change", "Profile.sensitivity()")
    ax = axes_for(ax)
    order = np.argsort(sensitivity.epsilon)
    epsilon = sensitivity.epsilon[order]
    levels = sensitivity.uniform.shape[1]
    for k in range(levels):
        colour = level_colour(k + 1)
        ax.plot(
            epsilon, sensitivity.uniform[order, k], "o-", color=colour, markersize=3.0,
            linewidth=1.4, label=_entry(k + 1, levels), clip_on=False,
        )  # fmt: skip
        ax.plot(epsilon, sensitivity.below[order, k], "--", color=colour, linewidth=1.2)
    _axis(ax, epsilon)
    titled(ax, _finding(sensitivity, order))
    note(ax, _changes(sensitivity))
    _legend(ax, levels)
    frame(ax)
    return settled(ax)


def _legend(ax: Axes, levels: int) -> None:
    """Levels in columns, and in the last one what is mixed in, with room for them above the curves.

    In two rows; in three where one entry is that of many levels, which is wide.
    """
    many = levels > _NAMED
    if many or (levels > len(LEVELS) and levels % 2):
        ax.plot([], [], " ", label=" ")  # fills the column of levels
    ax.plot([], [], "-", color=GREY, label="with uniform")
    ax.plot([], [], "--", color=GREY, label="with the level below")
    entries = len(ax.get_legend_handles_labels()[1])
    low, high = ax.get_ylim()
    ax.set_ylim(low, low + (1.6 if many else 1.38) * (high - low))
    ax.legend(
        frameon=False, fontsize=TEXT, loc="upper left", ncols=3 if many else -(-entries // 2),
        handlelength=1.5, columnspacing=1.0, borderpad=0.0,
    )  # fmt: skip


def _entry(level: int, top: int) -> str:
    """The name of a curve in the legend; of many the greys have one for all of them."""
    first = len(LEVELS) + 1
    if top <= _NAMED or level < first:
        return f"$I_{{{level}}}$"
    return f"$I_{{{first}}}$ to $I_{{{top}}}$" if level == first else "_grey"


def _axis(ax: Axes, epsilon: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    """Shares in powers of ten, with nothing mixed in at the left."""
    positive = epsilon[epsilon > 0.0]
    if len(positive) > 1:
        ax.set_xscale("symlog", linthresh=float(positive[0]), linscale=0.5)
        ax.set_xticks(epsilon, [f"{100 * e:g}" for e in epsilon])
        ax.minorticks_off()
    ax.set_xlim(float(epsilon[0]), float(epsilon[-1]))
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    ax.set_xlabel("share ε of another law mixed in (%)")
    ax.set_ylabel("information gap $I_L$ (nats)")


def _finding(
    sensitivity: Sensitivity, order: np.ndarray[tuple[int, ...], np.dtype[np.intp]]
) -> str:
    """How much the largest gap loses at the largest share."""
    last = sensitivity.uniform[order[-1]]
    known = np.isfinite(sensitivity.gaps) & np.isfinite(last)
    if not known.any():
        return "No gap is known at every share"
    top = int(np.nanargmax(np.where(known, sensitivity.gaps, -np.inf)))
    before, share = float(sensitivity.gaps[top]), float(sensitivity.epsilon[order[-1]])
    kept = f"{digits(before)} to {digits(float(last[top]))} nats"
    return f"The largest gap, $I_{{{top + 1}}}$, goes from {kept} with {share:.0%} uniform mixed in"


def _changes(sensitivity: Sensitivity) -> str:
    """What should not matter, and does not beyond rounding."""
    parts = []
    if np.isfinite(sensitivity.quadrature_change):
        fine = power_of_ten(sensitivity.quadrature_change)
        parts.append(f"a grid twice as fine moves gaps by {fine} nats")
    if len(sensitivity.rotated):
        turns = counted(len(sensitivity.rotated), "rotation")
        moved = power_of_ten(sensitivity.rotation_change)
        parts.append(f"gaps move by {moved} nats in {turns} of the data")
    return "; ".join(parts)
