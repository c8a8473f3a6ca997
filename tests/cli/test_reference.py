"""--reference: maps, profiles that were written, and samples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import steradian as sr
from cli_calls import Capture, complaint, printed

LAW = sr.FisherBingham([0.5, 0.2, 1.0], np.diag([0.5, -0.5, 0.0]))


def table(path: Path, x: np.ndarray) -> Path:
    np.savetxt(path, x, delimiter=",", header="x,y,z", comments="", fmt="%.17g")
    return path


def gaps(text: str) -> list[float]:
    return json.loads(text)["gaps"]


def test_a_profile_that_was_written(tmp_path: Path, capsys: Capture) -> None:
    x = LAW.sample(200, 0)
    rows, other = table(tmp_path / "rows.csv", x), table(tmp_path / "other.csv", LAW.sample(300, 1))
    fit = tmp_path / "fit.json"
    printed(capsys, "profile", str(other), "--json", "--levels", "2", "--out", str(fit))
    for said, level in ((str(fit), 2), (f"{fit}:1", 1)):
        found = gaps(
            printed(capsys, "profile", str(rows), "--json", "--levels", "2", "--reference", said)
        )
        law = sr.profile(sr.read_directions(other), levels=2).fits[level]
        np.testing.assert_allclose(found, sr.profile(x, levels=2, reference=law).gaps, atol=1e-9)
    text = printed(capsys, "profile", str(rows), "--reference", str(fit))
    assert "on the sphere relative to a fit of level 2" in text


def test_a_sample(tmp_path: Path, capsys: Capture) -> None:
    x, y = LAW.sample(200, 0), LAW.sample(300, 1)
    rows, other = table(tmp_path / "rows.csv", x), table(tmp_path / "other.csv", y)
    said = ("profile", str(rows), "--design", "iid", "--levels", "2", "--reference", str(other))
    text = printed(capsys, *said)
    assert "relative to a sample of 300" in text.replace("\n", " ")
    found = gaps(printed(capsys, *said[:2], "--levels", "2", "--json", "--reference", str(other)))
    wanted = sr.profile(x, levels=2, reference=sr.Directions(y)).gaps
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_a_map(tmp_path: Path, capsys: Capture) -> None:
    fits = pytest.importorskip("astropy.io.fits")
    values = np.random.default_rng(0).random(48) + 0.1
    column = fits.Column(name="EXPOSURE", format="D", array=values)
    hdu = fits.BinTableHDU.from_columns([column])
    hdu.header["ORDERING"], hdu.header["NSIDE"] = "NESTED", 2
    hdu.writeto(tmp_path / "map.fits")
    some = np.arange(40)
    parts = [fits.Column("PIXEL", "K", array=some), fits.Column("S", "D", array=values[some])]
    partial = fits.BinTableHDU.from_columns(parts)
    partial.header["ORDERING"], partial.header["NSIDE"] = "NESTED", 2
    partial.writeto(tmp_path / "some.fits")
    x = sr.HealpixMap(values, "nested").on(sr.Sphere()).sample(400, np.random.default_rng(1))
    rows = table(tmp_path / "rows.csv", x)
    found = gaps(
        printed(
            capsys,
            "profile",
            str(rows),
            "--json",
            "--levels",
            "1",
            "--reference",
            str(tmp_path / "map.fits"),
        )
    )
    wanted = sr.profile(x, levels=1, reference=sr.HealpixMap(values, "nested")).gaps
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    said = complaint(capsys, "profile", str(rows), "--reference", str(tmp_path / "some.fits"))
    assert "of 400 rows lie where the reference is zero (rows " in said


def test_rows_that_a_reference_does_not_see_are_left_out(tmp_path: Path, capsys: Capture) -> None:
    x = LAW.sample(300, 0)
    latitude = np.degrees(np.arcsin(x[:, 2]))
    rows = tmp_path / "rows.csv"
    lines = [f"{a:.17g},{b:.17g},{c:.17g},{k % 2}" for k, (a, b, c) in enumerate(x)]
    rows.write_text("\n".join(["x,y,z,kind", *lines]))
    said = ("profile", str(rows), "--levels", "2", "--reference", "unseen:-90..-20")
    lost = int((latitude < -20).sum())
    assert lost > 1
    assert "leave them out (--drop-unseen), or widen the reference" in complaint(capsys, *said)
    record = json.loads(printed(capsys, *said, "--drop-unseen", "--json"))
    mask = sr.Mask(bands=[(-90, -20)])
    want = sr.profile(x[latitude >= -20], levels=2, reference=mask)
    np.testing.assert_allclose(record["gaps"], want.gaps, atol=1e-12)
    assert record["read_diagnostics"][0]["code"] == "unseen_rows_left_out"
    assert f"{lost} rows where the reference is zero left out" in record["read"]
    grouped = (*said[:4], "--by", "kind", *said[4:], "--drop-unseen", "--json")
    sizes = [group["n"] for group in json.loads(printed(capsys, *grouped))["groups"]]
    assert sum(sizes) == 300 - lost
    compared = ("compare", str(rows), "--by", "kind", *said[2:], "--drop-unseen", "--json")
    assert sum(json.loads(printed(capsys, *compared))["sizes"]) == 300 - lost
    designed = printed(capsys, *said, "--drop-unseen", "--design", "iid")
    assert f"n = {300 - lost}" in designed
    assert complaint(capsys, *said[:4], "--drop-unseen").startswith("--drop-unseen needs a --ref")
    south = tmp_path / "south.csv"
    south.write_text("lon,lat\n1,-30\n2,-40\n3,-50\n")
    nothing = complaint(capsys, "profile", str(south), *said[4:], "--drop-unseen")
    assert nothing.startswith("all 3 rows lie where the reference is zero; check")


def test_groups(tmp_path: Path, capsys: Capture) -> None:
    x = LAW.sample(100, 0)
    path, fit = tmp_path / "rows.csv", tmp_path / "fit.json"
    labels = np.where(np.arange(100) % 2, "a", "b")
    rows = (f"{a:.17g},{b:.17g},{c:.17g},{k}" for (a, b, c), k in zip(x, labels, strict=True))
    lines = ["x,y,z,kind", *rows]
    path.write_text("\n".join(lines))
    other = table(tmp_path / "other.csv", LAW.sample(300, 1))
    printed(capsys, "profile", str(other), "--json", "--levels", "1", "--out", str(fit))
    said = ("--levels", "2", "--by", "kind", "--json", "--reference", str(fit))
    found = json.loads(printed(capsys, "profile", str(path), *said))["groups"]
    law = sr.profile(sr.read_directions(other), levels=1).fits[1]
    wanted = sr.profile(x[labels == "b"], levels=2, reference=law).gaps
    np.testing.assert_allclose(found[0]["gaps"], wanted, atol=1e-9)


def test_latitudes_that_nobody_looked_at(tmp_path: Path, capsys: Capture) -> None:
    x = LAW.sample(300, 0)
    x = x[(x[:, 2] > -0.3) & (x[:, 2] < 0.9)]
    rows = str(table(tmp_path / "rows.csv", x))
    said = ("--json", "--levels", "2", "--reference", "unseen:-90..-18,65..90")
    mask = sr.Mask(bands=[(-90, -18), (65, 90)])
    wanted = sr.profile(x, levels=2, reference=mask).gaps
    np.testing.assert_allclose(gaps(printed(capsys, "profile", rows, *said)), wanted, atol=1e-9)


def test_what_is_no_reference(tmp_path: Path, capsys: Capture) -> None:
    rows = str(table(tmp_path / "rows.csv", LAW.sample(50, 0)))
    said = complaint(capsys, "profile", rows, "--reference", "nowhere.csv")
    assert said.startswith("--reference nowhere.csv: there is no such file")
    for wrong in ("unseen:", "unseen:-90", "unseen:a..b"):
        assert "is no band of latitudes" in complaint(capsys, "profile", rows, "--reference", wrong)
    (tmp_path / "bad.json").write_text("{}")
    said = complaint(capsys, "profile", rows, "--reference", str(tmp_path / "bad.json"))
    assert said.startswith("bad.json is no profile as ")
    (tmp_path / "bad.fits").write_text("nothing")
    if pytest.importorskip("astropy"):
        said = complaint(capsys, "profile", rows, "--reference", str(tmp_path / "bad.fits"))
        assert "bad.fits" in said


def test_a_band_or_a_level_that_is_none(tmp_path: Path, capsys: Capture) -> None:
    rows = str(table(tmp_path / "rows.csv", LAW.sample(50, 0)))
    said = complaint(capsys, "profile", rows, "--reference", "unseen:1.2.3..4")
    assert "'1.2.3..4' is no band of latitudes" in said
    fit = tmp_path / "fit.json"
    printed(capsys, "profile", rows, "--json", "--levels", "1", "--out", str(fit))
    assert "counted from 1" in complaint(capsys, "profile", rows, "--reference", f"{fit}:0")
