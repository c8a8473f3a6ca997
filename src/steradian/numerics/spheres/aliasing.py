"""How much of a function a grid cannot see, judged by the function's own spectrum."""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import TINY


def tail_windows(top: int, width: int) -> tuple[range, range, range]:
    """Degrees looked at: the last ``width``, those just below, and those up to half way.

    Spectra of exponentials of degree-L polynomials oscillate with a period of about L, so
    each window is at least that wide, as far as there are degrees.
    """
    last = range(max(top - width + 1, 2), top + 1)
    next_to_last = range(max(last.start - width, 1), last.start)
    half = top // 2
    middle = range(max(half - width + 1, 1), half + 1)
    return last, next_to_last, middle


def extrapolated_tail(sizes: Array, top: int, width: int) -> Array:
    """Relative size of the spectrum at twice the highest resolved degree, (B,).

    A rule that resolves degree N integrates degree 2N exactly and errs by what lies above.
    ``sizes`` (B, 4) are the largest coefficients in the three `tail_windows`, and the largest of
    the others: the size is relative to the largest of all. The decay between two windows,
    carried on for N more degrees, gives the size at 2N; of the decay just below the top and the
    decay since half way the slower one counts. Spectra of exponentials of polynomials fall faster
    than geometrically, which makes this an overestimate; a flat tail, the mark of a spike between
    the nodes, is not reduced at all.
    """
    last, below, middle, other = sizes.T
    exponents = top / width, top / (top - top // 2)
    largest = np.maximum(np.maximum(last, below), np.maximum(middle, other))
    rates = [np.minimum(last / np.maximum(size, TINY), 1.0) for size in (below, middle)]
    return np.asarray(
        last / largest * np.maximum(rates[0] ** exponents[0], rates[1] ** exponents[1])
    )
