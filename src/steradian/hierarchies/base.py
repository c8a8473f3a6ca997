"""The seam of what is measured: a `Hierarchy` of nested features.

Everything above asks a hierarchy only what stands here, and never which one it is. What a hierarchy
does not offer it says: `wider`, `coordinates`, `second_moments`, `turned` and `zonal` may answer
None, and the caller then refuses in one sentence.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.families.base import Family, Law
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import AnyArray, Array
from steradian.spaces import Space


@runtime_checkable
class HasDegrees(Protocol):
    """A hierarchy whose levels are degrees of harmonics, so that each has an angular scale."""

    @property
    def degrees(self) -> tuple[int, ...]:
        """Degree of the harmonics that each level adds; half a wave of them is 180° / degree."""
        ...


class Hierarchy(Protocol):
    """Nested spaces of features V_1 ⊂ V_2 ⊂ … on one space, of mean zero and orthonormal there.

    "There" is under the uniform law, unless it `DeclaresBasis`.

    Hierarchies are values: equal ones compare equal and hash alike.
    """

    def __hash__(self) -> int:
        """What equal hierarchies share: features at nodes are kept by it."""
        ...

    @property
    def space(self) -> Space:
        """Where the points live."""
        ...

    @property
    def levels(self) -> int:
        """Number of levels."""
        ...

    @property
    def dims(self) -> tuple[int, ...]:
        """Features added by each level, q_l - q_{l-1}."""
        ...

    @property
    def level_names(self) -> tuple[str, ...]:
        """What each level adds, in a reader's words: "mean direction", "axis or girdle"."""
        ...

    def q(self, level: int) -> int:
        """Features of levels 1..level together; none at level 0."""
        ...

    def up_to(self, levels: int) -> Hierarchy:
        """The first ``levels`` levels of it."""
        ...

    def wider(self, levels: int) -> Hierarchy | None:
        """The same kind of features with so many levels, whose first are these; None without any.

        Residuals look at what a level leaves over there.
        """
        ...

    def features(self, x: AnyArray) -> AnyArray:
        """All features of all levels at ``x`` (n, d): (n, q_L), lowest level first."""
        ...

    def sums(self, x: Array, weights: Array | None) -> Array:
        """Σ_i w_i φ(x_i) of everything a `Moments` of this hierarchy holds, constant left out.

        Without ``weights`` each is one. Features come first, in their order, as far as they are
        summed at all; what covariances need from sums alone may follow.
        """
        ...

    @property
    def held_levels(self) -> int:
        """The highest level of `wider` whose features are among the `sums`; mostly ``levels``.

        More where products of two features are features of higher levels.
        """
        ...

    @property
    def held(self) -> int:
        """How many such sums there are."""
        ...

    def stack(self, x: Array, weights: Array, features: Array | None = None) -> MomentStack:
        """Moments of samples ``x`` (B, n, d) with weights (B, n) of sum one.

        ``features`` (B, n, q_L) are those of `features`, where they have been formed already.
        """
        ...

    def expectations(self, moments: MomentStack, level: int) -> Array:
        """E φ of the features of levels 1..level from moments, (B, q)."""
        ...

    def second_moments(self, level: int, sums: Array) -> Array | None:
        """Σ w (1, φ)(1, φ)ᵀ of a level, (q + 1, q + 1), from sums of w (1, held); or None.

        ``sums`` are those of `sums` with Σ w before them. None where products of two features are
        not among them: covariances then need the rows.
        """
        ...

    def coordinates(self, features: Array) -> Array | None:
        """E x (…, d) from E φ (…, q) of level 1 or more; None where points have no mean."""
        ...

    def stack_of_means(self, means: Array) -> MomentStack:
        """Moments of B samples or laws that are known by E φ (B, q) of all features alone."""
        ...

    def turned(self, moments: MomentStack, matrix: Array) -> MomentStack | None:
        """Moments after the symmetry x → x Aᵀ of the space, ``matrix`` A (d, d).

        None where gaps do change under it, or moments do not tell.
        """
        ...

    def zonal(self) -> Hierarchy | None:
        """All degrees at hand where levels are the degrees of harmonics on a unit sphere.

        Kernels of the angle between two points are sums over them. None elsewhere.
        """
        ...

    @property
    def second_moment_levels(self) -> int:
        """Levels whose moments follow from E x and E xxᵀ, which every `Moments` holds."""
        ...

    @property
    def raw_scale(self) -> float:
        """How many times larger features are than as people write them; one where they do not.

        On the circle √2, over cos kθ and sin kθ.
        """
        ...

    def family(self, level: int) -> Family:
        """The exponential family of one level, 1 <= level <= levels."""
        ...

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        """Moments of the fits ``lam`` (B, q) of any one level with means ``mean`` (B, d)."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """What `hierarchy_from_dict` makes it from again: its ``kind`` and its arguments."""
        ...


@runtime_checkable
class LevelsAreDegrees(Protocol):
    """A hierarchy whose level l are the harmonics of degree l, which people count by degree."""

    @property
    def top_degree(self) -> int:
        """The highest degree."""
        ...


class FitsTogether(Protocol):
    """A hierarchy some of whose levels are found more quickly together than one after the other."""

    @property
    def levels_apart(self) -> int:
        """Up to this level they are better fitted one by one."""
        ...

    def fits_from(self, level: int, m: Array, below: Array) -> list[DualSolution]:
        """Fits of ``level`` and of those above it to one sample, as far as they are found.

        ``m`` (q,) are its moments through the top level, ``below`` the parameters of the fit of
        the level below. Each is a stack of one, converged and verified.
        """
        ...


@runtime_checkable
class OfOneLength(Protocol):
    """A hierarchy whose features have the same squared length everywhere, level by level.

    As harmonics have, Σ |φ_l(x)|² being the number of those of degree l (the addition theorem):
    nothing about the largest need then be looked up row by row.
    """

    def squared_length(self, level: int) -> float:
        """|φ(x)|² of all features of levels 1..level, whatever x is."""
        ...


@runtime_checkable
class SplitsLevelOne(Protocol):
    """A hierarchy whose level 1 is a vector with a direction and a length that people tell apart.

    Features of level 1 turn into each other under the symmetries of the space, so that what is
    across the mean and what is along it are features too.
    """

    @property
    def level_one_parts(self) -> tuple[str, str]:
        """What differs across the mean, and along it: "direction", "concentration"."""
        ...


@runtime_checkable
class DeclaresBasis(Protocol):
    """A hierarchy whose features are white under a law of its own level 1, not the uniform one.

    Gaps do not depend on the basis of the features, but digits do: features that are nearly
    constant under the uniform law cannot be made orthonormal there.
    """

    @property
    def basis_lam(self) -> Array:
        """Natural parameters (q_1,) of the law that features are centred and orthonormal under."""
        ...


def basis_of(hierarchy: Hierarchy) -> Array | None:
    """Natural parameters of that law; None where it is the uniform one."""
    return hierarchy.basis_lam if isinstance(hierarchy, DeclaresBasis) else None


def basis_law(hierarchy: Hierarchy) -> Law | None:
    """The law that features are centred and orthonormal under; None where it is the uniform one."""
    lam = basis_of(hierarchy)
    if lam is None:
        return None
    psi = float(hierarchy.family(1).log_partition(lam[None])[0][0])
    return hierarchy.family(1).law(lam, psi)


@runtime_checkable
class KnowsReference(Protocol):
    """A hierarchy whose features are not centred under the law of zero information."""

    @property
    def reference_features(self) -> Array:
        """E φ of all features under that law, (q,)."""
        ...


def uniform_features(hierarchy: Hierarchy) -> Array | float:
    """E φ of all features under the uniform law, (q,); nothing where that is their own law."""
    if isinstance(hierarchy, KnowsReference):
        return hierarchy.reference_features[: hierarchy.held]
    if basis_of(hierarchy) is None:
        return 0.0
    levels = hierarchy.levels
    return hierarchy.family(levels).log_partition(np.zeros((1, hierarchy.q(levels))))[1][0]


@runtime_checkable
class SeesLess(Protocol):
    """A hierarchy whose features see less of a point than its coordinates."""

    def seen(self, x: Array) -> Array:
        """What they see of points ``x`` (n, d), (n, k), in which distances mean something."""
        ...


def seen_by(hierarchy: Hierarchy, x: Array) -> Array:
    """What the features see of points ``x`` (n, d): all of them, unless the hierarchy says less."""
    return hierarchy.seen(x) if isinstance(hierarchy, SeesLess) else x


@runtime_checkable
class SaysEnough(Protocol):
    """A hierarchy that knows which data always have a fit of level 1."""

    @property
    def enough(self) -> str:
        """What to give, in words: "at least two different directions"."""
        ...


def enough_for_level_one(hierarchy: Hierarchy) -> str:
    """What data of a level 1 that does not exist lack, in words."""
    if isinstance(hierarchy, SaysEnough):
        return hierarchy.enough
    name = hierarchy.level_names[0]
    named = "" if name == "level 1" else f" ({name})"
    said = f"one {hierarchy.space.point_name} or several alike are not enough for level 1{named}"
    return f"rows that differ more: {said}"


@runtime_checkable
class OffersInstead(Protocol):
    """A hierarchy some of whose levels are not found where features of another kind are."""

    @property
    def instead(self) -> str:
        """What else to ask for where a level above the first is not found, in words."""
        ...


@runtime_checkable
class MayBeRough(Protocol):
    """A hierarchy of anybody's functions, which rules resolve only where they are smooth."""

    @property
    def smoother(self) -> str:
        """What to do about those that are not, in words; empty where there are no rules."""
        ...


@runtime_checkable
class NamesTests(Protocol):
    """A hierarchy, some of whose levels alone are classical tests of uniformity."""

    @property
    def classical_names(self) -> tuple[str, ...]:
        """What the test by a² |m_l|² of each level is called; empty where it has no name."""
        ...


def names_of_tests(hierarchy: Hierarchy) -> tuple[str, ...]:
    """What tests of uniformity by one level alone are called: by whom, or what they look at."""
    if isinstance(hierarchy, NamesTests):
        return hierarchy.classical_names
    return hierarchy.level_names


def named_test(hierarchy: Hierarchy, level: int) -> str:
    """The test of uniformity by one level alone, in a sentence."""
    if isinstance(hierarchy, NamesTests) and hierarchy.classical_names[level - 1]:
        return f"{hierarchy.classical_names[level - 1]}'s test"
    return f"the score test of level {level} ({hierarchy.level_names[level - 1]})"
