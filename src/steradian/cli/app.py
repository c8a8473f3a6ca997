"""The program: its commands by name, and how each way to end becomes one line and a code."""

from __future__ import annotations

import os
import platform
import sys
import textwrap
import time
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import steradian
from steradian.cli import INTERRUPTED, options
from steradian.cli.commands import (
    COMPARE_EXAMPLES,
    NO_FIT,
    PROFILE_EXAMPLES,
    REGRESS_EXAMPLES,
    boundary_command,
    compare_command,
    merge_command,
    moments_command,
    profile_command,
    regress_command,
)
from steradian.cli.output import (
    command_line,
    drop_output,
    flush_output,
    output_or_error,
    remark,
    unwritten,
)
from steradian.errors import InvalidArgument, LevelError, SteradianError
from steradian.text.audience import Audience, speaking_to

if TYPE_CHECKING:
    from steradian.decomposition import Profile

BAD_INPUT = 2
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


app.command("profile", epilog=PROFILE_EXAMPLES)(profile_command)
app.command("boundary")(boundary_command)

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
    from steradian.paper.catalogue import ALL, chosen
    from steradian.paper.output import write
    from steradian.plots.canvas import require

    what = what.lower()
    makers = chosen(what)
    if out.exists() and not out.is_dir():
        raise InvalidArgument(f"{out} is a file; give --out a directory")
    standing = next(path for path in (out, *out.resolve().parents) if path.exists())
    if not os.access(standing, os.W_OK):  # said before the work, not after it
        raise InvalidArgument(f"{standing} cannot be written to; give --out another directory")
    if what == ALL or what.startswith("figure"):
        require()  # before the work, not after it
    pieces = []
    for make in makers:
        piece = make()
        pieces.append(piece)
        print(piece, end="\n\n", flush=True)
    for path in write(pieces, out, what=what):
        print(f"wrote {path}")
    differing = [f"{p.name} ({e.row}, {e.column})" for p in pieces for e in p.differing]
    if not differing:
        return 0
    print(f"steradian: differs from the paper: {'; '.join(differing)}", file=sys.stderr)
    return NO_FIT


_CORE = ("numpy", "scipy", "ducc0")
_EXTRAS = {
    "cli": ("typer", "rich"),
    "tables": ("narwhals", "pyarrow", "pandas"),
    "plots": ("matplotlib",),
    "report": ("jinja2", "plotly"),
    "digits": ("scikit-learn",),
}
_IMPORTED_AS = {"scikit-learn": "sklearn"}
_KNOWN_GAP = 1.63296  # of level 2 of the McMurdo sites, as README prints it


@app.command("doctor")
def doctor_command() -> int:
    """Show versions and extras, and check one profile. Exits with 1 if it is wrong."""
    print(f"steradian {steradian.__version__}, Python {platform.python_version()}")
    print(f"on {platform.platform()}")
    for name in _CORE:
        print(f"  {name} {metadata.version(name)}")
    for extra, names in _EXTRAS.items():
        print(f"extra {extra}: {', '.join(_state(name) for name in names)}")
        if any(find_spec(_IMPORTED_AS.get(name, name)) is None for name in names):
            print(f"  install it with: pip install 'steradian[{extra}]'")
    return _self_test()


def _state(name: str) -> str:
    if find_spec(_IMPORTED_AS.get(name, name)) is None:
        return f"{name} missing"
    return f"{name} {metadata.version(name)}"


def _self_test() -> int:
    from steradian.decomposition import profile
    from steradian.examples import load

    began = time.perf_counter()
    gap = float(profile(load("mcmurdo"), levels=2).gaps[1])
    sound = abs(gap - _KNOWN_GAP) < 0.5e-5
    took = time.perf_counter() - began
    print(f"self-test: I2 of mcmurdo is {gap:.5f}, {'as' if sound else 'NOT as'} it should be")
    print(f"           ({took:.2f} s)")
    return 0 if sound else 1


app.command("moments")(moments_command)
app.command("merge")(merge_command)
app.command("compare", epilog=COMPARE_EXAMPLES)(compare_command)
app.command("regress", epilog=REGRESS_EXAMPLES)(regress_command)


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
    from steradian.decomposition import profile
    from steradian.examples import CATALOGUE

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
    from steradian.text.places import axis_in_words, in_words

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
