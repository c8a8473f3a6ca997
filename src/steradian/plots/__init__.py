"""Results to axes: every function draws on the Axes it is given and computes no statistics.

Needs matplotlib: ``pip install 'steradian[plots]'``.
"""

from __future__ import annotations

from steradian.plots.calibration import pvalue_ecdf
from steradian.plots.circle import circle_densities
from steradian.plots.cloud import sphere_cloud
from steradian.plots.fingerprint import fingerprint
from steradian.plots.local_form import local_form

__all__ = ["circle_densities", "fingerprint", "local_form", "pvalue_ecdf", "sphere_cloud"]
