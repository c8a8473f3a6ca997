"""Hessian products of Fisher-Bingham laws in their eigenbases, and what preconditions them.

In coordinates centred at the mean of a law, ``f = g·y + yᵀ δB y`` with ``y = x - m``, covariances
keep their digits. Given a node of the contour x is Gaussian, of variances v and mean b v, so that
with ``a = b (v - E v)``, ``X = δB a`` and ``f̃ = (g + X)·a + Σ (v - E v) δB_ii`` less its mean

    δE x = E[f̃ a + v (g + 2X)],    δCov x = T + Tᵀ + diag E[(v - E v) f̃] + 2 δB E[v vᵀ],
    T = E[(½ f̃ a + v (g + 2X)) aᵀ],

sums over the nodes. G laws of one sample may share B and have η of their own; what is counted of
each is its share π_g, and their nodes are taken together. The Gaussians of the saddles see no
correlation between g and δB: their Fisher information is diagonal, and preconditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms
from steradian.numerics.fisher_bingham.partition import Partition
from steradian.numerics.linalg import on_diagonal, planar

Step = tuple[Array, Array]
"""Linear (…, G, d) and quadratic (…, d, d) parts."""


@dataclass(frozen=True, slots=True, eq=False)
class Curvature:
    """Of samples (…) of G laws each with a common eigenbasis."""

    shares: Array  # (G, 1)
    partition: Partition  # what the quadratics mix
    w: AnyArray  # (…, G, n): weights of the nodes times the shares
    wv: AnyArray  # (…, G, n, d): and times the variances v
    away: AnyArray  # (…, G, n, d): v less its mean
    a: AnyArray  # (…, G, n, d)
    nodes: AnyArray  # (…, 2 G n, d): `a` as real numbers
    twice: AnyArray  # (…, d, d): 2 Σ π E v vᵀ
    spread: AnyArray  # (…, G, d): Fisher information of the Gaussians, of linear
    spreads: AnyArray  # (…, d, d): and of quadratic parts
    flat: tuple[AnyArray, AnyArray]  # (…, G, d), (…, d): what `project` takes off
    means: AnyArray  # (…, G, d): how much of it means show
    variances: AnyArray  # (…): and variances, each

    @classmethod
    def of(
        cls,
        terms: FisherBinghamTerms,
        shares: Array,
        partition: Partition,
        kind: type[Any] = np.float64,
        negligible: float = 0.0,
    ) -> Curvature:
        """From the laws (S G, …) of S samples, in numbers of a ``kind``.

        Where nodes may be ``negligible``, of that weight over the largest, every other one is
        taken of those that are not.
        """
        groups, d = len(shares), terms.b.shape[1]
        many = -1, groups, d
        weights, nodes, numbers = terms.weights, terms.v, np.result_type(kind, np.complex64)
        if negligible:
            sizes = np.abs(weights[:, ::2]).max(axis=0)
            n = 1 + int(np.flatnonzero(sizes > negligible * sizes.max())[-1])
            weights, nodes = weights[:, : 2 * n : 2], nodes[:, : 2 * n : 2]
            weights = weights / weights.real.sum(axis=1, keepdims=True)
        share = shares[:, None].astype(kind)
        w = share * weights.astype(numbers).reshape(-1, groups, weights.shape[1])
        v = nodes.astype(numbers).reshape(*w.shape, d)
        b, v_mean = terms.b.reshape(many).astype(kind), terms.v_mean.reshape(many).astype(kind)
        guess, mean = (0.5 / terms.p).reshape(many).astype(kind), b * v_mean
        away = v - v_mean[:, :, None, :]
        a, wv = b[:, :, None, :] * away, w[..., None] * v
        rows = len(w), -1, d
        weighted = planar((2.0 * w[..., None] * away).reshape(rows), -1)
        twice = partition.gram(weighted, planar(away.reshape(rows)))
        twice += 2.0 * partition.masked((share * v_mean).swapaxes(1, 2) @ v_mean)
        spread = share * guess
        spreads = 2.0 * (spread.swapaxes(1, 2) @ guess)
        scaled, trace = 2.0 * spread * mean, on_diagonal(spreads).copy()
        scale = 2.0 * (scaled * mean).sum(axis=(1, 2)) + trace.sum(axis=1)
        return cls(
            shares=share,
            partition=partition,
            w=w,
            wv=wv,
            away=away,
            a=a,
            nodes=planar(a.reshape(rows)),
            twice=twice,
            spread=spread,
            spreads=spreads,
            flat=(scaled, trace),
            means=(2.0 / scale)[:, None, None] * mean,
            variances=1.0 / scale,
        )

    def precondition(self, r: Step) -> Step:
        """The step that the Gaussians would take for a residual."""
        return r[0] / self.spread, r[1] / self.spreads

    def project(self, r: Step) -> Step:
        """Take off in place what a residual has along (2 m, I), where |x|² = 1 makes f constant.

        In the metric of the preconditioner, so that preconditioned steps have no part along
        it either; any other choice makes harmless steps look long when data concentrate.
        """
        diagonal = on_diagonal(r[1])
        share = (self.means * r[0]).sum(axis=(-2, -1)) + self.variances * diagonal.sum(axis=-1)
        r[0][...] -= share[..., None, None] * self.flat[0]
        diagonal -= share[..., None] * self.flat[1]
        return r

    def product(self, step: Step) -> Step:
        """Change of means, times the shares, and of the pooled second moment along a step."""
        g, q = step
        mixed, (groups, n, d) = self.partition, self.a.shape[-3:]
        diagonal = on_diagonal(q)[..., None, :, None].astype(self.a.dtype)
        x = mixed.product(self.nodes, 2.0 * q)
        pull = np.empty((*x.shape[:-2], groups, n, d), dtype=self.a.dtype)  # 2 X
        pull.real = x[..., : groups * n, :].reshape(pull.shape)
        pull.imag = x[..., groups * n :, :].reshape(pull.shape)
        f = (self.a @ g[..., None].astype(self.a.dtype) + self.away @ diagonal)[..., 0]
        f += 0.5 * np.einsum("...nd,...nd->...n", pull, self.a)
        f -= (self.w * f).real.sum(axis=-1, keepdims=True) / self.shares
        f *= self.w
        pull += g[..., None, :]
        pull *= self.wv
        row = f[..., None, :]
        change = pull.sum(axis=-2).real + (row @ self.a).real[..., 0, :]
        pull += (0.5 * f)[..., None] * self.a
        half = mixed.gram(planar(pull.reshape(*x.shape[:-2], -1, d), -1), self.nodes)
        second = half + half.swapaxes(-1, -2)
        second += q * self.twice
        on_diagonal(second)[...] += (row @ self.away).real[..., 0, :].sum(axis=-2)
        return change, second
