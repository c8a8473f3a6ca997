"""A comparison as a page: the verdict, two pictures, one table, and all the rest."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

import steradian
from steradian.diagnostics import LIKELY_BELOW, Diagnostic
from steradian.plots.palette import level_colour
from steradian.report import Block, Figure, Page, Paragraph, Prose, Section, Table, Verbatim
from steradian.report.figures import gap_bars, group_points
from steradian.report.profile_page import USED, asked
from steradian.text.comparison_summary import (
    level_table,
    spelling_note,
    verdict_in_words,
)
from steradian.text.differences import about_label, default_tests, part_notes
from steradian.text.numbers import counted, digits, listed, pvalue_words, sentence
from steradian.text.phrases import say
from steradian.text.summary import CITATION

if TYPE_CHECKING:
    from steradian.comparison import Comparison
    from steradian.inference.group_tests import ComparisonTests


_MOST_GROUPS = 200  # in the table of groups
_MOST_DRAWN = 6  # groups that a picture tells apart by colour
_MOST_PAIRED = 10  # groups whose pairs are tested for a report


def page_of_comparison(comparison: Comparison, title: str = "", call: str = "") -> Page:
    """Everything that a report of a comparison says.

    ``title`` names the data; ``call`` is how the comparison was asked for, where somebody knows.
    """
    c, (tests, refused) = comparison, default_tests(comparison)
    return Page(
        title=title or _named(c),
        verdict=(verdict_in_words(c, tests),),
        about=tuple(_about(c, tests)),
        blocks=tuple(_first_screen(c, tests)),
        answers=tuple(_answers(c, tests, refused)),
        sections=tuple(_sections(c, tests, call)),
        record=c.to_dict(),
    )


def _named(c: Comparison) -> str:
    """How many groups, and of which file."""
    source = "" if c.reading is None else c.reading.source
    return f"Comparison of {counted(len(c.names), 'group')}" + (f" of {source}" if source else "")


def _about(c: Comparison, tests: ComparisonTests | None) -> Iterator[str]:
    space = c.hierarchy.space
    if c.reading is not None:
        yield c.reading.words
    yield f"{_counts(c)} in {counted(len(c.names), 'group')}"
    yield f"on the {space.name}, d = {space.d}"
    yield f"design {c.design.name}: {c.design.sentence}"
    yield about_label(c, tests).words
    if c.shares_kind == "equal":
        yield say("equal_shares")


def _counts(c: Comparison) -> str:
    return counted(int(c.sizes.sum()), c.hierarchy.space.point_name)


# --- the first screen ------------------------------------------------------------------------


def _first_screen(c: Comparison, tests: ComparisonTests | None) -> Iterator[Block]:
    table = level_table(c, tests)
    yield Table(
        caption="What each level tells the groups apart by, beyond the levels below, in nats; "
        "all share those above. Noise: what chance alone gives on average.",
        columns=table.head,
        rows=table.rows,
        colours=_colours(table.rows),
    )
    yield _bars(c, tests)
    if len(c.names) <= _MOST_DRAWN:
        yield _points(c)


def _colours(rows: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Those of levels; parts of a level and the sum have none."""
    return tuple(level_colour(int(row[0][0])) if row[0][0].isdigit() else "" for row in rows)


def _level_labels(c: Comparison) -> list[str]:
    return [f"{k}: {name}" for k, name in enumerate(c.hierarchy.level_names, 1)]


def _bars(c: Comparison, tests: ComparisonTests | None) -> Figure:
    interval = None
    if tests is not None:
        ends = c.intervals()
        interval = np.array([ends.low, ends.high])
    corrected = np.full(len(c.levels), np.nan) if tests is None else tests.pvalue_holm
    notes = [pvalue_words(float(p)) if np.isfinite(p) else "" for p in corrected]
    sizes = ", ".join(f"level {k + 1} {digits(v)}" for k, v in enumerate(c.between))
    whiskers = "; whiskers: 95% interval" if interval is not None else ""
    return Figure(
        key="between",
        caption=f"C of each level{whiskers}; grey: what noise alone gives; p with Holm's "
        "correction.",
        alt=f"Bars of what each level tells the groups apart by, in nats: {sizes}.",
        plot=gap_bars(_level_labels(c), c.between, c.noise, interval, notes),
    )


def _points(c: Comparison) -> Figure:
    names = [f"{name} (n = {size:,})" for name, size in zip(c.names, c.sizes, strict=True)]
    return Figure(
        key="groups",
        caption="Information gap of each level in each group.",
        alt="Points of the information of every level in every group; the numbers follow.",
        plot=group_points(_level_labels(c), names, c.sample.groups.gaps),
    )


