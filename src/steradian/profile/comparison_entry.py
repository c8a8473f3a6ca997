"""`compare` as people call it: groups of anything, fitted apart and pooled."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import one_of
from steradian.data.stacks import MomentStack
from steradian.designs import Design
from steradian.errors import InvalidArgument, LevelError, SteradianError
from steradian.fitting.label_levels import label_levels
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.hierarchies import Hierarchy
from steradian.inference.sample import GroupedSample
from steradian.profile.comparison import Comparison
from steradian.profile.grouping import Groups, as_groups
from steradian.text.audience import Advice
from steradian.text.messages import Name

_SHARES = ("observed", "equal")


def compare(  # noqa: PLR0913 - one for each thing people say about groups
    data: Any,
    *,
    by: ArrayLike | str | None = None,
    weights: ArrayLike | str | None = None,
    levels: int | None = None,
    hierarchy: Hierarchy | None = None,
    design: Design | str | None = None,
    shares: str = "observed",
    reference: Any = None,
) -> Comparison:
    """Which groups differ, in what, by how much.

    Parameters
    ----------
    data : rows, a mapping from names to groups, or a list of moments
        Anything `profile` takes, with ``by``; or groups that are each anything it takes.
    by : array_like or column name, optional
        The label of each row.
    weights, hierarchy, design
        As in `profile`. A design says how all rows came about; clusters may belong to one group or
        have rows of several.
    levels : int, optional
        Highest level; by default 2, so that what differs in shape does not pass for a difference
        of means.
    shares : {"observed", "equal"}
        The share π_g of each group in the pooled sample: that of its weight, or the same for all.
    reference : MaxEntFit, callable, Mask, HealpixMap or Directions, optional
        The law that all fits, of the groups and of the pooled sample, are relative to, as in
        `profile`; uniform unless given.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> rng = np.random.default_rng(0)
    >>> one, two = rng.normal([0, 0, 3], 1, (2, 200, 3))
    >>> x = sr.Directions(np.concatenate([one, two]), normalize=True)
    >>> c = sr.compare(x, by=np.repeat(["here", "there"], 200))
    >>> bool(abs(c.between.sum() - c.total) < 1e-9)
    True
    """
    began = time.perf_counter()
    one_of(shares, "shares", _SHARES)
    given = as_groups(data, by, weights, design)
    explicit = levels is not None or hierarchy is not None
    wanted = given.hierarchy(levels, hierarchy, reference)
    found = _fitted(given, wanted)
    if found.kept < 2 <= len(given.names) and not explicit and wanted.levels > 1:
        lower = _fitted(given, wanted.up_to(1))
        found = lower if lower.kept > found.kept else found
    if not found.kept:
        raise _none_fitted(given, found.errors)
    return _compared(given, found, shares, began)


def _none_fitted(given: Groups, errors: dict[str, LevelError]) -> SteradianError:
    """Why there is nothing to compare: what the first group lacks, or what labels look like."""
    rows, groups = int(given.sizes.sum()), len(given.names)
    if groups > 2 and rows < 2 * groups:
        return InvalidArgument(
            "{by} has {groups} different labels for {rows} rows, too few in each group for a fit: "
            "they look like a measurement rather than groups; cut it into a few ranges{example}, "
            "or give the column that names the groups",
            by=Name("by"), groups=groups, rows=rows,
            example=Advice(", such as by=np.digitize(values, edges)", ""),
        )  # fmt: skip
    name, error = next(iter(errors.items()))
    return error.of_group(name)


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """Fits of all groups, and which have none."""

    moments: MomentStack
    fits: NestedFits
    errors: dict[str, LevelError]

    @property
    def kept(self) -> int:
        return len(self.moments) - len(self.errors)


def _fitted(given: Groups, hierarchy: Hierarchy) -> _Fitted:
    moments = given.moments(hierarchy)
    fits = fit_levels(hierarchy, moments, given.support())
    failures = sorted(fits.failures.items())
    errors = {given.names[row]: failure.error(mixing=False) for row, failure in failures}
    return _Fitted(moments, fits, errors)


def _compared(given: Groups, found: _Fitted, kind: str, began: float) -> Comparison:
    hierarchy = found.fits.hierarchy
    kept = np.array([name not in found.errors for name in given.names])
    groups, pick = given.some(kept), np.flatnonzero(kept)
    moments = found.moments.take(pick)
    nested = NestedFits(hierarchy, tuple(s.take(pick) for s in found.fits.solutions), {})
    weight = groups.weights
    shares = weight / weight.sum() if kind == "observed" else np.full(len(pick), 1.0 / len(pick))
    pooled = moments.pooled(shares)
    whole = fit_levels(hierarchy, pooled)
    if whole.failures:
        raise whole.failures[0].error(mixing=False)
    rows = float(1.0 / (shares**2 / groups.ess).sum())
    fits = label_levels(moments, shares, nested, whole, rows=rows)
    sample = GroupedSample(
        groups.names, fits, nested, whole, groups.sizes, groups.ess, groups.design, groups.rows,
        groups.sums,
    )  # fmt: skip
    words = {name: error.diagnostic for name, error in found.errors.items()}
    return Comparison(sample, groups, words, kind, time.perf_counter() - began)
