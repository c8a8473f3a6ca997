"""Every hierarchy on nodes: orthonormal, nested, symmetric, additive, and read again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import steradian as sr
from steradian.families.nodes.family import NodeFamily
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.hierarchies import Hierarchy, hierarchy_from_dict
from steradian.numerics.arrays import Array
from steradian.numerics.spheres.harmonics import circle_harmonics, sphere_harmonics
from steradian.spaces import Circle, Hypersphere, Sphere


def linear(x: Array) -> Array:
    return x


def quadratic(x: Array) -> Array:
    return (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)


HIERARCHIES: list[Hierarchy] = [
    sr.Axial(2, 3),
    sr.Axial(3, 3),
    sr.Axial(4, 3),
    sr.Axial.on(sr.Rotations(), 2),
    sr.Interactions(1, 3),
    sr.Interactions(2, 3),
    sr.Interactions(3, 1),
    sr.Interactions(4, 1, 2),
    sr.TorusHarmonics(1, 4),
    sr.TorusHarmonics(2, 3),
    sr.TorusHarmonics(3, 2),
    sr.Custom(Sphere(), [linear, quadratic]),
    sr.Custom(sr.Torus(2), [np.exp, lambda x: np.exp(x[:, :1] * x[:, 2:])]),
]
EACH = pytest.mark.parametrize("hierarchy", HIERARCHIES, ids=repr)


def fits(hierarchy: Hierarchy, x: Array, weights: Array | None = None) -> NestedFits:
    w = np.full(len(x), 1.0 / len(x)) if weights is None else weights
    return fit_levels(hierarchy, hierarchy.stack(x[None], w[None]), lambda _: (x, w))


def spread_points(hierarchy: Hierarchy, n: int = 60, seed: int = 1) -> Array:
    """Points that are neither uniform nor close to anything."""
    rng = np.random.default_rng(seed)
    x = hierarchy.space.uniform(4 * n, rng)
    height = hierarchy.features(x)[:, : hierarchy.dims[0]] @ np.linspace(
        0.1, 0.5, hierarchy.dims[0]
    )
    keep = np.argsort(height + rng.gumbel(size=len(x)))[-n:]
    return x[keep]


@EACH
def test_features_are_orthonormal_and_centred(hierarchy: Hierarchy) -> None:
    rule = hierarchy.space.rule(min(3, hierarchy.space.rules() - 1))
    phi = hierarchy.features(rule.points)
    assert phi.shape[1] == hierarchy.q(hierarchy.levels) == sum(hierarchy.dims) == hierarchy.held
    np.testing.assert_allclose(rule.weights @ phi, 0.0, atol=1e-12)
    np.testing.assert_allclose(
        (rule.weights[:, None] * phi).T @ phi, np.eye(phi.shape[1]), atol=1e-12
    )


@EACH
def test_levels_are_nested(hierarchy: Hierarchy) -> None:
    x = spread_points(hierarchy)
    phi = hierarchy.features(x)
    assert len(hierarchy.level_names) == len(hierarchy.dims) == hierarchy.levels
    for level in range(1, hierarchy.levels + 1):
        lower = hierarchy.up_to(level)
        assert lower.levels == level
        assert lower.dims == hierarchy.dims[:level]
        np.testing.assert_allclose(lower.features(x), phi[:, : hierarchy.q(level)], atol=1e-12)
    assert hierarchy.up_to(hierarchy.levels) == hierarchy
    assert hierarchy.wider(hierarchy.levels) == hierarchy
    assert hierarchy.wider(10_000) is None


@EACH
def test_symmetries_turn_features_of_a_level_into_each_other(hierarchy: Hierarchy) -> None:
    if isinstance(hierarchy, sr.Custom) and hierarchy.space == sr.Torus(2):
        pytest.skip("its functions are of no symmetry")
    x = hierarchy.space.uniform(300, np.random.default_rng(0))
    turn = hierarchy.space.symmetry(np.random.default_rng(1))
    before, after = hierarchy.features(x), hierarchy.features(x @ turn.T)
    start = 0
    for size in hierarchy.dims:
        block = slice(start, start + size)
        matrix = np.linalg.lstsq(before[:, block], after[:, block], rcond=None)[0]
        np.testing.assert_allclose(before[:, block] @ matrix, after[:, block], atol=1e-10)
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(size), atol=1e-10)
        start += size


@EACH
def test_sums_add_and_agree_with_stacks(hierarchy: Hierarchy) -> None:
    x = spread_points(hierarchy)
    w = np.random.default_rng(0).dirichlet(np.ones(len(x)))
    whole = hierarchy.sums(x, w)
    parts = hierarchy.sums(x[:20], w[:20]) + hierarchy.sums(x[20:], w[20:])
    np.testing.assert_allclose(parts, whole, atol=1e-13)
    np.testing.assert_allclose(
        hierarchy.sums(x, None), hierarchy.features(x).sum(axis=0), atol=1e-11
    )
    stack = hierarchy.stack(np.stack([x, x]), np.stack([w, w]))
    for level in range(1, hierarchy.levels + 1):
        m = hierarchy.expectations(stack, level)
        np.testing.assert_allclose(m[1], whole[: hierarchy.q(level)], atol=1e-13)
    formed = hierarchy.stack(x[None], w[None], hierarchy.features(x)[None])
    np.testing.assert_allclose(formed.features[0], whole, atol=1e-13)
    mean = hierarchy.coordinates(whole)
    if mean is not None:
        np.testing.assert_allclose(mean, w @ x, atol=1e-13)


@EACH
def test_fits_match_moments_and_deficits_are_divergences(hierarchy: Hierarchy) -> None:
    x = spread_points(hierarchy, 400)
    found = fits(hierarchy, x)
    assert not found.failures
    assert (found.gaps > -1e-12).all()
    for level, solution in enumerate(found.solutions, 1):
        assert solution.quadrature[0] <= 1e-9
        law = hierarchy.family(level).law(solution.lam[0], float(solution.psi[0]))
        points, mass = NodeFamily(hierarchy, level).rule(solution.lam[0], 2)
        q = hierarchy.q(level)
        np.testing.assert_allclose(
            mass @ hierarchy.features(points)[:, :q],
            hierarchy.features(x).mean(axis=0)[:q],
            atol=1e-9,
        )
        assert mass @ law.logpdf(points) == pytest.approx(found.deficits[0, level - 1], abs=1e-9)


@EACH
def test_moments_of_laws_are_theirs(hierarchy: Hierarchy) -> None:
    x = spread_points(hierarchy, 400)
    first = fits(hierarchy.up_to(1), x).solutions[0]
    centre = hierarchy.space.centre(x, np.full(len(x), 1.0 / len(x)))
    stack = hierarchy.moments_of(first.lam, centre[None])
    np.testing.assert_allclose(
        hierarchy.expectations(stack, 1)[0],
        hierarchy.features(x)[:, : hierarchy.dims[0]].mean(axis=0),
        atol=1e-9,
    )
    assert stack.features.shape == (1, hierarchy.q(hierarchy.levels))


@pytest.mark.parametrize(
    "hierarchy", [h for h in HIERARCHIES if not isinstance(h, sr.Custom)], ids=repr
)
def test_written_down_and_read_again(hierarchy: Hierarchy) -> None:
    assert hierarchy_from_dict(hierarchy.to_dict()) == hierarchy
    assert hash(hierarchy_from_dict(hierarchy.to_dict())) == hash(hierarchy)


def test_what_cannot_be_read_again_is_refused() -> None:
    with pytest.raises(sr.InvalidArgument, match="holds functions, which cannot be read again"):
        hierarchy_from_dict(sr.Custom(Circle(), [linear]).to_dict())
    with pytest.raises(
        sr.InvalidArgument, match="a 'Wavelets' hierarchy cannot be read; known: Harmonics"
    ):
        hierarchy_from_dict({"kind": "Wavelets"})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sr.Axial(5, 2), "levels is 2; at most 1 are possible: in dimension 5"),
        (lambda: sr.Axial(1, 1), "d is 1; axes need at least two dimensions"),
        (lambda: sr.Axial(3, 1, sr.Rotations()), "d is 3, and the rotations have d=4"),
        (lambda: sr.Interactions(5, 1), "rules exist for at most 4 angles"),
        (
            lambda: sr.Interactions(2, 1, 3),
            "levels is 3; at most 2 are possible: there are 2 angles",
        ),
        (lambda: sr.Interactions(4, 5), "whose covariance is formed; pass a lower degree"),
        (lambda: sr.TorusHarmonics(2, 0), "levels is 0; a hierarchy has at least one level"),
        (lambda: sr.Interactions(2, 1).family(3), "level 3 is not among 1..2"),
        (lambda: sr.Custom(Sphere(), []), "blocks must be one function per level"),
        (lambda: sr.Custom(Sphere(), [linear, linear]), "level 2 adds nothing"),
        (lambda: sr.Custom(Sphere(), [lambda x: x.sum()]), r"the block of level 1 gave shape \(\)"),
        (lambda: sr.Custom(Sphere(), [lambda x: np.full(len(x), np.nan)]), "not finite"),
    ],
)
def test_what_is_refused(make: Callable[[], object], words: str) -> None:
    with pytest.raises(sr.InvalidArgument, match=words):
        make()


# --- Custom -------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "levels"), [(2, 4), (3, 3)])
def test_our_own_harmonics_as_custom_functions(d: int, levels: int) -> None:
    harmonics = circle_harmonics if d == 2 else sphere_harmonics
    theirs = sr.Harmonics(d, levels)
    ends = np.cumsum([1, *theirs.dims])

    def block(level: int) -> Callable[[Array], Array]:
        mixed = np.random.default_rng(level).standard_normal((theirs.dims[level - 1],) * 2)
        return lambda x: 3.0 + harmonics(x, level)[:, ends[level - 1] :] @ mixed

    own = sr.Custom(theirs.space, [block(level) for level in range(1, levels + 1)])
    assert own.dims == theirs.dims
    x = spread_points(theirs, 200)
    np.testing.assert_allclose(fits(own, x).deficits, fits(theirs, x).deficits, rtol=0, atol=1e-10)


def test_dependent_functions_are_left_out_and_named() -> None:
    own = sr.Custom(Sphere(), [linear, quadratic])
    assert own.dims == (3, 5)
    assert own.removed == tuple(f"column {k} of level 2" for k in (3, 6, 7, 8))
    assert "without column 3 of level 2" in repr(own)
    assert own.level_names == ("linear", "quadratic")
    x = spread_points(sr.Harmonics(3, 2), 200)
    np.testing.assert_allclose(
        fits(own, x).deficits, fits(sr.Harmonics(3, 2), x).deficits, atol=1e-10
    )


def test_custom_hierarchies_are_equal_by_their_functions() -> None:
    assert sr.Custom(Sphere(), [linear]) == sr.Custom(Sphere(), [linear])
    assert sr.Custom(Sphere(), [linear]) != sr.Custom(Sphere(), [lambda x: x])


def test_a_space_without_rules_is_sampled_and_says_so() -> None:
    own = sr.Custom(Hypersphere(6), [linear])
    assert own.basis == "131072 uniform draws"
    phi = own.features(Hypersphere(6).uniform(4000, np.random.default_rng(5)))
    np.testing.assert_allclose(np.cov(phi.T), np.eye(6), atol=0.15)
