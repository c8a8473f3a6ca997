"""Maximum mean discrepancy between the data and each fit, with a kernel that misses nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from steradian.adequacy.above import moments_to_degree
from steradian.adequacy.calibration import Calibrated, Calibration, Judged, judged, refused_or
from steradian.adequacy.kernels import (
    Kernel,
    VonMisesFisherKernel,
    as_kernel,
    enough_degrees,
    words_of,
)
from steradian.adequacy.leftover import sample_leftover
from steradian.adequacy.mmd_any_dimension import (
    Forms,
    discrepancies,
    has_contours,
    judged_by_samples,
)
from steradian.data.moments import Moments
from steradian.errors import InvalidArgument
from steradian.hierarchies.base import Hierarchy
from steradian.io.records import without_nan
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import KERNEL_LAW, KERNEL_VALUE
from steradian.significance.sample import Sample


@dataclass(frozen=True, eq=False, repr=False)
class Mmd(Calibrated, LevelFrame):
    """MMD between the weighted sample and the fit of every level.

    Attributes
    ----------
    levels : array of int, (L,)
        1..L.
    kernel : Kernel
        ``k(x, y) = Σ_l b_l Σ_r Y_lr(x) Y_lr(y)``, all b_l > 0.
    squared : array, (L,)
        MMD² of the weighted sample itself (the biased form, never negative).
    unbiased : array, (L,)
        MMD² without the terms of a row with itself; negative about half of the time when the
        fit is the law.
    values : array, (L,)
        MMD, the root of ``squared``.
    pvalue : array, (L,)
        If the fit were the law, under the design. Both forms have the same: they differ by
        what the rows contribute alone.
    """

    _columns: ClassVar[tuple[str, ...]] = ("values", "squared", "unbiased", "pvalue", "methods")

    kernel: Kernel
    squared: Array
    unbiased: Array

    @property
    def values(self) -> Array:
        """MMD, (L,)."""
        return np.sqrt(np.maximum(self.squared, 0.0))  # rounding may leave less than nothing

    def __repr__(self) -> str:
        return f"Mmd({words_of(self.kernel)}, {', '.join(f'{v:.3g}' for v in self.values)})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        own = {
            "kernel": repr(self.kernel),
            "values": self.values.tolist(),
            "squared": self.squared.tolist(),
            "unbiased": self.unbiased.tolist(),
        }
        return without_nan({**own, **self.judgements()})

    def __str__(self) -> str:
        lines = [
            f"MMD between data and fits, kernel {words_of(self.kernel)}; design {self.design}",
            f"{'level':>5} {'MMD':>10} {'MMD² unbiased':>14} {'p':>9}  method",
        ]
        for k, level in enumerate(self.levels):
            lines.append(
                f"{level:>5} {self.values[k]:>10.4g} {self.unbiased[k]:>14.3g} "
                f"{self.judged[k].pvalue:>9.3g}  {self.methods[k]}"
            )
        return "\n".join([*lines, *(f"! {one}" for one in self.diagnostics)])


def kernel_discrepancy(sample: Sample, kernel: Kernel | str | None, how: Calibration) -> Mmd:
    """MMD of every level of a sample."""
    hierarchy = sample.hierarchy
    zonal = hierarchy.zonal()
    if zonal is None and not has_contours(hierarchy):
        raise InvalidArgument(
            f"no kernel is known for these features on the {hierarchy.space.name}; residuals() "
            "looks at what the levels leave over"
        )
    chosen = as_kernel(_usual(zonal) if kernel is None else kernel, hierarchy.space.d)
    if zonal is not None:
        forms, found = _by_degrees(sample, zonal, chosen, how)
    elif isinstance(chosen, VonMisesFisherKernel):
        forms, found = _by_contours(sample, chosen.kappa, how)
    else:
        raise InvalidArgument(
            f"kernel is {chosen}; above dimension 3 only the kernel 'vmf' has a closed form"
        )
    levels = np.arange(1, len(forms) + 1)
    biased, unbiased = np.array([[f.biased, f.unbiased] for f in forms]).T
    return Mmd(levels, tuple(found), sample.design, chosen, biased, unbiased)


def _usual(zonal: Hierarchy | None) -> str:
    """The kernel where none is asked for."""
    return "vmf" if zonal is None else "heat"


def _by_degrees(
    sample: Sample, zonal: Hierarchy, kernel: Kernel, how: Calibration
) -> tuple[list[Forms], list[Judged]]:
    """Harmonic by harmonic, of all degrees in ``zonal``."""
    sizes = np.array(zonal.dims, dtype=np.float64)
    b = kernel.weights(zonal.space.d, len(sizes))
    top = len(sample.nested.solutions)
    long, short = (enough_degrees(kernel, b, sizes, share) for share in (KERNEL_VALUE, KERNEL_LAW))
    b = b[: max(long, top + 1)]  # what the highest level leaves over has a degree at least
    moments = moments_to_degree(sample, len(b))
    forms, found = [], []
    for level in range(1, top + 1):
        lam, wide = sample.parameters(level)[0], zonal.up_to(len(b))
        law = wide.family(level).resolved_by(sample.rung(level)).expectations(lam[None], wide)[0]
        forms.append(_forms(moments, wide, law, len(lam), b))
        few = b[: max(short, level + 1)]
        left = sample_leftover(sample, zonal.up_to(len(few)), level, few)
        judge = partial(judged, sample, left, forms[-1].biased, how)
        found.append(refused_or(sample, level, how, judge))
    return forms, found


def _by_contours(
    sample: Sample, kappa: float, how: Calibration
) -> tuple[list[Forms], list[Judged]]:
    """Higher dimensions: the mean of the kernel as a ratio of normalisers."""
    forms = discrepancies(sample, kappa)
    found = [
        refused_or(
            sample, level, how, partial(judged_by_samples, sample, level, kappa, form.biased, how)
        )
        for level, form in enumerate(forms, start=1)
    ]
    return forms, found


def _forms(moments: Moments, wide: Hierarchy, law: Array, matched: int, b: Array) -> Forms:
    """MMD² of moments against a law with means ``law`` of all features, biased and unbiased."""
    of_feature = np.repeat(b, wide.dims)
    away = moments.features[: len(law)] - law
    away[:matched] = 0.0  # matched by the fit, to rounding
    biased = float(of_feature @ away**2)
    squares = moments.total_sq[: len(law)] / moments.weight**2  # Σ w² φ, Σ w = 1
    share = moments.weight_sq / moments.weight**2
    alone = share * float(of_feature.sum() + of_feature @ law**2)  # φ_l·φ_l is constant
    alone -= 2.0 * float(of_feature @ (law * squares))
    unbiased = (biased - alone) / (1.0 - share) if share < 1.0 else np.nan  # one row is all
    return Forms(biased, unbiased)
