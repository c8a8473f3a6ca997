"""The torus: several angles at once, such as the dihedral angles of a molecule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import log, pi

import numpy as np
from scipy.linalg import block_diag

from steradian.arguments import draws_asked, number_array, whole_number
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import UNIT_LENGTH
from steradian.spaces.base import Chart, Rule
from steradian.spaces.classical import Classical, circular_spread
from steradian.spaces.unit_vectors import of_unit_length, random_rotation
from steradian.text.messages import Message, Row, message

_LADDERS: dict[int, tuple[int, ...]] = {  # nodes per angle, by the number of angles
    1: (32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096),
    2: (32, 48, 64, 96, 128, 192, 256, 384, 512),
    3: (16, 24, 32, 48, 64),
    4: (12, 16, 20, 24),
}
_CHARTS: dict[int, Chart] = {1: "circle", 2: "torus"}


@dataclass(frozen=True, slots=True)
class Torus:
    """``k`` angles: a point is k unit vectors of the plane side by side, a row of 2k numbers.

    Its uniform law makes the angles independent and uniform. Rules are products of equispaced
    nodes, which converge geometrically; more than four angles have none.

    Parameters
    ----------
    k : int
        Number of angles.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Torus(2).points([[0.0, 90.0]], degrees=True).round(6)
    array([[1., 0., 0., 1.]])
    """

    k: int

    def __post_init__(self) -> None:
        whole_number(self.k, "k", least=1)

    @property
    def d(self) -> int:
        return 2 * self.k

    @property
    def dimension(self) -> int:
        return self.k

    @property
    def name(self) -> str:
        return f"torus of {self.k} angle{'s' if self.k > 1 else ''}"

    @property
    def point_name(self) -> str:
        return "point"

    @property
    def chart(self) -> Chart:
        """One angle is a circle, two are a torus."""
        return _CHARTS.get(self.k, "none")

    @property
    def log_area(self) -> float:
        return self.k * log(2.0 * pi)

    def points(self, angles: object, *, degrees: bool = False) -> Array:
        """The points of ``angles`` (n, k): (n, 2k)."""
        theta = number_array(angles, "angles", f"give numbers (n, {self.k})")
        if theta.ndim != 2 or theta.shape[1] != self.k or not np.isfinite(theta).all():
            raise InvalidArgument(
                f"angles have shape {theta.shape}; give finite ones (n, {self.k})"
            )
        theta = np.radians(theta) if degrees else theta
        return np.stack([np.cos(theta), np.sin(theta)], axis=2).reshape(len(theta), self.d)

    def angles(self, x: Array) -> Array:
        """The angles of points ``x`` (n, 2k), in radians from -π to π: (n, k)."""
        return np.arctan2(x[:, 1::2], x[:, ::2])

    def refusal(self, x: Array) -> Message | str:
        length = np.hypot(x[:, ::2], x[:, 1::2])
        bad = np.argwhere(~(np.abs(length - 1.0) <= UNIT_LENGTH))
        if not len(bad):
            return ""
        row, angle = bad[0].tolist()
        return message(
            "{row} has norm {norm:.6g} in the vector of angle {angle}",
            row=Row(row), norm=float(length[row, angle]), angle=angle + 1,
        )  # fmt: skip

    def one_form(self, x: Array) -> Array:
        """Each angle's vector of unit length."""
        pairs = of_unit_length(x.reshape(-1, 2))
        return pairs.reshape(x.shape)

    @property
    def coordinate_variance(self) -> float:
        return 0.5

    def centre(self, x: Array, weights: Array) -> Array:
        return np.asarray(weights @ x)

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        n, rng = draws_asked(n, self.d, rng)
        return self.points(rng.uniform(0.0, 2.0 * np.pi, (n, self.k)))

    def symmetry(self, rng: np.random.Generator) -> Array:
        """Each angle is turned by its own amount."""
        return np.asarray(block_diag(*(random_rotation(2, rng) for _ in range(self.k))))

    def classical(self, n: int, mean: Array, second: Array) -> tuple[Classical, ...]:  # noqa: ARG002
        """Of every angle its mean resultant length and its circular standard deviation."""
        found: list[Classical] = []
        for k in range(self.k):
            part = mean[2 * k : 2 * k + 2]
            found.append(Classical(f"R of angle {k + 1}", float(np.linalg.norm(part))))
            found += circular_spread(part)
        return tuple(found)

    def rules(self) -> int:
        return len(_LADDERS.get(self.k, ()))

    def rule(self, rung: int) -> Rule:
        return _rule(self.k, _LADDERS[self.k][rung])


@cache
def _rule(k: int, nodes: int) -> Rule:
    """The product of ``k`` equispaced rules."""
    turn = np.arange(nodes) * (2.0 * np.pi / nodes)
    grid = np.stack(np.meshgrid(*[turn] * k, indexing="ij"), axis=-1).reshape(-1, k)
    return Rule(Torus(k).points(grid), np.full(nodes**k, 1.0 / nodes**k))
