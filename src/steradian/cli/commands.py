"""What each command does: profile, boundary, compare, regress, moments and merge."""

# ruff: noqa: PLR0913, PLR0917 - a command has one parameter for each option

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steradian.cli import options
from steradian.cli.options import Source, design_columns
from steradian.cli.output import (
    as_csv,
    as_json,
    as_markdown,
    chosen_format,
    command_line,
    comparison_rows,
    deliver,
    group_records,
    group_text,
    level_rows,
    profile_record,
    remark,
    say_what_was_read,
    write_report,
)
from steradian.cli.reference import Against, DropUnseen, Reference
from steradian.errors import DesignError, InvalidArgument, LevelError

if TYPE_CHECKING:
    from steradian.comparison import Comparison
    from steradian.data.directions import Directions
    from steradian.data.moments import Moments
    from steradian.decomposition import Profile
    from steradian.designs import Design

NO_FIT = 1

PROFILE_EXAMPLES = """\b
Examples:
  steradian profile sites.csv --columns lon,lat
  steradian profile sites.txt --coords declination_inclination --on-bad skip
  steradian profile stars.csv --columns ra,dec --hours
  steradian profile planes.csv --coords strike_dip --by formation
  steradian profile births.csv --coords time --columns hour --counts n
  steradian profile winds.csv --bins from,to --coords azimuth --counts n
  steradian profile contribution.txt --table sites --coords declination_inclination
  steradian profile vectors.npy --normalize --format json --out profile.json
  steradian profile galaxies.csv --columns ra,dec --reference coverage.fits
  steradian profile pooled.moments --levels 2
  steradian profile sites.csv --report sites.html
  cat winds.txt | steradian profile - --columns 1 --coords azimuth --weights 2
"""


