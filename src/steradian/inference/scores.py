"""Scores: what each unit says about a level's null, and the reference law that follows.

For a stack of B samples with U units each, ``h`` (B, U, p) are the white features of the units
(see `whitening`), scaled so that ``Σ b_u h_u`` is the mean score r. Its last q components are
the score of the added features. Under the null ``½ a² |r_added|²`` is, to first order, a
weighted sum of χ²_1 variables whose coefficients are the eigenvalues of ``½ Ω``, with Ω the
covariance of ``a r_added`` estimated at a law that obeys the null:

- *tilted*: the closest law on the units under which all features of the level have mean zero;
- *null*: the units as they are, centred where the null puts them;
- *empirical*: the units centred at their own mean.

Units drawn together with their weights (ratios, clusters, batches, primary units) get the
small-sample factor (U - 1) / (U - 1 - b), b the features of the levels below, and the scale of Ω
counts as estimated with as many degrees of freedom as that denominator; for U in the tens this
is what holds the size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from steradian.directions import Directions
from steradian.errors import DesignError
from steradian.inference.tilt import tilt
from steradian.inference.units import Units
from steradian.inference.whitening import Whitening
from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.linalg import eigenvalues

Covariance = Literal["tilted", "null", "empirical"]
_BLOCK_ENTRIES = 1 << 21  # white features held at a time


@dataclass(frozen=True, eq=False)
class Scores:
    """White scores of the units of a stack of samples."""

    h: Array  # (B, U, p)
    base: Array  # (B, U) of sum one: weight of each unit in the mean
    spread: Array  # (B, U) its weight in the covariance
    share: Array  # (B, U) how much of the common centre it carries
    scale: Array  # (B,) from the average of h hᵀ to the covariance of a r
    rate: Array  # (B,) a_n
    below: int  # features of the levels below
    rows: bool  # whether the units are rows of one law, whatever their weights
    dof: float = np.inf  # of the scale of the covariance, when its units are few
    units: Units | None = None  # of a single sample, for its strata

    @property
    def q(self) -> int:
        """Features the level adds."""
        return self.h.shape[2] - self.below

    @cached_property
    def mean(self) -> Array:
        """Mean score r of the added features, (B, q)."""
        return np.asarray((self.base[:, None, :] @ self.h)[:, 0, self.below :])

    @property
    def statistic(self) -> Array:
        """½ a² |r|², (B,): the score form of a² I."""
        return np.asarray(0.5 * self.rate**2 * np.einsum("bq,bq->b", self.mean, self.mean))

    @property
    def centred(self) -> Array:
        """Added scores of the units about their own mean, (B, U, q)."""
        h = self.h[:, :, self.below :] - self.share[:, :, None] * self.mean[:, None, :]
        return h if self.units is None else self.units.within_strata(h[0])[None]

    @cached_property
    def _tilt(self) -> tuple[Array, BoolArray]:
        return tilt(self.h, self.base)

    @property
    def tilted(self) -> BoolArray:
        """Which samples have a tilt, (B,)."""
        return self._tilt[1]

    def carried(self, kind: Covariance) -> Array:
        """Each unit's share of the trace of Ω, (B, U)."""
        weights, centred = self._weighted(kind)
        trace = weights * np.einsum("buq,buq->bu", centred, centred)
        return np.asarray(trace / trace.sum(axis=1, keepdims=True))

    def coefficients(self, kind: Covariance) -> Array:
        """Eigenvalues of ½ Ω in descending order, (B, q)."""
        weights, centred = self._weighted(kind)
        omega = np.swapaxes(centred, 1, 2) @ (weights[:, :, None] * centred)
        values = eigenvalues(0.5 * self.scale[:, None, None] * omega)
        return np.maximum(values[:, ::-1], 0.0)

    def _weighted(self, kind: Covariance) -> tuple[Array, Array]:
        """Weights (B, U) and centred added scores (B, U, q) whose products make Ω / scale."""
        law = self._tilt[0] if kind == "tilted" else self.base
        weights = self.spread * law
        if self.rows:  # an average over one law of rows
            weights = weights / weights.sum(axis=1, keepdims=True)
        if kind == "empirical":
            return weights, self.centred
        h = self.h[:, :, self.below :]
        return weights, h if self.units is None else self.units.within_strata(h[0])[None]


