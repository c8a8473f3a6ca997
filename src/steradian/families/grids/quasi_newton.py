"""Newton's steps with one factor of the Hessian, and what later steps taught about it.

At a high level the Hessian and its factor cost as much as ten or fifty evaluations of the law. A
factor therefore serves for as many steps as it is worth, and each step corrects it: with
s = Δλ and y = Δ E φ, which the Hessian at a point between takes s to, the update of Broyden,
Fletcher, Goldfarb and Shanno is applied to its inverse (Nocedal, Math. Comp. 35, 1980).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import TINY

_ZERO = np.zeros(1)


class QuasiNewton:
    """The covariance of features at a law nearby, and the steps taken since.

    Parameters
    ----------
    second : array, (q + 1, q + 1)
        E of (1, φ)(1, φ)ᵀ.
    upper : array, (q + 1, q + 1)
        Its Cholesky factor, whose lower block is that of Cov φ.
    """

    __slots__ = ("_pairs", "_second", "_upper", "age")

    def __init__(self, second: Array, upper: Array) -> None:
        self._second, self._upper = second, upper
        self._pairs: list[tuple[Array, Array, float]] = []
        self.age = 0  # steps since it was made

    @classmethod
    def of(cls, second: Array, room: Array) -> QuasiNewton | None:
        """With the factor in ``room`` (q + 1, q + 1); None where it is singular to rounding."""
        np.copyto(room, second)
        upper, failed = lapack.dpotrf(room.T, lower=0, clean=0, overwrite_a=1)
        return None if failed else cls(second, upper)

    def learn(self, step: Array, moved: Array) -> None:
        """That λ went by ``step`` (q,) and E φ by ``moved`` (q,)."""
        along = float(step @ moved)
        if along > TINY:
            self._pairs.append((step, moved, 1.0 / along))

    def forget(self) -> None:
        """What was learned on another grid."""
        self._pairs.clear()

    def step(self, gradient: Array) -> Array:
        """The s with Cov s = gradient, by the factor and all that was learned."""
        shares = []
        for step, moved, scale in reversed(self._pairs):
            share = scale * float(step @ gradient)
            shares.append(share)
            gradient = gradient - share * moved
        solution, _ = lapack.dpotrs(self._upper, np.concatenate([_ZERO, gradient]), lower=0)
        out: Array = solution[1:]
        for (step, moved, scale), share in zip(self._pairs, reversed(shares), strict=True):
            out += (share - scale * float(moved @ out)) * step
        return out

    def condition(self, room: Array) -> float:
        """Of the covariance, in the 1-norm; ``room`` (q + 1, q + 1) is written over."""
        mean, covariance = self._second[0, 1:], room[1:, 1:]
        np.multiply(mean[:, None], mean, out=covariance)
        np.subtract(self._second[1:, 1:], covariance, out=covariance)
        size = np.abs(covariance, out=covariance).sum(axis=0).max()
        reciprocal, _ = lapack.dpocon(self._upper[1:, 1:], size)
        return 1.0 / max(float(reciprocal), TINY)
