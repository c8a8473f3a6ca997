"""Names and units above a table, and columns by number whatever the names are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steradian as sr
from steradian.errors import InvalidDirections

ROWS = "0.61114 0.58328 S\n4.97719 0.89639 N\n0.85309 0.24132 S\n"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "data.dat"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "top",
    [
        "# ra dec field\n# rad rad -\n",
        "# a survey of 1999\n#\n# ra dec field\n# [rad] [rad] [-]\n",
        "ra dec field\nrad rad -\n",
        "ra dec field\nrad rad -\n--- --- ---\n",
        "# ra dec field\n# radians radians fathoms/h\n".replace("fathoms/h", "km/s"),
    ],
)
def test_a_line_of_units_below_the_names(tmp_path: Path, top: str) -> None:
    found = sr.read_directions(written(tmp_path, top + ROWS))
    assert found.reading is not None
    assert found.reading.words == (
        "read 3 rows of data.dat: right ascension `ra`, declination `dec`, radians; weights none; "
        "radians as the table says"
    )
    np.testing.assert_allclose(
        np.array(found.coordinates()).T, np.array([[0.61114, 0.58328], [4.97719, 0.89639],
        [0.85309, 0.24132]]), rtol=1e-12,
    )  # fmt: skip


def test_hours_beside_degrees_and_units_without_names(tmp_path: Path) -> None:
    hours = written(tmp_path, "# ra dec\n# h deg\n6.0 10.0\n18.0 -20.0\n")
    words = sr.read_directions(hours).reading
    assert words is not None
    assert "hours and degrees; weights none" in words.words
    bare = written(tmp_path, "# rad rad\n0.5 0.2\n1.5 -0.3\n")
    found = sr.read_directions(bare, columns=["1", "2"], coords="lonlat").reading
    assert found is not None
    assert found.notation.unit == "radians"


def test_units_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "# ra dec\n# rad deg\n0.5 10.0\n1.5 -20.0\n")
    words = "the table says ra in radians, dec in degrees, which are not read together"
    with pytest.raises(InvalidDirections, match=words):
        sr.read_directions(path)
    stated = sr.read_directions(path, degrees=True).reading
    assert stated is not None
    assert stated.notation.unit == "degrees"
    assert "as the table says" not in stated.words


@pytest.mark.parametrize(
    "top", ["# x x x\n", "x x x\n", "dec ra field\n", "# dec ra dec\n", "# some words only\n"]
)
def test_numbers_of_columns_always_work(tmp_path: Path, top: str) -> None:
    path = written(tmp_path, top + ROWS)
    found = sr.read_directions(path, columns=["1", "2"], coords="radec", degrees=False)
    np.testing.assert_allclose(found.coordinates()[0], [0.61114, 4.97719, 0.85309], rtol=1e-12)


def test_columns_without_names_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(",ra,,dec\na,10,7,20\nb,30,8,-40\n")
    by_name = sr.read_directions(path, degrees=True)
    by_number = sr.read_directions(path, columns=["2", "4"], coords="radec", degrees=True)
    np.testing.assert_array_equal(by_name.x, by_number.x)


def test_names_that_are_there_twice(tmp_path: Path) -> None:
    path = written(tmp_path, "x y x\n1 0 0\n")
    with pytest.raises(InvalidDirections, match="'x' is there twice; rename one, or give the col"):
        sr.read_directions(path)
    with pytest.raises(InvalidDirections, match=r"no column 'x'; the table has x \(column 1\), y"):
        sr.read_directions(path, columns=["x", "y"])
