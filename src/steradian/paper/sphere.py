"""Table 2 and Figure 1: the first levels on the two-sphere."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import steradian as sr
from steradian.numerics.arrays import Array
from steradian.paper import laws
from steradian.paper.drawing import sphere_cloud
from steradian.paper.entries import Entry, averages
from steradian.paper.pieces import Picture, Piece
from steradian.plots import gaps
from steradian.progress import tracked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N, REPLICATES = 500, 30
POLES = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
LAWS = {
    "vMF cloud": laws.vmf(8.0),
    "antipodal mixture": laws.vmf_mixture(POLES, 12.0),
    "girdle distribution": laws.girdle,
}
COLUMNS = ("I1", "I2", "D2", "R", "kappa", "A_Q")
PRINTED = {
    "vMF cloud": "1.780 (0.006); 0.005 (0.001); 1.786; 0.876; 8.07; 0.550",
    "antipodal mixture": "0.003 (0.001); 1.490 (0.008); 1.493; 0.039; 0.12; 0.631",
    "girdle distribution": "0.004 (0.001); 0.919 (0.005); 0.923; 0.048; 0.14; 0.364",
}


def table2(seed: int = laws.SEED) -> Piece:
    """Information gaps and classical summaries on the two-sphere: three laws."""
    rows: dict[str, list[Array]] = {name: [] for name in PRINTED}
    for name, x, run in runs(seed):
        classical = (run.resultant, run.kappa, anisotropy(x))
        rows[name].append(np.array([*run.gaps, run.deficits[-1], *classical]))
    return Piece(
        name="table2",
        title="Table 2: low-order gaps and classical summaries on the two-sphere",
        story=(
            f"Means of {REPLICATES} samples of {N} directions each: vMF(8), an antipodal "
            "mixture of vMF(12), and a girdle. R and κ call the last two nearly uniform, "
            "where I2 finds their axis or plane; A_Q = ‖Σ w x xᵀ − I/3‖ is large for the vMF "
            "cloud, whose I2 is nearly nothing."
        ),
        entries=averages(rows, COLUMNS, PRINTED),
    )


def runs(seed: int) -> Iterator[tuple[str, Array, sr.results.Profile]]:
    """Every fit of the table: the name of its row, the sample and its profile."""
    rng = np.random.default_rng(seed)
    cells = [(name, draw) for name, draw in LAWS.items() for _ in range(REPLICATES)]
    for name, draw in tracked(cells, len(cells), "table 2"):
        x = draw(N, rng)
        yield name, x, sr.profile(x, levels=2)


def anisotropy(x: Array) -> float:
    """A_Q = ‖mean x xᵀ − I/3‖ in Frobenius' norm."""
    return float(np.linalg.norm(x.T @ x / len(x) - np.eye(3) / 3.0))


# --- Figure 1 ---------------------------------------------------------------------------------

CLOUDS = {**LAWS, "tetrahedral modes": laws.vmf_mixture(laws.TETRAHEDRON, 12.0)}
DOMINANT = {
    "vMF cloud": "1",
    "antipodal mixture": "2",
    "girdle distribution": "2",
    "tetrahedral modes": "3",
}


def figure1(seed: int = laws.SEED) -> Picture:
    """Four clouds on the sphere above the gaps of their first three levels."""
    clouds = clouds_of(seed)
    profiles = {name: sr.profile(x, levels=3) for name, x in clouds.items()}
    entries = [
        Entry.exact(name, "dominant level", 1 + int(np.argmax(p.gaps)), DOMINANT[name])
        for name, p in profiles.items()
    ]
    entries += [
        Entry.exact(name, f"I{level}", gap, "")
        for name, p in profiles.items()
        for level, gap in zip(p.levels, p.gaps, strict=True)
    ]
    return Picture(
        name="figure1",
        title="Figure 1: from geometry to fingerprint on the two-sphere",
        story=(
            f"{N} directions of each of the laws of Table 2 and of four modes vMF(12) at the "
            "corners of a tetrahedron, under orthographic projection (far side faint), above "
            "their first three gaps. The vMF cloud is first order, antipodal modes and girdle "
            "are second order, the tetrahedron appears at level 3. The paper prints no "
            "numbers and does not say how its tetrahedral cloud was drawn; its caption says "
            "which level each cloud belongs to."
        ),
        entries=tuple(entries),
        size=(9.6, 5.0),
        draw=partial(_draw, clouds, profiles),
    )


def clouds_of(seed: int) -> dict[str, sr.Directions]:
    """The clouds of the figure."""
    rng = np.random.default_rng(seed)
    return {name: sr.Directions(draw(N, rng)) for name, draw in CLOUDS.items()}


def _draw(
    clouds: dict[str, sr.Directions], profiles: dict[str, sr.results.Profile], figure: Figure
) -> None:
    above, below = figure.subplots(2, len(clouds), height_ratios=[1.35, 1])
    top = max(float(p.gaps.max()) for p in profiles.values())
    for ax, (name, x) in zip(above, clouds.items(), strict=True):
        sphere_cloud(x, ax)
        ax.set_title(name, fontsize="medium")
    for ax, p in zip(below, profiles.values(), strict=True):
        gaps(p, ax, top=top, compact=True)
        ax.label_outer()
        ax.set_xlabel("level L")
