"""Functions that somebody else wrote: constants, impure ones, wrong shapes, odd arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import steradian as sr
from steradian.spaces import Circle, Space, Sphere


@pytest.mark.parametrize("space", [Circle(), Sphere(), sr.Axes(3), sr.Torus(2)], ids=str)
@pytest.mark.parametrize("constant", [1.0, 1000.0])
def test_constants_are_no_features(space: Space, constant: float) -> None:
    def first(x: Any) -> Any:
        return np.column_stack([np.full(len(x), constant), x[:, :1] ** 2])

    found = sr.Custom(space, [first])
    assert found.dims == (1,)
    assert found.removed == ("column 0 of level 1",)


def test_a_level_of_constants_is_refused() -> None:
    with pytest.raises(sr.SteradianError, match="level 1 adds nothing"):
        sr.Custom(Sphere(), [lambda x: (x**2).sum(axis=1, keepdims=True), lambda x: x])


def test_functions_of_the_whole_sample_are_refused() -> None:
    impure = sr.Custom(Sphere(), [lambda x: x[:, 2:] - x[:, 2:].mean()])
    x = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(sr.SteradianError, match="does not keep its contract"):
        sr.profile(sr.Directions(x, normalize=True), hierarchy=impure)


@pytest.mark.parametrize("space", [3, "sphere", Sphere], ids=str)
def test_what_is_no_space(space: Any) -> None:
    with pytest.raises(sr.SteradianError, match="space is"):
        sr.Custom(space, [lambda x: x])
    with pytest.raises(sr.SteradianError, match="space is"):
        sr.Directions(np.eye(3), space=space)


def test_what_are_no_blocks() -> None:
    with pytest.raises(sr.SteradianError, match="a list of functions"):
        sr.Custom(Sphere(), lambda x: x)  # type: ignore[arg-type]
    with pytest.raises(sr.SteradianError, match="block of level 1"):
        sr.Custom(Sphere(), [lambda x: np.exp(1j * x[:, 2:])])


def test_functions_may_not_write_into_the_nodes() -> None:
    def careless(x: Any) -> Any:
        x[:, 2] -= 0.1
        return x[:, 2] ** 2

    with pytest.raises(sr.SteradianError, match="writes into its points; let it copy"):
        sr.Custom(sr.Axes(3), [careless])
    assert np.abs(np.linalg.norm(sr.Axes(3).rule(0).points, axis=1) - 1.0).max() < 1e-12


def test_fits_cannot_be_written_to() -> None:
    p = sr.profile(sr.Directions.from_angles([0.1, 0.5, 2.0, 4.0]), levels=1)
    with pytest.raises(ValueError, match="read-only"):
        p.fits[1].lam[:] = 0.0


def test_levels_cut_a_hierarchy() -> None:
    theta = np.random.default_rng(1).vonmises(0.0, 1.0, (80, 2))
    rows = sr.Directions.from_dihedrals(theta[:, 0], theta[:, 1])
    whole = sr.profile(rows, hierarchy=sr.Interactions(2, 1))
    cut = sr.profile(rows, hierarchy=sr.Interactions(2, 1), levels=1)
    assert cut.deficits.tolist() == whole.deficits[:1].tolist()
    with pytest.raises(sr.SteradianError, match="levels is 3"):
        sr.profile(rows, hierarchy=sr.Interactions(2, 1), levels=3)
    for name in ("resultant", "kappa"):
        with pytest.raises(sr.SteradianError, match=r"there is no one .* on the torus of 2 angles"):
            getattr(whole, name)


# --- units, kinks and jumps -------------------------------------------------------------------

SOME = sr.Directions(np.random.default_rng(4).normal(size=(150, 3)) + np.eye(3)[0], normalize=True)


@pytest.mark.parametrize("unit", [2.0**40, 3e7, 1e300, 1e-300, 1e308])
def test_the_unit_of_a_function_means_nothing(unit: float) -> None:
    def in_units(size: float) -> sr.Custom:
        squares = lambda x: np.column_stack([x[:, :2] ** 2, np.full(len(x), 3.0)]) / size  # noqa: E731
        return sr.Custom(sr.Sphere(), [lambda x: x * size, squares])

    plain, scaled = in_units(1.0), in_units(unit)
    assert scaled.dims == plain.dims == (3, 2)
    assert scaled.removed == plain.removed
    wanted = sr.profile(SOME, hierarchy=plain).deficits
    np.testing.assert_allclose(sr.profile(SOME, hierarchy=scaled).deficits, wanted, rtol=1e-12)


def test_functions_without_a_size_are_refused_as_before() -> None:
    for constant in (0.0, 3.0, 1e300):
        with pytest.raises(sr.InvalidArgument, match="level 1 adds nothing to what lies below"):
            sr.Custom(sr.Sphere(), [lambda x: np.full(len(x), constant)])  # noqa: B023
    for lost in (np.nan, np.inf):
        with pytest.raises(sr.InvalidArgument, match="level 1 gave values that are not finite"):
            sr.Custom(sr.Sphere(), [lambda x: np.full(len(x), lost)])  # noqa: B023


def test_kinks_and_jumps_are_refused_with_what_to_do() -> None:
    rows = sr.Directions.from_angles(np.random.default_rng(1).normal(size=100), degrees=False)
    remedy = (
        "where a function has a kink or a jump, which no rule of the circle resolves to 1e-9 nats, "
        "make it smooth: "
    )
    for rough in (lambda x: np.abs(x[:, 1]), lambda x: 1.0 * (x[:, 1] > 0.3)):
        with pytest.raises(sr.ResolutionError) as caught:
            sr.profile(rows, hierarchy=sr.Custom(sr.Circle(), [rough]))
        assert f"not of the data); {remedy}" in str(caught.value)
        assert "fewer levels" not in str(caught.value)
    jump = sr.Custom(sr.Circle(), [lambda x: x[:, :1], lambda x: 1.0 * (x[:, 1] > 0.3)])
    with pytest.raises(sr.ResolutionError) as caught:
        sr.profile(rows, hierarchy=jump)
    assert f"ask for fewer levels (levels=1 is sound), or {remedy}" in str(caught.value)


@pytest.mark.parametrize("space", [sr.Circle(), sr.Sphere(), sr.Torus(2)])
def test_what_the_refusal_offers_is_resolved(space: Any) -> None:
    rows = sr.Directions(space.uniform(60, np.random.default_rng(2)), space=space)
    for smooth in (lambda x: np.sqrt(x[:, 1] ** 2 + 0.04), lambda x: np.tanh(x[:, 1] / 0.2)):
        found = sr.profile(rows, hierarchy=sr.Custom(space, [smooth]))
        assert found.numerics.quadrature[0] <= 1e-9
