"""Orthonormal features of any functions, under what stands for the uniform law of a space."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.tolerances import CONSTANT_SPREAD, DEPENDENT_FUNCTION
from steradian.spaces import Space
from steradian.spaces.uniform_law import rule_of, rules_of

_MOST_NODES = 80_000  # under which functions are made orthonormal


def measure(space: Space) -> tuple[Array, Array, str]:
    """Points and weights that stand for the uniform law, and what they are in words."""
    for rung in reversed(range(space.rules())):
        rule = space.rule(rung)
        if len(rule.weights) <= _MOST_NODES or rung == 0:
            return rule.points, rule.weights, f"a rule of {len(rule.weights)} nodes"
    drawn = rule_of(space, rules_of(space) - 1)  # the set that fits are made on
    return drawn.points, drawn.weights, f"{len(drawn.weights)} uniform draws"


def independent(columns: Array, size: Array) -> AnyArray:
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


def orthonormal(columns: Array) -> Array:
    """Upper triangular T (q, q) with orthonormal ``columns @ T``, of positive diagonal."""
    change = np.eye(columns.shape[1])
    for _ in range(2):  # the second takes away what a large condition leaves of the first
        factor = np.asarray(np.linalg.qr(columns @ change, mode="r"))
        r = np.where(np.diag(factor) < 0.0, -1.0, 1.0)[:, None] * factor
        change = change @ solve_triangular(r, np.eye(len(r)))
    return change
