"""What is measured: nested spaces of features."""

from __future__ import annotations

from steradian.hierarchies.against import Against
from steradian.hierarchies.axial import Axial
from steradian.hierarchies.bare import BareHierarchy
from steradian.hierarchies.base import Hierarchy
from steradian.hierarchies.chosen import OnSplits, Recipe, SameRows, Split
from steradian.hierarchies.constructors import LowRank, Zonal
from steradian.hierarchies.custom import Custom
from steradian.hierarchies.harmonics import Harmonics
from steradian.hierarchies.interactions import Interactions
from steradian.hierarchies.on_nodes import NodeHierarchy
from steradian.hierarchies.quadratics import Blocks, Diagonal, Quadratics
from steradian.hierarchies.registry import hierarchy_from_dict, register_hierarchy
from steradian.hierarchies.sketch import Sketch
from steradian.hierarchies.stacked import Stacked
from steradian.hierarchies.torus_harmonics import TorusHarmonics

__all__ = [
    "Against",
    "Axial",
    "BareHierarchy",
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
