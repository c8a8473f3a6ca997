"""Options that several commands share, and what they mean for a file."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steradian.arguments import shown, whole_number
from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError, InvalidArgument

if TYPE_CHECKING:
    from steradian.data.directions import Directions
    from steradian.data.moments import Moments
    from steradian.designs import Design
    from steradian.io.frames import Table
    from steradian.numerics.arrays import AnyArray, IntArray

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Tables (CSV, TSV, spaces, MagIC, JSON lines, Parquet, Feather, NPY, NPZ, any text "
        "also as .gz), - for standard input, or the name of one example. Several files are one "
        "sample.",
    ),
]
Columns = Annotated[
    str,
    typer.Option(help="Coordinate columns by name or number (2-17 for several), with commas."),
]
Bins = Annotated[
    str, typer.Option(help="Columns of the lower and upper edges of bins, with a comma.")
]
Part = Annotated[
    str, typer.Option("--table", help="Table of a MagIC file of several, or array of an NPZ file.")
]
Coords = Annotated[
    str,
    typer.Option(
        help="Convention: xyz, lonlat, radec, colatitude, declination_inclination, trend_plunge, "
        "strike_dip, dip_direction, azimuth_altitude, azimuth, angle, time, dihedrals, "
        "quaternions or rotations; default: by column name."
    ),
]
Weights = Annotated[str, typer.Option(help="Column of weights.")]
Counts = Annotated[str, typer.Option(help="Column of how often each row was observed.")]
Where = Annotated[
    str, typer.Option(help="Rows to read, like \"dip > 30 and formation == 'Ross'\".")
]
Distinct = Annotated[
    bool, typer.Option("--distinct", help="Keep one of each set of rows that repeat exactly.")
]
Degrees = Annotated[
    bool | None,
    typer.Option("--degrees/--radians", help="Unit of angles; default: degrees, if they fit."),
]
Hours = Annotated[bool, typer.Option("--hours", help="Right ascensions are in hours.")]
Period = Annotated[str, typer.Option(help="Of times: a number, day, week or year.")]
OnBad = Annotated[str, typer.Option(help="Rows that cannot be read: error or skip.")]
Normalize = Annotated[bool, typer.Option("--normalize", help="Scale Cartesian rows to unit norm.")]
Axial = Annotated[
    bool | None,
    typer.Option("--axial/--directed", help="Whether x and -x are the same; poles are axes."),
]


def _counted(levels: int | None) -> int | None:
    return None if levels is None else whole_number(levels, "--levels", least=1)


def _counted_or_auto(levels: str | None) -> int | str | None:
    if levels is None or levels == AUTO:
        return levels
    try:
        number = int(levels)
    except ValueError:
        raise InvalidArgument(
            f"--levels is {shown(levels)}; give a whole number from 1 on, or {AUTO}"
        ) from None
    return _counted(number)


AUTO = "auto"  # as the library spells it, which is not loaded before it is needed
_DEFAULT = "default: 4 on the circle and the sphere, 2 elsewhere"
Levels = Annotated[int | None, typer.Option(help=f"Highest level; {_DEFAULT}.", callback=_counted)]
LevelsHeld = Annotated[
    int | None, typer.Option("--levels", help="Highest level; default: all.", callback=_counted)
]
LevelsOrAuto = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|auto",
        help=f"Highest level, or auto: as many as the data carry; {_DEFAULT}.",
        callback=_counted_or_auto,
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--format", help="text, json, csv or markdown; default: as --out ends.", metavar="FORMAT"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="The same as --format json.")]
Out = Annotated[str, typer.Option(help="Write to this file, all or nothing, instead of printing.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also how every number was obtained.")
]
Report = Annotated[str, typer.Option(help="Also write a self-contained HTML report to this file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No remarks on standard error.")]


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that takes a `Source` the files and the options that say how to read them.

    Its own options follow those, in place of any of the same name; typer reads the signature that
    is made here.
    """
    _, *own = inspect.signature(command, eval_str=True).parameters.values()
    used = {name: what for name, what in _READING.items() if name not in {p.name for p in own}}
    first, *rest = (
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, (kind, default) in used.items()
    )
    own = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]

    @functools.wraps(command)
    def with_source(**said: Any) -> Any:
        files = said.pop("files")
        options = {name: said.pop(name) for name in used if name != "files"}
        return command(source(files, **options), **said)

    signature = inspect.Signature([first, *rest, *own])
    with_source.__signature__ = signature  # type: ignore[attr-defined]
    with_source.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    del with_source.__wrapped__
    return with_source


