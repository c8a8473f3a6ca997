"""Directions that do not fill their space: what they span, in words."""

from __future__ import annotations

import numpy as np

from steradian.existence.placement import Placement, Verdict
from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.linalg import triangle
from steradian.numerics.tolerances import ON_FLAT, RANK


def flat_axes(
    rows: Array, scale: float = 1.0, width: float | None = None
) -> tuple[Array, BoolArray]:
    """Axes (d, d) as rows, and which of them ``rows`` (n, d) have nothing along but rounding.

    Unit vectors are known to `RANK` over ``scale``. A tight cluster has as little along its mean,
    the square of its spread, but is far wider than a plane is thick: `ON_FLAT` tells them apart.
    ``width`` is that of all coordinates where rows are some; root mean square, like thickness.
    """
    _, sizes, axes = np.linalg.svd(triangle(rows))
    sizes = np.concatenate([sizes, np.zeros(rows.shape[1] - len(sizes))]) / np.sqrt(len(rows))
    return axes, sizes <= min(RANK / scale, ON_FLAT * (sizes[0] if width is None else width))


def centred(x: Array) -> Array:
    """Rows ``x`` (n, d) about their mean; a second mean takes off the rounding of the first."""
    away = x - x.mean(axis=0)
    return np.asarray(away - away.mean(axis=0))


def describe_flat(x: Array) -> Placement:
    """Whether some direction leaves distinct directions ``x`` (n, d) without variance.

    So many as dimensions or fewer lie on a hyperplane by counting: one through the origin when they
    span fewer dimensions, one off it when they lie on a smaller sphere.
    """
    n, d = x.shape
    if n <= d:
        words = f"{n} distinct directions cannot fill {d} dimensions: more than {d} are needed"
        return Placement(Verdict.OUTSIDE, words)
    axes, flat = flat_axes(centred(x))
    if not flat.any():
        return Placement(Verdict.INSIDE)
    off_origin = bool(np.linalg.norm(axes[flat] @ x.mean(axis=0)) > ON_FLAT)
    spanned = int(d - flat.sum() + off_origin)
    if spanned < d:
        words = f"these directions span {spanned} of {d} dimensions; see Directions.within_span"
    else:
        words = f"all directions lie on a smaller sphere, on a plane off the origin of R^{d}"
    return Placement(Verdict.OUTSIDE, words)


def thin_words(variance: float) -> str:
    """When some direction has a variance that sums of squares do not tell from none."""
    thickness = np.sqrt(max(variance, 0.0))
    return f"all directions lie within about {thickness:.0e} of one plane, too close to tell"
