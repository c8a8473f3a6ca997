"""Where the gap of the highest level of a comparison stands among those of drawn groups.

For levels with so many features that no matrix of them is formed: groups are drawn from the fit in
which they share what the level adds, and both spaces are fitted again to each sample.
"""

from __future__ import annotations

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.families.base import SharesParameters
from steradian.fitting.nested import fit_levels
from steradian.fitting.solution import Status
from steradian.numerics.arrays import Array
from steradian.progress import metered
from steradian.significance.groups.grouped_sample import GroupedSample
from steradian.significance.redrawn.replicates import Replicates

_AHEAD = 80_000  # coordinates that are drawn at a time: setting up a sampler takes long
_FIRST, _MOST = 10, 80  # samples of the first chunk, where many p-values are settled, and of any


def gap_standing(sample: GroupedSample, lam: Array, observed: float, many: Replicates) -> float:
    """P-value of a gap from samples of the laws ``lam`` (G, q); samples without a fit are larger.

    Stops where enough are as large: see `significance.replicates`.
    """
    rng, seen, reached = np.random.default_rng(many.seed), 0, 0
    fits = max(1, min(_MOST, _AHEAD // (int(sample.sizes.sum()) * sample.hierarchy.space.d)))
    step = min(_FIRST, fits)
    with metered(many.samples, "samples of the null") as advance:
        while seen < many.samples:
            count = min(step, many.samples - seen)
            gaps = _gaps(sample, _drawn(sample, lam, count, rng))
            large = reached + np.cumsum(~(gaps < observed))
            if large[-1] >= many.enough:
                return many.enough / (seen + int(np.argmax(large >= many.enough)) + 1)
            seen, reached, step = seen + count, int(large[-1]), min(2 * step, fits)
            advance(count)
    return (reached + 1.0) / (seen + 1.0)


def _drawn(sample: GroupedSample, lam: Array, count: int, rng: np.random.Generator) -> MomentStack:
    """Moments of ``count`` samples of all groups, sample by sample."""
    hierarchy, rows, units = sample.hierarchy, sample.known_rows, sample.units
    family, parts = hierarchy.family(hierarchy.levels), []
    for group, (law, size) in enumerate(zip(lam, sample.sizes.tolist(), strict=True)):
        x = family.sample(law, count * size, rng).reshape(count, size, -1)
        weights = units.weights[rows.of(group)] / sample.shares[group]
        parts.append(hierarchy.stack(x, np.broadcast_to(weights, (count, size))))
    order = np.arange(count * len(lam)).reshape(len(lam), count).T.ravel()
    return MomentStack.concatenated(parts).take(order)


def _gaps(sample: GroupedSample, drawn: MomentStack) -> Array:
    """D(W_L) - D(W_{L-1}) of drawn samples; NaN where there is none."""
    hierarchy, shares = sample.hierarchy, sample.shares
    groups = fit_levels(hierarchy, drawn).deficits[:, -1].reshape(-1, len(shares)) @ shares
    return np.asarray(groups - _shared(sample, drawn))


def _shared(sample: GroupedSample, drawn: MomentStack) -> Array:
    """D(W_{L-1}), (S,): together where that is quick, else one by one."""
    hierarchy, shares = sample.hierarchy, sample.shares
    family, own = hierarchy.family(hierarchy.levels), hierarchy.q(hierarchy.levels - 1)
    if not isinstance(family, SharesParameters):
        return np.full(len(drawn) // len(shares), np.nan)
    out = family.shared_deficits(drawn, shares, own)
    each = np.arange(len(drawn)).reshape(-1, len(shares))
    for row in np.flatnonzero(np.isnan(out)):
        found = family.shared_fit(drawn.take(each[row]), shares, own)
        if found is not None and found.status[0] == Status.CONVERGED:
            out[row] = found.deficit[0]
    return out