def _answers(
    c: Comparison, tests: ComparisonTests | None, refused: Diagnostic | None
) -> Iterator[tuple[str, str]]:
    if tests is None:
        assert refused is not None  # nothing is tested
        yield "Is it more than chance?", sentence(say("not_tested", why=refused.nested))
    else:
        yield "Is it more than chance?", _chance(tests.any_pvalue)
        known = [*part_notes(tests), *tests.diagnostics]
        said = " ".join(sentence(str(one)) for one in known)
        yield "What should be known of the tests?", said or "Nothing to warn of."
    out = [f"{name}: {why}" for name, why in c.left_out.items()]
    present = "Left out: " + "; ".join(out) if out else "Yes"
    asked_about = spelling_note([*c.names, *c.left_out])
    yield "Are all groups in it?", " ".join(map(sentence, [present, *asked_about]))


def _chance(pvalue: float) -> str:
    """Whether one distribution for all groups could give what is seen."""
    if np.isnan(pvalue):
        return sentence(say("chance_not_tested"))
    code = "chance_not_excluded" if pvalue >= LIKELY_BELOW else "chance_excluded"
    return sentence(say(code, pvalue=pvalue))


# --- folded ----------------------------------------------------------------------------------


def _sections(c: Comparison, tests: ComparisonTests | None, call: str) -> Iterator[Section]:
    yield Section("Groups", "How large they are, and what each holds.", (_groups(c),))
    shown = tests is not None
    if shown:
        yield Section("Tests", "Do the groups differ, and in what?", asked(c.tests, "the tests"))
        yield Section("Intervals", "By how much do they differ?", asked(c.intervals))
    if shown and 2 <= len(c.names) <= _MOST_PAIRED:
        yield Section("Pairs", "Which two groups differ?", asked(c.pairs))
    if shown and len(c.names) <= _MOST_PAIRED:
        yield Section("Gaps", _gaps_purpose(c), asked(c.gap_differences))
    text = _methods(c, tests)
    yield Section("Methods", "A paragraph ready to paste.", (Prose(text, "the paragraph"),))
    yield Section("How to cite", "The method and the software.", (Verbatim(CITATION, "citations"),))
    yield Section("Call and versions", "What made this report.", tuple(_provenance(c, call)))


def _gaps_purpose(c: Comparison) -> str:
    if c.relative_to:
        return f"Do groups tell as much beyond {c.relative_to}?"
    return "Have groups the same shape up to a rotation?"


def _groups(c: Comparison) -> Table:
    gaps, shown = c.sample.groups.gaps, min(len(c.names), _MOST_GROUPS)
    more = f" The first {shown} of {len(c.names)}." if shown < len(c.names) else ""
    return Table(
        caption=f"Information gaps of the groups, in nats.{more}",
        columns=("group", "n", "share", *(f"I{k}" for k in c.levels.tolist())),
        rows=tuple(
            (name, f"{c.sizes[k]:,}", f"{c.shares[k]:.1%}", *(digits(gap) for gap in gaps[k]))
            for k, name in enumerate(c.names[:shown])
        ),
    )


def _methods(c: Comparison, tests: ComparisonTests | None) -> str:
    names = listed([f"{k} ({name})" for k, name in enumerate(c.hierarchy.level_names, 1)])
    said = [
        f"{counted(len(c.names), 'group')} of together {_counts(c)} "
        f"were compared by geometric information decomposition (You and Cho) with steradian "
        f"{steradian.__version__}: nested maximum-entropy laws on the {c.hierarchy.space.name} "
        f"were fitted in which groups have their own moments of levels 1 to l and share those "
        f"above, and what level l tells groups apart by is the difference of their divergences, "
        f"in nats. Levels were {names}. Shares of groups were {c.shares_kind}.",
        f"The sampling design was taken as {c.design.name} ({c.design.sentence}).",
    ]
    if tests is None:
        said.append("No p-values are given.")
    else:
        each = [f"level {k}: {m}" for k, m in enumerate(tests.methods, 1)]
        how = "; ".join([*each, *(f"{part}: {m}" for part, m in tests.part_methods.items())])
        said.append(
            f"That all groups have the same law was tested by {tests.overall_method}, and each "
            f"level given those below ({how}), with Holm's correction over levels; intervals are "
            "95 % by an inverted non-central χ² law."
        )
    return " ".join(said)


def _provenance(c: Comparison, call: str) -> Iterator[Block]:
    if call:
        yield Verbatim(call, "the call")
    yield Verbatim(
        f"steradian.compare(data, by=labels, hierarchy={c.hierarchy!r}, "
        f"design={c.design.name!r}, shares={c.shares_kind!r})",
        "the call in Python",
    )
    versions = [f"{name} {metadata.version(name)}" for name in USED]
    yield Paragraph(
        f"Python {platform.python_version()}; {', '.join(versions)}. Every random step begins from "
        f"seed 0 unless said otherwise. {c.elapsed:.2g} s for the fits."
    )
