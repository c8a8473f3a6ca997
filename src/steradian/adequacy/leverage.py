"""Does what is said about a level rest on one or two units?

A sum over units is close to normal only when none of them decides it. Where two carry more than
half of the variance of what a level leaves over, a fit that looks adequate was bent by those very
units, and the law the residual is held against is theirs. Then nothing is known about the
others, and the rows are named.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steradian.adequacy.leftover import Leftover
from steradian.diagnostics import Diagnostic
from steradian.hierarchies.base import OfOneLength
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import TINY
from steradian.significance.sample import Sample

MOST_SHARE = 0.5  # of the variance of what is left over, by at most `_FEW` units
_FEW = 2
_COUNTS = 0.1  # of that share: less does not make a unit one of them
_ENTRIES = 20_000_000  # features looked at; of more rows only the farthest and some others
_LOOKED_AT = 20_000
_SOME = 2_000  # rows that show how much all carry at least


def resting_on(sample: Sample, left: Leftover) -> Diagnostic | None:
    """The one or two units that decide about a level; None when none do."""
    return sample.memo.once(("resting", left), lambda: _resting_on(sample, left))


def _resting_on(sample: Sample, left: Leftover) -> Diagnostic | None:
    if not sample.has_rows or sample.units.effective <= _FEW:
        return None
    held = sample.units.unit_weights
    heaviest = int(np.argmax(held))
    if held[heaviest] > MOST_SHARE:
        data = _deciding(sample, np.array([heaviest]), float(held[heaviest]))
        return Diagnostic("rests_by_weight", left.level, data)
    if _cannot_rest(sample, left):
        return None
    looked = _looked_at(sample, left)
    share = _shares(sample, left, looked)
    top = np.argsort(share)[::-1][:_FEW]
    carried = float(share[top].sum())
    if not carried > MOST_SHARE:
        return None
    top = top[share[top] > _COUNTS * carried]
    data = _deciding(sample, top if looked is None else looked[top], carried)
    return Diagnostic("rests_by_variance", left.level, data)


def _deciding(sample: Sample, units: IntArray, share: float) -> dict[str, Any]:
    """Units, in their order, and what they carry together."""
    named = [sample.units.identity(int(unit)) for unit in np.sort(units)]
    return {"units": named, "share": share}


def _cannot_rest(sample: Sample, left: Leftover) -> bool:
    """Whether no few rows can carry that much: some of the rows carry far more than these could.

    With ξ = √a {φ_v - μ_v - (φ_u - μ_u) slope}, no |ξ| is larger than what the lengths of φ_v and
    φ_u allow, and what some rows add up to is the least that all of them do.
    """
    units, rows, each = sample.units, sample.rows, left.by_rows
    if units.labels is not None or each is None or rows.n <= 2 * _SOME:
        return False
    if not isinstance(left.hierarchy, OfOneLength):
        return False
    most = float(units.weights.max()) * each.longest(left.hierarchy)
    some = np.linspace(0, rows.n - 1, _SOME).astype(np.int64)
    carried = float(((units.weights[some] * left.sizes(rows.x[some])) ** 2).sum())
    return _FEW * most**2 <= MOST_SHARE * carried


def _looked_at(sample: Sample, left: Leftover) -> IntArray | None:
    """All rows, or of very many the farthest from the mean and some that stand for the rest."""
    units, rows = sample.units, sample.rows
    if units.labels is not None or rows.n * left.width <= _ENTRIES:
        return None
    far = units.weights * np.linalg.norm(rows.x - units.weights @ rows.x, axis=1)
    half = _LOOKED_AT // 2
    farthest = np.argpartition(far, -half)[-half:]
    return np.union1d(farthest, np.linspace(0, rows.n - 1, half).astype(np.int64))


def _shares(sample: Sample, left: Leftover, looked: IntArray | None) -> Array:
    """Each unit's share of Σ|ξ|²."""
    units, rows = sample.units, sample.rows
    pick = np.arange(rows.n) if looked is None else looked
    if units.labels is None:
        phi = _features(sample, left)
        seen = left.sizes(rows.x[pick], None if phi is None else phi[pick])
        squares = (units.weights[pick] * seen) ** 2
    elif left.by_rows is not None:
        each = left.by_rows
        phi = _features(sample, left)
        zeta = each.rows(rows.x[None], None if phi is None else phi[None])[0]
        parts = units.weights[:, None] * zeta[:, each.below :]
        parts = units.within_strata(units.gather(parts))
        squares = units.factors * np.einsum("uq,uq->u", parts, parts)
    else:
        return np.zeros(units.count)
    return np.asarray(squares / max(float(squares.sum()), TINY))


def _features(sample: Sample, left: Leftover) -> Array | None:
    return None if left.by_rows is None else sample.features(left.hierarchy)
