"""Fits along a covariate: against brute force on the rows, and as `compare` where z is a label."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import i0e, logsumexp

import steradian as sr
from steradian.errors import InvalidArgument
from steradian.fitting import covariate_basis
from steradian.numerics.arrays import Array
from steradian.numerics.recombination import recombined

RNG = np.random.default_rng(38)


def circle(z: Array, turn: float = 1.0, kappa: float = 3.0, seed: int = 1) -> sr.Directions:
    """Angles whose mean turns with z."""
    return sr.Directions.from_angles(np.random.default_rng(seed).vonmises(turn * z, kappa))


def points(z: Array, d: int, seed: int = 2) -> Array:
    """Points of a sphere that turn with z."""
    x = np.random.default_rng(seed).normal(size=(len(z), d))
    x[:, 0] += z
    x[:, -1] += 1.0
    return np.asarray(x / np.linalg.norm(x, axis=1)[:, None])


def brute_force(phi: Array, b: Array, nodes: Array, mass: Array, own: int) -> float:
    """Largest Σ {λ(z_i)·φ_i - ψ(λ(z_i))} / n on all rows, by quadrature and a general solver."""
    n, q = phi.shape
    free = np.ones((b.shape[1], q), dtype=bool)
    free[1:, own:] = False

    def loss(packed: Array) -> tuple[float, Array]:
        theta = np.zeros(free.shape)
        theta[free] = packed
        lam = b @ theta
        height = lam @ nodes.T
        psi = logsumexp(height, axis=1, b=mass)
        mean = (np.exp(height - psi[:, None]) * mass) @ nodes
        gradient = b.T @ (mean - phi) / n
        return float((psi - np.einsum("nq,nq->n", lam, phi)).mean()), gradient[free]

    found = minimize(loss, np.zeros(free.sum()), jac=True, method="BFGS", options={"gtol": 1e-10})
    return -float(found.fun)


@pytest.mark.parametrize("basis", ["ranks:2", "degree:1", "spline:4", "fourier:1"])
def test_circle_against_all_rows_by_brute_force(basis: str) -> None:
    z = np.random.default_rng(3).uniform(0.0, 1.0, 150)
    x = circle(z)
    period = 1.0 if basis.startswith("fourier") else None
    r = sr.regress(x, on=z, basis=basis, period=period)
    angle = 2.0 * np.pi * np.arange(200) / 200
    nodes = np.asarray(r.hierarchy.features(np.column_stack([np.cos(angle), np.sin(angle)])))
    phi = np.asarray(r.hierarchy.features(x.x))
    b = r.basis(z[:, None])
    best = [brute_force(phi, b, nodes, np.full(200, 1 / 200), own) for own in (0, 2, 4)]
    np.testing.assert_allclose(r.fits.deficits, best, atol=2e-9)
    assert r.between.sum() == pytest.approx(r.total, abs=1e-12)
    assert (r.between > -1e-12).all()


def test_level_one_of_the_circle_has_its_closed_form() -> None:
    """Parameters by level 1 alone: Σ {κ_i cos(...) - log I0(κ_i)} at the fitted κ_i."""
    z = np.linspace(-1.0, 1.0, 400)
    x = circle(z)
    r = sr.regress(x, on=z, basis=2, levels=1)
    lam = r.basis(z[:, None]) @ r.fits.fits[1].theta[0]
    kappa = np.sqrt(2.0) * np.linalg.norm(lam, axis=1)
    phi = np.asarray(r.hierarchy.features(x.x))
    value = np.einsum("nq,nq->n", lam, phi) - np.log(i0e(kappa)) - kappa
    assert value.mean() == pytest.approx(r.fits.deficits[1], abs=1e-10)


CASES: list[tuple[str, Any, dict[str, Any]]] = [
    ("circle", circle, {}),
    ("circle 3", circle, {"levels": 3}),
    ("sphere", lambda z: points(z, 3), {}),
    ("five", lambda z: points(z, 5), {"levels": 1}),
    ("axes", lambda z: sr.Directions(points(z, 3), space=sr.Axes(3)), {}),
]


@pytest.mark.parametrize(("name", "make", "how"), CASES, ids=[case[0] for case in CASES])
def test_few_values_stand_for_all_rows(
    name: str, make: Any, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    z = np.random.default_rng(4).normal(size=700)
    x = make(z)
    few = sr.regress(x, on=z, **how)
    assert len(few.fits.rule.weights) < 200
    assert few.fits.error <= 1e-9
    monkeypatch.setattr(covariate_basis, "_EXACT", 10_000)
    all_rows = sr.regress(x, on=z, **how)
    assert len(all_rows.fits.rule.weights) == 700
    np.testing.assert_allclose(few.fits.deficits, all_rows.fits.deficits, atol=1e-9)


def test_five_dimensions_level_two_on_few_rows() -> None:
    z = np.repeat(np.linspace(0.0, 1.0, 12), 25)
    r = sr.regress(points(z, 5), on=z)
    assert r.between.sum() == pytest.approx(r.total, abs=1e-10)
    assert (r.between > 0.0).all()


@pytest.mark.parametrize("basis", ["degree:2", "ranks:2"])
def test_two_covariates(basis: str, monkeypatch: pytest.MonkeyPatch) -> None:
    z = np.random.default_rng(5).uniform(size=(500, 2))
    x = points(z[:, 0] - z[:, 1], 3)
    few = sr.regress(x, on=z, basis=basis)
    pair = sr.regress(x, on=[z[:, 0], z[:, 1]], basis=basis)
    np.testing.assert_allclose(pair.between, few.between, rtol=1e-12)
    monkeypatch.setattr(covariate_basis, "_EXACT", 10_000)
    np.testing.assert_allclose(sr.regress(x, on=z, basis=basis).between, few.between, atol=1e-9)


@pytest.mark.parametrize("d", [2, 3])
def test_labels_are_a_comparison(d: int) -> None:
    rng = np.random.default_rng(6)
    labels = np.array(["a", "b", "c"])[rng.integers(0, 3, 300)]
    x = points((labels == "a") * 0.8, d)
    r, c = sr.regress(x, on=labels), sr.compare(x, by=labels)
    np.testing.assert_allclose(r.between, c.between, atol=1e-10)
    np.testing.assert_allclose(list(r.level1.values()), list(c.level1.values()), atol=1e-10)
    coded = sr.regress(x, on=np.unique(labels, return_inverse=True)[1], basis="labels")
    np.testing.assert_allclose(coded.between, r.between, atol=1e-12)
    by_function = sr.regress(
        x, on=np.unique(labels, return_inverse=True)[1], basis=lambda z: z[:, None] ** [1, 2]
    )
    np.testing.assert_allclose(by_function.between, r.between, atol=1e-10)


def test_invariance() -> None:
    """Neither a rotation, nor the unit of z, nor the basis of its functions, nor rows in two."""
    z = np.random.default_rng(7).exponential(size=300)
    x = points(z, 3)
    turn = np.linalg.qr(np.random.default_rng(8).normal(size=(3, 3)))[0]
    r = sr.regress(x, on=z)
    for other in (
        sr.regress(x @ turn.T, on=z),
        sr.regress(x, on=np.log(z)),
        sr.regress(np.concatenate([x, x]), on=np.concatenate([z, z])),
        sr.regress(x, on=z, weights=np.full(300, 3.0), design="fixed"),
    ):
        np.testing.assert_allclose(other.between, r.between, atol=1e-9)
    raw, own = sr.regress(x, on=z, basis=2), sr.regress(x, on=z, basis=_legendre)
    np.testing.assert_allclose(own.between, raw.between, atol=1e-9)
    doubled = sr.regress(np.concatenate([x, x[:9]]), on=np.append(z, z[:9]), levels=1)
    weights = np.ones(300)
    weights[:9] = 2.0
    weighted = sr.regress(x, on=z, weights=weights, design="fixed", levels=1)
    np.testing.assert_allclose(weighted.between, doubled.between, atol=1e-9)


def _legendre(z: Array) -> Array:
    return np.column_stack([1.0 + z, 3.0 * (z / 9.0) ** 2 - z])


def test_noise_is_what_chance_gives() -> None:
    """Mean of C over samples with nothing to find, against the sandwich trace and q K / 2n."""
    rng, found, noise = np.random.default_rng(9), [], []
    for _ in range(150):
        z = rng.uniform(size=120)
        r = sr.regress(sr.Directions.from_angles(rng.vonmises(0.0, 1.0, 120)), on=z)
        found.append(r.between)
        noise.append(r.noise)
    error = np.std(found, axis=0) / np.sqrt(150)
    np.testing.assert_allclose(np.mean(noise, axis=0), 4.0 / 240.0, rtol=0.15)
    assert (np.abs(np.mean(found, axis=0) - np.mean(noise, axis=0)) < 4.5 * error).all()


def test_recombined_rows_keep_all_sums() -> None:
    u = np.random.default_rng(10).uniform(-1.0, 1.0, 5_000)
    v = np.asarray(np.polynomial.chebyshev.chebvander(u, 31), dtype=np.float64)
    w = np.random.default_rng(11).dirichlet(np.ones(5_000))
    rows, kept = recombined(v, w)
    assert len(rows) <= 32
    assert (kept > 0.0).all()
    np.testing.assert_allclose(kept @ v[rows], w @ v, atol=1e-12)


def test_natural_spline_is_linear_at_the_ends_and_smooth() -> None:
    shape = covariate_basis.Spline(4)
    u = np.linspace(-1.5, 1.5, 3_001)[:, None]
    table = shape.columns(u)
    second = np.diff(table, 2, axis=0) / np.diff(u[:, 0])[0] ** 2
    outside = np.abs(u[1:-1, 0]) > 1.01
    np.testing.assert_allclose(second[outside], 0.0, atol=1e-4)
    assert np.abs(np.diff(second, axis=0)).max() < 0.2  # no jump of the curvature
    for one, other in pairwise(range(table.shape[1])):
        assert np.linalg.matrix_rank(table[:, [one, other]]) == 2


def refused(match: str, **how: Any) -> None:
    z = how.pop("on", np.linspace(0.0, 1.0, 50))
    with pytest.raises(InvalidArgument, match=match):
        sr.regress(circle(np.linspace(0.0, 1.0, 50)), on=z, **how)


def test_errors_say_what_where_and_the_remedy() -> None:
    missing = np.linspace(0.0, 1.0, 50)
    missing[[3, 7]] = np.nan
    refused("missing or not finite in 2 of 50 rows, row 3 the first", on=missing)
    refused("is the same in all rows", on=np.ones(50))
    refused("3 functions, and the covariate only 2 distinct", on=np.arange(50) % 2, basis=3)
    refused("one value per row", on=np.ones(49))
    refused("choose one of", basis="cubic")
    refused("goes with basis fourier", period=24.0, basis="ranks:2")
    refused("labels have no basis", on=np.repeat(["a", "b"], 25), basis=2)
    refused("not independent", basis=lambda z: np.column_stack([z, 2.0 * z]))
    refused("return \\(50, K\\)", basis=lambda z: z[:-1])
    refused("names a column, but data is not a frame", on="depth")
    r = sr.regress(circle(np.linspace(0.0, 1.0, 50)), on=np.linspace(0.0, 1.0, 50))
    with pytest.raises(InvalidArgument, match=r"z = 1.5 is beyond the rows, .* from 0 to 1"):
        r.curve([0.5, 1.5])
