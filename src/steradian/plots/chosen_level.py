"""Which level a picture of a density shows where none is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steradian.diagnostics import Verdict
from steradian.errors import SteradianError

if TYPE_CHECKING:
    from steradian.decomposition import Profile
    from steradian.inference.gap_tests import GapTests

_PATIENCE = 2e8  # work of tests, some ten seconds; `Profile.tests` takes the time it needs


def asked(profile: Profile, method: str, *arguments: float) -> Any:
    """What a method of the profile answers, None where its design or data give no answer."""
    try:
        return getattr(profile, method)(*arguments)
    except SteradianError:
        return None


def gap_tests(profile: Profile) -> GapTests | None:
    """The tests of a profile that a picture waits for, None where there are none."""
    found: GapTests | None = asked(profile, "tests_within", _PATIENCE)
    return found


def chosen_level(profile: Profile) -> tuple[int, bool]:
    """The highest significant level, else the highest; whether all are noise."""
    tests = gap_tests(profile)
    if tests is None or tests.told:
        return (len(profile.levels) if tests is None else tests.told[-1]), False
    return len(profile.levels), all(verdict is Verdict.NOISE for verdict in tests.verdicts)
