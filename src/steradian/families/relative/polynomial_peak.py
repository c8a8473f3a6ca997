"""The highest value of a polynomial on a unit sphere, by ascent from the highest of many points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.families.nodes.rules import Nodes
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import COMPLEX_STEP

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

_STARTS = 12


def highest_on_sphere(hierarchy: Hierarchy, lam: Array, nodes: Nodes) -> float:
    """Max lam · φ(x) as far as ascent from the highest nodes finds it."""
    from scipy.optimize import minimize  # its module is slow to import

    q, d = len(lam), hierarchy.space.d
    values = nodes.phi[:, :q] @ lam
    best = float(values.max())
    steps = 1j * COMPLEX_STEP * np.eye(d)

    def down(y: Array) -> tuple[float, Array]:
        length = float(np.linalg.norm(y))
        x = y / length
        at = hierarchy.features(x + steps)[:, :q] @ lam
        slope = at.imag / COMPLEX_STEP
        return -float(at[0].real), -(slope - (slope @ x) * x) / length

    for start in nodes.points[np.argsort(values)[-_STARTS:]]:
        best = max(best, -float(minimize(down, start, jac=True, method="L-BFGS-B").fun))
    return best
