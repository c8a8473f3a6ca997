"""The commands."""

# ruff: noqa: PLR0913, PLR0917 - a command has one parameter for each option

from __future__ import annotations

import textwrap
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import steradian
from steradian.cli import INTERRUPTED, options
from steradian.cli.compare import register_compare
from steradian.cli.doctor import doctor_command
from steradian.cli.moments import register
from steradian.cli.options import Source
from steradian.cli.output import (
    as_csv,
    as_json,
    as_markdown,
    chosen_format,
    command_line,
    deliver,
    drop_output,
    flush_output,
    level_rows,
    output_or_error,
    remark,
    say_what_was_read,
    unwritten,
    write_report,
)
from steradian.cli.reference import HELP as REFERENCE_HELP
from steradian.cli.reference import parse_reference
from steradian.errors import DesignError, InvalidArgument, LevelError, SteradianError
from steradian.text.audience import Audience, speaking_to

if TYPE_CHECKING:
    from steradian.data.directions import Directions
    from steradian.data.moments import Moments
    from steradian.designs import Design
    from steradian.profile import Profile

BAD_INPUT, NO_FIT = 2, 1
# The common base of all usage errors; typer shows it only through its subclasses.
_UsageProblem: Any = typer.BadParameter.__mro__[2]

app = typer.Typer(
    help="What a mean direction hides: geometric information decomposition of directions.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def run(arguments: list[str]) -> int:
    """Run one command line; every failure becomes one line on stderr and an exit code."""
    command: Any = typer.main.get_command(app)
    with speaking_to(Audience.COMMAND_LINE, _options_of(command, arguments)), output_or_error():
        return _ended(command, arguments)


def _options_of(command: Any, arguments: list[str]) -> frozenset[str] | None:
    """The options that the command in use has; None where none is named."""
    named = next((name for name in arguments if name in command.commands), None)
    if named is None:
        return None
    parameters = command.commands[named].params
    return frozenset(name for one in parameters for name in (*one.opts, *one.secondary_opts))


def _ended(command: Any, arguments: list[str]) -> int:  # noqa: PLR0911 - one for each way to end
    try:
        result = command(
            arguments or ["--help"], prog_name="steradian", standalone_mode=False, obj=arguments
        )
        flush_output()
    except LevelError as error:
        return _complain(str(error), NO_FIT)
    except (BrokenPipeError, SystemExit):  # whoever read has seen enough; click ends so too
        drop_output()
        return 0
    except (SteradianError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None and not error.filename:
            error = unwritten(error)  # of what was printed: files have names
        return _complain(str(error), BAD_INPUT)
    except (MemoryError, OverflowError):
        return _complain("not enough memory; ask for fewer levels", NO_FIT)
    except _UsageProblem as error:
        return _complain(f"{error.format_message()} (see {_command(error)} --help)", BAD_INPUT)
    except (typer.Abort, KeyboardInterrupt):
        return _complain("interrupted", INTERRUPTED)
    if result == INTERRUPTED:  # typer has caught it, and says nothing
        return _complain("interrupted", INTERRUPTED)
    return result if isinstance(result, int) else 0


def _command(error: Any) -> str:
    """The command that a usage error is of."""
    context = getattr(error, "ctx", None)
    return "steradian" if context is None else str(context.command_path)


def _complain(message: str, code: int) -> int:
    plain = "".join(c if c.isprintable() else " " for c in message)  # names may hold anything
    remark(" ".join(plain.split()), quiet=False)
    return code


def _version(wanted: bool) -> None:
    if wanted:
        print(f"steradian {steradian.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


_EXAMPLES = """\b
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


@app.command("profile", epilog=_EXAMPLES)
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
    reference: Annotated[str, typer.Option(help=REFERENCE_HELP)] = "",
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
    form = chosen_format(form, json_, out)
    if report:
        from steradian.report import file_for

        file_for(report)
    if by:
        if design or within_span or report:
            taken = "--design, --within-span or --report"
            raise InvalidArgument(f"--by takes no {taken}; leave one out")
        return _grouped(where, by, (levels, shrinkage, reference), (form, out), quiet=quiet)
    how = (levels, shrinkage, within_span, design, reference)
    result = _one(where, how, (form, out), quiet, verbose)
    if report:
        write_report(result, report, command_line(context), quiet=quiet)
    return 0


def _grouped(
    where: Source,
    by: str,
    how: tuple[int | str | None, float, str],
    into: tuple[str, str],
    *,
    quiet: bool,
) -> int:
    from steradian.cli.groups import group_records, group_text
    from steradian.data.notation import pooled_reading

    if where.is_moments:
        raise InvalidArgument(f"--by needs rows, and {where.files[0]} holds moments")
    if where.is_large and not how[2]:
        sums = where.sums(how[0], by=by)
        reading = pooled_reading(some.reading for some in sums.values())
        groups = {label: (some.n, partial(sums.__getitem__, label)) for label, some in sums.items()}
    else:
        data = where.read(by)
        reading = data.directions.reading
        groups = {
            label: (len(rows), partial(data.directions.take, rows))
            for label, rows in data.groups(by).items()
        }
    law = parse_reference(how[2], where) if how[2] else None
    records = group_records(groups, how[0], how[1] or None, law)
    deliver(group_text(records, "" if reading is None else reading.words, into[0]), into[1])
    say_what_was_read(reading, into, quiet=quiet)
    return NO_FIT if all("error" in record for record in records) else 0


def _one(
    where: Source,
    how: tuple[int | str | None, float, bool, str, str],
    into: tuple[str, str],
    quiet: bool,
    verbose: bool,
) -> Profile:
    from steradian.profile import profile
    from steradian.progress import working

    levels, shrinkage, _, design, reference = how
    form, out = into
    sample, plan = _sample(where, how, quiet)
    law = parse_reference(reference, where) if reference else None
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
    where: Source, how: tuple[int | str | None, float, bool, str, str], quiet: bool
) -> tuple[Directions | Moments, Design | str | None]:
    """The rows with their design; the sums alone, where there are no rows or too many to hold."""
    from steradian.cli.design import design_columns
    from steradian.progress import working

    levels, _, within_span, design, reference = how
    if where.is_moments:
        if within_span or ":" in design:
            raise InvalidArgument(
                f"{where.files[0]} holds moments; --within-span and columns of a design need rows"
            )
        return where.moments(), design or None
    if not (within_span or design or reference) and where.is_large:
        return where.sums(levels), None
    with working("reading", quiet=quiet):
        data = where.read(*design_columns(design))
    return data.directions.within_span() if within_span else data.directions, data.design(design)


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
    from steradian.cli.profile_record import profile_record
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
        deliver(_formed(profile_record(result, WAITING), form), out)
    if refused:
        remark(refused, quiet=quiet)


def _formed(record: dict[str, Any], form: str) -> str:
    if form == "json":
        return as_json(record)
    if form == "csv":
        return as_csv(level_rows(record))
    read = [record["read"], ""] if record["read"] else []
    return "\n".join([*read, as_markdown(level_rows(record))])


@app.command("boundary")
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


_DIRECTORY = Path("steradian-paper")


@app.command("reproduce")
def reproduce(
    what: Annotated[str, typer.Argument(help="A table or figure, or all.", metavar="WHAT")] = "all",
    out: Annotated[
        Path, typer.Option(help="Directory for pictures (PNG, PDF), numbers (CSV) and a page (MD).")
    ] = _DIRECTORY,
) -> int:
    """Make the paper's tables and figures again, beside the printed numbers.

    Exits with 1 if any number differs.
    """
    from steradian.cli.reproduce import reproduce_command

    return reproduce_command(what, out)


app.command("doctor")(doctor_command)
register(app, _show)
register_compare(app)


@app.command("examples")
def examples_command() -> None:
    """List the bundled data sets and what each shows."""
    from steradian.examples import CATALOGUE

    for example in CATALOGUE.values():
        print(f"{example.name}: {example.title}")
        print(textwrap.fill(example.story, 80, initial_indent="  ", subsequent_indent="  "))
        cited = f"Source: {example.source}."
        print(textwrap.fill(cited, 80, initial_indent="  ", subsequent_indent="  "))
        print(f"  Try: steradian profile {example.name}\n")


@app.command("demo")
def demo_command(context: typer.Context, report: options.Report = "") -> None:
    """Tell the story of the McMurdo sites with its numbers."""
    from steradian.examples import CATALOGUE
    from steradian.profile import profile

    example = CATALOGUE["mcmurdo"]
    result = profile(example.directions())
    result.tests()
    print(textwrap.fill(f"{example.title}. {example.source}.", 80) + "\n")
    print(result.summary())
    print("\n" + "\n\n".join(textwrap.fill(said, 80) for said in _moral(example.story, result)))
    if report:
        written = result.report(report, title=example.title, call=command_line(context))
        print(f"\nThe same as a page, with the sphere to turn: open {written.resolve()}")


def _moral(story: str, result: Profile) -> list[str]:
    """What the numbers of the demo mean to somebody who knows the rocks and not the method."""
    from steradian.profile.principal_axes import axis_in_words
    from steradian.profile.summary import in_words

    shares = result.gaps / result.deficits[-1]
    mean, axis = in_words(result).lstrip(": "), axis_in_words(result).split(" (")[0]
    return [
        "What it means. " + story,
        f"The mean ({mean}) has length R = {result.resultant:.2f} and holds {shares[0]:.1%} of "
        f"the information: it is what is left when two opposite groups cancel, and no direction "
        f"of the field. The axis through both groups ({axis}) holds {shares[1]:.1%}, "
        f"{result.gaps[1] / result.gaps[0]:.0f} times as much.",
        "Next: `steradian profile mcmurdo --axial` takes a site and its reversal as one; "
        "`steradian profile YOUR.csv` does the same with your sites.",
    ]
