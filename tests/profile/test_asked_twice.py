"""What a profile was asked before is not worked out again, and no step climbs the ladder twice."""

from __future__ import annotations

from collections import Counter
from inspect import getattr_static
from typing import Any

import numpy as np
import pytest

import steradian as sr
from steradian.families.grids.gridded import GriddedFamily
from steradian.families.grids.laws import GridLaws
from steradian.families.nodes.family import NodeFamily
from steradian.families.nodes.rules import Nodes
from steradian.families.quadratics.fisher_bingham import FisherBinghamFamily
from steradian.families.quadratics.von_mises_fisher import VonMisesFisherFamily
from steradian.hierarchies.harmonics import Harmonics
from steradian.hierarchies.torus import TorusHarmonics
from steradian.inference.sample import Memo
from steradian.numerics.arrays import Array
from steradian.spaces.circle import Circle, CircleGrid
from steradian.spaces.sphere import Sphere, SphereGrid

_COSTLY: tuple[tuple[type, tuple[str, ...]], ...] = (
    (GriddedFamily, ("log_partition", "rule", "expectations", "solve", "margin_bound")),
    (GridLaws, ("climb",)),
    (NodeFamily, ("log_partition", "rule", "expectations", "solve")),
    (VonMisesFisherFamily, ("log_partition", "whitening", "solve")),
    (FisherBinghamFamily, ("log_partition", "whitening", "solve", "margin_bound")),
    (Nodes, ("psi", "root")),
    (Harmonics, ("features", "sums")),
    (TorusHarmonics, ("features",)),
    (Circle, ("harmonics",)),
    (Sphere, ("harmonics",)),
    (CircleGrid, ("synthesize", "analyze", "unresolved")),
    (SphereGrid, ("synthesize", "analyze", "unresolved")),
)


class Calls:
    """How often each costly method was called, and with how many rows first."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count: Counter[str] = Counter()
        self.rows: Counter[tuple[str, int]] = Counter()
        for owner, names in _COSTLY:
            for name in names:
                self._watch(monkeypatch, owner, name)

    def _watch(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        plain, label = getattr(owner, name), f"{owner.__name__}.{name}"
        static = isinstance(getattr_static(owner, name), staticmethod)
        first = 0 if static else 1

        def counted(*given: Any, **named: Any) -> Any:
            self.count[label] += 1
            if len(given) > first and isinstance(given[first], np.ndarray):
                self.rows[label, len(given[first])] += 1
            return plain(*given, **named)

        monkeypatch.setattr(owner, name, staticmethod(counted) if static else counted)

    def of(self, work: Any) -> Counter[str]:
        """Calls that ``work`` makes."""
        self.count.clear()
        self.rows.clear()
        work()
        return Counter(self.count)


def _unit(n: int, d: int) -> Array:
    x = np.random.default_rng(3).normal(size=(n, d))
    x[:, 0] += 1.0
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def _profile(kind: str) -> sr.results.Profile:
    if kind == "torus":
        angles = np.random.default_rng(3).vonmises(0.0, 1.0, (321, 2))
        rows = sr.Directions(sr.Torus(2).points(angles), space=sr.Torus(2))
        return sr.profile(rows, hierarchy=sr.TorusHarmonics(2, 2))
    d, levels = {"circle": (2, 4), "sphere": (3, 4), "hypersphere": (5, 2)}[kind]
    return sr.profile(_unit(321, d), levels=levels)


@pytest.mark.parametrize("kind", ["circle", "sphere", "hypersphere", "torus"])
def test_printing_twice_computes_nothing_twice(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh, p = str(_profile(kind)), _profile(kind)
    calls = Calls(monkeypatch)
    first = str(p)
    assert not calls.of(lambda: str(p))
    assert str(p) == first == fresh  # whatever was watched or kept


@pytest.mark.parametrize("kind", ["circle", "sphere", "hypersphere", "torus"])
def test_what_was_asked_is_not_worked_out_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    p, fresh = _profile(kind), str(_profile(kind))
    calls = Calls(monkeypatch)
    tests, intervals, residuals = p.tests(), p.intervals(), p.residuals()
    assert str(p) == fresh
    assert not calls.of(lambda: (p.tests(), p.intervals(), p.residuals(), p.trust(), str(p)))
    assert p.tests() is tests
    assert p.intervals() is intervals
    assert p.residuals() is residuals


@pytest.mark.parametrize("kind", ["circle", "sphere"])
def test_no_step_climbs_the_ladder_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spectrum is looked at once per fit; later only for level 1, which has a closed form."""
    p = _profile(kind)
    closed, calls = p.fits[1].lam[None], Calls(monkeypatch)
    family = p.moments.hierarchy.family(2)
    climb = "GridLaws.climb"
    calls.of(lambda: family.whitening(closed))
    once = calls.rows[climb, 1]  # stacks of draws are fits of their own
    assert once
    calls.of(p.tests)
    assert calls.rows[climb, 1] == once
    calls.of(lambda: p.residuals(method="exact"))
    assert calls.rows[climb, 1] <= once
    calls.of(p.intervals)
    assert not calls.rows[climb, 1]


@pytest.mark.parametrize(("kind", "space"), [("circle", "Circle"), ("sphere", "Sphere")])
def test_features_of_the_rows_are_formed_once(
    kind: str, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for the levels and once for the wider ones of residuals, whatever is asked after."""
    p = _profile(kind)
    calls = Calls(monkeypatch)
    calls.of(lambda: (p.tests(), p.intervals(), p.residuals(), p.trust(), str(p)))
    assert calls.rows[f"{space}.harmonics", p.n] == 2


def test_torus_rules_travel_with_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    p = _profile("torus")
    calls = Calls(monkeypatch)
    found = calls.of(lambda: (p.tests(), p.residuals(), p.intervals()))
    assert not found["Nodes.psi"]  # which only a climb asks for


def test_refusals_are_not_remembered_as_answers() -> None:
    p = _profile("circle")
    p.residuals(degree=6)
    with pytest.raises(ValueError, match=r"degree is 6\.0"):
        p.residuals(degree=6.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="confidence"):
        p.intervals([0.9])  # type: ignore[arg-type]


def test_what_cannot_be_looked_up_is_worked_out() -> None:
    memo, done = Memo(), []
    for _ in range(2):
        memo.once(["no key"], lambda: done.append(1))  # type: ignore[arg-type]
    assert len(done) == 2


def test_answers_that_are_kept_cannot_be_written_to() -> None:
    x = np.random.default_rng(0).normal(size=(60, 3)) + 0.5
    p = sr.profile(x / np.linalg.norm(x, axis=1, keepdims=True), levels=2)
    for kept in (p.tests().pvalue, p.intervals().low, p.uniformity().pvalue):
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 0.5
