"""A comparison in words and as records."""

from __future__ import annotations

import re
import textwrap
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.errors import SteradianError
from steradian.hierarchies.base import SplitsLevelOne
from steradian.io.frames import frame_of_columns
from steradian.io.records import without_nan
from steradian.numerics.tolerances import USABLE_DEFICIT
from steradian.profile.group_names import spelling_note
from steradian.profile.group_words import BLANK, pointing, undirected, without_mean
from steradian.profile.part_words import part_notes, part_rows, part_size, shared_note
from steradian.references.base import underlying
from steradian.wording import (
    LIKELY_BELOW,
    Verdict,
    capital,
    counted,
    digits,
    in_lines,
    listed,
    percent,
    pvalue_number,
    pvalue_words,
    verdict_of,
)

if TYPE_CHECKING:
    from steradian.profile.comparison import Comparison
    from steradian.significance.groups.comparison_tests import ComparisonTests

_SHOWN_GROUPS = 8
_TOLD_GROUPS = 5  # whose pairs are told in a sentence
_WIDTH = 80
_FEW_PAIRS = 45  # pairs that are tested for print: ten groups


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
        *in_lines(" ".join([verdict(c, tests), *_which(c, tests)]), _WIDTH),
        "",
        *_levels(c, tests),
        "",
        *_information(c, tests),
        "",
        *_groups(c),
    ]
    notes = spelling_note([*c.names, *c.left_out])
    notes += [f"{name} is left out: {words}" for name, words in c.left_out.items()]
    if tests is not None:
        notes += [*part_notes(tests), *tests.warnings, *shared_note(c)]
    if refused:
        notes.append(refused)
    for note in notes:
        lines += textwrap.wrap(f"! {note}", _WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def default_tests(c: Comparison) -> tuple[ComparisonTests | None, str]:
    """The default tests, or why there are none."""
    if len(c.names) < 2:
        return None, "one group only: there is nothing to compare it with"
    if not c.design.defines_inference:
        return None, c.design.in_short
    try:
        return c.tests(), ""
    except SteradianError as error:
        return None, str(error)


def verdict(c: Comparison, tests: ComparisonTests | None) -> str:
    """One or two sentences a scientist would write."""
    if len(c.names) < 2:
        return "One group only."
    if tests is None:
        top, between = int(np.argmax(c.between)), c.between
        return (
            f"Of {digits(c.total)} nats that tell the groups apart, most is in the "
            f"{c.hierarchy.level_names[top]} (C_{top + 1} = {digits(between[top])})."
        )
    found, not_found, unknown = found_levels(c, tests)
    lost = without_mean(c) if any(part.startswith(_ways(c)) for part in not_found) else []
    without = [part for part in not_found if lost and part.startswith(_ways(c))]
    not_found = [part for part in not_found if part not in without]
    said = []
    if found:
        said.append("The groups differ " + ", and ".join(found))
        if not_found:
            said[-1] += ", not in " + " or ".join(not_found)
    elif not_found:
        said.append("No level tells the groups apart: " + ", ".join(not_found))
    if lost:
        said.append(undirected(lost, without[0]))
    if unknown:
        said.append(f"Cannot be judged: {', '.join(unknown)}")
    return ". ".join([*said, *_same_law(tests.overall)]) + "."


def headline(c: Comparison) -> str:
    """In what groups differ, and how surely, without the numbers."""
    tests, refused = default_tests(c)
    if tests is None:
        return capital(refused)
    found, not_found, unknown = found_levels(c, tests)
    if found:
        said = [re.sub(r" \([^()]*\)$", "", words).partition(" in ") for words in found]
        surely = dict.fromkeys(how for how, _, _ in said)  # each of them once
        parts = [f"{how} in {listed([w for h, _, w in said if h == how])}" for how in surely]
        return f"The groups differ {', '.join(parts)}"
    if not_found:
        return "No level tells the groups apart"
    return f"Cannot be judged: {', '.join(unknown)}"


def _ways(c: Comparison) -> tuple[str, ...]:
    """What only groups with a mean can differ in: the first part of level 1, and level 1 whole."""
    if not isinstance(c.hierarchy, SplitsLevelOne):
        return ()
    return c.hierarchy.level_one_parts[0], c.hierarchy.level_names[0]


def _same_law(pvalue: float) -> list[str]:
    """How sure it is that not all groups have one law, in the words of profiles."""
    sure = verdict_of(pvalue)
    if sure is Verdict.UNJUDGED:
        return []
    if sure is Verdict.NOISE:
        return [f"That all have the same law is not ruled out ({pvalue_words(pvalue)})"]
    return [f"That not all have the same law is {sure} ({pvalue_words(pvalue)})"]


def found_levels(c: Comparison, tests: ComparisonTests) -> tuple[list[str], list[str], list[str]]:
    """In which levels and parts groups differ, in which they do not, and which nobody can tell."""
    corrected, between = tests.pvalue_holm, c.between
    found, not_found, unknown = [], [], []
    for k, name in enumerate(c.hierarchy.level_names):
        what = _beyond(c, k, name)
        if np.isnan(corrected[k]):
            unknown.append(what)
        elif verdict_of(float(corrected[k])) is not Verdict.NOISE:
            parts, without = _parts(c, tests) if k == 0 else ([], [])
            size, doubted = f"C_{k + 1} = {digits(between[k])} nats", _doubted(c, tests, k)
            found += parts or [_found(what, size, float(corrected[k]), doubted=doubted)]
            not_found += without
        else:
            not_found.append(f"{what} ({pvalue_words(corrected[k])})")
    return found, not_found, unknown


def _doubted(c: Comparison, tests: ComparisonTests, k: int) -> bool:
    """Whether one row carries a level, and the interval of its size begins at zero."""
    heavy = any(w.startswith(f"level {k + 1}: ") and "outweighs" in w for w in tests.warnings)
    return heavy and not c.intervals().low[k] > 0.0


def _which(c: Comparison, tests: ComparisonTests | None) -> list[str]:
    """Which two groups differ, where there are several and not all have the same law."""
    if tests is None or len(c.names) < 3 or not tests.overall <= LIKELY_BELOW:
        return []
    if len(c.names) > _TOLD_GROUPS:
        return ["Which two differ: --pairs on the command line, .pairs in Python."]
    corrected = c.pairs.pvalue_holm
    found = [
        f"{c.names[g]} and {c.names[h]} ({pvalue_words(float(corrected[g, h]))})"
        for g, h in combinations(range(len(c.names)), 2)
        if corrected[g, h] <= LIKELY_BELOW
    ]
    return [f"Of each two, these differ: {'; '.join(found)}."] if found else []


def _beyond(c: Comparison, k: int, name: str) -> str:
    """What a level is called: the second is shape, beyond a first of direction and concentration.

    Where level 1 has no such parts, levels have their own names alone.
    """
    return f"shape ({name})" if k == 1 and isinstance(c.hierarchy, SplitsLevelOne) else name


def _found(what: str, size: str, p: float, *, doubted: bool = False) -> str:
    how = "clearly" if verdict_of(p) is Verdict.CLEAR and not doubted else "likely"
    return f"{how} in {what} ({size}, {pvalue_words(p)})"


def _parts(c: Comparison, tests: ComparisonTests) -> tuple[list[str], list[str]]:
    """In which parts level 1 differs, and how surely, and those in which it does not."""
    corrected = tests.parts_holm
    there = [
        _found(part, part_size(c, tests, part), p)
        for part, p in corrected.items()
        if p <= LIKELY_BELOW
    ]
    without = [f"{part} ({pvalue_words(p)})" for part, p in corrected.items() if p > LIKELY_BELOW]
    return there, without if there else []


def _levels(c: Comparison, tests: ComparisonTests | None) -> list[str]:
    head, rows = level_cells(c, tests)
    return [
        f"{name:<26.26} {size:>9} {noise:>8} {ends:>18} {p:>9}".rstrip()
        for name, size, noise, ends, p in (head, *rows)
    ]


def level_cells(
    c: Comparison, tests: ComparisonTests | None
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The table of levels as text: its head, and a row for each level, part and for all."""
    ends = _ends(c)
    rows: list[tuple[str, ...]] = []
    for k, name in enumerate(c.hierarchy.level_names):
        p = np.nan if tests is None else float(tests.pvalue_holm[k])
        size, noise = digits(float(c.between[k])), _noise(c.noise[k])
        rows.append((f"{k + 1} {name}", size, noise, ends[k], _shown(p)))
        for part, nats, p in part_rows(c, tests) if k == 0 else ():
            rows.append((f"    {part}", nats, "", "", _shown(p)))
    p = np.nan if tests is None else tests.overall
    noise = _noise(float(c.noise.sum()))
    rows.append(("all (J)", digits(c.total), noise, ends[-1], _shown(p)))
    return ("level", "nats C", "noise", "95% interval", "p (Holm)"), tuple(rows)


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
    return "not above noise" if high <= 0.0 else f"{digits(low)} to {digits(high)}"


def _information(c: Comparison, tests: ComparisonTests | None) -> list[str]:
    lines = textwrap.wrap(
        f"{label_in_words(c, tests)} C: what a level's features tell the groups apart by, beyond "
        "the levels below, where all share those above: it depends on how many are fitted. Noise: "
        "what it is on average with nothing to find.",
        _WIDTH,
    )
    if c.shares_kind == "equal":
        lines.append("Every group counts the same, whatever its weight.")
    return lines


def label_in_words(c: Comparison, tests: ComparisonTests | None) -> str:
    """What a point tells about its label, and what labels that mean nothing would give."""
    known, point = c.label_information, c.hierarchy.space.point_name
    if len(c.names) < 2:
        return f"One group: no {point} tells anything of its label."
    error = f" ± {known.error:.1g}" if known.error > USABLE_DEFICIT else ""
    size = f"{digits(known.value)}{error} of the {digits(known.entropy)} nats of its label"
    noise = f"labels that mean nothing give {digits(known.noise, 2)}"
    if tests is not None and not told_apart(tests):
        beside = "" if np.isnan(known.noise) else f", where {noise}"
        return (
            f"What one {point} tells of its label is {Verdict.NOISE}: {size} within these "
            f"rows{beside}."
        )
    if np.isnan(known.noise):
        return f"One {point} tells {size} within the rows that were fitted, some of it by chance."
    return (
        f"One {point} tells {size} ({percent(known.share)}) within the rows that were fitted; "
        f"{noise} ({percent(known.noise_share)})."
    )


def told_apart(tests: ComparisonTests) -> bool:
    """Whether anything says that the groups differ: the test of one law, or a level."""
    every = np.append(tests.pvalue_holm, tests.overall)
    return bool((every < LIKELY_BELOW).any())


def _groups(c: Comparison) -> list[str]:
    width = max(5, min(20, max(len(name) for name in c.names)))
    gaps, levels = c.sample.groups.gaps, range(min(len(c.levels), 4))
    some = c.names[:_SHOWN_GROUPS]
    means = [pointing(c.groups[name]) for name in some]
    lines = [
        f"{'group':<{width}} {'n':>8} {'share':>7} " + " ".join(f"{f'I{k + 1}':>8}" for k in levels)
    ]
    for k, name in enumerate(some):
        shown = " ".join(f"{digits(float(gap)):>8}" for gap in gaps[k, :4])
        lines.append(f"{name:<{width}.{width}} {c.sizes[k]:>8} {c.shares[k]:>7.1%} {shown}")
    more = len(c.names) - _SHOWN_GROUPS
    return _with_means(lines, some, means) + ([f"… and {more} more groups"] if more > 0 else [])


def _with_means(lines: list[str], names: tuple[str, ...], means: list[str]) -> list[str]:
    """Rows of groups with where each points, or below them where that is too long for a line."""
    if not any(means):
        return lines
    blank = [] if all(means) else in_lines(BLANK, _WIDTH)
    beside = ["points to", *means]
    if max(len(f"{a}  {b}") for a, b in zip(lines, beside, strict=True)) <= _WIDTH:
        return [f"{a}  {b}".rstrip() for a, b in zip(lines, beside, strict=True)] + blank
    told = [(name, words) for name, words in zip(names, means, strict=True) if words]
    below = [line for name, words in told for line in in_lines(words, _WIDTH, f"  {name}: ")]
    return [*lines, "Where they point to:", *below, *blank]


def comparison_record(c: Comparison) -> dict[str, Any]:
    """Every number of a comparison, ready for JSON."""
    tests, refused = default_tests(c)
    known = c.label_information
    few = 2 <= len(c.names) <= _FEW_PAIRS
    record: dict[str, Any] = {
        "names": list(c.names),
        "sizes": c.sizes.tolist(),
        "shares": c.shares.tolist(),
        "shares_kind": c.shares_kind,
        "space": underlying(c.hierarchy.space).name,
        "reference": c.relative_to or "uniform",
        "d": c.hierarchy.space.d,
        "hierarchy": c.hierarchy.to_dict()["kind"],
        "levels": c.levels.tolist(),
        "level_names": list(c.hierarchy.level_names),
        "dims": list(c.hierarchy.dims),
        "between": c.between.tolist(),
        "noise": c.noise.tolist(),
        "debiased": c.debiased.tolist(),
        "total": c.total,
        "level1": c.level1,
        "label_information": {
            "value": known.value,
            "entropy": known.entropy,
            "share": known.share,
            "error": known.error,
            "noise": known.noise,
        },
        "groups": {
            name: {"deficits": d.tolist(), "gaps": g.tolist()}
            for name, d, g in zip(
                c.names, c.sample.groups.deficits, c.sample.groups.gaps, strict=True
            )
        },
        "distance": c.pairs.distance.tolist() if few else None,
        "left_out": dict(c.left_out),
        "design": c.design.name,
        "tests": None if tests is None else tests.to_dict(),
        "refused": refused,
        "intervals": c.intervals().to_dict() if tests is not None else None,
        "verdict": verdict(c, tests),
        "read": "" if c.reading is None else c.reading.words,
        "unit": "nats",
    }
    return without_nan(record)


def comparison_frame(c: Comparison) -> Any:
    """One row per level."""
    tests, _ = default_tests(c)
    table: dict[str, Any] = {
        "level": c.levels,
        "name": list(c.hierarchy.level_names),
        "features": list(c.hierarchy.dims),
        "between": c.between,
        "noise": c.noise,
        "debiased": c.debiased,
    }
    if tests is not None:
        found = c.intervals()
        table |= {"se": found.se, "low": found.low, "high": found.high}
        table |= {"pvalue": tests.pvalue, "pvalue_holm": tests.pvalue_holm}
    return frame_of_columns(table, index="level")
