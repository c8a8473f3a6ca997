"""Whether the features of one hierarchy are among those of another."""

from __future__ import annotations

import numpy as np

from steradian.arguments import shown
from steradian.errors import InvalidArgument
from steradian.hierarchies.base import Hierarchy
from steradian.numerics.tolerances import DEPENDENT_FUNCTION

_MOST_FEATURES = 2500  # of the larger one, whose values at as many points are solved with
_MORE_POINTS = 64  # than features


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
