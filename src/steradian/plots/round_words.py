"""Which levels a picture of angles shows, and what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.arguments import shown
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import Array
from steradian.plots.sphere_scene import Scene
from steradian.wording import digits

if TYPE_CHECKING:
    from steradian.fitting.maxent import MaxEntFit

_MOST_LEVELS = 4  # curves that are told apart
_NEARLY_UNIFORM = 1.2  # times uniform, below which no peak is spoken of
_LEAST_MODE = 0.1  # of the highest peak, below which another is not counted


def drawn_levels(source: Any, scene: Scene, levels: tuple[int, ...] | None) -> list[MaxEntFit]:
    """The fits whose densities are drawn: those asked for, else all, of many the last four."""
    if scene.fit is None:
        return []
    fits = getattr(source, "fits", None)
    if fits is None:
        return [scene.fit]
    top = len(fits) - 1
    chosen = tuple(range(1, top + 1))[-_MOST_LEVELS:] if levels is None else levels
    for level in chosen:
        if isinstance(level, bool) or level not in range(top + 1):
            raise InvalidArgument(f"levels is {shown(levels)}; give some of 0 to {top}")
    return [fits[level] for level in chosen]


def angle_finding(scene: Scene, curves: list[tuple[MaxEntFit, Array]], turn: Array) -> str:
    """How many peaks the highest level has, and where the highest is."""
    if not curves:
        weighted = scene.directions is not None and scene.directions.weighted
        return scene.count_words + ("; areas are weights" if weighted else "")
    fit, density = curves[-1]
    most, least = float(density.max()), float(density.min())
    if most < _NEARLY_UNIFORM:
        return f"Level {fit.level} is nearly uniform ({digits(least)} to {digits(most)} times)"
    before, after = np.roll(density[:-1], 1), np.roll(density[:-1], -1)
    peaks = (density[:-1] > before) & (density[:-1] >= after) & (density[:-1] > _LEAST_MODE * most)
    count = int(peaks.sum()) // (2 if scene.axial else 1)
    at = turn[int(np.argmax(density))]
    where = scene.words(np.array([np.cos(at), np.sin(at)]))
    many = "one peak" if count <= 1 else f"{count} peaks, the highest"
    return f"Level {fit.level} has {many} at {where}, {digits(most)}\u00a0×\u00a0uniform"
