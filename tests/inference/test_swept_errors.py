"""Errors of very many rows in one pass: the same as row by row."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.inference import intervals
from steradian.inference.intervals import swept_errors as in_one_pass

ROWS = 12_000


@pytest.mark.parametrize(("design", "weighted"), [
    ("iid", False), ("fixed", True), ("importance", True),
])  # fmt: skip
def test_the_same_as_row_by_row(
    monkeypatch: pytest.MonkeyPatch, design: str, weighted: bool
) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(ROWS, 3)) * [1.0, 1.4, 0.9] + [0.0, 0.2, 1.0]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    weights = rng.gamma(2.0, size=ROWS) if weighted else None
    first = sr.profile(x, weights=weights, levels=3, design=design)
    assert in_one_pass(first.as_sample()) is not None
    found = first.intervals()
    monkeypatch.setattr(intervals, "MANY_ROWS", 1 << 60)
    expected = sr.profile(x, weights=weights, levels=3, design=design).intervals()
    for name in ("se", "low", "high", "debiased", "deficit_se", "deficit_low", "deficit_high"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-10,
                                   atol=1e-14)  # fmt: skip
    assert found.diagnostics == expected.diagnostics


def test_concentrated_laws_are_looked_at_row_by_row() -> None:
    x = np.array([0.0, 0.0, 1.0]) + 0.001 * np.random.default_rng(2).normal(size=(ROWS, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    assert in_one_pass(sr.profile(x, levels=1).as_sample()) is None


def test_units_of_several_rows_are_not_rows() -> None:
    x = np.random.default_rng(3).normal((0.0, 0.0, 1.0), 1.0, (ROWS, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    clusters = sr.designs.Clusters(np.arange(ROWS) // 4)
    assert in_one_pass(sr.profile(x, levels=1, design=clusters).as_sample()) is None
