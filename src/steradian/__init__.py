"""steradian: what a mean direction hides.

Geometric information decomposition of weighted directions: nested maximum-entropy fits
(von Mises-Fisher, Fisher-Bingham, spherical harmonics) and the information in nats that
each level adds.
"""

import typing as _typing

if _typing.TYPE_CHECKING:  # one line for each name, as checkers read them
    from steradian import conformance, designs, examples, plots, results
    from steradian.adequacy import kernels
    from steradian.batches import Permutation, profiles
    from steradian.comparison import compare
    from steradian.data.directions import Directions
    from steradian.data.moments import Moments
    from steradian.data.summation import moments
    from steradian.decomposition import profile
    from steradian.errors import (
        BoundaryError,
        ConvergenceError,
        DesignError,
        InvalidArgument,
        InvalidDirections,
        MissingExtra,
        ResolutionError,
        SteradianError,
    )
    from steradian.existence.boundary import boundary
    from steradian.fitting.fisher_bingham import FisherBingham
    from steradian.fitting.shrinkage import Shrinkage
    from steradian.hierarchies import (
        Axial,
        Blocks,
        Custom,
        Diagonal,
        Harmonics,
        Interactions,
        LowRank,
        Quadratics,
        Sketch,
        Stacked,
        TorusHarmonics,
        Zonal,
        register_hierarchy,
    )
    from steradian.inference.bootstrap import bootstrap
    from steradian.inference.order import choose_order
    from steradian.io.tables import read_directions
    from steradian.references.healpix import HealpixMap
    from steradian.references.mask import Mask
    from steradian.regression import regress
    from steradian.spaces import Axes, Circle, Hypersphere, Rotations, Space, Sphere, Torus

__version__ = "0.1.0"

__all__ = [
    "Axes",
    "Axial",
    "Blocks",
    "BoundaryError",
    "Circle",
    "ConvergenceError",
    "Custom",
    "DesignError",
    "Diagonal",
    "Directions",
    "FisherBingham",
    "Harmonics",
    "HealpixMap",
    "Hypersphere",
    "Interactions",
    "InvalidArgument",
    "InvalidDirections",
    "LowRank",
    "Mask",
    "MissingExtra",
    "Moments",
    "Permutation",
    "Quadratics",
    "ResolutionError",
    "Rotations",
    "Shrinkage",
    "Sketch",
    "Space",
    "Sphere",
    "Stacked",
    "SteradianError",
    "Torus",
    "TorusHarmonics",
    "Zonal",
    "bootstrap",
    "boundary",
    "choose_order",
    "compare",
    "conformance",
    "designs",
    "examples",
    "kernels",
    "moments",
    "plots",
    "profile",
    "profiles",
    "read_directions",
    "register_hierarchy",
    "regress",
    "results",
]

if not _typing.TYPE_CHECKING:  # a checker would take every name for one of ours
    from steradian.lazy import names_on_demand as _names_on_demand

    _HOMES = {  # which module has each name, and modules that are names themselves
        "designs": [],
        "examples": [],
        "plots": [],
        "results": [],
        "adequacy.kernels": ["kernels"],
        "batches": ["Permutation", "profiles"],
        "comparison": ["compare"],
        "data.directions": ["Directions"],
        "data.moments": ["Moments"],
        "data.summation": ["moments"],
        "decomposition": ["profile"],
        "errors": [
            "BoundaryError",
            "ConvergenceError",
            "DesignError",
            "InvalidArgument",
            "InvalidDirections",
            "MissingExtra",
            "ResolutionError",
            "SteradianError",
        ],
        "existence.boundary": ["boundary"],
        "fitting.fisher_bingham": ["FisherBingham"],
        "fitting.shrinkage": ["Shrinkage"],
        "hierarchies": [
            "Axial",
            "Blocks",
            "Custom",
            "Diagonal",
            "Harmonics",
            "Interactions",
            "LowRank",
            "Quadratics",
            "Sketch",
            "Stacked",
            "TorusHarmonics",
            "Zonal",
            "register_hierarchy",
        ],
        "inference.bootstrap": ["bootstrap"],
        "inference.order": ["choose_order"],
        "io.tables": ["read_directions"],
        "references.healpix": ["HealpixMap"],
        "references.mask": ["Mask"],
        "regression": ["regress"],
        "spaces": ["Axes", "Circle", "Hypersphere", "Rotations", "Space", "Sphere", "Torus"],
        "conformance": [],
    }
    __getattr__ = _names_on_demand(__name__, _HOMES)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
