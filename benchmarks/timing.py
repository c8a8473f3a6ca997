"""Fair measurement on noisy machines: alternate the contenders, compare medians."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Unit = Literal["s", "B"]
Run = Callable[[int], object]
"""One timed call; its argument is the number of the round."""

_PREFIXES: dict[Unit, tuple[tuple[float, str], ...]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (0.0, "µs")),
    "B": ((1e9, "GB"), (0.0, "MB")),
}
_SCALE = {"s": 1.0, "ms": 1e3, "µs": 1e6, "GB": 1e-9, "MB": 1e-6}
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_HEADER = ("name", "ours", "peer", "ratio", "target", "met", "limit", "from it")


class Median(float):
    """A median of times that knows how well it is known."""

    noise: float  # relative: 1.5 median deviations over the root of the number of rounds

    @classmethod
    def of(cls, seconds: NDArray[np.float64]) -> Median:
        middle = float(np.median(seconds))
        made = cls(middle)
        spread = 1.5 * float(np.median(np.abs(seconds - middle)))
        made.noise = spread / middle / np.sqrt(len(seconds)) if middle else 0.0
        return made

    def __truediv__(self, number: float) -> Median:
        made = Median(float(self) / number)
        made.noise = self.noise
        return made


@dataclass(frozen=True, slots=True)
class Limit:
    """What no implementation of it can do without, measured in the same run."""

    name: str  # "one product", "one pass over memory", "one eigh", "one transform"
    least: float  # seconds or bytes


@dataclass(frozen=True, slots=True)
class Result:
    """One comparison. Times: how often ours fits in the peer's. Costs: ours over the peer's."""

    name: str
    ours: float
    peer: float
    target: float  # times: ratio at least this; costs: at most
    unit: Unit = "s"
    agrees: bool = True  # whether both gave the same answer; a wrong one meets nothing
    in_units_of_peer: bool = False  # a time told as a cost: the peer is only a yardstick
    limit: Limit | None = None  # where the yardstick is none

    @property
    def is_cost(self) -> bool:
        return self.in_units_of_peer or self.unit == "B"

    @property
    def ratio(self) -> float:
        return self.ours / self.peer if self.is_cost else self.peer / self.ours

    @property
    def met(self) -> bool:
        enough = self.ratio <= self.target if self.is_cost else self.ratio >= self.target
        return enough and self.agrees

    @property
    def noise(self) -> float:
        """Relative error of the ratio, from the rounds it was measured in."""
        known = (getattr(value, "noise", 0.0) for value in (self.ours, self.peer))
        return float(np.sqrt(sum(value * value for value in known)))

    @property
    def bound(self) -> Limit | None:
        """The limit; a yardstick is its own."""
        return Limit("the peer", self.peer) if self.limit is None and self.is_cost else self.limit

    def cells(self) -> tuple[str, ...]:
        """The columns of the closing table."""
        sign = "≤" if self.is_cost else "≥"
        return (
            self.name,
            quantity(self.ours, self.unit),
            quantity(self.peer, self.unit),
            f"{self.ratio:.2f}",
            f"{sign} {self.target:g}",
            "yes" if self.met else "no" if self.agrees else "ANSWERS DIFFER",
            *self._distance(),
        )

    def _distance(self) -> tuple[str, str]:
        if self.bound is None:
            return "–", "–"
        said = f"{self.bound.name} ({quantity(self.bound.least, self.unit)})"
        return said, f"{self.ours / self.bound.least:.1f}×"

    def to_dict(self) -> dict[str, object]:
        """Plain numbers, ready for JSON."""
        bound = self.bound
        return {
            "name": self.name,
            "unit": self.unit,
            "ours": float(self.ours),
            "peer": float(self.peer),
            "ratio": float(self.ratio),
            "noise": self.noise,
            "target": self.target,
            "is_cost": self.is_cost,
            "met": self.met,
            "agrees": self.agrees,
            "limit": None if bound is None else bound.name,
            "least": None if bound is None else float(bound.least),
            "from_limit": None if bound is None else float(self.ours / bound.least),
        }


def one_thread() -> None:
    """Start this program again with one thread per process, unless the environment says how many.

    Threads that wait for each other on a busy machine would be most of what is measured.
    """
    if not any(name in os.environ for name in _THREADS):
        os.environ.update(dict.fromkeys(_THREADS, "1"))
        os.execv(sys.executable, [sys.executable, *sys.argv])


def interleaved(
    runs: Sequence[Run], repeats: int, clock: Callable[[], float] = time.process_time
) -> list[Median]:
    """Median seconds of the processor of each run. Every round k calls each ``run(k)``, in turn.

    A slow spell of the machine then falls on all of them alike. ``k`` lets a round take its
    own data. One call of each with k = 0 goes untimed.
    """
    for run in runs:
        run(0)
    seconds = np.empty((repeats, len(runs)))
    for k in range(repeats):
        for j, run in enumerate(runs):
            began = clock()
            run(k)
            seconds[k, j] = clock() - began
    return [Median.of(column) for column in seconds.T]


def agree(what: str, difference: float, tolerance: float) -> bool:
    """Print the largest difference between two answers; whether it is small."""
    good = bool(difference <= tolerance)
    verdict = "" if good else f", MORE THAN {tolerance:.0e}"
    print(f"  largest difference from {what}: {difference:.1e}{verdict}")
    return good


def quantity(value: float, unit: Unit) -> str:
    """A readable time or amount of memory."""
    name = next(name for least, name in _PREFIXES[unit] if value >= least)
    return f"{value * _SCALE[name]:.3g} {name}"


def show(results: Iterable[Result]) -> None:
    """The closing table."""
    rows = [_HEADER, *(result.cells() for result in results)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(_HEADER))]
    rule = tuple("-" * width for width in widths)
    for row in (rows[0], rule, *rows[1:]):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(" | ".join(cells).rstrip())
