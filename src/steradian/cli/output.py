"""Results as text, JSON, CSV or Markdown, printed or written to a file all at once."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from steradian.diagnostics import Verdict
from steradian.errors import InvalidArgument, InvalidDirections, LevelError, SteradianError
from steradian.numerics.tolerances import POINTS_NOWHERE
from steradian.progress import tracked
from steradian.text.numbers import digits
from steradian.text.table import Column, Table

if TYPE_CHECKING:
    import typer

    from steradian.data.directions import Directions
    from steradian.data.moments import Moments
    from steradian.data.notation import Reading
    from steradian.decomposition import Profile
    from steradian.numerics.arrays import Array
    from steradian.text.levels import LevelTable

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
    return Table(*(Column(name, [_cell(row[name]) for row in rows]) for name in rows[0])).markdown()


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
    from steradian.io.records import write_whole

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


# --- records of profiles, groups and comparisons ------------------------------------------


def profile_record(result: Profile, patience: float) -> dict[str, Any]:
    """Every number of a profile, with tests and intervals as far as its text has them.

    ``tests`` and ``intervals`` are those of the library, None where there are none; ``inference``
    has one entry for each level, None where it cannot be judged, and then the reason.
    """
    from steradian.text.levels import LevelTable

    table = LevelTable.of(result, patience)
    tests, intervals = table.tests, table.intervals
    return {
        **result.to_dict(),
        "tests": None if tests is None else tests.to_dict(),
        "intervals": None if intervals is None else intervals.to_dict(),
        "inference": _inference(table),
    }


def _inference(table: LevelTable) -> dict[str, Any]:
    """P-values that mean something, intervals, and what is said of each level."""
    tests, intervals = table.tests, table.intervals
    none = np.full(len(table.profile.levels), np.nan)
    judged = [verdict is not Verdict.UNJUDGED for verdict in table.verdicts]
    return {
        "pvalue": _known(none if tests is None else tests.pvalue, judged),
        "pvalue_holm": _known(table.pvalues, judged),
        "correction": "holm",
        "low": _known(none if intervals is None else intervals.low),
        "high": _known(none if intervals is None else intervals.high),
        "confidence": None if intervals is None else intervals.confidence,
        "verdict": [str(one) for one in table.verdicts],
        "reason": [None if reason is None else reason.to_dict() for reason in table.reasons],
    }


def _known(values: Array, judged: list[bool] | None = None) -> list[float | None]:
    """Numbers, None where there is none or it is no evidence."""
    good = np.isfinite(values) & (True if judged is None else np.array(judged))
    return [float(value) if so else None for value, so in zip(values, good, strict=True)]


_NOT_THERE = "–"
_WIDTH = 80
_NOISE = 0.05  # p-value of uniformity above which a mean direction is not told
_UNNAMED = "(empty)"  # a group of rows whose label is missing


def group_records(
    groups: Mapping[Any, tuple[int, Callable[[], Directions | Moments]]],
    levels: int | str | None,
    shrinkage: float | None,
    reference: Any = None,
) -> list[Any]:
    """What is told of each group, of how many rows it has and what makes its sample."""
    from steradian.decomposition import profile

    records = []
    for label, (count, sample) in tracked(groups.items(), len(groups), "groups"):
        name = str(label).strip() or _UNNAMED
        try:
            found = profile(sample(), levels=levels, shrinkage=shrinkage, reference=reference)
        except (LevelError, InvalidDirections) as error:
            records.append({"group": name, "n": count, "error": str(error)})
        else:
            records.append(_group_record(name, found))
    return records


def _group_record(name: str, found: Profile) -> dict[str, Any]:
    from steradian.text.places import axis_in_words, in_words

    record: dict[str, Any] = {"group": name, "n": found.n}
    pointing = found.has_mean and _points(found)
    if found.has_mean:
        record["resultant_length"] = found.resultant
        record["mean"] = in_words(found).lstrip(": ") if pointing else ""
    if not pointing and (axis := axis_in_words(found)):
        record["axis"] = axis
    record["total"] = float(found.deficits[-1])
    record["gaps"] = found.gaps.tolist()
    return record | ({} if found.stopped is None else {"stopped": found.stopped.to_dict()})


def _points(found: Profile) -> bool:
    """Whether a group has a mean direction: significant, where a p-value is defined."""
    if found.resultant < POINTS_NOWHERE:
        return False
    try:
        pvalue = float(found.uniformity().pvalue[0])
    except SteradianError:
        return True
    return not pvalue > _NOISE


def group_text(records: list[Any], read: str, form: str) -> str:
    """The groups in one of the formats."""
    if form == "json":
        return as_json({"read": read, "groups": records})
    levels = max((len(record.get("gaps", ())) for record in records), default=0)
    rows = [_group_row(record, levels) for record in records]
    if form == "csv":
        return as_csv(rows)
    if form == "markdown":
        return f"{read}\n\n{as_markdown(rows)}"
    notes = [f"{r['group']}: {r['error']}" for r in records if "error" in r]
    return "\n".join(
        [
            *textwrap.wrap(read, _WIDTH),
            "",
            *_aligned(rows),
            "",
            *textwrap.wrap(_LEGEND, _WIDTH),
            *notes,
        ]
    )


_LEGEND = (
    "R mean resultant length, D information in all levels, I what each level adds (nats); "
    f"no mean where it is not significant (Rayleigh's p above {_NOISE})."
)


def _group_row(record: dict[str, Any], levels: int) -> dict[str, Any]:
    row = {"group": record["group"], "n": record["n"]}
    row["R"] = record.get("resultant_length", _NOT_THERE)
    row["D"] = record.get("total", _NOT_THERE)
    gaps = record.get("gaps", [])
    row |= {f"I{k + 1}": gaps[k] if k < len(gaps) else _NOT_THERE for k in range(levels)}
    mean, axis = record.get("mean") or _NOT_THERE, record.get("axis")
    return row | ({"mean": mean} if axis is None else {"mean": f"axis {axis}"})


def _aligned(rows: list[dict[str, Any]]) -> list[str]:
    names = list(rows[0])
    ends = {names[0], names[-1]}
    columns = [
        Column(name, [_shown(row[name]) for row in rows], left=name in ends, gap=2)
        for name in names
    ]
    return [line.rstrip() for line in Table(*columns).lines()]


def _shown(value: Any) -> str:
    return digits(value) if isinstance(value, float) else str(value)


def comparison_rows(record: dict[str, Any]) -> list[dict[str, Any]]:
    """One row for each level, then for the parts of the first one and for all together."""
    tests, intervals = record["tests"] or {}, record["intervals"] or {}
    rows = [
        _cells_of(
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
        rows.append(_cells_of("part of level 1", {"name": part, "between": size, **known}))
    whole = {"name": "all levels", "between": record["total"], "pvalue": tests.get("any_pvalue")}
    whole |= {name: intervals.get(f"total_{name}") for name in ("low", "high")}
    noise = None if None in record["noise"] else sum(record["noise"])
    rows.append(_cells_of("all levels", whole | {"features": sum(record["dims"]), "noise": noise}))
    return [{**row, **reason_cells(record["refused"])} for row in rows]


_OF_LEVELS = {"name": "level_names", "features": "dims", "between": "between", "noise": "noise"}
_COLUMNS = ("level", *_OF_LEVELS, "low", "high", "pvalue", "pvalue_holm")


def _cells_of(kind: str, known: dict[str, Any]) -> dict[str, Any]:
    """The cells of a row, None where it has none."""
    return {**{name: known.get(name) for name in _COLUMNS}, "kind": kind}
