"""The whole public API, one import line each; ``import steradian`` brings it when it is needed."""

from steradian import designs, examples, plots
from steradian.adequacy import kernels
from steradian.adequacy.beyond import Beyond
from steradian.adequacy.left_out import LeftOut
from steradian.adequacy.mmd import Mmd
from steradian.adequacy.residuals import Residuals
from steradian.adequacy.sensitivity import RidgeNotExact, ridge
from steradian.adequacy.trust import Trust
from steradian.batches import Permutation, Profiles, profiles
from steradian.comparison import Comparison, compare
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.summation import moments
from steradian.decomposition import Profile, profile
from steradian.errors import (
    BoundaryError,
    ConformanceError,
    ConvergenceError,
    DesignError,
    InvalidArgument,
    InvalidDirections,
    MissingExtra,
    ResolutionError,
    SteradianError,
)
from steradian.existence.boundary import Boundary, boundary
from steradian.existence.certificate import Certificate
from steradian.fitting.fisher_bingham import FisherBingham
from steradian.fitting.fitted import Numerics
from steradian.fitting.maxent import MaxEntFit
from steradian.fitting.shrinkage import Shrinkage
from steradian.hierarchies import (
    Axial,
    Blocks,
    Custom,
    Diagonal,
    Harmonics,
    Interactions,
    LowRank,
    OnSplits,
    Quadratics,
    SameRows,
    Sketch,
    Split,
    Stacked,
    TorusHarmonics,
    Zonal,
    register_hierarchy,
)
from steradian.inference.bootstrap import Bootstrap, bootstrap
from steradian.inference.gap_tests import GapTests, SplitTests, Uniformity
from steradian.inference.intervals import GapIntervals, SplitIntervals
from steradian.inference.order import OrderChoice, choose_order
from steradian.inference.sample_tests import SampleTests, sample_tests
from steradian.inference.scores import mixture_sf
from steradian.io.tables import read_directions
from steradian.references.healpix import HealpixMap
from steradian.references.mask import Mask
from steradian.repeated_sketches import Sketches, sketches
from steradian.spaces import Axes, Circle, Hypersphere, Rotations, Rule, Space, Sphere, Torus
from steradian.spectrum import Spectrum
from steradian.splits import SplitProfile

__all__ = [
    "Axes",
    "Axial",
    "Beyond",
    "Blocks",
    "Bootstrap",
    "Boundary",
    "BoundaryError",
    "Certificate",
    "Circle",
    "Comparison",
    "ConformanceError",
    "ConvergenceError",
    "Custom",
    "DesignError",
    "Diagonal",
    "Directions",
    "FisherBingham",
    "GapIntervals",
    "GapTests",
    "Harmonics",
    "HealpixMap",
    "Hypersphere",
    "Interactions",
    "InvalidArgument",
    "InvalidDirections",
    "LeftOut",
    "LowRank",
    "Mask",
    "MaxEntFit",
    "MissingExtra",
    "Mmd",
    "Moments",
    "Numerics",
    "OnSplits",
    "OrderChoice",
    "Permutation",
    "Profile",
    "Profiles",
    "Quadratics",
    "Residuals",
    "ResolutionError",
    "RidgeNotExact",
    "Rotations",
    "Rule",
    "SameRows",
    "SampleTests",
    "Shrinkage",
    "Sketch",
    "Sketches",
    "Space",
    "Spectrum",
    "Sphere",
    "Split",
    "SplitIntervals",
    "SplitProfile",
    "SplitTests",
    "Stacked",
    "SteradianError",
    "Torus",
    "TorusHarmonics",
    "Trust",
    "Uniformity",
    "Zonal",
    "bootstrap",
    "boundary",
    "choose_order",
    "compare",
    "designs",
    "examples",
    "kernels",
    "mixture_sf",
    "moments",
    "plots",
    "profile",
    "profiles",
    "read_directions",
    "register_hierarchy",
    "ridge",
    "sample_tests",
    "sketches",
]
