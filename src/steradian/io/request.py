"""What was said of a table, and what was chosen of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from steradian.arguments import wrong_value
from steradian.data.conventions import Convention, Unit
from steradian.data.interpretation import Units
from steradian.errors import InvalidDirections
from steradian.text.messages import Message

OnBad = Literal["error", "skip"]


@dataclass(frozen=True, slots=True)
class Request:
    """What the user said of a table; None where nothing was said."""

    columns: Sequence[str] | None = None
    coords: str | None = None
    weights: ArrayLike | str | None = None
    counts: ArrayLike | str | None = None
    normalize: bool = False
    axial: bool | None = None
    degrees: bool | None = None
    hours: bool = False
    period: Any = None
    on_bad: OnBad = "error"
    bins: Sequence[str] | None = None
    table: str | None = None
    used: Sequence[str] = ()  # columns that something else is read from: labels, clusters

    def __post_init__(self) -> None:
        if self.on_bad not in ("error", "skip"):
            raise wrong_value("on_bad", self.on_bad, "choose 'error' or 'skip'", InvalidDirections)

    @property
    def units(self) -> Units:
        """What was said of units; angles of tables are in degrees."""
        return Units(self.degrees, self.hours, "degrees", self.period)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Columns of a table with the convention they are in."""

    convention: Convention
    columns: tuple[str, ...]
    unit: Unit | None  # where the names say it
    guessed: bool = False  # Cartesian, because nothing says otherwise
    vectors: bool = False  # numbered columns, more than a direction has angles
    weights: Any = None
    counts: Any = None
    weights_name: str = ""
    counts_name: str = ""
    upper: str = ""  # the column of upper edges, where the first one is of the lower edges of bins
    tells_unused: bool = False  # whether what stands beside its columns is said
    remarks: tuple[Message | str, ...] = ()  # on what the names say and was not followed

    @property
    def labels(self) -> tuple[str, ...]:
        """What its values are called."""
        return (f"{self.columns[0]}–{self.upper}",) if self.upper else self.columns

    @property
    def read(self) -> tuple[str, ...]:
        """Columns that a direction is read from."""
        return (*self.columns, self.upper) if self.upper else self.columns

    def units(self, request: Request) -> Units:
        """What the user said of units, or the names of the columns."""
        units = request.units
        if units.degrees is None and not units.hours and self.unit is not None:
            named = self.unit == "degrees" if self.unit != "hours" else None
            return Units(named, self.unit == "hours", "degrees", request.period)
        return units
