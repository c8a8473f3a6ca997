"""Room for matrices that are made again and again.

An array of some megabytes is given new pages by the system each time, which costs more than the
sums that are made in it. What is lent here is kept for the next who asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from steradian.numerics.arrays import Array

_MOST_KEPT = 3  # stacks of matrices, one for each thread that is at work


class Scratch:
    """Stacks of square matrices whose contents mean nothing."""

    __slots__ = ("_free",)

    def __init__(self) -> None:
        self._free: list[Array] = []

    @contextmanager
    def lent(self, count: int, size: int) -> Iterator[Array]:
        """A stack (count, size, size), until the end of the block."""
        wanted = count * size * size
        try:
            room = self._free.pop()  # one step, so that no two threads get the same
        except IndexError:
            room = np.empty(0)
        if len(room) < wanted:
            room = np.empty(wanted)
        try:
            yield room[:wanted].reshape(count, size, size)
        finally:
            if len(self._free) < _MOST_KEPT:
                self._free.append(room)


MATRICES = Scratch()
"""For Hessians and their factors."""
