"""The numbers: every gap against brute force, from exact moments and from samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import oracles
import steradian as sr
from oracles import Array, Population
from steradian.errors import LevelError

LEVELS = 8
PROMISE = 1e-10  # nats, with exact moments
HOPELESS = 1e-12  # nats that rounding the moments may move before a refusal is fair
RINGS = {0.5: 40, 8.0: 64, 50.0: 96, 200.0: 160}  # of the oracle's rule; need is about 7.5 √κ
CIRCLES, SPHERES = (512, 1024, 2048, 4096, 8192, 16384), (32, 48, 72, 108, 160, 240)
TETRAHEDRON = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3)


def polygon(k: int, turn: float) -> Array:
    angle = turn + 2 * np.pi * np.arange(k) / k
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def frame(seed: int) -> Array:
    """Three orthogonal axes pointing nowhere special, as rows."""
    return oracles.rotation(3, np.random.default_rng(seed))


def _orbit(centres: Array, kappa: float) -> Population:
    return oracles.orbit(centres, kappa, LEVELS, RINGS[kappa])


CONCENTRATED: dict[str, Callable[[float, int], Population]] = {
    "vMF, sphere": lambda k, s: oracles.vmf(frame(s)[0], k, LEVELS, RINGS[k]),
    "antipodal, sphere": lambda k, s: _orbit(np.outer([1, -1], frame(s)[1]), k),
    "girdle, sphere": lambda k, s: oracles.girdle(k, frame(s)[2], LEVELS, RINGS[k]),
    "tetrahedral, sphere": lambda k, s: _orbit(TETRAHEDRON @ frame(s), k),
    "von Mises, circle": lambda k, s: oracles.vmf(polygon(1, s)[0], k, LEVELS, 0),
    "antipodal, circle": lambda k, s: _orbit(polygon(2, s), k),
    "three modes, circle": lambda k, s: _orbit(polygon(3, s), k),
    "five modes, circle": lambda k, s: _orbit(polygon(5, s), k),
    "two petals, circle": lambda k, s: oracles.petals(k, 2, s, LEVELS),
    "three petals, circle": lambda k, s: oracles.petals(k, 3, s, LEVELS),
}
RANDOM = [(2, 3, 1.0), (2, 8, 0.5), (3, 2, 1.0), (3, 4, 0.5), (3, 8, 0.12)]


def long(kind: str, kappa: float) -> bool:
    """Whether the oracle's rule takes seconds: 160 rings."""
    return kind.endswith("sphere") and RINGS[kappa] > 100


CELLS = [
    pytest.param(kind, kappa, marks=[pytest.mark.slow] if long(kind, kappa) else [])
    for kind in CONCENTRATED
    for kappa in RINGS
]


@cache
def concentrated(kind: str, kappa: float, seed: int = 1) -> Population:
    return CONCENTRATED[kind](kappa, seed)


@cache
def random_law(d: int, degree: int, scale: float, seed: int = 7) -> Population:
    return oracles.random_harmonic(d, degree, scale, LEVELS, seed)


def attempt(law: Population, levels: int = LEVELS) -> tuple[sr.results.Profile, LevelError | None]:
    """The profile from exact moments, or what a fair refusal leaves of it, and the refusal."""
    try:
        return sr.profile(exact_moments(law, levels), levels=levels), None
    except sr.ResolutionError as error:
        refusal = error
    moved = rounding_floor(law, refusal.level)
    assert moved > HOPELESS, f"{refusal}, yet rounding moves only {moved:.1e} nats"
    return levels_below(refusal), refusal


@cache
def outcome(kind: str, kappa: float) -> tuple[sr.results.Profile, LevelError | None]:
    return attempt(concentrated(kind, kappa))


def exact_moments(law: Population, levels: int) -> sr.Moments:
    expected = law.moments[: oracles.size(law.d, max(2, levels))].astype(float)
    return sr.Moments.from_expectations(sr.Harmonics(law.d, levels), expected)


def rounding_floor(law: Population, level: int) -> float:
    """Nats by which rounding the moments to double moves the deficit, to second order.

    Half of tr Cov⁻¹ u², u = 2^-53: where it is large no double-precision method can answer.
    """
    mass, _ = oracles.normalised(law.rule.weights, law.fit(level).value)
    phi = law.rule.harmonics(level)
    root = (np.sqrt(mass)[:, None] * (phi - mass @ phi)).astype(np.float64)
    singular = np.linalg.svd(np.linalg.qr(root, mode="r"), compute_uv=False)
    return float(0.5 * np.sum((2.0**-53 / singular) ** 2))


