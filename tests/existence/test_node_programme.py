"""Existence from features at a support and at nodes: where the answer is known otherwise."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.existence.placement import Verdict
from steradian.existence.vanishing import Vanishing, examine_on_nodes
from steradian.numerics.arrays import Array


def circle(angles: Array) -> Array:
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def vanishing(at_support: Array) -> Vanishing:
    return Vanishing.on(np.column_stack([np.ones(len(at_support)), at_support]))


@pytest.mark.parametrize(("count", "level"), [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (5, 3)])
def test_on_the_circle_a_level_needs_one_point_more(count: int, level: int) -> None:
    """Nodes hold the points, so that no function dips between them unseen."""
    features = sr.Harmonics(2, level).features
    nodes = circle(np.linspace(0.0, 2.0 * np.pi, 360, endpoint=False))
    support = nodes[np.array([0, 60, 150, 210, 300])[:count]]
    placement = examine_on_nodes(vanishing(features(support)), features(nodes), count)
    wanted = Verdict.TOUCHING if count <= level else Verdict.INSIDE
    assert placement.verdict is wanted


def test_words_say_how_far_the_nodes_tell() -> None:
    features = sr.Harmonics(3, 2).features
    rule = sr.Harmonics(3, 2).space.rule(2)
    ring = np.column_stack([circle(np.arange(12.0)), np.zeros(12)])
    placement = examine_on_nodes(vanishing(features(ring)), features(rule.points), 12)
    assert placement.verdict is Verdict.TOUCHING
    assert "vanishes on all 12 points" in placement.words
    assert f"none of {len(rule.points)} nodes" in placement.words
