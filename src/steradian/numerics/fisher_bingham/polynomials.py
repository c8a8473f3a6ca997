"""Means of polynomials under Fisher-Bingham laws, exactly.

Given a node s of the contour x is Gaussian, of complex mean and variances (see `integral`), so that
the mean of a polynomial under the law is a mean over the nodes of its means under Gaussians. These
are sums over the points of a rule for the standard Gaussian that is exact for polynomials of the
degree asked for: Stroud's of degree 3 and 5 (1971, E_n^{r²} 3-1 and 5-2).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw

HIGHEST_DEGREE = 5
_ENTRIES = 1 << 21  # complex coordinates and values that are held at once


def polynomial_means(
    law: FisherBinghamLaw, functions: Callable[[AnyArray], AnyArray], degree: int
) -> Array:
    """E f of polynomials f of at most this degree, (q,).

    ``functions`` gives their values (n, q) at complex points (n, d), off the sphere too.
    """
    z, share = _gaussian_rule(law.axes.shape[0], degree)
    v, weights, b = law.terms.v[0], law.terms.weights[0], law.terms.b[0]
    step = max(1, _ENTRIES // (len(share) * max(16, len(b) ** 2)))
    total: AnyArray = np.zeros(1)
    for rows in (slice(k, k + step) for k in range(0, len(v), step)):
        x = (b * v[rows])[:, None, :] + np.sqrt(v[rows])[:, None, :] * z
        values = functions(x.reshape(-1, len(b)) @ law.axes.T)
        total = total + np.outer(weights[rows], share).ravel() @ values
    return np.asarray(total.real)


def _gaussian_rule(d: int, degree: int) -> tuple[Array, Array]:
    """Points (N, d) and weights (N,) for the standard Gaussian of R^d, exact to this degree."""
    if degree > HIGHEST_DEGREE:
        raise NotImplementedError(f"a rule of degree {degree} for Gaussians: there is none")
    eye = np.eye(d)
    if degree <= 3:
        points = np.sqrt(d) * np.concatenate([eye, -eye])
        return points, np.full(2 * d, 0.5 / d)
    far, near = np.sqrt(d + 2.0), np.sqrt(0.5 * (d + 2.0))
    pairs = [
        near * (one * eye[i] + two * eye[j])
        for i, j in combinations(range(d), 2)
        for one in (1.0, -1.0)
        for two in (1.0, -1.0)
    ]
    points = np.concatenate([np.zeros((1, d)), far * eye, -far * eye, np.array(pairs)])
    alone, both = 0.5 * (4.0 - d) / (d + 2.0) ** 2, 1.0 / (d + 2.0) ** 2
    shares = [np.full(1, 2.0 / (d + 2.0)), np.full(2 * d, alone), np.full(len(pairs), both)]
    return points, np.concatenate(shares)
