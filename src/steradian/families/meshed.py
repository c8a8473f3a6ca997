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
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from steradian.families.curvature import Root, mean_and_root
from steradian.families.frame import Frame, frames_for
from steradian.families.mesh import Basis, Mesh, covering, log_sum, worst
from steradian.families.primal_dual import PrimalDual, primal_dual
from steradian.fitting.newton import judge, newton
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.tolerances import (
    ACCEPTED_DECREMENT,
    FELT_MASS,
    HEAVY_MASS,
    MESH_CLOSE,
    NEGLIGIBLE_MASS,
    RELEASED_MASS,
    SAME_POINT,
    VERIFIED_AIM,
    VERIFIED_DIFFERENCE,
)
from steradian.spaces import Circle, Sphere
from steradian.spaces.cells import highest
from steradian.spaces.pieces import Pieces

_SEEN = 3000  # rows that are looked at to choose frame and basis
_WORSE = 1e-2  # condition by which a frame that enlarges less must be better
_BLUR = 0.3  # share of points beside the data in what the basis is of order one on
_GRADE = 3.0  # size of a piece over its distance from the data
_MOST_PIECES = 1600
_MOST_ENTRIES = 30_000_000  # numbers held at the nodes
_MOST_WORK = 4e10  # multiplications: three seconds, half of them for a first solution
_STEPS = 100  # of the primal-dual method between two looks at the mesh
_ROUNDS = 20
_MOST_STEPS = 400
_COARSE = 3e-2  # share of the mass that the mesh may miss on the way
_NOISE = 0.02  # share of the stated rounding that the difference of two meshes may be
_NOWHERE = 1e4  # nats below the data at which no mass starts
_UNFELT = 60.0  # nats below the largest density at which resolution does not matter
_BLOCK = 65_536  # rows whose functions are held at once
_CLEARANCE = 0.1  # nats above the values at the nodes, and half their differences
_PROBES = 16  # nodes of a piece from which its distance to the data is taken
_LAST_STEPS = 30
_LARGEST = 300.0  # log of a mass that no law has: a spike between the nodes of a coarser mesh
_VERIFICATIONS = 5
_FINER = 1e-3  # factor by which the estimate is lowered when two meshes differ
_CHEAP = 0.05  # share of `_MOST_WORK` below which a search that failed is tried again, anchored
_MOST_ANCHORS = 600  # points, the most isolated ones
_RELEASE = 3.0  # nats by which the weight of the anchors falls
_MOST_ANCHORED = 1e9  # multiplications of an anchored search, which circles take a tenth of


