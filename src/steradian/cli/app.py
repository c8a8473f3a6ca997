"""The commands."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

import steradian
from steradian.cli.design import DESIGN_HELP, parse_design
from steradian.cli.reproduce import reproduce_command
from steradian.data.directions import Directions
from steradian.errors import DesignError, InvalidArgument, LevelError, SteradianError
from steradian.examples import CATALOGUE
from steradian.io.frames import COORDS
from steradian.io.records import without_nan
from steradian.io.tables import read_directions
from steradian.profile import Profile, profile

BAD_INPUT, NO_FIT = 2, 1

# The common base of all usage errors; typer shows it only through its subclasses.
_UsageProblem: Any = typer.BadParameter.__mro__[2]

app = typer.Typer(
    help="What a mean direction hides: geometric information decomposition of directions.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def run(arguments: list[str]) -> int:
    """Run one command line; every failure becomes one line on stderr and an exit code."""
    try:
        result = app(arguments or ["--help"], prog_name="steradian", standalone_mode=False)
    except LevelError as error:
        return _complain(str(error), NO_FIT)
    except (SteradianError, ValueError, OSError) as error:
        return _complain(str(error).replace("normalize=True", "--normalize"), BAD_INPUT)
    except (MemoryError, OverflowError):
        return _complain("not enough memory; ask for fewer levels", NO_FIT)
    except _UsageProblem as error:
        return _complain(f"{error.format_message()} (see steradian --help)", BAD_INPUT)
    except (typer.Abort, KeyboardInterrupt):
        return _complain("interrupted", NO_FIT)
    return result if isinstance(result, int) else 0


def _complain(message: str, code: int) -> int:
    print("steradian: " + " ".join(message.split()), file=sys.stderr)
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


@app.command("profile")
def profile_command(  # noqa: PLR0913, PLR0917 - one per option
    file: Annotated[
        str, typer.Argument(help="CSV, TSV, Parquet or NPY file, or the name of an example.")
    ],
    columns: Annotated[
        str, typer.Option(help="Coordinate columns, separated by commas; default: by name.")
    ] = "",
    coords: Annotated[
        str, typer.Option(help="xyz, lonlat or angle (degrees); default: by column name.")
    ] = "",
    weights: Annotated[str, typer.Option(help="Column of weights.")] = "",
    levels: Annotated[int, typer.Option(help="Highest level; 0: the default.")] = 0,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Scale Cartesian rows to unit norm.")
    ] = False,
    axial: Annotated[
        bool, typer.Option("--axial", help="Rows are axes: x and -x are the same.")
    ] = False,
    shrinkage: Annotated[
        float, typer.Option(help="Share of the uniform law to mix in; 0: none.")
    ] = 0.0,
    within_span: Annotated[
        bool, typer.Option("--within-span", help="Leave out the dimensions the data do not span.")
    ] = False,
    design: Annotated[str, typer.Option(help=DESIGN_HELP)] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print the information profile of the directions in FILE.

    With --design also tests and intervals.
    """
    directions = _read(file, columns, coords, weights, normalize=normalize, axial=axial)
    if levels < 0:
        raise InvalidArgument(f"--levels is {levels}; give 1 or more")
    if within_span:
        directions = directions.within_span()
    try:
        result = profile(
            directions,
            levels=levels or None,
            design=parse_design(design, file) if design else None,
            shrinkage=shrinkage or None,
        )
    except LevelError as error:
        if error.profile is not None:  # what is sound is not lost
            _show(error.profile, as_json, inference=bool(design))
        raise
    _show(result, as_json, inference=bool(design))


def _read(
    file: str, columns: str, coords: str, weights: str, *, normalize: bool, axial: bool
) -> Directions:
    if coords and coords not in COORDS:
        raise InvalidArgument(f"--coords is {coords!r}; choose {', '.join(COORDS)}")
    if file in CATALOGUE and not Path(file).exists():
        if columns or coords or weights:
            raise InvalidArgument(f"{file} is a bundled example and takes no column options")
        known = CATALOGUE[file].directions()
        return Directions(known.x, axial=True) if axial else known
    options: dict[str, Any] = {"coords": coords or None, "weights": weights or None}
    names = [name.strip() for name in columns.split(",")] if columns else None
    return read_directions(file, columns=names, normalize=normalize, axial=axial, **options)


def _show(result: Profile, as_json: bool, *, inference: bool = False) -> None:
    """Print the profile and, where a design was stated that has any, tests and intervals."""
    inference &= result.design.defines_inference
    record, refused = result.to_dict(), None
    text = [result.summary()]
    if inference:
        try:
            tests, intervals = result.tests(), result.intervals()
        except DesignError as error:
            refused = error  # the profile itself is not lost
        else:
            record |= {"tests": tests.to_dict(), "intervals": intervals.to_dict()}
            text += [str(tests), str(intervals)]
    print(json.dumps(without_nan(record), indent=2) if as_json else "\n\n".join(text))
    if refused is not None:
        raise refused


app.command("reproduce")(reproduce_command)


@app.command("examples")
def examples_command() -> None:
    """List the bundled data sets and what each shows."""
    for example in CATALOGUE.values():
        print(f"{example.name}: {example.title}")
        print(textwrap.fill(example.story, 80, initial_indent="  ", subsequent_indent="  "))
        source = f"Source: {example.source}."
        print(textwrap.fill(source, 80, initial_indent="  ", subsequent_indent="  "))
        print(f"  Try: steradian profile {example.name}\n")


@app.command("demo")
def demo_command() -> None:
    """Tell the story of the McMurdo sites with its numbers."""
    example = CATALOGUE["mcmurdo"]
    result = profile(example.directions())
    shares = result.gaps / result.deficits[-1]
    print(textwrap.fill(f"{example.title}. {example.source}.", 80) + "\n")
    print(result.summary())
    moral = (
        f"{example.story} Here the mean has length R = {result.resultant:.2f} and von "
        f"Mises-Fisher holds {shares[0]:.1%} of the information; level 2 adds {shares[1]:.1%}, "
        f"{result.gaps[1] / result.gaps[0]:.0f} times as much."
    )
    print("\n" + textwrap.fill(moral, 80))
