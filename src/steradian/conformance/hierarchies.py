"""check_hierarchy: the whole contract of a hierarchy."""

from __future__ import annotations

from steradian.conformance import capabilities, families, methods
from steradian.conformance.specimen import FittedSpecimen
from steradian.contract import Report, examined
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.contract import STAGES

_DRAWS = 1 << 15  # uniform draws that stand for the uniform law where a space has no rules


def check_hierarchy(hierarchy: Hierarchy) -> Report:
    """Hold a hierarchy against every line of its contract.

    Features: nested, centred, orthonormal, summed rightly. What is offered (`wider`, `coordinates`,
    `turned`, …) is right. Families: ψ, its derivatives, densities, fits, draws and their fits, gaps
    as KL. A profile of it: every method answers or refuses in words.

    Parameters
    ----------
    hierarchy : Hierarchy
        One of this package or of your own.

    Returns
    -------
    Report
        The lines it keeps, and those about what it does not offer.

    Raises
    ------
    ConformanceError
        Lines are broken; the message names each, with what, where, by how much and the remedy.

    Examples
    --------
    >>> import steradian as sr
    >>> report = sr.conformance.check_hierarchy(sr.Harmonics(2, 1))
    >>> report.kept[2]
    '`levels`, `dims`, `level_names` and `q` agree.'
    """
    stages = (
        *STAGES,
        (*capabilities.LINES, *families.LINES),
        (*families.OF_PROFILES, *methods.LINES),
    )
    return examined(hierarchy, FittedSpecimen(hierarchy, _DRAWS), stages)
