"""All cases, in the order in which they are asked."""

from __future__ import annotations

from golden.cases import Case
from golden.lists import (
    designs,
    existence,
    groups,
    hierarchies,
    hostile,
    methods,
    references,
    spheres,
    sums,
)

_LISTS = (
    spheres.cases,
    hierarchies.cases,
    designs.cases,
    methods.cases,
    hostile.cases,
    existence.cases,
    references.cases,
    groups.cases,
    sums.cases,
)


def all_cases() -> dict[str, Case]:
    """Every case by its name."""
    found: dict[str, Case] = {}
    for each in _LISTS:
        for case in each():
            if case.name in found:
                raise ValueError(f"two cases are called {case.name!r}")
            found[case.name] = case
    return found
