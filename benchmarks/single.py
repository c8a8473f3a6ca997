"""One profile from a raw array: few levels of sphere and circle, many levels of the circle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
SAMPLES = 20  # of each law, one after the other in every timed block
AGAINST_BFGS, AGAINST_NEWTON, ON_CIRCLE = 3.0, 1.0 / 3.0, 1.0 / 3.0
CONCENTRATIONS = (0.1, 1.0, 5.0)
MANY_ROWS, MANY_LEVELS = 100_000, 64
AGAINST_MANY = 1.0 / 3.0


@dataclass(frozen=True, slots=True)
class Case:
    """What is profiled: names of samples and the samples, all to one level."""

    name: str
    samples: dict[str, list[Array]]
    levels: int


def sphere() -> Case:
    """Twenty samples of each law."""
    samples = {
        name: [law(ROWS, np.random.default_rng([seed, k])) for k in range(SAMPLES)]
        for seed, (name, law) in enumerate(LAWS.items())
    }
    return Case(f"S², n={ROWS}, L=2, four laws", samples, 2)


def circle() -> Case:
    """Twenty samples of von Mises laws."""
    samples = {
        f"κ = {kappa:g}": [
            _plane(np.random.default_rng([seed, k]).vonmises(0.0, kappa, ROWS))
            for k in range(SAMPLES)
        ]
        for seed, kappa in enumerate(CONCENTRATIONS)
    }
    return Case(f"circle, n={ROWS}, L=4, three laws", samples, 4)


def many_levels() -> Case:
    """One large sample of three modes."""
    rng = np.random.default_rng(0)
    modes = ((0.0, 8.0), (2.0, 3.0), (-2.0, 20.0))
    angle = np.concatenate([rng.vonmises(m, kappa, MANY_ROWS // 3) for m, kappa in modes])
    return Case(f"circle, n=10⁵, L={MANY_LEVELS}", {"mixture": [_plane(angle)]}, MANY_LEVELS)


def run() -> list[Result]:
    """Every law against its peers; the table has the mean over all samples of all laws."""
    cases = [(sphere(), AGAINST_NEWTON, 20), (circle(), ON_CIRCLE, 20)]
    cases.append((many_levels(), AGAINST_MANY, 3))
    out = [_against(cases[0][0], "Fibonacci BFGS", fibonacci_bfgs, (AGAINST_BFGS, 1e-5, 5))]
    for case, target, blocks in cases:
        peer = partial(plain_newton, levels=case.levels)
        out.append(_against(case, "plain Newton", peer, (target, 1e-9, blocks)))
    return out


def _against(case: Case, name: str, peer: Peer, asked: tuple[float, float, int]) -> Result:
    """``asked``: the ratio, how far apart answers may be, and how many blocks are timed."""
    target, tolerance, blocks = asked
    spent, good = [], True
    mine = partial(_ours, case.levels)
    for law, samples in case.samples.items():
        runs = [_block(each, samples) for each in (mine, peer, partial(_moments, case.levels))]
        spent.append([s / len(samples) for s in interleaved(runs, blocks)])
        a, b, _ = spent[-1]
        print(f"{law}: ours {quantity(a, 's')}, {name} {quantity(b, 's')}, ratio {b / a:.2f}")
        apart = max(float(np.abs(mine(x) - peer(x)).max()) for x in samples)
        good &= agree(f"{name}, nats", apart, tolerance)
    ours, theirs, sums = (float(np.mean(column)) for column in zip(*spent, strict=True))
    least = Limit("its moments", sums)
    return Result(
        f"one profile, {case.name}, vs {name}", ours, theirs, target, agrees=good, limit=least
    )


def _plane(angle: Array) -> Array:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _ours(levels: int, x: Array) -> Array:
    return sr.profile(x, levels=levels).gaps


def _moments(levels: int, x: Array) -> Array:
    hierarchy = sr.Harmonics(x.shape[1], levels)
    return sr.Moments.from_directions(sr.Directions(x), hierarchy).features


def _block(profile: Peer, samples: list[Array]) -> Callable[[int], None]:
    def run(_: int) -> None:
        for x in samples:
            profile(x)

    return run


if __name__ == "__main__":
    one_thread()
    show(run())
