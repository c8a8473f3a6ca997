"""What a profile is asked about its fits: what they leave over, and whether to trust them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, cast

from steradian.adequacy.beyond import DRAWS, Beyond, beyond_data
from steradian.adequacy.calibration import Calibration
from steradian.adequacy.calibration import Method as CalibrationMethod
from steradian.adequacy.kernels import Kernel
from steradian.adequacy.left_out import LeftOut, left_out_of
from steradian.adequacy.mmd import Mmd, kernel_discrepancy
from steradian.adequacy.residuals import Residuals, Weights, harmonic_residuals
from steradian.adequacy.sensitivity import DEFAULT_EPSILONS, ROTATIONS, Sensitivity, sensitivity_of
from steradian.adequacy.trust import Trust, trust_of
from steradian.arguments import seed_number, shown, whole_number
from steradian.contract import is_object_of
from steradian.errors import DesignError, InvalidArgument
from steradian.hierarchies import Hierarchy

if TYPE_CHECKING:
    from steradian.profile.profile import Profile


def _residuals_asked(degree: int | None, weights: str, how: Calibration) -> Hashable:
    return "residuals", degree, type(degree), weights, how


class AdequacyMethods:
    """The part of `Profile` that looks at what its fits do not hold."""

    @property
    def _whole(self) -> Profile:
        return cast("Profile", self)

    def sensitivity(
        self,
        epsilons: Sequence[float] = DEFAULT_EPSILONS,
        *,
        rotations: int = ROTATIONS,
        seed: int = 0,
    ) -> Sensitivity:
        """Gaps when another law is mixed in, on other grids, and after random rotations."""
        return sensitivity_of(self._whole, epsilons, rotations, seed)

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
        how = Calibration(method, replicates, seed)
        if not isinstance(weights, str):
            return harmonic_residuals(self._whole.as_sample(), degree, weights, how)
        return self._whole._answers.once(
            _residuals_asked(degree, weights, how),
            lambda: harmonic_residuals(self._whole.as_sample(), degree, weights, how),
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
        how = Calibration(method, replicates, seed)
        if not (kernel is None or isinstance(kernel, str)):
            return kernel_discrepancy(self._whole.as_sample(), kernel, how)
        return self._whole._answers.once(
            ("mmd", kernel, how), lambda: kernel_discrepancy(self._whole.as_sample(), kernel, how)
        )

    def beyond(self, *, draws: int = DRAWS, seed: int = 0) -> Beyond:
        """How much of each fit lies where there are no data, and how much of its gap that carries.

        By the rule that integrates the law where there is one, which sees masses of 1e-10; else by
        ``draws`` exact draws of the fit, from ``seed``.
        """
        count = whole_number(draws, "draws", least=1)
        start = seed_number(seed)
        return self._whole._answers.once(
            ("beyond", count, start), lambda: beyond_data(self._whole._sample, count, start)
        )

    def left_out(self, full: Hierarchy | Profile) -> LeftOut:
        """How much information its features leave out of those of a larger hierarchy.

        ``full`` is that hierarchy, or a profile of the same data with it. Every level must be
        within one of ``full``.
        """
        if isinstance(full, AdequacyMethods):
            return left_out_of(self._whole, full._whole)
        if not is_object_of(full, Hierarchy):
            raise InvalidArgument(f"full is {shown(full)}; give a hierarchy or a profile")
        from steradian.profile.one_sample import profile

        mine = self._whole
        if mine.directions is None:
            raise DesignError(
                "this profile was made from moments, which hold no other features; give a profile "
                "of the same data with the larger hierarchy"
            )
        larger = profile(
            mine.directions, hierarchy=full, design=mine.design, shrinkage=mine.shrinkage
        )
        return left_out_of(mine, larger)

    def trust(self) -> Trust:
        """Whether to trust it statistically, numerically and structurally, with the reasons."""
        asked = ("trust", self._knows_residuals)  # what is known by then, it says
        return self._whole._answers.once(asked, lambda: trust_of(self._whole))

    @property
    def _knows_residuals(self) -> bool:
        return self._whole._answers.known(_residuals_asked(None, "unit", Calibration()))
