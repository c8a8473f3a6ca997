"""Command lines that succeed, and those that fail with one line."""

from __future__ import annotations

import pytest

from steradian.cli.app import run

Capture = pytest.CaptureFixture[str]


def printed(capsys: Capture, *arguments: str) -> str:
    """What a command that succeeds prints."""
    assert run(list(arguments)) == 0
    captured = capsys.readouterr()
    assert not captured.err or captured.err.startswith("steradian: read ")  # with --out
    return captured.out


def complaint(capsys: Capture, *arguments: str, code: int = 2) -> str:
    """The one line on stderr of a command that fails with ``code``."""
    assert run(list(arguments)) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.endswith("\n")
    assert captured.err.startswith("steradian: ")
    assert "Traceback" not in captured.err
    return captured.err.removeprefix("steradian: ").rstrip("\n")
