"""A design of one's own that declares what it can do works everywhere."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import steradian as sr
from oracles import Array
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.designs.base import Units
from steradian.errors import DesignError

RNG = np.random.default_rng(5)


def rows(n: int = 240, d: int = 3) -> Array:
    x = RNG.standard_normal((n, d)) + 0.4
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


class Settled(sr.designs.Design):
    """What `FixedWeights` is, under another name and without being a dataclass."""

    name: ClassVar[str] = "settled"
    rows_of_one_law: ClassVar[bool] = True
    random_weights: ClassVar[bool] = False
    from_sums: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return "weights settled by the committee"

    def units(self, directions: Directions) -> Units:
        w = directions.weights
        return Units(w, directions.n, float((w @ w) ** -0.5), fixed_weights=True)

    def rate_from_sums(self, moments: Moments) -> float:
        return float(np.sqrt(moments.ess))


class Pairs(sr.designs.Design):
    """Neighbouring rows belong together; nothing but units is declared."""

    name: ClassVar[str] = "pairs"

    @property
    def sentence(self) -> str:
        return "independent pairs of rows"

    def units(self, directions: Directions) -> Units:
        count = directions.n // 2
        return Units(
            directions.weights, count, np.sqrt(count), np.arange(directions.n) // 2,
            factor=count / (count - 1.0), dof=count - 1,
        )  # fmt: skip


class Hearsay(sr.designs.Design):
    """Defines nothing."""

    name: ClassVar[str] = "hearsay"
    defines_inference: ClassVar[bool] = False
    has_units: ClassVar[bool] = False

    @property
    def sentence(self) -> str:
        return "somebody said so"

    def units(self, directions: Directions) -> Units:  # noqa: ARG002
        raise self.refusal()

    def check(self, directions: Directions) -> None:
        """Any rows will do."""


def same(a: Any, b: Any, *, but: tuple[str, ...] = ("design", "sentence")) -> None:
    one, two = a.to_dict(), b.to_dict()
    for key in set(one) - set(but):
        np.testing.assert_equal(one[key], two[key], err_msg=key)


@pytest.mark.parametrize("d", [3, 5])
@pytest.mark.parametrize("own", [Settled(), Pairs()])
def test_it_gives_what_the_built_in_one_gives(own: sr.designs.Design, d: int) -> None:
    x = rows(d=d)
    w = RNG.gamma(2.0, size=len(x))
    known = "fixed" if own.rows_of_one_law else sr.designs.Clusters(np.arange(len(x)) // 2)
    mine = sr.profile(x, weights=w, levels=2, design=own)
    theirs = sr.profile(x, weights=w, levels=2, design=known)
    same(mine.tests(), theirs.tests(), but=("design", "sentence", "diagnostics"))
    same(mine.intervals(), theirs.intervals(), but=("design", "sentence", "diagnostics"))
    same(mine.uniformity(), theirs.uniformity(), but=("design", "diagnostics"))
    for kind in ("design", "multiplier"):
        one, two = (sr.bootstrap(p, kind, replicates=20).gaps for p in (mine, theirs))
        np.testing.assert_array_equal(one, two)
    assert sr.choose_order(mine).chosen == sr.choose_order(theirs).chosen


def test_from_sums_alone() -> None:
    x = rows()
    h = sr.Harmonics(3, 2)
    moments = sr.Moments.from_directions(sr.Directions(x, RNG.gamma(2.0, size=len(x))), h)
    mine, theirs = (sr.profile(moments, design=design) for design in (Settled(), "fixed"))
    same(mine.tests(), theirs.tests())
    same(mine.tests(null="model"), theirs.tests(null="model"))
    same(mine.intervals(), theirs.intervals())
    with pytest.raises(DesignError, match="design 'pairs' needs the rows, and these are moments"):
        sr.profile(moments, design=Pairs())


def test_only_rows_of_one_law_have_a_model_null() -> None:
    p = sr.profile(rows(), levels=2, design=Pairs())
    with pytest.raises(DesignError, match="not for 'pairs'"):
        p.tests(null="model")


def test_a_design_without_inference_refuses() -> None:
    p = sr.profile(rows(), levels=2, design=Hearsay())
    for ask in (p.tests, p.intervals, p.uniformity):
        with pytest.raises(DesignError, match="'hearsay' defines no p-value or standard error"):
            ask()


class Rubbish(sr.designs.Design):
    """Whatever units it is given."""

    name: ClassVar[str] = "rubbish"

    def __init__(self, found: Any) -> None:
        self.found = found

    def __repr__(self) -> str:
        return "Rubbish()"

    @property
    def sentence(self) -> str:
        return "nonsense"

    def units(self, directions: Directions) -> Units:  # noqa: ARG002
        return self.found


EVEN = np.full(40, 1.0 / 40)


@pytest.mark.parametrize(("found", "words"), [
    (None, "`units` gave None; return steradian.designs.base.Units"),
    ((1, 2), r"`units` gave \(1, 2\); return"),
    (Units(None, 40, 1.0), "`weights` is None; give an array of numbers"),  # type: ignore[arg-type]
    (Units(EVEN, 2, 1.0, [0] * 40), r"`labels` is \[0.*; give an array"),  # type: ignore[arg-type]
    (Units(EVEN, 40, 1.0, factor=None), "`factor` is None; give an array"),  # type: ignore[arg-type]
    (Units(EVEN, 40, "a"), "count is 40 and rate 'a'; give 1 or more and > 0"),  # type: ignore[arg-type]
    (Units(EVEN, 3, 1.0), "count is 3 without labels, when every one of 40 rows is a unit"),
    (Units(EVEN[:3], 40, 1.0), r"Weights of shape \(3,\) add up to 0.075"),
    (Units(EVEN * np.nan, 40, 1.0), r"Weights of shape \(40,\) add up to nan"),
    (Units(EVEN, 2, 1.0, np.arange(40)), "name 40 units, and count is 2"),
    (Units(EVEN, 2, 1.0, np.arange(40) % 2 * 0.5), "name 2 units, and count is 2"),  # type: ignore[arg-type]
    (Units(EVEN, 40, 1.0, strata=np.zeros(3, int)), r"Strata have shape \(3,\); give one per unit"),
])  # fmt: skip
def test_units_that_are_none_are_refused_where_the_design_is_handed_in(
    found: Any, words: str
) -> None:
    with pytest.raises(
        sr.conformance.ConformanceError, match=rf"Rubbish\(\) does not keep its(.|\n)*{words}"
    ):
        sr.profile(rows(40), levels=1, design=Rubbish(found))
