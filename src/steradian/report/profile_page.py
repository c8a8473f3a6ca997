"""A profile as a page: the verdict, one picture, one table, three answers, and all the rest."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from steradian.errors import SteradianError
from steradian.inference.effort import WAITING
from steradian.plots.palette import level_colour
from steradian.report import Block, Figure, Page, Paragraph, Prose, Section, Table, Verbatim
from steradian.report.figures import gap_bars, mixing_curves, residual_bars
from steradian.report.scene import scene_of
from steradian.text.levels import LevelTable, findings, names_of
from steradian.text.numbers import counted, digits, pvalue_words, sentence
from steradian.text.summary import CITATION, data_in_short, methods_paragraph

if TYPE_CHECKING:
    from steradian.decomposition import Profile


USED = ("steradian", "numpy", "scipy", "ducc0")


def page_of(profile: Profile, title: str = "", call: str = "") -> Page:
    """Everything that a report of a profile says.

    ``title`` names the data; ``call`` is how the profile was asked for, where somebody knows.
    """
    table = LevelTable.of(profile, WAITING)
    trust = profile.trust()
    return Page(
        title=title or _named(profile),
        verdict=tuple(sentence(str(one)) for one in findings(table)),
        about=tuple(data_in_short(profile)),
        blocks=tuple(_first_screen(table)),
        answers=tuple((one.question, one.words) for one in trust.judgements),
        sections=tuple(_sections(table, call)),
        record=profile.to_dict(),
    )


def _named(profile: Profile) -> str:
    reading = profile.reading
    source = reading.source if reading is not None else ""
    return source or counted(profile.n, profile.moments.hierarchy.space.point_name)


# --- the first screen ------------------------------------------------------------------------


def _first_screen(table: LevelTable) -> Iterator[Block]:
    scene = scene_of(table)
    if scene is not None:
        yield scene
    yield level_rows(table)
    yield _gaps(table)


def level_rows(table: LevelTable) -> Table:
    """The printed table, with the verdict of every level."""
    columns = table.table(most=len(table.profile.levels))
    names = list(columns.head[1:])
    rows = [list(row[1:]) for row in columns.rows]
    full = names_of(table.profile)
    for k, row in enumerate(rows):
        row[0] = f"{k + 1}: {full[k]}"
    if table.tests is not None:
        names.append("verdict")
        for row, status in zip(rows, table.verdicts, strict=True):
            row.append(status.words)
    return Table(
        caption="What each level adds, in nats. Noise: what chance alone gives on average.",
        columns=("level", *names[1:]),
        rows=tuple(tuple(row) for row in rows),
        colours=tuple(level_colour(k + 1) for k in range(len(rows))),
    )


def _gaps(table: LevelTable) -> Figure:
    p = table.profile
    labels = [f"{k + 1}: {name}" for k, name in enumerate(names_of(p))]
    ends = table.intervals
    interval = None if ends is None else np.array([ends.low, ends.high])
    notes = [pvalue_words(v) if np.isfinite(v) else "" for v in table.pvalues]
    sizes = ", ".join(f"level {k + 1} {digits(v)}" for k, v in enumerate(p.gaps))
    whiskers = "; whiskers: 95% interval" if interval is not None else ""
    return Figure(
        key="gaps",
        caption=f"Information that each level adds{whiskers}; grey: what noise alone gives.",
        alt=f"Bars of the information of each level in nats: {sizes}.",
        plot=gap_bars(labels, p.gaps, p.noise, interval, notes),
    )


# --- folded ----------------------------------------------------------------------------------


def _sections(table: LevelTable, call: str) -> Iterator[Section]:
    p = table.profile
    yield Section("Tests", "Is each gap zero in the law behind the sample?", _tests(table))
    yield Section("Intervals", "How large is each gap there?", asked(p.intervals))
    yield Section("Residuals", "What does each level leave unexplained?", tuple(_residuals(p)))
    yield Section("Sensitivity", "What if a little of another law is mixed in?", _sensitivity(p))
    yield Section("Design", "How the sample came about, which decides what a p-value means.",
                  (Paragraph(_sentence(p)),))  # fmt: skip
    text = methods_paragraph(p, table)
    yield Section("Methods", "A paragraph ready to paste.", (Prose(text, "the paragraph"),))
    yield Section("How to cite", "The method and the software.", (Verbatim(CITATION, "citations"),))
    yield Section("Call and versions", "What made this report.", tuple(_provenance(p, call)))
    yield Section("Numerics", "How every number was obtained.", tuple(_numerics(p)))


def _sentence(profile: Profile) -> str:
    return f"{profile.design.name}: {profile.design.sentence}."


def asked(ask: Callable[[], object], label: str = "the numbers") -> tuple[Block, ...]:
    """What a method prints, or why it refuses."""
    try:
        return (Verbatim(str(ask()), label),)
    except SteradianError as error:
        return (Paragraph(f"Not there: {error}."),)


def _tests(table: LevelTable) -> tuple[Block, ...]:
    if table.tests is None:
        return (Paragraph(f"Not tested: {table.refusal}."),)
    return (Verbatim(str(table.tests), "the tests"),)


def _residuals(profile: Profile) -> Iterator[Block]:
    try:
        found = profile.residuals()
    except SteradianError as error:
        yield Paragraph(f"Not there: {error}.")
        return
    parts = np.nan_to_num(found.contributions)
    if parts.any():
        yield Figure(
            key="residuals",
            caption=f"Squared distance Δ² between data and fit in each {found.kind} above a level.",
            alt=f"Bars of what each level leaves in each {found.kind}; the numbers follow.",
            plot=residual_bars(found.levels, parts, found.kind),
        )
    yield Verbatim(str(found), "the residuals")


def _sensitivity(profile: Profile) -> tuple[Block, ...]:
    try:
        found = profile.sensitivity()
    except SteradianError as error:
        return (Paragraph(f"Not there: {error}."),)
    figure = Figure(
        key="sensitivity",
        caption="Information of each level when a share of the uniform law is mixed into the data.",
        alt="Curves of the information of each level against the share; the numbers follow.",
        plot=mixing_curves(found.epsilon, found.uniform),
    )
    return figure, Verbatim(str(found), "the sensitivity")


def _provenance(profile: Profile, call: str) -> Iterator[Block]:
    hierarchy = profile.moments.hierarchy
    if call:
        yield Verbatim(call, "the call")
    shrunk = f", shrinkage={profile.shrinkage!r}" if profile.shrinkage else ""
    yield Verbatim(
        f"steradian.profile(data, hierarchy={hierarchy!r}, design={profile.design.name!r}{shrunk})",
        "the call in Python",
    )
    versions = [f"{name} {metadata.version(name)}" for name in USED]
    yield Paragraph(f"Python {platform.python_version()}; {', '.join(versions)}. Every random step "
                    "begins from seed 0 unless said otherwise.")  # fmt: skip


def _numerics(profile: Profile) -> Iterator[Block]:
    n = profile.numerics
    yield Table(
        caption="D is the divergence from zero information, U = exp(-D); errors in nats.",
        columns=("level", "features", "D", "I", "U", "moment residual", "quadrature error",
                 "rounding of moments", "condition", "nodes", "Newton steps"),
        rows=tuple(
            (
                str(level), str(profile.dims[k]), f"{profile.deficits[k]:.6f}",
                f"{profile.gaps[k]:.6f}", f"{profile.uncertainty[k]:.4g}", f"{n.residual[k]:.0e}",
                f"{n.quadrature[k]:.0e}", f"{n.moment_rounding[k]:.0e}", f"{n.condition[k]:.1e}",
                str(n.nodes[k]), str(n.steps[k]),
            )
            for k, level in enumerate(profile.levels)
        ),
    )  # fmt: skip
    details = [detail.words for one in profile.trust().judgements for detail in one.details]
    yield Paragraph("; ".join(details) + "." if details else "No further details.")
    yield Paragraph(
        f"Kish ESS {profile.ess:.1f} of {profile.n} rows: weight concentration, not a universal "
        f"sampling size. {profile.elapsed:.2g} s for the fits."
    )
