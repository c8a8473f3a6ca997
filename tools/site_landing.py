"""The picture of the landing page: a mean direction that fails, and the fingerprint that tells why.

Drawn from the bundled sites of McMurdo when the site is built, so that its numbers are those of
the library. It is SVG inside the page, with the colours of ``docs/stylesheets/site.css``, light and
dark.
"""

from __future__ import annotations

from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from contourpy import FillType, contour_generator
from numpy.typing import NDArray

import steradian as sr

Array = NDArray[np.float64]
RADIUS = 100.0
LEVELS = 4


class View(NamedTuple):
    """An orthographic view: ``right``, ``up`` and ``near`` are unit vectors, rows of a rotation."""

    right: Array
    up: Array
    near: Array


def picture() -> str:
    """The whole picture as inline SVG figures."""
    data = sr.examples.load("mcmurdo")
    profile = sr.profile(data, levels=LEVELS)
    view = _side_view(data.x)
    share = 100 * profile.gaps / profile.deficits[-1]
    mean = _figure(
        _globe(profile.fits[1], data.x, view, level=1) + _mean_arrow(data.x.mean(axis=0), view),
        f"133 sites and their mean direction, which is {profile.resultant:.2f} long. The law with "
        "that mean, shaded, is nearly uniform.",
        f"<b>The mean direction</b> is {profile.resultant:.2f} long, of 1. The law that it stands "
        "for, shaded, is almost uniform and misses both groups (hollow: on the far side). It holds "
        f"{share[0]:.0f}&nbsp;% of the information.",
    )
    bars = _figure(
        _bars(profile),
        "Information of levels 1 to 4: "
        + ", ".join(f"{gap:.2f}" for gap in profile.gaps)
        + " nats.",
        "<b>The fingerprint</b>: information that each level adds, in nats. Grey is what noise "
        "would give. The second level, an axis, stands out.",
    )
    axis = _figure(
        _globe(profile.fits[2], data.x, view, level=2),
        "The same sites on the law of level 2, which has two opposite modes.",
        "<b>Level 2 sees the axis</b>: the field of the earth has been normal and reversed, "
        f"almost equally often. It adds {share[1]:.0f}&nbsp;%.",
    )
    return f'<div class="landing-figures">{mean}{bars}{axis}</div>'


def _figure(content: str, description: str, caption: str) -> str:
    return (
        f'<figure><svg viewBox="-112 -112 224 224" role="img" aria-label="{escape(description)}">'
        f"{content}</svg><figcaption>{caption}</figcaption></figure>"
    )


def _side_view(x: Array) -> View:
    """Up is up (the data have z down), and the axis of the sample lies in the picture."""
    axis = np.linalg.eigh(x.T @ x)[1][:, -1]
    up = np.array([0.0, 0.0, -1.0])
    near = np.cross(up, axis)
    near /= np.linalg.norm(near)
    return View(np.cross(up, near), up, near)


def _globe(fit: sr.results.MaxEntFit, x: Array, view: View, level: int) -> str:
    shades = "".join(
        f'<path class="shade level-{level}" style="fill-opacity:{opacity:.2f}" d="{path}"/>'
        for opacity, path in _shades(fit, view)
    )
    disc = f'<circle class="globe" r="{RADIUS:.0f}"/>'
    return (
        f'<clipPath id="disc-{level}">{disc}</clipPath>'
        f'<g clip-path="url(#disc-{level})">{shades}</g>{disc}{_points(x, view)}'
    )


def _shades(fit: sr.results.MaxEntFit, view: View, size: int = 101) -> list[tuple[float, str]]:
    """Bands of the density on the near half; uniform is 1, and each band has twice the last."""
    grid = np.linspace(-1, 1, size)
    a, b = np.meshgrid(grid, grid)
    radius = np.maximum(np.hypot(a, b), 1.0)
    a, b = a / radius, b / radius  # corners repeat the rim; the disc cuts them off
    near = np.sqrt(np.maximum(1 - a**2 - b**2, 0))
    points = a[..., None] * view.right + b[..., None] * view.up + near[..., None] * view.near
    density = np.log2(fit.pdf(points.reshape(-1, 3)).reshape(size, size))
    lines = contour_generator(grid, grid, density, fill_type=FillType.OuterOffset)
    shades = []
    for band in range(-2, 5):
        filled: Any = lines.filled(float(band), float(band + 1))
        polygons, offsets = filled
        path = "".join(
            _outline(polygon[start:stop])
            for polygon, cuts in zip(polygons, offsets, strict=True)
            for start, stop in pairwise(cuts)
        )
        shades.append((0.06 + 0.11 * (band + 2), path))
    return [shade for shade in shades if shade[1]]


def _outline(line: Array) -> str:
    return "M" + "L".join(f"{RADIUS * a:.0f} {-RADIUS * b:.0f}" for a, b in line) + "Z"


def _points(x: Array, view: View) -> str:
    """Sites; those on the far half are hollow."""
    marks = []
    for row in x[np.argsort(x @ view.near)]:
        a, b = RADIUS * (row @ view.right), -RADIUS * (row @ view.up)
        side = "near" if row @ view.near > 0 else "far"
        marks.append(f'<circle class="site {side}" cx="{a:.1f}" cy="{b:.1f}" r="2.6"/>')
    return "".join(marks)


def _mean_arrow(mean: Array, view: View) -> str:
    """From the centre, as long as the mean is: R of the radius."""
    a, b = RADIUS * (mean @ view.right), -RADIUS * (mean @ view.up)
    along = np.array([a, b]) / np.hypot(a, b)
    across = np.array([-along[1], along[0]])
    tip = np.array([a, b])
    head = [tip + 2 * along, tip - 8 * along + 5 * across, tip - 8 * along - 5 * across]
    corners = " ".join(f"{u:.1f},{v:.1f}" for u, v in head)
    return (
        f'<path class="mean" d="M0 0L{a - 5 * along[0]:.1f} {b - 5 * along[1]:.1f}"/>'
        f'<polygon class="mean-head" points="{corners}"/>'
    )


def _bars(profile: sr.results.Profile) -> str:
    """One bar for each level, with what noise gives in grey and its value beside it."""
    names = profile.moments.hierarchy.level_names
    scale = 158 / profile.gaps.max()
    rows = []
    for k, (gap, noise) in enumerate(zip(profile.gaps, profile.noise, strict=True)):
        top = -96 + 52 * k
        width = scale * gap
        bar = f'x="-106" y="{top + 6}" width="{width:.1f}" height="20"'
        rows.append(
            f'<text x="-106" y="{top}">{k + 1} · {escape(names[k])}</text>'
            f'<rect class="bar level-{k + 1}" {bar}/>'
            f'<rect class="noise" x="-106" y="{top + 28}" width="{scale * noise:.1f}" height="4"/>'
            f'<text class="value" x="{-100 + width:.1f}" y="{top + 21}">{gap:.2f}</text>'
        )
    return "".join(rows)