_READING: Mapping[str, tuple[Any, Any]] = {
    "files": (Files, inspect.Parameter.empty),
    "columns": (Columns, ""),
    "coords": (Coords, ""),
    "weights": (Weights, ""),
    "counts": (Counts, ""),
    "bins": (Bins, ""),
    "table": (Part, ""),
    "where": (Where, ""),
    "distinct": (Distinct, False),
    "normalize": (Normalize, False),
    "axial": (Axial, None),
    "degrees": (Degrees, None),
    "hours": (Hours, False),
    "period": (Period, ""),
    "on_bad": (OnBad, "error"),
}

_LARGE = {"rows": 1 << 20, "bytes": 1 << 28}  # what is summed as it is read
_FIRST_LOOK = 1 << 20  # bytes below which nothing is large
DESIGN_HELP = (
    "How the rows came about: iid, fixed, importance, chain, chain:COLUMN, clusters:COLUMN, "
    "survey:psu=COLUMN,strata=COLUMN,fraction=COLUMN, or descriptive. Adds tests and intervals."
)


@dataclass(frozen=True, slots=True)
class Source:
    """Files with what was said of them."""

    files: tuple[str, ...]
    said: dict[str, Any]

    def read(self, *used: str) -> Data:
        """The directions, and the table they are from.

        ``used`` are columns of it that are read for something else: labels, those of a design.
        """
        from steradian.examples import CATALOGUE
        from steradian.io.decision import Request
        from steradian.io.tables import read_request

        if len(self.files) == 1 and self.files[0] in CATALOGUE and not Path(self.files[0]).exists():
            return self._example(CATALOGUE[self.files[0]])
        directions, table = read_request(list(self.files), Request(**self.said, used=used))
        return Data(directions, table, self.files[0])

    def sums(self, levels: int | str | None, *, by: str = "", cluster: str = "") -> Any:
        """The moments of all rows, or those of each label, without holding the rows."""
        from steradian.data.summation import default_moments
        from steradian.io.decision import Request
        from steradian.io.pieces import Wanted

        if isinstance(levels, str):
            raise InvalidArgument(
                f"--levels {levels} climbs with all rows at hand, and {self.files[0]} is summed in "
                "blocks; give a number"
            )
        if "distinct" in self.said:
            raise InvalidArgument(
                f"--distinct needs all rows at hand, and {self.files[0]} is summed in blocks; "
                "leave it out, or give the rows to steradian profile"
            )
        wanted = Wanted(Request(**self.said), by or None)
        return default_moments(list(self.files), wanted, levels, cluster or None)

    @property
    def is_moments(self) -> bool:
        """Whether it is one file of moments, whose rows nobody has."""
        from steradian.io.moments_file import SUFFIX

        return len(self.files) == 1 and self.files[0].endswith(SUFFIX)

    def moments(self) -> Moments:
        """The moments of a file of them."""
        from steradian.data.moments import Moments

        if self.said:
            raise InvalidArgument(f"{self.files[0]} holds moments and takes no column options")
        return Moments.load(self.files[0])

    @property
    def is_large(self) -> bool:
        """Whether the files are rather summed as they are read than held."""
        from steradian.io.decision import Request
        from steradian.io.files import as_path
        from steradian.io.pieces import Wanted
        from steradian.io.streams import stream_of_files
        from steradian.io.tables import found_files

        there = (as_path(n).is_file() or any(mark in n for mark in "*?[") for n in self.files)
        if not all(there) or "distinct" in self.said:
            return False
        paths = [Path(name) for name in found_files(list(self.files))]
        size = sum(path.stat().st_size for path in paths)
        if size < _FIRST_LOOK or all(path.suffix.lower() == ".npy" for path in paths):
            return False  # an array is mapped, not held
        stream = stream_of_files(paths, Wanted(Request(**self.said)))
        return (stream.total or 0) > _LARGE[stream.unit]

    def _example(self, example: Any) -> Data:
        if set(self.said) - {"axial"}:
            raise InvalidArgument(f"{example.name} is a bundled example and takes no file options")
        known = example.directions()
        if "axial" in self.said:
            from steradian.data.directions import Directions

            axial, read = self.said["axial"], known.reading
            told = None if read is None else replace(read, axial=axial)
            known = Directions(known.x, axial=axial).with_reading(told)
        return Data(known, None, example.name)


