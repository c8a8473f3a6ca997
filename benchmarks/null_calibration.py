"""The whole null-calibration study: 11,200 samples, two levels, gap, score and exact p-value."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from peer_tests import plain_tests, warm
from samples import from_heights, vmf
from steradian.paper import sample_tests
from timing import Result, agree, interleaved, one_thread, quantity, show

Array = NDArray[np.float64]

TIMED_PEERS = 25  # samples of each cell the peer is timed on; a loop takes as long for each
REPEATS = 3
TARGET = 10.0


def circle(n: int, kappa: float, rng: np.random.Generator) -> Array:
    """1,000 samples of n von Mises directions, (1000, n, 2)."""
    angle = rng.vonmises(0.0, kappa, (1000, n)) if kappa else rng.uniform(-np.pi, np.pi, (1000, n))
    return np.stack([np.cos(angle), np.sin(angle)], axis=2)


def sphere(kappa: float, rng: np.random.Generator) -> Array:
    """400 samples of 400 von Mises-Fisher directions, (400, 400, 3)."""
    count = 400 * 400
    rows = vmf(count, kappa, rng) if kappa else from_heights(rng.uniform(-1.0, 1.0, count), rng)
    return rows.reshape(400, 400, 3)


def cells(rng: np.random.Generator) -> list[Array]:
    """Ten cells on the circle and three on the two-sphere."""
    kappas = (0.0, 0.5, 1.0, 1.5, 2.0)
    on_circle = [circle(n, kappa, rng) for n in (200, 800) for kappa in kappas]
    return [*on_circle, *(sphere(kappa, rng) for kappa in (0.0, 1.0, 2.0))]


def run() -> list[Result]:
    """Seconds for the whole study; the peer's are those of a part, scaled."""
    warm()
    study = cells(np.random.default_rng(12))
    samples = sum(len(x) for x in study)
    some = [x[:TIMED_PEERS] for x in study]
    good = agree("the peer's p-values", max(_difference(x) for x in some), 1e-6)
    times = np.zeros(2)
    for x, part in zip(study, some, strict=True):
        ours, theirs = interleaved([partial(_ours, x), partial(_loop, part)], REPEATS)
        times += ours, theirs * len(x) / len(part)
        print(f"  n={x.shape[1]}, d={x.shape[2]}: ours {quantity(ours / len(x), 's')} each, "
              f"peer {quantity(theirs / len(part), 's')} each")  # fmt: skip
    label = f"null calibration, {samples} samples, two levels, vs plain Newton"
    return [Result(label, float(times[0]), float(times[1]), TARGET, agrees=good)]


def _ours(x: Array, _: int) -> None:
    sample_tests(x, levels=2)


def _loop(x: Array, _: int = 0) -> list[Array]:
    return [plain_tests(one) for one in x]


def _difference(x: Array) -> float:
    ours = sample_tests(x, levels=2, covariance="tilted")  # the peer does not damp
    theirs = np.array(_loop(x))
    return float(np.abs(ours.pvalue - theirs[:, :, 2]).max())


if __name__ == "__main__":
    one_thread()
    show(run())
