"""Which samples a test can judge, and which it must first calibrate on draws of the reduced fit.

Both are seen in the scores of the units alone, so that single tests, stacks of samples and
bootstraps decide alike.
"""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import SPREADLESS
from steradian.significance.scores import Covariance, Scores

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
