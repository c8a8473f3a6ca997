"""Every method of a profile works with every hierarchy, or refuses in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import steradian as sr
from conformance.skeleton import Mirrored
from steradian.conformance.methods import ANSWERED, CALLS
from steradian.families.relative import nodes as relative_nodes
from steradian.hierarchies import Hierarchy
from steradian.spaces import Sphere

N = 120


def axes(d: int, stretch: float) -> sr.Directions:
    x = np.random.default_rng(d).normal(size=(N, d))
    x[:, -1] *= stretch
    return sr.Directions(x, normalize=True)


def angles(k: int) -> sr.Directions:
    theta = np.random.default_rng(k).vonmises(0.0, 1.5, (N, k))
    theta[:, -1] += 0.5 * theta[:, 0]
    return sr.Directions(sr.Torus(k).points(theta), space=sr.Torus(k))


def linear(x: Any) -> Any:
    return x


def squares(x: Any) -> Any:
    return x * x


OBJECTS: dict[str, tuple[Hierarchy, sr.Directions]] = {
    "Harmonics(2, 3)": (sr.Harmonics(2, 3), axes(2, 2.0)),
    "Harmonics(3, 2)": (sr.Harmonics(3, 2), axes(3, 2.0)),
    "Harmonics(5, 2)": (sr.Harmonics(5, 2), axes(5, 2.0)),
    "Harmonics(4, 3)": (sr.Harmonics(4, 3), axes(4, 2.0)),
    "Axial(2, 2)": (sr.Axial(2, 2), axes(2, 2.0)),
    "Axial(3, 2)": (sr.Axial(3, 2), axes(3, 2.0)),
    "Axial(6, 1)": (sr.Axial(6, 1), axes(6, 2.0)),
    "rotations": (sr.Axial.on(sr.Rotations(), 1), axes(4, 3.0)),
    "Zonal(5, 3)": (sr.Zonal([0, 0, 0, 1, 2], 3), axes(5, 2.0)),
    "Sketch(4, 5, 3)": (sr.Sketch(4, 5, 3, seed=2), axes(4, 2.0)),
    "Sketch(6, 3, 3)": (sr.Sketch(6, 3, 3, seed=1), axes(6, 2.0)),
    "LowRank(5, 2)": (sr.LowRank(np.eye(5)[:, 3:], 2), axes(5, 2.0)),
    "bounded": (sr.Zonal([0, 0, 0, 1, 2], 3, features="bounded", kappa=1.0), axes(5, 2.0)),
    "Diagonal(5)": (sr.Diagonal(5), axes(5, 2.0)),
    "Blocks([2, 2])": (sr.Blocks([2, 2]), axes(4, 2.0)),
    "Quadratics(4)": (sr.Quadratics(4, [range(4), (0, 0, 1, 1), (0,) * 4]), axes(4, 2.0)),
    "Interactions(2, 1)": (sr.Interactions(2, 1), angles(2)),
    "TorusHarmonics(2, 2)": (sr.TorusHarmonics(2, 2), angles(2)),
    "Stacked": (sr.Stacked([sr.Diagonal(3), sr.Zonal([0, 1, 2], 3)]), axes(3, 2.0)),
    "Custom": (sr.Custom(Sphere(), [linear, squares]), axes(3, 2.0)),
    "the docs' skeleton": (Mirrored(3), axes(2, 2.0)),
}


@pytest.fixture(scope="module", autouse=True)
def few_nodes() -> Iterator[None]:
    """An eighth of the quasi-random nodes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relative_nodes, "_MOST", 13)
        relative_nodes._relative_nodes.cache_clear()
        yield
    relative_nodes._relative_nodes.cache_clear()


@cache
def profile_of(name: str) -> sr.results.Profile:
    hierarchy, rows = OBJECTS[name]
    return sr.profile(rows, hierarchy=hierarchy)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", OBJECTS)
def test_answers_or_refuses_in_words(name: str, call: str) -> None:
    answer, refused = answered(CALLS[call], profile_of(name))
    if refused is not None:
        assert refused.strip()
        assert call not in ANSWERED, refused
    for p in np.ravel(getattr(answer, "pvalue", [])):
        assert np.isnan(p) or 0.0 <= p <= 1.0


def answered(
    call: Callable[[sr.results.Profile], Any], profile: sr.results.Profile
) -> tuple[Any, str | None]:
    """What a call gives, or the words of its refusal."""
    try:
        return call(profile), None
    except sr.SteradianError as error:
        return None, str(error)


@pytest.mark.parametrize("name", OBJECTS)
def test_what_holds_for_all(name: str) -> None:
    p, (hierarchy, rows) = profile_of(name), OBJECTS[name]
    assert (p.gaps > -1e-12).all()
    assert json.loads(json.dumps(p.to_dict())) == p.to_dict()
    for level, fit in enumerate(p.fits[1:], start=1):
        assert fit.logpdf(rows).mean() == pytest.approx(p.deficits[level - 1], abs=1e-9)
        assert len(fit.lam) == hierarchy.q(level)
    halves = [
        sr.Moments.from_directions(rows.take(np.arange(N) % 2 == k), hierarchy) for k in (0, 1)
    ]
    np.testing.assert_allclose(sr.profile(halves[0] + halves[1]).gaps, p.gaps, atol=1e-9)
    weights = np.random.default_rng(1).gamma(2.0, size=(3, N))
    stack = sr.profiles(rows, weights=weights, hierarchy=hierarchy)
    for row in range(3):
        again = sr.Directions(rows.x, weights[row], space=rows.space)
        one = sr.profile(again, hierarchy=hierarchy)
        np.testing.assert_allclose(stack.gaps[row], one.gaps, atol=1e-9)
    shrunk = sr.profile(rows, hierarchy=hierarchy, shrinkage=0.1)
    assert (shrunk.deficits < p.deficits + 1e-12).all()
