"""A thousand weightings of the same 500 points, against one plain Newton fit after another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import steradian as sr
from peers import plain_newton
from samples import WEIGHTINGS_BY_KIND, circle_mixture, mixture
from timing import Result, agree, interleaved, one_thread, quantity, show

Array = NDArray[np.float64]

ROWS = 500
WEIGHTINGS = 1000
TIMED_PEERS = 50  # of the weightings; a plain loop takes 20 times as long for all
REPEATS = 9
ON_SPHERE, ON_CIRCLE = 10.0, 25.0


def run() -> list[Result]:
    """Seconds are per profile."""
    rng = np.random.default_rng(7)
    sphere, circle = mixture(ROWS, rng), circle_mixture(ROWS, rng)
    results = []
    for kind, draw in WEIGHTINGS_BY_KIND.items():
        results.append(_measure(sphere, draw(sphere, WEIGHTINGS, rng), kind, 2, ON_SPHERE))
        results.append(_measure(circle, draw(circle, WEIGHTINGS, rng), kind, 4, ON_CIRCLE))
    return results


def _measure(x: Array, weights: Array, kind: str, levels: int, target: float) -> Result:
    some = weights[:: WEIGHTINGS // TIMED_PEERS]
    space = "circle" if x.shape[1] == 2 else "S²"
    print(f"{space}, {levels} levels, {WEIGHTINGS} weightings: {kind}")
    ours = sr.profiles(x, weights=weights, levels=levels).gaps
    theirs = np.array([plain_newton(x, w, levels=levels) for w in weights])
    good = agree("plain Newton, nats", float(np.abs(theirs - ours).max()), 1e-9)
    batch, loop = interleaved(
        [
            lambda _: sr.profiles(x, weights=weights, levels=levels),
            lambda _: [plain_newton(x, w, levels=levels) for w in some],
        ],
        REPEATS,
    )
    label = f"{WEIGHTINGS} profiles, {space}, n={ROWS}, L={levels}, {kind}, vs plain Newton"
    result = Result(label, batch / WEIGHTINGS, loop / len(some), target, agrees=good)
    each, other = (quantity(v, "s") for v in (result.ours, result.peer))
    print(f"  ours {each} each, peer {other} each, ratio {result.ratio:.2f}")
    return result


if __name__ == "__main__":
    one_thread()
    show(run())
