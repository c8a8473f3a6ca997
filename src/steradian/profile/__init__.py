"""Profiles of one sample and of many weightings, and their text."""

from __future__ import annotations

from steradian.profile.profile import Profile, profile
from steradian.profile.profiles import Profiles, profiles

__all__ = ["Profile", "Profiles", "profile", "profiles"]
