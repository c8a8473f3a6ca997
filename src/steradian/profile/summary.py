"""The printed profile: a table that fits a screen."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from steradian.numerics.tolerances import NOTHING

if TYPE_CHECKING:
    from steradian.profile.profile import Profile

_READABLE = 3  # coordinates of a direction that people read


def _shown(error: float) -> float:
    """An estimate below rounding says no more than that it is below rounding."""
    return max(error, 1e-16) if error else 0.0


def summarise(profile: Profile) -> str:
    """Header, one line per level, and what the reader should know besides."""
    total = float(profile.deficits[-1])
    lines = [
        f"Geometric information profile on the {profile.moments.hierarchy.space.name}"
        f" (d = {profile.d}), in nats",
        f"n = {profile.n}   Kish ESS = {profile.ess:.1f} (weight concentration)",
        *_direction(profile),
        "",
        f"{'level':>5} {'features':>8} {'D':>10} {'I':>10} {'U':>9} {'share':>7} "
        f"{'residual':>9} {'quad.err':>9}",
    ]
    numerics = profile.numerics
    for k, level in enumerate(profile.levels):
        share = f"{profile.gaps[k] / total:7.1%}" if total > NOTHING else f"{'–':>7}"
        lines.append(
            f"{level:>5} {profile.dims[k]:>8} {profile.deficits[k]:>10.5f} "
            f"{profile.gaps[k]:>10.5f} {profile.uncertainty[k]:>9.4g} {share} "
            f"{numerics.residual[k]:>9.0e} {_shown(numerics.quadrature[k]):>9.0e}"
        )
    lines += [
        "",
        "D deficit from uniform, I information the level's features add, U = exp(-D).",
        *_design(profile),
    ]
    rounding = float(numerics.moment_rounding.max())
    if rounding > 1e-10:
        lines.append(f"Rounding of the moments moves D by up to {rounding:.0e} nats.")
    if profile.shrinkage:
        lines.append(f"Shrunk: the data were {profile.shrinkage.words}.")
    if profile.ambient > profile.d:
        lines.append(
            f"Within the {profile.d} of {profile.ambient} dimensions the data span: relative to "
            "uniform there."
        )
    if profile.stopped:
        lines.append(textwrap.fill(f"Stopped: {profile.stopped}.", 80))
    return "\n".join([*lines, "", "Can it be trusted?", str(profile.trust())])


def _design(profile: Profile) -> list[str]:
    """What the numbers mean for inference."""
    name = profile.design.name
    if profile.shrinkage is not None:
        return [f"Design {name}; fits of shrunk data describe, and are not tested."]
    if not profile.design.defines_inference:
        return ["Design descriptive: the weighted set itself; no p-values (say design= for more)."]
    if profile.design.equal_weights:
        return ["Design iid. With nothing to find, I is still about features / 2n: see tests()."]
    return [f"Design {name}. With nothing to find, I is still above zero: see tests()."]


def _direction(profile: Profile) -> list[str]:
    """How long the mean is, and where it points to where that can be read."""
    if not profile.has_mean:
        return []
    length = profile.resultant
    said = f"mean resultant length R = {length:.4f}   vMF kappa = {profile.kappa:.4g}"
    if profile.d > _READABLE or length < 1e-9:
        return [said]
    coordinates = ", ".join(f"{c / length:.4f}" for c in profile.fits[1].mean())
    return [said, f"mean direction ({coordinates})"]
