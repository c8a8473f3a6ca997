"""Scores: what each unit says about a level's null, and the reference law that follows.

For a stack of B samples with U units each, ``h`` (B, U, p) are the white features of the units
(see `families.whitening`), scaled so that ``Σ b_u h_u`` is the mean score r. Its last q
components are the score of the added features. Under the null ``½ a² |r_added|²`` is, to first
order, a weighted sum of χ²_1 variables whose coefficients are the eigenvalues of ``½ Ω``, with Ω
the covariance of ``a r_added`` estimated at a law that obeys the null:

- *tilted*: the closest law on the units under which all features of the level have mean zero;
- *damped*: the same, but a unit keeps its weight in proportion to its leverage (the default);
- *null*: the units as they are, centred where the null puts them;
- *empirical*: the units centred at their own mean.

The plain tilt moves weight off the one unit that carries the variance, and the covariance loses
it. With ``u_g`` the contribution of unit g to r_added, ``V = Σ u_g u_gᵀ`` and ``U`` units of
positive weight, the damped tilt gives unit g the factor

    κ_g = ρ_g + (1 - ρ_g)₊ · min(1, c e_g),   e_g = clip((u_gᵀ V⁻¹ u_g - q/U) / (1 - q/U), 0, 1)

where ρ_g = t_g / b_g is what the tilt does to it, c = 1/2 for rows of one law and 2 for units
that brought their weights.

Units drawn together with their weights (ratios, clusters, batches, primary units) get the
small-sample factor (U - 1) / (U - 1 - b), b the features of the levels below, and the scale of Ω
counts as estimated with as many degrees of freedom as that denominator; for U in the tens this
is what holds the size. Damping does that by itself, but for the stretches of a chain.

**The tilt.** Among laws on the observed units the tilted one, ``t_u ∝ b_u exp(τ·h_u)`` with ``Σ
t_u h_u = 0``, is the closest to the base b that obeys the null. It exists unless all h_u lie on
one side of a hyperplane. The tilt is itself the fit of an exponential family, to the moments zero.
Any τ bounds its divergence from b from below, -log Σ b_u exp(τ·h_u) <= KL(t ‖ b) <= max_u log(1 /
b_u), so that where the left side exceeds the right one there is no tilt, and nobody need go on.

**What a sample can judge**, and what is first calibrated on draws of the fit below. Both are seen
in the scores of the units alone, so that single tests, stacks of samples and bootstraps decide
alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.directions import Directions
from steradian.designs.base import Units
from steradian.errors import DesignError, InvalidArgument
from steradian.families.whitening import RowFeatures
from steradian.fitting.newton import DenseCurvature, newton
from steradian.numerics import chi_square_mixture
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.linalg import eigenvalues
from steradian.numerics.tolerances import (
    NO_LEVERAGE,
    SPREADLESS,
    TILT_LAST_STEP,
    TILT_MISMATCH,
    TINY,
)

_MOST_STEPS = 60
_NO_OVERFLOW = 300.0


def tilt(h: Array, base: Array) -> tuple[Array, BoolArray]:
    """Tilted weights (B, U) of sum one for ``h`` (B, U, p) and ``base`` (B, U), and which exist.

    Where no tilt exists the weights are the base.
    """
    units = _Units(h, base)
    start = np.zeros((len(h), h.shape[2]))
    with np.errstate(all="ignore"):
        path = newton(units.tilted, start, start, max_steps=_MOST_STEPS, last_step=TILT_LAST_STEP)
        t, _ = units.weights(path.lam, np.arange(len(h)))
        total = t.sum(axis=1)
        mean = (t[:, None, :] @ h)[:, 0, :] / total[:, None]
        found = np.isfinite(total) & (np.abs(mean).max(axis=1) <= TILT_MISMATCH)
        t /= total[:, None]
    return (t, found) if found.all() else (np.where(found[:, None], t, base), found)


class _Units:
    """The units of a stack, of which the solver asks for fewer and fewer samples."""

    def __init__(self, h: Array, base: Array) -> None:
        self._all = np.ascontiguousarray(np.swapaxes(h, 1, 2)), base  # (B, p, U) and (B, U)
        self._largest = np.sqrt(h.shape[2]) * np.abs(h).max(initial=0.0)  # |h_u| is never larger
        self._some = self._all
        self._rows = np.arange(len(h))
        least = np.where(base > 0.0, base, np.inf).min(axis=1, initial=1.0)
        self._farthest = -np.log(least) + TILT_MISMATCH  # what no divergence of a tilt exceeds

    def _of(self, rows: IntArray) -> tuple[Array, Array]:
        if len(rows) != len(self._rows) or not np.array_equal(rows, self._rows):
            self._some = self._all[0][rows], self._all[1][rows]
            self._rows = rows
        return self._some

    def weights(self, tau: Array, rows: IntArray) -> tuple[Array, Array]:
        """Tilted weights (b, U) up to a factor, and the logs of these factors (b,)."""
        h, base = self._of(rows)
        if not tau.any():
            return base.copy(), np.zeros(len(base))
        t = (tau[:, None, :] @ h)[:, 0, :]
        peak = np.zeros(len(t))
        if not np.sqrt((tau * tau).sum(axis=1).max()) * self._largest < _NO_OVERFLOW:
            peak = t.max(axis=1)
            t -= peak[:, None]
        np.exp(t, out=t)
        t *= base
        return t, peak

    def tilted(self, tau: Array, rows: IntArray) -> DenseCurvature:
        """What the solver needs."""
        h, _ = self._of(rows)
        t, peak = self.weights(tau, rows)
        total = t.sum(axis=1)
        mean = (h @ t[:, :, None])[:, :, 0] / total[:, None]
        second = ((t[:, None, :] * h) @ np.swapaxes(h, 1, 2)) / total[:, None, None]
        covariance = second - mean[:, :, None] * mean[:, None, :]
        psi = np.log(total) + peak
        vain = -psi > self._farthest[rows]
        if vain.any():  # no tilt exists: say that it is found, which ends the search
            mean[vain], covariance[vain] = 0.0, np.eye(h.shape[1])
        return DenseCurvature(psi, mean, covariance)


Covariance = Literal["damped", "tilted", "null", "empirical"]
_DAMPING_OF_ROWS = 0.5  # how much of its excess leverage a unit keeps its weight for,
_DAMPING_OF_UNITS = 2.0  # rows of one law and units that brought their weights
MOST_ENTRIES = 60_000_000  # numbers of white features held at once
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
    dof: Array | float = np.inf  # (B,) of the scale of the covariance, when its units are few
    damped_dof: float = np.inf  # the same once it is damped
    units: Units | None = None  # of the samples, where they are groups of rows

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
        return self._in_strata(
            self.h[:, :, self.below :] - self.share[:, :, None] * self.mean[:, None, :]
        )

    def _in_strata(self, h: Array) -> Array:
        if self.units is None:
            return h
        return np.swapaxes(self.units.within_strata(np.swapaxes(h, 0, 1)), 0, 1)

    @cached_property
    def _tilt(self) -> tuple[Array, BoolArray]:
        return tilt(self.h, self.base)

    @property
    def tilted(self) -> BoolArray:
        """Which samples have a tilt, (B,)."""
        return self._tilt[1]

    def tilt_law(self, row: int) -> Array:
        """The law on the units of one sample under which the null holds, (U,) of sum one.

        Where no tilt exists there is no such law, and nothing may be drawn from it.
        """
        assert self.tilted[row]
        law = np.maximum(self._tilt[0][row], 0.0)
        return np.asarray(law / law.sum())

    def settled(self, kind: Covariance) -> Covariance:
        """The covariance a single sample has: strata, which cannot be tilted, the null-centred."""
        in_strata = self.units is not None and self.units.strata is not None
        return "null" if in_strata and kind in {"damped", "tilted"} else kind

    def lacks_tilt(self, kind: Covariance) -> bool:
        """Whether a single sample has no tilt that this covariance asks for."""
        return kind in {"damped", "tilted"} and not bool(self.tilted[0])

    def tail_dofs(self, kind: Covariance) -> Array:
        """Degrees of freedom of the scale of a covariance, (B,); what has no tilt is not damped."""
        dof = np.broadcast_to(np.asarray(self.dof, dtype=np.float64), len(self.h))
        return np.where(self.tilted, self.damped_dof, dof) if kind == "damped" else dof

    def tail_dof(self, kind: Covariance) -> float:
        """The same of a single sample."""
        return float(self.tail_dofs(kind)[0])

    @property
    def unit_counts(self) -> Array:
        """Units of positive weight, (B,)."""
        return np.asarray(np.count_nonzero(self.base * self.share, axis=1), dtype=np.float64)

    @cached_property
    def leverage(self) -> Array:
        """Leverage of each unit in the added features, (B, U)."""
        return _leverages(self.base[:, :, None] * self.h[:, :, self.below :])

    @property
    def top_leverage(self) -> Array:
        """Largest leverage of a unit in all features of the level, (B,)."""
        if not self.below:
            return np.asarray(self.leverage.max(axis=1))
        return np.asarray(_leverages(self.base[:, :, None] * self.h).max(axis=1))

    @property
    def contributed(self) -> Array:
        """Each unit's share of Σ |u|², its contributions to r, (B, U)."""
        added = self.h[:, :, self.below :]
        squares = self.base**2 * np.einsum("buq,buq->bu", added, added)
        return np.asarray(squares / np.maximum(squares.sum(axis=1, keepdims=True), TINY))

    @cached_property
    def _damped(self) -> Array:
        """Weights b κ of the damped tilt, (B, U)."""
        t, _ = self._tilt
        even = self.q / np.maximum(self.unit_counts, self.q + 1.0)[:, None]
        kept = damping(self.leverage, even, rows=self.rows)
        return np.asarray(t + np.maximum(self.base - t, 0.0) * kept)

    def carried(self, kind: Covariance) -> Array:
        """Each unit's share of the trace of Ω, (B, U)."""
        weights, centred = self._weighted(kind)
        trace = weights * np.einsum("buq,buq->bu", centred, centred)
        return np.asarray(trace / np.maximum(trace.sum(axis=1, keepdims=True), TINY))

    def spread_out(self, kind: Covariance) -> Array:
        """Rows (B, U, q) whose Gram matrices are the Ω of a covariance."""
        weights, centred = self._weighted(kind)
        return np.asarray(np.sqrt(self.scale[:, None] * weights)[:, :, None] * centred)

    def coefficients(self, kind: Covariance) -> Array:
        """Eigenvalues of ½ Ω in descending order, (B, q)."""
        weights, centred = self._weighted(kind)
        omega = np.swapaxes(centred, 1, 2) @ (weights[:, :, None] * centred)
        values = eigenvalues(0.5 * self.scale[:, None, None] * omega)
        return np.maximum(values[:, ::-1], 0.0)

    def _weighted(self, kind: Covariance) -> tuple[Array, Array]:
        """Weights (B, U) and centred added scores (B, U, q) whose products make Ω / scale."""
        law = self._law(kind)
        weights = self.spread * law
        if self.rows:  # an average over one law of rows; what damping keeps is not divided out
            over = self.base if kind == "damped" else law
            weights = weights / (self.spread * over).sum(axis=1, keepdims=True)
        if kind == "empirical":
            return weights, self.centred
        return weights, self._in_strata(self.h[:, :, self.below :])

    def _law(self, kind: Covariance) -> Array:
        if kind == "damped":
            return self._damped
        return self._tilt[0] if kind == "tilted" else self.base


