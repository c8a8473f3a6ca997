"""One contour kernel: a saddle, a hyperbola through it, and the trapezoidal rule.

Inverse Laplace integrals ``(1/2πi) ∫ exp{φ(s)} ds`` with a real saddle ŝ are taken along
``s = ŝ + z(u)``, ``z(u) = A (1 - cosh u) + i C sinh u``, on which the integrand falls off
exponentially from its value at the saddle. The trapezoidal rule in u then converges
geometrically; comparing it with every other node estimates its error, about the square of
what the comparison shows. Everything is relative to the saddle value, so nothing overflows.

Serves the Fisher-Bingham normaliser and the tails of weighted chi-square sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import CONTOUR_AGREEMENT

Complex = NDArray[np.complex128]
Increment = Callable[[Complex, IntArray], Complex]
"""(z, rows) → φ(ŝ + z) - φ(ŝ) for the problems ``rows``; z and result (len(rows), nodes)."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How many nodes an integral may take, and when they are enough."""

    first: int = 32
    most: int = 2048
    agreement: float = CONTOUR_AGREEMENT  # with half as many nodes, relative
    negligible: float = -40.0  # log of the integrand over its saddle value where it is cut off


EXACT = Effort()

ASPECT = 0.7  # A / C: opens the hyperbola enough to decay, little enough to stay below the saddle


@dataclass(frozen=True, slots=True)
class Contour:
    """A finished stack of R integrals on n nodes each (unused nodes have weight zero)."""

    log_integral: Array  # (R,) log of (1/2πi) ∫ exp{φ(ŝ + z) - φ(ŝ)} dz
    z: Complex  # (R, n)
    weights: Complex  # (R, n); Re Σ weights · f(z) is the mean of f under the integrand
    error: Array  # (R,) estimated relative error of the integral


def integrate(increment: Increment, width: Array, spread: Array, effort: Effort = EXACT) -> Contour:
    """Integrate along hyperbolas of half-axes ``C = width`` (R,) and ``A = 0.7 C``.

    ``spread`` (R,) is a first guess of where in u the integrand has become negligible.
    """
    rows = np.arange(len(width))
    reach = _reach(increment, width, spread, effort.negligible)
    nodes = effort.first
    parts: list[tuple[IntArray, Complex, Complex, Array, Array]] = []
    places = np.arange(nodes + 1)
    z, terms = _terms(increment, width, reach / nodes, rows, places)
    terms[:, 0] *= 0.5
    while True:
        total = terms.real.sum(axis=1)
        half = 2.0 * terms[:, ::2].real.sum(axis=1)
        mismatch = np.abs(half / total - 1.0)
        done = ~(mismatch > effort.agreement) | (nodes >= effort.most)
        parts.append((rows[done], z[done], terms[done], total[done], mismatch[done]))
        rows, nodes = rows[~done], 2 * nodes
        if not len(rows):
            return _assembled(parts, len(width))
        between = np.arange(1, nodes, 2)  # the nodes so far are every other of the new ones
        new = _terms(increment, width[rows], reach[rows] / nodes, rows, between)
        z = _interleaved(z[~done], new[0])
        terms = _interleaved(0.5 * terms[~done], new[1])


def _interleaved(even: Complex, odd: Complex) -> Complex:
    out = np.empty((len(even), even.shape[1] + odd.shape[1]), dtype=complex)
    out[:, ::2], out[:, 1::2] = even, odd
    return out


def _terms(
    increment: Increment, width: Array, step: Array, rows: IntArray, places: IntArray
) -> tuple[Complex, Complex]:
    """Nodes z at ``places`` steps from the axis and their terms of the trapezoidal sum."""
    grow = np.exp(step[:, None] * places)
    shrink = 1.0 / grow
    cosh, sinh = 0.5 * (grow + shrink), 0.5 * (grow - shrink)
    z = width[:, None] * (ASPECT * (1.0 - cosh) + 1j * sinh).astype(complex)
    speed = (width * step / np.pi)[:, None] * (cosh + 1j * ASPECT * sinh).astype(complex)
    return z, np.exp(increment(z, rows)) * speed


def _reach(increment: Increment, width: Array, spread: Array, negligible: float) -> Array:
    """Where along u each integrand has fallen below exp(``negligible``) of its saddle value."""
    reach = spread.copy()
    rows = np.arange(len(reach))
    for _ in range(60):
        u = reach[rows]
        z = width[rows] * (-2.0 * ASPECT * np.sinh(0.5 * u) ** 2 + 1j * np.sinh(u))
        size = increment(z[:, None], rows)[:, 0].real + np.log(np.cosh(u))
        rows = rows[size > negligible]
        if not len(rows):
            break
        reach[rows] *= 1.2
    return reach


def _assembled(parts: list[tuple[IntArray, Complex, Complex, Array, Array]], count: int) -> Contour:
    if count == 1:  # its last part is all of it
        _, z, terms, total, mismatch = parts[-1]
        error = mismatch**2 + np.finfo(float).eps
        return Contour(np.log(total), z, terms / total[:, None], error)
    most = max(p[1].shape[1] for p in parts)
    z = np.zeros((count, most), dtype=complex)
    weights = np.zeros_like(z)
    log_integral, error = np.empty(count), np.empty(count)
    for rows, part_z, terms, total, mismatch in parts:
        used = part_z.shape[1]
        z[rows, :used] = part_z
        weights[rows, :used] = terms / total[:, None]
        log_integral[rows] = np.log(total)
        error[rows] = mismatch**2 + np.finfo(float).eps
    return Contour(log_integral, z, weights, error)
