"""Regularisation that keeps the theory: mixing the data with a law that has a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from steradian.arguments import one_of, real_number, wrong_value
from steradian.diagnostics import Diagnostic

Target = Literal["uniform", "below"]


@dataclass(frozen=True, slots=True)
class Shrinkage:
    """How much of which law is mixed into the data before fitting.

    Both kinds match the mixed moments exactly, keep the levels nested, the gaps
    non-negative and equal to KL divergences, and do not depend on coordinates. Both change
    the target: report ε, and look at `Profile.sensitivity`.

    Parameters
    ----------
    epsilon : float
        Share of the mixed-in law, 0 < ε < 1.
    toward : {"uniform", "below"}
        ``"uniform"`` mixes the uniform law in at every level, ``P_ε = (1 - ε) P + ε ν``: the
        paper's remedy. It moves mass to the far side of concentrated data.
        ``"below"`` mixes level L with the fit of level L - 1,
        ``Q_L = (1 - ε) Q_{L-1} + ε p_{L-1}``: the mean and D_1 stay as they are, and
        I_2 can only fall.

    Examples
    --------
    >>> import steradian as sr
    >>> points = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]   # on one circle: no level 2
    >>> sr.profile(points, levels=2, shrinkage=sr.Shrinkage(0.05)).gaps.round(3).tolist()
    [0.502, 0.492]
    """

    epsilon: float
    toward: Target = "uniform"

    def __post_init__(self) -> None:
        share = real_number(self.epsilon, "epsilon", "give a number between 0 and 1")
        if not 0.0 < share < 1.0:
            raise wrong_value("epsilon", self.epsilon, "give a number between 0 and 1")
        one_of(self.toward, "toward", get_args(Target))

    @property
    def diagnostic(self) -> Diagnostic:
        """That other data were fitted than were given."""
        return Diagnostic(f"mixed_with_{self.toward}", data={"share": float(self.epsilon)})


def as_shrinkage(given: Shrinkage | float | None) -> Shrinkage | None:
    """A number means that share of the uniform law."""
    if given is None or isinstance(given, Shrinkage):
        return given
    return Shrinkage(given)
