"""The design of a profile whose hierarchy was chosen by its own rows: nothing is inferred."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import ClassVar

from steradian.data.directions import Directions
from steradian.designs.base import Design
from steradian.designs.units import Units
from steradian.errors import DesignError


@dataclass(frozen=True, eq=False)
class ChosenFromSameRows(Design):
    """What is measured was chosen by the rows it is measured on, however these came about.

    Parameters
    ----------
    choice : str
        What was chosen, in words.
    stated : Design
        How the rows came about.
    """

    choice: str
    stated: Design
    name: ClassVar[str] = "descriptive"
    defines_inference: ClassVar[bool] = False
    has_units: ClassVar[bool] = False
    random_weights: ClassVar[bool] = False
    from_sums: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return (
            f"chosen from these same rows: {self.choice}; they are described, nothing is inferred"
        )

    @property
    def in_short(self) -> str:
        return (
            f"{textwrap.fill(f'Chosen from these same rows: {self.choice}.', 80)}\n"
            "So the gaps describe these rows, and there are no p-values (give split= for them)."
        )

    def units(self, directions: Directions) -> Units:  # noqa: ARG002
        raise self.refusal()

    def refusal(self) -> DesignError:
        """Why there is no inference, and the ways out."""
        return DesignError(
            f"{self.choice} of these same rows: gaps about it are too large and there is no "
            "p-value, standard error or interval; give split=0.5, so that some rows choose and "
            "the others are profiled, or choose it from other data"
        )

    def check(self, directions: Directions) -> None:
        """As the rows were stated."""
        self.stated.check(directions)
