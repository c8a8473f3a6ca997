"""A sample that streams and clusters are tried on, and the sums of all its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

import steradian as sr
from steradian.numerics.arrays import Array

H = sr.Harmonics(3, 3)
N = 2500


def points(n: int, d: int = 3, seed: int = 0) -> Array:
    x = np.random.default_rng(seed).standard_normal((n, d)) + 0.4
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x[0], x[-1] = np.eye(d)[-1], -np.eye(d)[-1]
    return x


X = points(N)
W = np.random.default_rng(1).gamma(0.5, size=N)
LABELS = np.random.default_rng(2).choice(["north", "south", "é/t"], N)
FRAME = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "z": X[:, 2], "w": W, "site": LABELS})
TABLE = pa.Table.from_pandas(FRAME)


def whole(x: Array = X, w: Array | None = W) -> sr.Moments:
    return sr.Moments.from_directions(sr.Directions(x, w), H)


def assert_same(got: sr.Moments, want: sr.Moments, tolerance: float = 1e-12) -> None:
    """Equal to rounding of sums over the sample, each relative to its total weight."""
    assert (got.hierarchy, got.n) == (want.hierarchy, want.n)
    scale = {"total_sq": want.weight_sq, "weight_sq": want.weight_sq, "mean": 1.0}
    for name in ("weight", "weight_sq", "total", "total_sq", "mean", "scatter"):
        atol = tolerance * scale.get(name, want.weight)
        np.testing.assert_allclose(
            getattr(got, name), getattr(want, name), rtol=0, atol=atol, err_msg=name
        )
