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
        levels: options.Levels = 0,
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
        if report:
            write_report(found, report, command_line(context), quiet=quiet)


def _compared(where: Source, by: str, how: tuple[int, str, str, Any]) -> Comparison:
    from steradian.cli.design import design_columns
    from steradian.profile import compare

    levels, design, shares, reference = how
    if levels < 0:
        raise InvalidArgument(f"--levels is {levels}; give 1 or more")
    if where.is_moments:
        raise InvalidArgument(f"--by needs rows, and {where.files[0]} holds moments")
    data = where.read(by, *design_columns(design))
    return compare(
        data.directions,
        by=[str(label).strip() for label in data.column(by)],
        levels=levels or None,
        design=data.design(design),
        shares=shares,
        reference=reference,
    )


def _formed(found: Comparison, form: str, *, pairs: bool) -> str:
    if form == "text":
        return "\n".join([found.summary(), *(["", str(found.pairs)] if pairs else [])])
    record = found.to_dict()
    if pairs:
        record["pairs"] = found.pairs.to_dict()
    if form == "json":
        return as_json(record)
    rows = _rows(record)
    return as_csv(rows) if form == "csv" else as_markdown(rows)


def _rows(record: dict[str, Any]) -> list[dict[str, Any]]:
    """One row for each level."""
    names = {"name": "level_names", "features": "dims", "between": "between", "noise": "noise"}
    tests, intervals = record["tests"], record["intervals"]
    rows = []
    for k, level in enumerate(record["levels"]):
        row = {"level": level, **{name: record[key][k] for name, key in names.items()}}
        if intervals is not None:
            row |= {"low": intervals["low"][k], "high": intervals["high"][k]}
        if tests is not None:
            row |= {"pvalue": tests["pvalue"][k], "pvalue_holm": tests["pvalue_holm"][k]}
        rows.append(row)
    return rows
