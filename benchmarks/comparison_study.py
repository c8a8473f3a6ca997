"""How often the tests of `sr.compare` reject, beside classical tests of the same samples.

    python benchmarks/comparison_study.py [replicates [cell …]]

Samples are drawn here, without the library. A line for each cell: share of p-values of at most 5 %
of each test (Monte Carlo error √(p(1-p)/replicates)); a dash where more than a tenth were refused.
docs/comparison.md holds the table.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_law

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import steradian as sr
from comparison_groups import gaussian, vmf

Array = NDArray[np.float64]
Rng = np.random.Generator
SEED = 20_261_117
SHUFFLES = 99
NORTH = np.array([0.0, 0.0, 1.0])
OURS = "same law", "level 1", "direction", "concentr.", "level 2"


@dataclass(frozen=True, eq=False)
class Drawn:
    """One sample: rows, labels, and what else `compare` is told."""

    x: Array
    labels: NDArray[np.int64]
    weights: Array | None = None
    clusters: NDArray[np.int64] | None = None


def together(*groups: Array) -> Drawn:
    """Groups as rows with labels."""
    labels = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    return Drawn(np.concatenate(groups), labels)


def circle(angles: Array) -> Array:
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def oval(n: int, stretch: float, rng: Rng) -> Array:
    """About the north pole, stretched along one axis: the mean direction stays."""
    return gaussian(n, 3.0 * NORTH, np.array([stretch, 1.0 / stretch, 1.0]), rng)


def bimodal(n: int, share: float, rng: Rng) -> Array:
    """Angles of exp(share cos 2θ), of mean zero."""
    return circle(0.5 * rng.vonmises(0.0, share, n) + np.pi * rng.integers(0, 2, n))


def clustered(rng: Rng) -> Drawn:
    """Two times 30 clusters of 5 rows about centres of their own."""
    centres = vmf(60, NORTH, 8.0, rng)
    x = np.concatenate([vmf(5, centre, 20.0, rng) for centre in centres])
    return Drawn(x, np.repeat([0, 1], 150), clusters=np.repeat(np.arange(60), 5))


def weighted(rng: Rng) -> Drawn:
    """Pareto(2.5) weights that have nothing to do with the rows."""
    plain = together(vmf(100, NORTH, 5.0, rng), vmf(100, NORTH, 5.0, rng))
    return Drawn(plain.x, plain.labels, weights=1.0 + rng.pareto(2.5, 200))


def tilted(angle: float) -> Array:
    return np.array([np.sin(angle), 0.0, np.cos(angle)])


def high(n: int, rng: Rng) -> Array:
    return gaussian(n, 1.5 * np.eye(10)[0], np.ones(10), rng)


SIZE: dict[str, Callable[[Rng], Drawn]] = {
    "100/100 vMF(5)": lambda r: together(vmf(100, NORTH, 5.0, r), vmf(100, NORTH, 5.0, r)),
    "20/200 vMF(5)": lambda r: together(vmf(20, NORTH, 5.0, r), vmf(200, NORTH, 5.0, r)),
    "20/200 shapes differ": lambda r: together(oval(20, 1.6, r), oval(200, 1.0, r)),
    "100/100 κ 3, 10": lambda r: together(vmf(100, NORTH, 3.0, r), vmf(100, NORTH, 10.0, r)),
    "30+30 clusters of 5": clustered,
    "Pareto weights 100/100": weighted,
    "15/15 vMF(5)": lambda r: together(vmf(15, NORTH, 5.0, r), vmf(15, NORTH, 5.0, r)),
    "circle 60/60 vM(2)": lambda r: together(
        circle(r.vonmises(0, 2, 60)), circle(r.vonmises(0, 2, 60))
    ),
    "five groups of 60": lambda r: together(*(vmf(60, NORTH, 5.0, r) for _ in range(5))),
    "d = 10, 100/100": lambda r: together(high(100, r), high(100, r)),
}
POWER: dict[str, Callable[[Rng], Drawn]] = {
    "shift 10°, 60/60": lambda r: together(vmf(60, NORTH, 5.0, r), vmf(60, tilted(0.175), 5.0, r)),
    "κ 4, 8, 60/60": lambda r: together(vmf(60, NORTH, 4.0, r), vmf(60, NORTH, 8.0, r)),
    "oval, round, 100/100": lambda r: together(oval(100, 1.25, r), oval(100, 1.0, r)),
    "circle: two modes, none": lambda r: together(bimodal(60, 0.9, r), bimodal(60, 1e-9, r)),
}


# --- ours -------------------------------------------------------------------------------------


def ours(drawn: Drawn, seed: int) -> dict[str, float]:
    """P-values of the default tests."""
    design: object = None
    if drawn.weights is not None:
        design = "fixed"
    if drawn.clusters is not None:
        design = sr.designs.Clusters(drawn.clusters)
    found = sr.compare(
        sr.Directions(drawn.x, drawn.weights),
        by=drawn.labels,
        design=design,  # type: ignore[arg-type]
    ).tests(permutations=SHUFFLES, replicates=SHUFFLES, seed=seed)
    return {
        "same law": found.overall,
        "level 1": float(found.pvalue[0]),
        "direction": found.parts.get("direction", np.nan),
        "concentr.": found.parts.get("concentration", np.nan),
        "level 2": float(found.pvalue[1]),
    }


# --- classical tests of two groups --------------------------------------------------------------


def watson_f(x: Array, labels: NDArray[np.int64]) -> float:
    """Watson and Williams' F of equal mean directions (Mardia and Jupp 2000, 10.5): any d."""
    sums = np.array([x[labels == g].sum(axis=0) for g in range(labels.max() + 1)])
    lengths, whole = np.linalg.norm(sums, axis=1), float(np.linalg.norm(x.sum(axis=0)))
    n, groups, d = len(x), len(sums), x.shape[1]
    between = (lengths.sum() - whole) / ((groups - 1) * (d - 1))
    within = (n - lengths.sum()) / ((n - groups) * (d - 1))
    return float(f_law.sf(between / within, (groups - 1) * (d - 1), (n - groups) * (d - 1)))


