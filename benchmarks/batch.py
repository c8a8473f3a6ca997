"""A thousand weightings of the same 500 points, against one plain Newton fit after another.

With the path of another source tree also stacks of higher levels, both trees asked in turn:
``python benchmarks/batch.py PATH_OF_OTHER_SRC [rounds]``. Seconds are those of the processor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from around import against
from before import work
from parts import show_shares
from peers import plain_newton
from samples import WEIGHTINGS_BY_KIND, circle_mixture, mixture
from timing import Result, agree, interleaved, one_thread, quantity, show

Array = NDArray[np.float64]

ROWS = 500
WEIGHTINGS = 1000
HIGH_WEIGHTINGS = 300
TIMED_PEERS = 50  # of the weightings; a plain loop takes 20 times as long for all
REPEATS = 9
ON_SPHERE, ON_CIRCLE = 15.0, 12.0
HIGH = (4, 6, 8)  # levels of the stacks that another tree is asked for


def run() -> list[Result]:
    """Seconds are per profile."""
    rng = np.random.default_rng(7)
    sphere, circle = mixture(ROWS, rng), circle_mixture(ROWS, rng)
    results = []
    for kind, draw in WEIGHTINGS_BY_KIND.items():
        results.append(_measure(sphere, draw(sphere, WEIGHTINGS, rng), kind, 2, ON_SPHERE))
        results.append(_measure(circle, draw(circle, WEIGHTINGS, rng), kind, 4, ON_CIRCLE))
    for name, each in lines().items():
        show_shares(name, each)
    return results


def lines() -> dict[str, Callable[[], object]]:
    """What both trees are asked."""
    import steradian as sr

    rng = np.random.default_rng(7)
    points = {"S²": mixture(ROWS, rng), "circle": circle_mixture(ROWS, rng)}
    draw = WEIGHTINGS_BY_KIND["bootstrap"]
    out: dict[str, Callable[[], object]] = {}
    for space, x in points.items():
        w = draw(x, WEIGHTINGS, rng)
        for levels in (2, *HIGH):
            some = w[: WEIGHTINGS if levels <= HIGH[0] else HIGH_WEIGHTINGS]
            name = f"{space}, {len(some)} weightings, L={levels}"
            out[name] = partial(sr.profiles, x, weights=some, levels=levels)
    return out


def _measure(x: Array, weights: Array, kind: str, levels: int, target: float) -> Result:
    some = weights[:: WEIGHTINGS // TIMED_PEERS]
    space = "circle" if x.shape[1] == 2 else "S²"
    print(f"{space}, {levels} levels, {WEIGHTINGS} weightings: {kind}")
    import steradian as sr

    ours = sr.profiles(x, weights=weights, levels=levels).gaps
    theirs = np.array([plain_newton(x, w, levels=levels) for w in weights])
    good = agree("plain Newton, nats", float(np.abs(theirs - ours).max()), 1e-9)
    batch, loop = interleaved(
        [
            lambda _: sr.profiles(x, weights=weights, levels=levels),
            lambda _: [plain_newton(x, w, levels=levels) for w in some],
        ],
        REPEATS,
        time.process_time,
    )
    label = f"{WEIGHTINGS} profiles, {space}, n={ROWS}, L={levels}, {kind}, vs plain Newton"
    result = Result(label, batch / WEIGHTINGS, loop / len(some), target, agrees=good)
    each, other = (quantity(v, "s") for v in (result.ours, result.peer))
    print(f"  ours {each} each, peer {other} each, ratio {result.ratio:.2f}")
    return result


if __name__ == "__main__":
    one_thread()
    if "--work" in sys.argv:
        work(list(lines().items()), time.process_time)
    elif len(sys.argv) > 1:
        against(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5, __file__)
    else:
        show(run())
