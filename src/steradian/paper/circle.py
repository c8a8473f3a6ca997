"""Table 1 and Figure 3: the Fourier hierarchy on the circle."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import steradian as sr
from steradian.numerics.arrays import Array
from steradian.paper import laws
from steradian.paper.entries import Entry, averages
from steradian.paper.pieces import Picture, Piece
from steradian.plots import circle_densities, gaps
from steradian.progress import tracked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N, REPLICATES = 400, 100
LAWS = {
    "vMF": laws.von_mises(1, 4.0),
    "antipodal": laws.von_mises(2, 8.0),
    "trimodal": laws.von_mises(3, 12.0),
}
COLUMNS = ("Kish ESS", "I1", "I2", "I3", "I4", "D4")
PRINTED = {
    "vMF, uniform": "400; 1.035 (0.004); 0.002 (0.000); 0.003 (0.000); 0.003 (0.000); 1.043",
    "vMF, Pareto": "90; 1.060 (0.014); 0.020 (0.004); 0.016 (0.003); 0.016 (0.003); 1.111",
    "antipodal, uniform": "400; 0.003 (0.000); 0.726 (0.004); 0.003 (0.000); 0.009 (0.001); 0.741",
    "antipodal, Pareto": "79; 0.028 (0.005); 0.750 (0.010); 0.014 (0.002); 0.022 (0.003); 0.813",
    "trimodal, uniform": "400; 0.003 (0.000); 0.003 (0.000); 0.534 (0.004); 0.002 (0.000); 0.542",
    "trimodal, Pareto": "92; 0.026 (0.008); 0.019 (0.004); 0.556 (0.008); 0.014 (0.002); 0.615",
}


def table1(seed: int = laws.SEED) -> Piece:
    """Information gaps on the circle: three laws, uniform and Pareto weights."""
    rows: dict[str, list[Array]] = {name: [] for name in PRINTED}
    for name, run in runs(seed):
        rows[name].append(np.array([run.ess, *run.gaps, run.deficits[-1]]))
    return Piece(
        name="table1",
        title="Table 1: Fourier information gaps on the circle",
        story=(
            f"Means of {REPLICATES} samples of {N} angles each: vM(0, 4), an antipodal mixture "
            "of vM(8) and a threefold mixture of vM(12), with equal weights and with "
            "independent Pareto(1.5) weights. The largest gap is that of the level which "
            "matches the geometry; unequal weights raise the others. Pareto(1.5) weights have "
            "no variance, so the standard errors of those rows are themselves rough."
        ),
        entries=averages(rows, COLUMNS, PRINTED),
    )


def runs(seed: int) -> Iterator[tuple[str, sr.results.Profile]]:
    """Every fit of the table, with the name of its row."""
    rng = np.random.default_rng(seed)
    cells = [(name, draw) for name, draw in LAWS.items() for _ in range(REPLICATES)]
    for name, draw in tracked(cells, len(cells), "table 1"):
        theta = draw(N, rng)
        pareto = laws.pareto(N, rng)
        yield f"{name}, uniform", sr.profile(sr.Directions.from_angles(theta), levels=4)
        weighted = sr.Directions.from_angles(theta, weights=pareto)
        yield f"{name}, Pareto", sr.profile(weighted, levels=4)


# --- Figure 3 ---------------------------------------------------------------------------------

ANGLES, KAPPA, KERNEL = 500, 5.5, 14.0
CUTOFF = 8  # K of the residual
RESIDUALS = {1: "0.421", 2: "0.420", 3: "0.083"}
SAMPLES = 100  # to know how far one sample's residual strays


def figure3(seed: int = laws.SEED) -> Picture:
    """One trimodal sample, its fits through level 3, and the residuals."""
    rng = np.random.default_rng(seed)
    draw = laws.von_mises(3, KAPPA)
    samples = [sr.Directions.from_angles(draw(ANGLES, rng)) for _ in range(SAMPLES)]
    profiles = [sr.profile(x, levels=3) for x in tracked(samples, SAMPLES, "figure 3")]
    found = np.array([p.residuals(degree=CUTOFF, weights="unit").raw for p in profiles])
    entries = [
        Entry.once(f"R_{level},{CUTOFF}", "residual", found[:, level - 1], text)
        for level, text in RESIDUALS.items()
    ]
    return Picture(
        name="figure3",
        title="Figure 3: the trimodal hierarchy on the circle",
        story=(
            f"{ANGLES} angles of an equal mixture of three vM({KAPPA:g}), their von Mises "
            f"kernel density of concentration {KERNEL:g} (grey), and the fits of levels 1 to "
            "3; beside them the gaps. The first two fits cannot show three modes, the third "
            f"does. The harmonic residuals R_L,{CUTOFF} have unit weights and raw cos, sin; "
            f"their standard errors are the spread over {SAMPLES} samples."
        ),
        entries=tuple(entries),
        size=(8.4, 3.4),
        draw=partial(_draw, samples[0], profiles[0]),
    )


def kernel_density(x: sr.Directions, at: sr.Directions, kappa: float) -> Array:
    """Von Mises kernel density of equally weighted directions, per radian."""
    kernel = sr.FisherBingham([kappa, 0.0], np.zeros((2, 2)))
    return np.exp(kappa * at.x @ x.x.T - kernel.psi).mean(axis=1) / (2.0 * np.pi)


def _draw(x: sr.Directions, profile: sr.results.Profile, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=[2.2, 1])
    theta = np.linspace(0.0, 2.0 * np.pi, 721)
    smooth = kernel_density(x, sr.Directions.from_angles(theta), KERNEL)
    levels = tuple(profile.levels.tolist())  # all of them, as in the paper
    circle_densities(profile, left, levels=levels, empirical=(theta, smooth))
    left.set_ylim(top=1.35 * smooth.max())
    left.legend(frameon=False, ncols=4, loc="upper center")
    gaps(profile, right, compact=True)
