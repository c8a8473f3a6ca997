"""Handwritten digits: level 2 in all their dimensions, and three queries on the two-sphere.

pip install '.[digits]'
python examples/digits.py
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import steradian as sr
from steradian import paper
from steradian.paper.digits import load_digits

Array = NDArray[np.float64]


def main() -> None:
    """Both views."""
    try:
        images, _ = load_digits()
    except sr.MissingExtra as error:
        raise SystemExit(f"this example cannot run: {error}") from None
    whole(images)
    print(paper.table4())


def whole(images: Array) -> None:
    """All images as directions: every pixel that varies, without a projection."""
    varying = np.ptp(images, axis=0) > 0.0
    x = sr.Directions(images[:, varying], normalize=True).within_span()
    print(f"{images.shape[1]} pixels, {int((~varying).sum())} of them constant: {x}\n")
    p = sr.profile(x, levels=2)
    print(f"{p}\n")
    bias = p.dims[1] / (2 * p.n)
    print(f"both levels took {1e3 * p.numerics.elapsed:.0f} ms")
    print(f"I2 - q/2n = {p.gaps[1] - bias:.3f} nats (simple approximation of the bias)")
    print(f"unevenness of the variances alone: {unevenness(x.x):.3f} nats\n")
    print(
        "with the pixels that have ink in at least this share of the images:\n"
        f"{'share':>6} {'pixels':>6} {'I1':>7} {'I2':>7} {'held out':>9}"
    )
    for share in (0.0, 0.01, 0.05, 0.2):
        kept = varying & (np.mean(images > 0.0, axis=0) >= share)
        some = sr.Directions(images[:, kept], normalize=True)
        gaps = sr.profile(some, levels=2).gaps
        numbers = f"{gaps[0]:>7.2f} {gaps[1]:>7.2f} {held_out(some.x):>9.2f}"
        print(f"{share:>6.0%} {some.d:>6} {numbers}")
    print()


def unevenness(x: Array) -> float:
    """Half the sum of log(mean variance / variance) over the principal axes, nats."""
    variances = np.linalg.eigvalsh(np.cov(x.T, bias=True))
    return float(0.5 * np.log(variances.mean() / variances).sum())


def held_out(x: Array) -> float:
    """Mean log-density of level 2 minus that of level 1, on a fifth that was not fitted."""
    order = np.random.default_rng(0).permutation(len(x))
    cut = 4 * len(x) // 5
    fits = sr.profile(x[order[:cut]], levels=2).fits
    test = x[order[cut:]]
    return float(np.mean(fits[2].logpdf(test) - fits[1].logpdf(test)))


if __name__ == "__main__":
    main()
