"""Hierarchies, spaces and designs that each break one line of their contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import steradian as sr
from conformance.skeleton import Mirrored
from steradian.designs.base import Units
from steradian.families import NodeFamily
from steradian.spaces import Rule
from steradian.text.messages import Message


@dataclass(frozen=True)
class _Own(Mirrored):  # type: ignore[misc]
    """The docs' skeleton under another name."""

    def to_dict(self) -> Any:
        return {"kind": type(self).__name__, "levels": self.levels}

    def up_to(self, levels: int) -> Any:
        return type(self)(levels)

    def wider(self, levels: int) -> Any:
        return type(self)(levels) if levels <= self.levels else None


class NotOrthonormal(_Own):
    def features(self, x: Any) -> Any:
        return super().features(x) * 1.5


class NotCentred(_Own):
    def features(self, x: Any) -> Any:
        return super().features(x) + 0.25


class HiddenFromOneRule(_Own):
    """On 32 equispaced nodes the sine vanishes."""

    def features(self, x: Any) -> Any:
        return super().features(x) + np.sin(16.0 * np.arctan2(x[:, 1], x[:, 0]))[:, None]


class WrongDims(_Own):
    @property
    def dims(self) -> tuple[int, ...]:
        return (2,) * self.levels


class WrongCount(_Own):
    def q(self, level: int) -> int:
        return 2 * level


class NotNested(_Own):
    def features(self, x: Any) -> Any:
        return super().features(x)[:, ::-1]


class WrongSums(_Own):
    def sums(self, x: Any, weights: Any) -> Any:
        return super().sums(x, weights) * 1.01


class Unweighted(_Own):
    def sums(self, x: Any, weights: Any) -> Any:
        return super().sums(x, None)


class OfTheSample(_Own):
    """Its features depend on which points are given together."""

    def features(self, x: Any) -> Any:
        phi = super().features(x)
        return phi - phi.mean(axis=0)


