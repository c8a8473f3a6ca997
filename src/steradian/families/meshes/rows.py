"""Fits that Newton's method on a grid does not find, on pieces of the space that follow the law.

One sample at a time: tight clusters, whose higher moments a grid's features cannot hold, and
laws on whose way small modes would travel round the space. From the rows of a sample a frame is
chosen in which their functions are best conditioned, a basis of them of order one near the data,
and a `Mesh` as fine as the data are close. `search` finds the law on a mesh that is refined where
that law asks for it; Newton's method ends the work, and a second mesh, all pieces
that carry mass cut again, verifies it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from steradian.existence.body import examine_circle
from steradian.existence.placement import Verdict
from steradian.families.base import Law
from steradian.families.grids.curvature import Root, mean_and_root
from steradian.families.meshes.frame import Framing, torus_frames
from steradian.families.meshes.law import LARGEST, FramedLaw, hidden_peaks
from steradian.families.meshes.mesh import (
    BLOCK,
    Mesh,
    Target,
    centred_basis,
    frame_and_change,
    graded_mesh,
    log_sum,
    some_rows,
    worst,
)
from steradian.families.meshes.search import (
    COARSE,
    Exponent,
    anchored,
    at_law,
    beside_data,
    is_law,
    log_partition,
    refined,
    room,
    search,
)
from steradian.families.verification import integration_error
from steradian.fitting.newton import judge, newton
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.primal_dual import PrimalDual
from steradian.numerics.threads import one_thread
from steradian.numerics.tolerances import (
    ACCEPTED_DECREMENT,
    HEAVY_MASS,
    HOPELESS_DEFICIT,
    NEGLIGIBLE_MASS,
    USABLE_DEFICIT,
    USABLE_RULE,
    VERIFIED_AIM,
    VERIFIED_DIFFERENCE,
)
from steradian.spaces import Circle, Sphere
from steradian.spaces.boost import boosts_for

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy


_MOST_WORK = 4e10  # multiplications: some six seconds, half of them for a first solution
_LAST_WORK = 0.1 * _MOST_WORK  # the same for a last one, where two found nothing
_MOST_WARM = 0.5 * _MOST_WORK  # the same from the level below, where that is near
_NOISE = 0.02  # share of the stated rounding that the difference of two meshes may be
_LAST_STEPS = 30
_PARTS = 16_384  # nodes of parts held at once: their features find room that was used before
_WHITENED = 1024  # nodes whose influence is found at once: their features stay near the processor
_VERIFICATIONS = 25  # of the mesh, cut where it is found too coarse
_CUTS = 40  # of one piece about a peak
_HARDLY = 0.5  # share of the change before from which what is left is rounding, if it may be
_FINER = 1e-3  # factor by which the estimate is lowered when two meshes differ
_LEAST_FOLLOWED = 1e9  # multiplications of a search that follows hidden peaks, or
_FOLLOWED = 300.0  # so many steps on all nodes
_MOST_ANGLES = 3  # of which boxes are few enough to be held


def solve_rows(
    space: Circle | Sphere, level: int, x: Array, weights: Array, below: Exponent | None = None
) -> DualSolution:
    """The fit of ``level`` to distinct directions ``x`` (n, d) of ``weights`` (n,) of sum one.

    ``below``: the law of the level below, where that is a start worth trying.
    """
    return solve_framed(boosts_for(space, *some_rows(x, weights)), level, x, weights, below)


@one_thread()
def solve_framed(
    frames: Sequence[Framing], level: int, x: Array, weights: Array, below: Exponent | None = None
) -> DualSolution:
    """The same of any space that has ``frames``: in the best conditioned of them."""
    frame, change = frame_and_change(frames, level, *some_rows(x, weights))
    y, f = frame.up(x)
    target = Target(y, f, weights)
    mesh = graded_mesh(centred_basis(frame, level, change, target), y)
    if below is not None and is_law(mesh, below):
        found = search(*at_law(mesh, below), _MOST_WARM, leaves=True)
        if found.at.converged:
            return _finished(found.mesh, found.at.theta[1:], found.steps, target)
    return _solve(mesh, beside_data(frame, mesh, y), target)


def _solve(mesh: Mesh, begin: PrimalDual, target: Target) -> DualSolution:
    """Primal-dual rounds with a mesh that follows, then Newton's method and a second mesh.

    Where a mesh has too few nodes for the moments, cutting it until it has enough takes long, and
    is left for when points of the data among the nodes do not help.
    """
    found = search(mesh, begin, _MOST_WORK, leaves=True)
    if found.at.lost:
        found = anchored(mesh, begin, target)
        if not found.at.converged:
            found = search(mesh, begin, _LAST_WORK)
    if not found.at.converged:
        return _nothing(found.mesh, Status.STALLED)
    return _finished(found.mesh, found.at.theta[1:], found.steps, target)


def _influence(mesh: Mesh, law: Root) -> Array:
    """How many deviations of g each piece lies from the mean, at least one, (k,).

    A faint mode far from the data may hold a moment of them all: what it misses is felt that much.
    """
    _, values, axes = np.linalg.svd(law.root[0])
    known = values > values[0] * ROUNDOFF
    white = axes[known].T / values[known]
    nodes, mean = mesh.flat()[0], law.mean[0] @ white
    lever = np.empty(len(nodes))
    for first in range(0, len(nodes), _WHITENED):
        away = nodes[first : first + _WHITENED] @ white - mean
        lever[first : first + _WHITENED] = np.einsum("nq,nq->n", away, away)
    return np.sqrt(np.maximum(lever, 1.0)).reshape(len(mesh), -1).max(axis=1)


def _finished(mesh: Mesh, theta: Array, steps: int, target: Target) -> DualSolution:
    """Newton's method to the end; the law is verified where the pieces that carry it are cut."""
    none, work, change, before = np.zeros((1, len(theta))), 0.0, math.inf, math.inf
    for _ in range(_VERIFICATIONS):
        evaluate = _evaluation(mesh)
        path = newton(evaluate, none, theta[None], max_steps=_LAST_STEPS)
        theta, steps = path.lam[0], steps + int(path.steps[0])
        end = evaluate(path.lam, np.arange(1))
        influence = _influence(mesh, end)
        if hidden_peaks(mesh, theta, float(end.psi[0]), influence).any():  # it is another law
            finer, at = _with_peaks(mesh, theta)
            if len(finer) == len(mesh):
                return _nothing(mesh, Status.UNRESOLVED, change)
            most = min(
                max(_LEAST_FOLLOWED, _FOLLOWED * finer.features.size * len(theta)), _MOST_WORK
            )
            found = search(finer, at, most - work)
            mesh, theta, steps = found.mesh, found.at.theta[1:], steps + found.steps
            work += found.work
            if not found.at.converged or work > most:
                return _nothing(mesh, Status.STALLED)
            continue
        law = FramedLaw.on(mesh, theta, -float(end.psi[0]))
        rounding = _rounding(law, target)
        errors, share = mesh.errors(theta)
        change, mean, gained = _on_parts(mesh, theta, share * influence > HEAVY_MASS)
        beyond = np.sqrt(np.maximum((mean * end.newton(-mean[None])[0]).sum() * -1.0, 0.0))
        if rounding > HOPELESS_DEFICIT and max(change, beyond**2) <= USABLE_RULE:
            return _undetermined(law, judge(path, none, end), target, rounding)
        if change <= VERIFIED_AIM:
            doubted = gained * influence
        else:
            doubted = errors if errors.sum() > change else gained  # no estimate saw it
        split = worst(doubted, min(_FINER * doubted.sum(), COARSE), room(mesh))
        if max(change, beyond**2) <= VERIFIED_AIM or not split.any():
            break
        if _HARDLY * before < change <= _NOISE * min(rounding, USABLE_DEFICIT):
            break  # it is rounding, which no finer mesh would change
        before = change
        mesh, _ = mesh.split(split, mesh.features @ theta)
    else:
        return _nothing(mesh, Status.UNRESOLVED, change)
    out = judge(path, none, end)
    out.quadrature[:] = integration_error(np.array([change]), np.array([beyond**2]))
    out.nodes[:], out.steps[:] = mesh.nodes, steps
    out.decrement[:] = max(float(out.decrement[0]), float(beyond))
    good = out.decrement[0] <= ACCEPTED_DECREMENT
    out.moment_rounding[:] = rounding
    if not (good and change <= max(VERIFIED_DIFFERENCE, _NOISE * rounding)):
        return _nothing(mesh, Status.UNRESOLVED if good else Status.STALLED, change)
    out.status[:] = Status.CONVERGED
    return _in_harmonics(law, out, target)


