"""The law of a sample on a mesh, which is refined while it is found.

Rounds of `primal_dual` on the nodes of a mesh, which is cut between them where the law asks for it.

A mode that forms about a far point can be narrower than any mesh made beforehand, so that no masses
at the nodes have the moments at all. Then the points themselves are nodes too, with a share of the
reference law that is released step by step while the mesh follows: see `anchored`.

A search begins beside the data, or at the law of the level below, which lacks only what the new
level adds, so that it takes ten steps where one that grows from the data takes a hundred. That law
is known by its parameters in harmonics of x, which hold few digits where data are tight: enough to
begin with, or else the data are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from steradian.families.meshes.frame import Framing
from steradian.families.meshes.mesh import MOST_PIECES, Mesh, Target, log_sum, nearness, worst
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.neighbours import spreads
from steradian.numerics.primal_dual import PrimalDual, primal_dual
from steradian.numerics.tolerances import BLURRED_START, MESH_CLOSE, RELEASED_MASS

Exponent = Callable[[Array], Array]
"""Log-density at points x (n, d), up to a constant: (n,)."""

_UNFELT = 60.0  # nats below the largest density at which resolution does not matter
_NOWHERE = 1e4  # nats below the data at which no mass starts
_MISSED = 1e-3  # share of its mass that a mesh may miss of a law to begin with
_ROWS = 4096  # points at a time
_CUTS = 12  # of the mesh that is made beforehand
_MOST_ENTRIES = 30_000_000  # numbers held at the nodes
_STEPS = 100  # of the primal-dual method between two looks at the mesh
_LEAST_STEPS = 12  # which are taken whatever they cost
_ROUNDS = 20
_MOST_STEPS = 400
COARSE = 3e-2  # share of the mass that the mesh may miss on the way
_MOST_ANCHORS = 600  # points, the most isolated ones
_RELEASE = 3.0  # nats by which the weight of the anchors falls
_MOST_ANCHORED = 1e10  # multiplications of an anchored search, of which circles take a hundredth


def beside_data(frame: Framing, mesh: Mesh, y: Array) -> PrimalDual:
    """Masses that fall off from the data at points ``y`` (n, d) of the frame."""
    near = nearness(frame, y, mesh)
    return _of_masses(mesh, mesh.log_weights.ravel() - np.minimum(0.5 * near * near, _NOWHERE))


def at_law(mesh: Mesh, exponent: Exponent) -> tuple[Mesh, PrimalDual]:
    """The law of ``exponent`` on a mesh cut until it sees it."""
    at = _log_densities(mesh, exponent)
    for _ in range(_CUTS):
        split = worst(mesh.errors_of(np.maximum(at, at.max() - _UNFELT))[0], _MISSED, room(mesh))
        if not split.any():
            break
        mesh, _ = mesh.split(split, at)
        at = _log_densities(mesh, exponent)
    return mesh, _of_masses(mesh, (at + mesh.log_weights).ravel())


def is_law(mesh: Mesh, exponent: Exponent) -> bool:
    """Whether parameters still hold a law, and not the rounding of one."""
    values = _log_densities(mesh, exponent)
    return bool(np.isfinite(values).all() and np.ptp(values) < BLURRED_START)


def _log_densities(mesh: Mesh, exponent: Exponent) -> Array:
    """Of the nodes, (k, m)."""
    x = mesh.basis.frame.down(mesh.points.reshape(-1, mesh.points.shape[2]))
    parts = [exponent(x[first : first + _ROWS]) for first in range(0, len(x), _ROWS)]
    return np.concatenate(parts).reshape(mesh.log_weights.shape)


def _of_masses(mesh: Mesh, log_mass: Array) -> PrimalDual:
    theta = np.zeros(mesh.features.shape[2] + 1)
    return PrimalDual(theta, log_mass - log_sum(log_mass), False, False, 0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Anchors:
    """Points of the data that are nodes too, with a weight of their own in the reference law."""

    features: Array  # (k, q)
    log_weights: Array  # (k,)

    @classmethod
    def none(cls, q: int) -> _Anchors:
        return cls(np.zeros((0, q)), np.zeros(0))

    def __len__(self) -> int:
        return len(self.log_weights)

    def released(self) -> _Anchors:
        return _Anchors(self.features, self.log_weights - _RELEASE)


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Where a search on a mesh stands."""

    mesh: Mesh
    at: PrimalDual  # masses of the nodes of the mesh, then of the anchors
    steps: int
    work: float


