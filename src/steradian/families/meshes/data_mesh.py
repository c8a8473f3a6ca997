"""Frame, basis and first mesh of a sample: as fine as the data are close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from steradian.families.meshes.framing import Framing
from steradian.families.meshes.mesh import BLOCK, Basis, Mesh
from steradian.numerics.arrays import Array
from steradian.numerics.neighbours import neighbour_tree, spreads

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


def some_rows(x: Array, weights: Array) -> tuple[Array, Array]:
    """The rows that are looked at to choose frame and basis, their weights of sum one."""
    step = -(-len(x) // _SEEN)
    return x[::step], weights[::step] / weights[::step].sum()


def frame_and_change(
    frames: Sequence[Framing], level: int, seen: Array, share: Array
) -> tuple[Framing, Array]:
    """The frame in which the functions of the level are best conditioned near the data.

    With it the change (q + 1, q) to functions that are orthonormal there, constants left out.
    ``seen`` (n, d) are rows with weights ``share`` of sum one.
    """
    best: tuple[float, Framing, Array] | None = None
    for frame in frames:
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


def _without_constant(frame: Framing, level: int) -> Array:
    """Combinations (q + 1, q) of the frame's functions at right angles to the constant one."""
    constant = frame.constant(level)
    full, _ = np.linalg.qr(np.column_stack([constant, np.eye(len(constant))]))
    return np.asarray(full[:, 1 : len(constant)])


def _blurred(frame: Framing, y: Array) -> Array:
    """Points beside each of ``y``, at its local spread, to both sides along each axis."""
    at = frame.chart(y)
    spread = spreads(at)[:, None]
    sides = [at + sign * spread * axis for axis in np.eye(at.shape[1]) for sign in (1.0, -1.0)]
    return frame.charted(np.concatenate(sides))


def centred_basis(frame: Framing, level: int, change: Array, target: Target) -> Basis:
    """The basis of mean zero under the data, to the rounding of its own values."""
    basis = Basis(frame, level, change, np.zeros(change.shape[1]))
    for _ in range(2):
        mean = sum(
            target.weights[rows] @ basis.at(target.y[rows], target.f[rows])
            for rows in (slice(k, k + BLOCK) for k in range(0, len(target.y), BLOCK))
        )
        basis = replace(basis, mean=basis.mean + mean)
    return basis


def graded_mesh(basis: Basis, y: Array) -> Mesh:
    """Pieces as small as they are near to the data, and in the frame to its far side."""
    frame = basis.frame
    data = frame.ground(y)
    tree, spread = neighbour_tree(data), frame.spreads(data)
    todo = frame.covering(basis.level)
    done = todo.take(slice(0))
    count = len(todo)
    while len(todo):
        points = todo.nodes()[0]
        some = points[:, :: max(1, points.shape[1] // _PROBES)]
        flat = some.reshape(-1, y.shape[1])
        distance, index = tree.query(frame.ground(flat))
        size = np.minimum(distance + spread[index], frame.narrowest(flat))
        large = todo.half > _GRADE * size.reshape(len(todo), -1).min(axis=1)
        count += 3 * int(large.sum())
        if count > MOST_PIECES // 2:
            large[:] = False
        done = done.followed_by(todo.take(~large))
        todo = todo.take(large).halves()
    return Mesh.of(basis, done)


def nearness(frame: Framing, y: Array, mesh: Mesh) -> Array:
    """Distance of each node from the data, in local spreads, (N,)."""
    data, nodes = frame.chart(y), frame.chart(mesh.points.reshape(-1, y.shape[1]))
    distance, index = neighbour_tree(data).query(nodes)
    return np.asarray(distance / spreads(data)[index])
