"""FisherBingham: normaliser and moments against mpmath, in every dimension and scale."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import oracles
import oracles_fisher_bingham as reference
import steradian as sr
from oracles import Array
from oracles_fisher_bingham import Reference, towards

TOLERANCE = 1e-12
KAPPAS = tuple(float(k) for k in 10.0 ** np.arange(-6, 7))
FEW = (1e-6, 1.0, 1e3, 1e6)
HIGH = pytest.mark.parametrize(
    ("d", "kappas"),
    [(d, KAPPAS) for d in (2, 3, 4, 5, 10, 33, 100)]
    + [(384, FEW), (1024, (1e3,)), pytest.param(1024, FEW, marks=pytest.mark.slow)],
    ids=lambda value: str(value) if isinstance(value, int) else f"{len(value)} kappas",
)


def moment_tolerance(scale: float) -> float:
    """1e-12, and what the rounding of B moves E x² by: its size times Var x².

    An eigensolver is backward stable: each eigenvalue is off by at most p(d) ε ‖B‖ with p a
    modest function (LAPACK Users' Guide, 4.8), ε = 2⁻⁵², and which way depends on the order in
    which the machine's kernel sums. With p = 4 two equal eigenvalues come out 16·2⁻⁵³‖B‖ apart,
    and E x² between them moves by that times Var x², at most 1/8 (two free axes).
    """
    return TOLERANCE + 0.125 * 16.0 * 2.0**-53 * scale


def assert_psi(found: float, expected: Any) -> None:
    with mpmath.workdps(oracles.DIGITS):
        error = float(abs(mpmath.mpf(found) - expected))
    assert error <= TOLERANCE * max(1.0, abs(float(expected))), (found, float(expected))


def assert_same(law: sr.FisherBingham, expected: Reference, lam: Array, axes: Array) -> None:
    """ψ, mean and second moment of the law whose eigenvectors are the columns of ``axes``."""
    assert_psi(law.psi, expected.psi_traceless(list(lam)))
    mean, second = expected.moments_in(axes)
    covariance = axes @ expected.covariance() @ axes.T
    atol = moment_tolerance(float(np.abs(lam).max()))
    np.testing.assert_allclose(law.mean(), mean, rtol=0, atol=atol)
    np.testing.assert_allclose(law.second_moment(), second, rtol=0, atol=atol)
    np.testing.assert_allclose(law.covariance(), covariance, rtol=0, atol=atol)


def random_law(d: int, scale: float, seed: int) -> tuple[Array, Array, Array, sr.FisherBingham]:
    """b, eigenvalues and random axes of a law, and the law."""
    rng = np.random.default_rng([d, seed])
    b, lam, axes = rng.standard_normal(d), rng.standard_normal(d), oracles.rotation(d, rng)
    b, lam = scale * b / np.linalg.norm(b), scale * lam / np.abs(lam).max()
    return b, lam, axes, made(b, lam, axes)


def made(b: Array, lam: Array, axes: Array) -> sr.FisherBingham:
    matrix = (axes * lam) @ axes.T
    return sr.FisherBingham(axes @ b, 0.5 * (matrix + matrix.T))


# --- direct integration -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 30.0, 1e3, 1e4])
def test_circle_by_integration(scale: float, seed: int) -> None:
    b, lam, axes, law = random_law(2, scale, seed)
    nodes = int(60 + np.sqrt(600 * scale))
    assert_same(law, reference.on_circle(list(b), list(lam), nodes), lam, axes)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e5, 1e6])
def test_concentrated_circle_by_integration(scale: float) -> None:
    b, lam, _, _ = random_law(2, scale, 7)
    law = made(b, lam, np.eye(2))  # axes of double precision would turn 1e6 by more than 1e-12
    nodes = int(60 + np.sqrt(600 * scale))
    assert_same(law, reference.on_circle(list(b), list(lam), nodes), lam, np.eye(2))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 6.0])
def test_sphere_by_integration(scale: float) -> None:
    b, lam, axes, law = random_law(3, scale, 3)
    nodes = int(40 + np.sqrt(900 * scale))
    assert_same(law, reference.on_sphere(list(b), list(lam), nodes, level=5), lam, axes)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 6.0])
def test_three_sphere_by_integration(scale: float) -> None:
    b, lam, axes, law = random_law(4, scale, 4)
    nodes = int(40 + np.sqrt(900 * scale))
    assert_same(law, reference.on_three_sphere(list(b), list(lam), nodes, level=5), lam, axes)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [40.0, 150.0])
@pytest.mark.parametrize("d", [3, 4])
def test_sharper_spheres_by_integration(d: int, scale: float) -> None:
    b, lam, axes, law = random_law(d, scale, 5)
    over = reference.on_sphere if d == 3 else reference.on_three_sphere
    expected = over(list(b), list(lam), int(60 + np.sqrt(900 * scale)), level=7)
    assert_same(law, expected, lam, axes)


EIGENVALUES = {
    "bipolar": (0.0, -1.0, 1.0),
    "girdle": (1.0, 1.0, -1.0),
    "skew": (0.3, -0.7, 0.4),
    "repeated": (0.25, 0.25, 0.25),
}
FAR = [1e2, pytest.param(1e4, marks=pytest.mark.slow), 1e6]
SHAPES = [
    "bipolar",
    "girdle",
    *(pytest.param(shape, marks=pytest.mark.slow) for shape in ("skew", "repeated")),
]


@pytest.mark.parametrize("scale", FAR)
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0], ids=lambda s: f"linear {s}")
@pytest.mark.parametrize("shape", SHAPES)
def test_sphere_of_any_concentration(shape: str, share: float, scale: float) -> None:
    """η along an eigenvector leaves Bessel functions in longitude and one integral over z."""
    lam = scale * np.array(EIGENVALUES[shape])
    b = np.array([0.0, 0.0, share * scale])
    steepest = lam[:2].max() - lam[2]
    centre = 0.5 * b[2] / steepest if steepest > 0 else 1.0
    edges = towards(min(centre, 1.0), -1.0, 1.0, 24)
    if share < 1.0 and centre == 1.0:  # the other pole counts as well
        edges = [*(-e for e in edges[::-1] if e > 0), *(e for e in edges if e > 0)]
    expected = reference.on_sphere(list(b), list(lam), edges=edges, level=4)
    assert_same(made(b, lam, np.eye(3)), expected, lam, np.eye(3))


@pytest.mark.parametrize("scale", FAR)
@pytest.mark.parametrize("top", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_bingham_of_any_concentration_on_the_three_sphere(top: int, scale: float) -> None:
    lam = scale * np.roll([1.0, 0.9, -0.5, 0.2], top)
    edges = towards(1.0 if top == 0 else 0.0, 0.0, 1.0, 26)
    expected = reference.on_three_sphere([0.0] * 4, list(lam), edges=edges, level=4)
    assert_same(made(np.zeros(4), lam, np.eye(4)), expected, lam, np.eye(4))


# --- Taylor series ------------------------------------------------------------------------


SERIES = [(d, scale) for d in (2, 3, 4, 7, 20) for scale in (1e-6, 1e-2, 1.0, 10.0, 100.0)]
LONG = [(7, 100.0), (20, 100.0)]  # many terms of many digits


@pytest.mark.parametrize(
    ("d", "scale"),
    [pytest.param(*s, marks=[pytest.mark.slow] if s in LONG else []) for s in SERIES],
)
def test_general_laws_by_series(d: int, scale: float) -> None:
    b, lam, axes, law = random_law(d, scale, 11)
    assert_same(law, reference.series(list(b), list(lam)), lam, axes)


@pytest.mark.parametrize("scale", [1.0, 60.0])
@pytest.mark.parametrize("d", [100, pytest.param(1024, marks=pytest.mark.slow)])
def test_general_laws_of_high_dimension_by_series(d: int, scale: float) -> None:
    """The eigenvalues take turns, so that repeated ones are seen as well."""
    lam = scale * np.resize([1.0, -1.0, 0.5, 0.5, 0.0], d)
    b = scale * np.resize([0.3, 0.0, -1.0, 0.1, 0.0, 0.0, 0.2], d) / np.sqrt(d)
    expected = reference.series(list(b), list(lam), pairs=False)
    law = made(b, lam, np.eye(d))
    assert_psi(law.psi, expected.psi_traceless(list(lam)))
    mean, second = expected.moments()
    np.testing.assert_allclose(law.mean(), mean, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(
        np.diagonal(law.second_moment()), np.diagonal(second), rtol=0, atol=TOLERANCE
    )


def test_the_two_references_agree_with_each_other() -> None:
    b, lam = [0.5, -1.0, 2.0], [1.0, -2.0, 0.5]
    direct, taylor = reference.on_sphere(b, lam, 120, level=5), reference.series(b, lam)
    assert abs(float(direct.psi - taylor.psi)) < 1e-30
    for row, other in zip(direct.second, taylor.second, strict=True):
        assert max(abs(float(x - y)) for x, y in zip(row, other, strict=True)) < 1e-30


# --- closed forms -------------------------------------------------------------------------


@HIGH
def test_no_quadratic_part_is_von_mises_fisher(d: int, kappas: tuple[float, ...]) -> None:
    axis = oracles.rotation(d, np.random.default_rng(d))[:, 0]
    for kappa in kappas:
        law = sr.FisherBingham(kappa * axis, np.zeros((d, d)))
        expected = oracles.von_mises_fisher(d, kappa)
        assert_psi(law.psi, expected.psi)
        ratio, across = float(expected.ratio), float(expected.ratio / expected.kappa)
        along = float(1 - (d - 1) * expected.ratio / expected.kappa)
        second = across * np.eye(d) + (along - across) * np.outer(axis, axis)
        np.testing.assert_allclose(law.mean(), ratio * axis, rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(law.second_moment(), second, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("d", [2, 3, 4, 33, 100])
def test_deficit_and_gap_of_a_stated_von_mises_fisher_law(d: int, kappa: float) -> None:
    """No digits may be lost to psi, which is far larger than the deficit when kappa is."""
    law = sr.FisherBingham(kappa * np.eye(d)[1], np.zeros((d, d)))
    expected = float(oracles.von_mises_fisher(d, kappa).deficit)
    assert law.deficit == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE)
    assert abs(law.gap) <= TOLERANCE * max(1.0, expected)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@HIGH
def test_rank_one_is_watson(d: int, kappas: tuple[float, ...], sign: float) -> None:
    """Kummer's 1F1(1/2; d/2; κ); all other eigenvalues are one repeated value."""
    axis = np.eye(d)[0]
    for kappa in kappas:
        law = sr.FisherBingham(np.zeros(d), sign * kappa * np.outer(axis, axis))
        psi, along = reference.watson(d, sign * kappa)
        assert_psi(law.psi, psi - mpmath.mpf(sign * kappa) / d)
        expected = np.full(d, float((1 - along) / (d - 1)))
        expected[0] = float(along)
        atol = moment_tolerance(kappa)
        np.testing.assert_allclose(law.second_moment(), np.diag(expected), rtol=0, atol=atol)
        np.testing.assert_allclose(law.mean(), 0.0, atol=TOLERANCE)


SCALES = (1e-6, 1e-2, 1.0, 1e2, 1e4, 1e6)
PAIRED = [
    *(
        (pairs, digits, scale)
        for pairs, digits in ((2, 60), (3, 80), (16, 300))
        for scale in SCALES
    ),
    *(pytest.param(128, 2500, scale, marks=pytest.mark.slow) for scale in SCALES),
    pytest.param(512, 4000, 1e4, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("pairs", "digits", "scale"), PAIRED)
def test_doubled_eigenvalues_are_complex_bingham(pairs: int, digits: int, scale: float) -> None:
    rng = np.random.default_rng(pairs)
    lam = scale * (np.arange(pairs) + 0.5 * rng.random(pairs)) / pairs
    expected, shares = reference.complex_bingham(list(lam), digits)
    both = np.repeat(lam, 2)
    law = made(np.zeros(2 * pairs), both, np.eye(2 * pairs))
    with mpmath.workdps(digits):
        assert_psi(law.psi, expected - mpmath.fsum(mpmath.mpf(v) for v in lam) / pairs)
    squares = np.repeat([float(s) for s in shares], 2)
    atol = moment_tolerance(scale)
    np.testing.assert_allclose(law.second_moment(), np.diag(squares), rtol=0, atol=atol)


@pytest.mark.parametrize("d", [6, 20])
def test_general_laws_agree_with_monte_carlo(d: int) -> None:
    b, lam, axes, law = random_law(d, 3.0, 2)
    x = np.random.default_rng(d).standard_normal((400_000, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    weight = np.exp(x @ b + (x * x) @ (lam - lam.mean()))
    error = weight.std() / np.sqrt(len(x))
    assert abs(np.exp(law.psi) - weight.mean()) < 5 * error
    share = weight / weight.sum()
    for values, expected in ((x, axes.T @ law.mean()), (x * x, _squares(law, axes))):
        found = share @ values
        spread = np.sqrt(share**2 @ (values - found) ** 2)
        assert (np.abs(found - expected) < 5 * spread).all()


def _squares(law: sr.FisherBingham, axes: Array) -> Array:
    return np.asarray(np.diagonal(axes.T @ law.second_moment() @ axes))


# --- properties ---------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.1, 5.0, 500.0])
@pytest.mark.parametrize("d", [2, 3, 4, 12])
def test_hessian_products_are_derivatives(d: int, scale: float) -> None:
    _, _, _, law = random_law(d, scale, 21)
    rng = np.random.default_rng(d)
    eta, B = rng.standard_normal(d), rng.standard_normal((d, d))
    B = B + B.T
    change = law.hessian_product(eta, B)

    def moments(t: float) -> Array:
        there = sr.FisherBingham(law.eta + t * eta, law.B + t * B)
        return np.concatenate([there.mean(), there.second_moment().ravel()])

    h = 2e-3
    slope = [(moments(k * h) - moments(-k * h)) / (2 * k * h) for k in (1, 2, 3)]
    sixth_order = 1.5 * slope[0] - 0.6 * slope[1] + 0.1 * slope[2]
    found = np.concatenate([change[0], change[1].ravel()])
    np.testing.assert_allclose(found, sixth_order, rtol=0, atol=1e-10)


def test_hessian_products_are_symmetric_and_blind_to_the_trace() -> None:
    _, _, _, law = random_law(9, 20.0, 22)
    rng = np.random.default_rng(0)
    steps = [(rng.standard_normal(9), np.diag(rng.standard_normal(9))) for _ in range(2)]
    images = [law.hessian_product(*s) for s in steps]
    one, other = (
        steps[k][0] @ images[1 - k][0] + np.vdot(steps[k][1], images[1 - k][1]) for k in range(2)
    )
    assert one == pytest.approx(other, rel=1e-12)
    still = law.hessian_product(np.zeros(9), np.eye(9))
    assert max(np.abs(part).max() for part in still) < 1e-14


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("d", [2, 3, 4, 40])
def test_turning_the_parameters_turns_the_law(d: int, scale: float) -> None:
    _, _, _, law = random_law(d, scale, 31)
    turn = oracles.rotation(d, np.random.default_rng(99))
    B = turn @ law.B @ turn.T
    turned = sr.FisherBingham(turn @ law.eta, 0.5 * (B + B.T))
    assert turned.psi == pytest.approx(law.psi, rel=1e-12, abs=1e-13)
    np.testing.assert_allclose(turned.mean(), turn @ law.mean(), atol=1e-12)
    np.testing.assert_allclose(turned.covariance(), turn @ law.covariance() @ turn.T, atol=1e-12)
    np.testing.assert_allclose(turned.eigenvalues, law.eigenvalues, rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("d", [2, 3, 4, 50, 300])
def test_the_second_moment_has_trace_one(d: int, scale: float) -> None:
    _, _, _, law = random_law(d, scale, 41)
    assert np.trace(law.second_moment()) == pytest.approx(1.0, abs=1e-12)
    assert np.trace(law.covariance()) + law.mean() @ law.mean() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("shift", [-100.0, 1e-3, 40.0])
def test_only_the_traceless_part_of_the_quadratic_matters(shift: float) -> None:
    _, _, _, law = random_law(5, 3.0, 51)
    same = sr.FisherBingham(law.eta, law.B + shift * np.eye(5))
    assert np.trace(same.B) == pytest.approx(0.0, abs=1e-13)
    assert same.psi == pytest.approx(law.psi, abs=1e-12)
    np.testing.assert_allclose(same.second_moment(), law.second_moment(), atol=1e-13)
    x = np.eye(5)
    np.testing.assert_allclose(same.logpdf(x), law.logpdf(x), atol=1e-12)


def test_density_is_the_exponential_it_says() -> None:
    b, lam, axes, law = random_law(6, 4.0, 61)
    x = oracles.rotation(6, np.random.default_rng(1))
    expected = (
        x @ (axes @ b) + ((x @ axes) ** 2) @ lam - float(reference.series(list(b), list(lam)).psi)
    )
    np.testing.assert_allclose(law.logpdf(x), expected, atol=1e-12)


BAD = [
    ([1.0, 2.0], np.eye(3), r"eta has shape \(2,\), B \(3, 3\); give \(d,\) and \(d, d\)"),
    (np.eye(3), np.eye(3), r"eta has shape \(3, 3\)"),
    ([1.0], [[1.0]], r"eta has shape \(1,\)"),
    ([1.0, 2.0], [1.0, 2.0], r"B \(2,\)"),
    ([1.0, np.nan], np.eye(2), "must be finite"),
    ([1.0, 2.0], [[1.0, 0.0], [0.0, np.inf]], "must be finite"),
    ([1.0, 2.0], [[0.0, 1.0], [0.5, 0.0]], r"not symmetric; pass \(B \+ B\.T\) / 2"),
]


@pytest.mark.parametrize(("eta", "B", "words"), BAD)
def test_bad_parameters_are_refused_in_words(eta: Any, B: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        sr.FisherBingham(eta, B)
    with pytest.raises(ValueError, match=words):
        sr.FisherBingham(np.ones(3), np.zeros((3, 3))).hessian_product(eta, B)


def test_moments_of_a_law_whose_parameters_nearly_cancel() -> None:
    """ψ was right to the last digit and the deficit off by 4e-10: moments converge more slowly.

    Reference: 8,192 equispaced nodes in 40 digits.
    """
    eta = [-34810.77797167, -21988.15144964]
    quadratic = [[-4457.56106553, -9372.8681543], [-9372.8681543, 4457.56106553]]
    with mpmath.workdps(40):
        a, b = (mpmath.mpf(v) for v in eta)
        c, s = (mpmath.mpf(quadratic[0][k]) for k in (0, 1))
        angles = [2 * mpmath.pi * k / 8192 for k in range(8192)]
        heights = [
            a * mpmath.cos(t) + b * mpmath.sin(t) + c * mpmath.cos(2 * t) + s * mpmath.sin(2 * t)
            for t in angles
        ]
        top = max(heights)
        mass = [mpmath.exp(h - top) for h in heights]
        psi = mpmath.log(sum(mass) / 8192) + top
        exact = sum(m * (h - psi) for m, h in zip(mass, heights, strict=True)) / sum(mass)
    law = sr.FisherBingham(eta, quadratic)
    assert abs(law.deficit - float(exact)) < 2e-11  # 4 roundings of the parameters, 5e4
