"""check_space: the contract of a space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steradian.contract import Line, NotOffered, Report, examined, missing_members
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import CONTRACT_SAME, RULE_MASS
from steradian.spaces import Rule, Space

_POINTS = 50
_DRAWS = 1 << 14
_FAR = 1000.0  # where no point of any space is
_ERRORS = 6.5  # standard errors
_MOST_NODES = 80_000


@dataclass(frozen=True)
class SpaceSpecimen:
    """A space with some of its points."""

    space: Space

    @cached_property
    def x(self) -> Array:
        return self.space.uniform(_POINTS, np.random.default_rng(0))

    @cached_property
    def turn(self) -> Array:
        return self.space.symmetry(np.random.default_rng(1))

    @cached_property
    def draws(self) -> Array:
        return self.space.uniform(_DRAWS, np.random.default_rng(2))

    @cached_property
    def ladder(self) -> tuple[Rule, ...]:
        """The rules that are not too fine to look at."""
        found: list[Rule] = []
        for rung in range(self.space.rules()):
            found.append(self.space.rule(rung))
            if len(found[-1].weights) > _MOST_NODES:
                break
        if not found:
            raise NotOffered(f"there are no rules on the {self.space.name}")
        return tuple(found)


def members(s: SpaceSpecimen) -> Iterator[str]:
    """It has every member of `Space`."""
    for name in missing_members(s.space, Space):
        yield f"It has no `{name}`."


def values(s: SpaceSpecimen) -> Iterator[str]:
    """Spaces are values with a name, a dimension and an area."""
    space = s.space
    hash(space)
    if not 1 <= space.dimension <= space.d:
        yield f"dimension is {space.dimension} in R^{space.d}."
    for name in ("name", "point_name"):
        if not str(getattr(space, name)).strip():
            yield f"`{name}` is empty; give what people call it."
    if not np.isfinite(space.log_area):
        yield f"log_area is {space.log_area}."


def points(s: SpaceSpecimen) -> Iterator[str]:
    """Uniform draws are points, and others are refused in words that name the row."""
    space = s.space
    if s.x.shape != (_POINTS, space.d) or not np.isfinite(s.x).all():
        yield f"{_POINTS} draws have shape {s.x.shape}, or are not finite."
        return
    if refused := space.refusal(s.x):
        yield f"Its own draws are refused: {refused}."
    again = space.uniform(_POINTS, np.random.default_rng(0))
    if not np.array_equal(again, s.x):
        yield "Two draws with the same seed differ; draw with the generator that is given alone."
    bad = s.x.copy()
    bad[3] = _FAR * (1.0 + np.abs(bad[3]))
    if "3" not in str(space.refusal(bad)):
        yield f"Row 3, {_FAR:g} away, is not refused by its number: {str(space.refusal(bad))!r}."
    bad[3] = np.nan
    if not space.refusal(bad):
        yield "A row that is not a number is not refused."


def symmetries(s: SpaceSpecimen) -> Iterator[str]:
    """Symmetries are orthogonal, and take points to points."""
    turn, d = s.turn, s.space.d
    if turn.shape != (d, d):
        yield f"`symmetry` has shape {turn.shape}, not ({d}, {d})."
        return
    off = float(np.abs(turn @ turn.T - np.eye(d)).max())
    if off > RULE_MASS * d:
        yield f"`symmetry` misses being orthogonal by {off:.2g}."
    if refused := s.space.refusal(s.x @ turn.T):
        yield f"Turned points are refused: {refused}."


def centres(s: SpaceSpecimen) -> Iterator[str]:
    """`centre` is E x, or zero where points have no sign, for one weighting and for many."""
    w = np.random.default_rng(3).dirichlet(np.ones(_POINTS), size=2)
    many, one = np.asarray(s.space.centre(s.x, w)), np.asarray(s.space.centre(s.x, w[0]))
    if many.shape != (2, s.space.d) or one.shape != (s.space.d,):
        yield f"It has shapes {one.shape} and {many.shape} for weights (n,) and (2, n)."
        return
    for wanted in (w @ s.x, np.zeros_like(many)):
        if (
            np.abs(many - wanted).max() < CONTRACT_SAME
            and np.abs(one - wanted[0]).max() < CONTRACT_SAME
        ):
            return
    yield "It is neither E x nor zero."


def masses(s: SpaceSpecimen) -> Iterator[str]:
    """The weights of a rule add up to one, none is negative, and its nodes are points."""
    for rung, rule in enumerate(s.ladder):
        total = float(rule.weights.sum())
        if abs(total - 1.0) > RULE_MASS * max(1.0, np.sqrt(len(rule.weights))):
            yield f"Those of rule {rung} add up to {total:.8g}; divide by that."
        if rule.weights.min() < 0.0:
            yield f"Rule {rung} has the weight {rule.weights.min():.3g}."
        if rule.points.shape != (len(rule.weights), s.space.d) or s.space.refusal(rule.points):
            yield f"Rule {rung} has nodes that are no points: {s.space.refusal(rule.points)}."


def ladder(s: SpaceSpecimen) -> Iterator[str]:
    """Rules become finer, and agree about a smooth function from some on."""
    sizes = [len(rule.weights) for rule in s.ladder]
    if sizes != sorted(set(sizes)):
        yield f"They have {sizes} nodes; each must have more than the one before."
    if len(s.ladder) < 2:
        yield "There is only one, and a fit is verified on the next."
        return
    means = [float(rule.weights @ _smooth(s, rule.points)) for rule in s.ladder[-2:]]
    if abs(means[1] - means[0]) > CONTRACT_SAME:
        yield f"The last two differ by {abs(means[1] - means[0]):.2g}."


def uniform(s: SpaceSpecimen) -> Iterator[str]:
    """Uniform draws have the moments that the rules give."""
    rule = s.ladder[-1]
    for name, function in (("xxᵀ", _products), ("a smooth function", lambda x: _smooth(s, x))):
        seen = np.asarray(function(s.draws)).reshape(_DRAWS, -1)
        wanted = rule.weights @ np.asarray(function(rule.points)).reshape(len(rule.weights), -1)
        yield from _apart(name, seen, wanted, "under the rules")


def invariant(s: SpaceSpecimen) -> Iterator[str]:
    """The uniform law is the same after a symmetry."""
    turned = s.space.uniform(_DRAWS, np.random.default_rng(4)) @ s.turn.T
    for name, function in (("xxᵀ", _products), ("a smooth function", lambda x: _smooth(s, x))):
        here = np.asarray(function(s.draws)).reshape(_DRAWS, -1)
        there = np.asarray(function(turned)).reshape(_DRAWS, -1)
        yield from _apart(name, here - there, 0.0 * here[0], "after a symmetry")


def _products(x: Array) -> Array:
    return x[:, :, None] * x[:, None, :]


def _smooth(s: SpaceSpecimen, x: Array) -> Array:
    """A smooth function of points that does not see their sign: exp (a·x)² for each of three a."""
    along = np.random.default_rng(5).standard_normal((s.space.d, 3))
    return np.exp((x @ along / np.sqrt(s.space.d)) ** 2)[:, 0] - 1.0


def _apart(name: str, seen: Array, wanted: Array, where: str) -> Iterator[str]:
    """One sentence if the means of draws (n, k) are too far from ``wanted`` (k,)."""
    slack = _ERRORS * seen.std(axis=0) / np.sqrt(len(seen)) + CONTRACT_SAME
    beyond = np.abs(seen.mean(axis=0) - wanted) / slack
    k = int(np.argmax(beyond))
    if not beyond[k] <= 1.0:
        errors = _ERRORS * beyond[k]
        yield f"The mean of {name} is {errors:.1f} standard errors from what it is {where}."


_STAGES: tuple[tuple[Line[SpaceSpecimen], ...], ...] = (
    (members,),
    (values, points),
    (symmetries, centres, masses, ladder, uniform, invariant),
)


def check_space(space: Space) -> Report:
    """Hold a space against every line of its contract.

    Parameters
    ----------
    space : Space
        One of this package or of your own.

    Returns
    -------
    Report

    Raises
    ------
    ConformanceError
        Lines are broken; the message names each.

    Examples
    --------
    >>> import steradian as sr
    >>> len(sr.conformance.check_space(sr.Axes(6)).not_offered)    # it has no rules
    3
    """
    return examined(space, SpaceSpecimen(space), _STAGES)
