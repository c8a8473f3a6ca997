"""Exact draws by rejection: one loop, for whatever proposes and whatever bounds the density."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steradian.numerics.arrays import Array, IntArray

CLEARANCE = 0.1  # nats above the highest value that is known, for what lies between
BATCH = 1 << 17  # proposals at a time
_FEWEST = 64
_SPARE = 1.1  # times as many proposals as should do

Propose = Callable[[int], tuple[Array, Array]]
"""So many proposals (m, d), and the log of the density over theirs, but for a constant, (m,)."""

Keep = Callable[[IntArray], Array]
"""Boxes picked (k,) → what is kept of one proposal in each, (<= k, d)."""


class BoundExceeded(Exception):
    """A proposal lies above what was taken for a bound."""


def kept_draws(
    keep: Callable[[int], Array], n: int, *, batch: int = BATCH, share: float = 1.0
) -> tuple[Array, float]:
    """``n`` draws (n, d) of those that ``keep`` keeps of so many proposals, and their share.

    ``share`` is what is thought of it before.
    """
    kept: list[Array] = []
    have, proposed = 0, 0
    while not kept or have < n:
        rate = (have + 1.0) / (proposed + 1.0 / share)
        count = int(min(batch, max(_FEWEST, _SPARE * (n - have) / rate)))
        kept.append(keep(count))
        have, proposed = have + len(kept[-1]), proposed + count
    return np.concatenate(kept)[:n], have / max(proposed, 1)


def drawn_below(
    propose: Propose, bound: float, n: int, rng: np.random.Generator, *, share: float = 1.0,
    batch: int = BATCH,
) -> Array:  # fmt: skip
    """``n`` draws (n, d) of a density that is hardly anywhere above ``bound`` (log).

    A proposal that exceeds it all the same raises it, and all begins again.
    """
    top = bound

    def keep(count: int) -> Array:
        nonlocal top
        x, height = propose(count)
        top = float(height.max(initial=top))
        if top > bound:
            raise BoundExceeded
        return np.asarray(x[np.log(rng.random(len(x))) <= height - bound])

    try:
        return kept_draws(keep, n, batch=batch, share=share)[0]
    except BoundExceeded:
        lower = share * float(np.exp(bound - top))
        return drawn_below(propose, top + CLEARANCE, n, rng, share=lower, batch=batch)


def draws_of_boxes(
    mass: Array, keep: Keep, n: int, rng: np.random.Generator, *, batch: int
) -> tuple[Array, float]:
    """``n`` draws (n, d) below a constant on each of some boxes, and the share that was kept.

    ``mass`` (k,) is that below the constants, in any units.
    """
    share = mass / mass.sum()
    return kept_draws(
        lambda count: keep(rng.choice(len(share), size=count, p=share)), n, batch=batch
    )
