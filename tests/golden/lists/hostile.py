"""Samples that nobody wishes for: tight, few, repeated, tied, flat, outweighed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import steradian as sr
from golden import samples
from golden.cases import Case
from steradian.numerics.arrays import Array

_ASKS = "profile", "tests", "intervals", "noise", "trust"
_STEADY = "profile", "tests", "trust"  # where intervals move with the rounding of the kernel


def cases() -> Iterator[Case]:
    yield from _tight()
    yield from _shapes()
    yield from _weights()
    yield from _shrunk()


def _tight() -> Iterator[Case]:
    for d in (2, 3, 5):
        for spread in (1e-2, 1e-4, 1e-6) if d < 5 else (1e-2, 1e-3, 1e-4, 1e-6):
            x = samples.tight(d, 60, spread, 71)
            name = f"hostile/cluster of spread {spread:g} in R^{d}"
            yield Case(name, partial(sr.profile, x, levels=2), _ASKS)
    for d in (2, 3):
        x = samples.two_clusters(d, 60, 1e-3, 72)
        yield Case(f"hostile/two tight clusters in R^{d}", partial(sr.profile, x, levels=2), _ASKS)
        far = np.concatenate([samples.tight(d, 50, 1e-2, 73), -np.eye(d)[:1]])
        yield Case(f"hostile/one row far off in R^{d}", partial(sr.profile, far, levels=2), _ASKS)
    tight = samples.tight(3, 80, 1e-3, 74)
    yield Case("hostile/third level of a cluster", partial(sr.profile, tight, levels=3), _ASKS)


_SHAPES: dict[str, tuple[Callable[[], Array], int]] = {
    "one row": (lambda: np.eye(3)[:1], 1),
    "two rows": (lambda: np.eye(3)[:2], 1),
    "opposite rows": (lambda: np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]), 1),
    "three rows": (lambda: np.eye(3), 2),
    "six rows on the circle": (lambda: samples.cloud(2, 6, 0.5, 75), 2),
    "eight rows on the sphere": (lambda: samples.cloud(3, 8, 0.5, 76), 2),
    "twelve rows, three levels": (lambda: samples.cloud(3, 12, 0.2, 77), 3),
    "fewer rows than features": (lambda: samples.cloud(8, 30, 1.0, 78), 2),
    "fewer rows than dimensions": (lambda: samples.cloud(40, 20, 1.0, 79), 2),
    "great circle": (lambda: samples.great_circle(60, 80), 2),
    "small circle": (lambda: samples.small_circle(60, 0.4, 0.0, 81), 2),
    "nearly a small circle": (lambda: samples.small_circle(60, 0.4, 1e-5, 81), 2),
    "dead coordinate": (lambda: samples.with_dead_coordinate(4, 80, 82), 2),
    "nearly dead coordinate": (
        lambda: samples.unit(samples.with_dead_coordinate(4, 80, 82) + 1e-6 * np.eye(4)[0]), 2,
    ),
    "ten directions, often": (lambda: samples.duplicates(3, 100, 10, 83), 2),
    "four directions, often": (lambda: samples.duplicates(3, 60, 4, 84), 2),
    "one direction, often": (lambda: samples.duplicates(3, 20, 1, 85), 1),
    "every row twice": (lambda: np.repeat(samples.cloud(3, 40, 0.5, 86), 2, axis=0), 2),
    "antipodes of all": (
        lambda: np.concatenate([samples.cloud(3, 40, 0.5, 87), -samples.cloud(3, 40, 0.5, 87)]), 2,
    ),
    "cross": (lambda: np.concatenate([np.eye(3), -np.eye(3)]), 2),
    "steps of 90°": (lambda: samples.lattice(80, 90.0, 88), 2),
    "steps of 60°": (lambda: samples.lattice(80, 60.0, 89), 4),
    "arc": (lambda: samples.great_circle(50, 90) * [0.3, 1.0, 1.0] + [1.0, 0.0, 0.2], 2),
    "no default levels": (lambda: samples.great_circle(40, 91), 0),
}  # fmt: skip


def _shapes() -> Iterator[Case]:
    for name, (make, levels) in _SHAPES.items():
        rows = samples.unit(make())
        profile = partial(sr.profile, rows, levels=levels or None)
        yield Case(f"hostile/{name}", profile, _ASKS)


def _weights() -> Iterator[Case]:
    for kind, weights in samples.WEIGHTS.items():
        for d in (2, 3, 5):
            x = samples.cloud(d, 70, 0.7, 92)
            profile = partial(sr.profile, x, weights=weights(70), levels=2, design="fixed")
            yield Case(f"hostile/weights {kind} in R^{d}", profile, _ASKS)
    x, heavy = samples.cloud(3, 60, 0.7, 93), samples.one_heavy(60, 1.0 - 1e-6)
    for design in ("fixed", "importance"):
        profile = partial(sr.profile, x, weights=heavy, levels=2, design=design)
        yield Case(f"hostile/nearly all weight on one row, {design}", profile, _STEADY)


def _shrunk() -> Iterator[Case]:
    for name, x in (("great circle", samples.great_circle(60, 80)), ("three rows", np.eye(3))):
        for epsilon, toward in ((0.05, "uniform"), (0.05, "below")):
            mixed = sr.Shrinkage(epsilon, toward)  # type: ignore[arg-type]
            profile = partial(sr.profile, x, levels=2, shrinkage=mixed)
            asks = ("profile", "trust")
            yield Case(f"hostile/{name}, shrunk toward {toward}", profile, asks)
    x = samples.cloud(6, 40, 1.0, 94)
    yield Case("hostile/R^6, shrunk", partial(sr.profile, x, shrinkage=0.1), ("profile", "trust"))
