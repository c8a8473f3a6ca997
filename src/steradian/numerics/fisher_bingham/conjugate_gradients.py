"""Newton steps of a Fisher-Bingham law by truncated conjugate gradients, in place.

Matrices of d² numbers are read and written as seldom as can be: products, steps and residuals are
updated where they stand, lengths follow by recurrence (Steihaug, SIAM J. Numer. Anal. 20, 1983),
and what a product adds to a matrix and its transpose is one product of real matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg.blas import daxpy, dgemm

from steradian.numerics.linalg import on_diagonal
from steradian.numerics.tolerances import SHARP_DECREMENT

if TYPE_CHECKING:
    from steradian.numerics.fisher_bingham.fit import Curvature, Step

_MOST_STEPS = 400
_ROUGHLY = 0.1  # of the gradient that may be left where more would not be seen


@dataclass(frozen=True, slots=True)
class TruncatedStep:
    """What conjugate gradients found within a trust region."""

    step: Step
    residual: Step  # gradient less curvature times step
    decrement: float  # Newton's; inf at the edge
    at_edge: bool
    count: int


def inner(r: Step, s: Step) -> float:
    """r·s of linear and quadratic parts."""
    return float(np.vdot(r[0], s[0]) + np.vdot(r[1], s[1]))


class Quadratic(Protocol):
    """What conjugate gradients ask of a curvature; all they are given may be written to."""

    def project(self, r: Step) -> Step:
        """A residual, a copy, blind to where the curvature is flat."""
        ...

    def precondition(self, r: Step) -> Step:
        """An approximate solution for a residual, in whose metric trust regions are round."""
        ...

    def projected_product(self, step: Step) -> Step:
        """The curvature times a step, projected."""
        ...


def truncated_step(
    products: Quadratic, gradient: Step, radius: float, last: float
) -> TruncatedStep:
    """The step to the minimum of the quadratic model, or to where the trust region ends.

    ``last`` is the decrement before: what may be left of the gradient falls with it, so that
    Newton's method keeps its quadratic convergence. Where rounding takes the curvature's sign and
    the iteration breaks off, what is left of the gradient counts as not yet gained: no step is not
    the end of the way.
    """
    r = products.project(gradient)
    z = products.precondition(r)
    rz = inner(r, z)
    size = float(np.sqrt(max(rz, 0.0)))
    share = _ROUGHLY if size <= _ROUGHLY * SHARP_DECREMENT else max(min(size, last, _ROUGHLY), 1e-6)
    step = np.zeros_like(r[0]), np.zeros_like(r[1])
    p, gain = z, 0.0
    steps_squared, crossed, p_squared = 0.0, 0.0, rz  # (s, s), (s, p), (p, p), preconditioned
    most = min(_MOST_STEPS, 20 + 3 * r[0].size * r[0].shape[-1])  # more would only stir rounding
    for count in range(1, most + 1):
        hp = products.projected_product(p)
        php = inner(p, hp)
        if not php > 0.0:
            break
        alpha = rz / php
        longer = steps_squared + 2.0 * alpha * crossed + alpha**2 * p_squared
        if longer > radius**2:
            room = p_squared * (radius**2 - steps_squared)
            alpha = (np.sqrt(crossed * crossed + room) - crossed) / p_squared
            _add(step, p, alpha)
            _add(r, hp, -alpha)
            return TruncatedStep(step, r, np.inf, True, count)
        _add(step, p, alpha)
        _add(r, hp, -alpha)
        gain, steps_squared = gain + alpha * rz, longer
        z = products.precondition(r)
        following = inner(r, z)
        if following <= (share * size) ** 2:
            rz = 0.0
            break
        beta = following / rz
        crossed, p_squared = beta * (crossed + alpha * p_squared), following + beta**2 * p_squared
        p[0][...] = z[0] + beta * p[0]
        p[1][...] *= beta
        p[1][...] += z[1]
        rz = following
    return TruncatedStep(step, r, float(np.sqrt(max(gain + rz, 0.0))), False, count)


def _add(to: Step, what: Step, times: float) -> None:
    """Add a multiple of one step to another, where that stands."""
    to[0][...] += times * what[0]
    if what[1].flags.c_contiguous and to[1].flags.c_contiguous:
        daxpy(what[1].ravel(), to[1].ravel(), a=times)
    else:
        to[1][...] += times * what[1]


class ProductsOfOne:
    """Products with the curvature of one law, and with its preconditioner."""

    def __init__(self, curvature: Curvature) -> None:
        self._of, v = curvature, curvature.guess
        self._scale = 0.5 / (v[:, None] * v)
        self._flat = curvature.flat_direction
        self._whole = curvature.partition.is_whole
        if self._whole:
            self._nodes = np.concatenate([curvature.a.real, curvature.a.imag])  # (2n, d)
            self._first = np.concatenate([self._nodes, self._nodes])  # parts of a product above
            self._other = self._first.copy()  # and below
            self._twice = 2.0 * curvature.pairs

    def precondition(self, r: Step) -> Step:
        return r[0] / self._of.guess, r[1] * self._scale

    def project(self, r: Step) -> Step:
        return self._of.project(r)

    def projected_product(self, step: Step) -> Step:
        change, second = self._product(step) if self._whole else self._of.product(step)
        diagonal, flat = on_diagonal(second), self._flat
        share = flat.share(change, diagonal)
        diagonal -= share * flat.diagonal
        change -= share * flat.linear
        return change, second

    def _product(self, step: Step) -> Step:
        at, (g, q) = self._of, step
        both = self._nodes @ q
        half = len(both) // 2
        x = both[:half] + 1j * both[half:]
        f = ((g + x) * at.a).sum(axis=1) + at.away @ np.diagonal(q)
        f -= (at.w @ f).real
        pull = at.v * (g + 2.0 * x)
        wf = at.w * f
        change = (wf @ at.a + at.w @ pull).real
        left = at.w[:, None] * (0.5 * f[:, None] * at.a + pull)
        first, other = self._first, self._other
        first[:half], first[half : 2 * half] = left.real, -left.imag
        other[2 * half :] = first[: 2 * half]
        second = q * self._twice
        dgemm(1.0, first.T, other.T, beta=1.0, c=second.T, trans_b=1, overwrite_c=1)
        on_diagonal(second)[...] += (wf @ at.away).real
        return change, second
