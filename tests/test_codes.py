"""Words are for readers: no number, verdict, code or choice depends on one of them."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steradian as sr
from comparison_groups import unit, vmf
from steradian.adequacy.trust import Answer
from steradian.cli.app import run
from steradian.diagnostics import MethodCode, Recalibration, Verdict
from steradian.numerics.arrays import Array
from steradian.text import phrases
from steradian.text.differences import headline
from steradian.text.levels import LevelTable, findings

SOURCE = Path(sr.__file__).parent
NOT_COMPARED = ("text", "read", "question", "design_sentence", "elapsed")  # sentences, and a time


def rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def heavy_row() -> sr.results.Profile:
    w = np.full(200, 0.2)
    w[17] = 500.0
    rows = sr.Directions.from_angles(rng(1).vonmises(0.0, 1.0, 200), weights=w)
    return sr.profile(rows, levels=2, design="importance")


def clusters() -> sr.results.Profile:
    x = sr.Sphere().uniform(200, rng(2))
    return sr.profile(x, levels=3, design=sr.designs.Clusters(np.arange(200) // 8))


def tilted_sites() -> sr.results.Profile:
    x = unit(rng(3).normal([3.0, 0.0, 0.0], [1.0, 0.15, 0.7], (30, 3)))
    return sr.profile(x, levels=2)


def binned() -> sr.results.Profile:
    angles = np.round(np.rad2deg(rng(4).vonmises(0.7, 1.5, 200)) / 45.0) * 45.0
    return sr.profile(sr.Directions.from_azimuth(angles, degrees=True))


def stopped() -> sr.results.Profile:
    return sr.profile(sr.Directions.from_angles([0.0, 1.0, 3.0]))


def descriptive() -> sr.results.Profile:
    return sr.profile(sr.Sphere().uniform(60, rng(5)), weights=rng(6).random(60))


def shrunk() -> sr.results.Profile:
    return sr.profile(np.eye(3), levels=2, shrinkage=0.1)


def wide() -> sr.results.Profile:
    return sr.profile(unit(rng(7).normal(size=(40, 12))))


def summed() -> sr.results.Profile:
    rows = sr.Directions(sr.Sphere().uniform(80, rng(8)))
    return sr.profile(sr.Moments.from_directions(rows, sr.Harmonics(3, 2)))


def example() -> sr.results.Profile:
    return sr.profile(sr.examples.load("mcmurdo"), levels=3)


Samples = tuple[tuple[Callable[[], sr.results.Profile], ...], tuple[str, ...], int]
FEW: Samples = (heavy_row, stopped, descriptive, shrunk), ("few",), 20
MANY: Samples = (
    (clusters, tilted_sites, binned, wide, summed, example), ("apart", "alike"), 40
)  # fmt: skip


def groups(kind: str) -> sr.results.Comparison:
    north = np.array([0.0, 0.0, 1.0])
    if kind == "apart":
        return sr.compare({"a": vmf(60, north, 8.0, rng(9)), "b": vmf(60, -north, 5.0, rng(10))})
    if kind == "few":
        return sr.compare(unit(rng(11).normal(size=(14, 3))), by=["a"] * 9 + ["b"] * 5)
    x = unit(rng(12).normal(size=(90, 3)))
    return sr.compare(x, by=np.arange(90) % 3)


def without_sentences(value: Any) -> Any:
    """A record without what is said in it."""
    if isinstance(value, dict):
        return {k: without_sentences(v) for k, v in value.items() if k not in NOT_COMPARED}
    return [without_sentences(one) for one in value] if isinstance(value, list) else value


def codes_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("code"), str):
            yield value["code"]
        yield from (code for one in value.values() for code in codes_in(one))
    if isinstance(value, list):
        yield from (code for one in value for code in codes_in(one))


def asked(ask: Callable[[], Any]) -> Any:
    """The record of a result, or which error refuses it."""
    try:
        found = ask()
    except sr.SteradianError as error:
        return {"error": type(error).__name__, "code": error.diagnostic.code}
    return found.to_dict()


def answers_of(p: sr.results.Profile) -> list[Any]:
    doors = (
        p.tests, lambda: p.tests(null="model", method="exact"), p.intervals, p.uniformity,
        p.residuals, p.mmd, p.trust, lambda: sr.choose_order(p, folds=2),
        lambda: sr.bootstrap(p, "multiplier", replicates=9),
    )  # fmt: skip
    said = [one.to_dict() for one in findings(LevelTable.of(p, 1e6))]
    str(p)  # in words, whatever they are
    return [p.to_dict(), said, *(asked(door) for door in doors)]


def everything(samples: Samples, table: str, capsys: pytest.CaptureFixture[str]) -> list[Any]:
    """What every door of the samples answers, and how commands end."""
    profiles, comparisons, _ = samples
    found: list[Any] = [answers_of(make()) for make in profiles]
    for kind in comparisons:
        c = groups(kind)
        found.append([c.to_dict(), headline(c).to_dict(), c.tests().to_dict()])
    for options in (["--json"], ["--format", "csv"], ["--levels", "0"], ["--design", "known"]):
        code = run(["profile", table, *options])
        out = capsys.readouterr().out
        found.append([code, json.loads(out) if options == ["--json"] else out])
    return found


@pytest.mark.parametrize("samples", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_scrambled_phrases_change_nothing_but_words(
    samples: Samples,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = tmp_path / "rows.csv"
    rows = rng(13).vonmises(0.3, 1.0, 40)
    table.write_text("\n".join(["azimuth", *(f"{np.rad2deg(a) % 360:.1f}" for a in rows)]))
    known = everything(samples, str(table), capsys)
    for k, code in enumerate(sorted(phrases.PHRASES)):
        monkeypatch.setitem(phrases.PHRASES, code, f"qx{k}jv")
    scrambled = everything(samples, str(table), capsys)
    csv = [known[-3], scrambled[-3]]
    del known[-3], scrambled[-3]
    assert json.dumps(without_sentences(scrambled)) == json.dumps(without_sentences(known))
    columns = [[line.split(",")[:12] for line in text.splitlines()] for _, text in csv]
    assert columns[0] == columns[1]
    assert len(set(codes_in(known))) >= samples[-1]


def literals(path: Path) -> list[str]:
    tree = ast.parse(path.read_text())
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is str]


def composed() -> set[str]:
    """Codes that are put together from the members of an enumeration."""
    kinds = ("damped", "tilted", "null", "empirical", "known", "model", "units", "sums")
    sure = [str(one) for one in Verdict]
    return {
        *(f"verdict_{one}" for one in sure),
        *(f"one_distribution_{one}" for one in sure[:3]),
        *(f"levels_{one}" for one in sure[:2]),
        *(f"difference_{one}" for one in sure[:2]),
        *(f"method_{one}" for one in MethodCode),
        *(f"answer_{one}" for one in Answer),
        *(f"question_{one}" for one in ("numbers", "data", "structure")),
        *(f"covariance_{one}" for one in kinds),
        *(f"recalibrated_on_{one}" for one in Recalibration if one),
        *(f"mixed_with_{one}" for one in ("uniform", "below")),
        *(f"margin_{one}" for one in ("inside", "close", "inside_at_most", "close_at_most")),
        *(f"label_information{one}_without_noise" for one in ("", "_not_significant")),
    }


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def test_every_code_has_a_phrase_and_every_phrase_is_used() -> None:
    made, written = set(), set()
    for path in modules():
        if path.name.endswith("_phrases.py"):
            continue
        written |= {*literals(path)}
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
                continue
            first = node.args[0]
            if node.func.id in {"Diagnostic", "say"} and isinstance(first, ast.Constant):
                made.add(first.value)
    assert made <= {*phrases.PHRASES}
    assert composed() <= {*phrases.PHRASES}
    assert {*phrases.PHRASES} <= written | composed()


def said(node: ast.AST) -> bool:
    """Whether an expression is made of words for people."""
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute) and one.attr in {"words", "warnings"}:
            return True
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name):
            argument = one.args[0] if one.args else None
            named = isinstance(argument, ast.Name) and argument.id in {"error", "diagnostic"}
            if one.func.id == "say" or (one.func.id == "str" and named):
                return True
    return False


READERS = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "find", "index"}


def test_no_module_that_decides_reads_a_sentence() -> None:
    """As far as it can be seen: what is said is not compared, searched or cut."""
    readers = []
    for path in modules():
        place = path.relative_to(SOURCE)
        if place.parts[0] in {"text", "cli", "plots", "report", "conformance", "paper"}:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            read = isinstance(node, ast.Compare) and any(
                said(one) for one in (node.left, *node.comparators)
            )
            call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if call and node.func.attr in READERS:  # type: ignore[attr-defined]
                read = said(node.func.value)  # type: ignore[attr-defined]
            if read:
                readers.append(f"{place}:{node.lineno}")  # type: ignore[attr-defined]
    assert not readers


def test_the_search_for_readers_finds_one() -> None:
    tree = ast.parse("heavy = 'outweighs' in found.words\nx = str(error).startswith('level')")
    compare = next(n for n in ast.walk(tree) if isinstance(n, ast.Compare))
    assert said(compare.comparators[0])
    call = next(n for n in ast.walk(tree) if isinstance(n, ast.Call))
    assert said(call)


def test_a_verdict_and_its_interval_agree_or_say_why() -> None:
    """Thirty sites after a correction of tilt, and clouds of other sizes and seeds."""
    seen = set()
    shapes: list[tuple[int, Array]] = [(30, np.array([1.0, 0.15, 0.7])), (60, np.ones(3))]
    for n, spread in shapes:
        for seed in range(6):
            x = unit(rng(20, n, seed).normal([1.0, 0.0, 0.5], spread, (n, 3)))
            table = LevelTable.of(sr.profile(x, levels=2), np.inf)
            assert table.intervals is not None
            told = [one.code for one in findings(table)]
            for k, verdict in enumerate(table.verdicts):
                there = verdict in (Verdict.CLEAR, Verdict.LIKELY)
                if there and table.intervals.low[k] == 0.0:
                    why = table.disagreements[k].code
                    assert why.startswith("significant_with_")
                    assert {why, "interval_of_one_unit"} & {*told}
                    seen.add(why)
                assert there or k in table.disagreements or not table.intervals.clear_of_zero[k]
    assert seen
