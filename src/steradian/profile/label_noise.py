"""What a point seems to tell about a label that means nothing.

Fits of groups follow their own rows, so that JS of the fits is above that of the laws even where
all groups have one law. To first order that is what noise adds to J of one right fit,

    E JS ≈ (G - 1) q / 2n,

near enough while it is at most a tenth of the entropy H(π): a sixth low in the worst of the laws
that were tried. Beyond it JS bends towards H(π) and J does not, and the labels of whole units are
shuffled, all groups fitted again and JS averaged over a few such draws.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steradian.errors import SteradianError
from steradian.fitting.label_information import group_densities
from steradian.fitting.nested import fit_levels
from steradian.inference.group_intervals import plain_noise
from steradian.inference.group_steps import shuffling_refusal
from steradian.inference.sample import GroupedRows, GroupedSample
from steradian.numerics.arrays import IntArray
from steradian.profile.grouping import Groups

_FIRST_ORDER = 0.1  # of the entropy, up to which the first order is good
_SHUFFLES = 5  # of which JS varies by a tenth of itself, and less in high dimension
_QUICK = 10_000_000  # features of rows, above which one shuffle must do


def label_noise(sample: GroupedSample, entropy: float) -> float:
    """JS on average where labels mean nothing, nats; NaN where nothing tells."""
    try:
        sample.check_inference()
        if sample.has_units and shuffling_refusal(sample):
            return np.nan  # a unit that has rows of several groups is noise of none
        first_order = float(plain_noise(sample).sum())
        if first_order <= _FIRST_ORDER * entropy:
            return first_order
        found = [_information(sample, labels) for labels in _shuffled_labels(sample)]
    except SteradianError:  # no design, no rows, or fits too sharp to be looked at
        return np.nan
    known = [value for value in found if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


def _shuffled_labels(sample: GroupedSample, seed: int = 0) -> Iterator[IntArray]:
    """Labels of the rows after those of their units were shuffled, within strata."""
    rows, units = sample.known_rows, sample.observed_units
    rng, many = np.random.default_rng(seed), rows.directions.n * sum(sample.hierarchy.dims)
    strata = np.zeros(units.count, dtype=np.int64) if units.strata is None else units.strata
    for _ in range(_SHUFFLES if many <= _QUICK else 1):
        groups = sample.group_of_unit.copy()
        for stratum in np.unique(strata):
            here = np.flatnonzero(strata == stratum)
            groups[here] = groups[rng.permutation(here)]
        yield groups if units.labels is None else groups[units.labels]


def _information(sample: GroupedSample, labels: IntArray) -> float:
    """JS of groups with other labels and the same shares; NaN where one has no fit."""
    rows = GroupedRows(sample.known_rows.directions, labels)
    groups = Groups(sample.names, rows, (), sample.design)
    fits = fit_levels(sample.hierarchy, groups.moments(sample.hierarchy), groups.support())
    if fits.failures:
        return np.nan
    seen, _ = group_densities(sample.hierarchy, fits, sample.shares, 0)
    return seen.information(sample.shares)[0]
