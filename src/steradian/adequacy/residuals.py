"""Harmonic residuals: what the fitted levels leave unexplained, degree by degree.

**Information left** above the highest level, in nats. The fit p_K of a higher level maximises
``λ·m - ψ(λ)``, so that any parameters bound its deficit from below. Written about p_L in the
leftover ξ (see `adequacy.leftover`), which the fit of level L has matched nothing of,

    D_K - D_L  =  max_δ { δ·(ĉ - c) - log E_{p_L} exp(δ·ξ) },

up to what moves in the features below. A few Newton steps at the nodes that integrate p_L find it
to the digits that people read; where there is no such fit they go up without end, and nothing is
said. To first order it is ½ (ĉ - c)ᵀ C⁻¹ (ĉ - c) with C the covariance of ξ, and noise alone gives
about one half of the number of features over a².
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from steradian.adequacy.calibration import (
    Calibrated,
    Calibration,
    Judged,
    judged,
    not_computed,
    refused_or,
)
from steradian.adequacy.leftover import (
    GriddedLeftover,
    Leftover,
    highest_degree,
    levels_through,
    moments_to_degree,
    sample_leftover,
)
from steradian.arguments import shown
from steradian.data.validation import as_numeric
from steradian.diagnostics import REFUSED, Diagnostic, MethodCode, PvalueMethod, at_level
from steradian.errors import DesignError, InvalidArgument, ResolutionError
from steradian.families.quadratics.polar_whitening import polar_whitening
from steradian.hierarchies.base import Hierarchy
from steradian.inference.effort import TakesLong
from steradian.inference.sample import Sample
from steradian.io.records import without_nan
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import COLLINEAR, GOOD_DEFICIT, NEGLIGIBLE_MASS, TINY
from steradian.text.table import Column, Table

Weights = Literal["unit", "sobolev"] | ArrayLike
ABOVE = 4  # degrees above the highest level looked at by default
_MOST_FEATURES = 2600  # whose covariance is formed: degree 50 on the two-sphere


@dataclass(frozen=True, eq=False, repr=False)
class Residuals(Calibrated, LevelFrame):
    """Δ_{L,K} of every level: the distance of data and fit in the degrees above the level.

    ``Δ² = Σ_{l=L+1}^K a_l Σ_r (ĉ_lr - c_lr)²`` with ĉ the moments of the data, c those of the
    fit, and orthonormal harmonics. The paper calls it R, which here is the length of a mean.

    Attributes
    ----------
    levels : array of int, (L,)
        1..L.
    degree : int
        K.
    degree_weights : array, (K,)
        a_1..a_K.
    values : array, (L,)
        Δ. NaN for levels that reach degree K.
    raw : array, (L,)
        Δ with cos kθ and sin kθ as they are, on the circle: smaller by √2. The same as
        ``values`` elsewhere.
    contributions : array, (L, K)
        What each degree adds to Δ².
    pvalue : array, (L,)
        Of Δ if the fit were the law, under the design; NaN with a diagnostic where it is not known.
    methods : tuple of PvalueMethod
        How each p-value was found.
    diagnostics : tuple of Diagnostic
        What speaks against them.
    """

    _columns: ClassVar[tuple[str, ...]] = ("values", "raw", "pvalue", "methods")

    degree: int
    degree_weights: Array
    contributions: Array
    raw_scale: float  # of orthonormal features over those that people write
    level_names: tuple[str, ...] = ()  # of levels 1..K where they are not degrees, else none

    @property
    def values(self) -> Array:
        """Δ with orthonormal harmonics, (L,)."""
        inside = self.levels < self.degree
        return np.where(inside, np.sqrt(self.contributions.sum(axis=1)), np.nan)

    @property
    def raw(self) -> Array:
        """Δ with the raw cos kθ and sin kθ on the circle, as the paper prints its R, (L,)."""
        return self.values / self.raw_scale

    def __repr__(self) -> str:
        shown = ", ".join(f"{r:.3g}" for r in self.values)
        return f"Residuals({self.kind} {self.degree}, {self.letter} = {shown})"

    @property
    def kind(self) -> str:
        """What is looked at one by one: degrees of harmonics, or levels of other features."""
        return "level" if self.level_names else "degree"

    @property
    def letter(self) -> str:
        """How it is called in print; R is the length of a mean and nothing else."""
        return "Δ"

    @property
    def through(self) -> str:
        """How far it looks, in words: "degree 6", or "level 2 (pairs of angles)"."""
        return self.at(self.degree)

    def at(self, degree: int) -> str:
        """One of 1..K in words."""
        return _named(self.level_names, degree)

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

    def plot(self, ax: Any = None) -> Any:
        """Draw what each degree leaves over on axes, new ones unless given (needs matplotlib)."""
        from steradian.plots import residual_spectrum

        return residual_spectrum(self, ax)

    def __str__(self) -> str:
        table = Table(
            Column("level", self.levels, width=5),
            Column(self.letter, self.values, ".4g", 9),
            *([Column("raw Δ", self.raw, ".4g", 9)] if self.raw_scale != 1.0 else []),
            Column("p", [one.pvalue for one in self.judged], ".3g", 9),
            Column(f"largest {self.kind}", list(map(self._largest, self.contributions)), "", 16,
                   left=True, gap=2),
            Column("method", list(map(str, self.methods)), left=True),
        )  # fmt: skip
        title = f"Residuals through {self.through}; design {self.design}"
        return "\n".join([title, str(table), *(f"! {one}" for one in self.diagnostics)])

    @staticmethod
    def _largest(contributions: Array) -> str:
        """The degree that is left over most, with its share."""
        total, top = contributions.sum(), int(np.argmax(contributions))
        return f"{top + 1} ({contributions[top] / total:.0%})" if total else "–"


def harmonic_residuals(
    sample: Sample, degree: int | None, weights: Weights, how: Calibration, *, from_level: int = 1
) -> Residuals:
    """Residuals of the levels of a sample, ``from_level`` on."""
    top, hierarchy = len(sample.nested.solutions), sample.hierarchy
    degree = default_degree(sample) if degree is None else _checked(degree, hierarchy)
    a = degree_weights(weights, hierarchy.space.dimension, degree)
    wide = levels_through(hierarchy, degree)
    assert wide is not None  # a degree that is reached
    seen = wide.expectations(moments_to_degree(sample, degree).stack(), degree)[0]
    look = _Look(sample, wide, a, seen, how)
    both = [look.of_level(level) for level in range(from_level, top + 1)]
    parts, found = np.array([one for one, _ in both]), tuple(one for _, one in both)
    levels = np.arange(from_level, top + 1)
    names = names_of_levels(wide)
    return Residuals(levels, found, sample.design, degree, a, parts, wide.raw_scale, names)


def names_of_levels(hierarchy: Hierarchy) -> tuple[str, ...]:
    """What levels are called where they are not the degrees of harmonics; else nothing."""
    return () if hierarchy.counts_degrees else hierarchy.level_names


def _named(names: tuple[str, ...], level: int) -> str:
    return f"level {level} ({names[level - 1]})" if names else f"degree {level}"


def default_degree(sample: Sample) -> int:
    """Four above the highest level, or what rows, moments, design and features allow."""
    wanted = len(sample.nested.solutions) + ABOVE
    if sample.directions is None:
        wanted = min(wanted, sample.moments.degree)
    if sample.design.known_covariance is not None:
        wanted = min(wanted, sample.hierarchy.levels)
    wanted = max(wanted, 2)
    while wanted > 1 and (
        levels_through(sample.hierarchy, wanted) is None or sample.untold(wanted) is not None
    ):
        wanted -= 1
    return wanted


def _checked(degree: int, hierarchy: Hierarchy) -> int:
    if isinstance(degree, bool) or not isinstance(degree, int | np.integer) or degree < 2:
        raise InvalidArgument(f"degree is {shown(degree)}; give a whole number above 1")
    wide = levels_through(hierarchy, int(degree))
    most = _MOST_FEATURES if hierarchy.family(1).has_rule else hierarchy.q(1) ** 2
    if wide is None or wide.q(int(degree)) > most:
        reached, space = highest_degree(hierarchy, most), hierarchy.space
        where = f"on the {space.name}" if names_of_levels(hierarchy) else f"in dimension {space.d}"
        raise InvalidArgument(
            f"degree is {degree}; give at most {reached} {where}: residuals of these "
            "features reach no further"
        )
    return int(degree)


def degree_weights(given: Weights, dimension: int, degree: int) -> Array:
    """a_1..a_K of a name or of numbers, (degree,).

    Sobolev weights are ``(1 + l(l + s - 1))^{-(s + 1)/2}`` in ``dimension`` s: l(l + s - 1) are the
    eigenvalues of the Laplacian on its unit sphere.
    """
    if isinstance(given, str):
        if given == "unit":
            return np.ones(degree)
        if given == "sobolev":
            ell = np.arange(1.0, degree + 1.0)
            return np.asarray((1.0 + ell * (ell + dimension - 1.0)) ** (-(dimension + 1) / 2.0))
        raise InvalidArgument(f"weights is {given!r}; choose 'unit', 'sobolev' or {degree} numbers")
    a = as_numeric(given, "weights").astype(np.float64)
    if a.shape != (degree,):
        raise InvalidArgument(
            f"weights have shape {a.shape}; give {degree} numbers, one per degree"
        )
    if not (np.isfinite(a) & (a >= 0.0)).all() or not a.any():
        raise InvalidArgument(f"weights are {a.tolist()}; give finite numbers >= 0, not all zero")
    return a


@dataclass(frozen=True, slots=True)
class _Look:
    """At what the levels of a sample leave over in the features of ``wide``."""

    sample: Sample
    wide: Hierarchy
    weights: Array  # (K,) a
    seen: Array  # (q_K,) ĉ
    how: Calibration

    @property
    def _kind(self) -> str:
        return "level" if names_of_levels(self.wide) else "degree"

    def of_level(self, level: int) -> tuple[Array, Judged]:
        """a_l |ĉ_l - c_l|² of each degree, (K,), and the p-value of their sum."""
        sample, how, degrees = self.sample, self.how, len(self.weights)
        if level >= degrees:
            said = Diagnostic("nothing_above", level, {"kind": self._kind, "through": degrees})
            return np.zeros(degrees), Judged(np.nan, PvalueMethod(MethodCode.NOTHING), (said,))
        try:
            left = sample_leftover(sample, self.wide, level, self.weights, how.patience)
        except TakesLong as error:
            return np.full(degrees, np.nan), not_computed(error)
        except (DesignError, ResolutionError) as error:
            refused = Judged(np.nan, REFUSED, (at_level(level, error.diagnostic),))
            return np.full(degrees, np.nan), refused
        squares = left.excess(self.seen) ** 2
        starts = np.concatenate([[0], np.cumsum(self.wide.dims[level:])[:-1]])
        contributions = np.concatenate([np.zeros(level), np.add.reduceat(squares, starts)])
        judge = partial(judged, sample, left, float(squares.sum()), how)
        asked = ("residual", self.wide, level, self.weights.tobytes(), how)
        answer = partial(refused_or, sample, level, how, judge)
        try:  # found once, whichever door asked first
            return contributions, sample.memo.once(asked, answer)
        except TakesLong as error:
            return contributions, not_computed(error)


_MOST = 2e8  # products of features at nodes in one step: a tenth of a second
_STEPS, _MANY_STEPS = 12, 60  # of any fit, and of one whose steps are quick
_SHORTEST = 1e-3  # of a Newton step that goes up
_READ = 0.002  # share of the information that nobody reads


def remaining_information(sample: Sample, wide: Hierarchy, level: int, seen: Array) -> float:
    """Nats that the features of ``wide`` above ``level`` would add, or NaN where nobody knows.

    ``seen`` (q_K,) are the moments of the data.
    """
    try:
        left = sample_leftover(sample, wide, level, np.ones(wide.levels))
    except (DesignError, ResolutionError):
        return np.nan
    each = left.by_rows
    return _by_score(sample, left) if each is None else _by_steps(sample, each, seen)


def _by_steps(sample: Sample, left: GriddedLeftover, seen: Array) -> float:
    away = left.excess(seen)
    family = left.hierarchy.family(left.level).resolved_by(sample.rung(left.level))
    if not (left.level and family.has_rule):
        return _first_order(left, away)
    points, mass = family.rule(left.lam, 2 * left.hierarchy.levels)
    kept = mass > NEGLIGIBLE_MASS
    if kept.sum() * (left.q + left.below) ** 2 > _MOST:
        return _first_order(left, away)
    rows = left.rows(points[kept][None])[0]
    target = np.concatenate([seen[: left.below] - left.mean[: left.below], away])
    return _dual_value(rows, np.log(mass[kept]), target)


def _first_order(left: GriddedLeftover, away: Array) -> float:
    """½ (ĉ - c)ᵀ C⁻¹ (ĉ - c), without what rounding alone makes of C."""
    values, axes = np.linalg.eigh(left.covariance)
    kept = values > values[-1] / COLLINEAR
    return 0.5 * float(((axes[:, kept].T @ away) ** 2 / values[kept]).sum())


def _dual_value(rows: Array, logs: Array, target: Array) -> float:
    """``max δ·target - log Σ mass exp(δ·rows)`` by a few Newton steps that only go up.

    NaN where it has no end: no law on these nodes holds more nats than the one on the rarest.
    """
    step = np.zeros(len(target))
    value, most = 0.0, -float(logs.min())
    work = rows.size * rows.shape[1]
    for _ in range(int(np.clip(_STEPS * _MOST / work, _STEPS, _MANY_STEPS))):
        tilted = logs + rows @ step
        share = np.exp(tilted - logsumexp(tilted))
        mean = share @ rows
        centred = rows - mean
        covariance = (centred * share[:, None]).T @ centred
        ridge = np.trace(covariance) / COLLINEAR
        if not ridge > TINY:  # the law has run into single nodes: no law has these moments
            return np.nan
        move = np.linalg.solve(covariance + ridge * np.eye(len(step)), target - mean)
        size = 1.0
        while size > _SHORTEST:
            tried = step + size * move
            found = float(tried @ target - logsumexp(logs + rows @ tried))
            if found > value:
                break
            size *= 0.5
        else:
            small = 0.5 * float(move @ (target - mean)) <= _READ * value + GOOD_DEFICIT
            return value if small else np.nan
        gained, step, value = found - value, tried, found
        if value > most:
            break
        if gained < _READ * value:
            return value
    return np.nan


def _by_score(sample: Sample, left: Leftover) -> float:
    """½ |r|² in closed form: level 1 and all quadratics in any dimension; NaN of sharp laws."""
    white = polar_whitening(left.hierarchy.space.d, sample.parameters(left.level))
    if not white.sound[0]:
        return np.nan
    m = sample.moments
    second = m.scatter / m.weight + np.outer(m.mean, m.mean)
    return 0.5 * float(white.score_of(m.mean[None], second[None])[0])
