"""The seam of a level: its `Family` of laws, and one `Law` of it."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.existence.placement import Placement
from steradian.families.whitening import Whitening
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import Array, IntArray


class Law(Protocol):
    """One law of a family, ready for densities and draws."""

    def logpdf(self, x: Array) -> Array:
        """Log-density at unit vectors ``x`` (n, d): (n,)."""
        ...

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws, (n, d)."""
        ...


class Family(Protocol):
    """The exponential family of one level; everything takes and gives stacks."""

    @property
    def q(self) -> int:
        """Number of features."""
        ...

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ (B,), mean (B, q) and covariance (B, q, q) of the features at ``lam`` (B, q)."""
        ...

    def contains(self, moments: MomentStack) -> IntArray:
        """A `Verdict` per row, from the moments alone."""
        ...

    @property
    def needs_support(self) -> bool:
        """Whether the moments alone may miss a boundary that the support shows."""
        ...

    def examine(self, x: Array, weights: Array) -> Placement:
        """The exact verdict for distinct directions ``x`` (n, d) of positive ``weights``."""
        ...

    def exponent(self, x: Array, lam: Array) -> Array:
        """λ·φ(x) of one law ``lam`` (q,) at ``x`` (n, d): (n,)."""
        ...

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws from one law ``lam`` (q,): (n, d)."""
        ...

    @property
    def forms_matrices(self) -> bool:
        """Whether q × q matrices of this level are formed: there are not too many features."""
        ...

    def whitening(self, below: Array) -> Whitening:
        """White features of this level under the fits ``below`` (B, q_below) of the level below.

        ``below`` has no columns where that is the reference law itself. A family that forms its
        covariance has them from `formed_whitening`.
        """
        ...

    @property
    def examines_quickly(self) -> bool:
        """Whether `examine` takes no longer than a fit, so that every drawn sample may have it."""
        ...

    def chi_square_lead(self, rate: float) -> float:
        """Standard deviations by which 2 a² I of this level leads its χ² law; 0 if hardly any.

        A fitted gap runs ahead of its limit where there are many features for the ``rate`` a.
        """
        ...

    def draw_work(self, rows: int) -> float:
        """Multiplications that testing one drawn sample of so many rows takes.

        Nothing where draws are tested by the hundred on one grid, and nobody waits for them.
        """
        ...

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """Natural parameters of the rows of ``moments``, from ``start`` (B, q).

        ``support`` gives the directions behind a row, for those that moments do not determine.
        """
        ...
