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
from steradian.progress import tracked
from steradian.significance.grouped_sample import GroupedSample

_ENOUGH = 20  # gaps as large as the observed one that settle where it stands


def gap_standing(
    sample: GroupedSample, lam: Array, observed: float, replicates: int, seed: int
) -> float:
    """P-value of a gap from samples of the laws ``lam`` (G, q); stops at twenty as large.

    Samples without a fit count as larger (Besag and Clifford, Biometrika 78, 1991).
    """
    rng, reached, seen = np.random.default_rng(seed), 0, 0
    for _ in tracked(range(replicates), replicates, "samples of the null"):
        seen += 1
        reached += not _gap(sample, lam, rng) < observed
        if reached == _ENOUGH:
            return reached / seen
    return (reached + 1.0) / (seen + 1.0)


def _gap(sample: GroupedSample, lam: Array, rng: np.random.Generator) -> float:
    """D(W_L) - D(W_{L-1}) of drawn groups; NaN where there is none."""
    hierarchy, shares = sample.hierarchy, sample.shares
    family, rows, units = hierarchy.family(hierarchy.levels), sample.known_rows, sample.units
    parts = []
    for group, law in enumerate(lam):
        weights = units.weights[rows.of(group)] / shares[group]
        x = family.sample(law, len(weights), rng)
        parts.append(hierarchy.stack(x[None], weights[None]))
    stack = MomentStack.concatenated(parts)
    own = hierarchy.q(hierarchy.levels - 1)
    shared = family.shared_fit(stack, shares, own) if isinstance(family, SharesParameters) else None
    if shared is None or shared.status[0] != Status.CONVERGED:
        return np.nan
    groups = fit_levels(hierarchy, stack)
    return float(shares @ groups.deficits[:, -1] - shared.deficit[0])
