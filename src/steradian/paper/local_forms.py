"""Figure 4: the first two gaps near uniformity, in any dimension."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import steradian as sr
from steradian.numerics.arrays import Array
from steradian.paper.entries import Bound, Comparison, Entry, Picture
from steradian.plots import local_form

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIMENSIONS = (3, 10, 100)  # the paper has the first
POINTS = 40
Path = tuple[Array, Array]  # local forms and exact gaps, (POINTS,) each


def figure4() -> Picture:
    """Exact gaps against their quadratic forms along von Mises-Fisher and Bingham laws."""
    first = {f"d = {d}": first_gap(d) for d in DIMENSIONS}
    second = {f"d = {d}": second_gap(d) for d in DIMENSIONS}
    entries: list[Comparison] = [
        Entry.exact(f"I{level}, {name}", "exact / local form at the smallest", ratio(path), "1.000")
        for level, paths in ((1, first), (2, second))
        for name, path in paths.items()
    ]
    apart = np.abs(first["d = 3"][1] - closed_form(concentrations(3))).max()
    column = "largest distance from the printed closed form, nats"
    entries.append(Bound("I1, d = 3", column, float(apart), np.nan, 1e-12))
    return Picture(
        name="figure4",
        title="Figure 4: local forms of the first two gaps",
        story=(
            "Left, von Mises-Fisher laws: I1 against (d/2)|r|². Right, Bingham laws exp(t xᵀB₀x): "
            "I2 against d(d+2)/4 ‖Q − I/d‖². For d = 3 the paper's paths, κ from 0.02 to 1.5 and t "
            "from 0.02 to 1.2; for d = 10 and 100 paths of the same local length, which the paper "
            "does not show. Both gaps start along the identity, dashed."
        ),
        entries=tuple(entries),
        size=(8.4, 4.2),
        draw=partial(_draw, first, second),
    )


def concentrations(d: int) -> Array:
    """κ of the path: the paper's for d = 3, scaled so that κ²/2d covers the same range."""
    return np.linspace(0.02, 1.5, POINTS) * np.sqrt(d / 3.0)


def first_gap(d: int) -> Path:
    """(d/2)|r|² and I₁ of von Mises-Fisher laws."""
    pole = np.eye(d)[0]
    path = [sr.FisherBingham(kappa * pole, np.zeros((d, d))) for kappa in concentrations(d)]
    local = [0.5 * d * law.mean() @ law.mean() for law in path]
    return np.array(local), np.array([law.deficit for law in path])


def second_gap(d: int) -> Path:
    """d(d+2)/4 ‖Q − I/d‖² and I₂ of Bingham laws exp(t xᵀB₀x), B₀ = diag(1, −1/(d−1), …)."""
    shape = np.diag([1.0] + [-1.0 / (d - 1)] * (d - 1))
    same_length = np.sqrt(d * (d + 2) / 15.0 * 1.5 / (1.0 + 1.0 / (d - 1)))  # one for d = 3
    path = [
        sr.FisherBingham(np.zeros(d), t * same_length * shape) for t in np.linspace(0.02, 1.2, POINTS)
    ]
    apart = [np.linalg.norm(law.second_moment() - np.eye(d) / d) for law in path]
    return 0.25 * d * (d + 2) * np.square(apart), np.array([law.gap for law in path])


def closed_form(kappa: Array) -> Array:
    """I₁ on the two-sphere as the paper writes it, κ A₃(κ) − log(sinh κ / κ)."""
    return kappa / np.tanh(kappa) - 1.0 - np.log(np.sinh(kappa) / kappa)


def ratio(path: Path) -> float:
    """Exact over local where the path is nearest to uniform."""
    return float(path[1][0] / path[0][0])


def _draw(first: dict[str, Path], second: dict[str, Path], figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    local_form(left, first, level=1)
    local_form(right, second, level=2)
    left.set_xlabel(r"$\frac{d}{2}\|r\|^2$ (nats)")
    right.set_xlabel(r"$\frac{d(d+2)}{4}\|Q - I_d/d\|_F^2$ (nats)")
