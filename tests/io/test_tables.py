"""Files in: every format there and back, and every way a file can be wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import steradian as sr
from named_rows import without_count
from steradian.numerics.arrays import AnyArray

LON, LAT = [10.0, 179.5, -120.0, 300.0, 1 / 3], [-35.0, 0.0, 90.0, 60.0, -90.0]
XYZ = sr.Directions.from_lonlat(LON, LAT).x
WEIGHTS = [1.0, 0.0, 2.0, 4.0, 1.0]
FRAME = pd.DataFrame({"x": XYZ[:, 0], "y": XYZ[:, 1], "z": XYZ[:, 2], "w": WEIGHTS})
TEXT = ("csv", "tsv", "txt")
ALL = (*TEXT, "parquet", "npy")
NO_NPY = "data.npy is not a NPY array of numbers; save one with numpy.save"
REPAIR = "repair them, or leave them out with on_bad='skip'"
GARBAGE = bytes(range(255, -1, -1)) * 8


def refusal(path: Path | str, **options: Any) -> str:
    with pytest.raises(sr.InvalidDirections) as caught:
        sr.read_directions(path, **options)
    message = without_count(str(caught.value))
    assert "\n" not in message
    return message


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def save(frame: pd.DataFrame, path: Path) -> Path:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="," if suffix == ".csv" else "\t")
    return path


# --- there and back -----------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [*TEXT, "parquet", "CSV", "Parquet"])
def test_tables_come_back_exactly(tmp_path: Path, suffix: str) -> None:
    path = save(FRAME, tmp_path / f"data.{suffix}")
    for where in (path, str(path)):
        assert np.array_equal(sr.read_directions(where).x, XYZ)
    weighted = sr.read_directions(path, weights="w")
    assert weighted.weights.tolist() == [0.125, 0.0, 0.25, 0.5, 0.125]
    turned = sr.read_directions(path, columns=["z", "x", "y"])
    assert np.array_equal(turned.x, XYZ[:, [2, 0, 1]])


@pytest.mark.parametrize("suffix", [*TEXT, "parquet"])
def test_angles_in_tables(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame({"site": list("abcde"), "lat": LAT, "lon": LON})
    path = save(frame, tmp_path / f"data.{suffix}")
    assert np.array_equal(sr.read_directions(path).x, XYZ)
    circle = sr.Directions.from_angles(LON, degrees=True).x
    got = sr.read_directions(path, columns=["lon"], coords="angle")
    assert np.array_equal(got.x, circle)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_npy_comes_back_exactly(tmp_path: Path, order: Any, dtype: type) -> None:
    array: AnyArray = np.array(XYZ, dtype=dtype, order=order)
    np.save(tmp_path / "data.npy", array)
    assert np.array_equal(sr.read_directions(tmp_path / "data.npy").x, sr.Directions(array).x)


def test_npy_of_angles(tmp_path: Path) -> None:
    np.save(tmp_path / "lonlat.npy", np.stack([LON, LAT], axis=1))
    np.save(tmp_path / "angle.npy", np.array(LON))
    np.save(tmp_path / "column.npy", np.array(LON)[:, None])
    assert np.array_equal(sr.read_directions(tmp_path / "lonlat.npy", coords="lonlat").x, XYZ)
    circle = sr.Directions.from_angles(LON, degrees=True).x
    for name in ("angle.npy", "column.npy"):
        assert np.array_equal(sr.read_directions(tmp_path / name, coords="angle").x, circle)


def test_npy_with_normalize(tmp_path: Path) -> None:
    np.save(tmp_path / "long.npy", 3.0 * np.eye(3))
    assert refusal(tmp_path / "long.npy").startswith("row 0 has norm 3; pass normalize=True")
    assert np.array_equal(sr.read_directions(tmp_path / "long.npy", normalize=True).x, np.eye(3))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_byte_order_marks_line_ends_spaces_and_quotes(tmp_path: Path, mark: str, end: str) -> None:
    lines = ['"angle" , note', "0,start", '" 90 ","a, b"', "1.8e2,", "-9_0,été"]
    path = write(tmp_path, "data.csv", mark + end.join(lines) + end)
    x = sr.read_directions(path).x
    assert np.array_equal(x, [[1, 0], [0, 1], [-1, 0], [0, -1]])


def test_parquet_of_other_number_types(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(
        pa.table({"x": pa.array([1, 0, -1], pa.int8()), "y": pa.array([0, -1, 0], pa.float32())}),
        path,
    )
    assert np.array_equal(sr.read_directions(path).x, [[1, 0], [0, -1], [-1, 0]])


# --- cells and rows -----------------------------------------------------------------------


@pytest.mark.parametrize("suffix", TEXT)
@pytest.mark.parametrize(
    ("header", "rows", "words"),
    [
        ("x y z", ["1 0 0", "0  0"], "1 of 2 rows cannot be read: line 3 (`y` is missing)"),
        ("lon lat", ["0 0", "5 "], "1 of 2 rows cannot be read: line 3 (`lat` is missing)"),
        ("lon lat", ["0 0", " 5"], "1 of 2 rows cannot be read: line 3 (`lon` is missing)"),
        ("x y", ["1 0", "0 nan"], "1 of 2 rows cannot be read: line 3 (`y` is missing)"),
        ("x y", ["1e999 0"], "1 of 1 rows cannot be read: line 2 (`x` is inf)"),
        ("x y", ["1 0", "3 4"], "line 3 has norm 5; pass normalize=True or fix it"),
        ("x y z", ["1 0 0", "0 1"], "1 of 2 rows cannot be read: line 3 (2 cells, not 3)"),
        ("x y", ["1 0 0", "0 1"], "1 of 2 rows cannot be read: line 2 (3 cells, not 2)"),
        ("x y", ["1 0", "0 up"], "1 of 2 rows cannot be read: line 3 (`y` is 'up')"),
        (
            "x y",
            ["1 up", "0 up"],
            "column 'y' holds entries that are not numbers: 'up'; give numbers",
        ),
        (
            "lon lat",
            ["1 5", "0 99", "2 3"],
            "1 of 3 rows cannot be read: line 3 (`lat` is 99, beyond -90 to 90)",
        ),
    ],
)
def test_a_bad_row_is_named(
    tmp_path: Path, suffix: str, header: str, rows: list[str], words: str
) -> None:
    text = "\n".join([header, *rows]).replace(" ", "," if suffix == "csv" else "\t")
    path = write(tmp_path, f"data.{suffix}", text)
    assert refusal(path).removesuffix(f"; {REPAIR}") == words.replace("SUFFIX", suffix)


def test_an_empty_weight_names_its_row(tmp_path: Path) -> None:
    path = write(tmp_path, "data.csv", "x,y,w\n1,0,1\n0,1,\n")
    words = f"1 of 2 rows cannot be read: line 3 (`w` is missing); {REPAIR}"
    assert refusal(path, weights="w") == words
    assert sr.read_directions(path, weights="w", on_bad="skip").n == 1


@pytest.mark.parametrize("values", [[1.0, None], [1, None]])
def test_a_null_of_parquet_names_its_row(tmp_path: Path, values: list[Any]) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"x": values, "y": [0.0, 1.0]}), path)
    assert refusal(path) == f"1 of 2 rows cannot be read: row 1 (`x` is missing); {REPAIR}"


@pytest.mark.parametrize("suffix", TEXT)
@pytest.mark.parametrize("first", ["0.6 0.8", "1 0", "+.6 8e-1"])
def test_a_file_without_a_header_loses_no_row(tmp_path: Path, suffix: str, first: str) -> None:
    text = f"{first}\n1 0\n0 1\n".replace(" ", "," if suffix == "csv" else "\t")
    path = write(tmp_path, f"data.{suffix}", text)
    assert refusal(path) == (
        "cannot tell which of the columns 1, 2 are the coordinates; name them (columns=) with "
        "their convention (coords=); there is no header, so by number: columns=['1', '2']"
    )
    start = [float(cell) for cell in first.split()]
    for options in ({"columns": ["1", "2"]}, {"coords": "xyz", "columns": ["1", "2"]}):
        assert sr.read_directions(path, **options).x.tolist() == [start, [1, 0], [0, 1]]


@pytest.mark.parametrize("suffix", TEXT)
@pytest.mark.parametrize("header", ["x y x", "x x y", "u x x", "x y  x "])
def test_a_column_that_is_there_twice(tmp_path: Path, suffix: str, header: str) -> None:
    row = header.replace("u", "2").replace("x", "1").replace("y", "0")
    text = f"{header}\n{row}\n".replace(" ", "," if suffix == "csv" else "\t")
    words = (
        f"data.{suffix}: column 'x' is there twice; rename one, or give the columns by number "
        "(columns=)"
    )
    assert refusal(write(tmp_path, f"data.{suffix}", text)) == words


def test_the_weights_column_is_no_coordinate(tmp_path: Path) -> None:
    path = save(FRAME.rename(columns=dict(zip("xyz", "uvq", strict=True))), tmp_path / "data.csv")
    assert np.array_equal(sr.read_directions(path, weights="w").x, XYZ)


# --- files that are not what they should be -----------------------------------------------


@pytest.mark.parametrize("suffix", TEXT)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "data.SUFFIX is empty; give a header line and one row per direction"),
        ("\n\n", "data.SUFFIX is empty; give a header line and one row per direction"),
        ("\ufeff", "data.SUFFIX is empty; give a header line and one row per direction"),
        ("x", "data.SUFFIX has a header but no rows"),
        ("x\n\n\n", "data.SUFFIX has a header but no rows"),
        (GARBAGE[1:], "data.SUFFIX is not UTF-8 text: invalid start byte; save it as UTF-8"),
        (b"x\n1\n\0", "data.SUFFIX is not text: it holds null bytes; give a table"),
        (
            "x\n" + "1" * 200_000,
            "data.SUFFIX cannot be read as a table: field larger than field limit (131072)",
        ),
    ],
)
def test_text_that_is_no_table(
    tmp_path: Path, suffix: str, content: str | bytes, words: str
) -> None:
    path = write(tmp_path, f"data.{suffix}", content)
    assert refusal(path) == words.replace("SUFFIX", suffix)


@pytest.mark.parametrize("content", [b"", b"\0" * 64, GARBAGE, b"PAR1" + GARBAGE + b"PAR1"])
def test_binary_that_is_no_parquet(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, "data.parquet", content)
    with pytest.raises(sr.InvalidDirections, match=r"^data\.parquet is not a Parquet file: .+"):
        sr.read_directions(path)


@pytest.mark.parametrize("content", [b"", b"\0" * 64, GARBAGE, b"\x93NUMPY" + GARBAGE])
def test_binary_that_is_no_npy(tmp_path: Path, content: bytes) -> None:
    assert refusal(write(tmp_path, "data.npy", content)) == NO_NPY


@pytest.mark.parametrize("kept", [60, -8])
def test_a_truncated_npy(tmp_path: Path, kept: int) -> None:
    np.save(tmp_path / "whole.npy", XYZ)
    path = write(tmp_path, "data.npy", (tmp_path / "whole.npy").read_bytes()[:kept])
    assert refusal(path) == NO_NPY


@pytest.mark.parametrize("real", [True, False])
def test_an_archive_is_no_npy(tmp_path: Path, real: bool) -> None:
    path = tmp_path / "data.npy"
    if real:
        with path.open("wb") as stream:
            np.savez(stream, a=np.eye(3))
    else:
        path.write_bytes(b"PK\x03\x04" + GARBAGE)
    assert refusal(path) == NO_NPY


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((0, 3)), "x is empty; give at least one direction"),
        (np.ones(3), r"x has shape \(3,\); give \(n, d\) with one direction per row"),
        (np.array(1.0), r"x has shape \(\); give \(n, d\) with one direction per row"),
        (1j * np.eye(2), "x has type complex128; give real numbers"),
        (np.array([["a", "b"]]), "x has type <U1; give real numbers"),
        (
            np.zeros(2, dtype=[("x", float), ("y", float)]),
            r"2 of 2 rows cannot be read: row 0 \(it is the zero",
        ),
        (np.array([[1, None]], dtype=object), NO_NPY),
    ],
)
def test_npy_of_something_else(tmp_path: Path, array: Any, words: str) -> None:
    np.save(tmp_path / "data.npy", array, allow_pickle=True)
    assert re.match(words, refusal(tmp_path / "data.npy"))


def test_npy_has_numbers_for_names(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.column_stack([WEIGHTS, XYZ]))
    found = sr.read_directions(tmp_path / "data.npy", columns=["2", "3", "4"], weights="1")
    assert np.array_equal(found.x, XYZ)
    assert found.weights.tolist() == [0.125, 0.0, 0.25, 0.5, 0.125]
    words = "no column 'x'; the table has 1, 2, 3, 4"
    assert refusal(tmp_path / "data.npy", columns=["x", "y"]) == words


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            {"x": [[1.0, 2.0], [3.0, 4.0]], "y": [0.0, 1.0]},
            "columns x.0, x.1 do not say their convention and are no unit vectors",
        ),
        ({"v": [{"x": 1.0}]}, "cannot tell which of the columns v are the coordinates; name them"),
        ({}, "cannot tell which of the columns  are the coordinates"),
        ({"x": pa.array([], pa.float64()), "y": pa.array([], pa.float64())}, "x is empty; give"),
        ({"x": pa.array([1, 2], pa.timestamp("s")), "y": [0.0, 1.0]}, "column 'x' has type date"),
    ],
)
def test_parquet_of_something_else(tmp_path: Path, columns: dict[str, Any], words: str) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(columns), path)
    assert refusal(path).startswith(words)


# --- paths --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["data.dat", "data", "data.asc", "data.csv"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "  ", " | "])
def test_text_of_any_name_and_delimiter(tmp_path: Path, name: str, delimiter: str) -> None:
    lines = ["x y z", "1 0 0", "0 -1 0"]
    path = write(tmp_path, name, "\n".join(line.replace(" ", delimiter) for line in lines))
    assert sr.read_directions(path).x.tolist() == [[1, 0, 0], [0, -1, 0]]


@pytest.mark.parametrize("suffix", ALL)
def test_a_missing_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"nowhere.{suffix}"
    assert refusal(path) == f"no file {str(path)!r}; check the path"


@pytest.mark.parametrize("suffix", ALL)
def test_a_folder_is_no_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"folder.{suffix}"
    path.mkdir()
    assert refusal(path) == f"{str(path)!r} is a folder; give a file, or '{path}/*.csv'"


def test_every_reader_leaves_the_file_alone(tmp_path: Path) -> None:
    for suffix in (*TEXT, "parquet"):
        path = save(FRAME, tmp_path / f"data.{suffix}")
        before = path.read_bytes()
        sr.profile(sr.read_directions(path), levels=1)
        assert path.read_bytes() == before


# --- embeddings -----------------------------------------------------------------------------


def test_numbered_columns_are_vectors_once_their_length_is_waived(tmp_path: Path) -> None:
    """Sixteen columns are no angles: the remedy is their length, and followed it is enough."""
    rows = np.random.default_rng(0).normal(size=(5, 16))
    header = ",".join(f"e{k}" for k in range(16))
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header=header, comments="")
    said = refusal(tmp_path / "data.csv")
    assert "are no unit vectors (line 2 has norm" in said
    assert said.endswith("pass normalize=True if only the direction of each row matters")
    found = sr.read_directions(tmp_path / "data.csv", normalize=True)
    assert found.x == pytest.approx(rows / np.linalg.norm(rows, axis=1, keepdims=True), abs=1e-15)
