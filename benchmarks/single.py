"""One profile on the two-sphere from a raw array: n = 500, two levels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

import steradian as sr
from peers import fibonacci_bfgs, plain_newton
from samples import LAWS
from timing import Limit, Result, agree, interleaved, one_thread, quantity, show

Array = NDArray[np.float64]
Peer = Callable[[Array], Array]

ROWS = 500
LEVELS = 2
SAMPLES = 20  # of each law, one after the other in every timed block
AGAINST_BFGS, AGAINST_NEWTON = 15.0, 1.0


def run() -> list[Result]:
    """Every law against both peers; the table has the mean over all samples of all laws."""
    peers: list[tuple[str, Peer, float, float, int]] = [
        ("Fibonacci BFGS", fibonacci_bfgs, AGAINST_BFGS, 1e-5, 5),
        ("plain Newton", partial(plain_newton, levels=LEVELS), AGAINST_NEWTON, 1e-9, 20),
    ]
    return [_against(*peer) for peer in peers]


def _against(name: str, peer: Peer, target: float, tolerance: float, blocks: int) -> Result:
    ours, theirs, sums, good = [], [], [], True
    for seed, (law_name, law) in enumerate(LAWS.items()):
        samples = [law(ROWS, np.random.default_rng([seed, k])) for k in range(SAMPLES)]
        runs = [_block(each, samples) for each in (_ours, peer, _moments)]
        a, b, c = (s / SAMPLES for s in interleaved(runs, blocks))
        print(f"{law_name}: ours {quantity(a, 's')}, {name} {quantity(b, 's')}, ratio {b / a:.2f}")
        good &= agree(f"{name}, nats", _difference(samples, peer), tolerance)
        ours.append(a)
        theirs.append(b)
        sums.append(c)
    label = f"one profile, S², n={ROWS}, L={LEVELS}, four laws, vs {name}"
    least = Limit("its moments", float(np.mean(sums)))
    ours_all, theirs_all = float(np.mean(ours)), float(np.mean(theirs))
    return Result(label, ours_all, theirs_all, target, agrees=good, limit=least)


def _ours(x: Array) -> Array:
    return sr.profile(x, levels=LEVELS).gaps


def _moments(x: Array) -> Array:
    return sr.Moments.from_directions(sr.Directions(x), sr.Harmonics(3, LEVELS)).features


def _block(profile: Peer, samples: list[Array]) -> Callable[[int], None]:
    def run(_: int) -> None:
        for x in samples:
            profile(x)

    return run


def _difference(samples: list[Array], peer: Peer) -> float:
    return max(float(np.abs(_ours(x) - peer(x)).max()) for x in samples)


if __name__ == "__main__":
    one_thread()
    show(run())
