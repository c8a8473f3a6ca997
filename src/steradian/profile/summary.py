"""The printed profile: a table that fits a screen."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from steradian.numerics.tolerances import NOTHING
from steradian.references.base import reference_words

if TYPE_CHECKING:
    from steradian.profile.profile import Profile

_READABLE = 3  # coordinates of a direction that people read
_WHOLE = 100.0  # nats of noise, from which they are shown as a whole number
_COLUMNS = "level", "features", "D", "I", "noise", "U", "share", "residual", "quad.err"
_WIDTHS = 5, 8, 10, 10, 7, 9, 7, 8, 8  # of the columns, 80 with what is between


def _shown(error: float) -> float:
    """An estimate below rounding says no more than that it is below rounding."""
    return max(error, 1e-16) if error else 0.0


def summarise(profile: Profile) -> str:
    """Header, one line per level, and what the reader should know besides."""
    total = float(profile.deficits[-1])
    noise = bool(np.isfinite(profile.noise).all())
    lines = [
        *_reading(profile),
        *textwrap.wrap(
            f"Geometric information profile on the {profile.moments.hierarchy.space.name}"
            f" (d = {profile.d}), in nats",
            80,
        ),
        f"n = {profile.n}   Kish ESS = {profile.ess:.1f} (weight concentration)",
        *_direction(profile),
        "",
        _row(_COLUMNS, noise),
    ]
    lines += [_row(_cells(profile, k, total), noise) for k in range(len(profile.levels))]
    lines += [
        "",
        f"D deficit from {_zero(profile)}, I information the level's features add, U = exp(-D).",
        *_design(profile, noise),
    ]
    rounding = float(profile.numerics.moment_rounding.max())
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


def _cells(profile: Profile, k: int, total: float) -> tuple[str, ...]:
    """What the table says about one level."""
    numerics = profile.numerics
    return (
        str(profile.levels[k]),
        str(profile.dims[k]),
        f"{profile.deficits[k]:.5f}",
        f"{profile.gaps[k]:.5f}",
        f"{profile.noise[k]:{'.0f' if profile.noise[k] >= _WHOLE else '.2g'}}",
        f"{profile.uncertainty[k]:.4g}",
        f"{profile.gaps[k] / total:.1%}" if total > NOTHING else "–",
        f"{numerics.residual[k]:.0e}",
        f"{_shown(numerics.quadrature[k]):.0e}",
    )


def _row(cells: tuple[str, ...], noise: bool) -> str:
    """A line of the table, with or without what noise gives."""
    shown = zip(_COLUMNS, cells, _WIDTHS, strict=True)
    return " ".join(f"{cell:>{w}}" for name, cell, w in shown if noise or name != "noise")


def _design(profile: Profile, noise: bool) -> list[str]:
    """What the numbers mean for inference."""
    if profile.shrinkage is not None:
        said = f"Design {profile.design.name}; fits of shrunk data describe, and are not tested."
        return [said] if profile.design.defines_inference else [profile.design.in_short, said]
    if not noise:
        return [profile.design.in_short]
    too_large = "by what I is on average too large"
    what = (
        "what I is on average with nothing to find" if profile.design.equal_weights else too_large
    )
    return [f"Design {profile.design.name}. Noise: {what}; see tests()."]


def _direction(profile: Profile) -> list[str]:
    """How long the mean is, and where it points to where that can be read."""
    if not profile.has_mean:
        return _axis(profile)
    length = profile.resultant
    said = f"mean resultant length R = {length:.4f}"
    said += f"   vMF kappa = {profile.kappa:.4g}" if profile.has_kappa else ""
    if profile.d > _READABLE or length < 1e-9:
        return [said]
    return [said, f"mean direction{in_words(profile)}"]


def _zero(profile: Profile) -> str:
    """The law of zero information, in a word or two."""
    return "the reference" if reference_words(profile.moments.hierarchy.space) else "uniform"


def _axis(profile: Profile) -> list[str]:
    found = axis_in_words(profile)
    return [f"principal axis: {found}"] if found else []


def axis_in_words(profile: Profile) -> str:
    """The axis that rows without a sign are closest to, in their own convention; else empty."""
    known, moments = profile.reading, profile.moments
    if known is None or known.within or not known.axial:
        return ""
    told, mean = known.notation, moments.mean
    values, axes = np.linalg.eigh(moments.scatter / moments.weight + np.outer(mean, mean))
    axis = axes[:, -1] * (np.sign(axes[np.flatnonzero(axes[:, -1])[-1], -1]))
    share = values[-1] / values.sum()
    return f"{told.words(axis)} (mean square {share:.3f})"


def in_words(profile: Profile) -> str:
    """The mean direction as the data were written; Cartesian where nothing else is known."""
    mean = profile.fits[1].mean()
    point = mean / np.linalg.norm(mean)
    known = profile.reading
    told = None if known is None or known.within else known.notation
    if told is None:
        return f" ({', '.join(f'{c:.4f}' for c in point)})"
    return f": {told.words(point)}" if told.convention.angular else f" {told.words(point)}"


def _reading(profile: Profile) -> list[str]:
    """What was understood of the source, first of all."""
    reading = profile.reading
    return [] if reading is None else [*textwrap.wrap(reading.words, 80), ""]
