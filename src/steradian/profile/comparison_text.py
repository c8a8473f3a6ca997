"""A comparison in words and as records."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.diagnostics import Diagnostic
from steradian.errors import SteradianError
from steradian.io.frames import frame_of_columns
from steradian.io.records import without_nan
from steradian.profile.comparison_findings import about_label, default_tests, differences, verdict
from steradian.profile.group_names import spelling_note
from steradian.profile.group_words import pointing
from steradian.profile.part_words import part_notes, part_rows, shared_note
from steradian.references.base import underlying
from steradian.text.phrases import say
from steradian.wording import (
    counted,
    digits,
    in_lines,
    pvalue_number,
    sentence,
)

if TYPE_CHECKING:
    from steradian.inference.group_tests import ComparisonTests
    from steradian.profile.comparison import Comparison

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
        *in_lines(verdict_in_words(c, tests), _WIDTH),
        "",
        *_levels(c, tests),
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
    return say("interval_below_noise") if high <= 0.0 else f"{digits(low)} to {digits(high)}"


def _information(c: Comparison, tests: ComparisonTests | None) -> list[str]:
    said = sentence(about_label(c, tests).words)
    lines = textwrap.wrap(f"{said} {sentence(say('between_legend'))}", _WIDTH)
    return [*lines, sentence(say("equal_shares"))] if c.shares_kind == "equal" else lines


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
    blank = [] if all(means) else in_lines(sentence(say("blank_directions")), _WIDTH)
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
        "left_out": {name: why.to_dict() for name, why in c.left_out.items()},
        "design": c.design.name,
        "tests": None if tests is None else tests.to_dict(),
        "refused": None if refused is None else refused.to_dict(),
        "intervals": c.intervals().to_dict() if tests is not None else None,
        "verdict": [one.to_dict() for one in verdict(c, tests)],
        "differences": [] if tests is None else [one.to_dict() for one in differences(c, tests)],
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
