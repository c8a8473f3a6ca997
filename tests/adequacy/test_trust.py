"""Three verdicts, each of which can be anything, with the reason that decides."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import steradian as sr
from coded import MULTIPLIER, coded, codes
from oracles import Array
from steradian.adequacy.trust import Answer
from steradian.diagnostics import Diagnostic, Verdict


def angles(n: int, seed: int = 0) -> sr.Directions:
    return sr.Directions.from_angles(np.random.default_rng(seed).vonmises(1.0, 2.0, n))


def opposite(n: int) -> sr.Directions:
    theta = np.random.default_rng(1).vonmises(0.0, 4.0, n) + np.pi * (np.arange(n) % 2)
    return sr.Directions.from_angles(theta)


def unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def test_all_is_well() -> None:
    trust = sr.profile(angles(800), levels=2).trust()
    answers = [one.answer for one in trust.judgements]
    assert answers == [Answer.YES, Answer.YES, Verdict.NOISE]
    assert coded(trust.structure.reasons, "nothing_found_above").data["of_level"] == 2
    assert coded(trust.numbers.reasons, "arithmetic").data["error"] < 1e-13
    data = {"rows": 800.0, "features": 4, "safe": 40.0}
    assert codes(trust.data.reasons) == ["rows_suffice"]
    known = trust.data.reasons[0].data
    assert {name: known[name] for name in data} == pytest.approx(data)
    assert 0.0 < coded(trust.numbers.details, "margin_inside").data["margin"] < 1.0
    assert "moment body" not in str(trust)
    assert "moment body" in " ".join(trust.shown(verbose=True).split())


def test_structure_left_over_is_named() -> None:
    trust = sr.profile(opposite(400), levels=1).trust()
    assert trust.structure.answer is Verdict.CLEAR
    assert coded(trust.structure.reasons, "found_above").data["most"] == "degree 2"
    assert coded(trust.structure.reasons, "try_levels").data == {"levels": 2}
    assert sr.profile(opposite(400), levels=2).trust().structure.answer is Verdict.NOISE


def test_what_is_left_is_told_in_nats() -> None:
    """About what the levels above add, when they are fitted."""
    for rows in (opposite(400), angles(300, 1)):
        for level in (1, 2):
            found = sr.profile(rows, levels=level).trust().structure.reasons[0]
            size = found.data["size"]["data"]
            deficits = sr.profile(rows, levels=level + 4).deficits
            left = deficits[-1] - deficits[level - 1]
            assert size["nats"] == pytest.approx(left, rel=0.01)  # a few steps
            assert size["noise"] == pytest.approx(8 / (2 * rows.n))


def test_more_levels_are_advised_as_far_as_rows_suffice() -> None:
    few = sr.profile(opposite(30), levels=1).trust().structure
    assert coded(few.reasons, "rows_for_level").data == {"of_level": 2, "rows": 40.0}


def test_few_rows_and_bad_weights_ask_for_care() -> None:
    few = sr.profile(angles(30), levels=3).trust().data
    assert few.answer is Answer.CARE
    data = {"rows": 30.0, "features": 6, "safe": 60.0}
    known = coded(few.reasons, "rows_few").data
    assert {name: known[name] for name in data} == pytest.approx(data)
    rng = np.random.default_rng(2)
    rows = sr.Directions.from_angles(rng.uniform(0, 6, 400), weights=rng.pareto(0.6, 400))
    heavy = sr.profile(rows, levels=1, design="importance").trust().data
    assert heavy.answer in {Answer.CARE, Answer.NO}
    assert "heavy_tail" in codes(heavy.reasons)


@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        (
            lambda: sr.profile(angles(200).x, weights=np.arange(1.0, 201.0), levels=2),
            "left_above_untested",
        ),
        (lambda: sr.profile(angles(200), levels=2, shrinkage=0.1), "fits_of_shrunk_data"),
        (
            lambda: sr.profile(unit(np.random.default_rng(0).normal(size=(400, 5)))),
            "nothing_above_but_discrepancy",
        ),
    ],
)
def test_what_is_not_assessed_says_why(profile, reason: str) -> None:  # type: ignore[no-untyped-def]
    found = profile().trust().structure
    assert reason in codes(found.reasons)
    assert found.answer is Verdict.UNJUDGED


def test_moments_are_judged_as_far_as_they_reach() -> None:
    moments = sr.Moments.from_directions(opposite(400), sr.Harmonics(2, 2))
    assert sr.profile(moments, levels=1).trust().structure.answer is Verdict.CLEAR
    assert "degree 4" in str(sr.profile(moments).trust().structure)
    law = sr.Moments.from_expectations(sr.Harmonics(2, 2), [0.5, 0.1, 0.2, 0.0], n=50)
    assert sr.profile(law).trust().structure.answer is Verdict.UNJUDGED


def test_numbers_decide_numerically() -> None:
    p = sr.profile(angles(800), levels=2)

    def judged(**changed: Any) -> sr.results.Trust:
        worse = dataclasses.replace(p)
        object.__setattr__(worse, "numerics", dataclasses.replace(p.numerics, **changed))
        return worse.trust()

    assert judged(quadrature=np.array([0.0, 1e-7])).numbers.answer is Answer.CARE
    assert judged(quadrature=np.array([0.0, 1e-3])).numbers.answer is Answer.NO
    against_noise = judged(moment_rounding=np.array([0.0, 9e-5])).numbers
    noise = coded(against_noise.reasons, "error_near_noise").data["noise"]
    assert noise == pytest.approx(1 / 1600)
    collinear = judged(condition=np.array([1.0, 1e14])).numbers
    assert collinear.answer is Answer.CARE
    assert collinear.reasons[0].code == "collinear_features"


def test_the_boundary_asks_for_care() -> None:
    shrunk = sr.profile(np.eye(3), levels=2, shrinkage=0.1).trust().numbers
    assert shrunk.answer is Answer.CARE
    assert coded(shrunk.reasons, "mixed_with_uniform").data == {"share": 0.1}
    stopped = sr.profile(sr.Directions.from_angles([0.0, 1.0, 3.0])).trust().data
    assert coded(stopped.reasons, "level_does_not_exist").data == {"of_level": 3}
    tight = unit(np.random.default_rng(3).normal(size=(300, 3)) * 2e-3 + np.eye(3)[2])
    near = sr.profile(tight, levels=2).trust().numbers
    assert near.answer is Answer.CARE
    assert near.reasons[0] == Diagnostic("rows_hardly_suffice", data={"of_level": 2})
    assert near.details[1].code in {"margin_close", "margin_close_at_most"}
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3.0)
    noise = 1e-3 * np.random.default_rng(5).normal(size=(4, 60, 3))
    tetrahedron = unit((corners[:, None] + noise).reshape(-1, 3))
    corner = sr.profile(tetrahedron, levels=3).trust().numbers
    assert corner.answer is Answer.CARE
    assert corner.details[1].code == "margin_close_at_most"
    flat = np.zeros((200, 5))
    flat[:, :3] = np.random.default_rng(4).normal(size=(200, 3))
    spanned = sr.profile(sr.Directions(unit(flat)).within_span(), levels=2).trust().numbers
    assert coded(spanned.reasons, "within_span").data == {"d": 3, "ambient": 5}


def test_it_goes_into_the_record_and_fits_a_screen() -> None:
    p = sr.profile(opposite(400), levels=1)
    record = p.to_dict()["trust"]
    assert record["structure"]["answer"] == "clear"
    assert record["numbers"]["question"] == "Are the numbers right?"
    assert record == p.trust().to_dict()
    assert all(len(line) <= 80 for line in str(p.trust()).splitlines())


def test_what_an_error_keeps_knows_that_the_next_level_is_missing() -> None:
    with pytest.raises(sr.BoundaryError) as caught:
        sr.profile(np.eye(3), levels=2)
    assert caught.value.profile is not None
    kept = caught.value.profile.trust().data
    assert kept.answer is Answer.CARE
    assert kept.reasons[0] == Diagnostic("level_does_not_exist", data={"of_level": 2})


def test_few_units_are_judged_as_residuals_judges_them() -> None:
    """One question has one answer: the calibrated p-value of `residuals()`."""
    rows = angles(120, seed=3)
    plan = sr.designs.Clusters(np.arange(120) // 4)
    p = sr.profile(rows, levels=1, design=plan)
    (pvalue,) = p.residuals().pvalue
    assert p.residuals().methods == (MULTIPLIER,)
    assert p.trust().structure.reasons[0].data["pvalue"] == pvalue


def test_refits_that_take_long_leave_a_rough_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steradian.adequacy.leftover.GriddedLeftover.work", lambda *_: np.inf)
    plan = sr.designs.Clusters(np.arange(120) // 4)
    p = sr.profile(angles(120, seed=3), levels=1, design=plan)
    assert "residuals_rough" in codes(p.trust().structure.reasons)
    assert "small_sample" in codes(p.residuals())


def test_many_rows_of_a_design_with_units_are_left_to_residuals() -> None:
    rng = np.random.default_rng(6)
    rows = sr.Directions(unit(rng.normal(size=(400_000, 3))), rng.uniform(1.0, 2.0, 400_000))
    found = sr.profile(rows, levels=4, design="importance").trust().structure
    assert found.answer is Verdict.OPEN
    why = coded(found.reasons, "not_computed")
    assert why.data["call"] == "residuals()"
    assert 2.0 < why.data["seconds"] < 8.0


@pytest.mark.parametrize(
    ("n", "d", "seed"),
    [(2000, 300, 0), *((n, d, s) for n, d in ((300, 40), (200, 20), (500, 60)) for s in range(3))],
)
def test_noise_in_high_dimension_is_called_noise(n: int, d: int, seed: int) -> None:
    """Normalised Gaussian noise: level 2 has about d²/4n nats, and none of it means anything."""
    p = sr.profile(unit(np.random.default_rng(seed).normal(size=(n, d))))
    found = p.trust().data
    q = d * (d + 1) / 2 - 1
    expected = p.noise[1]
    assert q / (2 * n) < expected < 1.1 * q / (2 * n)
    assert abs(p.gaps[1] - expected) < 4.0 * np.sqrt(2 * q) / (2 * n)
    assert found.reasons[0].code == "all_noise"
    assert found.reasons[0].data == pytest.approx({"gap": p.gaps[1], "noise": expected})
    assert found.answer is Answer.NO


def test_a_signal_in_high_dimension_is_not_called_noise() -> None:
    rng = np.random.default_rng(4)
    spread = np.where(np.arange(40) < 5, 3.0, 1.0)
    strong = sr.profile(unit(rng.normal(size=(600, 40)) * spread)).trust().data
    assert not {"all_noise", "mostly_noise"} & {*codes(strong.reasons)}
    weak = sr.profile(unit(rng.normal(size=(600, 40)) * spread**0.25)).trust().data
    assert "mostly_noise" in codes(weak.reasons)
    enough = sr.profile(unit(rng.normal(size=(4000, 5)))).trust().data
    assert "all_noise" in codes(enough.reasons)
    assert enough.answer is Answer.YES


def test_levels_that_are_no_degrees_are_called_by_their_names() -> None:
    rng = np.random.default_rng(3)
    phi = rng.vonmises(0.0, 2.0, 300)
    angles = sr.Directions.from_dihedrals(phi, rng.vonmises(0.8 * phi, 4.0))
    p = sr.profile(angles, hierarchy=sr.Interactions(2, 1, 1))
    said = " ".join(str(p.trust().structure).split())
    assert "nats through level 2 (pairs of angles), noise level" in said
    assert "most at level 2 (pairs of angles); try 2 levels" in said
    shown = str(p.residuals())
    assert shown.startswith("Residuals through level 2 (pairs of angles); design iid")
    assert "largest level" in shown
    assert "R " not in shown
    assert repr(p.residuals()).startswith("Residuals(level 2, Δ = ")
    with pytest.raises(ValueError, match="give at most 2 on the torus of 2 angles"):
        p.residuals(degree=3)


def test_no_nats_where_no_higher_fit_exists() -> None:
    """Twelve points: the dual of a higher level has no end, and stopped at 1603 nats."""
    lon = [0, 0, 180, 180, 10, -10, 170, 190, 0, 0, 180, 180.0]
    lat = [10, -10, 10, -10, 0, 0, 0, 0, 20, -20, 20, -20.0]
    rows = sr.Directions.from_lonlat(lon * 10, lat * 10, degrees=True)
    for levels in (1, 2):
        found = sr.profile(rows, levels=levels).trust().structure.reasons[0]
        assert found.data["size"]["code"] == "left_residual"


def test_fewer_rows_than_parameters_are_not_enough() -> None:
    x = np.random.default_rng(2).normal(size=(60, 20))
    x[:, 0] += 3.0
    trust = sr.profile(sr.Directions(x, normalize=True), levels=2).trust()
    assert trust.data.answer is Answer.NO
    found = coded(trust.data.reasons, "rows_too_few")
    assert (found.data["features"], found.data["safe"]) == (229, 2290.0)


def test_uneven_clusters_are_not_called_weights() -> None:
    sizes = np.arange(2, 26)
    theta = angles(int(sizes.sum()), seed=5)
    plan = sr.designs.Clusters(np.repeat(np.arange(24), sizes))
    worth = coded(sr.profile(theta, levels=3, design=plan).tests(), "uneven_weights").data["worth"]
    assert worth["code"] == "worth_in_sizes"
    assert (worth["data"]["count"], worth["data"]["what"]) == (24, "cluster")
    assert worth["data"]["worth"] == pytest.approx(19.0, abs=0.05)
