"""The off-diagonal score test: its kernel, its drift, its cumulants, and what it says."""

from __future__ import annotations

import itertools
from dataclasses import replace

import mpmath
import numpy as np
import pytest

import steradian as sr
from coded import coded
from steradian.diagnostics import REFUSED, MethodCode
from steradian.families.quadratics import polar_kernel
from steradian.families.quadratics.polar_kernel import PolarKernel
from steradian.families.quadratics.von_mises_fisher import VonMisesFisherLaw
from steradian.inference.off_diagonal import (
    OffDiagonal,
    _UnitRows,
    centred_products,
    off_diagonal,
    products,
)
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.chi_square_mixture import chi_square_sf
from steradian.numerics.tolerances import OFF_DIAGONAL_TAIL


def unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def cloud(n: int, d: int, shift: float, seed: int = 0) -> Array:
    """Rows about the first axis."""
    return unit(np.random.default_rng([seed, n, d]).standard_normal((n, d)) + shift * np.eye(d)[0])


# --- the kernel ---------------------------------------------------------------------------


def explicit(x: Array, kappa: float) -> tuple[Array, Array]:
    """z·z' and v·v' from features that are whitened in forty digits, about the first axis."""
    d = x.shape[1]
    k = d - 1
    with mpmath.workdps(40):

        def density(u: mpmath.mpf) -> mpmath.mpf:  # of e = 1 - t, by powers
            return mpmath.exp(-kappa * u) * (u * (2 - u)) ** (mpmath.mpf(d - 3) / 2)

        end = min(mpmath.mpf(2), mpmath.mpf(90 + 10 * d) / mpmath.mpf(kappa))
        cuts = mpmath.linspace(0, end, 9)
        mass = mpmath.quad(density, cuts)
        power = [mpmath.quad(lambda u, j=j: u**j * density(u), cuts) / mass for j in range(5)]
        es = [2 * power[j + 1] - power[j + 2] for j in range(3)]  # E[e^j s], s = e (2 - e)
        ess = 4 * power[2] - 4 * power[3] + power[4]
        var_e = power[2] - power[1] ** 2
        beta = (power[3] - power[1] * power[2]) / var_e
        var_0 = power[4] - power[2] ** 2 - beta**2 * var_e
        centre = es[1] / es[0]
        var_1 = (es[2] - centre * es[1]) / k
        rows = []
        for row in x:
            point = [mpmath.mpf(float(c)) for c in row]
            size = mpmath.sqrt(sum(c * c for c in point))
            t, y = point[0] / size, [c / size for c in point[1:]]
            s = sum(c * c for c in y)
            e = s / (1 + t) if t > 0 else 1 - t
            a = (e * e - power[2] - beta * (e - power[1])) / mpmath.sqrt(var_0)
            b = (centre - e) / mpmath.sqrt(var_1)
            root = mpmath.sqrt(k * (k + 2) / (2 * ess))
            form = [
                root * (y[i] * y[j] - (s / k if i == j else 0)) for i in range(k) for j in range(k)
            ]
            v = [(power[1] - e) / mpmath.sqrt(var_e), *(c / mpmath.sqrt(es[0] / k) for c in y)]
            rows.append(([a, *(b * c for c in y), *form], v))
        gram = [[float(mpmath.fdot(p[0], q[0])) for q in rows] for p in rows]
        below = [[float(mpmath.fdot(p[1], q[1])) for q in rows] for p in rows]
    return np.array(gram), np.array(below)


@pytest.mark.parametrize("d", [3, 5, 8])
@pytest.mark.parametrize("kappa", [0.6, 30.0, 9567.0])
def test_inner_products_are_those_of_explicit_whitening(d: int, kappa: float) -> None:
    x = VonMisesFisherLaw(kappa * np.eye(d)[0]).sample(5, np.random.default_rng(d))
    kernel = PolarKernel.of(np.eye(d)[0], kappa)
    gram, below = explicit(x, kappa)
    parts = kernel.parts(x)
    # y is known to u of x, so to u √κ of itself; five products of it stand in z·z'
    bound = 40.0 * np.finfo(float).eps * np.sqrt(1.0 + kappa / d) * np.abs(gram).max()
    np.testing.assert_allclose(kernel.gram(parts), gram, rtol=0.0, atol=bound)
    np.testing.assert_allclose(kernel.squares(parts), np.diag(gram), rtol=0.0, atol=bound)
    v = kernel.below(parts)
    np.testing.assert_allclose(v @ v.T, below, rtol=0.0, atol=bound)


