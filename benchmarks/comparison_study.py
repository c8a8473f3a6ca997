"""How often the tests of `sr.compare` reject, beside classical tests of the same samples.

    python benchmarks/comparison_study.py [--samples 2000] [--seconds 300] [--seed S] [--only …]

Samples are drawn here, without the library. A line for each cell: the share of p-values of at most
5 % of each test (Monte Carlo error √(p(1-p)/samples), .005 for .05 of 2,000); a dash where more
than a tenth were refused. A cell ends after so many seconds of the processor, and its line says how
many samples it had. Shuffles and simulations of the classical tests are 99. Bootstraps draw 39
samples for size, of which two as extreme as the observed one settle that p is above 5 %, and 99 for
power, where fewer would cost some: fewer draws change no size, and drawing ends where the answer at
5 % is known.

A second table says how often 95 % intervals hold the truth. docs/comparison.md has both.
"""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import i0e, i1e
from scipy.stats import f as f_law

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import steradian as sr
from comparison_groups import gaussian, vmf
from steradian.inference.group_tests import comparison_tests
from steradian.inference.monte_carlo import Replicates

Array = NDArray[np.float64]
Rng = np.random.Generator
SEED = 20_262_015
SHUFFLES = 99
DRAWS = {"size": 39, "power": 99}
NORTH = np.array([0.0, 0.0, 1.0])
OURS = "same law", "level 1", "direction", "concentr.", "level 2"
PEERS = "Watson F", "W.–Williams", "Watson V", "Watson U²", "energy"
REFUSED = 0.1  # share of samples without a p-value above which a cell shows none


@dataclass(frozen=True, eq=False)
class Drawn:
    """One sample: rows, labels, and what else `compare` is told."""

    x: Array
    labels: NDArray[np.int64]
    weights: Array | None = None
    clusters: NDArray[np.int64] | None = None

    def compared(self) -> sr.results.Comparison:
        """With the design that its rows have."""
        design: object = None
        if self.weights is not None:
            design = "fixed"
        if self.clusters is not None:
            design = sr.designs.Clusters(self.clusters)
        rows = sr.Directions(self.x, self.weights)
        return sr.compare(rows, by=self.labels, design=design)  # type: ignore[arg-type]


def together(*groups: Array) -> Drawn:
    """Groups as rows with labels."""
    labels = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    return Drawn(np.concatenate(groups), labels)


def circle(angles: Array) -> Array:
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def oval(n: int, stretch: float, rng: Rng) -> Array:
    """About the north pole, stretched along one axis: the mean direction stays."""
    return gaussian(n, 3.0 * NORTH, np.array([stretch, 1.0 / stretch, 1.0]), rng)


def level(n: int, stretch: float, rng: Rng) -> Array:
    """The same with one mean vector for every stretch: heights are those of a round group."""
    away, height = oval(n, stretch, rng)[:, :2], oval(n, 1.0, rng)[:, 2]
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    return np.column_stack([away * np.sqrt(1.0 - height**2)[:, None], height])


def bimodal(n: int, share: float, rng: Rng) -> Array:
    """Angles of exp(share cos 2θ), of mean zero."""
    return circle(0.5 * rng.vonmises(0.0, share, n) + np.pi * rng.integers(0, 2, n))


def clusters(sizes: tuple[int, ...], rng: Rng) -> Drawn:
    """Twice as many clusters of these sizes, about centres of their own."""
    both = np.tile(sizes, 2)
    centres = vmf(len(both), NORTH, 8.0, rng)
    x = np.concatenate([vmf(int(n), c, 20.0, rng) for n, c in zip(both, centres, strict=True)])
    ids = np.repeat(np.arange(len(both)), both)
    return Drawn(x, np.repeat([0, 1], sum(sizes)), clusters=ids)


def weighted(draw: Callable[[int], Array], n: int, weights: Callable[[int], Array]) -> Drawn:
    """Weights that have nothing to do with the rows."""
    plain = together(draw(n), draw(n))
    return Drawn(plain.x, plain.labels, weights=weights(2 * n))


def tilted(angle: float) -> Array:
    return np.array([np.sin(angle), 0.0, np.cos(angle)])


def high(d: int, n: int, rng: Rng) -> Array:
    return gaussian(n, 1.5 * np.eye(d)[0], np.ones(d), rng)


def two(n: int, m: int, kappa: float, rng: Rng) -> Drawn:
    """Of one von Mises-Fisher law."""
    return together(vmf(n, NORTH, kappa, rng), vmf(m, NORTH, kappa, rng))


