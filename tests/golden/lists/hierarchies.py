"""Every hierarchy on every space that it lives on."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import steradian as sr
from golden import samples
from golden.cases import Case
from own_spaces import Slab, places
from steradian.hierarchies import Hierarchy

_ASKS = "profile", "tests", "intervals", "noise", "uniformity", "residuals, exact", "trust"


def _linear(x: Any) -> Any:
    return x


def _squares(x: Any) -> Any:
    return x[:, :2] * x[:, 1:]


def _waves(x: Any) -> Any:
    return np.stack([x[:, 0], x[:, 1]], axis=1)


def _heights(x: Any) -> Any:
    return np.stack([x[:, 2] - 0.5, (x[:, 2] - 0.5) ** 2 - 1.0 / 12.0], axis=1)


def cases() -> Iterator[Case]:
    for name, hierarchy, rows in _objects():
        for kind, weights in (("even", None), ("weighted", samples.WEIGHTS["gentle"])):
            made = partial(_profile, hierarchy, rows, None if weights is None else weights(rows.n))
            asks = _ASKS if weights is None else ("profile", "tests", "intervals")
            yield Case(f"hierarchies/{name}, {kind}", made, asks)


def _profile(hierarchy: Hierarchy, rows: sr.Directions, weights: Any) -> sr.results.Profile:
    if weights is None:
        return sr.profile(rows, hierarchy=hierarchy)
    weighted = sr.Directions(rows.x, weights, space=rows.space)
    return sr.profile(weighted, hierarchy=hierarchy, design="fixed")


def _on(space: Any, x: Any) -> sr.Directions:
    return sr.Directions(x, space=space)


def _objects() -> Iterator[tuple[str, Hierarchy, sr.Directions]]:
    n = 150
    in_space = {d: sr.Directions(samples.stretched(d, n, 2.0, 41)) for d in (2, 3, 4, 5, 6, 8)}
    pulled = {d: sr.Directions(samples.cloud(d, n, 0.8, 42)) for d in (3, 5, 6)}
    axes = {d: _on(sr.Axes(d), samples.two_sided(d, n, 0.6, 43)) for d in (2, 3, 4, 6)}
    tori = {k: _on(sr.Torus(k), samples.on_torus(k, n, 0.9, 44)) for k in (2, 3)}
    turned = _on(sr.Rotations(), samples.quaternions(n, 0.4, 45))
    rng = samples.generator(46)
    slab = _on(Slab(), places(2.0 * np.pi * rng.random(n), rng.random(n) ** 0.7))
    yield "axes of the circle", sr.Axial(2, 3), axes[2]
    yield "axes", sr.Axial(3, 2), axes[3]
    yield "axes in R^4", sr.Axial(4, 2), axes[4]
    yield "axes in R^6", sr.Axial(6, 1), axes[6]
    yield "axial features of vectors", sr.Axial(3, 2), in_space[3]
    yield "rotations, one level", sr.Axial.on(sr.Rotations(), 1), turned
    yield "rotations, two levels", sr.Axial.on(sr.Rotations(), 2), turned
    yield "zonal", sr.Zonal([0, 0, 1], 4), pulled[3]
    yield "zonal in R^5", sr.Zonal([0, 0, 0, 1, 2], 3), pulled[5]
    yield "zonal, bounded", sr.Zonal([0, 0, 0, 1, 2], 3, features="bounded", kappa=1.0), pulled[5]
    quadratic = [range(4), (0, 0, 1, 1), (0,) * 4]
    yield "quadratics in R^4", sr.Quadratics(4, quadratic), in_space[4]
    yield "diagonal", sr.Diagonal(3), in_space[3]
    yield "diagonal in R^8", sr.Diagonal(8), in_space[8]
    yield "blocks of two", sr.Blocks([2, 2]), in_space[4]
    yield "blocks of one and two", sr.Blocks([1, 2]), pulled[3]
    yield "low rank in R^5", sr.LowRank(np.eye(5)[:, 3:], 2), in_space[5]
    yield "low rank in R^6", sr.LowRank(np.eye(6)[:, 4:], 2), pulled[6]
    yield "sketch in R^4", sr.Sketch(4, 5, 3, seed=2), in_space[4]
    yield "sketch in R^6", sr.Sketch(6, 3, 2, seed=1), in_space[6]
    stacked = sr.Stacked([sr.Diagonal(3), sr.Zonal([0, 1, 2], 3)])
    yield "stacked", stacked, in_space[3]
    yield "custom", sr.Custom(sr.Sphere(), [_linear, _squares]), pulled[3]
    yield "custom on a slab", sr.Custom(Slab(), [_waves, _heights]), slab
    yield "torus", sr.TorusHarmonics(2, 2), tori[2]
    yield "interactions of two", sr.Interactions(2, 1), tori[2]
    yield "interactions of three", sr.Interactions(3, 1), tori[3]
