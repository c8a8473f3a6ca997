"""High levels against another tree: `python benchmarks/spectrum.py PATH_OF_OTHER_SRC [rounds]`.

Two workers, one per tree, are asked in turn, now one first and now the other. CPU time of one
thread; the median of the rounds, after one call that makes the tables which live for the whole run.
A line may compare different levels, where the other tree does not reach the higher one in any time;
where both give the same levels, the deficits must agree to 1e-10 nats.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samples import mixture, unit
from timing import one_thread, quantity

Array = NDArray[np.float64]
HERE = Path(__file__).parents[1] / "src"
ROUNDS = 3
SLOW = 5.0  # seconds of a call that is not repeated
AGREE = 1e-10  # nats


@dataclass(frozen=True, slots=True)
class Line:
    """A case of this tree, one of the other (or a yardstick of this one), and the least ratio."""

    name: str
    here: str
    there: str
    least: float  # CPU time there over here


LINES = (
    Line("S² mixture n = 10⁴, L = 8", "mixture 8", "mixture 8", 3.0),
    Line("S² mixture n = 10⁴, L = 12", "mixture 12", "mixture 12", 15.0),
    Line("S² mixture, L = 20 against L = 12", "mixture 20", "mixture 12", 1.0),
    Line("S² McMurdo, L = 8", "mcmurdo 8", "mcmurdo 8", 20.0),
    Line("S² McMurdo, L = 9", "mcmurdo 9", "mcmurdo 9", 20.0),
    Line("S² McMurdo, L = 10 against L = 9", "mcmurdo 10", "mcmurdo 9", 1.0),
    Line("S² galaxies, L = 24 against L = 12", "galaxies 24", "galaxies 12", 1.0),
    Line("S² 10⁶ points, L = 20 against 8 transforms", "million 20", "transform 8", 1.0),
    Line("S² 10⁶ points with a hole, L = 32", "hole 32", "transform 8", 0.0),
    Line("circle n = 10⁵, L = 64", "circle 64", "circle 64", 20.0),
    Line("circle n = 10⁵, L = 256 against L = 64", "circle 256", "circle 64", 1.0),
    Line("S² 200 weightings of 500 points, L = 4", "stack 4", "stack 4", 4.0),
    Line("S² 200 weightings of 500 points, L = 6", "stack 6", "stack 6", 4.0),
    Line("S² 200 weightings of 500 points, L = 8", "stack 8", "stack 8", 4.0),
    Line("S² one profile n = 500, L = 2", "small 2", "small 2", 0.9),
)


def galaxies() -> Array | None:
    """Directions of the galaxies of OpenNGC, where pyongc is installed."""
    try:
        from pyongc import ongc
    except ImportError:
        return None
    found = [each.rad_coords for each in ongc.listObjects(type=["G"])]
    ra, dec = np.array([pair for pair in found if pair is not None], dtype=float).T
    return np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)], axis=1)


def hole(n: int, rng: np.random.Generator) -> Array:
    """Uniform points outside a cap of 10° radius."""
    x = unit(rng.standard_normal((n + n // 50, 3)))
    return x[x[:, 2] < np.cos(np.deg2rad(10.0))][:n]


class Cases:
    """Samples made once, and what is timed on them: ``run("mixture 8")`` gives deficits."""

    def __init__(self) -> None:
        import steradian as sr  # of the tree that the worker was given

        self.sr, self.samples = sr, dict[str, Any]()
        self.made: dict[str, Callable[[np.random.Generator], Any]] = {
            "mixture": lambda rng: mixture(10_000, rng),
            "mcmurdo": lambda _: sr.examples.load("mcmurdo"),
            "galaxies": lambda _: galaxies(),
            "million": lambda rng: mixture(1_000_000, rng),
            "hole": lambda rng: hole(1_000_000, rng),
            "circle": _circle,
            "small": lambda rng: mixture(500, rng),
            "stack": lambda rng: (mixture(500, rng), rng.gamma(2.0, size=(200, 500))),
        }

    def run(self, case: str) -> list[float] | str:
        """Deficits of all levels, or why there are none."""
        name, number = case.split()
        if name == "transform":
            return _transforms(self._sample("million"), int(number))
        data, levels = self._sample(name), int(number)
        if data is None:
            return "no data"
        try:
            if name == "stack":
                return list(self.sr.profiles(data[0], weights=data[1], levels=levels).deficits[0])
            return list(self.sr.profile(data, levels=levels).deficits)
        except self.sr.SteradianError as error:
            return str(error)

    def _sample(self, name: str) -> Any:
        if name not in self.samples:
            self.samples[name] = self.made[name](np.random.default_rng(0))
        return self.samples[name]


def _circle(rng: np.random.Generator) -> Array:
    angle = np.concatenate([rng.vonmises(m, k, 33_334) for m, k in ((0, 8), (2, 3), (-2, 20))])
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _transforms(x: Array, count: int) -> list[float]:
    """As many adjoint transforms of the points at degree 40."""
    import ducc0

    where = np.stack([np.arccos(x[:, 2]), np.arctan2(x[:, 1], x[:, 0]) % (2.0 * np.pi)], axis=1)
    ones = np.ones((1, len(x)))
    began = time.process_time()
    for _ in range(count):
        ducc0.sht.adjoint_synthesis_general(lmax=40, map=ones, loc=where, spin=0, epsilon=1e-13)
    return [-(time.process_time() - began)]  # its own time, without the angles


def work() -> None:
    """A worker: for every case that it reads, one line with CPU seconds and deficits."""
    cases = Cases()
    print("ready", flush=True)
    for asked in sys.stdin:
        case = asked.strip()
        if case.split()[0] != "transform":
            cases._sample(case.split()[0])
        began = time.process_time()
        found = cases.run(case)
        seconds = time.process_time() - began
        if case.startswith("transform") and isinstance(found, list):
            seconds, found = -found[0], []
        print(json.dumps([seconds, found]), flush=True)


class Worker:
    """A process with one of the trees."""

    def __init__(self, source: Path) -> None:
        there = {**os.environ, "PYTHONPATH": str(source.resolve())}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--work"],
            env=there, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def ask(self, case: str) -> tuple[float, list[float] | str]:
        """CPU seconds and deficits of one call."""
        assert self._process.stdin is not None
        self._process.stdin.write(case + "\n")
        self._process.stdin.flush()
        seconds, found = json.loads(self._answer())
        return float(seconds), found

    def end(self) -> None:
        """Let it go."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def compared(workers: list[Worker], line: Line, rounds: int) -> tuple[Array, list[Any]]:
    """Median CPU seconds of both, (2,), and what both found."""
    asked = [(workers[0], line.here), (workers[1], line.there)]
    first = [worker.ask(case) for worker, case in asked]
    times = [[seconds] if seconds > SLOW else [] for seconds, _ in first]
    for k in range(rounds):
        for j in (0, 1) if k % 2 else (1, 0):
            if first[j][0] <= SLOW:
                times[j].append(asked[j][0].ask(asked[j][1])[0])
    return np.array([np.median(each) for each in times]), [found for _, found in first]


