"""Exact draws from Fisher-Bingham laws on the circle and the two-sphere, however sharp.

With p = ŝ + θ and c = b/2p (`fisher_bingham`) the density is ``exp{-Σ p (x - c)²}`` but for a
constant. The axis of the largest p is taken as that of the coordinates: ``x₀ = 1 - 2h`` with
h uniform in [0, 1], and an azimuth φ about it. On a box of (h, φ) each coordinate ranges over a
known interval, so that

    -Σ p (x - c)² <= -Σ p dist(c, interval)²

holds without any estimate. Boxes are halved, in h or in φ, where the bound is loose and carries
weight; since h and φ are halved apart, a needle or a thin ring costs as few boxes as a round
cluster. What remains is a piecewise constant envelope.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.balls.box_envelope import Boxes, boxes_to_cut, envelope_mass
from steradian.numerics.rejection import draws_of_boxes

_FIRST = 8  # boxes per direction to begin with
_MOST_BOXES = 100_000
_BATCH = 1 << 19


def draw_from_cells(p: Array, b: Array, n: int, rng: np.random.Generator) -> tuple[Array, float]:
    """``n`` draws (n, d) in the eigenbasis, d = 2 or 3, and the acceptance rate."""
    law = _Law.of(p, b)
    boxes, bound = _known_envelope(p.tobytes(), b.tobytes())

    def keep(pick: IntArray) -> Array:
        at = boxes.low[pick] + rng.random((len(pick), 2)) * boxes.size[pick]
        return law.points(at[np.log(rng.random(len(pick))) <= law(at) - bound[pick]])

    mass = envelope_mass(_volume(boxes), bound)
    return draws_of_boxes(mass, keep, n, rng, batch=_BATCH)


def _volume(boxes: Boxes) -> Array:
    return boxes.size[:, 0] * boxes.size[:, 1]


@dataclass(frozen=True, slots=True)
class _Law:
    """-Σ p (x - c)² in (h, φ), the axis of the largest p first."""

    order: IntArray  # (d,): coordinates by falling p
    sign: float  # of the first axis, so that the mode lies near h = 0
    p: Array  # (d,)
    c: Array  # (d,)

    @classmethod
    def of(cls, p: Array, b: Array) -> _Law:
        order = np.argsort(-p, kind="stable")
        c = (0.5 * b / p)[order]
        sign = -1.0 if c[0] < 0.0 else 1.0
        c[0] *= sign
        return cls(order, sign, p[order], c)

    @property
    def flat(self) -> bool:
        """Whether it lives on the circle."""
        return len(self.p) == 2

    def _local(self, at: Array) -> Array:
        """Coordinates with the first as ``1 - x₀``, in which nothing near h = 0 cancels."""
        h, azimuth = at[:, 0], at[:, 1]
        if self.flat:
            return np.stack([2.0 * np.sin(0.5 * azimuth) ** 2, np.sin(azimuth)], axis=1)
        ring = 2.0 * np.sqrt(h * (1.0 - h))
        return np.stack([2.0 * h, ring * np.cos(azimuth), ring * np.sin(azimuth)], axis=1)

    def __call__(self, at: Array) -> Array:
        local = self._local(at)
        away = local - self.c
        away[:, 0] = local[:, 0] - (1.0 - self.c[0])
        return np.asarray(-(away * away) @ self.p)

    def points(self, at: Array) -> Array:
        """The directions of (h, φ), in the eigenbasis."""
        local = self._local(at)
        local[:, 0] = self.sign * (1.0 - local[:, 0])
        out = np.empty_like(local)
        out[:, self.order] = local
        return out / np.sqrt(np.einsum("ni,ni->n", out, out))[:, None]

    def bound(self, boxes: Boxes) -> Array:
        """What the exponent nowhere exceeds on each box, (k,)."""
        low, high = boxes.low, boxes.low + boxes.size
        sin = _range_of_sine(low[:, 1], high[:, 1])
        if self.flat:
            half = _range_of_sine(0.5 * low[:, 1], 0.5 * high[:, 1])
            square = np.stack([half[0] * half[0], half[1] * half[1]])
            least = np.where((half[0] <= 0.0) & (half[1] >= 0.0), 0.0, square.min(axis=0))
            ranges = [(2.0 * least, 2.0 * square.max(axis=0)), sin]
        else:
            cos = _range_of_sine(low[:, 1] + 0.5 * np.pi, high[:, 1] + 0.5 * np.pi)
            ends = [2.0 * np.sqrt(np.maximum(h * (1.0 - h), 0.0)) for h in (low[:, 0], high[:, 0])]
            top = np.where((low[:, 0] <= 0.5) & (high[:, 0] >= 0.5), 1.0, np.maximum(*ends))
            ring = np.minimum(*ends), top
            ranges = [(2.0 * low[:, 0], 2.0 * high[:, 0]), _times(ring, cos), _times(ring, sin)]
        centre = np.concatenate([[1.0 - self.c[0]], self.c[1:]])
        total = np.zeros(len(low))
        for p, c, (least, most) in zip(self.p, centre, ranges, strict=True):
            away = np.maximum(np.maximum(least - c, c - most), 0.0)
            total -= p * away * away
        return total


def _range_of_sine(low: Array, high: Array) -> tuple[Array, Array]:
    """Least and largest sine over [low, high], each a little wider than it is."""
    ends = np.sin(low), np.sin(high)
    turn = 2.0 * np.pi
    rises = np.floor((high - 0.5 * np.pi) / turn) > np.floor((low - 0.5 * np.pi) / turn)
    falls = np.floor((high + 0.5 * np.pi) / turn) > np.floor((low + 0.5 * np.pi) / turn)
    least = np.where(falls, -1.0, np.minimum(*ends))
    return least, np.where(rises, 1.0, np.maximum(*ends))


def _times(ring: tuple[Array, Array], wave: tuple[Array, Array]) -> tuple[Array, Array]:
    """Interval of the product; the ring is not negative."""
    least = np.where(wave[0] < 0.0, ring[1], ring[0]) * wave[0]
    return least, np.where(wave[1] < 0.0, ring[0], ring[1]) * wave[1]


def _first_boxes(flat: bool) -> Boxes:
    azimuth = np.pi * (np.arange(2 * _FIRST) / _FIRST - 1.0)
    height = np.zeros(1) if flat else np.arange(_FIRST) / _FIRST
    low = np.stack(np.meshgrid(height, azimuth, indexing="ij"), axis=-1).reshape(-1, 2)
    return Boxes(low, np.tile([1.0 if flat else 1.0 / _FIRST, np.pi / _FIRST], (len(low), 1)))


@lru_cache(maxsize=8)
def _known_envelope(p: bytes, b: bytes) -> tuple[Boxes, Array]:
    """Of a law that may have been drawn from just before, as bootstraps do."""
    return _envelope(_Law.of(np.frombuffer(p), np.frombuffer(b)))


def _envelope(law: _Law) -> tuple[Boxes, Array]:
    """Boxes and the bound on each, halved until most proposals are kept."""
    boxes = _first_boxes(law.flat)
    bound = law.bound(boxes)
    while len(bound) < _MOST_BOXES:
        mass = envelope_mass(_volume(boxes), bound)
        cut = boxes_to_cut(mass, _share_kept(law, boxes, bound))
        if not cut.any():
            break
        finer, its_bound = _halved(law, boxes.take(cut))
        boxes = boxes.take(~cut).followed_by(finer)
        bound = np.concatenate([bound[~cut], its_bound])
    return boxes, bound


def _share_kept(law: _Law, boxes: Boxes, bound: Array) -> Array:
    """Estimated share of the proposals in each box that would be kept, (k,)."""
    points = boxes.quarter_points()
    values = law(points.reshape(-1, 2)).reshape(points.shape[:2])
    return np.asarray(np.exp(values - bound[:, None]).mean(axis=1))


def _halved(law: _Law, boxes: Boxes) -> tuple[Boxes, Array]:
    """Each box cut along whichever of h and φ lowers the bounds of its halves more."""
    sides = (1,) if law.flat else (0, 1)
    parts = [boxes.halved(np.full(len(boxes), side)) for side in sides]
    bounds = [np.stack([law.bound(half) for half in pair]) for pair in parts]
    if law.flat:
        along = np.zeros(len(boxes.low), dtype=np.int64)
    else:
        top = law.bound(boxes)
        lowered = [np.exp(b - top).sum(axis=0) for b in bounds]
        tied = np.abs(lowered[0] - lowered[1]) < 1e-9
        wider = boxes.size[:, 1] > 2.0 * np.pi * boxes.size[:, 0]
        along = np.where(tied, wider, lowered[1] < lowered[0]).astype(np.int64)
    rows = np.arange(len(boxes.low))
    chosen = [
        (
            np.stack([pair[side].low for pair in parts])[along, rows],
            np.stack([pair[side].size for pair in parts])[along, rows],
            np.stack([b[side] for b in bounds])[along, rows],
        )
        for side in (0, 1)
    ]
    low, size, bound = (np.concatenate(part) for part in zip(*chosen, strict=True))
    return Boxes(low, size), bound
