"""How the gaps move with what should not matter, with what is mixed in, and with a ridge penalty.

Three tables: gaps against the share of another law mixed into the data, against the size of the
quadrature, and under random rotations. The last two show rounding when all is well.

**Ridge-penalised fits** are a diagnosis of ill-conditioned data, not exact GID. Each level
maximises ``λ·m - ψ(λ) - α|λ|²/2``, so that ``E_λ φ + αλ = m``: the moments are not matched, the
levels are not nested, differences of entropies are neither divergences nor bound to be positive,
and they depend on the coordinates of the features (paper, appendix on boundary and
regularisation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import random_generator, real_number, refuse_too_many, whole_number
from steradian.data.moments import Moments
from steradian.data.source import as_source, measured, support_of
from steradian.data.validation import as_numeric
from steradian.errors import ConvergenceError, InvalidArgument
from steradian.fitting.nested import fit_levels
from steradian.fitting.newton import DenseCurvature, newton
from steradian.fitting.shrinkage import Shrinkage, Target
from steradian.fitting.solution import NO_RUNG, DualSolution
from steradian.hierarchies.base import Hierarchy
from steradian.io.records import without_nan
from steradian.notebook import NotebookView
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import RIDGE_STATIONARY
from steradian.progress import tracked
from steradian.text.table import Column, Table

if TYPE_CHECKING:
    from steradian.decomposition import Profile


REACHES = (0.5, 0.75, 1.0, 1.5, 2.0)  # of the degree that the grid of the fit integrates exactly


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sensitivity(NotebookView):
    """Gaps under shrinkage of both kinds, on other grids, and after rotations.

    Attributes
    ----------
    epsilon : array, (K,)
        Shares; 0 is the data themselves.
    uniform, below : arrays, (K, L)
        Gaps in nats after mixing with the uniform law, and with the level below. NaN where
        a level does not exist.
    reach : array, (G,)
        Sizes of the grid, as multiples of the degree that the grid of the fit integrates.
    quadrature : array, (G, L)
        Gaps on those grids; NaN where a grid is too coarse for Newton's method or a level was
        fitted on pieces of its own. Levels in closed form, and by contours, stay as they are; all
        are NaN where no level was fitted on a grid.
    rotated : array, (R, L)
        Gaps after random rotations of the data, or other symmetries of their space; no row
        where the features do not turn with them.
    gaps : array, (L,)
        Those of the profile.
    """

    epsilon: Array
    uniform: Array
    below: Array
    reach: Array
    quadrature: Array
    rotated: Array
    gaps: Array

    @property
    def quadrature_change(self) -> float:
        """Largest change of a gap on a grid twice as fine, nats; NaN where there is none."""
        return _largest(self.quadrature[-1] - self.gaps)

    @property
    def rotation_change(self) -> float:
        """Largest change of a gap under the rotations, nats."""
        return _largest(self.rotated - self.gaps)

    def __repr__(self) -> str:
        return (
            f"Sensitivity({len(self.epsilon)} shares, {len(self.reach)} grids, "
            f"{len(self.rotated)} rotations, {len(self.gaps)} levels)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON and for plots."""
        names = ("epsilon", "uniform", "below", "reach", "quadrature", "rotated", "gaps")
        values = {name: getattr(self, name).tolist() for name in names}
        changes = {name: getattr(self, name) for name in ("quadrature_change", "rotation_change")}
        return dict(without_nan({**values, **changes, "unit": "nats"}))

    def plot(self, ax: Any = None) -> Any:
        """Draw gaps against shares mixed in on axes, new ones unless given (needs matplotlib)."""
        from steradian.plots import sensitivity_curves

        return sensitivity_curves(self, ax)

    def to_frame(self) -> Any:
        """Gaps by share and level as a pandas frame (pandas must be installed)."""
        from steradian.io.frames import frame_of_columns

        count = self.uniform.shape[1]
        table = {
            "share": np.repeat(self.epsilon, count),
            "level": np.tile(np.arange(1, count + 1), len(self.epsilon)),
            "with_uniform": self.uniform.ravel(),
            "with_level_below": self.below.ravel(),
        }
        return frame_of_columns(table)

    def __str__(self) -> str:
        head = "".join(f"{f'I{k + 1}':>8}" for k in range(self.uniform.shape[1]))
        width = len(head)
        lines = [
            "Gaps in nats when a share of another law is mixed into the data",
            f"{'share':>6}  {'with uniform':^{width}}  {'with the level below':^{width}}",
            f"{'':>6}  {head}  {head}",
        ]
        for k, epsilon in enumerate(self.epsilon):
            rows = ["".join(f"{g:>8.4f}" for g in part[k]) for part in (self.uniform, self.below)]
            lines.append(f"{epsilon:>6g}  {rows[0]}  {rows[1]}")
        lines += ["", "Largest change of a gap in nats"]
        for reach, row in zip(self.reach, self.quadrature, strict=True):
            if reach != 1.0 and np.isfinite(row).any():
                lines.append(f"  grid {reach:4g} times as fine: {_shown(row - self.gaps)}")
        if not np.isfinite(self.quadrature).any():
            lines.append("  grids: left out, since no level was fitted on a ladder of them")
        said = f"{len(self.rotated)} random rotations: {_shown(self.rotated - self.gaps)}"
        if not len(self.rotated):
            said = "rotations: left out, since moments of these features are not turned"
        lines.append(f"  {said}")
        return "\n".join(lines)


