"""Figure 4: the first two gaps near uniformity, in any dimension."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import steradian as sr
from steradian.numerics.arrays import Array
from steradian.paper.drawing import local_form
from steradian.paper.entries import Bound
from steradian.paper.pieces import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIMENSIONS = (3, 10, 100)  # the paper has the first
POINTS = 40
RATIO = "exact / local form, off 1 by"
Path = tuple[Array, Array]  # local forms and exact gaps, (POINTS,) each


def figure4() -> Picture:
    """Exact gaps against their quadratic forms along von Mises-Fisher and Bingham laws."""
    first = {d: first_gap(d, concentrations(d)) for d in DIMENSIONS}
    second = {d: second_gap(d, strengths(d)) for d in DIMENSIONS}
    entries = []
    for d in DIMENSIONS:
        near = 1e-2 * concentrations(d)[:1], 1e-2 * strengths(d)[:1]
        for level, path in ((1, first_gap(d, near[0])), (2, second_gap(d, near[1]))):
            ratio = float(path[1][0] / path[0][0])
            entries.append(Bound(f"I{level}, d = {d}", RATIO, abs(ratio - 1.0), np.nan, 1e-3))
    apart = np.abs(first[3][1] - closed_form(concentrations(3))).max()
    entries.append(Bound("I1, d = 3", "off its closed form, nats", float(apart), np.nan, 1e-12))
    return Picture(
        name="figure4",
        title="Figure 4: local forms of the first two gaps",
        story=(
            "Left, von Mises-Fisher laws: I1 against (d/2)|r|². Right, Bingham laws exp(t "
            "xᵀB₀x): I2 against d(d+2)/4 ‖Q − I/d‖². For d = 3 the paper's paths, κ from 0.02 "
            "to 1.5 and t from 0.02 to 1.2; for d = 10 and 100, which the paper does not "
            "show, paths as far from uniform. Both gaps start along the identity, dashed: at "
            "a hundredth of the smallest κ and t their ratio to the local form is one. I1 on "
            "the two-sphere is also compared with its closed form κA₃(κ) − log(sinh κ/κ)."
        ),
        entries=tuple(entries),
        size=(8.4, 4.2),
        draw=partial(_draw, first, second),
    )


def concentrations(d: int) -> Array:
    """Concentrations κ: the paper's for d = 3, scaled so that κ²/2d covers the same range."""
    return np.linspace(0.02, 1.5, POINTS) * np.sqrt(d / 3.0)


def strengths(d: int) -> Array:
    """Parameters t: the paper's for d = 3, scaled so that t² tr B₀²/d(d+2) does the same."""
    return np.linspace(0.02, 1.2, POINTS) * np.sqrt(d * (d + 2) / 15.0 * 1.5 * (d - 1) / d)


def first_gap(d: int, kappa: Array) -> Path:
    """(d/2)|r|² and I₁ of von Mises-Fisher laws."""
    path = [sr.FisherBingham(k * np.eye(d)[0], np.zeros((d, d))) for k in kappa]
    local = [0.5 * d * law.mean() @ law.mean() for law in path]
    return np.array(local), np.array([law.deficit for law in path])


def second_gap(d: int, t: Array) -> Path:
    """d(d+2)/4 ‖Q − I/d‖² and I₂ of Bingham laws exp(t xᵀB₀x), B₀ = diag(1, −1/(d−1), …)."""
    shape = np.diag([1.0] + [-1.0 / (d - 1)] * (d - 1))
    path = [sr.FisherBingham(np.zeros(d), s * shape) for s in t]
    apart = [np.linalg.norm(law.second_moment() - np.eye(d) / d) for law in path]
    return 0.25 * d * (d + 2) * np.square(apart), np.array([law.gap for law in path])


def closed_form(kappa: Array) -> Array:
    """I₁ on the two-sphere as the paper writes it, κ A₃(κ) − log(sinh κ / κ)."""
    return kappa / np.tanh(kappa) - 1.0 - np.log(np.sinh(kappa) / kappa)


def _draw(first: dict[int, Path], second: dict[int, Path], figure: Figure) -> None:
    forms = (r"$\frac{d}{2}\|r\|^2$", r"$\frac{d(d+2)}{4}\|Q - I_d/d\|_F^2$")
    for level, (ax, paths) in enumerate(zip(figure.subplots(1, 2), (first, second), strict=True)):
        farthest = paths[3][0].max()
        shown = {f"d = {d}": _until(path, farthest) for d, path in paths.items()}
        local_form(shown, ax, level=level + 1)
        ax.set_xlabel(f"{forms[level]} (nats)")


def _until(path: Path, farthest: float) -> Path:
    """The part of a path whose local form is no larger than ``farthest``."""
    kept = path[0] <= farthest
    return path[0][kept], path[1][kept]