@options.reading
def profile_command(
    where: Source,
    context: typer.Context,
    by: Annotated[str, typer.Option(help="Column of groups: one line each; or 'file'.")] = "",
    levels: options.LevelsOrAuto = None,
    shrinkage: Annotated[
        float, typer.Option(help="Share of the uniform law to mix in; 0: none.")
    ] = 0.0,
    within_span: Annotated[
        bool, typer.Option("--within-span", help="Leave out the dimensions the data do not span.")
    ] = False,
    design: Annotated[str, typer.Option(help=options.DESIGN_HELP)] = "",
    reference: Reference = "",
    drop_unseen: DropUnseen = False,
    form: options.Format = "",
    json_: options.Json = False,
    out: options.Out = "",
    report: options.Report = "",
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> int:
    """Print the information profile of the directions in FILE.

    It begins with what was understood of the file and ends with what was found and whether to
    believe it. With --design also the whole of tests and intervals, with --by one line for each
    group; a group without a profile says why, and only if none has one is the exit code 1.
    """
    form, against = chosen_format(form, json_, out), Against(reference, drop_unseen)
    if report:
        from steradian.report import file_for

        file_for(report)
    if by:
        if design or within_span or report:
            taken = "--design, --within-span or --report"
            raise InvalidArgument(f"--by takes no {taken}; leave one out")
        return _grouped(where, by, (levels, shrinkage, against), (form, out), quiet=quiet)
    how = (levels, shrinkage, within_span, design, against)
    result = _one(where, how, (form, out), quiet, verbose)
    if report:
        write_report(result, report, command_line(context), quiet=quiet)
    return 0


def _grouped(
    where: Source,
    by: str,
    how: tuple[int | str | None, float, Against],
    into: tuple[str, str],
    *,
    quiet: bool,
) -> int:
    from steradian.data.notation import pooled_reading

    if where.is_moments:
        raise InvalidArgument(f"--by needs rows, and {where.files[0]} holds moments")
    law = None
    if where.is_large and not how[2].text:
        sums = where.sums(how[0], by=by)
        reading = pooled_reading(some.reading for some in sums.values())
        groups = {label: (some.n, partial(sums.__getitem__, label)) for label, some in sums.items()}
    else:
        data, law = how[2].read(where, by)
        reading = data.directions.reading
        groups = {
            label: (len(rows), partial(data.directions.take, rows))
            for label, rows in data.groups(by).items()
        }
    records = group_records(groups, how[0], how[1] or None, law)
    deliver(group_text(records, "" if reading is None else reading.words, into[0]), into[1])
    say_what_was_read(reading, into, quiet=quiet)
    return NO_FIT if all("error" in record for record in records) else 0


def _one(
    where: Source,
    how: tuple[int | str | None, float, bool, str, Against],
    into: tuple[str, str],
    quiet: bool,
    verbose: bool,
) -> Profile:
    from steradian.decomposition import profile
    from steradian.progress import working

    levels, shrinkage, _, design, _ = how
    form, out = into
    sample, plan, law = _sample(where, how, quiet)
    try:
        with working("fitting", quiet=quiet):
            result = profile(
                sample, levels=levels, design=plan, shrinkage=shrinkage or None,
                reference=law,
            )  # fmt: skip
    except LevelError as error:
        if error.profile is not None:  # what is sound is not lost
            _show(error.profile, form, out, inference=bool(design), verbose=verbose, quiet=quiet)
            say_what_was_read(sample.reading, into, quiet=quiet)
        raise
    _show(result, form, out, inference=bool(design), verbose=verbose, quiet=quiet)
    say_what_was_read(sample.reading, into, quiet=quiet)
    return result


def _sample(
    where: Source, how: tuple[int | str | None, float, bool, str, Against], quiet: bool
) -> tuple[Directions | Moments, Design | str | None, Any]:
    """The rows with their design, and what they are relative to.

    The sums alone, where there are no rows or too many to hold.
    """
    from steradian.progress import working

    levels, _, within_span, design, against = how
    if where.is_moments:
        if within_span or ":" in design:
            raise InvalidArgument(
                f"{where.files[0]} holds moments; --within-span and columns of a design need rows"
            )
        return where.moments(), design or None, against.law(where)
    if not (within_span or design or against.text) and where.is_large:
        return where.sums(levels), None, None
    with working("reading", quiet=quiet):
        data, law = against.read(where, *design_columns(design))
    rows = data.directions.within_span() if within_span else data.directions
    return rows, data.design(design), law


def _show(
    result: Profile,
    form: str,
    out: str,
    *,
    inference: bool,
    verbose: bool = False,
    quiet: bool = False,
) -> None:
    """Print the profile and, where a design was stated that has any, tests and intervals.

    What cannot be judged is said beside the profile, which is sound without it.
    """
    from steradian.inference.effort import WAITING

    inference &= result.design.defines_inference
    whole, refused = [], ""
    if inference:
        try:
            whole = [str(result.tests()), str(result.intervals())]
        except DesignError as error:
            refused = f"no tests: {error}"
    if form == "text":
        said = result.summary(verbose=verbose, patience=WAITING)
        deliver("\n\n".join([said, *whole]), out)
    else:
        deliver(_profile_in_format(profile_record(result, WAITING), form), out)
    if refused:
        remark(refused, quiet=quiet)


def _profile_in_format(record: dict[str, Any], form: str) -> str:
    if form == "json":
        return as_json(record)
    if form == "csv":
        return as_csv(level_rows(record))
    read = [record["read"], ""] if record["read"] else []
    return "\n".join([*read, as_markdown(level_rows(record))])


@options.reading
def boundary_command(
    where: Source,
    levels: options.Levels = None,
    json_: Annotated[bool, typer.Option("--json", help="JSON in place of text.")] = False,
    out: options.Out = "",
) -> None:
    """Say for each level how far inside the moment body the data lie, or on what boundary."""
    from steradian.existence.boundary import boundary

    directions = where.read().directions
    found = boundary(directions, levels=levels)
    read = [] if directions.reading is None else [*_wrapped(directions.reading.words), ""]
    as_record = chosen_format("", json_, out) == "json"
    deliver(as_json(found.to_dict()) if as_record else "\n".join([*read, str(found)]), out)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 80)


# --- compare ------------------------------------------------------------------------------

COMPARE_EXAMPLES = """\b
Examples:
  steradian compare sites.csv --by polarity
  steradian compare planes.csv --coords strike_dip --by formation
  steradian compare rows.csv --by kind --design clusters:core --levels 3
  steradian compare north.csv south.csv --by file --json
  steradian compare galaxies.csv --by type --reference coverage.fits
  steradian compare sites.csv --by region --report sites.html
"""

