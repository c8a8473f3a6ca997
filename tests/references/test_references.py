"""Profiles relative to a law: identities, closed forms, rotations, and what is refused."""

from __future__ import annotations

import ducc0
import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import steradian as sr
from coded import coded, codes
from steradian.conformance import check_hierarchy
from steradian.hierarchies import Against, Hierarchy
from steradian.numerics.arrays import Array
from steradian.relative import as_reference

LAW = sr.FisherBingham([0.5, 0.2, 1.0], np.diag([0.5, -0.5, 0.0]))
X = LAW.sample(400, 1)
SAME = 1e-10  # rules are verified to 1e-11, of two fits


def ones(x: Array) -> Array:
    return np.ones(len(x))


def exposure(x: Array) -> Array:
    return 1.0 + 0.8 * x[:, 2] + 0.3 * x[:, 0] * x[:, 1]


def against(base: Hierarchy, given: object) -> Against:
    law = as_reference(given, base.space)
    assert law is not None
    return Against.of(base, law)


# --- what is the same, said in several ways ---------------------------------------------------


@pytest.mark.parametrize("reference", [
    ones,
    lambda x: np.full(len(x), 1e-300),
    sr.HealpixMap(np.ones(12 * 16), "ring"),
    sr.FisherBingham(np.zeros(3), np.zeros((3, 3))),
    sr.profile(X, levels=1).fits[0],
])  # fmt: skip
def test_uniform_however_it_is_said(reference: object) -> None:
    plain, found = sr.profile(X), sr.profile(X, reference=reference)
    np.testing.assert_allclose(found.deficits, plain.deficits, rtol=0.0, atol=SAME)
    one, two = (p.tests(null="model", statistic="gap").pvalue for p in (found, plain))
    np.testing.assert_allclose(one, two, rtol=1e-6)


def test_uniform_on_the_circle_the_torus_and_rotations() -> None:
    rng = np.random.default_rng(0)
    angles = sr.Directions.from_angles(rng.vonmises(0.0, 1.0, 200))
    torus = sr.Directions.from_dihedrals(*rng.vonmises(0.0, 1.0, (2, 200)))
    turns = sr.Directions.from_rotations(Rotation.random(200, rng))
    for data, levels in ((angles, 4), (torus, 2), (turns, 1)):
        plain = sr.profile(data, levels=levels)
        found = sr.profile(data, levels=levels, reference=ones)
        np.testing.assert_allclose(found.deficits, plain.deficits, rtol=0.0, atol=SAME)


@pytest.mark.parametrize("law", [
    sr.FisherBingham([0.3, -0.2, 0.6], np.diag([0.3, 0.1, -0.4])),
    sr.FisherBingham([0.0, 0.0, 9.0], np.diag([2.0, -2.0, 0.0])),
    sr.profile(X, levels=2).fits[1],
    sr.profile(X, levels=2).fits[2],
])  # fmt: skip
def test_closed_form_where_the_reference_is_of_the_levels(law: sr.results.MaxEntFit) -> None:
    """D_L relative to p₀ is D_L - (λ₀·m - ψ₀), since p_L is the same law."""
    plain, found = sr.profile(X), sr.profile(X, reference=law)
    q = len(law.lam)
    closed = plain.deficits - (law.lam @ plain.moments.features[:q] - law.psi)
    np.testing.assert_allclose(found.deficits[law.level - 1 :], closed[law.level - 1 :], 0.0, SAME)
    at = X[:5]
    np.testing.assert_allclose(found.fits[2].logpdf(at), plain.fits[2].logpdf(at), atol=1e-7)
    assert found.fits[2].entropy() == pytest.approx(plain.fits[2].entropy(), abs=1e-9)


def test_nothing_is_left_to_tell_relative_to_the_fit_itself() -> None:
    plain = sr.profile(X, levels=2)
    found = sr.profile(X, reference=plain.fits[2])
    assert np.abs(found.gaps[:2]).max() < SAME
    again = sr.profile(X, levels=2, reference=found.fits[2])  # relative to a fit of a reference
    assert np.abs(again.gaps).max() < SAME


