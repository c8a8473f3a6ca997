"""This tree against another one: `python benchmarks/before.py PATH_OF_OTHER_SRC [rounds]`.

Two workers, one per tree, are asked in turn for one timed round of every line, so that a slow spell
of the machine falls on both alike; medians are compared. A ratio above one means that this tree is
the slower.
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
ROUNDS = 15
SLOWER = 1.1  # ratio that is told
_BATCH, _ROWS = 200, 500


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


def work() -> None:
    """A worker: one line of JSON with the seconds of a round for every line that it reads."""
    known = lines()
    for each in known.values():
        each()  # grids and integrals that live for the whole run
    print(json.dumps(list(known)), flush=True)
    for _ in sys.stdin:
        seconds = []
        for each in known.values():
            began = time.perf_counter()
            each()
            seconds.append(time.perf_counter() - began)
        print(json.dumps(seconds), flush=True)


class Worker:
    """A process with one of the trees."""

    def __init__(self, source: Path) -> None:
        there = {**os.environ, "PYTHONPATH": str(source.resolve())}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--work"],
            env=there,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names: list[str] = self._answer()

    def _answer(self) -> list[str]:
        assert self._process.stdout is not None
        return list(json.loads(self._process.stdout.readline()))

    def round(self) -> list[float]:
        """Seconds of every line."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return [float(s) for s in self._answer()]

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def main(other: Path, rounds: int) -> int:
    """Print the table; 1 when a line is slower by more than a tenth."""
    workers = [Worker(HERE), Worker(other)]
    seconds = [[worker.round() for worker in workers] for _ in range(rounds)]
    ours, theirs = np.median(np.array(seconds), axis=0)
    for worker in workers:
        worker.end()
    print(f"{'line':<38} {'this':>9} {'before':>9} {'ratio':>6}")
    for name, a, b in zip(workers[0].names, ours, theirs, strict=True):
        mark = "  slower" if a > SLOWER * b else ""
        print(f"{name:<38} {quantity(a, 's'):>9} {quantity(b, 's'):>9} {a / b:>6.2f}{mark}")
    return int((ours > SLOWER * theirs).any())


if __name__ == "__main__":
    one_thread()
    if "--work" in sys.argv:
        work()
    else:
        given = sys.argv[1:]
        sys.exit(main(Path(given[0]), int(given[1]) if len(given) > 1 else ROUNDS))
