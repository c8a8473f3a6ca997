"""Frame, basis and first mesh of a sample: as fine as the data are close."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from steradian.families.frame import Frame, frames_for
from steradian.families.mesh import BLOCK, Basis, Mesh, covering
from steradian.numerics.arrays import Array
from steradian.numerics.neighbours import neighbour_tree
from steradian.numerics.tolerances import SAME_POINT
from steradian.spaces import Circle, Sphere

_SEEN = 3000  # rows that are looked at to choose frame and basis
_WORSE = 1e-2  # condition by which a frame that enlarges less must be better
_BLUR = 0.3  # share of points beside the data in what the basis is of order one on
_GRADE = 3.0  # size of a piece over its distance from the data
MOST_PIECES = 1600
_PROBES = 16  # nodes of a piece from which its distance to the data is taken


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Points of the frame, with weights of sum one, that the law is to match."""

    y: Array
    f: Array
    weights: Array


def frame_and_change(
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
    spread = spreads(at)[:, None]
    sides = [at + sign * spread * axis for axis in np.eye(at.shape[1]) for sign in (1.0, -1.0)]
    return frame.charted(np.concatenate(sides))


def centred_basis(frame: Frame, level: int, change: Array, target: Target) -> Basis:
    """The basis of mean zero under the data, to the rounding of its own values."""
    basis = Basis(frame, level, change, np.zeros(change.shape[1]))
    for _ in range(2):
        mean = sum(
            target.weights[rows] @ basis.at(target.y[rows], target.f[rows])
            for rows in (slice(k, k + BLOCK) for k in range(0, len(target.y), BLOCK))
        )
        basis = replace(basis, mean=basis.mean + mean)
    return basis


def spreads(y: Array) -> Array:
    """Distance of each point to its √n/2-th neighbour, (n,)."""
    if len(y) == 1:
        return np.ones(1)
    count = max(1, min(len(y) - 1, round(0.5 * math.sqrt(len(y)))))
    return np.maximum(neighbour_tree(y).query(y, k=count + 1)[0][:, -1], SAME_POINT)


def graded_mesh(basis: Basis, y: Array) -> Mesh:
    """Pieces as small as they are near to the data, and in the frame to its far side."""
    tree, spread = neighbour_tree(y), spreads(y)
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
        if count > MOST_PIECES // 2:
            large[:] = False
        done = done.followed_by(todo.take(~large))
        todo = todo.take(large).parts()
    return Mesh.of(basis, done)


def nearness(frame: Frame, y: Array, mesh: Mesh) -> Array:
    """Distance of each node from the data, in local spreads, (N,)."""
    data, nodes = frame.chart(y), frame.chart(mesh.points.reshape(-1, y.shape[1]))
    distance, index = neighbour_tree(data).query(nodes)
    return np.asarray(distance / spreads(data)[index])