def test_band_mask_against_brute_force() -> None:
    """Level 1 on a band by direct minimisation of ψ(η) - η·m, ψ by adaptive quadrature."""
    mask = sr.Mask(bands=[(-20, 20)])
    x = X[mask.sees(X)]
    edge, mean = np.sin(np.radians(20)), x.mean(axis=0)

    def mass(eta: Array, low: float, high: float) -> float:
        def inner(phi: float, z: float) -> float:
            r = np.sqrt(1.0 - z * z)
            return float(np.exp(eta @ [r * np.cos(phi), r * np.sin(phi), z]))

        return dblquad(inner, low, high, 0.0, 2.0 * np.pi, epsabs=1e-9)[0]

    def dual(eta: Array) -> float:
        whole = mass(eta, edge, 1.0) + mass(eta, -1.0, -edge)
        return float(np.log(whole / (4.0 * np.pi * (1.0 - edge))) - eta @ mean)

    found = sr.profile(x, levels=1, reference=mask)
    start = np.array([0.6, 0.2, 0.7])
    best = minimize(dual, start, method="Nelder-Mead", options={"maxiter": 60})
    assert -best.fun <= found.deficits[0] + 1e-9  # a dual value is never above the best
    assert found.deficits[0] == pytest.approx(-best.fun, abs=2e-3)
    law = found.fits[1]
    slope = (law.logpdf(x[:4]) - law.logpdf(x[4:8]))[:, None]
    eta = np.linalg.lstsq(x[:4] - x[4:8], slope, rcond=None)[0][:, 0]  # the tilt itself
    assert -dual(np.asarray(eta, dtype=np.float64)) == pytest.approx(found.deficits[0], abs=1e-8)


