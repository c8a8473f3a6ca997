"""Counts of bins: what taking their middles does to the moments."""

from __future__ import annotations

import numpy as np

from steradian.data.notation import Notation
from steradian.numerics.arrays import Array


def grouping(notation: Notation, x: Array) -> tuple[str, ...]:
    """What bins of equal width do to the moments of counts, in words.

    An observation anywhere in a bin of width h counts as one at its middle: the density is averaged
    over a bin's width, which multiplies its moments of degree l by sin(l h / 2) / (l h / 2)
    (Sheppard's correction; Batschelet, *Circular Statistics in Biology*, 1981).
    """
    if notation.convention.angles is None or x.shape[1] != 2:
        return ("counts are taken as repeated rows",)
    angle = np.rad2deg(notation.convention.angles(x)[0])
    places = np.unique(np.round(np.mod(angle, 360.0), 6))
    steps = np.diff(np.append(places, places[0] + 360.0))
    width = float(steps.min())
    even = np.abs(steps / width - np.round(steps / width)).max() < 1e-3 if width else False
    if len(places) < 3 or not even:
        return ("counts are taken as repeated rows",)
    half = np.deg2rad(width) / 2.0
    lost = [1.0 - np.sin(level * half) / (level * half) for level in (1, 4)]
    return (
        f"values taken as the middles of bins of {width:g}°, which shorten moments of degree 1 by "
        f"{lost[0]:.1%} and of degree 4 by {lost[1]:.1%}",
    )
