"""steradian: what a mean direction hides.

Geometric information decomposition of weighted directions: nested maximum-entropy fits
(von Mises-Fisher, Fisher-Bingham, spherical harmonics) and the information in nats that
each level adds.
"""

from steradian import examples
from steradian.directions import Directions
from steradian.errors import (
    BoundaryError,
    ConvergenceError,
    InvalidDirections,
    MissingExtra,
    ResolutionError,
    SteradianError,
)
from steradian.fisher_bingham import FisherBingham
from steradian.fit import MaxEntFit
from steradian.fitted import Numerics
from steradian.hierarchies import Harmonics
from steradian.io.tables import read_directions
from steradian.moments import Moments
from steradian.profile import Profile, profile
from steradian.profiles import Profiles, profiles
from steradian.shrinkage import Shrinkage

__version__ = "0.1.0"

__all__ = [
    "BoundaryError",
    "ConvergenceError",
    "Directions",
    "FisherBingham",
    "Harmonics",
    "InvalidDirections",
    "MaxEntFit",
    "MissingExtra",
    "Moments",
    "Numerics",
    "Profile",
    "Profiles",
    "ResolutionError",
    "Shrinkage",
    "SteradianError",
    "examples",
    "profile",
    "profiles",
    "read_directions",
]
