"""A density as a reference: any function of points that is nowhere negative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from steradian.arguments import shown
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.tolerances import SMOOTH_REFERENCE
from steradian.spaces.base import Rule, Space

_LOOKED_AT = 40_000  # nodes of the finest rule by which a density is seen to be smooth
_MOST_NODES = 300_000  # of rules of a density that is not
_KEPT = 3  # of the finest rules, where none is good enough by itself
_BATCH = 1 << 16
_TURN = 20_231  # seed of a rotation that no edge is along
_CLEARANCE = 1.05  # over the highest density at the nodes
_MOST_PROPOSALS = 10_000  # per draw, that are expected at most


@dataclass(frozen=True, slots=True)
class Density:
    """The law of density ``function`` / ∫ ``function`` against the uniform law of a space.

    Where the space has rules that resolve it, which two neighbouring ones show by agreeing about
    its mass and first moments, rules are those of the space with its values in the weights. Where
    none does, the finest three are kept: an edge costs them 1e-5 or so, and what they differ by is
    the error that a fit states.
    """

    space: Space
    function: Callable[[Array], AnyArray]
    words: str = "a given density"

    @property
    def known_by(self) -> float:
        return np.inf

    @property
    def rough(self) -> bool:
        return _ladder(self).rough

    def rules(self) -> int:
        return len(_ladder(self).rungs)

    def rule(self, rung: int) -> Rule:
        return _rule(self, _ladder(self).rungs[rung])

    def logpdf(self, x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.values(x)) - _ladder(self).log_mass)

    def values(self, x: Array) -> Array:
        """The function at ``x`` (n, d), checked: (n,)."""
        try:
            found = np.asarray(self.function(x), dtype=np.float64)
        except (TypeError, ValueError) as error:
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

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Exact draws by rejection from the uniform law; see `rejected`."""
        return rejected(self.space, self.values, _top(self), n, rng)


@dataclass(frozen=True, slots=True, eq=False)
class _Ladder:
    rungs: tuple[int, ...]  # of the rules of the space
    rough: bool
    log_mass: float


@lru_cache(maxsize=64)
def _ladder(density: Density) -> _Ladder:
    """The rules of the space that serve, from the first that agrees with the next."""
    space = density.space
    before, total = _integrals(density, 0)
    for rung in range(1, space.rules()):
        if len(space.rule(rung).weights) > _LOOKED_AT and rung > 1:
            break
        found, total = _integrals(density, rung)
        if np.abs(found - before).max() <= SMOOTH_REFERENCE:
            return _Ladder(tuple(range(space.rules())), False, float(np.log(total)))
        before = found
    rungs = [k for k in range(space.rules()) if len(space.rule(k).weights) <= _MOST_NODES]
    kept = tuple(rungs[-_KEPT:])
    return _Ladder(kept, True, float(np.log(_integrals(density, kept[-1])[1])))


def _integrals(density: Density, rung: int) -> tuple[Array, float]:
    """Mean and mean products of the points under a rule with the density, and the mass."""
    rule = density.space.rule(rung)
    mass = rule.weights * density.values(rule.points)
    total = float(mass.sum())
    if not 0.0 < total < np.inf:
        raise InvalidArgument(
            f"the reference density is zero everywhere on the {density.space.name}, or its mass is "
            "no number; give one that is positive somewhere"
        )
    first = mass @ rule.points
    second = rule.points.T @ (mass[:, None] * rule.points)
    return np.concatenate([[np.log(total)], first / total, second.ravel() / total]), total


@lru_cache(maxsize=8)
def _rule(density: Density, rung: int) -> Rule:
    rule = density.space.rule(rung)
    points = rule.points
    if _ladder(density).rough:  # edges along rings of nodes would cost a whole ring at once
        points = points @ density.space.symmetry(np.random.default_rng(_TURN)).T
    mass = rule.weights * density.values(points)
    seen = mass > 0.0
    return Rule(points[seen], mass[seen] / mass.sum())


@lru_cache(maxsize=64)
def _top(density: Density) -> float:
    """Somewhat more than the highest value at the nodes of the finest rule."""
    points = density.space.rule(_ladder(density).rungs[-1]).points
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
    kept: list[Array] = []
    missing, share = n, 0.0
    while missing > 0:
        count = int(min(_BATCH, 1.2 * missing / share + 64)) if share else 1024
        x = space.uniform(count, rng)
        height = values(x)
        if height.max() > top:
            top, kept, missing = float(height.max()) * _CLEARANCE, [], n
            continue
        accepted = rng.random(count) * top < height
        share = max(float(accepted.mean()), 1.0 / _MOST_PROPOSALS)
        good = x[accepted][:missing]
        kept.append(good)
        missing -= len(good)
    return np.concatenate([np.empty((0, space.d)), *kept])
