"""The paper's tables and figures, one function each, beside the printed numbers.

Each function returns a `Piece`: ``print`` shows it, ``agrees`` judges it. On the command line:
``steradian reproduce all``.
"""

from __future__ import annotations

from steradian.paper.auditing import audit
from steradian.paper.calibration import figure2, table3
from steradian.paper.circle import figure3, table1
from steradian.paper.digits import table4
from steradian.paper.entries import Bound, Entry
from steradian.paper.local_forms import figure4
from steradian.paper.pieces import Picture, Piece
from steradian.paper.sphere import figure1, table2

__all__ = [
    "Bound",
    "Entry",
    "Picture",
    "Piece",
    "audit",
    "figure1",
    "figure2",
    "figure3",
    "figure4",
    "table1",
    "table2",
    "table3",
    "table4",
]