def levels_below(refusal: LevelError) -> sr.results.Profile:
    """What a refusal leaves, after checking that it names its level."""
    assert f"level {refusal.level} " in str(refusal)
    assert f"levels={refusal.level - 1} is sound" in str(refusal)
    assert refusal.profile is not None
    assert refusal.profile.levels[-1] == refusal.level - 1
    return refusal.profile


def check(law: Population, found: sr.results.Profile) -> None:
    expected = np.diff(law.deficits(len(found.levels)), prepend=0.0)
    np.testing.assert_allclose(found.gaps, expected, rtol=0.0, atol=PROMISE)
    np.testing.assert_allclose(found.deficits, np.cumsum(found.gaps), rtol=1e-14, atol=1e-14)
    assert found.numerics.residual.max() <= 1e-10
    assert found.numerics.quadrature.max() <= 1e-10


# --- the oracle itself ------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3])
def test_oracle_solver_finds_the_closed_form(d: int) -> None:
    mean = np.full(d, 1 / np.sqrt(d))
    law = oracles.vmf(mean, 8.0, 3, 48)
    found = oracles.deficits(law.rule, law.moments, 3)
    np.testing.assert_allclose(found, law.deficits(3), atol=1e-15)


def test_oracle_does_not_depend_on_its_rule() -> None:
    coarse, fine = (
        oracles.orbit(TETRAHEDRON, 50.0, LEVELS, rings).deficits(LEVELS)
        for rings in (RINGS[50.0], 160)
    )
    np.testing.assert_allclose(coarse, fine, atol=1e-14)


def test_oracle_symmetry_reduction_loses_nothing() -> None:
    law = oracles.orbit(TETRAHEDRON @ frame(3), 8.0, 4, 64)
    np.testing.assert_allclose(
        oracles.deficits(law.rule, law.moments, 4), law.deficits(4), atol=1e-15
    )


# --- exact moments ----------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "kappa"), CELLS)
def test_gaps_from_exact_moments(kind: str, kappa: float) -> None:
    check(concentrated(kind, kappa), outcome(kind, kappa)[0])