def verdict(line: Line, seconds: Array, found: list[Any]) -> str:
    """What a line showed, in a word or two."""
    if isinstance(found[0], str):
        return f"missed: {found[0][:60]}"
    if line.here == line.there and isinstance(found[1], list):
        apart = float(np.abs(np.array(found[0]) - np.array(found[1])).max())
        if apart > AGREE:
            return f"missed: deficits differ by {apart:.1e}"
    said = "" if isinstance(found[1], list) else " (refused there)"
    return ("met" if seconds[1] / seconds[0] >= line.least else "missed") + said


def main(other: Path, rounds: int, only: str) -> int:
    """Print the table; 1 when a line is missed."""
    workers = [Worker(HERE), Worker(other)]
    print(f"{'line':<44} {'this':>9} {'before':>9} {'ratio':>7} {'least':>6}")
    missed = False
    for line in (line for line in LINES if only in line.name):
        seconds, found = compared(workers, line, rounds)
        said = verdict(line, seconds, found)
        missed |= said.startswith("missed")
        print(
            f"{line.name:<44} {quantity(seconds[0], 's'):>9} {quantity(seconds[1], 's'):>9} "
            f"{seconds[1] / seconds[0]:>7.2f} {line.least:>6g}  {said}",
            flush=True,
        )
    for worker in workers:
        worker.end()
    return int(missed)


if __name__ == "__main__":
    one_thread()
    if "--work" in sys.argv:
        work()
    else:
        given = [*sys.argv[1:], "", ""]
        sys.exit(main(Path(given[0]), int(given[1] or ROUNDS), given[2]))
