"""Axes and bases that data choose, and `Zonal` and `LowRank`, the names that make either.

`sr.Zonal` of a vector is a hierarchy. Of a name it is none yet, since no data were seen: it is a
choice, on the same rows or on splits, and `sr.profile` tells by its type what it returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args, overload

import numpy as np
from numpy.typing import NDArray

from steradian.arguments import one_of, whole_number
from steradian.data.directions import Directions
from steradian.errors import InvalidArgument, InvalidDirections
from steradian.hierarchies import low_rank, zonal
from steradian.hierarchies.base import Hierarchy, checked_levels
from steradian.hierarchies.recipe import OnSplits, Recipe, SameRows, Split, as_split
from steradian.numerics.arrays import Array
from steradian.numerics.heights.bessel import concentration
from steradian.numerics.tolerances import POINT, TIED_AXES, VANISHING_MEAN
from steradian.spaces import unit_sphere

Vector = Sequence[float] | NDArray[Any]
Columns = Sequence[Sequence[float]] | NDArray[Any]
AXES = 2  # that are chosen unless said
Features = Literal["polynomial", "bounded"]
_NOTHING = "nothing is chosen from the data; leave out split="
_GIVEN = f"is given: {_NOTHING}"


@dataclass(frozen=True, slots=True)
class MeanAxis:
    """`Zonal` about the weighted mean direction."""

    levels: int

    def __post_init__(self) -> None:
        checked_levels(self.levels, zonal.MOST_LEVELS, "more polynomials are hardly told apart")

    @property
    def words(self) -> str:
        return "the axis is the mean direction"

    def from_data(self, directions: Directions) -> Hierarchy:
        return zonal.Zonal(mean_direction(directions), self.levels)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "MeanAxis", **asdict(self)}


@dataclass(frozen=True, slots=True)
class FittedHeights:
    """Bounded functions of the height, made for the von Mises-Fisher law about the axis.

    The axis is given, or else the mean direction; the concentration is that of the level-1 fit, for
    which an axis that most rows point away from is turned round.
    """

    levels: int
    axis: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        checked_levels(self.levels, zonal.MOST_LEVELS, "more functions are hardly told apart")

    @property
    def words(self) -> str:
        if self.axis is not None:
            return "the functions are made for the concentration about the axis"
        return "the axis is the mean direction, and the functions are made for the concentration"

    def from_data(self, directions: Directions) -> Hierarchy:
        _refuse_other_spaces(directions, "heights along an axis")
        axis = mean_direction(directions) if self.axis is None else np.array(self.axis)
        if len(axis) != directions.d:
            raise InvalidDirections(
                f"directions of dimension {directions.d} with an axis of dimension {len(axis)}"
            )
        height = float(directions.weights @ (directions.x @ axis))
        spread = max(1.0 - height * height, POINT)
        kappa = float(concentration(directions.d, abs(height), spread).kappa)
        kappa = min(kappa, zonal.MOST_KAPPA)
        return zonal.BoundedZonal(axis if height >= 0.0 else -axis, self.levels, kappa)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "FittedHeights", **asdict(self)}


def mean_direction(directions: Directions) -> Array:
    """The direction of Σ w x, (d,).

    Raises
    ------
    InvalidDirections
        The points have no mean, or one so short that rounding decides where it points.
    """
    _refuse_other_spaces(directions, "mean direction")
    total, weight = np.zeros(directions.d), 0.0
    for x, w in directions.blocks():
        total += w @ x
        weight += float(w.sum())
    length = float(np.linalg.norm(total)) / weight
    if length <= VANISHING_MEAN:
        raise InvalidDirections(
            f"the rows that choose have a mean of length {length:.0e}, which points nowhere; "
            "give an axis, or for data without a sign principal axes: sr.LowRank('pca', levels)"
        )
    return np.asarray(total / np.linalg.norm(total))


About = Literal["pca", "mean+pca"]


@dataclass(frozen=True, slots=True)
class PrincipalAxes:
    """`LowRank` in the first axes of the second moment, or in the mean and the axes across it."""

    levels: int
    k: int
    about: About

    def __post_init__(self) -> None:
        checked_levels(self.levels, low_rank.MOST_LEVELS, "integrals of more are not resolved")
        if not 1 <= whole_number(self.k, "k") <= low_rank.MOST_AXES:
            raise InvalidArgument(f"k is {self.k}; give 1 to {low_rank.MOST_AXES} axes")
        one_of(self.about, "basis", get_args(About))

    @property
    def words(self) -> str:
        if self.about == "pca":
            return f"the basis is made of the first {self.k} principal axes"
        rest = f" and the first {self.k - 1} principal axes across it" if self.k > 1 else ""
        return f"the basis is made of the mean direction{rest}"

    def from_data(self, directions: Directions) -> Hierarchy:
        return low_rank.LowRank(principal_axes(directions, self.k, self.about), self.levels)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "PrincipalAxes", **asdict(self)}


def principal_axes(directions: Directions, k: int, about: About) -> Array:
    """Orthonormal columns (d, k) that hold most of the rows' squared length.

    ``"pca"``: the first k eigenvectors of E xxᵀ, about zero: the plane through the centre of the
    sphere that points are nearest to, whatever their signs. ``"mean+pca"``: the mean direction,
    then the first k - 1 eigenvectors of E xxᵀ at right angles to it.

    Raises
    ------
    InvalidDirections
        Two axes of which one would be left out are equally long.
    """
    if k >= directions.d:
        raise InvalidDirections(f"k is {k}; choose fewer axes than the {directions.d} dimensions")
    _refuse_other_spaces(directions, "principal axes")
    first = np.zeros((directions.d, 0))
    if about == "mean+pca":
        first = mean_direction(directions)[:, None]
    return np.column_stack([first, _leading(directions, first, k - first.shape[1])])


def _leading(directions: Directions, without: Array, k: int) -> Array:
    """Eigenvectors (d, k) of the second moment across ``without`` (d, j), largest first.

    Each has the sign that makes its largest coordinate positive.
    """
    moments, axes = _second_moments(directions, without)
    if not k:
        return axes[:, :0]
    if moments[k - 1] - moments[k] <= TIED_AXES * moments[0]:
        raise InvalidDirections(
            f"axes {k} and {k + 1} of the rows that choose are equally long ({moments[k - 1]:.3g}),"
            " and which of them comes first is arbitrary; choose another k, or give the basis"
        )
    chosen = axes[:, :k]
    largest = chosen[np.abs(chosen).argmax(axis=0), np.arange(k)]
    return np.asarray(chosen * np.sign(largest))


def _second_moments(directions: Directions, without: Array) -> tuple[Array, Array]:
    """Eigenvalues (d,) of E xxᵀ across ``without``, falling, and their axes but for zeros."""
    d = directions.d
    across = np.eye(d) - without @ without.T if without.size else np.eye(d)
    if directions.n < d:
        rows = np.sqrt(directions.weights)[:, None] * (directions.x @ across)
        _, lengths, axes = np.linalg.svd(rows, full_matrices=False)
        return np.pad(lengths**2, (0, d - len(lengths))), axes.T
    second = np.zeros((d, d))
    for x, w in directions.blocks():
        second += (w[:, None] * x).T @ x
    values, axes = np.linalg.eigh(across @ second @ across / np.trace(second))
    return values[::-1], axes[:, ::-1]


def _refuse_other_spaces(directions: Directions, what: str) -> None:
    """Refuse points that are no unit vectors, or whose sign means nothing."""
    space = directions.space
    if space != unit_sphere(directions.d):
        raise InvalidDirections(
            f"points on the {space.name} have no {what}; give a hierarchy of that space, like "
            "sr.Axial for axes"
        )


# --- names that make a hierarchy, or say how data choose it ------------------------------


@overload
def Zonal(axis: Vector, levels: int) -> zonal.Zonal: ...
@overload
def Zonal(axis: str, levels: int, *, split: None = None) -> SameRows: ...
@overload
def Zonal(axis: str, levels: int, *, split: Split | float) -> OnSplits: ...
@overload
def Zonal(
    axis: Vector, levels: int, *, features: Literal["bounded"], kappa: float
) -> zonal.BoundedZonal: ...
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
) -> zonal.Zonal | zonal.BoundedZonal | SameRows | OnSplits:
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
) -> zonal.BoundedZonal | SameRows | OnSplits:
    """The functions themselves where axis and concentration are given, else how they are chosen."""
    if isinstance(axis, str):
        if kappa is not None:
            raise InvalidArgument("kappa belongs to an axis that is given; leave it out")
        return _chosen(FittedHeights(levels), split)
    if kappa is None:
        return _chosen(FittedHeights(levels, zonal.unit_axis(axis)), split)
    if split is not None:
        raise InvalidArgument(f"the axis and kappa are given: {_NOTHING}")
    return zonal.BoundedZonal(axis, levels, kappa)


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