@pytest.mark.parametrize(("d", "degree", "scale"), RANDOM)
def test_gaps_of_random_laws(d: int, degree: int, scale: float) -> None:
    law = random_law(d, degree, scale)
    check(law, attempt(law)[0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
@pytest.mark.parametrize("kappa", RINGS)
@pytest.mark.parametrize("kind", CONCENTRATED)
def test_gaps_from_exact_moments_elsewhere(kind: str, kappa: float, seed: int) -> None:
    law = CONCENTRATED[kind](kappa, seed)
    for levels in (1, 3, 5, LEVELS):
        check(law, attempt(law, levels)[0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("d", "degree", "scale"), RANDOM)
def test_gaps_of_more_random_laws(d: int, degree: int, scale: float, seed: int) -> None:
    law = random_law(d, degree, scale, seed)
    check(law, attempt(law)[0])


@pytest.mark.parametrize("turn", np.linspace(0.0, 3.0, 20))
@pytest.mark.parametrize("modes", [2, 5])
def test_rotating_a_law_changes_nothing(modes: int, turn: float) -> None:
    law = _orbit(polygon(modes, turn), 8.0)
    check(law, attempt(law)[0])


# --- certificates -----------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "kappa"), CELLS)
def test_quadrature_estimate_bounds_the_error(kind: str, kappa: float) -> None:
    certified(outcome(kind, kappa)[0], concentrated(kind, kappa).rule)


def certified(found: sr.results.Profile, rule: oracles.Rule) -> None:
    """The error of every log-partition is within its estimate, or rounding."""
    for fit, estimate in zip(found.fits[1:], found.numerics.quadrature, strict=True):
        true = log_partition(rule, fit.lam, fit.level)
        rounding = 1e-15 * (8 + abs(fit.psi) + np.abs(fit.lam).sum())
        bound = max(estimate, 1e-12) + rounding  # an accepted grid promises 1e-12
        assert abs(fit.psi - true) <= bound, f"level {fit.level}, estimate {estimate:.1e}"


def log_partition(rule: oracles.Rule, lam: Array, level: int) -> float:
    value = rule.harmonics(level) @ oracles.long(lam)
    peak = value.max()
    return float(np.log(rule.weights @ np.exp(value - peak)) + peak)


@pytest.mark.parametrize("degree", [2, 4, 8])
@pytest.mark.parametrize("d", [2, 3])
def test_quadrature_estimate_bounds_the_error_of_random_laws(d: int, degree: int) -> None:
    for seed in range(25 if d == 2 else 5):
        scale = (0.2, 0.4, 0.8)[seed % 3] / (1 if d == 2 else np.sqrt(degree))
        law = oracles.random_harmonic(d, degree, scale, degree, seed)
        certified(sr.profile(exact_moments(law, degree), levels=degree), oracles.rule_for(d, 128))


@pytest.mark.parametrize("kind", ["antipodal, sphere", "tetrahedral, sphere", "antipodal, circle"])
@pytest.mark.parametrize("kappa", [0.5, 8.0, 50.0])
def test_gap_is_the_divergence_of_neighbours(kind: str, kappa: float) -> None:
    divergences(outcome(kind, kappa)[0], concentrated(kind, kappa).rule)


def divergences(found: sr.results.Profile, rule: oracles.Rule) -> None:
    points = rule.points.astype(float)
    logs = np.stack([fit.logpdf(points) for fit in found.fits])
    for level, gap in zip(found.levels, found.gaps, strict=True):
        law = np.exp(logs[level]) * rule.weights
        assert law.sum() == pytest.approx(1.0, abs=1e-9)
        divergence = law @ (logs[level] - logs[level - 1])
        assert gap == pytest.approx(float(divergence), abs=1e-9), f"level {level}"


# --- samples ----------------------------------------------------------------------------


def vmf_sample(mean: Array, kappa: float, n: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    if len(mean) == 2:
        angle = rng.vonmises(np.arctan2(mean[1], mean[0]), kappa, n)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    u, turn = rng.uniform(size=n), rng.uniform(0, 2 * np.pi, n)
    z = 1 + np.log(u + (1 - u) * np.exp(-2 * kappa)) / kappa
    axes = np.linalg.svd(mean[None])[2]
    axes[0] = mean
    radius = np.sqrt(1 - z * z)
    x = np.stack([z, radius * np.cos(turn), radius * np.sin(turn)], axis=1) @ axes
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def brute_force(x: Array, levels: int, weights: Array | None = None) -> Array:
    """Deficits of a sample, the rule refined until they stand still."""
    moments = oracles.sample_moments(x, levels, weights)
    before = np.full(levels, np.inf)
    for nodes in CIRCLES if x.shape[1] == 2 else SPHERES:
        rule = oracles.circle_rule(nodes) if x.shape[1] == 2 else oracles.sphere_rule(nodes)
        try:
            found = oracles.deficits(rule, moments, levels)
        except (ArithmeticError, np.linalg.LinAlgError):
            continue  # spikes between the nodes
        if np.abs(found - before).max() < 1e-12:
            return found
        before = found
    raise ArithmeticError("the oracle's rule does not resolve this sample")


def check_sample(x: Array, levels: int, weights: Array | None = None) -> None:
    found = sr.profile(x, weights=weights, levels=levels)
    allowed = PROMISE + 10 * found.numerics.moment_rounding
    error = np.abs(found.gaps - np.diff(brute_force(x, levels, weights), prepend=0.0))
    assert (error <= allowed).all(), (error, allowed)
    assert found.numerics.residual.max() <= 1e-10
    for fit, slack in zip(found.fits[1:], allowed, strict=True):
        mean = np.average(fit.logpdf(x), weights=weights)
        assert abs(mean - fit.deficit) <= slack, f"level {fit.level}"


POLE, DATE_LINE, NOWHERE = np.array([0.0, 0, 1]), np.array([-1.0, 0, 0]), np.array([2.0, -1, 2]) / 3


PLACES = [POLE, NOWHERE, *(pytest.param(x, marks=pytest.mark.slow) for x in (-POLE, DATE_LINE))]


@pytest.mark.parametrize("mean", PLACES, ids=str)
@pytest.mark.parametrize(("kappa", "levels"), [(0.5, 4), (8.0, 4), (50.0, 3)])
def test_gaps_of_samples_on_the_sphere(mean: Array, kappa: float, levels: int) -> None:
    check_sample(vmf_sample(mean, kappa, 300, seed=int(kappa)), levels)


@pytest.mark.parametrize("kappa", [0.5, 8.0, 50.0])
def test_gaps_of_weighted_antipodal_samples(kappa: float) -> None:
    x = vmf_sample(NOWHERE, kappa, 300, seed=int(kappa))
    check_sample(np.vstack([x, -x[:120]]), 4, np.linspace(0.1, 2.0, 420))


@pytest.mark.parametrize("mean", [[1.0, 0.0], [-1.0, 0.0], [0.0, -1.0], [0.6, 0.8]], ids=str)
@pytest.mark.parametrize(("kappa", "levels"), [(0.5, 8), (8.0, 6), (50.0, 4), (200.0, 3)])
def test_gaps_of_samples_on_the_circle(mean: list[float], kappa: float, levels: int) -> None:
    x = vmf_sample(np.array(mean), kappa, 300, seed=int(kappa))
    check_sample(x, levels)
    check_sample(np.vstack([x, -x[:120]]), levels, np.linspace(0.1, 2.0, 420))


@pytest.mark.parametrize("n", [2001, 5000])
def test_gaps_of_samples_summed_by_transform(n: int) -> None:
    check_sample(vmf_sample(NOWHERE, 3.0, n, seed=n), 4)
    check_sample(vmf_sample(np.array([-1.0, 0.0]), 3.0, n, seed=n), 6)


def test_turning_a_sample_changes_nothing() -> None:
    x = np.vstack([vmf_sample(NOWHERE, 8.0, 200, 1), vmf_sample(-POLE, 20.0, 100, 2)])
    flat = np.vstack([vmf_sample(np.array([1.0, 0]), 8.0, 90, 1), polygon(3, 0.5)])
    rng = np.random.default_rng(0)
    for data, levels in ((x, 4), (flat, 6)):
        still = sr.profile(data, levels=levels).gaps
        for _ in range(20):
            turned = data @ oracles.rotation(data.shape[1], rng).T
            assert np.abs(sr.profile(turned, levels=levels).gaps - still).max() <= PROMISE


def test_gap_is_the_divergence_of_neighbours_for_a_sample() -> None:
    x = np.vstack([vmf_sample(NOWHERE, 8.0, 200, 1), vmf_sample(-POLE, 20.0, 100, 2)])
    divergences(sr.profile(x, levels=4), oracles.sphere_rule(96))
    flat = np.vstack([vmf_sample(np.array([1.0, 0]), 8.0, 90, 1), polygon(3, 0.5)])
    divergences(sr.profile(flat, levels=5), oracles.circle_rule())


@pytest.mark.parametrize("seed", range(12))
def test_no_refusal_without_need(seed: int) -> None:
    """Twenty directions within a few degrees: level 3 is sharp, yet its moments determine it."""
    angle = np.random.default_rng(seed).normal(0.0, 0.1, 20)
    x, rule = np.stack([np.cos(angle), np.sin(angle)], axis=1), oracles.circle_rule(8192)
    value = None
    for level in (1, 2, 3):
        phi, moments = rule.harmonics(level), oracles.sample_moments(x, level)
        value = oracles.maximum_entropy(rule.weights, phi, moments, value).value
    assert value is not None
    lam = (rule.weights * value) @ rule.harmonics(3)  # the features are orthonormal
    if 2.0**-53 * np.abs(lam).sum() < 1e-9:  # the package gives up at 1e-7
        check_sample(x, 3)


def sound_levels(x: Array, levels: int) -> sr.results.Profile:
    """The profile, or what a refusal that names its level leaves of it."""
    try:
        return sr.profile(x, levels=levels)
    except (sr.ResolutionError, sr.ConvergenceError) as error:
        return levels_below(error)


def test_concentrated_sample_is_right_or_refused() -> None:
    x = vmf_sample(NOWHERE, 200.0, 500, 11)
    found = sound_levels(x, 5)
    assert len(found.levels) >= 3
    allowed = PROMISE + 10 * found.numerics.moment_rounding[:2]
    error = np.abs(found.gaps[:2] - np.diff(brute_force(x, 2), prepend=0.0))
    assert (error <= allowed).all(), (error, allowed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 12])
@pytest.mark.parametrize("mean", [POLE, NOWHERE], ids=str)
def test_every_sound_level_of_a_concentrated_sample(mean: Array, seed: int) -> None:
    x = vmf_sample(mean, 200.0, 500, seed)
    found = sound_levels(x, 5)
    levels = min(len(found.levels), 4)  # 240 rings leave 2e-9 at level 4, 400 leave 1e-12
    moments = oracles.sample_moments(x, levels)
    expected = np.diff(oracles.deficits(oracles.sphere_rule(400), moments, levels), prepend=0.0)
    error = np.abs(found.gaps[:levels] - expected)
    allowed = PROMISE + 10 * found.numerics.moment_rounding[:levels]
    assert (error <= allowed).all(), (error, allowed)
