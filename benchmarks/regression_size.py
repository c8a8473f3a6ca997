"""Size and power of the tests along a covariate: shares of samples with p < 0.05, cell by cell.

    python benchmarks/regression_size.py --samples 500

prints one line for each cell as soon as it is done.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import steradian as sr
from steradian.numerics.arrays import Array

Rng = np.random.Generator
Made = tuple[sr.Directions, Array, str]


def uniform_z(rng: Rng, n: int) -> Made:
    """Nothing depends on z; a von Mises distribution."""
    return sr.Directions.from_angles(rng.vonmises(0.0, 2.0, n)), rng.uniform(size=n), "iid"


def bimodal(rng: Rng, n: int) -> Made:
    """Nothing depends on a lognormal z; two modes."""
    angle = rng.vonmises(np.where(rng.uniform(size=n) < 0.7, 0.0, 2.5), 5.0)
    return sr.Directions.from_angles(angle), rng.lognormal(size=n), "iid"


def spreading(rng: Rng, n: int) -> Made:
    """The mean stays, the concentration depends on z: the size of direction."""
    z = rng.uniform(size=n)
    return sr.Directions.from_angles(rng.vonmises(0.0, 1.0 + 6.0 * z)), z, "iid"


def turning(rng: Rng, n: int) -> Made:
    """The mean turns, nothing else: the size of concentration and of level 2."""
    z = rng.uniform(size=n)
    return sr.Directions.from_angles(rng.vonmises(0.8 * z, 2.0)), z, "iid"


def weighted(rng: Rng, n: int) -> Made:
    """Nothing depends on z; lognormal(0.7) weights that are fixed."""
    x = sr.Directions.from_angles(rng.vonmises(0.0, 2.0, n), weights=rng.lognormal(0.0, 0.7, n))
    return x, rng.uniform(size=n), "fixed"


def sphere(rng: Rng, n: int) -> Made:
    """Nothing depends on z; a projected normal distribution on the sphere."""
    x = rng.normal(size=(n, 3)) + np.array([0.0, 0.0, 1.5])
    return sr.Directions(x, normalize=True), rng.uniform(size=n), "iid"


CELLS: list[tuple[str, Callable[[Rng, int], Made], int]] = [
    ("nothing, uniform z", uniform_z, 60),
    ("nothing, two modes, lognormal z", bimodal, 60),
    ("concentration depends on z", spreading, 60),
    ("mean turns with z", turning, 60),
    ("nothing, lognormal weights", weighted, 200),
    ("concentration depends on z", spreading, 200),
    ("mean turns with z", turning, 200),
    ("nothing, sphere", sphere, 300),
]


def main() -> None:
    """Draw samples of each cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=500)
    asked = parser.parse_args()
    print(f"{'cell':<34} {'n':>5} {'any':>6} {'dir.':>6} {'conc.':>6} {'C1':>6} {'C2':>6}")
    for place, (name, make, n) in enumerate(CELLS):
        rng, rejected = np.random.default_rng([38, place]), []
        for seed in range(asked.samples):
            x, z, design = make(rng, n)
            found = sr.regress(x, on=z, design=design).tests(
                permutations=399, replicates=199, seed=seed
            )
            parts = [found.parts.get(part, np.nan) for part in ("direction", "concentration")]
            rejected.append(np.array([found.any_pvalue, *parts, *found.pvalue]) < 0.05)
        shares = np.mean(rejected, axis=0)
        print(f"{name:<34} {n:>5} " + " ".join(f"{s:>6.3f}" for s in shares), flush=True)


if __name__ == "__main__":
    main()
