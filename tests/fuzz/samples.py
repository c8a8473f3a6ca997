"""Weighted samples of every shape, each from one integer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rng = np.random.Generator
Shape = Callable[[Rng, int, int], tuple[Array, str]]
"""(rng, n, d) → rows of any length, and what they are in a few words."""


@dataclass(frozen=True)
class Case:
    """A case of the fuzz: its number, and how it was cut down, if it was."""

    seed: int
    rows: int = 0  # of the sample, the first so many; 0 is all
    levels: int = 0  # highest level; 0 is what the seed says

    def __str__(self) -> str:
        cuts = [str(cut) for cut in (self.rows, self.levels)] if self.rows or self.levels else []
        return ":".join([str(self.seed), *cuts])

    @classmethod
    def parse(cls, text: str) -> Case:
        return cls(*(int(part) for part in text.split(":")))


@dataclass(frozen=True, eq=False)
class Sample:
    """Unit vectors, their weights and the level to fit."""

    x: Array
    weights: Array | None
    levels: int
    words: str
    sharpness: float  # one over the squared width of the narrowest cluster asked for

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def d(self) -> int:
        return int(self.x.shape[1])

    def __str__(self) -> str:
        return f"d={self.d} n={self.n} L={self.levels} {self.words}"

    def with_rows(self, x: Array, weights: Array | None) -> Sample:
        return replace(self, x=x, weights=weights)


def draw(case: Case) -> Sample:
    """The sample of one case, always the same one."""
    rng = np.random.default_rng(case.seed)
    d = _dimension(rng)
    fewest = 1.0 if rng.random() < 0.4 else 20.0
    n = round(float(np.exp(rng.uniform(np.log(fewest), np.log(2000.0)))))
    levels = _levels(rng, d)
    name = str(rng.choice(list(SHAPES)))
    rows, words = SHAPES[name](rng, n, d)
    x = unit(rows)
    weights, heavy = _weights(rng, len(x))
    if case.rows:
        x, weights = x[: case.rows], None if weights is None else weights[: case.rows]
    if weights is not None and not weights.any():
        weights = None
    told = " ".join(part for part in (name, words, heavy) if part)
    return Sample(x, weights, case.levels or levels, told, _asked_sharpness(words))


def unit(rows: Array) -> Array:
    """Rows of unit length; a row without one becomes the last axis."""
    lost = ~(np.abs(rows).max(axis=1) > 1e-200)
    rows = np.where(lost[:, None], np.eye(rows.shape[1])[-1], rows)
    rows = rows / np.abs(rows).max(axis=1, keepdims=True)
    for _ in range(2):
        rows = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.asarray(rows)


def rotation(rng: Rng, d: int) -> Array:
    """A uniform random rotation or reflection."""
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return np.asarray(q * np.sign(np.diag(r)))


def _dimension(rng: Rng) -> int:
    """Circles half of the time; the two-sphere, whose fits take longest, one time in six."""
    kind = rng.random()
    if kind < 2.0 / 3.0:
        return 2 if kind < 0.5 else 3
    return round(float(np.exp(rng.uniform(np.log(4.0), np.log(100.0)))))


def _levels(rng: Rng, d: int) -> int:
    """High levels three times in ten on the circle, once in ten on the sphere: seconds each."""
    if d > 3:
        return int(rng.integers(1, 3))
    low = 0.7 if d == 2 else 0.9
    return int(rng.integers(1, 6)) if rng.random() < low else int(rng.integers(6, 13))


def _kappa(rng: Rng) -> float:
    """A concentration from nothing to 1e8."""
    return 0.0 if rng.random() < 0.05 else float(10.0 ** rng.uniform(-2.0, 8.0))


def _asked_sharpness(words: str) -> float:
    told = [float(part[6:]) for part in words.split() if part.startswith("kappa=")]
    return max(told, default=0.0)


def _cloud(rng: Rng, n: int, centre: Array, kappa: float) -> Array:
    """Gaussian about ``centre`` before it is brought to length one."""
    noise = rng.standard_normal((n, len(centre)))
    return noise if kappa == 0.0 else centre + noise / np.sqrt(kappa)


def _uniform(rng: Rng, n: int, d: int) -> tuple[Array, str]:
    return rng.standard_normal((n, d)), ""


def _cluster(rng: Rng, n: int, d: int) -> tuple[Array, str]:
    kappa = _kappa(rng)
    return _cloud(rng, n, unit(rng.standard_normal((1, d)))[0], kappa), f"kappa={kappa:.3g}"


def _clusters(rng: Rng, n: int, d: int) -> tuple[Array, str]:
    many = int(rng.integers(2, 6))
    shares = rng.multinomial(n, rng.dirichlet(np.ones(many)))
    kappas = [_kappa(rng) for _ in range(many)] if rng.random() < 0.5 else [_kappa(rng)] * many
    centres = unit(rng.standard_normal((many, d)))
    parts = [
        _cloud(rng, int(share), centre, kappa)
        for share, centre, kappa in zip(shares, centres, kappas, strict=True)
    ]
    told = " ".join(f"kappa={kappa:.3g}" for kappa in dict.fromkeys(kappas))
    return np.concatenate(parts), f"{'+'.join(str(share) for share in shares)} {told}"


def _outlier(rng: Rng, n: int, d: int) -> tuple[Array, str]:
    """A cluster and one or two rows far from it."""
    rows, words = _cluster(rng, n, d)
    few = int(rng.integers(1, 3))
    return np.concatenate([rows, rng.standard_normal((few, d))]), f"{words} and {few} apart"


def _great_circle(rng: Rng, n: int, d: int) -> tuple[Array, str]:
    """Directions of a plane, off it by nothing or by some noise."""
    plane = rotation(rng, d)[:2]
    off = 0.0 if rng.random() < 0.3 else float(10.0 ** rng.uniform(-9.0, 0.0))
    rows = rng.standard_normal((n, 2)) @ plane + off * rng.standard_normal((n, d))
    return rows, f"off={off:.1e}"


def _small_circle(rng: Rng, n: int, d: int) -> tuple[Array, str]:
    """Directions at one angle from an axis, nearly."""
    height = float(rng.uniform(-0.99, 0.99))
    off = 0.0 if rng.random() < 0.3 else float(10.0 ** rng.uniform(-8.0, -1.0))
    rows = unit(rng.standard_normal((n, d)))
    rows[:, 0] = 0.0
    rows = np.sqrt(1.0 - height**2) * unit(rows)
    rows[:, 0] = height
    rows = (rows + off * rng.standard_normal((n, d))) @ rotation(rng, d)
    return rows, f"height={height:.3g} off={off:.1e}"


def _lattice(rng: Rng, n: int, d: int) -> tuple[Array, str]:
    """Few values per coordinate: whole degrees on the circle, small integers elsewhere."""
    if d == 2:
        step = int(rng.choice([1, 5, 15, 30, 45, 60, 90]))
        angle = np.deg2rad(step * rng.integers(0, 360 // step, n))
        return np.stack([np.cos(angle), np.sin(angle)], axis=1), f"step={step}"
    reach = int(rng.integers(1, 5))
    return rng.integers(-reach, reach + 1, (n, d)).astype(np.float64), f"reach={reach}"


def _duplicates(rng: Rng, n: int, d: int) -> tuple[Array, str]:
    """Few distinct directions, each many times, or nearly so."""
    distinct = int(rng.integers(1, min(n, 40) + 1))
    off = 0.0 if rng.random() < 0.6 else float(10.0 ** rng.uniform(-15.0, -6.0))
    points = unit(rng.standard_normal((distinct, d)))
    rows = points[rng.integers(0, distinct, n)] + off * rng.standard_normal((n, d))
    return rows, f"distinct={distinct} off={off:.1e}"


def _antipodes(rng: Rng, n: int, d: int) -> tuple[Array, str]:
    """An axis: each row from either end, by equal or unequal chance."""
    rows, words = _cluster(rng, n, d)
    share = float(rng.choice([0.5, rng.random()]))
    return rows * np.where(rng.random(n) < share, 1.0, -1.0)[:, None], f"{words} share={share:.2f}"


def _arc(rng: Rng, n: int, d: int) -> tuple[Array, str]:
    """A piece of a great circle with noise across it."""
    length, off = float(10.0 ** rng.uniform(-4.0, 0.7)), float(10.0 ** rng.uniform(-6.0, -0.5))
    angle = length * rng.random(n)
    rows = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ rotation(rng, d)[:2]
    return rows + off * rng.standard_normal((n, d)), f"length={length:.2g} off={off:.1e}"


def _axes(rng: Rng, n: int, d: int) -> tuple[Array, str]:
    """Coordinate axes of either sign, and some noise rows: poles and the date line."""
    rows = np.eye(d)[rng.integers(0, d, n)] * rng.choice([-1.0, 1.0], n)[:, None]
    free = rng.random(n) < rng.random()
    rows[free] = rng.standard_normal((int(free.sum()), d))
    return rows, f"free={int(free.sum())}"


SHAPES: dict[str, Shape] = {
    "uniform": _uniform,
    "cluster": _cluster,
    "clusters": _clusters,
    "outlier": _outlier,
    "great-circle": _great_circle,
    "small-circle": _small_circle,
    "lattice": _lattice,
    "duplicates": _duplicates,
    "antipodes": _antipodes,
    "arc": _arc,
    "axes": _axes,
}


def _weights(rng: Rng, n: int) -> tuple[Array | None, str]:
    """No weights, or weights of some kind and their name."""
    kind = str(rng.choice(["", "", "", "exponential", "lognormal", "extreme", "one", "zeros"]))
    if kind == "":
        return None, ""
    if kind == "exponential":
        weights = rng.exponential(size=n) + 1e-3
    elif kind == "lognormal":
        weights = np.exp(rng.uniform(0.5, 4.0) * rng.standard_normal(n))
    elif kind == "extreme":
        weights = 10.0 ** rng.uniform(-300.0, 300.0, n)
    elif kind == "one":
        weights = np.ones(n)
        weights[rng.integers(n)] = 10.0 ** rng.uniform(0.0, 20.0)
    else:
        weights = np.where(rng.random(n) < 0.3, 0.0, rng.exponential(size=n))
    return weights * 10.0 ** (0.0 if kind == "extreme" else rng.uniform(-280.0, 280.0)), kind
