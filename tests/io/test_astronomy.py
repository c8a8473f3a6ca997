"""Tables that astronomers write: FITS, VOTable, ECSV, and astropy's own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steradian as sr
from cli_calls import Capture, complaint, printed

pytest.importorskip("astropy")
import astropy.units as u
from astropy.coordinates import SkyCoord
from astropy.io import fits
from astropy.table import MaskedColumn, Table

RNG = np.random.default_rng(0)
RA, DEC = RNG.uniform(0, 360, 40), RNG.uniform(-80, 80, 40)
WANTED = sr.Directions.from_radec(RA, DEC).x
KINDS = [("t.fits", "fits"), ("t.vot", "votable"), ("t.ecsv", "ascii.ecsv"), ("t.dat", "fits")]


def table(unit: Any = u.deg) -> Table:
    names = [f"NGC {k}" if k % 3 else f'the "{k}"' for k in range(40)]
    found = Table({"name": names, "ra": (RA * u.deg).to(unit), "dec": (DEC * u.deg).to(unit)})
    found["mag"] = MaskedColumn(RNG.uniform(10, 20, 40), mask=np.arange(40) == 3)
    return found


def words(directions: sr.Directions) -> str:
    assert directions.reading is not None
    return directions.reading.words


@pytest.mark.parametrize(("name", "form"), KINDS)
@pytest.mark.parametrize("unit", [u.deg, u.rad])
def test_a_table_in_a_file(tmp_path: Path, name: str, form: str, unit: Any) -> None:
    path = tmp_path / name
    table(unit).write(path, format=form)
    found = sr.read_directions(path)
    np.testing.assert_allclose(found.x, WANTED, atol=1e-14)
    read = "right ascension `ra`, declination `dec`, " + ("degrees" if unit == u.deg else "radians")
    assert read in words(found)
    assert "as the table says" in words(found)
    bright = sr.read_directions(path, where="mag < 15 and name != 'NGC 1'")
    assert 0 < bright.n < 40
    assert 3 not in bright.rows
    sums = sr.moments(path, sr.Harmonics(3, 2))
    np.testing.assert_allclose(
        sums.mean, sr.Moments.from_directions(sr.Directions(WANTED), sr.Harmonics(3, 2)).mean
    )  # fmt: skip


def test_a_table_in_memory() -> None:
    np.testing.assert_allclose(sr.read_directions(table()).x, WANTED, atol=1e-14)
    np.testing.assert_allclose(
        sr.profile(table(), levels=1).gaps, sr.profile(WANTED, levels=1).gaps
    )


@pytest.mark.parametrize("frame", ["icrs", "galactic"])
@pytest.mark.parametrize("name", ["t.ecsv", "memory"])
def test_positions_stay_in_their_frame(tmp_path: Path, frame: str, name: str) -> None:
    given = Table({"place": SkyCoord(RA * u.deg, DEC * u.deg, frame=frame), "n": np.arange(40)})
    source: Any = given
    if name != "memory":
        source = tmp_path / name
        given.write(source)
    found = sr.read_directions(source)
    np.testing.assert_allclose(found.x, WANTED, atol=1e-14)
    roles = {"icrs": "right ascension `place.ra`", "galactic": "longitude `place.l`"}
    assert roles[frame] in words(found)


def test_several_tables(tmp_path: Path, capsys: Capture) -> None:
    path = str(tmp_path / "two.fits")
    parts = [fits.table_to_hdu(table()), fits.table_to_hdu(table()[:7])]
    for part, name in zip(parts, ("ALL", "SOME"), strict=True):
        part.name = name
    fits.HDUList([fits.PrimaryHDU(), *parts]).writeto(path)
    assert complaint(capsys, "profile", path) == (
        "two.fits holds the tables ALL, SOME; say which to read: --table ALL"
    )
    assert "read 7 rows of two.fits" in printed(capsys, "profile", path, "--table", "SOME")
    with pytest.raises(sr.InvalidDirections, match="holds no table 'X', but ALL, SOME"):
        sr.read_directions(path, table="X")


def test_files_without_a_table(tmp_path: Path) -> None:
    image = tmp_path / "image.fits"
    fits.PrimaryHDU(np.eye(4)).writeto(image)
    with pytest.raises(sr.InvalidDirections, match=r"image.fits holds no table"):
        sr.read_directions(image)
    broken = tmp_path / "broken.fits"
    broken.write_bytes(image.read_bytes()[:700])
    with pytest.raises(sr.InvalidDirections, match=r"broken.fits (cannot be read as|holds no)"):
        sr.read_directions(broken)
    page = tmp_path / "broken.vot"
    page.write_text("<?xml version='1.0'?><VOTABLE><RESOURCE>")
    with pytest.raises(sr.InvalidDirections, match=r"broken.vot (cannot be read as|holds no)"):
        sr.read_directions(page)


def test_without_astropy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table().write(tmp_path / "t.fits")
    table()["ra", "dec"].write(tmp_path / "t.ecsv")
    monkeypatch.setitem(sys.modules, "astropy.io", None)
    monkeypatch.setattr("steradian.io.files.find_spec", lambda _: None)
    with pytest.raises(sr.MissingExtra, match=r"pip install 'steradian\[astro\]'"):
        sr.read_directions(tmp_path / "t.fits")
    np.testing.assert_allclose(sr.read_directions(tmp_path / "t.ecsv").x, WANTED, atol=1e-14)
