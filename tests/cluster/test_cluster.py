"""Clusters: the sums of one machine, whatever the partitioning, and whatever dies meanwhile."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steradian as sr
from steradian.cluster import parts as cluster_parts
from steradian.cluster.engine import connected
from steradian.data import summation
from steradian.io.decision import Request
from steradian.io.pieces import Wanted
from streamed import FRAME, LABELS, TABLE, H, N, W, X, assert_same, whole


@pytest.fixture(autouse=True)
def in_this_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(values: Any, edges: list[int]) -> Any:
    sizes = tuple(np.diff([0, *edges, N]).tolist())
    chunks = (sizes, values.shape[1]) if values.ndim == 2 else (sizes,)
    return da.from_array(values, chunks=chunks)


# --- collections --------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(1, N - 1), max_size=30), st.booleans())
def test_any_partitioning_of_an_array(cuts: set[int], weighted: bool) -> None:
    edges = sorted(cuts)
    with dask.config.set(scheduler="synchronous"):
        x, w = chunked(X, edges), chunked(W, edges) if weighted else None
        assert_same(sr.moments(x, H, weights=w), whole(w=W if weighted else None))


def test_chunks_of_columns_and_weights_in_other_chunks() -> None:
    x = da.from_array(X, chunks=(700, 1))
    assert_same(sr.moments(x, H, weights=W), whole())
    assert_same(sr.moments(x, H, weights=da.from_array(W, chunks=123)), whole())


def test_empty_chunks() -> None:
    x = da.concatenate([da.zeros((0, 3)), da.from_array(X, chunks=(1000, 3)), da.zeros((0, 3))])
    assert_same(sr.moments(x, H), whole(w=None))
    with pytest.raises(sr.InvalidDirections, match="the source has no rows"):
        sr.moments(da.zeros((0, 3)), H)


@pytest.mark.parametrize("partitions", [1, 7, 40])
def test_frames_with_labels(partitions: int) -> None:
    frame = dd.from_pandas(FRAME, npartitions=partitions)
    assert_same(sr.moments(frame, H, weights="w"), whole())
    found = sr.moments(frame, H, weights="w", by="site")
    for label in sorted(set(LABELS.tolist())):
        assert_same(found[label], whole(X[label == LABELS], W[label == LABELS]))


def test_partitions_that_a_filter_has_emptied() -> None:
    frame = dd.from_pandas(FRAME.assign(row=np.arange(N)), npartitions=9)
    late = frame[frame.row >= 2000]
    assert_same(
        sr.moments(late, H, columns=["x", "y", "z"], weights="w"), whole(X[2000:], W[2000:])
    )


def test_labels_of_an_array() -> None:
    found = sr.moments(da.from_array(X, chunks=(600, 3)), H, by=LABELS)
    assert sum(part.n for part in found.values()) == N


def test_functions_that_travel() -> None:
    """A copy of a function is another function; the sums are still those of one hierarchy."""
    own = sr.Custom(sr.Sphere(), [lambda x: x, lambda x: x[:, :1] ** 2])
    sent = cloudpickle.dumps(summation._Measure(own, Wanted(), None))
    parts = cluster_parts.collection_parts(da.from_array(X, chunks=(900, 3)), Wanted())
    sums = []
    for part in parts.parts:
        measure = cloudpickle.loads(sent)
        assert measure.hierarchy != own
        sums.append(measure(part.pieces(*dask.compute(*part.arguments))))
    got = summation.pooled(sums).sums[None]
    want = sr.Moments.from_directions(sr.Directions(X), own)
    np.testing.assert_allclose(got.features, want.features, atol=1e-12)
    assert sr.moments(da.from_array(X), own).hierarchy == own


@pytest.mark.parametrize(("source", "options", "words"), [
    (da.ones(5), {}, r"x has shape \(5,\)"),
    (da.from_array(X), {"weights": W[:4]}, r"weights has shape \(4,\) for 2500 rows"),
    (da.from_array(X), {"weights": "w"}, "weights names a column"),
    (da.from_array(X), {"columns": ["x", "y"]}, "are for tables"),
    (da.from_array(2.0 * X, chunks=(900, 3)), {}, "row 0 has norm 2"),
    (dd.from_pandas(FRAME, npartitions=2), {"by": LABELS}, "name a column of the frame"),
    (dd.from_pandas(FRAME, npartitions=2), {"weights": "v"}, "no weights column 'v'"),
    (dask.delayed(3), {}, "give a Dask array or data frame"),
])  # fmt: skip
def test_refusals(source: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(sr.InvalidDirections, match=words):
        sr.moments(source, H, **options)


@pytest.mark.parametrize("cluster", ["local:0", "local:", "local:x", 3, ""])
def test_clusters_that_are_none(cluster: Any) -> None:
    with (
        pytest.raises(sr.InvalidArgument, match=r"cluster is .*(local:2|like local:2)"),
        connected(cluster),
    ):
        pass


# --- files --------------------------------------------------------------------------------


@settings(max_examples=8, deadline=None)
@given(group=st.integers(60, 900), together=st.integers(1, 3000))
def test_any_row_groups_of_files(
    group: int, together: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Parts of any size, pooled in a tree of any depth, without a scheduler in between."""
    root = tmp_path_factory.mktemp("groups")
    pq.write_table(TABLE.slice(0, 1000), root / "a.parquet", row_group_size=group)
    pq.write_table(TABLE.slice(1000), root / "b.parquet", row_group_size=max(group, 50))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_parts, "_GROUPED_ROWS", together)
        wanted = Wanted(Request(weights="w"))
        parts = cluster_parts.file_parts(sorted(root.glob("*.parquet")), wanted)
        measure = summation._Measure(H, wanted, parts.decision)
        sums = [measure(part.pieces(*part.arguments)) for part in parts.parts]
    assert sum(s.sums[None].n for s in sums) == N
    assert_same(summation.pooled(sums).sums[None], whole())


