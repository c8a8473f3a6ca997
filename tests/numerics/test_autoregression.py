"""Autoregressive laws on the circle: their moments and logarithms, on a fine grid."""

from __future__ import annotations

import numpy as np
import pytest

from steradian.numerics.spheres.autoregression import autoregressive_parameters

NODES = 4096
ANGLES = np.arange(NODES) * (2.0 * np.pi / NODES)


@pytest.mark.parametrize("level", [1, 2, 4, 7])
def test_parameters_are_waves_of_the_logarithm(level: int) -> None:
    """Of 1 / |A|² with known zeros, whose moments and waves the grid integrates."""
    rng = np.random.default_rng(level)
    zeros = 0.8 * rng.uniform(size=(5, level)) * np.exp(2j * np.pi * rng.uniform(size=(5, level)))
    density = 1.0 / np.abs(np.prod(1.0 - zeros[:, :, None] * np.exp(1j * ANGLES), axis=1)) ** 2
    density /= density.mean(axis=1, keepdims=True)
    k = np.repeat(np.arange(1, level + 1), 2)
    waves = np.sqrt(2.0) * np.cos(
        np.outer(k, ANGLES) - 0.5 * np.pi * np.tile([[0], [1]], (level, 1))
    )
    found = autoregressive_parameters(density @ waves.T / NODES)
    # a zero at 0.8 leaves 0.2 of itself to the last of at most seven steps: condition 5⁷, 1e5
    np.testing.assert_allclose(found, np.log(density) @ waves.T / NODES, rtol=0.0, atol=1e-10)


def test_moments_of_no_law_harm_no_other() -> None:
    rng = np.random.default_rng(0)
    m = 0.2 * rng.standard_normal((3, 6))
    alone = autoregressive_parameters(m[[0, 2]])
    m[1] = [np.sqrt(2.0), 0.0, 0.0, 0.0, 0.0, 0.0]  # of one point by its mean, of none by the rest
    np.testing.assert_array_equal(autoregressive_parameters(m)[[0, 2]], alone)
