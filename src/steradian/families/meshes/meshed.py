"""Fits that Newton's method on a grid does not find, on pieces of the space that follow the law.

One sample at a time: tight clusters, whose higher moments a grid's features cannot hold, and
laws on whose way small modes would travel round the space. From the rows of a sample a `Frame` is
chosen in which their functions are best conditioned, a basis of them of order one near the data,
and a `Mesh` as fine as the data are close. `primal_dual` finds the law on the mesh, which is
refined where that law asks for it; Newton's method ends the work, and a second mesh, all pieces
that carry mass cut again, verifies it.

A mode that forms about a far point can be narrower than any mesh made beforehand, so that no masses
at the nodes have the moments at all. Then the points themselves are nodes too, with a share of the
reference law that is released step by step while the mesh follows: see `_anchored`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steradian.families.grids.curvature import Root, mean_and_root
from steradian.families.meshes.data_mesh import (
    MOST_PIECES,
    Target,
    centred_basis,
    frame_and_change,
    graded_mesh,
    some_rows,
)
from steradian.families.meshes.frame import frames_for
from steradian.families.meshes.framed_law import LARGEST, FramedLaw
from steradian.families.meshes.framing import Framing
from steradian.families.meshes.hidden_peaks import hidden_peaks
from steradian.families.meshes.mesh import BLOCK, Mesh, log_sum, worst
from steradian.families.meshes.primal_dual import PrimalDual, primal_dual
from steradian.families.meshes.start import UNFELT, Exponent, at_law, beside_data, is_law
from steradian.fitting.newton import judge, newton
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.neighbours import spreads
from steradian.numerics.tolerances import (
    ACCEPTED_DECREMENT,
    HEAVY_MASS,
    MESH_CLOSE,
    NEGLIGIBLE_MASS,
    RELEASED_MASS,
    USABLE_DEFICIT,
    VERIFIED_AIM,
    VERIFIED_DIFFERENCE,
)
from steradian.spaces import Circle, Sphere

_MOST_ENTRIES = 30_000_000  # numbers held at the nodes
_MOST_WORK = 4e10  # multiplications: three seconds, half of them for a first solution
_MOST_WARM = 0.5 * _MOST_WORK  # the same from the level below, where that is near
_STEPS = 100  # of the primal-dual method between two looks at the mesh
_LEAST_STEPS = 12  # which are taken whatever they cost
_ROUNDS = 20
_MOST_STEPS = 400
_COARSE = 3e-2  # share of the mass that the mesh may miss on the way
_NOISE = 0.02  # share of the stated rounding that the difference of two meshes may be
_LAST_STEPS = 30
_PARTS = 16_384  # nodes of parts held at once: their features find room that was used before
_VERIFICATIONS = 25  # of the mesh, cut where it is found too coarse
_CUTS = 40  # of one piece about a peak
_HARDLY = 0.5  # share of the change before from which what is left is rounding, if it may be
_FINER = 1e-3  # factor by which the estimate is lowered when two meshes differ
_CHEAP = 0.05  # share of `_MOST_WORK` below which a search that failed is tried again, anchored
_MOST_ANCHORS = 600  # points, the most isolated ones
_RELEASE = 3.0  # nats by which the weight of the anchors falls
_MOST_ANCHORED = 1e9  # multiplications of an anchored search, which circles take a tenth of,
_FOLLOWED = 300.0  # and of one that follows hidden peaks, or so many steps on all nodes


def solve_rows(
    space: Circle | Sphere, level: int, x: Array, weights: Array, below: Exponent | None = None
) -> DualSolution:
    """The fit of ``level`` to distinct directions ``x`` (n, d) of ``weights`` (n,) of sum one.

    ``below``: the law of the level below, where that is a start worth trying.
    """
    return solve_framed(frames_for(space, *some_rows(x, weights)), level, x, weights, below)


def solve_framed(
    frames: Sequence[Framing], level: int, x: Array, weights: Array, below: Exponent | None = None
) -> DualSolution:
    """The same of any space that has ``frames``: in the best conditioned of them."""
    frame, change = frame_and_change(frames, level, *some_rows(x, weights))
    y, f = frame.up(x)
    target = Target(y, f, weights)
    mesh = graded_mesh(centred_basis(frame, level, change, target), y)
    if below is not None and is_law(mesh, below):
        found = _search(*at_law(mesh, below, _room), _MOST_WARM)
        if found.at.converged:
            return _finished(found.mesh, found.at.theta[1:], found.steps, target)
    return _solve(mesh, beside_data(frame, mesh, y), target)


def _solve(mesh: Mesh, begin: PrimalDual, target: Target) -> DualSolution:
    """Primal-dual rounds with a mesh that follows, then Newton's method and a second mesh."""
    found = _search(mesh, begin, _MOST_WORK)
    if not found.at.converged and found.work < _CHEAP * _MOST_WORK:
        found = _anchored(mesh, begin, target)
    if not found.at.converged:
        return _nothing(found.mesh, Status.STALLED)
    return _finished(found.mesh, found.at.theta[1:], found.steps, target)


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
class _Search:
    """Where a search on a mesh stands."""

    mesh: Mesh
    at: PrimalDual  # masses of the nodes of the mesh, then of the anchors
    steps: int
    work: float


