"""The words of a comparison are as sure as its numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steradian as sr
from comparison_groups import vmf
from steradian.profile.comparison_text import verdict


@pytest.fixture(scope="module")
def found() -> sr.Comparison:
    rng = np.random.default_rng(4)
    return sr.compare({
        name: vmf(80, np.array([t, 0.0, 1.0]), 8.0, rng) for name, t in (("a", 0.0), ("b", 0.4))
    })  # fmt: skip


@pytest.mark.parametrize(
    ("pvalue", "words"),
    [
        (1e-4, "That not all have the same law is clear (p = 1e-4)."),
        (0.029, "That not all have the same law is likely (p = 0.029)."),
        (0.4, "That all have the same law is not ruled out (p = 0.4)."),
    ],
)
def test_one_law_is_judged_in_the_words_of_profiles(
    found: sr.Comparison, pvalue: float, words: str
) -> None:
    assert verdict(found, replace(found.tests(), overall=pvalue)).endswith(words)


def test_a_level_that_one_row_carries_is_not_clear(found: sr.Comparison) -> None:
    assert found.intervals().low[1] == 0.0
    sure = replace(found.tests(), pvalue=np.array([1e-6, 1e-6]), warnings=())
    assert "clearly in shape" in verdict(found, sure)
    words = "level 2: row 7 outweighs all others together; little is left to compare it with"
    assert "likely in shape" in verdict(found, replace(sure, warnings=(words,)))
