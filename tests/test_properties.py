"""What must hold for every sample: invariances, additivity, monotonicity."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oracles
import steradian as sr
from oracles import Array

CLOSE = 1e-10
SPECIAL = {  # poles, antipodes, the date line from both sides, a diagonal
    2: np.array([[1, 0], [-1, 0], [-1, -0.0], [0, 1], [0, -1], [0.6, -0.8]]),
    3: np.array(
        [[0, 0, 1], [0, 0, -1], [-1, 0, 0], [-1, -0.0, 0], [1, 0, 0], [0, -1, 0], [0.6, 0, -0.8]]
    ),
}
LEVELS = {2: 4, 3: 3}


def fixed(examples: int) -> settings:
    return settings(
        derandomize=True,
        deadline=None,
        max_examples=examples,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )


@st.composite
def samples(draw: st.DrawFn, dimensions: tuple[int, ...] = (2, 3)) -> Array:
    """Uniform points plus a cluster plus special points, some of them repeated."""
    d = draw(st.sampled_from(dimensions))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([0.3, 1.0, 3.0]))
    cluster = rng.standard_normal(d) + spread * rng.standard_normal((draw(st.integers(5, 40)), d))
    x = np.vstack([rng.standard_normal((20, d)), cluster])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    special = draw(st.lists(st.sampled_from(range(len(SPECIAL[d]))), max_size=6))
    return np.vstack([x, SPECIAL[d][special]])


def gaps(x: Array, weights: Array | None = None) -> Array:
    return sr.profile(x, weights=weights, levels=LEVELS[x.shape[1]]).gaps


def weights_for(x: Array, seed: int) -> Array:
    return np.random.default_rng(seed).exponential(size=len(x)) + 0.01


SEED = st.integers(0, 10_000)


@fixed(60)
@given(samples(), SEED)
def test_rotations_and_reflections_change_nothing(x: Array, seed: int) -> None:
    rng, w = np.random.default_rng(seed), weights_for(x, seed)
    turn = oracles.rotation(x.shape[1], rng)
    mirror = np.diag([-1.0] + [1.0] * (x.shape[1] - 1))
    still = gaps(x, w)
    np.testing.assert_allclose(gaps(x @ turn.T, w), still, atol=CLOSE)
    np.testing.assert_allclose(gaps(x @ mirror, w), still, atol=CLOSE)
    np.testing.assert_allclose(gaps(-x, w), still, atol=CLOSE)
    np.testing.assert_allclose(gaps(x @ turn.T @ mirror, w), still, atol=CLOSE)


@fixed(40)
@given(samples(), SEED)
def test_levels_are_about_spaces_not_about_bases(x: Array, seed: int) -> None:
    """Other features with the same spans, fitted by brute force, give the same deficits."""
    d, levels = x.shape[1], 2
    rng = np.random.default_rng(seed)
    q1, q2 = oracles.size(d, 1), oracles.size(d, levels)
    basis = rng.standard_normal((q2, q2)) + 3.0 * np.eye(q2)
    basis[q1:, :q1] = 0.0
    rule = oracles.circle_rule(512) if d == 2 else oracles.sphere_rule(48)
    expected = oracles.deficits(rule, oracles.sample_moments(x, levels), levels, basis)
    found = sr.profile(x, levels=levels)
    np.testing.assert_allclose(found.deficits, expected, atol=CLOSE)


def pooled(x: Array, w: Array, cuts: list[int], order: list[int]) -> sr.Moments:
    hierarchy = sr.Harmonics(x.shape[1], LEVELS[x.shape[1]])
    parts = [
        sr.Moments.from_directions(sr.Directions(rows, share), hierarchy)
        for rows, share in zip(np.split(x, cuts), np.split(w, cuts), strict=True)
        if len(rows)
    ]
    order = [k % len(parts) for k in order]
    queue = [parts[k] for k in dict.fromkeys([*order, *range(len(parts))])]
    total = queue[0]
    for part in queue[1:]:
        total = total + part
    return total


@fixed(80)
@given(samples(), SEED, st.lists(st.integers(1, 24), max_size=5), st.lists(SEED, max_size=5))
def test_moments_add_in_any_order(x: Array, seed: int, cuts: list[int], order: list[int]) -> None:
    w = weights_for(x, seed)
    whole, sum_of_parts = pooled(x, w, [], []), pooled(x, w, sorted(cuts), order)
    assert sum_of_parts.n == whole.n == len(x)
    for name in ("weight", "weight_sq", "total", "total_sq", "mean", "scatter"):
        np.testing.assert_allclose(
            getattr(sum_of_parts, name), getattr(whole, name), rtol=1e-12, atol=1e-12, err_msg=name
        )
    np.testing.assert_allclose(
        sr.profile(sum_of_parts).gaps,
        sr.profile(x, weights=w, levels=LEVELS[x.shape[1]]).gaps,
        atol=CLOSE,
    )


@fixed(20)
@given(samples(), samples(), SEED)
def test_sums_are_commutative_and_associative(x: Array, y: Array, seed: int) -> None:
    if x.shape[1] != y.shape[1]:
        y = x[::-1]
    h = sr.Harmonics(x.shape[1], 2)
    a, b, c = (
        sr.Moments.from_directions(sr.Directions(z, weights_for(z, seed)), h) for z in (x, y, x[:7])
    )
    np.testing.assert_allclose((a + b).scatter, (b + a).scatter, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(((a + b) + c).scatter, (a + (b + c)).scatter, atol=1e-12)
    np.testing.assert_allclose(((a + b) + c).total, (a + (b + c)).total, atol=1e-12)


@fixed(80)
@given(samples(), SEED)
def test_deficits_never_fall(x: Array, seed: int) -> None:
    found = sr.profile(x, weights=weights_for(x, seed), levels=LEVELS[x.shape[1]])
    assert (found.gaps >= -1e-12).all()
    assert found.deficits[0] >= -1e-12
    np.testing.assert_allclose(found.uncertainty, np.exp(-np.cumsum(found.gaps)), rtol=1e-12)


@fixed(50)
@given(samples(), SEED, st.floats(-12.0, 12.0))
def test_weights_have_no_scale(x: Array, seed: int, log_scale: float) -> None:
    w = weights_for(x, seed)
    scaled = w * 10.0**log_scale
    one, other = (sr.profile(x, weights=v, levels=2) for v in (w, scaled))
    np.testing.assert_allclose(one.gaps, other.gaps, atol=1e-12)
    assert one.ess == pytest.approx(other.ess, rel=1e-12)
    np.testing.assert_allclose(gaps(x, np.full(len(x), 7.0)), gaps(x), atol=1e-12)


@pytest.mark.parametrize("log_scale", [-95.0, 95.0])
def test_squares_of_squared_weights_stay_finite(log_scale: float) -> None:
    """A narrow cluster on the sphere: its sums of w² are squared to tell that it is narrow."""
    x = np.array([0.0, 0.6, 0.8]) + 0.01 * np.random.default_rng(0).standard_normal((50, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    w = weights_for(x, 1)
    plain, scaled = (sr.profile(x, weights=v, levels=2) for v in (w, w * 10.0**log_scale))
    stated = plain.numerics.moment_rounding + scaled.numerics.moment_rounding
    assert (
        np.abs(scaled.deficits - plain.deficits) <= stated + 64 * 2.0**-53 * plain.deficits
    ).all()


@fixed(50)
@given(samples(), SEED, st.integers(0, 19))
def test_a_repeated_row_is_a_doubled_weight(x: Array, seed: int, row: int) -> None:
    w = weights_for(x, seed)
    doubled = w.copy()
    doubled[row] *= 2.0
    repeated = gaps(np.vstack([x, x[row]]), np.append(w, w[row]))
    np.testing.assert_allclose(repeated, gaps(x, doubled), atol=CLOSE)


@fixed(50)
@given(samples(), SEED)
def test_order_of_rows_is_irrelevant(x: Array, seed: int) -> None:
    w, order = weights_for(x, seed), np.random.default_rng(seed).permutation(len(x))
    np.testing.assert_allclose(gaps(x[order], w[order]), gaps(x, w), atol=CLOSE)


@fixed(50)
@given(samples(), SEED)
def test_rows_without_weight_change_nothing(x: Array, seed: int) -> None:
    w = weights_for(x, seed)
    more = np.vstack([SPECIAL[x.shape[1]], x])
    padded = np.concatenate([np.zeros(len(SPECIAL[x.shape[1]])), w])
    one, other = sr.profile(x, weights=w, levels=2), sr.profile(more, weights=padded, levels=2)
    np.testing.assert_allclose(other.gaps, one.gaps, atol=1e-12)
    assert other.ess == pytest.approx(one.ess, rel=1e-12)


@fixed(50)
@given(samples(), SEED)
def test_counts_are_rows(x: Array, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 4, len(x))
    counts[:12] = 1
    one = sr.profile(sr.Directions(x, counts=counts), levels=2)
    other = sr.profile(np.repeat(x, counts, axis=0), levels=2)
    np.testing.assert_allclose(one.gaps, other.gaps, atol=1e-12)
    assert (one.n, one.ess) == (other.n, other.ess) == (counts.sum(), counts.sum())
    weighted = sr.profile(x, weights=counts, levels=2)
    np.testing.assert_allclose(weighted.gaps, other.gaps, atol=CLOSE)


@fixed(50)
@given(samples(), SEED)
def test_dictionaries_hold_moments_exactly(x: Array, seed: int) -> None:
    w = weights_for(x, seed)
    there = sr.Moments.from_directions(sr.Directions(x, w), sr.Harmonics(x.shape[1], 3))
    back = sr.Moments.from_dict(json.loads(json.dumps(there.to_dict())))
    assert back.hierarchy == there.hierarchy
    assert (back.n, back.weight, back.weight_sq) == (there.n, there.weight, there.weight_sq)
    for name in ("total", "total_sq", "mean", "scatter"):
        np.testing.assert_array_equal(getattr(back, name), getattr(there, name), strict=True)


@fixed(50)
@given(samples(), SEED)
def test_single_precision_is_read_as_the_directions_it_holds(x: Array, seed: int) -> None:
    rough, w = x.astype(np.float32), weights_for(x, seed)
    exact = rough.astype(np.float64)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    np.testing.assert_allclose(
        sr.profile(rough, weights=w, levels=2).gaps,
        sr.profile(exact, weights=w, levels=2).gaps,
        atol=CLOSE,
    )
    np.testing.assert_allclose(
        sr.profile(rough, weights=w, levels=2).gaps,
        sr.profile(x, weights=w, levels=2).gaps,
        atol=1e-4,
    )


@fixed(50)
@given(samples(), st.integers(1, 3))
def test_levels_do_not_depend_on_how_many_are_asked(x: Array, levels: int) -> None:
    few, many = sr.profile(x, levels=levels), sr.profile(x, levels=LEVELS[x.shape[1]])
    np.testing.assert_allclose(few.deficits, many.deficits[:levels], atol=1e-12)


@fixed(50)
@given(samples(), SEED)
def test_the_fit_has_the_moments_of_the_data(x: Array, seed: int) -> None:
    """E_p φ by an independent rule equals the sample's mean, at every level."""
    w = weights_for(x, seed)
    found = sr.profile(x, weights=w, levels=2)
    rule = oracles.circle_rule(512) if x.shape[1] == 2 else oracles.sphere_rule(48)
    target = oracles.sample_moments(x, 2, w)
    for level in (1, 2):
        q = oracles.size(x.shape[1], level)
        law = rule.weights * found.fits[level].pdf(rule.points.astype(float))
        np.testing.assert_allclose(law @ rule.harmonics(2)[:, :q], target[:q], atol=1e-9)
