"""Bootstraps: moments first, then one batched solve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from steradian.arguments import (
    checked_profile,
    one_of,
    open_share,
    seed_number,
    whole_number,
)
from steradian.data.directions import Directions
from steradian.data.stacks import moments_of_weightings
from steradian.designs.base import Units
from steradian.diagnostics import Diagnostic, distinct
from steradian.errors import DesignError
from steradian.fitting.nested import fit_levels
from steradian.inference import concerns
from steradian.inference.monte_carlo import MonteCarlo
from steradian.inference.null_samples import gap_replicates_of, multiplier_replicates
from steradian.inference.sample import Sample
from steradian.inference.scores import Scores, scores_of
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import EQUAL_WEIGHTS
from steradian.progress import drawn_chunks

if TYPE_CHECKING:
    from steradian.decomposition import Profile


def resampled_weights(units: Units, replicates: int, rng: np.random.Generator) -> Array:
    """Weightings (replicates, n) of sum one, drawn the way the design says.

    Rows of one law are drawn anew from the estimated law for every weight; units that brought
    their weights are drawn together with them, within strata one fewer than there are, and
    rescaled, for the sampled fraction too (Rao and Wu, JASA 83, 1988).
    """
    w = units.weights
    if units.fixed_weights:
        return _attached(w, replicates, rng)
    times = _times(units, replicates, rng)
    of_rows = times if units.labels is None else times[:, units.labels]
    drawn = of_rows * w
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def _attached(w: Array, replicates: int, rng: np.random.Generator) -> Array:
    """Every weight gets a row drawn at random."""
    n = len(w)
    if np.ptp(w) <= EQUAL_WEIGHTS / n:
        return rng.multinomial(n, np.full(n, 1.0 / n), replicates) / n
    steps = np.cumsum(w)
    steps[-1] = 1.0
    out = np.empty((replicates, n))
    for b in range(replicates):
        drawn = np.searchsorted(steps, rng.random(n), side="right")
        out[b] = np.bincount(drawn, weights=w, minlength=n)
    return out


def _times(units: Units, replicates: int, rng: np.random.Generator) -> Array:
    """How often each unit is drawn, (replicates, count)."""
    if units.strata is None:
        even = np.full(units.count, 1.0 / units.count)
        return rng.multinomial(units.count, even, replicates).astype(np.float64)
    out = np.zeros((replicates, units.count))
    for stratum in range(int(units.strata.max()) + 1):
        members = np.flatnonzero(units.strata == stratum)
        size = len(members)
        draws = rng.multinomial(size - 1, np.full(size, 1.0 / size), replicates)
        rest = np.sqrt(units.factors[members] * (size - 1.0) / size)  # root of what was not sampled
        out[:, members] = 1.0 - rest + rest * draws * (size / (size - 1.0))
    return out


Kind = Literal["design", "parametric", "multiplier"]
KINDS: tuple[Kind, ...] = ("design", "parametric", "multiplier")


_ROWS_PER_FEATURE = 10  # below it replicates may lie on the boundary, which their rows tell
_REPLICATES = 999  # unless another number is given
_A_SECOND = 2e6  # rows that are drawn and summed in one
_LONG = 1800.0  # seconds that nobody waits for unasked
_FIRST = 8  # replicates of the first piece, so that progress shows early; pieces double


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(LevelFrame):
    """Replicates of the gaps.

    Attributes
    ----------
    kind : str
        ``"design"``: the sample drawn again the way its design says; ``"parametric"``: samples
        of the fit below each level, so with a gap of zero there if that model is right;
        ``"multiplier"``: random signs for the units' scores, with a gap of zero whatever the law.
    gaps : array, (replicates, L)
        Gaps of the replicates, nats; NaN where a replicate has no fit.
    observed : array, (L,)
        Gaps of the sample; for ``"multiplier"``, whose replicates are score forms, its score
        statistic over a².
    diagnostics : tuple of Diagnostic
        What speaks against trusting a p-value or a standard error, as in `GapTests`.
    """

    _columns: ClassVar[tuple[str, ...]] = ("observed", "bias", "se", "pvalue")

    kind: Kind
    gaps: Array
    observed: Array
    seed: int
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def levels(self) -> IntArray:
        """1..L."""
        return np.arange(1, self.gaps.shape[1] + 1)

    @property
    def under_null(self) -> bool:
        """Whether the replicates have a gap of zero by construction."""
        return self.kind != "design"

    @property
    def se(self) -> Array:
        """Standard deviation of the replicates, (L,); of use when they are drawn by design."""
        return np.asarray(np.nanstd(self.gaps, axis=0, ddof=1))

    @property
    def bias(self) -> Array:
        """Mean of the replicates less the observed gaps, (L,)."""
        return np.asarray(np.nanmean(self.gaps, axis=0) - self.observed)

    @property
    def pvalue(self) -> Array:
        """(1 + #{replicates >= observed}) / (replicates + 1), (L,), under the null."""
        if not self.under_null:
            raise DesignError(
                "replicates drawn by design have the observed gaps, not zero ones; for p-values "
                "use kind='parametric' or 'multiplier'"
            )
        found = MonteCarlo(self.observed)
        found.add(self.gaps.T)
        return found.pvalues

    def interval(self, confidence: float = 0.95) -> tuple[Array, Array]:
        """Basic bootstrap interval, 2 I - quantiles, both ends cut at zero: two arrays (L,).

        Near zero, where replicates lie above the gap, it may shrink to nothing; `Profile.intervals`
        is the better answer there.
        """
        if self.under_null:
            raise DesignError(
                "these replicates have a gap of zero; for intervals use kind='design'"
            )
        tail = 0.5 * (1.0 - open_share(confidence, "confidence", 0.95))
        low, high = np.nanquantile(self.gaps, [tail, 1.0 - tail], axis=0)
        ends = 2.0 * self.observed - np.array([high, low])
        low, high = np.maximum(ends, 0.0)
        return low, high

    def plot(self, ax: Any = None) -> Any:
        """Draw the replicates of all gaps on axes, new ones unless given (needs matplotlib)."""
        from steradian.plots import bootstrap_replicates

        return bootstrap_replicates(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        return {
            "kind": self.kind,
            "observed": self.observed.tolist(),
            "gaps": self.gaps.tolist(),
            "seed": self.seed,
            "diagnostics": [one.to_dict() for one in self.diagnostics],
        }

    def __repr__(self) -> str:
        return f"Bootstrap({self.kind}, {len(self.gaps)} replicates, {self.gaps.shape[1]} levels)"


def bootstrap(
    profile: Profile, kind: Kind = "design", *, replicates: int | None = None, seed: int = 0
) -> Bootstrap:
    """Replicates of the gaps of a profile.

    Parameters
    ----------
    profile : Profile
        Of directions, with a design that has units.
    kind : {"design", "parametric", "multiplier"}
        Draw the sample again the way its design says (rows, ratios, clusters, stretches of a
        chain, primary units within strata); draw samples of the fit below each level; or give
        the units' scores random signs, with the damped weights of `Profile.tests`. The last two
        have a gap of zero and give p-values.
    replicates : int, optional
        How many; 999 unless given. Of so many rows that these would take more than half an hour,
        a number has to be given.
    seed : int
        Of the random numbers.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    >>> sr.bootstrap(p, replicates=200).gaps.shape
    (200, 2)
    """
    return bootstrap_gaps(checked_profile(profile).as_sample(), kind, replicates, seed)


def bootstrap_gaps(sample: Sample, kind: Kind, replicates: int | None, seed: int) -> Bootstrap:
    """Replicates of every gap of a sample."""
    one_of(kind, "kind", KINDS)
    seed, units = seed_number(seed), sample.units  # a design without units says so
    if replicates is None:
        replicates = _usual(sample, kind)
    replicates = whole_number(replicates, "replicates", least=2)
    observed = sample.nested.gaps[0]
    levels = range(1, len(observed) + 1)
    if kind == "design":
        gaps = _by_design(sample, replicates, seed)
    elif kind == "parametric":
        if units.random_weights:
            raise DesignError(
                f"samples of a fit are independent rows, not a {sample.design.name!r} sample; use "
                "kind='design' or 'multiplier'"
            )
        drawn = [gap_replicates_of(sample, level, replicates, seed) for level in levels]
        gaps = np.stack(drawn, axis=1)
    else:
        parts = [_signs(sample, level, replicates, seed) for level in levels]
        gaps = np.stack([drawn for drawn, _ in parts], axis=1)
        observed = np.array([score for _, score in parts])
    said = [
        *concerns.of_weights(sample),
        *(one for level in levels for one in _concerns(sample, level, kind)),
    ]
    return Bootstrap(kind, gaps, observed, seed, distinct(said))


def _usual(sample: Sample, kind: Kind) -> int:
    """999, refused where nobody would wait for them unasked."""
    rows = len(sample.rows.x) * (1 if kind == "design" else len(sample.nested.gaps[0]))
    if _REPLICATES * rows > _LONG * _A_SECOND:
        minutes, few = (
            _REPLICATES * rows / _A_SECOND / 60.0,
            max(2, round(600.0 * _A_SECOND / rows)),
        )
        raise DesignError(
            f"{_REPLICATES} replicates of {len(sample.rows.x):,} rows take some {minutes:.0f} "
            f"minutes; give replicates={_REPLICATES} if you mean it, {few} for ten minutes, or ask "
            "intervals() and tests() of the profile, which need none"
        )
    return _REPLICATES


def _by_design(sample: Sample, replicates: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    x, units = sample.rows.x, sample.units
    hierarchy = sample.hierarchy.up_to(len(sample.nested.solutions))
    few = len(x) < _ROWS_PER_FEATURE * sum(hierarchy.dims)
    parts = []
    for piece in drawn_chunks(replicates, len(x), "bootstrap by design", first=_FIRST):
        w = resampled_weights(units, piece.stop - piece.start, rng)
        moments = moments_of_weightings(x, w, hierarchy)
        support = partial(_drawn, sample.rows, w) if few else None
        parts.append(fit_levels(hierarchy, moments, support).gaps)
    return np.concatenate(parts)


def _drawn(rows: Directions, weights: Array, replicate: int) -> tuple[Array, Array]:
    """The distinct rows that a replicate has drawn, and their weights."""
    return Directions(rows.x, weights[replicate], space=rows.space).support()


def _signs(sample: Sample, level: int, replicates: int, seed: int) -> tuple[Array, float]:
    """Replicates of the score form of I, and its value."""
    scores = _scores(sample, level)
    kind = scores.settled("damped")
    drawn = np.concatenate(list(multiplier_replicates(scores, kind, replicates, seed)))
    a2 = sample.own_rate**2
    return drawn / a2, float(scores.statistic[0]) / a2


def _scores(sample: Sample, level: int) -> Scores:
    white = sample.whitening(level)
    phi = sample.features(sample.hierarchy) if white.formed else None
    return scores_of(sample.rows, sample.units, white, phi)


def _concerns(sample: Sample, level: int, kind: Kind) -> list[Diagnostic]:
    """The diagnostics of the test of a level that has these replicates."""
    scores, units = _scores(sample, level), sample.units
    why = concerns.unjudged if kind == "multiplier" else concerns.outweighed
    found = why(level, scores, units)
    out = [] if found is None else [found]
    if kind == "parametric":
        out += concerns.of_model(level, scores)
    if kind == "multiplier":
        settled = scores.settled("damped")
        out = out or concerns.of_scores(level, scores, settled, units, default=True)
        out += concerns.not_calibrated(level, scores, units)
    return out
