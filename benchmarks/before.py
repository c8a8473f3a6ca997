"""This tree against another one: `python benchmarks/before.py PATH_OF_OTHER_SRC [rounds]`.

Two workers, one per tree, are asked in turn for the same line, now one first and now the other, so
that a slow spell of the machine falls on both alike; quick lines are asked for more often. Medians
of processor time are compared, and beside them the quickest of each, which a busy machine disturbs
least. A ratio above one means that this tree is the slower.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samples import LAWS
from timing import one_thread, quantity

Array = NDArray[np.float64]
HERE = Path(__file__).parents[1] / "src"
ROUNDS = 5  # of a slow line
SLOWER = 1.1  # ratio that is told
_BATCH, _ROWS = 200, 500
_PATIENCE = 3.0  # seconds of each tree for a quick line
_MOST = 30  # times as often as a slow one


def lines() -> dict[str, Callable[[], object]]:
    """What is timed, each once per round; profiles are made afresh where results are kept."""
    import steradian as sr  # of the tree that the worker was given

    rng = np.random.default_rng(0)
    space = [law(_ROWS, np.random.default_rng(k)) for k, law in enumerate(LAWS.values())]
    angles = [rng.vonmises(0.0, kappa, _ROWS) for kappa in (0.1, 1.0, 5.0)]
    plane = [np.stack([np.cos(t), np.sin(t)], axis=1) for t in angles]
    high = [_unit(rng.normal(size=(_ROWS, 5)) + np.eye(5)[0])]
    weights = rng.gamma(2.0, size=(_BATCH, _ROWS))
    cases = {"S²": (space, 4), "circle": (plane, 4), "d = 5": (high, 2)}
    out: dict[str, Callable[[], object]] = {
        "S², two levels: profile": lambda: [sr.profile(x, levels=2) for x in space],
        "S²: a batch of weightings": lambda: sr.profiles(space[0], weights=weights, levels=4),
        "circle: a batch of weightings": lambda: sr.profiles(plane[1], weights=weights, levels=4),
    }
    for name, (samples, levels) in cases.items():
        make = partial(_profiles, sr.profile, samples, levels)
        out[f"{name}: profile"] = make
        for method in ("tests", "intervals", "residuals", "summary"):
            out[f"{name}: profile and {method}"] = partial(_asked, make, method)
        out[f"{name}: all of them, printed twice"] = partial(_everything, make)
    return out


def _profiles(profile: Any, samples: list[Array], levels: int) -> list[Any]:
    return [profile(x, levels=levels) for x in samples]


def _asked(make: Callable[[], list[Any]], method: str) -> list[object]:
    return [getattr(profile, method)() for profile in make()]


def _everything(make: Callable[[], list[Any]]) -> list[str]:
    profiles = make()
    for profile in profiles:
        profile.tests(), profile.intervals(), profile.residuals()
    return [str(profile) for profile in profiles + profiles]


def _unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def work(known: list[tuple[str, Callable[[], object]]], clock: Callable[[], float]) -> None:
    """A worker: for every number of a line that it reads, one line with the seconds it took."""
    for _, each in known:
        each()  # grids and integrals that live for the whole run
    print(json.dumps([name for name, _ in known]), flush=True)
    for asked in sys.stdin:
        each = known[int(asked)][1]
        began = clock()
        each()
        print(json.dumps([clock() - began]), flush=True)


class Worker:
    """A process with one of the trees."""

    def __init__(self, source: Path, script: str = __file__) -> None:
        there = {**os.environ, "PYTHONPATH": str(source.resolve())}
        self._process = subprocess.Popen(
            [sys.executable, script, "--work"],
            env=there,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names: list[str] = self._answer()

    def _answer(self) -> list[str]:
        assert self._process.stdout is not None
        return list(json.loads(self._process.stdout.readline()))

    def seconds(self, line: int) -> float:
        """What one call of a line takes."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return float(self._answer()[0])

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def compared(workers: list[Worker], line: int, rounds: int) -> Array:
    """Seconds of both trees, (calls, 2)."""
    first = max(worker.seconds(line) for worker in workers)
    calls = int(np.clip(_PATIENCE / first, rounds, _MOST * rounds))
    out = np.empty((calls, 2))
    for k in range(calls):
        for j in (0, 1) if k % 2 else (1, 0):
            out[k, j] = workers[j].seconds(line)
    return out


def main(other: Path, rounds: int) -> int:
    """Print the table; 1 when a line is slower by more than a tenth."""
    workers = [Worker(HERE), Worker(other)]
    print(f"{'line':<38} {'this':>9} {'before':>9} {'ratio':>6} {'quickest':>9}")
    slower = False
    for line, name in enumerate(workers[0].names):
        seconds = compared(workers, line, rounds)
        a, b = np.median(seconds, axis=0)
        least = seconds.min(axis=0)
        mark = "  slower" if a > SLOWER * b else ""
        slower |= bool(mark)
        print(
            f"{name:<38} {quantity(a, 's'):>9} {quantity(b, 's'):>9} {a / b:>6.2f} "
            f"{least[0] / least[1]:>9.2f}{mark}",
            flush=True,
        )
    for worker in workers:
        worker.end()
    return int(slower)


if __name__ == "__main__":
    one_thread()
    if "--work" in sys.argv:
        work(list(lines().items()), time.process_time)
    else:
        given = sys.argv[1:]
        sys.exit(main(Path(given[0]), int(given[1]) if len(given) > 1 else ROUNDS))
