"""The paper's tables and figures, one function each, beside the printed numbers.

Each function returns a `Piece`: ``print`` shows it, ``agrees`` judges it. On the command line:
``steradian reproduce all``. Beside them what the paper names and few people need: stacks of samples
for studies (`sample_tests`), tails of weighted χ² sums (`mixture_sf`), ridge fits (`ridge`) and
repeated sketches (`sketches`).
"""

from __future__ import annotations

from steradian.adequacy.sensitivity import RidgeNotExact, ridge
from steradian.inference.score_tests import SampleTests, sample_tests
from steradian.inference.scores import mixture_sf
from steradian.paper.auditing import audit
from steradian.paper.calibration import figure2, table3
from steradian.paper.circle import figure3, table1
from steradian.paper.digits import table4
from steradian.paper.entries import Bound, Entry
from steradian.paper.local_forms import figure4
from steradian.paper.pieces import Picture, Piece
from steradian.paper.repeated_sketches import Sketches, sketches
from steradian.paper.sphere import figure1, table2

__all__ = [
    "Bound",
    "Entry",
    "Picture",
    "Piece",
    "RidgeNotExact",
    "SampleTests",
    "Sketches",
    "audit",
    "figure1",
    "figure2",
    "figure3",
    "figure4",
    "mixture_sf",
    "ridge",
    "sample_tests",
    "sketches",
    "table1",
    "table2",
    "table3",
    "table4",
]
