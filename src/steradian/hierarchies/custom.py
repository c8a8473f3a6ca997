"""Custom(space, blocks): levels of anybody's own functions on any space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from steradian.arguments import shown
from steradian.contract import is_object_of
from steradian.data.validation import as_numeric
from steradian.errors import InvalidArgument
from steradian.hierarchies.base import Hierarchy, checked_levels
from steradian.hierarchies.basis import OrthonormalBasis, measure
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.tolerances import VERIFIED_DIFFERENCE
from steradian.spaces import Space
from steradian.text.numbers import power_of_ten

Block = Callable[[Array], AnyArray]
"""Points (n, d) → values of the functions of one level, (n, k) or (n,)."""


@dataclass(frozen=True, slots=True, repr=False)
class Custom(Hierarchy):
    """Level l adds the functions of ``blocks[l - 1]``, made orthonormal after those before.

    Functions are centred and made orthonormal under the finest affordable rule of the space; those
    that depend on the ones before are left out, and `removed` names them. Fits are
    integrated by the rules of the space and verified, so the functions should be smooth; where it
    has none, by uniform draws, to some 1e-3 nats, which every profile states. Two are
    equal when they hold the same function objects on equal spaces.

    Parameters
    ----------
    space : Space
        Where the points live: one of this package, or any object that offers the same.
    blocks : sequence of callables
        One per level: points (n, d) to values (n, k).

    Examples
    --------
    >>> import steradian as sr
    >>> from steradian.spaces import Sphere
    >>> own = sr.Custom(Sphere(), [lambda x: x, lambda x: x[:, :1] * x])
    >>> own
    Custom(sphere, dims (3, 3), orthonormal under a rule of 73728 nodes)
    """

    space: Space
    blocks: tuple[Block, ...]

    def __init__(self, space: Space, blocks: Sequence[Block]) -> None:
        object.__setattr__(self, "space", space)
        if not is_object_of(space, Space):
            raise InvalidArgument(f"space is {shown(space)}; give an object like sr.Torus(2)")
        if callable(blocks) or not isinstance(blocks, Sequence):
            raise InvalidArgument("blocks must be a list of functions, one for each level")
        object.__setattr__(self, "blocks", tuple(blocks))
        if not self.blocks or not all(callable(block) for block in self.blocks):
            raise InvalidArgument("blocks must be one function per level, from points to values")
        if not all(self.dims):
            empty = self.dims.index(0) + 1
            raise InvalidArgument(f"level {empty} adds nothing to what lies below; leave it out")

    def __repr__(self) -> str:
        gone = f", without {', '.join(self.removed)}" if self.removed else ""
        return f"Custom({self.space.name}, dims {self.dims}, orthonormal under {self.basis}{gone})"

    @property
    def basis(self) -> str:
        """What the functions are orthonormal under: a rule, or uniform draws where none exists."""
        return _made(self)[2]

    @property
    def removed(self) -> tuple[str, ...]:
        """Functions that depend on those before them, as "column 3 of level 2"."""
        basis, level, _ = _made(self)
        gone = np.setdiff1d(np.arange(len(level)), basis.kept)
        return tuple(f"column {k - np.argmax(level == level[k])} of level {level[k]}" for k in gone)

    @property
    def levels(self) -> int:
        return len(self.blocks)

    @property
    def level_names(self) -> tuple[str, ...]:
        names = (getattr(block, "__name__", "") for block in self.blocks)
        return tuple(
            name if name.isidentifier() else f"level {level}" for level, name in enumerate(names, 1)
        )

    @property
    def dims(self) -> tuple[int, ...]:
        basis, level, _ = _made(self)
        return basis.dims(level, self.levels)

    @property
    def smoother(self) -> str:
        """What to do about kinks and jumps, which draws integrate and rules do not resolve."""
        if not self.space.rules():
            return ""
        return (
            f"where a function has a kink or a jump, which no rule of the {self.space.name} "
            f"resolves to {power_of_ten(VERIFIED_DIFFERENCE)} nats, make it smooth: "
            "sqrt(t² + 0.04) for |t|, tanh(t / 0.2) for the sign of t, powers, or more functions "
            "that are smooth"
        )

    def up_to(self, levels: int) -> Custom:
        checked_levels(levels, self.levels, "no more functions are given")
        return Custom(self.space, self.blocks[:levels])

    def features(self, x: AnyArray) -> AnyArray:
        return _made(self)[0].features(_values(self.blocks, x))

    @property
    def built_of(self) -> tuple[Any, ...]:
        return self.blocks

    def to_dict(self) -> dict[str, Any]:
        """What it is, for people: functions cannot be written down and read again."""
        return {"kind": "Custom", "space": self.space.name, "dims": list(self.dims)}


@lru_cache(maxsize=64)
def _made(custom: Custom) -> tuple[OrthonormalBasis, IntArray, str]:
    """How features are made, of which level each function is, and under what."""
    points, weights, under = measure(custom.space)
    parts = [_values((block,), points, k) for k, block in enumerate(custom.blocks, start=1)]
    level = np.repeat(np.arange(1, len(parts) + 1), [part.shape[1] for part in parts])
    return OrthonormalBasis.under(np.hstack(parts), weights), level, under


def _values(blocks: tuple[Block, ...], x: AnyArray, first: int = 1) -> Array:
    """All functions at ``x`` (n, d), those of level ``first`` before the others: (n, k)."""
    parts = []
    for level, block in enumerate(blocks, start=first):
        values = as_numeric(_called(block, x, level), f"values of the block of level {level}")
        part = values.astype(np.float64)
        part = part[:, None] if part.ndim == 1 else part
        if part.ndim != 2 or len(part) != len(x):
            raise InvalidArgument(
                f"the block of level {level} gave shape {part.shape} at {len(x)} points; "
                "give (n, k)"
            )
        if not np.isfinite(part).all():
            raise InvalidArgument(
                f"the block of level {level} gave values that are not finite; features are bounded"
            )
        parts.append(part)
    return np.hstack(parts)


def _called(block: Block, x: AnyArray, level: int) -> AnyArray:
    try:
        return block(x)
    except ValueError as error:
        try:
            block(x.copy())
        except Exception:  # it is something else
            raise error from None
        raise InvalidArgument(  # points are read-only, and a copy may be written to
            f"the block of level {level} writes into its points; let it copy them first"
        ) from error
