"""The mean of a kernel over two draws of one Fisher-Bingham law, against a double sum."""

from __future__ import annotations

import numpy as np
import pytest

from steradian.numerics.fisher_bingham.integral import fisher_bingham
from steradian.numerics.fisher_bingham.pair import mean_exponential
from steradian.numerics.tolerances import KERNEL_PAIRS

NODES = 1 << 12


@pytest.mark.parametrize(("beta", "b"), [
    ([0.0, 0.0], [3.0, -1.0]), ([0.0, -40.0], [5.0, 0.0]), ([0.0, -9e3], [4e3, 1.5e4]),
    ([0.0, -1e4], [0.0, 1.9e4]),  # off by 6e-3 where the contour ended before the integrand did
])  # fmt: skip
@pytest.mark.parametrize("kappa", [0.5, 4.0, 18.0])
def test_double_sum_on_the_circle(beta: list[float], b: list[float], kappa: float) -> None:
    """Equal nodes, of which ten fall within the narrowest width of these laws."""
    angle = 2.0 * np.pi * np.arange(NODES) / NODES
    x = np.stack([np.cos(angle), np.sin(angle)])
    height = np.array(b) @ x + np.array(beta) @ x**2
    p = np.exp(height - height.max())
    p /= p.sum()
    kernel = np.fft.fft(np.exp(kappa * (np.cos(angle) - 1.0))).real  # its convolution is diagonal
    want = np.log((np.abs(np.fft.fft(p)) ** 2 @ kernel) / NODES) + kappa
    psi = fisher_bingham(np.array([beta]), np.array([b])).psi[0]
    value, error = mean_exponential(np.array(beta), np.array(b), kappa, float(psi))
    assert error < 1e-9
    assert value == pytest.approx(want, abs=error + 1e-13 * abs(psi) + 1e-12)


def test_two_narrow_modes_are_not_believed() -> None:
    """The contour through one saddle misses a mode of the pair: its grids disagree by far."""
    beta, b = np.array([0.0, -3e3]), np.array([0.0, 2e3])
    psi = float(fisher_bingham(beta[None], b[None]).psi[0])
    assert mean_exponential(beta, b, 18.0, psi)[1] > 1e3 * KERNEL_PAIRS
