"""Size and power of the off-diagonal score test: laws whose level 2 adds nothing, and designs.

Every law has the first and second moments of its von Mises-Fisher fit. Two of them are not of
that family: *rings* has its polar angles on two circles of latitude, *blocks* lies in one of eight
coordinate subspaces. Used by the slow tests and by benchmarks/many_dimensions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np

import steradian as sr
from steradian.data.directions import Directions
from steradian.designs.base import Units
from steradian.families.quadratics.polar_kernel import PolarKernel
from steradian.families.quadratics.von_mises_fisher import VonMisesFisherLaw
from steradian.inference.off_diagonal import OffDiagonal, off_diagonal
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.heights.bessel import concentration
from steradian.numerics.heights.polar_angle import PolarAngle

ALPHAS = (0.05, 0.01, 0.001)
LAWS = ("uniform", "von Mises-Fisher", "rings", "blocks")
DESIGNS = ("equal", "lognormal", "clusters", "strata")
_BLOCKS = 8
_COPIED = 0.5  # rows of a cluster that repeat its first one
_STAYS = 0.8  # steps of a chain that do not move
_STRATA = 10

Draw = Callable[[int, int, np.random.Generator], Array]


def unit(x: Array) -> Array:
    """Rows of length one."""
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def uniform(n: int, d: int, rng: np.random.Generator) -> Array:
    """The uniform law."""
    return unit(rng.standard_normal((n, d)))


def von_mises_fisher(n: int, d: int, rng: np.random.Generator) -> Array:
    """Mean resultant length 0.3 about the first axis."""
    return VonMisesFisherLaw(_kappa(d, 0.3) * np.eye(d)[0]).sample(n, rng)


def rings(n: int, d: int, rng: np.random.Generator) -> Array:
    """Two circles of latitude with the mean and variance of t of that law."""
    nodes = PolarAngle.of(d, np.array([_kappa(d, 0.3)]))
    spread = float(nodes.mean((nodes.t - 0.3) ** 2)[0])
    t: Array = 0.3 + np.sqrt(spread) * rng.choice(np.array([-1.0, 1.0]), n)
    y = uniform(n, d - 1, rng) * np.asarray(np.sqrt(1.0 - t * t))[:, None]
    return np.column_stack([t, y])


def blocks(n: int, d: int, rng: np.random.Generator) -> Array:
    """Uniform in one of eight coordinate subspaces."""
    own = np.arange(d) * _BLOCKS // d
    chosen = rng.choice(_BLOCKS, n, p=np.bincount(own) / d)
    return unit(rng.standard_normal((n, d)) * (own == chosen[:, None]))


def shaped(n: int, d: int, rng: np.random.Generator, spread: float = 0.1) -> Array:
    """Not a null: axes of unequal variance about a mean of length near 0.3."""
    scale = 1.0 + spread * np.linspace(-1.0, 1.0, d)
    x = rng.standard_normal((n, d)) * scale
    x[:, 0] += 0.3 * np.sqrt(d)
    return unit(x)


def _kappa(d: int, length: float) -> float:
    found = concentration(d, np.array([length]), np.array([1.0 - length**2]))
    return float(np.asarray(found.kappa)[0])


_DRAWS: dict[str, Draw] = {
    "uniform": uniform, "von Mises-Fisher": von_mises_fisher, "rings": rings, "blocks": blocks,
    "shaped": shaped,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One law and design, and how many samples of it are drawn."""

    n: int
    d: int
    law: str
    design: str = "equal"
    samples: int = 1000
    seed: int = field(default=0, compare=False)

    def draw(self, rng: np.random.Generator) -> tuple[Directions, Units]:
        """One sample and its units."""
        law, n, d = _DRAWS[self.law], self.n, self.d
        if self.design == "strata":
            x, strata = _stratified(law, n, d, rng)
            rows = Directions(x, np.ones(n))
            return rows, sr.designs.Survey(strata=strata).units(rows)
        x = law(n, d, rng)
        if self.design == "clusters":
            ids = _cluster_ids(n, rng)
            first = np.unique(ids, return_index=True)[1][ids]
            x = np.where((rng.random(n) < _COPIED)[:, None], x[first], x)
            rows = Directions(x)
            return rows, sr.designs.Clusters(ids).units(rows)
        if self.design == "chain":
            last = np.maximum.accumulate(np.where(rng.random(n) < _STAYS, 0, np.arange(n)))
            rows = Directions(x[last])
            return rows, sr.designs.Chain().units(rows)
        if self.design == "equal":
            rows = Directions(x)
            return rows, sr.designs.IID().units(rows)
        if self.design == "importance":
            rows = Directions(*_ratios(self.law, n, d, rng))
            return rows, sr.designs.Importance().units(rows)
        rows = Directions(x, rng.lognormal(0.0, 1.0, n))
        return rows, sr.designs.FixedWeights().units(rows)

    def found(self) -> Iterator[OffDiagonal]:
        """The test of every sample."""
        for k in range(self.samples):
            rng = np.random.default_rng([self.seed, self.n, self.d, k])
            rows, units = self.draw(rng)
            yield off_diagonal(rows, units, kernel_of(rows, units), 0)

    def rates(self) -> Array:
        """How often p is below each of `ALPHAS`."""
        tails = np.array([one.tail for one in self.found()])
        return np.array([np.mean(tails <= alpha) for alpha in ALPHAS])


def _ratios(law: str, n: int, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows of a longer mean, and how much more probable the law makes them."""
    length = {"uniform": 0.0, "von Mises-Fisher": 0.3}[law]
    other = _kappa(d, length + 0.1)
    x = VonMisesFisherLaw(other * np.eye(d)[0]).sample(n, rng)
    return x, np.exp((_kappa(d, length) - other) * x[:, 0])


def kernel_of(rows: Directions, units: Units) -> PolarKernel:
    """About the von Mises-Fisher fit of a sample."""
    mean = units.weights @ rows.x
    length = float(np.linalg.norm(mean))
    return PolarKernel.of(mean / length, _kappa(rows.d, length))


def _cluster_ids(n: int, rng: np.random.Generator) -> IntArray:
    """Clusters of two to six rows."""
    sizes = rng.integers(2, 7, n)
    return np.repeat(np.arange(n), sizes)[:n]


def _height(x: Array) -> Array:
    """What strata are made by: not zero in any coordinate subspace."""
    return np.asarray(x[:, 0] + x.sum(axis=1) / np.sqrt(x.shape[1]))


@cache
def _tenths(law: Draw, d: int) -> Array:
    """Limits of the tenths of the heights."""
    heights = _height(law(40_000, d, np.random.default_rng(d)))
    return np.quantile(heights, np.linspace(0.1, 0.9, _STRATA - 1))


def _stratified(law: Draw, n: int, d: int, rng: np.random.Generator) -> tuple[Array, IntArray]:
    """As many rows of every tenth of the heights."""
    pool = law(2 * n + 400, d, rng)
    strata = np.searchsorted(_tenths(law, d), _height(pool))
    each = [np.flatnonzero(strata == h)[: n // _STRATA] for h in range(_STRATA)]
    if min(map(len, each)) < n // _STRATA:
        return _stratified(law, n, d, rng)
    chosen = np.concatenate(each)
    return pool[chosen], strata[chosen]
