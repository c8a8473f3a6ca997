"""How much of each fit lies beyond the reach of the data, and how much of its gap that carries.

A fit is the law of largest entropy with the moments of the data, and at higher levels it may put a
mode where there are none: exact, and mostly not what people want to know. With the indicator of
what lies beyond reach its mass is ``∫ 1 dp_L``. Of the gap ``KL(p_L ‖ p_{L-1})``, the integral of
``p_L log(p_L / p_{L-1}) - p_L + p_{L-1} ≥ 0``, it carries what comes from there where the level
has *raised* the density: lowering it there is what data ask for.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from steradian.adequacy.reach import Reach
from steradian.diagnostics import Diagnostic, at_level
from steradian.errors import DesignError, SteradianError
from steradian.families.base import BringsRule
from steradian.fitting.maxent import MaxEntFit
from steradian.io.records import without_nan
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import ROUNDOFF, Array, IntArray
from steradian.numerics.tolerances import NOTHING
from steradian.progress import drawn_chunks
from steradian.significance.sample import Sample

DRAWS = 10_000
CARRIES = 0.25  # share of a gap from beyond the data that is worth saying
_RULE_OF_THREE = 3.0  # draws, none of which lies beyond: the mass is below 3 / n, 95 to 5
_HELD = 10  # times as many coordinates as elsewhere: `DRAWS` are held together
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
        lines = [
            f"Beyond the data: farther than {self.reach.spreads:.3g} local spreads from the "
            f"nearest row (median {self.reach.typical:.2g})",
            f"{'level':>5} {'mass':>9} {'of gap':>8}  by",
        ]
        for k, level in enumerate(self.levels):
            share = self.share_of_gap[k]
            shown = f"{share:>8.1%}" if np.isfinite(share) else f"{'–':>8}"
            lines.append(f"{level:>5} {self._mass(k):>9} {shown}  {self._by(k)}")
        said = (*self.diagnostics, *self.notes)
        return "\n".join([*lines, *(textwrap.fill(f"! {each}", _WIDTH) for each in said)])

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
