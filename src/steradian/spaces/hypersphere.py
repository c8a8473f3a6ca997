"""Unit spheres of any dimension; from four on harmonics of any degree, product rules to R⁵."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from math import lgamma, log, pi

import numpy as np

from steradian.arguments import draws_asked, whole_number
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.quadratics import quadratic_features
from steradian.numerics.spheres.hyperspherical import harmonic_size, hyperspherical_harmonics
from steradian.numerics.spheres.sphere_rules import four_sphere_rule, three_sphere_rule
from steradian.spaces.base import HarmonicSpace, Rule
from steradian.spaces.circle import Circle
from steradian.spaces.sphere import Sphere
from steradian.spaces.unit_vectors import UnitVectors

_LADDERS: dict[int, tuple[int, ...]] = {  # by dimension: degrees below which a rule is exact
    4: (12, 16, 24, 32, 40, 48, 64, 80, 96),
    5: (12, 16, 20, 24, 28, 32, 40),
}
_FEWEST = min(_LADDERS)  # below it there are spaces of their own


@dataclass(frozen=True)
class Hypersphere(UnitVectors):
    """Unit vectors of R^d for d from 4 on, with the uniform law.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Hypersphere(6).name
    'sphere in R^6'
    """

    d: int

    def __post_init__(self) -> None:
        if whole_number(self.d, "d", least=2) < _FEWEST:
            plain = {2: "sr.Circle()", 3: "sr.Sphere()"}[self.d]
            raise InvalidArgument(f"d is {self.d}; use {plain}, which has rules of its own")

    @property
    def name(self) -> str:
        return f"sphere in R^{self.d}"

    @property
    def log_area(self) -> float:
        half = 0.5 * self.d
        return log(2.0) + half * log(pi) - lgamma(half)

    def size(self, degree: int) -> int:
        return sum(harmonic_size(self.d, k) for k in range(degree + 1))

    def harmonics(self, x: AnyArray, degree: int) -> AnyArray:
        parts = [np.ones((len(x), 1), dtype=x.dtype)]
        if degree >= 1:
            parts.append(np.sqrt(np.asarray(self.d, dtype=x.dtype)) * x)
        if degree >= 2:
            parts.append(quadratic_features(x))
        if degree >= 3:
            parts.append(hyperspherical_harmonics(x, 3, degree))
        return np.hstack(parts)

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        n, rng = draws_asked(n, self.d, rng)
        x = rng.standard_normal((n, self.d))
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    def rules(self) -> int:
        return len(_LADDERS.get(self.d, ()))

    def rule(self, rung: int) -> Rule:
        if not self.rules():
            raise NotImplementedError(f"rule {rung} on the {self.name}: there is none")
        return _rule(self.d, _LADDERS[self.d][rung])


@lru_cache(maxsize=16)
def _rule(d: int, nodes: int) -> Rule:
    return Rule(*(three_sphere_rule(nodes, nodes) if d == 4 else four_sphere_rule(nodes)))


@cache
def unit_sphere(d: int) -> HarmonicSpace:
    """The space of unit vectors of R^d."""
    if d == 2:
        return Circle()
    if d == 3:
        return Sphere()
    return Hypersphere(d)
