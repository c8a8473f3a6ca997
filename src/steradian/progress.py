"""A progress bar for work that takes longer than a second, where someone watches."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_PATIENCE = 1.0  # seconds
_ENTRIES = 400_000  # numbers of draws held at once: what stays in the processor's cache


def tracked(steps: Iterable[Any], total: int, what: str) -> Iterator[Any]:
    """Yield the steps; after a second a bar appears on a terminal's standard error."""
    with metered(total, what) as advance:
        for step in steps:
            yield step
            advance(1)


def chunks(count: int, per_item: int, *, first: int = 0) -> Iterator[slice]:
    """Slices of ``count`` things that fit in memory; from ``first`` on they double."""
    most = max(1, _ENTRIES // max(1, per_item))
    start, size = 0, min(first, most) or most
    while start < count:
        stop = min(start + size, count)
        yield slice(start, stop)
        start, size = stop, min(2 * size, most)


def drawn_chunks(count: int, per_draw: int, what: str, *, first: int = 0) -> Iterator[slice]:
    """The same of draws, with a bar: the one loop of everything that draws.

    None takes much longer than a moment, so that Ctrl-C is answered between two of them, and their
    number is not held, however large.

    Examples
    --------
    >>> [piece.stop for piece in drawn_chunks(100, 1, "draws", first=10)]
    [10, 30, 70, 100]
    """
    with metered(count, what) as advance:
        for piece in chunks(count, per_draw, first=first):
            yield piece
            advance(piece.stop - piece.start)


@contextlib.contextmanager
def metered(total: int | None, what: str, unit: str = "") -> Iterator[Callable[[int], None]]:
    """A function that is told how much more is done; after a second a bar shows it.

    With a ``unit`` ("rows", "bytes") it also shows how many, at which rate, and the time left.
    Without a ``total`` there is no end to run to.
    """
    began, done, bar, task = time.monotonic(), 0, None, None
    with contextlib.ExitStack() as stack:

        def advance(amount: int) -> None:
            nonlocal began, done, bar, task
            done += amount
            if bar is None and time.monotonic() - began > _PATIENCE and _watched():
                bar = _bar(unit)
                if bar is None:
                    began = float("inf")  # no library for it: stay silent
                    return
                stack.enter_context(bar)
                task = bar.add_task(what, total=total, completed=done)
            elif bar is not None:
                bar.advance(task, amount)

        yield advance


@contextlib.contextmanager
def working(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Say after a second, on a terminal's standard error, that something is being done."""
    if quiet or not _watched():
        yield
        return
    shown = threading.Event()

    def say() -> None:
        shown.set()
        print(f"{what} …", end="\r", file=sys.stderr, flush=True)

    timer = threading.Timer(_PATIENCE, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if shown.is_set():
            print(" " * (len(what) + 2), end="\r", file=sys.stderr, flush=True)


def _watched() -> bool:
    """Whether standard error is a terminal; it may be closed, and then there is none."""
    return sys.stderr is not None and sys.stderr.isatty()


def _bar(unit: str) -> Any:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        return None
    columns = _columns(unit) if unit else Progress.get_default_columns()
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _columns(unit: str) -> list[Any]:
    """What is done, bar, amount, rate and time left."""
    from rich.progress import BarColumn, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Amount(ProgressColumn):
        """So much of so much, and how much per second."""

        def render(self, task: Any) -> Text:
            of = "" if task.total is None else f" of {short(task.total)}"
            rate = "" if task.speed is None else f", {short(task.speed)}/s"
            return Text(f"{short(task.completed)}{of} {unit}{rate}")

    return [TextColumn("{task.description}"), BarColumn(), Amount(), TimeRemainingColumn()]


def short(number: float) -> str:
    """A count in three digits: 950, 12.5 k, 3.2 M.

    >>> [short(k) for k in (950, 12_500, 3_200_000, 4.5e9)]
    ['950', '12.5 k', '3.2 M', '4.5 G']
    """
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.0f}"
