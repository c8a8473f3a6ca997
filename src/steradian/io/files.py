"""One file as a table: which format its bytes are in, and its columns."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from steradian.arguments import shown
from steradian.errors import InvalidDirections, MissingExtra
from steradian.io.astronomy import astropy_table
from steradian.io.frames import Table, as_table, spread, vector_of
from steradian.io.text import decoded_lines, no_parts, tables_of_lines
from steradian.numerics.arrays import AnyArray
from steradian.text.messages import arguments

STANDARD_INPUT = "-"
_FIRST_BYTES = 1 << 12  # that tell a format
GZIP = b"\x1f\x8b"
Format = Literal["text", "json", "parquet", "feather", "npy", "npz", "FITS", "VOTable", "ECSV"]
_NO_NPY = "is not a NPY array of numbers; save one with numpy.save"


def as_path(path: Any) -> Path:
    """What somebody gave as a path; refused where it is none."""
    try:
        found = Path(path)
        found.is_file()
    except (TypeError, ValueError, OSError) as error:  # a null byte, a name too long
        raise InvalidDirections(f"path is {shown(path)}; give the name of a file") from error
    return found


def read_table(path: str | Path, part: str | None = None) -> Table:
    """Named columns of one file; of the ``part`` of that name where it holds several."""
    with opened(as_path(path)) as file:
        kind = file.format
        if kind == "text":
            lines = decoded_lines(file.content, file.name)
            return next(tables_of_lines(lines, file.name, None, part))
        if kind == "npz":
            return _from_npz(file.content.read(), file.name, part)
        if kind in ("FITS", "VOTable", "ECSV"):
            return astropy_table(file.content.read(), kind, file.name, part)
        if part is not None:
            raise no_parts(file.name)
        return _READERS[kind](file.content.read(), file.name)


def refuse_no_file(path: Path) -> None:
    """Refuse what is no file, or a pipe that nobody may write to."""
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise InvalidDirections(f"{str(path)!r} is a folder; give a file, or '{path}/*.csv'")
        if not stat.S_ISREG(kind) and not str(path).startswith(("/dev/fd/", "/dev/stdin")):
            raise InvalidDirections(
                f"{str(path)!r} is no plain file; send it to the standard input and give '-'"
            )
    except FileNotFoundError as error:
        raise InvalidDirections(f"no file {str(path)!r}; check the path") from error
    except OSError as error:
        raise InvalidDirections(f"{shown(str(path))} cannot be read: {error.strerror}") from error
    except ValueError as error:  # a null byte; our own is one too
        if isinstance(error, InvalidDirections):
            raise
        raise InvalidDirections(f"path is {shown(str(path))}; give the name of a file") from error


def format_of(data: bytes, suffix: str) -> Format:
    """The format of a file by what its first bytes say, or else its name."""
    for mark, kind in _MARKS:
        if data.startswith(mark):
            return kind
    if data.startswith(b"# %ECSV") and find_spec("astropy") is not None:
        return "ECSV"  # else its header is comments, and its rows are text
    if data.lstrip().startswith(b"<") and b"<VOTABLE" in data:
        return "VOTable"
    for mark, words in _FOREIGN:
        if data.startswith(mark):
            raise InvalidDirections(f"the file is {words}")
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    return "json" if data.lstrip()[:1] in (b"{", b"[") else "text"


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is being read, or the standard input."""

    content: Any  # a binary stream from its begin, unpacked
    raw: Any  # the same as it is on the disk
    name: str
    suffix: str

    @property
    def format(self) -> Format:
        """What its first bytes say, or else its name."""
        begin = self.content.read(_FIRST_BYTES)
        self.content.seek(0)
        return format_of(begin, self.suffix)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[OpenFile]:
    """A file that is there, or the standard input, unpacked; what is none is refused."""
    with contextlib.ExitStack() as held:
        if str(path) == STANDARD_INPUT:
            if sys.stdin is None:
                raise InvalidDirections("standard input is closed; leave it open, or give a file")
            raw: Any = io.BytesIO(sys.stdin.buffer.read())
            name, suffix = "standard input", ""
        else:
            refuse_no_file(path)
            name, suffix = path.name, path.suffix.lower()
            try:
                raw = held.enter_context(path.open("rb"))
            except OSError as error:
                raise InvalidDirections(
                    f"{str(path)!r} cannot be read: {error.strerror}"
                ) from error
        begin = raw.read(len(GZIP))
        raw.seek(0)
        if begin != GZIP:
            yield OpenFile(raw, raw, name, suffix)
            return
        inner = path.with_suffix("") if suffix == ".gz" else path
        try:
            yield OpenFile(gzip.GzipFile(fileobj=raw), raw, inner.name, inner.suffix.lower())
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InvalidDirections(f"{name} is damaged: {error}") from error