@dataclass(frozen=True, slots=True)
class Data:
    """Directions with the table they are from."""

    directions: Directions
    table: Table | None
    name: str

    def seen(self, law: Any) -> Data:
        """Without the rows where a reference is zero."""
        from steradian.relative import seen_rows

        good = seen_rows(law, self.directions)
        lost = int((~good).sum())
        if not lost:
            return self
        kept = self.directions.take(good)
        if (read := kept.reading) is not None:
            said = Diagnostic("unseen_rows_left_out", data={"rows": lost})
            kept = kept.with_reading(replace(read, remarks=(*read.remarks, said)))
        return replace(self, directions=kept)

    def groups(self, by: str) -> dict[str, IntArray]:
        """The rows of each label; numbers in their order, words as they first appear."""
        import numpy as np

        labels = self.labels(by)
        names = list(dict.fromkeys(labels.tolist()))
        if labels.dtype.kind == "i":
            names.sort()
        return {str(name): np.flatnonzero(labels == name) for name in names}

    def labels(self, by: str) -> AnyArray:
        """A label for each direction: whole numbers where all of them are, else words."""
        import numpy as np

        cells = np.asarray(self.column(by))
        if cells.dtype.kind in "fiu" and (np.mod(cells, 1.0) == 0.0).all():  # none is missing
            return cells.astype(np.int64)
        return np.array([str(label).strip() for label in cells], dtype=object)

    def column(self, name: str) -> Any:
        """A column of the table, one value for each direction."""
        from steradian.io.frames import column

        if self.table is None:
            raise InvalidArgument(f"{self.name} is no table with columns; {name!r} needs one")
        if name == "file" and self.table.files is not None and name not in self.table.data:
            return self.table.files[self.directions.rows]
        return column(self.table, name)[self.directions.rows]

    def design(self, words: str) -> Design | None:
        """The design that was stated in words."""
        return parse_design(words, self) if words else None


def source(files: list[str], **said: Any) -> Source:
    """Files with those options that were given."""
    given = {key: value for key, value in said.items() if value not in (None, "", False)}
    if said.get("degrees") is False:
        given["degrees"] = False
    if said.get("axial") is False:
        given["axial"] = False
    for several in ("columns", "bins"):
        if several in given:
            given[several] = [name.strip() for name in given[several].split(",")]
    if "period" in given:
        given["period"] = _number(given["period"])
    if given.get("on_bad") == "error":
        del given["on_bad"]
    return Source(tuple(files), given)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


# --- designs ------------------------------------------------------------------------------


def parse_design(words: str, data: Data) -> Design:
    """``name`` or ``name:columns``; columns are those of the table the data are from."""
    from steradian.designs import as_design

    name, _, given = words.partition(":")
    if not given:
        if name in {"clusters", "survey"}:
            raise DesignError(f"--design {name} needs columns, like {_LIKE[name]}")
        return as_design(name, weighted=True)
    if data.table is None:
        raise DesignError(f"{data.name} is no table with columns; --design {name}:COLUMN needs one")
    plan = _with_columns(name, [part.strip() for part in given.split(",")])
    return plan.with_columns(data.column)


def design_columns(words: str) -> list[str]:
    """The columns that a design names in its words."""
    _, _, given = words.partition(":")
    return [part.rpartition("=")[2].strip() for part in given.split(",") if part.strip()]


_LIKE = {"clusters": "clusters:site", "survey": "survey:psu=block,strata=region"}


def _with_columns(name: str, parts: list[str]) -> Design:
    from steradian import designs

    if name in {"clusters", "chain"} and len(parts) == 1:
        return designs.Clusters(parts[0]) if name == "clusters" else designs.Chain(parts[0])
    if name == "survey":
        pairs = dict(part.split("=", 1) for part in parts if "=" in part)
        if len(pairs) == len(parts) and set(pairs) <= {"psu", "strata", "fraction"}:
            return designs.Survey(**pairs)
    raise DesignError(f"--design {name}:{','.join(parts)} is not understood; {DESIGN_HELP}")
