"""Batches as they come: wide level 1, attention rows, weightings on disk; against plain loops.

Seconds are those of the processor, the contenders asked in turn.

Memory of the level-1 call is what Python allocates at its peak (tracemalloc), its inputs included;
that of the weightings on disk is the resident memory of this process.
"""

from __future__ import annotations

import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import steradian as sr
from memory import resident
from parts import show_shares
from timing import Result, agree, interleaved, one_thread, quantity, show

Array = NDArray[np.float64]

ROUNDS = 5
LOOPED = 40  # rows that the loops take
SOME = 600  # and the stacks that take turns with them
HEADS = 72
ON_DISK = (
    100_000  # weightings of 512 points; a million takes ten times as long and as little memory
)


def directions(n: int, d: int, rng: np.random.Generator) -> Array:
    """Unequal axes and a mean."""
    x = rng.standard_normal((n, d)) * np.linspace(0.5, 1.5, d) + 0.1
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def attention(x: Array, rows: int, sharp: float, rng: np.random.Generator) -> Array:
    """Softmax weights of random queries."""
    logits = sharp * rng.standard_normal((rows, x.shape[1])) @ x.T
    w = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(w / w.sum(axis=1, keepdims=True))


def wide_level_one(rng: np.random.Generator) -> list[Result]:
    """Time in units of the one product it needs, and memory in units of the inputs."""
    x = directions(2000, 384, rng)
    w = attention(x, 1000, 3.0, rng)
    ours, product = interleaved(
        [lambda _: sr.profiles(x, weights=w, levels=1), lambda _: w @ x], ROUNDS, time.process_time
    )
    tracemalloc.start()
    sr.profiles(x, weights=w, levels=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    held = x.nbytes + w.nbytes
    print(f"  peak of the call {quantity(peak, 'B')} beside inputs of {quantity(held, 'B')}")
    return [
        Result("level 1, d=384, n=2000, B=1000, vs W @ X", ours, product, 3.0,
               in_units_of_peer=True),
        Result("its peak memory with inputs, vs inputs", held + peak, held, 1.5, "B"),
    ]  # fmt: skip


def attention_rows(rng: np.random.Generator, rows: int) -> list[Result]:
    """Level 2 of attention over 256 tokens; some rows in turn with a loop, then all of them."""
    x = directions(256, 32, rng)
    w = attention(x, rows, 2.0, rng)
    found = sr.profiles(x, weights=w[:LOOPED], levels=2)
    one = np.array([sr.profile(x, weights=row, levels=2).gaps for row in w[:LOOPED]])
    good = agree("profile in a loop, nats", float(np.abs(found.gaps - one).max()), 1e-10)
    some = w[:SOME]
    batch, loop = interleaved(
        [
            lambda _: sr.profiles(x, weights=some, levels=2),
            lambda _: [sr.profile(x, weights=row, levels=2) for row in w[:LOOPED]],
        ],
        ROUNDS,
        time.process_time,
    )
    show_shares("attention rows", lambda: sr.profiles(x, weights=some, levels=2))
    began = time.perf_counter(), time.process_time()
    sr.profiles(x, weights=w, levels=2)
    wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    print(f"  {rows} rows in {wall:.1f} s ({cpu:.1f} s of processor)")
    name = f"{len(some)} attention rows, d=32, L=2, vs profile in a loop"
    return [Result(name, batch / len(some), loop / LOOPED, 10.0, agrees=good)]


def attention_heads(rng: np.random.Generator) -> list[Result]:
    """Levels 1 and 2 with shrinkage of 72 heads, each with 256 keys of its own, of 256 queries."""
    began = time.perf_counter(), time.process_time()
    failed = 0
    for _ in range(HEADS):
        keys = directions(256, 32, rng)
        w = attention(keys, 256, rng.uniform(1.0, 6.0), rng)
        failed += len(sr.profiles(keys, weights=w, levels=2, shrinkage=0.05).failures)
    wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    print(
        f"  {HEADS} heads in {wall:.1f} s ({cpu:.1f} s of processor), {failed} rows without a fit"
    )
    name = f"{HEADS} heads x 256 queries, d=32, shrunk, vs two minutes of two processors"
    return [Result(name, cpu, 240.0, 1.0, agrees=not failed, in_units_of_peer=True)]


def on_disk(rng: np.random.Generator, rows: int) -> list[Result]:
    """Weightings of 512 points on the two-sphere in a file of single precision."""
    x = directions(512, 3, rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.f32"
        with path.open("wb") as file:
            for first in range(0, rows, 10_000):
                count = min(10_000, rows - first)
                file.write(attention(x, count, 2.0, rng).astype(np.float32).tobytes())
        w = np.memmap(path, dtype=np.float32, mode="r", shape=(rows, 512))
        tracemalloc.start()
        sr.profiles(x, weights=w[: rows // 10], levels=2)
        tenth = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        sr.profiles(x, weights=w[: rows // 5], levels=2)
        fifth = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        before = resident()[0]
        began = time.perf_counter(), time.process_time()
        found = sr.profiles(x, weights=w, levels=2)
        wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
        print(f"  {rows} weightings in {wall:.1f} s ({cpu:.1f} s of processor)")
        print(
            f"  resident before {quantity(before, 'B')}, peak so far {quantity(resident()[1], 'B')}"
        )
        looped = w[: 5 * LOOPED]
        one = np.array([sr.profile(x, weights=row, levels=2).gaps for row in looped])
        some = w[: min(rows, ON_DISK // 10)]
        batch, loop = interleaved(
            [
                lambda _: sr.profiles(x, weights=some, levels=2),
                lambda _: [sr.profile(x, weights=row, levels=2) for row in looped],
            ],
            ROUNDS,
            time.process_time,
        )
        show_shares("weightings on disk", lambda: sr.profiles(x, weights=some, levels=2))
    good = agree(
        "profile in a loop, nats", float(np.abs(found.gaps[: len(one)] - one).max()), 1e-10
    )
    sizes = quantity(tenth, "B"), quantity(fifth, "B"), quantity(rows * 2048.0, "B")
    print("  allocated for a tenth {}, for a fifth {}; the file has {}".format(*sizes))
    name = f"{len(some)} weightings x 512 on S², memory map, vs profile in a loop"
    return [Result(name, batch / len(some), loop / len(looped), 20.0, agrees=good)]


def run(attended: int = 18_432, mapped: int = ON_DISK) -> list[Result]:
    """Seconds are per call, or per profile."""
    rng = np.random.default_rng(17)
    print("level 1")
    results = wide_level_one(rng)
    print("attention")
    results += attention_rows(rng, attended) + attention_heads(rng)
    print("on disk")
    return results + on_disk(rng, mapped)


if __name__ == "__main__":
    one_thread()
    show(run(*map(int, sys.argv[1:])))
