"""How far above its levels a hierarchy can be looked at, and the data there.

Residuals and kernels compare data and fits in features that no level has matched yet. Those are
the hierarchy's own higher levels, and wider ones of the same kind where it has any.
"""

from __future__ import annotations

from typing import Any

from steradian.data.moments import Moments
from steradian.errors import DesignError
from steradian.hierarchies.base import Hierarchy
from steradian.significance.sample import Sample


def levels_through(hierarchy: Hierarchy, degree: int) -> Hierarchy | None:
    """The features of levels 1..degree; None where there are none so high."""
    return hierarchy.up_to(degree) if degree <= hierarchy.levels else hierarchy.wider(degree)


def highest_degree(hierarchy: Hierarchy, most_features: int) -> int:
    """The highest degree that `levels_through` reaches with no more than so many features."""
    degree = 1
    while (wide := levels_through(hierarchy, degree + 1)) is not None:
        if wide.q(degree + 1) > most_features:
            break
        degree += 1
    return degree


def moments_to_degree(sample: Sample, degree: int) -> Moments:
    """Moments of the data that hold at least this degree."""
    moments = sample.moments
    if moments.degree >= degree:
        return moments
    if sample.directions is None:
        raise DesignError(
            f"these moments hold degree {moments.degree}, not {degree}; ask for no more, or "
            "profile the directions"
        )
    wide: Any = _holding(moments.hierarchy, degree)
    rows = sample.directions
    return sample.memo.once(("moments", wide), lambda: Moments.from_directions(rows, wide))


def _holding(hierarchy: Hierarchy, degree: int) -> Hierarchy:
    """The fewest levels whose moments hold this degree: products of features reach beyond them."""
    for levels in range(1, degree + 1):
        found = levels_through(hierarchy, levels)
        if found is not None and found.held_levels >= degree:
            return found
    raise DesignError(f"no moments of {hierarchy} hold degree {degree}; ask for a lower one")
