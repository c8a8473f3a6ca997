"""The printed regression: what depends on the covariate, how sure that is, a table of levels."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.diagnostics import Diagnostic, Verdict, verdict_of
from steradian.errors import SteradianError
from steradian.text.differences import differences
from steradian.text.numbers import digits, in_lines, pvalue_number, sentence
from steradian.text.phrases import say
from steradian.text.table import Column, Table

if TYPE_CHECKING:
    from steradian.inference.covariate_tests import RegressionTests
    from steradian.regression import Regression

_WIDTH, _NAME = 80, 26
_THERE = Verdict.CLEAR, Verdict.LIKELY
_ANY = {
    Verdict.CLEAR: "any_clear",
    Verdict.LIKELY: "any_likely",
    Verdict.NOISE: "any_not_significant",
}


def default_tests(r: Regression) -> tuple[RegressionTests | None, Diagnostic | None]:
    """The default tests, or why there are none."""
    if not r.design.defines_inference:
        return None, Diagnostic("design_to_state", data={"design": r.design.name})
    try:
        return r.tests(), None
    except SteradianError as error:
        return None, error.diagnostic


def any_verdict(r: Regression, tests: RegressionTests | None) -> tuple[Diagnostic, ...]:
    """In what the distribution depends on the covariate, in what not, and whether at all."""
    if tests is None:
        return (Diagnostic("most_along", data={"total": r.total, "on": r.on}),)
    every = differences(r, tests)
    there = [one.to_dict() for one in every if one.sure in _THERE]
    without = [one.to_dict() for one in every if one.sure is Verdict.NOISE]
    unknown = [one.to_dict() for one in every if one.sure is Verdict.UNJUDGED]
    data: dict[str, Any] = {"on": r.on, "found": there, "missing": without}
    said = []
    if there:
        said.append(Diagnostic("depends_but_not" if without else "depends", data=data))
    elif without:
        said.append(Diagnostic("does_not_depend", data=data))
    if unknown:
        said.append(Diagnostic("differences_not_testable", data={"levels": unknown}))
    sure = verdict_of(tests.any_pvalue)
    if sure is not Verdict.UNJUDGED:
        data = {"on": r.on, "pvalue": float(tests.any_pvalue)}
        said.append(Diagnostic(_ANY[sure], data=data))
    if there and r.simplest_functions < r.basis.size:
        data = {"on": r.on, "nats": r.simplest, "total": r.total, "functions": r.basis.size}
        said.append(Diagnostic("simplest_basis", data={**data, "count": r.simplest_functions}))
    return tuple(said)


def headline(r: Regression) -> Diagnostic:
    """In what the distribution depends on the covariate, and how surely, without the numbers."""
    first = any_verdict(r, default_tests(r)[0])[0]
    if first.data.get("found"):
        data = {"on": r.on, "found": first.data["found"]}
        return Diagnostic("depends_briefly", data=data)
    return (
        first
        if "missing" not in first.data
        else Diagnostic("depends_in_no_level", data={"on": r.on})
    )


def summarise(r: Regression) -> str:
    """What was read, what depends on the covariate, the table of levels, and what else to know."""
    tests, refused = default_tests(r)
    read = [] if r.reading is None else [*textwrap.wrap(r.reading.words, _WIDTH), ""]
    space = r.hierarchy.space
    head = (
        f"Regression of {r.n} rows on the {space.name} (d = {space.d}) on {r.on} "
        f"({r.basis.words}), in nats"
    )
    said = " ".join(sentence(one.words) for one in any_verdict(r, tests))
    lines = [*read, *textwrap.wrap(head, _WIDTH), "", *in_lines(said, _WIDTH), ""]
    lines += level_table(r, tests).lines()
    lines += ["", *textwrap.wrap(sentence(say("along_legend")), _WIDTH)]
    notes = [*r.diagnostics, *(() if tests is None else tests.diagnostics)]
    for note in notes if refused is None else [*notes, refused]:
        lines += textwrap.wrap(f"! {note}", _WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def level_table(r: Regression, tests: RegressionTests | None) -> Table:
    """A row for each level, for each part of the first, and for all."""
    ends = [""] * (len(r.levels) + 1)
    if r.design.defines_inference:
        found = r.intervals()
        pairs = [*zip(found.low, found.high, strict=True), (found.total_low, found.total_high)]
        ends = [f"{digits(float(low))} to {digits(float(high))}" for low, high in pairs]
    rows: list[tuple[str, ...]] = []
    for k, name in enumerate(r.hierarchy.level_names):
        p = np.nan if tests is None else float(tests.pvalue_holm[k])
        noise = digits(float(r.noise[k]), 2)
        rows.append((f"{k + 1} {name}", digits(float(r.between[k])), noise, ends[k], _shown(p)))
        for part, nats in r.level1.items() if k == 0 else ():
            p = np.nan if tests is None else tests.parts_holm.get(part, np.nan)
            rows.append((f"    {part}", digits(nats), "", "", _shown(p)))
    p = np.nan if tests is None else tests.any_pvalue
    noise = digits(float(r.noise.sum()), 2)
    rows.append(("all (J)", digits(r.total), noise, ends[-1], _shown(p)))
    names, sizes, noises, intervals, pvalues = zip(*rows, strict=True)
    return Table(
        Column("level", [name[:_NAME] for name in names], width=_NAME, left=True),
        Column("nats C", sizes, width=9),
        Column("noise", noises, width=8),
        Column("95% interval", intervals, width=18),
        Column("p (Holm)", pvalues, width=9),
    )


def _shown(pvalue: float) -> str:
    return "" if np.isnan(pvalue) else pvalue_number(pvalue)