Cells = dict[str, Callable[[Rng], Drawn]]
SIZE: Cells = {
    "100/100 vMF(5)": lambda r: two(100, 100, 5.0, r),
    "20/200 vMF(5)": lambda r: two(20, 200, 5.0, r),
    "20/200 shapes differ, means agree": lambda r: together(level(20, 1.6, r), level(200, 1.0, r)),
    "100/100 κ 3, 10": lambda r: together(vmf(100, NORTH, 3.0, r), vmf(100, NORTH, 10.0, r)),
    "30+30 clusters of 5": lambda r: clusters((5,) * 30, r),
    "Pareto weights 100/100": lambda r: weighted(
        lambda n: vmf(n, NORTH, 5.0, r), 100, lambda n: 1.0 + r.pareto(2.5, n)
    ),
    "15/15 vMF(5)": lambda r: two(15, 15, 5.0, r),
    "circle 60/60 vM(2)": lambda r: together(
        circle(r.vonmises(0, 2, 60)), circle(r.vonmises(0, 2, 60))
    ),
    "five groups of 60": lambda r: together(*(vmf(60, NORTH, 5.0, r) for _ in range(5))),
    "d = 10, 100/100": lambda r: together(high(10, 100, r), high(10, 100, r)),
}
FRESH: Cells = {  # no part of the method was chosen on these
    "12/400 vMF(2)": lambda r: two(12, 400, 2.0, r),
    "40/60 vMF(30)": lambda r: two(40, 60, 30.0, r),
    "50/150 κ 20, 2": lambda r: together(vmf(50, NORTH, 20.0, r), vmf(150, NORTH, 2.0, r)),
    "12+12 clusters of 1 to 12": lambda r: clusters(tuple(range(1, 13)), r),
    "circle 25/80 vM(.5)": lambda r: together(
        circle(r.vonmises(0, 0.5, 25)), circle(r.vonmises(0, 0.5, 80))
    ),
    "three groups 30/60/90": lambda r: together(*(vmf(n, NORTH, 3.0, r) for n in (30, 60, 90))),
    "lognormal(.7) weights 80/80": lambda r: weighted(
        lambda n: oval(n, 1.3, r), 80, lambda n: np.exp(0.7 * r.standard_normal(n))
    ),
}
APART: Cells = {  # equal concentrations of groups that point far apart, and of some that do not
    "circle 0°, 100°, 170°, 100 each": lambda r: together(
        *(circle(r.vonmises(np.radians(t), 5, 100)) for t in (0, 100, 170))
    ),
    "circle 0°, 40°, 25/60": lambda r: together(
        circle(r.vonmises(0, 3, 25)), circle(r.vonmises(np.radians(40), 3, 60))
    ),
    "sphere 0°, 90°, 30/200": lambda r: together(
        vmf(30, NORTH, 5.0, r), vmf(200, tilted(np.radians(90)), 5.0, r)
    ),
    "sphere 0°, 25°, 50/50": lambda r: together(
        vmf(50, NORTH, 8.0, r), vmf(50, tilted(np.radians(25)), 8.0, r)
    ),
    "sphere 0°, 90°, 15/15": lambda r: together(
        vmf(15, NORTH, 10.0, r), vmf(15, tilted(np.radians(90)), 10.0, r)
    ),
}
POWER: Cells = {
    "shift 10°, 60/60": lambda r: together(vmf(60, NORTH, 5.0, r), vmf(60, tilted(0.175), 5.0, r)),
    "κ 4, 8, 60/60": lambda r: together(vmf(60, NORTH, 4.0, r), vmf(60, NORTH, 8.0, r)),
    "oval, round, 100/100": lambda r: together(oval(100, 1.25, r), oval(100, 1.0, r)),
    "circle: shift 20°, 60/60": lambda r: together(
        circle(r.vonmises(0, 2, 60)), circle(r.vonmises(0.35, 2, 60))
    ),
    "circle: two modes, none": lambda r: together(bimodal(60, 0.9, r), bimodal(60, 1e-9, r)),
}


# --- ours -------------------------------------------------------------------------------------


