"""Pictures and reports relative to a reference say so, or refuse in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steradian as sr

pytest.importorskip("matplotlib")
LAW = sr.FisherBingham([0.5, 0.2, 1.0], np.diag([0.5, -0.5, 0.0]))


def test_gaps_say_what_they_are_relative_to(tmp_path: Path) -> None:
    sampled = sr.profile(LAW.sample(300, 0), levels=2, reference=sr.Directions(LAW.sample(200, 1)))
    drawn = np.atleast_1d(sampled.plot())[0].figure
    drawn.savefig(tmp_path / "gaps.png")
    words = " ".join(text.get_text() for ax in drawn.axes for text in ax.findobj(match=_is_text))
    assert "relative to a sample of 200 directions" in " ".join(words.split())
    with pytest.raises(sr.InvalidArgument, match="no picture of its points"):
        sampled.fits[2].plot()


def test_a_density_is_empty_where_nobody_looked() -> None:
    mask = sr.Mask(bands=[(-20, 20)])
    x = LAW.sample(400, 0)
    found = sr.profile(x[mask.sees(x)], levels=1, reference=mask)
    assert found.fits[1].plot() is not None
    assert found.fits[1].pdf([[1, 0, 0]])[0] == 0.0


def _is_text(artist: object) -> bool:
    return hasattr(artist, "get_text")