def search(
    mesh: Mesh,
    at: PrimalDual,
    most: float,
    anchors: _Anchors | None = None,
    *,
    leaves: bool = False,
) -> Search:
    """Primal-dual rounds, the mesh refined between them where the law asks for it.

    At most ``most`` multiplications, half of them for a first solution. ``leaves``: a mesh on which
    there is none is not refined.
    """
    held = _Anchors.none(mesh.features.shape[2]) if anchors is None else anchors
    aim = COARSE if len(held) else MESH_CLOSE
    work, steps, found = 0.0, 0, False
    for _ in range(_ROUNDS):
        g, log_weights = mesh.flat()
        nodes = np.vstack([g, held.features]) if len(held) else g
        left = (most if found else 0.5 * most) - work
        allowed = int(np.clip(left / (nodes.size * nodes.shape[1]), _LEAST_STEPS, _STEPS))
        at = primal_dual(nodes, np.append(log_weights, held.log_weights), at, allowed)
        work, steps, found = work + at.work, steps + at.steps, found or at.converged
        errors = mesh.errors(at.theta[1:])[0] if at.converged else _primal_errors(mesh, at)
        errors = errors * (1.0 - _mass_on_anchors(mesh, at))
        split = worst(errors, aim if at.converged else COARSE, room(mesh))
        tired = steps > _MOST_STEPS or work > (most if found else 0.5 * most)
        if tired or (leaves and at.lost) or ((at.converged or at.lost) and not split.any()):
            break
        if split.any():
            mesh, at, _ = refined(mesh, at, split)
    return Search(mesh, at, steps, work)


def anchored(mesh: Mesh, begin: PrimalDual, target: Target) -> Search:
    """The search with points of the data among the nodes, let go when the mesh has followed.

    With reference ν + ε P̂ the data themselves are masses that have the moments, so that a fit on
    the nodes exists whatever the mesh; as ε falls it tends to the fit on the mesh alone.
    """
    anchors = _anchors_for(mesh, target)
    masses = np.append(begin.log_mass, anchors.log_weights)
    now = Search(mesh, replace(begin, log_mass=masses), 0, 0.0)
    while now.work < _MOST_ANCHORED:
        found = search(now.mesh, now.at, _MOST_ANCHORED - now.work, anchors)
        now = replace(found, steps=now.steps + found.steps, work=now.work + found.work)
        if not now.at.converged:
            return now
        if _mass_on_anchors(now.mesh, now.at) < RELEASED_MASS:
            break
        anchors = anchors.released()
    free = replace(now.at, log_mass=now.at.log_mass[: now.mesh.nodes], converged=False)
    last = search(now.mesh, free, _MOST_ANCHORED)
    return replace(last, steps=now.steps + last.steps, work=now.work + last.work)


def _anchors_for(mesh: Mesh, target: Target) -> _Anchors:
    """The most isolated points, with their weights."""
    alone = spreads(mesh.basis.frame.chart(target.y))
    chosen = np.argsort(-alone, kind="stable")[:_MOST_ANCHORS]
    features = mesh.basis.at(target.y[chosen], target.f[chosen])
    return _Anchors(features, np.log(target.weights[chosen]))


def _mass_on_anchors(mesh: Mesh, at: PrimalDual) -> float:
    return float(min(1.0, np.exp(at.log_mass[mesh.nodes :]).sum()))


def _primal_errors(mesh: Mesh, at: PrimalDual) -> Array:
    density = _densities(mesh, at)
    return mesh.errors_of(np.maximum(density, density.max() - _UNFELT))[0]


def refined(mesh: Mesh, at: PrimalDual, split: BoolArray) -> tuple[Mesh, PrimalDual, IntArray]:
    """The mesh with some pieces cut; new nodes start from θ, not far above their parents.

    With it the pieces of which the last ones are parts.
    """
    density = _densities(mesh, at)
    finer, parents = mesh.split(split, density)
    given = at.theta[0] + finer.features[-len(parents) :] @ at.theta[1:]
    near = density[parents].max(axis=1, keepdims=True) + 1.0
    density = np.concatenate([density[~split], np.minimum(given, near)])
    masses = np.append((density + finer.log_weights).ravel(), at.log_mass[mesh.nodes :])
    return finer, replace(at, log_mass=masses), parents


def _densities(mesh: Mesh, at: PrimalDual) -> Array:
    """Log-density at the nodes of the mesh, (k, m)."""
    return at.log_mass[: mesh.nodes].reshape(mesh.log_weights.shape) - mesh.log_weights


def log_partition(mesh: Mesh, theta: Array) -> float:
    """ψ of the law θ (q,) on the nodes of a mesh."""
    g, log_weights = mesh.flat()
    return log_sum(g @ theta + log_weights)


def room(mesh: Mesh) -> int:
    """Pieces that may still be cut."""
    per_piece = mesh.features[0].size
    most = min(MOST_PIECES, _MOST_ENTRIES // per_piece)
    return max(0, (most - len(mesh)) // 3)
