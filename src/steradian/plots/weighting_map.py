"""Many weightings at once: gaps of every level and row as colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result, shown
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import Array
from steradian.plots.canvas import axes_for, note, settled, text_width, titled
from steradian.plots.palette import COLUMN, GREY, INK, PAGE, TEXT, density_map
from steradian.text.numbers import digits, pvalue_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.batches import Profiles

_ALPHA = 0.05  # of the p-values that are counted
_MOST_COLUMNS = 720  # that paper shows; more rows are averaged, so many at a time
_BESIDE = 1.15  # inches of ticks, and of the bar of colour
_NUMBERED, _WITH_P = 7, 3  # rows up to which cells hold gaps, and p-values too
_PART = 0.6  # of the width of a figure that letters in the cells may take


def weighting_gaps(
    profiles: Profiles, ax: Axes | None = None, *, labels: Sequence[str] | None = None
) -> Axes:
    """Draw the gaps of every level (down) and weighting (across) as colours.

    Cells are hatched where a weighting is worth fewer rows than the level has features, and empty
    where a level has no fit. Of few weightings the numbers are written, with p-values where the
    gaps were compared with shuffles.

    Parameters
    ----------
    profiles : Profiles
        Of `steradian.profiles`: attention heads, queries, replicates.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    labels : sequence of str, optional
        Names of the weightings; their numbers unless given.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> x = sr.Directions.from_angles(np.linspace(0, 6, 40))
    >>> heads = np.exp(np.outer([0.0, 1.0, 2.0], x.x[:, 0]))
    >>> ax = sr.plots.weighting_gaps(sr.profiles(x, weights=heads, levels=2))  # doctest: +SKIP
    """
    checked_result(profiles, "flagged", "profiles()")
    count, levels = profiles.gaps.shape
    if labels is not None and len(labels) != count:
        raise InvalidArgument(f"labels has {len(labels)} names, {shown(count)} rows need one each")
    ax = axes_for(ax, COLUMN if count <= 3 * _NUMBERED else PAGE, 1.6 + 0.3 * levels)
    size = -(-count // _MOST_COLUMNS)
    values = _averaged(profiles.gaps, size)
    few = _averaged(np.where(profiles.enough, 0.0, 1.0), size) > 0.5
    edges = np.minimum(np.arange(len(values) + 1) * size, count) - 0.5
    rows = np.arange(levels + 1) + 0.5
    painted = ax.pcolormesh(edges, rows, values.T, cmap=density_map(), vmin=0.0, rasterized=True)
    _hatched(ax, edges, few & np.isfinite(values))
    ax.set_ylim(levels + 0.5, 0.5)
    ax.set_yticks(np.arange(1, levels + 1))
    ax.set_facecolor("#F2F2F2")
    if labels is not None and count <= 6 * _NUMBERED:
        upright = 90.0 if max(len(name) for name in labels) * count > 40 else 0.0
        ax.set_xticks(np.arange(count), list(labels), rotation=upright)
    elif count <= _NUMBERED:
        ax.set_xticks(np.arange(count))
    ax.set_xlabel("weighting (row of weights)")
    ax.set_ylabel("level L")
    bar = ax.figure.colorbar(painted, ax=ax, aspect=14, pad=0.02)
    bar.set_label("gap $I_L$ (nats)", fontsize=TEXT)
    bar.ax.tick_params(labelsize=TEXT)
    if count <= _NUMBERED:
        _numbers(ax, profiles)
    titled(ax, _finding(profiles), margin=_BESIDE)
    note(ax, _words(profiles, size), margin=_BESIDE)
    return settled(ax)


def _averaged(values: Array, size: int) -> Array:
    """Means over ``size`` rows at a time, what is not a number left out: (columns, L)."""
    if size == 1:
        return np.asarray(values, dtype=np.float64)
    starts = np.arange(0, len(values), size)
    known = np.isfinite(values)
    total = np.add.reduceat(np.where(known, values, 0.0), starts, axis=0)
    number_of = np.add.reduceat(known.astype(np.float64), starts, axis=0)
    return np.asarray(np.where(number_of > 0, total / np.maximum(number_of, 1.0), np.nan))


def _hatched(ax: Axes, edges: Array, few: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> None:
    """Stripes over runs of cells whose weightings are worth too few rows."""
    from matplotlib.patches import Rectangle

    for level in range(few.shape[1]):
        change = np.flatnonzero(np.diff(np.concatenate([[0], few[:, level].astype(int), [0]])))
        for first, last in change.reshape(-1, 2):
            box = Rectangle((edges[first], level + 0.5), edges[last] - edges[first], 1.0)
            box.set(fill=False, hatch="////", edgecolor=GREY, linewidth=0.0)
            ax.add_patch(box)


def _cell_digits(ax: Axes, gaps: Array) -> int:
    """How many digits of each gap fit side by side: three, two, or none at all."""
    room = _PART * ax.figure.bbox.width / ax.figure.dpi * 72.0 / len(gaps)
    for count in (3, 2):
        words = (digits(float(gap), count) for gap in gaps.ravel() if np.isfinite(gap))
        if max((text_width(each, TEXT) for each in words), default=0.0) <= room:
            return count
    return 0


def _numbers(ax: Axes, profiles: Profiles) -> None:
    """Gaps, and p-values where there are any, in cells that have room."""
    most = float(np.nanmax(profiles.gaps, initial=0.0)) or 1.0
    count = _cell_digits(ax, profiles.gaps)
    if not count:
        return
    for (row, level), gap in np.ndenumerate(profiles.gaps):
        if np.isfinite(gap):
            words = digits(float(gap), count)
            if profiles.null is not None and len(profiles.gaps) <= _WITH_P:
                words += f"\np {pvalue_number(float(profiles.pvalue[row, level]))}"
            colour = "white" if gap > 0.4 * most else INK
            ax.text(row, level + 1, words, ha="center", va="center", fontsize=TEXT, color=colour)


def _finding(profiles: Profiles) -> str:
    """Where the largest gap is."""
    if not np.isfinite(profiles.gaps).any():
        return "No weighting has a fit"
    row, level = np.unravel_index(int(np.nanargmax(profiles.gaps)), profiles.gaps.shape)
    size = digits(float(profiles.gaps[row, level]))
    largest = f"the largest gap is $I_{{{level + 1}}}$\u00a0=\u00a0{size} nats (row {row})"
    return f"{len(profiles.gaps):,} weightings; {largest}"


def _words(profiles: Profiles, size: int) -> str:
    parts = [f"each column the mean of {size} rows"] if size > 1 else []
    if len(profiles.flagged):
        parts.append("hatched: fewer effective rows than features")
    if profiles.null is not None:
        small = (profiles.pvalue <= _ALPHA).sum(axis=0)
        counts = ", ".join(f"{count} at level {k}" for k, count in enumerate(small, start=1))
        parts.append(f"p ≤ {_ALPHA:g} by shuffles: {counts}")
    if profiles.failures:
        parts.append("empty: no fit")
    return "; ".join(parts) or "every weighting has rows enough for its features"
