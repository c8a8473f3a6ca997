"""Every case answers what is recorded. ``make golden-update`` records a change that is meant."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from golden import record
from golden.lists import all_cases
from golden.rules import Change, changes

CASES = all_cases()


@cache
def recorded() -> tuple[record.Records, bool]:
    return record.read(), record.kernel() == record.recorded_kernel()


@pytest.mark.parametrize("name", CASES)
def test_answers_what_is_recorded(name: str) -> None:
    known, same_kernel = recorded()
    assert name in known, "not recorded yet: run make golden-update"
    found = changes(known[name], record.plain(CASES[name].record()), kernel=same_kernel)
    told = "\n".join(str(change) for change in found)
    assert not found, f"{name}\n{told}\nIf this is meant, run make golden-update and say why."


def test_every_record_has_its_case() -> None:
    assert recorded()[0].keys() == CASES.keys()


# --- the rules themselves -------------------------------------------------------------------


def answer(**kinds: Any) -> dict[str, Any]:
    """A record of one question."""
    stated = {"quadrature": [1e-12, 1e-9], "decrement": [0.0, 2e-6]}
    base = {"same": {"judged": [True, True]}, "nats": {"D": [0.5, 1.0], "I": [0.5, 0.5]}}
    return {"asked": {**base, "error": stated, "p": {"level": [[0.03, 0], [0.5, 100]]}, **kinds}}


def compared(now: dict[str, Any], **terms: bool) -> list[Change]:
    return changes(answer(), now, **{"kernel": True, **terms})


def test_what_is_the_same_agrees() -> None:
    assert compared(answer()) == []
    assert compared(answer(), kernel=False) == []
    assert compared(answer(), streams=True) == []


@pytest.mark.parametrize(("level", "off", "agrees"), [
    (0, 1.9e-12, True), (0, 2.2e-12, False), (1, 1.9e-9, True), (1, 2.2e-9, False),
])  # fmt: skip
def test_deficits_agree_within_both_stated_errors(level: int, off: float, agrees: bool) -> None:
    d = [0.5, 1.0]
    d[level] += off
    found = compared(answer(nats={"D": d, "I": [0.5, 0.5]}))
    assert (found == []) is agrees


def test_a_stated_error_that_grew_is_told() -> None:
    wide = {"quadrature": [1e-12, 1e-8], "decrement": [0.0, 0.0]}
    (change,) = compared(answer(error=wide))
    assert "stated error 2" in str(change)


@pytest.mark.parametrize(("p", "kernel", "streams", "agrees"), [
    ([0.03 + 2e-8, 0], True, False, True), ([0.03 + 5e-8, 0], True, False, False),
    ([0.03 + 5e-8, 0], False, True, False), ([None, 0], True, False, False),
    ([0.03, 100], True, False, False),
])  # fmt: skip
def test_exact_pvalues(p: list[Any], kernel: bool, streams: bool, agrees: bool) -> None:
    exact = {"quadrature": [1e-14, 1e-12]}
    before = answer(error=exact)
    now = answer(error=exact, p={"level": [p, [0.5, 100]]})
    assert (changes(before, now, kernel=kernel, streams=streams) == []) is agrees


def test_errors_of_fits_are_felt_in_pvalues() -> None:
    assert compared(answer(p={"level": [[0.03 + 1e-6, 0], [0.5, 100]]})) == []
    assert compared(answer(p={"level": [[0.03 + 2e-6, 0], [0.5, 100]]})) != []


@pytest.mark.parametrize(("p", "kernel", "streams", "agrees"), [
    (0.51, True, False, False), (0.52, False, False, True), (0.53, False, False, False),
    (0.70, True, True, True), (0.85, True, True, False),
])  # fmt: skip
def test_drawn_pvalues(p: float, kernel: bool, streams: bool, agrees: bool) -> None:
    now = answer(p={"level": [[0.03, 0], [p, 100]]})
    assert (compared(now, kernel=kernel, streams=streams) == []) is agrees


def test_codes_statuses_and_missing_answers_are_told() -> None:
    (change,) = compared(answer(same={"judged": [True, False]}))
    assert str(change) == "asked: judged: [True, True] → [True, False]"
    (change,) = changes(answer(), {}, kernel=True)
    assert "answers" in str(change)


def test_nan_and_shapes_are_told() -> None:
    (change,) = compared(answer(nats={"D": [0.5, None], "I": [0.5, 0.5]}))
    assert "D 2" in str(change)
    (change,) = compared(answer(nats={"D": [0.5], "I": [0.5, 0.5]}))
    assert "shape" in str(change)
