"""The notation of a set of directions: its convention and unit, and what was read to get them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from steradian.data.conventions import CONVENTIONS, DEGREES_PER_HOUR, Convention, Unit
from steradian.data.times import Clock
from steradian.diagnostics import Diagnostic
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import Array
from steradian.text.messages import Message


@dataclass(frozen=True, slots=True)
class Notation:
    """A convention with the unit its angles are in."""

    convention: Convention
    unit: Unit = "degrees"
    clock: Clock | None = None

    def values(self, x: Array) -> list[Array]:
        """Columns that say the points ``x`` (n, d): full turns in [0, 360°), others signed."""
        if self.convention.angles is None:
            return list(x.T)
        found = [np.rad2deg(angle) for angle in self.convention.angles(x)]
        limits = self.convention.limits or ((-180.0, 180.0),) * len(found)
        found = [
            angle if np.isfinite(low) else np.mod(angle, 360.0)
            for angle, (low, _) in zip(found, limits, strict=True)
        ]
        if self.clock is not None:
            return [found[0] * (self.clock.length / 360.0)]
        if self.unit == "hours":
            return [found[0] / DEGREES_PER_HOUR, *found[1:]]
        return [np.deg2rad(angle) for angle in found] if self.unit == "radians" else found

    def words(self, point: Array) -> str:
        """One point in words, like "declination 341.2°, inclination -76.0°"."""
        values = [float(column[0]) for column in self.values(point[None])]
        if self.clock is not None:
            return self.clock.words(values[0])
        if not self.convention.angular:
            return "(" + ", ".join(f"{value:.4f}" for value in values) + ")"
        return ", ".join(
            f"{self.convention.role(k)} {self._shown(value, k)}" for k, value in enumerate(values)
        )

    def _shown(self, value: float, column: int) -> str:
        if self.unit == "radians":
            return f"{value:.4f} rad"
        if self.unit == "hours" and column == 0:
            return f"{value:.3f} h"
        text = f"{value:.1f}"
        full = self.convention.limits and not np.isfinite(self.convention.limits[column][0])
        return ("0.0" if full and text == "360.0" else text.replace("-0.0", "0.0")) + "°"


@dataclass(frozen=True, slots=True)
class Reading:
    """What was understood of a source: the first thing that a printed profile says."""

    notation: Notation
    rows: int
    source: str = ""
    columns: tuple[str, ...] = ()
    assumed: bool = False  # whether nobody stated the unit
    weights: str = "none"
    counts: str = ""
    observations: int = 0  # that the counts are of
    axial: bool = False
    skipped: int = 0
    remarks: tuple[Message | Diagnostic | str, ...] = ()
    within: bool = False  # a subspace, whose points its convention does not tell

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What should be known of the rows before any result, as values."""
        return tuple(each for each in self.remarks if isinstance(each, Diagnostic))

    @property
    def words(self) -> str:
        """One sentence, like "read 133 rows of sites.csv: declination `dir_dec`, …"."""
        where = f" of {self.source}" if self.source else ""
        parts = [f"read {self.rows} row{'s' * (self.rows != 1)}{where}: {self._coordinates}"]
        if self.axial:
            parts.append("axes without a sign")
        parts.append(f"weights {self.weights}")
        if self.counts:
            parts.append(f"counts {self.counts}, {self.observations} observations")
        if self.skipped:
            parts.append(f"{self.skipped} bad row{'s' * (self.skipped != 1)} left out")
        return "; ".join([*parts, *map(str, self.remarks)])

    @property
    def _coordinates(self) -> str:
        system = self.notation.convention
        if not system.angular:
            kind = {"xyz": "Cartesian"}.get(system.name, system.name)
            return f"{kind} {_quoted(self.columns)}" if self.columns else f"{kind} coordinates"
        columns: Sequence[str] = self.columns or ("",) * max(1, len(system.roles))
        named = [
            f"{system.role(k)} {_quoted([name])}" if name else system.role(k)
            for k, name in enumerate(columns)
        ]
        if not self.columns and not system.roles:
            named = [system.name]
        return ", ".join([*named, self._unit])

    @property
    def _unit(self) -> str:
        if self.notation.clock is not None:
            return "hours of the day (assumed)" if self.assumed else self.notation.clock.unit
        unit = self.notation.unit
        said = "hours and degrees" if unit == "hours" else unit
        return f"{said} (assumed)" if self.assumed else said

    def with_rows(self, rows: int) -> Reading:
        """The same of some of the rows."""
        return replace(self, rows=rows)

    def part(self, rows: int, *, begin: bool) -> Reading:
        """The same of the next rows; what was left out counts with the first of them."""
        if begin:
            return replace(self, rows=rows)
        return replace(self, rows=rows, skipped=0, observations=0)

    def of_group(self, rows: int) -> Reading:
        """The same of one group of observations."""
        return replace(self, rows=rows, counts="", observations=0, skipped=0)

    def pooled(self, other: Reading) -> Reading | None:
        """That of two sets of rows, None where they were written in different ways."""
        if (self.notation, self.axial, self.within) != (other.notation, other.axial, other.within):
            return None
        return replace(
            self,
            rows=self.rows + other.rows,
            observations=self.observations + other.observations,
            skipped=self.skipped + other.skipped,
            source=self.source if self.source == other.source else _SEVERAL,
            columns=self.columns if self.columns == other.columns else (),
            assumed=self.assumed or other.assumed,
            weights=self.weights if self.weights == other.weights else "given",
            counts=self.counts if self.counts == other.counts else "given",
            remarks=tuple(remark for remark in self.remarks if remark in other.remarks),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists; `from_dict` reads them back."""
        clock = self.notation.clock
        plain = {name: getattr(self, name) for name in _PLAIN}
        return plain | {
            "convention": self.notation.convention.name,
            "unit": self.notation.unit,
            "clock": None if clock is None else [clock.length, clock.kind],
            "columns": list(self.columns),
            "remarks": [str(remark) for remark in self.remarks],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Reading:
        """The inverse of `to_dict`; what it did not write is refused."""
        try:
            plain: dict[str, Any] = {name: data[name] for name in _PLAIN}
            unit, lists = data["unit"], (data["columns"], data["remarks"])
            clock = None if data["clock"] is None else Clock(*data["clock"])
            notation = Notation(CONVENTIONS[data["convention"]], unit, clock)
            good = unit in _UNITS and all(type(plain[n]) is kind for n, kind in _PLAIN.items())
            good &= all(isinstance(v, list) and _all_text(v) for v in lists)
            good &= clock is None or (0.0 < clock.length < np.inf and isinstance(clock.kind, str))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidArgument(_NO_READING) from error
        if not good:
            raise InvalidArgument(_NO_READING)
        return cls(notation, columns=tuple(lists[0]), remarks=tuple(lists[1]), **plain)


_SEVERAL = "several sources"
_UNITS = ("degrees", "radians", "hours")
_NO_READING = "'reading' does not tell how rows were read; leave it out, or copy the file again"
_PLAIN: Mapping[str, type] = {
    "rows": int, "source": str, "assumed": bool, "weights": str, "counts": str,
    "observations": int, "axial": bool, "skipped": int, "within": bool,
}  # fmt: skip


def _all_text(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _quoted(names: Sequence[str]) -> str:
    most = 6
    said = [f"`{name}`" for name in names[:most]]
    return ", ".join(said) + (f" … `{names[-1]}` ({len(names)})" if len(names) > most else "")


def pooled_reading(readings: Iterable[Reading | None]) -> Reading | None:
    """That of several sets of rows, None where they were written differently or one has none."""
    return reduce(lambda a, b: a and b and a.pooled(b), readings)


def told_of_rows(reading: Reading | None) -> dict[str, Any]:
    """What should be known of the rows, as a part of a record; empty where there is nothing."""
    told = () if reading is None else reading.diagnostics
    return {"read_diagnostics": [each.to_dict() for each in told]} if told else {}
