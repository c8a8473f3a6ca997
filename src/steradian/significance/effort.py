"""How long a p-value takes, before anybody waits for it.

Work is counted in numbers that are drawn or looked at, some ten million a second. It is an
estimate: drawing stops when a p-value is settled (Besag and Clifford 1991), which large ones are
soon, and families differ in what a fit costs them. So a draw that is fitted by itself is tried
first, and a clock of the processor ends what takes much longer than was said.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from steradian.errors import DesignError

if TYPE_CHECKING:
    from steradian.significance.options import Options
    from steradian.significance.sample import Sample

SOON = 1e7
"""Work that nobody minds: about a second."""

WAITING = 3e8
"""Work that somebody at a command line waits for: half a minute at worst."""

LATER = "not tested yet"
"""The method of a p-value that would take longer than that."""

_SETTLING = 10  # draws as extreme as the sample that settle a p-value
_OF_PRODUCTS = 0.05  # work of a product of two features of a row, many times over
_TOGETHER = 10.0  # times the work that may be begun, of all levels in one pass
_OF_NODES = 5.0  # of a node in one fit of a sample
A_SECOND = 1e7  # work that a second of the processor is
_OVERDUE = 1.5  # times the patience at which work is left off
_GROWTH = 2.0  # of the draws of a step over those of the one before
_TOGETHER_AT_FIRST = 25  # draws between two looks at the clock


class TakesLong(DesignError):
    """A p-value that takes longer than somebody waits for."""


class Patience:
    """How much work may still be begun; lower levels come first.

    Examples
    --------
    >>> patience = Patience(1e6)
    >>> patience.begin(1, 8e5)
    >>> patience.begin(2, 8e5)
    Traceback (most recent call last):
    ...
    steradian.significance.effort.TakesLong: level 2: its p-value takes a while; tests() finds it
    """

    __slots__ = ("_until", "left")

    def __init__(self, work: float = math.inf) -> None:
        self.left = work
        self._until = time.process_time() + _OVERDUE * work / A_SECOND

    def begin(self, level: int, work: float) -> None:
        """Raise `TakesLong` unless so much work is soon done."""
        if work > self.left:
            raise TakesLong(_words(level))
        self.left -= work

    def try_one(self, level: int, draw: Callable[[], object]) -> None:
        """Raise `TakesLong` unless the first draws are soon done, by what one of them takes."""
        if math.isinf(self.left):
            return
        began = time.process_time()
        draw()
        taken = time.process_time() - began
        if _TOGETHER_AT_FIRST * taken * A_SECOND > self.left:
            raise TakesLong(_words(level))

    def watched(self, level: int, steps: Iterable[Any]) -> Iterator[Any]:
        """The steps of some work; `TakesLong` when they take much longer than was said."""
        before = time.process_time()
        for count, step in enumerate(steps):
            now = time.process_time()
            if count and now + _GROWTH * (now - before) > self._until:
                raise TakesLong(_words(level))
            before = now
            yield step


def _words(level: int) -> str:
    return f"level {level}: its p-value takes a while; tests() finds it"


def fitted_alone(sample: Sample, level: int) -> bool:
    """Whether samples of the null of a level are drawn or fitted one by one."""
    families = (sample.hierarchy.family(k) for k in (level - 1, level) if k)
    return any(family.draw_work(sample.moments.n) > 0.0 for family in families)


def of_rows(sample: Sample, features: int) -> float:
    """Work of the covariance of so many features of the units."""
    return _OF_PRODUCTS * sample.moments.n * features**2


def all_at_once(sample: Sample, options: Options) -> bool:
    """Whether covariances of all levels are found together; not where few will be waited for.

    One pass for all costs far less than one for each, but as much as the highest of them.
    """
    levels = range(1, len(sample.nested.solutions) + 1)
    whole = sum(of_rows(sample, sample.hierarchy.q(level)) for level in levels)
    return whole <= _TOGETHER * options.patience.left


def expected_draws(pvalue: float, replicates: int) -> float:
    """Samples of the null after which a p-value near this one is settled, at most all."""
    return min(float(replicates), _SETTLING / max(pvalue, 1.0 / replicates))


def of_draws(sample: Sample, level: int, draws: float) -> float:
    """Work of so many samples of the null of a level, each fitted below it."""
    hierarchy = sample.hierarchy
    formed = hierarchy.family(level).forms_matrices
    width = hierarchy.q(level) if formed else hierarchy.space.d
    nodes = sum(float(one.nodes[0]) for one in sample.nested.solutions[: level - 1])
    return draws * (sample.moments.n * width + _OF_NODES * nodes)
