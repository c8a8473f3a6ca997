"""Is the law uniform, as far as the first L levels can see?

``a² D_L`` is referred to the weighted χ² law with the eigenvalues of ``½ Σ_L`` under uniformity.
To first order ``2 n I_1`` is Rayleigh's statistic, ``2 n I_2`` Bingham's, and ``2 n D_L`` the sum
of all up to L; the classical forms are shown beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from steradian.inference import concerns
from steradian.inference.sample import Sample
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.chi_square_mixture import mixture_sf


@dataclass(frozen=True, eq=False, repr=False)
class Uniformity:
    """Tests of uniformity through each level.

    Attributes
    ----------
    levels, dof : arrays of int, (L,)
        1..L and the number of features through each level.
    statistic : array, (L,)
        2 a² D_L.
    pvalue : array, (L,)
        From the null law of the design.
    classical : array, (L,)
        a² |m_l|², the score statistic of level l alone: Rayleigh's at level 1, Bingham's at 2.
    classical_pvalue : array, (L,)
        By χ² with the features of level l, which holds for equal weights only.
    warnings : tuple of str
        What speaks against trusting a p-value.
    """

    levels: IntArray
    dof: IntArray
    statistic: Array
    pvalue: Array
    classical: Array
    classical_pvalue: Array
    design: str
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        arrays = ("levels", "dof", "statistic", "pvalue", "classical", "classical_pvalue")
        values = {name: getattr(self, name).tolist() for name in arrays}
        return {"design": self.design, **values, "warnings": list(self.warnings)}

    def __repr__(self) -> str:
        return f"Uniformity({len(self.levels)} levels, p = {_shown(self.pvalue)})"

    def __str__(self) -> str:
        lines = [
            f"Uniformity through each level; design {self.design}",
            f"{'level':>5} {'features':>8} {'2a²D':>10} {'p':>10}   {'classical':>10} {'χ² p':>10}",
        ]
        names = {1: "Rayleigh", 2: "Bingham"}
        for k, level in enumerate(self.levels):
            lines.append(
                f"{level:>5} {self.dof[k]:>8} {self.statistic[k]:>10.4g} {self.pvalue[k]:>10.3g}   "
                f"{self.classical[k]:>10.4g} {self.classical_pvalue[k]:>10.3g} "
                f"{names.get(int(level), '')}"
            )
        return "\n".join([*lines, *(f"! {w}" for w in self.warnings)])


def _shown(values: Array) -> str:
    return ", ".join(f"{v:.3g}" for v in values)


def uniformity_tests(sample: Sample) -> Uniformity:
    """Test uniformity through every level of a sample."""
    rate = sample.rate
    dims = np.array(sample.hierarchy.dims[: len(sample.nested.solutions)])
    ends = np.cumsum(dims)
    levels = np.arange(1, len(dims) + 1)
    deficits = sample.nested.deficits[0]
    pvalues, classical = [], []
    for level in levels.tolist():
        moments = sample.moments.up_to_level(level)
        coefficients = _coefficients(sample, level, int(ends[level - 1]))
        pvalues.append(mixture_sf([rate**2 * deficits[level - 1]], coefficients[None])[0])
        added = moments[ends[level - 1] - dims[level - 1] :]
        classical.append(rate**2 * float(added @ added))
    crowded = concerns.of_crowding(sample)
    if crowded:  # 2 n D_2 is not χ² in so high a dimension
        pvalues[1] = np.nan
    return Uniformity(
        levels=levels,
        dof=ends,
        statistic=2.0 * rate**2 * deficits,
        pvalue=np.array(pvalues),
        classical=np.array(classical),
        classical_pvalue=np.asarray(chi2.sf(classical, dims)),
        design=sample.design.name,
        warnings=(*concerns.of_weights(sample), *crowded),
    )


def _coefficients(sample: Sample, level: int, p: int) -> Array:
    """Eigenvalues of ½ Σ_L at the uniform law, whose features are white."""
    if sample.design.name in {"iid", "fixed"}:
        return np.full(p, 0.5)
    if not sample.has_rows:
        sigma = sample.covariance(level, np.zeros(p))
    else:
        units = sample.units
        phi = sample.hierarchy.features(sample.rows.x)[:, :p]
        sigma = units.rate**2 * units.covariance(phi, 0.0)
    return np.maximum(np.linalg.eigvalsh(0.5 * sigma)[::-1], 0.0)
