"""The whole public API, one import line each; ``import steradian`` brings it when it is needed."""

from steradian import designs, examples, plots, results
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
from steradian.spaces import Axes, Circle, Hypersphere, Rotations, Space, Sphere, Torus

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
    "designs",
    "examples",
    "kernels",
    "moments",
    "plots",
    "profile",
    "profiles",
    "read_directions",
    "register_hierarchy",
    "results",
]
