"""Residual p-values are uniform if the fit is the law, and small with one more harmonic."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import kstest

import oracles
import steradian as sr
from oracles import Array

N, SAMPLES, REPLICATES = 200, 1000, 199
DESIGNS = ("iid", "fixed", "importance")


@dataclass(frozen=True)
class Law:
    """exp of a random polynomial of degree ``level``, drawn by rejection from uniform points."""

    d: int
    level: int
    extra: float = 0.0  # size of the zonal harmonic of the next degree

    def exponent(self, x: Array) -> Array:
        rng = np.random.default_rng([self.d, self.level])
        phi = np.asarray(oracles.harmonics(x, self.level + 1), dtype=np.float64)
        q = oracles.size(self.d, self.level)
        phi = phi[:, -oracles.size(self.d, self.level + 1) :]
        lam = rng.normal(size=q)
        lam *= 0.9 / np.linalg.norm(lam)
        return np.asarray(phi[:, :q] @ lam + self.extra * phi[:, q])

    def draw(self, n: int, rng: np.random.Generator, power: float = 1.0) -> Array:
        """``n`` points of the law to a power, a block at a time."""
        top = power * self.exponent(_uniform(self.d, 20_000, np.random.default_rng(0))).max() + 0.3
        kept = np.zeros((0, self.d))
        while len(kept) < n:
            x = _uniform(self.d, 20 * n, rng)
            height = power * self.exponent(x) - top
            assert height.max() < 0.0, "the envelope is too low"
            kept = np.vstack([kept, x[np.log(rng.random(len(x))) < height]])
        return kept[:n]


def _uniform(d: int, n: int, rng: np.random.Generator) -> Array:
    x = rng.normal(size=(n, d))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def profile_of(law: Law, design: str, rng: np.random.Generator) -> sr.results.Profile:
    """One sample of the law under a design."""
    weights: Array | None = None
    if design == "importance":
        x = law.draw(N, rng, power=0.4)
        weights = np.exp(0.6 * law.exponent(x))
    else:
        x = law.draw(N, rng)
        weights = np.asarray(1.0 + rng.pareto(3.0, N)) if design == "fixed" else None
    return sr.profile(x, weights=weights, levels=law.level, design=design)


def pvalues(law: Law, design: str, samples: int) -> Array:
    name = f"{law.d} {law.level} {law.extra} {design}"
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    found = []
    for seed in range(samples):
        p = profile_of(law, design, rng)
        r = p.residuals(degree=law.level + 4, replicates=REPLICATES, seed=seed)
        found.append(r.pvalue[-1])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("design", DESIGNS)
def test_uniform_when_the_fit_is_the_law(d: int, level: int, design: str) -> None:
    found = pvalues(Law(d, level), design, SAMPLES)
    ks = kstest(found, "uniform")
    print(f"d={d} L={level} {design}: KS {ks.statistic:.4f} p={ks.pvalue:.3f} "
          f"size {np.mean(found <= 0.05):.3f} {np.mean(found <= 0.01):.3f}")  # fmt: skip
    assert ks.pvalue > 0.005
    assert abs(np.mean(found <= 0.05) - 0.05) < 3.5 * np.sqrt(0.05 * 0.95 / SAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_next_harmonic_is_found(d: int, level: int, design: str) -> None:
    found = pvalues(Law(d, level, extra=0.6), design, 100)
    print(f"d={d} L={level} {design}: power {np.mean(found <= 0.05):.2f}")
    assert np.mean(found <= 0.05) > 0.5
