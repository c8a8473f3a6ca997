"""The printed profile: a table that fits a screen."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steradian.profile import Profile

_NOTHING = 1e-12  # nats of which shares would be shares of rounding


def summarise(profile: Profile) -> str:
    """Header, one line per level, and what the reader should know besides."""
    total = float(profile.deficits[-1])
    lines = [
        f"Geometric information profile on the {profile.moments.hierarchy.space.name}"
        f" (d = {profile.d}), in nats",
        f"n = {profile.n}   Kish ESS = {profile.ess:.1f} (weight concentration)",
        f"mean resultant length R = {profile.resultant:.4f}   vMF kappa = {profile.kappa:.4g}",
        "",
        f"{'level':>5} {'features':>8} {'D':>10} {'I':>10} {'U':>9} {'share':>7} "
        f"{'residual':>9} {'quad.err':>9}",
    ]
    numerics = profile.numerics
    for k, level in enumerate(profile.levels):
        share = f"{profile.gaps[k] / total:7.1%}" if total > _NOTHING else f"{'–':>7}"
        lines.append(
            f"{level:>5} {profile.dims[k]:>8} {profile.deficits[k]:>10.5f} "
            f"{profile.gaps[k]:>10.5f} {profile.uncertainty[k]:>9.4f} {share} "
            f"{numerics.residual[k]:>9.0e} {numerics.quadrature[k]:>9.0e}"
        )
    lines += ["", "D deficit from uniform, I information added by the level, U = exp(-D)."]
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
    return "\n".join(lines)
