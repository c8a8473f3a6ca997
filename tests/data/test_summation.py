"""Streams: the sums of any source, in pieces of any size, are those of all rows at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steradian as sr
from steradian.data import summation
from steradian.io import pieces, streams
from steradian.numerics.arrays import AnyArray, Array
from streamed import FRAME, LABELS, TABLE, H, N, W, X, assert_same, whole


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_ROWS", 400)
    monkeypatch.setattr(streams, "_TEXT_ROWS", 300)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("files")
    pq.write_table(TABLE, root / "whole.parquet", row_group_size=900)
    pq.write_to_dataset(TABLE, root / "by_site", partition_cols=["site"])
    for k, part in enumerate((FRAME[:700], FRAME[700:701], FRAME[701:])):
        part.to_csv(root / f"part-{k}.csv", index=False)
        part.to_csv(root / f"part-{k}.tsv", index=False, sep="\t")
    np.save(root / "c.npy", X)
    np.save(root / "f.npy", np.asfortranarray(X))
    return root


def blocks(size: int) -> Iterator[tuple[Array, Array]]:
    for first in range(0, N, size):
        yield X[first : first + size], W[first : first + size]


# --- sources ------------------------------------------------------------------------------


WEIGHTED: dict[str, Any] = {
    "directions": lambda _: (sr.Directions(X, W), {}),
    "array": lambda _: (X, {"weights": W}),
    "list": lambda _: (X.tolist(), {"weights": W.tolist()}),
    "pandas": lambda _: (FRAME, {"weights": "w"}),
    "polars": lambda _: (pl.from_pandas(FRAME), {"weights": "w"}),
    "arrow table": lambda _: (TABLE, {"weights": "w"}),
    "arrow reader": lambda _: (TABLE.to_reader(max_chunksize=333), {"weights": "w"}),
    "arrow dataset": lambda files: (ds.dataset(files / "whole.parquet"), {"weights": "w"}),
    "arrow stream": lambda _: (Streamed(), {"weights": "w"}),
    "parquet": lambda files: (files / "whole.parquet", {"weights": "w"}),
    "directory": lambda files: (str(files / "by_site"), {"weights": "w"}),
    "pattern": lambda files: (str(files / "part-*.csv"), {"weights": "w"}),
    "list of files": lambda files: (sorted(files.glob("*.tsv")), {"weights": "w"}),
    "blocks": lambda _: (blocks(317), {}),
    "blocks of frames": lambda _: (
        (FRAME[k : k + 700] for k in range(0, N, 700)),
        {"weights": "w"},
    ),
    "blocks of directions": lambda _: ((sr.Directions(x, w) for x, w in blocks(99)), {}),
}


class Streamed:
    """Anything that streams through Arrow's C interface and nothing else."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return TABLE.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("source", WEIGHTED)
def test_every_source_gives_the_sums_of_all_rows(source: str, files: Path) -> None:
    data, options = WEIGHTED[source](files)
    assert_same(sr.moments(data, H, **options), whole())


@pytest.mark.parametrize("name", ["c.npy", "f.npy"])
def test_arrays_in_files(name: str, files: Path) -> None:
    assert_same(sr.moments(files / name, H), whole(w=None))


def test_plain_blocks_and_single_precision() -> None:
    assert_same(sr.moments((x for x, _ in blocks(1)), H), whole(w=None))
    single = X.astype(np.float32)
    assert_same(sr.moments(iter([single]), H), sr.Moments.from_directions(sr.Directions(single), H))


def test_other_coordinates(tmp_path: Path) -> None:
    lon, lat = np.random.default_rng(3).uniform(-90, 90, (2, 900))
    pq.write_table(pa.table({"a": lon, "b": lat}), tmp_path / "a.parquet")
    got = sr.moments(tmp_path / "a.parquet", H, columns=["a", "b"], coords="lonlat")
    assert_same(got, sr.Moments.from_directions(sr.Directions.from_lonlat(lon, lat), H))


def test_rows_of_any_length_with_normalize() -> None:
    x = X * np.arange(1, N + 1)[:, None]
    with pytest.raises(sr.InvalidDirections, match="pass normalize=True"):
        sr.moments(x, H)
    assert_same(sr.moments(x, H, normalize=True), whole(w=None))


