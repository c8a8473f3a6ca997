"""Statistics of samples that obey a level's null, drawn from the reduced fit or by multipliers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from steradian.errors import DesignError
from steradian.fitting.nested import NestedFits
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import Array
from steradian.progress import drawn_chunks
from steradian.significance.redrawn.drawn_samples import FitsBelow, fits_of_samples
from steradian.significance.sample import Sample
from steradian.significance.scores import Covariance, Scores

MOST_LOST = 0.5
"""Share of replicates without a fit above which the others say nothing."""

_FIRST = 64  # samples of the first piece, after which many p-values are known


def score_replicates(sample: Sample, level: int, replicates: int, seed: int) -> Iterator[Array]:
    """Score statistics of samples of the reduced fit, some at a time; none of those without one.

    Infinite where the fit was not looked for.
    """
    hierarchy = sample.hierarchy.up_to(level)
    width = _width(hierarchy, level)
    near = sample.fits[level - 1].lam
    for x, weights in samples_of_fit(sample, level - 1, replicates, seed, width):
        stack = hierarchy.stack(x, weights)
        below = FitsBelow.of(hierarchy, level, stack, (x, weights), near)
        found = 0.5 * sample.own_rate**2 * below.squares(stack)
        yield np.asarray(found[~np.isnan(found)])


def gap_replicates(sample: Sample, level: int, replicates: int, seed: int) -> Iterator[Array]:
    """a² I of samples of the reduced fit, some at a time; none of those without one.

    Infinite where the fit was not looked for.
    """
    for fits in _fits(sample, level, replicates, seed):
        gaps = fits.gaps[:, level - 1]
        gaps[fits.lost_rows] = np.inf
        yield np.asarray(sample.own_rate**2 * gaps[~np.isnan(gaps)])


def gap_replicates_of(sample: Sample, level: int, replicates: int, seed: int) -> Array:
    """I of samples of the reduced fit, (replicates,); NaN where there is no fit."""
    found = _fits(sample, level, replicates, seed)
    return np.concatenate([fits.gaps[:, level - 1] for fits in found])


def _fits(sample: Sample, level: int, replicates: int, seed: int) -> Iterator[NestedFits]:
    hierarchy = sample.hierarchy.up_to(level)
    width = _width(hierarchy, level)
    for x, weights in samples_of_fit(sample, level - 1, replicates, seed, width):
        yield fits_of_samples(hierarchy, x, weights)


def multiplier_replicates(
    scores: Scores, kind: Covariance, replicates: int, seed: int
) -> Iterator[Array]:
    """½ |Σ ε_g √weight_g h_g|² with random signs ε and the weights of Ω, some at a time.

    Their covariance given the units is the Ω that the exact tail takes its coefficients from.
    """
    rng = np.random.default_rng(seed)
    rows = scores.spread_out(kind)[0]
    dof = scores.tail_dof(kind)
    for piece in drawn_chunks(replicates, len(rows), "random signs"):
        signs = rng.integers(0, 2, (piece.stop - piece.start, len(rows))) * 2.0 - 1.0
        found = ((signs @ rows) ** 2).sum(axis=1)
        if np.isfinite(dof):
            found *= dof / rng.chisquare(dof, len(found))
        yield np.asarray(0.5 * found)


def tail_replicates(
    coefficients: Array, dof: float, replicates: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Draws of the law that `mixture_sf` inverts, some at a time."""
    for piece in drawn_chunks(replicates, len(coefficients), "draws of the tail"):
        found = rng.chisquare(1.0, (piece.stop - piece.start, len(coefficients))) @ coefficients
        if np.isfinite(dof):
            found *= dof / rng.chisquare(dof, len(found))
        yield found


def add_one(value: float, null: Iterable[Array]) -> float:
    """Share of replicates that come some at a time not below ``value``, which counts as one."""
    seen, above = 1, 1
    for some in null:
        seen, above = seen + len(some), above + int(np.sum(some >= value))
    return above / seen


def among(value: float, pieces: Iterable[Array], enough: int) -> tuple[float, float]:
    """P-value of ``value`` among replicates that come some at a time.

    With ``enough`` of them not below it, that number over how many it took (Besag and Clifford,
    Biometrika 78, 1991), and no more are asked for; else the add-one share of all. With it the
    share of infinite ones, by which it may be too large; beyond `MOST_LOST` no more are asked for.

    Raises
    ------
    DesignError
        When there is none.
    """
    found = np.zeros(0)
    for piece in pieces:
        found = np.concatenate([found, piece])
        above = np.flatnonzero(found >= value)
        if len(above) >= enough:
            return float(enough / (above[enough - 1] + 1)), float(np.isinf(found).mean())
        if len(found) and np.isinf(found).mean() > MOST_LOST:
            break
    if not len(found):
        raise DesignError("no replicate has a fit, so the bootstrap says nothing; use fewer levels")
    return add_one(value, [found]), float(np.isinf(found).mean())


def _width(hierarchy: Hierarchy, level: int) -> int:
    """Numbers per row that are held of a level: its features, where these are formed."""
    return hierarchy.q(level) if hierarchy.family(level).forms_matrices else hierarchy.space.d


def samples_of_fit(
    sample: Sample, level: int, replicates: int, seed: int, features: int
) -> Iterator[tuple[Array, Array]]:
    """Chunks of samples (b, n, d) of the fit of ``level``, with the observed weights (b, n)."""
    fit, n, d = sample.fits[level], sample.moments.n, sample.hierarchy.space.d
    w = sample.units.weights if sample.has_rows else np.full(n, 1.0 / n)
    rng = np.random.default_rng([seed, level + 1])
    what = f"samples of the fit of level {level}"
    for piece in drawn_chunks(replicates, n * max(features, d), what, first=_FIRST):
        count = piece.stop - piece.start
        with np.errstate(all="ignore"):  # of fits so sharp that their samples have none
            yield fit.sample(count * n, rng).reshape(count, n, d), np.broadcast_to(w, (count, n))
