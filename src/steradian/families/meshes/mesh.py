"""Pieces of a space, in a frame, with a basis of one level at their nodes.

Frame, basis and first mesh are chosen by the sample: functions of order one near the data, and
pieces as fine as the data are close.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from steradian.families.meshes.frame import Framing
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.neighbours import neighbour_tree, spreads
from steradian.spaces.pieces import PieceMasses, Pieces, piece_masses, steep_sides

BLOCK = 65_536  # rows whose functions are held at once
_ROWS = 2048  # points whose functions stay in the processor's cache until they are changed
_NOISE = 4.0  # of the exponent at the nodes, in units of ROUNDOFF times the sum of its terms
_FELT = 60.0  # nats below the largest density of a piece at which its shape does not matter
_LARGEST = 300.0  # log of an error that is certainly too large
_SEEN = 3000  # rows that are looked at to choose frame and basis
_WORSE = 1e-2  # condition by which a frame that enlarges less must be better
_BLUR = 0.3  # share of points beside the data in what the basis is of order one on
_GRADE = 3.0  # size of a piece over its distance from the data
MOST_PIECES = 1600
_PROBES = 16  # nodes of a piece from which its distance to the data is taken


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """Functions g of one level, (q,), of mean zero under the data and of order one near them."""

    frame: Framing
    level: int
    change: Array  # (q + 1, q): from the functions of the frame
    mean: Array  # (q,): of the changed functions under the data

    def at(self, y: Array, f: Array) -> Array:
        """G at points of the frame, (n, q)."""
        out = np.empty((len(y), len(self.mean)))
        for first in range(0, len(y), _ROWS):
            rows = slice(first, first + _ROWS)
            np.matmul(
                self.frame.functions(y[rows], f[rows], self.level), self.change, out=out[rows]
            )
            out[rows] -= self.mean
        return out

    def __call__(self, x: Array) -> Array:
        """G at points ``x`` (n, d), (n, q)."""
        return self.at(*self.frame.up(x))

    def noise(self, y: Array, f: Array, theta: Array) -> Array:
        """What θ·g is known to at points of the frame, (n,)."""
        return _NOISE * ROUNDOFF * self.terms(y, f, theta)

    def terms(self, y: Array, f: Array, theta: Array) -> Array:
        """Sum of the absolute terms of θ·g: what its rounding is proportional to, (n,)."""
        size = np.abs(self.change @ theta)
        return np.asarray(self.frame.terms(y, f, self.level) @ size)


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Pieces that cover the space, and the basis at their nodes; k pieces of m nodes."""

    basis: Basis
    pieces: Pieces
    points: Array  # (k, m, d): y
    factor: Array  # (k, m): f
    log_weights: Array  # (k, m): of the uniform law of x
    features: Array  # (k, m, q)

    @classmethod
    def of(cls, basis: Basis, pieces: Pieces) -> Mesh:
        points, weights = pieces.nodes()
        flat = points.reshape(-1, points.shape[2])
        f = basis.frame.factor(flat)
        log_weights = np.log(weights.ravel()) + basis.frame.log_jacobian(f)
        g = basis.at(flat, f).reshape(*weights.shape, -1)
        shape = weights.shape
        return cls(basis, pieces, points, f.reshape(shape), log_weights.reshape(shape), g)

    def __len__(self) -> int:
        return len(self.log_weights)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.log_weights.size

    def flat(self) -> tuple[Array, Array]:
        """Features (N, q) and log weights (N,) of all nodes."""
        return self.features.reshape(self.nodes, -1), self.log_weights.ravel()

    def take(self, which: BoolArray) -> Mesh:
        """Some of the pieces."""
        arrays = (self.points, self.factor, self.log_weights, self.features)
        return Mesh(self.basis, self.pieces.take(which), *(each[which] for each in arrays))

    def split(self, which: BoolArray, exponent: Array) -> tuple[Mesh, IntArray]:
        """The pieces ``which`` cut where the law ``exponent`` (k, m) is steep, their parts last.

        With it the pieces of which these are parts.
        """
        steep = steep_sides(exponent[which], _FELT)
        parts, of = self.pieces.take(which).cut(steep)
        new, stay = Mesh.of(self.basis, parts), ~which
        pieces = self.pieces.take(stay).followed_by(new.pieces)
        names = ("points", "factor", "log_weights", "features")
        both = [_joined(getattr(self, n), stay, getattr(new, n)) for n in names]
        return Mesh(self.basis, pieces, *both), np.flatnonzero(which)[of]

    def masses(self, log_density: Array) -> PieceMasses:
        """∫ of a density against the uniform law of x over each piece, from its log (k, m)."""
        return piece_masses(log_density + self._log_density, self._plain_weights)

    @property
    def _log_density(self) -> Array:
        """Of the uniform law of x against that of y, at the nodes."""
        return self.basis.frame.log_jacobian(self.factor)

    @property
    def _plain_weights(self) -> Array:
        return np.exp(self.log_weights - self._log_density)

    def errors(self, theta: Array) -> tuple[Array, Array]:
        """Share of all mass under exp(θ·g) that each piece may miss, and that it holds, (k,).

        Tails below the rounding of the exponent are noise that no smaller piece lowers.
        """
        middle = self.points.shape[1] // 2
        noise = self.basis.noise(self.points[:, middle], self.factor[:, middle], theta)
        return self.errors_of(self.features @ theta, noise)

    def errors_of(self, log_density: Array, noise: Array | float = 0.0) -> tuple[Array, Array]:
        """The same for any log-density at the nodes, (k, m), of which ``noise`` is known."""
        masses = self.masses(log_density)
        whole = log_sum(masses.log_mass)
        known = np.maximum(masses.share - noise, 0.0)
        errors = known * np.exp(np.minimum(masses.log_height - whole, _LARGEST))
        return errors, np.exp(masses.log_mass - whole)


def _joined(old: Array, stay: BoolArray, new: Array) -> Array:
    """``old[stay]`` followed by ``new``, copied once."""
    kept = int(stay.sum())
    out = np.empty((kept + len(new), *old.shape[1:]))
    np.compress(stay, old, axis=0, out=out[:kept])
    out[kept:] = new
    return out


def log_sum(logs: Array) -> float:
    """Log of the sum of the exponentials."""
    peak = float(logs.max())
    return peak + math.log(float(np.exp(logs - peak).sum()))


def log_sums(logs: Array) -> Array:
    """The same for each row."""
    return np.asarray(np.logaddexp.reduce(logs, axis=1))


def worst(errors: Array, tolerance: float, most: int) -> BoolArray:
    """The worst pieces, so many that the others miss at most half the tolerance, or ``most``."""
    split = np.zeros(len(errors), dtype=bool)
    if errors.sum() > tolerance:
        order = np.argsort(errors)
        kept = int((np.cumsum(errors[order]) <= 0.5 * tolerance).sum())
        split[order[max(kept, len(errors) - max(most, 0)) :]] = True
    return split


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
