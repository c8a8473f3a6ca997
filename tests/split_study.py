"""How often p-values about a chosen axis or basis fall below 5 % when there is nothing to find.

``python tests/split_study.py [samples [cells]]`` prints the table of docs/splits.md: the choice
made on the rows that are tested, on other rows once, and on other rows five times.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import steradian as sr
from steradian.hierarchies import OnSplits, SameRows, Split

Array = NDArray[np.float64]
Rng = np.random.Generator
SEED = 20_261_117
ROWS = 400
NO_SPLIT = 0  # repeats of a choice that is made on the very rows that are tested


def uniform(d: int) -> Callable[[Rng], Array]:
    """Rows of the uniform law of the sphere."""

    def draw(rng: Rng) -> Array:
        x = rng.standard_normal((ROWS, d))
        return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))

    return draw


def von_mises_fisher(d: int, kappa: float) -> Callable[[Rng], Array]:
    """Rows of a von Mises-Fisher law."""
    law = sr.FisherBingham(kappa * np.eye(d)[0], np.zeros((d, d)))
    return lambda rng: law.sample(ROWS, rng)


@dataclass(frozen=True, eq=False)
class Cell:
    """A law without anything to find at ``levels``, and who chooses what is measured."""

    name: str
    draw: Callable[[Rng], Array]
    choice: SameRows
    levels: tuple[int, ...]  # whose null hypothesis is true

    def pvalues(self, repeats: int, samples: int) -> Array:
        """Of the levels that are null, (samples, levels)."""
        rng = np.random.default_rng([SEED, zlib.crc32(self.name.encode()), repeats])
        found = [self._tested(self.draw(rng), repeats, int(rng.integers(1 << 30)))
                 for _ in range(samples)]  # fmt: skip
        return np.array(found)[:, np.array(self.levels) - 1]

    def _tested(self, x: Array, repeats: int, seed: int) -> Array:
        recipe = self.choice.recipe
        if repeats == NO_SPLIT:  # what nobody should do, and `sr.profile` refuses to
            chosen = recipe.from_data(sr.Directions(x))
            return sr.profile(x, hierarchy=chosen).tests().pvalue
        split = Split(0.5, repeats=repeats, seed=seed)
        return sr.profile(x, hierarchy=OnSplits(recipe, split)).tests().pvalue


MEAN, PCA = sr.Zonal("mean", 2), sr.LowRank("pca", 2)
CELLS = {
    cell.name: cell
    for cell in (
        Cell("uniform, d = 10, about the mean", uniform(10), MEAN, (1, 2)),
        Cell("uniform, d = 50, about the mean", uniform(50), MEAN, (1, 2)),
        Cell("uniform, d = 10, two principal axes", uniform(10), PCA, (1, 2)),
        Cell("uniform, d = 50, two principal axes", uniform(50), PCA, (1, 2)),
        Cell("vMF(20), d = 10, about the mean", von_mises_fisher(10, 20.0), MEAN, (2,)),
    )
}


def main(samples: int, named: str = "") -> None:
    """Print the table, of those cells whose name has ``named`` in it."""
    print(f"share of p < 0.05 in {samples} samples of {ROWS} rows")
    print("| law and choice | level | same rows | one split | five splits |\n|---|---|---|---|---|")
    for cell in (one for one in CELLS.values() if named in one.name):
        counts = (NO_SPLIT, 1, 5)
        sizes = [(cell.pvalues(repeats, samples) < 0.05).mean(axis=0) for repeats in counts]
        for k, level in enumerate(cell.levels):
            shares = " | ".join(f"{size[k]:.3f}" for size in sizes)
            print(f"| {cell.name} | {level} | {shares} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, *sys.argv[2:3])
