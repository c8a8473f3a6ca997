"""Which supports have a fit, as the functions tell that vanish on them: exact and quick.

A fit exists unless some function of the level that is nowhere negative, and not zero, vanishes on
all of the data. Squares |g|² come first: fewer rows than there are roots g, all of whose squares
are of the level, are on the boundary by counting alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from steradian.existence.placement import Placement, Verdict
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.linalg import null_space, triangle
from steradian.numerics.tolerances import NODE_VANISHING, RANK, ROOT_CLEAR

if TYPE_CHECKING:
    from steradian.families.nodes.rules import Nodes
    from steradian.hierarchies.base import Hierarchy

_ROWS_PER_FEATURE = 4  # by which most supports are seen to be wide enough


@dataclass(frozen=True, slots=True, eq=False)
class Roots:
    """Functions g at some points, the squares |g|² of whose combinations are of a level."""

    values: AnyArray  # (n, p), linearly independent functions
    spared: int = 0  # points at which another factor of the square may vanish instead

    def vanish(self) -> bool:
        """Whether some combination does at all points (but those spared), beyond doubt.

        Points too few for the functions leave one, whatever they are. Otherwise a singular value
        is zero to rounding and the next is far from it, as those of tight clusters are not.
        """
        n, p = self.values.shape
        if n - self.spared < p:
            return True
        sizes = np.linalg.svd(triangle(self.values), compute_uv=False)
        none = sizes <= RANK * sizes[0]
        return bool(none.any() and sizes[~none].min() > ROOT_CLEAR * sizes[0])


@runtime_checkable
class HasSquares(Protocol):
    """A hierarchy some of whose functions are known to be squares."""

    def roots(self, level: int, x: Array) -> Sequence[Roots]:
        """Sets of roots of squares that levels 1..level hold with the constant, at ``x`` (n, d)."""
        ...


def place_support(
    hierarchy: Hierarchy, level: int, rule: Callable[[int], Nodes], x: Array
) -> Placement:
    """Where the rows ``x`` put the moments of a level; ``rule`` makes nodes, of -1 the most.

    No vanishing function of positive mean means that a fit exists; one that is nowhere negative
    means that none does. The ones looked at are squares, and the constant projected on all, which
    is all there is where they are multiples of one, and the one that symmetry asks for elsewhere.
    """
    squares = hierarchy.roots(level, x) if isinstance(hierarchy, HasSquares) else ()
    if any(roots.vanish() for roots in squares):
        return Placement(Verdict.OUTSIDE, _words(hierarchy.space.point_name, len(x)))
    q = hierarchy.q(level)
    some = x[:: max(1, len(x) // (_ROWS_PER_FEATURE * (q + 1)))]
    vanishing = _vanishing(hierarchy, q, some)  # what vanishes on all rows does on some of them
    if len(some) < len(x) and vanishing.shape[1]:
        vanishing = _vanishing(hierarchy, q, x)
    f = vanishing @ vanishing[0]
    if not vanishing.shape[1] or f[0] <= NODE_VANISHING:
        return Placement(Verdict.INSIDE)
    if all(_nowhere_negative(f, rule(rung)) for rung in (0, -1)):  # a few nodes show most dips
        return Placement(Verdict.OUTSIDE, _words(hierarchy.space.point_name, len(x)))
    alone = vanishing.shape[1] == 1
    return Placement(Verdict.INSIDE if alone else Verdict.UNSURE)


def _nowhere_negative(f: Array, nodes: Nodes) -> bool:
    """Whether a function of coefficients ``f`` (q + 1,), the constant first, dips at no node."""
    values = f[0] + nodes.phi @ f[1:]
    return bool(values.min() >= -NODE_VANISHING * float(np.abs(values).max()))


def _vanishing(hierarchy: Hierarchy, q: int, x: Array) -> Array:
    """Functions of the level, the constant first, that vanish on all of ``x``: (q + 1, k)."""
    phi = hierarchy.features(x)[:, :q]
    return null_space(np.column_stack([np.ones(len(x)), phi]))


def _words(what: str, count: int) -> str:
    points = f"one {what}" if count == 1 else f"{count} distinct points"
    return f"a function of this level that is nowhere negative vanishes on all data, {points}"
