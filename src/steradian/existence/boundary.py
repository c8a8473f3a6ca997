"""Where the data lie in the moment body of each level: how far inside, or on what boundary."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.source import as_source, measured, support_of
from steradian.errors import InvalidArgument
from steradian.existence.certificate import Certificate
from steradian.existence.decision import both_looks, first_look
from steradian.existence.margin import Closest, Evidence
from steradian.existence.placement import Placement, Verdict
from steradian.existence.support_words import bound_words, nearly_words, thinnest_words
from steradian.families.base import Family
from steradian.hierarchies import Hierarchy
from steradian.io.records import without_nan
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import MARGIN_EVEN, MARGIN_FINISHED, NEARLY
from steradian.progress import tracked
from steradian.text.numbers import levels_in_words, sentence

_WIDTH = 80
_INDENT = 27
_TO_ROUNDING = "on the boundary to the rounding of the moments"
_TOO_CLOSE = "not decided: closer to the boundary than the rounding of the moments can tell"
_OPEN = "not decided: the quick tests of this level leave it open"
_UNKNOWN = "how far inside is not known: {} no margins"
_NO_MARGIN = _UNKNOWN.format("this level has")


@dataclass(frozen=True, slots=True, eq=False)
class LevelBoundary:
    """Where the data lie relative to the moment body of one level.

    Attributes
    ----------
    level : int
        The level.
    inside : bool
        Whether a finite fit exists.
    margin : float
        The largest share of the uniform law that the moments contain, 0 on the boundary. NaN
        where the features of the level are of a kind whose margins nobody computes.
    certificate : Certificate
        ``f = 1 + lam · φ >= 0`` with the least mean under the data. On the boundary it
        vanishes on all of them; inside, its mean is the margin and its peak is where the data
        are thinnest.    words : str
        What the data lie on, or where they are thinnest.
    slack : float
        The margin is an upper bound, and the truth at most so much smaller: zero where a closed
        form gives it, above 1e-5 where a programme was cut short, and ``words`` say so.
    decided : bool
        False where rounding, or the work we allow, leaves open whether the level exists;
        ``words`` say which.
    """

    level: int
    inside: bool
    margin: float
    shown_by: Certificate | None
    words: str
    slack: float = 0.0
    decided: bool = True

    @property
    def without_margin(self) -> bool:
        """Whether it is known to lie inside, and not how far."""
        return self.decided and bool(np.isnan(self.margin))

    @property
    def certificate(self) -> Certificate:
        """The function that shows where the data lie.

        Raises
        ------
        InvalidArgument
            Where none is known in closed form (``shown_by`` is None then).
        """
        if self.shown_by is None:
            raise InvalidArgument(f"level {self.level}: no function is known that shows it")
        return self.shown_by


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Boundary(LevelFrame):
    """Margins and certificates of levels 1..L; ``print`` shows a table.

    Attributes
    ----------
    entries : tuple of LevelBoundary
        One per level.
    n, d : int
        Rows, and ambient dimension.
    exact : bool
        Whether the rows themselves were examined. Moments alone cannot tell a boundary from
        a margin below their rounding.
    """

    _columns: ClassVar[tuple[str, ...]] = ("inside", "margins", "words")

    entries: tuple[LevelBoundary, ...]
    n: int
    d: int
    exact: bool

    @property
    def levels(self) -> IntArray:
        """1..L."""
        return np.array([entry.level for entry in self.entries])

    @property
    def inside(self) -> BoolArray:
        """Whether each level has a finite fit, (L,)."""
        return np.array([entry.inside for entry in self.entries])

    @property
    def margins(self) -> Array:
        """Margin of each level, (L,)."""
        return np.array([entry.margin for entry in self.entries])

    @property
    def words(self) -> tuple[str, ...]:
        """What the data of each level lie on, or where they are thinnest."""
        return tuple(entry.words for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, words and lists, ready for JSON."""
        return {
            "n": self.n,
            "d": self.d,
            "exact": self.exact,
            "levels": self.levels.tolist(),
            "inside": self.inside.tolist(),
            "margins": without_nan(self.margins.tolist()),
            "slack": [entry.slack for entry in self.entries],
            "decided": [entry.decided for entry in self.entries],
            "words": [entry.words for entry in self.entries],
            "lam": [e.shown_by.lam.tolist() if e.shown_by else [] for e in self.entries],
        }

    def __repr__(self) -> str:
        inside = int(self.inside.sum())
        return f"Boundary(n={self.n}, d={self.d}, inside through level {inside})"

    def __str__(self) -> str:
        lines = [
            f"Where the data lie in the moment body of each level (n = {self.n}, d = {self.d})",
            f"{'level':>5}  {'':<8} {'margin':>9}",
        ]
        for entry in self.entries:
            where = ("inside" if entry.decided else "open") if entry.inside else "boundary"
            margin = "–" if np.isnan(entry.margin) else f"{entry.margin:.3g}"
            head = f"{entry.level:>5}  {where:<8} {margin:>9}  "
            words = "" if entry.without_margin else entry.words  # said once, below
            lines += textwrap.wrap(
                words, _WIDTH, initial_indent=head, subsequent_indent=" " * _INDENT
            ) or [head.rstrip()]
        lines += self._legend()
        if not self.exact:
            lines.append("From moments alone: what is closer than their rounding counts as on it.")
        return "\n".join(lines)

    def _legend(self) -> list[str]:
        """What a margin is, where there is one, and which levels have none."""
        said = []
        if not np.isnan(self.margins).all():
            said.append("Margin: the largest share of the uniform law that the moments contain.")
        without = [entry.level for entry in self.entries if entry.without_margin]
        if without:
            have = "has" if len(without) == 1 else "have"
            said.append(sentence(_UNKNOWN.format(f"{levels_in_words(without)} {have}")))
        return [line for one in said for line in textwrap.wrap(one, _WIDTH)]


