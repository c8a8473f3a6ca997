"""A score test for levels with more features than their covariance could be estimated for.

With ``u_g`` the sum of w z over the rows of unit g, z the white added features under the fit below
and r = Σ u_g, the squared score is |r|² = Σ |u_g|² + Σ_{g≠g'} u_g·u_g'. Its second part has mean
zero under the null but for a drift, as level 1 is estimated, whatever the covariance of z is; and
the cumulants of that sum are means of products of two and three u_g·u_g', which random blocks of
units give. No matrix of the features is formed, and no sample drawn. Quadratic forms of this kind
are those of Chen and Qin (Ann. Stat. 38, 2010); the tail is that of a χ² with the same first three
cumulants.

It stands beside the tilt (`scores`) for what that cannot do: a p × p covariance of 74,000 features
is never formed, and 30,522 rows in 384 dimensions take four seconds. On the circle and at levels
above 2 the tilt stays, where this score rejected up to .285 at 5 %.

Units in strata have means of their own: Σ |u_g|² becomes Σ G_h / (G_h - 1) Σ |u_g - ū_h|², which
weighs a pair of the same stratum by G_h / (G_h - 1) more. Stretches of a chain leave out pairs of
neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtr

from steradian.data.directions import Directions
from steradian.designs.base import Units
from steradian.families.whitening import ProductKernel
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import CUMULANT_ROUNDING, OFF_DIAGONAL_TAIL, TINY
from steradian.progress import tracked

FEWEST_UNITS = 10  # below which nothing is told of their products
FEW_UNITS = 20  # below which it is conservative
_BLOCK = 500  # units whose products are looked at together
_MOST_BLOCKS = 60
_MOST_ROWS = 4096  # of the units of one block, where products of rows are taken
_ROWS_AT_ONCE = 256  # the same where only neighbours are wanted
_UNITS_AT_ONCE = 8
_ENTRIES = 1 << 21  # coordinates of rows at a time
_MOST_SKEW = math.sqrt(8.0)  # of one χ²_1
_NO_SKEW = 1e-3  # below which the tail is normal
_POWER = 2.486475  # z(.95) + z(.8): the shift that a 5 % test finds with power .8


@dataclass(frozen=True, slots=True)
class OffDiagonal:
    """The off-diagonal part of a squared score, and its cumulants under the null."""

    square: float  # |r|²
    own: float  # Σ |u_g|², or what strata make of it
    drift: float  # what estimating level 1 adds to the mean of the difference
    kappa_2: float  # variance of the difference
    kappa_3: float
    units: int
    top: int  # the unit with the largest |u_g|²
    share: float  # of Σ |u_g|² that it holds

    @property
    def excess(self) -> float:
        """What is left of |r|² under the null's mean zero."""
        return self.square - self.own - self.drift

    @property
    def tail(self) -> float:
        """P(a shifted χ² with the same cumulants > excess); NaN without a variance."""
        if not self.kappa_2 > 0.0:
            return math.nan
        z = self.excess / math.sqrt(self.kappa_2)
        skew = self.kappa_3 / self.kappa_2**1.5
        gamma = min(abs(skew), _MOST_SKEW)
        if gamma < _NO_SKEW:
            return float(ndtr(-z))
        nu = 8.0 / gamma**2
        beyond = float(chdtrc(nu, max(nu + math.sqrt(2.0 * nu) * math.copysign(z, z * skew), 0.0)))
        return beyond if skew > 0.0 else 1.0 - beyond

    @property
    def pvalue(self) -> float:
        """The tail, no smaller than it is known."""
        return self.tail if math.isnan(self.tail) else max(self.tail, OFF_DIAGONAL_TAIL)

    @property
    def detectable(self) -> float:
        """The gap, in nats, that a 5 % test of such a sample finds with power 0.8."""
        return 0.5 * _POWER * math.sqrt(max(self.kappa_2, 0.0))

    def under_model(self, rate: float, q: int) -> OffDiagonal:
        """The same where the law of the rows is the fit below: z has unit covariance."""
        return replace(self, kappa_2=2.0 * q / rate**4, kappa_3=8.0 * q / rate**6)


