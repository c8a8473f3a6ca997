"""The printed comparison: what differs, how sure that is, tables of levels and groups."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from steradian.diagnostics import Diagnostic
from steradian.errors import SteradianError
from steradian.text.differences import (
    about_label,
    default_tests,
    part_notes,
    part_rows,
    pointing,
    shared_note,
    verdict,
)
from steradian.text.numbers import counted, digits, in_lines, pvalue_number, sentence
from steradian.text.phrases import say
from steradian.text.table import Column, Table

if TYPE_CHECKING:
    from steradian.comparison import Comparison
    from steradian.inference.group_tests import ComparisonTests


_SHOWN_GROUPS = 8
_WIDTH, _NAME = 80, 26


def summarise(c: Comparison) -> str:
    """What was read, what differs, tables of levels and groups, and what else to know."""
    tests, refused = default_tests(c)
    read = [] if c.reading is None else [*textwrap.wrap(c.reading.words, _WIDTH), ""]
    lines = [
        *read,
        *textwrap.wrap(
            f"Comparison of {counted(len(c.names), 'group')} on the {c.hierarchy.space.name} "
            f"(d = {c.hierarchy.space.d}), in nats",
            _WIDTH,
        ),
        "",
        *in_lines(verdict_in_words(c, tests), _WIDTH),
        "",
        *(line.rstrip() for line in level_table(c, tests).lines()),
        "",
        *_information(c, tests),
        "",
        *_groups(c),
    ]
    for note in [*spelling_note([*c.names, *c.left_out]), *remarks(c, tests, refused)]:
        lines += textwrap.wrap(f"! {note}", _WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def verdict_in_words(c: Comparison, tests: ComparisonTests | None) -> str:
    """One or two sentences a scientist would write."""
    return " ".join(sentence(one.words) for one in verdict(c, tests))


def remarks(
    c: Comparison, tests: ComparisonTests | None, refused: Diagnostic | None
) -> list[Diagnostic]:
    """What else to know: groups that are left out, what tests warn of, why there are none."""
    said = [
        Diagnostic("group_left_out", data={"group": name, "why": why.nested})
        for name, why in c.left_out.items()
    ]
    if tests is not None:
        said += [*part_notes(tests), *tests.diagnostics, *shared_note(c)]
    return said if refused is None else [*said, refused]


def level_table(c: Comparison, tests: ComparisonTests | None) -> Table:
    """A row for each level, for each part of the first, and for all."""
    ends = _ends(c)
    rows: list[tuple[str, ...]] = []
    for k, name in enumerate(c.hierarchy.level_names):
        p = np.nan if tests is None else float(tests.pvalue_holm[k])
        size, noise = digits(float(c.between[k])), _noise(c.noise[k])
        rows.append((f"{k + 1} {name}", size, noise, ends[k], _shown(p)))
        for part, nats, p in part_rows(c, tests) if k == 0 else ():
            rows.append((f"    {part}", nats, "", "", _shown(p)))
    p = np.nan if tests is None else tests.any_pvalue
    noise = _noise(float(c.noise.sum()))
    rows.append(("all (J)", digits(c.total), noise, ends[-1], _shown(p)))
    names, sizes, noises, intervals, pvalues = zip(*rows, strict=True)
    return Table(
        Column("level", names, width=_NAME, left=True),
        Column("nats C", sizes, width=9),
        Column("noise", noises, width=8),
        Column("95% interval", intervals, width=18),
        Column("p (Holm)", pvalues, width=9),
    )


def _shown(pvalue: float) -> str:
    return "" if np.isnan(pvalue) else pvalue_number(pvalue)


def _noise(value: float) -> str:
    return digits(float(value), 2)


def _ends(c: Comparison) -> list[str]:
    """Intervals of all levels and of their sum, as text; empty where there are none."""
    none = [""] * (len(c.levels) + 1)
    if len(c.names) < 2 or not c.design.defines_inference:
        return none
    try:
        found = c.intervals()
    except SteradianError:
        return none
    pairs = [*zip(found.low, found.high, strict=True), (found.total_low, found.total_high)]
    return [_interval(float(low), float(high)) for low, high in pairs]


def _interval(low: float, high: float) -> str:
    """Both ends; an upper one of zero says that noise alone mostly gives more than was seen."""
    return say("interval_below_noise") if high <= 0.0 else f"{digits(low)} to {digits(high)}"


def _information(c: Comparison, tests: ComparisonTests | None) -> list[str]:
    said = sentence(about_label(c, tests).words)
    lines = textwrap.wrap(f"{said} {sentence(say('between_legend'))}", _WIDTH)
    return [*lines, sentence(say("equal_shares"))] if c.shares_kind == "equal" else lines


def _groups(c: Comparison) -> list[str]:
    width = max(5, min(20, max(len(name) for name in c.names)))
    gaps, count = c.sample.groups.gaps, min(len(c.names), _SHOWN_GROUPS)
    some, levels = c.names[:count], range(min(len(c.levels), 4))
    means = [pointing(c.groups[name]) for name in some]
    table = Table(
        Column("group", some, width=width, left=True),
        Column("n", c.sizes[:count], width=8),
        Column("share", c.shares[:count], ".1%", 7),
        *(
            Column(f"I{k + 1}", [digits(float(g)) for g in gaps[:count, k]], width=8)
            for k in levels
        ),
    )
    lines = table.lines()
    more = len(c.names) - _SHOWN_GROUPS
    return _with_means(lines, some, means) + ([f"… and {more} more groups"] if more > 0 else [])


def _with_means(lines: list[str], names: tuple[str, ...], means: list[str]) -> list[str]:
    """Rows of groups with where each points, or below them where that is too long for a line."""
    if not any(means):
        return lines
    blank = [] if all(means) else in_lines(sentence(say("blank_directions")), _WIDTH)
    beside = ["points to", *means]
    if max(len(f"{a}  {b}") for a, b in zip(lines, beside, strict=True)) <= _WIDTH:
        return [f"{a}  {b}".rstrip() for a, b in zip(lines, beside, strict=True)] + blank
    told = [(name, words) for name, words in zip(names, means, strict=True) if words]
    below = [line for name, words in told for line in in_lines(words, _WIDTH, f"  {name}: ")]
    return [*lines, "Where they point to:", *below, *blank]


_SPELLED = re.compile(r"[\s_]+")
_MOST_ALIKE = 4  # names that a note lists


def spelling_note(names: Iterable[str]) -> list[str]:
    """Groups that may be one: their names differ in capitals, spaces or underscores only."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_SPELLED.sub("", name).casefold(), []).append(repr(name))
    same = [", ".join(some[:_MOST_ALIKE]) for some in alike.values() if len(some) > 1]
    if not same:
        return []
    more = f", and {len(same) - 1} more such names" if len(same) > 1 else ""
    return [f"are {same[0]} one group? Their names differ only in how they are written{more}"]