def test_sums_of_units_have_the_inner_products_of_their_rows() -> None:
    x, w = cloud(12, 6, 1.0), np.linspace(0.5, 1.5, 12)
    kernel = PolarKernel.of(np.eye(6)[0], 4.0)
    parts, starts = kernel.parts(x), np.array([0, 3, 4, 9])
    gram = kernel.gram(parts) * np.outer(w, w)
    wanted = np.add.reduceat(np.add.reduceat(gram, starts), starts, axis=1)
    sums = kernel.sums(parts, w, starts)
    np.testing.assert_allclose(sums @ sums.T, wanted, atol=1e-12 * np.abs(wanted).max())


def sphere_law(kappa: float) -> tuple[Array, Array]:
    """Nodes on the two-sphere and the masses of a law about the first axis."""
    t, share = np.polynomial.legendre.leggauss(24)
    angle = 2.0 * np.pi * np.arange(12) / 12
    s = np.sqrt(1.0 - t * t)
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    x = np.concatenate(
        [np.repeat(t[:, None, None], 12, axis=1), s[:, None, None] * around], axis=2
    ).reshape(-1, 3)
    mass = np.repeat(share * np.exp(kappa * t), 12)
    return x, mass / mass.sum()


@pytest.mark.parametrize("kappa", [1e-9, 0.8, 5.0])
def test_third_moments_are_those_of_a_quadrature(kappa: float) -> None:
    x, mass = sphere_law(kappa)
    kernel = PolarKernel.of(np.eye(3)[0], kappa)
    parts = kernel.parts(x)
    z, v = kernel.gram(parts), kernel.below(parts)
    some = cloud(4, 3, 0.3)
    own = np.random.default_rng(1).standard_normal((4, 3))
    both = kernel.parts(np.concatenate([some, x]))
    wanted = (kernel.gram(both)[:4, 4:] * (own @ v.T) ** 2) @ mass
    np.testing.assert_allclose(kernel.curved(kernel.parts(some), own), wanted, atol=1e-11)
    norm, trace = kernel.curvature
    length = (v * v).sum(axis=1)
    assert norm == pytest.approx(mass @ (z * (v @ v.T) ** 2) @ mass, rel=1e-11)
    assert trace == pytest.approx(mass @ (z * np.outer(length, length)) @ mass, abs=1e-10)


# --- cumulants ----------------------------------------------------------------------------


def enumerated(shares: Array, strata: IntArray, means: Array, seed: int = 0) -> tuple[Array, Array]:
    """Moments of the off-diagonal sum of independent units of two values, and the estimates."""
    count, rng, chance = len(shares), np.random.default_rng(seed), 0.3
    steps = rng.standard_normal((count, 3)) * (shares * count)[:, None]
    values = np.stack([steps * np.sqrt(0.7 / 0.3), -steps * np.sqrt(0.3 / 0.7)], axis=1)
    sizes = np.bincount(strata)[strata]
    weights = 1.0 + (strata[:, None] == strata) / (sizes - 1.0) * (strata.max() > 0)
    np.fill_diagonal(weights, 0.0)
    moments, found = np.zeros(3), np.zeros(5)
    for which in itertools.product((0, 1), repeat=count):
        mass = float(np.prod(np.where(np.array(which) == 0, chance, 1.0 - chance)))
        e = values[np.arange(count), which]
        u = e + means
        moments += mass * float((weights * (e @ e.T)).sum()) ** np.arange(1, 4)
        found += mass * products(u @ u.T, weights, shares, strata)
    pairs = float((weights**2).sum())
    second = 2.0 * pairs / found[3] * found[0]
    third = 8.0 * count * (count - 1.0) * (count - 2.0) / found[4] * found[1]
    return moments, np.array([second, third + 4.0 * pairs / found[3] * found[2]])


@pytest.mark.parametrize("uneven", [False, True])
def test_the_variance_is_unbiased_and_the_skewness_nearly(uneven: bool) -> None:
    shares = np.arange(1.0, 10.0) if uneven else np.ones(9)
    one = np.zeros(9, dtype=np.int64)
    moments, found = enumerated(shares / shares.sum(), one, np.zeros((9, 3)))
    assert moments[0] == pytest.approx(0.0, abs=1e-12)
    assert found[0] == pytest.approx(moments[1], rel=1e-10)
    assert found[1] == pytest.approx(moments[2], rel=0.2)  # of order 1 / units²