def test_the_same_files_on_a_cluster_in_this_process(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    for k, (a, b) in enumerate(itertools.pairwise((0, 800, 801, N))):
        pq.write_table(TABLE.slice(a, b - a), tmp_path / f"{k}.parquet", row_group_size=300)
    np.save(tmp_path / "x.npy", X)
    with (
        distributed.Client(
            processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"
        ) as client,
    ):
        got = sr.moments(tmp_path / "*.parquet", H, weights="w", by="site", cluster=client)
        assert_same(sum(got.values(), start=0), whole())
        assert_same(sr.moments(tmp_path / "x.npy", H, cluster=client), whole(w=None))
        assert_same(sr.moments(da.from_array(X, chunks=(900, 3)), H), whole(w=None))
        with pytest.raises(sr.InvalidDirections, match="no column 'p'"):
            sr.moments(tmp_path / "*.parquet", H, columns=["p", "q"], cluster=client)


@pytest.mark.slow
def test_a_worker_that_dies_changes_nothing(tmp_path: Path) -> None:
    """Two processes, of which one is killed while parts are summed."""
    distributed = pytest.importorskip("distributed")
    rng = np.random.default_rng(0)
    for k in range(40):
        x = sr.Sphere().uniform(100_000, rng)
        table = pa.table({"x": x[:, 0], "y": x[:, 1], "z": x[:, 2]})
        pq.write_table(table, tmp_path / f"{k:02}.parquet")
    want = sr.moments(tmp_path, H)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        begun = threading.Event()

        def kill() -> None:
            begun.wait()
            while not any(client.processing().values()):
                time.sleep(0.01)
            time.sleep(0.2)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        begun.set()
        got = sr.moments(tmp_path, H, cluster=client)
        killer.join()
    assert_same(got, want)


@pytest.mark.slow
def test_processes_here_by_name(tmp_path: Path) -> None:
    pd.DataFrame(X, columns=["x", "y", "z"]).to_parquet(tmp_path / "a.parquet")
    assert_same(sr.moments(tmp_path / "a.parquet", H, cluster="local:1"), whole(w=None))
