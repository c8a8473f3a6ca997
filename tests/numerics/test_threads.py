"""Linear algebra has one thread inside, and what it had before outside, however people leave."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest

from steradian.numerics import threads
from steradian.numerics.threads import one_thread


def counts() -> list[int]:
    return [get() for get, _ in threads._libraries()]


def test_threads_are_set_back() -> None:
    before = counts()
    for _, put in threads._libraries():
        put(2)
    try:
        had = counts()  # two, or what a machine of one core allows
        with one_thread(), one_thread():
            assert set(counts()) <= {1}
        assert counts() == had
        with pytest.raises(ValueError, match="inside"), one_thread():
            raise ValueError("inside")
        assert counts() == had
    finally:
        for (_, put), count in zip(threads._libraries(), before, strict=True):
            put(count)


def test_whoever_leaves_last_sets_them_back() -> None:
    """Of two that overlap the first in is not the last out."""
    before, entered, left = counts(), Barrier(2), Barrier(2)

    def other() -> None:
        entered.wait()
        with one_thread():
            left.wait()
            left.wait()

    worker = Thread(target=other)
    with one_thread():
        worker.start()
        entered.wait()
        left.wait()
    assert set(counts()) <= {1}
    left.wait()
    worker.join()
    assert counts() == before
