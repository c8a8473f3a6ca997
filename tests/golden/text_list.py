"""The texts that are kept: what print, the command line, errors and reports say."""

from __future__ import annotations

import contextlib
import html
import io
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import steradian as sr
from golden import samples
from steradian.cli.app import run
from steradian.hierarchies import Split


def _example(name: str, levels: int | None = None) -> sr.results.Profile:
    return sr.profile(sr.examples.load(name), levels=levels)


def _sphere() -> sr.results.Profile:
    return sr.profile(samples.cloud(3, 120, 0.6, 201), levels=2)


def _circle() -> sr.results.Profile:
    return sr.profile(samples.two_clusters(2, 120, 0.3, 202), levels=3)


def _clusters() -> sr.results.Profile:
    ids = samples.blocks(120, 3)
    x = samples.shared_within(samples.cloud(3, 120, 0.5, 203), ids, 0.5, 204)
    return sr.profile(x, levels=2, design=sr.designs.Clusters(ids))


def _groups() -> sr.results.Comparison:
    x, by = samples.cloud(3, 180, 0.9, 205), np.arange(180) % 3
    x = np.where((by == 2)[:, None], np.roll(x, 1, axis=1), x)
    return sr.compare(x, by=np.array(["north", "middle", "south"])[by])


def _alike() -> sr.results.Comparison:
    return sr.compare(samples.cloud(2, 100, 0.6, 206), by=np.arange(100) % 2)


def _weighted(kind: str, design: str | None) -> sr.results.Profile:
    x = samples.cloud(3, 80, 0.7, 207)
    return sr.profile(x, weights=samples.WEIGHTS[kind](80), levels=2, design=design)


def _high() -> sr.results.Profile:
    return sr.profile(samples.cloud(20, 90, 1.5, 208))


def _axes() -> sr.results.Profile:
    return sr.profile(sr.Directions(samples.two_sided(3, 90, 0.5, 209), space=sr.Axes(3)))


def _torus() -> sr.results.Profile:
    return sr.profile(sr.Directions(samples.on_torus(2, 90, 0.9, 210), space=sr.Torus(2)))


def _masked() -> sr.results.Profile:
    x = samples.cloud(3, 150, 0.3, 211)
    return sr.profile(x[np.abs(x[:, 2]) > 0.4], levels=2, reference=sr.Mask(bands=[(-20, 20)]))


def _split() -> sr.results.SplitProfile:
    choice = sr.Zonal("mean", 2, split=Split(0.5, repeats=3))
    return sr.profile(samples.cloud(5, 120, 1.0, 212), hierarchy=choice)


def _weightings() -> sr.results.Profiles:
    weights = 1.0 + samples.generator(213).random((20, 60))
    return sr.profiles(samples.cloud(3, 60, 0.7, 214), weights=weights, levels=2)


