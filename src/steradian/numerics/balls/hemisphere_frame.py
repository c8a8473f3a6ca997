"""Projective frames of the ball, and Gauss-Legendre rules in the angles of each.

A uniform unit vector of R^d has coordinates y in the unit ball of R^k and a rest of length
z = √(1 - |y|²): v = (y, z) is a point of the upper half of the unit sphere of R^{k+1}, where it has
the density z^{d-k-1} up to a factor. A linear map of R^{k+1} that keeps the plane z = 0,

    v ∝ (c z' + C y', z'),

takes that half sphere to itself, with the surface element |det C| / |c z' + C y', z'|^{k+1}. A
centre c and a matrix C thus enlarge any part of the ball, however small or near to its edge, and
still show all of it. The half sphere of v' has angles from -π/2 to π/2,

    y'_1 = sin α_1, y'_2 = cos α_1 sin α_2, …, z' = cos α_1 … cos α_k,

in which a smooth law is smooth up to the edge: the same number of Gauss-Legendre nodes for
each angle converges geometrically. What is integrated enters by its logarithm: in high dimension
the law lies where the reference law is too small for a number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np
from scipy.special import gammaln, roots_legendre

from steradian.numerics.arrays import Array, BoolArray, IntArray

Windows = tuple[tuple[tuple[float, float], ...], ...]
"""For each angle the intervals that a rule looks at."""

_UNFELT = 60.0  # nats below the highest density at which nothing is felt, coarsely seen
_SPREAD = 2.5  # standard deviations of a law that a frame shows as one
_RESOLVED = 0.1  # units of a frame that a coarse rule tells apart: no frame shrinks by more


@dataclass(frozen=True, slots=True)
class Frame:
    """A centre c and a matrix C, by its rows; tuples, so that rules are kept by them.

    ``windows`` are parts of each angle beyond which a law is not felt; without any, all of it.
    """

    centre: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]
    windows: Windows = ()

    @classmethod
    def of(cls, centre: Array, matrix: Array) -> Frame:
        """From arrays (k,) and (k, k); axes of C are turned so that the longest comes last."""
        axes, sizes, _ = np.linalg.svd(matrix)
        turned = (axes * sizes)[:, ::-1]
        return cls(tuple(centre.tolist()), tuple(tuple(row) for row in turned.tolist()))

    @classmethod
    def plain(cls, k: int, d: int) -> Frame:
        """For the uniform law of R^d."""
        scale = min(1.0, _SPREAD / np.sqrt(d))
        return cls.of(np.zeros(k), scale * np.eye(k))

    @property
    def k(self) -> int:
        """Coordinates."""
        return len(self.centre)

    @property
    def looked_at(self) -> Windows:
        """The intervals of each angle."""
        return self.windows or (((-0.5 * np.pi, 0.5 * np.pi),),) * self.k

    def count(self, size: int) -> int:
        """Nodes of a rule with ``size`` in each interval."""
        return int(np.prod([len(each) * size for each in self.looked_at]))

    def covers(self, other: Frame) -> bool:
        """Whether the same frame with other windows looks at no more."""
        pairs = zip(self.looked_at, other.looked_at, strict=True)
        same = (self.centre, self.matrix) == (other.centre, other.matrix)
        return same and all(
            any(low <= first and last <= high for low, high in mine)
            for mine, theirs in pairs
            for first, last in theirs
        )

    def windowed(self, height: Callable[[Array], Array], size: int) -> Frame:
        """With windows where a law is felt, by its log-density at about ``size`` angles each."""
        cells = [_cells(each, max(8, size // len(each))) for each in self.looked_at]
        middle = [0.5 * (low + high) for low, high in cells]
        angles = np.stack(np.meshgrid(*middle, indexing="ij"), axis=-1).reshape(-1, self.k)
        values = height(angles).reshape([len(each) for each in middle])
        others = [tuple(j for j in range(self.k) if j != k) for k in range(self.k)]
        along = [values.max(axis=each) - values.max() for each in others]
        both = zip(cells, along, strict=True)
        return replace(self, windows=tuple(_felt(each, heights) for each, heights in both))

    def axis_nodes(self, count: int) -> list[Array]:
        """The nodes of every angle with ``count`` in each interval."""
        return [_gauss(each, count)[0] for each in self.looked_at]

    def angles(self, y: Array, z: Array) -> Array:
        """The angles (n, k) at which y (n, k) and z (n,) are seen."""
        centre, matrix = self.arrays()
        inner = np.linalg.solve(matrix, (y - z[:, None] * centre).T).T
        both = np.column_stack([inner, z])
        rest = np.sqrt(np.cumsum((both * both)[:, ::-1], axis=1))[:, ::-1]
        return np.asarray(np.arctan2(inner, rest[:, 1:]))

    def arrays(self) -> tuple[Array, Array]:
        """C (k,) and C (k, k)."""
        return np.array(self.centre), np.array(self.matrix)

    def at(self, angles: Array) -> FramePoints:
        """The points of angles (n, k)."""
        return self.seen(_half_sphere(angles))

    def seen(self, half: _HalfSphere) -> FramePoints:
        """What points of the half sphere of the frame are."""
        centre, matrix = self.arrays()
        outer = half.z[:, None] * centre + half.y @ matrix.T
        length = np.sqrt(np.einsum("nk,nk->n", outer, outer) + half.z * half.z)
        logs = np.log(length)
        volume = half.log_volume + np.log(np.abs(np.linalg.det(matrix))) - (self.k + 1.0) * logs
        return FramePoints(
            outer / length[:, None], half.z / length, half.log_z - logs, volume,
            half.y / length[:, None],
        )  # fmt: skip

    def followed(self, mean: Array, covariance: Array) -> tuple[Frame, float]:
        """The frame of a law whose (z, y' / |…|) has these moments here, (k + 1,) and twice.

        With it by how much it differs: nothing, if this one is good.
        """
        shift, change = _of_moments(mean, covariance)
        blurred = change @ change.T + _RESOLVED**2 * np.eye(self.k)
        change = np.asarray(np.linalg.cholesky(blurred), dtype=np.float64)
        centre, matrix = self.arrays()
        sizes = np.linalg.svd(change, compute_uv=False)
        moved = float(np.linalg.norm(np.linalg.solve(change, shift)))
        away = max(moved, float(np.abs(np.log(sizes)).max()))
        return Frame.of(centre + matrix @ shift, matrix @ change), away

    def distance(self, other: Frame) -> float:
        """By how much another frame differs, in the same units."""
        (centre, matrix), (there, its) = self.arrays(), other.arrays()
        sizes = np.linalg.svd(np.linalg.solve(matrix, its), compute_uv=False)
        moved = float(np.linalg.norm(np.linalg.solve(matrix, there - centre)))
        return max(moved, float(np.abs(np.log(sizes)).max()))


@dataclass(frozen=True, slots=True)
class FramePoints:
    """Points of the half sphere that a frame shows."""

    y: Array  # (n, k)
    z: Array  # (n,)
    log_z: Array  # (n,)
    log_volume: Array  # (n,): of the surface element over that of the angles
    inner: Array  # (n, k): y' in units of v

    def take(self, which: BoolArray | IntArray) -> FramePoints:
        """Some of them."""
        return FramePoints(*(getattr(self, each.name)[which] for each in fields(self)))


def frame_of_moments(mean: Array, covariance: Array) -> Frame:
    """The frame of a law of y with ``mean`` (k,) and ``covariance`` (k, k).

    What they do not tell, how z goes with y, is taken from its slope at the mean.
    """
    k, square = len(mean), 1.0 - float(mean @ mean) - float(np.trace(covariance))
    square = max(square, np.finfo(float).eps)
    along = covariance @ mean
    slope = float(mean @ along)
    variance = min(slope / square, 0.36 * square)  # of z; half a normal law has no more
    both = np.zeros((k + 1, k + 1))
    both[1:, 1:] = covariance
    both[0, 0] = variance
    if slope > 0.0:
        both[0, 1:] = both[1:, 0] = -along * np.sqrt(variance / slope)
    shift, change = _of_moments(np.append(np.sqrt(square - variance), mean), both)
    return Frame.of(shift, change)


def _of_moments(mean: Array, covariance: Array) -> tuple[Array, Array]:
    """Centre and matrix from moments of (z, y): of E vvᵀ with the spread about E v enlarged."""
    second = np.outer(mean, mean) + _SPREAD**2 * covariance
    centre = second[1:, 0] / second[0, 0]
    rest = second[1:, 1:] / second[0, 0] - np.outer(centre, centre)
    values, axes = np.linalg.eigh(rest)
    floor = np.finfo(float).eps * max(float(values[-1]), np.finfo(float).tiny)
    return centre, np.asarray(axes * np.sqrt(np.maximum(values, floor)))


@dataclass(frozen=True, slots=True)
class _HalfSphere:
    """Points v' of the half sphere with the surface element of their angles."""

    y: Array  # (n, k)
    z: Array  # (n,)
    log_z: Array  # (n,)
    log_volume: Array  # (n,)


def _half_sphere(angles: Array) -> _HalfSphere:
    """The points of angles (n, k)."""
    n, k = angles.shape
    cosines, z = np.cos(angles), np.ones(n)
    logs, y, volume = np.log(cosines), np.empty_like(angles), np.zeros(n)
    for j in range(k):
        y[:, j] = z * np.sin(angles[:, j])
        z = z * cosines[:, j]
        volume += (k - 1.0 - j) * logs[:, j]
    return _HalfSphere(y, z, logs.sum(axis=1), volume)


@lru_cache(maxsize=12)
def _half_rule(windows: Windows, count: int) -> tuple[_HalfSphere, Array]:
    """The half sphere at ``count`` Gauss-Legendre nodes in each interval, and log weights there."""
    nodes, logs = zip(*(_gauss(each, count) for each in windows), strict=True)
    angles = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, len(windows))
    return _half_sphere(angles), sum(np.meshgrid(*logs, indexing="ij"), np.zeros(1)).ravel()


