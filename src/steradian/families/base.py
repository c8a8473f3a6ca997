"""The seam of a level: its `Family` of laws, and one `Law` of it."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.existence.placement import Placement
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

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """Natural parameters of the rows of ``moments``, from ``start`` (B, q).

        ``support`` gives the directions behind a row, for those that moments do not determine.
        """
        ...