@dataclass(frozen=True, slots=True, eq=False)
class FramedLaw:
    """A law p = exp(θ·g + D), in the frame and basis that determine it; E_P g = 0."""

    basis: Basis
    theta: Array  # (q,)
    deficit: float  # D
    pieces: Pieces  # those that carry mass
    points: Array  # (N, d): their nodes, in the frame
    factor: Array  # (N,): f there
    mass: Array  # (N,): what they carry, of sum one

    @classmethod
    def on(cls, mesh: Mesh, theta: Array, deficit: float) -> FramedLaw:
        """The law on the pieces of a mesh that carry its mass."""
        mass = np.exp(np.minimum(mesh.features @ theta + mesh.log_weights + deficit, _LARGEST))
        felt = mass.max(axis=1) > FELT_MASS
        points = mesh.points[felt].reshape(-1, mesh.points.shape[2])
        carried = mass[felt].ravel()
        return cls(
            mesh.basis, theta, deficit, mesh.pieces.take(felt), points,
            mesh.factor[felt].ravel(), carried / carried.sum(),
        )  # fmt: skip

    def logpdf(self, x: Array) -> Array:
        """Log-density at ``x`` (n, d), (n,)."""
        return np.asarray(self.basis(x) @ self.theta + self.deficit)

    def rule(self) -> tuple[Array, Array]:
        """Nodes as directions (N, d) and their masses (N,): what integrates against the law."""
        return self.basis.frame.down(self.points), self.mass

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws, (n, d): rejection from constants above the law on each piece."""
        frame = self.basis.frame
        exponent = self.basis.at(self.points, self.factor) @ self.theta + self.deficit
        exponent += frame.log_jacobian(self.factor)
        ceiling = highest(exponent.reshape(len(self.pieces), -1)) + _CLEARANCE
        room = np.exp(ceiling - ceiling.max()) * self.pieces.areas()
        share = room / room.sum()
        kept: list[Array] = []
        missing = n
        while missing > 0:
            which = rng.choice(len(share), size=min(4 * missing + 64, _BLOCK), p=share)
            y, element = self.pieces.take(which).draws(rng)
            f = frame.factor(y)
            height = self.basis.at(y, f) @ self.theta + self.deficit + frame.log_jacobian(f)
            good = y[np.log(rng.random(len(y)) / element) < height - ceiling[which]]
            kept.append(good[:missing])
            missing -= len(kept[-1])
        drawn = frame.down(np.concatenate(kept)) if kept else np.zeros((0, frame.space.d))
        return np.asarray(drawn / np.maximum(np.linalg.norm(drawn, axis=1, keepdims=True), 0.5))


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """Points of the frame, with weights of sum one, that the law is to match."""

    y: Array
    f: Array
    weights: Array


def solve_rows(space: Circle | Sphere, level: int, x: Array, weights: Array) -> DualSolution:
    """The fit of ``level`` to distinct directions ``x`` (n, d) of ``weights`` (n,) of sum one."""
    frame, change = _frame_and_change(space, level, x, weights)
    y, f = frame.up(x)
    basis = _centred(frame, level, change, _Target(y, f, weights))
    mesh = _graded(basis, y)
    near = _nearness(frame, y, mesh)
    log_mass = mesh.log_weights.ravel() - np.minimum(0.5 * near * near, _NOWHERE)
    return _solve(mesh, log_mass, _Target(y, f, weights))


# --- frame, basis, mesh -----------------------------------------------------------------------


def _frame_and_change(
    space: Circle | Sphere, level: int, x: Array, weights: Array
) -> tuple[Frame, Array]:
    """The frame in which the functions of the level are best conditioned near the data.

    With it the change (q + 1, q) to functions that are orthonormal there, constants left out.
    """
    step = -(-len(x) // _SEEN)
    seen, share = x[::step], weights[::step] / weights[::step].sum()
    best: tuple[float, Frame, Array] | None = None
    for frame in frames_for(space, seen, share):
        y, f = frame.up(seen)
        aside = _blurred(frame, y)
        without = _without_constant(frame, level)
        at = frame.functions(y, f, level) @ without
        beside = frame.functions(aside, frame.factor(aside), level) @ without
        centre = share @ at
        copies = len(aside) // len(y)
        rows = [np.sqrt(share)[:, None] * (at - centre)]
        rows.append(np.sqrt(_BLUR / copies * np.tile(share, copies))[:, None] * (beside - centre))
        root = np.linalg.qr(np.vstack(rows), mode="r")
        condition = float(np.linalg.cond(root))
        if best is None or condition < _WORSE * best[0]:
            best = condition, frame, without @ np.linalg.inv(root)
    assert best is not None
    return best[1], best[2]


def _without_constant(frame: Frame, level: int) -> Array:
    """Combinations (q + 1, q) of the frame's functions at right angles to the constant one."""
    constant = frame.constant(level)
    full, _ = np.linalg.qr(np.column_stack([constant, np.eye(len(constant))]))
    return np.asarray(full[:, 1 : len(constant)])


def _blurred(frame: Frame, y: Array) -> Array:
    """Points beside each of ``y``, at its local spread, to both sides along each axis."""
    at = frame.chart(y)
    spread = _spreads(at)[:, None]
    sides = [at + sign * spread * axis for axis in np.eye(at.shape[1]) for sign in (1.0, -1.0)]
    return frame.charted(np.concatenate(sides))


def _centred(frame: Frame, level: int, change: Array, target: _Target) -> Basis:
    """The basis of mean zero under the data, to the rounding of its own values."""
    basis = Basis(frame, level, change, np.zeros(change.shape[1]))
    for _ in range(2):
        mean = sum(
            target.weights[rows] @ basis.at(target.y[rows], target.f[rows])
            for rows in (slice(k, k + _BLOCK) for k in range(0, len(target.y), _BLOCK))
        )
        basis = replace(basis, mean=basis.mean + mean)
    return basis


def _spreads(y: Array) -> Array:
    """Distance of each point to its √n/2-th neighbour, (n,)."""
    if len(y) == 1:
        return np.ones(1)
    count = max(1, min(len(y) - 1, round(0.5 * math.sqrt(len(y)))))
    return np.maximum(cKDTree(y).query(y, k=count + 1)[0][:, -1], SAME_POINT)


