"""Pictures of what depends on a covariate."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr

pytest.importorskip("matplotlib")


def test_findings_stand_above_and_bands_are_drawn() -> None:
    rng = np.random.default_rng(0)
    hour = rng.uniform(0.0, 24.0, 200)
    x = sr.Directions.from_angles(rng.vonmises(np.sin(2.0 * np.pi * hour / 24.0), 3.0))
    r = sr.regress(x, on=hour, period=24.0).named("hour")
    left = r.plot()
    title = " ".join(left.get_title(loc="left").split())
    assert title.startswith("Depends on hour clearly in direction")
    right = left.figure.axes[1]
    assert right.get_xlabel() == "hour"
    assert len(right.collections) == 2
    ax = sr.plots.mean_along(r)
    assert ax.get_ylim() == (0.0, 1.0)
    assert len(ax.collections) == 1
    alone = sr.regress(
        x, on=np.column_stack([hour, rng.uniform(size=200)]), basis="ranks:1", levels=1
    )
    assert alone.plot() is not None
    for one in (left, ax):
        one.figure.clf()
