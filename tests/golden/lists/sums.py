"""Moments without rows, streams of blocks, files, and other spaces' own constructors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import steradian as sr
from golden import samples
from golden.cases import Case
from steradian.numerics.arrays import Array

_FROM_SUMS = "tests of the model", "residuals, exact", "intervals", "noise", "uniformity"
_ASKS = "profile", "tests", *_FROM_SUMS


def cases() -> Iterator[Case]:
    for name, d, levels in (("circle", 2, 4), ("sphere", 3, 3), ("R^5", 5, 2)):
        x = samples.cloud(d, 150, 0.6, 151)
        h = sr.Harmonics(d, levels)
        for kind, make in (("added", _added), ("streamed", _streamed), ("written", _written)):
            yield Case(f"sums/{kind}, {name}", partial(make, x, h), _ASKS)
        weighted = partial(_weighted, x, h)
        yield Case(f"sums/weighted, {name}", weighted, ("profile", "intervals"))
    tight = samples.tight(3, 200, 1e-3, 152)
    yield Case("sums/tight cluster, level 2", partial(_added, tight, sr.Harmonics(3, 2)), _ASKS)
    yield Case("sums/tight cluster, level 3", partial(_added, tight, sr.Harmonics(3, 3)), _ASKS)
    flat = samples.great_circle(50, 153)
    yield Case("sums/great circle", partial(_added, flat, sr.Harmonics(3, 2)), _ASKS)
    other = partial(_other_features, samples.cloud(3, 40, 0.5, 154))
    yield Case("sums/of other features", other, _ASKS)
    lon, lat = 360.0 * samples.generator(155).random((2, 80))
    geographic = partial(_from_lonlat, lon, lat / 4.0)
    yield Case("sums/longitude and latitude", geographic, ("profile", "tests"))
    axial = partial(_from_angles, lon)
    yield Case("sums/bearings without sense", axial, ("profile", "tests"))
    turned = sr.Directions.from_quaternions(samples.quaternions(70, 0.5, 156))
    yield Case("sums/quaternions", partial(sr.profile, turned, levels=1), ("profile", "tests"))
    subspace = sr.Directions(samples.with_dead_coordinate(4, 80, 157)).within_span()
    yield Case("sums/within the span", partial(sr.profile, subspace), ("profile", "trust"))
    auto = samples.two_clusters(2, 90, 0.3, 158)
    yield Case("sums/as many levels as the data carry", partial(_auto, auto), ("profile",))


def _halves(x: Array, hierarchy: Any, weights: Array | None = None) -> sr.Moments:
    w = np.ones(len(x)) if weights is None else weights
    first, second = slice(0, len(x) // 3), slice(len(x) // 3, None)
    parts = [sr.Directions(x[part], w[part]) for part in (first, second)]
    one, other = (sr.Moments.from_directions(part, hierarchy) for part in parts)
    return one + other


def _added(x: Array, hierarchy: Any) -> sr.results.Profile:
    return sr.profile(_halves(x, hierarchy))


def _weighted(x: Array, hierarchy: Any) -> sr.results.Profile:
    return sr.profile(_halves(x, hierarchy, samples.gentle(len(x), 159)), design="importance")


def _streamed(x: Array, hierarchy: Any) -> sr.results.Profile:
    return sr.profile(sr.moments(iter(np.array_split(x, 4)), hierarchy))


def _written(x: Array, hierarchy: Any) -> sr.results.Profile:
    return sr.profile(sr.Moments.from_dict(_halves(x, hierarchy).to_dict()))


def _other_features(x: Array) -> sr.results.Profile:
    one = sr.Moments.from_directions(sr.Directions(x[:20]), sr.Harmonics(3, 2))
    return sr.profile(one + sr.Moments.from_directions(sr.Directions(x[20:]), sr.Harmonics(3, 3)))


def _from_lonlat(lon: Array, lat: Array) -> sr.results.Profile:
    return sr.profile(sr.Directions.from_lonlat(lon, lat - 45.0), levels=2)


def _from_angles(angle: Array) -> sr.results.Profile:
    rows = sr.Directions.from_azimuth(angle, axial=True)
    return sr.profile(rows, levels=2)


def _auto(x: Array) -> sr.results.Profile:
    return sr.profile(x, levels="auto")