def watson_v(x: Array, labels: NDArray[np.int64], rng: Rng) -> float:
    """Watson's V of equal mean directions (1983), by samples of two vMF laws; two-sphere."""

    def parts(rows: Array) -> tuple[Array, Array]:
        sums = np.array([rows[labels == g].sum(axis=0) for g in range(2)])
        sizes = np.bincount(labels)
        kappa = (sizes - 1.0) / (sizes - np.linalg.norm(sums, axis=1))
        return sums, kappa

    def statistic(rows: Array) -> float:
        sums, kappa = parts(rows)
        weighted_sum = float(np.linalg.norm(kappa @ sums))
        return 2.0 * (float(kappa @ np.linalg.norm(sums, axis=1)) - weighted_sum)

    seen, (_, kappa) = statistic(x), parts(x)
    sizes = np.bincount(labels)
    reached = 0
    for _ in range(SHUFFLES):
        drawn = np.empty_like(x)
        for g in range(2):
            drawn[labels == g] = vmf(int(sizes[g]), NORTH, float(kappa[g]), rng)
        reached += statistic(drawn) >= seen
    return (1.0 + reached) / (1.0 + SHUFFLES)


def energy(x: Array, labels: NDArray[np.int64], rng: Rng) -> float:
    """Energy test of the same law (Székely and Rizzo 2004) of arcs, by permutation."""
    arcs = np.arccos(np.clip(x @ x.T, -1.0, 1.0))

    def statistic(one: Array) -> float:
        share = one / one.sum()
        other = (1.0 - one) / (1.0 - one).sum()
        return float(2 * share @ arcs @ other - share @ arcs @ share - other @ arcs @ other)

    return shuffled(statistic, labels, rng)


def watson_u2(x: Array, labels: NDArray[np.int64], rng: Rng) -> float:
    """Watson's two-sample U² on the circle, by permutation."""
    order = np.argsort(np.arctan2(x[:, 1], x[:, 0]))

    def statistic(one: Array) -> float:
        first = one[order]
        apart = np.cumsum(first / first.sum() - (1.0 - first) / (1.0 - first).sum())
        return float(np.var(apart))

    return shuffled(statistic, labels, rng)


def shuffled(statistic: Callable[[Array], float], labels: NDArray[np.int64], rng: Rng) -> float:
    one = (labels == 0).astype(np.float64)
    seen = statistic(one)
    reached = sum(statistic(rng.permutation(one)) >= seen - 1e-12 for _ in range(SHUFFLES))
    return (1.0 + reached) / (1.0 + SHUFFLES)


def classical(drawn: Drawn, rng: Rng) -> dict[str, float]:
    """Those that apply to two groups of plain rows."""
    x, labels = drawn.x, drawn.labels
    out = {"Watson F": watson_f(x, labels)}
    if labels.max() == 1:
        out["energy"] = energy(x, labels, rng)
        if x.shape[1] == 3:
            out["Watson V"] = watson_v(x, labels, rng)
        if x.shape[1] == 2:
            out["Watson U²"] = watson_u2(x, labels, rng)
    return out


PEERS = "Watson F", "Watson V", "Watson U²", "energy"


def line(name: str, make: Callable[[Rng], Drawn], replicates: int) -> str:
    """One row of the table."""
    rng = np.random.default_rng([SEED, zlib.crc32(name.encode())])
    found: dict[str, list[float]] = {}
    for k in range(replicates):
        drawn = make(rng)
        for test, p in {**ours(drawn, k), **classical(drawn, rng)}.items():
            found.setdefault(test, []).append(p)
    cells = []
    for test in (*OURS, *PEERS):
        every = np.array(found.get(test, [np.nan]))
        seen = every[np.isfinite(every)]
        cells.append(f"{np.mean(seen <= 0.05):.3f}" if len(seen) > 0.9 * len(every) else "–")
    return "| " + " | ".join([name, str(replicates), *cells]) + " |"


def main() -> None:
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    wanted = sys.argv[2:]
    print("| " + " | ".join(["cell", "samples", *OURS, *PEERS]) + " |", flush=True)
    print("|" + "---|" * (2 + len(OURS) + len(PEERS)), flush=True)
    for name, make in {**SIZE, **POWER}.items():
        if not wanted or name in wanted:
            print(line(name, make, replicates), flush=True)


if __name__ == "__main__":
    main()