def _search(mesh: Mesh, at: PrimalDual, most: float, anchors: _Anchors | None = None) -> _Search:
    """Primal-dual rounds, the mesh refined between them where the law asks for it.

    At most ``most`` multiplications, half of them for a first solution.
    """
    held = _Anchors.none(mesh.features.shape[2]) if anchors is None else anchors
    aim = _COARSE if len(held) else MESH_CLOSE
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
        split = worst(errors, aim if at.converged else _COARSE, _room(mesh))
        tired = steps > _MOST_STEPS or work > (most if found else 0.5 * most)
        if tired or ((at.converged or at.lost) and not split.any()):
            break
        if split.any():
            mesh, at = _refined(mesh, at, split)
    return _Search(mesh, at, steps, work)


def _anchored(mesh: Mesh, begin: PrimalDual, target: Target) -> _Search:
    """The search with points of the data among the nodes, let go when the mesh has followed.

    With reference ν + ε P̂ the data themselves are masses that have the moments, so that a fit on
    the nodes exists whatever the mesh; as ε falls it tends to the fit on the mesh alone.
    """
    anchors = _anchors_for(mesh, target)
    masses = np.append(begin.log_mass, anchors.log_weights)
    now = _Search(mesh, replace(begin, log_mass=masses), 0, 0.0)
    while now.work < _MOST_ANCHORED:
        found = _search(now.mesh, now.at, _MOST_ANCHORED - now.work, anchors)
        now = replace(found, steps=now.steps + found.steps, work=now.work + found.work)
        if not now.at.converged:
            return now
        if _mass_on_anchors(now.mesh, now.at) < RELEASED_MASS:
            break
        anchors = anchors.released()
    free = replace(now.at, log_mass=now.at.log_mass[: now.mesh.nodes], converged=False)
    last = _search(now.mesh, free, _MOST_ANCHORED)
    return replace(last, steps=now.steps + last.steps, work=now.work + last.work)


def _anchors_for(mesh: Mesh, target: Target) -> _Anchors:
    """The most isolated points, with their weights."""
    alone = spreads(mesh.basis.frame.chart(target.y))
    chosen = np.argsort(-alone, kind="stable")[:_MOST_ANCHORS]
    features = mesh.basis.at(target.y[chosen], target.f[chosen])
    return _Anchors(features, np.log(target.weights[chosen]))


def _mass_on_anchors(mesh: Mesh, at: PrimalDual) -> float:
    return float(min(1.0, np.exp(at.log_mass[mesh.nodes :]).sum()))


def _influence(mesh: Mesh, law: Root) -> Array:
    """How many deviations of g each piece lies from the mean, at least one, (k,).

    A faint mode far from the data may hold a moment of them all: what it misses is felt that much.
    """
    away = (mesh.features - law.mean[0]).reshape(-1, law.mean.shape[1])
    _, values, axes = np.linalg.svd(law.root[0])
    known = values > values[0] * ROUNDOFF
    lever = np.einsum("nq,nq->n", *[away @ axes[known].T / values[known]] * 2)
    return np.sqrt(np.maximum(lever, 1.0)).reshape(len(mesh), -1).max(axis=1)


def _primal_errors(mesh: Mesh, at: PrimalDual) -> Array:
    density = _densities(mesh, at)
    return mesh.errors_of(np.maximum(density, density.max() - UNFELT))[0]


