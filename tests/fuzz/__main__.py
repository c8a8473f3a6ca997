"""The fuzz from the command line: ``make fuzz SECONDS=600`` or ``make fuzz CASES=20000``."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    as_completed,
    wait,
)
from functools import partial

from fuzz.cases import Record, checked, shrunk
from fuzz.samples import Case
from fuzz.summary import SHOWN, Summary

AHEAD = 4  # cases for each process that wait for it, so that the end of the time is near the end
EVERY = 1000  # cases from one sign of life to the next


def main() -> int:
    options = _options()
    if options.case:
        return _one(Case.parse(options.case), options.limit)
    summary, found = Summary(), []
    work = partial(checked, limit=options.limit)
    until = time.monotonic() + options.seconds if options.seconds else float("inf")
    with contextlib.suppress(KeyboardInterrupt):  # what is known by then is told
        for record in _records(work, _cases(options.seed, options.cases, until), options.processes):
            summary.add(record)
            if record.violations:
                found.append(record)
                print(f"case {record.case}  {record.words}  {record.violations[0]}", flush=True)
            for near in record.near:
                print(
                    f"near: case {record.case}  {record.words}  {near}", file=sys.stderr, flush=True
                )
            if summary.cases % EVERY == 0:
                print(summary.progress, file=sys.stderr, flush=True)
    print(f"\n{summary}")
    if options.shrink:
        print(_shrunk(found, options.limit))
    return 1 if summary.count else 0


def _cases(first: int, many: int, until: float) -> Iterator[Case]:
    end = first + many if many else sys.maxsize
    for seed in range(first, end):
        if time.monotonic() > until:
            return
        yield Case(seed)


def _records(
    work: Callable[[Case], Record], cases: Iterator[Case], processes: int
) -> Iterator[Record]:
    """What became of cases as they end: none waits for a slow one, and few are begun too many."""
    waiting = set[Future[Record]]()
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        for case in cases:
            waiting.add(pool.submit(work, case))
            if len(waiting) >= AHEAD * processes:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (one.result() for one in done)
        yield from (one.result() for one in as_completed(waiting))


def _one(case: Case, limit: float) -> int:
    summary = Summary()
    summary.add(checked(case, limit))
    print(summary)
    return 1 if summary.count else 0


def _shrunk(found: list[Record], limit: float) -> str:
    """The smallest example of each kind of violation that a few tries give."""
    lines, seen = ["smaller examples"], dict[str, int]()
    for record in found:
        kind = record.violations[0].kind
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= SHOWN:
            small = shrunk(record, limit)
            lines.append(f"  case {small.case}  {small.words}  {small.violations[0]}")
    return "\n".join(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.0, help="how long; 0 is no end")
    parser.add_argument("--cases", type=int, default=0, help="how many; 0 is no end")
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", default="", help="one case, as a summary prints it")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a step may take")
    parser.add_argument("--shrink", action="store_true", help="look for smaller examples")
    options = parser.parse_args()
    if not (options.seconds or options.cases or options.case):
        options.seconds = 60.0
    return options


if __name__ == "__main__":
    sys.exit(main())
