"""How much information is left above the highest level, in nats.

The fit p_K of a higher level maximises ``λ·m - ψ(λ)``, so that any parameters bound its deficit
from below. Written about p_L in the leftover ξ (see `adequacy.leftover`), which the fit of level L
has matched nothing of,

    D_K - D_L  =  max_δ { δ·(ĉ - c) - log E_{p_L} exp(δ·ξ) },

up to what moves in the features below. A few Newton steps at the nodes that integrate p_L find it
to the digits that people read; where there is no such fit they go up without end, and nothing is
said. To first order it is ½ (ĉ - c)ᵀ C⁻¹ (ĉ - c) with C the covariance of ξ, and noise alone gives
about one half of the number of features over a².
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from steradian.adequacy.leftover import GriddedLeftover, Leftover, sample_leftover
from steradian.errors import DesignError, ResolutionError
from steradian.families.quadratics.polar_whitening import polar_whitening
from steradian.hierarchies.base import Hierarchy
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import COLLINEAR, GOOD_DEFICIT, NEGLIGIBLE_MASS, TINY
from steradian.significance.sample import Sample

_MOST = 2e8  # products of features at nodes in one step: a tenth of a second
_STEPS, _MANY_STEPS = 12, 60  # of any fit, and of one whose steps are quick
_SHORTEST = 1e-3  # of a Newton step that goes up
_READ = 0.002  # share of the information that nobody reads


def remaining_information(sample: Sample, wide: Hierarchy, level: int, seen: Array) -> float:
    """Nats that the features of ``wide`` above ``level`` would add, or NaN where nobody knows.

    ``seen`` (q_K,) are the moments of the data.
    """
    try:
        left = sample_leftover(sample, wide, level, np.ones(wide.levels))
    except (DesignError, ResolutionError):
        return np.nan
    each = left.by_rows
    return _by_score(sample, left) if each is None else _by_steps(sample, each, seen)


def _by_steps(sample: Sample, left: GriddedLeftover, seen: Array) -> float:
    away = left.excess(seen)
    family = left.hierarchy.family(left.level).resolved_by(sample.rung(left.level))
    if not (left.level and family.has_rule):
        return _first_order(left, away)
    points, mass = family.rule(left.lam, 2 * left.hierarchy.levels)
    kept = mass > NEGLIGIBLE_MASS
    if kept.sum() * (left.q + left.below) ** 2 > _MOST:
        return _first_order(left, away)
    rows = left.rows(points[kept][None])[0]
    target = np.concatenate([seen[: left.below] - left.mean[: left.below], away])
    return _dual_value(rows, np.log(mass[kept]), target)


def _first_order(left: GriddedLeftover, away: Array) -> float:
    """½ (ĉ - c)ᵀ C⁻¹ (ĉ - c), without what rounding alone makes of C."""
    values, axes = np.linalg.eigh(left.covariance)
    kept = values > values[-1] / COLLINEAR
    return 0.5 * float(((axes[:, kept].T @ away) ** 2 / values[kept]).sum())


def _dual_value(rows: Array, logs: Array, target: Array) -> float:
    """``max δ·target - log Σ mass exp(δ·rows)`` by a few Newton steps that only go up.

    NaN where it has no end: no law on these nodes holds more nats than the one on the rarest.
    """
    step = np.zeros(len(target))
    value, most = 0.0, -float(logs.min())
    work = rows.size * rows.shape[1]
    for _ in range(int(np.clip(_STEPS * _MOST / work, _STEPS, _MANY_STEPS))):
        tilted = logs + rows @ step
        share = np.exp(tilted - logsumexp(tilted))
        mean = share @ rows
        centred = rows - mean
        covariance = (centred * share[:, None]).T @ centred
        ridge = np.trace(covariance) / COLLINEAR
        if not ridge > TINY:  # the law has run into single nodes: no law has these moments
            return np.nan
        move = np.linalg.solve(covariance + ridge * np.eye(len(step)), target - mean)
        size = 1.0
        while size > _SHORTEST:
            tried = step + size * move
            found = float(tried @ target - logsumexp(logs + rows @ tried))
            if found > value:
                break
            size *= 0.5
        else:
            small = 0.5 * float(move @ (target - mean)) <= _READ * value + GOOD_DEFICIT
            return value if small else np.nan
        gained, step, value = found - value, tried, found
        if value > most:
            break
        if gained < _READ * value:
            return value
    return np.nan


def _by_score(sample: Sample, left: Leftover) -> float:
    """½ |r|² in closed form: level 1 and all quadratics in any dimension; NaN of sharp laws."""
    white = polar_whitening(left.hierarchy.space.d, sample.parameters(left.level))
    if not white.sound[0]:
        return np.nan
    m = sample.moments
    second = m.scatter / m.weight + np.outer(m.mean, m.mean)
    return 0.5 * float(white.score_of(m.mean[None], second[None])[0])
