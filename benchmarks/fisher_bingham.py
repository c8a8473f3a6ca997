"""Level 2: in dimension 768 against one eigendecomposition, on the two-sphere against fb8.

A full fit from a mean and a covariance is told in units of ``numpy.linalg.eigh`` of a matrix of
the same size. The package fb8 (extra ``peers``) fits the same family on the two-sphere; without
it that part says so and is left out.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steradian as sr
from samples import mixture, unit
from steradian.numerics.fisher_bingham.fit import fit_fisher_bingham
from timing import Result, agree, interleaved, one_thread, quantity, show

Array = NDArray[np.float64]

D = 768
MANY, FEW = 20 * D, D // 2  # rows
NEAR, FAR = 0.5, 10.0  # offset of the cloud, in units of its radius: R = 0.4 and 0.99
SHRINKAGE = 0.1
REPEATS = 3
MODERATE, HARD = 10.0, 18.0  # eigendecompositions

MIXTURES = 20
ROWS = 500
SLACK = 1e-9  # nats per observation
RINGS, LONGITUDES = 200, 400


def run() -> list[Result]:
    """Three laws in dimension 768, then twenty mixtures on the two-sphere."""
    rng = np.random.default_rng(3)
    cases = {
        "anisotropic": (moments(cloud(MANY, NEAR, rng)), MODERATE),
        "concentrated": (moments(cloud(MANY, FAR, rng)), HARD),
        "shrunk, n = d/2": (shrunk(cloud(FEW, NEAR, rng)), HARD),
    }
    results = [_measure(name, *m, target, rng) for name, (m, target) in cases.items()]
    return results + _against_fb8()


def cloud(n: int, offset: float, rng: np.random.Generator) -> Array:
    """A Gaussian cloud with variances in ratio 1 to 16, brought to the sphere, (n, D)."""
    axis = rng.standard_normal(D)
    axis *= offset * np.sqrt(D) / np.linalg.norm(axis)
    return unit(rng.standard_normal((n, D)) * np.geomspace(2.0, 0.5, D) + axis)


def moments(x: Array) -> tuple[Array, Array]:
    """Mean and covariance of the rows."""
    m = x.mean(axis=0)
    y = x - m
    return m, y.T @ y / len(x)


def shrunk(x: Array) -> tuple[Array, Array]:
    """The same, the covariance mixed with that of the von Mises-Fisher law of this mean."""
    m, scatter = moments(x)
    kappa = sr.profile(x, levels=1).kappa
    isotropic = sr.FisherBingham(kappa * m / np.linalg.norm(m), np.zeros((D, D))).covariance()
    return m, (1.0 - SHRINKAGE) * scatter + SHRINKAGE * isotropic


def _measure(
    name: str, m: Array, scatter: Array, target: float, rng: np.random.Generator
) -> Result:
    square = rng.standard_normal((D, D))
    symmetric = square + square.T
    values = np.linalg.eigvalsh(scatter)
    print(f"{name}: R = {np.linalg.norm(m):.3f}, condition {values[-1] / values[0]:.0f}")
    one = m[None, None], scatter[None, None]
    fit = fit_fisher_bingham(*one)
    residual = float(fit.residual[0])
    good = agree("the moments, orthonormal features", np.sqrt(D * (D + 2)) * residual, 1e-8)
    ours, yardstick = interleaved(
        [lambda _: fit_fisher_bingham(*one), lambda _: np.linalg.eigh(symmetric)], REPEATS
    )
    label = f"Fisher-Bingham fit, d={D}, {name}, in eigh of the same size"
    result = Result(label, ours, yardstick, target, agrees=good, in_units_of_peer=True)
    work = f"{fit.steps[0]} steps, {fit.products[0]} products, {fit.nodes[0]} nodes"
    print(f"  {quantity(ours, 's')}, eigh {quantity(yardstick, 's')}: {result.ratio:.1f} ({work})")
    return result


def _against_fb8() -> list[Result]:
    if importlib.util.find_spec("sphere") is None:
        print("fb8 is not installed, so it was not measured; pip install 'steradian[peers]'")
        return []
    peer = importlib.import_module("sphere.distribution").fb8_mle
    logging.getLogger("sphere").setLevel(logging.ERROR)
    samples = [mixture(ROWS, np.random.default_rng([5, k])) for k in range(MIXTURES)]
    print(f"{MIXTURES} mixtures on S², n={ROWS}, level 2, against fb8")
    theirs: dict[int, Any] = {}

    def fit(k: int) -> None:
        theirs[k] = peer(samples[k], warning="none")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, other = interleaved([lambda k: sr.profile(samples[k], levels=2), fit], MIXTURES)
        claimed = np.array([theirs[k].log_likelihood(x) / ROWS for k, x in enumerate(samples)])
    ours = np.array([_mean_log_density(x) for x in samples])
    exact = np.array([_exact_mean_log_density(theirs[k], x) for k, x in enumerate(samples)])
    ahead = ours - exact
    good = bool((ahead >= -SLACK).all())
    print("  our log-likelihood minus fb8's, nats per observation:")
    _spread("fb8's law, normalised by quadrature", ahead)
    _spread("as fb8 reports it", ours - claimed)
    print(f"  never smaller (to {SLACK:.0e}): {'yes' if good else 'NO'}")
    label = f"level 2, S², n={ROWS}, {MIXTURES} mixtures, vs fb8"
    result = Result(label, mine, other, 1.0, agrees=good)
    print(f"  ours {quantity(mine, 's')}, fb8 {quantity(other, 's')}, ratio {result.ratio:.0f}")
    return [result]


def _spread(what: str, values: Array) -> None:
    least, middle, most = np.quantile(values, [0.0, 0.5, 1.0])
    print(f"    {what}: least {least:.1e}, median {middle:.1e}, largest {most:.1e}")


def _mean_log_density(x: Array) -> float:
    fit = sr.profile(x, levels=2).fits[2]
    return float(fit.logpdf(x, measure="surface").mean())


def _exact_mean_log_density(law: Any, x: Array) -> float:
    """Of a law of fb8, whose own normaliser is a truncated series or an approximation."""
    heights, weights = np.polynomial.legendre.leggauss(RINGS)
    z = np.repeat(heights, LONGITUDES)
    angle = np.tile(np.arange(LONGITUDES) * (2.0 * np.pi / LONGITUDES), RINGS)
    radius = np.sqrt(1.0 - z * z)
    nodes = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    values = law.log_pdf(nodes, normalize=False)
    area = np.repeat(weights, LONGITUDES) * (2.0 * np.pi / LONGITUDES)
    peak = values.max()
    log_total = peak + np.log(area @ np.exp(values - peak))
    return float(law.log_pdf(x, normalize=False).mean() - log_total)


if __name__ == "__main__":
    one_thread()
    show(run())
