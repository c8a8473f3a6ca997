"""What structured features leave out: against the paper's inequality, and refusals in words."""

from __future__ import annotations

import json

import numpy as np
import pytest

import steradian as sr
from steradian.hierarchies.basis import holds, level_that_holds


def rows(d: int, n: int = 400) -> sr.Directions:
    """The first half of the coordinates correlated, the others not."""
    rng = np.random.default_rng(d)
    z = rng.normal(size=(n, d)) * np.linspace(1.0, 2.0, d)
    half = d // 2
    z[:, :half] = z[:, :half] @ (np.eye(half) + 0.7)
    return sr.Directions(z, normalize=True)


def test_squares_blocks_and_everything() -> None:
    data = rows(8)
    full = sr.profile(data, levels=2)
    squares = sr.profile(data, hierarchy=sr.Diagonal(8)).left_out(full)
    blocks = sr.profile(data, hierarchy=sr.Blocks([4, 4])).left_out(full)
    assert squares.within.tolist() == blocks.within.tolist() == [1, 2]
    assert squares.common == 1
    np.testing.assert_allclose(squares.nats[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(squares.full_deficits, full.deficits)
    assert 0.0 < blocks.nats[1] < 0.1 * squares.nats[1]
    np.testing.assert_allclose(squares.of[1], full.gaps[1], rtol=1e-12)
    np.testing.assert_allclose(squares.share[1], squares.nats[1] / full.gaps[1], rtol=1e-12)
    chain = sr.Quadratics(8, [range(8), [0] * 4 + [1] * 4, [0] * 8])
    gaps = sr.profile(data, hierarchy=chain).gaps
    np.testing.assert_allclose(squares.nats[1], gaps[2] + gaps[3], atol=1e-10)
    np.testing.assert_allclose(blocks.nats[1], gaps[3], atol=1e-10)
    said = squares.diagnostics[0]
    assert said.code == "left_out_share_beyond"
    assert said.data["nats"] == squares.nats[-1]
    assert len(squares.unseen) == 1


def test_independent_blocks_leave_out_what_noise_gives() -> None:
    found = sr.profile(rows(8, 4000), hierarchy=sr.Blocks([4, 4])).left_out(sr.Harmonics(8, 2))
    assert found.noise[1] == pytest.approx(16 / 8000, rel=0.05)
    assert found.nats[1] < 3.0 * found.noise[1]


def test_a_hierarchy_or_its_profile() -> None:
    data = rows(3)
    zonal = sr.profile(data, hierarchy=sr.Zonal([0.0, 0.0, 1.0], 3))
    full = sr.profile(data, levels=3)
    one, other = zonal.left_out(full), zonal.left_out(sr.Harmonics(3, 3))
    np.testing.assert_allclose(one.nats, other.nats)
    assert one.within.tolist() == [1, 2, 3]
    assert (one.nats > 0.0).all()
    assert one.common == 0
    assert json.loads(json.dumps(one.to_dict()))["nats"] == one.nats.tolist()
    assert max(map(len, str(one).splitlines())) <= 100


def test_nothing_is_left_out_of_itself() -> None:
    p = sr.profile(sr.examples.load("turtles"), levels=3)
    found = p.left_out(p)
    assert found.nats.tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(found.share[-1])


def test_which_features_are_among_which() -> None:
    assert holds(sr.Harmonics(5, 2), sr.Diagonal(5))
    assert not holds(sr.Diagonal(5), sr.Harmonics(5, 2))
    assert holds(sr.Quadratics(5, [[0] * 5]), sr.Harmonics(5, 2))
    assert holds(sr.Harmonics(300, 2), sr.Diagonal(300))  # without a matrix of 45,449 features
    assert level_that_holds(sr.Harmonics(3, 4), sr.Zonal([1.0, 2.0, 0.0], 3)) == 3
    assert level_that_holds(sr.Harmonics(3, 2), sr.Zonal([1.0, 2.0, 0.0], 3)) == 0
    assert level_that_holds(sr.TorusHarmonics(2, 2), sr.Interactions(2, 1)) == 2


def test_refusals() -> None:
    data = rows(4)
    p = sr.profile(data, hierarchy=sr.Diagonal(4))
    with pytest.raises(sr.InvalidArgument, match=r"level 3 of Zonal.* has features that"):
        sr.profile(data, hierarchy=sr.Zonal([1, 0, 0, 0], 3)).left_out(sr.Harmonics(4, 2))
    with pytest.raises(sr.InvalidArgument, match="not of the same data"):
        p.left_out(sr.profile(rows(4, 300), levels=2))
    with pytest.raises(sr.InvalidArgument, match="one profile is on the"):
        p.left_out(sr.profile(rows(5), levels=2))
    with pytest.raises(sr.InvalidArgument, match="give a hierarchy or a profile"):
        p.left_out("everything")  # type: ignore[arg-type]
    with pytest.raises(sr.DesignError, match="made from moments"):
        sr.profile(p.moments).left_out(sr.Harmonics(4, 2))
