"""A start for Newton's method on nodes: the fit that grows from the data there.

From the uniform law, or from the level below, Newton's method creeps where the features of a
level raise modes far from the data on its way: angles of a concentration above ten, in pairs. Here
masses begin at the nodes near the data and come in elsewhere only when the law asks for them
(`primal_dual`), in a basis of the features that is white under the rows themselves.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from steradian.families.nodes.rules import Nodes
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.neighbours import neighbour_tree, spreads
from steradian.numerics.primal_dual import PrimalDual, primal_dual
from steradian.numerics.threads import one_thread

_STEPS = 150  # of the primal-dual method: two to three times what was ever needed
_NOWHERE = 1e4  # nats below the data at which no mass starts


@one_thread()
def grown_fit(nodes: Nodes, x: Array, weights: Array, phi: Array) -> Array | None:
    """Natural parameters (q,) of the fit on ``nodes`` to rows ``x`` (n, k) with features ``phi``.

    Rows are in the coordinates of the nodes' points, and their ``weights`` (n,) have sum one. None
    where masses on these nodes do not have the moments of the rows, or the rows do not tell the
    features apart.
    """
    mean = weights @ phi
    factor = np.linalg.qr(np.sqrt(weights)[:, None] * (phi - mean), mode="r")
    size = np.abs(np.diag(factor))
    if len(size) < phi.shape[1] or size.min() <= ROUNDOFF * size.max():
        return None
    white = np.asarray(lapack.dtrtrs(factor, (nodes.phi - mean).T, trans=1)[0]).T
    masses = _near(nodes, x)
    begin = PrimalDual(np.zeros(len(mean) + 1), masses, False, False, 0, 0.0)
    found = primal_dual(white, nodes.logs, begin, _STEPS)
    return np.asarray(lapack.dtrtrs(factor, found.theta[1:])[0]) if found.converged else None


def _near(nodes: Nodes, x: Array) -> Array:
    """Log masses of sum one at the nodes: a bell of one local spread about each row, (N,)."""
    distance, index = neighbour_tree(x).query(nodes.points)
    away = distance / spreads(x)[index]
    logs = nodes.logs - np.minimum(0.5 * away * away, _NOWHERE)
    return np.asarray(logs - np.logaddexp.reduce(logs))
