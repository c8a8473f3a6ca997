"""Axes: unit vectors whose sign means nothing, the projective space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import log

import numpy as np

from steradian.arguments import whole_number
from steradian.numerics.arrays import Array
from steradian.numerics.spheres.sphere_rules import three_sphere_rule
from steradian.spaces.base import Chart, Rule
from steradian.spaces.classical import Classical, bingham, woodcock
from steradian.spaces.hypersphere import unit_sphere
from steradian.spaces.sphere import Sphere
from steradian.spaces.unit_vectors import not_unit, of_unit_length, random_rotation
from steradian.text.messages import Message

_LADDERS: dict[int, tuple[int, ...]] = {
    2: (16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192, 16384),  # half a turn
    3: (12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256),  # rings of the whole sphere
    4: (16, 24, 32, 40, 48, 64, 80, 96, 128),  # nodes of a whole turn of either angle
}
_CHARTS: dict[int, Chart] = {2: "circle", 3: "sphere"}


@dataclass(frozen=True, slots=True)
class Axes:
    """Unit vectors x of R^d that are the same as -x, with the uniform law.

    Rules exist up to d = 4 and hold one node of each axis: half the nodes of the sphere suffice.

    Parameters
    ----------
    d : int
        Ambient dimension.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Axes(3).point_name
    'axis'
    """

    d: int

    def __post_init__(self) -> None:
        whole_number(self.d, "d", least=2)

    @property
    def dimension(self) -> int:
        return self.d - 1

    @property
    def name(self) -> str:
        return f"axes of R^{self.d}"

    @property
    def point_name(self) -> str:
        return "axis"

    @property
    def chart(self) -> Chart:
        """That of the unit vectors, at both ends of each axis."""
        return _CHARTS.get(self.d, "none")

    @property
    def log_area(self) -> float:
        """Half the area of the sphere: x and -x are one point."""
        return unit_sphere(self.d).log_area - log(2.0)

    def refusal(self, x: Array) -> Message | str:
        return not_unit(x)

    def one_form(self, x: Array) -> Array:
        """Of unit length, the last coordinate that is not zero positive."""
        return signless(of_unit_length(x)) + 0.0  # no negative zeros

    @property
    def coordinate_variance(self) -> float:
        return 1.0 / self.d

    def centre(self, x: Array, weights: Array) -> Array:  # noqa: ARG002 - no mean
        return np.zeros((*weights.shape[:-1], self.d))

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        return unit_sphere(self.d).uniform(n, rng)

    def symmetry(self, rng: np.random.Generator) -> Array:
        return random_rotation(self.d, rng)

    def classical(self, n: int, mean: Array, second: Array) -> tuple[Classical, ...]:  # noqa: ARG002
        """What structural geologists print of lines and poles, where axes are of space."""
        return (*(woodcock(second) if self.d == 3 else ()), bingham(n, second))

    def rules(self) -> int:
        return len(_LADDERS.get(self.d, ()))

    def rule(self, rung: int) -> Rule:
        return _RULES[self.d](_LADDERS[self.d][rung])


def signless(x: Array) -> Array:
    """``x`` (n, d) with signs that make the last coordinate that is not zero positive.

    Both ends of an axis give the same row, so that nothing computed from it depends on the sign.
    """
    behind = x[:, ::-1]
    last = np.take_along_axis(behind, np.argmax(behind != 0.0, axis=1)[:, None], axis=1)
    return np.asarray(np.where(last < 0.0, -x, x))


@cache
def _half_circle(nodes: int) -> Rule:
    """Equispaced on half a turn: exact for even harmonics of degree below ``2 nodes``."""
    angle = np.arange(nodes) * (np.pi / nodes)
    return Rule(np.stack([np.cos(angle), np.sin(angle)], axis=1), np.full(nodes, 1.0 / nodes))


@cache
def _half_sphere(rings: int) -> Rule:
    """The upper rings of the grid of the sphere, which is symmetric: exact below ``2 rings``."""
    grid = Sphere().exact_grid(2 * rings - 1)
    upper = grid.points[:, 2] > 0.0
    return Rule(grid.points[upper], 2.0 * grid.weights[upper])


@cache
def _half_three_sphere(nodes: int) -> Rule:
    """Half a turn of the first angle: exact for even harmonics of degree below ``nodes``."""
    return Rule(*three_sphere_rule(nodes, nodes // 2))


_RULES = {2: _half_circle, 3: _half_sphere, 4: _half_three_sphere}
