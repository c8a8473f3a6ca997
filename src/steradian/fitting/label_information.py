"""How much a point tells about its label: the Jensen-Shannon information of the fits of groups.

    JS = Σ π_g KL(p_g ‖ Σ π_h p_h) <= H(π) = -Σ π_g log π_g

On spaces with rules the fits are looked at on one rule that resolves them all, and again on a finer
one: the difference is the error. Elsewhere each term is a mean over draws of its group, with
three standard errors; log(p_g / Σ π_h p_h) is never above -log π_g, so that the bound holds for
them too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, xlogy

from steradian.errors import SteradianError
from steradian.families.base import Law
from steradian.fitting.nested import NestedFits
from steradian.fitting.solution import NO_RUNG
from steradian.hierarchies.base import Hierarchy
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import VERIFIED_AIM, VERIFIED_DIFFERENCE
from steradian.references.base import reference_rows

_TRIES = 12  # rules, one finer than the other
_DEGREES = 24  # by which the next one is finer, in degrees
_MOST_ENTRIES = 30_000_000  # densities at nodes that are held
_DRAWS = 20_000  # in all
_FEWEST_DRAWS = 200  # of each group
_STANDARD_ERRORS = 3.0


@dataclass(frozen=True, slots=True)
class LabelInformation:
    """What a point tells about its label.

    Attributes
    ----------
    value : float
        JS in nats.
    entropy : float
        H(π) in nats, which it is never above.
    share, noise_share : float
        value / entropy and noise / entropy; 0 for a single group.
    error : float
        By which the integral may be off, nats.
    noise : float
        What labels that mean nothing would give on average, nats: the fits follow their own rows,
        so that a value of this size says nothing. NaN where nothing tells.
    """

    value: float
    entropy: float
    error: float
    noise: float = np.nan

    @property
    def share(self) -> float:
        """Of the label's entropy."""
        return self.value / self.entropy if self.entropy > 0.0 else 0.0

    @property
    def noise_share(self) -> float:
        """What noise alone gives, of the label's entropy."""
        return self.noise / self.entropy if self.entropy > 0.0 else 0.0

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, slots=True, eq=False)
class GroupDensities:
    """Log-densities of G laws where they are looked at: at nodes of a rule, or at draws."""

    logs: Array  # (N, G)
    weights: Array  # (N,) of a rule, or one over the draws of a group
    of: IntArray | None  # (N,) group that a draw is of; None at the nodes of a rule

    def information(self, shares: Array) -> tuple[float, float]:
        """JS of groups with these shares, and three standard errors of draws."""
        used = np.flatnonzero(shares > 0.0)
        shares = shares[used]
        if len(used) == 1:
            return 0.0, 0.0
        terms = [self._term(k, used, shares) for k in range(len(used))]
        value = float(shares @ [mean for mean, _ in terms])
        return value, _STANDARD_ERRORS * float(np.sqrt(shares**2 @ [v for _, v in terms]))

    def _term(self, k: int, used: IntArray, shares: Array) -> tuple[float, float]:
        """KL(p_k ‖ mixture), and the variance of that as a mean over draws."""
        group = int(used[k])
        rows = slice(None) if self.of is None else np.flatnonzero(self.of == group)
        logs = self.logs[rows][:, used]
        mixture = logsumexp(logs, axis=1, b=shares)
        ratio = logs[:, k] - mixture
        if self.of is None:
            return float(self.weights @ (np.exp(logs[:, k]) * ratio)), 0.0
        return float(ratio.mean()), float(ratio.var() / len(ratio))

    def distances(self) -> Array:
        """√JS of every two groups with equal shares, (G, G): a metric (Endres, Schindelin 2003)."""
        count = self.logs.shape[1]
        out = np.zeros((count, count))
        for g in range(count):
            for h in range(g + 1, count):
                shares = np.zeros(count)
                shares[[g, h]] = 0.5
                out[g, h] = out[h, g] = np.sqrt(max(self.information(shares)[0], 0.0))
        return out


def entropy_of(shares: Array) -> float:
    """H(π), nats."""
    return float(-xlogy(shares, shares).sum())


def group_densities(
    hierarchy: Hierarchy, groups: NestedFits, shares: Array, seed: int
) -> tuple[GroupDensities, float]:
    """The fits of the groups where they resolve an integral, and the error of JS there."""
    before: tuple[GroupDensities, float] | None = None
    for seen in _on_rules(hierarchy, groups):
        value = seen.information(shares)[0]
        if before is not None and abs(value - before[1]) <= VERIFIED_AIM:
            return seen, abs(value - before[1])
        error = np.inf if before is None else abs(value - before[1])
        before = seen, value
    if before is not None and np.isfinite(reference_rows(hierarchy.space)):
        return before[0], 0.0  # a law of rows is summed, not integrated
    if before is not None and error <= VERIFIED_DIFFERENCE:
        return before[0], error
    drawn = _at_draws(hierarchy, groups, np.random.default_rng(seed))
    return drawn, drawn.information(shares)[1]


def _on_rules(hierarchy: Hierarchy, groups: NestedFits) -> Iterator[GroupDensities]:
    """On rules of the space, each finer than the last, that resolve the law of every group."""
    top = hierarchy.levels
    family, q = hierarchy.family(top), hierarchy.q(top)
    if not family.has_rule:
        return
    fits = groups.solutions[-1]
    first = max(0, int(fits.rungs.max(initial=NO_RUNG)))
    size = 0
    for step in range(_TRIES):
        degree = 2 * top + step * _DEGREES
        try:
            points, weights = family.resolved_by(first).rule(np.zeros(q), degree)
            if len(weights) == size:  # no finer one by its degree: the next of the ladder
                first += 1
                points, weights = family.resolved_by(first).rule(np.zeros(q), degree)
        except (SteradianError, IndexError, ValueError):
            return
        if len(weights) <= size or len(weights) * len(fits.lam) > _MOST_ENTRIES:
            return
        size = len(weights)
        if points.shape[1] != hierarchy.space.d:  # features see less than the whole point
            return
        logs = np.asarray(hierarchy.features(points))[:, :q] @ fits.lam.T - fits.psi
        mass = logsumexp(logs, axis=0, b=weights[:, None])
        if np.abs(mass).max() <= VERIFIED_DIFFERENCE:
            yield GroupDensities(logs, weights, None)


def _at_draws(hierarchy: Hierarchy, groups: NestedFits, rng: np.random.Generator) -> GroupDensities:
    """At draws of every group."""
    fits = groups.solutions[-1]
    top, count, kept = hierarchy.levels, len(fits.lam), fits.laws
    laws: list[Law] = [
        hierarchy.family(top).law(fits.lam[g], float(fits.psi[g])) if kept[g] is None else kept[g]
        for g in range(count)
    ]
    each = max(_FEWEST_DRAWS, _DRAWS // count)
    drawn = [law.sample(each, rng) for law in laws]
    x = np.concatenate(drawn)
    logs = np.stack([law.logpdf(x) for law in laws], axis=1)
    of = np.repeat(np.arange(count), [len(part) for part in drawn])
    return GroupDensities(logs, np.full(len(x), 1.0 / each), of)
