"""Where samples lie in the moment bodies of their levels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import steradian as sr
from golden import samples
from golden.cases import Case


def cases() -> Iterator[Case]:
    for name, data, options in _given():
        made = partial(sr.boundary, data, **options)
        yield Case(f"boundary/{name}", made, ("boundary",))


def _given() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    yield "cloud on the circle", samples.cloud(2, 40, 1.0, 101), {"levels": 4}
    yield "cloud on the sphere", samples.cloud(3, 40, 1.0, 102), {"levels": 3}
    yield "cloud in R^5", samples.cloud(5, 60, 1.0, 103), {}
    yield "cloud in R^12", samples.cloud(12, 100, 1.0, 104), {}
    yield "great circle", samples.great_circle(30, 105), {"levels": 3}
    yield "small circle", samples.small_circle(30, 0.3, 0.0, 106), {"levels": 3}
    yield "nearly a small circle", samples.small_circle(30, 0.3, 1e-6, 106), {"levels": 2}
    yield "steps of 60°", samples.lattice(60, 60.0, 107), {"levels": 4}
    yield "steps of 90°", samples.lattice(60, 90.0, 108), {"levels": 3}
    yield "cross", np.concatenate([np.eye(3), -np.eye(3)]), {"levels": 3}
    yield "three rows", np.eye(3), {"levels": 2}
    yield "one row", np.eye(3)[:1], {"levels": 1}
    yield "six directions", samples.duplicates(3, 60, 6, 109), {"levels": 3}
    yield "twelve rows", samples.cloud(3, 12, 0.2, 110), {"levels": 3}
    yield "few rows in R^10", samples.cloud(10, 30, 1.0, 111), {}
    yield "dead coordinate", samples.with_dead_coordinate(4, 60, 112), {}
    yield "tight cluster", samples.tight(3, 60, 1e-4, 113), {"levels": 2}
    axes = sr.Directions(samples.two_sided(3, 60, 0.4, 114), space=sr.Axes(3))
    yield "axes", axes, {"hierarchy": sr.Axial(3, 2)}
    yield "diagonal", samples.stretched(4, 40, 2.0, 115), {"hierarchy": sr.Diagonal(4)}
    yield "zonal", samples.cloud(3, 40, 1.0, 116), {"hierarchy": sr.Zonal([0, 0, 1], 3)}
    torus = sr.Directions(samples.on_torus(2, 60, 0.9, 117), space=sr.Torus(2))
    yield "torus", torus, {"hierarchy": sr.TorusHarmonics(2, 1)}
    weights = samples.some_zero(40, 118)
    yield "zero weights", samples.cloud(3, 40, 0.5, 118), {"levels": 2, "weights": weights}
    sums = sr.Moments.from_directions(
        sr.Directions(samples.cloud(3, 50, 1.0, 119)), sr.Harmonics(3, 2)
    )
    yield "sums alone", sums, {}
