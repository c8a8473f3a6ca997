"""One number of ours beside the paper's, and whether they agree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import PRINTED_ROUNDING

FARTHEST = 4.0  # standard errors; some 130 entries are judged at once
_PRINTED = re.compile(r"(-?\d+(?:\.(\d+))?)(?: \((\d+\.\d+)\))?")


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as the paper prints it."""

    text: str
    value: float  # NaN where the paper prints none
    unit: float  # of the last digit
    se: float  # in parentheses; 0 where none is printed, or where it is rounded to nothing

    @classmethod
    def of(cls, text: str) -> Printed:
        """Read ``"1.035 (0.004)"`` or ``"400"``; an empty text is a number not printed."""
        if not text:
            return cls(text, np.nan, 0.001, 0.0)
        found = _PRINTED.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no printed number; write it like '1.035 (0.004)'")
        value, decimals, se = found.groups()
        return cls(text, float(value), 10.0 ** -len(decimals or ""), float(se or 0.0))


@dataclass(frozen=True, slots=True)
class Entry:
    """A number both sides have: printed digits when exact, Monte Carlo error otherwise.

    Attributes
    ----------
    row, column : str
        Its place.
    ours, se : float
        Our number and its Monte Carlo standard error, 0 when it is deterministic.
    printed : Printed
        The paper's.
    """

    row: str
    column: str
    ours: float
    se: float
    printed: Printed

    @classmethod
    def exact(cls, row: str, column: str, ours: float, text: str) -> Entry:
        """A deterministic number: every printed digit must be there."""
        return cls(row, column, float(ours), 0.0, Printed.of(text))

    @classmethod
    def average(cls, row: str, column: str, values: Array, text: str) -> Entry:
        """The mean of replicates, as many as the paper's."""
        alike = np.ptp(values) <= PRINTED_ROUNDING * abs(values[0])
        se = 0.0 if alike else float(values.std(ddof=1) / np.sqrt(len(values)))
        return cls(row, column, float(values.mean()), se, Printed.of(text))

    @classmethod
    def once(cls, row: str, column: str, values: Array, text: str) -> Entry:
        """A single draw, the first of ``values``; the others only tell how far one strays."""
        return cls(row, column, float(values[0]), float(values.std(ddof=1)), Printed.of(text))

    @property
    def paper(self) -> float:
        """The printed number."""
        return self.printed.value

    @property
    def paper_se(self) -> float:
        """Its standard error: as printed, or ours where none is printed or 0.000 is."""
        return self.printed.se or self.se

    @property
    def unit(self) -> float:
        """Of the last printed digit."""
        return self.printed.unit

    @property
    def error(self) -> float:
        """√(se² + se′²)."""
        return float(np.hypot(self.se, self.paper_se))

    @property
    def off(self) -> float:
        """Ours less the paper's, in standard errors; in printed units where there are none."""
        return (self.ours - self.paper) / (self.error or self.unit)

    @property
    def agrees(self) -> bool:
        """The same digits, or within four standard errors beyond them, or not printed at all."""
        beyond = abs(self.ours - self.paper) - FARTHEST * self.error
        return bool(np.isnan(self.paper) or beyond <= 0.5 * self.unit * (1.0 + PRINTED_ROUNDING))

    @property
    def same(self) -> bool:
        """Whether every printed digit is the same."""
        return abs(self.ours - self.paper) <= 0.5 * self.unit * (1.0 + PRINTED_ROUNDING)

    @property
    def cells(self) -> tuple[str, str, str]:
        """Ours, the paper's, and how far apart, with standard errors in parentheses."""
        digits = max(0, round(-np.log10(self.unit)))
        spread = f" ({self.se:.{max(1, digits)}f})" if self.se else ""
        ours = f"{self.ours:.{digits}f}{spread}"
        if np.isnan(self.paper):
            return ours, "–", "–"
        scale = "se" if self.error else "units"
        apart = "same" if self.same else f"{self.off:+.1f} {scale}"
        return ours, self.printed.text, apart + _mark(self.agrees)


@dataclass(frozen=True, slots=True)
class Bound:
    """A number that must not exceed a limit of ours; the paper's stands beside it."""

    row: str
    column: str
    ours: float
    paper: float
    limit: float

    @property
    def agrees(self) -> bool:
        """Whether it keeps the limit; NaN does not."""
        return bool(self.ours <= self.limit)

    @property
    def cells(self) -> tuple[str, str, str]:
        """Ours, the paper's, and the limit, as they are shown."""
        paper = "–" if np.isnan(self.paper) else f"{self.paper:.2g}"
        return f"{self.ours:.2g}", paper, f"limit {self.limit:.2g}" + _mark(self.agrees)


def averages(
    rows: Mapping[str, Sequence[Array]], columns: Sequence[str], printed: Mapping[str, str]
) -> tuple[Entry, ...]:
    """A table of means: replicates (columns,) by row, beside rows printed ``"1.0; 2.0; …"``."""
    return tuple(
        Entry.average(row, column, values, text)
        for row, replicates in rows.items()
        for column, values, text in zip(
            columns, np.transpose(replicates), printed[row].split("; "), strict=True
        )
    )


def _mark(agrees: bool) -> str:
    return "" if agrees else " DIFFERS"


Comparison = Entry | Bound
