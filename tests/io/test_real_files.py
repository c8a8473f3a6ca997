"""Real files of other people's packages: directions, locations, hours, a file without a header."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import steradian as sr
from cli_calls import Capture, complaint, printed
from real_files import package_file
from steradian.examples import CATALOGUE

SITES = "data_files/3_0/McMurdo/sites.txt"
FISHER = "data_files/watsons_f/watsons_f_example_file1.dat"


def magic_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a MagIC table, by the csv module alone."""
    with path.open(encoding="utf-8") as stream:
        next(stream)
        return list(csv.DictReader(stream, delimiter="\t"))


def unit_vectors(first: list[str], second: list[str]) -> np.ndarray:
    """x = cos b cos a, y = cos b sin a, z = sin b, of degrees."""
    a, b = np.radians(np.array(first, float)), np.radians(np.array(second, float))
    return np.stack([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)], axis=1)


@pytest.mark.parametrize(("coords", "pair"), [
    ("declination_inclination", ("dir_dec", "dir_inc")), ("lonlat", ("lon", "lat")),
])  # fmt: skip
def test_magic_sites_as_directions_and_as_locations(
    tmp_path: Path, capsys: Capture, coords: str, pair: tuple[str, str]
) -> None:
    """The table asks; what it offers, followed to the letter, gives the right profile."""
    path = package_file("pmagpy", SITES, tmp_path)
    line = complaint(capsys, "profile", str(path))
    option = f"--columns {pair[0]},{pair[1]} --coords {coords}"
    assert "sets of columns could be the directions; say which: " in line
    assert option in line
    line = complaint(capsys, "profile", str(path), *option.split())
    assert line.endswith("or leave them out with --on-bad skip")
    out = printed(
        capsys, "profile", str(path), *option.split(), "--on-bad", "skip", "--levels", "1"
    )
    rows = [row for row in magic_rows(path) if row[pair[0]] and row[pair[1]]]
    assert f"read {len(rows)} rows of sites.txt:" in out
    made = sr.read_directions(path, columns=pair, coords=coords, on_bad="skip")
    expected = unit_vectors([row[pair[0]] for row in rows], [row[pair[1]] for row in rows])
    np.testing.assert_allclose(made.x, expected, atol=1e-12)


def test_the_bundled_sites_are_among_those_of_the_table(tmp_path: Path) -> None:
    path = package_file("pmagpy", SITES, tmp_path)
    coords = "declination_inclination"
    made = sr.read_directions(path, columns=("dir_dec", "dir_inc"), coords=coords, on_bad="skip")
    near = CATALOGUE["mcmurdo"].directions().x @ made.x.T
    assert near.max(axis=1).min() > 1.0 - 1e-12


def test_a_dat_file_without_a_header(tmp_path: Path, capsys: Capture) -> None:
    path = package_file("pmagpy", FISHER, tmp_path)
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    line = complaint(capsys, "profile", str(path))
    assert "there is no header, so by number: --columns 1,2" in line
    option = "--columns 1,2 --coords declination_inclination"
    out = printed(capsys, "profile", str(path), *option.split(), "--levels", "1")
    assert f"read {len(lines)} rows of" in out
    made = sr.read_directions(path, columns=["1", "2"], coords="declination_inclination")
    expected = unit_vectors([row[0] for row in lines], [row[1] for row in lines])
    np.testing.assert_allclose(made.x, expected, atol=1e-12)


def test_a_magic_contribution_of_several_tables(tmp_path: Path, capsys: Capture) -> None:
    name = "data_files/3_0/Megiddo/magic_contribution.txt"
    path = package_file("pmagpy", name, tmp_path)
    line = complaint(capsys, "profile", str(path))
    assert "holds the MagIC tables" in line
    option = line[line.index("--table") :].split()
    assert option == ["--table", "sites"]
    made = sr.read_directions(path, table="sites", columns=["lon", "lat"], coords="lonlat")
    assert (made.coordinates()[1] > 30.0).all()  # all of them in the Levant


def test_ngc_objects_in_hours_and_in_degrees(tmp_path: Path, capsys: Capture) -> None:
    """The same objects as text in hours, as hours in decimals and as degrees."""
    ongc = pytest.importorskip("pyongc.ongc")
    objects = [ongc.get(f"NGC{k}") for k in range(1, 60)]
    radians = np.array([each.rad_coords for each in objects])
    expected = sr.Directions.from_radec(*radians.T, degrees=False).x
    text = pd.DataFrame([(each.ra, each.dec) for each in objects], columns=["ra", "dec"])
    degrees = pd.DataFrame(np.rad2deg(radians), columns=["ra", "dec"])
    degrees["ra"] += 30.0  # beyond 24, as the first objects of the catalogue are not
    hours = pd.DataFrame({"ra": np.rad2deg(radians[:, 0]) / 15.0, "dec": np.rad2deg(radians[:, 1])})
    for name, frame in (("text", text), ("degrees", degrees), ("hours", hours)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    np.testing.assert_allclose(sr.read_directions(tmp_path / "text.csv").x, expected, atol=1e-12)
    shifted = sr.Directions.from_radec(radians[:, 0] + np.pi / 6, radians[:, 1], degrees=False).x
    found = sr.read_directions(tmp_path / "degrees.csv")
    np.testing.assert_allclose(found.x, shifted, atol=1e-12)
    line = complaint(capsys, "profile", str(tmp_path / "hours.csv"))
    assert "these look like" in line
    found = sr.read_directions(tmp_path / "hours.csv", hours=True)
    np.testing.assert_allclose(found.x, expected, atol=1e-12)
