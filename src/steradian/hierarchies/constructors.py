"""Names that make a hierarchy from what is given, or say how data choose it.

`sr.Zonal` of a vector is a hierarchy. Of a name it is none yet, since no data were seen: it is a
choice, on the same rows or on splits, and `sr.profile` tells by its type what it returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args, overload

from numpy.typing import NDArray

from steradian.arguments import one_of
from steradian.errors import InvalidArgument
from steradian.hierarchies import low_rank, zonal
from steradian.hierarchies.along_axis import unit_axis
from steradian.hierarchies.bounded_zonal import BoundedZonal
from steradian.hierarchies.chosen import (
    About,
    FittedHeights,
    MeanAxis,
    OnSplits,
    PrincipalAxes,
    Recipe,
    SameRows,
    Split,
    as_split,
)

Vector = Sequence[float] | NDArray[Any]
Columns = Sequence[Sequence[float]] | NDArray[Any]
AXES = 2  # that are chosen unless said
Features = Literal["polynomial", "bounded"]
_NOTHING = "nothing is chosen from the data; leave out split="
_GIVEN = f"is given: {_NOTHING}"


@overload
def Zonal(axis: Vector, levels: int) -> zonal.Zonal: ...
@overload
def Zonal(axis: str, levels: int, *, split: None = None) -> SameRows: ...
@overload
def Zonal(axis: str, levels: int, *, split: Split | float) -> OnSplits: ...
@overload
def Zonal(
    axis: Vector, levels: int, *, features: Literal["bounded"], kappa: float
) -> BoundedZonal: ...
@overload
def Zonal(
    axis: Vector | str, levels: int, *, features: Literal["bounded"], split: None = None
) -> SameRows: ...
@overload
def Zonal(
    axis: Vector | str, levels: int, *, features: Literal["bounded"], split: Split | float
) -> OnSplits: ...
def Zonal(  # noqa: N802 - the name of what it makes
    axis: Vector | str,
    levels: int,
    *,
    split: Split | float | None = None,
    features: Features = "polynomial",
    kappa: float | None = None,
) -> zonal.Zonal | BoundedZonal | SameRows | OnSplits:
    """How the height along one axis is spread, in any dimension.

    Level 1 is the von Mises-Fisher law about the axis, higher levels shape how the height
    t = axis · x is spread: by the harmonic of degree l that is symmetric about the axis, or by a
    bounded function. One feature a level, one-dimensional integrals, any dimension. Only rotations
    about the axis leave the gaps as they are.

    Parameters
    ----------
    axis : array_like, (d,), or "mean"
        The axis, of any length but zero; or the mean direction of the data.
    levels : int
        Number of levels, at most 24.
    split : Split or float, optional
        With ``"mean"``: the rows that choose the axis, as a share; the others are profiled, and the
        profile is a `SplitProfile`. Without it the same rows do both, and nothing can be inferred.
    features : {"polynomial", "bounded"}
        Polynomials of t, or Legendre polynomials of its rank under a von Mises-Fisher law, which
        raise no mass where no rows are; for d >= 3.
    kappa : float, optional
        Concentration of that law. Without it the data choose it too, by their level-1 fit.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Zonal([0.0, 0.0, 1.0], 3).dims
    (1, 1, 1)
    >>> x = sr.examples.load("mcmurdo")
    >>> sr.profile(x, hierarchy=sr.Zonal("mean", 2, split=0.5))
    SplitProfile(n=133, d=3, 11 splits, median gaps=[0.07365, 1.321] nats)
    """
    one_of(features, "features", get_args(Features))
    if isinstance(axis, str):
        one_of(axis, "axis", ["mean"])
    if features == "bounded":
        return _bounded(axis, levels, split, kappa)
    if kappa is not None:
        raise InvalidArgument("kappa is of features='bounded'; polynomials have none")
    if isinstance(axis, str):
        return _chosen(MeanAxis(levels), split)
    if split is not None:
        raise InvalidArgument(f"the axis {_GIVEN}")
    return zonal.Zonal(axis, levels)


def _bounded(
    axis: Vector | str, levels: int, split: Split | float | None, kappa: float | None
) -> BoundedZonal | SameRows | OnSplits:
    """The functions themselves where axis and concentration are given, else how they are chosen."""
    if isinstance(axis, str):
        if kappa is not None:
            raise InvalidArgument("kappa belongs to an axis that is given; leave it out")
        return _chosen(FittedHeights(levels), split)
    if kappa is None:
        return _chosen(FittedHeights(levels, unit_axis(axis)), split)
    if split is not None:
        raise InvalidArgument(f"the axis and kappa are given: {_NOTHING}")
    return BoundedZonal(axis, levels, kappa)


@overload
def LowRank(basis: Columns, levels: int) -> low_rank.LowRank: ...
@overload
def LowRank(basis: About, levels: int, *, k: int = 2, split: None = None) -> SameRows: ...
@overload
def LowRank(basis: About, levels: int, *, k: int = 2, split: Split | float) -> OnSplits: ...
def LowRank(  # noqa: N802 - the name of what it makes
    basis: Columns | About, levels: int, *, k: int | None = None, split: Split | float | None = None
) -> low_rank.LowRank | SameRows | OnSplits:
    """Polynomials of a few coordinates, in any dimension.

    Level l adds all polynomials of degree l of the coordinates y = Uᵀx in a subspace: level 1 is
    the von Mises-Fisher law of the mean within it, level 2 the Fisher-Bingham law exp(η·y + yᵀBy),
    higher ones shape how y is spread. What happens across the subspace is not measured. Rotations
    within the subspace, and across it, leave the gaps as they are; others do not.

    Parameters
    ----------
    basis : array_like, (d, k), or {"pca", "mean+pca"}
        Vectors that span the subspace, as columns, 1 <= k <= 3 and k < d; made orthonormal. Or the
        first k axes of the second moment E xxᵀ of the data, about zero, which need no mean and
        begin with it where it is strong; or the mean direction, and the first k - 1 axes
        across it.
    levels : int
        Number of levels, at most 6.
    k : int, optional
        With a name: how many axes, 2 unless said.
    split : Split or float, optional
        With a name: the rows that choose the basis, as a share; the others are profiled, and the
        profile is a `SplitProfile`. Without it the same rows do both, and nothing can be inferred.

    Examples
    --------
    >>> import numpy as np
    >>> import steradian as sr
    >>> sr.LowRank(np.eye(384)[:, :2], 3).dims
    (2, 3, 4)
    >>> sr.LowRank("pca", 2, split=0.5).recipe
    PrincipalAxes(levels=2, k=2, about='pca')
    """
    if not isinstance(basis, str):
        if split is not None or k is not None:
            raise InvalidArgument(f"the basis {_GIVEN} and k=")
        return low_rank.LowRank(basis, levels)
    return _chosen(PrincipalAxes(levels, AXES if k is None else k, basis), split)


def _chosen(recipe: Recipe, split: Split | float | None) -> SameRows | OnSplits:
    return SameRows(recipe) if split is None else OnSplits(recipe, as_split(split))
