"""Fewer rows with the same sums: Carathéodory's theorem, made to run.

Of n rows v_i (m,) with weights w_i at most m are kept, with weights that are not negative, so that
``Σ w v`` stays what it is. Rows are first taken together in 2m heaps of which half are kept, again
and again (Litterer and Lyons, Annals of Applied Probability 22, 2012): O(n m + m³ log n / m).
"""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array, IntArray


def recombined(v: Array, weights: Array) -> tuple[IntArray, Array]:
    """Rows of ``v`` (n, m) to keep, and their new weights, at most m of them.

    Examples
    --------
    >>> v = np.vander(np.linspace(-1.0, 1.0, 50), 4)
    >>> rows, w = recombined(v, np.full(50, 0.02))
    >>> len(rows) <= 4, bool(np.abs(w @ v[rows] - v.mean(axis=0)).max() < 1e-12)
    (True, True)
    """
    rows, w, most = np.arange(len(v)), weights.copy(), v.shape[1]
    total = weights @ v
    while len(rows) > 2 * most:
        first = np.linspace(0, len(rows), 2 * most + 1).astype(np.int64)[:-1]
        mass = np.add.reduceat(w, first)
        kept_v = v if len(rows) == len(v) else v[rows]
        means = np.add.reduceat(w[:, None] * kept_v, first) / mass[:, None]
        scale = _eliminated(means, mass) / mass
        each = np.repeat(scale, np.diff(np.append(first, len(rows))))
        kept = each > 0.0
        rows, w = rows[kept], (w * each)[kept]
    w = _eliminated(v[rows], w)
    rows, w = rows[w > 0.0], w[w > 0.0]
    better = w + np.linalg.lstsq(v[rows].T, total - w @ v[rows])[0]  # what the steps rounded
    return rows, better if (better > 0.0).all() else w


def _eliminated(v: Array, weights: Array) -> Array:
    """Weights (n,) of which at most m are not zero, with the same ``Σ w v`` for ``v`` (n, m)."""
    w, (n, m) = weights.copy(), v.shape
    if n <= m:
        return w
    null = np.linalg.qr(v, mode="complete")[0][:, m:]  # (n, n - m): vᵀ null = 0
    for k in range(null.shape[1] - 1, -1, -1):
        c = null[:, k]
        c = c if c.max() > 0.0 else -c
        at = np.where((c > 0.0) & (w > 0.0), w / np.where(c > 0.0, c, 1.0), np.inf)
        row = int(np.argmin(at))
        w = np.maximum(w - at[row] * c, 0.0)
        w[row] = 0.0
        null[:, :k] -= np.outer(c, null[row, :k] / c[row])
        null[row, :k] = 0.0
    return w
