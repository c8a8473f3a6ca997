"""Where the gap of the highest level of a comparison stands among those of drawn groups.

For levels with so many features that no matrix of them is formed: groups are drawn from the fit in
which they share what the level adds, and both spaces are fitted again to each sample.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.families.base import SharesParameters
from steradian.fitting.nested import fit_levels
from steradian.fitting.solution import Status
from steradian.numerics.arrays import Array
from steradian.progress import tracked
from steradian.significance.grouped_sample import GroupedSample
from steradian.significance.replicates import Replicates

_AHEAD = 20_000  # coordinates that are drawn at a time: setting up a sampler takes long


def gap_standing(sample: GroupedSample, lam: Array, observed: float, many: Replicates) -> float:
    """P-value of a gap from samples of the laws ``lam`` (G, q); samples without a fit are larger.

    Stops where enough are as large: see `significance.replicates`.
    """
    reached, seen = 0, 0
    drawn = _drawn(sample, lam, np.random.default_rng(many.seed))
    for _ in tracked(range(many.samples), many.samples, "samples of the null"):
        seen += 1
        reached += not _gap(sample, next(drawn)) < observed
        if reached == many.enough:
            return reached / seen
    return (reached + 1.0) / (seen + 1.0)


def _drawn(sample: GroupedSample, lam: Array, rng: np.random.Generator) -> Iterator[list[Array]]:
    """Rows (n_g, d) of all groups, for one sample after another without an end."""
    family, sizes = sample.hierarchy.family(sample.hierarchy.levels), sample.sizes
    count = max(1, _AHEAD // (int(sizes.sum()) * sample.hierarchy.space.d))
    while True:
        ahead = [
            family.sample(law, count * size, rng).reshape(count, size, -1)
            for law, size in zip(lam, sizes.tolist(), strict=True)
        ]
        for k in range(count):
            yield [rows[k] for rows in ahead]


def _gap(sample: GroupedSample, drawn: list[Array]) -> float:
    """D(W_L) - D(W_{L-1}) of drawn groups; NaN where there is none."""
    hierarchy, shares = sample.hierarchy, sample.shares
    family, rows, units = hierarchy.family(hierarchy.levels), sample.known_rows, sample.units
    parts = []
    for group, x in enumerate(drawn):
        weights = units.weights[rows.of(group)] / shares[group]
        parts.append(hierarchy.stack(x[None], weights[None]))
    stack = MomentStack.concatenated(parts)
    own = hierarchy.q(hierarchy.levels - 1)
    shared = family.shared_fit(stack, shares, own) if isinstance(family, SharesParameters) else None
    if shared is None or shared.status[0] != Status.CONVERGED:
        return np.nan
    groups = fit_levels(hierarchy, stack)
    return float(shares @ groups.deficits[:, -1] - shared.deficit[0])
