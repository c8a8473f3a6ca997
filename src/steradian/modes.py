"""Modes of the fitted density of a level: places, heights, masses, and the rows of each.

Nothing but the fit is used. The nodes that integrate it are joined to their highest neighbours:
whoever follows these steps ends at a top, and the nodes that end at one top are its basin, whose
mass is the sum of theirs. A row belongs to the basin of the node next to it. How often the same
modes come back is seen in samples of the fit, each fitted to the same level (a parametric
bootstrap): few rows make modes of a high level by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.arguments import seed_number, whole_number
from steradian.classical import coordinates_of
from steradian.data.directions import Directions
from steradian.diagnostics import LIKELY_BELOW
from steradian.errors import DesignError, InvalidArgument, LevelError
from steradian.fitting.maxent import MaxEntFit
from steradian.notebook import NotebookView
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.neighbours import nearest
from steradian.numerics.tolerances import NEGLIGIBLE_NODE
from steradian.references.base import underlying
from steradian.spaces.base import has_no_sign
from steradian.text.modes import modes_in_words

if TYPE_CHECKING:
    from steradian.decomposition import Profile
    from steradian.hierarchies import Hierarchy

    Refit = Callable[[Directions, Hierarchy], Profile]

LEAST_MASS = 0.01  # of a basin, below which a top is no mode of the data
SURE = 0.8  # of the draws that have as many modes, from which their number is sure
_NEIGHBOURS = 9  # a node and those around it


@dataclass(frozen=True, slots=True, eq=False)
class ModeOfProfile:
    """One mode of the fitted density.

    Attributes
    ----------
    point : array, (d,)
        Where the density is highest.
    coordinates : dict
        The same in the coordinates of the data.
    density : float
        Height, as a multiple of the uniform density.
    mass : float
        Share of the fitted distribution in its basin.
    rows : int
        Rows of the data in its basin.
    support : float
        Share of the draws that have a mode in its basin; NaN without draws.
    """

    point: Array
    coordinates: dict[str, float]
    density: float
    mass: float
    rows: int
    support: float

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        return {
            "point": self.point.tolist(),
            "coordinates": self.coordinates,
            "density": self.density,
            "mass": self.mass,
            "rows": self.rows,
            "support": None if np.isnan(self.support) else self.support,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Modes(NotebookView):
    """The modes of a level, the largest mass first; a sequence of `ModeOfProfile`.

    Attributes
    ----------
    level : int
        Whose density they are of; 0, with no modes, where no level is significant.
    found : tuple of ModeOfProfile
        Those whose basin holds at least a hundredth of the fitted distribution.
    assigned : array of int, (n,), or None
        For each row the mode in whose basin it lies, -1 for tops that are no modes; None for a
        profile made from moments.
    same : float
        Share of the draws with the same number of modes; NaN without draws.
    draws : int
        How many samples of the fit were fitted again.
    """

    level: int
    found: tuple[ModeOfProfile, ...]
    assigned: IntArray | None
    same: float
    draws: int

    @property
    def sure(self) -> bool:
        """Whether at least four in five draws have the same number of modes."""
        return bool(self.same >= SURE)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, k: int) -> ModeOfProfile:
        return self.found[k]

    def __iter__(self) -> Iterator[ModeOfProfile]:
        return iter(self.found)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        return {
            "level": self.level,
            "modes": [one.to_dict() for one in self.found],
            "assigned": None if self.assigned is None else self.assigned.tolist(),
            "same_number": None if np.isnan(self.same) else self.same,
            "draws": self.draws,
        }

    def to_frame(self) -> Any:
        """One row per mode as a pandas frame (pandas must be installed)."""
        from steradian.io.frames import frame_of_columns

        table: dict[str, Any] = {"mode": list(range(1, len(self) + 1))}
        for name in self.found[0].coordinates if self.found else ():
            table[name] = [one.coordinates[name] for one in self.found]
        for name in ("density", "mass", "rows", "support"):
            table[name] = [getattr(one, name) for one in self.found]
        return frame_of_columns(table)

    def __str__(self) -> str:
        return modes_in_words(self)


@dataclass(frozen=True, slots=True, eq=False)
class _Basins:
    """Tops of a density with the nodes that lead to each."""

    points: Array  # (k, d) tops, the largest mass first
    densities: Array  # (k,)
    masses: Array  # (k,)
    nodes: Array  # (N, d)
    labels: IntArray  # (N,) top of each node

    def of(self, x: Array) -> IntArray:
        """Tops in whose basins ``x`` (n, d) lie, (n,)."""
        return self.labels[nearest(self.nodes, x, 1)[1][:, 0]]


def _basins(fit: MaxEntFit) -> _Basins:
    tops = fit.modes()
    nodes, mass = fit.rule
    kept = mass > NEGLIGIBLE_NODE * mass.max()
    nodes, mass = nodes[kept], mass[kept]
    signless = has_no_sign(underlying(fit.space))
    if signless:  # an axis is near another by either end
        nodes, mass = np.concatenate([nodes, -nodes]), np.concatenate([mass, mass])
    values = fit.logpdf(_as_rows(fit, nodes))
    near = nearest(nodes, nodes, min(_NEIGHBOURS, len(nodes)))[1]
    leads = near[np.arange(len(nodes)), np.argmax(values[near], axis=1)]
    leads = np.where(values[leads] > values, leads, np.arange(len(nodes)))
    while (leads != leads[leads]).any():
        leads = leads[leads]
    ends, label = np.unique(leads, return_inverse=True)
    places = np.array([top.point for top in tops])
    away = nodes[ends] @ places.T
    own = np.argmax(np.abs(away) if signless else away, axis=1)[label]
    masses = np.bincount(own, mass, minlength=len(tops)) / mass.sum()
    order = np.argsort(-masses, kind="stable")
    heights = np.array([top.density for top in tops])
    return _Basins(places[order], heights[order], masses[order], nodes, np.argsort(order)[own])


def _as_rows(fit: MaxEntFit, x: Array) -> Directions:
    return Directions(x, space=underlying(fit.space))


def modes_of_profile(
    profile: Profile, refit: Refit, level: int | None = None, draws: int = 49, seed: int = 0
) -> Modes:
    """See `Profile.modes`; ``refit`` makes the profile of a draw with a hierarchy."""
    count, start = whole_number(draws, "draws", least=0), seed_number(seed)
    chosen = _significant(profile) if level is None else _checked(profile, level)
    if chosen == 0:
        return Modes(0, (), None, np.nan, 0)
    fit = profile.fits[chosen]
    basins = _basins(fit)
    known = int(np.count_nonzero(basins.masses >= LEAST_MASS))
    again = (_refitted(profile, fit, refit, start, k) for k in range(count))
    same, support = _returned(again, basins, known, count)
    rows = profile.directions
    own = None if rows is None else basins.of(rows.x)
    assigned = None if own is None else np.where(own < known, own, -1)
    found = tuple(
        ModeOfProfile(
            point=basins.points[k],
            coordinates=coordinates_of(profile, basins.points[k]),
            density=float(basins.densities[k]),
            mass=float(basins.masses[k]),
            rows=0 if assigned is None else int(np.count_nonzero(assigned == k)),
            support=float(support[k]),
        )
        for k in range(known)
    )
    return Modes(chosen, found, assigned, same, count)


def _significant(profile: Profile) -> int:
    """The highest significant level, 0 if none is."""
    try:
        tests = profile.tests()
    except DesignError as error:
        raise InvalidArgument(
            f"no level is known to be significant ({error}); say of which level, like level=2"
        ) from error
    passed = np.flatnonzero(tests.pvalue_holm < LIKELY_BELOW)
    return int(passed[-1]) + 1 if len(passed) else 0


def _checked(profile: Profile, level: int) -> int:
    highest = len(profile.levels)
    asked = whole_number(level, "level", least=1)
    if asked > highest:
        raise InvalidArgument(f"level is {asked}; this profile has levels 1 to {highest}")
    return asked


def _refitted(profile: Profile, fit: MaxEntFit, refit: Refit, seed: int, k: int) -> _Basins | None:
    """The basins of the same level of one draw of a fit; None where the draw has no such fit."""
    x = fit.sample(max(2, round(profile.ess)), np.random.default_rng([seed, k]))
    try:
        drawn = refit(_as_rows(fit, x), profile.moments.hierarchy.up_to(fit.level))
    except LevelError:
        return None
    return _basins(drawn.fits[fit.level])


def _returned(
    again: Iterable[_Basins | None], basins: _Basins, known: int, draws: int
) -> tuple[float, Array]:
    """Shares of draws with as many modes, and with a mode in each of the basins."""
    if draws == 0:
        return np.nan, np.full(known, np.nan)
    same, back = 0, np.zeros(known)
    for one in again:
        if one is None:
            continue
        tops = one.points[one.masses >= LEAST_MASS]
        same += len(tops) == known
        met = np.unique(basins.of(tops))
        back[met[met < known]] += 1
    return same / draws, back / draws
