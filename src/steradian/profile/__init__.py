"""Profiles of one sample and of many weightings, and their text."""

from __future__ import annotations

from steradian.profile.comparison import Comparison
from steradian.profile.comparison_entry import compare
from steradian.profile.entry import profile
from steradian.profile.profile import Profile
from steradian.profile.profiles import Profiles, profiles
from steradian.profile.repeated_sketches import Sketches, sketches
from steradian.profile.splits import SplitProfile
from steradian.profile.weighted_fits import Permutation

__all__ = [
    "Comparison",
    "Permutation",
    "Profile",
    "Profiles",
    "Sketches",
    "SplitProfile",
    "compare",
    "profile",
    "profiles",
    "sketches",
]
