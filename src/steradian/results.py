"""The classes of results, for annotations and ``isinstance``; nobody needs to make one by hand.

`steradian.profile`, `profiles`, `compare` and `regress` return one each, and their methods and the
other functions of `steradian` the rest.
"""

from steradian.adequacy.beyond import Beyond
from steradian.adequacy.left_out import LeftOut
from steradian.adequacy.mmd import Mmd
from steradian.adequacy.residuals import Residuals
from steradian.adequacy.sensitivity import Sensitivity
from steradian.adequacy.trust import Trust
from steradian.batches import Profiles
from steradian.classical import ClassicalStatistics
from steradian.comparison import Comparison
from steradian.decomposition import Profile
from steradian.existence.boundary import Boundary
from steradian.existence.certificate import Certificate
from steradian.fitting.fitted import Numerics
from steradian.fitting.highest_density import HighestDensityRegion
from steradian.fitting.label_information import LabelInformation
from steradian.fitting.maxent import MaxEntFit
from steradian.inference.bootstrap import Bootstrap
from steradian.inference.covariate_intervals import Curve
from steradian.inference.covariate_tests import RegressionTests
from steradian.inference.gap_tests import GapTests, SplitTests, Uniformity
from steradian.inference.group_intervals import BetweenIntervals, GapDifferences
from steradian.inference.group_tests import ComparisonTests, Pairs
from steradian.inference.intervals import GapIntervals, SplitIntervals
from steradian.inference.order import OrderChoice
from steradian.modes import ModeOfProfile, Modes
from steradian.regression import Regression
from steradian.spectrum import Spectrum
from steradian.splits import SplitProfile

__all__ = [
    "BetweenIntervals",
    "Beyond",
    "Bootstrap",
    "Boundary",
    "Certificate",
    "ClassicalStatistics",
    "Comparison",
    "ComparisonTests",
    "Curve",
    "GapDifferences",
    "GapIntervals",
    "GapTests",
    "HighestDensityRegion",
    "LabelInformation",
    "LeftOut",
    "MaxEntFit",
    "Mmd",
    "ModeOfProfile",
    "Modes",
    "Numerics",
    "OrderChoice",
    "Pairs",
    "Profile",
    "Profiles",
    "Regression",
    "RegressionTests",
    "Residuals",
    "Sensitivity",
    "Spectrum",
    "SplitIntervals",
    "SplitProfile",
    "SplitTests",
    "Trust",
    "Uniformity",
]
