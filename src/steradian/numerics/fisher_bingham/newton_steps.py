"""Newton steps of stacks of Fisher-Bingham laws: conjugate gradients within trust regions.

Lengths follow by recurrence (Steihaug, SIAM J. Numer. Anal. 20, 1983). Every row of the stack has
a region of its own, and rests when it arrives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.fisher_bingham.curvature import Curvature, Step
from steradian.numerics.tolerances import LEAST_LEFT, SHARP_DECREMENT

_MOST_STEPS = 400
_ROUGHLY = 0.1  # of the gradient that may be left where more would not be seen
_LEAST_FELT = 0.15  # of the square of a step, by its law over its Gaussian
_UNFELT = 1e-3 * SHARP_DECREMENT  # by Gaussians, of which laws may feel far more


@dataclass(frozen=True, slots=True, eq=False)
class TruncatedSteps:
    """What conjugate gradients found within the trust regions of S samples."""

    step: Step
    left: Step  # gradient less curvature times step
    decrement: Array  # (S,): Newton's; inf at the edge
    at_edge: BoolArray  # (S,)
    gain: Array  # (S,): nats that the steps gain to second order
    gaussian: BoolArray  # (S,): whether laws feel the steps about as their Gaussians do
    count: IntArray  # (S,): products


def truncated_steps(
    curvature: Curvature, gradient: Step, radius: Array, last: Array
) -> TruncatedSteps:
    """Steps to the minima of the quadratic models, or to where the trust regions end.

    ``last`` are the decrements before: what may be left of a gradient falls with them, so that
    Newton's method keeps its quadratic convergence. Where rounding takes the curvature's sign and
    the iteration breaks off, what is left of the gradient counts as not yet gained: no step is not
    the end of the way.

    A step of the saddle's Gaussian is beyond the first order nearer to the answer than one of η
    and B, since a Gaussian would have it there; but not where laws hardly feel what is long for
    their Gaussians, as about the mean of sharp ones.
    """
    kind = curvature.spreads.dtype
    r = curvature.project((gradient[0].astype(kind), gradient[1].astype(kind)))
    z = curvature.precondition(r)
    step, p = (np.zeros_like(r[0]), np.zeros_like(r[1])), z
    rz = np.maximum(inner(r, z), 0.0)
    size = np.sqrt(rz)
    share = np.maximum(np.minimum(np.minimum(size, last), _ROUGHLY), LEAST_LEFT)
    share = np.where(size <= _ROUGHLY * SHARP_DECREMENT, _ROUGHLY, share)
    enough = np.maximum(share * size, _UNFELT) ** 2
    gain, length, crossed, p_squared = np.zeros((4, len(rz)))
    p_squared += rz
    at_edge, count = np.zeros(len(rz), dtype=np.bool_), np.zeros(len(rz), dtype=np.int64)
    most = min(_MOST_STEPS, 20 + 3 * r[1][0].size)  # more would only stir rounding
    live = rz > 0.0
    for _ in range(most):
        hp = curvature.project(curvature.product(p))
        bend = inner(p, hp)
        live &= bend > 0.0
        alpha = np.where(live, rz / np.where(live, bend, 1.0), 0.0)
        longer = length + 2.0 * alpha * crossed + alpha**2 * p_squared
        over = live & (longer > radius**2)
        room = crossed * crossed + p_squared * (radius**2 - length)
        to_edge = (np.sqrt(np.maximum(room, 0.0)) - crossed) / np.where(over, p_squared, 1.0)
        alpha = np.where(over, to_edge, alpha)
        add(step, p, alpha)
        add(r, hp, -alpha)
        count += live
        at_edge |= over
        live &= ~over
        gain += np.where(live, alpha * rz, 0.0)
        length = np.where(live, longer, np.where(over, radius**2, length))
        z = curvature.precondition(r)
        following = np.where(live, inner(r, z), rz)
        arrived = live & (following <= enough)
        live &= ~arrived
        rz = np.where(arrived, 0.0, rz)
        if not live.any():
            break
        beta = np.where(live, following / np.where(live, rz, 1.0), 0.0)
        crossed = beta * (crossed + alpha * p_squared)
        p_squared = following + beta**2 * p_squared
        rz = np.where(live, following, rz)
        p = z[0] + _along(beta, z[0]) * p[0], _scaled_sum(z[1], p[1], beta)
    decrement = np.where(at_edge, np.inf, np.sqrt(np.maximum(gain + rz, 0.0)))
    whole, rest = inner(gradient, step), inner(r, step)
    felt = whole - rest > _LEAST_FELT * length
    return TruncatedSteps(step, r, decrement, at_edge, 0.5 * (whole + rest), felt, count)


def inner(r: Step, s: Step) -> Array:
    """r·s of linear and quadratic parts, (S,)."""
    rows = len(r[0])
    linear, quadratic = (
        (one.reshape(rows, 1, -1) @ other.reshape(rows, -1, 1))[:, 0, 0]
        for one, other in zip(r, s, strict=True)
    )
    return np.asarray(linear + quadratic, dtype=np.float64)


def add(to: Step, what: Step, times: Array) -> None:
    """Add multiples of steps to others, where those stand."""
    for part, other in zip(to, what, strict=True):
        part[...] += _along(times, other) * other


def _along(numbers: Array, of: AnyArray) -> AnyArray:
    """One number for each row of a stack, ready to be multiplied by it."""
    return numbers.astype(of.dtype)[:, None, None]


def _scaled_sum(z: AnyArray, p: AnyArray, beta: Array) -> AnyArray:
    p *= _along(beta, p)
    p += z
    return p