@pytest.mark.parametrize("hierarchy", [sr.Axial(3, 2), sr.Harmonics(5, 2), sr.TorusHarmonics(2, 2)])
def test_other_spaces(hierarchy: Any) -> None:
    x = hierarchy.space.uniform(N, np.random.default_rng(4))
    want = sr.Moments.from_directions(sr.Directions(x, W, space=hierarchy.space), hierarchy)
    assert_same(sr.moments(x, hierarchy, weights=W), want)


def test_functions_of_somebody_else() -> None:
    own = sr.Custom(sr.Sphere(), [lambda x: x, lambda x: x[:, :1] ** 2])
    got = sr.moments(blocks(500), own)
    want = sr.Moments.from_directions(sr.Directions(X, W), own)
    np.testing.assert_allclose(got.features, want.features, atol=1e-12)


def test_only_the_columns_needed_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wide.parquet"
    wide = {f"extra {k}": np.zeros(N) for k in range(5)}
    pq.write_table(pa.table({**wide, "x": X[:, 0], "y": X[:, 1], "z": X[:, 2], "w": W}), path)
    asked: list[list[str]] = []
    plain = pq.ParquetFile.iter_batches

    def watched(self: Any, *, batch_size: int, columns: Any = None, **rest: Any) -> Any:
        asked.append(columns)
        return plain(self, batch_size=batch_size, columns=columns, **rest)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    assert_same(sr.moments(path, H, weights="w"), whole())
    assert sorted(asked[-1]) == ["w", "x", "y", "z"]


# --- any size, any order ------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3000), st.sampled_from([1, 2]))
def test_any_size_of_pieces_and_any_number_of_threads(size: int, threads: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_ROWS", size)
        patch.setattr(summation, "_MOST_THREADS", threads)
        n = min(N, 40 * size)
        assert_same(sr.moments(X[:n], H, weights=W[:n]), whole(X[:n], W[:n]))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=7), st.randoms(use_true_random=False))
def test_merging_in_any_order_and_any_tree(sizes: list[int], rnd: Any) -> None:
    edges = np.cumsum([0, *sizes])
    parts = [whole(X[a:b], W[a:b]) for a, b in itertools.pairwise(edges)]
    while len(parts) > 1:
        rnd.shuffle(parts)
        parts.append(parts.pop() + parts.pop())
    assert_same(parts[0], whole(X[: edges[-1]], W[: edges[-1]]))


def test_threads_change_no_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(summation, "_MOST_THREADS", threads)
        found.append(sr.moments(X, H, weights=W))
    np.testing.assert_array_equal(found[0].total, found[1].total)


def test_the_profile_of_a_stream_is_that_of_its_rows(files: Path) -> None:
    streamed = sr.profile(sr.moments(files / "whole.parquet", H))
    np.testing.assert_allclose(streamed.gaps, sr.profile(X, hierarchy=H).gaps, atol=1e-11)


# --- weights ------------------------------------------------------------------------------


def test_pieces_that_weigh_nothing_count_as_rows() -> None:
    w = W.copy()
    w[:900], w[1300:1700] = 0.0, 0.0
    got = sr.moments(X, H, weights=w)
    assert_same(got, whole(w=w))
    frame = FRAME.assign(w=w)
    assert_same(sr.moments(frame, H, weights="w"), whole(w=w))
    parts = sr.moments(frame, H, weights="w", by="site")
    assert sum(part.n for part in parts.values()) == N
    assert_same(sum(parts.values(), start=0), whole(w=w))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_weights_of_any_scale(scale: float) -> None:
    got = sr.moments(X, H, weights=scale * W)
    want = whole(w=scale * W)
    assert got.exponent != 0
    np.testing.assert_allclose(got.features, want.features, atol=1e-13)
    labelled = sr.moments(X, H, weights=scale * W, by=LABELS)
    pooled = sum(labelled.values(), start=0)
    np.testing.assert_allclose(pooled.features, want.features, atol=1e-13)
    assert pooled.ess == pytest.approx(want.ess)


