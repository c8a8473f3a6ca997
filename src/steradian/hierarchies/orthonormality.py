"""Means and mean products of features under their own law, and whether they are 0 and 1.

That is the uniform law, unless a hierarchy declares another (`DeclaresBasis`): then rules carry its
density, and draws are draws of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.hierarchies.base import Hierarchy, KnowsReference, basis_law
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import CONTRACT_ORTHONORMAL
from steradian.references.base import underlying
from steradian.spaces import Space

_MOST_NODES = 80_000
_MOST_ENTRIES = 20_000_000
_ERRORS = 6.5  # standard errors: of ten million entries one is beyond by chance in a thousand runs
_MOST_COLUMNS = 300  # of features whose products are formed under draws


@dataclass(frozen=True, slots=True, eq=False)
class Gram:
    """E φ and E φφᵀ, with by how much each entry may be off."""

    mean: Array  # (q,)
    products: Array  # (q, q)
    mean_slack: Array  # (q,)
    product_slack: Array  # (q, q)
    under: str

    @property
    def sound(self) -> bool:
        """Whether the features are centred and orthonormal as far as this shows."""
        return self.worst_mean() is None and self.worst_product() is None

    def worst_mean(self) -> tuple[int, float] | None:
        """The feature that is farthest from mean zero, and its mean; None if all have it."""
        beyond = np.abs(self.mean) / self.mean_slack
        k = _first_largest(beyond)
        return (k, float(self.mean[k])) if not beyond[k] <= 1.0 else None

    def worst_product(self) -> tuple[tuple[int, int], float] | None:
        """The two features whose mean product is farthest from 0, or 1 where they are one."""
        beyond = np.abs(self.products - np.eye(len(self.products))) / self.product_slack
        j, k = divmod(_first_largest(beyond), len(beyond))
        return ((j, k), float(self.products[j, k])) if not beyond[j, k] <= 1.0 else None


def _first_largest(beyond: Array) -> int:
    """The first place, flat, of the largest entry, whatever rounding makes of equal ones."""
    flat = np.where(np.isnan(beyond), np.inf, beyond).ravel()
    return int(np.argmax(flat >= (1.0 - CONTRACT_ORTHONORMAL) * flat.max()))


def gram_of(hierarchy: Hierarchy, draws: int) -> Gram:
    """Under the coarsest two rules that find nothing, else the finest; draws where there is none.

    Two, since on the nodes of one rule a wrong function may look like a right one.
    """
    space, q = _own_space(hierarchy), hierarchy.q(hierarchy.levels)
    last: Gram | None = None
    for rung in range(space.rules()):
        rule = space.rule(rung)
        size = len(rule.weights)
        if last is not None and (size > _MOST_NODES or size * q > _MOST_ENTRIES):
            break
        found = _under_rule(hierarchy, rule.points, rule.weights)
        if last is not None and last.sound and found.sound:
            return found
        last = found
    return drawn_gram(hierarchy, draws) if last is None else last


def _own_space(hierarchy: Hierarchy) -> Space:
    """Whose uniform law features are white under: without its reference, where they are not."""
    return underlying(hierarchy.space) if isinstance(hierarchy, KnowsReference) else hierarchy.space


def _under_rule(hierarchy: Hierarchy, points: Array, weights: Array) -> Gram:
    phi, law = np.asarray(hierarchy.features(points)), basis_law(hierarchy)
    if law is not None:
        weights = weights * np.exp(law.logpdf(points))
    products = phi.T @ (weights[:, None] * phi)
    q = phi.shape[1]
    slack = np.full((q, q), CONTRACT_ORTHONORMAL)
    return Gram(weights @ phi, products, slack[0], slack, f"a rule of {len(weights)} nodes")


def drawn_gram(hierarchy: Hierarchy, draws: int) -> Gram:
    """Under draws, off by so many standard errors at most."""
    law, rng = basis_law(hierarchy), np.random.default_rng(2)
    x = _own_space(hierarchy).uniform(draws, rng) if law is None else law.sample(draws, rng)
    phi = np.asarray(hierarchy.features(x))[:, :_MOST_COLUMNS]
    squares = phi * phi
    products, fourth = phi.T @ phi / draws, squares.T @ squares / draws
    spread = np.sqrt(np.maximum(fourth - products**2, 0.0) / draws)
    slack = _ERRORS * np.sqrt(np.diag(products) / draws)
    # of a function that is ±1 the mean square has no error but rounding
    return Gram(
        phi.mean(axis=0), products, np.maximum(slack, CONTRACT_ORTHONORMAL),
        np.maximum(_ERRORS * spread, CONTRACT_ORTHONORMAL),
        f"{draws} {'uniform draws' if law is None else 'draws of the law it declares'}",
    )  # fmt: skip
