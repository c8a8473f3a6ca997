"""Pictures that the paper has and nobody else needs: its clouds, its p-values, its local forms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.directions import Directions
from steradian.numerics.arrays import Array
from steradian.plots.canvas import colour, dash, frame
from steradian.plots.palette import BLUE, GREY, TEXT
from steradian.plots.projections import (
    Disc,
    draw_lines,
    draw_outline,
    frame_of,
    polar_lines,
    sphere_points,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OPAQUE = 1000  # rows from which points are fainter
_FEW, _LARGE = 30, 16.0  # rows that are drawn large, and their area in square points
_MOST = 2000  # steps of a curve that paper shows
_MARKERS, _MARKED = "os^Dv*", 24  # of paths, and the points of one that have a marker


def sphere_cloud(x: Directions, ax: Axes, view: tuple[float, float] = (30.0, 35.0)) -> None:
    """Directions under orthographic projection; those on the far side are faint.

    The eye stands at ``view``, a longitude and a latitude in degrees.
    """
    longitude, latitude = view
    eye = sphere_points(np.array([longitude]), np.array([latitude]))[0]
    right = sphere_points(np.array([longitude + 90.0]), np.zeros(1))[0]
    panel = Disc(frame_of(right, np.cross(eye, right), eye), "orthographic")
    draw_lines(ax, panel, polar_lines(30.0, 30.0))
    draw_outline(ax, panel)
    places, near = panel.places(x.x)
    fading = min(1.0, math.sqrt(_OPAQUE / x.n))
    size = max(1.5, _LARGE * min(1.0, (_FEW / x.n) ** 0.3))
    for some, alpha in ((~near, 0.2), (near, 0.7)):
        across, up = places[some].T
        points = ax.scatter(across, up, s=size, color=BLUE, alpha=alpha * fading)
        points.set(linewidths=0, rasterized=x.n > _OPAQUE)
    ax.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal")
    ax.set_axis_off()


def pvalue_ecdf(pvalues: Mapping[str, ArrayLike], ax: Axes) -> None:
    """The empirical distribution function of each set of p-values, by name.

    The dotted diagonal is the uniform law: a curve above it rejects too often.
    """
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.2, label="uniform")
    for index, (name, values) in enumerate(pvalues.items()):
        ordered = np.sort(np.asarray(values, dtype=np.float64))
        steps = np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST)).astype(np.intp)
        line = ax.ecdf(ordered[steps], label=name, color=colour(index))
        line.set(linestyle=dash(index), linewidth=1.6)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="p-value", ylabel="empirical distribution function")
    ax.set_aspect("equal")
    ax.legend(frameon=False, fontsize=TEXT, loc="lower right")
    frame(ax)


def local_form(paths: Mapping[str, tuple[Array, Array]], ax: Axes, *, level: int) -> None:
    """Exact gaps of a level against their local form, nats; the dashed line is identity.

    ``paths`` has a curve of laws for each name: local forms and exact gaps.
    """
    for index, (name, (quadratic, exact)) in enumerate(paths.items()):
        (line,) = ax.plot(quadratic, exact, color=colour(index), label=name)
        line.set(marker=_MARKERS[index % len(_MARKERS)], markersize=4, linewidth=1.0)
        line.set_markevery(1 + len(quadratic) // _MARKED)
    corner = max(float(np.max(path)) for path in paths.values())
    ax.plot([0, corner], [0, corner], color=GREY, linestyle="--", linewidth=1.2, label="identity")
    ax.set_xlabel(f"local form of $I_{level}$ (nats)")
    ax.set_ylabel(f"exact gap $I_{level}$ (nats)")
    ax.set(xlim=(0, None), ylim=(0, None), aspect="equal")
    ax.locator_params(nbins=6)
    ax.legend(frameon=False, fontsize=TEXT, loc="upper left")
    frame(ax)