def test_zero_weights_altogether() -> None:
    words = "all weights are zero; give at least one positive weight"
    with pytest.raises(sr.InvalidDirections, match=words):
        sr.moments(X, H, weights=np.zeros(N))
    with pytest.raises(sr.InvalidDirections, match="all weights of the group 'south' are zero"):
        sr.moments(X, H, weights=np.where(LABELS == "south", 0.0, W), by=LABELS)


# --- by label -----------------------------------------------------------------------------


LABELLED: dict[str, Any] = {
    "directions": lambda _: (sr.Directions(X, W), {"by": LABELS}),
    "array": lambda _: (X, {"weights": W, "by": LABELS.tolist()}),
    "pandas": lambda _: (FRAME, {"weights": "w", "by": "site"}),
    "polars": lambda _: (pl.from_pandas(FRAME), {"weights": "w", "by": "site"}),
    "categories": lambda _: (FRAME.astype({"site": "category"}), {"weights": "w", "by": "site"}),
    "parquet": lambda files: (files / "whole.parquet", {"weights": "w", "by": "site"}),
    "directory": lambda files: (files / "by_site", {"weights": "w", "by": "site"}),
    "text": lambda files: (str(files / "*.csv"), {"weights": "w", "by": "site"}),
    "reader": lambda _: (TABLE.to_reader(), {"weights": "w", "by": "site"}),
}


@pytest.mark.parametrize("source", LABELLED)
def test_by_label_is_each_group_on_its_own(source: str, files: Path) -> None:
    data, options = LABELLED[source](files)
    found = sr.moments(data, H, **options)
    assert list(found) == sorted(set(LABELS.tolist()))
    for label, part in found.items():
        assert_same(part, whole(X[label == LABELS], W[label == LABELS]))


