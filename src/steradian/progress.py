"""A progress bar for work that takes longer than a second, where someone watches."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

_PATIENCE = 1.0  # seconds


def tracked(steps: Iterable[Any], total: int, what: str) -> Iterator[Any]:
    """Yield the steps; after a second a bar appears on a terminal's standard error."""
    began, bar, task = time.monotonic(), None, None
    with contextlib.ExitStack() as stack:
        for done, step in enumerate(steps):
            if bar is None and time.monotonic() - began > _PATIENCE and sys.stderr.isatty():
                bar = _bar()
                if bar is None:
                    began = float("inf")  # no library for it: stay silent
                else:
                    stack.enter_context(bar)
                    task = bar.add_task(what, total=total, completed=done)
            yield step
            if bar is not None:
                bar.advance(task)


def _bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        return None
    return Progress(console=Console(stderr=True), transient=True)
