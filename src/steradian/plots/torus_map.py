"""Two angles at once, as in Ramachandran's plot, with the density of each beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steradian.data.directions import Directions
from steradian.numerics.arrays import Array
from steradian.plots.canvas import (
    axes_for,
    density_bar,
    density_norm,
    pale_edges,
    point_alpha,
    point_areas,
    settled,
    wrapped,
)
from steradian.plots.palette import (
    COLUMN,
    GREY,
    INK,
    PALE,
    TEXT,
    TITLE,
    UNIFORM_STYLE,
    density_map,
    level_colour,
)
from steradian.plots.scene import DataStyle, Scene, scene_of
from steradian.text.numbers import digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CELLS, _MOST_CELLS = 180, 720  # along either angle
_OFF = 0.01  # of the mass, by which cells that are fine enough miss one at most
_PER_BIN, _MOST_BINS = 12, 180
_CONTOURS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
_TICKS = (-180, -90, 0, 90, 180)


def ramachandran(
    source: Any,
    ax: Axes | None = None,
    *,
    level: int | None = None,
    data: DataStyle = "auto",
) -> Axes:
    """Draw two angles and the density of a level, with the density of each angle at the sides.

    Parameters
    ----------
    source : Profile, MaxEntFit or Directions
        Of a torus of two angles.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    level : int, optional
        Of a profile, whose density is drawn; the highest significant one unless given.
    data : {"auto", "points", "bins", "none"}
        How data are shown; points up to 3000, else bins, with the density as lines over them.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> rng = np.random.default_rng(0)
    >>> phi, psi = rng.vonmises(-1.1, 4, 500), rng.vonmises(-0.8, 3, 500)
    >>> p = sr.profile(sr.Directions.from_dihedrals(phi, psi))
    >>> ax = sr.plots.ramachandran(p)  # doctest: +SKIP
    """
    scene = scene_of(source, level, "torus").without(data)
    ax = axes_for(ax, COLUMN, 3.9)
    as_bins = scene.directions is not None and (data == "bins" or (data == "auto" and scene.binned))
    fitted = None if scene.fit is None else _density(scene)
    counts = None if scene.directions is None else angle_pairs(scene.directions)
    if as_bins and counts is not None:
        lines = () if fitted is None else _lines(ax, scene, fitted)
        told = f";\nlines: the fit at {', '.join(f'{c:g}' for c in lines)}" if lines else ""
        _paint(ax, counts, f"{scene.count_words} in bins (uniform = 1){told}")
    elif fitted is not None and scene.fit is not None:
        _paint(ax, fitted, f"density of the level-{scene.fit.level} fit (uniform = 1)")
    if scene.directions is not None and not as_bins:
        _points(ax, scene.directions)
    _name_angles(ax, scene)
    _margins(ax, scene, counts, fitted)
    _finding(ax, scene, counts if as_bins else None)
    return settled(ax)


def _density(scene: Scene) -> Array:
    """The law in the middles of cells, (cells, cells), as multiples of uniform: φ down, ψ across.

    Cells are made finer until they hold the law.
    """
    assert scene.fit is not None
    cells = _CELLS
    while True:
        middle = _middles(cells)
        first, second = (part.ravel() for part in np.meshgrid(middle, middle, indexing="ij"))
        x = np.stack([np.cos(first), np.sin(first), np.cos(second), np.sin(second)], axis=1)
        density = scene.fit.pdf(x).reshape(cells, cells)
        if abs(density.mean() - 1.0) <= _OFF or cells >= _MOST_CELLS:
            return np.asarray(density)
        cells *= 2


def _middles(cells: int) -> Array:
    return np.asarray(-np.pi + (np.arange(cells) + 0.5) * (2.0 * np.pi / cells))


def angle_pairs(directions: Directions) -> Array:
    """Weight in equal cells of two angles from -180° on, as multiples of uniform, by blocks."""
    bins = int(np.clip(np.sqrt(directions.n / _PER_BIN) // 6 * 6, 12, _MOST_BINS))
    total = np.zeros(bins * bins)
    for x, w in directions.blocks():
        angles = np.arctan2(x[:, 1::2], x[:, ::2])
        cell = ((angles + np.pi) * (bins / (2.0 * np.pi))).astype(np.int64)
        cell = np.where(cell >= bins, 0, cell)
        total += np.bincount(cell[:, 0] * bins + cell[:, 1], weights=w, minlength=bins * bins)
    return np.asarray(total.reshape(bins, bins) * (bins * bins / total.sum()))


def _paint(ax: Axes, density: Array, words: str) -> None:
    edges = np.linspace(-180.0, 180.0, len(density) + 1)
    painted = ax.pcolormesh(
        edges, edges, density.T, cmap=density_map(), norm=density_norm(float(density.max())),
        rasterized=True, zorder=1.0,
    )  # fmt: skip
    density_bar(painted, ax, words)


def _lines(ax: Axes, scene: Scene, density: Array) -> tuple[float, ...]:
    """The density of a level as lines in its colour, and where they are."""
    assert scene.fit is not None
    middle = np.rad2deg(_middles(len(density)))
    at = [c for c in _CONTOURS if density.min() < c < density.max()][-4:]
    if at:
        width = [1.4 if c == 1.0 else 0.9 for c in at]
        colour = level_colour(scene.fit.level)
        lines = ax.contour(
            middle, middle, density.T, at, colors=colour, linewidths=width, zorder=3.0
        )
        pale_edges(lines)
    return tuple(at)


def _points(ax: Axes, directions: Directions) -> None:
    angles = np.rad2deg(np.arctan2(directions.x[:, 1::2], directions.x[:, ::2]))
    ax.scatter(
        angles[:, 0], angles[:, 1], s=point_areas(directions.weights), color=INK,
        alpha=point_alpha(directions.n), edgecolors="white", linewidths=0.3, zorder=5.0,
    )  # fmt: skip


def _names(scene: Scene) -> tuple[str, str]:
    """φ and ψ for dihedral angles of two columns, else the roles of the convention."""
    told = scene.notation
    return ("φ", "ψ") if told is not None and not told.convention.roles else ("angle 1", "angle 2")


def _name_angles(ax: Axes, scene: Scene) -> None:
    first, second = _names(scene)
    ax.set(xlim=(-180, 180), ylim=(-180, 180), xticks=_TICKS, yticks=_TICKS)
    ax.set_xlabel(f"{first} (°)")
    ax.set_ylabel(f"{second} (°)", labelpad=-2.0)
    ax.set_aspect("equal", anchor="N")


def _margins(ax: Axes, scene: Scene, counts: Array | None, fitted: Array | None) -> None:
    """The density of either angle alone: the mean of the cells over the other."""
    above = ax.inset_axes((0.0, 1.03, 1.0, 0.18), sharex=ax)
    beside = ax.inset_axes((1.03, 0.0, 0.18, 1.0), sharey=ax)
    top = 1.0
    for axis, side in ((1, above), (0, beside)):
        if counts is not None:
            shares = counts.mean(axis=axis)
            edges = np.linspace(-180.0, 180.0, len(shares) + 1)
            upright: Literal["vertical", "horizontal"] = "vertical" if axis else "horizontal"
            side.stairs(shares, edges, fill=True, color=PALE, orientation=upright)
            top = max(top, float(shares.max()))
        if fitted is not None and scene.fit is not None:
            curve, middle = fitted.mean(axis=axis), np.rad2deg(_middles(len(fitted)))
            along = (middle, curve) if axis else (curve, middle)
            side.plot(*along, color=level_colour(scene.fit.level), linewidth=1.4)
            top = max(top, float(curve.max()))
    above.axhline(1.0, **UNIFORM_STYLE)  # type: ignore[arg-type]
    beside.axvline(1.0, **UNIFORM_STYLE)  # type: ignore[arg-type]
    above.set(ylim=(0.0, 1.08 * top))
    above.set_yticks([1.0], ["uniform"])
    beside.set(xlim=(0.0, 1.08 * top))
    beside.xaxis.tick_top()
    beside.set_xticks([1.0], ["uniform"], rotation=90.0)
    for side in (above, beside):
        side.tick_params(labelsize=TEXT, length=2.0, color=GREY, labelcolor=GREY)
        side.spines[["top", "right"]].set_visible(False)
    above.tick_params(labelbottom=False)
    beside.tick_params(labelleft=False)


def _finding(ax: Axes, scene: Scene, counts: Array | None) -> None:
    """Where the density is highest, above the upper margin."""
    most = 0.0
    if scene.noise:
        words = scene.noise_words
    elif scene.fit is not None:
        top = scene.fit.modes()[0]
        words = f"{scene.level_words} peaks at {_place(scene, *top.point)}"
        most = top.density
    elif counts is not None:
        at = np.unravel_index(int(np.argmax(counts)), counts.shape)
        first, second = _middles(len(counts))[list(at)]
        place = _place(scene, np.cos(first), np.sin(first), np.cos(second), np.sin(second))
        words, most = f"{scene.count_words}, densest at {place}", float(counts.max())
    else:
        words = scene.count_words
    words += f", {digits(most)}\u00a0×\u00a0uniform" if most else ""
    ax.set_title(wrapped(ax, words, 1.15 * TITLE), loc="left", fontsize=TITLE, color=INK, y=1.24)


def _place(scene: Scene, *x: float) -> str:
    """A point of two angles in whole degrees."""
    degrees = np.round(np.rad2deg(np.arctan2(x[1::2], x[::2]))) + 0.0
    pairs = zip(_names(scene), degrees, strict=True)
    return ", ".join(f"{name}\u00a0=\u00a0{angle:.0f}°" for name, angle in pairs).replace("-", "−")
