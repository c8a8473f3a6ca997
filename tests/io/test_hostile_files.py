"""Files that are no tables: one line, exit code 2, and soon."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from steradian.cli.app import run

Capture = pytest.CaptureFixture[str]
SOON = 1.0 if sys.gettrace() is None else 4.0  # seconds of the processor; coverage traces


def parquet() -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"lon": np.arange(500.0), "lat": np.zeros(500)}), stream)
    return stream.getvalue()


def arrow() -> bytes:
    stream = io.BytesIO()
    feather.write_feather(pa.table({"lon": np.arange(500.0)}), stream)
    return stream.getvalue()


def saved(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)  # type: ignore[arg-type]
    return stream.getvalue()


def archive(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=True, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def workbook() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("xl/workbook.xml", "<workbook/>")
    return stream.getvalue()


class Bomb:
    """Whoever unpickles it writes a file."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, str]]:
        return open, ("/tmp/steradian-was-here", "w")


TEXT: dict[str, str | bytes] = {
    "empty.csv": b"",
    "blank.csv": "\n\n  \n\t\n",
    "mark alone.csv": b"\xef\xbb\xbf",
    "header alone.csv": "lon,lat\n",
    "comments alone.csv": "# one\n# two\n",
    "latin.csv": "Länge,lat\n1,2\n".encode("latin-1"),
    "utf-16 without a mark.csv": "lon,lat\n1,2\n".encode("utf-16-le"),
    "half utf-16.csv": b"\xff\xfel",
    "utf-32.csv": "lon,lat\n1,2\n".encode("utf-32"),
    "nulls.csv": b"\0" * 500,
    "null in a cell.csv": b"lon,lat\n1\0,2\n",
    "random.csv": np.random.default_rng(0).bytes(5000),
    "random.dat": np.random.default_rng(1).bytes(5000),
    "ragged.csv": "lon,lat\n1\n1,2,3\n1\n",
    "one ragged.csv": "lon,lat\n1,2\n3\n",
    "quotes that never end.csv": 'lon,lat\n"1,2\n3,4\n',
    "long cell.csv": "lon,lat\n1," + "9" * 200_000 + "\n",
    "long line.csv": "x" * 2_000_000,
    "many columns.csv": ",".join(f"c{k}" for k in range(30_000)) + "\n" + "1," * 29_999 + "1\n",
    "many numbers.csv": ("1," * 99_999 + "1\n") * 2,
    "script.csv": "<script>alert(1)</script>,b\n1,2\n",
    "page.csv": "<!DOCTYPE html><html><body>lon,lat</body></html>",
    "feed.csv": "<?xml version='1.0'?><a/>",
    "columns twice.csv": "lon,lon,lat\n1,2,3\n",
    "no names.csv": ",,\n1,2,3\n",
    "words.csv": "lon,lat\neast,north\n",
    "not a number.csv": "lon,lat\nnan,nan\n",
    "infinite.csv": "lon,lat\ninf,0\n",
    "too large.csv": "lon,lat\n1e300,0\n",
    "beyond.csv": "lon,lat\n0,91\n0,95\n",
    "complex.csv": "x,y\n1j,0\n",
    "zero.csv": "x,y,z\n0,0,0\n",
    "long vectors.csv": "x,y,z\n3,4,5\n",
    "one column.csv": "value\n1\n2\n",
    "two unknown.csv": "u,v\n1,2\n",
    "two answers.csv": "lon,lat,ra,dec\n1,2,3,4\n",
    "turned.csv": "lat\n1\n",
    "formula.csv": "lon,lat\n=1+1,=2\n",
    "emoji.csv": "🧭,📍\n1,2\n",
    "surrogate.csv": b"lon,lat\n\xed\xa0\x80,1\n",
    "control.csv": b"\x1b[31mlon,\x07lat\n1,2\n",
    "two tables.txt": "tab\tsites\nlat\tlon\n1\t2\n>>>>>>>>>>\ntab\tages\nage\n1\n",
    "magic alone.txt": "tab delimited\tsites\n",
    "records.json": "[1, 2, 3]",
    "a number.json": "42",
    "cut.json": '[{"lon": 1, "lat": ',
    "deep.json": "[" * 100_000,
    "lines.jsonl": '{"lon": 1, "lat": 2}\nnope\n',
    "uneven.json": json.dumps({"lon": [1, 2], "lat": [3]}),
    "nested.json": json.dumps([{"lon": {"deg": 1}, "lat": [2]}]),
    "empty.json": "{}",
    "cut.parquet": parquet()[:-40],
    "head.parquet": parquet()[:12],
    "cut.feather": arrow()[:60],
    "marks.feather": b"ARROW1" + b"\0" * 40,
    "cut.csv.gz": gzip.compress(b"lon,lat\n1,2\n" * 500)[:60],
    "damaged.csv.gz": b"\x1f\x8b\x08" + b"\xff" * 60,
    "no gzip.csv.gz": b"\x1f\x8b",
    "pickled.npy": saved(np.array([Bomb()], dtype=object)),
    "pickled.npz": archive(a=np.array([Bomb()], dtype=object)),
    "pickle.npy": pickle.dumps([1, 2, 3]),
    "cut.npy": saved(np.eye(3))[:90],
    "claims much.npy": saved(np.eye(3)).replace(b"(3, 3)", b"(9**9, 3)"),
    "text.npy": saved(np.array(["a", "b"])),
    "scalar.npy": saved(np.array(1.0)),
    "book.xlsx": workbook(),
    "cut.npz": archive(a=np.eye(3))[:80],
    "nothing.npz": archive(a=np.eye(3), b=np.zeros((2, 2, 2))),
}
TOO_LONG = "x" * 5000


def complaint(capsys: Capture, path: str) -> str:
    spent = []
    for _ in range(3):  # another program may have had the processor
        began = time.process_time()
        code = run(["profile", path])
        spent.append(time.process_time() - began)
        out, err = capsys.readouterr()
        if spent[-1] < SOON:
            break
    assert (code, out) == (2, ""), err
    assert err.startswith("steradian: ")
    assert err.count("\n") == 1
    assert len(err) < 1500
    assert "Traceback" not in err
    assert min(spent) < SOON
    return err


@pytest.fixture(autouse=True, scope="module")
def _warm() -> None:
    """Modules are imported before anything is timed."""
    run(["profile", "turtles", "--levels", "1", "--out", os.devnull + "/nowhere"])


def test_there_are_enough() -> None:
    assert len(TEXT) >= 60


@pytest.mark.parametrize("name", TEXT)
def test_one_line_and_exit_two(capsys: Capture, tmp_path: Path, name: str) -> None:
    path, content = tmp_path / name, TEXT[name]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    complaint(capsys, str(path))
    assert not Path("/tmp/steradian-was-here").exists()


def test_what_is_no_file(capsys: Capture, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nowhere.csv")
    (tmp_path / "folder.csv").mkdir()
    for name in ("pipe.csv", "loop.csv", "gone.csv", "folder.csv", "none.csv", "*.none", TOO_LONG):
        complaint(capsys, str(tmp_path / name))
    for path in ("/dev/null", "/dev/zero", "", "\0", "/proc/self/mem"):
        complaint(capsys, path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "secret.csv"
    path.write_text("lon,lat\n1,2\n", encoding="utf-8")
    path.chmod(0)
    assert "cannot be read" in complaint(capsys, str(path))
