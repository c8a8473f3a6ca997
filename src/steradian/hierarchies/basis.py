"""Any functions as features: made orthonormal, and whether one hierarchy's span another's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from steradian.arguments import shown
from steradian.errors import InvalidArgument
from steradian.hierarchies.base import Hierarchy
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.tolerances import CONSTANT_SPREAD, DEPENDENT_FUNCTION
from steradian.spaces import Space
from steradian.spaces.uniform_law import rule_of, rules_of

_MOST_NODES = 80_000  # under which functions are made orthonormal
_MOST_FEATURES = 2500  # of the larger one of two spans, whose values at as many points are solved
_MORE_POINTS = 64  # than features


def measure(space: Space) -> tuple[Array, Array, str]:
    """Points and weights that stand for the uniform law, and what they are in words."""
    for rung in reversed(range(space.rules())):
        rule = space.rule(rung)
        if len(rule.weights) <= _MOST_NODES or rung == 0:
            return rule.points, rule.weights, f"a rule of {len(rule.weights)} nodes"
    drawn = rule_of(space, rules_of(space) - 1)  # the set that fits are made on
    return drawn.points, drawn.weights, f"{len(drawn.weights)} uniform draws"


@dataclass(frozen=True, slots=True, eq=False)
class OrthonormalBasis:
    """How centred orthonormal features are made of any functions, each of those before it."""

    kept: IntArray  # (q,) columns that those before do not make up
    scale: Array  # (q,) their sizes, powers of two: dividing by them rounds nothing
    mean: Array  # (q,) of those, divided by it
    change: Array  # (q, q): features = (values / scale - mean) @ change, upper triangular

    @classmethod
    def under(cls, values: Array, weights: Array) -> OrthonormalBasis:
        """From values (N, k) at points of ``weights`` (N,) of sum one.

        Levels are spans: whatever unit a function has, they are the same.
        """
        scale = _sizes(values)
        values = values / scale
        mean = weights @ values
        scaled = np.sqrt(weights)[:, None] * (values - mean)
        kept = _independent(scaled, np.abs(values).max(axis=0))
        return cls(kept, scale[kept], mean[kept], _orthonormal(scaled[:, kept]))

    def features(self, values: AnyArray, first: int = 0) -> AnyArray:
        """From values (n, k) of the functions, (n, q - first): those of place ``first`` and on."""
        return (values[:, self.kept] / self.scale - self.mean) @ self.change[:, first:]

    def dims(self, level: IntArray, levels: int) -> tuple[int, ...]:
        """How many are kept of each level; the columns are of ``level`` (k,), counted from one."""
        return tuple(np.bincount(level[self.kept], minlength=levels + 1)[1:].tolist())


def _sizes(values: Array) -> Array:
    """Of the largest value of each column, the power of two below it; one where all are zero."""
    largest = np.abs(values).max(axis=0)
    exponent = np.frexp(largest)[1] - 1
    return np.asarray(np.where(largest > 0.0, np.ldexp(1.0, exponent), 1.0))


def _independent(columns: Array, size: Array) -> IntArray:
    """Columns that those before them do not make up; ``size`` are the functions' largest values."""
    found = np.empty((len(columns), 0))
    kept = []
    for k, column in enumerate(columns.T):
        rest = column
        for _ in range(2):  # twice is enough
            rest = rest - found @ (found.T @ rest)
        length = float(np.linalg.norm(rest))
        of_column = DEPENDENT_FUNCTION * float(np.linalg.norm(column))
        if length > max(of_column, CONSTANT_SPREAD * float(size[k])):
            found = np.column_stack([found, rest / length])
            kept.append(k)
    return np.array(kept, dtype=np.int64)


def _orthonormal(columns: Array) -> Array:
    """Upper triangular T (q, q) with orthonormal ``columns @ T``, of positive diagonal."""
    change = np.eye(columns.shape[1])
    for _ in range(2):  # the second takes away what a large condition leaves of the first
        factor = np.asarray(np.linalg.qr(columns @ change, mode="r"))
        r = np.where(np.diag(factor) < 0.0, -1.0, 1.0)[:, None] * factor
        change = change @ solve_triangular(r, np.eye(len(r)))
    return change


# --- spans of features ---------------------------------------------------------------------


def level_that_holds(full: Hierarchy, part: Hierarchy) -> int:
    """The lowest level of ``full`` that has all features of ``part``; 0 where none does."""
    return next((k for k in range(1, full.levels + 1) if holds(full.up_to(k), part)), 0)


def holds(full: Hierarchy, part: Hierarchy) -> bool:
    """Whether all features of ``part`` are combinations of those of ``full`` and a constant."""
    if full == part:
        return True
    if part.space != full.space or part.q(part.levels) > full.q(full.levels):
        return False
    return _follow_from_second_moments(full, part) or _spanned(full, part)


def _follow_from_second_moments(full: Hierarchy, part: Hierarchy) -> bool:
    """Both are of x and xxᵀ alone, and ``full`` is all of these that there are."""
    both = all(each.second_moment_levels >= each.levels for each in (full, part))
    d = full.space.d
    return both and full.q(full.levels) == d * (d + 3) // 2 - 1  # |x|² is constant


def _spanned(full: Hierarchy, part: Hierarchy) -> bool:
    """By their values at points, more than there are features."""
    q = full.q(full.levels)
    if q > _MOST_FEATURES:
        raise InvalidArgument(
            f"{q} features are too many to see whether those of {shown(part)} are among them; "
            "compare with a hierarchy of fewer"
        )
    x = full.space.uniform(q + _MORE_POINTS, np.random.default_rng(0))
    wide = np.column_stack([np.ones(len(x)), np.asarray(full.features(x))])
    values = np.asarray(part.features(x))
    left = values - wide @ np.linalg.lstsq(wide, values, rcond=None)[0]
    size = np.linalg.norm(values, axis=0)
    return bool((np.linalg.norm(left, axis=0) <= DEPENDENT_FUNCTION * size).all())