def scores_of(directions: Directions, units: Units, white: Whitening) -> Scores:
    """Scores of the units of one sample; rows are looked at a block at a time."""
    below = white.below
    if units.labels is None:
        zeta = white.rows(directions.x[None])
        make = ratio_scores if units.random_weights else row_scores
        return make(zeta, below, units.weights[None])
    count, p = units.count, below + white.q
    g = np.zeros((count, p))
    for rows, x in row_blocks(directions, p):
        np.add.at(g, units.labels[rows], units.weights[rows, None] * white.rows(x[None])[0])
    small, dof = small_sample(units.dof, below)
    return Scores(
        h=count * g[None],
        base=np.full((1, count), 1.0 / count),
        spread=units.factors[None],
        share=count * units.unit_weights[None],
        scale=np.array([small * units.rate**2 / count]),
        rate=np.array([units.rate]),
        below=below,
        rows=False,
        dof=dof,
        units=units,
    )


@dataclass(frozen=True, slots=True)
class StreamedScores:
    """What is left of the scores of very many rows."""

    statistic: float
    coefficients: Array
    dof: float


def streamed_scores(
    directions: Directions, units: Units, white: Whitening, kind: Covariance
) -> StreamedScores:
    """Statistic and null-centred or empirical coefficients from sums over blocks of rows."""
    q, p = white.q, white.below + white.q
    mean, squares, second = np.zeros(q), np.zeros(q), np.zeros((q, q))
    for rows, x in row_blocks(directions, p):
        z, w = white.rows(x[None])[0, :, white.below :], units.weights[rows]
        mean += w @ z
        squares += (w * w) @ z
        second += z.T @ ((w * w)[:, None] * z)
    if kind == "empirical":
        cross = np.outer(mean, squares)
        second += float(units.weights @ units.weights) * np.outer(mean, mean) - cross - cross.T
    small, dof = small_sample(units.dof, white.below) if units.random_weights else (1.0, np.inf)
    omega = np.linalg.eigvalsh(0.5 * units.rate**2 * small * second)
    statistic = 0.5 * units.rate**2 * float(mean @ mean)
    return StreamedScores(statistic, np.maximum(omega[::-1], 0.0), dof)


def row_blocks(directions: Directions, p: int) -> Iterator[tuple[slice, Array]]:
    """Rows a block at a time, with where they stand."""
    first = 0
    for x, _ in directions.blocks(max(1, _BLOCK_ENTRIES // p)):
        yield slice(first, first + len(x)), x
        first += len(x)


def row_scores(zeta: Array, below: int, weights: Array) -> Scores:
    """Rows (B, n, p) of one law, with fixed weights (B, n) of sum one."""
    ones = np.ones(len(zeta))
    rate = np.einsum("bn,bn->b", weights, weights) ** -0.5
    return Scores(zeta, weights, weights, np.ones_like(weights), ones, rate, below, rows=True)


def ratio_scores(zeta: Array, below: int, weights: Array) -> Scores:
    """Rows (B, n, p) that were drawn together with their weights (B, n) of sum one."""
    n = zeta.shape[1]
    even, ones = np.full(weights.shape, 1.0 / n), np.ones(weights.shape)
    h, root = (n * weights)[:, :, None] * zeta, np.full(len(zeta), np.sqrt(n))
    small, dof = small_sample(n - 1, below)
    scale = np.full(len(zeta), small)
    return Scores(h, even, ones, n * weights, scale, root, below, rows=False, dof=dof)


def small_sample(dof: float, below: int) -> tuple[float, float]:
    """Factor of Ω and degrees of freedom of its scale, for units drawn with their weights.

    ``dof`` are those of the units, ``below`` the features already fitted.
    """
    left = dof - below
    if left < 1:
        raise DesignError(
            f"the units leave {dof:g} degrees of freedom for {below} matched features: too few for "
            "a covariance; use fewer levels or more units"
        )
    return dof / left, left
