"""What unit spheres of every dimension share."""

from __future__ import annotations

import numpy as np

from steradian.arguments import whole_number
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import UNIT_LENGTH, UNIT_ROUNDING
from steradian.spaces.base import Space
from steradian.spaces.classical import Classical, bingham, rayleigh
from steradian.text.messages import Message, Row, message


def not_unit(x: Array) -> Message | str:
    """The first row of ``x`` (n, d) that is not of unit length; empty if all are."""
    length = np.sqrt(np.einsum("ij,ij->i", x, x))
    bad = np.flatnonzero(~(np.abs(length - 1.0) <= UNIT_LENGTH))
    if not len(bad):
        return ""
    return message("{row} has norm {norm:.6g}", row=Row(bad[0]), norm=float(length[bad[0]]))


def has_unit_rows(space: Space) -> bool:
    """Whether points are unit vectors, by a few of them."""
    return not not_unit(space.uniform(4, np.random.default_rng(0)))


def of_unit_length(x: Array) -> Array:
    """Rows ``x`` (n, d) of nearly unit length, those that are off by more than rounding scaled."""
    length = np.sqrt(np.einsum("ij,ij->i", x, x))
    return np.asarray(x / np.where(np.abs(length - 1.0) <= UNIT_ROUNDING, 1.0, length)[:, None])


def random_rotation(d: int, rng: np.random.Generator) -> Array:
    """A uniform random rotation of R^d, (d, d)."""
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    q = q * np.sign(np.diag(r))
    if np.linalg.det(q) < 0.0:
        q[:, 0] *= -1.0
    return np.asarray(q)


def refuse_other_dimension(space: str, d: int, own: int) -> None:
    """Refuse a dimension that the rules of a space are not made for."""
    if whole_number(d, "d", least=2) != own:
        raise InvalidArgument(
            f"{space} is that of R^{own}, and d is {d}; leave it out, or use sr.Hypersphere(d)"
        )


class UnitVectors:
    """Answers of every unit sphere of R^d that do not depend on how it is integrated."""

    d: int

    @property
    def dimension(self) -> int:
        return self.d - 1

    @property
    def point_name(self) -> str:
        return "direction"

    def refusal(self, x: Array) -> Message | str:
        return not_unit(x)

    def centre(self, x: Array, weights: Array) -> Array:
        return np.asarray(weights.dot(x))

    @property
    def coordinate_variance(self) -> float:
        return 1.0 / self.d

    def symmetry(self, rng: np.random.Generator) -> Array:
        return random_rotation(self.d, rng)

    def classical(self, n: int, mean: Array, second: Array) -> tuple[Classical, ...]:
        """Rayleigh's and Bingham's tests, in any dimension."""
        return rayleigh(n, mean), bingham(n, second)
