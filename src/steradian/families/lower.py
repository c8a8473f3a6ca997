"""A family of one hierarchy as that of a level of another, whose first features are its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steradian.data.stacks import MomentStack, Support
from steradian.fitting.solution import NO_RUNG, DualSolution
from steradian.numerics.arrays import Array

if TYPE_CHECKING:
    from steradian.families.base import Family
    from steradian.hierarchies.base import Hierarchy


@dataclass(frozen=True, slots=True)
class LowerFamily:
    """Fitted and drawn from as ``inner``; other features are integrated as ``further`` does.

    What is not said here is as of ``inner``. Its ladder of rules is its own: no rung is passed on.
    """

    inner: Family
    further: Family

    def __getattr__(self, name: str) -> Any:
        if name in type(self).__slots__:  # not filled yet
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def has_rule(self) -> bool:
        """Whether `rule` integrates against its laws."""
        return self.inner.has_rule or self.further.has_rule

    @property
    def closed_leftover(self) -> bool:
        """No: what is left over in other features has no closed form."""
        return False

    def refits(self, lam: Array) -> None:
        """None: quick fits know no other features."""
        return

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        """Nodes (N, d) and masses (N,) of sum one: what integrates against one law ``lam`` (q,)."""
        return (self.inner if self.inner.has_rule else self.further).rule(lam, degree)

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """E φ of the laws ``lam`` (B, q) for all features of ``wide``: (B, q_wide)."""
        if wide.q(wide.levels) <= lam.shape[1]:
            return self.inner.expectations(lam, wide)
        return self.further.expectations(lam, wide)

    def resolved_by(self, rung: int) -> LowerFamily:
        """Itself."""
        return self

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """Natural parameters of the rows of ``moments``."""
        out = self.inner.solve(moments, start, support)
        out.rungs[:] = NO_RUNG
        return out
