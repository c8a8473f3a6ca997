"""How good a fit is that was found on one rule: what it is on the next finer one, with a margin.

Grids, nodes of any rule, balls and meshes ask the same. Let ψ' be the log-partition of the same
parameters on the finer rule, and δ' the decrement that Newton's method has there: the deficit is
off by ψ' - ψ, and by ½ δ'² for what the finer rule would still gain.
"""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import RULE_MARGIN


def integration_error(apart: Array, squared: Array, margin: float = RULE_MARGIN) -> Array:
    """Nats (B,) by which deficits may be off, of |ψ' - ψ| and δ'² (B,).

    What two rules differ by is stated with a margin; where they converge slowly with a larger one.
    """
    return np.asarray(np.maximum(margin * apart, 0.5 * squared))