class Identity(_Own):
    """No value: two that are alike are not equal."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Unhashable(_Own):
    __hash__ = None  # type: ignore[assignment]


class Raises(_Own):
    def features(self, x: Any) -> Any:
        raise KeyError("angle")


class WrongWider(_Own):
    def wider(self, levels: int) -> Any:
        return sr.Harmonics(2, levels)


class WrongMean(_Own):
    def coordinates(self, features: Any) -> Any:
        return np.zeros((*features.shape[:-1], 2))


class WrongTurn(_Own):
    def turned(self, moments: Any, matrix: Any) -> Any:
        return moments


class WrongKind(_Own):
    def to_dict(self) -> dict[str, Any]:
        return {"kind": "Harmonics", "d": 2, "levels": self.levels}


@dataclass(frozen=True)
class _OwnFamily(NodeFamily):
    pass


class NoGradient(_OwnFamily):
    def log_partition(self, lam: Any) -> Any:
        psi, mean, covariance = super().log_partition(lam)
        return psi, 1.1 * mean, covariance


class NoMass(_OwnFamily):
    def log_partition(self, lam: Any) -> Any:
        psi, mean, covariance = super().log_partition(lam)
        return psi + 0.1 * (lam**2).sum(axis=1), mean, covariance


class WrongDraws(_OwnFamily):
    def sample(self, lam: Any, n: int, rng: Any) -> Any:
        return super().sample(-lam, n, rng)


class WrongFit(_OwnFamily):
    def solve(self, moments: Any, start: Any, support: Any = None) -> Any:
        found = super().solve(moments, start, support)
        found.lam[:] *= 1.01
        return found


class WrongSpread(_OwnFamily):
    """Of covariances only that without parameters is wrong."""

    def log_partition(self, lam: Any) -> Any:
        psi, mean, covariance = super().log_partition(lam)
        return psi, mean, np.where((lam == 0.0).all(), 1.2, 1.0) * covariance


class WrongReference(_Own):
    """Declares moments of a law of zero information that is not that of its space."""

    @property
    def reference_features(self) -> Any:
        return np.full(self.q(self.levels), 0.3)


class WrongReferenceSpread(_Own):
    """White features need not be declared white: what they are is still asked."""

    @property
    def reference_features(self) -> Any:
        return np.zeros(self.q(self.levels))

    def family(self, level: int) -> Any:
        return WrongSpread(self, level)


class DeclaresItsWayOut(NotOrthonormal):
    """Declaring a reference does not excuse features that are white under no law."""

    @property
    def reference_features(self) -> Any:
        return np.zeros(self.q(self.levels))


def with_family(kind: Any) -> Any:
    """A hierarchy whose families are of this kind."""

    class Own(_Own):
        def family(self, level: int) -> Any:
            return kind(self, level)

    return Own(2)


class _OwnSpace:
    """The circle by another name, from which broken ones differ in one thing."""

    d, dimension, name, point_name = 2, 1, "ring", "place"
    log_area = float(np.log(2.0 * np.pi))
    _inner = sr.Harmonics(2, 1).space

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def refusal(self, x: Any) -> Message | str:
        return self._inner.refusal(x)

    def centre(self, x: Any, weights: Any) -> Any:
        return weights @ x

    def uniform(self, n: int, rng: Any) -> Any:
        return self._inner.uniform(n, rng)

    def symmetry(self, rng: Any) -> Any:
        return self._inner.symmetry(rng)

    def rules(self) -> int:
        return 6

    def rule(self, rung: int) -> Rule:
        return self._inner.rule(rung)


class Ring(_OwnSpace):
    """Nothing is broken."""


class NoUnitMass(_OwnSpace):
    def rule(self, rung: int) -> Rule:
        rule = super().rule(rung)
        return Rule(rule.points, rule.weights * 1.001)


class NotUniform(_OwnSpace):
    def uniform(self, n: int, rng: Any) -> Any:
        angle = 2.0 * np.pi * rng.random(n) ** 1.5
        return np.column_stack([np.cos(angle), np.sin(angle)])


class Anything(_OwnSpace):
    def refusal(self, x: Any) -> str:
        return ""


class Stretched(_OwnSpace):
    def symmetry(self, rng: Any) -> Any:
        return np.diag([1.0, 1.1])


class Nameless(_OwnSpace):
    point_name = " "


class OwnCentre(_OwnSpace):
    def centre(self, x: Any, weights: Any) -> Any:
        return x[0]


class _OwnDesign(sr.designs.Design):
    name: ClassVar[str] = "own"

    @property
    def sentence(self) -> str:
        return "every row is a unit"

    def units(self, directions: Any) -> Units:
        n = directions.n
        return Units(directions.weights, n, np.sqrt(n), dof=n - 1)


class WrongWeights(_OwnDesign):
    def units(self, directions: Any) -> Units:
        return Units(np.ones(directions.n), directions.n, 1.0)


class WrongUnits(_OwnDesign):
    def units(self, directions: Any) -> Units:
        return Units(directions.weights, 5, 1.0, np.arange(directions.n) // 2)


class WrongClaim(_OwnDesign):
    rows_of_one_law: ClassVar[bool] = True
    random_weights: ClassVar[bool] = False


class WrongRate(_OwnDesign):
    from_sums: ClassVar[bool] = True

    def rate_from_sums(self, moments: Any) -> float:
        return 3.0


class Wordless(_OwnDesign):
    @property
    def sentence(self) -> str:
        return ""


class Undemanding(_OwnDesign):
    needs_weights: ClassVar[bool] = True


class ByPlace(_OwnDesign):
    """Rows that come first count for more."""

    def units(self, directions: Any) -> Units:
        n = directions.n
        return Units(directions.weights, n, np.sqrt(n), factor=np.linspace(1.0, 2.0, n))


class NoUnitsButGivesThem(_OwnDesign):
    has_units: ClassVar[bool] = False
