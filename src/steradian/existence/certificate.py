"""The functions that show where a moment lies: ``f = 1 + lam · φ``, nowhere negative.

A level has a finite fit unless some such f vanishes on the whole support; then f is the
*certificate*. Inside the moment body the f of least mean shows the closest face: that mean is
the *margin*, the largest share of the uniform law the moments contain. Squares give it in
closed form at levels 1 and 2 in any dimension and at every level on the circle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.directions import Directions
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.linalg import triangle
from steradian.numerics.spheres.harmonics import circle_harmonics
from steradian.numerics.tolerances import RANK
from steradian.spaces import Sphere, unit_sphere
from steradian.spaces.quadratic import feature_parameters, natural_parameters


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Certificate:
    """A function ``f = 1 + lam · φ >= 0`` on the unit sphere of R^d, of mean one under uniform.

    Attributes
    ----------
    d : int
        Ambient dimension.
    level : int
        The level whose features it is made of.
    lam : array, (q,)
        Its coefficients, in the order of the features.

    Examples
    --------
    >>> import steradian as sr
    >>> f = sr.boundary([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]).entries[1].certificate
    >>> abs(f([[0, 0, 1], [0.6, 0.8, 0]]).round(12)).tolist()  # 3 z²
    [3.0, 0.0]
    """

    d: int
    level: int
    lam: Array

    def __call__(self, x: ArrayLike | Directions) -> Array:
        """Values at unit vectors ``x`` (n, d): (n,)."""
        at = x if isinstance(x, Directions) else Directions(x)
        if at.d != self.d:
            raise InvalidDirections(f"x has dimension {at.d}; this function has {self.d}")
        space = unit_sphere(self.d)
        if self.d <= 3 or self.level > 2:
            return np.asarray(1.0 + space.harmonics(at.x, self.level)[:, 1:] @ self.lam)
        eta, quadratic = natural_parameters(space, self.lam)
        return np.asarray(1.0 + at.x @ eta + np.einsum("ni,ni->n", at.x @ quadratic, at.x))

    def at_level(self, level: int) -> Certificate:
        """The same function written in the features of a higher level."""
        space = unit_sphere(self.d)
        lam = np.zeros(space.size(level) - 1)
        lam[: len(self.lam)] = self.lam
        return Certificate(self.d, level, lam)

    def __repr__(self) -> str:
        return f"Certificate(level {self.level} in R^{self.d})"


def linear_function(mean: Array, spread: float) -> tuple[float, Certificate]:
    """Level 1: ``1 - u·x`` with u the mean direction, and its mean 1 - R.

    ``mean`` is E x and ``spread`` = 1 - R², from centred rows so that no digit is lost.
    """
    d = len(mean)
    length = float(np.linalg.norm(mean))
    towards = mean / length if length > 0.0 else mean
    linear = unit_sphere(d).harmonics(np.eye(d), 1)[:, 1:]
    return spread / (1.0 + length), Certificate(d, 1, -towards @ linear / d)


def affine_square(mean: Array, root: Array) -> tuple[float, Certificate]:
    """Level 2: the least mean of ``(c + v·x)²`` with ``c² + |v|²/d = 1`` (S-lemma).

    ``root`` (k, d) has ``rootᵀ root`` = the centred second moment. With y = (c, v/√d) the mean
    is ``|Aᵀy|²`` for ``A = [[1, 0], [√d m, √d rootᵀ]]``: a singular value, not a difference.
    Where several y reach zero their squares are averaged.
    """
    d = len(mean)
    scaled = np.sqrt(float(d)) * np.column_stack([mean, root.T])
    top = np.zeros((1, scaled.shape[1]))
    top[0, 0] = 1.0
    axes, values, _ = np.linalg.svd(np.vstack([top, scaled]))
    values = np.concatenate([values, np.zeros(d + 1 - len(values))])
    least = axes[:, values <= max(RANK * values[0], values[-1])]
    c, v = least[0], np.sqrt(float(d)) * least[1:]
    count = least.shape[1]
    lam = feature_parameters(unit_sphere(d), 2.0 * v @ c / count, v @ v.T / count)
    return float(values[-1] ** 2), Certificate(d, 2, lam)


def circle_rows(x: Array, level: int) -> AnyArray:
    """Powers 0..level of the points of the circle as complex numbers: (n, level + 1)."""
    waves = circle_harmonics(x, level)[:, 1:] / np.sqrt(2.0)
    return np.hstack([np.ones((len(x), 1)), waves[:, ::2] + 1j * waves[:, 1::2]])


def circle_toeplitz(features: Array, level: int) -> AnyArray:
    """E z^j z̄^k on the circle from E φ (B, >= 2 level): (B, level + 1, level + 1)."""
    modes = np.ones((2 * level + 1, len(features)), dtype=complex)  # of -level … level, rows last
    pairs = np.ascontiguousarray(features[:, : 2 * level]).view(complex)
    np.multiply(pairs.T, np.sqrt(0.5), out=modes[level + 1 :])
    np.conjugate(modes[:level:-1], out=modes[:level])
    return modes[_differences(level)].transpose(2, 0, 1)


@cache
def _differences(level: int) -> IntArray:
    """Where j - k stands among -level … level, for j and k from 0 to ``level``."""
    power = np.arange(level + 1)
    return np.asarray(level + power[:, None] - power)


def circle_square(rows: AnyArray) -> tuple[float, Certificate]:
    """Any level on the circle: the least mean of ``|Σ_j v_j z^j|²`` with |v| = 1 (Fejér-Riesz).

    ``rows`` (k, level + 1) times their conjugate transpose are the Toeplitz matrix.
    """
    level = rows.shape[1] - 1
    _, values, axes = np.linalg.svd(triangle(rows))
    values = np.concatenate([values, np.zeros(level + 1 - len(values))])
    least = axes[values <= max(RANK * values[0], values[-1])].conj()
    lam = np.empty(2 * level)
    for k in range(1, level + 1):
        lag = np.sum(least[:, k:] * least[:, :-k].conj()) / len(least)
        lam[2 * k - 2 : 2 * k] = np.sqrt(2.0) * np.array([lag.real, -lag.imag])
    return float(values[-1] ** 2), Certificate(2, level, lam)


def sphere_function(coefficients: Array, level: int) -> Certificate:
    """From coefficients of all harmonics through ``level``, the constant first."""
    return Certificate(3, level, coefficients[1:] / coefficients[0])


def sphere_square(roots: Callable[[Array], AnyArray], combinations: AnyArray, level: int) -> Array:
    """Coefficients of ``Σ |g(x)|²`` over ``combinations`` (p, k) of roots: ((level + 1)²,)."""
    grid = Sphere().exact_grid(2 * level)
    values = np.abs(roots(grid.points) @ combinations) ** 2
    return np.asarray(
        grid.analyze(values.reshape(len(grid.points), -1).sum(axis=1)[None], level)[0]
    )
