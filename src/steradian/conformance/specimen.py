"""A hierarchy on the bench: laws of every level, rows that are not uniform, and their profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steradian.data.directions import Directions
from steradian.decomposition import Profile, profile
from steradian.families.base import Family
from steradian.hierarchies.base import basis_law
from steradian.hierarchies.contract import Specimen
from steradian.numerics.arrays import Array
from steradian.spaces import Rule, Space

_STRENGTH = 0.4  # length of the natural parameters: far from uniform, and of all resolved by rules
_ROWS_PER_FEATURE = 6  # so that fits exist,
_FEWEST_ROWS = 120  # and asymptotics are not far
_MOST_NODES = 20_000
_DRAWS = 1 << 14


@dataclass(frozen=True)
class FittedSpecimen(Specimen):
    """What the lines about families and profiles look at."""

    @cached_property
    def rows(self) -> Directions:
        """Rows of a law that leans on the features of level 1, drawn without any family."""
        h, rng = self.hierarchy, np.random.default_rng(3)
        n = max(_FEWEST_ROWS, _ROWS_PER_FEATURE * h.q(h.levels))
        law = basis_law(h)
        x = h.space.uniform(3 * n, rng) if law is None else law.sample(3 * n, rng)
        height = np.asarray(h.features(x))[:, : h.q(1)] @ (self.lam(1) - self.basis(1))
        kept = np.argsort(height + rng.gumbel(size=len(x)))[-n:]
        return Directions(x[kept], space=h.space)

    @cached_property
    def profile(self) -> Profile:
        return profile(self.rows, hierarchy=self.hierarchy)

    def lam(self, level: int) -> Array:
        """Natural parameters of a law of the level, (q,), about the one that features belong to."""
        lam = np.random.default_rng(level).standard_normal(self.hierarchy.q(level))
        return np.asarray(self.basis(level) + lam * (_STRENGTH / np.linalg.norm(lam)))

    def basis(self, level: int) -> Array:
        """Natural parameters (q,) of the law that features are white under."""
        out = np.zeros(self.hierarchy.q(level))
        lam = self.hierarchy.basis_lam
        out[: self.hierarchy.q(1)] = 0.0 if lam is None else lam
        return out

    def families(self) -> Iterator[tuple[int, Family, Array]]:
        """Every level with its family and the natural parameters of one of its laws."""
        for level in range(1, self.hierarchy.levels + 1):
            yield level, self.hierarchy.family(level), self.lam(level)


def uniform_rule(space: Space) -> tuple[Rule, bool]:
    """What stands for the uniform law: the finest small rule, or draws; and whether it is a rule.

    Mild laws are integrated by a rule to rounding, and by draws to their standard error.
    """
    for rung in reversed(range(space.rules())):
        rule = space.rule(rung)
        if len(rule.weights) <= _MOST_NODES or rung == 0:
            return rule, True
    points = space.uniform(_DRAWS, np.random.default_rng(4))
    return Rule(points, np.full(_DRAWS, 1.0 / _DRAWS)), False


def mean_slack(values: Array, rule: Rule, exact: bool) -> float:
    """By how much a mean under `uniform_rule` may be off: 1e-7, or six standard errors."""
    if exact:
        return 1e-7
    return 6.0 * float(np.std(values)) / float(np.sqrt(len(rule.weights)))
