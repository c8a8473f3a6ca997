"""Plotly figures of gaps, residuals and sensitivity: arrays in, dictionaries out.

Colours are names of CSS variables (``var:ink``) or of levels; the page's script puts in those of
the light or the dark theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.plots.palette import group_colour, level_colour
from steradian.report.page import PlotlyFigure

_NOT_THERE = None
_LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}  # it grows upwards, off the data
_SYMBOLS = "circle", "square", "diamond", "triangle-up", "triangle-down", "cross"


def numbers(values: Array, digits: int = 4) -> list[Any]:
    """Plain numbers of so many significant digits; None where there is none."""
    flat = np.asarray(values, dtype=np.float64)
    if flat.ndim > 1:
        return [numbers(row, digits) for row in flat]
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else _NOT_THERE for v in flat.tolist()]


def gap_bars(
    labels: Sequence[str], gaps: Array, noise: Array, interval: Array | None, notes: Sequence[str]
) -> PlotlyFigure:
    """One bar per level in its colour, whiskers of the interval, noise as a grey mark.

    ``interval`` is (2, L), its ends; ``notes`` stand above the bars.
    """
    colours = [level_colour(k + 1) for k in range(len(gaps))]
    bars: dict[str, Any] = {
        "type": "bar", "name": "information", "x": list(labels), "y": numbers(gaps),
        "marker": {"color": colours}, "hovertemplate": "%{x}: %{y} nats<extra></extra>",
    }  # fmt: skip
    ends = gaps if interval is None else np.fmax(gaps, interval[1])
    if interval is not None:
        bars["error_y"] = {
            "type": "data", "symmetric": False, "array": numbers(interval[1] - gaps),
            "arrayminus": numbers(gaps - interval[0]), "color": "var:ink", "thickness": 1.5,
            "width": 6,
        }  # fmt: skip
    data = [bars]
    if np.isfinite(noise).any():
        data.append({
            "type": "bar", "name": "noise", "x": list(labels), "y": numbers(noise), "width": 0.8,
            "marker": {"color": "var:noise", "opacity": 0.75},
            "hovertemplate": "noise alone: %{y} nats<extra></extra>",
        })  # fmt: skip
    above = [
        {"x": label, "y": float(end), "text": note, "showarrow": False, "yshift": 12}
        for label, end, note in zip(labels, ends, notes, strict=True)
        if note and np.isfinite(end)
    ]
    return {
        "data": data,
        "layout": {
            "barmode": "overlay", "annotations": above, "height": 340, "showlegend": False,
            "margin": {"l": 60, "r": 10, "t": 20, "b": 60},
            "yaxis": {"title": {"text": "information, nats"}, "rangemode": "tozero"},
            "xaxis": {"title": {"text": "level"}, "type": "category"},
        },
    }  # fmt: skip


def group_points(labels: Sequence[str], names: Sequence[str], gaps: Array) -> PlotlyFigure:
    """Gaps (G, L) of groups, a colour and a symbol for each group."""
    data = [
        {
            "type": "scatter", "mode": "markers", "name": name, "x": list(labels),
            "y": numbers(gaps[g]),
            "marker": {
                "color": group_colour(g), "symbol": _SYMBOLS[g % len(_SYMBOLS)], "size": 11,
                "line": {"color": "var:ink", "width": 1},  # dark colours on a dark page
            },
            "hovertemplate": "%{x}: %{y} nats<extra></extra>",
        }
        for g, name in enumerate(names)
    ]  # fmt: skip
    return {
        "data": data,
        "layout": {
            "height": 320, "margin": {"l": 60, "r": 10, "t": 20, "b": 60},
            "scattermode": "group",
            "yaxis": {"title": {"text": "information of the group, nats"}, "rangemode": "tozero"},
            "xaxis": {"title": {"text": "level"}, "type": "category"},
            "legend": _LEGEND, "showlegend": True,
        },
    }  # fmt: skip


def residual_bars(
    levels: IntArray, contributions: Array, axis: str, noise: float | None = None
) -> PlotlyFigure:
    """What each level leaves in each degree above it, (L, K), side by side."""
    data = []
    for k, level in enumerate(levels.tolist()):
        degrees = np.arange(level + 1, contributions.shape[1] + 1)
        data.append({
            "type": "bar", "name": f"left by level {level}", "x": degrees.tolist(),
            "y": numbers(contributions[k, level:]), "marker": {"color": level_colour(level)},
            "hovertemplate": f"level {level}, {axis} %{{x}}: %{{y}}<extra></extra>",
        })  # fmt: skip
    layout: dict[str, Any] = {
        "barmode": "group", "height": 320, "margin": {"l": 60, "r": 10, "t": 20, "b": 50},
        "yaxis": {"title": {"text": "Δ² of each " + axis}, "rangemode": "tozero"},
        "xaxis": {"title": {"text": axis}, "dtick": 1}, "legend": _LEGEND,
    }  # fmt: skip
    if noise is not None:
        layout["shapes"] = [{
            "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": noise, "y1": noise,
            "line": {"color": "var:quiet", "dash": "dot", "width": 1},
        }]  # fmt: skip
    return {"data": data, "layout": layout}


def mixing_curves(epsilon: Array, gaps: Array) -> PlotlyFigure:
    """Gaps (K, L) against the share of the uniform law that is mixed in."""
    data = [
        {
            "type": "scatter", "mode": "lines+markers", "name": f"level {k + 1}",
            "x": numbers(epsilon), "y": numbers(gaps[:, k]), "line": {"color": level_colour(k + 1)},
            "hovertemplate": f"level {k + 1}, share %{{x}}: %{{y}} nats<extra></extra>",
        }
        for k in range(gaps.shape[1])
    ]  # fmt: skip
    return {
        "data": data,
        "layout": {
            "height": 320, "margin": {"l": 60, "r": 10, "t": 20, "b": 50},
            "yaxis": {"title": {"text": "information, nats"}, "rangemode": "tozero"},
            "xaxis": {"title": {"text": "share of the uniform law mixed in"}},
            "legend": _LEGEND,
        },
    }  # fmt: skip
