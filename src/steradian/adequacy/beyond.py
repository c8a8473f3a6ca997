"""How much of each fit lies beyond the reach of the data, and how much of its gap that carries.

A fit is the law of largest entropy with the moments of the data, and at higher levels it may put a
mode where there are none: exact, and mostly not what people want to know. With the indicator of
what lies beyond reach its mass is ``∫ 1 dp_L``. Of the gap ``KL(p_L ‖ p_{L-1})``, the integral of
``p_L log(p_L / p_{L-1}) - p_L + p_{L-1} ≥ 0``, it carries what comes from there where the level
has *raised* the density: lowering it there is what data ask for.

**Reach** is some local spreads about the nearest row. The local spread of a row is the distance
within which the others hold the share ½ / √n of the weight, Kish's effective size for n: of equal
weights, the distance to the √n/2-th neighbour. Rows that are the same count once, with their
weights together, so that a spread is zero for none. The few rows that are farthest from all
others, less than that share, would reach everywhere: their spread is at most twice the largest of
the rest.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, ClassVar

import numpy as np

from steradian.data.directions import Directions
from steradian.diagnostics import Diagnostic, at_level
from steradian.errors import DesignError, SteradianError
from steradian.families.base import BringsRule
from steradian.fitting.maxent import MaxEntFit
from steradian.hierarchies.base import Hierarchy
from steradian.inference.sample import Sample
from steradian.io.records import without_nan
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.neighbours import nearest
from steradian.numerics.tolerances import EQUAL_WEIGHTS, NOTHING
from steradian.progress import drawn_chunks
from steradian.spaces.base import has_no_sign
from steradian.text.table import Column, Table

_SPREADS, _IN_ONE_DIMENSION = 2.0, 8.0  # see `spreads_reached`
_MOST_ROWS = 2000  # whose spreads are found; of more a sample tells
_MOST_PRODUCTS = 1_000_000_000  # of their coordinates, rows by rows
_OUTLYING = 2.0  # times the largest spread of all but the few farthest rows
_UNEQUAL = 4  # times as many neighbours are looked at where weights differ
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Balls about the rows of a sample, as the features of its hierarchy see them.

    Attributes
    ----------
    points : array, (m, k)
        Distinct rows, as the hierarchy sees them.
    radius : array, (m,)
        How far each reaches, in the units of the rows.
    spreads : float
        How many local spreads that are.
    """

    hierarchy: Hierarchy
    points: Array
    radius: Array
    spreads: float

    @classmethod
    def of(cls, rows: Directions, hierarchy: Hierarchy) -> Reach:
        """The reach of some rows, or of a sample of very many."""
        x, weights = _some(rows).support()
        seen, weights = _distinct(hierarchy.seen(x), weights)
        both = has_no_sign(hierarchy.space)
        spread = _spreads(np.vstack([seen, -seen]) if both else seen, seen, weights)
        whole = x.shape[1] == seen.shape[1]
        spreads = spreads_reached(hierarchy.space.dimension if whole else seen.shape[1])
        return cls(hierarchy, seen, spreads * spread, spreads)

    def contains(self, x: Array) -> BoolArray:
        """Whether points ``x`` (n, d) of the space are within reach of the nearest row, (n,)."""
        seen, points = self.hierarchy.seen(x), self.points
        if has_no_sign(self.hierarchy.space):
            points = np.vstack([points, -points])
        distance, which = nearest(points, seen, 1)
        return np.asarray(distance[:, 0] <= self.radius[which[:, 0] % len(self.points)])

    @property
    def typical(self) -> float:
        """The median radius."""
        return float(np.median(self.radius))


def spreads_reached(dimension: int) -> float:
    """2 + 8 / k local spreads in k dimensions: 10 on a line, 6 on a surface, some 2 in many.

    On a surface a normal cloud of 500 rows then holds all but 1e-9 or less of its own fit, so that
    more than that is no tail; in many dimensions distances are much alike, and twice the
    distance to a neighbour is far away.
    """
    return _SPREADS + _IN_ONE_DIMENSION / dimension


def _some(rows: Directions) -> Directions:
    """All rows, or a random sample of very many."""
    most = min(_MOST_ROWS, int(sqrt(_MOST_PRODUCTS / rows.d)))
    if rows.n <= most:
        return rows
    rng = np.random.default_rng(_SEED)
    heavy = np.flatnonzero(rows.weights > 0.0)
    kept = np.zeros(rows.n, dtype=bool)
    kept[rng.choice(heavy, size=min(most, len(heavy)), replace=False)] = True
    return rows.take(kept)


