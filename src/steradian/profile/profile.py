"""Profile: what people hold. A façade over the nested fits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.notation import Reading
from steradian.designs import Design
from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError, InvalidArgument
from steradian.fitting.fitted import Numerics, fits_of, numerics_of
from steradian.fitting.maxent import MaxEntFit
from steradian.fitting.nested import NestedFits
from steradian.fitting.shrinkage import Shrinkage
from steradian.inference.bias import noise_floor
from steradian.inference.effort import SOON, Patience
from steradian.inference.gap_tests import (
    GapTests,
    UniformDraws,
    Uniformity,
    gap_tests,
    uniformity_tests,
)
from steradian.inference.intervals import (
    GapIntervals,
    IntervalMethod,
    gap_intervals,
    interval_work,
)
from steradian.inference.level_tests import Method, Null, Options, Statistic
from steradian.inference.sample import Memo, Sample, SharedMemo
from steradian.inference.scores import Covariance
from steradian.io.frames import frame_of_levels
from steradian.numerics.arrays import Array, IntArray
from steradian.profile.adequacy_methods import AdequacyMethods
from steradian.profile.record import record_of
from steradian.profile.spectrum import Spectrum, spectrum_of
from steradian.profile.summary import summarise
from steradian.references.base import reference_words
from steradian.spaces.unit_vectors import has_unit_rows


@dataclass(frozen=True, eq=False, repr=False)
class Profile(AdequacyMethods):
    """The geometric information decomposition of one weighted sample.

    Attributes
    ----------
    levels, dims : arrays of int, (L,)
        1..L, and the features each level adds.
    deficits, gaps, uncertainty : arrays, (L,)
        D_L, I_L = D_L - D_{L-1} = KL(p_L ‖ p_{L-1}) in nats, and U_L = exp(-D_L).
    noise, debiased : arrays, (L,)
        What noise alone adds to each gap on average, and the gaps less that.
    fits : tuple of MaxEntFit
        ``fits[l]`` for l = 0 (uniform) … L.
    moments : Moments
        All the fits have seen of the data.
    nested : NestedFits
        What the solver found, as a stack of one.
    numerics : Numerics
        Certificates of every level.
    stopped : str
        Why there is no higher level, when fewer exist than the default; else empty.
    shrinkage : Shrinkage or None
        What was mixed into the data; None for exact GID of the data themselves.
    ambient : int
        Dimension the data were given in; larger than ``d`` after `Directions.within_span`.
    elapsed : float
        Seconds it took.
    design : Design
        How the sample came about; decides what standard errors and p-values mean.
    directions : Directions or None
        The rows, None when the profile was made from moments.
    chosen : int or None
        How many levels ``levels="auto"`` chose; 0 where none adds more than noise, and level 1 is
        kept to show how little. None where a number was given.
    """

    moments: Moments
    nested: NestedFits
    stopped: Diagnostic | None
    shrinkage: Shrinkage | None
    ambient: int
    elapsed: float
    design: Design
    directions: Directions | None
    chosen: int | None = None

    @cached_property
    def fits(self) -> tuple[MaxEntFit, ...]:
        """``fits[l]`` for l = 0 (uniform) … L."""
        return fits_of(self.moments, self.nested, self.shrinkage)

    @cached_property
    def numerics(self) -> Numerics:
        """Certificates of every level."""
        return numerics_of(self.nested, self.elapsed)

    @property
    def reading(self) -> Reading | None:
        """What was understood of the source of the rows, None where that was an array."""
        return self.moments.reading if self.directions is None else self.directions.reading

    @property
    def levels(self) -> IntArray:
        """1..L."""
        return np.arange(1, len(self.nested.solutions) + 1)

    @property
    def dims(self) -> IntArray:
        """Features each level adds, q_L - q_{L-1}."""
        return np.array(self.moments.hierarchy.dims)

    @property
    def deficits(self) -> Array:
        """D_L = KL(p_L ‖ uniform), nats."""
        return self.nested.deficits[0]

    @property
    def gaps(self) -> Array:
        """I_L = D_L - D_{L-1} = KL(p_L ‖ p_{L-1}), nats. Never clipped."""
        return self.nested.gaps[0]

    @property
    def uncertainty(self) -> Array:
        """U_L = exp(-D_L)."""
        return self.nested.uncertainty[0]

    @property
    def noise(self) -> Array:
        """What noise alone adds to each gap on average, nats; NaN where nothing tells.

        About (q_L - q_{L-1}) / 2n for independent rows, more where quadratics are many for the
        rows; Kish's size for n with fixed weights; the estimated bias of the gap under other
        designs. NaN for descriptive weights and shrunk data.
        """
        if self.shrinkage is not None:
            return np.full(len(self.levels), np.nan)
        return self._answers.once("noise", lambda: noise_floor(self._sample))

    @property
    def debiased(self) -> Array:
        """The gaps less their `noise`, nats; not above zero where noise explains a gap."""
        return self.gaps - self.noise

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.moments.n

    @property
    def d(self) -> int:
        """Ambient dimension."""
        return self.moments.hierarchy.space.d

    @property
    def ess(self) -> float:
        """Kish's effective sample size: weight concentration, not sampling precision."""
        return self.moments.ess

    @property
    def resultant(self) -> float:
        """Mean resultant length R of what was fitted: of the data, or of the mixed law."""
        mean = self.fits[1].mean()
        if not self.has_mean:
            raise InvalidArgument(f"there is no one mean length {self._where}")
        return float(np.linalg.norm(mean))

    @property
    def _where(self) -> str:
        return f"on the {self.moments.hierarchy.space.name}"

    @property
    def has_mean(self) -> bool:
        """Whether points have one mean direction; axes have none, and tori one for each angle."""
        hierarchy = self.moments.hierarchy
        known = hierarchy.coordinates(self.fits[1].moments) is not None
        return known and has_unit_rows(hierarchy.space)

    @property
    def has_kappa(self) -> bool:
        """Whether the fit of level 1 has a concentration: that of a von Mises-Fisher law."""
        return self.has_mean and not reference_words(self.moments.hierarchy.space)

    @property
    def kappa(self) -> float:
        """Concentration of the level-1 (von Mises-Fisher) fit."""
        found = self.fits[1].kappa
        if not self.has_kappa:
            raise InvalidArgument(f"there is no one concentration {self._where}")
        return found

    def tests(
        self,
        null: Null = "moment",
        statistic: Statistic = "score",
        covariance: Covariance | None = None,
        method: Method | None = None,
        *,
        replicates: int = 999,
        seed: int = 0,
    ) -> GapTests:
        """Test, level by level, whether the gap is zero in the law behind the sample.

        Parameters
        ----------
        null : {"moment", "model"}
            ``"moment"``: the level's moments are those of the fit below, whatever the law.
            ``"model"``: the law is the fit below (designs iid and fixed only).
        statistic : {"score", "gap"}
            The score form, which needs no fit of the level, or the fitted gap.
        covariance : {"damped", "tilted", "null", "empirical"}, optional
            How the spread of the scores under the moment null is estimated; by default
            ``"damped"`` for the score and ``"null"`` for the gap. ``"tilted"`` is the plain tilt,
            for comparison.
        method : {"exact", "simulate", "bootstrap"}, optional
            Exact tail of the null law (recalibrated by samples of the fit below where rows are
            few per feature or one has a high leverage), simulated tail, or bootstrap: parametric
            for the model null, multipliers for the moment null. By default exact where that holds.
        replicates, seed : int
            Of simulations and bootstraps: how many at most. Those of fits stop where fifty are as
            extreme as the sample, recalibration where ten are.

        Raises
        ------
        DesignError
            The design defines no p-value, or too few units for the features.
        """
        options = Options(null, statistic, covariance, method, replicates, seed)
        return self._answers.once(options, lambda: gap_tests(self.as_sample(), options))

    def intervals(
        self, confidence: float = 0.95, *, method: IntervalMethod = "noncentral"
    ) -> GapIntervals:
        """Standard errors, intervals and debiased values of the gaps; D and U besides.

        ``method`` is ``"noncentral"`` (a scaled non-central χ² law, inverted), ``"sqrt"``
        (normal for √I) or ``"wald"`` (normal for I).
        """
        return self._answers.once(
            ("intervals", confidence, method),
            lambda: gap_intervals(self.as_sample(), confidence, method),
        )

    @property
    def spectrum(self) -> Spectrum:
        """Gaps per degree with noise floor and intervals, as a power spectrum is read."""
        return self._answers.once("spectrum", lambda: spectrum_of(self))

    def uniformity(self, *, replicates: int = 9999, seed: int = 0) -> Uniformity:
        """Test uniformity through each level, beside the classical statistics it contains.

        With fewer than ten rows per feature a p-value is where the score form stands among those
        of up to ``replicates`` uniform samples, drawn from ``seed``.
        """
        draws = UniformDraws(replicates, seed)
        return self._answers.once(
            ("uniformity", draws), lambda: uniformity_tests(self.as_sample(), draws)
        )

    def as_sample(self) -> Sample:
        """What inference needs to know of it; refused for shrunk data."""
        if self.shrinkage is not None:
            raise DesignError(
                "the fits are of shrunk data, and inference is about the data themselves; "
                "profile them without shrinkage"
            )
        return self._sample

    @cached_property
    def _answers(self) -> Memo:  # results do not change, so that none is worked out twice
        return SharedMemo()

    @cached_property
    def _sample(self) -> Sample:  # its units are found once, whatever asks for them
        return Sample(self.moments, self.nested, self.fits, self.design, self.directions)

    def tests_within(self, patience: float) -> GapTests:
        """`tests` as far as they take no more work than ``patience``, counted as in `effort`.

        Levels beyond it are not computed: they have NaN and say so. What was tested before is kept.
        """
        full = Options()
        if self._answers.known(full):
            return self.tests()
        found = self._answers.once(
            ("tests within", patience),
            lambda: gap_tests(self.as_sample(), Options(patience=Patience(patience))),
        )
        return found if found.later else self.tests()

    def intervals_within(self, patience: float) -> GapIntervals:
        """`intervals`, or `TakesLong` where they take more work and were not asked for before."""
        if not self._knows_intervals:
            Patience(patience, "intervals()").begin(None, interval_work(self.as_sample()))
        return self.intervals()

    @property
    def _knows_intervals(self) -> bool:
        return self._answers.known(("intervals", 0.95, "noncentral"))

    def summary(self, *, verbose: bool = False, patience: float = SOON) -> str:
        """The text that ``print`` shows.

        Parameters
        ----------
        verbose : bool
            Also how every number was obtained.
        patience : float
            Work that p-values may take, ten million a second. What takes more is not computed:
            call `tests`, and the summary has it.
        """
        known = self._answers.known(Options()), self._knows_intervals, self._knows_residuals
        return self._answers.once(
            ("summary", patience, verbose, known),
            lambda: summarise(self, patience, verbose=verbose),
        )

    def to_dict(self) -> dict[str, Any]:
        """Every number of the profile as plain lists, ready for JSON, with its `trust`."""
        return {**record_of(self), "trust": self.trust().to_dict()}

    def to_frame(self) -> Any:
        """One row per level as a pandas frame (pandas must be installed)."""
        return frame_of_levels(record_of(self))

    def plot(self, ax: Any = None) -> Any:
        """Draw the gaps with intervals, noise floor and p-values, and return their axes.

        Without axes, beside a picture of the data and of the highest level where the space has
        one. `steradian.plots` has every other picture. Needs matplotlib.
        """
        from steradian.plots import gaps, overview

        return overview(self) if ax is None else gaps(self, ax)

    def report(self, path: str | Path, *, title: str = "", call: str = "") -> Path:
        """Write one self-contained HTML file that can be sent to a colleague; its path.

        It holds the verdict in words, a picture of the data and of every level, tests, intervals,
        residuals, sensitivity, numerics, a paragraph of methods and what made it. It fetches and
        sends nothing. Needs the extra ``report``.

        Parameters
        ----------
        path : str or Path
            Of the file, ending in ``.html``.
        title : str
            What the data are; by default the name of their source.
        call : str
            How the profile was asked for, shown as it is.
        """
        from steradian.profile.reporting import page_of
        from steradian.report import file_for, write_page

        target = file_for(path)
        return write_page(page_of(self, title, call), target)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from steradian.profile.notebook_view import profile_html

        return profile_html(self)

    def __repr__(self) -> str:
        gaps = ", ".join(f"{gap:.4g}" for gap in self.gaps)
        return f"Profile(n={self.n}, d={self.d}, gaps=[{gaps}] nats)"
