"""Torus, axes and rotations: points, rules, symmetries, and rotations in other people's forms."""

from __future__ import annotations

import itertools
import re

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import steradian as sr
from steradian.numerics.arrays import AnyArray
from steradian.numerics.spheres.harmonics import circle_harmonics, sphere_harmonics
from steradian.numerics.spheres.three_sphere import three_sphere_harmonics, three_sphere_size
from steradian.spaces import Space
from steradian.spaces.axes import signless
from steradian.spaces.rotations import as_quaternions, quaternions_from_matrices

SPACES = [
    *(sr.Torus(k) for k in (1, 2, 3, 4, 6)),
    *(sr.Axes(d) for d in (2, 3, 4, 7)),
    sr.Rotations(),
]
EACH = pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)


@EACH
def test_points_and_symmetries(space: Space) -> None:
    rng = np.random.default_rng(1)
    x = space.uniform(50, rng)
    assert x.shape == (50, space.d)
    assert space.refusal(x) == ""
    turn = space.symmetry(rng)
    np.testing.assert_allclose(turn @ turn.T, np.eye(space.d), atol=1e-14)
    assert space.refusal(x @ turn.T) == ""
    x[3] *= 1.1
    assert re.match(r"row 3 has norm 1\.1\b", str(space.refusal(x)))
    assert space.centre(x, np.full(50, 0.02)).shape == (space.d,)


@EACH
def test_spaces_are_values(space: Space) -> None:
    again = type(space)(*(getattr(space, name) for name in type(space).__dataclass_fields__))  # type: ignore[attr-defined]
    assert space == again
    assert hash(space) == hash(again)


@EACH
def test_rules_have_mass_one_and_grow(space: Space) -> None:
    sizes = []
    for rung in range(min(space.rules(), 5)):
        rule = space.rule(rung)
        assert rule.weights.sum() == pytest.approx(1.0, abs=1e-13)
        assert space.refusal(rule.points) == ""
        sizes.append(len(rule.weights))
    assert sizes == sorted(set(sizes))


def test_areas() -> None:
    assert sr.Torus(3).log_area == pytest.approx(3 * np.log(2 * np.pi))
    assert sr.Axes(3).log_area == pytest.approx(np.log(2 * np.pi))
    assert sr.Rotations().log_area == pytest.approx(np.log(np.pi**2))


def test_more_than_four_angles_or_dimensions_have_no_rules() -> None:
    assert sr.Torus(5).rules() == sr.Axes(5).rules() == 0


@pytest.mark.parametrize("degree", range(9))
def test_three_sphere_harmonics_are_orthonormal_and_harmonic(degree: int) -> None:
    rule = sr.Axes(4).rule(1)  # exact for even degrees below 24; odd times odd is even
    phi = three_sphere_harmonics(rule.points, degree)
    assert phi.shape[1] == three_sphere_size(degree)
    gram = (rule.weights[:, None] * phi).T @ phi
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-13)
    # addition theorem: Σ φ(x) φ(y) = (n + 1) U_n(x·y)
    x = sr.Axes(4).uniform(20, np.random.default_rng(degree))
    x[:8] = np.vstack([np.eye(4), -np.eye(4)])
    kernel = three_sphere_harmonics(x, degree) @ three_sphere_harmonics(x, degree).T
    cosine = np.clip(x @ x.T, -1.0, 1.0)
    expected = [[float(mpmath.chebyu(degree, c)) for c in row] for row in cosine]
    np.testing.assert_allclose(kernel, (degree + 1) * np.array(expected), atol=1e-10)


@pytest.mark.parametrize("rung", range(4))
def test_rules_of_axes_integrate_even_monomials(rung: int) -> None:
    for d, degree in ((2, 16), (3, 16), (4, 14)):
        rule = sr.Axes(d).rule(rung)
        for powers in itertools.combinations_with_replacement(range(d), degree):
            exponent = np.bincount(powers, minlength=d)
            value = rule.weights @ np.prod(rule.points**exponent, axis=1)
            np.testing.assert_allclose(value, _monomial(exponent, d), atol=1e-15)


def _monomial(exponent: AnyArray, d: int) -> float:
    """E Π x_i^{e_i} on the sphere: zero, or Γ(d/2) Π Γ((e_i + 1)/2) / (π^{d/2} Γ((d + Σe)/2))."""
    if (exponent % 2).any():
        return 0.0
    with mpmath.workdps(20):
        half = mpmath.mpf(d) / 2
        top = mpmath.gamma(half) * mpmath.fprod(
            mpmath.gamma((int(e) + 1) / mpmath.mpf(2)) for e in exponent
        )
        return float(
            top / (mpmath.pi**half * mpmath.gamma(half + int(exponent.sum()) / mpmath.mpf(2)))
        )


def test_rules_of_axes_hold_one_node_of_each_axis() -> None:
    for d in (2, 3, 4):
        points = sr.Axes(d).rule(0).points
        nearest = np.abs(points @ points.T) - np.eye(len(points))
        assert nearest.max() < 1.0 - 1e-6


def test_signs_are_taken_away() -> None:
    x = sr.Axes(3).uniform(100, np.random.default_rng(0))
    x[:3] = -np.eye(3)
    x[3] = 0.6, -0.8, -0.0
    one, other = signless(x), signless(-x)
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(np.abs(one), np.abs(x))


def test_angles_and_points_of_a_torus() -> None:
    torus = sr.Torus(3)
    angles = np.random.default_rng(0).uniform(-3, 3, (20, 3))
    np.testing.assert_allclose(torus.angles(torus.points(angles)), angles, atol=1e-15)
    with pytest.raises(sr.InvalidArgument, match="k is 0; give 1 or more"):
        sr.Torus(0)


def test_rotations_of_scipy_and_matrices() -> None:
    turns = Rotation.random(200, random_state=1)
    ours = quaternions_from_matrices(turns.as_matrix())
    theirs = as_quaternions(turns)
    np.testing.assert_allclose(np.abs((ours * theirs).sum(axis=1)), 1.0, atol=1e-15)
    halves = Rotation.from_rotvec(np.pi * np.vstack([np.eye(3), -np.eye(3)]))
    np.testing.assert_allclose(
        np.abs((as_quaternions(halves.as_matrix()) * halves.as_quat()).sum(axis=1)), 1.0, atol=1e-15
    )
    np.testing.assert_array_equal(as_quaternions(theirs), theirs)
    assert as_quaternions(turns[0]).shape == (1, 4)


def test_what_is_no_rotation_is_refused() -> None:
    mirror = np.diag([1.0, 1.0, -1.0])
    with pytest.raises(sr.InvalidDirections, match=r"matrix 1 is no rotation.*is a reflection"):
        as_quaternions(np.stack([np.eye(3), mirror]))
    with pytest.raises(sr.InvalidDirections, match=r"matrix 0 .* misses it by 3"):
        as_quaternions(2.0 * np.eye(3)[None])
    with pytest.raises(sr.InvalidDirections, match=r"shape \(2, 5\); give matrices"):
        as_quaternions(np.zeros((2, 5)))


def test_even_harmonics_are_orthonormal_under_rules_of_axes() -> None:
    for d, harmonics in ((2, circle_harmonics), (3, sphere_harmonics)):
        rule = sr.Axes(d).rule(1)
        phi = harmonics(rule.points, 8)
        even = np.isclose(harmonics(-rule.points, 8), phi).all(axis=0)
        gram = (rule.weights[:, None] * phi[:, even]).T @ phi[:, even]
        np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-13)