def test_means_of_strata_are_not_taken_for_variance() -> None:
    strata = np.repeat([0, 1], 5)
    means = np.where(strata[:, None] == 0, 1.0, -1.0) * np.array([1.0, 0.0, -0.5])
    moments, found = enumerated(np.full(10, 0.1), strata, means)
    none, plain = enumerated(np.full(10, 0.1), np.zeros(10, dtype=np.int64), means)
    assert moments[0] == pytest.approx(0.0, abs=1e-12)
    assert found[0] == pytest.approx(moments[1], rel=0.2)  # too large by the error of three units
    assert plain[0] > 2.0 * none[1]  # without strata


def test_centred_products_leave_both_units_out() -> None:
    u = np.random.default_rng(3).standard_normal((6, 4))
    shares, strata = np.arange(1.0, 7.0) / 21.0, np.array([0, 0, 0, 1, 1, 1])
    left, both = centred_products(u @ u.T, shares, strata)
    other = u[3] - shares[3] * (u[4] + u[5]) / (shares[4] + shares[5])
    own = u[0] - shares[0] * (u[1] + u[2]) / (shares[1] + shares[2])
    assert left[0, 3] == pytest.approx(u[0] @ other)
    assert both[0, 3] == pytest.approx(own @ other * 2.0 / 3.0)


# --- the sum itself -----------------------------------------------------------------------


