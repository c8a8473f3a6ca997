"""The numbers that textbooks print of directions, as data: mean, concentration, cone, axes, tests.

The cone of confidence about the mean is Fisher's α95 where his distribution describes rows of
equal weight on the two-sphere (level 2 was not fitted, or adds no more than noise). Elsewhere it
holds the stated share of bootstrap means: units of the design are drawn with replacement, and
beyond `_MOST_UNITS` of them means are drawn from the normal distribution with their covariance,
to which the bootstrap comes down there (Fisher, Lewis and Embleton 1987, *Statistical Analysis of
Spherical Data*, section 5.3.2; Fisher 1993, *Statistical Analysis of Circular Data*, 4.4.4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import gammaincc

from steradian.arguments import open_share, seed_number, whole_number
from steradian.data.notation import Notation
from steradian.notebook import NotebookView
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import EQUAL_SIZE, POINTS_NOWHERE
from steradian.spaces.base import classical_values
from steradian.spaces.classical import Classical, fisher_cone

if TYPE_CHECKING:
    from steradian.decomposition import Profile

_MOST_UNITS = 5_000  # that are drawn; the means of more are normal to a share of 1 / √units
_BLOCK = 1 << 22  # entries of a block of draws

ConeMethod = Literal["fisher", "bootstrap"]


@dataclass(frozen=True, slots=True)
class Cone:
    """A cone of confidence about the mean direction; on the circle an arc.

    Attributes
    ----------
    angle : float
        From the mean direction to its edge, degrees.
    confidence : float
        Share of samples whose cone holds the mean direction of the population.
    method : {"fisher", "bootstrap"}
        Fisher's formula, or draws of the design's units.
    """

    angle: float
    confidence: float
    method: ConeMethod


@dataclass(frozen=True, slots=True, eq=False)
class PrincipalAxis:
    """An eigenvector of E xxᵀ.

    Attributes
    ----------
    direction : array, (d,)
        The end of it whose last coordinate is positive.
    eigenvalue : float
        Mean square of the rows along it; they add up to one on a unit sphere.
    coordinates : dict
        The same end in the coordinates of the data.
    """

    direction: Array
    eigenvalue: float
    coordinates: dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class ClassicalStatistics(NotebookView):
    """Mean direction, concentration, cone of confidence, principal axes and classical tests.

    Attributes
    ----------
    n : int
        Rows.
    mean : array, (d,), or None
        Unit vector of the mean direction; None where there is none, as of axes.
    mean_coordinates : dict
        The same in the coordinates of the data, like ``{"declination": 341.2, …}``.
    resultant, kappa : float
        Mean resultant length R, and the concentration of the von Mises–Fisher fit; NaN where
        there is none.
    cone : Cone or None
        Cone of confidence of the mean direction; None where the design defines no inference.
    axes : tuple of PrincipalAxis
        The largest eigenvalue first.
    values : tuple of Classical
        Fisher's k, circular standard deviation, eigenvalues, Rayleigh, Bingham, as the space has
        them, each with ``name``, ``value``, ``unit`` and ``pvalue``. For rows of equal weight.
    """

    n: int
    mean: Array | None
    mean_coordinates: dict[str, float]
    resultant: float
    kappa: float
    cone: Cone | None
    axes: tuple[PrincipalAxis, ...]
    values: tuple[Classical, ...]

    def __getitem__(self, name: str) -> float:
        """The value of one of `values` by its name, like ``["Fisher's k̂"]``."""
        return {one.name: one.value for one in self.values}[name]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        cone = self.cone
        return {
            "n": self.n,
            "mean": None if self.mean is None else self.mean.tolist(),
            "mean_coordinates": self.mean_coordinates,
            "resultant": _number(self.resultant),
            "kappa": _number(self.kappa),
            "cone": cone
            and {"angle": cone.angle, "confidence": cone.confidence, "method": cone.method},
            "axes": [
                {
                    "direction": axis.direction.tolist(),
                    "eigenvalue": axis.eigenvalue,
                    "coordinates": axis.coordinates,
                }
                for axis in self.axes
            ],
            "values": [
                {
                    "name": one.name,
                    "value": one.value,
                    "unit": one.unit,
                    "pvalue": _number(one.pvalue),
                }
                for one in self.values
            ],
        }

    def to_frame(self) -> Any:
        """One row per number as a pandas frame: name, value, unit, p-value (needs pandas)."""
        from steradian.io.frames import frame_of_columns

        rows = list(self._rows())
        names, values, units, pvalues = zip(*rows, strict=True)
        table = {"statistic": names, "value": values, "unit": units, "pvalue": pvalues}
        return frame_of_columns(table)

    def _rows(self) -> list[tuple[str, float, str, float]]:
        """Name, value, unit and p-value of every number."""
        found = [
            (f"mean {name}", value, "", math.nan) for name, value in self.mean_coordinates.items()
        ]
        if math.isfinite(self.resultant):
            found.append(("R", self.resultant, "", math.nan))
        if math.isfinite(self.kappa):
            found.append(("κ", self.kappa, "", math.nan))
        if self.cone is not None:
            name = f"cone {self.cone.confidence:.0%} ({self.cone.method})"
            found.append((name, self.cone.angle, "°", math.nan))
        for k, axis in enumerate(self.axes, 1):
            found.append((f"axis {k} eigenvalue", axis.eigenvalue, "", math.nan))
            found += _named(f"axis {k}", axis.coordinates)
        return [*found, *((one.name, one.value, one.unit, one.pvalue) for one in self.values)]

    def __str__(self) -> str:
        lines = []
        for name, value, unit, pvalue in self._rows():
            tail = "" if math.isnan(pvalue) else f"   p = {pvalue:.2g}"
            lines.append(f"{name:<32} {value:>12.5g}{unit}{tail}")
        return "\n".join(lines)


def classical_statistics(
    profile: Profile, confidence: float = 0.95, draws: int = 999, seed: int = 0
) -> ClassicalStatistics:
    """See `Profile.classical`."""
    share = open_share(confidence, "confidence", 0.95)
    count, start = whole_number(draws, "draws", least=1), seed_number(seed)
    m, space = profile.moments, profile.moments.hierarchy.space
    second = np.asarray(m.scatter / m.weight + np.outer(m.mean, m.mean))
    length = float(np.linalg.norm(m.mean)) if profile.has_mean else math.nan
    mean = m.mean / length if length >= POINTS_NOWHERE else None
    inferring = profile.design.defines_inference and profile.shrinkage is None
    equal = bool(np.isclose(profile.ess, profile.n, rtol=EQUAL_SIZE))
    textbook = inferring and equal and profile.design.rows_of_one_law
    cone = None
    if mean is not None and inferring:
        cone = _fishers(profile, length, share) if textbook else None
        cone = cone or _bootstrapped(profile, mean, share, count, start)
    return ClassicalStatistics(
        n=profile.n,
        mean=mean,
        mean_coordinates={} if mean is None else coordinates_of(profile, mean),
        resultant=length,
        kappa=profile.kappa if profile.has_kappa else math.nan,
        cone=cone,
        axes=_axes(profile, second),
        values=classical_values(space, profile.n, m.mean, second) if textbook else (),
    )


def _named(what: str, coordinates: dict[str, float]) -> list[tuple[str, float, str, float]]:
    return [(f"{what} {name}", value, "", math.nan) for name, value in coordinates.items()]


def coordinates_of(profile: Profile, point: Array) -> dict[str, float]:
    """A point (d,) in the coordinates that the data came in, by their names."""
    known = profile.reading
    told: Notation | None = None if known is None or known.within else known.notation
    if told is None:
        return {f"x{k}": float(value) for k, value in enumerate(point, 1)}
    columns = told.values(point[None])
    return {told.convention.role(k): float(column[0]) for k, column in enumerate(columns)}


def _axes(profile: Profile, second: Array) -> tuple[PrincipalAxis, ...]:
    values, vectors = np.linalg.eigh(second)
    found = []
    for value, axis in zip(values[::-1], vectors.T[::-1], strict=True):
        end = axis * np.sign(axis[np.flatnonzero(axis)[-1]])
        found.append(PrincipalAxis(end, float(value), coordinates_of(profile, end)))
    return tuple(found)


def _fishers(profile: Profile, length: float, confidence: float) -> Cone | None:
    """Fisher's cone on the two-sphere, where nothing speaks against his distribution."""
    if profile.d != 3 or not profile.has_kappa:
        return None
    if len(profile.gaps) > 1:  # the likelihood ratio: one formula, whatever tests were asked for
        doubted = gammaincc(0.5 * profile.dims[1], profile.n * max(float(profile.gaps[1]), 0.0))
        if doubted < 1.0 - confidence:
            return None
    angle = fisher_cone(profile.n, length, 1.0 - confidence)
    return Cone(angle, confidence, "fisher") if math.isfinite(angle) else None


