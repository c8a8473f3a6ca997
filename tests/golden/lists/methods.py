"""Every method of a test, a residual, an interval, a bootstrap: on a sample of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import steradian as sr
from golden import samples
from golden.cases import Case

_TESTS = (
    "tests by gap", "tests of the model", "tests, tilted", "tests, empirical", "tests by bootstrap",
    "model by bootstrap", "tests by simulation",
)  # fmt: skip
_OTHERS = (
    "intervals by root", "residuals", "residuals, weighted", "residuals by bootstrap", "mmd",
    "beyond", "bootstrap", "parametric", "multiplier", "order",
)  # fmt: skip


def cases() -> Iterator[Case]:
    for name, make in _profiles():
        for ask in (*_TESTS, *_OTHERS):
            yield Case(f"methods/{ask}: {name}", make, (ask,))


def _profiles() -> Iterator[tuple[str, Any]]:
    circle = samples.cloud(2, 60, 0.6, 61)
    yield "circle", partial(sr.profile, circle, levels=2)
    sphere, ids = samples.cloud(3, 90, 0.6, 62), samples.blocks(90, 2)
    yield "sphere", partial(sr.profile, sphere, levels=2)
    design = sr.designs.Clusters(ids)
    alike = samples.shared_within(sphere, ids, 0.3, 63)
    yield "clusters", partial(sr.profile, alike, levels=2, design=design)
    weights = samples.gentle(100, 64)
    high = samples.cloud(5, 100, 0.8, 65)
    yield "R^5, weighted", partial(sr.profile, high, weights=weights, levels=2, design="fixed")
