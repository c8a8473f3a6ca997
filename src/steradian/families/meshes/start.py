"""Where a search on a mesh begins: beside the data, or at the law of the level below.

The law of the level below lacks only what the new level adds, so that a search from it takes ten
steps where one that grows from the data takes a hundred. It is known by its parameters in harmonics
of x, which hold few digits where data are tight: enough to begin with, or else the data are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steradian.families.meshes.data_mesh import nearness
from steradian.families.meshes.framing import Framing
from steradian.families.meshes.mesh import Mesh, log_sum, worst
from steradian.families.meshes.primal_dual import PrimalDual
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import BLURRED_START

Exponent = Callable[[Array], Array]
"""Log-density at points x (n, d), up to a constant: (n,)."""

UNFELT = 60.0  # nats below the largest density at which resolution does not matter
_NOWHERE = 1e4  # nats below the data at which no mass starts
_MISSED = 1e-3  # share of its mass that a mesh may miss of a law to begin with
_ROWS = 4096  # points at a time
_CUTS = 12  # of the mesh that is made beforehand


def beside_data(frame: Framing, mesh: Mesh, y: Array) -> PrimalDual:
    """Masses that fall off from the data at points ``y`` (n, d) of the frame."""
    near = nearness(frame, y, mesh)
    return _of_masses(mesh, mesh.log_weights.ravel() - np.minimum(0.5 * near * near, _NOWHERE))


def at_law(mesh: Mesh, exponent: Exponent, most: Callable[[Mesh], int]) -> tuple[Mesh, PrimalDual]:
    """The law of ``exponent`` on a mesh cut until it sees it; ``most`` pieces may still be cut."""
    at = _densities(mesh, exponent)
    for _ in range(_CUTS):
        split = worst(mesh.errors_of(np.maximum(at, at.max() - UNFELT))[0], _MISSED, most(mesh))
        if not split.any():
            break
        mesh, _ = mesh.split(split, at)
        at = _densities(mesh, exponent)
    return mesh, _of_masses(mesh, (at + mesh.log_weights).ravel())


def is_law(mesh: Mesh, exponent: Exponent) -> bool:
    """Whether parameters still hold a law, and not the rounding of one."""
    values = _densities(mesh, exponent)
    return bool(np.isfinite(values).all() and np.ptp(values) < BLURRED_START)


def _densities(mesh: Mesh, exponent: Exponent) -> Array:
    """Of the nodes, (k, m)."""
    x = mesh.basis.frame.down(mesh.points.reshape(-1, mesh.points.shape[2]))
    parts = [exponent(x[first : first + _ROWS]) for first in range(0, len(x), _ROWS)]
    return np.concatenate(parts).reshape(mesh.log_weights.shape)


def _of_masses(mesh: Mesh, log_mass: Array) -> PrimalDual:
    theta = np.zeros(mesh.features.shape[2] + 1)
    return PrimalDual(theta, log_mass - log_sum(log_mass), False, False, 0, 0.0)
