"""Maximum mean discrepancy between the data and each fit, with a kernel that misses nothing.

**Any dimension**, with the kernel ``exp{κ(x·y - 1)}``. Under a Fisher-Bingham law with parameters
(η, B) the mean of this kernel is a ratio of two normalisers, ``E k(x, Y) = exp{ψ(η + κx, B) - ψ(η,
B) - κ}``, which the contour integral gives exactly; its mean over x from the same law is a double
integral of that kind. The null law comes from samples of the fit, each fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np

from steradian.adequacy.calibration import (
    ROWS_PER_MATCHED,
    Calibrated,
    Calibration,
    Judged,
    bootstrap_pvalue,
    judged,
    refused_or,
)
from steradian.adequacy.kernels import (
    Kernel,
    VonMisesFisherKernel,
    as_kernel,
    enough_degrees,
    words_of,
)
from steradian.adequacy.leftover import moments_to_degree, sample_leftover
from steradian.data.moments import Moments
from steradian.diagnostics import Diagnostic, MethodCode, PvalueMethod
from steradian.errors import DesignError, InvalidArgument
from steradian.hierarchies.base import Hierarchy
from steradian.inference.null_samples import fits_of_samples, samples_of_fit
from steradian.inference.sample import Sample
from steradian.io.records import without_nan
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham.integral import fisher_bingham
from steradian.numerics.fisher_bingham.pair import mean_exponential
from steradian.numerics.heights.bessel import von_mises_fisher
from steradian.numerics.tolerances import KERNEL_LAW, KERNEL_PAIRS, KERNEL_VALUE, TINY
from steradian.text.table import Column, Table

_ENTRIES = 1 << 22  # complex numbers of contours held at once
_NODES = 64  # of a contour, about


@dataclass(frozen=True, slots=True)
class Forms:
    """MMD² in both forms."""

    biased: float
    unbiased: float


def forms_of(hierarchy: Hierarchy, lam: Array, kappa: float, x: Array, weights: Array) -> Forms:
    """MMD² of rows ``x`` (n, d) with weights of sum one against the law ``lam`` (q,)."""
    natural = hierarchy.family(level_of(hierarchy, lam)).natural(lam)
    assert natural is not None  # as `has_contours` tells
    law = _kernel_mean(*natural, kappa)
    at_rows, both = law(x), law.of_pairs()
    biased = _double_sum(kappa, x, weights) - 2.0 * float(weights @ at_rows) + both
    share = float(weights @ weights)
    alone = float((weights * weights) @ (1.0 - 2.0 * at_rows + both))
    unbiased = (biased - alone) / (1.0 - share) if share < 1.0 else np.nan  # one row is all
    return Forms(biased, unbiased)


def _double_sum(kappa: float, x: Array, weights: Array) -> float:
    """Σ w_i w_j k(x_i, x_j), some rows at a time."""
    size = max(1, _ENTRIES // len(x))
    return sum(
        float(weights[rows] @ np.exp(kappa * (x[rows] @ x.T - 1.0)) @ weights)
        for rows in (slice(first, first + size) for first in range(0, len(x), size))
    )


def level_of(hierarchy: Hierarchy, lam: Array) -> int:
    """The level that has parameters ``lam`` (q,)."""
    return next(k for k in range(1, hierarchy.levels + 1) if hierarchy.q(k) == len(lam))


def has_contours(hierarchy: Hierarchy) -> bool:
    """Whether the laws of all levels are exp(η·x + xᵀBx)."""
    families = (hierarchy.family(level) for level in range(1, hierarchy.levels + 1))
    return all(family.natural(np.zeros(family.q)) is not None for family in families)


def _kernel_mean(eta: Array, quadratic: Array, kappa: float) -> _KernelMean:
    """X → E k(x, Y) of the law exp(η·x + xᵀBx)."""
    return _QuadraticMean(eta, quadratic, kappa) if quadratic.any() else _LinearMean(eta, kappa)


class _KernelMean(Protocol):
    """x → E k(x, Y), exactly."""

    def __call__(self, x: Array) -> Array: ...

    def of_pairs(self) -> float:
        """E k(Y, Y′) of two independent draws."""
        ...


class _LinearMean:
    """Under exp(η·y): ψ is one of the length of its parameter alone.

    With ψ(κ) = κ - e(κ) nothing of the size of κ cancels: lengths differ by
    ``(2κ η·x + κ²) / (|η + κx| + |η|)``.
    """

    def __init__(self, eta: Array, kappa: float) -> None:
        self._eta, self._kappa = eta, kappa
        self._size = float(np.linalg.norm(eta))
        self._excess = self._excess_of(np.array([self._size]))[0]

    def _excess_of(self, size: Array) -> Array:
        terms = von_mises_fisher(len(self._eta), size)
        return np.asarray(terms.deficit + terms.defect)

    def __call__(self, x: Array) -> Array:
        kappa = self._kappa
        size = np.linalg.norm(self._eta + kappa * x, axis=1)
        longer = kappa * (2.0 * (x @ self._eta) + kappa) / np.maximum(size + self._size, TINY)
        return np.asarray(np.exp(longer - kappa - self._excess_of(size) + self._excess))

    def of_pairs(self) -> float:
        """E k(Y, Y′), the coordinates across η in one column."""
        psi, d = self._size - self._excess, len(self._eta)
        along, counts = np.array([self._size, 0.0]), np.array([1.0, d - 1.0])
        value, error = mean_exponential(np.zeros(2), along, self._kappa, psi, counts)
        _refuse_narrow(error, self._kappa, d)
        return float(np.exp(value - self._kappa))


def _refuse_narrow(error: float, kappa: float, d: int) -> None:
    if not error <= KERNEL_PAIRS:
        raise InvalidArgument(
            f"the kernel with kappa {kappa:g} is too narrow for the fit in dimension {d}; choose a "
            f"smaller one, such as {0.5 * kappa:.2g}"
        )


class _QuadraticMean:
    """Under exp(η·y + yᵀBy), by contours."""

    def __init__(self, eta: Array, quadratic: Array, kappa: float) -> None:
        beta, self._axes = np.linalg.eigh(quadratic)
        self._beta, self._b, self._kappa = beta, self._axes.T @ eta, kappa
        self._psi = self._log_partitions(self._b[None])[0]

    def __call__(self, x: Array) -> Array:
        tilted = self._log_partitions(self._b + self._kappa * (x @ self._axes))
        return np.exp(tilted - self._psi - self._kappa)

    def of_pairs(self) -> float:
        """E k(Y, Y′) of two independent draws."""
        value, error = mean_exponential(self._beta, self._b, self._kappa, float(self._psi))
        _refuse_narrow(error, self._kappa, len(self._b))
        return float(np.exp(value - self._kappa))

    def _log_partitions(self, b: Array) -> Array:
        size = max(1, _ENTRIES // (_NODES * b.shape[1]))
        parts = [b[first : first + size] for first in range(0, len(b), size)]
        return np.concatenate(
            [fisher_bingham(np.tile(self._beta, (len(p), 1)), p).psi for p in parts]
        )


def judged_by_samples(
    sample: Sample, level: int, kappa: float, squared: float, how: Calibration
) -> Judged:
    """The p-value from samples of the fit, each fitted again."""
    if not (sample.has_rows and sample.design.rows_of_one_law):
        named = {"design": sample.design.name}
        raise DesignError(Diagnostic("discrepancy_of_one_law_only", level, named))
    if how.method == "exact":
        raise DesignError(Diagnostic("discrepancy_without_tail", level))
    hierarchy = sample.hierarchy.up_to(level)

    def squared_discrepancies(x: Array, weights: Array) -> Array:
        fits = fits_of_samples(hierarchy, x, weights)
        some = np.full(len(x), np.nan)
        for row in range(len(x)):
            if row not in fits.failures:
                lam = fits.solutions[-1].lam[row]
                some[row] = forms_of(hierarchy, lam, kappa, x[row], weights[row]).biased
        return some

    samples = samples_of_fit(sample, level, how.replicates, how.seed, sample.moments.n)
    null = (squared_discrepancies(x, weights) for x, weights in samples)
    found = bootstrap_pvalue(squared, null, level, PvalueMethod(MethodCode.PARAMETRIC_BOOTSTRAP))
    matched = sum(hierarchy.dims)
    few = sample.rate**2 < ROWS_PER_MATCHED * matched
    data = {"rows": float(sample.rate**2), "features": int(matched)}
    said = (Diagnostic("fit_too_sharp", level, data),) if few else ()
    return replace(found, diagnostics=(*found.diagnostics, *said))


def discrepancies(sample: Sample, kappa: float) -> list[Forms]:
    """MMD² of every level."""
    rows = sample.rows
    weights = rows.weights / rows.weights.sum()
    return [forms_of(sample.hierarchy, fit.lam, kappa, rows.x, weights) for fit in sample.fits[1:]]


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
        table = Table(
            Column("level", self.levels, width=5),
            Column("MMD", self.values, ".4g", 10),
            Column("MMD² unbiased", self.unbiased, ".3g", 14),
            Column("p", [one.pvalue for one in self.judged], ".3g", 9),
            Column("method", list(map(str, self.methods)), left=True, gap=2),
        )
        title = f"MMD between data and fits, kernel {words_of(self.kernel)}; design {self.design}"
        return "\n".join([title, str(table), *(f"! {one}" for one in self.diagnostics)])


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
