"""steradian: what a mean direction hides.

Geometric information decomposition of weighted directions: nested maximum-entropy fits
(von Mises-Fisher, Fisher-Bingham, spherical harmonics) and the information in nats that
each level adds.
"""

import typing as _typing

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
    ConformanceError,
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
from steradian.hierarchies import (
    Axial,
    Blocks,
    Custom,
    Diagonal,
    Harmonics,
    Interactions,
    Quadratics,
    TorusHarmonics,
    Zonal,
    register_hierarchy,
)
from steradian.io.tables import read_directions
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.profile import Profile, Profiles, profile, profiles
from steradian.significance.gap_tests import GapTests
from steradian.significance.sample_tests import SampleTests, sample_tests
from steradian.significance.uniformity import Uniformity
from steradian.spaces import Axes, Circle, Rotations, Rule, Space, Sphere, Torus

if _typing.TYPE_CHECKING:
    import steradian.conformance as conformance  # noqa: PLR0402 - mypy knows no attribute yet

__version__ = "0.1.0"

__all__ = [
    "Axes",
    "Axial",
    "Blocks",
    "Bootstrap",
    "Boundary",
    "BoundaryError",
    "Certificate",
    "Circle",
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
    "Quadratics",
    "Residuals",
    "ResolutionError",
    "RidgeNotExact",
    "Rotations",
    "Rule",
    "SampleTests",
    "Shrinkage",
    "Space",
    "Sphere",
    "SteradianError",
    "Torus",
    "TorusHarmonics",
    "Trust",
    "Uniformity",
    "Zonal",
    "bootstrap",
    "boundary",
    "choose_order",
    "conformance",
    "designs",
    "examples",
    "kernels",
    "mixture_sf",
    "profile",
    "profiles",
    "read_directions",
    "register_hierarchy",
    "ridge",
    "sample_tests",
]

if not _typing.TYPE_CHECKING:  # a checker would take every name for one of ours

    def __getattr__(name: str) -> object:
        """`conformance` is imported when somebody asks for it."""
        if name == "conformance":
            from importlib import import_module

            return import_module("steradian.conformance")
        raise AttributeError(f"module 'steradian' has no attribute {name!r}")
