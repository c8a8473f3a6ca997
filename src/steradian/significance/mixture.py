"""`mixture_sf` as people call it: the tail of a weighted chi-square sum, refused in our words."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steradian.errors import InvalidArgument
from steradian.numerics import chi_square_mixture
from steradian.numerics.arrays import Array


def mixture_sf(t: ArrayLike, coefficients: ArrayLike, dof: float = np.inf) -> Array:
    """P(Σ_j coefficients_j χ²_1 > t), which p-values of scores are: one for each t, (R,).

    Accurate relative to itself, however small, by a contour through the saddle of the moment
    generating function (`steradian.numerics.chi_square_mixture`).

    Parameters
    ----------
    t : array_like, (R,)
        Where the tails begin.
    coefficients : array_like, (R, q) or (q,)
        Not negative; a row for each ``t``, or one for all. A row of zeros has no tail above zero.
    dof : float
        Degrees of freedom ν of an estimated scale: the tail begins at t χ²_ν / ν then.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.mixture_sf([5.991464547107979], [1.0, 1.0]).round(12).tolist()
    [0.05]
    """
    try:
        tails = chi_square_mixture.mixture_sf(t, coefficients, dof)
    except ValueError as error:  # numerics know nothing of our errors; the words are theirs
        raise InvalidArgument(str(error)) from error
    unknown = np.isnan(np.atleast_1d(np.asarray(t, dtype=np.float64)))
    if unknown.any():
        raise InvalidArgument(f"t[{int(np.argmax(unknown))}] is nan; leave out what has no value")
    return tails