def damping(leverage: Array, even: Array, *, rows: bool) -> Array:
    """min(1, c e): how much of what a tilt takes off a unit it keeps for its excess leverage e.

    ``even`` is the leverage that all would have if they had the same.
    """
    excess = leverage - even
    excess /= 1.0 - even
    np.clip(excess, 0.0, 1.0, out=excess)
    excess *= _DAMPING_OF_ROWS if rows else _DAMPING_OF_UNITS
    return np.minimum(excess, 1.0, out=excess)


def _leverages(u: Array) -> Array:
    """u_gᵀ V⁻¹ u_g with V = Σ u_g u_gᵀ, for ``u`` (B, U, q): (B, U)."""
    largest = np.abs(u).max(axis=(1, 2), keepdims=True)
    v = u / np.maximum(largest, TINY)
    values, axes = np.linalg.eigh(np.swapaxes(v, 1, 2) @ v)
    seen = values > NO_LEVERAGE * values[:, -1:]
    scaled = axes * np.where(seen, np.maximum(values, TINY), np.inf)[:, None, :] ** -0.5
    white = v @ scaled
    return np.asarray(np.einsum("buq,buq->bu", white, white))


def scores_of(
    directions: Directions, units: Units, white: RowFeatures, features: Array | None = None
) -> Scores:
    """Scores of the units of one sample; rows are looked at a block at a time.

    ``features`` (n, >= p) are those of the rows, where they have been formed already.
    """
    below = white.below
    if units.labels is None:
        zeta = white.rows(directions.x[None], None if features is None else features[None])
        return unit_scores(zeta, below, units.weights[None], units)
    p = below + white.q
    g = np.zeros((units.count, p))
    for rows, x in row_blocks(directions, p):
        phi = None if features is None else features[None, rows]
        np.add.at(g, units.labels[rows], units.weights[rows, None] * white.rows(x[None], phi)[0])
    return group_scores(g[None], units.unit_weights[None], below, units)


