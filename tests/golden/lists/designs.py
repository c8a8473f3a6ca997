"""Every design on every kind of space: what p-values and intervals mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import steradian as sr
from golden import samples
from golden.cases import Case
from steradian import designs
from steradian.numerics.arrays import Array

_ASKS = "profile", "tests", "intervals", "noise", "uniformity", "trust"
_N = 180


def cases() -> Iterator[Case]:
    for place, x in _PLACES.items():
        for name, make in _DESIGNS.items():
            yield Case(f"designs/{name} {place}", partial(make, x()), _ASKS)


def _weighted(x: Array, kind: str, design: Any) -> sr.results.Profile:
    return sr.profile(x, weights=samples.WEIGHTS[kind](len(x)), levels=2, design=design)


def _clustered(x: Array, size: int, kind: str | None) -> sr.results.Profile:
    ids = samples.blocks(len(x), size)
    rows = samples.shared_within(x, ids, 0.4, 51)
    weights = None if kind is None else samples.WEIGHTS[kind](len(x))
    return sr.profile(rows, weights=weights, levels=2, design=designs.Clusters(ids))


def _chain(x: Array, several: bool) -> sr.results.Profile:
    path = samples.wandering(x.shape[1], 4 * len(x), 0.6, 52)
    ids = samples.blocks(len(path), len(path) // 3) if several else None
    return sr.profile(path, levels=2, design=designs.Chain(ids))


def _survey(x: Array, kind: str | None, size: int, strata: int) -> sr.results.Profile:
    psu = samples.blocks(len(x), size) if size > 1 else None
    strata_of = samples.blocks(len(x), len(x) // strata)
    weights = None if kind is None else samples.WEIGHTS[kind](len(x))
    design = designs.Survey(psu=psu, strata=strata_of)
    return sr.profile(x, weights=weights, levels=2, design=design)


def _even_strata(x: Array) -> sr.results.Profile:
    strata = samples.blocks(len(x), len(x) // 4)
    design = designs.Survey(strata=strata)
    return sr.profile(x, weights=1.0 + strata, levels=2, design=design)


def _known(x: Array) -> sr.results.Profile:
    moments = sr.Moments.from_directions(sr.Directions(x), sr.Harmonics(x.shape[1], 2))
    q = moments.hierarchy.q(2)
    lumped = np.eye(q) + 0.3 / q
    return sr.profile(moments, design=designs.Known(2.0 * lumped, np.sqrt(len(x))))


_PLACES: dict[str, Callable[[], Array]] = {
    "on the circle": lambda: samples.cloud(2, _N, 0.4, 53),
    "on the sphere": lambda: samples.cloud(3, _N, 0.4, 54),
    "on the sphere, two-sided": lambda: samples.two_sided(3, _N, 0.5, 55),
    "in R^5": lambda: samples.cloud(5, _N, 0.6, 56),
}
_DESIGNS: dict[str, Callable[[Array], sr.results.Profile]] = {
    "fixed weights": lambda x: _weighted(x, "gentle", "fixed"),
    "fixed uneven weights": lambda x: _weighted(x, "uneven", "fixed"),
    "importance": lambda x: _weighted(x, "gentle", "importance"),
    "importance, uneven": lambda x: _weighted(x, "uneven", "importance"),
    "descriptive": lambda x: _weighted(x, "gentle", None),
    "clusters of three": lambda x: _clustered(x, 3, None),
    "weighted clusters": lambda x: _clustered(x, 3, "gentle"),
    "few clusters": lambda x: _clustered(x, 15, None),
    "short chain": lambda x: sr.profile(x[:40], levels=1, design="chain"),
    "chain": lambda x: _chain(x, several=False),
    "three chains": lambda x: _chain(x, several=True),
    "strata": lambda x: _survey(x, None, 1, 3),
    "weighted strata": lambda x: _survey(x, "gentle", 1, 3),
    "units in strata": lambda x: _survey(x, "gentle", 3, 2),
    "weights by stratum": _even_strata,
    "known covariance": _known,
}
