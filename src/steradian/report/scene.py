"""The picture of a report: the data, and the density of every level where a slider stops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import POINTS_NOWHERE
from steradian.plots.palette import level_colour
from steradian.plots.projections import legend_of
from steradian.references.base import reference_words
from steradian.report import Scene
from steradian.report.figures import numbers
from steradian.spaces.base import chart_of, has_no_sign
from steradian.text.numbers import digits, sentence

if TYPE_CHECKING:
    from steradian.data.notation import Notation
    from steradian.decomposition import Profile
    from steradian.text.levels import LevelTable


_MOST_DRAWN = 3000  # rows that are drawn as points
_MOST_VALUES = 90_000  # densities that a file holds, of all levels together
_BINS = 36
_DISTANCE = 1.35  # of the eye, in units of the box that the sphere is in
_NARROW = 0.02  # part of a density that the drawn grid may miss
_COMPASS = ("N", "S", "E", "W", "down", "up")
_CARTESIAN = ("+x", "-x", "+y", "-y", "+z", "-z")
_LEFTWARD = frozenset({"sky"})  # frames that are seen from within
_DOWNWARD = frozenset({"compass", "plane"})  # frames with z down, so that -z is up on the screen


def scene_of(table: LevelTable) -> Scene | None:
    """The picture of a profile; None where its space has none."""
    profile = table.profile
    make = _MAKERS.get(chart_of(profile.moments.hierarchy.space))
    return None if make is None else make(profile, _stops(table), _first(table))


def _first(table: LevelTable) -> int:
    """Where the slider begins: the highest significant level, if any is."""
    return table.told[-1] if table.told else len(table.verdicts)


def _stops(table: LevelTable) -> tuple[str, ...]:
    """What the slider says: the level in words, and how sure it is."""
    from steradian.text.levels import names_of

    p = table.profile
    words = reference_words(p.moments.hierarchy.space)
    said = [f"level 0: {words or 'the uniform law'}"]
    for k, name in enumerate(names_of(p)):
        sure = f", {table.verdicts[k]}" if table.tests is not None else ""
        said.append(f"level {k + 1}: {name}, {digits(p.gaps[k])} nats{sure}")
    return tuple(said)


def _notation(profile: Profile) -> Notation | None:
    reading = profile.reading
    return None if reading is None or reading.within else reading.notation


def _densities(profile: Profile, points: Array) -> Array:
    """Of the fits of levels 0..L at points (N, d), (L + 1, N)."""
    return np.array([np.asarray(fit.pdf(points)) for fit in profile.fits])


def _rows(profile: Profile) -> tuple[Array, Array, str]:
    """Rows that are drawn, their weights over the largest, and words if some are left out."""
    directions = profile.directions
    if directions is None:
        return np.zeros((0, profile.d)), np.zeros(0), "made from moments: there are no rows to draw"
    x, w = directions.x, directions.weights
    if len(x) <= _MOST_DRAWN:
        return x, w / w.max(), ""
    chosen = np.sort(np.random.default_rng(0).choice(len(x), _MOST_DRAWN, replace=False))
    said = f"{_MOST_DRAWN:,} of {len(x):,} rows are drawn, taken at random"
    return x[chosen], w[chosen] / w.max(), said


def _marks(profile: Profile, x: Array, shares: Array, columns: dict[str, Array]) -> dict[str, Any]:
    """Points with their size, strength and words."""
    told = _notation(profile)
    marks: dict[str, Any] = {name: numbers(values, 4) for name, values in columns.items()}
    marks["opacity"] = round(min(0.95, max(0.25, 12.0 / math.sqrt(len(x) + 1.0))), 2)
    if len(shares) and np.ptp(shares) > 0.0:
        marks["sizes"] = numbers(np.sqrt(shares), 2)  # weights show as area
    if told is not None:
        marks["words"] = [told.words(point) for point in x]
    return marks


def _mass(values: Array, weights: Array) -> str:
    """A word where the drawn grid is too coarse for a density."""
    missed = np.abs(values @ weights - 1.0)
    coarse = [str(level) for level in np.flatnonzero(missed > _NARROW)]
    if not coarse:
        return ""
    return f"level {', '.join(coarse)} is narrower in places than the grid that is drawn"


def _caption(*parts: str) -> str:
    return " ".join(sentence(part) for part in parts if part)


# --- the sphere ------------------------------------------------------------------------------


def _sphere(profile: Profile, stops: tuple[str, ...], first: int) -> Scene:
    lat, lon = _graticule(len(stops))
    a, b = np.radians(np.meshgrid(lat, lon, indexing="ij"))
    points = np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)], axis=-1)
    values = _densities(profile, points.reshape(-1, 3))
    weights = np.cos(a).ravel() * _ends(len(lon))
    told, (x, shares, left_out) = _notation(profile), _rows(profile)
    frame = "none" if told is None else told.convention.frame
    down = frame in _DOWNWARD
    both = np.vstack([x, -x]) if has_no_sign(profile.moments.hierarchy.space) else x
    shares = np.resize(shares, len(both))
    marks = _marks(profile, both, shares, dict(zip("xyz", both.T, strict=True)))
    axes = told.convention.orientation if told is not None else "Cartesian x, y, z"
    content = {
        "lat": numbers(lat), "lon": numbers(lon), "top": _top(values),
        "values": numbers(values.reshape(-1, len(lat), len(lon)), 3),
        "data": marks if len(x) else None, "poles": list(_COMPASS if down else _CARTESIAN),
        "camera": _camera(profile, down), "downward": down, "leftward": frame in _LEFTWARD,
        **_written(told, down, lon, lat),
    }  # fmt: skip
    return Scene(
        key="density",
        caption=_caption(
            "the density of the chosen level, and the data",
            "the far side is hidden: drag the sphere, use the arrow keys or the buttons, or "
            "choose the flat map",
            f"axes: {axes}" if axes else "",
            "an axis is drawn at both of its ends" if len(both) > len(x) else "",
            left_out,
            _mass(values, weights / weights.sum()),
        ),
        alt=_alt(profile, "a sphere", "Arrow keys turn it."),
        chart="sphere",
        levels=stops,
        first=first,
        content=content,
    )


def _written(told: Notation | None, down: bool, lon: Array, lat: Array) -> dict[str, Any]:
    """Names, units, marks and values of the flat map's axes as the data write them."""
    legend = legend_of(told)
    names = ("azimuth", "plunge") if down and legend.columns is None else legend.names
    units = ("hours" if legend.in_hours else "degrees", "degrees")
    across, up = np.arange(0.0, 361.0, 60.0), np.arange(-90.0, 91.0, 30.0)
    return {
        "names": [f"{name}, {unit}" for name, unit in zip(names, units, strict=True)],
        "ticks": [
            {"at": across.tolist(), "words": [legend.longitude(v) for v in across.tolist()]},
            {"at": up.tolist(), "words": [legend.latitude(v) for v in up.tolist()]},
        ],
        "words": [
            [legend.longitude(v) for v in lon.tolist()],
            [legend.latitude(v) for v in lat.tolist()],
        ],
    }