ComparedBy = Annotated[
    str, typer.Option(help="Column of groups; or 'file' for a group for each file.")
]
Shares = Annotated[str, typer.Option(help="Share of each group: observed or equal.")]
Pairs = Annotated[bool, typer.Option("--pairs", help="Also which two groups differ.")]
_DESIGN = options.DESIGN_HELP.replace(" Adds tests and intervals.", "")


@options.reading
def compare_command(
    where: Source,
    context: typer.Context,
    by: ComparedBy = "",
    levels: options.Levels = None,
    design: Annotated[str, typer.Option(help=_DESIGN)] = "",
    shares: Shares = "observed",
    reference: Reference = "",
    drop_unseen: DropUnseen = False,
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
    form = chosen_format(form, json_, out)
    if report:
        from steradian.report import file_for

        file_for(report)
    found = _compared(where, by, (levels, design, shares, Against(reference, drop_unseen)))
    deliver(_comparison_in_format(found, form, pairs=pairs), out)
    say_what_was_read(found.reading, (form, out), quiet=quiet)
    if report:
        write_report(found, report, command_line(context), quiet=quiet)


def _compared(where: Source, by: str, how: tuple[int | None, str, str, Against]) -> Comparison:
    from steradian.comparison import compare

    levels, design, shares, against = how
    if where.is_moments:
        raise InvalidArgument(f"--by needs rows, and {where.files[0]} holds moments")
    data, law = against.read(where, by, *design_columns(design))
    return compare(
        data.directions,
        by=data.labels(by),
        levels=levels,
        design=data.design(design),
        shares=shares,
        reference=law,
    )


def _comparison_in_format(found: Comparison, form: str, *, pairs: bool) -> str:
    if form == "text":
        said = [found.summary(), *(["", str(found.pairs())] if pairs else [])]
        return "\n".join(said)
    record = found.to_dict()
    if pairs:
        record["pairs"] = found.pairs().to_dict()
    if form == "json":
        return as_json(record)
    rows = comparison_rows(record)
    return as_csv(rows) if form == "csv" else as_markdown(rows)


# --- regress ------------------------------------------------------------------------------

REGRESS_EXAMPLES = """\b
Examples:
  steradian regress winds.csv --coords azimuth --columns from --on hour --period 24
  steradian regress sites.csv --on age
  steradian regress core.csv --on depth --basis spline:4 --levels 3
  steradian regress rows.csv --on depth --design clusters:core --json
"""

On = Annotated[str, typer.Option(help="Column of the covariate: numbers, or labels of groups.")]
OnBasis = Annotated[
    str,
    typer.Option(help="Functions of it: ranks:2 (default), degree:2, spline:4, fourier:2, labels."),
]
OnPeriod = Annotated[
    float | None, typer.Option(help="Its period, such as 24 for hours: fourier:2 by default.")
]


@options.reading
def regress_command(
    where: Source,
    on: On = "",
    basis: OnBasis = "",
    period: OnPeriod = None,
    levels: options.Levels = None,
    design: Annotated[str, typer.Option(help=_DESIGN)] = "",
    reference: Reference = "",
    drop_unseen: DropUnseen = False,
    form: options.Format = "",
    json_: options.Json = False,
    out: options.Out = "",
    quiet: options.Quiet = False,
) -> None:
    """Say whether the directions in FILE depend on a covariate, in what, and how sure that is."""
    from steradian.regression import regress

    if not on:
        raise InvalidArgument("--on is missing; name the column of the covariate")
    form = chosen_format(form, json_, out)
    if where.is_moments:
        raise InvalidArgument(f"--on needs rows, and {where.files[0]} holds moments")
    against = Against(reference, drop_unseen)
    data, law = against.read(where, on, *design_columns(design))
    found = regress(
        data.directions,
        on=_plain_numbers(data.column(on)),
        basis=basis or None,
        period=period,
        levels=levels,
        design=data.design(design),
        reference=law,
    ).named(on)
    if form == "text":
        deliver(found.summary(), out)
    else:
        record = found.to_dict()
        rows = comparison_rows(record)
        text = as_json(record) if form == "json" else None
        deliver(text or (as_csv(rows) if form == "csv" else as_markdown(rows)), out)
    say_what_was_read(found.reading, (form, out), quiet=quiet)


def _plain_numbers(values: Any) -> Any:
    """Numbers where all that is not missing are; else labels without blanks around them."""
    import numpy as np

    words = [str(value).strip() for value in np.asarray(values).tolist()]
    try:
        return np.array([float(word) if word else np.nan for word in words])
    except ValueError:
        return np.array(words)


# --- moments and merge --------------------------------------------------------------------

_LABEL = "{}"  # in the name of a file: the label of its group


Into = Annotated[str, typer.Option("--out", "-o", help="File to write; with --by it holds {}.")]
LabelledBy = Annotated[
    str, typer.Option(help="Column of labels: one set of moments each; or 'file'.")
]
Cluster = Annotated[
    str, typer.Option(help="local:2 (processes here) or the address of a Dask scheduler.")
]


@options.reading
def moments_command(
    where: Source,
    by: LabelledBy = "",
    levels: options.Levels = None,
    cluster: Cluster = "",
    out: Into = "",
    form: options.Format = "text",
    json_: options.Json = False,
) -> None:
    """Sum the features of all rows, in blocks: write the moments, or print their profile."""
    form = chosen_format(form, json_)
    if out and (_LABEL in out) != bool(by):
        raise InvalidArgument(
            f"--out is {out!r}; with --by give a name with {_LABEL}, like site-{_LABEL}.moments"
        )
    found = where.sums(levels, by=by, cluster=cluster)
    _print_moments(found if by else {None: found}, out, form)


def merge_command(
    files: Annotated[list[str], typer.Argument(help="Files of moments.")],
    levels: options.LevelsHeld = None,
    out: Annotated[str, typer.Option("--out", "-o", help="File to write.")] = "",
    form: options.Format = "text",
    json_: options.Json = False,
) -> None:
    """Pool files of moments: write those of all their rows, or print their profile."""
    form = chosen_format(form, json_)
    _print_moments({None: _merged(files, levels)}, out, form)


def _merged(files: list[str], levels: int | None) -> Moments:
    from steradian.data.moments import Moments

    pooled = Moments.load(files[0])
    for name in files[1:]:
        try:
            pooled = pooled + Moments.load(name)
        except InvalidArgument as error:
            raise error.within(name) from error
    return pooled if levels is None else pooled.up_to(levels)


def _print_moments(found: dict[Any, Moments], out: str, form: str) -> None:
    """Write the moments where a name is given, else print the profile of each label."""
    from steradian.decomposition import profile

    if out:
        _write(found, out)
    elif None in found:
        with _sound_levels(form):
            _show(profile(found[None]), form, "", inference=False)
    elif form == "json":
        print(as_json({str(label): _label_record(each) for label, each in found.items()}))
    else:
        for label, each in found.items():
            print(f"{label}\n{'=' * len(str(label))}")
            try:
                with _sound_levels(form):
                    _show(profile(each), form, "", inference=False)
            except LevelError as error:  # of this label: the others are shown
                print(f"! {error}")
            print()


def _label_record(moments: Moments) -> dict[str, Any]:
    """The profile of a label, or why it has none."""
    from steradian.decomposition import profile
    from steradian.inference.effort import WAITING

    try:
        return profile_record(profile(moments), WAITING)
    except LevelError as error:
        return {"error": str(error)}


@contextmanager
def _sound_levels(form: str) -> Iterator[None]:
    """Print the levels that are sound before the reason why there are no more."""
    try:
        yield
    except LevelError as error:
        if error.profile is not None:
            _show(error.profile, form, "", inference=False)
        raise


def _write(found: dict[Any, Moments], out: str) -> None:
    names = {label: out.replace(_LABEL, re.sub(r"[^\w.-]", "_", str(label))) for label in found}
    if len(set(names.values())) < len(names):
        raise InvalidArgument("two labels make the same name of a file; rename one")
    for label, name in names.items():
        found[label].save(name)
        print(f"wrote {name}: {found[label]}")
