"""Compare groups of rows from the command line."""

# ruff: noqa: PLR0913, PLR0917 - a command has one parameter for each option

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from steradian.cli import options
from steradian.cli.options import Source, source
from steradian.cli.output import (
    as_csv,
    as_json,
    as_markdown,
    chosen_format,
    command_line,
    deliver,
    reason_cells,
    say_what_was_read,
    write_report,
)
from steradian.cli.reference import HELP as REFERENCE_HELP
from steradian.cli.reference import parse_reference
from steradian.errors import InvalidArgument

if TYPE_CHECKING:
    from steradian.profile import Comparison

_EXAMPLES = """\b
Examples:
  steradian compare sites.csv --by polarity
  steradian compare planes.csv --coords strike_dip --by formation
  steradian compare rows.csv --by kind --design clusters:core --levels 3
  steradian compare north.csv south.csv --by file --json
  steradian compare galaxies.csv --by type --reference coverage.fits
  steradian compare sites.csv --by region --report sites.html
"""

By = Annotated[str, typer.Option(help="Column of groups; or 'file' for a group for each file.")]
Shares = Annotated[str, typer.Option(help="Share of each group: observed or equal.")]
Pairs = Annotated[bool, typer.Option("--pairs", help="Also which two groups differ.")]
_DESIGN = options.DESIGN_HELP.replace(" Adds tests and intervals.", "")


def register_compare(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("compare", epilog=_EXAMPLES)
    def compare_command(
        context: typer.Context,
        files: options.Files,
        by: By = "",
        columns: options.Columns = "",
        coords: options.Coords = "",
        weights: options.Weights = "",
        counts: options.Counts = "",
        levels: options.Levels = None,
        normalize: options.Normalize = False,
        axial: options.Axial = None,
        degrees: options.Degrees = None,
        hours: options.Hours = False,
        period: options.Period = "",
        on_bad: options.OnBad = "error",
        design: Annotated[str, typer.Option(help=_DESIGN)] = "",
        shares: Shares = "observed",
        reference: Annotated[str, typer.Option(help=REFERENCE_HELP)] = "",
        pairs: Pairs = False,
        report: options.Report = "",
        form: options.Format = "",
        json_: options.Json = False,
        out: options.Out = "",
        quiet: options.Quiet = False,
    ) -> None:
        """Say which groups of the directions in FILE differ, in what, and how sure that is."""
        if not by:
            raise InvalidArgument("--by is missing; name the column of groups, or 'file'")
        where = source(
            files, columns=columns, coords=coords, weights=weights, counts=counts, axial=axial,
            normalize=normalize, degrees=degrees, hours=hours, period=period, on_bad=on_bad,
        )  # fmt: skip
        form = chosen_format(form, json_, out)
        if report:
            from steradian.report import file_for

            file_for(report)
        law = parse_reference(reference, where) if reference else None
        found = _compared(where, by, (levels, design, shares, law))
        deliver(_formed(found, form, pairs=pairs), out)
        say_what_was_read(found.reading, (form, out), quiet=quiet)
        if report:
            write_report(found, report, command_line(context), quiet=quiet)


def _compared(where: Source, by: str, how: tuple[int | None, str, str, Any]) -> Comparison:
    from steradian.cli.design import design_columns
    from steradian.profile import compare

    levels, design, shares, reference = how
    if where.is_moments:
        raise InvalidArgument(f"--by needs rows, and {where.files[0]} holds moments")
    data = where.read(by, *design_columns(design))
    return compare(
        data.directions,
        by=[str(label).strip() for label in data.column(by)],
        levels=levels,
        design=data.design(design),
        shares=shares,
        reference=reference,
    )


def _formed(found: Comparison, form: str, *, pairs: bool) -> str:
    if form == "text":
        said = [found.summary(), *(["", str(found.pairs)] if pairs else [])]
        return "\n".join(said)
    record = found.to_dict()
    if pairs:
        record["pairs"] = found.pairs.to_dict()
    if form == "json":
        return as_json(record)
    rows = _rows(record)
    return as_csv(rows) if form == "csv" else as_markdown(rows)


def _rows(record: dict[str, Any]) -> list[dict[str, Any]]:
    """One row for each level, then for the parts of the first one and for all together."""
    tests, intervals = record["tests"] or {}, record["intervals"] or {}
    rows = [
        _row(
            "level",
            {
                "level": level,
                **{name: record[key][k] for name, key in _OF_LEVELS.items()},
                **{name: intervals[name][k] for name in ("low", "high") if intervals},
                **{name: tests[name][k] for name in ("pvalue", "pvalue_holm") if tests},
            },
        )
        for k, level in enumerate(record["levels"])
    ]
    for part, size in record["level1"].items():
        pvalues = {"pvalue": "parts", "pvalue_holm": "parts_holm"}
        known = {name: tests[key].get(part) for name, key in pvalues.items() if tests}
        rows.append(_row("part of level 1", {"name": part, "between": size, **known}))
    whole = {"name": "all levels", "between": record["total"], "pvalue": tests.get("overall")}
    whole |= {name: intervals.get(f"total_{name}") for name in ("low", "high")}
    noise = None if None in record["noise"] else sum(record["noise"])
    rows.append(_row("all levels", whole | {"features": sum(record["dims"]), "noise": noise}))
    return [{**row, **reason_cells(record["refused"])} for row in rows]


_OF_LEVELS = {"name": "level_names", "features": "dims", "between": "between", "noise": "noise"}
_COLUMNS = ("level", *_OF_LEVELS, "low", "high", "pvalue", "pvalue_holm")


def _row(kind: str, known: dict[str, Any]) -> dict[str, Any]:
    """The cells of a row, None where it has none."""
    return {**{name: known.get(name) for name in _COLUMNS}, "kind": kind}
