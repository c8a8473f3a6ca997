"""Spaces that the package does not know: an angle and a height, with rules or with draws alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array
from steradian.spaces import Rule

NODES = (16, 24, 32, 48, 64)


@dataclass(frozen=True)
class Slab:
    """An angle and a height between 0 and 1: points (cos, sin, height), whose mean is not zero."""

    ruled: bool = True
    d: int = 3
    dimension: int = 2
    name: str = "slab"
    point_name: str = "place"
    log_area: float = float(np.log(2.0 * np.pi))

    def refusal(self, x: Array) -> str:
        bad = np.flatnonzero((x[:, 2] < 0.0) | (x[:, 2] > 1.0))
        return f"row {bad[0]} has height {x[bad[0], 2]:g}" if len(bad) else ""

    def centre(self, x: Array, weights: Array) -> Array:
        return np.asarray(weights @ x)

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        return places(rng.uniform(0.0, 2.0 * np.pi, n), rng.random(n))

    def symmetry(self, rng: np.random.Generator) -> Array:
        turn = rng.uniform(0.0, 2.0 * np.pi)
        c, s = np.cos(turn), np.sin(turn)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def rules(self) -> int:
        return len(NODES) if self.ruled else 0

    def rule(self, rung: int) -> Rule:
        nodes = NODES[rung]
        height, weight = np.polynomial.legendre.leggauss(nodes // 2)
        turn = np.arange(nodes) * (2.0 * np.pi / nodes)
        angle, level = np.meshgrid(turn, 0.5 * (1.0 + height), indexing="ij")
        return Rule(places(angle.ravel(), level.ravel()), np.tile(0.5 * weight, nodes) / nodes)


def places(angle: Array, height: Array) -> Array:
    """Points of a slab, (n, 3)."""
    return np.stack([np.cos(angle), np.sin(angle), height], axis=1)
