"""The printed profile: what was read, what was found, and whether to believe it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from steradian.numerics.tolerances import EQUAL_SIZE, POINTS_NOWHERE
from steradian.profile.findings import findings
from steradian.profile.level_table import LevelTable
from steradian.profile.principal_axes import READABLE, principal_axes, second_moment
from steradian.references.base import reference_words
from steradian.spaces.base import classical_values
from steradian.text.messages import arguments
from steradian.text.phrases import say
from steradian.wording import digits, in_lines, pvalue_words, sentence

if TYPE_CHECKING:
    from steradian.profile.profile import Profile

_WIDTH = 80
_COLUMNS = "level", "features", "D", "I", "U", "residual", "quad.err"


def summarise(profile: Profile, patience: float, *, verbose: bool = False) -> str:
    """What was read, the data in short, the levels, the findings, the three answers."""
    table = LevelTable.of(profile, patience)
    parts = [
        *_reading(profile),
        *_head(profile),
        "",
        str(table),
        "",
        *_legend(profile),
        *(line for said in findings(table) for line in _wrapped(sentence(str(said)))),
        *_remarks(profile),
        "",
        profile.trust().shown(verbose=verbose),
    ]
    return "\n".join([*parts, *(_details(profile, table) if verbose else [])])


def _wrapped(text: str) -> list[str]:
    return in_lines(text, _WIDTH)


# --- the data in short ------------------------------------------------------------------------


def _reading(profile: Profile) -> list[str]:
    """What was understood of the source, first of all."""
    reading = profile.reading
    return [] if reading is None else [*textwrap.wrap(reading.words, _WIDTH), ""]


def _head(profile: Profile) -> list[str]:
    space = profile.moments.hierarchy.space
    return [
        *_wrapped(f"Geometric information profile on the {space.name} (d = {profile.d}), in nats"),
        *_counts(profile),
        *(line for said in _where(profile) for line in _wrapped(said)),
        *_classical(profile),
    ]


def data_in_short(profile: Profile) -> list[str]:
    """What was read, how many rows, where they point, and what textbooks print of them."""
    read = [] if profile.reading is None else [profile.reading.words]
    space = profile.moments.hierarchy.space
    short = [f"on the {space.name} (d = {profile.d})", *_counts(profile), *_where(profile)]
    classical = " ".join(_classical(profile))
    said = [*read, *short, *([classical] if classical else []), *_remarks(profile)]
    return [one.replace("   ", ", ") for one in said]


def _counts(profile: Profile) -> list[str]:
    """Rows, what their weights are worth, and how long their mean is."""
    rows = f"n = {profile.n}"
    if not _equal_weights(profile):
        rows += f"   Kish ESS = {profile.ess:.1f} (weight concentration)"
        return [rows, "   ".join(_mean(profile))] if _mean(profile) else [rows]
    return ["   ".join([rows, *_mean(profile)])]


def _equal_weights(profile: Profile) -> bool:
    return bool(np.isclose(profile.ess, profile.n, rtol=EQUAL_SIZE))


def _mean(profile: Profile) -> list[str]:
    if not profile.has_mean:
        return []
    said = [f"R = {digits(profile.resultant)} (mean resultant length)"]
    return [*said, f"von Mises-Fisher κ = {digits(profile.kappa)}"] if profile.has_kappa else said


def _zero(profile: Profile) -> str:
    """The law of zero information, in a word or two."""
    return "the reference" if reference_words(profile.moments.hierarchy.space) else "uniform"


def _where(profile: Profile) -> list[str]:
    """Where the mean points to, and the axis where that says more."""
    lines = []
    if points_somewhere(profile):
        lines.append(f"mean direction{in_words(profile)}")
    return [*lines, *principal_axes(profile)]


def points_somewhere(profile: Profile) -> bool:
    """Whether its mean has a direction that people read."""
    readable = profile.has_mean and profile.d <= READABLE
    return readable and bool(profile.resultant >= POINTS_NOWHERE)


def in_words(profile: Profile) -> str:
    """The mean direction as the data were written; Cartesian where nothing else is known."""
    mean = profile.fits[1].mean()
    point = mean / np.linalg.norm(mean)
    known = profile.reading
    told = None if known is None or known.within else known.notation
    if told is None:
        return f" ({', '.join(f'{c:.4f}' for c in point)})"
    return f": {told.words(point)}" if told.convention.angular else f" {told.words(point)}"


def _classical(profile: Profile) -> list[str]:
    """What textbooks print of such data: of rows of one law and equal weight, as they ask for."""
    if not profile.design.defines_inference or profile.shrinkage is not None:
        return []
    if not (profile.design.rows_of_one_law and _equal_weights(profile)):
        return []
    space, m = profile.moments.hierarchy.space, profile.moments
    known = classical_values(space, profile.n, m.mean, second_moment(profile))
    said = [
        f"{one.name} {digits(one.value)}{one.unit}"
        + ("" if np.isnan(one.pvalue) else f" ({pvalue_words(one.pvalue)})")
        for one in known
    ]
    return _wrapped(f"classical: {', '.join(said)}") if said else []


# --- what the table means ---------------------------------------------------------------------


def _legend(profile: Profile) -> list[str]:
    """What the columns are, in a sentence."""
    noise = np.isfinite(profile.noise).all()
    what = "what chance alone gives"
    if not profile.design.equal_weights:
        what = "by how much chance makes nats too large"
    said = f"All levels: {digits(profile.deficits[-1])} nats from {_zero(profile)}."
    if noise:
        said += f" noise: {what}."
    return _wrapped(said)


def _remarks(profile: Profile) -> list[str]:
    """What the reader should know besides."""
    lines = [] if profile.design.defines_inference else profile.design.in_short.splitlines()
    rounding = float(profile.numerics.moment_rounding.max())
    if rounding > 1e-10:
        lines.append(f"Rounding of the moments moves D by up to {rounding:.0e} nats.")
    if profile.shrinkage:
        lines.append(sentence(f"shrunk: {profile.shrinkage.diagnostic.words}"))
    if profile.ambient > profile.d:
        lines += _wrapped(
            f"Within the {profile.d} of {profile.ambient} dimensions the data span: relative to "
            "uniform there."
        )
    lines += _sky(profile)
    lines += _one_hemisphere(profile)
    if profile.chosen == 0:
        lines += _wrapped(sentence(say("no_levels_chosen")))
    if profile.stopped is not None:
        lines += textwrap.wrap(sentence(f"stopped: {profile.stopped}"), _WIDTH)
    return lines


def _sky(profile: Profile) -> list[str]:
    """What is asked of everybody who looks at a sky."""
    known = profile.reading
    if known is None or known.notation.convention.frame != "sky":
        return []
    if reference_words(profile.moments.hierarchy.space):
        return []
    return _wrapped(
        f"Was the whole sky seen evenly? If not, say what was with {arguments(reference=...)}: its "
        "edges count as structure here."
    )


def _one_hemisphere(profile: Profile) -> list[str]:
    """What is asked of everybody whose lines all point downwards."""
    known, rows = profile.reading, profile.directions
    if known is None or known.axial or known.within or rows is None:
        return []
    if not known.notation.convention.on_one_side(rows.x):
        return []
    return _wrapped(
        "Do these lines have a sign? None points upwards: lines that are only written so have "
        "none, and the hemisphere counts as a mean direction here. Try "
        f"{arguments(axial=True)}."
    )


# --- for those who ask ------------------------------------------------------------------------


def _details(profile: Profile, table: LevelTable) -> list[str]:
    """Certificates of every level, and how each p-value was found."""
    n = profile.numerics
    rows = [_COLUMNS]
    for k, level in enumerate(profile.levels):
        rows.append((
            str(level), str(profile.dims[k]), f"{profile.deficits[k]:.5f}",
            f"{profile.gaps[k]:.5f}", f"{profile.uncertainty[k]:.4g}", f"{n.residual[k]:.0e}",
            f"{_shown(n.quadrature[k]):.0e}",
        ))  # fmt: skip
    widths = [max(len(row[c]) for row in rows) for c in range(len(_COLUMNS))]
    lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    zero = _zero(profile)
    lines.append(f"D deficit from {zero}, I information the level's features add, U = exp(-D).")
    lines += _wrapped(f"Design {profile.design.name}: {profile.design.sentence}")
    if table.tests is not None:
        lines += [f"p of level {k}: {how}" for k, how in enumerate(table.tests.methods, 1)]
        lines += [line for said in table.tests.diagnostics for line in _wrapped(f"! {said}")]
    return ["", *lines]


def _shown(error: float) -> float:
    """An estimate below rounding says no more than that it is below rounding."""
    return max(error, 1e-16) if error else 0.0
