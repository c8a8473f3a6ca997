"""The contracts of hierarchies, spaces and designs, checked on an object of yours.

`check_hierarchy`, `check_space` and `check_design` take an object, go through every line of its
contract, and return a `Report` of the lines, or raise `ConformanceError`, which names every line
that is broken: what, where, by how much, and the remedy.

Examples
--------
>>> import steradian as sr
>>> print(sr.conformance.check_space(sr.Torus(2)))  # doctest: +ELLIPSIS
Torus(k=2) keeps its contract: ... lines
  + It has every member of `Space`.
...
"""

from __future__ import annotations

from steradian.conformance.designs import check_design
from steradian.conformance.hierarchies import check_hierarchy
from steradian.conformance.spaces import check_space
from steradian.contract import Report
from steradian.errors import ConformanceError

__all__ = ["ConformanceError", "Report", "check_design", "check_hierarchy", "check_space"]