def unit_scores(zeta: Array, below: int, weights: Array, units: Units) -> Scores:
    """Scores of samples with the same units from ζ (B, n, p) and weights (B, n) of their rows."""
    if units.labels is None:
        return (ratio_scores if units.random_weights else row_scores)(zeta, below, weights)
    return group_scores(*unit_sums(zeta, weights, units), below, units)


def unit_sums(zeta: Array, weights: Array, units: Units) -> tuple[Array, Array]:
    """Sums of w ζ (B, U, p) and of w (B, U) within units."""
    first, second = (
        np.swapaxes(units.gather(np.swapaxes(rows, 0, 1)), 0, 1)
        for rows in (weights[:, :, None] * zeta, weights)
    )
    return first, second


def group_scores(sums: Array, weights: Array, below: int, units: Units) -> Scores:
    """Groups of rows: sums (B, U, p) of their w ζ, and their weights (B, U) of sum one."""
    count, ones = units.count, np.ones(len(sums))
    small, left = small_sample(units.dof, below)
    dof = np.minimum(left, units.scale_dofs(weights))
    return Scores(
        h=count * sums,
        base=np.full(weights.shape, 1.0 / count),
        spread=np.broadcast_to(units.factors, weights.shape),
        share=count * weights,
        scale=ones * (small * units.rate**2 / count / (1.0 - units.unseen)),
        rate=ones * units.rate,
        below=below,
        rows=False,
        dof=dof,
        damped_dof=left if units.serial else np.inf,
        units=units,
    )


