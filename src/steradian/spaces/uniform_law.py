"""Integrals against the uniform law of any space: by its rules, or by draws where it has none."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from steradian.numerics.arrays import Array
from steradian.spaces.base import EvenCoordinates, Rule, Space

_DRAWS = 1 << 17  # of each of two sets, where a space has no rules
_SEED = 20_231


def is_drawn(space: Space) -> bool:
    """Whether integrals are means over draws, for want of rules."""
    return not space.rules()


def rules_of(space: Space) -> int:
    """How many rules there are: those of the space, or two independent sets of uniform draws."""
    return space.rules() or 2


def rule_of(space: Space, rung: int) -> Rule:
    """A rule of the space, or one of two independent sets of draws, always the same."""
    return _drawn(space, rung) if is_drawn(space) else space.rule(rung)


@lru_cache(maxsize=8)
def _drawn(space: Space, rung: int) -> Rule:
    points = space.uniform(_DRAWS, np.random.default_rng([_SEED, rung]))
    return Rule(np.asarray(points, dtype=np.float64), np.full(_DRAWS, 1.0 / _DRAWS))


@lru_cache(maxsize=64)
def uniform_moments(space: Space) -> tuple[Array, Array]:
    """The centre (d,) of the uniform law and its second moments about it (d, d)."""
    if isinstance(space, EvenCoordinates):
        return np.zeros(space.d), space.coordinate_variance * np.eye(space.d)
    rule = rule_of(space, rules_of(space) - 1)
    centre = space.centre(rule.points, rule.weights)
    away = rule.points - centre
    return centre, away.T @ (rule.weights[:, None] * away)
