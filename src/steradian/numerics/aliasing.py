"""How much of a function a grid cannot see, judged by the function's own spectrum."""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array


def tail_gap(degree: int) -> int:
    """How far below the top degree the decay of the spectrum is measured (even)."""
    return max(2, 2 * round(degree / 16))


def extrapolated_tail(top: Array, below: Array, degree: int) -> Array:
    """Relative size of the spectrum at twice the highest resolved degree.

    A rule that resolves degree N integrates degree 2N exactly and errs by what lies above.
    ``top`` is the relative size of the spectrum at N and ``below`` that at N minus
    `tail_gap`; their ratio, carried on for N more degrees, gives the size at 2N. Spectra of
    exponentials of polynomials fall faster than geometrically, which makes this an
    overestimate; a flat tail, the mark of a spike between the nodes, is not reduced at all.
    """
    rate = np.minimum(top / np.maximum(below, np.finfo(float).tiny), 1.0)
    return np.asarray(top * rate ** (degree / tail_gap(degree)))
