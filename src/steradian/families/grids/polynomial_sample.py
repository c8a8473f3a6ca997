"""Exact draws from exp(polynomial) on the circle and the two-sphere.

Rejection from a piecewise constant envelope on boxes of colatitude α and longitude φ. There the
exponent is a trigonometric polynomial, ``f = Σ F_mn exp{i(mα + nφ)}`` with |m|, |n| <= L, and
on a box of half sides a, b its Taylor series about the centre bounds it:

    f <= f(c) + Σ_{0 < j+k <= K} |∂_α^j ∂_φ^k f(c)| a^j b^k / j! k!
              + Σ_mn |F_mn| (|m| a + |n| b)^{K+1} / (K+1)!

The last sum is small however large F is, as it is for sharp laws, once the box is smaller than
a fraction of 1/L. Boxes are halved, along either side, where the bound is loose and carries
weight, until most proposals are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from steradian.errors import ResolutionError
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.balls.box_envelope import Boxes, boxes_to_cut, envelope_mass
from steradian.numerics.contour import Complex
from steradian.numerics.rejection import draws_of_boxes
from steradian.spaces import Circle, Sphere

_ORDER = 8  # K
_FIRST = 4  # boxes per degree and half turn to begin with
_MOST_BOXES = 200_000
_BLOCK = 4096  # boxes whose Taylor series are held at a time
_BATCH = 1 << 18


def sample_polynomial(
    space: Circle | Sphere, level: int, lam: Array, n: int, rng: np.random.Generator
) -> Array:
    """``n`` exact draws from p ∝ exp(lam · φ), all harmonics through ``level``: (n, d)."""
    f = _Exponent(space, level, lam)
    boxes, bound = _known_envelope(space, level, np.ascontiguousarray(lam, np.float64).tobytes())

    def keep(pick: IntArray) -> Array:
        x = f.points(_spots(boxes, pick, rng.random((len(pick), 2)), f.flat))
        return np.asarray(x[np.log(rng.random(len(pick))) <= f.at(x) - bound[pick]])

    mass = envelope_mass(_volume(boxes, f.flat), bound)
    return draws_of_boxes(mass, keep, n, rng, batch=_BATCH)[0]


@dataclass(frozen=True, slots=True)
class PolynomialLaw:
    """exp(lam · φ - psi) with all harmonics through ``level``."""

    space: Circle | Sphere
    level: int
    lam: Array
    psi: float

    def logpdf(self, x: Array) -> Array:
        return _Exponent(self.space, self.level, self.lam).at(x) - self.psi

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        return sample_polynomial(self.space, self.level, self.lam, n, rng)


def _volume(boxes: Boxes, flat: bool) -> Array:
    """Of boxes in (α, φ) under the uniform law, but for a constant, (k,); α is not used if flat."""
    if flat:
        return boxes.size[:, 1]
    middle, half = boxes.low[:, 0] + 0.5 * boxes.size[:, 0], 0.5 * boxes.size[:, 0]
    return np.asarray(np.sin(middle) * np.sin(half) * boxes.size[:, 1])


def _spots(boxes: Boxes, pick: IntArray, share: Array, flat: bool) -> Array:
    """Points at given shares of the way through the boxes ``pick``, uniform on the sphere."""
    low, size = boxes.low[pick], boxes.size[pick]
    at = low + share * size
    if not flat:
        ends = np.sin(0.5 * low[:, 0]) ** 2, np.sin(0.5 * (low[:, 0] + size[:, 0])) ** 2
        height = ends[0] + share[:, 0] * (ends[1] - ends[0])
        at[:, 0] = 2.0 * np.arcsin(np.sqrt(np.clip(height, 0.0, 1.0)))
    return np.asarray(at)


@dataclass(frozen=True)
class _Exponent:
    """f = lam · φ, as a function of points and as a trigonometric polynomial."""

    space: Circle | Sphere
    level: int
    lam: Array

    @property
    def flat(self) -> bool:
        return self.space.d == 2

    def points(self, at: Array) -> Array:
        """Unit vectors of (α, φ), (k, 2): (k, d)."""
        cos, sin = np.cos(at[:, 1]), np.sin(at[:, 1])
        if self.flat:
            return np.stack([cos, sin], axis=1)
        ring = np.sin(at[:, 0])
        return np.stack([ring * cos, ring * sin, np.cos(at[:, 0])], axis=1)

    def at(self, x: Array) -> Array:
        return np.asarray(self.space.harmonics(x, self.level)[:, 1:] @ self.lam)

    @cached_property
    def series(self) -> Complex:
        """F (2L+1, 2L+1), or (1, 2L+1) on the circle, in the order of `degrees`."""
        nodes = 2 * self.level + 1
        turn = 2.0 * np.pi * np.arange(nodes) / nodes
        rows = np.zeros(1) if self.flat else turn
        grid = np.stack(np.meshgrid(rows, turn, indexing="ij"), axis=-1).reshape(-1, 2)
        values = self.at(self.points(grid)).reshape(len(rows), nodes)
        return np.asarray(np.fft.fft2(values) / values.size, dtype=complex)

    @cached_property
    def degrees(self) -> tuple[Array, Array]:
        """Orders m and n of the rows and columns of F."""
        rows, columns = self.series.shape
        return np.fft.fftfreq(rows, 1.0 / rows), np.fft.fftfreq(columns, 1.0 / columns)

    def bounds(self, boxes: Boxes) -> tuple[Array, IntArray]:
        """What f nowhere exceeds on each box, and the side (0 or 1) that makes it loose."""
        parts = [
            self._bounds(boxes.take(slice(first, first + _BLOCK)))
            for first in range(0, len(boxes), _BLOCK)
        ]
        bound, along = zip(*parts, strict=True)
        return np.concatenate(bound), np.concatenate(along)

    def _bounds(self, boxes: Boxes) -> tuple[Array, IntArray]:
        half = 0.5 * boxes.size
        terms = self._taylor(boxes.low + half)
        power = np.arange(_ORDER + 1)
        reach = half[:, :1, None] ** power[:, None] * half[:, 1:, None] ** power
        sizes = np.abs(terms) * reach
        sizes[:, power[:, None] + power > _ORDER] = 0.0
        sizes[:, 0, 0] = 0.0
        rest, rest_along = self._remainder(half)
        total = sizes.sum(axis=(1, 2)) + rest
        share = power / np.maximum(power[:, None] + power, 1)  # of φ in a mixed term
        across = (sizes * share).sum(axis=(1, 2)) + rest_along
        along = np.ones(len(boxes)) if self.flat else across > 0.5 * total
        return terms[:, 0, 0] + total, along.astype(np.int64)

    def _taylor(self, centres: Array) -> Array:
        """∂_α^j ∂_φ^k f / j! k! at ``centres`` (k, 2): (k, K+1, K+1)."""
        m, n = self.degrees
        phi, which = np.unique(centres[:, 1], return_inverse=True)
        waves = np.exp(1j * np.outer(phi, n))[:, :, None] * _powers(n)
        inner = np.einsum("unk,mn->umk", waves, self.series, optimize=True)
        waves = np.exp(1j * np.outer(centres[:, 0], m))[:, :, None] * _powers(m)
        return np.asarray((waves.swapaxes(1, 2) @ inner[which.ravel()]).real)

    def _remainder(self, half: Array) -> tuple[Array, Array]:
        """The last sum of the bound, and the part of it that φ is to blame for, (k,) each."""
        sides, which = np.unique(half, axis=0, return_inverse=True)
        m, n = (np.abs(degree) for degree in self.degrees)
        sizes = np.abs(self.series)
        values = np.empty((len(sides), 2))
        for k, (a, b) in enumerate(sides):
            reach = m[:, None] * a + n * b
            terms = sizes * reach**_ORDER / math.factorial(_ORDER + 1)
            values[k] = (terms * reach).sum(), (terms * (n * b)).sum()
        return values[which.ravel(), 0], values[which.ravel(), 1]


def _powers(degree: Array) -> Complex:
    """(i degree)^k / k! for k = 0..K: (len(degree), K+1)."""
    k = np.arange(_ORDER + 1)
    factorial = np.array([math.factorial(j) for j in k], dtype=np.float64)
    return np.asarray((1j * degree[:, None]) ** k / factorial)


def _first_boxes(f: _Exponent) -> Boxes:
    count = _FIRST * f.level
    step = math.pi / count
    azimuth = step * np.arange(2 * count)
    height = np.zeros(1) if f.flat else step * np.arange(count)
    low = np.stack(np.meshgrid(height, azimuth, indexing="ij"), axis=-1).reshape(-1, 2)
    return Boxes(low, np.tile([0.0 if f.flat else step, step], (len(low), 1)))


@lru_cache(maxsize=8)  # a null is drawn from in pieces, one after the other
def _known_envelope(space: Circle | Sphere, level: int, lam: bytes) -> tuple[Boxes, Array]:
    return _envelope(_Exponent(space, level, np.frombuffer(lam)))


def _envelope(f: _Exponent) -> tuple[Boxes, Array]:
    """Boxes and the upper bound on each, refined where it pays."""
    boxes = _first_boxes(f)
    bound, along = f.bounds(boxes)
    kept = _share_kept(f, boxes, bound)
    while True:
        cut = boxes_to_cut(envelope_mass(_volume(boxes, f.flat), bound), kept)
        if not cut.any():
            return boxes, bound
        if len(boxes) > _MOST_BOXES:
            cause = f"is too sharp to draw from: {_MOST_BOXES} boxes do not follow its density"
            raise ResolutionError(f.level, cause, "draw from a lower level")
        lower, upper = boxes.take(cut).halved(along[cut])
        finer = lower.followed_by(upper)
        new_bound, new_along = f.bounds(finer)
        boxes = boxes.take(~cut).followed_by(finer)
        bound = np.concatenate([bound[~cut], new_bound])
        along = np.concatenate([along[~cut], new_along])
        kept = np.concatenate([kept[~cut], _share_kept(f, finer, new_bound)])


def _share_kept(f: _Exponent, boxes: Boxes, bound: Array) -> Array:
    """Estimated share of the proposals in each box that would be kept, (k,)."""
    shares = []
    for first in range(0, len(boxes), _BLOCK):
        part = boxes.take(slice(first, first + _BLOCK))
        values = f.at(f.points(part.quarter_points().reshape(-1, 2))).reshape(len(part), -1)
        shares.append(np.exp(values - bound[first : first + _BLOCK, None]).mean(axis=1))
    return np.concatenate(shares)
