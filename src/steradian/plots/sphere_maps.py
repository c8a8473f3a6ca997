"""Maps of the two-sphere: stereonets, Mollweide maps and globes, of data and fitted densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steradian.arguments import longitude_latitude, one_of, real_number
from steradian.numerics.arrays import Array
from steradian.plots.canvas import (
    axes_for,
    density_bar,
    density_norm,
    pale_edges,
    point_alpha,
    point_areas,
    settled,
    titled,
    wrapped,
)
from steradian.plots.palette import COLUMN, GREY, INK, TEXT, density_map, level_colour
from steradian.plots.projections import (
    Disc,
    DiscKind,
    Legend,
    Mesh,
    Mollweide,
    Panel,
    draw_lines,
    draw_outline,
    equatorial_lines,
    frame_of,
    label,
    legend_of,
    polar_lines,
    sphere_points,
)
from steradian.plots.scene import DataStyle, Scene, binned, scene_of
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
    top = scene.fit.modes()[0]
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


Net = Literal["equatorial", "polar"]
NETS: tuple[Net, ...] = ("equatorial", "polar")
_APART = 1.28  # middles of two discs from the middle of both, in radii
_FAR_APART = 1.62  # where longitudes stand between them
_EAST, _NORTH, _DOWN = np.eye(3)[[1, 0, 2]]
_POLAR_STEP, _NET_STEP = 30.0, 10.0  # degrees between lines


def stereonet(
    source: Any,
    ax: Axes | None = None,
    *,
    level: int | None = None,
    net: Net = "equatorial",
    data: DataStyle = "auto",
    equal_angle: bool = False,
) -> Axes:
    """Draw directions or axes of space, and the density of a level, on a stereonet.

    The lower hemisphere, north up, azimuth clockwise; Lambert's equal-area projection (Schmidt's
    net) unless ``equal_angle`` asks for Wulff's. Directions that have a sign are drawn on two
    nets, the lower hemisphere and the upper one; without a density on one, filled symbols below
    and open ones above the horizontal, as palaeomagnetists do.

    Parameters
    ----------
    source : Profile, MaxEntFit or Directions
        Of the two-sphere or of axes of space. Rows of a compass convention are x north, y east,
        z down; others are seen from outside about their two poles.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    level : int, optional
        Of a profile, whose density is drawn; the highest significant one unless given.
    net : {"equatorial", "polar"}
        Great and small circles about north and south, or circles of plunge and radii of azimuth.
    data : {"auto", "points", "bins", "none"}
        How data are shown; points up to 3000, else bins, with the density as lines over them.
    equal_angle : bool
        Wulff's net instead of Schmidt's.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    >>> ax = sr.plots.stereonet(p, level=2)  # doctest: +SKIP
    """
    one_of(net, "net", NETS)
    scene = scene_of(source, level, "sphere").without(data)
    kind: DiscKind = "equal angle" if equal_angle else "equal area"
    both = not scene.axial and (scene.fit is not None or scene.binned or data == "bins")
    panels = _net_panels(scene, kind, both)
    ax = axes_for(ax, COLUMN, 3.05 if both else 3.95)
    compass = scene.frame == "compass"
    for panel in panels:
        turned = net == "equatorial" and compass
        lines = equatorial_lines(_NET_STEP) if turned else polar_lines(_POLAR_STEP, _POLAR_STEP)
        draw_lines(ax, panel, lines)
        draw_outline(ax, panel)
        _name_rim(ax, panel, scene, compass)
        if not turned:
            _name_circles(ax, panel, legend_of(scene.notation) if not compass else Legend())
        label(ax, panel.name, (panel.shift, -1.28 if both else -1.16), ha="center", va="top")
    _paper(ax, panels, bottom=0.5 if both else 0.26, top=0.26 if both else 0.12)
    legend = legend_of(scene.notation)
    how = "Wulff net, equal angles" if equal_angle else "Schmidt net, equal areas"
    if compass:
        poles = "" if legend.by_azimuth else "poles: "
        azimuth, plunge = legend.names if legend.by_azimuth else ("azimuth", "plunge")
        told = f"{poles}{azimuth} (°) clockwise from N, {plunge} (°) inwards"
    else:
        unit = "h" if legend.in_hours else "°"
        told = f"{legend.names[0]} ({unit}) round the pole, {legend.names[1]} (°) outwards"
    ax.set_xlabel(f"{wrapped(ax, told, TEXT)}\n{how}")
    return settled(draw_scene(ax, scene, panels, data))


def _net_panels(scene: Scene, kind: DiscKind, both: bool) -> list[Panel]:
    """The lower hemisphere, and the upper one beside it where ``both`` are wanted."""
    apart = _APART if scene.frame == "compass" else _FAR_APART
    shifts = (-apart, apart) if both else (0.0, 0.0)
    if scene.frame == "compass":
        frames = frame_of(_EAST, _NORTH, _DOWN), frame_of(_EAST, _NORTH, -_DOWN)
        names = "lower hemisphere", "upper hemisphere"
    else:
        right = -_EAST if scene.frame == "sky" else _EAST
        frames = frame_of(right, -_NORTH, _DOWN), frame_of(right, _NORTH, -_DOWN)
        names = "about the north pole", "about the south pole"
    panels: list[Panel] = [
        Disc(one, kind, name, shift) for one, name, shift in zip(frames, names, shifts, strict=True)
    ]
    if both:
        return panels
    below = Disc(frames[0], kind, names[0])
    if scene.axial or scene.directions is None or below.places(scene.directions.x)[1].all():
        return [below]
    return [Disc(frames[0], kind, f"filled: {names[0]}, open: the other")]


def _name_rim(ax: Axes, panel: Panel, scene: Scene, compass: bool) -> None:
    """Points of the compass, or longitudes, round a net."""
    legend = legend_of(scene.notation)
    for quarter in range(4):
        at = sphere_points(np.array([90.0 * quarter]), np.zeros(1))
        (x, y), _ = (part[0] for part in panel.places(at))
        x = (x - panel.shift) * 1.06 + panel.shift
        words = "NESW"[quarter] if compass else legend.longitude(90.0 * quarter)
        across = (
            "center" if abs(x - panel.shift) < 0.5 else ("left" if x > panel.shift else "right")
        )
        upright = "center" if across != "center" else ("bottom" if y > 0 else "top")
        label(ax, words, (x, y * 1.05), ha=across, va=upright)


def _name_circles(ax: Axes, panel: Panel, legend: Legend) -> None:
    """Angles from the horizontal on the circles of a polar net."""
    for latitude in (30.0, 60.0):
        for sign in (1.0, -1.0):
            at = sphere_points(np.array([135.0]), np.array([sign * latitude]))
            places, seen = panel.places(at)
            if seen[0]:
                words = legend.latitude(sign * latitude if legend.columns else latitude)
                x, y = places[0]
                label(ax, words, (x, y), inside=True, ha="center", va="center")


def mollweide(
    source: Any,
    ax: Axes | None = None,
    *,
    level: int | None = None,
    centre: float | None = None,
    data: DataStyle = "auto",
) -> Axes:
    """Draw directions of space, and the density of a level, on a Mollweide map of equal areas.

    Right ascension runs to the left, as the sky is seen; longitudes and azimuths run to the right.
    Axes are drawn at both their ends.

    Parameters
    ----------
    source : Profile, MaxEntFit or Directions
        Of the two-sphere or of axes of space.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    level : int, optional
        Of a profile, whose density is drawn; the highest significant one unless given.
    centre : float, optional
        Longitude in the middle, degrees; 0 unless given, and 180 for right ascensions.
    data : {"auto", "points", "bins", "none"}
        As in `stereonet`.

    Examples
    --------
    >>> import steradian as sr
    >>> sky = sr.Directions.from_radec([10.0, 80.0, 200.0], [-20.0, 5.0, 60.0])
    >>> ax = sr.plots.mollweide(sky)  # doctest: +SKIP
    """
    scene = scene_of(source, level, "sphere").without(data)
    sky, compass = scene.frame == "sky", scene.frame == "compass"
    middle = 180.0 if sky else 0.0
    if centre is not None:
        middle = real_number(centre, "centre", "give a longitude in degrees")
    towards, right = sphere_points(np.array([middle, middle + 90.0]), np.zeros(2))
    frame = frame_of(-right if sky else right, -_DOWN if compass else _DOWN, towards)
    panel = Mollweide(frame)
    ax = axes_for(ax, COLUMN, 2.85)
    draw_lines(ax, panel, polar_lines(30.0, 60.0))
    draw_outline(ax, panel)
    legend = legend_of(scene.notation)
    _name_map(ax, panel, legend, middle)
    _paper(ax, [panel], sides=0.3, top=0.0)
    unit = "h" if legend.in_hours else "°"
    to = ", to the left" if sky else ""
    ax.set_xlabel(f"{legend.names[0]} ({unit}{to})")
    ax.set_ylabel(f"{legend.names[1]} (°)")
    return settled(draw_scene(ax, scene, [panel], data))


def _name_map(ax: Axes, panel: Panel, legend: Legend, middle: float) -> None:
    """Longitudes on the equator, latitudes at the left edge."""
    for offset in (-120.0, -60.0, 0.0, 60.0, 120.0):
        at = sphere_points(np.array([middle + offset]), np.zeros(1))
        (x, y), _ = (part[0] for part in panel.places(at))
        label(
            ax, legend.longitude(middle + offset), (x, y - 0.02), inside=True, ha="center", va="top"
        )
    for latitude in (-60.0, -30.0, 0.0, 30.0, 60.0):
        edge = sphere_points(np.array([middle + 179.9, middle - 179.9]), np.full(2, latitude))
        places = panel.places(edge)[0]
        x, y = places[np.argmin(places[:, 0])]
        upright = "center" if latitude == 0.0 else ("bottom" if y > 0 else "top")
        label(ax, legend.latitude(latitude), (x - 0.05, y), ha="right", va=upright)


def globe(
    source: Any,
    ax: Axes | None = None,
    *,
    level: int | None = None,
    view: tuple[float, float] | None = None,
    data: DataStyle = "auto",
) -> Axes:
    """Draw directions of space, and the density of a level, on a globe seen from both sides.

    Parameters
    ----------
    source : Profile, MaxEntFit or Directions
        Of the two-sphere or of axes of space, whose other side is the same and left out.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    level : int, optional
        Of a profile, whose density is drawn; the highest significant one unless given.
    view : (longitude, latitude), optional
        Where the eye stands, degrees; towards the densest point of the law unless given.
    data : {"auto", "points", "bins", "none"}
        As in `stereonet`.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    >>> ax = sr.plots.globe(p, level=2, view=(30.0, 35.0))  # doctest: +SKIP
    """
    scene = scene_of(source, level, "sphere").without(data)
    eye = _eye(scene) if view is None else _seen_from(view)
    panels = _sides(scene, eye)
    ax = axes_for(ax, COLUMN, 2.85 if len(panels) > 1 else 3.7)
    for panel in panels:
        draw_lines(ax, panel, polar_lines(_POLAR_STEP, _POLAR_STEP))
        draw_outline(ax, panel)
        label(ax, panel.name, (panel.shift, -1.08), ha="center", va="top")
    _paper(ax, panels, bottom=0.2, top=0.02)
    ax.set_xlabel(f"eye at ({', '.join(legend_of(scene.notation).names)}); lines every 30°")
    return settled(draw_scene(ax, scene, panels, data))


def _sides(scene: Scene, eye: Array) -> list[Panel]:
    """The side towards the eye, and the other as seen from behind it; up is the third axis."""
    up = -_DOWN if scene.frame == "compass" else _DOWN
    across = np.cross(up, eye)
    if np.linalg.norm(across) < _POLE:
        across = _EAST
    across = across / np.linalg.norm(across)
    upright = np.cross(eye, across)
    legend = legend_of(scene.notation)
    names = tuple(f"from {legend.place(side)}" for side in (eye, -eye))
    if scene.axial:
        return [Disc(frame_of(across, upright, eye), "orthographic", names[0])]
    return [
        Disc(frame_of(across, upright, eye), "orthographic", names[0], -_APART),
        Disc(frame_of(-across, upright, -eye), "orthographic", names[1], _APART),
    ]


def _seen_from(view: tuple[float, float]) -> Array:
    """Where an eye at a longitude and a latitude stands."""
    place = longitude_latitude(view, "view")
    return sphere_points(*(np.array([degrees]) for degrees in place))[0]


_BESIDE = 25.0  # degrees
_POLE = 0.001  # sine of the angle to the third axis, below which no direction is up


def _eye(scene: Scene) -> Array:
    """Beside the densest point of the law, in whole degrees; some place where there is none."""
    lon, lat = 30.0, 35.0
    if scene.fit is not None and scene.fit.level:
        x, y, z = scene.fit.modes()[0].point
        lon = np.rad2deg(np.arctan2(y, x)) + _BESIDE
        lat = np.rad2deg(np.arcsin(z))
        lat -= np.sign(lat) * _BESIDE
    return sphere_points(np.array([round(lon)]), np.array([round(lat)]))[0]


def _paper(
    ax: Axes, panels: list[Panel], *, sides: float = 0.15, bottom: float = 0.0, top: float = 0.12
) -> None:
    """Equal scales, no ticks, room for what stands round the panels."""
    left = min(panel.shift - panel.half_width for panel in panels)
    right = max(panel.shift + panel.half_width for panel in panels)
    ax.set_aspect("equal", anchor="N")
    ax.set(xlim=(left - sides, right + sides), ylim=(-1.02 - bottom, 1.02 + top))
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
