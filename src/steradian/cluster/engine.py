"""Dask, where it is installed, and its schedulers by name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from steradian.arguments import shown
from steradian.errors import InvalidArgument, MissingExtra

_LOCAL = "local"


def dask() -> Any:
    """The module with its arrays, or the words for how to get it."""
    try:
        import dask as module
        import dask.array
    except ImportError as error:
        raise MissingExtra(
            "clusters need dask; install it with: pip install 'steradian[dask]'"
        ) from error
    return module


def distributed() -> Any:
    """Dask's scheduler of many processes, or the words for how to get it."""
    try:
        import distributed as module
    except ImportError as error:
        raise MissingExtra(
            "cluster= needs distributed; install it with: pip install 'steradian[dask]'"
        ) from error
    return module


@contextlib.contextmanager
def connected(cluster: Any) -> Iterator[Any]:
    """A client of a cluster given as such, by its address, or as ``local:N`` processes here."""
    if hasattr(cluster, "submit") and hasattr(cluster, "gather"):
        yield cluster
        return
    if not isinstance(cluster, str) or not cluster:
        raise InvalidArgument(
            f"cluster is {shown(cluster)}; give 'local:2', the address of a scheduler, or a client"
        )
    module = distributed()
    kind, _, count = cluster.partition(":")
    if kind == _LOCAL:
        with (
            module.LocalCluster(
                n_workers=_workers(count), threads_per_worker=1, dashboard_address=":0"
            ) as here,
            module.Client(here) as client,
        ):
            yield client
        return
    try:
        client = module.Client(cluster)
    except (OSError, ValueError) as error:
        raise InvalidArgument(
            f"no scheduler answers at {cluster}; check the address, or use 'local:2'"
        ) from error
    with client:
        yield client


def _workers(count: str) -> int:
    if not (count.isdecimal() and int(count) > 0):
        raise InvalidArgument(
            f"cluster is 'local:{count}'; give a number of processes, like local:2"
        )
    return int(count)