def boundary(
    data: Any,
    levels: int | None = None,
    *,
    weights: ArrayLike | str | None = None,
    hierarchy: Hierarchy | None = None,
) -> Boundary:
    """Tell how far inside the moment body the data lie at each level, or on what boundary.

    A finite fit of a level exists unless a function ``f = 1 + lam · φ`` of its features is
    nowhere negative on the space and zero on all the data.

    Parameters
    ----------
    data : (n, d) array_like, DataFrame, Directions or Moments
        As for `profile`. Rows of weight zero do not count.
    levels : int, optional
        Highest level; by default 4 on the circle and the two-sphere and 2 above, or all that
        the moments hold.
    weights : array_like or column name, optional
        As for `profile`.
    hierarchy : Hierarchy, optional
        The nested features; replaces ``levels``. Where the families of a hierarchy know no
        margins, a level is inside, on the boundary or not decided, and ``words`` say so.

    Returns
    -------
    Boundary

    Examples
    --------
    >>> import steradian as sr
    >>> cross = [[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, 1]]
    >>> found = sr.boundary(cross, levels=3)
    >>> found.margins.round(4).tolist()
    [0.8, 0.4, 0.0]
    >>> found.entries[2].words
    'away from the single point (0, 0, 1), all points lie on the great circle with pole (0, 0, 1)'
    """
    moments, directions = measured(as_source(data, weights, hierarchy), levels, hierarchy)
    examined = support_of(directions)
    support = examined(0) if examined else None
    known = Evidence.of(moments.stack(), support)
    entries: list[LevelBoundary] = []
    closest: Closest | None = None
    top = moments.hierarchy.levels
    for level in tracked(range(1, top + 1), top, "margins"):
        if entries and not entries[-1].inside:
            first = next(entry for entry in entries if not entry.inside)
            entries.append(_above(entries[-1], first))
            continue
        family = moments.hierarchy.family(level)
        placement = _placement(family, known)
        if placement.verdict is Verdict.OUTSIDE and known.support is not None:
            words, f = placement.words, placement.certificate
            entries.append(LevelBoundary(level, False, 0.0, f, words))
            continue
        closest = family.closest_face(known, closest)
        if closest is None:
            entries.append(_without_margin(family, known, level, placement))
        else:
            entries.append(_placed(family, known, level, closest, placement))
    return Boundary(tuple(entries), moments.n, moments.hierarchy.space.d, support is not None)


def _above(entry: LevelBoundary, first: LevelBoundary) -> LevelBoundary:
    """What is on the boundary of a level is on that of the next, by the same function."""
    words = f"as at level {first.level}: {first.words}"
    f = entry.shown_by
    above = None if f is None else f.at_level(entry.level + 1)
    return LevelBoundary(entry.level + 1, False, 0.0, above, words)


def _placement(family: Family, known: Evidence) -> Placement:
    """By the exact tests on the rows, first the quick ones; nothing without rows."""
    if known.support is None:
        return Placement(Verdict.UNSURE)
    return both_looks(family, *known.support)


def _placed(
    family: Family, known: Evidence, level: int, closest: Closest, placement: Placement
) -> LevelBoundary:
    """Not shown to be on the boundary: how far inside, as far as rows or moments can tell."""
    margin, f, slack = closest.margin, closest.function, closest.slack
    if known.support is None and margin <= closest.rounding:
        return LevelBoundary(level, False, max(margin, 0.0), f, _TO_ROUNDING, slack)
    untold = margin <= slack <= MARGIN_FINISHED  # a bound that is small, and zero not ruled out
    if known.support is not None and (margin < NEARLY or untold):
        words = nearly_words(known.support[0], f)
    else:
        words = thinnest_words(family.peak(f)) if margin < MARGIN_EVEN else ""
    if slack > MARGIN_FINISHED:
        words += f"{'; ' * bool(words)}{bound_words(slack)}"
    decided = known.support is None or placement.verdict is Verdict.INSIDE
    decided = decided or margin - slack > NEARLY
    if not decided:
        words += f"{'; ' * bool(words)}{placement.words}"
    return LevelBoundary(level, True, margin, f, words, slack, decided)


def _without_margin(
    family: Family, known: Evidence, level: int, placement: Placement
) -> LevelBoundary:
    """Inside, on the boundary or not decided: what a family without margins can say."""
    verdict, words = placement.verdict, placement.words or _OPEN
    if known.support is None:
        look = first_look(family, known.stack(), None)
        if look.refused:
            return LevelBoundary(level, False, 0.0, None, _TO_ROUNDING)
        verdict = Verdict.UNSURE if look.doubtful else Verdict.INSIDE
        words = _TOO_CLOSE
    if verdict is Verdict.INSIDE:
        return LevelBoundary(level, True, np.nan, None, _NO_MARGIN)
    if verdict is Verdict.TOUCHING:
        words = f"not decided: {words}"
    return LevelBoundary(level, True, np.nan, None, words, decided=False)
