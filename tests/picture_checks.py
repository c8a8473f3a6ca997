"""What a reader may demand of every picture, asked of its artists after a layout."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.text import Text
from matplotlib.transforms import Bbox

SMALLEST = 8.0  # points
_TOUCH = 1.0  # pixels that boxes may share: fonts have room above and below their letters


def _tick_labels(axis: Axis) -> list[Text]:
    """Labels of ticks that are within the view."""
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * (high - low) if axis.get_scale() == "linear" else 0.0
    found = []
    for tick in axis.get_major_ticks():
        if low - slack <= tick.get_loc() <= high + slack:
            found += [t for t in (tick.label1, tick.label2) if t.get_visible()]
    return found


def _texts(figure: Any) -> list[Text]:
    """Everything that is written on a figure."""
    found: list[Text] = []
    waiting = list(figure.axes)
    for each in waiting:
        found += [each.title, each._left_title, each._right_title, *each.texts]
        legend = each.get_legend()
        found += [] if legend is None else legend.get_texts()
        found += [each.xaxis.label, each.yaxis.label]
        found += [*_tick_labels(each.xaxis), *_tick_labels(each.yaxis)]
        waiting += [child for child in each.child_axes if child not in waiting]
    return [t for t in found if t.get_visible() and t.get_text().strip()]


def _box(text: Text) -> Bbox:
    box = text.get_window_extent()
    return Bbox.from_extents(box.x0 + _TOUCH, box.y0 + _TOUCH, box.x1 - _TOUCH, box.y1 - _TOUCH)


def _overlaps(boxes: list[tuple[str, Bbox]]) -> list[str]:
    """Pairs of texts that are written over each other."""
    return [
        f"{a!r} over {b!r}"
        for (a, one), (b, other) in combinations(boxes, 2)
        if one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1
    ]


def _outside(boxes: list[tuple[str, Bbox]], paper: Bbox) -> list[str]:
    """Texts that leave the paper."""
    return [
        text
        for text, box in boxes
        if box.x0 < paper.x0 or box.x1 > paper.x1 or box.y0 < paper.y0 or box.y1 > paper.y1
    ]


def complaints(ax: Axes) -> list[str]:
    """All that a reader would object to, of the figure laid out once as it would be saved."""
    figure: Any = ax.figure
    figure.draw_without_rendering()
    written = _texts(figure)
    boxes = [(t.get_text(), _box(t)) for t in written]
    said = [f"overlap: {each}" for each in _overlaps(boxes)]
    said += [f"outside: {each!r}" for each in _outside(boxes, figure.bbox)]
    said += [f"small: {t.get_text()!r}" for t in written if float(t.get_fontsize()) < SMALLEST]
    if not (ax.get_title(loc="left") or ax.get_title()):
        said.append("no title")
    if not ax.get_xlabel():
        said.append("no label below")
    return said


def mesh_mass(ax: Axes, jacobian: Any = None) -> float:
    """Mean of what the colours of a map say, over the area of its cells on paper.

    One for a density that is a multiple of uniform on a map of equal areas; ``jacobian`` of the
    middles of cells gives the area that a unit of paper stands for on other maps.
    """
    from matplotlib.collections import QuadMesh

    mass = area = 0.0
    for mesh in ax.collections:
        if not isinstance(mesh, QuadMesh):
            continue
        corners = np.asarray(mesh.get_coordinates())
        a, b, c, d = corners[:-1, :-1], corners[:-1, 1:], corners[1:, 1:], corners[1:, :-1]
        across, up = c - a, d - b
        cells = 0.5 * np.abs(across[..., 0] * up[..., 1] - across[..., 1] * up[..., 0])
        if jacobian is not None:
            cells = cells * jacobian(0.25 * (a + b + c + d))
        mass += float((cells * np.asarray(mesh.get_array()).reshape(cells.shape)).sum())
        area += float(cells.sum())
    return mass / area