def _refined(mesh: Mesh, at: PrimalDual, split: BoolArray) -> tuple[Mesh, PrimalDual]:
    """The mesh with some pieces cut; new nodes start from θ, not far above their parents."""
    density = _densities(mesh, at)
    finer, parents = mesh.split(split, density)
    given = at.theta[0] + finer.features[-len(parents) :] @ at.theta[1:]
    near = density[parents].max(axis=1, keepdims=True) + 1.0
    density = np.concatenate([density[~split], np.minimum(given, near)])
    masses = np.append((density + finer.log_weights).ravel(), at.log_mass[mesh.nodes :])
    return finer, replace(at, log_mass=masses)


def _densities(mesh: Mesh, at: PrimalDual) -> Array:
    """Log-density at the nodes of the mesh, (k, m)."""
    return at.log_mass[: mesh.nodes].reshape(mesh.log_weights.shape) - mesh.log_weights


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
            most = max(_MOST_ANCHORED, _FOLLOWED * finer.features.size * len(theta))
            found = _search(finer, at, most - work)
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
        if change <= VERIFIED_AIM:
            doubted = gained * influence
        else:
            doubted = errors if errors.sum() > change else gained  # no estimate saw it
        split = worst(doubted, min(_FINER * doubted.sum(), _COARSE), _room(mesh))
        if max(change, beyond**2) <= VERIFIED_AIM or not split.any():
            break
        if _HARDLY * before < change <= _NOISE * min(rounding, USABLE_DEFICIT):
            break  # it is rounding, which no finer mesh would change
        before = change
        mesh, _ = mesh.split(split, mesh.features @ theta)
    else:
        return _nothing(mesh, Status.UNRESOLVED, change)
    out = judge(path, none, end)
    out.quadrature[:], out.nodes[:], out.steps[:] = change, mesh.nodes, steps
    out.decrement[:] = max(float(out.decrement[0]), float(beyond))
    good = out.decrement[0] <= ACCEPTED_DECREMENT
    out.moment_rounding[:] = rounding
    if not (good and change <= max(VERIFIED_DIFFERENCE, _NOISE * rounding)):
        return _nothing(mesh, Status.UNRESOLVED if good else Status.STALLED, change)
    out.status[:] = Status.CONVERGED
    return _in_harmonics(law, out, target)


def _with_peaks(mesh: Mesh, theta: Array) -> tuple[Mesh, PrimalDual]:
    """The law θ (q,) on a mesh that hides none of its peaks, for a search to go on from."""
    psi = _psi(mesh, theta)
    g, log_weights = mesh.flat()
    whole = np.concatenate([[-psi], theta])
    at = PrimalDual(whole, g @ theta + log_weights - psi, False, False, 0, 0.0)
    for _ in range(_CUTS):
        here = _evaluation(mesh)(theta[None], np.arange(1))
        split = hidden_peaks(mesh, theta, psi, _influence(mesh, here))
        if not split.any() or _room(mesh) < split.sum():
            break
        mesh, at = _refined(mesh, at, split)
    return mesh, at


def _on_parts(mesh: Mesh, theta: Array, heavy: BoolArray) -> tuple[float, Array, Array]:
    """By how much ψ changes when the ``heavy`` pieces are cut, and the mean of g then, (q,).

    With them what each piece gains or loses by it, a share of all mass, (k,).
    """
    psi = _psi(mesh, theta)
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
        felt = mass > NEGLIGIBLE_MASS
        mean, root = mean_and_root(mass[felt], g[felt])
        return Root(np.array([psi]), mean[None], np.empty((1, 0)), root[None])

    return evaluate


def _psi(mesh: Mesh, theta: Array) -> float:
    g, log_weights = mesh.flat()
    return log_sum(g @ theta + log_weights)


def _room(mesh: Mesh) -> int:
    """Pieces that may still be cut."""
    per_piece = mesh.features[0].size
    most = min(MOST_PIECES, _MOST_ENTRIES // per_piece)
    return max(0, (most - len(mesh)) // 3)


def _nothing(mesh: Mesh, status: Status, change: float = math.nan) -> DualSolution:
    """No fit, and how far the search came."""
    out = DualSolution.empty(1, mesh.features.shape[2], status)
    out.nodes[:], out.quadrature[:] = mesh.nodes, change
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
