"""Progress: silent unless it takes long and someone watches; then amounts, rate and time left."""

from __future__ import annotations

import io
import sys

import pytest

from steradian import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, total: int | None, unit: str) -> str:
    """What a terminal sees of work that has taken too long from the start."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with progress.metered(total, "moments", unit) as advance:
        for _ in range(3):
            advance(1_000_000)
    return screen.getvalue()


def test_amounts_of_a_total(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, 10_000_000, "rows")
    assert "moments" in text
    assert "3 M of 10 M rows" in text


def test_amounts_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, None, "bytes")
    assert "3 M bytes" in text
    assert " of " not in text


def test_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "moments" in shown(monkeypatch, 5_000_000, "")


def test_silent_where_nobody_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    assert list(progress.tracked(range(3), 3, "steps")) == [0, 1, 2]
    assert capsys.readouterr().err == ""


def test_silent_without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    assert shown(monkeypatch, 10, "rows") == ""
