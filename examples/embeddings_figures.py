"""Pictures of examples/embeddings.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.plots.canvas import frame, new_figure
from steradian.plots.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from embeddings import Isotropy, Remainder, Size

SMALL = 8  # points
HEADROOM = 1.3  # above the highest bar, for the legend


def layers(found: list[Isotropy]) -> Figure:
    """Usual measures and gaps over layers."""
    figure = new_figure(7.2, 3.0)
    usual, gaps = figure.subplots(1, 2)
    at = np.arange(len(found))
    usual.plot(at, [f.cosine for f in found], "o-", color=PURPLE, label="average cosine")
    usual.plot(at, [f.score for f in found], "s--", color=GREEN, label="IsoScore")
    usual.set_ylim(0.0, 1.0)
    usual.set_ylabel("usual measures (0 to 1)")
    bars = (("$I_1$: narrow cone", BLUE), ("$I_2$: uneven axes", VERMILION))
    for level, (words, colour) in enumerate(bars):
        heights = [f.gaps[level] for f in found]
        gaps.bar(at + 0.4 * (level - 0.5), heights, 0.38, color=colour, label=words)
    gaps.axhspan(0.0, found[0].floor[1], color="black", alpha=0.6, lw=0, label="noise in $I_2$")
    gaps.set_ylim(0.0, HEADROOM * max(f.gaps.max() for f in found))
    gaps.set_ylabel("information gap (nats)")
    for ax in (usual, gaps):
        ax.legend(frameon=False, fontsize=SMALL, loc="upper left", ncols=2)
        ax.set_xticks(at)
        ax.set_xlabel("after layer (0: embeddings of the words)")
        frame(ax)
    return figure


def sizes(found: list[Size]) -> Figure:
    """Level 2 over the number of sentences: in the sample, corrected, held out."""
    figure = new_figure(6.2, 3.6)
    ax = figure.subplots()
    n = np.array([s.n for s in found])
    lines = {
        "$I_2$ in the sample": ([s.gap for s in found], VERMILION, "o-"),
        "$I_2$ debiased": ([s.debiased for s in found], VERMILION, "o:"),
        "held-out gain": ([s.held_out for s in found], GREEN, "s-"),
    }
    styles = ((ORANGE, "^--"), (PURPLE, "v-."), (GREY, "D:"))
    for share, (colour, dash) in zip(found[0].shares, styles, strict=True):
        words = f"held-out gain, {share:.0%} mixed in"
        lines[words] = ([s.shares[share] for s in found], colour, dash)
    for words, (values, colour, dash) in lines.items():
        ax.plot(n, values, dash, color=colour, label=words, ms=4.5)
    ax.set_xscale("log")
    ax.set_xticks(n, [f"{k:,}" for k in n])
    ax.minorticks_off()
    ax.set_ylim(0.0, 1.05 * np.nanmax([s.gap for s in found]))
    ax.set_xlabel("sentences fitted (log scale; gains below 0 are not shown)")
    ax.set_ylabel("level 2 over level 1 (nats per sentence)")
    ax.legend(frameon=False, fontsize=SMALL, loc="lower right")
    frame(ax)
    return figure


def neighbours(left: Remainder) -> Figure:
    """How near the nearest of the others is: sentences and draws of the fits."""
    figure = new_figure(6.2, 2.9)
    ax = figure.subplots()
    bins = np.linspace(0.0, 1.0, 51)
    clouds = (
        ("draws of level 1", left.nearest_drawn[0], BLUE, ":"),
        ("draws of level 2", left.nearest_drawn[1], VERMILION, "--"),
        ("held-out sentences", left.nearest, "black", "-"),
    )
    for words, values, colour, dash in clouds:
        counts, _ = np.histogram(values, bins)
        ax.stairs(counts, bins, color=colour, ls=dash, lw=1.6)
        top = int(np.argmax(counts))
        ax.annotate(
            words,
            (bins[top + 1], counts[top]),
            xytext=(6, 7),
            textcoords="offset points",
            color=colour,
            fontsize=9,
            va="center",
        )
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel(f"cosine with the nearest of {len(left.nearest) - 1} others")
    ax.set_ylabel("rows (bins of 0.02)")
    frame(ax)
    return figure
