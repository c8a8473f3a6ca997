"""How commands end where the system does not do what is asked: one line, an exit code, no rest."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steradian as sr
from cli_calls import Capture, complaint
from steradian import cli
from steradian.cli.app import run

POSIX = pytest.mark.skipif(os.name != "posix", reason="streams and signals of POSIX")
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
PROGRAM = f"{sys.executable} -m steradian"
CLOSED = "standard output is closed; leave it open, or give --out a file"


@POSIX
def test_a_closed_output_is_an_error() -> None:
    command = f"{PROGRAM} profile mcmurdo --levels 1 >&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"steradian: {CLOSED}\n")


@pytest.mark.parametrize("command", ["examples", "profile mcmurdo --levels 1 --json"])
def test_every_command_says_that_its_output_is_closed(
    command: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", None)  # what Python makes of it
    assert run(command.split()) == 2
    assert capsys.readouterr().err == f"steradian: {CLOSED}\n"


def test_a_closed_output_is_no_matter_where_a_file_is_written(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "p.txt"
    monkeypatch.setattr(sys, "stdout", None)
    assert run(["profile", "mcmurdo", "--levels", "1", "-q", "--out", str(out)]) == 0
    assert capsys.readouterr().err == ""
    assert "mean direction" in out.read_text(encoding="utf-8")


@FULL
def test_a_full_output_is_an_error(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run(["profile", "mcmurdo", "--levels", "1"]) == 2
    assert capsys.readouterr().err == (
        "steradian: standard output cannot be written: no space left on device; make room, or "
        "give --out a file elsewhere\n"
    )


def test_a_closed_input_is_an_error(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    words = "standard input is closed; leave it open, or give a file"
    assert complaint(capsys, "profile", "-") == words


def test_a_closed_error_output_leaves_the_exit_code(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert run(["profile", "nothing.csv"]) == 2
    assert capsys.readouterr().out == ""


INTERRUPTIBLE = (  # says so when a table is begun; a shell may have told it to ignore the signal
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from steradian.cli import main\n"
    "from steradian.io import text\n"
    "lines = text.decoded_lines\n"
    "def told(*given):\n"
    "    print('reading', flush=True)\n"
    "    yield from lines(*given)\n"
    "text.decoded_lines = told\n"
    "main()"
)


@POSIX
def test_an_interrupt_while_a_table_is_read(tmp_path: Path) -> None:
    path, out = tmp_path / "sky.csv", tmp_path / "out" / "sky.moments"
    out.parent.mkdir()
    rng = np.random.default_rng(0)
    rows = rng.uniform([0, -80], [360, 80], (200_000, 2))
    path.write_text("lon,lat\n" + "\n".join(f"{a:.4f},{b:.4f}" for a, b in rows.tolist()))
    arguments = ("moments", str(path), "--levels", "1", "--out", str(out))
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "reading\n"
    time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (130, "steradian: interrupted\n")
    assert list(out.parent.iterdir()) == []


def test_a_module_that_was_interrupted_is_not_missing(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiled module that is interrupted while it begins says that it cannot be imported."""

    def interrupted(_: list[str]) -> int:
        raise ImportError("initialization failed")

    monkeypatch.setattr("steradian.cli.app.run", interrupted)
    assert cli._run([], [signal.SIGINT]) == 130
    assert capsys.readouterr().err == "steradian: interrupted\n"
    with pytest.raises(ImportError):
        cli._run([], [])


# --- disks that are full ----------------------------------------------------------------------


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)


NO_ROOM = "cannot be written: no space left on device; make room there, or choose another place"


@pytest.mark.usefixtures("full_disk")
def test_moments_on_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.moments"
    with pytest.raises(sr.InvalidArgument, match=NO_ROOM):
        sr.moments(np.eye(3), sr.Harmonics(3, 1)).save(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("option", ["--report", "--out"])
def test_files_of_commands_on_a_full_disk(tmp_path: Path, capsys: Capture, option: str) -> None:
    path = tmp_path / "p.html"
    said = ("profile", "mcmurdo", "--levels", "1", "--quiet", option, str(path))
    if option == "--out":
        assert NO_ROOM in complaint(capsys, *said)
    else:
        assert run(list(said)) == 2  # the profile itself is printed
        assert NO_ROOM in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


LIMITED = (
    "import resource, signal, sys\n"
    "import steradian as sr, numpy as np\n"
    "p = sr.profile(np.vstack([np.eye(3), -np.eye(3)]), levels=1)\n"
    "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
    "for write in (lambda: p.moments.save(sys.argv[1]), lambda: p.report(sys.argv[1] + '.html')):\n"
    "    try:\n"
    "        write()\n"
    "    except sr.SteradianError as error:\n"
    "        print(error)\n"
)


@POSIX
def test_files_larger_than_the_system_allows(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "a.moments")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.endswith("cannot be written: file too large; choose another place for it")
    assert list(tmp_path.iterdir()) == []