@dataclass(frozen=True, slots=True)
class StreamedScores:
    """What is left of the scores of very many rows."""

    statistic: float
    coefficients: Array
    dof: float
    top: int  # the row that contributes most to r
    share: float  # of Σ |u|² that it holds


def streamed_scores(
    directions: Directions, units: Units, white: RowFeatures, kind: Covariance
) -> StreamedScores:
    """Statistic and null-centred or empirical coefficients from sums over blocks of rows."""
    q, p = white.q, white.below + white.q
    mean, squares, second = np.zeros(q), np.zeros(q), np.zeros((q, q))
    top, most = 0, 0.0
    for rows, x in row_blocks(directions, p):
        z, w = white.rows(x[None])[0, :, white.below :], units.weights[rows]
        lengths = w * w * np.einsum("nq,nq->n", z, z)
        if lengths.max() > most:
            top, most = rows.start + int(np.argmax(lengths)), float(lengths.max())
        mean += w @ z
        squares += (w * w) @ z
        second += z.T @ ((w * w)[:, None] * z)
    share = most / max(float(np.trace(second)), TINY)
    if kind == "empirical":
        cross = np.outer(mean, squares)
        second += float(units.weights @ units.weights) * np.outer(mean, mean) - cross - cross.T
    small, dof = small_sample(units.dof, white.below) if units.random_weights else (1.0, np.inf)
    omega = np.linalg.eigvalsh(0.5 * units.rate**2 * small * second)
    statistic = 0.5 * units.rate**2 * float(mean @ mean)
    return StreamedScores(statistic, np.maximum(omega[::-1], 0.0), dof, top, share)


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


