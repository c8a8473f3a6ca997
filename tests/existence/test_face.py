"""Does any f >= 0 of a level vanish on a support? Verdicts on supports that nobody chose.

Functions found are checked by the harmonics of `oracles`; that there is none by a simplex
programme on another grid; what stays open must say why.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog

import oracles
import steradian as sr
from oracles import Array
from steradian.existence import face
from steradian.existence.body import examine_circle, examine_face
from steradian.existence.face import face_of
from steradian.existence.placement import Placement, Verdict

Rng = np.random.Generator


def unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True), dtype=np.float64)


def generic(n: int, rng: Rng) -> Array:
    return unit(rng.standard_normal((n, 3)))


def circles(n: int, rng: Rng) -> Array:
    """One to three parallel circles and up to four other points, turned."""
    heights = rng.uniform(-0.9, 0.9, rng.integers(1, 4))
    angle = rng.uniform(0.0, 2.0 * np.pi, (len(heights), max(1, n // len(heights))))
    radius = np.sqrt(1.0 - heights**2)[:, None]
    z = np.broadcast_to(heights[:, None], angle.shape)
    x = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=2).reshape(-1, 3)
    return np.vstack([x, generic(4, rng)[: rng.integers(0, 5)]]) @ oracles.rotation(3, rng).T


def lattice(n: int, rng: Rng) -> Array:
    cube = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    cube = unit(cube[np.abs(cube).sum(axis=1) > 0])
    return np.asarray(cube[rng.permutation(len(cube))[:n]])


def cluster(n: int, rng: Rng) -> Array:
    spread = 10.0 ** rng.uniform(-3, -0.5)
    return unit(np.array([0.6, 0.0, -0.8]) + spread * rng.standard_normal((n, 3)))


def clusters(n: int, rng: Rng) -> Array:
    spread = 10.0 ** rng.uniform(-3, -0.5)
    centres = generic(int(rng.integers(2, 5)), rng)
    return unit(centres[rng.integers(len(centres), size=n)] + spread * rng.standard_normal((n, 3)))


def antipodes(n: int, rng: Rng) -> Array:
    x = generic(max(1, n // 2), rng)
    return np.vstack([x, -x])


def single_precision(n: int, rng: Rng) -> Array:
    return unit(circles(n, rng).astype(np.float32).astype(np.float64))


KINDS: dict[str, Callable[[int, Rng], Array]] = {
    kind.__name__: kind
    for kind in (generic, circles, lattice, cluster, clusters, antipodes, single_precision)
}


def highest(x: Array, level: int) -> float:
    """The largest least value of an f of integral one with f = 0 on ``x``, on finitely many points.

    Negative: no f >= 0 vanishes on ``x``. Points about each of ``x`` stand for the slopes.
    """
    rng = np.random.default_rng(1)
    points = [np.asarray(oracles.sphere_rule(24).points, dtype=np.float64)]
    around = np.repeat(x, 8, axis=0)
    points += [unit(around + r * rng.standard_normal(around.shape)) for r in (1e-2, 5e-2)]
    phi, zeros = (
        np.asarray(oracles.harmonics(p, level), dtype=np.float64) for p in (np.vstack(points), x)
    )
    q = phi.shape[1]
    found = linprog(
        np.append(np.zeros(q), -1.0),
        np.column_stack([-phi, np.ones(len(phi))]),
        np.ones(len(phi)),
        np.column_stack([zeros, np.zeros(len(x))]),
        -np.ones(len(x)),
        bounds=[(-2.0 * level, 2.0 * level)] * q + [(None, 1.0)],
    )
    return -1.0 if found.status == 2 else float(-found.fun)


def assert_certifies(f: sr.results.Certificate, x: Array, rng: Rng) -> None:
    near = x[rng.integers(len(x), size=2000)]
    near = unit(near + 10.0 ** rng.uniform(-4, -0.5, (2000, 1)) * rng.standard_normal((2000, 3)))
    rule = np.asarray(oracles.sphere_rule(60).points, dtype=np.float64)
    for points in (near, rule):
        assert (1.0 + oracles.harmonics(points, f.level) @ f.lam).min() > -1e-8
    assert np.abs(1.0 + oracles.harmonics(x, f.level) @ f.lam).max() < 1e-8


def examined(x: Array, level: int, weights: Array | None = None) -> tuple[Array, Placement]:
    """Distinct points, and what is said of them before any iteration."""
    points, weight = sr.Directions(x, weights, normalize=True).support()
    return points, sr.Harmonics(3, level).family(level).examine(points, weight)


@pytest.mark.parametrize(
    ("level", "few", "enough"),
    [
        (3, 5, 6),
        (4, 8, 9),
        (5, 11, 12),
        (6, 15, 16),
        pytest.param(7, 19, 21, marks=pytest.mark.slow),
    ],
)
def test_generic_points_change_sides_with_their_count(level: int, few: int, enough: int) -> None:
    """Decided before any iteration, and confirmed by a simplex programme on another grid."""
    for seed in range(3):
        rng = np.random.default_rng([seed, level])
        x = generic(enough, rng)
        points, outside = examined(x[:few], level)
        assert outside.verdict is Verdict.OUTSIDE
        assert outside.certificate is not None
        assert_certifies(outside.certificate, points, rng)
        assert highest(points, level) > -1e-7
        points, inside = examined(x, level)
        assert inside.verdict is Verdict.INSIDE
        assert highest(points, level) < -1e-7


@pytest.mark.slow
def test_twenty_points_lie_on_either_side_of_level_seven() -> None:
    """So no count decides: one set in twenty has a function, and an independent grid agrees."""
    found = set()
    for seed in (0, 1, 2):
        rng = np.random.default_rng([seed, 7])
        x, placement = examined(generic(21, rng)[:20], 7)
        found.add(placement.verdict)
        if placement.certificate is not None:
            assert_certifies(placement.certificate, x, rng)
            assert highest(x, 7) > -1e-7
        else:
            assert highest(x, 7) < 0.0
    assert found == {Verdict.INSIDE, Verdict.OUTSIDE}


@pytest.mark.parametrize(("n", "level"), [(28, 8), (34, 9), (60, 9), (57, 12)])
def test_contact_conditions_alone_decide(
    n: int, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3 n >= (L + 1)² points in general position: nothing else is asked."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a programme was solved")

    monkeypatch.setattr(face, "minimise", refuse)
    monkeypatch.setattr(face, "dips", refuse)
    x = generic(n, np.random.default_rng(n))
    assert examined(x, level)[1].verdict is Verdict.INSIDE


@pytest.mark.parametrize("level", range(2, 10))
def test_fewer_points_than_half_degree_polynomials_are_on_the_boundary(level: int) -> None:
    count = (level // 2 + 1) ** 2 - 1
    rng = np.random.default_rng(level)
    x, placement = examined(generic(count, rng), level)
    assert placement.verdict is Verdict.OUTSIDE
    assert placement.certificate is not None
    assert_certifies(placement.certificate, x, rng)


def test_weights_have_no_say_about_existence() -> None:
    """A point of hardly any weight is a point: no function that misses it is a certificate."""
    rng = np.random.default_rng(3)
    angle = rng.uniform(0.0, 2.0 * np.pi, 12)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(12)], axis=1)
    x = np.vstack([ring, [[0.0, 0.6, 0.8]]])
    for light in (1e-12, 1e-24, 1e-200):
        weights = np.append(np.ones(12), light)
        assert examined(x, 2, weights)[1].verdict is Verdict.INSIDE
        assert examined(x[:12], 2, weights[:12])[1].verdict is Verdict.OUTSIDE


def test_light_points_of_the_circle_are_inside() -> None:
    angle = np.array([0.0, 1.0, 2.5])
    x = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    placement = examine_circle(x, np.array([1.0, 1.0, 1e-30]), 2)
    assert placement.verdict is Verdict.INSIDE


def test_what_rounding_hides_is_said() -> None:
    """Clusters so tight that their contact conditions lose all digits at a high level."""
    rng = np.random.default_rng(0)
    centres = generic(4, rng)
    x = unit(np.repeat(centres, 14, axis=0) + 1e-3 * rng.standard_normal((56, 3)))
    placement = examine_face(x, 9)
    assert placement.verdict is Verdict.UNSURE
    assert placement.certificate is None
    assert placement.words == (
        "whether level 9 exists is not decided: rounding hides which functions vanish on all "
        "points; a limit of ours, not of the data"
    )


def test_rounds_that_run_out_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(face, "ROUNDS", 0)
    x = generic(19, np.random.default_rng(5))
    placement = examine_face(x, 7)
    assert placement.verdict is Verdict.UNSURE
    assert "0 linear programmes were not enough" in placement.words


def test_many_points_are_asked_in_part() -> None:
    """A circle of thousands and five others: level 5 by a function that is no square."""
    rng = np.random.default_rng(8)
    angle = rng.uniform(0.0, 2.0 * np.pi, 5000)
    radius = np.sqrt(1.0 - 0.09)
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(5000, 0.3)], axis=1)
    x = np.vstack([ring, generic(5, rng)])
    found = face_of(x, 5)
    assert found.verdict is Verdict.OUTSIDE
    assert found.function is not None
    assert_certifies(sr.results.Certificate(3, 5, found.function[1:]), x, rng)
    assert face_of(np.vstack([x, generic(4, rng)]), 5).verdict is Verdict.INSIDE


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_supports_that_nobody_chose(kind: str) -> None:
    """Certificates hold, 'inside' is confirmed where a coarse programme can, the rest has words."""
    rng = np.random.default_rng([77, len(kind)])
    for _ in range(60):
        n, level = int(rng.integers(3, 61)), int(rng.integers(2, 10))
        x = KINDS[kind](n, rng)
        weights = 10.0 ** rng.uniform(-12.0, 0.0, len(x))
        if rng.random() < 0.2:
            x, weights = np.vstack([x, x[:5]]), np.concatenate([weights, weights[:5]])
        points, placement = examined(x, level, weights)
        if placement.verdict is Verdict.UNSURE:
            placement = examine_face(points, level)
        if placement.verdict is Verdict.OUTSIDE:
            assert placement.certificate is not None
            assert_certifies(placement.certificate, points, rng)
            if kind == "generic" and level > 2:
                assert highest(points, level) > -1e-7
        elif placement.verdict is Verdict.UNSURE:
            assert placement.words.endswith("a limit of ours, not of the data")
        elif kind == "generic" and 2 < level < 7:
            assert highest(points, level) < 0.0