def _command(*arguments: str) -> str:
    """What a command prints, with its exit code and what it says on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(list(arguments))
    return f"$ steradian {' '.join(arguments)}\n{out.getvalue()}{err.getvalue()}[exit {code}]"


def _rows_file(*arguments: str) -> str:
    """A command about a file of rows, in a folder of its own."""
    x = samples.cloud(3, 80, 0.6, 215)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        lines = [f"{a:.6f},{b:.6f},{c:.6f},{k % 2}" for k, (a, b, c) in enumerate(x)]
        Path("rows.csv").write_text("\n".join(["x,y,z,side", *lines]) + "\n", encoding="utf-8")
        return _command(*arguments)


def _moments_files() -> str:
    """Sums of two files, and of both."""
    h = sr.Harmonics(3, 2)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for seed, name in enumerate(("north", "south")):
            sr.moments(samples.cloud(3, 50, 0.5, 216 + seed), h).save(f"{name}.moments")
        merged = _command("merge", "north.moments", "south.moments", "-o", "all.moments")
        return f"{merged}\n{_command('profile', 'all.moments')}"


_ERRORS: dict[str, Callable[[], Any]] = {
    "not of length one": lambda: sr.Directions([[1.0, 0.0], [0.0, 0.9]]),
    "no level 2": lambda: sr.profile(np.eye(3), levels=2),
    "no level 2 of a great circle": lambda: sr.profile(samples.great_circle(40, 218), levels=2),
    "too tight": lambda: sr.profile(samples.tight(3, 40, 1e-6, 219), levels=2),
    "another design": lambda: sr.profile(np.eye(3), design="strata"),
    "clusters by name": lambda: sr.profile(np.eye(3), design="clusters"),
    "no inference": lambda: _weighted("gentle", None).tests(),
    "shrunk": lambda: sr.profile(np.eye(3), shrinkage=0.1).intervals(),
    "other features": lambda: (
        sr.moments(np.eye(3), sr.Harmonics(3, 1)) + sr.moments(np.eye(3), sr.Harmonics(3, 2))
    ),
    "levels": lambda: sr.profile(np.eye(3), levels="many"),
    "weights": lambda: sr.profile(np.eye(3), weights=[1.0, -1.0, 1.0]),
    "labels": lambda: sr.compare(np.eye(3), by=[1, 2]),
}


def _errors() -> str:
    return "\n\n".join(f"{name}\n{_error(call)}" for name, call in _ERRORS.items())


def _error(call: Callable[[], Any]) -> str:
    try:
        call()
    except sr.SteradianError as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


_SILENT = re.compile(r"<(script|style|svg|head)\b.*?</\1>", re.DOTALL)
_ENDS = re.compile(r"</(p|h\d|tr|li|div|figcaption|summary|section|caption|pre)>")
_TAG = re.compile(r"<[^>]*>")


def _report(made: sr.results.Profile | sr.results.Comparison) -> str:
    """The words of a report, a line for each of its parts."""
    with tempfile.TemporaryDirectory() as folder:
        page = made.report(Path(folder) / "report.html").read_text(encoding="utf-8")
    words = html.unescape(_TAG.sub(" ", _ENDS.sub("\n", _SILENT.sub("", page))))
    lines = (" ".join(line.split()) for line in words.splitlines())
    return "\n".join(line for line in lines if line)


TEXTS: dict[str, Callable[[], str]] = {
    "profile-mcmurdo": lambda: str(_example("mcmurdo")),
    "profile-mcmurdo-verbose": lambda: _example("mcmurdo").summary(verbose=True),
    "profile-laths": lambda: str(_example("laths")),
    "profile-turtles": lambda: str(_example("turtles")),
    "profile-turtles-tested": lambda: _tested(_example("turtles", 3)),
    "profile-circle": lambda: str(_circle()),
    "profile-sphere": lambda: str(_sphere()),
    "profile-clusters": lambda: str(_clusters()),
    "profile-fixed-uneven": lambda: str(_weighted("uneven", "fixed")),
    "profile-one-heavy": lambda: str(_weighted("one-heavy", "importance")),
    "profile-descriptive": lambda: str(_weighted("gentle", None)),
    "profile-many-dimensions": lambda: str(_high()),
    "profile-stopped": lambda: str(sr.profile(samples.great_circle(50, 220))),
    "profile-shrunk": lambda: str(sr.profile(samples.great_circle(50, 220), shrinkage=0.05)),
    "profile-axes": lambda: str(_axes()),
    "profile-torus": lambda: str(_torus()),
    "profile-mask": lambda: str(_masked()),
    "profile-splits": lambda: str(_split()),
    "profiles": lambda: str(_weightings()),
    "spectrum": lambda: str(_circle().spectrum()),
    "tests": lambda: f"{_circle().tests()}\n\n{_clusters().tests()}",
    "tests-model": lambda: str(_sphere().tests(null="model")),
    "uniformity": lambda: f"{_circle().uniformity()}\n\n{_clusters().uniformity()}",
    "intervals": lambda: f"{_circle().intervals()}\n\n{_clusters().intervals()}",
    "residuals": lambda: f"{_circle().residuals()}\n\n{_sphere().residuals()}",
    "mmd": lambda: str(_sphere().mmd(method="exact")),
    "trust": lambda: f"{_circle().trust()}\n\n{_clusters().trust().shown(verbose=True)}",
    "sensitivity": lambda: str(_sphere().sensitivity((0.0, 0.03), rotations=1)),
    "order": lambda: str(sr.choose_order(_circle(), folds=3)),
    "boundary": lambda: f"{sr.boundary(np.eye(3), 2)}\n\n{sr.boundary(_circle().directions, 3)}",
    "boundary-small-circle": lambda: str(sr.boundary(samples.small_circle(40, 0.3, 0.0, 221))),
    "comparison": lambda: str(_groups()),
    "comparison-alike": lambda: str(_alike()),
    "comparison-tests": lambda: f"{_groups().tests()}\n\n{_groups().pairs()}",
    "comparison-intervals": lambda: f"{_groups().intervals()}\n\n{_alike().gap_differences()}",
    "fits": lambda: "\n".join(str(fit) for fit in (*_sphere().fits, *_circle().fits)),
    "errors": _errors,
    "report-profile": lambda: _report(_sphere()),
    "report-comparison": lambda: _report(_alike()),
    "cli-profile": lambda: _command("profile", "mcmurdo"),
    "cli-profile-json": lambda: _command("profile", "turtles", "--levels", "2", "--format", "json"),
    "cli-profile-markdown": lambda: _command("profile", "laths", "--format", "markdown"),
    "cli-profile-file": lambda: _rows_file("profile", "rows.csv", "--columns", "x,y,z"),
    "cli-compare": lambda: _rows_file("compare", "rows.csv", "--by", "side"),
    "cli-boundary": lambda: _command("boundary", "turtles"),
    "cli-moments": _moments_files,
    "cli-no-file": lambda: _command("profile", "nowhere.csv"),
    "cli-no-design": lambda: _command("profile", "turtles", "--design", "strata"),
    "cli-examples": lambda: _command("examples"),
    "cli-doctor": lambda: _command("doctor"),
}
"""Every text by the name of its file."""


def _tested(p: sr.results.Profile) -> str:
    """What print shows after the tests and the intervals were asked for."""
    p.tests()
    p.intervals()
    return str(p)
