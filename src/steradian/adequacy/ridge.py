"""Ridge-penalised fits: a diagnosis of ill-conditioned data, not exact GID.

Each level maximises ``λ·m - ψ(λ) - α|λ|²/2``, so that ``E_λ φ + αλ = m``: the moments are not
matched, the levels are not nested, differences of entropies are neither divergences nor bound to
be positive, and they depend on the coordinates of the features (paper, appendix on boundary and
regularisation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import real_number
from steradian.data.moments import Moments
from steradian.data.source import as_source, measured, support_of
from steradian.errors import ConvergenceError, InvalidArgument
from steradian.fitting.nested import fit_levels
from steradian.fitting.newton import DenseCurvature, newton
from steradian.io.records import without_nan
from steradian.notebook import NotebookView
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import RIDGE_STATIONARY

LABEL = "not exact GID"
_MOST_FEATURES = 300  # of a level whose covariance is formed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RidgeNotExact(NotebookView):
    """Penalised fits of levels 1..L. Not exact GID: there are no gaps here, and no tests.

    Attributes
    ----------
    alpha : float
        The penalty α.
    levels : array of int, (L,)
        1..L.
    lam : tuple of arrays
        Penalised natural parameters of each level.
    entropy_drop : array, (L,)
        KL of the penalised law from uniform, nats: what a deficit becomes.
    entropy_step : array, (L,)
        Its differences; may be negative, and are no divergences.
    dual_value : array, (L,)
        ``λ·m - ψ(λ)``: what the deficit loses to the penalty, never above the exact one.
    mismatch : array, (L,)
        ``max |m - E_λ φ| = α max |λ|``: how far the moments are missed.
    exact_gaps : array, (L,)
        Gaps of the unpenalised fits to the same data, where they exist.
    """

    alpha: float
    levels: IntArray
    lam: tuple[Array, ...]
    entropy_drop: Array
    dual_value: Array
    mismatch: Array
    exact_gaps: Array

    @property
    def entropy_step(self) -> Array:
        """Differences of `entropy_drop`, (L,); not gaps."""
        return np.diff(self.entropy_drop, prepend=0.0)

    @property
    def change(self) -> Array:
        """By how much the penalty moves each exact gap, (L,), nats."""
        return self.entropy_step - self.exact_gaps

    def __repr__(self) -> str:
        return f"RidgeNotExact(alpha={self.alpha:g}, {len(self.levels)} levels; {LABEL})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON, with the label."""
        record = {
            "kind": f"ridge-penalised fits, {LABEL}",
            "exact_gid": False,
            "alpha": self.alpha,
            "levels": self.levels.tolist(),
            "entropy_drop": self.entropy_drop.tolist(),
            "entropy_step": self.entropy_step.tolist(),
            "dual_value": self.dual_value.tolist(),
            "mismatch": self.mismatch.tolist(),
            "change_from_exact": self.change.tolist(),
            "lam": [lam.tolist() for lam in self.lam],
        }
        return dict(without_nan(record))

    def __str__(self) -> str:
        lines = [
            f"Ridge-penalised fits, alpha = {self.alpha:g}: {LABEL.upper()}",
            f"{'level':>5} {'entropy drop':>13} {'step':>10} {'exact gap':>10} {'change':>9} "
            f"{'moments missed by':>18}",
        ]
        for k, level in enumerate(self.levels):
            lines.append(
                f"{level:>5} {self.entropy_drop[k]:>13.5f} {self.entropy_step[k]:>10.5f} "
                f"{self.exact_gaps[k]:>10.5f} {self.change[k]:>9.1e} {self.mismatch[k]:>18.1e}"
            )
        return "\n".join(
            [*lines, "Steps are no divergences and may be negative; do not test them."]
        )


def ridge(
    data: Any, alpha: float, *, levels: int | None = None, weights: ArrayLike | str | None = None
) -> RidgeNotExact:
    """Fit with a Euclidean penalty, for diagnosis; the result is not exact GID.

    Parameters
    ----------
    data, levels, weights
        As for `profile`.
    alpha : float
        The penalty α > 0, on orthonormal features.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.ridge([[1, 0, 0], [0, 1, 0], [0, 0, 1]], 0.01, levels=2)
    RidgeNotExact(alpha=0.01, 2 levels; not exact GID)
    """
    alpha = real_number(alpha, "alpha", "give a positive number like 1e-8")
    if not alpha > 0.0:
        raise InvalidArgument(f"alpha is {alpha!r}; give a positive number like 1e-8")
    moments, directions = measured(as_source(data, weights), levels)
    exact = fit_levels(moments.hierarchy, moments.stack(), support_of(directions))
    fits, lam = [], np.zeros(0)
    for level in range(1, moments.hierarchy.levels + 1):
        fits.append(_solve(moments, level, lam, alpha))
        lam = fits[-1].lam
    drop, dual, missed = np.array([(f.drop, f.dual, f.missed) for f in fits]).T
    found = tuple(f.lam for f in fits)
    levels_ = np.arange(1, len(fits) + 1)
    return RidgeNotExact(float(alpha), levels_, found, drop, dual, missed, exact.gaps[0])


@dataclass(frozen=True, slots=True)
class _Level:
    """One penalised fit."""

    lam: Array
    drop: float
    dual: float
    missed: float


def _solve(moments: Moments, level: int, below: Array, alpha: float) -> _Level:
    """The penalised fit of one level, from that of the level below."""
    family, m = moments.hierarchy.family(level), moments.up_to_level(level)
    if family.q > _MOST_FEATURES:
        raise InvalidArgument(
            f"level {level} has {family.q} features, and ridge is offered up to "
            f"{_MOST_FEATURES}; shrinkage works in any dimension"
        )

    def evaluate(lam: Array, _rows: IntArray) -> DenseCurvature:
        psi, mean, covariance = family.log_partition(lam)
        penalty = 0.5 * alpha * np.einsum("bq,bq->b", lam, lam)
        return DenseCurvature(
            psi + penalty, mean + alpha * lam, covariance + alpha * np.eye(len(m))
        )

    start = np.zeros((1, family.q))
    start[0, : len(below)] = below
    lam = newton(evaluate, m[None], start).lam
    (psi,), (mean,), _ = family.log_partition(lam)
    lam = lam[0]
    left = float(np.abs(m - mean - alpha * lam).max())
    if not left <= RIDGE_STATIONARY:
        cause = f"of the penalised fit misses its equation by {left:.1e}"
        raise ConvergenceError(level, cause, "raise alpha")
    missed = float(np.abs(m - mean).max())
    return _Level(lam, float(lam @ mean - psi), float(lam @ m - psi), missed)
