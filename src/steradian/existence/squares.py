"""Functions that are nowhere negative for certain: squares, and what of the level is made of them.

Where all products ``g h̄`` of some functions are of a level, every ``|g|²`` is. If some g vanishes
on all rows, |g|² is the certificate that the level has no fit, and no point of the space need be
looked at. Fewer rows than such functions leave one that vanishes, whatever the rows are; more rows
have one where they lie on its zeros to within the rounding of their coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np

from steradian.numerics.arrays import AnyArray, Array, BoolArray
from steradian.numerics.linalg import null_space
from steradian.numerics.paths import Paths
from steradian.numerics.spheres.harmonics import sphere_harmonics
from steradian.numerics.spheres.spinors import spin_functions
from steradian.numerics.tolerances import LEVERAGE, ON_ZEROS, RANK, ROOT_CLEAR, STEEP


@dataclass(frozen=True, slots=True, eq=False)
class Roots:
    """Functions g, linearly independent, the squares |g|² of whose combinations are of a level."""

    function: Callable[[Array], AnyArray]  # of points (n, d): (n, p), or (n, m, p) of m parts
    degree: int  # of its functions along the paths of the space
    spared: int = 0  # points, none or one, at which another factor of the square vanishes instead
    free: Callable[[Array], BoolArray] | None = None  # points at which one is known to


@runtime_checkable
class HasSquares(Protocol):
    """A hierarchy some of whose functions are known to be squares."""

    def roots(self, level: int) -> Sequence[Roots]:
        """Sets of roots of squares that levels 1..level hold with the constant."""
        ...

    def paths(self, x: Array) -> Paths:
        """Through points ``x`` (n, d), as many through each as the space has dimensions."""
        ...


@runtime_checkable
class OfFiniteDegree(HasSquares, Protocol):
    """One of trigonometric polynomials along the paths, on the whole of its space."""

    def path_degree(self, level: int) -> int:
        """Of the functions of levels 1..level."""
        ...


def sphere_roots(level: int) -> Roots:
    """On the two-sphere, where half of an odd degree is one of spinors."""
    half = (level + 1) // 2
    if level % 2:
        return Roots(partial(spin_functions, level=level), half)
    return Roots(partial(sphere_harmonics, degree=half), half)


def squares_vanish(roots: Roots, x: Array, paths: Callable[[Array], Paths]) -> bool:
    """Whether some square vanishes on all of ``x``: for certain, but for the rounding of rows."""
    if roots.free is not None:
        x = x[~roots.free(x)]
    values = roots.function(x)
    if len(x) - roots.spared < values.shape[-1]:
        return True
    if vanishing_roots(roots, x, paths).shape[1]:
        return True
    if not roots.spared:
        return False
    alone = lone_row(values)
    if alone is None:
        return False
    return vanishing_roots(roots, np.delete(x, alone, axis=0), paths).shape[1] > 0


def lone_row(values: AnyArray) -> int | None:
    """The row without which functions (n, p) are fewer, if there is one that looks like it."""
    q = np.linalg.qr(values)[0]
    leverage = (np.abs(q) ** 2).sum(axis=1)
    worst = int(np.argmax(leverage))
    return worst if leverage[worst] >= LEVERAGE else None


def vanishing_roots(
    roots: Roots, x: Array, paths: Callable[[Array], Paths], scale: float = 1.0
) -> AnyArray:
    """Combinations (p, k) of roots that vanish on all of ``x``; none that nobody is certain of.

    Coordinates of ``x`` are known to rounding over ``scale``. As many functions as rows are missing
    vanish by counting. Of others it takes more than values at the rounding, which functions with a
    zero of high order have within a whole tight cluster: every row must lie within `ON_ZEROS` of a
    zero as the slopes there tell, or as the curvatures do where the slopes vanish as well (two
    circles cross). A slope of `STEEP` will do where no singular value lies between zero and
    `ROOT_CLEAR`: those of a tight cluster do, which fall as powers of its spread.
    """
    values = roots.function(x)
    p = values.shape[-1]
    rows = values.reshape(-1, p)
    null = null_space(rows, RANK / scale)
    if not null.shape[1] or len(x) < p:
        return null
    found = _lengths((values @ null)[None])
    slopes = paths(x).derivatives(lambda y: roots.function(y).reshape(len(y), -1), roots.degree)
    first, second = map(_lengths, slopes.reshape(*slopes.shape[:-1], -1, p) @ null)
    near = ON_ZEROS / scale
    on_zeros = (found <= near * first) | (first <= near * second)
    if null.shape == null_space(rows, ROOT_CLEAR).shape:
        on_zeros |= (found <= RANK / scale) & (first >= STEEP)
    return null if on_zeros.all() else null[:, :0]


def _lengths(values: AnyArray) -> Array:
    """Lengths of what every row has of several functions along several paths (k, n, …): (n,)."""
    along = np.moveaxis(np.abs(values) ** 2, 1, 0)
    return np.asarray(np.sqrt(along.reshape(len(along), -1).sum(axis=1)))
