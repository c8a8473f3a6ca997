"""A broken object is refused, by the line that it breaks, and nothing returns a number for it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import steradian as sr
from conformance import broken
from conformance.skeleton import Mirrored
from steradian.conformance import check_design, check_hierarchy, check_space
from steradian.hierarchies import contract
from steradian.paper import sample_tests

CHEAP: list[tuple[Any, str]] = [
    (broken.NotOrthonormal(2), "orthonormal.* feature 1 of level 1 has mean square 2.25, not 1"),
    (broken.NotCentred(1), "mean zero.* feature 1 of level 1 has mean 0.25 under a rule of"),
    (broken.HiddenFromOneRule(1), "orthonormal.* mean square 1.5, not 1, under a rule of"),
    (broken.WrongDims(2), r"finite functions.* shape \(24, 2\), not \(24, 4\); mind the dims"),
    (broken.WrongCount(2), r"agree\. q\(1\) is 2, and the dims up to there add up to 1"),
    (broken.NotNested(2), r"nested.* Those of up_to\(1\) differ from the first 1 by"),
    (broken.WrongSums(2), r"weighted sums.* They differ from Σ w φ by .* with weights"),
    (broken.Unweighted(2), "weighted sums.* with weights"),
    (broken.OfTheSample(1), "single points.* others than at the same four among more"),
    (broken.Identity(2), r"values.* up_to\(2\) .* does not equal it; make it a frozen dataclass"),
    (broken.Unhashable(2), "values.* (cannot be hashed|unhashable)"),
    (broken.Raises(1), r"single points\. It raised KeyError in features, broken\.py:\d+: 'angle'"),
]
WHOLE: list[tuple[Any, str]] = [
    *CHEAP,
    (
        broken.WrongWider(2),
        r"same features first.* wider\(2\) is Harmonics.* not the hierarchy its",
    ),
    (
        broken.WrongReference(2),
        "those of its space's law.*`reference_features`: feature 1 of "
        "level 1 has 0.3, and its space says",
    ),
    (
        broken.WrongReferenceSpread(2),
        "without parameters: feature 1 of level 1 has 1.2, and its space says 1",
    ),
    (broken.DeclaresItsWayOut(2), "orthonormal.* feature 1 of level 1 has mean square 2.25, not 1"),
    (broken.WrongMean(1), "E x from E φ.* differ from the mean of the points by"),
    (broken.WrongTurn(1), "moments of the turned points. E φ differs by"),
    (broken.WrongKind(2), "read again.* read as Harmonics.* which does not equal it"),
    (broken.with_family(broken.NoGradient), "gradient of ψ is E φ.* level 1 differences of ψ miss"),
    (broken.with_family(broken.NoMass), "At level 1 the mass of the density differs from one by"),
    (broken.with_family(broken.WrongDraws), "Draws of a law.* At level 1 χ² of their moments is"),
    (broken.with_family(broken.WrongFit), "moments of the data. At level 1 E φ of the fit differs"),
]
SPACES: list[tuple[Any, str]] = [
    (broken.NoUnitMass(), "add up to one.* Those of rule 0 add up to 1.001; divide by that"),
    (broken.NotUniform(), "moments that the rules give. The mean of .* standard errors from"),
    (broken.Anything(), "refused in words.* Row 3, 1000 away, is not refused"),
    (broken.Stretched(), "orthogonal.* misses being orthogonal by 0.21"),
    (broken.Nameless(), "`point_name` is empty"),
    (broken.OwnCentre(), "`centre` is E x, or zero"),
    (object(), "It has no `uniform`"),
]
DESIGNS: list[tuple[Any, str]] = [
    (broken.WrongWeights(), "every row once.* add up to 240"),
    (broken.WrongUnits(), "every row once.* name 120 units, and count is 5"),
    (broken.WrongClaim(), "as declared.* `rows_of_one_law` is declared True, and the units say F"),
    (broken.WrongRate(), "rate and covariance.* The rate is 3 from sums and 15.4"),
    (broken.Wordless(), "`sentence` is empty"),
    (broken.Undemanding(), "Weights that it does not allow.* missing weights are not refused"),
    (broken.ByPlace(), "order of rows means nothing.* when rows are shuffled"),
    (broken.NoUnitsButGivesThem(), "It declares no units, and `units` gives some"),
    ("iid", "It is something else"),
]


def named(case: Any) -> str:
    return type(case).__name__ if not isinstance(case, str) else "words"


@pytest.mark.parametrize(("hierarchy", "words"), WHOLE, ids=named)
def test_hierarchies(hierarchy: Any, words: str) -> None:
    with pytest.raises(
        sr.conformance.ConformanceError, match=rf"(?s)does not keep its contract:.*{words}"
    ):
        check_hierarchy(hierarchy)


@pytest.mark.parametrize(("space", "words"), SPACES, ids=named)
def test_spaces(space: Any, words: str) -> None:
    with pytest.raises(sr.conformance.ConformanceError, match=words):
        check_space(space)


@pytest.mark.parametrize(("design", "words"), DESIGNS, ids=named)
def test_designs(design: Any, words: str) -> None:
    with pytest.raises(sr.conformance.ConformanceError, match=words):
        check_design(design)


def test_a_space_of_ones_own_keeps_it() -> None:
    assert len(check_space(broken.Ring()).kept) == 9


# --- the gate -----------------------------------------------------------------------------

ANGLES = sr.Directions.from_angles(np.random.default_rng(0).vonmises(0.0, 1.0, 60))
ENTRANCES: dict[str, Callable[[Any], Any]] = {
    "profile": lambda h: sr.profile(ANGLES, hierarchy=h),
    "profiles": lambda h: sr.profiles(ANGLES, weights=np.ones((2, 60)), hierarchy=h),
    "sample_tests": lambda h: sample_tests(ANGLES.x[None], hierarchy=h),
    "moments": lambda h: sr.Moments.from_directions(ANGLES, h),
    "expectations": lambda h: sr.Moments.from_expectations(h, [0.1, 0.0, 0.0, 0.0]),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize(("hierarchy", "words"), CHEAP, ids=named)
def test_no_number_is_made_with_a_broken_hierarchy(
    hierarchy: Any, words: str, entrance: str
) -> None:
    with pytest.raises(sr.conformance.ConformanceError, match=words):
        ENTRANCES[entrance](hierarchy)


def test_nor_with_functions_on_a_broken_space() -> None:
    own = sr.Custom(broken.NotUniform(), [lambda x: x])
    with pytest.raises(sr.conformance.ConformanceError, match="Uniform draws of the space agree"):
        sr.Moments.from_directions(ANGLES, own)
    sr.Moments.from_directions(ANGLES, sr.Custom(broken.Ring(), [lambda x: x]))


def test_the_gate_looks_once_and_never_at_what_is_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    monkeypatch.setattr(contract, "examined", lambda subject, *_: looked.append(subject))
    contract._prove.cache_clear()
    for hierarchy in (Mirrored(2), Mirrored(2), Mirrored(3), sr.Harmonics(2, 2), sr.Axial(2, 1)):
        contract.refuse_unproven(hierarchy)
    contract._prove.cache_clear()
    assert looked == [Mirrored(2), Mirrored(3)]


def test_a_borrowed_name_does_not_open_the_gate() -> None:
    class Harmonics(broken.NotOrthonormal):
        def to_dict(self) -> dict[str, Any]:
            return {"kind": "Harmonics", "d": 2, "levels": self.levels}

    with pytest.raises(sr.conformance.ConformanceError, match="orthonormal"):
        sr.profile(ANGLES, hierarchy=Harmonics(1))


def test_the_error_survives_pickling_and_names_every_line() -> None:
    with pytest.raises(sr.conformance.ConformanceError) as caught:
        check_hierarchy(broken.NotCentred(2))
    assert len(caught.value.violations) == 2
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.violations) == (str(caught.value), caught.value.violations)


# --- registration ---------------------------------------------------------------------------


def test_the_skeleton_is_read_again() -> None:
    moments = sr.Moments.from_directions(ANGLES, Mirrored(2))
    again = sr.Moments.from_dict(moments.to_dict())
    assert again.hierarchy == Mirrored(2)
    np.testing.assert_array_equal(again.total, moments.total)


@pytest.mark.parametrize(("kind", "make", "words"), [
    ("Harmonics", Mirrored, "kind 'Harmonics' is taken; choose another name"),
    ("Mirrored", sr.Harmonics, "kind 'Mirrored' is taken; choose another name"),
    (3, Mirrored, "kind is 3; give the name that to_dict writes"),
    ("Own", 3, "make is 3; give what makes the hierarchy, its class"),
])  # fmt: skip
def test_what_cannot_be_registered(kind: Any, make: Any, words: str) -> None:
    with pytest.raises(sr.InvalidArgument, match=f"^{words}$"):
        sr.register_hierarchy(kind, make)


def test_a_maker_that_fails_is_said_to_have_failed() -> None:
    def make(**entries: Any) -> Mirrored:
        return Mirrored(entries["levels"]["inner"])

    sr.register_hierarchy("Fails", make)
    data = sr.Moments.from_directions(ANGLES, Mirrored(2)).to_dict()
    data["hierarchy"] = {"kind": "Fails", "levels": {}}
    with pytest.raises(sr.InvalidArgument, match="not a dictionary of Fails: KeyError: 'inner'"):
        sr.Moments.from_dict(data)
