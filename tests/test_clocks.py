"""No number depends on a clock: a machine fifty times as slow or as quick prints the same."""

from __future__ import annotations

import ast
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import steradian
import steradian as sr
from printed_samples import QUICK, SAMPLES, answered
from steradian.errors import SteradianError
from steradian.report.profile_page import page_of

SOURCE = Path(steradian.__file__).parent
CLOCKS = ("process_time", "perf_counter", "monotonic", "time", "thread_time")
SHOWN = {
    "progress.py": "a bar appears after a second",
    "decomposition.py": "Profile.elapsed",
    "comparison.py": "Comparison.elapsed",
    "cli/app.py": "how long the self-test took",
}
"""Modules that may look at a clock, and what they show of it."""

TIMED = {"time", "timeit", "resource", "sched"}
ASKED = re.compile(
    r"now|utcnow|today|times|Timer|alarm|setitimer|perf_counter|process_time|monotonic"
)
DOZEN = [
    *QUICK, "sphere, few rows", "circle, importance", "circle, clusters", "sphere, cubic",
    "sphere, tight", "sphere, fixed weights", "sphere, many rows", "five dimensions", "two angles",
]  # fmt: skip
EVERY = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in DOZEN]


# --- who looks at one -------------------------------------------------------------------------


def looks(tree: ast.Module) -> Iterator[str]:
    """Modules of clocks that are imported, and their functions that are called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.partition(".")[0] in TIMED)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in TIMED:
            yield str(node.module)
        elif isinstance(node, ast.Attribute) and ASKED.fullmatch(node.attr):
            yield node.attr


def test_no_other_module_reads_a_clock() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in sorted(SOURCE.rglob("*.py"))
        if any(looks(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == set(SHOWN)


@pytest.mark.parametrize(
    "code",
    ["import time", "from time import monotonic", "import threading\nthreading.Timer(1.0, print)",
     "from datetime import datetime\ndatetime.now()", "import os\nos.times()",
     "import signal\nsignal.alarm(1)"],
)  # fmt: skip
def test_a_clock_would_be_seen(code: str) -> None:
    assert list(looks(ast.parse(code)))


# --- what would depend on one -----------------------------------------------------------------


def slowed(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """Every clock runs so many times as fast."""

    def of(read: Callable[[], float]) -> Callable[[], Any]:
        return lambda: type(read())(factor * read())

    for name in CLOCKS:
        monkeypatch.setattr(time, name, of(getattr(time, name)))
        monkeypatch.setattr(time, f"{name}_ns", of(getattr(time, f"{name}_ns")))


def said(ask: Callable[[], object]) -> str:
    """What is printed, or the refusal."""
    try:
        return str(ask())
    except SteradianError as error:
        return f"{type(error).__name__}: {error}"


def without_times(text: str) -> str:
    """Nothing that says how long something took."""
    text = re.sub(r"[\d.e+-]+ s for the fits", "for the fits", text)
    return re.sub(r"'elapsed': [\d.e+-]+", "'elapsed'", text)


def printed(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Everything that is printed of a sample, with every p-value in full digits."""
    sample = SAMPLES[name]
    path = sample.written(folder, 1)
    fresh = sample.profile(path, 1)  # print alone, as most people have it
    p, q = sample.profile(path, 1), sample.profile(path, 1)
    parts = [
        said(lambda: fresh),
        said(fresh.trust),
        said(lambda: p.tests().to_dict()),
        said(p.tests),
        said(lambda: p.residuals().to_dict()),
        said(p.residuals),
        said(p.intervals),
        said(p.uniformity),
        said(lambda: sr.choose_order(q, folds=2).to_dict()),
        said(lambda: page_of(sample.profile(path, 1))),
    ]
    capsys.readouterr()
    for form in ("text", "json", "csv"):
        answered(sample.arguments(path), "--format", form)
        out = capsys.readouterr().out
        parts.append(str(json.loads(out)) if form == "json" else out)
    return without_times("\n".join(parts))


@pytest.mark.parametrize("name", EVERY)
def test_a_slow_machine_prints_what_a_quick_one_prints(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for factor in (1.0 / 50.0, 50.0):
        with monkeypatch.context() as patch:
            slowed(patch, factor)
            texts.append(printed(name, tmp_path, capsys))
    assert texts[0] == texts[1]
    assert len(texts[0]) > 2000


def test_the_clocks_are_those_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is slowed is what the library reads: the time that fits took says so."""
    rows = sr.examples.load("turtles")
    with monkeypatch.context() as patch:
        slowed(patch, 1e6)
        assert sr.profile(rows, levels=1).elapsed > 1.0


def test_the_example_of_the_readme_prints_one_thing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Print once left out p-values of the McMurdo sites that `tests()` has."""
    texts = []
    for factor in (1.0 / 50.0, 50.0):
        with monkeypatch.context() as patch:
            slowed(patch, factor)
            texts.append(str(sr.profile(sr.examples.load("mcmurdo"))))
    assert texts[0] == texts[1]
    assert "not computed" not in texts[0]
