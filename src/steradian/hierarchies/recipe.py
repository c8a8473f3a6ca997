"""Hierarchies that data choose: a recipe, and on which rows it is followed.

An axis or a basis that comes from the rows which are then profiled follows their noise: every gap
about it is too large and no p-value holds. So a choice is no hierarchy until it has seen data. It
is followed either on some rows, and the others are profiled (`OnSplits`), or on the very same rows
(`SameRows`), which describes them and infers nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from steradian.arguments import open_share, seed_number, shown, whole_number
from steradian.data.directions import Directions
from steradian.errors import InvalidArgument
from steradian.hierarchies.base import Hierarchy

REPEATS = 11
MOST_REPEATS = 10_000


@dataclass(frozen=True, slots=True)
class Split:
    """Which rows choose: a share of them, drawn anew so many times.

    Whole units of the design go to one side, with their weights: clusters are not torn apart, and
    of a chain a connected stretch is left to be profiled.

    Parameters
    ----------
    share : float
        Share of the rows (of the units, where the design has any) that choose.
    repeats : int
        How often the rows are split. With one split everything depends on its luck; medians over
        several do not, and their p-values are combined.
    seed : int
        Of the splits.

    Examples
    --------
    >>> from steradian.hierarchies import Split
    >>> Split(0.3, repeats=5)
    Split(share=0.3, repeats=5, seed=0)
    """

    share: float = 0.5
    repeats: int = REPEATS
    seed: int = 0

    def __post_init__(self) -> None:
        open_share(self.share, "share", 0.5)
        if whole_number(self.repeats, "repeats", least=1) > MOST_REPEATS:
            raise InvalidArgument(f"repeats is {self.repeats}; give at most {MOST_REPEATS}")
        seed_number(self.seed)

    def generators(self) -> Iterable[np.random.Generator]:
        """One for each split, independent of how many there are."""
        return (np.random.default_rng([self.seed, k]) for k in range(self.repeats))


class Recipe(Protocol):
    """How rows choose a hierarchy.

    A value like a hierarchy: a frozen dataclass. What it chooses may depend on the rows it is given
    and on nothing else.
    """

    @property
    def words(self) -> str:
        """What is chosen, as the end of "Chosen from the data: …"."""
        ...

    def from_data(self, directions: Directions) -> Hierarchy:
        """The hierarchy that these rows choose."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Its ``kind`` and its arguments."""
        ...


@dataclass(frozen=True, slots=True)
class SameRows:
    """A hierarchy that is chosen by the rows it then describes: no p-value and no interval.

    Parameters
    ----------
    recipe : Recipe
        How it is chosen.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Zonal("mean", 2)
    SameRows(recipe=MeanAxis(levels=2))
    """

    recipe: Recipe


@dataclass(frozen=True, slots=True)
class OnSplits:
    """A hierarchy that is chosen by some rows and measured on the others, over several splits.

    Parameters
    ----------
    recipe : Recipe
        How it is chosen.
    split : Split
        By which rows.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Zonal("mean", 2, split=0.5)
    OnSplits(recipe=MeanAxis(levels=2), split=Split(share=0.5, repeats=11, seed=0))
    """

    recipe: Recipe
    split: Split


def as_split(split: Any) -> Split:
    """A split from an object, or from the share of rows that choose."""
    if isinstance(split, Split):
        return split
    if isinstance(split, bool | np.bool_) or not isinstance(split, int | float | np.number):
        raise InvalidArgument(
            f"split is {shown(split)}; give the share of rows that choose, like 0.5, or Split()"
        )
    return Split(open_share(split, "split", 0.5))
