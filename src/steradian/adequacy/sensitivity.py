"""How the gaps move with what should not matter, and with what is mixed in.

Three tables: gaps against the share of another law mixed into the data, against the size of the
quadrature, and under random rotations. The last two show rounding when all is well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.arguments import random_generator, refuse_too_many, whole_number
from steradian.data.source import support_of
from steradian.data.validation import as_numeric
from steradian.errors import InvalidArgument
from steradian.fitting.nested import fit_levels
from steradian.fitting.shrinkage import Shrinkage, Target
from steradian.fitting.solution import NO_RUNG, DualSolution
from steradian.hierarchies.base import Hierarchy
from steradian.io.records import without_nan
from steradian.notebook import NotebookView
from steradian.numerics.arrays import Array
from steradian.progress import tracked

if TYPE_CHECKING:
    from steradian.profile import Profile

DEFAULT_EPSILONS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1)
REACHES = (0.5, 0.75, 1.0, 1.5, 2.0)  # of the degree that the grid of the fit integrates exactly
ROTATIONS = 5


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
        return frame_of_columns(table, index=["share", "level"])

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
