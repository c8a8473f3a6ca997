"""A density as a reference: any function of points, or a law that somebody holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from steradian.arguments import number_array, shown
from steradian.errors import InvalidArgument, ResolutionError, SteradianError
from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.rejection import drawn_below
from steradian.numerics.tolerances import (
    EDGE_MASS,
    GEOMETRIC_REFERENCE,
    SMOOTH_REFERENCE,
    TINY,
    VERIFIED_DIFFERENCE,
)
from steradian.references.base import Reference, log_reference, reference_rows
from steradian.references.cut_rules import turned_rule
from steradian.spaces.base import Rule, Space, has_no_sign

if TYPE_CHECKING:
    from scipy.spatial import KDTree

_LOOKED_AT = 40_000  # nodes of the finest rule by which a density is seen to be smooth
_MOST_NODES = 300_000  # of rules of a density that is not, and of the one that looks for peaks
_COPIES = 16  # of a rule, turned, where none is good enough by itself,
_COPIED = 20_000  # and its nodes
_NEIGHBOURS = 8  # nodes about a point, of which one at least stands uphill of it
_RISEN = 2.0  # times their highest value: a rule that resolves a peak meets over half of it
_ROWS = 1 << 15  # of the highest density, and as many of the others, that are compared with nodes
_HIGH_NODES = 1 << 10  # of the finest rule, that are asked whether they met a peak by luck
_BATCH = 1 << 16
_NO_PARTS = np.empty(0, dtype=np.int64)
_TURN = 20_231  # seed of the turns
_CLEARANCE = 1.05  # over the highest density at the nodes


@dataclass(frozen=True, slots=True)
class Density(Reference):
    """The law of density ``function`` / ∫ ``function`` against the uniform law of a space.

    Where the space has rules that resolve it, which two neighbouring ones and the finest of all
    show by agreeing about its mass and first moments, rules are those of the space with its values
    in the weights. Where they agree ever better, though not yet to rounding, the finest two are
    kept, and what they differ by is the error that a fit states. Elsewhere sixteen copies of a fine
    one, each turned by a random symmetry of the space, are one rule. The mean over all turns is the
    integral itself, so that the spread of the copies tells the error: `parts`. A peak that stands
    between the nodes of all of them is seen by rows that lie in it: `missed_rows`.
    """

    space: Space
    function: Callable[[Array], AnyArray]
    words: str = "a given density"

    @property
    def rough(self) -> bool:
        return bool(self.space.rules()) and _ladder(self).rough

    def rules(self) -> int:
        return (len(_ladder(self).rungs) or 2) if self.space.rules() else 0

    def rule(self, rung: int) -> Rule:
        return _rule(self, rung)

    @property
    def parts(self) -> IntArray:
        """Where in the finest rule each copy begins, (16,), and nothing where it is no copies."""
        return _copies(self)[1] if self.rough and not _ladder(self).rungs else _NO_PARTS

    def logpdf(self, x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.values(x)) - _ladder(self).log_mass)

    def values(self, x: Array) -> Array:
        """The function at ``x`` (n, d), checked: (n,)."""
        try:
            given = self.function(x)
            found = number_array(given, "its value", "give n numbers")
        except Exception as error:  # whatever a foreign function does, the message is ours
            if isinstance(error, SteradianError) and not isinstance(error, InvalidArgument):
                raise
            raise InvalidArgument(
                f"the reference density cannot be had at points of shape {x.shape}: {error}; give "
                "a function from points (n, d) to n numbers"
            ) from error
        if found.shape not in {(len(x),), (len(x), 1)}:
            raise InvalidArgument(
                f"the reference density gave shape {found.shape} at {len(x)} points; give (n,)"
            )
        found = found.reshape(-1)
        bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0.0)))
        if len(bad):
            raise InvalidArgument(
                f"the reference density is {found[bad[0]]:g} at {shown(x[bad[0]].tolist())}; a "
                "density is finite and not negative"
            )
        return found

    def missed_rows(self, x: Array) -> BoolArray:
        """Which of ``x`` (n, d) lie on peaks that stand between the nodes of the rules, (n,).

        There the density is more than twice what it is at the nodes all round, and a node's share
        of the space at that height is mass that integrals would feel.
        """
        out = np.zeros(len(x), dtype=bool)
        if not self.space.rules():
            return out
        values = self.values(x)
        looked = _looked_at(values)
        out[looked] = _missed(self, x[looked], values[looked])
        return out

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Exact draws by rejection from the uniform law; see `rejected`."""
        return rejected(self.space, self.values, _top(self), n, rng)


