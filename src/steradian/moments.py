"""Moments: the weighted sums a fit sees. They add."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.directions import Directions
from steradian.errors import InvalidDirections
from steradian.hierarchies import Harmonics, MomentStack
from steradian.hierarchies.quadratic import feature_moments, low_moments
from steradian.numerics.arrays import Array


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Moments:
    """Weighted feature sums; ``a + b`` are those of the pooled sample.

    Weights enter with the scale they were given, so that pooling two weighted samples
    means what concatenating their rows would mean. Everything a fit uses is a ratio.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> x = np.eye(3)
    >>> h = sr.Harmonics(3, 2)
    >>> whole = sr.Moments.from_directions(sr.Directions(x), h)
    >>> parts = [sr.Moments.from_directions(sr.Directions(x[k : k + 1]), h) for k in range(3)]
    >>> bool(np.allclose((parts[2] + parts[0] + parts[1]).features, whole.features))
    True
    """

    hierarchy: Harmonics  # sums of different features never mix
    n: int
    weight: float  # Σ w
    weight_sq: float  # Σ w²
    total: Array  # Σ w φ(x), to twice the top degree where the covariance needs it
    total_sq: Array  # Σ w² φ(x), likewise
    mean: Array  # Σ w x / Σ w, (d,)
    scatter: Array  # Σ w (x - mean)(x - mean)ᵀ, (d, d): centred, so that nothing cancels

    @classmethod
    def from_directions(cls, directions: Directions, hierarchy: Harmonics) -> Moments:
        """Sum over the rows, a block at a time: memory does not grow with n."""
        if directions.d != hierarchy.d:
            raise InvalidDirections(
                f"directions of dimension {directions.d} with a hierarchy of dimension "
                f"{hierarchy.d}; make the hierarchy for the data"
            )
        pooled: Moments | None = None
        for x, w in directions.blocks():
            part = cls._from_block(x, w, hierarchy, directions.weighted)
            pooled = part if pooled is None else pooled + part
        assert pooled is not None
        return pooled

    @classmethod
    def _from_block(cls, x: Array, w: Array, hierarchy: Harmonics, weighted: bool) -> Moments:
        weight, weight_sq = (float(w.sum()), float(w @ w)) if weighted else (float(len(x)),) * 2
        total = hierarchy.sums(x, w if weighted else None)
        centre = (w @ x) / weight if weight else x[0]
        y = x - centre
        return cls(
            hierarchy=hierarchy,
            n=len(x),
            weight=weight,
            weight_sq=weight_sq,
            total=total,
            total_sq=hierarchy.sums(x, w * w) if weighted else total,
            mean=centre,
            scatter=(w[:, None] * y).T @ y if weighted else y.T @ y,
        )

    @classmethod
    def from_expectations(cls, hierarchy: Harmonics, features: ArrayLike, *, n: int = 1) -> Moments:
        """Moments of a law known through its feature expectations (circle and two-sphere).

        Parameters
        ----------
        hierarchy : Harmonics
            The features.
        features : array_like
            E φ of the features of all levels of ``hierarchy``, constant left out; for one
            level, of the harmonics of degree 2 as well.
        n : int
            Sample size to report.
        """
        expected = np.asarray(features, dtype=np.float64)
        space = hierarchy.space
        if space.d > 3:
            raise ValueError("from_expectations is for the circle and the two-sphere")
        needed = space.size(max(2, hierarchy.levels)) - 1
        if expected.ndim != 1 or len(expected) < needed:
            raise ValueError(
                f"features have shape {expected.shape}; give at least {needed} numbers"
            )
        if not np.isfinite(expected).all() or n < 1:
            raise ValueError("features must be finite and n at least 1")
        mean, second = low_moments(space.d, expected)
        return cls(
            hierarchy=hierarchy,
            n=n,
            weight=float(n),
            weight_sq=float(n),
            total=n * expected,
            total_sq=n * expected,
            mean=mean,
            scatter=n * (second - np.outer(mean, mean)),
        )

    @property
    def features(self) -> Array:
        """E φ under the weighted sample, lowest level first."""
        return self.total / self.weight

    @property
    def degree(self) -> int:
        """Highest degree of the harmonics whose moments are held."""
        if self.hierarchy.d > 3:
            return 2  # through the centred second moment
        held, size = len(self.total) + 1, self.hierarchy.space.size
        return next(k for k in range(self.hierarchy.degree, 0, -1) if size(k) <= held)

    def up_to_level(self, level: int) -> Array:
        """E φ of the features of levels 1..level, (q,)."""
        space = self.hierarchy.space
        if space.d > 3 and level == 2:
            second = self.scatter / self.weight + np.outer(self.mean, self.mean)
            return feature_moments(space, self.mean, second)
        return self.features[: space.size(level) - 1]

    @property
    def ess(self) -> float:
        """Kish's (Σw)² / Σw²: a measure of weight concentration, not of sampling precision."""
        return self.weight * self.weight / self.weight_sq

    def up_to(self, levels: int) -> Moments:
        """The same sample seen through the first ``levels`` levels only."""
        if levels > self.hierarchy.levels:
            raise ValueError(
                f"these moments hold {self.hierarchy.levels} levels, not {levels}; "
                "accumulate them again with more"
            )
        smaller = Harmonics(self.hierarchy.d, levels)
        kept = smaller.space.size(smaller.degree) - 1
        return replace(
            self, hierarchy=smaller, total=self.total[:kept], total_sq=self.total_sq[:kept]
        )

    def stack(self) -> MomentStack:
        """These moments as a stack of one, normalised."""
        return MomentStack(self.features[None], self.mean[None], (self.scatter / self.weight)[None])

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if self.hierarchy != other.hierarchy or len(self.total) != len(other.total):
            raise ValueError(
                f"cannot pool moments of {self.hierarchy} ({len(self.total)} sums) with "
                f"{other.hierarchy} ({len(other.total)} sums)"
            )
        weight = self.weight + other.weight
        share = other.weight / weight if weight else 0.0
        apart = other.mean - self.mean
        return Moments(
            hierarchy=self.hierarchy,
            n=self.n + other.n,
            weight=weight,
            weight_sq=self.weight_sq + other.weight_sq,
            total=self.total + other.total,
            total_sq=self.total_sq + other.total_sq,
            mean=self.mean + share * apart,
            scatter=self.scatter + other.scatter + (self.weight * share) * np.outer(apart, apart),
        )

    def __radd__(self, other: object) -> Moments:
        return self if other == 0 else NotImplemented  # so that sum() works

    def __repr__(self) -> str:
        return f"Moments(n={self.n}, weight={self.weight:g}, {self.hierarchy})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON; `from_dict` reads them back exactly."""
        return {
            "hierarchy": {
                "kind": "Harmonics",
                "d": self.hierarchy.d,
                "levels": self.hierarchy.levels,
            },
            "n": self.n,
            "weight": self.weight,
            "weight_sq": self.weight_sq,
            "total": self.total.tolist(),
            "total_sq": self.total_sq.tolist(),
            "mean": self.mean.tolist(),
            "scatter": self.scatter.tolist(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Moments:
        """The inverse of `to_dict`."""
        missing = {"hierarchy", "n", "weight", "weight_sq", *_ARRAYS} - set(data)
        if missing:
            raise ValueError(f"not a dictionary of moments: {sorted(missing)[0]!r} is missing")
        kind = data["hierarchy"].get("kind")
        if kind != "Harmonics":
            raise ValueError(f"moments of a {kind!r} hierarchy cannot be read; known: 'Harmonics'")
        arrays = {k: np.array(data[k], dtype=np.float64) for k in _ARRAYS}
        return cls(
            hierarchy=Harmonics(data["hierarchy"]["d"], data["hierarchy"]["levels"]),
            n=int(data["n"]),
            weight=float(data["weight"]),
            weight_sq=float(data["weight_sq"]),
            **arrays,
        )


_ARRAYS = ("total", "total_sq", "mean", "scatter")
