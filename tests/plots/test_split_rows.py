"""The picture of a profile on splits."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import steradian as sr
from picture_checks import complaints

mpl.use("Agg")


@pytest.mark.parametrize("levels", [1, 2])
def test_every_split_is_drawn_and_its_median(levels: int) -> None:
    x = np.random.default_rng(0).normal(0.4, 1.0, (200, 6))
    p = sr.profile(
        sr.Directions(x, normalize=True), hierarchy=sr.LowRank("pca", 2, split=0.5), levels=levels
    )
    ax = p.plot()
    assert complaints(ax) == []
    dots = [c.get_offsets()[:, 0] for c in ax.collections if len(c.get_offsets()) == len(p.splits)]
    assert np.allclose(np.transpose(dots), p.split_gaps)
    diamonds = [line.get_xdata()[0] for line in ax.get_lines() if line.get_marker() == "D"]
    assert np.allclose(diamonds, p.gaps)
    assert "splits" in ax.get_title(loc="left").replace("\n", " ")
    plt.close("all")


def test_a_page_is_about_one_split(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(0.4, 1.0, (200, 6))
    p = sr.profile(sr.Directions(x, normalize=True), hierarchy=sr.LowRank("pca", 2, split=0.5))
    with pytest.raises(sr.InvalidArgument, match=r"p\.splits\[0\]\.report"):
        p.report(tmp_path / "out.html")
