"""Sums from the command line: make them, pool them, and profile them without the rows."""

# ruff: noqa: PLR0913, PLR0917 - a command has one parameter for each option

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steradian.cli import options
from steradian.cli.options import Source
from steradian.cli.output import as_json, chosen_format
from steradian.errors import InvalidArgument, LevelError

if TYPE_CHECKING:
    from steradian.data.moments import Moments

_LABEL = "{}"  # in the name of a file: the label of its group

Show = Callable[..., None]
"""Prints a profile in a format."""

Into = Annotated[str, typer.Option("--out", "-o", help="File to write; with --by it holds {}.")]
By = Annotated[str, typer.Option(help="Column of labels: one set of moments each; or 'file'.")]
Cluster = Annotated[
    str, typer.Option(help="local:2 (processes here) or the address of a Dask scheduler.")
]


def register(app: typer.Typer, show: Show) -> None:
    """Add the commands that make and pool moments; ``show`` prints a profile."""

    @app.command("moments")
    @options.reading
    def moments_command(
        where: Source,
        by: By = "",
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
        _deliver(found if by else {None: found}, out, form, show)

    @app.command("merge")
    def merge_command(
        files: Annotated[list[str], typer.Argument(help="Files of moments.")],
        levels: options.LevelsHeld = None,
        out: Annotated[str, typer.Option("--out", "-o", help="File to write.")] = "",
        form: options.Format = "text",
        json_: options.Json = False,
    ) -> None:
        """Pool files of moments: write those of all their rows, or print their profile."""
        form = chosen_format(form, json_)
        _deliver({None: _merged(files, levels)}, out, form, show)


def _merged(files: list[str], levels: int | None) -> Moments:
    from steradian.data.moments import Moments

    pooled = Moments.load(files[0])
    for name in files[1:]:
        try:
            pooled = pooled + Moments.load(name)
        except InvalidArgument as error:
            raise error.within(name) from error
    return pooled if levels is None else pooled.up_to(levels)


def _deliver(found: dict[Any, Moments], out: str, form: str, show: Show) -> None:
    """Write the moments where a name is given, else print the profile of each label."""
    from steradian.profile import profile

    if out:
        _write(found, out)
    elif None in found:
        with _told(form, show):
            show(profile(found[None]), form, "", inference=False)
    elif form == "json":
        print(as_json({str(label): _record(each) for label, each in found.items()}))
    else:
        for label, each in found.items():
            print(f"{label}\n{'=' * len(str(label))}")
            try:
                with _told(form, show):
                    show(profile(each), form, "", inference=False)
            except LevelError as error:  # of this label: the others are shown
                print(f"! {error}")
            print()


def _record(moments: Moments) -> dict[str, Any]:
    """The profile of a label, or why it has none."""
    from steradian.cli.profile_record import profile_record
    from steradian.inference.effort import WAITING
    from steradian.profile import profile

    try:
        return profile_record(profile(moments), WAITING)
    except LevelError as error:
        return {"error": str(error)}


@contextmanager
def _told(form: str, show: Show) -> Iterator[None]:
    """Print the levels that are sound before the reason why there are no more."""
    try:
        yield
    except LevelError as error:
        if error.profile is not None:
            show(error.profile, form, "", inference=False)
        raise


def _write(found: dict[Any, Moments], out: str) -> None:
    names = {label: out.replace(_LABEL, re.sub(r"[^\w.-]", "_", str(label))) for label in found}
    if len(set(names.values())) < len(names):
        raise InvalidArgument("two labels make the same name of a file; rename one")
    for label, name in names.items():
        found[label].save(name)
        print(f"wrote {name}: {found[label]}")