class OfDensity(Reference):
    """A reference whose rules, and what they see, are those of a `Density`."""

    __slots__ = ()

    @property
    def density(self) -> Density:
        """The density that is integrated."""
        raise NotImplementedError

    @property
    def rough(self) -> bool:
        return self.density.rough

    @property
    def parts(self) -> IntArray:
        """As `Density.parts`."""
        return self.density.parts

    def rules(self) -> int:
        return self.density.rules()

    def rule(self, rung: int) -> Rule:
        return self.density.rule(rung)

    def missed_rows(self, x: Array) -> BoolArray:
        """As `Density.missed_rows`."""
        return self.density.missed_rows(x)


class DrawnLaw(Protocol):
    """A law with a density against the uniform law of its space, and draws."""

    def logpdf(self, x: Array) -> Array:
        """Log-density at ``x`` (n, d): (n,)."""
        ...

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` draws, (n, d)."""
        ...


@dataclass(frozen=True, slots=True)
class LawReference(OfDensity):
    """A law of a space, integrated by the rules of the space and drawn from by its own sampler."""

    space: Space
    law: DrawnLaw
    words: str

    @property
    def density(self) -> Density:
        return Density(self.space, _Values(self.law), self.words)

    @property
    def known_by(self) -> float:
        return reference_rows(self.space)

    def logpdf(self, x: Array) -> Array:
        already = log_reference(self.space, x)  # where the law is itself relative to another
        return np.asarray(self.law.logpdf(x) + (0.0 if already is None else already))

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        return self.law.sample(n, rng)


@dataclass(frozen=True, slots=True)
class _Values:
    """The density of a law as a function, equal for equal laws."""

    law: DrawnLaw

    def __call__(self, x: Array) -> Array:
        return np.asarray(np.exp(self.law.logpdf(x)))


@dataclass(frozen=True, slots=True, eq=False)
class _Ladder:
    rungs: tuple[int, ...]  # of the rules of the space that serve; none where copies do
    rough: bool
    looked: int  # the rung by whose nodes a row is told to lie on a peak
    log_mass: float


@lru_cache(maxsize=64)
def _ladder(density: Density) -> _Ladder:
    """The rules of the space that serve, from the first that agrees with the next and the last."""
    space = density.space
    sizes = [len(space.rule(k).weights) for k in range(space.rules())]
    fitting = [k for k, size in enumerate(sizes) if size <= _MOST_NODES]
    finest, total = _integrals(density, fitting[-1])
    if finest is None:
        raise InvalidArgument(
            f"the reference density is zero everywhere on the {space.name}, or its mass is no "
            f"number, at {sizes[fitting[-1]]} nodes; give one that is positive on more than a speck"
        )
    found = []
    for rung in fitting:
        integrals, mass = _integrals(density, rung)
        found.append(integrals)
        if _apart(found[-2:]) <= SMOOTH_REFERENCE and _apart([integrals, finest]) <= (
            SMOOTH_REFERENCE
        ):
            looked = max(rung, _finest(space, _LOOKED_AT))
            rungs = tuple(range(rung - 1, space.rules()))  # coarser ones agree, and miss it
            return _Ladder(rungs, False, looked, float(np.log(mass)))
    falling = _apart(found[-2:]) <= GEOMETRIC_REFERENCE * _apart(found[-3:-1])
    rungs = tuple(fitting[-2:]) if falling else ()
    return _Ladder(rungs, True, fitting[-1], float(np.log(total)))


def _finest(space: Space, most: int) -> int:
    """The finest rule of not more nodes; always one."""
    sizes = [len(space.rule(k).weights) for k in range(space.rules())]
    return max(k for k, size in enumerate(sizes) if size <= most or k == 0)


def _apart(pair: list[Array | None]) -> float:
    """How far integrals of two rules are apart; infinite where there are no two."""
    known = [each for each in pair if each is not None]
    return float(np.abs(known[0] - known[1]).max()) if len(known) == 2 else np.inf


def _integrals(density: Density, rung: int) -> tuple[Array | None, float]:
    """Mean and mean products of the points under a rule with the density, and the mass.

    None where the rule sees no mass, or one that is no number.
    """
    rule = density.space.rule(rung)
    mass = rule.weights * density.values(rule.points)
    total = float(mass.sum())
    if not 0.0 < total < np.inf:
        return None, total
    first = mass @ rule.points
    second = rule.points.T @ (mass[:, None] * rule.points)
    return np.concatenate([[np.log(total)], first / total, second.ravel() / total]), total


def _looked_at(values: Array) -> IntArray:
    """Which of many rows are compared with nodes: the highest, and some of all others."""
    if len(values) <= 2 * _ROWS:
        return np.arange(len(values))
    order = np.argsort(-values, kind="stable")
    rest = order[_ROWS:]
    return np.concatenate([order[:_ROWS], rest[:: -(-len(rest) // _ROWS)]])


@dataclass(frozen=True, slots=True, eq=False)
class _Neighbourhood:
    """The nodes with which rows are compared: those by which integrals are made, or finer ones."""

    tree: KDTree  # of where they are; of axes, either end
    points: Array  # (k, d)
    shares: Array  # (k,) of the space


@lru_cache(maxsize=4)
def _neighbourhood(space: Space, rung: int | None) -> _Neighbourhood:
    """The nodes of a rule of a space; None: of the turned copies that every rule has."""
    from scipy.spatial import KDTree  # slow to load, and of densities alone

    rules = _turned(space)[: _COPIES // 2] if rung is None else [space.rule(rung)]
    points = np.concatenate([rule.points for rule in rules])
    shares = np.concatenate([rule.weights for rule in rules]) / len(rules)
    ends = np.concatenate([points, -points]) if has_no_sign(space) else points
    return _Neighbourhood(KDTree(ends), points, shares)


def _missed(density: Density, x: Array, values: Array) -> BoolArray:
    """Which of ``x`` (n, d) rise above the nodes about them by a mass that is felt, (n,)."""
    ladder = _ladder(density)
    nodes = _neighbourhood(density.space, ladder.looked if ladder.rungs else None)
    _, near = nodes.tree.query(x, k=_NEIGHBOURS)
    near %= len(nodes.points)
    risen = values - _RISEN * density.values(nodes.points)[near].max(axis=1)
    mass = risen * nodes.shares[near].max(axis=1) / np.exp(ladder.log_mass)
    return np.asarray(mass > (EDGE_MASS if ladder.rough else VERIFIED_DIFFERENCE))


@lru_cache(maxsize=8)
def _rule(density: Density, rung: int) -> Rule:
    rungs = _ladder(density).rungs
    if rungs:
        return _weighted(density, [density.space.rule(rungs[rung])])[0]
    rule, starts = _copies(density)
    if rung:
        return rule
    half = int(starts[_COPIES // 2])
    return Rule(rule.points[:half], rule.weights[:half] / rule.weights[:half].sum())


@lru_cache(maxsize=4)
def _copies(density: Density) -> tuple[Rule, IntArray]:
    """Turned copies of one rule as one, and where each begins.

    Refused where the highest nodes of the finest rule lie on a peak that no copy meets.
    """
    points = density.space.rule(_ladder(density).looked).points
    values = density.values(points)
    high = np.argsort(-values, kind="stable")[:_HIGH_NODES]
    if _missed(density, points[high], values[high]).any():
        raise ResolutionError(
            1,
            f"relative to {density.words} cannot be resolved: the density has a peak that is met "
            "by chance, by a few nodes of the finest rule alone",
            "give a sample of the reference, or a density with wider peaks",
        )
    return _weighted(density, _turned(density.space))


def _turned(space: Space) -> list[Rule]:
    """Copies of one rule of a space, each turned by a random symmetry."""
    rung = _finest(space, _COPIED)
    turns = [np.random.default_rng([_TURN, k]) for k in range(_COPIES)]
    return [turned_rule(space, rung, turn) for turn in turns]


def _weighted(density: Density, rules: list[Rule]) -> tuple[Rule, IntArray]:
    """Rules as one, with the density in its weights, and where each of them begins.

    Nodes where the density is zero are left out.
    """
    points = np.concatenate([rule.points for rule in rules])
    mass = np.concatenate([rule.weights for rule in rules]) * density.values(points)
    mass /= mass.sum()
    seen = mass > TINY
    sizes = np.cumsum([0, *(len(rule.weights) for rule in rules)])
    starts = np.concatenate([[0], np.cumsum(seen)])[sizes[:-1]]
    return Rule(points[seen], mass[seen]), starts


@lru_cache(maxsize=64)
def _top(density: Density) -> float:
    """Somewhat more than the highest value at the nodes of the finest rule."""
    points = density.space.rule(_ladder(density).looked).points
    return float(density.values(points).max()) * _CLEARANCE


def rejected(
    space: Space,
    values: Callable[[Array], Array],
    top: float,
    n: int,
    rng: np.random.Generator,
) -> Array:
    """``n`` draws of the density ``values`` / ∫ ``values``, by rejection from the uniform law.

    ``top`` is about its highest value; a proposal that exceeds it raises it, and all begins again.
    """

    def propose(count: int) -> tuple[Array, Array]:
        x = space.uniform(count, rng)
        with np.errstate(divide="ignore"):
            return x, np.log(values(x))

    return drawn_below(propose, float(np.log(top)), n, rng, batch=_BATCH)