def ours(drawn: Drawn, seed: int, draws: int) -> dict[str, float]:
    """P-values of the default tests; (1 + draws) / 20 as extreme leave p above 5 %."""
    many = Replicates(SHUFFLES, draws, seed, (1 + draws) // 20)
    found = comparison_tests(drawn.compared().sample, many)
    return {
        "same law": found.any_pvalue,
        "level 1": float(found.pvalue[0]),
        "direction": found.parts.get("direction", np.nan),
        "concentr.": found.parts.get("concentration", np.nan),
        "level 2": float(found.pvalue[1]),
    }


# --- classical tests of two groups --------------------------------------------------------------


def watson_f(x: Array, labels: NDArray[np.int64]) -> float:
    """Watson's F of equal mean directions (1956; Mardia and Jupp 2000, 10.5): any d."""
    return f_test(x, labels, 1.0)


def watson_williams(x: Array, labels: NDArray[np.int64]) -> float:
    """The same on the circle, F times 1 + 3 / (8 κ) (Stephens 1972; Mardia and Jupp 2000, 7.4)."""
    lengths = [np.linalg.norm(x[labels == g].sum(axis=0)) for g in range(labels.max() + 1)]
    mean = float(np.sum(lengths)) / len(x)
    kappa = brentq(lambda k: i1e(k) / i0e(k) - mean, 1e-9, 1e6)
    return f_test(x, labels, 1.0 + 0.375 / kappa)


def f_test(x: Array, labels: NDArray[np.int64], factor: float) -> float:
    """F of resultant lengths between and within groups, times a factor."""
    sums = np.array([x[labels == g].sum(axis=0) for g in range(labels.max() + 1)])
    lengths, whole = np.linalg.norm(sums, axis=1), float(np.linalg.norm(x.sum(axis=0)))
    n, groups, d = len(x), len(sums), x.shape[1]
    between = (lengths.sum() - whole) / ((groups - 1) * (d - 1))
    within = (n - lengths.sum()) / ((n - groups) * (d - 1))
    ratio = factor * between / within
    return float(f_law.sf(ratio, (groups - 1) * (d - 1), (n - groups) * (d - 1)))


def watson_v(x: Array, labels: NDArray[np.int64], rng: Rng) -> float:
    """Watson's V of equal mean directions (1983), by samples of two vMF laws; two-sphere."""
    sizes = np.bincount(labels)

    def parts(sums: Array) -> tuple[Array, Array]:
        """V and κ of sums (B, 2, 3) of the groups."""
        lengths = np.linalg.norm(sums, axis=2)
        kappa = (sizes - 1.0) / (sizes - lengths)
        weighted_sum = np.linalg.norm(np.einsum("bg,bgi->bi", kappa, sums), axis=1)
        return 2.0 * ((kappa * lengths).sum(axis=1) - weighted_sum), kappa

    seen, kappa = parts(np.array([[x[labels == g].sum(axis=0) for g in range(2)]]))
    drawn = [
        vmf(SHUFFLES * int(n), NORTH, float(k), rng).reshape(SHUFFLES, int(n), 3).sum(axis=1)
        for n, k in zip(sizes, kappa[0], strict=True)
    ]
    return standing(float(seen[0]), parts(np.stack(drawn, axis=1))[0])


def energy(x: Array, labels: NDArray[np.int64], rng: Rng) -> float:
    """Energy test of the same law (Székely and Rizzo 2004) of arcs, by permutation."""
    arcs = np.arccos(np.clip(x @ x.T, -1.0, 1.0))

    def statistic(one: Array) -> Array:
        apart = one / one.sum(axis=1)[:, None] - (1.0 - one) / (1.0 - one).sum(axis=1)[:, None]
        return -np.einsum("bi,bi->b", apart @ arcs, apart)

    return shuffled(statistic, labels, rng)


def watson_u2(x: Array, labels: NDArray[np.int64], rng: Rng) -> float:
    """Watson's two-sample U² on the circle, by permutation."""
    order = np.argsort(np.arctan2(x[:, 1], x[:, 0]))

    def statistic(one: Array) -> Array:
        first = one[:, order]
        share = first / first.sum(axis=1)[:, None]
        apart = np.cumsum(share - (1.0 - first) / (1.0 - first).sum(axis=1)[:, None], axis=1)
        return apart.var(axis=1)

    return shuffled(statistic, labels, rng)


def shuffled(statistic: Callable[[Array], Array], labels: NDArray[np.int64], rng: Rng) -> float:
    one = (labels == 0).astype(np.float64)
    every = rng.permuted(np.tile(one, (SHUFFLES, 1)), axis=1)
    return standing(float(statistic(one[None])[0]), statistic(every))


def standing(seen: float, drawn: Array) -> float:
    return float((1 + (drawn >= seen - 1e-12).sum()) / (1 + len(drawn)))


def classical(drawn: Drawn, rng: Rng) -> dict[str, float]:
    """Those that apply to groups of plain rows: clusters and weights they do not know."""
    x, labels = drawn.x, drawn.labels
    out = {"Watson F": watson_f(x, labels)}
    if x.shape[1] == 2:
        out["W.–Williams"] = watson_williams(x, labels)
    if labels.max() == 1:
        out["energy"] = energy(x, labels, rng)
        if x.shape[1] == 3:
            out["Watson V"] = watson_v(x, labels, rng)
        if x.shape[1] == 2:
            out["Watson U²"] = watson_u2(x, labels, rng)
    return out


# --- coverage ---------------------------------------------------------------------------------

COVERED: dict[str, tuple[Callable[[int, Rng], Drawn], int]] = {
    "vMF shift 20°, κ 5": (
        lambda n, r: together(vmf(n, NORTH, 5.0, r), vmf(n, tilted(0.35), 5.0, r)), 100,
    ),
    "κ 3, 10": (lambda n, r: together(vmf(n, NORTH, 3.0, r), vmf(n, NORTH, 10.0, r)), 100),
    "oval, round, shift": (
        lambda n, r: together(oval(n, 1.6, r), vmf(2 * n, tilted(0.3), 6.0, r)), 60,
    ),
    "circle vM(2), two modes": (
        lambda n, r: together(circle(r.vonmises(0.5, 2, n)), bimodal(n, 0.9, r)), 80,
    ),
    "three groups": (
        lambda n, r: together(
            vmf(n, NORTH, 3.0, r), vmf(n, tilted(0.4), 5.0, r), oval(n, 1.5, r)
        ), 80,
    ),
}  # fmt: skip
_TRUTH = 400_000  # rows of each group by which C and gaps are known to a thousandth


def coverage(name: str, samples: Iterator[int], seed: int) -> str:
    """How often intervals of C_1, C_2, J and of differences of gaps hold the truth."""
    make, n = COVERED[name]
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    exact = make(_TRUTH, rng).compared()
    gained = np.maximum(exact.debiased, 0.0)  # zero where the groups agree, as noise does not know
    truth = np.append(gained, gained.sum())
    gaps = exact.gap_differences().difference
    held, same, count = np.zeros(3), np.zeros(2), 0
    for _ in samples:
        found = make(n, rng).compared()
        ends = found.intervals()
        low, high_ = np.append(ends.low, ends.total_low), np.append(ends.high, ends.total_high)
        held += (low <= truth) & (truth <= high_)
        apart = found.gap_differences()
        same += ((apart.low <= gaps) & (gaps <= apart.high)).mean(axis=0)
        count += 1
    shown = [f"{share:.3f}" for share in np.concatenate([held, same]) / count]
    sizes = "/".join(str(size) for size in np.bincount(make(n, rng).labels))
    return "| " + " | ".join([name, sizes, str(count), *shown]) + " |"


# --- tables -----------------------------------------------------------------------------------


def line(name: str, make: Callable[[Rng], Drawn], samples: Iterator[int], seed: int) -> str:
    """One row of the table of rejections."""
    draws = DRAWS["power" if name in POWER else "size"]
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    found: dict[str, list[float]] = {}
    for k in samples:
        drawn = make(rng)
        for test, p in {**ours(drawn, k, draws), **classical(drawn, rng)}.items():
            found.setdefault(test, []).append(p)
    cells = []
    for test in (*OURS, *PEERS):
        every = np.array(found.get(test, [np.nan]))
        seen = every[np.isfinite(every)]
        shown = len(seen) >= (1.0 - REFUSED) * len(every)
        cells.append(f"{np.mean(seen <= 0.05):.3f}" if shown else "–")
    return "| " + " | ".join([name, str(len(found["same law"])), *cells]) + " |"


def within(samples: int, seconds: float) -> Iterator[int]:
    """Numbers of samples until there are enough, or the time is over."""
    began = time.process_time()
    for k in range(samples):
        if time.process_time() - began > seconds:
            return
        yield k


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=300.0, help="of the processor, a cell")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", nargs="+", help="names of cells")
    given = parser.parse_args()

    def wanted(name: str) -> bool:
        return not given.only or name in given.only

    tables = {
        "size": SIZE,
        "size, cells not used before": FRESH,
        "size of concentration": APART,
        "power": POWER,
    }
    for title, cells in tables.items():
        print("| " + " | ".join([title, "samples", *OURS, *PEERS]) + " |")
        print("|" + "---|" * (2 + len(OURS) + len(PEERS)), flush=True)
        for name, make in cells.items():
            if wanted(name):
                print(
                    line(name, make, within(given.samples, given.seconds), given.seed), flush=True
                )
        print()
    print("| coverage | sizes | samples | C_1 | C_2 | J | I_1 - I_1 | I_2 - I_2 |")
    print("|" + "---|" * 8, flush=True)
    for name in COVERED:
        if wanted(name):
            print(coverage(name, within(given.samples, given.seconds), given.seed), flush=True)


if __name__ == "__main__":
    main()
