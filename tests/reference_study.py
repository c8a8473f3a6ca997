"""Sizes of tests and coverage of intervals relative to references.

Rows are drawn from the reference itself, or from it tilted, p₀ exp(λ·x), where level 2 is tested;
with a sampled reference both are samples of one law. Every table of docs/references.md is printed
with the command that makes it. Slow: 500 replicates take some minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import steradian as sr
from steradian.hierarchies import Against
from steradian.numerics.arrays import Array
from steradian.paper import mixture_sf
from steradian.relative import as_reference

LAW = sr.FisherBingham([0.5, 0.2, 1.0], np.diag([0.5, -0.5, 0.0]))
AWAY = sr.FisherBingham([1.2, 0.2, 0.4], np.diag([0.2, 0.4, -0.6]))
TILT = np.array([0.6, -0.3, 0.5])


def exposure(x: Array) -> Array:
    return 1.0 + 0.8 * x[:, 2] + 0.3 * x[:, 0] * x[:, 1]


REFERENCES = {
    "band, latitudes below 20° masked": sr.Mask(bands=[(-20, 20)]),
    "cap of 60°": sr.Mask(caps=[(30, 40, 60)], keep=True),
    "exposure 1 + .8z + .3xy": exposure,
}


def draws(reference: object, *, tilted: bool) -> Callable[[int, np.random.Generator], Array]:
    """What draws rows of the reference, or of it tilted."""
    law = as_reference(reference, sr.Sphere())
    assert law is not None
    if not tilted:
        return law.sample
    family = Against.of(sr.Harmonics(3, 1), law)
    away = family.features(np.eye(3)) - family.features(-np.eye(3))
    lam = np.linalg.solve(away, 2.0 * TILT)  # λ·φ is TILT·x and a constant
    return lambda n, rng: family.family(1).sample(lam, n, rng)


def rejections(pvalues: list[Array], level: int) -> str:
    p = np.array(pvalues)[:, level - 1]
    return f"{np.mean(p < 0.05):.3f} / {np.mean(p < 0.01):.3f}"


def known(replicates: int, sizes: list[int], seed: int) -> None:
    print("| reference | n | level 1 | level 2 | level 2, rows of p₀ exp(λ·x) |")
    print("|---|---|---|---|---|")
    for name, reference in REFERENCES.items():
        for n in sizes:
            found = []
            for tilted in (False, True):
                rng, draw = (
                    np.random.default_rng([seed, n, tilted]),
                    draws(reference, tilted=tilted),
                )
                found.append([
                    sr.profile(draw(n, rng), levels=2, reference=reference).tests().pvalue
                    for _ in range(replicates)
                ])  # fmt: skip
            cells = rejections(found[0], 1), rejections(found[0], 2), rejections(found[1], 2)
            print(f"| {name} | {n} | {' | '.join(cells)} |", flush=True)


def sampled(replicates: int, seed: int) -> None:
    rng = np.random.default_rng([seed, 1])
    m, lam0 = AWAY.moments, LAW.lam
    truth = float((AWAY.lam - lam0) @ m - AWAY.psi + LAW.psi)
    print("| n | n₀ | level 1 | level 2 | level 1, n alone | coverage of D₂, 95 % | n₀ ignored |")
    print("|---|---|---|---|---|---|---|")
    for n, n0 in ((100, 100), (400, 100), (400, 400), (200, 1000), (2000, 500)):
        pvalues, plain, covered, narrow = [], [], [], []
        for _ in range(replicates):
            reference = sr.Directions(LAW.sample(n0, rng))
            found = sr.profile(LAW.sample(n, rng), levels=2, reference=reference)
            tests = found.tests()
            pvalues.append(tests.pvalue)
            statistic = 2.0 * tests.score_statistic[:1] * (n + n0) / n0
            plain.append(mixture_sf(statistic, np.ones((1, 3))))
            far = sr.profile(AWAY.sample(n, rng), levels=2, reference=reference)
            both = far.intervals()
            covered.append(both.deficit_low[1] <= truth <= both.deficit_high[1])
            own = np.std(far.as_sample().log_densities[:, 2]) / np.sqrt(n)
            narrow.append(abs(far.deficits[1] - truth) <= 1.96 * own)
        cells = rejections(pvalues, 1), rejections(pvalues, 2), rejections(plain, 1)
        shown = f"{np.mean(covered):.3f} | {np.mean(narrow):.3f}"
        print(f"| {n} | {n0} | {' | '.join(cells)} | {shown} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicates", type=int, default=500)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 400, 1000, 4000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("known", "sampled"))
    given = parser.parse_args()
    if given.only != "sampled":
        known(given.replicates, given.sizes, given.seed)
    if given.only != "known":
        sampled(given.replicates, given.seed)
