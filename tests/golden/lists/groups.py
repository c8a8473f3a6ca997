"""Comparisons of groups, and many weightings of the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import steradian as sr
from golden import samples
from golden.cases import Case
from steradian.hierarchies import Split
from steradian.numerics.arrays import AnyArray, Array

_ASKS = "comparison", "labels", "comparison tests", "comparison intervals"


def cases() -> Iterator[Case]:
    for name, (make, by, options) in _COMPARED.items():
        yield Case(f"groups/{name}", partial(_compared, make, by, options), _ASKS)
    two = samples.cloud(3, 60, 0.7, 131)
    one_level = partial(sr.compare, two, by=_alternate(60, 2), levels=1)
    yield Case("groups/shuffled labels", one_level, ("comparison", "labels", "permutation"))
    for name, options in _MANY.items():
        yield Case(f"weightings/{name}", partial(_profiles, **options), ("profiles",))
    for name, hierarchy in _SPLITS.items():
        rows = samples.stretched(5, 160, 2.0, 132)
        made = partial(sr.profile, rows, hierarchy=hierarchy)
        yield Case(f"splits/{name}", made, ("splits",))


def _compared(make: Callable[[], Array], by: Any, options: dict[str, Any]) -> sr.results.Comparison:
    rows = make()
    labels = by(len(rows))
    made = dict(options)
    if made.pop("uneven", False):
        made["weights"] = samples.gentle(len(rows), 133)
    clusters = made.pop("clusters", 0)
    if clusters:
        made["design"] = sr.designs.Clusters(samples.blocks(len(rows), clusters))
    return sr.compare(rows, by=labels, **made)


def _alternate(n: int, groups: int) -> AnyArray:
    return np.arange(n) % groups


def _by(groups: int) -> Callable[[int], AnyArray]:
    return partial(_alternate, groups=groups)


def _apart(d: int, n: int, turn: float) -> Array:
    """Two interleaved groups, the second turned by an angle."""
    rows = samples.cloud(d, n, 2.0, 134)
    c, s = np.cos(turn), np.sin(turn)
    first, last = rows[1::2, 0].copy(), rows[1::2, -1].copy()
    rows[1::2, 0], rows[1::2, -1] = c * first + s * last, c * last - s * first
    return rows


def _sharper(d: int, n: int) -> Array:
    """Two interleaved groups of one mean, the second more concentrated."""
    rows = samples.normal(samples.generator(135, d, n), n, d)
    rows[:, -1] += np.where(np.arange(n) % 2, 3.0, 1.0)
    return samples.unit(rows)


def _southern() -> Array:
    rows = samples.cloud(3, 300, 0.0, 143)
    return np.asarray(rows[rows[:, 2] < 0.5])


_COMPARED: dict[str, tuple[Callable[[], Array], Callable[[int], AnyArray], dict[str, Any]]] = {
    "alike on the circle": (lambda: samples.cloud(2, 120, 0.7, 136), _by(2), {}),
    "alike on the sphere": (lambda: samples.cloud(3, 160, 0.7, 137), _by(2), {}),
    "alike in R^5": (lambda: samples.cloud(5, 240, 0.7, 138), _by(2), {}),
    "turned on the circle": (lambda: _apart(2, 120, 0.6), _by(2), {}),
    "turned on the sphere": (lambda: _apart(3, 160, 0.5), _by(2), {}),
    "turned far on the sphere": (lambda: _apart(3, 160, 2.0), _by(2), {}),
    "turned in R^5": (lambda: _apart(5, 240, 0.5), _by(2), {}),
    "sharper on the circle": (lambda: _sharper(2, 120), _by(2), {}),
    "sharper on the sphere": (lambda: _sharper(3, 160), _by(2), {}),
    "three groups": (lambda: samples.cloud(3, 210, 0.7, 139), _by(3), {}),
    "three levels": (lambda: _apart(3, 300, 0.3), _by(2), {"levels": 3}),
    "few rows": (lambda: _apart(3, 36, 0.5), _by(2), {"levels": 2}),
    "equal shares": (lambda: samples.cloud(3, 150, 0.7, 140), lambda n: np.arange(n) > 40,
                     {"shares": "equal"}),
    "fixed weights": (lambda: _apart(3, 160, 0.4), _by(2), {"uneven": True, "design": "fixed"}),
    "importance": (lambda: _apart(3, 160, 0.4), _by(2), {"uneven": True, "design": "importance"}),
    "clusters": (lambda: _apart(3, 240, 0.3), lambda n: np.arange(n) // 2 % 2, {"clusters": 2}),
    "clusters of both": (lambda: _apart(3, 240, 0.3), _by(2), {"clusters": 4}),
    "descriptive": (lambda: _apart(3, 160, 0.4), _by(2), {"uneven": True}),
    "diagonal": (lambda: _apart(4, 200, 0.5), _by(2), {"hierarchy": sr.Diagonal(4)}),
    "zonal": (lambda: _sharper(3, 160), _by(2), {"hierarchy": sr.Zonal([0, 0, 1], 3)}),
    "a group without a fit": (lambda: samples.cloud(3, 100, 0.7, 141),
                              lambda n: np.minimum(np.arange(n) // 2, 2), {"levels": 2}),
    "as many labels as rows": (lambda: samples.cloud(3, 50, 0.7, 142), np.arange, {}),
    "relative to a mask": (_southern, _by(2), {"reference": sr.Mask(bands=[(30, 90)])}),
}  # fmt: skip


_MANY: dict[str, dict[str, Any]] = {
    "circle": {"d": 2, "rows": 60, "many": 12, "levels": 3},
    "sphere": {"d": 3, "rows": 80, "many": 12, "levels": 2},
    "R^6": {"d": 6, "rows": 100, "many": 8, "levels": 2},
    "sparse": {"d": 3, "rows": 60, "many": 10, "levels": 2, "zeros": True},
    "permuted": {"d": 3, "rows": 60, "many": 6, "levels": 2, "null": sr.Permutation(99)},
}


def _profiles(
    d: int, rows: int, many: int, *, zeros: bool = False, **options: Any
) -> sr.results.Profiles:
    weights = 1.0 + 3.0 * samples.generator(144, d).random((many, rows))
    if zeros:  # down to three rows in the last, which have no fit
        order = np.arange(rows)[None] * np.ones((many, 1))
        weights[order > np.linspace(rows, 2, many)[:, None]] = 0.0
    return sr.profiles(samples.cloud(d, rows, 0.7, 145), weights=weights, **options)


_SPLITS: dict[str, Any] = {
    "axis of the mean": sr.Zonal("mean", 2, split=Split(0.5, repeats=3)),
    "plane of the spread": sr.LowRank("mean+pca", 2, k=2, split=Split(0.4, repeats=3)),
    "whole": sr.Zonal("mean", 2, split=Split(0.3, repeats=2)),
}
