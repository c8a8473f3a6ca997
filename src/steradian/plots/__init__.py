"""Results to axes: every function draws a result on axes and computes no statistics.

Each takes a result, and the axes to draw on or makes new ones as wide as a column of a journal.
Needs matplotlib: ``pip install 'steradian[plots]'``.
"""

from __future__ import annotations

from steradian.plots.circle import circle_densities, rose
from steradian.plots.curves import nats_per_degree, residual_spectrum, sensitivity_curves
from steradian.plots.gap_bars import between, gaps, group_gaps
from steradian.plots.level_rows import (
    bootstrap_replicates,
    gap_intervals,
    gap_pvalues,
    order_criteria,
    split_gaps,
)
from steradian.plots.overview import density, overview
from steradian.plots.regression import along, information_along, mean_along
from steradian.plots.sphere_maps import globe, mollweide, stereonet
from steradian.plots.torus_map import ramachandran
from steradian.plots.weighting_map import weighting_gaps

__all__ = [
    "along",
    "between",
    "bootstrap_replicates",
    "circle_densities",
    "density",
    "gap_intervals",
    "gap_pvalues",
    "gaps",
    "globe",
    "group_gaps",
    "information_along",
    "mean_along",
    "mollweide",
    "nats_per_degree",
    "order_criteria",
    "overview",
    "ramachandran",
    "residual_spectrum",
    "rose",
    "sensitivity_curves",
    "split_gaps",
    "stereonet",
    "weighting_gaps",
]