def _graded(basis: Basis, y: Array) -> Mesh:
    """Pieces as small as they are near to the data, and in the frame to its far side."""
    tree, spread = cKDTree(y), _spreads(y)
    scale = basis.frame.scale
    todo = covering(basis)
    done = todo.take(slice(0))
    count = len(todo)
    while len(todo):
        points = todo.nodes()[0]
        some = points[:, :: max(1, points.shape[1] // _PROBES)]
        flat = some.reshape(-1, y.shape[1])
        distance, index = tree.query(flat)
        size = distance + spread[index]
        if scale < 1.0:
            far = np.where(flat[:, -1] < 0.0, np.linalg.norm(flat[:, :-1], axis=1), 2.0)
            size = np.minimum(size, far + 2.0 * scale)
        large = todo.half > _GRADE * size.reshape(len(todo), -1).min(axis=1)
        count += 3 * int(large.sum())
        if count > _MOST_PIECES // 2:
            large[:] = False
        done = done.followed_by(todo.take(~large))
        todo = todo.take(large).parts()
    return Mesh.of(basis, done)


def _nearness(frame: Frame, y: Array, mesh: Mesh) -> Array:
    """Distance of each node from the data, in local spreads, (N,)."""
    data, nodes = frame.chart(y), frame.chart(mesh.points.reshape(-1, y.shape[1]))
    distance, index = cKDTree(data).query(nodes)
    return np.asarray(distance / _spreads(data)[index])


# --- the fit on a mesh ------------------------------------------------------------------------


def _solve(mesh: Mesh, log_mass: Array, target: _Target) -> DualSolution:
    """Primal-dual rounds with a mesh that follows, then Newton's method and a second mesh."""
    q = mesh.features.shape[2]
    begin = PrimalDual(np.zeros(q + 1), log_mass - log_sum(log_mass), False, False, 0, 0.0)
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
        at = primal_dual(nodes, np.append(log_weights, held.log_weights), at, _STEPS)
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


def _anchored(mesh: Mesh, begin: PrimalDual, target: _Target) -> _Search:
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


def _anchors_for(mesh: Mesh, target: _Target) -> _Anchors:
    """The most isolated points, with their weights."""
    alone = _spreads(mesh.basis.frame.chart(target.y))
    chosen = np.argsort(-alone, kind="stable")[:_MOST_ANCHORS]
    features = mesh.basis.at(target.y[chosen], target.f[chosen])
    return _Anchors(features, np.log(target.weights[chosen]))


def _mass_on_anchors(mesh: Mesh, at: PrimalDual) -> float:
    return float(min(1.0, np.exp(at.log_mass[mesh.nodes :]).sum()))


def _primal_errors(mesh: Mesh, at: PrimalDual) -> Array:
    density = _densities(mesh, at)
    return mesh.errors_of(np.maximum(density, density.max() - _UNFELT))[0]


def _refined(mesh: Mesh, at: PrimalDual, split: BoolArray) -> tuple[Mesh, PrimalDual]:
    """The mesh with some pieces cut; new nodes start from θ, not far above their parents."""
    density = _densities(mesh, at)
    finer = mesh.split(split)
    new = len(finer) - int((~split).sum())
    parents = np.repeat(density[split].max(axis=1), new // int(split.sum()))
    given = at.theta[0] + finer.features[-new:] @ at.theta[1:]
    density = np.concatenate([density[~split], np.minimum(given, parents[:, None] + 1.0)])
    masses = np.append((density + finer.log_weights).ravel(), at.log_mass[mesh.nodes :])
    return finer, replace(at, log_mass=masses)


def _densities(mesh: Mesh, at: PrimalDual) -> Array:
    """Log-density at the nodes of the mesh, (k, m)."""
    return at.log_mass[: mesh.nodes].reshape(mesh.log_weights.shape) - mesh.log_weights


def _finished(mesh: Mesh, theta: Array, steps: int, target: _Target) -> DualSolution:
    """Newton's method to the end; the law is verified where the pieces that carry it are cut."""
    none = np.zeros((1, len(theta)))
    for _ in range(_VERIFICATIONS):
        evaluate = _evaluation(mesh)
        path = newton(evaluate, none, theta[None], max_steps=_LAST_STEPS)
        theta, steps = path.lam[0], steps + int(path.steps[0])
        errors, share = mesh.errors(theta)
        change, mean = _on_parts(mesh, theta, share > HEAVY_MASS)
        doubted = errors if errors.sum() > change else share  # no estimate saw it: cut all
        split = worst(doubted, min(_FINER * doubted.sum(), _COARSE), _room(mesh))
        if change <= VERIFIED_AIM or not split.any():
            break
        mesh = mesh.split(split)
    end = evaluate(path.lam, np.arange(1))
    out = judge(path, none, end)
    beyond = np.sqrt(np.maximum((mean * end.newton(-mean[None])[0]).sum() * -1.0, 0.0))
    out.quadrature[:], out.nodes[:], out.steps[:] = change, mesh.nodes, steps
    out.decrement[:] = max(float(out.decrement[0]), float(beyond))
    good = out.decrement[0] <= ACCEPTED_DECREMENT
    law = FramedLaw.on(mesh, path.lam[0], -float(out.psi[0]))
    out.moment_rounding[:] = _rounding(law, target)
    if not (good and change <= max(VERIFIED_DIFFERENCE, _NOISE * float(out.moment_rounding[0]))):
        return _nothing(mesh, Status.UNRESOLVED if good else Status.STALLED, change)
    out.status[:] = Status.CONVERGED
    return _in_harmonics(law, out, target)


def _on_parts(mesh: Mesh, theta: Array, heavy: BoolArray) -> tuple[float, Array]:
    """By how much ψ changes when the ``heavy`` pieces are cut, and the mean of g then, (q,)."""
    psi = _psi(mesh, theta)
    light = np.flatnonzero(~heavy)
    total, first = _sums(mesh.features[light], mesh.log_weights[light], theta, psi)
    many = max(1, _BLOCK // mesh.log_weights.shape[1])
    which = np.flatnonzero(heavy)
    for start in range(0, len(which), many):
        part = Mesh.of(mesh.basis, mesh.pieces.take(which[start : start + many]).parts())
        more, mean = _sums(part.features, part.log_weights, theta, psi)
        total, first = total + more, first + mean
    if not 0.0 < total < math.inf:
        return math.inf, first
    return abs(math.log(total)), first / total


def _sums(g: Array, log_weights: Array, theta: Array, psi: float) -> tuple[float, Array]:
    mass = np.exp(np.minimum(g @ theta + log_weights - psi, _LARGEST)).ravel()
    return float(mass.sum()), mass @ g.reshape(-1, len(theta))


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
    most = min(_MOST_PIECES, _MOST_ENTRIES // per_piece)
    return max(0, (most - len(mesh)) // 3)


def _nothing(mesh: Mesh, status: Status, change: float = math.nan) -> DualSolution:
    """No fit, and how far the search came."""
    out = DualSolution.empty(1, mesh.features.shape[2], status)
    out.nodes[:], out.quadrature[:] = mesh.nodes, change
    return out


def _rounding(law: FramedLaw, target: _Target) -> float:
    """What the rounding of θ·g moves the deficit by, under the law and over the data.

    A function of degree l is the end of l steps of a recurrence, and a sum over as many orders
    to either side: it is known to 2 (l + 1) roundings of its terms.
    """
    basis, theta = law.basis, law.theta
    total = float(law.mass @ basis.terms(law.points, law.factor, theta))
    total += float(target.weights @ basis.terms(target.y, target.f, theta))
    return 2.0 * (basis.level + 1.0) * ROUNDOFF * total / basis.frame.scale


def _in_harmonics(law: FramedLaw, out: DualSolution, target: _Target) -> DualSolution:
    """The solution in terms of the harmonics of x, which may lose digits, with the law itself."""
    basis = law.basis
    grid = basis.frame.space.exact_grid(2 * basis.level)
    coefficients = grid.analyze(law.logpdf(grid.points)[None], basis.level)[0]
    return replace(
        out,
        lam=coefficients[None, 1:],
        psi=-coefficients[:1],
        deficit=np.array([law.deficit]),
        residual=np.array([_mismatch(law, target)]),
        laws=np.array([law], dtype=object),
    )


def _mismatch(law: FramedLaw, target: _Target) -> float:
    """Largest difference of the moments of law and data, in orthonormal harmonics of x."""
    frame, level = law.basis.frame, law.basis.level
    both = []
    for y, weights in ((law.points, law.mass), (target.y, target.weights)):
        blocks = (slice(k, k + _BLOCK) for k in range(0, len(y), _BLOCK))
        both.append(
            sum(weights[b] @ frame.space.harmonics(frame.down(y[b]), level) for b in blocks)
        )
    return float(np.abs(both[0] - both[1]).max())
