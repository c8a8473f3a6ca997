"""Harmonic residuals: what the fitted levels leave unexplained, degree by degree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from steradian.adequacy.calibration import Calibrated, Calibration, Judged, judged, refused_or
from steradian.adequacy.leftover import leftover_of
from steradian.data.moments import Moments
from steradian.designs import Known
from steradian.errors import DesignError, ResolutionError
from steradian.hierarchies import Harmonics
from steradian.io.records import without_nan
from steradian.numerics.arrays import Array
from steradian.significance.sample import Sample

Weights = Literal["unit", "sobolev"] | ArrayLike
_ABOVE = 4  # degrees above the highest level looked at by default
_MOST_DEGREES = {2: 1000, 3: 50}  # by ambient dimension: some two thousand features


@dataclass(frozen=True, eq=False, repr=False)
class Residuals(Calibrated):
    """R_{L,K} of every level: the distance of data and fit in the degrees above the level.

    ``R² = Σ_{l=L+1}^K a_l Σ_r (ĉ_lr - c_lr)²`` with ĉ the moments of the data, c those of the
    fit, and orthonormal harmonics.

    Attributes
    ----------
    levels : array of int, (L,)
        1..L.
    degree : int
        K.
    degree_weights : array, (K,)
        a_1..a_K.
    values : array, (L,)
        R. NaN for levels that reach degree K.
    raw : array, (L,)
        R with cos kθ and sin kθ as they are, on the circle: smaller by √2. The same as
        ``values`` elsewhere.
    contributions : array, (L, K)
        What each degree adds to R².
    pvalue : array, (L,)
        Of R if the fit were the law, under the design; NaN with a warning where it is not known.
    methods, warnings : tuples of str
        How each p-value was found, and what speaks against it.
    """

    degree: int
    degree_weights: Array
    contributions: Array
    d: int

    @property
    def values(self) -> Array:
        """R with orthonormal harmonics, (L,)."""
        inside = self.levels < self.degree
        return np.where(inside, np.sqrt(self.contributions.sum(axis=1)), np.nan)

    @property
    def raw(self) -> Array:
        """R with the raw cos kθ and sin kθ on the circle, as the paper prints it, (L,)."""
        return self.values / (np.sqrt(2.0) if self.d == 2 else 1.0)

    def __repr__(self) -> str:
        shown = ", ".join(f"{r:.3g}" for r in self.values)
        return f"Residuals(degree {self.degree}, R = {shown})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        own = {
            "degree": self.degree,
            "degree_weights": self.degree_weights.tolist(),
            "values": self.values.tolist(),
            "raw": self.raw.tolist(),
            "contributions": self.contributions.tolist(),
        }
        return without_nan({**own, **self.judgements()})

    def __str__(self) -> str:
        raw = self.d == 2
        lines = [
            f"Residuals through degree {self.degree}; design {self.design}",
            f"{'level':>5} {'R':>9} " + (f"{'raw R':>9} " if raw else "") + f"{'p':>9}  "
            f"{'largest degree':<16} method",
        ]
        for k, level in enumerate(self.levels):
            row = f"{level:>5} {self.values[k]:>9.4g} "
            row += f"{self.raw[k]:>9.4g} " if raw else ""
            total = self.contributions[k].sum()
            largest = int(np.argmax(self.contributions[k]))
            part = f"{largest + 1} ({self.contributions[k, largest] / total:.0%})" if total else "–"
            lines.append(f"{row}{self.judged[k].pvalue:>9.3g}  {part:<16} {self.methods[k]}")
        return "\n".join([*lines, *(f"! {w}" for w in self.warnings)])


def harmonic_residuals(
    sample: Sample, degree: int | None, weights: Weights, how: Calibration, *, from_level: int = 1
) -> Residuals:
    """Residuals of the levels of a sample, ``from_level`` on."""
    top, d = len(sample.nested.solutions), sample.hierarchy.space.d
    degree = default_degree(sample) if degree is None else _checked(degree, d)
    a = degree_weights(weights, d, degree)
    moments = moments_to_degree(sample, degree)
    seen = moments.up_to_level(2) if d > 3 else moments.features[: moments.hierarchy.q(degree)]
    parts, found = [], []
    for level in range(from_level, top + 1):
        contributions, one = _of_level(sample, level, a, seen, how)
        parts.append(contributions)
        found.append(one)
    levels = np.arange(from_level, top + 1)
    return Residuals(levels, tuple(found), sample.design.name, degree, a, np.array(parts), d)


def default_degree(sample: Sample) -> int:
    """Four above the highest level, or what the moments, the design and the dimension allow."""
    top = len(sample.nested.solutions)
    wanted = top + _ABOVE if sample.hierarchy.space.d <= 3 else 2
    if sample.directions is None:
        wanted = min(wanted, sample.moments.degree)
    if isinstance(sample.design, Known):
        wanted = min(wanted, sample.hierarchy.levels)
    return max(wanted, 2)


def _checked(degree: int, d: int) -> int:
    if isinstance(degree, bool) or not isinstance(degree, int | np.integer) or degree < 2:
        raise ValueError(f"degree is {degree!r}; give a whole number above 1")
    if degree > _MOST_DEGREES.get(d, degree):
        raise ValueError(f"degree is {degree}; give at most {_MOST_DEGREES[d]} in dimension {d}")
    if d > 3 and degree > 2:
        raise ValueError(f"degree is {degree}; above dimension 3 residuals reach degree 2")
    return int(degree)


def degree_weights(given: Weights, d: int, degree: int) -> Array:
    """a_1..a_K of a name or of numbers, (degree,)."""
    if isinstance(given, str):
        if given == "unit":
            return np.ones(degree)
        if given == "sobolev":
            ell = np.arange(1.0, degree + 1.0)
            return np.asarray((1.0 + ell * (ell + d - 2.0)) ** (-d / 2.0))
        raise ValueError(f"weights is {given!r}; choose 'unit', 'sobolev' or {degree} numbers")
    a = np.asarray(given, dtype=np.float64)
    if a.shape != (degree,):
        raise ValueError(f"weights have shape {a.shape}; give {degree} numbers, one per degree")
    if not (np.isfinite(a) & (a >= 0.0)).all() or not a.any():
        raise ValueError(f"weights are {a.tolist()}; give finite numbers >= 0, not all zero")
    return a


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
    wide = Harmonics(moments.hierarchy.d, -(-degree // 2))  # moments reach twice their levels
    return Moments.from_directions(sample.directions, wide)


def _of_level(
    sample: Sample, level: int, a: Array, seen: Array, how: Calibration
) -> tuple[Array, Judged]:
    """a_l |ĉ_l - c_l|² of each degree, (K,), and the p-value of their sum."""
    if level >= len(a):
        said = f"level {level} has all degrees up to {len(a)}: nothing is left over to look at"
        return np.zeros(len(a)), Judged(np.nan, "–", (said,))
    try:
        left = leftover_of(sample.hierarchy.space.d, level, sample.parameters(level)[0], a)
    except ResolutionError as error:
        return np.full(len(a), np.nan), Judged(np.nan, "refused", (str(error),))
    squares = left.excess(seen) ** 2
    dims = left.hierarchy.dims[level:]
    starts = np.concatenate([[0], np.cumsum(dims)[:-1]])
    contributions = np.concatenate([np.zeros(level), np.add.reduceat(squares, starts)])
    squared = float(squares.sum())
    return contributions, refused_or(sample, how, partial(judged, sample, left, squared, how))
