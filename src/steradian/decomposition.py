"""`profile`: the nested fits of one sample, and what people ask of them. A façade."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import seed_number, shown, whole_number, wrong_value
from steradian.contract import is_object_of
from steradian.data.directions import Directions
from steradian.data.notation import told_of_rows
from steradian.data.source import as_source, measured, support_of
from steradian.designs.registry import design_of_rows, stated_design
from steradian.designs.without_units import ChosenFromSameRows
from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError, InvalidArgument, LevelError
from steradian.fitting.nested import NestedFits, fit_levels, within_noise
from steradian.fitting.shrinkage import Shrinkage, as_shrinkage
from steradian.hierarchies import Hierarchy, OnSplits, SameRows
from steradian.inference.effort import SOON, Patience
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import TINY
from steradian.references.base import reference_words
from steradian.spaces.unit_vectors import has_unit_rows
from steradian.text.audience import Advice
from steradian.text.messages import arguments

if TYPE_CHECKING:  # what a method is about is imported when it is called
    from steradian.adequacy.beyond import Beyond
    from steradian.adequacy.calibration import Calibration
    from steradian.adequacy.calibration import Method as CalibrationMethod
    from steradian.adequacy.kernels import Kernel
    from steradian.adequacy.left_out import LeftOut
    from steradian.adequacy.mmd import Mmd
    from steradian.adequacy.residuals import Residuals, Weights
    from steradian.adequacy.sensitivity import Sensitivity
    from steradian.adequacy.trust import Trust
    from steradian.classical import ClassicalStatistics
    from steradian.data.moments import Moments
    from steradian.data.notation import Reading
    from steradian.designs import Design
    from steradian.fitting.fitted import Numerics
    from steradian.fitting.maxent import MaxEntFit
    from steradian.inference.bootstrap import Bootstrap, Kind
    from steradian.inference.gap_tests import GapTests, Uniformity
    from steradian.inference.intervals import GapIntervals, IntervalMethod
    from steradian.inference.order import OrderChoice
    from steradian.inference.sample import Memo, Sample
    from steradian.inference.score_tests import Method, Null, Statistic
    from steradian.inference.scores import Covariance
    from steradian.modes import Modes
    from steradian.spectrum import Spectrum
    from steradian.splits import SplitProfile

_EPSILONS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1)
_ROTATIONS = 5
_DRAWS = 10_000
AUTO = "auto"


@dataclass(frozen=True, eq=False, repr=False)
class Profile:
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
        from steradian.fitting.fitted import fits_of

        return fits_of(self.moments, self.nested, self.shrinkage)

    @cached_property
    def numerics(self) -> Numerics:
        """Certificates of every level."""
        from steradian.fitting.fitted import numerics_of

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
        from steradian.inference.bias import noise_floor

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
        from steradian.inference.gap_tests import gap_tests
        from steradian.inference.score_tests import Options

        options = Options(null, statistic, covariance, method, replicates, seed)
        return self._answers.once(options, lambda: gap_tests(self.as_sample(), options))

    def intervals(
        self, confidence: float = 0.95, *, method: IntervalMethod = "noncentral"
    ) -> GapIntervals:
        """Standard errors, intervals and debiased values of the gaps; D and U besides.

        ``method`` is ``"noncentral"`` (a scaled non-central χ² law, inverted), ``"sqrt"``
        (normal for √I) or ``"wald"`` (normal for I).
        """
        from steradian.inference.intervals import gap_intervals

        return self._answers.once(
            ("intervals", confidence, method),
            lambda: gap_intervals(self.as_sample(), confidence, method),
        )

    def spectrum(self) -> Spectrum:
        """Gaps per degree with noise floor and intervals, as a power spectrum is read."""
        from steradian.spectrum import spectrum_of

        return self._answers.once("spectrum", lambda: spectrum_of(self))

    def uniformity(self, *, replicates: int = 9999, seed: int = 0) -> Uniformity:
        """Test uniformity through each level, beside the classical statistics it contains.

        With fewer than ten rows per feature a p-value is where the score form stands among those
        of up to ``replicates`` uniform samples, drawn from ``seed``.
        """
        from steradian.inference.gap_tests import UniformDraws, uniformity_tests

        draws = UniformDraws(replicates, seed)
        return self._answers.once(
            ("uniformity", draws), lambda: uniformity_tests(self.as_sample(), draws)
        )

    def classical(
        self, *, confidence: float = 0.95, draws: int = 999, seed: int = 0
    ) -> ClassicalStatistics:
        """The numbers that textbooks print, as data, in the coordinates of the data.

        Mean direction, R, κ, Fisher's k and α95, circular standard deviation, principal axes,
        Rayleigh's and Bingham's tests, and a cone of confidence about the mean direction: Fisher's
        where his distribution describes the rows, else from ``draws`` bootstrap means.

        Examples
        --------
        >>> import steradian as sr
        >>> found = sr.profile(sr.examples.load("mcmurdo")).classical()
        >>> {name: round(value, 1) for name, value in found.mean_coordinates.items()}
        {'declination': 43.5, 'inclination': -75.7}
        >>> found.cone.method, round(found["α95"], 1)  # level 2 speaks against Fisher's
        ('bootstrap', 24.0)
        """
        from steradian.classical import classical_statistics

        asked = ("classical", confidence, draws, seed)
        return self._answers.once(
            asked, lambda: classical_statistics(self, confidence, draws, seed)
        )

    def modes(self, level: int | None = None, *, draws: int = 49, seed: int = 0) -> Modes:
        """The modes of the fitted density of a level, with the rows that belong to each.

        Parameters
        ----------
        level : int, optional
            By default the highest significant one; without any there are no modes.
        draws, seed : int
            Samples of the fit that are fitted again, to see in what share of them as many modes
            come back.

        Examples
        --------
        >>> import steradian as sr
        >>> found = sr.profile(sr.examples.load("mcmurdo"), levels=2).modes()
        >>> len(found), [one.rows for one in found], found.sure
        (2, [80, 53], True)
        """
        from steradian.modes import modes_of_profile

        def refit(data: Directions, hierarchy: Hierarchy) -> Profile:
            return profile(data, hierarchy=hierarchy)

        asked = ("modes", level, draws, seed)
        return self._answers.once(asked, lambda: modes_of_profile(self, refit, level, draws, seed))

    def sensitivity(
        self,
        epsilons: Sequence[float] = _EPSILONS,
        *,
        rotations: int = _ROTATIONS,
        seed: int = 0,
    ) -> Sensitivity:
        """Gaps when another law is mixed in, on other grids, and after random rotations."""
        from steradian.adequacy.sensitivity import sensitivity_of

        return sensitivity_of(self, epsilons, rotations, seed)

    def residuals(
        self,
        degree: int | None = None,
        weights: Weights = "unit",
        *,
        method: CalibrationMethod | None = None,
        replicates: int = 999,
        seed: int = 0,
    ) -> Residuals:
        """What each level leaves unexplained in the degrees above it, with its p-value.

        Parameters
        ----------
        degree : int, optional
            K, the highest degree looked at; by default four above the highest level, 2 above
            dimension 3.
        weights : {"unit", "sobolev"} or array_like, (degree,)
            a_1..a_K: all one, ``{1 + l(l + d - 2)}^{-d/2}``, or given.
        method : {"exact", "bootstrap"}, optional
            Exact tail of the asymptotic law, or random signs on the units, each replicate fitted
            again (above dimension 3: samples of the fit). By default exact where that holds.
        replicates, seed : int
            Of the bootstrap: how many at most, since thirty that are as far off settle a p-value.
        """
        from steradian.adequacy.calibration import Calibration
        from steradian.adequacy.residuals import harmonic_residuals

        how = Calibration(method, replicates, seed)
        if not isinstance(weights, str):
            return harmonic_residuals(self.as_sample(), degree, weights, how)
        return self._answers.once(
            _residuals_asked(degree, weights, how),
            lambda: harmonic_residuals(self.as_sample(), degree, weights, how),
        )

    def mmd(
        self,
        kernel: Kernel | str | None = None,
        *,
        method: CalibrationMethod | None = None,
        replicates: int = 999,
        seed: int = 0,
    ) -> Mmd:
        """Distance of data and fits by a kernel that misses no difference, with its p-value.

        ``kernel`` is ``"heat"`` (the default on the circle and the two-sphere), ``"poisson"``,
        ``"vmf"`` (the only one above) or an object of `steradian.kernels`, where its width is
        chosen; the rest is as for `residuals`.
        """
        from steradian.adequacy.calibration import Calibration
        from steradian.adequacy.mmd import kernel_discrepancy

        how = Calibration(method, replicates, seed)
        if not (kernel is None or isinstance(kernel, str)):
            return kernel_discrepancy(self.as_sample(), kernel, how)
        return self._answers.once(
            ("mmd", kernel, how), lambda: kernel_discrepancy(self.as_sample(), kernel, how)
        )

    def beyond(self, *, draws: int = _DRAWS, seed: int = 0) -> Beyond:
        """How much of each fit lies where there are no data, and how much of its gap that carries.

        By the rule that integrates the law where there is one, which sees masses of 1e-10; else by
        ``draws`` exact draws of the fit, from ``seed``.
        """
        from steradian.adequacy.beyond import beyond_data

        count = whole_number(draws, "draws", least=1)
        start = seed_number(seed)
        return self._answers.once(
            ("beyond", count, start), lambda: beyond_data(self._sample, count, start)
        )

    def left_out(self, full: Hierarchy | Profile) -> LeftOut:
        """How much information its features leave out of those of a larger hierarchy.

        ``full`` is that hierarchy, or a profile of the same data with it. Every level must be
        within one of ``full``.
        """
        from steradian.adequacy.left_out import left_out_of

        if isinstance(full, Profile):
            return left_out_of(self, full)
        if not is_object_of(full, Hierarchy):
            raise InvalidArgument(f"full is {shown(full)}; give a hierarchy or a profile")
        if self.directions is None:
            raise DesignError(
                "this profile was made from moments, which hold no other features; give a profile "
                "of the same data with the larger hierarchy"
            )
        larger = profile(
            self.directions, hierarchy=full, design=self.design, shrinkage=self.shrinkage
        )
        return left_out_of(self, larger)

    def trust(self) -> Trust:
        """Whether to trust it statistically, numerically and structurally, with the reasons."""
        from steradian.adequacy.trust import trust_of

        asked = ("trust", self._knows_residuals)  # what is known by then, it says
        return self._answers.once(asked, lambda: trust_of(self))

    @property
    def _knows_residuals(self) -> bool:
        from steradian.adequacy.calibration import Calibration

        return self._answers.known(_residuals_asked(None, "unit", Calibration()))

    def bootstrap(
        self, kind: Kind = "design", *, replicates: int | None = None, seed: int = 0
    ) -> Bootstrap:
        """Replicates of the gaps: as `steradian.bootstrap` of this profile."""
        from steradian.inference.bootstrap import bootstrap

        return bootstrap(self, kind, replicates=replicates, seed=seed)

    def choose_order(
        self, *, alpha: float = 0.05, folds: int | None = None, seed: int = 0
    ) -> OrderChoice:
        """How many levels the data support: as `steradian.choose_order` of this profile."""
        from steradian.inference.order import choose_order

        return choose_order(self, alpha=alpha, folds=folds, seed=seed)

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
        from steradian.inference.sample import SharedMemo

        return SharedMemo()

    @cached_property
    def _sample(self) -> Sample:  # its units are found once, whatever asks for them
        from steradian.inference.sample import Sample

        return Sample(self.moments, self.nested, self.fits, self.design, self.directions)

    def tests_within(self, patience: float) -> GapTests:
        """`tests` as far as they take no more work than ``patience``, counted as in `effort`.

        Levels beyond it are not computed: they have NaN and say so. What was tested before is kept.
        """
        from steradian.inference.gap_tests import gap_tests
        from steradian.inference.score_tests import Options

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
        from steradian.inference.intervals import interval_work

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
        from steradian.inference.score_tests import Options
        from steradian.text.summary import summarise

        known = self._answers.known(Options()), self._knows_intervals, self._knows_residuals
        return self._answers.once(
            ("summary", patience, verbose, known),
            lambda: summarise(self, patience, verbose=verbose),
        )

    def to_dict(self) -> dict[str, Any]:
        """Every number of the profile as plain lists, ready for JSON: `classical`, `trust` too."""
        return {
            **record_of(self),
            "classical": self.classical().to_dict(),
            "trust": self.trust().to_dict(),
        }

    def to_frame(self) -> Any:
        """One row per level as a pandas frame (pandas must be installed)."""
        from steradian.io.frames import frame_of_levels

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
        from steradian.report import file_for, write_page
        from steradian.report.profile_page import page_of

        target = file_for(path)
        return write_page(page_of(self, title, call), target)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from steradian.text.summary import profile_html

        return profile_html(self)

    def __repr__(self) -> str:
        gaps = ", ".join(f"{gap:.4g}" for gap in self.gaps)
        return f"Profile(n={self.n}, d={self.d}, gaps=[{gaps}] nats)"


def _residuals_asked(degree: int | None, weights: str, how: Calibration) -> Hashable:
    return "residuals", degree, type(degree), weights, how


def record_of(profile: Profile) -> dict[str, Any]:
    """Every number of a profile, ready for JSON."""
    from steradian.fitting.fitted import Numerics
    from steradian.io.records import without_nan

    return {
        "n": profile.n,
        "d": profile.d,
        "space": profile.moments.hierarchy.space.name,
        "reference": reference_words(profile.moments.hierarchy.space) or "uniform",
        "hierarchy": profile.moments.hierarchy.to_dict()["kind"],
        "kish_ess": profile.ess,
        "mean_direction": _unit(profile.moments.mean) if profile.has_mean else None,
        "resultant_length": profile.resultant if profile.has_mean else None,
        "vmf_kappa": profile.kappa if profile.has_kappa else None,
        "read": _read(profile),
        **told_of_rows(profile.reading),
        "levels": profile.levels.tolist(),
        "level_names": list(profile.moments.hierarchy.level_names[: len(profile.levels)]),
        "dims": profile.dims.tolist(),
        "deficits": profile.deficits.tolist(),
        "gaps": profile.gaps.tolist(),
        "noise": without_nan(profile.noise.tolist()),
        "debiased": without_nan(profile.debiased.tolist()),
        "uncertainty": profile.uncertainty.tolist(),
        "lam": [fit.lam.tolist() for fit in profile.fits[1:]],
        "psi": [fit.psi for fit in profile.fits[1:]],
        "numerics": {
            name: np.asarray(getattr(profile.numerics, name)).tolist()
            for name in Numerics.__slots__
        },
        "stopped": None if profile.stopped is None else profile.stopped.to_dict(),
        **({} if profile.chosen is None else {"chosen_levels": profile.chosen}),
        "shrinkage": asdict(profile.shrinkage) if profile.shrinkage else None,
        "ambient": profile.ambient,
        "design": profile.design.name,
        "design_sentence": profile.design.sentence,
        "unit": "nats",
    }


def _read(profile: Profile) -> str | None:
    """What was understood of the source."""
    reading = profile.reading
    return None if reading is None else reading.words


def _unit(vector: Array) -> list[float]:
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).tolist()


@overload
def profile(
    data: Any,
    *,
    hierarchy: OnSplits,
    weights: ArrayLike | str | None = None,
    levels: int | str | None = None,
    design: Design | str | None = None,
    shrinkage: Shrinkage | float | None = None,
    reference: Any = None,
) -> SplitProfile: ...
@overload
def profile(
    data: Any,
    *,
    weights: ArrayLike | str | None = None,
    levels: int | str | None = None,
    hierarchy: Hierarchy | SameRows | None = None,
    design: Design | str | None = None,
    shrinkage: Shrinkage | float | None = None,
    reference: Any = None,
) -> Profile: ...
def profile(  # noqa: PLR0913 - what people say of a sample
    data: Any,
    *,
    weights: ArrayLike | str | None = None,
    levels: int | str | None = None,
    hierarchy: Hierarchy | OnSplits | SameRows | None = None,
    design: Design | str | None = None,
    shrinkage: Shrinkage | float | None = None,
    reference: Any = None,
) -> Profile | SplitProfile:
    """Decompose what a weighted set of directions tells, level by level, in nats.

    Parameters
    ----------
    data : (n, d) array_like, DataFrame, Directions or Moments
        Unit vectors, one per row. A frame with named columns is read by name, like ``lon, lat``
        or ``dec, inc``; `read_directions` takes it with what its names do not say.
    weights : array_like or column name, optional
        Non-negative weights of any scale, when ``data`` does not carry them.
    levels : int or "auto", optional
        Highest level; ``"auto"`` climbs as far as the data carry, see `steradian.Spectrum`. By
        default up to 4 on the circle and the two-sphere and 2 above,
        stopping at the last level that exists and saying so. When given, a level that does
        not exist is an error.
    hierarchy : Hierarchy, optional
        The nested features, such as ``sr.Axial(3, 2)`` for axes; replaces ``levels``. Chosen by
        some of the rows, as by ``sr.Zonal("mean", 2, split=0.5)``, it gives a `SplitProfile`.
    design : Design or str, optional
        How the sample came about, from `steradian.designs`: ``"iid"`` (the default without
        weights), ``"fixed"``, ``"importance"``, ``"chain"``, ``Clusters(ids)``, ``Survey(…)``,
        ``Known(…)``, or ``"descriptive"`` (the default with weights: no inference).
    shrinkage : Shrinkage or float, optional
        Mix the data with a law that has a fit; a number is the share of the uniform law.
    reference : MaxEntFit, callable, Mask, HealpixMap or Directions, optional
        The law of zero information, uniform unless given: a fit or `FisherBingham`, a density as a
        function of points (n, d), what a `Mask` leaves, a map of the sky, or a sample of it. All
        that follows is relative to it.

    Returns
    -------
    Profile

    Raises
    ------
    BoundaryError, ResolutionError, ConvergenceError
        A level has no usable fit; ``error.profile`` holds the levels below.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    >>> p.gaps.round(3).tolist()
    [0.067, 1.633]
    """
    rest: dict[str, Any] = {"shrinkage": shrinkage, "reference": reference}
    if isinstance(levels, str):
        if levels != AUTO:
            raise wrong_value("levels", levels, f"give a whole number of levels, or {AUTO!r}")
        if hierarchy is not None or shrinkage is not None:
            raise InvalidArgument(
                "{said} climbs the levels of the data themselves; with {hierarchy}{shrinkage} give "
                "a number{choice}",
                said=arguments(levels=AUTO), shrinkage=arguments(shrinkage=...),
                hierarchy=Advice("hierarchy= or ", ""),
                choice=Advice(", and ask sr.choose_order", ""),
            )  # fmt: skip
        source = as_source(data, weights)
        if isinstance(source, Directions):  # a frame may hold what the design asks for
            design = design_of_rows(design, data, source)
        return _climbed(lambda count: _one_sample(source, levels=count, design=design, **rest))
    if isinstance(hierarchy, OnSplits | SameRows):
        rows = _rows(data, weights)
        stated, rest = design_of_rows(design, data, rows), {"levels": levels, **rest}
        if isinstance(hierarchy, OnSplits):
            from steradian.splits import split_profile

            return split_profile(hierarchy, rows, stated, partial(_one_sample, **rest))
        chosen, own = hierarchy.recipe.from_data(rows), hierarchy.recipe.words
        return _one_sample(rows, hierarchy=chosen, design=ChosenFromSameRows(own, stated), **rest)
    said: dict[str, Any] = {"weights": weights, "levels": levels, "design": design}
    return _one_sample(data, hierarchy=hierarchy, **said, **rest)


def _one_sample(  # noqa: PLR0913 - as `profile`, of a hierarchy that is known
    data: Any,
    *,
    weights: ArrayLike | str | None = None,
    levels: int | None = None,
    hierarchy: Hierarchy | None = None,
    design: Design | str | None = None,
    shrinkage: Shrinkage | float | None = None,
    reference: Any = None,
) -> Profile:
    """Data in, fits of all levels, a `Profile` out."""
    began = time.perf_counter()
    explicit = levels is not None or hierarchy is not None
    source = as_source(data, weights, hierarchy)
    if reference is not None:
        from steradian.relative import relative_hierarchy

        hierarchy, levels = relative_hierarchy(reference, source, levels, hierarchy), None
    moments, directions = measured(source, levels, hierarchy)
    plan = stated_design(design, data, directions, moments)
    mixing = as_shrinkage(shrinkage)
    fits = fit_levels(moments.hierarchy, moments.stack(), support_of(directions), mixing)
    nested = within_noise(fits, lambda: moments.ess)
    ambient = directions.ambient if directions else moments.hierarchy.space.d

    def finished(sound: int, stopped: Diagnostic | None) -> Profile:
        whole = sound == moments.hierarchy.levels
        seen = moments if whole else moments.up_to(sound)
        kept = nested if whole else nested.up_to(seen.hierarchy)
        elapsed = time.perf_counter() - began
        return Profile(seen, kept, stopped, mixing, ambient, elapsed, plan, directions)

    failure = nested.failures.get(0)
    if failure is None:
        return finished(moments.hierarchy.levels, None)
    error = failure.error()
    if failure.level > 1 and not explicit:
        return finished(failure.level - 1, error.diagnostic)
    found = failure.level - 1
    error.profile = finished(found, error.diagnostic) if found else None
    raise error


def _rows(data: Any, weights: ArrayLike | str | None) -> Directions:
    source = as_source(data, weights)
    if not isinstance(source, Directions):
        raise InvalidArgument(
            "moments hold no rows that could choose; choose from directions, or give the hierarchy"
        )
    return source


# --- as many levels as the data carry ---------------------------------------------------------

_FIRST = 4  # levels, and as many more each time
_PATIENCE = 3  # levels in a row that may add nothing


def _climbed(made: Callable[[int], Profile]) -> Profile:
    """As many levels as the data carry; ``made`` gives a profile of so many.

    Levels are climbed while Akaike's criterion, corrected for samples that are small for the
    features (Hurvich and Tsai, 1989), rises: ``a² D_L - q a² / (a² - q - 1)`` with q features and
    a² rows. For many rows a level raises it by adding more than twice what noise gives; with as
    many features as rows nothing does. A level may say nothing and the next one much, so the climb
    ends only when some levels in a row have not raised it, or where rows take too few values to
    tell more; the profile then ends at the level where it was largest. That may be 0, the uniform
    law: level 1 is then kept, to show how little it adds, and the profile says so. The other rules
    of `choose_order` may be asked about that profile.
    """
    levels, found, limit = _FIRST, None, None
    while True:
        found, limit = _through(made, levels, found)
        best = carried(found)
        seen = len(found.levels)
        if (
            limit is not None
            or best <= seen - _PATIENCE
            or found.as_sample().untold(seen) is not None
        ):
            break
        levels += _FIRST
    if best == len(found.levels):
        return replace(found, stopped=limit, chosen=best)
    kept = max(best, 1)
    moments = found.moments.up_to(kept)
    nested = found.nested.up_to(moments.hierarchy)
    return replace(found, moments=moments, nested=nested, stopped=None, chosen=best)


def carried(found: Profile) -> int:
    """The level at which the criterion is largest, 0 for the uniform law."""
    if not found.design.defines_inference:
        raise DesignError(
            "{said} asks what noise gives, which these weights do not tell; say how the rows came "
            "about with {remedy}, or give a number of levels",
            said=arguments(levels="auto"), remedy=arguments(design=...),
        )  # fmt: skip
    sample = found.as_sample()
    rate2 = sample.rate**2
    features = np.cumsum(found.dims)
    left = rate2 - features - 1.0
    penalty = np.where(left > 0.0, features * rate2 / np.maximum(left, TINY), np.inf)
    scores = rate2 * found.deficits - penalty
    scores[[sample.untold(level) is not None for level in found.levels.tolist()]] = -np.inf
    return int(np.argmax(np.concatenate([[0.0], scores])))


def _through(
    made: Callable[[int], Profile], levels: int, before: Profile | None
) -> tuple[Profile, Diagnostic | None]:
    """A profile of so many levels, or of as many as there are and what stopped it."""
    try:
        return made(levels), None
    except LevelError as error:
        if error.profile is None:
            raise
        return error.profile, error.diagnostic
    except InvalidArgument as error:  # more levels than can be fitted there
        if before is None:
            raise
        return before, error.diagnostic
