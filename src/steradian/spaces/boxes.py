"""The torus cut into boxes, each with its own product of Gauss rules.

The companion of `arcs` and `cells` for several angles. Angles are counted from a centre of each, so
that boxes however small keep all their digits there. A box is as long in every angle as the widths
of that angle ask for: what is tight in one angle and broad in another is cut where it is tight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.spaces.cells import gauss_legendre, order_in


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes of k angles."""

    centre: Array  # (n, k): angles from -π to π
    sides: Array  # (n, k): half the length of each side
    widths: Array  # (k,): what lengths are compared with

    @classmethod
    def covering(cls, per_turn: int, widths: Array) -> Boxes:
        """``per_turn`` boxes along every angle."""
        middle = np.pi * ((2.0 * np.arange(per_turn) + 1.0) / per_turn - 1.0)
        centre = np.array(list(product(middle, repeat=len(widths))))
        return cls(centre, np.full(centre.shape, np.pi / per_turn), widths)

    def __len__(self) -> int:
        return len(self.centre)

    @property
    def half(self) -> Array:
        """Half the longest side in units of the widths, (n,)."""
        return np.asarray((self.sides / self.widths).max(axis=1))

    def take(self, which: IntArray | BoolArray | slice) -> Boxes:
        return replace(self, centre=self.centre[which], sides=self.sides[which])

    def followed_by(self, more: Boxes) -> Boxes:
        centre = np.concatenate([self.centre, more.centre])
        return replace(self, centre=centre, sides=np.concatenate([self.sides, more.sides]))

    def parts(self) -> Boxes:
        """All sides halved, the parts of one box next to each other."""
        return self.cut(np.ones(self.centre.shape, dtype=bool))[0]

    def halves(self) -> Boxes:
        """The longest side halved, in units of the widths."""
        relative = self.sides / self.widths
        return self.cut(relative == relative.max(axis=1, keepdims=True))[0]

    def cut(self, along: BoolArray) -> tuple[Boxes, IntArray]:
        """The sides ``along`` (n, k) halved, and which box each part is of."""
        out, of = self, np.arange(len(self))
        for axis in range(along.shape[1]):
            twice = 1 + along[of, axis].astype(np.int64)
            first = np.repeat(np.arange(len(of)), twice)
            second = np.append(False, first[1:] == first[:-1])
            cut = along[of, axis][first]
            sides, centre = out.sides[first], out.centre[first]
            sides[cut, axis] *= 0.5
            centre[:, axis] += np.where(cut, np.where(second, 1.0, -1.0) * sides[:, axis], 0.0)
            out, of = replace(out, centre=centre, sides=sides), of[first]
        return out, of

    def areas(self) -> Array:
        """Volumes, (n,)."""
        return np.asarray(np.prod(2.0 * self.sides, axis=1))

    def draws(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """A uniform point (n, k) of each, and its element (n,), which is one."""
        spot = rng.uniform(-1.0, 1.0, self.centre.shape)
        return self.centre + self.sides * spot, np.ones(len(self))

    def points_at(self, spots: Array) -> Array:
        """Angles (n, s, k) at ``spots`` (n, s, k) from -1 to 1."""
        return self.centre[:, None, :] + self.sides[:, None, :] * spots

    def nodes(self) -> tuple[Array, Array]:
        """Nodes as angles (n, m, k), and their weights (n, m), of sum one over the torus."""
        k = self.centre.shape[1]
        at, weight = gauss_legendre(order_in(k))
        spots = np.stack(np.meshgrid(*[at] * k, indexing="ij"), axis=-1).reshape(1, -1, k)
        whole = np.prod(np.stack(np.meshgrid(*[weight] * k, indexing="ij")), axis=0).ravel()
        share = np.prod(self.sides / (2.0 * np.pi), axis=1)
        return self.points_at(spots), np.outer(share, whole)
