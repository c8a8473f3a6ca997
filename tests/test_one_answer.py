"""The same question has the same number at every door: print, tests(), files, command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steradian as sr
from printed_samples import QUICK, SAMPLES, answered
from steradian.diagnostics import Verdict
from steradian.inference.gap_tests import GapTests
from steradian.numerics.arrays import Array
from steradian.report.profile_page import page_of
from steradian.text.numbers import NOTHING_KNOWN, pvalue_number

LATER = "not computed"
EVERY = [pytest.param(k, marks=() if k in QUICK else pytest.mark.slow) for k in SAMPLES]


def table_of(text: str) -> tuple[str, list[str]]:
    """Name and cells of the column of p-values in a printed profile."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.split()[:1] == ["level"])
    name = "p (uncorrected)" if "p (uncorrected)" in lines[start] else "p (Holm)"
    rows = lines[start + 1 : lines.index("", start)]
    cells = [LATER if LATER in row else row.split()[-2] for row in rows]
    return name, cells if name in lines[start] else []


def agree(record: list[Any], known: Array, judged: Any) -> None:
    """Numbers of a record are those that are known, or not there."""
    for mine, theirs, good in zip(record, known.tolist(), judged, strict=True):
        assert mine is None or mine == theirs
        assert mine is not None or not good or np.isnan(theirs)


def known_of(p: sr.results.Profile) -> GapTests | None:
    """All tests, where the design defines any."""
    return p.tests() if p.design.defines_inference else None


def check_text(text: str, tests: GapTests | None) -> None:
    """The printed table has the p-values of ``tests()``, or says that they are not computed."""
    name, cells = table_of(text)
    if tests is None:
        assert not cells
        return
    values = tests.pvalue if name == "p (uncorrected)" else tests.pvalue_holm
    assert (LATER in cells) == (name == "p (uncorrected)")
    for cell, value, judged in zip(cells, values, tests.judged, strict=True):
        expected = pvalue_number(float(value)) if judged else NOTHING_KNOWN
        assert cell in {LATER, expected}


def check_record(record: dict[str, Any], p: sr.results.Profile) -> None:
    """Full digits: what is there is what the methods of the profile give."""
    assert record["gaps"] == p.gaps.tolist()
    tests, found = known_of(p), record["inference"]
    if tests is None:
        assert found["pvalue"] == found["pvalue_holm"] == [None] * len(p.levels)
        return
    whole = str(Verdict.OPEN) not in found["verdict"]
    agree(found["pvalue"], tests.pvalue, tests.judged & whole)
    agree(found["pvalue_holm"], tests.pvalue_holm, tests.judged & whole)
    agree(record["tests"]["pvalue"], tests.pvalue, [whole] * len(p.levels))
    if record["intervals"] is not None:
        agree(record["intervals"]["low"], p.intervals().low, [True] * len(p.levels))
        agree(record["intervals"]["high"], p.intervals().high, [True] * len(p.levels))
    for said, verdict in zip(found["verdict"], tests.verdicts, strict=True):
        assert said in {str(verdict), str(Verdict.OPEN)}


def check_structure(p: sr.results.Profile, q: sr.results.Profile) -> None:
    """What trust says of structure above is the residual's p-value, asked before or after."""
    before, found = p.trust().structure, q.residuals()
    after = q.trust().structure
    assert before.answer in {after.answer, Verdict.OPEN}
    if not q.design.defines_inference or np.isnan(found.pvalue[-1]):
        return
    assert after.reasons[0].data["pvalue"] == found.pvalue[-1]
    if before.answer is not Verdict.OPEN:
        assert before == after


def check_order(p: sr.results.Profile) -> None:
    """An order has the p-values of tests and residuals."""
    if not (p.design.defines_inference and p.design.has_units):
        return
    chosen, tests = sr.choose_order(p, folds=2), p.tests()
    found = chosen.holm_pvalue[1:]
    assert np.isnan(found).all() or np.array_equal(found, tests.pvalue_holm, equal_nan=True)
    np.testing.assert_array_equal(chosen.residual_pvalue[1:], p.residuals().pvalue)


def check_all(name: str, seed: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = SAMPLES[name]
    path = sample.written(folder, seed)
    p = sample.profile(path, seed)  # asked for everything; others are asked for one thing
    tests = known_of(p)
    check_text(str(sample.profile(path, seed)), tests)
    check_text(sample.profile(path, seed).summary(patience=1e5), tests)
    check_text(sample.profile(path, seed).summary(patience=np.inf), tests)
    check_structure(sample.profile(path, seed), sample.profile(path, seed))
    check_order(sample.profile(path, seed))
    capsys.readouterr()
    answered(sample.arguments(path))
    check_text(capsys.readouterr().out, tests)
    answered(sample.arguments(path), "--format", "json")
    record = json.loads(capsys.readouterr().out)
    check_record(record, p)
    answered(sample.arguments(path), "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    for column in ("pvalue", "pvalue_holm", "low", "high"):
        told = [float(row[column]) if row[column] else None for row in rows]
        assert told == record["inference"][column]
    if name in QUICK:
        check_page(sample.profile(path, seed), tests)


def check_page(p: sr.results.Profile, tests: GapTests | None) -> None:
    """The report prints the same table, tests and residuals."""
    page = page_of(p)
    shown = [str(block) for section in page.sections for block in section.blocks]
    if tests is not None:
        assert any(repr(str(tests))[1:-1] in block for block in shown)
    assert any(repr(str(p.residuals()))[1:-1] in block for block in shown)


@pytest.mark.parametrize("name", EVERY)
def test_every_door_gives_the_same_number(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_all(name, 0, tmp_path, capsys)


def test_a_comparison_has_one_answer() -> None:
    x = np.random.default_rng(0).normal(size=(70, 3))
    rows, by = sr.Directions(x, normalize=True), np.repeat(["a", "b"], 35)
    c, d = (sr.compare(rows, by=by, design="iid") for _ in range(2))
    tests = c.tests()
    assert tests.any_pvalue == d.pairs().pvalue[0, 1]
    assert d.tests().pvalue.tolist() == tests.pvalue.tolist()
    record = d.to_dict()["tests"]
    assert record["pvalue"] == tests.pvalue.tolist()
    assert record["any_pvalue"] == tests.any_pvalue


def test_there_are_twenty_samples() -> None:
    assert len(SAMPLES) == 20