@pytest.mark.parametrize("levels", [2, 4])
def test_a_tilted_band_with_tilted_data_is_the_same(levels: int) -> None:
    mask = sr.Mask(bands=[(-20, 20)])
    x = X[mask.sees(X)]
    turn = Rotation.from_euler("zyx", [50, 40, 30], degrees=True).as_matrix()
    pole = turn[:, 2]
    lonlat = np.degrees([np.arctan2(pole[1], pole[0]), np.arcsin(pole[2])])
    tilted = sr.Mask(bands=[(-20, 20)], pole=lonlat)
    one = sr.profile(x, levels=levels, reference=mask)
    two = sr.profile(x @ turn.T, levels=levels, reference=tilted)
    np.testing.assert_allclose(two.deficits, one.deficits, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(two.tests().score_statistic, one.tests().score_statistic, rtol=1e-7)


def shares_of_band(nside: int, edge: float) -> Array:
    """Of each pixel the share with |z| > edge, exactly: on the belt z is linear in x + y."""
    pixels = ducc0.healpix.Healpix_Base(nside, "NEST")
    x, y, face = pixels.pix2xyf(np.arange(12 * nside * nside)).T

    def below(z: float) -> Array:
        cut = np.repeat([2.0, 3.0, 4.0], 4)[face] - 0.5 * (4.0 - 3.0 * z)
        t = np.clip(cut * nside - x - y, 0.0, 2.0)
        return np.where(t < 1.0, 0.5 * t * t, 1.0 - 0.5 * (2.0 - t) ** 2)

    return 1.0 - (below(edge) - below(-edge))


def test_a_mask_of_pixels_converges_to_the_mask() -> None:
    """With the right shares at the edge an error falls with the square of the pixels, or faster."""
    mask = sr.Mask(bands=[(-20, 20)])
    x = X[mask.sees(X)]
    exact = sr.profile(x, levels=4, reference=mask).deficits[-1]
    errors = []
    for nside in (8, 32):
        shares = shares_of_band(nside, np.sin(np.radians(20)))
        found = sr.profile(x, levels=4, reference=sr.HealpixMap(shares, "nested"))
        errors.append(abs(found.deficits[-1] - exact))
    assert errors[1] < 0.2 * errors[0]
    assert errors[1] < 2e-5


@pytest.mark.slow
def test_a_hard_edge_as_a_callable_states_its_error_and_is_held_to_noise() -> None:
    mask = sr.Mask(bands=[(-20, 20)])
    x = X[mask.sees(X)]
    found = sr.profile(x, levels=2, reference=lambda x: mask.sees(x).astype(float))
    exact = sr.profile(x, levels=2, reference=mask)
    off = np.abs(found.deficits - exact.deficits)
    assert (off <= found.numerics.quadrature + exact.numerics.quadrature).all()
    assert 1e-9 < found.numerics.quadrature.max() < 1e-3
    many = np.repeat(x, 2000, axis=0)
    with pytest.raises(sr.ResolutionError, match=r"above the .* that noise gives.*sr\.Mask"):
        sr.profile(many, levels=2, reference=lambda x: mask.sees(x).astype(float))


def test_a_narrow_cap_keeps_its_digits() -> None:
    """A cap of 20° and the same turned: harmonics of level 4 have a condition of 10¹¹ there."""
    rng = np.random.default_rng(5)
    cap = sr.Mask(caps=[(20, 40, 20)], keep=True)
    x = cap.on(sr.Sphere()).sample(300, rng)
    turn = Rotation.from_euler("xyz", [30, 70, 10], degrees=True).as_matrix()
    centre = turn @ cap.shapes[0].axis
    lonlat = np.degrees([np.arctan2(centre[1], centre[0]), np.arcsin(centre[2])])
    one = sr.profile(x, levels=4, reference=cap)
    two = sr.profile(x @ turn.T, levels=4, reference=sr.Mask(caps=[(*lonlat, 20)], keep=True))
    np.testing.assert_allclose(two.deficits, one.deficits, rtol=0.0, atol=1e-9)
    assert one.numerics.condition.max() < 1e3


# --- samples, weights, everything downstream ------------------------------------------------


def test_a_sample_as_reference_corrects_its_noise() -> None:
    reference = sr.Directions(LAW.sample(300, 2))
    found = sr.profile(X, levels=2, reference=reference)
    tests = found.tests()
    assert tests.rate**2 == pytest.approx(400 * 300 / 700)
    assert found.noise[0] == pytest.approx(1.5 * 700 / (400 * 300))
    assert "relative to a sample of 300 directions" in str(tests)
    known = sr.profile(X, levels=2, reference=LAW)
    assert (found.intervals().se > known.intervals().se).all()


def test_variance_of_a_sampled_reference_against_the_jackknife() -> None:
    """D₁ with each row of the reference left out, one by one."""
    away = sr.Directions(sr.FisherBingham([0.0, 1.0, 0.0], np.zeros((3, 3))).sample(150, 3))
    found = sr.profile(X, levels=1, reference=away)
    left = [
        sr.profile(X, levels=1, reference=away.take(np.arange(150) != k)).deficits[0]
        for k in range(0, 150, 3)
    ]
    jackknife = 149.0**2 / 150.0 * np.var(left)
    own = sr.profile(X, levels=1, reference=LAW)
    added = found.intervals().deficit_se[0] ** 2
    rows = np.var(found.fits[1].logpdf(X, measure="reference")) / 400.0
    assert own.levels[0] == 1
    assert added - rows == pytest.approx(jackknife, rel=0.5)  # 50 of 150 rows, heavy-tailed


def test_everything_downstream_is_relative_and_says_so() -> None:
    mask = sr.Mask(bands=[(-20, 20)])
    x = X[mask.sees(X)]
    found = sr.profile(x, levels=2, reference=mask)
    assert "relative to uniform without latitudes" in found.summary().replace("\n", " ")
    assert "nats from the reference" in found.summary()
    assert "Equality with uniform without latitudes" in str(found.uniformity())
    assert found.to_dict()["reference"] == "uniform without latitudes -20° to 20°"
    assert found.to_dict()["vmf_kappa"] is None
    assert sr.profile(X, levels=1).to_dict()["reference"] == "uniform"
    np.testing.assert_allclose(found.fits[1].mean(), x.mean(axis=0), atol=1e-12)
    drawn = found.fits[2].sample(200, 0)
    assert mask.sees(drawn).all()
    assert mask.sees(found.fits[0].sample(50, 0)).all()
    assert np.isneginf(found.fits[2].logpdf([[1, 0, 0]])[0])
    uniform = found.fits[0].pdf([[0, 0, 1]])[0]
    assert uniform == pytest.approx(1.0 / (1.0 - np.sin(np.radians(20))), rel=1e-12)
    assert found.fits[0].pdf([[0, 0, 1]], measure="reference")[0] == 1.0
    assert (found.residuals(degree=4).pvalue > 0.0).all()


def test_weightings_share_a_reference() -> None:
    weights = np.random.default_rng(0).random((3, len(X)))
    found = sr.profiles(X, weights=weights, levels=2, reference=exposure)
    for row, w in zip(found.gaps, weights, strict=True):
        alone = sr.profile(X, weights=w, levels=2, reference=exposure)
        np.testing.assert_allclose(row, alone.gaps, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("hierarchy", [
    against(sr.Harmonics(3, 3), sr.Mask(bands=[(-20, 20)])),
    against(sr.Harmonics(2, 3), sr.Mask(caps=[(10, 40)])),
    against(sr.Harmonics(3, 2), exposure),
    against(sr.Harmonics(3, 2), LAW),
    against(sr.Axial(3, 1), lambda x: x[:, 2] ** 2),
    against(sr.TorusHarmonics(2, 1), lambda x: 1.5 + x[:, 0]),
])  # fmt: skip
@pytest.mark.slow
def test_the_contract_of_a_hierarchy(hierarchy: Against) -> None:
    check_hierarchy(hierarchy)


def test_the_contract_on_the_circle() -> None:
    check_hierarchy(against(sr.Harmonics(2, 2), sr.Mask(caps=[(10, 40)])))


# --- what is refused ---------------------------------------------------------------------------


def test_data_where_the_reference_is_zero() -> None:
    mask = sr.Mask(bands=[(-20, 20)])
    count = int((~mask.sees(X)).sum())
    first = int(np.argmin(mask.sees(X)))
    with pytest.raises(sr.InvalidDirections) as error:
        sr.profile(X, reference=mask)
    assert f"{count} of 400 rows lie where the reference is zero (rows {first}, " in str(
        error.value
    )
    assert "leave them out, or widen the reference" in str(error.value)
    seen = X[mask.sees(X)]
    with pytest.raises(sr.InvalidDirections, match=r"1 row lies .* \(row 2\)"):
        sr.profile(np.insert(seen, 2, [1.0, 0.0, 0.0], axis=0), reference=mask)


@pytest.mark.parametrize(("reference", "words"), [
    ("uniform", "give a fit"),
    (np.ones(48), r"sr.HealpixMap\(values, 'ring'\)"),
    (sr.profile(X, levels=1), r"say which level of it, like profile.fits\[2\]"),
    (lambda x: -np.ones(len(x)), "a density is finite and not negative"),
    (lambda x: np.zeros(len(x)), "zero everywhere"),
    (lambda x: x, r"gave shape \(400, 3\) at 400 points"),
    (sr.Directions.from_angles([0.0, 1.0]), "sample on the circle, and the data are on the sphere"),
    (sr.FisherBingham([1.0, 0.0], np.zeros((2, 2))), "law on the circle, and the data are"),
    (sr.Directions(X[:6]), "can be told apart where a sample of 6 directions is not zero"),
])  # fmt: skip
def test_refusals(reference: object, words: str) -> None:
    with pytest.raises(sr.InvalidArgument, match=words):
        sr.profile(X, levels=2, reference=reference)


def test_moments_know_of_no_reference() -> None:
    moments = sr.Moments.from_directions(sr.Directions(X), sr.Harmonics(3, 2))
    with pytest.raises(sr.InvalidArgument, match="profile the directions with reference="):
        sr.profile(moments, reference=ones)


def test_existence_is_decided_on_the_support_of_the_reference() -> None:
    """Data on the edge of a cap: a fit exists on the sphere, and none on the cap."""
    angle = np.linspace(0.0, 6.0, 60)
    lat = np.full(60, 60.0)
    rows = sr.Directions.from_lonlat(np.degrees(angle), lat)
    assert sr.profile(rows, levels=1).deficits[0] > 0.0
    with pytest.raises(sr.BoundaryError):
        sr.profile(rows, levels=1, reference=sr.Mask(bands=[(-90, 60)]))


def test_a_small_sampled_reference_counts_as_estimated_and_says_so() -> None:
    rng = np.random.default_rng(8)
    law = sr.FisherBingham([0.5, 0.2, 1.0], np.diag([0.5, -0.5, 0.0]))
    x = law.sample(300, rng)
    small, large = (sr.Directions(law.sample(n, rng)) for n in (60, 5000))
    few = sr.profile(x, levels=2, reference=small).tests()
    known = coded(few, "few_reference_rows", 2).data
    assert (round(known["rows"], 6), known["features"]) == (60.0, 8)
    # of every a²|r|² the noise of 60 rows explains more than χ² with one for each feature does
    assert few.coefficients[1].sum() > 0.5 * 5 * 1.1
    many = sr.profile(x, levels=2, reference=large).tests()
    assert "few_reference_rows" not in codes(many)
    tiny = sr.Directions(law.sample(16, rng))
    with pytest.raises(sr.DesignError, match="too few to know what it is tested against"):
        sr.profile(x, levels=2, reference=tiny).tests()


@pytest.mark.parametrize(("width", "first", "second"), [
    (None, 0.065, 0.295), (10, 0.055, 0.188), (20, 0.051, 0.120),
])  # fmt: skip
def test_galaxies_behind_the_milky_way(width: int | None, first: float, second: float) -> None:
    """Figures of a prototype that shares no code with the library, to the digits it gave."""
    data = pytest.importorskip("pyongc.data")
    table = data.all()
    rows = table[table["type"] == "G"]
    ra, dec = (rows[name].to_numpy(dtype=np.float64) for name in ("ra", "dec"))
    every = sr.Directions.from_radec(ra, dec, degrees=False)
    assert every.n == 10_521
    mask = None
    if width is not None:
        mask = sr.Mask(bands=[(-width, width)], pole=(192.85948, 27.12825))
        every = every.take(mask.sees(every.x))
    found = sr.profile(every, levels=2, reference=mask)
    assert found.gaps == pytest.approx([first, second], abs=5e-4)