def _graticule(levels: int) -> tuple[Array, Array]:
    """Latitudes and longitudes in degrees, as fine as a file can hold for so many levels."""
    rows = max(25, min(91, int(math.sqrt(_MOST_VALUES / (2.0 * levels)))) | 1)
    return np.linspace(-90.0, 90.0, rows), np.linspace(0.0, 360.0, 2 * rows - 1)


def _ends(columns: int) -> Array:
    """Weights of a closed turn: its first and last column are one."""
    weights = np.ones(columns)
    weights[[0, -1]] = 0.5
    return np.tile(weights, (columns + 1) // 2)


def _top(values: Array) -> float:
    return float(f"{max(2.0, float(values.max())):.3g}")


def _camera(profile: Profile, down: bool) -> dict[str, Any]:
    """From the side of the mean, or of the fuller end of the axis, tilted so that poles are seen.

    An axis without a fuller end is seen from its end towards +z. The third axis of a scene is up:
    where z is down, the scene is turned half about the first.
    """
    from steradian.text.places import second_moment

    mean = profile.moments.mean
    axis = np.linalg.eigh(second_moment(profile))[1][:, -1]
    side = axis @ mean if abs(axis @ mean) > POINTS_NOWHERE else axis[2]
    axis = -axis if side < 0.0 else axis
    centre = mean / np.linalg.norm(mean) if np.linalg.norm(mean) > 0.5 else axis
    centre = centre * np.array([1.0, -1.0, -1.0]) if down else centre
    across = math.atan2(centre[1], centre[0]) + 0.5
    above = math.asin(float(np.clip(centre[2], -1.0, 1.0)))
    tilt = float(np.clip(above - 0.4, -1.1, 1.1))
    eye = _DISTANCE * np.array([
        math.cos(tilt) * math.cos(across), math.cos(tilt) * math.sin(across), math.sin(tilt),
    ])  # fmt: skip
    return {
        "eye": dict(zip("xyz", numbers(eye), strict=True)),
        "up": {"x": 0, "y": 0, "z": 1},
        "center": {"x": 0, "y": 0, "z": 0},
    }


def _alt(profile: Profile, what: str, how: str) -> str:
    said = f"The density of the chosen level on {what}, with {profile.n} data."
    return f"{said} The table below has the numbers. {how}".strip()


# --- the circle ------------------------------------------------------------------------------


def _circle(profile: Profile, stops: tuple[str, ...], first: int) -> Scene:
    theta = np.linspace(0.0, 360.0, 361)
    turn = np.radians(theta)
    values = _densities(profile, np.stack([np.cos(turn), np.sin(turn)], axis=1))
    told, bins = _notation(profile), _binned(profile)
    frame = "none" if told is None else told.convention.frame
    clock = frame in {"compass", "clock"}
    inside = np.ones(361)
    inside[[0, -1]] = 0.5
    top = float(np.max(values)) if bins is None else float(max(values.max(), *bins["r"]))
    at = np.arange(0.0, 360.0, 45.0).tolist()
    content = {
        "theta": numbers(theta), "values": numbers(values, 4), "top": float(f"{1.05 * top:.3g}"),
        "colours": [level_colour(k) for k in range(len(stops))], "bins": bins,
        "clockwise": clock, "rotation": 90 if clock else 0,
        "ticks": {"at": at, "words": _ticks(told, at)}, "words": _ticks(told, theta.tolist()),
    }  # fmt: skip
    return Scene(
        key="density",
        caption=_caption(
            "the density of the chosen level (uniform = 1) over the data in sectors of "
            f"{360 // _BINS}°",
            told.convention.orientation if told is not None else "",
            _mass(values, inside / inside.sum()),
        ),
        alt=_alt(profile, "the circle", ""),
        chart="circle",
        levels=stops,
        first=first,
        content=content,
    )


def _binned(profile: Profile) -> dict[str, Any] | None:
    """The data as densities of sectors, relative to uniform."""
    directions = profile.directions
    if directions is None:
        return None
    x, w = directions.x, directions.weights
    ends = np.vstack([x, -x]) if has_no_sign(profile.moments.hierarchy.space) else x
    angle = np.mod(np.arctan2(ends[:, 1], ends[:, 0]), 2.0 * np.pi)
    weights = np.resize(w, len(ends))
    sums, edges = np.histogram(angle, _BINS, (0.0, 2.0 * np.pi), weights=weights)
    middle = np.degrees(0.5 * (edges[1:] + edges[:-1]))
    share = numbers(sums / sums.sum() * _BINS, 3)
    return {"theta": numbers(middle), "r": share, "width": [360.0 / _BINS] * _BINS}


def _ticks(told: Notation | None, at: list[float]) -> list[str]:
    """Angles of the rim in the user's own coordinates."""
    if told is None:
        return [f"{angle:g}°" for angle in at]
    turn = np.radians(at)
    points = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    words = [told.words(point) for point in points]
    if told.convention.angular and told.clock is None:
        name = f"{told.convention.role(0)} "
        return [text.removeprefix(name).replace(".0°", "°") for text in words]
    return words if told.clock is not None else [f"{angle:g}°" for angle in at]


# --- two angles ------------------------------------------------------------------------------


def _torus(profile: Profile, stops: tuple[str, ...], first: int) -> Scene:
    rows = max(37, min(121, int(math.sqrt(_MOST_VALUES / len(stops)))) | 1)
    angle = np.linspace(-180.0, 180.0, rows)
    a, b = np.radians(np.meshgrid(angle, angle))
    points = np.stack([np.cos(a), np.sin(a), np.cos(b), np.sin(b)], axis=-1)
    values = _densities(profile, points.reshape(-1, 4))
    x, shares, left_out = _rows(profile)
    turns = np.degrees(np.arctan2(x[:, 1::2], x[:, ::2]))
    marks = _marks(profile, x, shares, {"x": turns[:, 0], "y": turns[:, 1]})
    reading = profile.reading
    names = reading.columns if reading is not None and len(reading.columns) == 2 else ()
    inside = np.ones(rows)
    inside[[0, -1]] = 0.5
    weights = np.outer(inside, inside).ravel()
    content = {
        "angle": numbers(angle), "values": numbers(values.reshape(-1, rows, rows), 3),
        "top": _top(values), "data": marks if len(x) else None,
        "names": list(names or ("angle 1", "angle 2")),
    }  # fmt: skip
    return Scene(
        key="density",
        caption=_caption(
            "the density of the chosen level, and the data; opposite edges are the same",
            left_out,
            _mass(values, weights / weights.sum()),
        ),
        alt=_alt(profile, "the torus of two angles", ""),
        chart="torus",
        levels=stops,
        first=first,
        content=content,
    )


_Maker = Callable[["Profile", tuple[str, ...], int], Scene]
_MAKERS: dict[str, _Maker] = {"sphere": _sphere, "circle": _circle, "torus": _torus}
