"""Where the data lie in the moment body of each level: how far inside, or on what boundary."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.source import as_source, measured, support_of
from steradian.existence.body import examine_face
from steradian.existence.certificate import Certificate
from steradian.existence.margin import Closest, Evidence, closest_face
from steradian.existence.placement import Placement, Verdict
from steradian.existence.semi_infinite import LP_ACCURACY
from steradian.existence.support_words import bound_words, nearly_words, thinnest_words
from steradian.hierarchies import Harmonics
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.significance.progress import tracked
from steradian.spaces import Sphere

_ROUNDED = 1e-13  # a margin from moments alone that rounding cannot tell from zero
PRECISE = 1e-5  # slack of a margin up to which its programme counts as finished
_NEARLY = 1e-8  # margin below which the fit exists but hardly
_EVEN = 1.0 - 1e-6  # margin above which nothing is thin
_WIDTH = 80
_INDENT = 27


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
        The largest share of the uniform law that the moments contain, 0 on the boundary.
    certificate : Certificate
        ``f = 1 + lam · φ >= 0`` with the least mean under the data. On the boundary it
        vanishes on all of them; inside, its mean is the margin and its peak is where the data
        are thinnest.
    words : str
        What the data lie on, or where they are thinnest.
    slack : float
        The margin is an upper bound, and the truth at most so much smaller: zero where a closed
        form gives it, above `PRECISE` where a programme was cut short, and ``words`` say so.
    decided : bool
        False where rounding, or the work we allow, leaves open whether the level exists;
        ``words`` say which.
    """

    level: int
    inside: bool
    margin: float
    certificate: Certificate
    words: str
    slack: float = 0.0
    decided: bool = True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Boundary:
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

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, words and lists, ready for JSON."""
        return {
            "n": self.n,
            "d": self.d,
            "exact": self.exact,
            "levels": self.levels.tolist(),
            "inside": self.inside.tolist(),
            "margins": self.margins.tolist(),
            "slack": [entry.slack for entry in self.entries],
            "decided": [entry.decided for entry in self.entries],
            "words": [entry.words for entry in self.entries],
            "lam": [entry.certificate.lam.tolist() for entry in self.entries],
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
            where = "inside" if entry.inside else "boundary"
            head = f"{entry.level:>5}  {where:<8} {entry.margin:>9.3g}  "
            lines += textwrap.wrap(
                entry.words, _WIDTH, initial_indent=head, subsequent_indent=" " * _INDENT
            ) or [head.rstrip()]
        lines.append("Margin: the largest share of the uniform law that the moments contain.")
        if not self.exact:
            lines.append("From moments alone: what is closer than their rounding counts as on it.")
        return "\n".join(lines)


def boundary(
    data: Any, levels: int | None = None, *, weights: ArrayLike | str | None = None
) -> Boundary:
    """Tell how far inside the moment body the data lie at each level, or on what boundary.

    A finite fit of a level exists unless a function ``f = 1 + lam · φ`` of its features is
    nowhere negative on the sphere and zero on all the data.

    Parameters
    ----------
    data : (n, d) array_like, DataFrame, Directions or Moments
        As for `profile`. Rows of weight zero do not count.
    levels : int, optional
        Highest level; by default 4 on the circle and the two-sphere and 2 above, or all that
        the moments hold.
    weights : array_like or column name, optional
        As for `profile`.

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
    moments, directions = measured(as_source(data, weights), levels)
    examined = support_of(directions)
    support = examined(0) if examined else None
    known = Evidence.of(moments.stack(), support)
    entries: list[LevelBoundary] = []
    closest: Closest | None = None
    top = moments.hierarchy.levels
    for level in tracked(range(1, top + 1), top, "margins"):
        if entries and not entries[-1].inside:
            entries.append(_above(entries[-1]))
            continue
        placement = _examined(moments.hierarchy, level, support)
        if placement.certificate is not None:
            words, f = placement.words, placement.certificate
            entries.append(LevelBoundary(level, False, 0.0, f, words))
            continue
        closest = closest_face(known, level, closest)
        entries.append(_placed(known, level, closest, placement))
    return Boundary(tuple(entries), moments.n, moments.hierarchy.d, support is not None)


def _above(entry: LevelBoundary) -> LevelBoundary:
    """What is on the boundary of a level is on that of the next, by the same function."""
    words = entry.words
    if not words.startswith("as at level"):
        words = f"as at level {entry.level}: {words}"
    above = entry.certificate.at_level(entry.level + 1)
    return LevelBoundary(entry.level + 1, False, 0.0, above, words)


def _examined(hierarchy: Harmonics, level: int, support: tuple[Array, Array] | None) -> Placement:
    """By the exact tests on the rows, first the quick ones."""
    if support is None:
        return Placement(Verdict.UNSURE)
    placement = hierarchy.family(level).examine(*support)
    if placement.verdict is Verdict.UNSURE and level > 2 and isinstance(hierarchy.space, Sphere):
        placement = examine_face(support[0], level)
    return placement


def _placed(known: Evidence, level: int, closest: Closest, placement: Placement) -> LevelBoundary:
    """Not shown to be on the boundary: how far inside, as far as rows or moments can tell."""
    margin, f, slack = closest.margin, closest.function, closest.slack
    if known.support is None:
        rounding = 10.0 * LP_ACCURACY if known.d == 3 and level > 2 else _ROUNDED
        if margin <= rounding:
            words = "on the boundary to the rounding of the moments"
            return LevelBoundary(level, False, max(margin, 0.0), f, words, slack)
    if known.support is not None and margin < _NEARLY:
        words = nearly_words(known.support[0], f)
    else:
        words = thinnest_words(f) if margin < _EVEN else ""
    if slack > PRECISE:
        words += f"{'; ' * bool(words)}{bound_words(slack)}"
    decided = known.support is None or placement.verdict is Verdict.INSIDE
    decided = decided or margin - slack > _NEARLY
    if not decided:
        words += f"{'; ' * bool(words)}{placement.words}"
    return LevelBoundary(level, True, margin, f, words, slack, decided)
