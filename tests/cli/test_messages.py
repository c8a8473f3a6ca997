"""Messages of the command line: what they advise is an option, and one that there is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import steradian as sr
from cli_calls import Capture
from steradian import cli
from steradian.cli.app import app, run
from steradian.text.audience import Advice, Audience, speaking_to
from steradian.text.messages import _OPTIONS, _SWITCHES
from steradian.text.phrases import PHRASES

RNG = np.random.default_rng(4)
COMMANDS: Any = typer.main.get_command(app)
PYTHON = re.compile(
    r"\b(?!psu=|strata=|fraction=)[a-z_]+=|\b[a-z_]+\((?!s\))|\bsr\.|\bDirections\b|None"
)
OPTION = re.compile(r"--[a-z][a-z-]*")


def options_of(command: str) -> set[str]:
    parameters = COMMANDS.commands[command].params
    return {name for one in parameters for name in (*one.opts, *one.secondary_opts)}


def csv(header: str, rows: Any) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


LONLAT = RNG.uniform([0, -60], [360, 60], (30, 2)).round(3)
WEIGHTED = np.column_stack([LONLAT, RNG.uniform(1.0, 5.0, 30).round(2)])
PLANES = np.column_stack([RNG.uniform(0, 360, 30), RNG.uniform(10, 80, 30)]).round(1)
VECTORS = RNG.normal(size=(30, 3)).round(4)
FILES = {
    "sky.csv": csv("lon,lat", LONLAT),
    "weighted.csv": csv("lon,lat,w", WEIGHTED),
    "vectors.csv": csv("x,y,z", VECTORS),
    "unnamed.csv": csv("u,v", LONLAT),
    "three.csv": csv("a,b,c", VECTORS),
    "plain.csv": csv("", LONLAT).lstrip("\n"),
    "many.csv": csv("lon,lat,ra,dec", np.column_stack([LONLAT, LONLAT])),
    "keys.csv": csv("k1,k2,k3,q1,q2,q3", np.hstack([VECTORS, VECTORS])),
    "quaternions.csv": csv("q1,q2,q3,q4", RNG.normal(size=(9, 4))),
    "radians.csv": csv("lon,lat", np.deg2rad(LONLAT).round(4)),
    "degrees.csv": csv("lon_rad,lat_rad", LONLAT),
    "hours.csv": csv("ra,dec", np.column_stack([LONLAT[:, 0] / 15, LONLAT[:, 1]]).round(4)),
    "swapped.csv": csv("lat,lon", LONLAT),
    "beyond.csv": csv("lon,lat", [*LONLAT.tolist(), (10, 95)]),
    "dates.csv": csv("date", [["2024-01-03"], ["2024-03-05"], ["2023-11-30"]]),
    "seconds.csv": csv("time", [[77000], [300], [40000]]),
    "months.csv": csv("month,count", [[1, 5], [2, 7], [12, 9]]),
    "bins.csv": csv("from,to,n", [[0, 30, 5], [30, 60, 7], [60, 90, 2]]),
    "letters.csv": csv("bearing", [["N30E"], ["S20W"], ["N80W"]]),
    "quadrants.csv": csv("strike,dip,quad", [[*row, "SE"] for row in PLANES.tolist()]),
    "sexagesimal.csv": csv("ra,dec", [["10:20:30", "-5:00:00"], ["11:00:00", "6:30:00"]] * 4),
    "bad.csv": csv("lon,lat", [[1, 2], ["north", 3], [4, 5]]),
    "ragged.csv": "lon,lat\n1,2\n3\n4,5\n",
    "twice.csv": csv("lon,lat,lon", np.column_stack([LONLAT, LONLAT[:, 0]])),
    "zero.csv": csv("x,y,z", [[0, 0, 1], [0, 0, 0], [1, 0, 0]]),
    "great.csv": csv("x,y,z", [[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]),
    "groups.csv": csv("x,y,z,g", [[1, 0, 0, "a"], [0, 1, 0, "a"], [0, 0, 1, "b"], [0, 1, 0, "b"]]),
    "labels.csv": csv("lon,lat,g", [[*row, k] for k, row in enumerate(LONLAT.tolist())]),
    "magic.txt": "tab\tsites\ndir_dec\tdir_inc\n1\t2\n>>>>\ntab\tsamples\ndir_dec\tdir_inc\n3\t4\n",
    "euler.csv": csv("roll,pitch,yaw", VECTORS),
    "times.csv": csv("time,speed", [["10:00", 3], ["noon", 4], ["13:00", 5]]),
    "counts.csv": csv("lon,lat,n", [[1, 2, 1.5], [3, 4, 2]]),
}  # fmt: skip

LINES = """\
profile vectors.csv
profile unnamed.csv
profile three.csv
profile plain.csv
profile plain.csv --columns 1,2
profile many.csv
profile keys.csv
profile quaternions.csv
profile quaternions.csv --columns q1,q2
profile radians.csv
profile degrees.csv
profile hours.csv
profile hours.csv --radians --hours
profile swapped.csv --columns lat,lon --coords lonlat
profile swapped.csv --columns lat,lon
profile beyond.csv
profile beyond.csv --columns lat,lon --coords xyz
profile sky.csv --coords strike-dop
profile sky.csv --coords angle
profile sky.csv --hours
profile sky.csv --period 24
profile sky.csv --on-bad maybe
profile sky.csv --columns lon
profile sky.csv --columns lon,lat,lon --coords lonlat
profile sky.csv --columns lon,nothing
profile sky.csv --coords xyz --columns lon,lat
profile sky.csv --weights nothing
profile sky.csv --table sites
profile sky.csv --levels 0
profile sky.csv --levels 900
profile sky.csv --shrinkage 7
profile sky.csv --shrinkage 0.1 --levels auto
profile sky.csv --design known
profile sky.csv --design clusters
profile sky.csv --design strata
profile sky.csv --design survey
profile sky.csv --design importance
profile sky.csv --report out.txt
profile sky.csv --reference nothing.fits
profile sky.csv --reference unseen:-60..10
profile sky.csv --bins lon
profile sky.csv --format yaml
profile weighted.csv --weights w --design iid
profile weighted.csv --weights w --levels auto
profile weighted.csv --counts w
profile dates.csv --coords time
profile dates.csv --coords time --period month
profile seconds.csv --coords time
profile seconds.csv --coords time --period day
profile seconds.csv --coords time --period never
profile seconds.csv --coords time --period -3
profile months.csv --coords time
profile bins.csv
profile bins.csv --bins from,to
profile letters.csv --radians --coords azimuth
profile letters.csv --coords lonlat --columns bearing
profile quadrants.csv
profile sexagesimal.csv --radians
profile bad.csv
profile ragged.csv
profile twice.csv
profile zero.csv --normalize
profile great.csv --levels 2
profile great.csv --levels 7
profile euler.csv
profile times.csv --coords time --columns time
profile counts.csv --counts n
profile magic.txt
profile magic.txt --table rows
profile nothing.csv
profile mcmurdo --levels 2 --design clusters:site
boundary vectors.csv
boundary unnamed.csv --levels 2
compare groups.csv --by g --levels 3
compare labels.csv --by g
compare sky.csv
compare sky.csv --by nothing
compare weighted.csv --weights w --by w --shares some
moments vectors.csv
moments sky.csv --by lat --out a.moments
merge sky.csv"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("bad")
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize("line", LINES.splitlines())
def test_every_remedy_is_an_option_of_the_command(
    line: str, folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert run(line.split()) in {1, 2}
    words = capsys.readouterr().err
    assert words.startswith("steradian: ")
    assert words.count("\n") == 1
    assert not PYTHON.search(words), words
    command = line.split(maxsplit=1)[0]
    for sentence in words.split(", or "):
        elsewhere = "of steradian profile" in sentence
        known = options_of("profile" if elsewhere else command)
        assert set(OPTION.findall(sentence)) <= known, words


RESULTS = """\
profile sky.csv --levels auto
profile weighted.csv --weights w --levels 2
profile weighted.csv --weights w --levels 2 --design importance
profile sky.csv --levels 2 --design iid
profile hours.csv --hours --levels 1
profile great.csv
profile vectors.csv --normalize --levels 2 --shrinkage 0.1
boundary great.csv
compare groups.csv --by g --levels 1 --pairs
moments weighted.csv --weights w --levels 2"""


@pytest.mark.parametrize("line", RESULTS.splitlines())
def test_results_advise_options_too(
    line: str, folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert run(line.split()) == 0
    printed = capsys.readouterr()
    words = " ".join(f"{printed.out} {printed.err}".split())
    for clause in re.split(r"[;:.(] ", words):
        assert not PYTHON.search(clause) or "in Python" in clause, clause
    command = line.split(maxsplit=1)[0]
    assert set(OPTION.findall(words)) <= options_of(command) | options_of("profile")


def test_options_that_stand_for_arguments_are_there() -> None:
    known = set().union(*map(options_of, COMMANDS.commands))
    assert {*_OPTIONS.values(), *(name for pair in _SWITCHES.values() for name in pair)} <= known


@pytest.mark.parametrize("code", PHRASES)
def test_phrases_of_results_name_options_too(code: str) -> None:
    """What only Python has is said to be there."""
    phrase = PHRASES[code]
    said = str(phrase.command_line) if isinstance(phrase, Advice) else phrase
    for clause in re.split(r"[;:(](?! ?\w+\})", said):
        assert not PYTHON.search(clause) or "in Python" in clause, said
    known = options_of("profile") | options_of("compare")
    assert set(OPTION.findall(said)) <= known


@pytest.mark.parametrize(
    ("call", "python", "option"),
    [
        (lambda f: sr.read_directions(f / "vectors.csv"), "normalize=True", "--normalize"),
        (lambda f: sr.read_directions(f / "radians.csv"), "degrees=False", "--radians"),
        (lambda f: sr.read_directions(f / "hours.csv"), "hours=True", "--hours"),
        (lambda f: sr.read_directions(f / "bad.csv"), "on_bad='skip'", "--on-bad skip"),
        (lambda f: sr.read_directions(f / "plain.csv"), "columns=['1', '2']", "--columns 1,2"),
        (lambda _: sr.profile(np.eye(3), levels=2), "levels=1", "--levels 1"),
    ],
)
def test_one_error_speaks_to_both(
    folder: Path, call: Callable[[Path], object], python: str, option: str
) -> None:
    with pytest.raises(sr.SteradianError) as caught:
        call(folder)
    assert python in str(caught.value)
    assert option not in str(caught.value)
    with speaking_to(Audience.COMMAND_LINE):
        assert option in str(caught.value)
        assert python not in str(caught.value)


def test_the_command_line_reads_no_sentence() -> None:
    """Its regular expressions are of what people type, and none of what the library says."""
    files = {path.name: path.read_text(encoding="utf-8") for path in _sources()}
    assert {name for name, text in files.items() if "import re\n" in text} <= {
        "commands.py",  # labels in names of files
        "reference.py",  # bands of latitude
    }
    for name, text in files.items():
        for reads in ("in str(error)", "str(error).", "error.args"):
            assert reads not in text, name


def _sources() -> list[Path]:
    return sorted(Path(cli.__file__).parent.glob("*.py"))
