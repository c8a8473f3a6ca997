"""Layers of a map of the sphere: colours of a density or of bins, lines, points, and words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.numerics.arrays import Array
from steradian.plots.canvas import titled
from steradian.plots.density_bar import density_bar, density_norm, pale_edges
from steradian.plots.palette import GREY, INK, density_map, level_colour
from steradian.plots.points import point_alpha, point_areas
from steradian.plots.projections import Mesh, Panel
from steradian.plots.sphere_scene import DataStyle, Scene, binned
from steradian.text.numbers import digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.fitting.maxent import MaxEntFit

_CELLS, _MOST_CELLS = 90, 360  # from the middle of a panel to its edge
_OFF = 0.01  # of the mass, by which cells that are fine enough miss one at most
_NEARLY_UNIFORM = 1.5  # times uniform, below which no peak is spoken of
_CONTOURS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)


def draw_scene(ax: Axes, scene: Scene, panels: list[Panel], data: DataStyle) -> Axes:
    """Draw what a scene holds on panels whose lines are there, with its bar and title."""
    as_bins = scene.directions is not None and (data == "bins" or (data == "auto" and scene.binned))
    if as_bins:
        _draw_bins(ax, scene, panels)
        return ax
    if scene.fit is not None:
        _draw_density(ax, scene, panels)
    elif scene.directions is not None:
        titled(ax, f"{scene.count_words}{_weight_words(scene)}")
    if scene.directions is not None:
        draw_points(ax, scene, panels)
    return ax


def density_on(fit: MaxEntFit, panels: list[Panel]) -> tuple[list[Mesh], list[Array], float]:
    """Cells, the density in them as a multiple of uniform, and the mass that they add up to.

    Cells are made finer until they hold the law.
    """
    cells = _CELLS
    while True:
        meshes = [panel.mesh(cells) for panel in panels]
        values = [fit.pdf(m.points.reshape(-1, 3)).reshape(m.shares.shape) for m in meshes]
        area = sum(float(m.shares.sum()) for m in meshes)
        mass = sum(float((v * m.shares).sum()) for v, m in zip(values, meshes, strict=True)) / area
        if abs(mass - 1.0) <= _OFF or cells >= _MOST_CELLS:
            return meshes, values, mass
        cells *= 2


def _draw_density(ax: Axes, scene: Scene, panels: list[Panel]) -> None:
    assert scene.fit is not None
    meshes, values, mass = density_on(scene.fit, panels)
    _paint(ax, meshes, values, f"density of the level-{scene.fit.level} fit (uniform = 1)")
    _contours(ax, meshes, values, (1.0,), GREY)
    titled(ax, density_words(scene) + _coarse_words(mass))


def _draw_bins(ax: Axes, scene: Scene, panels: list[Panel]) -> None:
    """Bins of data in colour, with the density as lines in the colour of its level."""
    assert scene.directions is not None
    bins = binned(scene.directions, axial=scene.axial)
    meshes = [panel.mesh(2 * _CELLS) for panel in panels]
    values = [bins.at(mesh.points) for mesh in meshes]
    words = f"{scene.count_words} in bins (uniform = 1)"
    if scene.fit is None:
        _paint(ax, meshes, values, words)
        held = digits(float(bins.density.max()))
        where = f"{held}\u00a0×\u00a0uniform: {scene.words(bins.fullest)}"
        titled(ax, f"{scene.count_words} in bins; the fullest has {where}")
        return
    fine, law, mass = density_on(scene.fit, panels)
    most = max(float(v.max()) for v in law)
    shown = tuple(c for c in _CONTOURS if c < most)[-4:]
    lines = ", ".join(f"{c:g}" for c in shown)
    _paint(ax, meshes, values, f"{words};\nlines: the fit at {lines}" if shown else words)
    _contours(ax, fine, law, shown, level_colour(scene.fit.level))
    titled(ax, density_words(scene) + _coarse_words(mass))


def _paint(ax: Axes, meshes: list[Mesh], values: list[Array], words: str) -> None:
    """Cells in the colours of densities, and the bar that says what they mean."""
    norm = density_norm(max(float(v.max()) for v in values))
    for mesh, value in zip(meshes, values, strict=True):
        painted = ax.pcolormesh(
            mesh.corners[..., 0], mesh.corners[..., 1], value, cmap=density_map(), norm=norm,
            rasterized=True, zorder=1.0,
        )  # fmt: skip
    density_bar(painted, ax, words)


def _contours(
    ax: Axes, meshes: list[Mesh], values: list[Array], at: tuple[float, ...], colour: str
) -> None:
    for mesh, value in zip(meshes, values, strict=True):
        levels = [c for c in at if value.min() < c < value.max()]
        if levels:
            parts = (*np.moveaxis(mesh.middles, -1, 0), value)
            x, y, z = (_closed(part) if mesh.closed else part for part in parts)
            width = [1.4 if c == 1.0 and len(at) > 1 else 0.9 for c in levels]
            lines = ax.contour(x, y, z, levels, colors=colour, linewidths=width, zorder=3.0)
            pale_edges(lines)


def _closed(values: Array) -> Array:
    """The first column again after the last: a contour that goes round has no gap."""
    return np.hstack([values, values[:, :1]])


def draw_points(ax: Axes, scene: Scene, panels: list[Panel]) -> None:
    """Every row as a point, of an area that its weight is; open behind the one panel there is."""
    assert scene.directions is not None
    x, n = scene.directions.x, scene.directions.n
    areas, alpha = point_areas(scene.directions.weights), point_alpha(n)
    if scene.axial:
        x, areas = np.vstack([x, -x]), np.tile(areas, 2)
    for panel in panels:
        places, seen = panel.places(x)
        ax.scatter(
            places[seen, 0], places[seen, 1], s=areas[seen], color=INK, alpha=alpha,
            edgecolors="white", linewidths=0.3, zorder=5.0,
        )  # fmt: skip
        if len(panels) == 1 and not scene.axial and not seen.all():
            behind = panel.places(x * (1 - 2 * np.outer(~seen, [0, 0, 1])))[0][~seen]
            ax.scatter(
                behind[:, 0], behind[:, 1], s=areas[~seen], facecolors="white", edgecolors=INK,
                alpha=alpha, linewidths=0.7, zorder=5.0,
            )  # fmt: skip


def density_words(scene: Scene) -> str:
    """Where a density is highest, and how high."""
    assert scene.fit is not None
    if scene.noise:
        return scene.noise_words
    top = scene.fit.modes[0]
    most = digits(top.density)
    if top.density < _NEARLY_UNIFORM:
        return f"{scene.level_words} is nearly uniform ({digits(scene.fit.lowest)} to {most} times)"
    where = scene.words(top.point)
    return f"{scene.level_words} peaks at {most}\u00a0×\u00a0uniform: {where}"


def _coarse_words(mass: float) -> str:
    return "" if abs(mass - 1.0) <= _OFF else " (its peak is finer than this picture)"


def _weight_words(scene: Scene) -> str:
    assert scene.directions is not None
    return "; areas are weights" if scene.directions.weighted else ""
