"""The information spectrum: nats per degree, as a power spectrum is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.errors import SteradianError
from steradian.io.frames import frame_of_columns
from steradian.io.records import without_nan
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.plots.curves import nats_per_degree
from steradian.text.table import Column, Table

if TYPE_CHECKING:
    from steradian.decomposition import Profile


_MOST = 0.95  # share of the information that counts as nearly all
_MOST_ROWS = 32  # of the printed table
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """What each degree of harmonics adds, with what noise alone would add.

    Attributes
    ----------
    levels, dims : arrays of int, (L,)
        1..L, and the features each adds.
    degrees : array of int, (L,)
        Degree of the harmonics that each level adds; empty where levels are no degrees.
    gaps, noise, debiased : arrays, (L,)
        I in nats, what it is on average with nothing to find (NaN where no design tells), and the
        difference of the two.
    low, high : arrays, (L,)
        Intervals for I of the law behind the sample; NaN where the design defines none.
    near_zero : array of bool, (L,)
        Where the gap is not told apart from zero by its interval.
    confidence : float
        Of the intervals.
    words : str
        Why there are no intervals; else empty.
    """

    levels: IntArray
    dims: IntArray
    degrees: IntArray
    gaps: Array
    noise: Array
    debiased: Array
    low: Array
    high: Array
    near_zero: BoolArray
    confidence: float
    words: str

    @property
    def scales(self) -> Array:
        """Angular scale 180° / degree, half a wave, (L,); empty where levels are no degrees."""
        return 180.0 / self.degrees

    @property
    def per_feature(self) -> Array:
        """Debiased nats per feature of each level, (L,): flat where all scales say the same."""
        return self.debiased / self.dims

    @property
    def stands_out(self) -> BoolArray:
        """Levels whose interval stays clear of zero, (L,); above noise where there is none."""
        if np.isfinite(self.low).all():
            return np.asarray((self.low > 0.0) & ~self.near_zero)
        return np.asarray(self.debiased > 0.0)

    @property
    def carrying(self) -> int:
        """The lowest level through which nearly all (95 %) of the debiased information lies."""
        held = self.debiased if np.isfinite(self.debiased).all() else self.gaps
        reached = np.cumsum(np.maximum(held, 0.0))
        return int(np.searchsorted(reached, _MOST * reached[-1]) + 1) if reached[-1] > 0.0 else 0

    @property
    def finding(self) -> str:
        """One sentence."""
        known = bool(np.isfinite(self.noise).all())
        if known and not self.stands_out.any():
            return "No degree stands out from noise."
        k = self.carrying
        if not k:
            return "No degree holds information."
        top = int(self.degrees[k - 1]) if len(self.degrees) else k
        name = "degree" if len(self.degrees) else "level"
        scale = f", scales of {self.scales[k - 1]:.3g}° and more" if len(self.degrees) else ""
        kind = "debiased information" if known else "information"
        return f"{_MOST:.0%} of the {kind} lies in {name}s up to {top}{scale}."

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        names = ("gaps", "noise", "debiased", "low", "high")
        arrays = {name: without_nan(getattr(self, name).tolist()) for name in names}
        counts = {k: getattr(self, k).tolist() for k in ("levels", "dims", "degrees", "near_zero")}
        rest = {"confidence": self.confidence, "words": self.words, "finding": self.finding}
        return {**counts, "scales": self.scales.tolist(), **arrays, **rest, "unit": "nats"}

    def to_frame(self) -> Any:
        """One row per level as a pandas frame (pandas must be installed)."""
        table: dict[str, Any] = {"level": self.levels, "features": self.dims}
        if len(self.degrees):
            table |= {"degree": self.degrees, "scale": self.scales}
        names = ("noise", "debiased", "low", "high")
        table |= {"gap": self.gaps, **{name: getattr(self, name) for name in names}}
        return frame_of_columns(table)

    def plot(self, ax: Any = None) -> Any:
        """Draw it on a logarithmic axis and return the axes (needs matplotlib)."""
        return nats_per_degree(self, ax)

    def __repr__(self) -> str:
        return f"Spectrum({len(self.levels)} levels; {self.finding})"

    def __str__(self) -> str:
        degrees = (
            Column("degree", self.degrees, width=6),
            Column("scale", [f"{scale:.2f}°" for scale in self.scales], width=8),
        )
        table = Table(
            *(degrees if len(self.degrees) else (Column("level", self.levels, width=15),)),
            Column("features", self.dims, width=8),
            Column("I", self.gaps, ".5f", 10, dash=True),
            Column("noise", self.noise, ".2g", 8, dash=True),
            *(
                Column(name, values, ".5f", 10, dash=True)
                for name, values in (
                    ("debiased", self.debiased), ("low", self.low), ("high", self.high)
                )
            ),
            Column("", ["" if clear else "noise" for clear in self.stands_out], left=True, gap=2),
        )  # fmt: skip
        head, *rows = table.lines()
        lines = ["Information spectrum, nats per degree", self.finding, "", head]
        if len(rows) > _MOST_ROWS:
            left_out = f"… {len(rows) - _MOST_ROWS} more: see to_frame()"
            rows = [*rows[: _MOST_ROWS - 1], left_out, rows[-1]]
        return "\n".join([*lines, *rows, *self._legend()])

    def _legend(self) -> list[str]:
        if self.words:
            return ["", f"No intervals: {self.words}"]
        return [
            "",
            f"low, high: {self.confidence:.0%} interval for I in the law behind the sample.",
        ]


def spectrum_of(profile: Profile) -> Spectrum:
    """The spectrum of a profile, with intervals where its design defines them."""
    hierarchy, count = profile.moments.hierarchy, len(profile.levels)
    degrees = hierarchy.degrees
    low, high = np.full((2, count), np.nan)
    near_zero, words = np.zeros(count, dtype=bool), ""
    try:
        found = profile.intervals(_CONFIDENCE)
        low, high, near_zero = found.low, found.high, found.near_zero
    except SteradianError as error:
        words = str(error)
    return Spectrum(
        levels=profile.levels,
        dims=profile.dims,
        degrees=np.array(degrees, dtype=np.int64),
        gaps=profile.gaps,
        noise=profile.noise,
        debiased=profile.debiased,
        low=low,
        high=high,
        near_zero=near_zero,
        confidence=_CONFIDENCE,
        words=words,
    )
