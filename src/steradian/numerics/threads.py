"""One thread of linear algebra while many small systems are solved, one after the other.

OpenBLAS wakes its threads for products of some ten thousand numbers, and they wait for the next in
a loop. A search that takes thousands of such steps was slowed by them up to eight times on two
cores (1.8 s of the processor became 14.6), and more on more. Only the wheels of NumPy and SciPy are
looked for, with what they bring; other libraries keep the threads they have. The package
threadpoolctl does this for every library, and would be one more that the core needs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np
import scipy

_NAMES = (
    ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"),
    ("scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"),
    ("openblas_get_num_threads64_", "openblas_set_num_threads64_"),
    ("openblas_get_num_threads", "openblas_set_num_threads"),
)  # of the number of threads, as builds call them
_LOCK = Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let linear algebra use one thread; the last to leave sets back what the first has found."""
    with _LOCK:
        if _State.enter([get() for get, _ in _libraries()]):
            for _, put in _libraries():
                put(1)
    try:
        yield
    finally:
        with _LOCK:
            for (_, put), count in zip(_libraries(), _State.leave(), strict=False):
                put(count)


class _State:
    """Who is inside, and what to set back."""

    depth = 0
    counts: tuple[int, ...] = ()

    @classmethod
    def enter(cls, counts: list[int]) -> bool:
        """Whether this is the first."""
        cls.depth += 1
        if cls.depth == 1:
            cls.counts = tuple(counts)
        return cls.depth == 1

    @classmethod
    def leave(cls) -> tuple[int, ...]:
        """What to set back: nothing while others are inside."""
        cls.depth -= 1
        return () if cls.depth else cls.counts


@cache
def _libraries() -> tuple[tuple[Callable[[], int], Callable[[int], None]], ...]:
    """What tells and what sets the number of threads of each library that is loaded."""
    found = []
    for package in (np, scipy):
        home = Path(str(package.__file__)).parent
        folders = home.parent / f"{home.name}.libs", home / ".dylibs"
        for path in (p for folder in folders for p in sorted(folder.glob("*openblas*"))):
            library = ctypes.CDLL(str(path))
            for get, put in _NAMES:
                if hasattr(library, get) and hasattr(library, put):
                    found.append((getattr(library, get), getattr(library, put)))
                    break
    return tuple(found)
