"""The public face: names, docstrings, light imports and errors that name what is missing."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import steradian as sr

MOST_MODULES = 160  # of a first profile of rows on the two-sphere
EXTRAS = {
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "typer",
    "rich",
    "click",
    "matplotlib",
    "plotly",
    "dask",
}
ERRORS = [
    "BoundaryError",
    "ConvergenceError",
    "DesignError",
    "InvalidArgument",
    "InvalidDirections",
    "MissingExtra",
    "ResolutionError",
    "SteradianError",
]
DOCUMENTED = [
    name for name in sr.__all__ if name not in ERRORS and not inspect.ismodule(getattr(sr, name))
]


def python(*code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(code)],
        capture_output=True,
        text=True,
        check=False,
    )


# --- names --------------------------------------------------------------------------------


def test_every_public_name_exists_once_and_in_order() -> None:
    assert all(hasattr(sr, name) for name in sr.__all__)
    assert sr.__all__ == sorted(set(sr.__all__))


def test_the_contract() -> None:
    wanted = {
        *ERRORS,
        *("Directions", "Harmonics", "Moments"),
        *("examples", "profile", "profiles", "read_directions"),
    }
    assert wanted <= set(sr.__all__)


def test_a_star_import_brings_exactly_the_public_names() -> None:
    done = python(
        "before = set(globals())",
        "from steradian import *",
        "print(*sorted(set(globals()) - before - {'before'}))",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == sr.__all__


def test_nothing_public_is_left_out_of_the_list() -> None:
    visible = {
        name
        for name, value in vars(sr).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert visible <= set(sr.__all__)


def test_conformance_is_imported_on_demand() -> None:
    done = python(
        "import sys, steradian as sr",
        "print('steradian.conformance' in sys.modules)",
        "print(sr.conformance.check_space.__name__, 'steradian.conformance' in sys.modules)",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["False", "check_space", "True"]
    with pytest.raises(AttributeError, match="has no attribute 'conformances'"):
        _ = sr.conformances  # type: ignore[attr-defined]


def test_the_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", sr.__version__)


@pytest.mark.parametrize("name", sr.__all__)
def test_everything_public_has_a_docstring(name: str) -> None:
    doc = inspect.getdoc(getattr(sr, name))
    assert doc
    assert doc.splitlines()[0].rstrip().endswith((".", ","))


@pytest.mark.parametrize("name", DOCUMENTED)
def test_classes_and_functions_show_an_example_or_their_parameters(name: str) -> None:
    doc = inspect.getdoc(getattr(sr, name)) or ""
    assert re.search(r"^(Parameters|Attributes|Examples)\n-+$", doc, re.MULTILINE)


@pytest.mark.parametrize("name", ["profile", "profiles", "read_directions", "Directions"])
def test_every_parameter_is_documented(name: str) -> None:
    target = getattr(sr, name)
    doc = inspect.getdoc(target) or ""
    for parameter in inspect.signature(target).parameters:
        assert re.search(rf"^{parameter} : ", doc, re.MULTILINE), parameter


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_has_one_base(name: str) -> None:
    kind = getattr(sr, name)
    assert issubclass(kind, sr.SteradianError)
    assert issubclass(sr.InvalidDirections, ValueError)
    assert issubclass(sr.MissingExtra, ImportError)


# --- errors carry what is left ------------------------------------------------------------


def test_a_boundary_error_says_what_where_why_and_what_is_sound() -> None:
    with pytest.raises(sr.BoundaryError) as caught:
        sr.profile(sr.Directions.from_angles([0, 90, 200], degrees=True), levels=4)
    error = caught.value
    assert error.level == 3
    assert str(error) == f"level 3 {error.cause}; {error.remedy}"
    assert error.cause.startswith("does not exist: no density has these moments")
    assert error.remedy == (
        "ask for fewer levels (levels=2 is sound)"
        ", or mix in a little of the uniform law (shrinkage=0.01)"
        ", which nothing tests against noise"
    )
    assert error.profile is not None
    sound = sr.profile(sr.Directions.from_angles([0, 90, 200], degrees=True), levels=2)
    np.testing.assert_allclose(error.profile.deficits, sound.deficits, rtol=1e-12)


def test_a_boundary_error_at_the_first_level_has_no_profile() -> None:
    with pytest.raises(sr.BoundaryError, match="all the weight sits on one point") as caught:
        sr.profile([[0.0, 0.0, 1.0]] * 3)
    assert (caught.value.level, caught.value.profile) == (1, None)
    assert caught.value.remedy.startswith("give at least two different directions, or mix")
    assert str(caught.value).endswith(caught.value.remedy)


@pytest.mark.parametrize(
    ("d", "levels", "words"),
    [
        (1, 1, "d is 1; directions need at least two dimensions"),
        (3, 0, "levels is 0; a hierarchy has at least one level"),
        (3, -2, "levels is -2; a hierarchy has at least one level"),
        (3, 1.5, "levels is 1.5; give a whole number"),
        (3, 2.0, "levels is 2.0; give a whole number"),
        (2.5, 1, "d is 2.5; give a whole number"),
        ("3", 1, "d is '3'; give a whole number"),
        (3, None, "levels is None; give a whole number"),
        (
            4,
            6,
            "6 levels in dimension 4: above dimension 3 at most 5 levels are integrated; "
            "pass fewer",
        ),
    ],
)
def test_a_hierarchy_that_cannot_be(d: Any, levels: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{words}$"):
        sr.Harmonics(d, levels)


@pytest.mark.parametrize("d", [4, 5, 9])
def test_two_levels_above_the_two_sphere(d: int) -> None:
    x = np.vstack([np.eye(d), sr.Harmonics(d, 1).space.uniform(99, np.random.default_rng(d))])
    two = sr.profile(x, levels=2)
    assert sr.Harmonics(d, 2).dims == tuple(two.dims) == (d, d * (d + 1) // 2 - 1)
    assert two.gaps[1] > 0
    assert len(sr.profile(x).levels) == 2
    with pytest.raises(ValueError, match=f"^6 levels in dimension {d}: .*; pass fewer$"):
        sr.profile(x, levels=6)


def test_errors_survive_pickling() -> None:
    with pytest.raises(sr.BoundaryError) as caught:
        sr.profile(np.vstack([np.eye(3), -np.eye(3)]), levels=4)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.level == 4
    np.testing.assert_array_equal(again.profile.gaps, caught.value.profile.gaps)  # type: ignore[union-attr]


def test_representations_are_one_line() -> None:
    profile = sr.profile(sr.examples.load("turtles"), levels=2)
    many = sr.profiles(np.eye(3), weights=np.ones((2, 3)), levels=1)
    things = (profile, *profile.fits, profile.moments, profile.nested, profile.sensitivity(), many)
    for thing in things:
        text = repr(thing)
        assert text.startswith(type(thing).__name__ + "(")
        assert len(text) <= 100
        assert "\n" not in text


def test_no_levels_are_refused() -> None:
    x = np.vstack([np.eye(3), -np.eye(3)])
    moments = sr.Moments.from_directions(sr.Directions(x), sr.Harmonics(3, 1))
    calls: list[Callable[[], object]] = [
        lambda: sr.profile(x, levels=0),
        lambda: sr.profile(moments, levels=0),
        lambda: sr.profiles(x, weights=np.ones((2, 6)), levels=0),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"^levels is 0; a hierarchy has at least one level$"):
            call()


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_many_weightings_do_not_see_their_scale(scale: float) -> None:
    x = np.vstack([np.eye(3), -np.eye(3)])
    w = np.random.default_rng(0).uniform(0.1, 1.0, (2, 6))
    plain, scaled = (sr.profiles(x, weights=v, levels=1) for v in (w, scale * w))
    np.testing.assert_allclose(scaled.deficits, plain.deficits, rtol=1e-12)
    np.testing.assert_allclose(scaled.ess, plain.ess, rtol=1e-13)


def test_masked_weightings_are_refused() -> None:
    w = np.ma.masked_equal([[1, 2, 3]], 2)
    with pytest.raises(sr.InvalidDirections, match=r"^weights has masked entries; drop those row"):
        sr.profiles(np.eye(3), weights=w, levels=1)


def test_another_hierarchy_than_that_of_the_moments() -> None:
    moments = sr.Moments.from_directions(sr.Directions(np.eye(3)), sr.Harmonics(3, 1))
    with pytest.raises(ValueError, match="these moments are of") as caught:
        sr.profile(moments, hierarchy=sr.Harmonics(3, 2))
    assert str(caught.value) == (
        "these moments are of Harmonics(d=3, levels=1), not Harmonics(d=3, levels=2)"
    )


def test_profile_is_the_function_whatever_of_its_folder_is_imported() -> None:
    done = python(
        "import steradian.text.summary, steradian.batches, steradian as sr",
        "print(sr.profile.__name__, sr.profiles.__name__, callable(sr.profile))",
    )
    assert (done.stdout, done.stderr) == ("profile profiles True\n", "")


# --- optional extras ----------------------------------------------------------------------


def test_the_import_brings_no_extra() -> None:
    done = python(
        "import sys, steradian",
        "steradian.profile(steradian.examples.load('turtles')).summary()",
        f"print(*sorted({EXTRAS!r} & set(sys.modules)))",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


def test_a_frame_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = sr.profile(sr.examples.load("turtles"), levels=1)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(sr.MissingExtra) as caught:
        profile.to_frame()
    assert str(caught.value) == (
        "a frame needs pandas; install it with: pip install 'steradian[tables]'"
    )


def test_a_frame_in_without_narwhals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(sr.MissingExtra) as caught:
        sr.read_directions(pa.table({"angle": [1.0, 2.0]}))
    assert str(caught.value) == (
        "frames need narwhals; install it with: pip install 'steradian[tables]'"
    )


def test_parquet_without_pyarrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"angle": [1.0, 2.0]}), path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(sr.MissingExtra) as caught:
        sr.read_directions(path)
    assert str(caught.value) == (
        "Parquet files need pyarrow; install it with: pip install 'steradian[tables]'"
    )


def test_text_and_npy_need_no_extra(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("angle\n0\n90\n180\n", encoding="utf-8")
    np.save(tmp_path / "data.npy", np.eye(3))
    done = python(
        "import sys",
        f"sys.modules.update(dict.fromkeys({sorted(EXTRAS)!r}))",
        "import steradian as sr",
        f"print(sr.read_directions({str(tmp_path / 'data.csv')!r}))",
        f"print(sr.read_directions({str(tmp_path / 'data.npy')!r}))",
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "Directions(n=3, d=2, equal weights)",
        "Directions(n=3, d=3, equal weights)",
    ]


def test_the_command_line_without_typer() -> None:
    done = python(
        "import sys",
        "sys.modules['typer'] = None",
        "sys.argv = ['steradian', 'examples']",
        "from steradian.cli import main",
        "main()",
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "steradian: the command line needs typer; install it with: pip install 'steradian[cli]'\n"
    )


def test_a_first_profile_brings_what_it_uses() -> None:
    """Neither plots nor readers, no report and no command line; few modules in all."""
    code = (
        "import sys, numpy as np, steradian as sr\n"
        "x = np.random.default_rng(0).standard_normal((500, 3))\n"
        "sr.profile(sr.Directions(x, normalize=True), levels=2).gaps\n"
        "ours = [name for name in sys.modules if name.partition('.')[0] == 'steradian']\n"
        "print(len(ours), sorted({(name + '..').split('.')[1] for name in ours}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count, _, folders = done.stdout.partition(" ")
    assert int(count) <= MOST_MODULES, done.stdout
    assert not set(ast.literal_eval(folders)) & {"plots", "io", "report", "cli", "paper", "cluster"}


def test_every_public_name_has_a_home() -> None:
    for name in sr.__all__:
        assert getattr(sr, name) is not None
    assert set(sr.__all__) <= set(dir(sr))
