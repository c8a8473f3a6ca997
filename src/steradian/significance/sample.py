"""Sample: what inference needs to know about one profiled sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.resolution import Resolution
from steradian.designs import Design
from steradian.designs.units import Units
from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError, ResolutionError
from steradian.families.base import Family
from steradian.families.whitening import Whitening
from steradian.fitting.maxent import MaxEntFit
from steradian.fitting.nested import NestedFits
from steradian.fitting.solution import NO_RUNG
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.base import LevelsAreDegrees
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.tolerances import KEPT_BLUR
from steradian.references.base import reference_rows, reference_words, underlying
from steradian.significance.memo import Memo

_ABOVE = 4  # levels above the highest that residuals look at
_MOST_KEPT = 4_000_000  # features of rows: 32 MB


@dataclass(frozen=True, eq=False)
class Sample:
    """The moments and fits of a sample, how it came about, and its rows when they are at hand."""

    moments: Moments
    nested: NestedFits
    fits: tuple[MaxEntFit, ...]
    design: Design
    directions: Directions | None

    @property
    def hierarchy(self) -> Hierarchy:
        """The nested features."""
        return self.moments.hierarchy

    def parameters(self, level: int) -> Array:
        """Natural parameters of the fit of ``level``, (1, q); none at level 0.

        Refused where they do not hold the law: covariances from them would be made of rounding.
        """
        if not self.held_by_parameters(level):
            raise ResolutionError(
                level,
                "is so concentrated that its harmonic parameters do not hold it to rounding, and "
                "what was asked for is computed from them",
                "ask for fewer levels; density, draws and intervals are sound",
            )
        return self.nested.solutions[level - 1].lam if level else np.zeros((1, 0))

    def whitening(self, level: int) -> Whitening:
        """White features of ``level`` under the fit of the level below, a stack of one."""
        return self.memo.once(("white", level), lambda: self._whitening(level))

    def _whitening(self, level: int) -> Whitening:
        white = self.served(level, level - 1).whitening(self.parameters(level - 1))
        if not white.sound.all():
            raise ResolutionError(
                level,
                "cannot be tested: the fit below is so concentrated that the features of the level "
                "cannot be told apart in double precision",
                "ask for fewer levels, or look at the rows of largest weight",
            )
        return white

    @cached_property
    def memo(self) -> Memo:
        """What was worked out about it before."""
        return Memo()

    def rung(self, level: int) -> int:
        """Of the ladder of rules, that served the fit of ``level``; `NO_RUNG` without one."""
        return int(self.nested.solutions[level - 1].rungs[0]) if level else NO_RUNG

    def served(self, level: int, fit: int) -> Family:
        """The family of ``level`` on the rule that served the fit of level ``fit``."""
        return self.hierarchy.family(level).resolved_by(self.rung(fit))

    def features(self, hierarchy: Hierarchy) -> Array | None:
        """Features of the rows, (n, q), formed once; None where they are too many to be kept.

        ``hierarchy`` has the levels of the sample, or wider ones of the same kind.
        """
        q = hierarchy.q(hierarchy.levels)
        if self.rows.n * q > _MOST_KEPT or not hierarchy.family(hierarchy.levels).forms_matrices:
            return None
        held = self.__dict__.get("_held")
        if (
            held is None
            or held[0].levels < hierarchy.levels
            or (held[0].up_to(hierarchy.levels) != hierarchy)
        ):
            held = hierarchy, np.asarray(hierarchy.features(self.rows.x))
            self.__dict__["_held"] = held
        return np.asarray(held[1][:, :q])

    @cached_property
    def log_densities(self) -> Array:
        """Of the fits of levels 0..L at the rows, (n, L + 1)."""
        return np.stack([self._log_density(fit) for fit in self.fits], axis=1)

    def _log_density(self, fit: MaxEntFit) -> Array:
        level = fit.level
        own = level == 0 or self.nested.solutions[level - 1].laws[0] is not None
        if own or self.hierarchy.family(level).natural(fit.lam) is not None:
            return fit.logpdf(self.rows, measure="reference")  # by a law that lam does not hold
        phi = self.features(self.hierarchy)
        if phi is None:
            return fit.logpdf(self.rows, measure="reference")
        return phi[:, : len(fit.lam)] @ fit.lam - fit.psi

    @property
    def formed_levels(self) -> int:
        """How many of the fitted levels, from the first, form matrices of their features."""
        levels = range(1, len(self.nested.solutions) + 1)
        formed = [self.hierarchy.family(level).forms_matrices for level in levels]
        return (*formed, False).index(False)

    def held_by_parameters(self, level: int) -> bool:
        """Whether the harmonic parameters of a level determine its law."""
        if level == 0 or self.nested.solutions[level - 1].laws[0] is None:
            return True
        size = float(np.abs(self.nested.solutions[level - 1].lam).sum())
        return ROUNDOFF * size <= KEPT_BLUR

    def refit_work(self, level: int) -> float:
        """Numbers to be multiplied to fit a sample like this one at ``level`` again.

        Nothing where batches of samples are fitted on one grid or in closed form; what one
        fit on a mesh of its own takes otherwise.
        """
        if level == 0 or self.nested.solutions[level - 1].laws[0] is None:
            return 0.0
        found = self.nested.solutions[level - 1]
        return float(found.nodes[0]) * found.lam.shape[1] ** 2

    @cached_property
    def units(self) -> Units:
        """The independent units of the rows."""
        return self.design.units_for(self.rows, self._watched)

    def _watched(self, x: Array) -> Array:
        """Features of the levels and of those above that residuals look at."""
        seen = self.hierarchy
        wide = seen.wider(seen.levels + _ABOVE) or seen
        return wide.features(x)

    @cached_property
    def resolution(self) -> Resolution:
        """How many values the rows can take; not limited where they are not at hand."""
        if self.directions is None:
            return Resolution()
        return Resolution.of(self.directions, underlying(self.hierarchy.space))

    def untold(self, through: int) -> Diagnostic | None:
        """Why levels up to ``through`` are not all seen on the values that rows take.

        Names the first that is not; None where all are.
        """
        seen = self.resolution
        if np.isinf(seen.values):
            return None
        for level in range(1, through + 1):
            wide = self.hierarchy
            wide = wide if level <= wide.levels else wide.wider(level) or wide
            if not seen.tells(wide.q(min(level, wide.levels))):
                kind = "degrees" if isinstance(wide, LevelsAreDegrees) else "levels"
                data = {"step": float(seen.step), "values": float(seen.values)}
                return Diagnostic("coarse_values", data={**data, "kind": kind, "first": level})
        return None

    @property
    def rows(self) -> Directions:
        """The rows, which sums alone cannot replace."""
        if self.directions is None:
            self.check_design()
            raise DesignError(
                "this profile was made from moments, and what was asked for needs the rows; "
                "profile the directions instead"
            )
        return self.directions

    @property
    def has_rows(self) -> bool:
        """Whether rows are at hand and the design speaks of them."""
        return self.directions is not None and self.design.has_units

    @property
    def sentence(self) -> str:
        """What the design assumes and, where it matters, found."""
        note = self.units.note if self.has_rows else ""
        words = reference_words(self.hierarchy.space)
        relative = f"; relative to {words}" if words else ""
        return self.design.sentence + (f" ({note})" if note else "") + relative

    def check_design(self) -> None:
        """Raise `DesignError` where the design defines no sampling law."""
        if not self.design.defines_inference:
            raise self.design.refusal()

    @property
    def rate(self) -> float:
        """a, with a² = a_n² n₀ / (a_n² + n₀) where the reference is a sample of n₀ rows itself.

        Under the null the moments of data and reference are both noise about the same numbers,
        and what is tested is their difference.
        """
        own = self.own_rate
        return float(own / np.sqrt(1.0 + own**2 / reference_rows(self.hierarchy.space)))

    @property
    def own_rate(self) -> float:
        """a_n, of the rows or sums alone."""
        self.check_design()
        return self.units.rate if self.has_rows else self.design.rate_from_sums(self.moments)

    @property
    def own_share(self) -> float:
        """What part of the variance of a difference from the reference is the sample's own."""
        return (self.rate / self.own_rate) ** 2

    def covariance(self, level: int, centre: Array | None = None) -> Array:
        """Σ of a_n (m̂ - m) for the features of ``level`` from sums alone, (p, p).

        ``centre`` is the mean the features are taken about; by default their own.
        """
        self.check_design()
        p = self.hierarchy.q(level)
        sigma = self.design.known_covariance
        if sigma is not None:
            top = self.hierarchy.q(self.hierarchy.levels)
            if len(sigma) < top:
                raise DesignError(
                    f"covariance is {len(sigma)} × {len(sigma)}; the {self.hierarchy.levels} "
                    f"levels have {top} features"
                )
            return sigma[:p, :p]
        if not self.design.from_sums:
            raise DesignError(
                f"design {self.design.name!r} needs the rows, and this profile was made from "
                "moments; profile the directions instead"
            )
        found = self.covariance_of_sums(level, centre)
        if found is None:
            raise DesignError(
                f"sums of {self.hierarchy} hold no covariance of level {level}, which needs the "
                "rows; profile the directions instead of moments"
            )
        return found

    def covariance_of_sums(self, level: int, centre: Array | None = None) -> Array | None:
        """Σ = a² Σ_i w_i² (φ_i - μ)(φ_i - μ)ᵀ / (Σ w)², (p, p), where the sums hold products."""
        m, p = self.moments, self.hierarchy.q(level)
        squares = np.concatenate([[m.weight_sq], m.total_sq])
        second = self.hierarchy.second_moments(level, squares)  # Σ w² (1, φ)(1, φ)ᵀ
        if second is None:
            return None
        about = m.features[:p] if centre is None else centre
        shift = np.eye(p + 1)[1:].copy()
        shift[:, 0] = -about
        total = shift @ second @ shift.T / m.weight**2
        return np.asarray(self.own_rate**2 * total)
