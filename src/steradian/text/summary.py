"""The printed profile: what was read, what was found, and whether to believe it."""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING

import numpy as np

import steradian
from steradian.inference.effort import SOON
from steradian.numerics.tolerances import EQUAL_SIZE
from steradian.plots.palette import level_colour
from steradian.references.base import reference_words
from steradian.spaces.base import classical_values
from steradian.text.levels import LevelTable, findings, names_of
from steradian.text.messages import arguments
from steradian.text.numbers import counted, digits, in_lines, listed, pvalue_words, sentence
from steradian.text.phrases import say
from steradian.text.places import in_words, points_somewhere, principal_axes, second_moment
from steradian.text.table import Column, Table

if TYPE_CHECKING:
    from steradian.decomposition import Profile


_WIDTH = 80


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
    numbers = Table(
        Column("level", profile.levels),
        Column("features", profile.dims, gap=2),
        Column("D", profile.deficits, ".5f", gap=2),
        Column("I", profile.gaps, ".5f", gap=2),
        Column("U", profile.uncertainty, ".4g", gap=2),
        Column("residual", n.residual, ".0e", gap=2),
        Column("quad.err", [_shown(error) for error in n.quadrature], ".0e", gap=2),
    )
    lines = numbers.lines()
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


CITATION = f"""\
You, K. and Cho, S. Geometric Information Decomposition for Weighted Empirical
Measures on the Sphere.

steradian, version {steradian.__version__}. Geometric information decomposition of weighted
directions. BSD 3-Clause.

@software{{steradian,
  title   = {{steradian: geometric information decomposition of weighted directions}},
  author  = {{{{The steradian developers}}}},
  version = {{{steradian.__version__}}}
}}
"""


def methods_paragraph(profile: Profile, table: LevelTable) -> str:
    """What was done, in the past tense and with every choice that moves a number."""
    p, space = profile, profile.moments.hierarchy.space
    names = listed([f"{k} ({name})" for k, name in enumerate(names_of(p), 1)])
    said = [
        f"The {counted(p.n, space.point_name)} were decomposed by geometric information "
        f"decomposition (You and Cho) with steradian {steradian.__version__}: nested "
        f"maximum-entropy laws on the {space.name} were fitted to their weighted moments, and the "
        "information that each level adds is the Kullback–Leibler divergence between neighbouring "
        f"fits, in nats. Levels were {names}.",
        _weights(p),
        f"The sampling design was taken as {p.design.name} ({p.design.sentence}).",
        _inference(table),
        _numerics(p),
    ]
    if p.shrinkage is not None:
        said.append(sentence(p.shrinkage.diagnostic.words))
    return " ".join(one for one in said if one)


def _weights(profile: Profile) -> str:
    if profile.design.equal_weights:
        return ""
    return f"Weights were worth {profile.ess:.1f} rows by Kish's effective size."


def _inference(table: LevelTable) -> str:
    if table.tests is None:
        return "No p-values are given, since the design defines none."
    options = table.tests.options
    noise = "Under noise alone the information of a level with q features is about q/2n nats."
    return (
        f"Each gap was tested against zero by its {options.statistic} statistic under the "
        f"{options.null} null (damped tilted covariance, exact tail of the weighted χ² law, "
        f"recalibrated by up to {options.replicates} draws where rows are few, seed "
        f"{options.seed}), with Holm's correction over levels; intervals are 95 % by an inverted "
        f"non-central χ² law. {noise}"
    )


def _numerics(profile: Profile) -> str:
    n = profile.numerics
    error = float((n.quadrature + n.moment_rounding + 0.5 * n.decrement**2).max())
    return (
        f"Moments were matched to {n.residual.max():.0e}, and the estimated numerical error of a "
        f"gap is at most {max(error, 1e-15):.0e} nats."
    )


def profile_html(profile: Profile) -> str:
    """A fragment of HTML that inherits the colours of whatever shows it."""
    table = LevelTable.of(profile, SOON)
    first, *then = (sentence(str(one)) for one in findings(table))
    said = "".join(f"<div>{escape(words)}</div>" for words in then)
    answers = "".join(
        f"<dt><b>{escape(one.question)}</b></dt><dd>{escape(one.words)}</dd>"
        for one in profile.trust().judgements
    )
    columns = table.table()
    marked = columns.html([level_colour(k) for k, _ in enumerate(columns.rows, 1)])
    about = f"{profile.n:,} rows on the {profile.moments.hierarchy.space.name}"
    return (
        f"<div><div><b>{escape(first)}</b></div>{said}<small>{escape(about)}</small>"
        f"{marked}<dl>{answers}</dl></div>"
    )
