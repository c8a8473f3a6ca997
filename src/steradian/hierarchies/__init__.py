"""What is measured: nested spaces of features."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steradian.hierarchies.axial import Axial
    from steradian.hierarchies.base import Hierarchy
    from steradian.hierarchies.chosen import LowRank, Zonal
    from steradian.hierarchies.custom import Custom
    from steradian.hierarchies.harmonics import Harmonics
    from steradian.hierarchies.quadratics import Blocks, Diagonal, Quadratics
    from steradian.hierarchies.recipe import OnSplits, Recipe, SameRows, Split
    from steradian.hierarchies.registry import hierarchy_from_dict, register_hierarchy
    from steradian.hierarchies.relative import Against
    from steradian.hierarchies.sketch import Sketch
    from steradian.hierarchies.stacked import Stacked
    from steradian.hierarchies.torus import Interactions, TorusHarmonics

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

if not TYPE_CHECKING:  # a checker would take every name for one of ours
    from steradian.lazy import names_on_demand

    _HOMES = {
        "axial": ["Axial"],
        "base": ["Hierarchy"],
        "chosen": ["LowRank", "Zonal"],
        "recipe": ["OnSplits", "Recipe", "SameRows", "Split"],
        "custom": ["Custom"],
        "harmonics": ["Harmonics"],
        "quadratics": ["Blocks", "Diagonal", "Quadratics"],
        "registry": ["hierarchy_from_dict", "register_hierarchy"],
        "relative": ["Against"],
        "sketch": ["Sketch"],
        "stacked": ["Stacked"],
        "torus": ["Interactions", "TorusHarmonics"],
    }
    __getattr__ = names_on_demand(__name__, _HOMES)
