"""Samples in files, of many spaces, designs and sizes, as Python and the command line read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import steradian as sr
from steradian.cli.app import run
from steradian.numerics.arrays import Array

Columns = dict[str, Array]


@dataclass(frozen=True)
class PrintedSample:
    """A table, and how it is asked for at either door."""

    columns: Callable[[np.random.Generator], Columns]
    coordinates: tuple[str, ...]
    levels: int
    options: tuple[str, ...] = ()  # of the command line
    weights: str | None = None
    axial: bool = False
    design: Callable[[Columns], sr.designs.Design | str | None] = lambda _: None

    @property
    def _in_radians(self) -> bool:
        return self.coordinates[0] in {"angle", "phi"}

    def table(self, seed: int) -> Columns:
        """The columns of the file."""
        return self.columns(np.random.default_rng([19, seed]))

    def written(self, folder: Path, seed: int) -> Path:
        """The file."""
        columns, path = self.table(seed), folder / "sample.csv"
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        lines = [",".join(columns), *(",".join(map(repr, row)) for row in rows)]
        path.write_text("\n".join(lines))
        return path

    def profile(self, path: Path, seed: int) -> sr.results.Profile:
        """As Python has it, afresh."""
        rows = sr.read_directions(
            path, columns=list(self.coordinates), weights=self.weights, axial=self.axial or None,
            normalize="x" in self.coordinates, degrees=False if self._in_radians else None,
        )  # fmt: skip
        return sr.profile(rows, levels=self.levels, design=self.design(self.table(seed)))

    def arguments(self, path: Path) -> list[str]:
        """Of ``steradian profile``."""
        own = ["--columns", ",".join(self.coordinates), "--levels", str(self.levels)]
        own += ["--weights", self.weights] if self.weights else []
        own += ["--axial"] if self.axial else []
        own += ["--normalize"] if "x" in self.coordinates else []
        own += ["--radians"] if self._in_radians else []
        return ["profile", str(path), *own, *self.options, "--quiet"]


def answered(arguments: list[str], *more: str) -> None:
    """Run a command line that succeeds."""
    assert run([*arguments, *more]) == 0


def _angles(law: Callable[[np.random.Generator], Array]) -> Callable[..., Columns]:
    return lambda rng: {"angle": law(rng)}


def _vectors(n: int, mean: list[float], spread: list[float] | float) -> Callable[..., Columns]:
    def drawn(rng: np.random.Generator) -> Columns:
        x = rng.normal(mean, spread, (n, len(mean)))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        return dict(zip("xyzuvwpq", x.T, strict=False))

    return drawn


def _weighted(law: Callable[..., Columns]) -> Callable[..., Columns]:
    def drawn(rng: np.random.Generator) -> Columns:
        columns = law(rng)
        n = len(next(iter(columns.values())))
        return {**columns, "w": rng.uniform(0.5, 1.5, n)}

    return drawn


def _grouped(law: Callable[..., Columns], size: int) -> Callable[..., Columns]:
    """Rows in groups that share a shift."""

    def drawn(rng: np.random.Generator) -> Columns:
        columns = law(rng)
        n = len(next(iter(columns.values())))
        nest = np.arange(n) // size
        moved = rng.normal(0.0, 0.3, nest.max() + 1)[nest]
        return {name: column + moved for name, column in columns.items()} | {"nest": nest}

    return drawn


def _dihedrals(n: int) -> Callable[..., Columns]:
    def drawn(rng: np.random.Generator) -> Columns:
        phi = rng.vonmises(-1.1, 4.0, n)
        return {"phi": phi, "psi": rng.vonmises(-0.7 + 0.8 * (phi + 1.1), 4.0)}

    return drawn


def _quaternions(n: int) -> Callable[..., Columns]:
    def drawn(rng: np.random.Generator) -> Columns:
        q = np.hstack([rng.normal(0.0, 0.2, (n, 3)), np.ones((n, 1))])
        q /= np.linalg.norm(q, axis=1, keepdims=True)
        return dict(zip(("qx", "qy", "qz", "qw"), q.T, strict=True))

    return drawn


XYZ = ("x", "y", "z")
ANGLE = ("angle",)
SAMPLES: dict[str, PrintedSample] = {
    "circle, few rows": PrintedSample(_angles(lambda g: g.vonmises(0.0, 1.0, 24)), ANGLE, 3),
    "circle, noise": PrintedSample(_angles(lambda g: g.uniform(0.0, 6.28, 80)), ANGLE, 4),
    "circle, two modes": PrintedSample(
        _angles(lambda g: np.append(g.vonmises(0.0, 8.0, 60), g.vonmises(2.6, 8.0, 25))), ANGLE, 4
    ),
    "circle, tight": PrintedSample(_angles(lambda g: g.vonmises(1.0, 300.0, 90)), ANGLE, 3),
    "circle, tight cluster and noise": PrintedSample(
        _angles(lambda g: np.append(g.vonmises(1.0, 200.0, 40), g.uniform(0.0, 6.28, 60))), ANGLE, 4
    ),
    "circle, importance": PrintedSample(
        _weighted(_angles(lambda g: g.vonmises(0.0, 1.0, 150))), ANGLE, 3,
        ("--design", "importance"), "w", design=lambda _: "importance",
    ),
    "circle, clusters": PrintedSample(
        _grouped(_angles(lambda g: g.vonmises(0.0, 2.0, 160)), 5), ANGLE, 3,
        ("--design", "clusters:nest"), design=lambda t: sr.designs.Clusters(t["nest"]),
    ),
    "circle, chain": PrintedSample(
        _angles(lambda g: np.convolve(g.normal(size=800), np.ones(4) / 2.0, "valid")), ANGLE, 2,
        ("--design", "chain"), design=lambda _: "chain",
    ),
    "sphere, few rows": PrintedSample(_vectors(26, [0.5, 0.0, 0.2], 1.0), XYZ, 3),
    "sphere, noise": PrintedSample(_vectors(300, [0.0, 0.0, 0.0], 1.0), XYZ, 4),
    "sphere, cubic": PrintedSample(_vectors(133, [0.3, 0.0, 0.0], [0.5, 1.0, 1.8]), XYZ, 4),
    "sphere, tight": PrintedSample(_vectors(70, [1.0, 0.0, 0.0], 0.12), XYZ, 2),
    "sphere, fixed weights": PrintedSample(
        _weighted(_vectors(120, [0.6, 0.0, 0.0], 1.0)), XYZ, 3, ("--design", "fixed"), "w",
        design=lambda _: "fixed",
    ),
    "sphere, descriptive": PrintedSample(
        _weighted(_vectors(60, [0.6, 0.0, 0.0], 1.0)), XYZ, 2, (), "w"
    ),
    "sphere, high levels": PrintedSample(_vectors(400, [0.4, 0.0, 0.0], 1.0), XYZ, 7),
    "sphere, many rows": PrintedSample(_vectors(12_000, [0.1, 0.0, 0.0], 1.0), XYZ, 4),
    "axes": PrintedSample(_vectors(60, [0.0, 0.0, 0.0], [1.0, 1.0, 1.6]), XYZ, 2, axial=True),
    "five dimensions": PrintedSample(
        _vectors(90, [0.5, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.5]), (*XYZ, "u", "v"), 2
    ),
    "two angles": PrintedSample(_dihedrals(70), ("phi", "psi"), 2),
    "rotations": PrintedSample(_quaternions(80), ("qx", "qy", "qz", "qw"), 1),
}  # fmt: skip
"""Twenty of them."""

QUICK = "circle, few rows", "circle, tight cluster and noise", "axes"
"""Those that every run of the tests looks at."""
