"""Where a density is highest: found once, so that every picture and sentence says the same.

The log-density of a level is as smooth as its features however concentrated the law is, so that
nodes a few to each feature see all its tops, and each is then climbed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steradian.errors import InvalidArgument
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.ascent import DEEPEST, ascended
from steradian.numerics.neighbours import neighbour_tree
from steradian.spaces import Space
from steradian.spaces.base import OneForm, chart_of, has_no_sign, on_chart

_PER_FEATURE, _FEWEST = 40, 1000  # nodes
_NEIGHBOURS = 9  # a node and those around it
_MOST = 64  # tops that are climbed to
_ONE = 0.001  # distance of two tops that are one


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """A local maximum of a density.

    Attributes
    ----------
    point : array, (d,)
        Where.
    log_density : float
        How high, in nats above the uniform law.
    """

    point: Array
    log_density: float

    @property
    def density(self) -> float:
        """How high, as a multiple of the uniform law."""
        return float(np.exp(self.log_density))


def modes_of(logpdf: Callable[[Array], Array], space: Space, features: int) -> tuple[Mode, ...]:
    """The modes of a law of so many features on a space that has a chart, the highest first."""
    chart = chart_of(space)
    if chart == "none":
        raise InvalidArgument(f"modes are found on circle, sphere and torus, not on {space.name}")
    nodes = _nodes(space, features)
    values = logpdf(nodes)
    distance, near = neighbour_tree(nodes).query(nodes, k=_NEIGHBOURS)
    tops = np.union1d(_tops(values, near[:, 1:]), [int(np.argmax(values))])
    tops = tops[np.argsort(-values[tops], kind="stable")][:_MOST]
    reach = float(distance[:, -1].max())
    found = ascended(logpdf, lambda y: on_chart(chart, y), nodes[tops], space.dimension, reach)
    return _distinct(space, found, logpdf(found))


def _tops(values: Array, near: IntArray) -> IntArray:
    """Nodes above all ``near`` (N, k) them; of equal ones, as around a pole, the first."""
    own, around = values[:, None], values[near]
    first = np.arange(len(values))[:, None] < near
    above = ((own > around) | ((own == around) & first)).all(axis=1)
    above &= values > max(float(values.max()) - DEEPEST, float(values.min()))
    return np.flatnonzero(above)


def _nodes(space: Space, features: int) -> Array:
    """Those of the first rule that has enough for the features; of the last if none has."""
    wanted = max(_FEWEST, _PER_FEATURE * features)
    for rung in range(space.rules()):
        nodes = space.rule(rung).points
        if len(nodes) >= wanted:
            break
    return nodes


def _distinct(space: Space, points: Array, logs: Array) -> tuple[Mode, ...]:
    """Tops that are apart, the highest first; an axis in its one form."""
    signless = has_no_sign(space)
    if isinstance(space, OneForm):
        points = space.one_form(points)
    kept: list[int] = []
    for k in np.argsort(-logs, kind="stable").tolist():
        apart = np.linalg.norm(points[kept] - points[k], axis=1)
        other = np.linalg.norm(points[kept] + points[k], axis=1) if signless else apart
        if not kept or np.minimum(apart, other).min() > _ONE:
            kept.append(k)
    return tuple(Mode(points[k], float(logs[k])) for k in kept)