PER_FEATURE = 10  # rows of equal weight per feature below which a tail is rough
LEVERAGE = 0.3  # of one row in the features of the level, above which it is rough too
FEWEST_ROWS = 2  # the same, below which nothing is told apart
FEWEST_RATIOS = 4  # and for rows that brought their weights, times fitted features per added one
SETTLED_UNITS = 150  # effective units per feature from which fits below need no second look
EVEN_WEIGHTS = 0.9  # effective share of the units, below which heavy ones may be missing unseen
EVEN_SIZES = 0.5  # the same of groups of equal rows, whose sizes need not follow their direction
EVEN_FRAME = 0.6  # the same within strata, where weights are rates of sampling: to about 1:4
INFORMATIVE = 0.5  # share of the variance of log weights that the features of the units explain
FEW_CARRIERS = 4.0  # units per feature that carry the variance, below which a tail is rough
WIDER_SPREAD = 1.25  # of added features, against the fit below: draws of it have not these tails
FAR_WIDER_SPREAD = 2.0  # the same before the tilt, whatever that takes away
DOMINATES = 0.5  # share of one unit, above which nothing is left to compare it with
_SPREADS: tuple[Covariance, Covariance] = ("damped", "null")


def dominating(scores: Scores) -> IntArray:
    """The unit that outweighs all others together, (B,); -1 where there is none.

    It holds more than half of Σ |u|², the squared contributions to the score, or of the weight:
    of Σ w² where units are rows, of Σ w where they are groups of rows.
    """
    measures = [scores.contributed, _weight_shares(scores)]
    units = [np.argmax(m, axis=1) for m in measures]
    found = np.full(len(scores.h), -1, dtype=np.int64)
    for share, unit in zip(measures[::-1], units[::-1], strict=True):
        most = np.take_along_axis(share, unit[:, None], axis=1)[:, 0]
        found = np.where(most > DOMINATES, unit, found)
    return found


def too_uneven(scores: Scores) -> BoolArray:
    """Units whose weights are worth too few of equal weight for the features, (B,).

    Means over the rows of a group are nearer to normal: groups are only asked where more
    features are fitted than added.
    """
    fitted = scores.below / scores.q
    if scores.units is not None and fitted <= 1.0:
        return np.zeros(len(scores.h), dtype=np.bool_)
    least = FEWEST_ROWS if scores.rows else FEWEST_RATIOS * max(1.0, fitted)
    return np.asarray(effective_rows(scores) < least * scores.h.shape[2])


def worthless(scores: Scores) -> BoolArray:
    """Rows whose weights are worth so few of equal weight that no p-value is given, (B,)."""
    if scores.units is not None:
        return np.zeros(len(scores.h), dtype=np.bool_)
    return np.asarray(effective_rows(scores) < FEWEST_ROWS * scores.h.shape[2])


def one_sided(scores: Scores) -> BoolArray:
    """Uneven units whose weights follow their features, and no tilt of which obeys the null, (B,).

    Either the level is real, or the proposal has not reached the heavy units that would balance
    the others: the sample cannot tell. Weights that do not depend on the direction, or that the
    strata settle, say nothing of units that are missing.
    """
    if scores.rows:
        return np.zeros(len(scores.h), dtype=np.bool_)
    uneven = effective_rows(scores) < _least_even(scores) * scores.unit_counts
    if uneven.any():
        uneven &= ~scores.tilted
    for row in np.flatnonzero(uneven):
        uneven[row] = _explained_weights(scores, int(row)) > INFORMATIVE
    return np.asarray(uneven)


def _least_even(scores: Scores) -> float:
    """Effective share of the units below which they are uneven."""
    units = scores.units
    if units is not None and units.strata is not None:
        return EVEN_FRAME
    of_sizes = units is not None and not np.ptp(units.weights)
    return EVEN_SIZES if of_sizes else EVEN_WEIGHTS


def _explained_weights(scores: Scores, row: int) -> float:
    """Adjusted R² of log weights on the features of the units of one sample, within strata.

    Ratios of densities are functions of the direction, and mostly smooth ones.
    """
    w = scores.base[row] * scores.share[row]
    some = np.flatnonzero(w > 0.0)
    strata = None if scores.units is None else scores.units.strata
    of = np.zeros(len(some), dtype=np.int64) if strata is None else strata[some]
    _, of = np.unique(of, return_inverse=True)
    table = np.column_stack([np.log(w[some]), scores.h[row, some] / scores.share[row, some, None]])
    sums = np.zeros((int(of.max()) + 1, table.shape[1]))
    np.add.at(sums, of, table)
    table -= (sums / np.bincount(of)[:, None])[of]
    total, dof = float(table[:, 0] @ table[:, 0]), len(some) - len(sums)
    if total <= SPREADLESS or dof <= table.shape[1]:
        return 0.0 if total <= SPREADLESS else 1.0
    fitted = table[:, 1:] @ np.linalg.lstsq(table[:, 1:], table[:, 0])[0]
    left = table[:, 0] - fitted
    return 1.0 - float(left @ left) / total * dof / (dof - table.shape[1] + 1.0)


