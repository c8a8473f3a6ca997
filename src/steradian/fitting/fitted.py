"""From the solver's stacks to what people read: the fits and certificates of one sample."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steradian.data.moments import Moments
from steradian.data.stacks import MomentStack
from steradian.data.validation import frozen
from steradian.fitting.density_error import sharpened
from steradian.fitting.fisher_bingham import FisherBingham
from steradian.fitting.maxent import MaxEntFit
from steradian.fitting.nested import NestedFits
from steradian.fitting.shrinkage import Shrinkage
from steradian.fitting.solution import DualSolution, Status
from steradian.hierarchies.base import uniform_features
from steradian.numerics.arrays import Array, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Numerics:
    """How each number of a profile was obtained and how far to trust it.

    Attributes
    ----------
    residual : array, (L,)
        Largest moment mismatch, in units of orthonormal features.
    quadrature : array, (L,)
        Estimated integration error of the deficit, nats.
    decrement : array, (L,)
        Newton decrement at the end; the deficit is good to half its square.
    condition : array, (L,)
        Condition of the features' covariance under the fit, estimated.
    moment_rounding : array, (L,)
        What rounding of the moments moves the deficit by, nats: 2^-53 ||lam||_1 on grids.
    nodes, steps : arrays of int, (L,)
        Quadrature nodes (0 for a closed form) and Newton steps on the last grid.
    elapsed : float
        Seconds for everything.
    """

    residual: Array
    quadrature: Array
    decrement: Array
    condition: Array
    moment_rounding: Array
    nodes: IntArray
    steps: IntArray
    elapsed: float


def fits_of(
    moments: Moments, nested: NestedFits, shrinkage: Shrinkage | None
) -> tuple[MaxEntFit, ...]:
    """The fits of levels 0..L of one sample; level 2 as `FisherBingham`."""
    hierarchy = moments.hierarchy
    none = np.zeros(0)
    fits = [MaxEntFit(hierarchy, 0, none, 0.0, 0.0, 0.0, 0.0, none, Status.CONVERGED)]
    for level, s in enumerate(nested.solutions, start=1):
        target = _fitted(moments, nested, shrinkage, level)
        wanted = hierarchy.expectations(target, level)
        lam, psi = sharpened(hierarchy, level, s, wanted[0])
        fit = MaxEntFit(
            hierarchy=hierarchy,
            level=level,
            lam=frozen(lam),
            psi=psi,
            deficit=float(s.deficit[0]),
            gap=_gap(s, fits[-1].deficit),
            residual=float(s.residual[0]),
            moments=frozen(wanted[0]),
            status=Status.CONVERGED,
        )
        family = hierarchy.family(level)
        quadratic = family.natural(fit.lam) is not None and family.q > hierarchy.space.d
        fit = FisherBingham.of(fit) if quadratic else fit
        fits.append(fit if s.laws[0] is None else fit.held_by(s.laws[0]))
    return tuple(fits)


def _gap(solution: DualSolution, below: float) -> float:
    known = float(solution.gap[0])
    return float(solution.deficit[0]) - below if math.isnan(known) else known


def _fitted(
    moments: Moments, nested: NestedFits, shrinkage: Shrinkage | None, level: int
) -> MomentStack:
    """The moments a fit matches: those of the data, mixed when asked for."""
    stack = moments.stack()
    if shrinkage is None:
        return stack
    if shrinkage.toward == "uniform":
        uniform = uniform_features(moments.hierarchy)
        return stack.toward_uniform(shrinkage.epsilon, moments.hierarchy.space, uniform)
    for below in nested.solutions[: level - 1]:
        law = moments.hierarchy.moments_of(below.lam, moments.mean[None])
        stack = stack.toward(law, shrinkage.epsilon)
    return stack


def numerics_of(nested: NestedFits, elapsed: float) -> Numerics:
    """The certificates of one sample."""
    names = [name for name in Numerics.__slots__ if name != "elapsed"]
    found = {name: np.array([getattr(s, name)[0] for s in nested.solutions]) for name in names}
    return Numerics(**found, elapsed=elapsed)
