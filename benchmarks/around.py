"""What is asked about a fit, in units of the fit: tests, intervals, residuals, trust; and imports.

``python benchmarks/around.py`` prints the scaling with the number of rows, 10³ to 10⁷, and how
much each answer takes beside its profile; with the path of another source tree also how much
quicker this one is, both asked in turn. Seconds are those of the processor.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from before import HERE, Worker, compared, work
from fisher_bingham import FAR, MANY, NEAR, cloud, moments
from timing import Limit, Median, Result, interleaved, one_thread, quantity, show

Array = NDArray[np.float64]

LEVELS = 4
ROWS = 1_000_000
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
ASKED = {"tests": 4.0, "intervals": 2.0, "residuals": 2.0, "trust": 2.0}  # and times its profile
IMPORTS = 1.6
ROUNDS = 5
_LIBRARIES = "import numpy, scipy.special, scipy.linalg, ducc0"


def rows(n: int, seed: int = 1) -> Array:
    """A cloud with three different variances, brought to the two-sphere."""
    x = np.random.default_rng(seed).normal(size=(n, 3))
    x *= [1.0, 1.3, 1.0]
    x += [0.0, 0.0, 1.2]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x


def seconds_of(x: Array, asked: str, rounds: int) -> tuple[Median, Median]:
    """Of a profile, and of one answer of a fresh one, in turn."""
    import steradian as sr

    spent = np.empty((rounds, 2))
    for k in range(rounds + 1):
        began = time.process_time()
        made = sr.profile(x, levels=LEVELS)
        between = time.process_time()
        getattr(made, asked)()
        if k:  # one of each goes untimed
            spent[k - 1] = between - began, time.process_time() - between
    return Median.of(spent[:, 0]), Median.of(spent[:, 1])


def run() -> list[Result]:
    """Every answer at a million rows in units of its profile, and what imports take."""
    x = rows(ROWS)
    out = []
    for asked, target in ASKED.items():
        fit, answer = seconds_of(x, asked, ROUNDS)
        label = f"{asked}(), S², n=10⁶, L={LEVELS}, in profiles"
        bound = Limit("one pass of features", _features(x))
        out.append(Result(label, answer, fit, target, in_units_of_peer=True, limit=bound))
        print(f"  {asked}: {quantity(answer, 's')}, profile {quantity(fit, 's')}")
    return out + imports()


def _features(x: Array) -> Median:
    """Features of all levels, a block at a time."""
    import steradian as sr

    hierarchy = sr.Harmonics(3, LEVELS)

    def once(_: int) -> None:
        for first in range(0, len(x), 1 << 12):
            hierarchy.features(x[first : first + (1 << 12)])

    return interleaved([once], ROUNDS, time.process_time)[0]


def imports() -> list[Result]:
    """Of the package, and of the package with its first profile, beside the libraries."""
    commands = {
        "import steradian": "import steradian",
        "import and first profile": "import steradian as sr; import numpy as np; "
        "sr.profile(np.vstack([np.eye(3), -np.eye(3)[:2]]), levels=1)",
    }
    spent = np.array([[_import(code) for code in (_LIBRARIES, *commands.values())]
                      for _ in range(ROUNDS)])  # fmt: skip
    libraries, *ours = (Median.of(column) for column in spent.T)
    print(f"  numpy, scipy.special, scipy.linalg, ducc0: {quantity(libraries, 's')}")
    return [
        Result(f"{name}, vs the libraries", mine, libraries, IMPORTS, in_units_of_peer=True)
        for name, mine in zip(commands, ours, strict=True)
    ]


def _import(code: str) -> float:
    """Seconds of the processor that a fresh interpreter takes, bytecode written before."""
    timed = f"import time; a = time.process_time(); {code}; print(time.process_time() - a)"
    there = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    said = subprocess.run(
        [sys.executable, "-c", timed], env=there, capture_output=True, text=True, check=True
    )
    return float(said.stdout)


def scaling() -> None:
    """Seconds by the number of rows, and by how much a tenfold of rows takes longer."""
    print(f"{'rows':>10} {'profile':>10} " + " ".join(f"{each:>18}" for each in ASKED))
    last: dict[str, float] = {}
    for n in SIZES:
        x, cells = rows(n), []
        rounds = ROUNDS if n <= ROWS else 1
        for asked in ASKED:
            fit, answer = seconds_of(x, asked, rounds)
            grown = f" (×{answer / last[asked]:.1f})" if asked in last else ""
            cells.append(f"{quantity(answer, 's')}{grown}")
            last[asked] = float(answer)
            last["profile"] = float(fit)
        whole = quantity(last["profile"], "s")
        print(f"{n:>10} {whole:>10} " + " ".join(f"{cell:>18}" for cell in cells), flush=True)


def lines() -> dict[str, Callable[[], object]]:
    """What both trees are asked; profiles are made before the clock runs, or with it."""
    import steradian as sr
    from steradian.numerics.fisher_bingham.fit import fit_fisher_bingham

    out: dict[str, Callable[[], object]] = {}
    for n in (100_000, ROWS):
        x = rows(n)
        out[f"n = {n:.0e}: profile"] = partial(sr.profile, x, levels=LEVELS)
        for asked in ASKED:
            out[f"n = {n:.0e}: profile and {asked}"] = partial(_asked, sr.profile, x, asked)
    rng = np.random.default_rng(3)
    for name, offset in (("moderate", NEAR), ("concentrated", FAR)):
        m, scatter = moments(cloud(MANY, offset, rng))
        out[f"d = 768, {name}"] = partial(fit_fisher_bingham, m[None, None], scatter[None, None])
    return out


def _asked(profile: Any, x: Array, asked: str) -> object:
    return getattr(profile(x, levels=LEVELS), asked)()


def against(other: Path, rounds: int, asked: str = __file__) -> None:
    """Print how much quicker this tree is than another at the lines of a file."""
    workers = [Worker(HERE, asked), Worker(other, asked)]
    print(f"{'line':<38} {'this':>9} {'before':>9} {'quicker':>8}")
    for line, name in enumerate(workers[0].names):
        a, b = np.median(compared(workers, line, rounds), axis=0)
        print(f"{name:<38} {quantity(a, 's'):>9} {quantity(b, 's'):>9} {b / a:>8.1f}", flush=True)
    for worker in workers:
        worker.end()


if __name__ == "__main__":
    one_thread()
    if "--work" in sys.argv:
        work(list(lines().items()), time.process_time)
    elif len(sys.argv) > 1:
        against(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS)
    else:
        scaling()
        show(run())
