"""Circles and spheres with their harmonics: shapes of samples × sizes × levels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import steradian as sr
from golden import samples
from golden.cases import Case
from steradian.numerics.arrays import Array

_ASKS = "profile", "tests", "uniformity", "intervals", "noise", "residuals, exact"


def _case(group: str, name: str, x: Array, levels: int, *more: str) -> Case:
    asks = (*_ASKS, *more)
    return Case(f"{group}/{name}, level {levels}", partial(sr.profile, x, levels=levels), asks)


def cases() -> Iterator[Case]:
    yield from _circle()
    yield from _sphere()
    yield from _high()


def _circle() -> Iterator[Case]:
    for n, pull, levels in (
        (40, 0.0, 3), (40, 1.0, 3), (200, 0.5, 4), (200, 2.0, 2), (1000, 0.2, 8), (300, 6.0, 4),
        (60, 1.0, 12), (25, 1.0, 1),
    ):  # fmt: skip
        x = samples.cloud(2, n, pull, 11)
        yield _case("circle", f"cloud of {n} rows, pull {pull:g}", x, levels, "mmd, exact")
    yield _case("circle", "two clusters", samples.two_clusters(2, 150, 0.2, 12), 4, "trust")
    yield _case("circle", "two sides", samples.two_sided(2, 150, 0.3, 13), 3, "trust")
    yield _case("circle", "stretched", samples.stretched(2, 150, 3.0, 14), 3, "trust")
    yield _case("circle", "steps of 15°", samples.lattice(120, 15.0, 15), 4, "beyond")
    yield _case("circle", "steps of 1°", samples.lattice(400, 1.0, 16), 3, "mmd, exact")


def _sphere() -> Iterator[Case]:
    for n, pull, levels in (
        (30, 0.0, 2), (50, 1.0, 2), (200, 0.5, 3), (200, 2.0, 4), (500, 0.3, 4), (150, 8.0, 3),
        (20, 1.0, 1),
    ):  # fmt: skip
        x = samples.cloud(3, n, pull, 21)
        yield _case("sphere", f"cloud of {n} rows, pull {pull:g}", x, levels, "trust")
    for factor in (0.2, 3.0):
        x = samples.stretched(3, 160, factor, 22)
        yield _case("sphere", f"stretched by {factor:g}", x, 3, "mmd, exact")
    yield _case("sphere", "two clusters", samples.two_clusters(3, 150, 0.2, 23), 3, "beyond")
    yield _case("sphere", "two sides", samples.two_sided(3, 150, 0.3, 24), 3, "beyond")
    yield _case("sphere", "small circle", samples.small_circle(150, 0.5, 0.05, 25), 3, "trust")
    yield _case("sphere", "poles", samples.poles(3, 60, 26), 3, "mmd, exact")
    yield _case("sphere", "near a point", samples.tight(3, 90, 0.02, 27), 2, "trust")


def _high() -> Iterator[Case]:
    for d, n, pull in (
        (4, 100, 1.0), (5, 80, 0.5), (6, 300, 2.0), (7, 60, 1.0), (8, 150, 0.0), (10, 400, 1.0),
        (10, 90, 3.0), (20, 120, 1.0), (32, 1200, 1.0),
    ):  # fmt: skip
        x = samples.cloud(d, n, pull, 31)
        yield _case("high", f"cloud of {n} rows in R^{d}, pull {pull:g}", x, 2, "trust")
    yield _case("high", "R^4", samples.stretched(4, 150, 2.0, 32), 3)
    for d in (4, 6):
        yield _case(
            "high", f"two sides in R^{d}", samples.two_sided(d, 200, 0.4, 33), 2, "mmd, exact"
        )
    yield _case("high", "two clusters in R^5", samples.two_clusters(5, 200, 0.3, 34), 2)
    yield _case("high", "one level in R^40", samples.cloud(40, 70, 2.0, 35), 1)
    yield _case("high", "girdle in R^5", samples.stretched(5, 200, 0.1, 36), 2)
