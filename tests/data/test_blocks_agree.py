"""Blocks of a stream, and files of a pattern, that are to be read otherwise than the first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import steradian as sr

RNG = np.random.default_rng(7)
X = sr.Sphere().uniform(60, RNG)
H = sr.Harmonics(3, 2)


def table(**more: Any) -> pd.DataFrame:
    lon, lat = np.arctan2(X[:, 1], X[:, 0]), np.arcsin(X[:, 2])
    return pd.DataFrame({"lon": np.degrees(lon), "lat": np.degrees(lat), **more})


def in_radians() -> pd.DataFrame:
    return np.radians(table())


OTHER: dict[str, Callable[[], pd.DataFrame]] = {
    "in radians": in_radians,
    "weight": lambda: table(weight=RNG.random(60)),
    "Weights": lambda: table(Weights=RNG.random(60)),
    "count": lambda: table(count=RNG.integers(1, 5, 60)),
    "x, y, z": lambda: table(x=X[:, 0], y=X[:, 1], z=X[:, 2]),
    "no column 'lat'": lambda: table().drop(columns="lat"),
}


@pytest.mark.parametrize("kind", OTHER)
def test_frames(kind: str) -> None:
    with pytest.raises(sr.InvalidDirections, match=r"^block 3 of the stream"):
        sr.moments(iter([table(), table(), OTHER[kind]()]), H)


@pytest.mark.parametrize("kind", OTHER)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files(kind: str, suffix: str, tmp_path: Path) -> None:
    for name, frame in (("a", table()), ("b", OTHER[kind]())):
        path = tmp_path / f"{name}.{suffix}"
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    for read in (lambda p: sr.moments(p, H), sr.read_directions):
        with pytest.raises(sr.InvalidDirections):
            read(f"{tmp_path}/*.{suffix}")
    with pytest.raises(sr.InvalidDirections, match=rf"^b\.{suffix}"):
        sr.moments(f"{tmp_path}/*.{suffix}", H)


def test_batches_of_arrow() -> None:
    tables = [pa.Table.from_pandas(frame) for frame in (table(), in_radians())]
    batches = [batch for one in tables for batch in one.to_batches()]
    with pytest.raises(sr.InvalidDirections, match=r"^block 2 .* radians"):
        sr.moments(pa.RecordBatchReader.from_batches(tables[0].schema, batches), H)


def test_a_longer_later_file_in_radians(tmp_path: Path) -> None:
    """Also where the rows of one block are read in several pieces."""
    many = sr.Sphere().uniform(40_000, RNG)
    lon, lat = np.arctan2(many[:, 1], many[:, 0]), np.arcsin(many[:, 2])
    table().to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"lon": lon, "lat": lat}).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(sr.InvalidDirections, match=r"^b\.csv"):
        sr.moments(f"{tmp_path}/*.csv", H)


def test_degrees_after_radians_that_are_assumed() -> None:
    angle = RNG.uniform(0.0, 2.0 * np.pi, 40)
    blocks = [pd.DataFrame({"angle": angle}), pd.DataFrame({"angle": np.degrees(angle)})]
    for order in (blocks, blocks[::-1]):
        with pytest.raises(sr.InvalidDirections):
            sr.moments(iter(order), sr.Harmonics(2, 2), coords="angle")


@pytest.mark.parametrize(("first", "later"), [
    (X, (X, np.ones(60))),
    ((X, np.ones(60)), X),
    (X, sr.Directions(X, np.full(60, 2.0))),
    (sr.Directions(X), table()),
    (table(), X),
    (X, X[:, :2]),
])  # fmt: skip
def test_blocks_of_other_forms(first: Any, later: Any) -> None:
    with pytest.raises(sr.InvalidDirections, match=r"^block 2 of the stream is "):
        sr.moments(iter([first, later]), H)


def test_blocks_that_agree() -> None:
    """A stated unit is not doubted, and what nobody reads may come and go."""
    want = sr.moments(pd.concat([table(), table()]), H)
    noted = sr.moments(iter([table(), table(site="a")]), H)
    np.testing.assert_allclose(noted.total, want.total, rtol=1e-13, atol=1e-12)
    small = sr.moments(iter([table(), 0.01 * table()]), H, degrees=True)
    assert small.n == 120
    weighted = table(weight=2.0)
    assert sr.moments(iter([weighted, weighted]), H, weights="weight").weight == 240.0
    assert sr.moments(iter([sr.Directions(X), X]), H).n == 120
