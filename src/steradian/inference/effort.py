"""How much work a p-value takes, before anybody waits for it.

Work is counted in numbers that are drawn or looked at, some ten million a second on one core, and
follows from sizes alone: rows, features, nodes and draws. No clock is read, so that the same data
give the same answers at any speed: a door with a smaller budget says "not computed" of a level
that is beyond it, and never takes fewer draws or another formula.

Drawing stops when a p-value is settled (Besag and Clifford 1991), which large ones are soon: the
draws that are expected follow from the asymptotic p-value. The constants were fitted to the time of
some 90 levels of 35 hierarchies; quick refits of tight spheres cost several times less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError
from steradian.inference.monte_carlo import ENOUGH_RECALIBRATED

if TYPE_CHECKING:
    from steradian.inference.sample import Sample


SOON = 2e7
"""Work that nobody minds: about two seconds."""

WAITING = 3e8
"""Work that somebody at a command line waits for: half a minute."""

A_SECOND = 1e7
"""Work that one core does in about a second."""

_OF_PRODUCTS = 0.015  # work of a product of two features of a row, many times over
_OF_DRAW = 250.0  # of a draw, whatever it is of
_OF_ROW, _OF_COORDINATE, _OF_SQUARE = 1.0, 0.1, 1e-3  # of a row, its coordinates, their products
_OF_NODE = 0.06  # of a feature at a node, in a fit of many samples on one grid
_OF_PAIR = 1.5e-3  # of a product of two coordinates, many times over
_OF_BLOCK, _IN_BLOCKS = 500.0, 30_000.0  # units whose products are looked at together, and in all
_OF_MESH = 8.0  # of a product of two features at a node, in a fit on a mesh of its own


class TakesLong(DesignError):
    """What was asked for takes more work than may be begun; its diagnostic says how much."""


def beyond(level: int | None, work: float, call: str = "tests()", shared: str = "") -> TakesLong:
    """That something is not computed, with its estimated work and the call that does it.

    Those with one ``shared`` name share the work.
    """
    data = {"work": float(work), "seconds": float(work) / A_SECOND, "call": call, "shared": shared}
    return TakesLong(Diagnostic("not_computed", level, data))


def together(found: Sequence[Diagnostic]) -> Diagnostic:
    """One for several things that are not computed, with their work in all."""
    each = {one.data["shared"] or str(one.level): one.data["work"] for one in found}
    return beyond(None, sum(each.values()), found[0].data["call"]).diagnostic


class Patience:
    """How much work may still be begun; lower levels come first.

    Examples
    --------
    >>> patience = Patience(1e6)
    >>> patience.begin(1, 8e5)
    >>> patience.begin(2, 4e8)
    Traceback (most recent call last):
    ...
    steradian.inference.effort.TakesLong: level 2: not computed (about 40 s); call `tests()`
    """

    __slots__ = ("call", "left")

    def __init__(self, work: float = math.inf, call: str = "tests()") -> None:
        self.left, self.call = work, call

    def begin(self, level: int | None, work: float, shared: str = "") -> None:
        """Raise `TakesLong` unless so much work may be begun; ``shared`` names that of several."""
        if work > self.left:
            raise beyond(level, work, self.call, shared)
        self.left -= work


def of_rows(rows: int, features: int) -> float:
    """Work of the covariance of so many features of rows or units, tilts included."""
    return _OF_PRODUCTS * rows * float(features) ** 2


def of_products(sample: Sample) -> float:
    """Work of the off-diagonal test: its forms, and the products of random blocks of units."""
    n, d = float(sample.moments.n), float(sample.hierarchy.space.d)
    return _OF_PAIR * (n * d * d + min(n, _IN_BLOCKS) * _OF_BLOCK * (d + _OF_BLOCK))


def expected_draws(pvalue: float, replicates: int, enough: int = ENOUGH_RECALIBRATED) -> float:
    """Samples of the null after which a p-value near this one is settled, at most all."""
    return min(float(replicates), enough / max(pvalue, 1.0 / replicates))


def of_fits(sample: Sample, level: int) -> float:
    """Work of fitting one sample like this one at the levels up to ``level``, among many."""
    found = 0.0
    for k, one in enumerate(sample.nested.solutions[:level], start=1):
        nodes, q = float(one.nodes[0]), one.lam.shape[1]
        family = sample.hierarchy.family(k)
        alone = one.laws[0] is not None  # on a mesh of its own
        found += nodes * q * (_OF_MESH * q if alone else _OF_NODE)
        found += family.draw_work(sample.moments.n)
    return found


def of_draws(sample: Sample, level: int, draws: float, *, tilted: bool = True) -> float:
    """Work of so many samples of the null of a level, each fitted below it and tested."""
    hierarchy, n, d = sample.hierarchy, sample.moments.n, sample.hierarchy.space.d
    family = hierarchy.family(level)
    rows = n * (_OF_ROW + _OF_COORDINATE * d + _OF_SQUARE * d * d)
    tilt = of_rows(n, hierarchy.q(level)) if tilted and family.forms_matrices else 0.0
    fits = of_fits(sample, level - 1) + family.draw_work(n)
    return draws * (_OF_DRAW + rows + tilt + fits)
