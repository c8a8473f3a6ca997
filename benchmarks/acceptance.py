"""How many proposals the exact sampler of Fisher-Bingham laws accepts, and its time per draw."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

import steradian as sr
from timing import one_thread, quantity

Array = NDArray[np.float64]

DIMENSIONS = (3, 10, 100, 1024)
ENTRIES = 2_000_000  # numbers drawn per law


def laws(d: int, rng: np.random.Generator) -> dict[str, tuple[Array, Array]]:
    """η and B: |η| = d, eigenvalues of B spread evenly over 2 d; then sharp ones of size 1e9."""
    axes = np.linalg.qr(rng.standard_normal((d, d)))[0]
    spread = (axes * np.linspace(-2.0 * d, 0.0, d)) @ axes.T
    quadratic = 0.5 * (spread + spread.T)
    linear = rng.standard_normal(d)
    linear *= d / np.linalg.norm(linear)
    none, flat = np.zeros(d), np.zeros((d, d))
    return {
        "uniform": (none, flat),
        "von Mises-Fisher": (linear, flat),
        "Bingham": (none, quadratic),
        "generic": (linear, quadratic),
        "point": (1e9 * linear / d, flat),
        "girdle": (none, -1e9 * np.outer(axes[0], axes[0])),
        "thin circle": (1e9 * axes[0], -1e9 * np.outer(axes[0], axes[0])),
        "two poles": (none, 1e9 * np.outer(axes[0], axes[0])),
    }


def main() -> None:
    """One line per dimension and law."""
    rng = np.random.default_rng(0)
    print(f"{'d':>5}  {'law':<16} {'accepted':>8}  per draw")
    for d in DIMENSIONS:
        draws = max(1000, min(50_000, ENTRIES // d))
        for name, (eta, B) in laws(d, rng).items():
            law = sr.FisherBingham(eta, B).contour
            began = time.perf_counter()
            _, rate = law.draws(draws, rng)
            each = (time.perf_counter() - began) / draws
            print(f"{d:>5}  {name:<16} {rate:>8.3f}  {quantity(each, 's')}")


if __name__ == "__main__":
    one_thread()
    main()
