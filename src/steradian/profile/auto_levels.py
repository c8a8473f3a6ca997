"""As many levels as the data carry, so that nobody has to choose.

Levels are climbed while Akaike's criterion, corrected for samples that are small for the features
(Hurvich and Tsai, 1989), rises: ``a² D_L - q a² / (a² - q - 1)`` with q features and a² rows. For
many rows a level raises it by adding more than twice what noise gives; with as many features as
rows nothing does. A level may say nothing and the next one much, so the climb ends only when some
levels in a row have not raised it, or where rows take too few values to tell more; the profile then
ends at the level where it was largest. That may be 0, the uniform law: level 1 is then kept, to
show how little it adds, and the profile says so. The other rules of `choose_order` may be asked
about that profile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError, InvalidArgument, LevelError
from steradian.numerics.tolerances import TINY
from steradian.profile.profile import Profile
from steradian.text.messages import arguments

AUTO = "auto"
_FIRST = 4  # levels, and as many more each time
_PATIENCE = 3  # levels in a row that may add nothing


def climbed(made: Callable[[int], Profile]) -> Profile:
    """The profile that ends where Akaike's criterion is largest; ``made`` gives one of L levels."""
    levels, found, limit = _FIRST, None, None
    while True:
        found, limit = _through(made, levels, found)
        best = carried(found)
        seen = len(found.levels)
        if (
            limit is not None
            or best <= seen - _PATIENCE
            or found.as_sample().untold(seen) is not None
        ):
            break
        levels += _FIRST
    if best == len(found.levels):
        return replace(found, stopped=limit, chosen=best)
    kept = max(best, 1)
    moments = found.moments.up_to(kept)
    nested = found.nested.up_to(moments.hierarchy)
    return replace(found, moments=moments, nested=nested, stopped=None, chosen=best)


def carried(found: Profile) -> int:
    """The level at which the criterion is largest, 0 for the uniform law."""
    if not found.design.defines_inference:
        raise DesignError(
            "{said} asks what noise gives, which these weights do not tell; say how the rows came "
            "about with {remedy}, or give a number of levels",
            said=arguments(levels="auto"), remedy=arguments(design=...),
        )  # fmt: skip
    sample = found.as_sample()
    rate2 = sample.rate**2
    features = np.cumsum(found.dims)
    left = rate2 - features - 1.0
    penalty = np.where(left > 0.0, features * rate2 / np.maximum(left, TINY), np.inf)
    scores = rate2 * found.deficits - penalty
    scores[[sample.untold(level) is not None for level in found.levels.tolist()]] = -np.inf
    return int(np.argmax(np.concatenate([[0.0], scores])))


def _through(
    made: Callable[[int], Profile], levels: int, before: Profile | None
) -> tuple[Profile, Diagnostic | None]:
    """A profile of so many levels, or of as many as there are and what stopped it."""
    try:
        return made(levels), None
    except LevelError as error:
        if error.profile is None:
            raise
        return error.profile, error.diagnostic
    except InvalidArgument as error:  # more levels than can be fitted there
        if before is None:
            raise
        return before, error.diagnostic
