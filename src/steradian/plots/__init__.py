"""Results to axes: every function draws a result on axes and computes no statistics.

Each takes a result, and the axes to draw on or makes new ones as wide as a column of a journal.
Needs matplotlib: ``pip install 'steradian[plots]'``.
"""

from __future__ import annotations

from steradian.plots.calibration import pvalue_ecdf
from steradian.plots.choice import density, overview
from steradian.plots.circle import circle_densities
from steradian.plots.cloud import sphere_cloud
from steradian.plots.comparison import between, group_gaps
from steradian.plots.gap_bars import gaps
from steradian.plots.level_rows import bootstrap_replicates, gap_intervals, gap_pvalues
from steradian.plots.local_form import local_form
from steradian.plots.mixing_curves import sensitivity_curves
from steradian.plots.order_table import order_criteria
from steradian.plots.residual_degrees import residual_spectrum
from steradian.plots.rose_diagram import rose
from steradian.plots.spectrum import nats_per_degree
from steradian.plots.sphere_maps import globe, mollweide, stereonet
from steradian.plots.split_rows import split_gaps
from steradian.plots.torus_map import ramachandran
from steradian.plots.weighting_map import weighting_gaps

__all__ = [
    "between",
    "bootstrap_replicates",
    "circle_densities",
    "density",
    "gap_intervals",
    "gap_pvalues",
    "gaps",
    "globe",
    "group_gaps",
    "local_form",
    "mollweide",
    "nats_per_degree",
    "order_criteria",
    "overview",
    "pvalue_ecdf",
    "ramachandran",
    "residual_spectrum",
    "rose",
    "sensitivity_curves",
    "sphere_cloud",
    "split_gaps",
    "stereonet",
    "weighting_gaps",
]
