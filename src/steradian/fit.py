"""MaxEntFit: the maximum-entropy law of one level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import generator, whole_number
from steradian.directions import Directions
from steradian.dual import Status
from steradian.errors import InvalidDirections
from steradian.hierarchies import Harmonics
from steradian.hierarchies.quadratic import coordinates
from steradian.numerics.arrays import Array
from steradian.spaces import Space

Measure = Literal["uniform", "surface"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MaxEntFit:
    """p_L = exp(lam · φ - psi), the law of largest entropy with the moments of the data.

    Densities and entropies are against the uniform law of mass one unless
    ``measure="surface"`` asks for surface measure (angle, solid angle, …), which only
    shifts them by the log of the surface area.

    Examples
    --------
    >>> import steradian as sr
    >>> fit = sr.profile([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1]], levels=1).fits[1]
    >>> round(fit.kappa, 4)
    1.151
    """

    hierarchy: Harmonics
    level: int  # 0 is the uniform law
    lam: Array  # (q,) natural parameters
    psi: float  # log-partition
    deficit: float  # D_L, nats
    gap: float  # I_L = D_L - D_{L-1}, nats, with digits that subtraction would lose
    residual: float  # largest moment mismatch
    moments: Array  # (q,) the feature moments it matches
    status: Status

    def __repr__(self) -> str:
        name, where = type(self).__name__, self.space.name
        return f"{name}(level {self.level} on the {where}, deficit {self.deficit:.6g} nats)"

    @property
    def space(self) -> Space:
        """Where the law lives."""
        return self.hierarchy.space

    def logpdf(self, x: ArrayLike | Directions, *, measure: Measure = "uniform") -> Array:
        """Log-density at unit vectors ``x`` (n, d), nats: (n,).

        ``measure`` is ``"uniform"`` (the uniform law has density one) or ``"surface"``.
        """
        at = x if isinstance(x, Directions) else Directions(x)
        if at.d != self.space.d:
            raise InvalidDirections(f"x has dimension {at.d}; this fit has {self.space.d}")
        if self.level == 0:
            values = np.zeros(at.n)
        else:
            values = self.hierarchy.family(self.level).exponent(at.x, self.lam) - self.psi
        return np.asarray(values - self._shift(measure))

    def pdf(self, x: ArrayLike | Directions, *, measure: Measure = "uniform") -> Array:
        """Density at unit vectors ``x`` (n, d): (n,). The uniform law has density one."""
        return np.asarray(np.exp(self.logpdf(x, measure=measure)))

    def entropy(self, *, measure: Measure = "uniform") -> float:
        """Differential entropy in nats: minus the deficit, against the uniform law."""
        return -self.deficit + self._shift(measure)

    def mean(self) -> Array:
        """E x, (d,)."""
        d = self.space.d
        if self.level == 0:
            return np.zeros(d)
        return coordinates(d, self.moments)

    def sample(self, n: int, rng: np.random.Generator | int) -> Array:
        """``n`` exact independent draws, (n, d), from an explicit generator or seed."""
        count, source = whole_number("n", n, 0), generator(rng)
        if self.level == 0:
            return self.space.uniform(count, source)
        return self.hierarchy.family(self.level).sample(self.lam, count, source)

    @property
    def kappa(self) -> float:
        """Length of the linear natural parameter; at level 1 the concentration."""
        if self.level == 0:
            return 0.0
        return float(np.sqrt(self.space.d) * np.linalg.norm(self.lam[: self.space.d]))

    def _shift(self, measure: Measure) -> float:
        if measure == "uniform":
            return 0.0
        if measure == "surface":
            return self.space.log_area
        raise ValueError(f"measure is {measure!r}; choose 'uniform' or 'surface'")
