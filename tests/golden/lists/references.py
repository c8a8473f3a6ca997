"""Profiles relative to another distribution than the uniform one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import steradian as sr
from golden import samples
from golden.cases import Case

_ASKS = "profile", "tests", "uniformity", "intervals", "noise", "trust"


def _exposure(x: Any) -> Any:
    return 1.0 + 0.5 * x[:, 0]


def cases() -> Iterator[Case]:
    for name, x, levels, reference in _given():
        made = partial(sr.profile, x, levels=levels, reference=reference)
        yield Case(f"references/{name}", made, _ASKS)
    yield Case("references/fit", _relative_to_a_fit, _ASKS)


def _relative_to_a_fit() -> sr.results.Profile:
    law = sr.profile(samples.cloud(3, 200, 0.3, 123), levels=1).fits[1]
    return sr.profile(samples.cloud(3, 150, 0.5, 122), levels=2, reference=law)


def _given() -> Iterator[tuple[str, Any, int, Any]]:
    circle, sphere = samples.cloud(2, 120, 0.5, 121), samples.cloud(3, 150, 0.5, 122)
    band = sr.Mask(bands=[(-20, 20)])
    outside = sphere[np.abs(np.rad2deg(np.arcsin(sphere[:, 2]))) > 20.0]
    yield "mask", outside, 2, band
    below = sphere[sphere[:, 2] < np.cos(np.deg2rad(30.0))]
    yield "cap", below, 2, sr.Mask(caps=[(0, 90, 30)])
    yield "exposure", outside, 2, sr.Mask(bands=[(-15, 15)], density=_exposure)
    yield "density", sphere, 2, _exposure
    yield "density on the circle", circle, 3, _exposure
    yield "map", sphere, 2, sr.HealpixMap(1.0 + np.arange(48) % 5, "ring")
    arc = circle[np.abs(np.arctan2(circle[:, 1], circle[:, 0])) > 0.5]
    yield "arc", arc, 2, sr.Mask(caps=[(0, np.rad2deg(0.5))])
    yield "a row that nobody saw", sphere, 2, band
    yield "sample", sphere, 1, sr.Directions(samples.cloud(3, 300, 0.0, 124))
