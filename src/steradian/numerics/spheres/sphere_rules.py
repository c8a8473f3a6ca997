"""Product rules for the uniform law on the unit spheres of R⁴ and R⁵."""

from __future__ import annotations

import numpy as np
from scipy.special import roots_jacobi

from steradian.numerics.arrays import Array


def three_sphere_rule(nodes: int, turned: int) -> tuple[Array, Array]:
    """Points (N, 4) and weights (N,), exact for polynomials of degree below ``nodes``.

    In the coordinates x = (√s e^{iα}, √(1-s) e^{iβ}) the uniform law is ds dα dβ. Of a polynomial
    in x of degree D only polynomials in s of degree D/2 outlive the sums over equispaced α and β,
    more than D of each; Gauss-Legendre nodes integrate those. Only the first ``turned`` of the
    α are taken: half of them where x and -x are the same.
    """
    z, weight = np.polynomial.legendre.leggauss(nodes // 4 + 1)
    turn = np.arange(nodes) * (2.0 * np.pi / nodes)
    s, alpha, beta = np.meshgrid(0.5 * (1.0 + z), turn[:turned], turn, indexing="ij")
    inner, outer = np.sqrt(s), np.sqrt(1.0 - s)
    points = np.stack(
        [inner * np.cos(alpha), inner * np.sin(alpha), outer * np.cos(beta), outer * np.sin(beta)],
        axis=-1,
    )
    return points.reshape(-1, 4), np.repeat(0.5 * weight, nodes * turned) / (nodes * turned)


def four_sphere_rule(nodes: int) -> tuple[Array, Array]:
    """Points (N, 5) and weights (N,), exact for polynomials of degree below ``nodes``.

    The height t along the last axis has the density ¾ (1 - t²), whose Gauss rule is a Gauss-Jacobi
    one; across it lies a three-sphere of radius √(1 - t²).
    """
    t, weight = roots_jacobi(nodes // 2 + nodes % 2, 1.0, 1.0)
    across, share = three_sphere_rule(nodes, nodes)
    radius = np.sqrt(1.0 - t * t)
    points = np.empty((len(t), len(share), 5))
    points[:, :, :4] = radius[:, None, None] * across
    points[:, :, 4] = t[:, None]
    return points.reshape(-1, 5), np.outer(weight / weight.sum(), share).ravel()
