"""Narrow peaks and kinks of references: right within what is stated, or refused.

A peak of a reference that no rule of the space meets would leave every number wrong and every rule
in agreement. Exact values come from closed forms (mixtures with von Mises-Fisher laws) or from
rules that are cut along the kink, which the library does not have.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import logsumexp

import steradian as sr
from oracles_peaks import first_deficit, half_peaked, highest, log_mean
from steradian.numerics.arrays import Array

C = np.array([0.3, 0.5, np.sqrt(0.66)])
SKY = sr.Sphere()


def rows(kappa: float, centre: Array, seed: int, near: int = 60) -> Array:
    rng = np.random.default_rng(seed)
    space = sr.Sphere() if len(centre) == 3 else sr.Circle()
    law = sr.FisherBingham(kappa * centre, np.zeros((len(centre), len(centre))))
    return np.concatenate([space.uniform(200, rng), law.sample(near, rng)])


@pytest.mark.parametrize("kappa", [30.0, 1e3, 1e4, 1e5, 1e6, 1e8])
@pytest.mark.parametrize("d", [2, 3])
def test_a_peak_is_integrated_or_refused(kappa: float, d: int) -> None:
    centre = C if d == 3 else np.array([0.6, 0.8])
    x = rows(kappa, centre, seed=int(kappa) % 97)
    exact = first_deficit(x.mean(axis=0), kappa, centre)
    try:
        p = sr.profile(x, levels=1, reference=half_peaked(kappa, centre))
    except sr.ResolutionError:
        assert kappa >= (1e5 if d == 3 else 1e6)
        return
    assert abs(p.deficits[0] - exact) <= p.numerics.quadrature[0] + 1e-10
    assert kappa <= (1e4 if d == 3 else 1e6)


@pytest.mark.parametrize("seed", range(8))
def test_no_rule_coarser_than_what_resolves_the_peak_serves(seed: int) -> None:
    """Coarse rules of the circle agree with each other to rounding, and miss half of the mass."""
    rng = np.random.default_rng([seed, 31])
    angle, kappa = rng.uniform(0.0, 2.0 * np.pi), float(10.0 ** rng.uniform(3.5, 5.5))
    centre = np.array([np.cos(angle), np.sin(angle)])
    x = rows(kappa, centre, seed)
    p = sr.profile(x, levels=1, reference=half_peaked(kappa, centre))
    exact = first_deficit(x.mean(axis=0), kappa, centre)
    assert abs(p.deficits[0] - exact) <= p.numerics.quadrature[0] + 1e-10


def test_a_bump_of_half_a_degree_is_not_missed() -> None:
    """The density of the peak, 2,000 times the rest, holds a twentieth of the mass."""

    def bump(x: Array) -> Array:
        return 1.0 + 2000.0 * (x @ C > np.cos(np.radians(0.57)))

    x = np.concatenate([SKY.uniform(300, np.random.default_rng(1)), np.tile(C, (15, 1))])
    share = np.sin(0.5 * np.radians(0.57)) ** 2

    def dual(a: Array) -> float:
        within = np.log(2000.0 * share) + a @ C  # a cap so small is a point to 3e-5 of a·x
        return float(
            np.logaddexp(log_mean(a), within) - np.log1p(2000.0 * share) - a @ x.mean(axis=0)
        )

    exact = highest(dual, 3)
    try:
        p = sr.profile(x, levels=1, reference=bump)
    except sr.ResolutionError:
        return
    assert abs(p.deficits[0] - exact) <= p.numerics.quadrature[0] + 1e-5


def test_a_peak_that_no_row_lies_in_is_seen_by_the_finest_rule() -> None:
    """The rules of a few hundred nodes agree to rounding that there is no such peak."""
    kappa = 3e3
    x = SKY.uniform(300, np.random.default_rng(2))
    x = x[x @ C < 0.9]
    p = sr.profile(x, levels=1, reference=half_peaked(kappa, C))
    exact = first_deficit(x.mean(axis=0), kappa, C)
    assert abs(p.deficits[0] - exact) <= p.numerics.quadrature[0] + 1e-10


@pytest.mark.parametrize(
    "space", [sr.Circle(), sr.Sphere(), sr.Axes(3), sr.Torus(2), sr.Rotations()], ids=repr
)
def test_rows_on_a_peak_between_all_nodes_are_named(space: sr.Space) -> None:
    rng = np.random.default_rng(3)
    x = space.uniform(50, rng)

    def speck(points: Array) -> Array:
        far = np.abs(points - x[7]).max(axis=1) > 1e-7
        back = np.abs(points + x[7]).max(axis=1) > 1e-7
        return np.where(far & (back | (space.d == 4 and space.dimension == 2)), 1.0, 1e9)

    with pytest.raises(sr.ResolutionError, match=r"1 row lies on a peak .*row 7.*sr\.Directions"):
        sr.profile(sr.Directions(x, space=space), levels=1, reference=speck)


@pytest.mark.parametrize("away", [0.0, 0.6, 1.2, 2.5])
def test_a_peak_that_one_node_met_by_chance_is_refused(away: float) -> None:
    """The finest rule has a node on it, and the turned copies that integrate have none."""
    kappa = 1e7
    node = SKY.rule(SKY.rules() - 1).points[77_777]
    aside = np.cross(node, C)
    centre = node + away / np.sqrt(kappa) * aside / np.linalg.norm(aside)
    centre /= np.linalg.norm(centre)
    for near in (0, 7):
        with pytest.raises(sr.ResolutionError, match="peak"):
            sr.profile(rows(kappa, centre, 3, near), levels=1, reference=half_peaked(kappa, centre))


def test_the_density_of_a_mask_is_held_to_the_same() -> None:
    x = rows(1e6, C, seed=4)
    x = x[np.abs(x[:, 2]) > 0.2]
    peaked = sr.Mask(bands=[(-11.0, 11.0)], density=half_peaked(1e6, C))
    with pytest.raises(sr.ResolutionError, match="on a peak of the reference"):
        sr.profile(x, levels=1, reference=peaked)
    smooth = sr.Mask(bands=[(-11.0, 11.0)], density=half_peaked(30.0, C))
    assert sr.profile(x, levels=2, reference=smooth).numerics.quadrature.max() < 1e-10


def test_a_sharp_law_as_a_reference_is_refused_as_one() -> None:
    law = sr.FisherBingham(1e6 * C, np.zeros((3, 3)))
    with pytest.raises(sr.ResolutionError, match="on a peak of the reference"):
        sr.profile(law.sample(50, 1), levels=1, reference=law)


def test_a_high_pixel_is_integrated_exactly() -> None:
    """A map is cut at its pixels: one that holds 2/3 of the mass costs no digit."""
    values = np.ones(12 * 32**2)
    sky = sr.HealpixMap(values, "ring")
    pixel = int(np.flatnonzero([sky.at(C[None])])[0])
    index = np.arange(float(len(values)))
    pixel = int(sr.HealpixMap(index + 1.0, "ring").at(C[None])[0]) - 1
    values[pixel] = 2.0 * len(values)
    x = np.concatenate([SKY.uniform(40, np.random.default_rng(5)), np.tile(C, (40, 1))])
    p = sr.profile(x, levels=1, reference=sr.HealpixMap(values, "ring"))
    y = SKY.uniform(1 << 21, np.random.default_rng(6))
    within = y[sr.HealpixMap(index + 1.0, "ring").at(y) == pixel + 1.0]

    def dual(a: Array) -> float:
        peak = np.log(2.0) + np.log(np.exp(within @ a).mean())
        return float(np.logaddexp(log_mean(a), peak) - np.log(3.0) - a @ x.mean(axis=0))

    exact = highest(dual, 3)
    assert abs(p.deficits[0] - exact) < 2e-4  # of 170 draws in a pixel of 1.8°: .01 of a·x each


# --- kinks ----------------------------------------------------------------------------------

PROFILES: dict[str, Callable[[Array, float], Array]] = {
    "cusp": lambda t, h: np.abs(t - h),
    "ramp": lambda t, h: 0.1 + np.maximum(t - h, 0.0),
    "step": lambda t, h: np.where(t > h, 1.2, 0.2),
}


def cut_rule(h: float, centre: Array, nodes: int = 60) -> tuple[Array, Array, Array]:
    """A rule of the sphere that is cut along {x: centre·x = h}: points, weights and heights."""
    at, weight = np.polynomial.legendre.leggauss(nodes)
    z, w = [], []
    for low, high in ((-1.0, h), (h, 1.0)):
        z.append(low + 0.5 * (high - low) * (at + 1.0))
        w.append(0.25 * (high - low) * weight)
    height, mass = np.concatenate(z), np.concatenate(w)
    turn = 2.0 * np.pi * np.arange(48) / 48
    first = np.linalg.svd(centre[None])[2][1:]
    ring = np.cos(turn)[:, None] * first[0] + np.sin(turn)[:, None] * first[1]
    points = (
        height[:, None, None] * centre + np.sqrt(1.0 - height**2)[:, None, None] * ring[None]
    ).reshape(-1, 3)
    return points, np.repeat(mass / 48, 48), np.repeat(height, 48)


def polynomials(x: Array, level: int) -> Array:
    one, two, three = x.T
    first = [one, two, three]
    second = [one * two, one * three, two * three, one**2 - two**2, 3.0 * three**2 - 1.0]
    return np.column_stack(first + (second if level > 1 else []))


def exact_deficits(x: Array, points: Array, mass: Array) -> Array:
    out = []
    for level in (1, 2):
        phi, m = polynomials(points, level), polynomials(x, level).mean(axis=0)
        lam, step = np.zeros(len(m)), np.zeros(len(m))
        dual = -np.inf
        for _ in range(200):
            logs = np.log(mass) + phi @ (lam + step)
            psi = float(logsumexp(logs))
            if (lam + step) @ m - psi < dual:
                step = 0.5 * step
                continue
            lam = lam + step
            dual = float(lam @ m - psi)
            p = np.exp(logs - psi)
            mean = p @ phi
            covariance = (phi - mean).T @ (p[:, None] * (phi - mean))
            step = np.linalg.solve(covariance, m - mean)
            if step @ (m - mean) < 1e-24:
                break
        out.append(dual)
    return np.array(out)


@pytest.mark.parametrize("shape", PROFILES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_kink_states_its_error(shape: str, seed: int) -> None:
    rng = np.random.default_rng([seed, len(shape)])
    centre, h = SKY.uniform(1, rng)[0], rng.uniform(-0.8, 0.8)
    x = SKY.uniform(60, rng)
    points, mass, height = cut_rule(h, centre)
    mass = mass * PROFILES[shape](height, h)
    exact = exact_deficits(x, points, mass / mass.sum())
    found = sr.profile(x, levels=2, reference=lambda y: PROFILES[shape](y @ centre, h))
    assert (np.abs(found.deficits - exact) <= found.numerics.quadrature).all()
    assert found.numerics.quadrature.max() < (1e-3 if shape == "step" else 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("shape", PROFILES)
def test_many_kinks_state_their_errors(shape: str) -> None:
    """Five standard errors of sixteen turned copies: one error in six thousand is larger."""
    rng = np.random.default_rng([7, len(shape)])
    for _ in range(12):
        centre, h = SKY.uniform(1, rng)[0], rng.uniform(-0.9, 0.9)
        x = SKY.uniform(int(rng.integers(30, 80)), rng)
        points, mass, height = cut_rule(h, centre)
        mass = mass * PROFILES[shape](height, h)
        exact = exact_deficits(x, points, mass / mass.sum())
        found = sr.profile(
            x, levels=2, reference=lambda y, c=centre, h=h: PROFILES[shape](y @ c, h)
        )
        assert (np.abs(found.deficits - exact) <= found.numerics.quadrature).all()