def judged(scores: Scores) -> BoolArray:
    """Which samples of a stack can judge the level, (B,)."""
    told = (dominating(scores) < 0) & ~too_uneven(scores)
    return np.asarray(told & ~one_sided(scores))


def needs_calibration(scores: Scores) -> BoolArray:
    """Rows of one law with too few of them per feature, or one of too high leverage, (B,)."""
    if not scores.rows:
        return np.zeros(len(scores.h), dtype=np.bool_)
    few = effective_rows(scores) < PER_FEATURE * scores.h.shape[2]
    return np.asarray(few | (scores.top_leverage > LEVERAGE))


def tails_of_few(scores: Scores) -> BoolArray:
    """Rows of which few carry a variance that the fit below does not explain, (B,).

    The tilt then takes away what little carries it, and draws of the fit below, which have not
    these tails, do not show that. Where twice as many features are fitted as added, as for two
    opposite heaps at level 3 of the circle, a 1 % test rejected up to 7 % of the time; with the
    covariance centred at the null it does not.
    """
    if not scores.rows or scores.below < 2 * scores.q:
        return np.zeros(len(scores.h), dtype=np.bool_)
    carried = scores.carried("damped")
    few = np.einsum("bu,bu->b", carried, carried) * FEW_CARRIERS * scores.h.shape[2] > 1.0
    damped, centred = (2.0 * scores.coefficients(k).mean(axis=1) for k in _SPREADS)
    wide = (damped > WIDER_SPREAD) | (centred > FAR_WIDER_SPREAD)
    return np.asarray(few & wide)


def needs_resampling(scores: Scores) -> BoolArray:
    """Units that brought their weights, too few for what fitting the levels below does, (B,).

    Stretches of a chain are few and tested conservatively as it is.
    """
    serial = scores.units is not None and scores.units.serial
    if scores.rows or not scores.below or serial:
        return np.zeros(len(scores.h), dtype=np.bool_)
    return np.asarray(effective_rows(scores) < SETTLED_UNITS * scores.h.shape[2])


def _weight_shares(scores: Scores) -> Array:
    w = scores.base * scores.share
    if scores.units is None:
        w = w * w
    return np.asarray(w / w.sum(axis=1, keepdims=True))


def effective_rows(scores: Scores) -> Array:
    """Kish's effective number of the units: as many of equal weight are as uneven, (B,)."""
    w = scores.base * scores.share
    return np.asarray(w.sum(axis=1) ** 2 / np.einsum("bu,bu->b", w, w))


def mixture_sf(t: ArrayLike, coefficients: ArrayLike, dof: float = np.inf) -> Array:
    """P(Σ_j coefficients_j χ²_1 > t), which p-values of scores are: one for each t, (R,).

    Accurate relative to itself, however small, by a contour through the saddle of the moment
    generating function (`steradian.numerics.chi_square_mixture`).

    Parameters
    ----------
    t : array_like, (R,)
        Where the tails begin.
    coefficients : array_like, (R, q) or (q,)
        Not negative; a row for each ``t``, or one for all. A row of zeros has no tail above zero.
    dof : float
        Degrees of freedom ν of an estimated scale: the tail begins at t χ²_ν / ν then.

    Examples
    --------
    >>> from steradian.paper import mixture_sf
    >>> mixture_sf([5.991464547107979], [1.0, 1.0]).round(12).tolist()
    [0.05]
    """
    try:
        tails = chi_square_mixture.mixture_sf(t, coefficients, dof)
    except ValueError as error:  # numerics know nothing of our errors; the words are theirs
        raise InvalidArgument(str(error)) from error
    unknown = np.isnan(np.atleast_1d(np.asarray(t, dtype=np.float64)))
    if unknown.any():
        raise InvalidArgument(f"t[{int(np.argmax(unknown))}] is nan; leave out what has no value")
    return tails
