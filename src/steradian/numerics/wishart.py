"""What sampling alone does to the log-determinant of a covariance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import digamma


def determinant_noise(rows: float, sizes: Sequence[int]) -> float:
    """Mean fall of ½ log det of normal covariances of so many coordinates each, if estimated.

    Of n rows about their own mean and divided by n, a covariance of k coordinates has
    ``E ½ log det = ½ log det + ½ Σ_{i=1}^k {ψ((n - i)/2) - log(n/2)}`` (Wishart's law: Anderson,
    An Introduction to Multivariate Statistical Analysis, 2003, section 7.5). NaN where n does not
    exceed k.

    Examples
    --------
    >>> round(determinant_noise(1500, [768]), 2), round(determinant_noise(1e8, [768]) * 2e8)
    (121.96, 296065)
    """
    fall = [0.5 * (np.log(0.5 * rows) - digamma(0.5 * (rows - np.arange(1, k + 1)))) for k in sizes]
    return float(sum(each.sum() for each in fall)) if rows > max(sizes) else float("nan")
