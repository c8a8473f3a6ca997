"""Bootstraps in pieces: progress shows early, and no replicate depends on it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import steradian as sr
from steradian.inference import bootstrap
from steradian.progress import drawn_chunks


def test_pieces_that_show_progress_change_no_replicate(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(4).normal(size=(30, 4)) + np.eye(4)[0]
    profile = sr.profile(sr.Directions(x, normalize=True), levels=2)
    pieces = list[int]()

    def counted(count: int, per_draw: int, what: str, *, first: int) -> Iterator[slice]:
        assert what == "bootstrap by design"
        pieces.append(0)
        for piece in drawn_chunks(count, per_draw, what, first=first):
            pieces[-1] += 1
            yield piece

    monkeypatch.setattr(bootstrap, "drawn_chunks", counted)
    in_pieces = sr.bootstrap(profile, replicates=30).gaps
    monkeypatch.setattr(bootstrap, "_FIRST", 0)
    at_once = sr.bootstrap(profile, replicates=30).gaps
    assert pieces == [3, 1]
    np.testing.assert_allclose(in_pieces, at_once, rtol=1e-8, atol=1e-12)