def _largest(change: Array) -> float:
    known = np.abs(change[np.isfinite(change)])
    return float(known.max()) if len(known) else float("nan")


def _shown(change: Array) -> str:
    return f"{_largest(change):.1e}" + ("" if np.isfinite(change).all() else " (some levels only)")


def sensitivity_of(
    profile: Profile, epsilons: Sequence[float], rotations: int, seed: int
) -> Sensitivity:
    """Fit the same moments again in every way."""
    shares = np.asarray(as_numeric(epsilons, "epsilons"), dtype=np.float64)
    if shares.ndim != 1 or not len(shares):
        raise InvalidArgument("epsilons is empty or no list; give shares like (0.0, 0.01)")
    refuse_too_many(whole_number(rotations, "rotations", least=1), profile.d**2, "rotations")
    random_generator(seed, "seed")
    return Sensitivity(
        epsilon=shares,
        uniform=_mixed(profile, shares.tolist(), "uniform"),
        below=_mixed(profile, shares.tolist(), "below"),
        reach=np.array(REACHES),
        quadrature=np.array([_on_other_grids(profile, reach) for reach in REACHES]),
        rotated=_turned(profile, rotations, seed),
        gaps=profile.nested.gaps[0],
    )


def _mixed(profile: Profile, epsilons: Sequence[float], toward: Target) -> Array:
    hierarchy, stack, rows = profile.moments.hierarchy, profile.moments.stack(), []
    for epsilon in tracked(epsilons, len(epsilons), f"mixtures, toward {toward}"):
        shrinkage = Shrinkage(epsilon, toward) if epsilon else None
        rows.append(fit_levels(hierarchy, stack, support_of(profile.directions), shrinkage).gaps[0])
    return np.stack(rows)


def _on_other_grids(profile: Profile, reach: float) -> Array:
    """Gaps when every level on a grid is solved on one of another size, (L,)."""
    deficits, gridded = [0.0], False
    for fit, solution in zip(profile.fits[1:], profile.nested.solutions, strict=True):
        family = fit.hierarchy.family(fit.level)
        if family.has_rule and not _closed(solution):
            served = family.resolved_by(int(solution.rungs[0]))
            deficits.append(served.deficit_on(reach, fit.moments, fit.lam))
            gridded = True
        else:
            deficits.append(fit.deficit)
    return np.diff(deficits) if gridded else np.full(len(deficits) - 1, np.nan)


def _closed(solution: DualSolution) -> bool:
    """Whether a fit of one row stays the same on all grids: in closed form, or by a contour."""
    by_contour = solution.rungs[0] == NO_RUNG and solution.laws[0] is None
    return bool(not solution.nodes[0] or by_contour)


def _turned(profile: Profile, turns: int, seed: int) -> Array:
    """Gaps after random symmetries of the space, (turns, L); none where gaps follow them."""
    hierarchy: Hierarchy = profile.moments.hierarchy
    still = profile.moments.stack()
    rng = np.random.default_rng(seed)
    found = []
    for _ in tracked(range(turns), turns, "rotations"):
        turned = hierarchy.turned(still, hierarchy.space.symmetry(rng))
        if turned is None:
            return np.empty((0, hierarchy.levels))
        found.append(fit_levels(hierarchy, turned, None, profile.shrinkage).gaps)
    return np.concatenate(found)


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
        table = Table(
            Column("level", self.levels, width=5),
            Column("entropy drop", self.entropy_drop, ".5f", 13),
            Column("step", self.entropy_step, ".5f", 10),
            Column("exact gap", self.exact_gaps, ".5f", 10),
            Column("change", self.change, ".1e", 9),
            Column("moments missed by", self.mismatch, ".1e", 18),
        )
        title = f"Ridge-penalised fits, alpha = {self.alpha:g}: {LABEL.upper()}"
        end = "Steps are no divergences and may be negative; do not test them."
        return "\n".join([title, str(table), end])


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
    >>> from steradian.paper import ridge
    >>> ridge([[1, 0, 0], [0, 1, 0], [0, 0, 1]], 0.01, levels=2)
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
