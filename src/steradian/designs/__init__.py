"""Sampling designs: how the weights came to be decides what a standard error means.

A design turns the rows of a sample into independent `Units`; covariances, tests, intervals and
bootstraps follow from those. Without weights the default is `IID`, with weights `Descriptive`:
nothing is guessed.
"""

from __future__ import annotations

from steradian.designs.base import Design
from steradian.designs.dependent import Chain, Clusters, Survey
from steradian.designs.registry import as_design as as_design
from steradian.designs.rows import IID, FixedWeights, Importance
from steradian.designs.without_units import Descriptive, Known

__all__ = [
    "IID",
    "Chain",
    "Clusters",
    "Descriptive",
    "Design",
    "FixedWeights",
    "Importance",
    "Known",
    "Survey",
]
