"""Every piece of the paper by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from steradian.errors import InvalidArgument
from steradian.paper.auditing import audit
from steradian.paper.calibration import figure2, table3
from steradian.paper.circle import figure3, table1
from steradian.paper.digits import table4
from steradian.paper.local_forms import figure4
from steradian.paper.pieces import Piece
from steradian.paper.sphere import figure1, table2

PIECES: Mapping[str, Callable[[], Piece]] = MappingProxyType(
    {
        make.__name__: make
        for make in (table1, table2, table3, table4, figure1, figure2, figure3, figure4, audit)
    }
)
ALL = "all"


def chosen(what: str) -> tuple[Callable[[], Piece], ...]:
    """The functions that make a piece, or all of them."""
    if what != ALL and what not in PIECES:
        raise InvalidArgument(f"the paper has no {what!r}; choose {', '.join(PIECES)} or {ALL}")
    return tuple(PIECES.values()) if what == ALL else (PIECES[what],)