def test_clusters_by_rows_and_by_sums_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    x = sr.Directions(cloud(240, 9, 0.5))
    units = sr.designs.Clusters(np.arange(240) // 4).units(x)
    kernel = PolarKernel.of(np.eye(9)[0], 4.0)
    by_rows = off_diagonal(x, units, kernel, 0)
    monkeypatch.setattr(polar_kernel, "_LONG", 1)
    by_sums = off_diagonal(x, units, kernel, 0)
    assert kernel.most_units(4.0) > 0
    for name in ("square", "own", "drift", "kappa_2", "kappa_3"):
        assert getattr(by_sums, name) == pytest.approx(getattr(by_rows, name), rel=1e-9)
    z = kernel.sums(kernel.parts(x.x), np.full(240, 1 / 240), 4 * np.arange(60))
    assert by_rows.square == pytest.approx(float(z.sum(axis=0) @ z.sum(axis=0)))
    assert by_rows.own == pytest.approx(float((z * z).sum()))


def test_a_chain_leaves_out_neighbours_and_strata_their_means() -> None:
    x = sr.Directions(cloud(400, 5, 0.5))
    kernel = PolarKernel.of(np.eye(5)[0], 3.0)
    chain = sr.designs.Chain(batch=10).units(x)
    u = kernel.sums(kernel.parts(x.x), np.full(400, 1 / 400), 10 * np.arange(40))
    gram = u @ u.T
    far = np.abs(np.subtract.outer(np.arange(40), np.arange(40))) > 1
    found = off_diagonal(x, chain, kernel, 0)
    assert found.square - found.own == pytest.approx(float(gram[far].sum()))
    strata = sr.designs.Survey(psu=np.arange(400) // 10, strata=np.arange(400) // 100).units(
        sr.Directions(x.x, np.ones(400))
    )
    found = off_diagonal(x, strata, kernel, 0)
    by_stratum = u.reshape(4, 10, -1)
    away = by_stratum - by_stratum.mean(axis=1, keepdims=True)
    assert found.own == pytest.approx(10.0 / 9.0 * float((away**2).sum()))


def test_blocks_are_bounded_and_follow_the_seed() -> None:
    n = 32_000
    x = sr.Directions(cloud(n, 4, 0.2))
    kernel = PolarKernel.of(np.eye(4)[0], 0.7)
    rows = _UnitRows.of(x, sr.designs.IID().units(x), kernel)
    blocks = rows.blocks(3)
    assert len(blocks) == 60
    assert max(map(len, blocks)) <= 500
    assert len(np.unique(np.concatenate(blocks))) == sum(map(len, blocks))
    again = rows.blocks(3)
    assert all((a == b).all() for a, b in zip(blocks, again, strict=True))
    assert any((a[:9] != b[:9]).any() for a, b in zip(blocks, rows.blocks(4), strict=True))


def test_the_drift_is_what_estimating_the_mean_does() -> None:
    n, d, count = 50, 100, 120
    excess, drift = [], []
    for seed in range(count):
        x = unit(np.random.default_rng(seed).standard_normal((n, d)))
        p = sr.profile(x, levels=1)
        kernel = sr.Harmonics(d, 2).family(2).whitening(p.fits[1].lam[None]).kernel
        assert kernel is not None
        found = off_diagonal(p.as_sample().rows, p.as_sample().units, kernel, 0)
        excess.append(found.square - found.own)
        drift.append(found.drift)
    error = np.std(excess) / np.sqrt(count)
    assert abs(np.mean(excess) - np.mean(drift)) < 4.0 * error
    assert np.mean(drift) > 8.0 * error  # without it the test would reject far too often


# --- the tail and what is said ------------------------------------------------------------


def of_cumulants(excess: float, kappa_2: float, kappa_3: float) -> OffDiagonal:
    return OffDiagonal(excess, 0.0, 0.0, kappa_2, kappa_3, 100, 0, 0.01)


def test_the_tail_is_that_of_a_shifted_chi_square() -> None:
    for nu in (1.0, 5.0, 40.0):
        found = of_cumulants(11.0 - nu, 2.0 * nu, 8.0 * nu)
        assert found.tail == pytest.approx(float(chi_square_sf(11.0, nu)), rel=1e-12)
        mirrored = of_cumulants(nu - 2.0, 2.0 * nu, -8.0 * nu)
        assert mirrored.tail == pytest.approx(1.0 - float(chi_square_sf(2.0, nu)), rel=1e-12)
    assert of_cumulants(1.959964, 1.0, 0.0).tail == pytest.approx(0.025, rel=1e-6)
    assert of_cumulants(3.0, 1.0, 9.0).tail == of_cumulants(3.0, 1.0, np.sqrt(8.0)).tail
    assert np.isnan(of_cumulants(3.0, 0.0, 0.0).pvalue)
    assert of_cumulants(90.0, 1.0, 0.1).pvalue == OFF_DIAGONAL_TAIL


def test_the_detectable_gap_is_found_four_times_in_five() -> None:
    found = of_cumulants(0.0, 4e-4, 0.0)
    assert found.detectable == pytest.approx(0.5 * 2.486475 * 0.02)
    assert replace(found, square=2.0 * found.detectable).tail == pytest.approx(0.05 / 8.0, rel=0.1)


def test_level_2_of_few_rows_in_many_dimensions() -> None:
    x = cloud(150, 30, 0.4)
    p = sr.profile(x, levels=2)
    got = p.tests()
    assert got.methods[1].code is MethodCode.OFF_DIAGONAL
    assert 0.01 < got.pvalue[1] < 1.0
    assert got.judged[1]
    assert sr.profile(x, levels=2).tests().pvalue[1] == got.pvalue[1]
    assert p.tests(seed=5).pvalue[1] == pytest.approx(got.pvalue[1])  # one block of all units
    model = p.tests(null="model")
    assert model.methods[1].code is MethodCode.OFF_DIAGONAL
    q, n = int(got.dof[1]), 150
    kernel = p.as_sample().whitening(2).kernel
    assert kernel is not None
    found = off_diagonal(p.as_sample().rows, p.as_sample().units, kernel, 0).under_model(n**0.5, q)
    assert found.kappa_2 == pytest.approx(2.0 * q / n**2)
    assert found.kappa_3 == pytest.approx(8.0 * q / n**3)
    assert model.pvalue[1] == found.pvalue
    stretched = unit(x * np.linspace(0.4, 1.6, 30))
    assert sr.profile(stretched, levels=2).tests().pvalue[1] == OFF_DIAGONAL_TAIL


def test_nine_units_are_refused_and_one_that_outweighs_all_is_not_judged() -> None:
    x = cloud(180, 12, 0.4)
    few = sr.profile(
        sr.Directions(x[:54, :4], normalize=True),
        levels=2,
        design=sr.designs.Clusters(np.arange(54) // 6),
    ).tests()
    assert few.methods[1] == REFUSED
    least = {"units": 9, "features": 13, "least": 10}
    assert coded(few, "units_below_least", 2).data == least
    ids = np.maximum(np.arange(180) - 99, 0)
    one = sr.profile(x, levels=2, design=sr.designs.Clusters(ids)).tests()
    assert not one.judged[1]
    why = one.reason(2)
    assert why is not None
    assert (why.data["unit"]["what"], why.data["unit"]["name"]) == ("cluster", "0")