def off_diagonal(
    directions: Directions, units: Units, kernel: ProductKernel, seed: int
) -> OffDiagonal:
    """Of the rows of one sample, by passes over blocks of them."""
    found = _UnitRows.of(directions, units, kernel)
    squares, beside = found.squares()
    top = int(np.argmax(squares))
    kappa_2, kappa_3 = _cumulants(found, seed)
    return OffDiagonal(
        square=found.square,
        own=found.own(squares) + beside,
        drift=found.drift(),
        kappa_2=kappa_2,
        kappa_3=kappa_3,
        units=len(found.present),
        top=int(found.present[top]),
        share=float(squares[top] / max(squares.sum(), TINY)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _UnitRows:
    """The units of positive weight, and the rows of each."""

    x: Array  # (n, d)
    weights: Array  # (n,)
    units: Units
    kernel: ProductKernel
    present: IntArray  # (G,) their numbers
    order: IntArray  # rows, those of a unit together
    first: IntArray  # (G,) where those of each begin
    sizes: IntArray  # (G,)
    strata: IntArray  # (G,) 0..S - 1
    shares: Array  # (G,) of the weight

    @classmethod
    def of(cls, directions: Directions, units: Units, kernel: ProductKernel) -> _UnitRows:
        own = units.unit_weights
        present = np.flatnonzero(own)
        labels = np.arange(directions.n) if units.labels is None else units.labels
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels, minlength=units.count)
        first = np.cumsum(sizes) - sizes
        strata = np.zeros(len(present), dtype=np.int64)
        if units.strata is not None:
            strata = np.unique(units.strata[present], return_inverse=True)[1].astype(np.int64)
        return cls(
            directions.x, units.weights, units, kernel, present, order, first[present],
            sizes[present], strata, own[present],
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.present)

    @property
    def in_strata(self) -> bool:
        """Whether units have means of their own stratum."""
        return self.units.strata is not None

    @property
    def stratum_sizes(self) -> IntArray:
        """Units in the stratum of each, (G,)."""
        return np.bincount(self.strata)[self.strata]

    @property
    def sampled(self) -> Array:
        """Share of the variance of each unit that sampling without replacement leaves, (G,)."""
        if not self.in_strata:
            return np.ones(len(self))
        size = np.maximum(self.stratum_sizes, 2)
        return np.asarray(self.units.factors[self.present] * (size - 1.0) / size)

    def rows(self, chosen: IntArray) -> tuple[Any, Array, IntArray]:
        """Parts, weights and first rows of some units, one after the other."""
        sizes = self.sizes[chosen]
        starts = np.cumsum(sizes) - sizes
        at = np.arange(int(sizes.sum())) + np.repeat(self.first[chosen] - starts, sizes)
        rows = self.order[at]
        return self.kernel.parts(self.x[rows]), self.weights[rows], starts

    def pieces(self, rows: int, units: int | None = None) -> Iterator[IntArray]:
        """Units in their order, about so many rows or units at a time."""
        ends = np.cumsum(self.sizes)
        key = (ends - 1) // rows if units is None else np.arange(len(self)) // units
        yield from np.split(np.arange(len(self)), np.flatnonzero(np.diff(key)) + 1)

    # --- |r|² and what is taken off it -------------------------------------------------------

    @property
    def square(self) -> float:
        """|r|²."""
        total = np.zeros(1)
        for chosen in self.pieces(_ENTRIES // self.x.shape[1]):
            rows, w, _ = self.rows(chosen)
            total = total + self.kernel.sums(rows, w, np.zeros(1, dtype=np.int64))[0]
        return float(total @ total)

    def squares(self) -> tuple[Array, float]:
        """|u_g|² of every unit (G,), and twice Σ u_g·u_g' over neighbours of a chain."""
        if self.sizes.max() == 1:
            parts = [self.rows(chosen) for chosen in self.pieces(_ENTRIES // self.x.shape[1])]
            own = [w * w * self.kernel.squares(rows) for rows, w, _ in parts]
            return np.concatenate(own), 0.0
        many = self.kernel.most_units(float(self.sizes.mean()))
        squares, beside = np.empty(len(self)), 0.0
        for chosen in self.pieces(_ROWS_AT_ONCE, _UNITS_AT_ONCE if many else None):
            more = chosen if chosen[-1] + 1 == len(self) else np.append(chosen, chosen[-1] + 1)
            gram = self.gram(more)
            squares[more] = np.diagonal(gram)
            if self.units.serial:
                beside += 2.0 * float(np.diagonal(gram, 1).sum())
        return squares, beside

    def own(self, squares: Array) -> float:
        """Σ |u_g|², in strata Σ c Σ |u_g - ū_h|²."""
        if not self.in_strata:
            return float(squares.sum())
        size = self.stratum_sizes
        factor = self.units.factors[self.present]
        own = float(factor @ squares)
        for h in range(int(self.strata.max()) + 1):
            members = np.flatnonzero(self.strata == h)
            total = np.zeros(1)
            for chosen in np.array_split(members, max(1, len(members) // _BLOCK)):
                rows, w, _ = self.rows(chosen)
                total = total + self.kernel.sums(rows, w, np.zeros(1, dtype=np.int64))[0]
            own -= float(factor[members[0]] / size[members[0]] * (total @ total))
        return own

    def gram(self, chosen: IntArray, scale: Array | None = None) -> Array:
        """u_g·u_g' of some units."""
        rows, w, starts = self.rows(chosen)
        w = w if scale is None else w * np.repeat(scale[chosen], self.sizes[chosen])
        if len(starts) == len(w):
            return np.asarray(self.kernel.gram(rows) * np.outer(w, w))
        if self.kernel.most_units(float(self.sizes.mean())):
            sums = self.kernel.sums(rows, w, starts)
            return np.asarray(sums @ sums.T)
        each = self.kernel.gram(rows) * np.outer(w, w)
        return np.asarray(np.add.reduceat(np.add.reduceat(each, starts), starts, axis=1))

    # --- the mean under the null -------------------------------------------------------------

    def drift(self) -> float:
        """E Σ_{g≠g'} u_g·u_g' once level 1 is estimated.

        r = z̄ - ½ H[v̄, v̄] + …, u_g = w (z_g - H[v_g, v̄]) + …, which leave
        Σ u_g·H[v_g, v_g] + (¼ |tr H|² - ½ |H|²) D² with D = Σ |v_g|² / p over
        the p features below.
        """
        size = np.maximum(self.stratum_sizes, 2)
        grown = size / (size - 1.0) if self.in_strata else np.ones(len(self))
        spread, bent, below = 0.0, 0.0, 1
        v = self._centred() if self.in_strata else None
        for chosen in self.pieces(_ENTRIES // self.x.shape[1]):
            rows, w, starts = self.rows(chosen)
            own = self._below(rows, w, starts) if v is None else v[chosen]
            below = max(1, own.shape[1])
            spread += float((grown[chosen] * self.sampled[chosen]) @ (own * own).sum(axis=1))
            z = w * self.kernel.curved(rows, np.repeat(own, self.sizes[chosen], axis=0))
            bent += float(grown[chosen] ** 2 @ np.add.reduceat(z, starts))
        norm, trace = self.kernel.curvature
        return bent + (0.25 * trace - 0.5 * norm) * (spread / below) ** 2

    def _below(self, rows: Any, w: Array, starts: IntArray) -> Array:
        """v_g of units, (G, d)."""
        return np.asarray(np.add.reduceat(w[:, None] * self.kernel.below(rows), starts))

    def _centred(self) -> Array:
        """v_g about the means of their strata, (G, d)."""
        pieces = self.pieces(_ENTRIES // self.x.shape[1])
        v = np.concatenate([self._below(*self.rows(chosen)) for chosen in pieces])
        totals = np.zeros((int(self.strata.max()) + 1, v.shape[1]))
        np.add.at(totals, self.strata, v)
        return np.asarray(v - totals[self.strata] / self.stratum_sizes[:, None])

    # --- blocks of units ---------------------------------------------------------------------

    def blocks(self, seed: int) -> list[IntArray]:
        """Random blocks of units, those of a stratum together as far as they go."""
        rng = np.random.default_rng([seed, len(self)])
        place = rng.permutation(int(self.strata.max()) + 1)[self.strata]
        order = np.lexsort([rng.random(len(self)), place])
        mean = float(self.sizes.mean())
        most = self.kernel.most_units(mean) or max(FEWEST_UNITS, int(_MOST_ROWS / mean))
        size = min(_BLOCK, most)
        blocks = np.array_split(order, math.ceil(len(order) / size))
        return [blocks[k] for k in rng.permutation(len(blocks))[:_MOST_BLOCKS]]

    def pair_weights(self, chosen: IntArray) -> Array:
        """How much pairs of some units count in the off-diagonal sum, (B, B)."""
        out = np.ones((len(chosen), len(chosen)))
        if self.in_strata:
            own = self.strata[chosen]
            size = self.stratum_sizes[chosen].astype(np.float64)
            same = own[:, None] == own
            out += same / np.maximum(size - 1.0, 1.0)[:, None]
        if self.units.serial:
            out[np.abs(chosen[:, None] - chosen) == 1] = 0.0
        np.fill_diagonal(out, 0.0)
        return out

    @property
    def pairs(self) -> float:
        """Σ of the squared weights of all ordered pairs."""
        count = float(len(self))
        if self.in_strata:
            size = np.bincount(self.strata).astype(np.float64)
            inside = size**3 / np.maximum(size - 1.0, 1.0)
            return count**2 - float((size**2).sum()) + float(inside[size > 1.0].sum())
        return count * (count - 1.0) - (2.0 * (count - 1.0) if self.units.serial else 0.0)


def _cumulants(found: _UnitRows, seed: int) -> tuple[float, float]:
    """Second and third cumulant of the off-diagonal sum, from random blocks of units."""
    blocks, scale, sums = found.blocks(seed), np.sqrt(found.sampled), np.zeros(5)
    for chosen in tracked(blocks, len(blocks), "blocks of units"):
        weights = found.pair_weights(chosen)
        h = found.gram(chosen, scale)
        sums += products(h, weights, found.shares[chosen], found.strata[chosen])
    second, third, cubes, pairs, triples = sums
    if not (pairs and triples):  # one unit holds all the weight, but for rounding
        return 0.0, 0.0
    count, whole = float(len(found)), 1.0 - found.units.unseen
    times, often = found.pairs / pairs, count * (count - 1.0) * (count - 2.0) / triples
    kappa_3 = 8.0 * often * third + 4.0 * times * cubes
    return 2.0 * times * second / whole**2, kappa_3 / whole**3


def products(h: Array, weights: Array, shares: Array, strata: IntArray) -> Array:
    """Sums over ordered pairs and triples of the units of a block, with how many were added.

    With weights c of pairs: c² (u·u')² over pairs, products over cycles of three, c³ (u·u')³ over
    pairs; then c² over the pairs and the number of the cycles that were seen.
    """
    left, both = centred_products(h, shares, strata)
    pairs, cycles = (np.isfinite(part) & ~np.eye(len(h), dtype=bool) for part in (left, both))
    c, both = np.where(pairs & pairs.T, weights, 0.0), np.where(cycles, weights * both, 0.0)
    known = cycles.astype(np.float64)
    return np.array(
        [
            np.einsum("ij,ij,ij,ji->", c, c, *(2 * [np.where(c > 0.0, left, 0.0)])),
            np.vdot(both @ both, both),
            (both**3).sum(),
            np.vdot(c, c),
            np.vdot(known @ known, known),
        ]
    )


def centred_products(h: Array, shares: Array, strata: IntArray) -> tuple[Array, Array]:
    """u_g·(u_g' - m_g') and (u_g - m_g)·(u_g' - m_g') for units with products ``h`` (B, B).

    ``m_g'`` is what the other units of the stratum, neither g nor g', say of the mean of g', in
    proportion to the weights ``shares`` (B,). NaN where there is no other. The second are scaled
    so that products over cycles of three keep the size of those of u - E u.
    """
    code = np.unique(strata, return_inverse=True)[1]
    member = (code[:, None] == np.arange(code.max() + 1)).astype(np.float64)
    same = code[:, None] == code
    off = h.copy()
    np.fill_diagonal(off, 0.0)
    sums = (off @ member)[:, code]  # of g over the stratum of g', but itself
    left_out = np.where(same, shares[:, None], 0.0) + shares
    whole, squared = (shares @ member)[code], (shares**2 @ member)[code]
    with np.errstate(divide="ignore", invalid="ignore"):
        others = _positive(whole - left_out, whole)
        alpha = shares * (sums - off) / others
        total = (member.T @ off @ member)[code][:, code]
        twice = np.where(same, 2.0, 1.0)
        among = total - twice * (sums + sums.T - off)
        apart = others * others.T - np.where(same, squared - shares**2 - shares[:, None] ** 2, 0.0)
        means = np.outer(shares, shares) * among / _positive(apart, whole * whole[:, None])
    size = member.sum(axis=0)[code]
    kept = np.sqrt(np.maximum(size - 1.0, 1.0) / size)
    left = h - alpha
    both = np.outer(kept, kept) * (left - alpha.T + means)
    np.fill_diagonal(left, 0.0)
    np.fill_diagonal(both, 0.0)
    return left, both


def _positive(values: Array, scale: Array) -> Array:
    """What is above rounding, NaN where nothing is."""
    return np.where(values > CUMULANT_ROUNDING * scale, values, np.nan)
