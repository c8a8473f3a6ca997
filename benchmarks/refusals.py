"""How long refusals take: hostile samples on every space, few rows, ties and tight clusters.

``python benchmarks/refusals.py [--cases N] [--seed S]`` profiles one sample after the other, each
in a process of its own, so that no rule or matrix is known from a case before, and prints quantiles
of the seconds of the processor that refusals and fits took, and the slowest.
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steradian as sr
from samples import unit

Array = NDArray[np.float64]
Rng = np.random.Generator

SHOWN = 12  # of the slowest refusals
LIMIT = 120  # seconds of a case
BUFFER = 1 << 16


@dataclass(frozen=True)
class Question:
    """What is profiled."""

    words: str
    data: sr.Directions
    options: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What became of it."""

    case: int
    words: str
    said: str  # class of the error and level, or "fit"
    seconds: float  # of the processor
    waited: float  # by the clock


def cloud(rng: Rng, n: int, d: int) -> Array:
    """Unit vectors: anywhere, in clusters of any concentration, tied, or on something thin."""
    kind = rng.integers(0, 8)
    x = rng.standard_normal((n, d))
    if kind in (1, 2, 3):
        many = 1 if kind == 1 else int(rng.integers(2, 5))
        centres = rng.standard_normal((many, d))
        kappa = 10.0 ** rng.uniform(0.0, 8.0)
        x = unit(centres)[rng.integers(0, many, n)] + x / np.sqrt(kappa)
        if kind == 3:
            x[:1] = rng.standard_normal((1, d))
    elif kind == 4:
        distinct = int(rng.integers(1, 15))
        x = x[rng.integers(0, min(distinct, n), n)]
    elif kind == 5:
        x[:, int(rng.integers(2, d + 1)) :] *= 0.0 if rng.random() < 0.5 else 1e-6
    elif kind == 6:
        x = unit(x)
        x[:, 0] = float(rng.uniform(-0.9, 0.9))
        x[:, 1:] *= np.sqrt(1.0 - x[0, 0] ** 2) / np.linalg.norm(x[:, 1:], axis=1, keepdims=True)
    elif kind == 7:
        x = np.round(1.5 * x)
        x[np.abs(x).max(axis=1) == 0.0] = np.eye(d)[0]
    return unit(x)


def angles(rng: Rng, n: int, k: int) -> Array:
    """Rows of k angles in the same ways."""
    return np.stack([np.arctan2(*cloud(rng, n, 2).T) for _ in range(k)], axis=1)


def few(rng: Rng, most: float = 200.0) -> int:
    """Rows, mostly few."""
    return round(float(np.exp(rng.uniform(0.0, np.log(most)))))


def circle(rng: Rng) -> Question:
    n, levels = few(rng), int(rng.integers(1, 25))
    return Question(f"circle n={n} L={levels}", sr.Directions(cloud(rng, n, 2)), {"levels": levels})


def sphere(rng: Rng) -> Question:
    n, levels = few(rng), int(rng.integers(2, 11))
    return Question(f"sphere n={n} L={levels}", sr.Directions(cloud(rng, n, 3)), {"levels": levels})


def many_dimensions(rng: Rng) -> Question:
    d = round(float(np.exp(rng.uniform(np.log(4.0), np.log(1500.0)))))
    n = few(rng, 2.0 * d)
    return Question(f"d={d} n={n} L=2", sr.Directions(cloud(rng, n, d)), {"levels": 2})


def axes(rng: Rng) -> Question:
    d, n, levels = int(rng.integers(2, 6)), few(rng), int(rng.integers(1, 4))
    data = sr.Directions(cloud(rng, n, d), space=sr.Axes(d))
    return Question(f"axes d={d} n={n} L={levels}", data, {"levels": levels})


def rotations(rng: Rng) -> Question:
    n, levels = few(rng), int(rng.integers(1, 4))
    data = sr.Directions.from_quaternions(cloud(rng, n, 4))
    return Question(f"rotations n={n} L={levels}", data, {"levels": levels})


def torus(rng: Rng) -> Question:
    k, n, levels = int(rng.integers(2, 4)), few(rng), int(rng.integers(1, 4))
    harmonics = rng.random() < 0.5
    kind = sr.TorusHarmonics if harmonics else sr.Interactions
    hierarchy = kind(k, levels) if harmonics else kind(k, min(levels, k))
    data = sr.Directions.from_dihedrals(angles(rng, n, k))
    return Question(f"{hierarchy} n={n}", data, {"hierarchy": hierarchy})


