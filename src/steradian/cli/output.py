"""Results as text, JSON, CSV or Markdown, printed or written to a file all at once."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from steradian.errors import InvalidArgument

if TYPE_CHECKING:
    import typer

    from steradian.data.notation import Reading

FORMATS = ("text", "json", "csv", "markdown")


_SUFFIXES = {".json": "json", ".csv": "csv", ".md": "markdown", ".markdown": "markdown"}


def chosen_format(name: str, as_json: bool, out: str = "") -> str:
    """The format asked for, or else that of the file's name."""
    if not name:
        return "json" if as_json else _SUFFIXES.get(Path(out).suffix.lower(), "text")
    if name not in FORMATS:
        raise InvalidArgument(f"--format is {name!r}; choose {', '.join(FORMATS)}")
    if as_json and name not in ("text", "json"):
        raise InvalidArgument(f"--json and --format {name} are two formats; give one")
    return "json" if as_json else name


def as_json(record: Any) -> str:
    """JSON that every reader understands."""
    from steradian.io.records import without_nan

    return json.dumps(without_nan(record), indent=2)


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """One line for each row, under a header."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().rstrip("\n")


def as_markdown(rows: Sequence[dict[str, Any]]) -> str:
    """A Markdown table."""
    names = list(rows[0])
    lines = [names, ["---"] * len(names), *([_cell(row[name]) for name in names] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: Any) -> str:
    text = f"{value:.5g}" if isinstance(value, float) else "" if value is None else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def level_rows(record: dict[str, Any]) -> list[dict[str, Any]]:
    """One row for each level of a profile's record; None where nothing is known."""
    names = {
        "features": "dims", "deficit": "deficits", "gap": "gaps", "noise": "noise",
        "uncertainty": "uncertainty",
    }  # fmt: skip
    known = ("pvalue", "low", "high", "pvalue_holm")
    rows = []
    for k, level in enumerate(record["levels"]):
        row = {"level": level, **{name: record[key][k] for name, key in names.items()}}
        row |= {name: record["inference"][name][k] for name in known}
        row |= {"name": record["level_names"][k]}
        why = record["inference"]["reason"][k]
        rows.append(row | {"verdict": record["inference"]["verdict"][k], **reason_cells(why)})
    return rows


def reason_cells(why: dict[str, Any] | None) -> dict[str, str]:
    """The code of a diagnostic and its sentence, empty where there is none."""
    return {
        "reason": "" if why is None else why["code"],
        "text": "" if why is None else why["text"],
    }


def deliver(text: str, out: str) -> None:
    """Print, or write to a file that appears whole or not at all."""
    if not out:
        print(text)
        flush_output()
        return
    target = Path(out)
    if target.is_dir():
        raise InvalidArgument(f"{out} is a folder; give --out a file")
    from steradian.io.whole_files import write_whole

    write_whole(target, (text + "\n").encode())


def remark(words: str, *, quiet: bool) -> None:
    """A line on standard error, where it disturbs no result; lost where nobody can be told."""
    if not quiet and sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"steradian: {words}", file=sys.stderr, flush=True)


class _Closed(io.TextIOBase):
    """A standard output that was closed before the program began."""

    def write(self, _: str) -> int:
        raise InvalidArgument("standard output is closed; leave it open, or give --out a file")


@contextlib.contextmanager
def output_or_error() -> Iterator[None]:
    """What is printed to a closed standard output is an error, and not lost without a word."""
    if sys.stdout is not None:
        yield
        return
    with contextlib.redirect_stdout(_Closed()):
        yield


def flush_output() -> None:
    """Hand over what was printed, or say that it cannot be."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritten(error) from error


def unwritten(error: OSError) -> InvalidArgument:
    """The error of a standard output that takes no more, which then goes where it disturbs none."""
    drop_output()
    why = str(error.strerror).lower()
    return InvalidArgument(
        f"standard output cannot be written: {why}; make room, or give --out a file elsewhere"
    )


def drop_output() -> None:
    """Let what was printed and nobody can read go where it disturbs no one."""
    with contextlib.suppress(OSError):  # of a stream without a descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_what_was_read(reading: Reading | None, into: tuple[str, str], *, quiet: bool) -> None:
    """Say on standard error what was read, where what is printed does not begin with it.

    ``into`` is the format and the name of a file, empty where the result is printed.
    """
    form, out = into
    if reading is not None and (form == "csv" or out):
        remark(reading.words, quiet=quiet)


class Reported(Protocol):
    """A result that writes a report of itself."""

    def report(self, path: str | Path, *, title: str = "", call: str = "") -> Path:
        """Write it, and return its path."""
        ...


def write_report(result: Reported, path: str, call: str, *, quiet: bool) -> None:
    """Write the report of a result, and say where it is."""
    from steradian.progress import working

    with working("writing the report", quiet=quiet):
        written = result.report(path, call=call)
    remark(f"wrote {written}; open it in a browser", quiet=quiet)


def command_line(context: typer.Context) -> str:
    """The command as it was given."""
    return shlex.join(["steradian", *(context.obj or [])])
