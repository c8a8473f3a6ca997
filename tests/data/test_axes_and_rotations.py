"""Axes, rotations and several angles: how they come in, and that their sign means nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import steradian as sr
from named_rows import without_count
from steradian.numerics.arrays import Array

RNG = np.random.default_rng(5)
AXES = RNG.normal(size=(80, 3)) * [1.0, 1.5, 2.5]
AXES /= np.linalg.norm(AXES, axis=1, keepdims=True)
SIGNS = RNG.choice([-1.0, 1.0], (80, 1))
TURNS = Rotation.from_rotvec(RNG.normal(0.0, 0.6, (70, 3)))


NO_TURN = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]])


def refusal(make: Callable[[], object]) -> str:
    with pytest.raises(sr.SteradianError) as caught:
        make()
    return without_count(str(caught.value))


def same(one: sr.results.Profile, other: sr.results.Profile) -> None:
    """Bit for bit: all that is computed."""
    first, second = one.to_dict(), other.to_dict()
    for record in (first, second):
        record["numerics"].pop("elapsed")
    assert first == second
    assert str(one.tests()) == str(other.tests())
    assert str(one.intervals()) == str(other.intervals())
    assert str(one.residuals()) == str(other.residuals())


def test_flipped_axes_give_the_same_profile_bit_for_bit() -> None:
    axes = sr.Directions(AXES, axial=True)
    assert axes.space == sr.Axes(3)
    same(sr.profile(axes), sr.profile(sr.Directions(AXES * SIGNS, axial=True)))
    same(sr.profile(axes), sr.profile(sr.Directions(AXES, space=sr.Axes(3))))


def test_flipped_quaternions_give_the_same_profile_bit_for_bit() -> None:
    q = TURNS.as_quat()
    flipped = q * RNG.choice([-1.0, 1.0], (len(q), 1))
    one, other = (sr.Directions.from_quaternions(each) for each in (q, flipped))
    same(sr.profile(one, levels=1), sr.profile(other, levels=1))


def test_an_axis_and_its_opposite_are_one_point_of_the_support() -> None:
    both = np.vstack([AXES[:4], -AXES[:4]])
    x, weights = sr.Directions(both, axial=True).support()
    assert len(x) == 4
    np.testing.assert_allclose(weights, 0.25)


@pytest.mark.parametrize("make", [
    lambda **a: sr.Directions.from_angles([10.0, 100.0, 190.0], degrees=True, **a),
    lambda **a: sr.Directions.from_lonlat([10.0, 100.0, 190.0], [5.0, -60.0, -5.0], **a),
    lambda **a: sr.Directions(np.array([[0.6, 0.8], [-0.8, 0.6], [-0.6, -0.8]]), **a),
])  # fmt: skip
def test_axial_in_every_constructor(make: Callable[..., sr.Directions]) -> None:
    directions, axes = make(), make(axial=True)
    assert axes.space == sr.Axes(directions.d)
    np.testing.assert_allclose(np.abs((axes.x * directions.x).sum(axis=1)), 1.0)
    np.testing.assert_allclose(axes.x[0], axes.x[2], atol=1e-15)
    assert make(axial=True, counts=[1, 2, 0]).n == 3
    assert make(axial=True, weights=[1, 2, 0]).weighted


def test_single_precision_axes_are_brought_to_unit_norm() -> None:
    axes = sr.Directions(AXES.astype(np.float32), axial=True)
    np.testing.assert_allclose(np.linalg.norm(axes.x, axis=1), 1.0, atol=1e-15)
    np.testing.assert_array_equal(axes.take(np.arange(5)).x, axes.x[:5])


def test_words_about_axes() -> None:
    assert refusal(lambda: sr.Directions(AXES, axial=1)) == "axial is 1; give True or False"  # type: ignore[arg-type]
    words = refusal(lambda: sr.Directions(AXES, axial=True, space=sr.Torus(1)))
    assert words.endswith("and space is the torus of 1 angle; give one of them")
    axes = sr.Directions(AXES, axial=True)
    words = refusal(lambda: sr.profile(axes, hierarchy=sr.Harmonics(3, 2)))
    assert words.startswith("the sign of a row means nothing on the axes of R^3")
    words = refusal(lambda: sr.profile(axes, hierarchy=sr.Custom(sr.Axes(3), [lambda x: x])))
    assert "The sign of a row means nothing on the axes of R^3, and they tell x from -x" in words
    assert repr(axes) == "Directions(n=80, d=3, equal weights, axes of R^3)"


def test_axes_within_their_span() -> None:
    flat = sr.Directions(
        np.column_stack([AXES[:, :2], 0.0 * AXES[:, 2]]), normalize=True, axial=True
    )
    inside = flat.within_span()
    assert inside.space == sr.Axes(2)
    same_angles = np.abs(inside.x @ inside.x.T) - np.abs(flat.x @ flat.x.T)
    np.testing.assert_allclose(same_angles, 0.0, atol=1e-14)


@pytest.mark.parametrize("data", [
    sr.Directions(AXES, axial=True), sr.Directions.from_rotations(TURNS),
])  # fmt: skip
def test_no_mean_direction_of_axes_and_rotations(data: sr.Directions) -> None:
    p = sr.profile(data, levels=1)
    record = p.to_dict()
    keys = ("mean_direction", "resultant_length", "vmf_kappa")
    assert [record[key] for key in keys] == [None, None, None]
    for text in (str(p), str(p.trust()), str(p.residuals(2))):
        assert "mean direction" not in text
        assert "resultant" not in text
        assert "kappa" not in text
        assert "R =" not in text
        assert "through degree" not in text
        assert "at degree" not in text


# --- rotations ----------------------------------------------------------------------------


def test_rotations_come_in_every_form() -> None:
    forms = [
        sr.Directions.from_rotations(TURNS),
        sr.Directions.from_rotations(TURNS.as_matrix()),
        sr.Directions.from_quaternions(3.0 * TURNS.as_quat(), normalize=True),
        sr.Directions(TURNS, space=sr.Rotations()),
        sr.Directions(TURNS.as_matrix(), space=sr.Rotations()),
        sr.Directions(TURNS.as_quat(), space=sr.Rotations()),
    ]
    for one in forms:
        assert one.space == sr.Rotations()
        np.testing.assert_allclose(one.x, forms[0].x, atol=1e-14)
    again = Rotation.from_quat(forms[1].x)
    np.testing.assert_allclose((again * TURNS.inv()).magnitude(), 0.0, atol=1e-14)


def test_what_is_no_rotation() -> None:
    mirror = np.stack([np.eye(3), np.diag([1.0, 1.0, -1.0])])
    assert refusal(lambda: sr.Directions.from_rotations(mirror)) == (
        "matrix 1 is no rotation: R Rᵀ must be the identity and det R = 1, and it is a "
        "reflection; turn the sign of one axis of its frame, or drop it"
    )
    assert refusal(lambda: sr.Directions.from_rotations(1.1 * np.eye(3)[None])) == (
        "matrix 0 is no rotation: R Rᵀ must be the identity and det R = 1, and it misses it by "
        "0.21; fix or drop it"
    )
    words = refusal(lambda: sr.Directions.from_rotations("abc"))
    assert words.startswith("rotations are a str that does not turn into an array of numbers")
    words = refusal(lambda: sr.Directions.from_quaternions([[0, 0, 0, 2.0]]))
    assert words.startswith("row 0 has norm 2")
    words = refusal(lambda: sr.Directions.from_quaternions([[1.0, 0, 0]]))
    assert words == "x has 3 columns; a rotation has 4 (space: rotations)"
    for normalize in (False, True):
        words = refusal(lambda: sr.Directions.from_quaternions(NO_TURN, normalize=normalize))  # noqa: B023
        assert words.startswith("row 1 is the zero vector, which is no rotation; drop it")
        words = refusal(lambda: sr.Directions(NO_TURN, axial=True, normalize=normalize))  # noqa: B023
        assert words.startswith("row 1 is the zero vector, which is no axis; drop it")
    words = refusal(lambda: sr.Directions(NO_TURN[::-1] * 2.0, axial=True))
    assert words.startswith("row 0 is the zero vector")
    words = refusal(lambda: sr.Directions(NO_TURN * 2.0, axial=True))  # the first that is wrong
    assert words.startswith("row 0 has norm 2; pass normalize=True")


def test_complex_and_masked_rotations_are_refused_as_everywhere() -> None:
    turn = np.eye(3)[None]
    for made in (
        lambda: sr.Directions.from_rotations(turn * (1.0 + 5.0j)),
        lambda: sr.Directions(turn + 0.0j, space=sr.Rotations()),
        lambda: sr.Directions.from_quaternions(np.array([[0, 0, 0, 1j]])),
    ):
        assert "has type complex128; give real numbers" in refusal(made)
    masked = np.ma.masked_array(turn, mask=turn == 0.0)
    assert "rotations has masked entries" in refusal(lambda: sr.Directions.from_rotations(masked))


# --- several angles -----------------------------------------------------------------------


def test_dihedrals() -> None:
    angles: Array = RNG.uniform(-180.0, 180.0, (9, 3))
    torus = sr.Torus(3)
    one = sr.Directions.from_dihedrals(*angles.T, degrees=True)
    assert one.space == torus
    np.testing.assert_allclose(one.x, torus.points(angles, degrees=True), atol=1e-15)
    whole = sr.Directions.from_dihedrals(np.radians(angles))
    np.testing.assert_allclose(whole.x, one.x, atol=1e-15)
    assert sr.Directions.from_dihedrals([1.0, 2.0], [0.0, 1.0], counts=[3, 1]).n == 4


def test_words_about_dihedrals() -> None:
    assert refusal(sr.Directions.from_dihedrals) == (
        "no angles; give one column for each, or an array (n, k)"
    )
    assert refusal(lambda: sr.Directions.from_dihedrals([1.0, 2.0], [1.0])) == (
        "the angles have 2, 1 rows; give one of each per row"
    )
    assert refusal(lambda: sr.Directions.from_dihedrals([1.0], [np.nan])) == (
        "angle 2 in row 0 is nan; drop or repair that row"
    )
    x = sr.Torus(2).points([[0.0, 1.0]])
    words = refusal(lambda: sr.Directions(2.0 * x, normalize=True, space=sr.Torus(2)))
    assert words.startswith("normalize=True is for unit vectors, and a point of the torus")


def test_an_array_for_a_hierarchy_of_another_space_is_told_how_it_is_given() -> None:
    angles, pairs = RNG.uniform(0.0, 6.0, (40, 2)), sr.Interactions(2, 1)
    x = np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(40, 4)
    calls: tuple[Callable[..., object], ...] = (sr.profile, sr.boundary)
    for call in calls:
        words = refusal(partial(call, x, hierarchy=pairs))
        assert "these lie on the torus" in words
        assert words.endswith("pass sr.Directions(x, space=hierarchy.space)")
        scaled = refusal(partial(call, 2.0 * x, hierarchy=pairs))
        assert "pass sr.Directions(x, normalize=True)" in scaled
