"""Laws on nodes as people hold them: their density, and draws by rejection from the uniform law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steradian.numerics.arrays import Array

if TYPE_CHECKING:
    from steradian.families.base import Family
    from steradian.spaces import Space

CLEARANCE = 0.1  # nats above the largest exponent at the nodes, for what lies between them
_BATCH = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class NodeLaw:
    """One law of a family, by its exponent and its draws."""

    family: Family
    lam: Array  # (q,)
    psi: float

    def logpdf(self, x: Array) -> Array:
        """Log-density at ``x`` (n, d): (n,)."""
        return self.family.exponent(x, self.lam) - self.psi

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws, (n, d)."""
        return self.family.sample(self.lam, n, rng)

    def drawn_below(self, bound: float, space: Space, n: int, rng: np.random.Generator) -> Array:
        """``n`` draws by rejection, (n, d), where the exponent is hardly anywhere above ``bound``.

        A proposal that exceeds it all the same raises it, and all begins again.
        """
        share, missing = float(np.exp(self.psi - bound)), n
        kept = [np.empty((0, space.d))]
        while missing > 0:
            x = space.uniform(int(min(_BATCH, 1.1 * missing / share + 64)), rng)
            height = self.family.exponent(x, self.lam)
            if height.max() > bound:
                bound, kept, missing = float(height.max()) + CLEARANCE, kept[:1], n
                continue
            good = x[np.log(rng.random(len(x))) <= height - bound][:missing]
            kept.append(good)
            missing -= len(good)
        return np.concatenate(kept)
