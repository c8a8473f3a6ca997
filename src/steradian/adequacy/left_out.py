"""How much information structured features leave out of the full ones.

If all features of a structured level are among those of a level of another hierarchy, then its
deficit is at most that of the latter, and the difference is the information it leaves out.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steradian.adequacy.trust import left_above
from steradian.arguments import shown
from steradian.diagnostics import Diagnostic
from steradian.errors import InvalidArgument
from steradian.hierarchies.basis import holds, level_that_holds
from steradian.io.records import without_nan
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import CONTRACT_SAME, NOTHING
from steradian.text.table import Column, Table

if TYPE_CHECKING:
    from steradian.decomposition import Profile


_LEFT_OUT = {
    (False, False): "left_out",
    (True, False): "left_out_share",
    (False, True): "left_out_beyond",
    (True, True): "left_out_share_beyond",
}  # by whether there is a share, and a level that both have


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut(LevelFrame):
    """The information that each level leaves out of one that has all its features.

    Attributes
    ----------
    levels, within : arrays of int, (L,)
        1..L of the structured hierarchy, and the lowest level of the full one that has all
        features of each.
    deficits, full_deficits : arrays, (L,)
        D of both, nats.
    nats : array, (L,)
        What is left out, ``full_deficits - deficits``; not negative but for rounding.
    of : array, (L,)
        What the full level tells beyond `common`.
    share : array, (L,)
        The one over the other; NaN where there is nothing to leave out.
    noise : array, (L,)
        What noise alone would let be left out on average, since the full level has more
        features; NaN where the design does not tell.
    common : int
        The highest level of the full hierarchy that both have; 0 if only the uniform law.
    unseen : tuple of Diagnostic
        What neither sees: the residual above the highest full level.
    """

    _columns: ClassVar[tuple[str, ...]] = (
        "within",
        "deficits",
        "full_deficits",
        "nats",
        "of",
        "share",
        "noise",
    )

    names: tuple[str, str]
    levels: IntArray
    within: IntArray
    deficits: Array
    full_deficits: Array
    common: int
    common_deficit: float
    noise: Array
    unseen: tuple[Diagnostic, ...]

    @property
    def nats(self) -> Array:
        """D of the full level less D, (L,)."""
        return self.full_deficits - self.deficits

    @property
    def of(self) -> Array:
        """D of the full level less D of the highest common one, (L,)."""
        return self.full_deficits - self.common_deficit

    @property
    def share(self) -> Array:
        """What is left out of that, (L,)."""
        some = self.of > NOTHING
        return np.where(some, self.nats / np.where(some, self.of, 1.0), np.nan)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        arrays = ("levels", "within", "deficits", "full_deficits", "nats", "of", "share", "noise")
        out = {name: np.asarray(getattr(self, name)).tolist() for name in arrays}
        more: dict[str, Any] = {"structured": self.names[0], "full": self.names[1]}
        more["unseen"] = [one.to_dict() for one in self.unseen]
        return without_nan({**out, **more, "common": self.common})

    def __repr__(self) -> str:
        return f"LeftOut({', '.join(f'{x:.4g}' for x in self.nats)} nats)"

    def __str__(self) -> str:
        table = Table(
            Column("level", self.levels, width=5),
            Column("within", self.within, width=6),
            Column("D", self.deficits, ".5f", 10),
            Column("full D", self.full_deficits, ".5f", 10),
            Column("left out", self.nats, ".5f", 10),
            Column("noise", self.noise, ".2g", 8, dash=True),
        )
        title = f"{self.names[0]} within {self.names[1]}"
        unseen = "; ".join(one.words for one in self.unseen)
        above = textwrap.fill(f"beyond both: {unseen}", 80)
        said = "; ".join(one.words for one in self.diagnostics)
        return "\n".join([title, str(table), said, above])

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the highest level leaves out, and what noise alone would."""
        nats, of = float(self.nats[-1]), float(self.of[-1])
        share, noise = float(self.share[-1]), float(self.noise[-1])
        known = bool(np.isfinite(share))
        code = _LEFT_OUT[known, self.common > 0]
        data: dict[str, Any] = {"nats": nats, "of": of, "common": int(self.common)}
        data["share"] = share if known else None
        found = (Diagnostic(code, data=data),)
        if not np.isfinite(noise):
            return found
        return (*found, Diagnostic("left_out_by_noise", data={"noise": noise}))


def left_out_of(structured: Profile, full: Profile) -> LeftOut:
    """What every level of a profile leaves out of another of the same data."""
    _refuse_other_data(structured, full)
    small, large = structured.moments.hierarchy, full.moments.hierarchy
    within = [level_that_holds(large, small.up_to(int(level))) for level in structured.levels]
    if not all(within):
        level = within.index(0) + 1
        raise InvalidArgument(
            f"level {level} of {shown(small)} has features that {shown(large)} has not, so that "
            "one is not part of the other; give a hierarchy that holds both, as sr.Stacked does"
        )
    at = np.array(within)
    common = max(
        (m for k, m in enumerate(within, 1) if holds(small.up_to(k), large.up_to(m))), default=0
    )
    return LeftOut(
        names=(shown(small), shown(large)),
        levels=structured.levels,
        within=at,
        deficits=structured.deficits,
        full_deficits=full.deficits[at - 1],
        common=common,
        common_deficit=float(full.deficits[common - 1]) if common else 0.0,
        noise=np.cumsum(full.noise)[at - 1] - np.cumsum(structured.noise),
        unseen=left_above(full),
    )


def _refuse_other_data(one: Profile, other: Profile) -> None:
    """Deficits of different data, or of data that were mixed differently, do not compare."""
    if one.moments.hierarchy.space != other.moments.hierarchy.space:
        where = one.moments.hierarchy.space.name, other.moments.hierarchy.space.name
        raise InvalidArgument(f"one profile is on the {where[0]}, the other on the {where[1]}")
    a, b = one.moments, other.moments
    apart = float(
        np.abs(a.mean - b.mean).max() + np.abs(a.scatter / a.weight - b.scatter / b.weight).max()
    )
    if a.n != b.n or apart > CONTRACT_SAME or one.shrinkage != other.shrinkage:
        raise InvalidArgument(
            "the profiles are not of the same data (rows, weights or shrinkage differ); profile "
            "the same directions with both hierarchies"
        )