def structured(rng: Rng) -> Question:
    d, n = int(rng.integers(4, 40)), few(rng)
    hierarchies: list[object] = [
        sr.Diagonal(d),
        sr.Blocks([2] * (d // 2) + [1] * (d % 2)),
        sr.Zonal(np.eye(d)[0], int(rng.integers(1, 9))),
        sr.LowRank(np.eye(d)[:, :2], int(rng.integers(1, 7))),
        sr.LowRank("pca", int(rng.integers(1, 5)), k=3),
        sr.Sketch(d, 20, 3, seed=0),
    ]
    hierarchy = hierarchies[int(rng.integers(len(hierarchies)))]
    words = f"{type(hierarchy).__name__} d={d} n={n}"
    return Question(words, sr.Directions(cloud(rng, n, d)), {"hierarchy": hierarchy})


def relative(rng: Rng) -> Question:
    n, levels = few(rng), int(rng.integers(1, 5))
    centre = unit(rng.standard_normal((1, 3)))[0]
    references: list[object] = [
        sr.Mask(bands=[(-90.0, float(rng.uniform(-60.0, -1.0)))]),
        lambda v: np.exp(3.0 * v @ centre),
    ]
    x = cloud(rng, n, 3)
    x[:, 2] = np.abs(x[:, 2])
    reference = references[int(rng.integers(2))]
    words = f"relative n={n} L={levels} {type(reference).__name__}"
    return Question(words, sr.Directions(x), {"levels": levels, "reference": reference})


def harmonics(rng: Rng) -> Question:
    d, n, levels = int(rng.integers(4, 6)), few(rng), 3
    words = f"harmonics d={d} n={n} L={levels}"
    hierarchy = sr.Harmonics(d, levels)
    return Question(words, sr.Directions(cloud(rng, n, d)), {"hierarchy": hierarchy})


KINDS: tuple[Callable[[Rng], Question], ...] = (
    circle,
    sphere,
    sphere,
    many_dimensions,
    axes,
    rotations,
    torus,
    structured,
    relative,
    harmonics,
)


def question(case: int) -> Question:
    """The sample of a number, always the same."""
    rng = np.random.default_rng([case, 34])
    return KINDS[case % len(KINDS)](rng)


def answer(case: int) -> Answer:
    """Ask, in this process."""
    words, said = f"{KINDS[case % len(KINDS)].__name__}", "fit"
    began, clock = time.process_time(), time.perf_counter()
    try:
        asked = question(case)
        words = asked.words
        began, clock = time.process_time(), time.perf_counter()
        sr.profile(asked.data, **asked.options)
    except sr.SteradianError as error:
        said = f"{type(error).__name__} {getattr(error, 'level', '')}".strip()
    return Answer(case, words, said, time.process_time() - began, time.perf_counter() - clock)


def alone(case: int) -> Answer:
    """Ask in a copy of this process, which knows nothing of other cases."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(LIMIT)
        with os.fdopen(writing, "wb") as pipe:
            try:
                pickle.dump(answer(case), pipe)
            except Exception as error:
                pickle.dump(Answer(case, "", f"foreign {error!r}", 0.0, 0.0), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read(BUFFER)
    _, status, used = os.wait4(child, 0)
    if status:
        return Answer(case, question(case).words, "ended", used.ru_utime + used.ru_stime, LIMIT)
    return pickle.loads(told)


def quantiles(seconds: list[float]) -> str:
    marks = np.quantile(seconds, [0.5, 0.9, 0.99, 1.0])
    over = int(np.sum(np.array(seconds) > 1.0))
    return "".join(f"{mark:9.3f}" for mark in marks) + f"{len(seconds):8d}{over:8d}"


def told(answers: list[Answer]) -> str:
    """Quantiles and the slowest."""
    refused = [one for one in answers if one.said != "fit"]
    lines = [f"{'processor seconds':24}     50 %     90 %     99 %      max   cases   > 1 s"]
    kinds = defaultdict(list)
    for one in answers:
        kinds[one.said.split()[0]].append(one.seconds)
    lines += [f"{kind:24}{quantiles(taken)}" for kind, taken in sorted(kinds.items())]
    if refused:
        lines.append(f"{'all refusals':24}{quantiles([one.seconds for one in refused])}")
    lines.append("\nslowest refusals")
    for one in sorted(refused, key=lambda each: -each.seconds)[:SHOWN]:
        lines.append(f"{one.seconds:8.2f} s  case {one.case}  {one.words}  {one.said}")
    lines.append("\nslowest fits")
    fits = [one for one in answers if one.said == "fit"]
    for one in sorted(fits, key=lambda each: -each.seconds)[:SHOWN]:
        lines.append(f"{one.seconds:8.2f} s  case {one.case}  {one.words}")
    lines.append(f"\n{Counter(one.said for one in answers)}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="one case, in this process")
    parser.add_argument("--out", help="where every answer is written, a line each")
    options = parser.parse_args()
    if options.case is not None:
        print(answer(options.case))
        return
    sr.profile(unit(np.random.default_rng(0).standard_normal((9, 3))))  # imports belong to no case
    answers = []
    for case in range(options.seed, options.seed + options.cases):
        answers.append(alone(case))
        if options.out:
            with open(options.out, "a") as out:
                print(
                    *[repr(v) for v in vars(answers[-1]).values()], sep="\t", file=out, flush=True
                )
    print(told(answers))


if __name__ == "__main__":
    main()
