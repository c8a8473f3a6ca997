"""Newton steps of a stack of Fisher-Bingham laws, by conjugate gradients in white coordinates.

With v the variances of the saddle's Gaussian and s = √v, a step (g, q) of linear and quadratic
parts about the mean of a law is ``(s g, √2 s q s)`` in white coordinates, and a mismatch (r, R) of
mean and covariance ``(r / s, R / (√2 s s))``. There the Fisher information of that Gaussian is the
identity: nothing has to be preconditioned, products of steps and mismatches are dot products, and
of conjugate gradients few and short passes over memory are left. The formulas of the products are
those of `fit.Curvature`.

Nodes of the contour whose weights do not matter to the digits asked for are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms
from steradian.numerics.linalg import on_diagonal, planar, real_product

_RADIUS = 0.6  # longest step
_MOST_STEPS = 40
_SHARE_LEFT = 1e-3  # of the gradient: a coarse curvature leaves as much
_ROOT = np.sqrt(0.5)

Pair = tuple[AnyArray, AnyArray]
"""Linear (R, d) and quadratic (R, d, d) parts."""


@dataclass(frozen=True, slots=True)
class Digits:
    """Which nodes of a contour a curvature takes, and in which numbers."""

    every: int  # node of which one is taken
    negligible: float  # weight, over the largest, of nodes that are left out
    kind: type[Any] = np.float64


@dataclass(frozen=True, slots=True)
class WhiteCurvature:
    """Curvatures of R laws, each in its eigenbasis, on n nodes."""

    scale: AnyArray  # (R, d): s
    flat: Pair  # unit steps along which |x| = 1 makes f constant; the quadratic part is diagonal
    w: AnyArray  # (R, n) complex weights
    a: AnyArray  # (R, n, d) complex: means at the nodes about the mean of the law
    away: AnyArray  # (R, n, d) complex: variances at the nodes about theirs, over √2
    weighted: AnyArray  # (R, n, d) complex: weights times variances
    pairs: AnyArray  # (R, d, d): E v vᵀ
    sides: Pair  # (R, 4n, d) each: `a` as real numbers, and room for what is multiplied by it

    @classmethod
    def of(cls, terms: FisherBinghamTerms, digits: Digits) -> WhiteCurvature:
        w, v, kind = _kept(terms, digits)
        variances = 0.5 / terms.p
        scale = np.sqrt(variances).astype(kind)
        mean = (terms.v_mean / variances).astype(kind)
        away = (v / variances[:, None, :]).astype(w.dtype) - mean[:, None, :]
        weighted = w[:, :, None] * away
        a = (terms.b.astype(kind) * scale)[:, None, :] * away
        pairs = real_product(weighted, away)
        pairs += mean[:, :, None] * mean[:, None, :]
        flat = terms.mean.astype(kind) * scale, variances.astype(kind) * kind(_ROOT)
        size = np.sqrt(_dot(flat[0], flat[0]) + _dot(flat[1], flat[1]))[:, None]
        nodes = planar(a) * kind(_ROOT)
        room = np.empty_like(nodes)
        return cls(
            scale=scale,
            flat=(flat[0] / size, flat[1] / size),
            w=w,
            a=a,
            away=away * kind(_ROOT),
            weighted=weighted + w[:, :, None] * mean[:, None, :],
            pairs=pairs,
            sides=(np.concatenate([nodes, room], axis=1), np.concatenate([room, nodes], axis=1)),
        )

    def white(self, mismatch: Pair) -> Pair:
        """A mismatch of mean and covariance in white coordinates, blind to the flat step."""
        kind, inverse = self.scale.dtype, 1.0 / self.scale
        second = mismatch[1].astype(kind)
        second *= (kind.type(_ROOT) * inverse)[:, :, None]
        second *= inverse[:, None, :]
        return self.project((mismatch[0].astype(kind) * inverse, second))

    def largest(self, white: Pair) -> AnyArray:
        """Largest entry in size of a mismatch of mean and covariance, (R,)."""
        scale = self.scale
        second = np.abs(white[1]) * scale[:, None, :]
        second *= (scale / scale.dtype.type(_ROOT))[:, :, None]
        return np.maximum(second.max(axis=(1, 2)), np.abs(white[0] * scale).max(axis=1))

    def step(self, white: Pair) -> tuple[Array, Array]:
        """A step from its white coordinates, in double precision."""
        inverse = 1.0 / self.scale.astype(np.float64)
        quadratic = white[1] * (_ROOT * inverse)[:, :, None]
        quadratic *= inverse[:, None, :]
        return white[0] * inverse, quadratic

    def gaussian(self, white: Pair, offset: Array) -> Pair:
        """Change of the saddle's Gaussian with a step: of its centre, and its new covariance.

        With V its variances and ``offset`` its centre about the mean of the law, that of the centre
        is V (g + 2 q offset), and the covariance V + 2 V q V: to first order the same as a change
        of η and B. No longer than the radius of steps, it leaves it positive definite.
        """
        kind = self.scale.dtype.type
        g, q = white
        turned = (q @ (offset.astype(g.dtype) / self.scale)[:, :, None])[:, :, 0]
        covariance = q * (kind(1.0 / _ROOT) * self.scale)[:, :, None]
        covariance *= self.scale[:, None, :]
        on_diagonal(covariance)[...] += self.scale**2
        return self.scale * (g + kind(1.0 / _ROOT) * turned), covariance

    def project(self, r: Pair) -> Pair:
        """Take off the part along the flat step, where it stands."""
        linear, diagonal = self.flat
        share = (_dot(linear, r[0]) + _dot(diagonal, on_diagonal(r[1])))[:, None]
        r[0][...] -= share * linear
        on_diagonal(r[1])[...] -= share * diagonal
        return r

    def product(self, step: Pair) -> Pair:
        """Change of mean and covariance along a step."""
        g, q = step
        n, (left, right) = self.w.shape[1], self.sides
        diagonal = np.ascontiguousarray(on_diagonal(q))
        pull = _complex(2.0 * (left[:, : 2 * n] @ q))  # of Σ q a
        f = (self.a @ g[:, :, None].astype(self.w.dtype))[:, :, 0]
        f += (self.away @ diagonal[:, :, None].astype(self.w.dtype))[:, :, 0]
        f += 0.5 * np.einsum("rnd,rnd->rn", pull, self.a)
        f *= self.w
        f -= self.w * f.real.sum(axis=1)[:, None]
        pull += g[:, None, :]
        pull *= self.weighted
        change = pull.real.sum(axis=1)
        change += (f[:, None, :] @ self.a)[:, 0].real
        pull += (0.5 * f)[:, :, None] * self.a
        left[:, 2 * n : 3 * n], left[:, 3 * n :] = pull.real, -pull.imag
        right[:, : 2 * n] = left[:, 2 * n :]
        second = q * self.pairs
        second += left.swapaxes(1, 2) @ right
        on_diagonal(second)[...] += (f[:, None, :] @ self.away)[:, 0].real
        return change, second


def newton_steps(curvature: WhiteCurvature, gradient: Pair, unfelt: float) -> tuple[Pair, Array]:
    """Steps in white coordinates, no longer than a radius, and the length of the gradient (R,).

    Conjugate gradients end with a share of the gradient left as large as a step leaves anyhow, or
    with less than is ``unfelt``. ``gradient`` is written to.
    """
    r = gradient
    squared = _length(r)
    size = np.sqrt(squared)
    enough = np.maximum(np.clip(0.2 * size, _SHARE_LEFT, 0.1) * size, unfelt) ** 2
    step, p = (np.zeros_like(r[0]), np.zeros_like(r[1])), (r[0].copy(), r[1].copy())
    live, room = squared > 0.0, np.empty_like(r[1])
    for _ in range(_MOST_STEPS):
        hp = curvature.project(curvature.product(p))
        bend = dots(p, hp)
        live &= bend > 0.0
        along = np.where(live, squared / np.where(live, bend, 1.0), 0.0)
        _add(step, p, along, room)
        _add(r, hp, -along, room)
        following = _length(r)
        live &= following > enough
        if not live.any():
            break
        share = np.where(live, following / np.where(live, squared, 1.0), 0.0)
        p[0][...] *= share[:, None]
        p[0][...] += r[0]
        p[1][...] *= share[:, None, None]
        p[1][...] += r[1]
        squared = following
    longest = np.maximum(np.sqrt(_length(step)), _RADIUS)
    step[0][...] *= (_RADIUS / longest)[:, None]
    step[1][...] *= (_RADIUS / longest)[:, None, None]
    return step, size.astype(np.float64)


def _kept(terms: FisherBinghamTerms, digits: Digits) -> tuple[AnyArray, AnyArray, Any]:
    """Weights and variances at the nodes that count, and the numbers to take them in."""
    w = terms.weights[:, :: digits.every]
    sizes = np.abs(w).max(axis=0)
    n = 1 + int(np.flatnonzero(sizes > digits.negligible * sizes.max())[-1])
    w = w[:, :n] / w[:, :n].real.sum(axis=1, keepdims=True)
    numbers = np.result_type(digits.kind, np.complex64)
    return w.astype(numbers), terms.v[:, :: digits.every][:, :n], digits.kind


def _complex(planar: AnyArray) -> AnyArray:
    n = planar.shape[1] // 2
    out = np.empty((len(planar), n, planar.shape[2]), np.result_type(planar.dtype, np.complex64))
    out.real, out.imag = planar[:, :n], planar[:, n:]
    return out


def _flat(matrices: AnyArray) -> AnyArray:
    return matrices.reshape(len(matrices), -1)


def _dot(one: AnyArray, other: AnyArray) -> AnyArray:
    """Dot products of rows, (R,)."""
    return np.asarray((one[:, None, :] @ other[:, :, None])[:, 0, 0])


def dots(one: Pair, other: Pair) -> AnyArray:
    """Products of steps and mismatches in white coordinates, (R,)."""
    return _dot(one[0], other[0]) + _dot(_flat(one[1]), _flat(other[1]))


def _length(step: Pair) -> AnyArray:
    """Squared, (R,)."""
    return dots(step, step)


def _add(to: Pair, what: Pair, times: AnyArray, room: AnyArray) -> None:
    """Add multiples of steps to others, where these stand."""
    to[0][...] += times[:, None] * what[0]
    np.multiply(what[1], times[:, None, None], out=room)
    to[1][...] += room
