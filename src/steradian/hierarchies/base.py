"""The seam of what is measured: a `Hierarchy` of nested features.

Everything above asks a hierarchy only what stands here, and never which one it is. One of your own
gives `space`, `levels`, `dims`, `level_names` and `features`; the rest follows from these, and what
it has in closed form it overrides. What it does not offer it says: None, or nothing.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from steradian.arguments import whole_number
from steradian.data.stacks import MomentStack, blocks, moments_of_samples
from steradian.errors import InvalidArgument
from steradian.families.base import Family, Law
from steradian.numerics.arrays import AnyArray, Array
from steradian.spaces import Space


class Hierarchy:
    """Nested spaces of features V_1 ⊂ V_2 ⊂ … on one space, of mean zero and orthonormal there.

    "There" is under the uniform law, unless it declares another by `basis_lam`. Hierarchies are
    values: make a class of your own a frozen dataclass, so that equal ones compare equal and hash
    alike.
    """

    __slots__ = ()
    demanded: ClassVar[tuple[str, ...]] = ("space", "levels", "dims", "level_names", "features")

    if TYPE_CHECKING:  # of a dataclass these may be fields, whose defaults properties would be

        @property
        def space(self) -> Space:
            """Where the points live."""

        @property
        def levels(self) -> int:
            """Number of levels."""

        @property
        def dims(self) -> tuple[int, ...]:
            """Features added by each level, q_l - q_{l-1}."""

        @property
        def level_names(self) -> tuple[str, ...]:
            """What each level adds, in a reader's words: "mean direction", "axis or girdle"."""

        def features(self, x: AnyArray) -> AnyArray:
            """All features of all levels at ``x`` (n, d): (n, q_L), lowest level first."""

    # --- levels ---------------------------------------------------------------------------

    def q(self, level: int) -> int:
        """Features of levels 1..level together; none at level 0."""
        return sum(self.dims[:level])

    def level_of(self, features: int) -> int:
        """The level that has so many features with those below it."""
        return next(k for k in range(1, self.levels + 1) if self.q(k) == features)

    def up_to(self, levels: int) -> Hierarchy:
        """The first ``levels`` levels of it."""
        return replace(self, levels=levels)  # type: ignore[type-var]

    def wider(self, levels: int) -> Hierarchy | None:
        """The same kind of features with so many levels, whose first are these; None without any.

        Residuals look at what a level leaves over there.
        """
        return self.up_to(levels) if levels <= self.levels else None

    def to_dict(self) -> dict[str, Any]:
        """What `hierarchy_from_dict` makes it from again: its ``kind`` and its arguments."""
        kept = [each.name for each in fields(self) if each.compare]  # type: ignore[arg-type]
        return {"kind": type(self).__name__, **{k: _listed(getattr(self, k)) for k in kept}}

    # --- moments --------------------------------------------------------------------------

    def sums(self, x: Array, weights: Array | None) -> Array:
        """Σ_i w_i φ(x_i) of everything a `Moments` of this hierarchy holds, constant left out.

        Without ``weights`` each is one. Features come first, in their order, as far as they are
        summed at all; what covariances need from sums alone may follow.
        """
        total = np.zeros(self.q(self.levels))
        weights = np.ones(len(x)) if weights is None else weights
        for rows in blocks(len(x), len(total)):
            total += weights[rows] @ self.features(x[rows])
        return total

    @property
    def held_levels(self) -> int:
        """The highest level of `wider` whose features are among the `sums`; mostly ``levels``.

        More where products of two features are features of higher levels.
        """
        return self.levels

    @property
    def held(self) -> int:
        """How many such sums there are."""
        return self.q(self.levels)

    def stack(self, x: Array, weights: Array, features: Array | None = None) -> MomentStack:
        """Moments of samples ``x`` (B, n, d) with weights (B, n) of sum one.

        ``features`` (B, n, q_L) are those of `features`, where they have been formed already.
        """
        return moments_of_samples(self, x, weights, features)

    def stack_of_means(self, means: Array) -> MomentStack:
        """Moments of B samples or laws that are known by E φ (B, q) of all features alone."""
        return MomentStack.of_features(means, self.space.d)

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        """Moments of the fits ``lam`` (B, q) of any one level with means ``mean`` (B, d)."""
        family = self.family(self.level_of(lam.shape[1]))
        if not family.has_rule:
            return self.stack_of_means(family.expectations(lam, self))
        scatter = np.empty((len(lam), mean.shape[1], mean.shape[1]))
        for row, each in enumerate(lam):
            points, mass = family.rule(each, 2)
            away = points - mean[row]
            scatter[row] = away.T @ (mass[:, None] * away)
        return MomentStack(family.expectations(lam, self), mean, scatter)

    def expectations(self, moments: MomentStack, level: int) -> Array:
        """E φ of the features of levels 1..level from moments, (B, q)."""
        return moments.features[:, : self.q(level)]

    def second_moments(self, level: int, sums: Array) -> Array | None:  # noqa: ARG002
        """Σ w (1, φ)(1, φ)ᵀ of a level, (q + 1, q + 1), from sums of w (1, held); or None.

        ``sums`` are those of `sums` with Σ w before them. None where products of two features are
        not among them: covariances then need the rows.
        """
        return None

    @property
    def second_moment_levels(self) -> int:
        """Levels whose moments follow from E x and E xxᵀ, which every `Moments` holds."""
        return 0

    @property
    def centred_moments(self) -> Literal["trace", "scatter"] | None:
        """What levels look at beside E x, where they look at no features: of E (x - m)(x - m)ᵀ."""
        return None

    def coordinates(self, features: Array) -> Array | None:  # noqa: ARG002
        """E x (…, d) from E φ (…, q) of level 1 or more; None where features do not hold it."""
        return None

    def turned(self, moments: MomentStack, matrix: Array) -> MomentStack | None:  # noqa: ARG002
        """Moments after the symmetry x → x Aᵀ of the space, ``matrix`` A (d, d).

        None where gaps do change under it, or moments do not tell.
        """
        return None

    # --- laws -----------------------------------------------------------------------------

    def family(self, level: int) -> Family:
        """The exponential family of one level, 1 <= level <= levels: on nodes of the space."""
        from steradian.families.nodes.family import NodeFamily

        return NodeFamily(self, checked_level(level, self.levels))

    @property
    def basis_lam(self) -> Array | None:
        """Natural parameters (q_1,) of the law that features are white under; None: the uniform.

        Gaps do not depend on the basis of the features, but digits do: features that are nearly
        constant under the uniform law cannot be made orthonormal there.
        """
        return None

    @property
    def reference_features(self) -> Array | None:
        """E φ of all features (q,) under the law of zero information; None where it is zero."""
        return None

    @property
    def built_of(self) -> tuple[Any, ...]:
        """What of it may be anybody's: other hierarchies, functions."""
        return ()

    # --- what kind of features they are ---------------------------------------------------

    @property
    def degrees(self) -> tuple[int, ...]:
        """Degree of the harmonics that each level adds: half a wave of them is 180° / degree.

        Empty where levels have no angular scale.
        """
        return ()

    @property
    def counts_degrees(self) -> bool:
        """Whether level l are the harmonics of degree l, which people count by degree."""
        return False

    def zonal(self) -> Hierarchy | None:
        """All degrees at hand where levels are the degrees of harmonics on a unit sphere.

        Kernels of the angle between two points are sums over them. None elsewhere.
        """
        return None

    def squared_length(self, level: int) -> float | None:  # noqa: ARG002
        """|φ(x)|² of all features of levels 1..level where it is the same for all x, else None.

        As harmonics have, Σ |φ_l(x)|² being the number of those of degree l (the addition theorem):
        nothing about the largest need then be looked up row by row.
        """
        return None

    @property
    def raw_scale(self) -> float:
        """How many times larger features are than as people write them; one where they do not.

        On the circle √2, over cos kθ and sin kθ.
        """
        return 1.0

    @property
    def most_fitted(self) -> int:
        """Levels whose features at the nodes of a rule still fit in memory."""
        return self.levels

    def seen(self, x: Array) -> Array:
        """What features see of points ``x`` (n, d), (n, k), in which distances mean something."""
        return x

    # --- words ----------------------------------------------------------------------------

    @property
    def level_one_parts(self) -> tuple[str, str] | None:
        """What differs across the mean, and along it: "direction", "concentration".

        Where level 1 is a vector with a direction and a length that people tell apart, so that its
        features turn into each other under the symmetries of the space; None elsewhere.
        """
        return None

    @property
    def enough(self) -> str:
        """Data that always have a fit of level 1, in words: "at least two different directions"."""
        name = self.level_names[0]
        named = "" if name == "level 1" else f" ({name})"
        said = f"one {self.space.point_name} or several alike are not enough for level 1{named}"
        return f"rows that differ more: {said}"

    @property
    def instead(self) -> str:
        """What else to ask for where a level above the first is not found, in words; or nothing."""
        return ""

    @property
    def smoother(self) -> str:
        """What to do about functions that no rule resolves, in words; or nothing."""
        return ""

    @property
    def classical_names(self) -> tuple[str, ...]:
        """By whom the test by a² |m_l|² of each level is called; an empty name for one without."""
        return ()


