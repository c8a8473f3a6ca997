"""steradian: what a mean direction hides.

Geometric information decomposition of weighted directions: nested maximum-entropy fits
(von Mises-Fisher, Fisher-Bingham, spherical harmonics) and the information in nats that
each level adds.
"""

from steradian import designs, examples
from steradian.adequacy import kernels
from steradian.adequacy.mmd import Mmd
from steradian.adequacy.residuals import Residuals
from steradian.adequacy.ridge import RidgeNotExact, ridge
from steradian.adequacy.trust import Trust
from steradian.data.directions import Directions
from steradian.data.moments import Moments
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
from steradian.estimation.bootstrap import Bootstrap, bootstrap
from steradian.estimation.intervals import GapIntervals
from steradian.estimation.order import OrderChoice, choose_order
from steradian.existence.boundary import Boundary, boundary
from steradian.existence.certificate import Certificate
from steradian.fitting.fisher_bingham import FisherBingham
from steradian.fitting.fitted import Numerics
from steradian.fitting.maxent import MaxEntFit
from steradian.fitting.shrinkage import Shrinkage
from steradian.hierarchies import Axial, Custom, Harmonics, Interactions, TorusHarmonics
from steradian.io.tables import read_directions
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.profile import Profile, Profiles, profile, profiles
from steradian.significance.gap_tests import GapTests
from steradian.significance.sample_tests import SampleTests, sample_tests
from steradian.significance.uniformity import Uniformity
from steradian.spaces import Axes, Rotations, Rule, Space, Torus

__version__ = "0.1.0"

__all__ = [
    "Axes",
    "Axial",
    "Bootstrap",
    "Boundary",
    "BoundaryError",
    "Certificate",
    "ConvergenceError",
    "Custom",
    "DesignError",
    "Directions",
    "FisherBingham",
    "GapIntervals",
    "GapTests",
    "Harmonics",
    "Interactions",
    "InvalidArgument",
    "InvalidDirections",
    "MaxEntFit",
    "MissingExtra",
    "Mmd",
    "Moments",
    "Numerics",
    "OrderChoice",
    "Profile",
    "Profiles",
    "Residuals",
    "ResolutionError",
    "RidgeNotExact",
    "Rotations",
    "Rule",
    "SampleTests",
    "Shrinkage",
    "Space",
    "SteradianError",
    "Torus",
    "TorusHarmonics",
    "Trust",
    "Uniformity",
    "bootstrap",
    "boundary",
    "choose_order",
    "designs",
    "examples",
    "kernels",
    "mixture_sf",
    "profile",
    "profiles",
    "read_directions",
    "ridge",
    "sample_tests",
]
