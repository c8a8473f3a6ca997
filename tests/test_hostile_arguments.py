"""Every argument of every public door, one after the other, with whatever somebody may pass.

A door is a callable with arguments that work; each argument in turn is replaced by each of
`VALUES`. What comes back is a result, or an error of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest

import steradian as sr
from steradian.paper import sample_tests, sketches
from test_hostile import PROFILE, VALUES, H, X, trouble, unit

GROUPS = ["a", "b"] * 6
LARGE = sr.profile(unit(60, 3), levels=2)
LONG = unit(100, 3)
COMPARED = sr.compare(X, by=GROUPS, levels=1)
ANGLES = np.linspace(0.0, 6.0, 12)
DEGREES = np.linspace(0.0, 80.0, 12)
PAIRS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES), np.cos(2 * ANGLES), np.sin(2 * ANGLES)])
SKY = sr.Mask(bands=[(-20.0, 20.0)])
MAP = sr.HealpixMap(np.arange(12.0) + 1.0, "ring")
SPACES = (sr.Circle(), sr.Sphere(), sr.Hypersphere(5), sr.Axes(3), sr.Torus(2), sr.Rotations())

MORE: dict[str, Any] = {
    **VALUES,
    "list of None": [None],
    "list of text": ["a", "b"],
    "list of lists": [([], 0, 10)],
    "beyond float among numbers": [(10**400, 0.0, 10.0)],
    "array of beyond float": np.array([10**400, 1], dtype=object),
    "iterator of None": iter([None]),
    "lambda of nothing": lambda: None,
    "function of None": lambda _: None,
    "function of text": lambda _: "a",
    "function of one": lambda _: 1.0,
    "function of ragged": lambda _: [[1.0], [1.0, 2.0]],
    "function of beyond float": lambda x: [10**400] * len(x),
    "function of nan": lambda x: np.full(len(x), np.nan),
    "function of minus": lambda x: np.full(len(x), -1.0),
    "function of complex": lambda x: np.ones(len(x)) * 1j,
    "function of zeros": lambda x: np.zeros(len(x)),
    "function that raises": lambda _: 1 // 0,
    "function that has no name": partial(unit, d=3),
    "one row": X[:1],
    "two of three rows": X[:2],
    "one direction": sr.Directions(X[:1]),
    "directions of another space": sr.Directions(unit(4, 5)),
    "a fit": PROFILE.fits[2],
    "a space": sr.Sphere(),
    "a class": sr.Sphere,
    "a mask": SKY,
    "a map": MAP,
    "a comparison": COMPARED,
    "numpy int": np.int64(3),
    "numpy large": np.uint64(2**63),
    "numpy text": np.str_("a"),
    "minus large": -(10**15),
    "smallest": 5e-324,
    "largest": 1.7e308,
    "minus zero": -0.0,
    "generator of rng": np.random.default_rng(0),
    "legacy rng": np.random.RandomState(0),
    "tuple": (1.0, 2.0),
    "ellipsis": ...,
    "not implemented": NotImplemented,
    "exception": ValueError("x"),
}


@dataclass(frozen=True)
class Door:
    """A callable with arguments that work, by position and by name."""

    call: Callable[..., Any]
    args: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)

    def with_one(self, which: int | str, value: Any) -> Any:
        if isinstance(which, str):
            return self.call(*self.args, **{**self.named, which: value})
        args = list(self.args)
        args[which] = value
        return self.call(*args, **self.named)

    @property
    def places(self) -> list[int | str]:
        return [*range(len(self.args)), *self.named]


def reference(value: Any) -> object:
    return sr.profile(X, levels=1, reference=value)


def judged(design: Any) -> object:
    return sr.profile(X, levels=1, design=design).tests(replicates=19)


def exposure(value: Any) -> object:
    return sr.profile(
        X[np.abs(X[:, 2]) > 0.4], levels=1, reference=sr.Mask([(-20, 20)], density=value)
    )


DOORS: dict[str, Door] = {
    "Circle": Door(sr.Circle),
    "Hypersphere": Door(sr.Hypersphere, (4,)),
    "Axes": Door(sr.Axes, (3,)),
    "Torus": Door(sr.Torus, (2,)),
    **{f"{s.name} uniform": Door(s.uniform, (5, np.random.default_rng(0))) for s in SPACES},
    "Harmonics": Door(sr.Harmonics, (3, 2)),
    "Axial": Door(sr.Axial, (3, 2)),
    "Zonal": Door(sr.Zonal, ([0.0, 0.0, 1.0], 2)),
    "Diagonal": Door(sr.Diagonal, (3,)),
    "Blocks": Door(sr.Blocks, ([2, 1],)),
    "Quadratics": Door(sr.Quadratics, (3, ((0, 0, 1),))),
    "LowRank": Door(sr.LowRank, (np.eye(5)[:, :2], 2)),
    "Sketch": Door(sr.Sketch, (5, 4, 2), {"seed": 0}),
    "Interactions": Door(sr.Interactions, (2, 1, 2)),
    "TorusHarmonics": Door(sr.TorusHarmonics, (2, 2)),
    "Custom": Door(sr.Custom, (sr.Sphere(), [lambda x: x[:, :1]])),
    "Stacked": Door(sr.Stacked, ([sr.Diagonal(3), sr.Harmonics(3, 2)],)),
    "Stacked part": Door(lambda v: sr.Stacked([sr.Diagonal(3), v]), (sr.Harmonics(3, 2),)),
    **{
        f"up_to of {h!r}": Door(h.up_to, (1,))
        for h in (
            H,
            sr.Harmonics(2, 3),
            sr.Harmonics(5, 2),
            sr.Axial(3, 2),
            sr.Zonal([0.0, 0.0, 1.0], 2),
            sr.Diagonal(3),
            sr.Blocks([2, 1]),
            sr.Interactions(2, 1),
            sr.TorusHarmonics(2, 2),
            sr.LowRank(np.eye(5)[:, :2], 2),
            sr.Custom(sr.Sphere(), [lambda x: x[:, :1]]),
        )
    },
    "Mask bands": Door(
        sr.Mask, ([(-20.0, 20.0)],), {"pole": (0.0, 90.0), "keep": False, "degrees": True}
    ),
    "Mask caps": Door(sr.Mask, (), {"caps": [(0.0, 0.0, 10.0)]}),
    "Mask cap": Door(lambda v: sr.Mask(caps=[v]), ((0.0, 0.0, 10.0),)),
    "Mask number of a cap": Door(lambda v: sr.Mask(caps=[(v, 0.0, 10.0)]), (0.0,)),
    "Mask band": Door(lambda v: sr.Mask([v]), ((-20.0, 20.0),)),
    "Mask polygons": Door(sr.Mask, (), {"polygons": [[(0.0, 0.0), (20.0, 0.0), (0.0, 20.0)]]}),
    "Mask polygon": Door(
        lambda v: sr.Mask(polygons=[v]), ([(0.0, 0.0), (20.0, 0.0), (0.0, 20.0)],)
    ),
    "Mask corner": Door(lambda v: sr.Mask(polygons=[[(0, 0), (20, 0), v]]), ((0.0, 20.0),)),
    "Mask density": Door(lambda v: sr.Mask([(-20, 20)], density=v), (lambda x: np.ones(len(x)),)),
    "Mask sees": Door(SKY.sees, (X,)),
    "Mask on": Door(SKY.on, (sr.Sphere(),)),
    "HealpixMap": Door(sr.HealpixMap, (np.ones(12), "ring")),
    "HealpixMap at": Door(MAP.at, (X,)),
    "HealpixMap on": Door(MAP.on, (sr.Sphere(),)),
    "reference": Door(reference, (lambda x: np.ones(len(x)),)),
    "exposure": Door(exposure, (lambda x: np.ones(len(x)),)),
    "compare": Door(
        sr.compare, (X,), {"by": GROUPS, "levels": 1, "weights": None, "reference": None}
    ),
    "compare hierarchy": Door(sr.compare, (X,), {"by": GROUPS, "hierarchy": H, "design": None}),
    "comparison tests": Door(COMPARED.tests, (), {"replicates": 19, "seed": 0}),
    "moments": Door(sr.moments, (X, H)),
    "moments by": Door(sr.moments, (X, H), {"by": GROUPS}),
    "moments of blocks": Door(lambda v: sr.moments(iter([X, v]), H), (X,)),
    "moments of first blocks": Door(lambda v: sr.moments(iter([v, X]), H), (X,)),
    "moments of weighted blocks": Door(
        lambda v: sr.moments(iter([(X, np.ones(12)), v]), H), ((X, np.ones(12)),)
    ),
    "from_lonlat": Door(
        sr.Directions.from_lonlat, (ANGLES, 0.1 * ANGLES), {"degrees": True, "weights": None}
    ),
    "from_radec": Door(sr.Directions.from_radec, (DEGREES, DEGREES)),
    "from_colatitude": Door(sr.Directions.from_colatitude, (DEGREES, DEGREES)),
    "from_declination_inclination": Door(
        sr.Directions.from_declination_inclination, (DEGREES, DEGREES)
    ),
    "from_trend_plunge": Door(sr.Directions.from_trend_plunge, (DEGREES, DEGREES), {"axial": True}),
    "from_strike_dip": Door(sr.Directions.from_strike_dip, (DEGREES, DEGREES)),
    "from_azimuth": Door(sr.Directions.from_azimuth, (DEGREES,)),
    "from_dihedrals": Door(sr.Directions.from_dihedrals, (np.column_stack([ANGLES, ANGLES]),)),
    "from_quaternions": Door(sr.Directions.from_quaternions, (unit(4, 4),)),
    "from_rotations": Door(sr.Directions.from_rotations, (np.tile(np.eye(3), (4, 1, 1)),)),
    "from_times": Door(sr.Directions.from_times, (ANGLES, 24.0)),
    "Directions space": Door(sr.Directions, (PAIRS,), {"space": sr.Torus(2), "normalize": False}),
    "tests": Door(
        LARGE.tests,
        (),
        {"replicates": 19, "seed": 0, "method": None, "null": "moment", "statistic": "score"},
    ),
    "intervals": Door(LARGE.intervals, (0.95,)),
    "uniformity": Door(LARGE.uniformity, (), {"replicates": 19, "seed": 0}),
    "residuals": Door(LARGE.residuals, (3,), {"method": None, "replicates": 19, "seed": 0}),
    "residual weights": Door(LARGE.residuals, (), {"weights": "unit"}),
    "mmd": Door(LARGE.mmd, (None,), {"replicates": 19, "seed": 0}),
    "bootstrap": Door(partial(sr.bootstrap, replicates=3), (LARGE, "design"), {"seed": 0}),
    "choose_order": Door(sr.choose_order, (LARGE,)),
    "profile design": Door(sr.profile, (X,), {"levels": 1, "design": "iid"}),
    "sample_tests": Door(sample_tests, (unit(36, 3).reshape(3, 12, 3),), {"levels": 1}),
    "sketches": Door(sketches, (unit(20, 5),), {"size": 3, "seed": 0}),
    "logpdf_error": Door(PROFILE.fits[2].logpdf_error, (X,)),
    "hpd": Door(PROFILE.fits[2].logpdf, (X,), {"measure": "surface"}),
    "Moments load": Door(sr.Moments.load, ("no.moments",)),
    "register_hierarchy": Door(sr.register_hierarchy, ("hostile", sr.Harmonics)),
    "Clusters": Door(lambda v: judged(sr.designs.Clusters(v)), (list(range(12)),)),
    "Chain": Door(
        lambda v: sr.profile(LONG, levels=1, design=sr.designs.Chain(v)).tests(), (np.zeros(100),)
    ),
    "Survey": Door(lambda v: judged(sr.designs.Survey(v)), ([1] * 12,)),
    "Known": Door(lambda v, r: judged(sr.designs.Known(v, r)), (np.eye(3), 3.0)),
    "design": Door(judged, (None,)),
}


LONG_DOORS = {"sketches"}  # some values are asked for in earnest, and drawn for minutes
EACH_DOOR = [
    pytest.param(name, marks=pytest.mark.slow) if name in LONG_DOORS else name for name in DOORS
]


@pytest.mark.parametrize("name", EACH_DOOR)
def test_every_argument_refuses_in_words(name: str) -> None:
    door = DOORS[name]
    found = {
        (place, which): words
        for place in door.places
        for which, value in MORE.items()
        if (words := trouble(partial(door.with_one, place), value, sr.SteradianError))
    }
    assert found == {}


# What was found by hand, each by its argument.
ANY: Any = sr  # wrong types on purpose
ANY_PROFILE: Any = LARGE
FOUND: dict[str, tuple[Callable[[], object], str]] = {
    "a reference of one row": (
        lambda: ANY.profile(X, levels=1, reference=X[:1]),
        "0 of them can be told apart where a sample of 1 direction .*give a wider reference",
    ),
    "levels by array": (lambda: ANY.Interactions(2, 1, np.ones(3)), "levels is array"),
    "kernel by array": (lambda: ANY_PROFILE.mmd(np.ones(3)), "kernel is array"),
    "sizes by number": (lambda: ANY.Blocks(np.array(2)), "sizes is array"),
    "a polygon of text": (lambda: ANY.Mask(polygons=["a"]), "a polygon is 'a'"),
    "a cap with a list": (lambda: ANY.Mask(caps=[([], 0, 10)]), "a cap is "),
    "a mask beyond float": (lambda: ANY.Mask(caps=[(10**400, 0, 10)]), "a cap is "),
    "a map beyond float": (lambda: ANY.HealpixMap([10**400] * 12, "ring"), "values of the map"),
    "a density beyond float": (
        lambda: reference(lambda x: [10**400] * len(x)),
        "the reference density cannot be had",
    ),
    "no block": (lambda: ANY.moments(iter([X, None]), H), "block 2 of the stream"),
    "no level": (lambda: ANY.Diagonal(3).up_to(-1), "levels is -1"),
    "no such level": (lambda: ANY.Blocks([2, 1]).up_to(99), "levels is 99"),
    "no level of harmonics": (lambda: H.up_to(-1), "levels is -1"),
    "no draws": (lambda: ANY.Sphere().uniform(-1, 0), "n is -1"),
    "no generator": (lambda: ANY.Sphere().uniform(5, "a"), "rng is 'a'"),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_told_by_its_argument(name: str) -> None:
    call, words = FOUND[name]
    with pytest.raises(sr.SteradianError, match=words):
        call()


def test_a_seed_stands_for_a_generator() -> None:
    space: Any
    for space in SPACES:
        drawn = space.uniform(5, 0)
        np.testing.assert_array_equal(drawn, space.uniform(5, np.random.default_rng(0)))
