"""Which levels a picture of angles shows, and what it found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from steradian.arguments import shown
from steradian.errors import InvalidArgument
from steradian.plots.sphere_scene import Scene
from steradian.plots.thinning import levels_up_to
from steradian.text.numbers import digits

if TYPE_CHECKING:
    from steradian.fitting.maxent import MaxEntFit

_NEARLY_UNIFORM = 1.2  # times uniform, below which no peak is spoken of
_LEAST_MODE = 0.1  # of the highest peak, below which another is not counted


def drawn_levels(source: Any, scene: Scene, levels: tuple[int, ...] | None) -> list[MaxEntFit]:
    """The fits whose densities are drawn: those asked for, else all up to the scene's, of many
    four that are told apart.
    """
    if scene.fit is None:
        return []
    fits = getattr(source, "fits", None)
    if fits is None:
        return [scene.fit]
    top = len(fits) - 1
    chosen = levels_up_to(scene.fit.level) if levels is None else levels
    listed = isinstance(chosen, Iterable)
    if not listed or any(type(level) is bool or level not in range(top + 1) for level in chosen):
        raise InvalidArgument(f"levels is {shown(levels)}; give some of 0 to {top}")
    return [fits[int(level)] for level in chosen]


def angle_finding(scene: Scene, fits: list[MaxEntFit]) -> str:
    """How many peaks the highest level has, and where the highest is."""
    if not fits:
        weighted = scene.directions is not None and scene.directions.weighted
        return scene.count_words + ("; areas are weights" if weighted else "")
    fit = fits[-1]
    if scene.noise:
        return scene.noise_words
    top = fit.modes[0]
    if top.density < _NEARLY_UNIFORM:
        ends = f"{digits(fit.lowest)} to {digits(top.density)} times"
        return f"Level {fit.level} is nearly uniform ({ends})"
    count = sum(mode.density > _LEAST_MODE * top.density for mode in fit.modes)
    where = scene.words(top.point)
    many = "one peak" if count == 1 else f"{count} peaks, the highest"
    return f"Level {fit.level} has {many} at {where}, {digits(top.density)}\u00a0×\u00a0uniform"
