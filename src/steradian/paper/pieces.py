"""A table, a figure or the audit of the paper: its numbers and, for a figure, how to draw it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steradian.paper.entries import Comparison
from steradian.paper.layout import as_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Piece:
    """A table, a figure or the audit of the paper, made again.

    Attributes
    ----------
    name, title : str
        ``"table1"``, and what the paper calls it.
    story : str
        What it shows and how it was made.
    entries : tuple of Entry or Bound
        Every number, beside the paper's.
    """

    name: str
    title: str
    story: str
    entries: tuple[Comparison, ...]

    @property
    def differing(self) -> tuple[Comparison, ...]:
        """What does not agree with the paper."""
        return tuple(entry for entry in self.entries if not entry.agrees)

    @property
    def agrees(self) -> bool:
        """Whether every number does."""
        return not self.differing

    def __str__(self) -> str:
        return as_text(self)


@dataclass(frozen=True, slots=True)
class Picture(Piece):
    """A piece that is drawn.

    Attributes
    ----------
    size : (width, height)
        Inches.
    draw : callable
        Fills a matplotlib Figure.
    """

    size: tuple[float, float]
    draw: Callable[[Figure], None]
