"""White features against brute-force quadrature, whoever makes them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import oracles
import steradian as sr
from oracles import Array
from steradian.families.quadratics.polar_whitening import polar_moments, polar_whitening
from steradian.inference.null_samples import sound_whitening

RULES = {2: oracles.circle_rule(512), 3: oracles.sphere_rule(40)}


def laws(d: int, level: int) -> tuple[Array, Array]:
    """Two reduced fits (2, q) of the level below, and their masses at the nodes (2, N)."""
    h = sr.Harmonics(d, level)
    rng = np.random.default_rng([d, level])
    below = rng.normal(0.0, 0.3, (2, h.q(level - 1)))
    nodes, weights = (np.asarray(v, dtype=float) for v in (RULES[d].points, RULES[d].weights))
    log = below @ h.features(nodes).T[: below.shape[1]]
    mass = weights * np.exp(log)
    return below, mass / mass.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_unit_covariance_under_the_reduced_fit(d: int, level: int) -> None:
    below, mass = laws(d, level)
    family = sr.Harmonics(d, level).family(level)
    assert family.forms_matrices
    white = family.whitening(below)
    assert white.sound.all()
    assert (white.below, white.below + white.q) == (below.shape[1], family.q)
    nodes = np.asarray(RULES[d].points, dtype=float)
    zeta = white.rows(np.broadcast_to(nodes, (2, *nodes.shape)))
    mean = np.einsum("bn,bnp->bp", mass, zeta)
    second = np.einsum("bn,bnp,bnq->bpq", mass, zeta, zeta)
    np.testing.assert_allclose(mean, 0.0, atol=1e-10)
    np.testing.assert_allclose(second, np.broadcast_to(np.eye(family.q), second.shape), atol=1e-10)


@pytest.mark.parametrize(("d", "level"), [(2, 1), (2, 3), (3, 2), (3, 3), (5, 1), (5, 2)])
def test_the_score_needs_only_moments(d: int, level: int) -> None:
    h = sr.Harmonics(d, level)
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 90, d)) + 0.2
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    w = rng.gamma(2.0, size=(2, 90))
    w /= w.sum(axis=1, keepdims=True)
    white = h.family(level).whitening(rng.normal(0.0, 0.2, (2, h.q(level - 1))))
    added = np.einsum("bn,bnp->bp", w, white.rows(x))[:, white.below :]
    np.testing.assert_allclose(white.score(h.stack(x, w)), (added**2).sum(axis=1), rtol=1e-10)


def test_level_two_of_high_dimension_forms_nothing() -> None:
    family = sr.Harmonics(40, 2).family(2)
    assert not family.forms_matrices
    assert family.whitening(np.zeros((1, 40))).formed is None
    x = np.eye(40)[None]
    np.testing.assert_array_equal(
        family.whitening(np.zeros((1, 0))).rows(x)[0], sr.Harmonics(40, 2).features(x[0])
    )


def test_collinear_features_are_not_sound() -> None:
    below = np.array([[0.0, 0.0, 0.5], [0.0, 0.0, 1e7]])
    white = sr.Harmonics(3, 2).family(2).whitening(below)
    assert white.sound.tolist() == [True, False]


@pytest.mark.parametrize("d", [2, 3])
def test_laws_of_any_sharpness_side_by_side(d: int) -> None:
    """Each is integrated where it is resolved, whoever stands beside it."""
    family = sr.Harmonics(d, 3).family(3)
    lam = np.zeros((4, family.q))
    lam[:, 0] = [0.1, 400.0, 5.0, 6e3]
    together = family.log_partition(lam)
    for row in range(len(lam)):
        for stack, one in zip(together, family.log_partition(lam[row : row + 1]), strict=True):
            np.testing.assert_allclose(stack[row], one[0], rtol=1e-9, atol=1e-11)


def test_who_is_refused_is_told() -> None:
    """The sharpest laws of the circle have no grid; the others keep their white features."""
    h = sr.Harmonics(2, 3)
    below = np.zeros((5, h.q(2)))
    below[:, 0] = [1.0, 1e13, 30.0, 1e14, 0.0]
    with pytest.raises(sr.ResolutionError) as refused:
        h.family(3).whitening(below)
    assert refused.value.rows is not None
    np.testing.assert_array_equal(refused.value.rows, [1, 3])
    known = sound_whitening(h.family(3), below)
    assert known is not None
    white, sound = known
    np.testing.assert_array_equal(sound, [True, False, True, False, True])
    assert white.sound.all()


def test_a_law_that_is_a_point_to_rounding_has_no_white_features() -> None:
    eta = np.zeros((3, 7))
    eta[:, 2] = [4.0, 1e6, 5e18]
    white = polar_whitening(7, eta / np.sqrt(7.0))
    assert white.sound.tolist() == [True, True, False]
    point = np.eye(7)[2]
    score = white.score_of(np.tile(point, (3, 1)), np.tile(np.outer(point, point), (3, 1, 1)))
    assert np.isfinite(score[:2]).all()
    assert score[2] == np.inf


@pytest.mark.parametrize(("d", "kappa"), [(4, 0.5), (4, 1e6), (12, 1e4), (12, 1e6)])
def test_variances_of_sharp_laws_keep_their_digits(d: int, kappa: float) -> None:
    """Of t² beyond t and of t y beyond y, against integrals over u = κ (1 - t) in 30 digits."""
    with mpmath.workdps(30):
        k = mpmath.mpf(kappa)
        ends = [j * min(2 * k, 80 + 10 * d) / 4 for j in range(5)]

        def mean(power: int, across: int) -> mpmath.mpf:
            half = mpmath.mpf(d - 3) / 2 + across
            return mpmath.quad(
                lambda u: mpmath.exp(-u) * (u * (2 - u / k)) ** half * u**power, ends
            )

        mass = mean(0, 0)
        e = [mean(power, 0) / mass for power in range(5)]
        slope = (e[3] - e[1] * e[2]) / (e[2] - e[1] ** 2)
        var_0 = (e[4] - e[2] ** 2 - slope * (e[3] - e[1] * e[2])) / k**4
        a = [mean(power, 1) / mass for power in range(3)]
        var_1 = (a[2] - a[1] ** 2 / a[0]) / k**3 / (d - 1)
        slope = 2 - slope / k
    found = polar_moments(d, np.array([kappa]))[0]
    assert found[4] == pytest.approx(float(var_0), rel=1e-8, abs=0.0)
    assert found[7] == pytest.approx(float(var_1), rel=1e-8, abs=0.0)
    assert found[3] == pytest.approx(float(slope), rel=1e-12, abs=0.0)
