"""Sums of parts on Dask: each part where it is, then pooled a few at a time.

A part whose machine dies is measured again elsewhere, as are pooled sums that were lost: parts
are never summed twice into one result, because what is pooled are values, not a running total.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from steradian.cluster.engine import connected, dask, distributed
from steradian.cluster.parts import Part
from steradian.errors import InvalidDirections, SteradianError
from steradian.progress import metered

_FAN_IN = 8  # sums that one task pools
_RETRIES = 3  # of a part whose machine is lost while it is at work

Measure = Callable[[Iterable[Any]], Any]
"""Pieces → their sums."""
Pool = Callable[[Sequence[Any]], Any]
"""Sums of parts → sums of the whole."""


@contextlib.contextmanager
def working_on(cluster: Any) -> Iterator[Any]:
    """The client of a cluster, or the one that is at work already, if any."""
    if cluster is None:
        yield _current()
        return
    with connected(cluster) as client, client.as_current():
        yield client


def summed_on_cluster(parts: Sequence[Part], measure: Measure, pool: Pool, client: Any) -> Any:
    """The sums of all parts, pooled in a tree of their order.

    Without a client by whatever scheduler Dask has been told to use.
    """
    if not parts:
        raise InvalidDirections("the source has no rows; give at least one direction")
    delayed = dask().delayed
    leaves = [
        delayed(_measured, pure=False, traverse=False)(part.pieces, measure, *part.arguments)
        for part in parts
    ]
    if client is not None:
        return _by_client(client, leaves, pool)
    with metered(len(leaves), "moments", "parts") as advance, _counting(advance):
        return dask().compute(_tree(leaves, delayed(pool)))[0]


def _measured(pieces: Any, measure: Measure, *arguments: Any) -> Any:
    return measure(pieces(*arguments))


def _tree(leaves: list[Any], join: Callable[[list[Any]], Any]) -> Any:
    while len(leaves) > 1:
        leaves = [join(leaves[k : k + _FAN_IN]) for k in range(0, len(leaves), _FAN_IN)]
    return leaves[0]


def _by_client(client: Any, leaves: list[Any], pool: Pool) -> Any:
    """Submit everything; nothing but the one pooled result comes back."""
    futures = client.compute(leaves, retries=_RETRIES)
    root = _tree(
        list(futures), lambda some: client.submit(pool, some, pure=False, retries=_RETRIES)
    )
    with metered(len(futures), "moments", "parts") as advance:
        for future in distributed().as_completed(futures):
            if future.status == "error":
                break  # its words come with the result
            advance(1)
    try:
        return root.result()
    except distributed().KilledWorker as error:
        raise SteradianError(
            "every machine that was given one part of the data died of it, most likely for want "
            "of memory; give smaller parts, or machines with more"
        ) from error


def _current() -> Any:
    """The client that is at work already, if any."""
    module = sys.modules.get("distributed")
    if module is None:
        return None
    try:
        return module.get_client(timeout=0)
    except ValueError:
        return None


def _counting(advance: Callable[[int], None]) -> Any:
    """Count the parts that a scheduler in this process has measured."""
    from dask import callbacks

    make: Any = callbacks.Callback

    def after(key: Any, *_: Any) -> None:
        if str(key).startswith(_measured.__name__):
            advance(1)

    return make(posttask=after)
