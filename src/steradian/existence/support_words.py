"""What the points of a support lie on, in plain words."""

from __future__ import annotations

import numpy as np

from steradian.existence.certificate import Certificate
from steradian.numerics.arrays import Array
from steradian.numerics.linalg import null_space
from steradian.numerics.spheres.harmonics import sphere_harmonics
from steradian.numerics.spheres.sphere_minima import dips
from steradian.numerics.tolerances import (
    ANTIPODAL,
    CONSTANT_FUNCTION,
    FLAT,
    NEARLY_ON_CIRCLE,
    ROUND_QUADRIC,
)
from steradian.spaces import Sphere
from steradian.spaces.quadratic import natural_parameters

_ANGLES = 3600
_DEGREES = {3: "cubic", 4: "quartic", 5: "quintic"}


def vector_words(v: Array) -> str:
    """Coordinates of a unit vector to four digits, and to a millionth."""
    return "(" + ", ".join(f"{c + 0.0:.4g}" for c in np.round(v, 6)) + ")"


def sphere_words(x: Array, level: int) -> str:
    """What distinct points ``x`` (n, 3) lie on when squares show the boundary of ``level``."""
    if len(x) == 1:
        return f"the support is the single point {vector_words(x[0])}"
    if len(x) == 2:
        opposite = np.linalg.norm(x.sum(axis=0)) < ANTIPODAL
        return "the support is two points" + (", antipodal" if opposite else "")
    normal, centre, depth = best_plane(x)
    if depth <= FLAT * len(x):
        return f"all points lie on {circle_words(normal, centre)}"
    half = level // 2
    needed = (half + 1) ** 2
    if len(x) < needed:
        return f"the support is only {len(x)} distinct points, and level {level} needs {needed}"
    near = near_circle_words(x)
    if near:
        return f"{near}, too close for level {level} in double precision"
    parallels = parallels_words(x) if half == 2 else ""
    return parallels or f"the support lies on the zero set of a polynomial of degree {half}"


def face_words(count: int, level: int) -> str:
    """When only a function found by linear programming shows the boundary."""
    kind = _DEGREES.get(level)
    kind = f"a {kind} function" if kind else f"a function of degree {level}"
    return f"{kind} that is nowhere negative vanishes on all {count} points"


def undecided_words(level: int, why: str) -> str:
    """When a limit of ours leaves the question open."""
    return f"whether level {level} exists is not decided: {why}; a limit of ours, not of the data"


def near_circle_words(x: Array) -> str:
    """The circle that holds all points ``x`` (n >= 3, 3) but for a little; else empty."""
    normal, centre, _ = best_plane(x)
    away = float(np.abs((x - centre) @ normal).max())
    if away > NEARLY_ON_CIRCLE:
        return ""
    return f"all points lie within {away:.0e} of {circle_words(normal, centre, 4.0 * away)}"


def few_words(count: int, level: int) -> str:
    """Why ``count`` points of the circle are too few for a level."""
    points = "one point" if count == 1 else f"only {count} distinct points"
    return f"the support is {points}, and level {level} needs at least {level + 1}"


def nearly_words(x: Array, f: Certificate) -> str:
    """What points ``x`` (n, d) nearly lie on, when ``f`` has hardly any mean there."""
    near = near_circle_words(x) if x.shape[1] == 3 and len(x) > 2 else ""
    if near:
        return f"nearly on the boundary: {near}"
    most = max(float(f(x).max()), 1e-16)
    return f"nearly on the boundary: the function of mean one is below {most:.0e} on the data"


def bound_words(slack: float) -> str:
    """When a margin is only an upper bound."""
    return f"the margin may be smaller by {slack:.0e}: its programme was cut short, a limit of ours"


def thinnest_words(peak: Array | None) -> str:
    """Where the function that sees least of the data has its peak; empty where it has none."""
    return "" if peak is None else f"thinnest about {vector_words(peak)}"


def circle_peak(f: Certificate) -> Array | None:
    """Where ``f`` on the circle is largest, (2,); None for a constant."""
    if float(f.lam @ f.lam) < CONSTANT_FUNCTION:
        return None
    angle = np.linspace(0.0, 2.0 * np.pi, _ANGLES, endpoint=False)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.asarray(points[np.argmax(f(points))])


def sphere_peak(f: Certificate) -> Array | None:
    """Where ``f`` on the two-sphere is largest, (3,); None for a constant."""
    if float(f.lam @ f.lam) < CONSTANT_FUNCTION:
        return None
    return np.asarray(dips(-np.append(1.0, f.lam), f.level)[0][0])


def best_plane(x: Array) -> tuple[Array, Array, float]:
    """Normal and a point of the plane closest to ``x`` (n >= 3, 3), and the singular value."""
    centre = x.mean(axis=0)
    _, singular, axes = np.linalg.svd(x - centre, full_matrices=False)
    return np.cross(axes[0], axes[1]), centre, float(singular[2])


def circle_words(normal: Array, centre: Array, tolerance: float = 1e-12) -> str:
    """Great or small, and about what."""
    height = float(normal @ centre)
    if abs(height) < max(tolerance, 1e-12):
        upper = normal if normal[np.flatnonzero(np.abs(normal) > 1e-12)[-1]] > 0 else -normal
        return f"the great circle with pole {vector_words(upper)}"
    if height < 0:
        normal, height = -normal, -height
    angle = np.degrees(np.arccos(min(height, 1.0)))
    return f"the small circle of radius {angle:.4g}° about {vector_words(normal)}"


def parallels_words(x: Array) -> str:
    """Two parallel circles, when the only quadric through ``x`` (n, 3) is such a pair."""
    quadrics = null_space(sphere_harmonics(x, 2))
    if quadrics.shape[1] != 1:
        return ""
    constant, lam = quadrics[0, 0], quadrics[1:, 0]
    linear, form = natural_parameters(Sphere(), lam)  # constant + linear·x + xᵀ form x
    values, axes = np.linalg.eigh(form)
    k = 2 if abs(values[1] - values[0]) < abs(values[2] - values[1]) else 0
    axis = axes[:, k]
    across = linear - (linear @ axis) * axis
    round_off = max(abs(values[1] - values[2 - k]), float(np.linalg.norm(across)))
    if round_off > ROUND_QUADRIC * float(np.abs(values).max()):
        return ""
    heights = np.roots([values[k] - values[1], linear @ axis, constant + values[1]])
    if np.iscomplexobj(heights) or np.abs(heights).max() > 1.0:
        return ""
    if heights.sum() < 0:
        axis, heights = -axis, -heights
    first, second = np.sort(np.degrees(np.arccos(heights)))
    return (
        f"all points lie on two parallel circles, of radius {first:.4g}° and {second:.4g}° "
        f"about {vector_words(axis)}"
    )
