"""Two usual measures of how evenly vectors fill their space, to hold beside the gaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def average_cosine(x: Array) -> float:
    """Mean cosine of two different rows of unit vectors (n, d): (n R² - 1) / (n - 1).

    R is the mean resultant length, so that level 1 sees the same number and no other
    (Ethayarajh 2019, doi:10.18653/v1/D19-1006, calls it anisotropy).
    """
    n = len(x)
    total = x.sum(axis=0)
    return float((total @ total - n) / (n * (n - 1)))


def iso_score(x: Array) -> float:
    """IsoScore of a cloud of points (n, d): 1 for equal variances, 0 for one direction only.

    Rudman, Gillman, Rayne and Eickhoff (2022), "IsoScore: Measuring the Uniformity of Embedding
    Space Utilization", Findings of ACL, doi:10.18653/v1/2022.findings-acl.262. With the variances v
    along the principal axes scaled to length √d, the isotropy defect is
    δ = |v - 1| / √{2 (d - √d)}, the share of the dimensions in use is
    φ = {d - δ² (d - √d)}² / d², and the score is (d φ - 1) / (d - 1).
    """
    d = x.shape[1]
    variances = np.linalg.eigvalsh(np.cov(x.T))
    scaled = np.sqrt(d) * variances / np.linalg.norm(variances)
    room = d - np.sqrt(d)
    defect = np.linalg.norm(scaled - 1.0) / np.sqrt(2.0 * room)
    share = (d - defect**2 * room) ** 2 / d**2
    return float((d * share - 1.0) / (d - 1.0))