def _distinct(seen: Array, weights: Array) -> tuple[Array, Array]:
    """Rows that the features tell apart, and what each weighs."""
    points, which = np.unique(seen, axis=0, return_inverse=True)
    return points, np.bincount(which.ravel(), weights=weights).astype(np.float64)


def _spreads(points: Array, seen: Array, weights: Array) -> Array:
    """The local spread of every row ``seen`` (m, k) among ``points``, (m,).

    ``points`` are the rows, and after them their antipodes where these are the same.
    """
    m = len(seen)
    if m == 1:
        return np.zeros(1)
    share = 0.5 * sqrt(float(weights @ weights))  # ½ / √ESS of weights of sum one
    room = 1 if np.ptp(weights) <= EQUAL_WEIGHTS else _UNEQUAL
    count = min(m, room * ceil(share * m) + 2)
    distance, which = nearest(points, seen, count)
    others = np.where(which % m == np.arange(m)[:, None], 0.0, weights[which % m])
    enough = np.cumsum(others, axis=1) >= share - m * ROUNDOFF
    enough[:, -1] = True
    spread = np.take_along_axis(distance, np.argmax(enough, axis=1)[:, None], axis=1)[:, 0]
    return np.minimum(spread, _OUTLYING * _upper(spread, weights, share))


def _upper(spread: Array, weights: Array, share: float) -> float:
    """The largest spread of all rows but the farthest, which hold less than ``share``."""
    order = np.argsort(spread)[::-1]
    beyond = np.cumsum(weights[order]) < share
    return float(spread[order][min(int(beyond.sum()), len(spread) - 1)])


CARRIES = 0.25  # share of a gap from beyond the data that is worth saying
_RULE_OF_THREE = 3.0  # draws, none of which lies beyond: the mass is below 3 / n, 95 to 5
_HELD = 10  # times as many coordinates as elsewhere: those of `Profile.beyond` are held together
_WIDTH = 80