def _listed(value: Any) -> Any:
    """Tuples as lists, as they are written down."""
    return [_listed(each) for each in value] if isinstance(value, tuple) else value


def basis_law(hierarchy: Hierarchy) -> Law | None:
    """The law that features are centred and orthonormal under; None where it is the uniform one."""
    lam = hierarchy.basis_lam
    return None if lam is None else hierarchy.family(1).law(lam)


def uniform_features(hierarchy: Hierarchy) -> Array | float:
    """E φ of all features under the uniform law, (q,); nothing where that is their own law."""
    known = hierarchy.reference_features
    if known is not None:
        return known[: hierarchy.held]
    if hierarchy.basis_lam is None:
        return 0.0
    levels = hierarchy.levels
    return hierarchy.family(levels).log_partition(np.zeros((1, hierarchy.q(levels))))[1][0]


def names_of_tests(hierarchy: Hierarchy) -> tuple[str, ...]:
    """What tests of uniformity by one level alone are called: by whom, or what they look at."""
    return hierarchy.classical_names or hierarchy.level_names


def checked_level(level: int, levels: int) -> int:
    """``level``, when it is among 1..levels."""
    if not 1 <= whole_number(level, "level") <= levels:
        raise InvalidArgument(f"level {level} is not among 1..{levels}")
    return level


def checked_levels(levels: int, most: int, why: str) -> None:
    """Refuse a number of levels that is not among 1..most; ``why`` there are no more."""
    if whole_number(levels, "levels") < 1:
        raise InvalidArgument(f"levels is {levels}; a hierarchy has at least one level")
    if levels > most:
        raise InvalidArgument(f"levels is {levels}; at most {most} are possible: {why}")