def _bootstrapped(
    profile: Profile, mean: Array, confidence: float, draws: int, seed: int
) -> Cone | None:
    """The angle within which so many bootstrap means lie of the mean of the sample."""
    sample = profile.as_sample()
    if not sample.has_rows:
        return None
    units, rng = sample.units, np.random.default_rng(seed)
    sums = units.gather(units.weights[:, None] * sample.rows.x)
    if units.count <= _MOST_UNITS and units.strata is None:
        chances = np.full(units.count, 1.0 / units.count)
        size = max(1, _BLOCK // units.count)
        parts = [
            rng.multinomial(units.count, chances, min(size, draws - first)) @ sums
            for first in range(0, draws, size)
        ]
        drawn = np.concatenate(parts)
    else:
        spread = units.covariance(sample.rows.x, units.weights @ sample.rows.x)
        drawn = rng.multivariate_normal(sums.sum(axis=0), spread, draws)
    lengths = np.linalg.norm(drawn, axis=1)
    cosine = np.divide(drawn @ mean, lengths, out=np.full(draws, -1.0), where=lengths > 0.0)
    angles = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
    return Cone(float(np.quantile(angles, confidence)), confidence, "bootstrap")


def _number(value: float) -> float | None:
    """None for NaN, which JSON does not have."""
    return None if math.isnan(value) else float(value)
