"""Counts, seeds and shares that cannot be meant end in one sentence of ours, wherever they go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import steradian as sr
from steradian.paper import mixture_sf

X = np.random.default_rng(0).normal(size=(40, 3)) + np.array([0.0, 0.0, 1.0])
X /= np.linalg.norm(X, axis=1, keepdims=True)
P = sr.profile(X, levels=1)
P5 = sr.profile(np.eye(5), levels=1)
ANY: Any = P  # wrong types on purpose

WHOLE = "give a whole number from "
CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "array for a profile": (
        lambda: sr.choose_order(X),
        "a profile is needed, not ndarray; make one with sr.profile",
    ),
    "array to bootstrap": (
        lambda: sr.bootstrap(X),
        "a profile is needed, not ndarray",
    ),
    "confidence 'a'": (
        lambda: ANY.intervals("a"),
        "confidence is 'a'; give a number between 0 and 1, like 0.95",
    ),
    "confidence None": (lambda: ANY.intervals(None), "confidence is None; give a number between"),
    "confidence True": (lambda: ANY.intervals(True), "confidence is True; give a number"),
    "two confidences": (lambda: ANY.intervals(np.array([0.9, 0.8])), "give a number between 0"),
    "many confidences": (
        lambda: ANY.intervals(np.full(99, 0.9)),
        "confidence is array.*; give a number",
    ),
    "interval method": (
        lambda: ANY.intervals(method=3),
        "method is 3; choose 'noncentral', 'sqrt'",
    ),
    "alpha 'a'": (lambda: sr.choose_order(P, alpha=ANY), "alpha is .*; give a number between 0"),
    "folds 2.5": (lambda: sr.choose_order(P, folds=ANY and 2.5), "folds is 2.5; " + WHOLE),  # type: ignore[arg-type]
    "bootstrap 2.5": (
        lambda: sr.bootstrap(P, replicates=2.5),  # type: ignore[arg-type]
        "replicates is 2.5; give a whole number from 2 on",
    ),
    "bootstrap seed": (lambda: sr.bootstrap(P, seed="a"), "seed is 'a'; " + WHOLE + "0"),  # type: ignore[arg-type]
    "negative seed": (lambda: sr.bootstrap(P, seed=-1), "seed is -1; give 0 or more"),
    "bootstrap kind": (lambda: sr.bootstrap(P, ANY), "kind is .*; choose 'design', 'parametric'"),
    "tests 20.5": (lambda: ANY.tests(replicates=20.5), "replicates is 20.5; " + WHOLE + "19"),
    "tests seed": (lambda: ANY.tests(seed="a"), "seed is 'a'; " + WHOLE),
    "tests true": (lambda: ANY.tests(replicates=True), "replicates is True; " + WHOLE),
    "residuals 20.5": (lambda: ANY.residuals(replicates=20.5), "replicates is 20.5; " + WHOLE),
    "residuals seed": (lambda: ANY.residuals(seed=None), "seed is None; " + WHOLE),
    "mmd replicates": (lambda: ANY.mmd(replicates="99"), "replicates is '99'; " + WHOLE),
    "mmd seed": (lambda: ANY.mmd(seed=1.5), "seed is 1.5; " + WHOLE),
    "sample 2.5": (lambda: ANY.fits[1].sample(2.5, 0), "n is 2.5; give a whole number from 0 on"),
    "sample -1": (lambda: ANY.fits[1].sample(-1, 0), "n is -1; give 0 or more"),
    "sample seed": (lambda: ANY.fits[1].sample(3, "a"), "rng is 'a'; give a numpy Generator"),
    "residual weights": (
        lambda: ANY.residuals(weights="x"),
        "weights is 'x'; choose 'unit', 'sobolev' or 5 numbers",
    ),
    "residual weights, one": (
        lambda: ANY.residuals(weights=[-1]),
        r"weights have shape \(1,\); give 5 numbers, one per degree",
    ),
    "residual weights, negative": (
        lambda: ANY.residuals(weights=[-1, 1, 1, 1, 1]),
        r"weights are \[-1.0, .*; give finite numbers >= 0, not all zero",
    ),
    "residual weights, ragged": (
        lambda: ANY.residuals(weights=[[1, 2], [1]]),
        "weights is ragged",
    ),
    "residual weights, object": (lambda: ANY.residuals(weights=object()), "that are not numbers"),
    "kernel above dimension 3": (
        lambda: P5.mmd("heat"),
        "above dimension 3 only the kernel 'vmf' has a closed form",
    ),
    "tail of words": (lambda: mixture_sf("a", "b"), "t of type <U1; give real numbers"),
    "tail of nothing": (lambda: mixture_sf(1, []), "finite, not negative, and at least one"),
    "tail of a negative": (
        lambda: mixture_sf(1.0, [-1.0, 1.0]),
        r"coefficients are \[\[-1.0, 1.0\]\]; give numbers that are finite, not negative",
    ),
    "tail beyond nan": (
        lambda: mixture_sf([1.0, np.nan], [1.0]),
        r"t\[1\] is nan; leave out what has no value",
    ),
    "tail with no scale": (lambda: mixture_sf(1.0, [1.0], -1.0), "dof is -1.0; give a positive"),
    "axial space": (
        lambda: sr.Axial.on("x", 2),  # type: ignore[arg-type]
        r"space is 'x'; give sr.Axes\(d\) or sr.Rotations\(\)",
    ),
    "axial sphere": (lambda: sr.Axial(3, 2, sr.Sphere()), "; give sr.Axes"),  # type: ignore[arg-type]
    "report nowhere": (
        lambda: ANY.report(None),
        "report is None; give the name of a file like out.html",
    ),
    "comparison nowhere": (
        lambda: sr.compare(X, by=np.arange(40) % 2).report(None),  # type: ignore[arg-type]
        "report is None; give the name of a file like out.html",
    ),
    "row too far": (
        lambda: sr.Directions(X).take([500]),
        r"rows is \[500\]; give a list of row numbers, 0 to 39, or True or False for each",
    ),
    "row 'a'": (lambda: sr.Directions(X).take("a"), "rows is 'a'; give a list of row numbers"),
    "one row": (lambda: sr.Directions(X).take(5), "rows is 5; give a list of row numbers"),
    "mask of others": (
        lambda: sr.Directions(X).take(np.ones(3, bool)),
        "rows is array.* of the 40",
    ),
    "gap with a tilt": (
        lambda: ANY.tests(statistic="gap", covariance="damped"),
        "the fitted gap does not follow the tilted law",
    ),
    "model with a covariance": (
        lambda: ANY.tests("model", covariance="null"),
        "null='model' brings its own covariance; leave out covariance=",
    ),
    "map of words": (
        lambda: sr.HealpixMap("x", "ring"),
        "values of the map is .x.; give one number for each pixel",
    ),
    "ragged times": (lambda: sr.Directions.from_times([[1, 2], [1]]), "time is ragged"),
    "sensitivity": (lambda: ANY.sensitivity(rotations=1.5), "rotations is 1.5; " + WHOLE + "1"),
}


@pytest.mark.parametrize("name", CALLS)
def test_our_error_in_our_words(name: str) -> None:
    call, message = CALLS[name]
    with pytest.raises(sr.InvalidArgument, match=message):
        call()


def test_it_is_a_value_error_and_ours() -> None:
    assert issubclass(sr.InvalidArgument, ValueError)
    assert issubclass(sr.InvalidArgument, sr.SteradianError)


def test_numbers_of_any_integer_type_are_fine() -> None:
    a = sr.bootstrap(P, replicates=np.int64(20), seed=np.uint8(3)).gaps  # type: ignore[arg-type]
    np.testing.assert_array_equal(a, sr.bootstrap(P, replicates=20, seed=3).gaps)
    draws = P.fits[1].sample(np.int32(4), np.random.default_rng(2))  # type: ignore[arg-type]
    np.testing.assert_array_equal(draws, P.fits[1].sample(4, 2))
    assert P.intervals(np.float32(0.5)).confidence == 0.5  # type: ignore[arg-type]


@pytest.mark.parametrize("design", ["fixed", "importance"])
@pytest.mark.parametrize("weight", [1e3, 1e6])
def test_one_dominating_weight_ends_in_words(design: str, weight: float) -> None:
    """No foreign error; the residual is not judged, and the row is named."""
    x = np.random.default_rng(2).normal(size=(60, 2))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    w = np.ones(60)
    w[7] = weight
    order = sr.choose_order(sr.profile(x, weights=w, levels=2, design=design))
    assert order.chosen["residual"] is None
    named = [unit["name"] for one in order.diagnostics for unit in one.data.get("units", [])]
    assert 7 in named