def test_labels_of_any_kind() -> None:
    numbers = np.arange(N) % 3
    assert list(sr.moments(X, H, by=numbers)) == [0, 1, 2]
    mixed: AnyArray = np.array(["a", 1] * (N // 2), dtype=object)
    assert set(sr.moments(X, H, by=mixed)) == {"a", 1}


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_rows_without_a_label(missing: Any) -> None:
    labels: AnyArray = np.array(["a"] * N, dtype=object)
    labels[1205] = missing
    words = "row 1205 has no label"
    with pytest.raises(sr.InvalidDirections, match=words):
        sr.moments(X, H, by=labels)


# --- refusals -----------------------------------------------------------------------------


def bad_row(at: int) -> Array:
    x = X.copy()
    x[at] = 2.0
    return x


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a bad first row": (bad_row(0), {}, r"^row 0 has norm 3\.464"),
    "a bad later row": (bad_row(999), {}, r"^row 999 has norm"),
    "no blocks": (iter([]), {}, "the source has no rows; give at least one direction"),
    "no rows": (np.empty((0, 3)), {}, "the source has no rows"),
    "an empty frame": (FRAME[:0], {}, "the source has no rows"),
    "no columns": (FRAME, {"columns": ["p", "q"]}, "no column 'p'; the table has x, y, z"),
    "no weights": (FRAME, {"weights": "v"}, "no weights column 'v'; the table has x, y, z, w"),
    "no labels": (FRAME, {"by": "v"}, "no column 'v'; the table has"),
    "a label that is a coordinate": (
        FRAME, {"by": "x", "columns": ["x", "y", "z"]}, "cannot be a coordinate and the label"
    ),
    "labels beside a frame": (FRAME, {"by": LABELS}, "name a column of the table"),
    "weights by name of an array": (X, {"weights": "w"}, "weights names a column, but"),
    "too few weights": (X, {"weights": W[:9]}, "weights has shape (9,) for 2500 rows"),
    "too few labels": (X, {"by": LABELS[:9]}, "by has shape (9,) for 2500 rows"),
    "labels that are lists": (np.eye(3), {"by": [[1], [2], [3]]}, "by has shape (3, 1)"),
    "columns of an array": (X, {"columns": ["x", "y"]}, "are for tables, and this is an array"),
    "weights of directions": (sr.Directions(X), {"weights": W}, "carry their own coordinates"),
    "triples": (iter([(X, W, LABELS)]), {}, "a block is a tuple of 3; yield x, (x, weights)"),
    "labels of blocks": (blocks(9), {"by": "site"}, "yield tables that have them"),
    "a lazy frame": (pl.from_pandas(FRAME).lazy(), {}, "a lazy frame; pass its .collect()"),
    "a function": (len, {}, "give rows, a table, files, or what yields blocks"),
    "a dictionary": ({"x": X}, {}, "give rows, a table, files, or what yields blocks"),
    "one row": (X[0], {}, "x has shape (3,); give (n, d)"),
    "another dimension": (np.eye(4), {}, "x has 4 columns"),
    "no file": ("nowhere/*.parquet", {}, "no file fits 'nowhere/*.parquet'; check the pattern"),
    "a null byte": ("a\0b", {}, "give the name of a file"),
    "a cluster of rows here": (X, {"cluster": "local:1"}, "in memory here is summed here"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    data, options, words = REFUSED[case]
    pattern = words if words.startswith("^") else None
    with pytest.raises(sr.SteradianError, match=pattern) as caught:
        sr.moments(data, H, **options)
    if pattern is None:
        assert words in str(caught.value)


@pytest.mark.parametrize("by", [None, LABELS])
def test_axes_are_not_measured_by_what_tells_their_sign(by: Any) -> None:
    axes = sr.Directions(X, axial=True)
    with pytest.raises(sr.InvalidArgument, match="tells x from -x"):
        sr.moments(axes, H, by=by)
    with pytest.raises(sr.InvalidArgument, match="tells x from -x"):
        sr.moments(iter([axes]), H)


def test_what_is_no_hierarchy() -> None:
    with pytest.raises(sr.InvalidArgument, match="hierarchy is 3; give one"):
        sr.moments(X, 3)  # type: ignore[arg-type]


def test_files_that_are_none(tmp_path: Path, files: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no")
    (tmp_path / "b.npy").write_bytes(b"no")
    (tmp_path / "c.csv").write_text("")
    (tmp_path / "d.csv").write_text("x,y,z\n")
    (tmp_path / "e.csv").write_bytes(b"x,y,z\n\xff,0,0\n")
    (tmp_path / "f.xyz").write_text("x")
    (tmp_path / "empty").mkdir()
    whole().save(tmp_path / "g.moments")
    np.save(tmp_path / "h.npy", np.ones(4))
    for name, words in {
        "a.parquet": "a.parquet is not a Parquet file",
        "b.npy": "b.npy is not a NPY array",
        "c.csv": "c.csv is empty",
        "d.csv": "d.csv has a header but no rows",
        "e.csv": "e.csv is not UTF-8 text",
        "f.xyz": "f.xyz has a header but no rows",
        "g.moments": "holds moments already; read it with Moments.load",
        "h.npy": "cannot tell which of the columns 1 are the coordinates",
        "empty": "no Parquet files in the folder",
    }.items():
        with pytest.raises(sr.InvalidDirections) as caught:
            sr.moments(tmp_path / name, H)
        assert words in str(caught.value)
    with pytest.raises(sr.InvalidDirections, match="no weights column 'w'; the table has 1, 2, 3"):
        sr.moments(files / "c.npy", H, weights="w")


def test_a_bad_row_of_a_file_is_named_with_the_file(tmp_path: Path) -> None:
    FRAME.assign(x=bad_row(999)[:, 0]).to_csv(tmp_path / "a.csv", index=False)
    words = r"^line 1001 of a\.csv has norm"
    with pytest.raises(sr.InvalidDirections, match=words):
        sr.moments(tmp_path / "a.csv", H)


def test_a_stream_that_breaks_off() -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield from TABLE.to_batches(max_chunksize=500)[:2]
        raise pa.ArrowInvalid("the wire was cut")

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, broken())
    with pytest.raises(sr.InvalidDirections, match=r"broke off: .*the wire was cut"):
        sr.moments(reader, H)


@pytest.mark.parametrize("data", ["a.parquet", Path("a.csv"), iter([X]), TABLE.to_reader()])
def test_profile_says_what_to_do_with_a_stream(data: Any) -> None:
    with pytest.raises(sr.InvalidDirections, match=r"sr\.moments\((path|data), hierarchy\)"):
        sr.profile(data)