def _from_parquet(data: bytes, name: str) -> Table:
    pa = arrow("Parquet")
    from pyarrow import parquet

    try:
        return table_of_arrow(parquet.ParquetFile(pa.BufferReader(data)).read(), name)
    except (pa.ArrowException, OSError) as error:
        raise InvalidDirections(f"{name} is not a Parquet file: {error}") from error


def _from_feather(data: bytes, name: str) -> Table:
    pa = arrow("Feather")
    from pyarrow import feather

    try:
        return table_of_arrow(feather.read_table(pa.BufferReader(data)), name)
    except (pa.ArrowException, OSError) as error:
        raise InvalidDirections(f"{name} is not a Feather file: {error}") from error


def arrow(kind: str) -> Any:
    """The module that reads a kind of file, or the words for how to get it."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra(
            f"{kind} files need pyarrow; install it with: pip install 'steradian[tables]'"
        ) from error
    return pyarrow


def table_of_arrow(table: Any, name: str) -> Table:
    """The columns of a table of Arrow, each of another name."""
    names = table.column_names
    twice = next((n for k, n in enumerate(names) if n in names[:k]), None)
    if twice is not None:
        raise InvalidDirections(f"{name}: column {twice!r} is there twice; rename one")
    plain = {each: _plain_numbers(table.column(each)) for each in names}
    rest = [each for each, values in plain.items() if values is None]
    other = as_table(table.select(rest)).data if rest else {}
    found: dict[str, AnyArray] = {}
    for each, values in plain.items():
        if values is not None:
            found[each] = values
        else:
            found |= {key: cells for key, cells in other.items() if vector_of(key) == each} or {
                each: other[each]
            }
    return Table(found)


def _plain_numbers(column: Any) -> AnyArray | None:
    """The numbers of a column without a missing one as they stand in memory, else None.

    The way of Arrow itself brings pandas along, which takes longer than reading a million rows.
    """
    kind = _NUMBERS.get(str(column.type))
    if kind is None or column.null_count:
        return None
    parts = [
        np.frombuffer(chunk.buffers()[1], kind)[chunk.offset : chunk.offset + len(chunk)]
        for chunk in column.chunks
        if len(chunk)
    ]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, kind)


def _from_json(data: bytes, name: str) -> Table:
    """A list of records, records line by line, or a mapping of columns."""
    text = "".join(decoded_lines(io.BytesIO(data), name))
    try:
        whole = json.loads(text)
        records = whole if isinstance(whole, list) else [whole]
    except (json.JSONDecodeError, RecursionError):
        records = _json_lines(text, name)
    if len(records) == 1 and isinstance(records[0], dict):
        columns = records[0]
        if columns and all(isinstance(values, list) for values in columns.values()):
            return _of_columns({k: _cells(v) for k, v in columns.items()}, name)
    if not records or not all(isinstance(record, dict) for record in records):
        raise InvalidDirections(f"{name} holds no records with names; give one object per line")
    names = dict.fromkeys(key for record in records for key in record)
    return _of_columns({k: _cells([record.get(k) for record in records]) for k in names}, name)


def _json_lines(text: str, name: str) -> list[Any]:
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            records += [json.loads(line)] if line.strip() else []
        except (json.JSONDecodeError, RecursionError) as error:
            said = getattr(error, "msg", "too deep")
            raise InvalidDirections(f"{name}: line {number} is not JSON: {said}") from error
    return records


def _cells(values: Sequence[Any]) -> AnyArray:
    try:
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array


def _of_columns(columns: Mapping[str, AnyArray], name: str) -> Table:
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise InvalidDirections(f"{name}: columns have {sorted(lengths)} rows; give one per row")
    return Table(spread(columns))


def _from_npy(data: bytes, name: str) -> Table:
    try:
        return table_of_array(np.load(io.BytesIO(data), allow_pickle=False), name)
    except (ValueError, OSError, EOFError, SyntaxError) as error:
        if isinstance(error, InvalidDirections):
            raise
        raise InvalidDirections(f"{name} {_NO_NPY}") from error


def mapped(path: Path) -> Any:
    """The array of an NPY file, left on the disk."""
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError, EOFError, SyntaxError) as error:
        raise InvalidDirections(f"{path.name} {_NO_NPY}") from error


def table_of_array(array: AnyArray, name: str) -> Table:
    """Columns of an array, by the names of its fields or by number."""
    if array.dtype.names:
        return _of_columns({field: array[field] for field in array.dtype.names}, name)
    if array.ndim == 3 and array.shape[1:] == (3, 3):
        array = array.reshape(-1, 9)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise InvalidDirections(
            f"{name} holds an array of shape {array.shape} and type {array.dtype}; give (n, d) "
            "with one direction per row, of real numbers"
        )
    return Table({str(k + 1): column for k, column in enumerate(array.T)}, header=False)


def _from_npz(data: bytes, name: str, part: str | None) -> Table:
    """The arrays of an archive as columns, vectors among them; or the one that was named."""
    if b"xl/" in data[:4096] or b"[Content_Types].xml" in data[:4096]:
        raise InvalidDirections(f"{name} is a spreadsheet; save the sheet as CSV")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except Exception as error:  # of a damaged archive, or one that holds pickles
        raise InvalidDirections(
            f"{name} is not an NPZ archive of arrays of numbers; save one with numpy.savez"
        ) from error
    said = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
    if part is not None and part not in arrays:
        raise InvalidDirections(f"{name} holds no array {part!r}, but {said}")
    if part is not None or len(arrays) == 1:
        found = table_of_array(arrays.pop(part or next(iter(arrays))), name)
        beside = {key: each for key, each in arrays.items() if each.shape == (found.rows,)}
        return replace(found, beside=beside)
    lengths = {len(array) for array in arrays.values() if array.ndim}
    if len(lengths) > 1 or not all(array.ndim in (1, 2) for array in arrays.values()):
        raise InvalidDirections(
            "{name} holds the arrays {said}, which are no columns of one table; say which to read: "
            "{remedy}",
            name=name, said=said, remedy=arguments(table=next(iter(arrays))),
        )  # fmt: skip
    return _of_columns(arrays, name)


_Reader = Callable[[bytes, str], Table]
_READERS: Mapping[Format, _Reader] = {
    "json": _from_json,
    "parquet": _from_parquet,
    "feather": _from_feather,
    "npy": _from_npy,
}
_MARKS: tuple[tuple[bytes, Format], ...] = (
    (b"\x93NUMPY", "npy"),
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"FEA1", "feather"),
    (b"PK\x03\x04", "npz"),
    (b"SIMPLE  =", "FITS"),
)
_NUMBERS = {"double": np.float64, "float": np.float32, "int64": np.int64, "int32": np.int32}
_FOREIGN = (
    (b"\x89HDF", "HDF5; save the array with numpy.save, or the table as Parquet"),
    (b"SQLite format", "a database; save the table as CSV or Parquet"),
    (b"\x80\x02", "a pickle, which is never opened; save the array with numpy.save"),
    (b"\x80\x03", "a pickle, which is never opened; save the array with numpy.save"),
    (b"\x80\x04", "a pickle, which is never opened; save the array with numpy.save"),
    (b"\x80\x05", "a pickle, which is never opened; save the array with numpy.save"),
    (b"MATLAB ", "of MATLAB; load it by scipy.io.loadmat, and save it by numpy.save"),
    (b"X\n\0\0\0", "an object of R; write the table as CSV there, by write.csv"),
    (b"RDX", "of objects of R; write the table as CSV there, by write.csv"),
    (b"BZh", "compressed by bzip2; unpack it, or compress it by gzip"),
    (b"\xfd7zXZ", "compressed by xz; unpack it, or compress it by gzip"),
    (b"%PDF", "a PDF; save the table as CSV"),
)
_SUFFIXES: Mapping[str, Format] = {
    ".npy": "npy",
    ".npz": "npz",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
