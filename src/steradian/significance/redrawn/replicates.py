"""How much a test may draw: shuffles, samples, and when it has seen enough."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Replicates:
    """How many shuffles and samples, from which seed, and how many settle a p-value.

    Drawing stops at ``enough`` samples as extreme as the observed one: ``enough`` over those drawn
    is then a p-value (Besag and Clifford, Biometrika 78, 1991), of relative error 1 / √enough.
    Where no more than ``rare`` of all ``samples`` are as extreme, four times as many are drawn: 999
    alone could call nothing clear. Who is rejected at a level above (rare + 1) / samples is only
    rejected less often by that.
    """

    permutations: int = 9999
    samples: int = 999
    seed: int = 0
    enough: int = 20
    rare: int = -1  # -1: never more than ``samples``