def frame_rule(frame: Frame, count: int, d: int) -> tuple[FramePoints, Array]:
    """Points of ``count`` nodes in each interval, and the logs of their uniform weights (n,)."""
    half, logs = _half_rule(frame.looked_at, count)
    points = frame.seen(half)
    return points, logs + log_density(points, d)


def _gauss(intervals: tuple[tuple[float, float], ...], count: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes in each of some intervals, and the logs of their weights."""
    at, weight = roots_legendre(count)
    low, high = np.array(intervals).T[:, :, None]
    nodes = 0.5 * (low + high) + 0.5 * (high - low) * at
    return nodes.ravel(), np.log(0.5 * (high - low) * weight).ravel()


def _cells(intervals: tuple[tuple[float, float], ...], size: int) -> tuple[Array, Array]:
    """Lower and upper ends of ``size`` equal parts of each interval."""
    edges = [np.linspace(low, high, size + 1) for low, high in intervals]
    return np.concatenate([e[:-1] for e in edges]), np.concatenate([e[1:] for e in edges])


def _felt(cells: tuple[Array, Array], height: Array) -> tuple[tuple[float, float], ...]:
    """Where a law is felt along an angle, by its log-density ``height`` in cells, largest zero.

    Cells that are felt and their neighbours make intervals.
    """
    low, high = cells
    felt = height > -_UNFELT
    near = felt.copy()
    near[1:] |= felt[:-1]
    near[:-1] |= felt[1:]
    joined: list[list[int]] = []
    for k in np.flatnonzero(near).tolist():
        if joined and low[k] - high[joined[-1][1]] <= 2.0 * (high[k] - low[k]):
            joined[-1][1] = k
        else:
            joined.append([k, k])
    return tuple((float(low[first]), float(high[last])) for first, last in joined)


def log_density(points: FramePoints, d: int) -> Array:
    """Log of the uniform law of R^d, of the angles of a frame, (n,)."""
    rest = d - points.y.shape[1]
    areas = _log_area(rest) - _log_area(d)
    return np.asarray((rest - 1.0) * points.log_z + points.log_volume + areas)


def _log_area(d: int) -> float:
    """Log of the area of the unit sphere of R^d, of two points for d = 1."""
    return float(np.log(2.0) + 0.5 * d * np.log(np.pi) - gammaln(0.5 * d))
