"""What is measured: nested spaces of features."""

from __future__ import annotations

from steradian.hierarchies.axial import Axial
from steradian.hierarchies.base import Hierarchy
from steradian.hierarchies.chosen import LowRank, OnSplits, Recipe, SameRows, Split, Zonal
from steradian.hierarchies.custom import Custom
from steradian.hierarchies.harmonics import Harmonics
from steradian.hierarchies.quadratics import Blocks, Diagonal, Quadratics
from steradian.hierarchies.registry import hierarchy_from_dict, register_hierarchy
from steradian.hierarchies.relative import Against
from steradian.hierarchies.sketch import Sketch
from steradian.hierarchies.stacked import Stacked
from steradian.hierarchies.torus import Interactions, TorusHarmonics

NodeHierarchy = Hierarchy  # as it was called

__all__ = [
    "Against",
    "Axial",
    "Blocks",
    "Custom",
    "Diagonal",
    "Harmonics",
    "Hierarchy",
    "Interactions",
    "LowRank",
    "NodeHierarchy",
    "OnSplits",
    "Quadratics",
    "Recipe",
    "SameRows",
    "Sketch",
    "Split",
    "Stacked",
    "TorusHarmonics",
    "Zonal",
    "hierarchy_from_dict",
    "register_hierarchy",
]
