"""One profile on the two-sphere from a raw array: n = 500, two levels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

import steradian as sr
from peers import fibonacci_bfgs, plain_newton
from samples import LAWS
from timing import Result, agree, interleaved, one_thread, quantity, show

Array = NDArray[np.float64]

ROWS = 500
LEVELS = 2
SAMPLES = 20  # of each law; the rounds go through them in turn
AGAINST_BFGS, AGAINST_NEWTON = 15.0, 1.0


def run() -> list[Result]:
    """Each law against both peers; the least favourable law stands in the table."""
    slow: list[Result] = []
    fast: list[Result] = []
    for seed, (name, law) in enumerate(LAWS.items()):
        samples = [law(ROWS, np.random.default_rng([seed, k])) for k in range(SAMPLES)]
        print(f"{name}, {SAMPLES} samples")
        slow.append(_against_bfgs(name, samples))
        fast.append(_against_newton(name, samples))
    return [min(results, key=lambda r: (r.agrees, r.ratio)) for results in (slow, fast)]


def _against_bfgs(name: str, samples: list[Array]) -> Result:
    ours, theirs = _seconds(samples, fibonacci_bfgs, repeats=2 * SAMPLES)
    good = agree("Fibonacci BFGS, nats", _difference(samples, fibonacci_bfgs), 1e-5)
    label = f"one profile, S², n={ROWS}, L={LEVELS}, vs Fibonacci BFGS ({name})"
    return _told(Result(label, ours, theirs, AGAINST_BFGS, agrees=good))


def _against_newton(name: str, samples: list[Array]) -> Result:
    peer = partial(plain_newton, levels=LEVELS)
    ours, theirs = _seconds(samples, peer, repeats=20 * SAMPLES)
    good = agree("plain Newton, nats", _difference(samples, peer), 1e-9)
    label = f"one profile, S², n={ROWS}, L={LEVELS}, vs plain Newton ({name})"
    return _told(Result(label, ours, theirs, AGAINST_NEWTON, agrees=good))


def _seconds(samples: list[Array], peer: Callable[[Array], Array], *, repeats: int) -> list[float]:
    return interleaved(
        [
            lambda k: sr.profile(samples[k % SAMPLES], levels=LEVELS),
            lambda k: peer(samples[k % SAMPLES]),
        ],
        repeats,
    )


def _difference(samples: list[Array], peer: Callable[[Array], Array]) -> float:
    pairs = [(sr.profile(x, levels=LEVELS).gaps, peer(x)) for x in samples]
    return max(float(np.abs(ours - theirs).max()) for ours, theirs in pairs)


def _told(result: Result) -> Result:
    ours, peer = (quantity(v, "s") for v in (result.ours, result.peer))
    print(f"  ours {ours}, peer {peer}, ratio {result.ratio:.2f}")
    return result


if __name__ == "__main__":
    one_thread()
    show(run())