@dataclass(frozen=True, slots=True, eq=False)
class Beyond(LevelFrame):
    """The mass of every fit beyond the reach of the data; ``print`` shows it level by level.

    Attributes
    ----------
    levels : array of int, (L,)
        1..L.
    mass : array, (L,)
        Of the fit, farther from the nearest row than some of its local spreads. NaN where
        nothing integrates against the law, and `notes` say why.
    share_of_gap : array, (L,)
        Of I_L, from where the level has raised the density beyond reach; 0 to 1. NaN for a gap
        that is zero to rounding.
    draws : array of int, (L,)
        How many exact draws of the fit were counted; 0 where a rule of nodes integrates.
    reach : Reach
        What counts as within reach; ``reach.contains(x)`` asks it of points.
    notes : tuple of Diagnostic
        Why a level has no number.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.profile(sr.examples.load("mcmurdo"), levels=2).beyond().mass.tolist()
    [0.0, 0.0]
    """

    _columns: ClassVar[tuple[str, ...]] = ("mass", "share_of_gap", "draws", "resolution")

    levels: IntArray
    mass: Array
    share_of_gap: Array
    draws: IntArray
    reach: Reach
    notes: tuple[Diagnostic, ...] = ()

    @property
    def resolution(self) -> Array:
        """The least mass that would have been seen, (L,): 3 / draws, or rounding by a rule."""
        return np.where(self.draws > 0, _RULE_OF_THREE / np.maximum(self.draws, 1), ROUNDOFF)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Levels whose gap comes mostly, or to a good part, from beyond the data."""
        found = np.flatnonzero(np.nan_to_num(self.share_of_gap) >= CARRIES)
        every = zip(self.levels.tolist(), self.share_of_gap, self.mass, strict=True)
        known = [
            {"of_level": level, "share": float(share), "mass": float(mass)}
            for level, share, mass in every
        ]
        return tuple(Diagnostic("gap_beyond_data", data=known[k]) for k in found)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        return without_nan(
            {
                "levels": self.levels.tolist(),
                "mass": self.mass.tolist(),
                "share_of_gap": self.share_of_gap.tolist(),
                "draws": self.draws.tolist(),
                "resolution": self.resolution.tolist(),
                "spreads": self.reach.spreads,
                "typical_reach": self.reach.typical,
                "notes": [one.to_dict() for one in self.notes],
                "diagnostics": [one.to_dict() for one in self.diagnostics],
            }
        )

    def __repr__(self) -> str:
        return f"Beyond({', '.join(f'{m:.2g}' for m in self.mass)} of the mass)"

    def __str__(self) -> str:
        count = range(len(self.levels))
        table = Table(
            Column("level", self.levels, width=5),
            Column("mass", [self._mass(k) for k in count], width=9),
            Column("of gap", self.share_of_gap, ".1%", 8, dash=True),
            Column("by", [self._by(k) for k in count], left=True, gap=2),
        )
        title = (
            f"Beyond the data: farther than {self.reach.spreads:.3g} local spreads from the "
            f"nearest row (median {self.reach.typical:.2g})"
        )
        said = (*self.diagnostics, *self.notes)
        return "\n".join(
            [title, str(table), *(textwrap.fill(f"! {each}", _WIDTH) for each in said)]
        )

    def _mass(self, k: int) -> str:
        if not np.isfinite(self.mass[k]):
            return "–"
        least = self.resolution[k] if not (self.draws[k] and self.mass[k]) else 0.0
        return f"< {least:.0e}" if self.mass[k] < least else f"{self.mass[k]:.2g}"

    def _by(self, k: int) -> str:
        if not np.isfinite(self.mass[k]):
            return "nothing"
        return f"{self.draws[k]} draws" if self.draws[k] else "a rule"


def beyond_data(sample: Sample, draws: int, seed: int) -> Beyond:
    """What lies beyond the data of a sample; by so many draws where no rule integrates, if any."""
    if sample.directions is None:
        raise DesignError(
            "this profile was made from moments, which do not tell where the data are; profile "
            "the directions instead"
        )
    rows = sample.directions
    reach = sample.memo.once("reach", lambda: Reach.of(rows, sample.hierarchy))
    found, notes = [], []
    for fit in sample.fits[1:]:
        try:
            found.append(_level(sample, fit, reach, draws, np.random.default_rng(seed)))
        except SteradianError as error:
            found.append((np.nan, np.nan, 0))
            notes.append(at_level(fit.level, error.diagnostic))
    mass, share, counts = (np.array(column) for column in zip(*found, strict=True))
    levels = np.arange(1, len(found) + 1)
    return Beyond(levels, mass, share, counts.astype(np.int64), reach, tuple(notes))


def _level(
    sample: Sample, fit: MaxEntFit, reach: Reach, draws: int, rng: np.random.Generator
) -> tuple[float, float, int]:
    """Mass beyond, share of the gap, and how many draws it took."""
    known = sample.memo.once(("nodes", fit.level), lambda: _rule(sample, fit))
    if known is None and not draws:
        return np.nan, np.nan, 0
    beyond, gain = 0.0, 0.0
    for x, mass in [known] if known is not None else _drawn(fit, draws, rng):
        far = ~reach.contains(x)
        rise = _log_density(fit, x[far]) - _log_density(sample.fits[fit.level - 1], x[far])
        raised = rise > 0.0
        beyond += float(mass[far].sum())
        gain += float(mass[far][raised] @ (rise[raised] + np.expm1(-rise[raised])))
    share = min(gain / fit.gap, 1.0) if fit.gap > NOTHING else np.nan
    return beyond, share, 0 if known is not None else draws


def _drawn(fit: MaxEntFit, draws: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """Draws of a fit and their masses, some at a time."""
    held = fit.hierarchy.space.d // _HELD
    for piece in drawn_chunks(draws, held, f"draws of the fit of level {fit.level}"):
        count = piece.stop - piece.start
        yield fit.sample(count, rng), np.full(count, 1.0 / draws)


def _rule(sample: Sample, fit: MaxEntFit) -> tuple[Array, Array] | None:
    """Nodes (N, d) and masses (N,) of a fit, those that carry none left out; None without any."""
    law = sample.nested.solutions[fit.level - 1].laws[0]
    family = sample.served(fit.level, fit.level)
    if isinstance(law, BringsRule):
        x, mass = law.rule()
    elif family.has_rule and sample.held_by_parameters(fit.level):
        x, mass = family.rule(fit.lam, fit.level)
    else:
        return None
    felt = mass > 0.0
    return x[felt], mass[felt]


def _log_density(fit: MaxEntFit, x: Array) -> Array:
    return fit.law.logpdf(x) if fit.level else np.zeros(len(x))