def _with_peaks(mesh: Mesh, theta: Array) -> tuple[Mesh, PrimalDual]:
    """The law θ (q,) on a mesh that hides none of its peaks, for a search to go on from."""
    psi = log_partition(mesh, theta)
    g, log_weights = mesh.flat()
    whole = np.concatenate([[-psi], theta])
    at = PrimalDual(whole, g @ theta + log_weights - psi, False, False, 0, 0.0)
    influence = _influence(mesh, _evaluation(mesh)(theta[None], np.arange(1)))
    doubted = np.ones(len(mesh), dtype=bool)
    for _ in range(_CUTS):
        split = doubted.copy()
        split[doubted] = hidden_peaks(mesh.take(doubted), theta, psi, influence[doubted])
        if not split.any() or room(mesh) < split.sum():
            break
        stay = len(mesh) - int(split.sum())
        mesh, at, parents = refined(mesh, at, split)
        influence = np.append(influence[~split], influence[parents])
        doubted = np.arange(len(mesh)) >= stay  # the others hide nothing of this law
    return mesh, at


def _on_parts(mesh: Mesh, theta: Array, heavy: BoolArray) -> tuple[float, Array, Array]:
    """By how much ψ changes when the ``heavy`` pieces are cut, and the mean of g then, (q,).

    With them what each piece gains or loses by it, a share of all mass, (k,).
    """
    psi = log_partition(mesh, theta)
    before = _masses(mesh.features, mesh.log_weights, theta, psi)
    light = before[~heavy].ravel()
    total = float(light.sum())
    first = light @ mesh.features[~heavy].reshape(len(light), len(theta))
    gained = np.zeros(len(mesh))
    many = max(1, _PARTS // mesh.log_weights.shape[1])
    which = np.flatnonzero(heavy)
    for start in range(0, len(which), many):
        some = which[start : start + many]
        part = Mesh.of(mesh.basis, mesh.pieces.take(some).parts())
        mass = _masses(part.features, part.log_weights, theta, psi)
        total, first = total + float(mass.sum()), first + mass.ravel() @ part.flat()[0]
        gained[some] = mass.reshape(len(some), -1).sum(axis=1) - before[some].sum(axis=1)
    if not 0.0 < total < math.inf:
        return math.inf, first, np.abs(gained)
    return abs(math.log(total)), first / total, np.abs(gained) / total


def _masses(g: Array, log_weights: Array, theta: Array, psi: float) -> Array:
    """Of nodes with features ``g`` (k, m, q) under the law θ of log-partition ``psi``, (k, m)."""
    return np.asarray(np.exp(np.minimum(g @ theta + log_weights - psi, LARGEST)))


def _evaluation(mesh: Mesh) -> Callable[[Array, IntArray], Root]:
    g, log_weights = mesh.flat()

    def evaluate(lam: Array, _rows: IntArray) -> Root:
        exponent = g @ lam[0] + log_weights
        psi = log_sum(exponent)
        mass = np.exp(exponent - psi)
        mass[mass <= NEGLIGIBLE_MASS] = 0.0
        mean, root = mean_and_root(mass, g)
        return Root(np.array([psi]), mean[None], np.empty((1, 0)), root[None])

    return evaluate


def _nothing(mesh: Mesh, status: Status, change: float = math.nan) -> DualSolution:
    """No fit, and how far the search came."""
    out = DualSolution.empty(1, mesh.features.shape[2], status)
    out.nodes[:], out.quadrature[:] = mesh.nodes, change
    return out


def _undetermined(
    law: FramedLaw, out: DualSolution, target: Target, rounding: float
) -> DualSolution:
    """A law whose deficit rounding leaves open, which no finer mesh would change."""
    out.moment_rounding[:], out.residual[:] = rounding, _mismatch(law, target)
    out.nodes[:], out.status[:] = len(law.mass), Status.ROUNDING
    out.deficit[:] = np.nan
    return out


def _rounding(law: FramedLaw, target: Target) -> float:
    """What the rounding of θ·g moves the deficit by, under the law and over the data.

    A function of degree l is the end of l steps of a recurrence, and a sum over as many orders
    to either side: it is known to 2 (l + 1) roundings of its terms.
    """
    basis, theta = law.basis, law.theta
    total = float(law.mass @ basis.terms(law.points, law.factor, theta))
    total += float(target.weights @ basis.terms(target.y, target.f, theta))
    return 2.0 * (basis.level + 1.0) * ROUNDOFF * total / basis.frame.scale


def _in_harmonics(law: FramedLaw, out: DualSolution, target: Target) -> DualSolution:
    """The solution in terms of the harmonics of x, which may lose digits, with the law itself."""
    coefficients = law.basis.frame.expanded(law.logpdf, law.basis.level)
    return replace(
        out,
        lam=coefficients[None, 1:],
        psi=-coefficients[:1],
        deficit=np.array([law.deficit]),
        residual=np.array([_mismatch(law, target)]),
        laws=np.array([law], dtype=object),
    )


def _mismatch(law: FramedLaw, target: Target) -> float:
    """Largest difference of the moments of law and data, in orthonormal harmonics of x."""
    frame, level = law.basis.frame, law.basis.level
    both = []
    for y, weights in ((law.points, law.mass), (target.y, target.weights)):
        blocks = (slice(k, k + BLOCK) for k in range(0, len(y), BLOCK))
        both.append(sum(weights[b] @ frame.features(frame.down(y[b]), level) for b in blocks))
    return float(np.abs(both[0] - both[1]).max())


@runtime_checkable
class OfAngles(Protocol):
    """A hierarchy whose features are products of trigonometric functions of several angles."""

    def terms(self, level: int) -> IntArray:
        """Which function of each angle makes each feature of levels 1..level, (q, k).

        0 is the constant, 2h - 1 is √2 cos hθ and 2h is √2 sin hθ.
        """
        ...


def table_of(hierarchy: Hierarchy, level: int) -> IntArray | None:
    """What features are made of, where `solve_angles` fits them from their rows; None elsewhere."""
    if not isinstance(hierarchy, OfAngles):
        return None
    table = hierarchy.terms(level)
    return table if table.shape[1] <= _MOST_ANGLES or _alone(table) else None


def solve_angles(table: IntArray, x: Array, weights: Array) -> DualSolution:
    """The fit of features made of ``table`` (q, k) to distinct rows ``x`` (n, 2k), a stack of one.

    ``weights`` (n,) have sum one.
    """
    if _alone(table):
        return _independent(table, x, weights)
    frames = torus_frames(table, *some_rows(x, weights))
    return solve_framed(frames, -(-int(table.max()) // 2), x, weights)


def _alone(table: IntArray) -> bool:
    """Whether every feature is of one angle, so that angles are independent."""
    return bool((np.count_nonzero(table, axis=1) == 1).all())


@dataclass(frozen=True, slots=True, eq=False)
class IndependentLaw:
    """A law of angles that are independent, from the laws of each."""

    parts: tuple[Law, ...]

    def logpdf(self, x: Array) -> Array:
        """Log-density at ``x`` (n, 2k), (n,)."""
        return np.sum([law.logpdf(_pair(x, k)) for k, law in enumerate(self.parts)], axis=0)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws, (n, 2k)."""
        return np.hstack([law.sample(n, rng) for law in self.parts])


def _pair(x: Array, angle: int) -> Array:
    return np.ascontiguousarray(x[:, 2 * angle : 2 * angle + 2])


def _independent(table: IntArray, x: Array, weights: Array) -> DualSolution:
    """Angle by angle on the circle; what errs adds up."""
    out = DualSolution.empty(1, len(table), Status.CONVERGED)
    parts = [_one(column, _pair(x, k), weights) for k, column in enumerate(table.T)]
    failed = [int(part.status[0]) for part in parts if part.status[0] != Status.CONVERGED]
    if failed:
        out.status[:] = failed[0]
        return out
    for part, column in zip(parts, table.T, strict=True):
        used = np.flatnonzero(column)
        out.lam[0, used] = part.lam[0, column[used] - 1]
    for name in ("psi", "deficit", "quadrature", "moment_rounding", "nodes", "steps"):
        getattr(out, name)[:] = sum(getattr(part, name)[0] for part in parts)
    for name in ("residual", "decrement", "condition"):
        getattr(out, name)[:] = max(getattr(part, name)[0] for part in parts)
    out.laws[0] = IndependentLaw(tuple(part.laws[0] for part in parts))
    return out


def _one(column: IntArray, x: Array, weights: Array) -> DualSolution:
    """The fit of one angle, all frequencies up to the highest of a ``column``."""
    level = -(-int(column.max()) // 2)
    distinct, which = np.unique(x, axis=0, return_inverse=True)
    share = np.asarray(np.bincount(which.ravel(), weights, len(distinct)), dtype=np.float64)
    if examine_circle(distinct, share, level).verdict is Verdict.OUTSIDE:
        return DualSolution.empty(1, 2 * level, Status.BOUNDARY)
    return solve_rows(Circle(), level, distinct, share)
