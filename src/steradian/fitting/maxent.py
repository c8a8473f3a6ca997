"""MaxEntFit: the maximum-entropy law of one level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import draws_asked, one_of, open_share
from steradian.data.directions import Directions
from steradian.errors import InvalidArgument, InvalidDirections, ResolutionError
from steradian.families.base import HasShape, Law, StatesDensityErrors
from steradian.fitting.density_error import density_errors
from steradian.fitting.highest_density import HighestDensityRegion, highest_density_region
from steradian.fitting.modes import Mode, modes_of
from steradian.fitting.solution import Status
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import Array
from steradian.numerics.ascent import DEEPEST
from steradian.numerics.fisher_bingham.sample import LEAST_RATE
from steradian.numerics.fisher_bingham.shape import UNIFORM
from steradian.numerics.tolerances import USABLE_RULE
from steradian.references.base import HasReference, log_reference, reference_words, underlying
from steradian.spaces import Space, unit_sphere
from steradian.spaces.base import a_point

_MOST_FORMED = 2000  # features whose covariance is formed to say how far a log-density is off
Measure = Literal["uniform", "surface", "reference"]


@dataclass(frozen=True, eq=False, repr=False)
class MaxEntFit:
    """p_L = exp(lam · φ - psi), the law of largest entropy with the moments of the data.

    Densities and entropies are against the uniform law of mass one unless
    ``measure="surface"`` asks for surface measure (angle, solid angle, …), which only
    shifts them by the log of the surface area, or ``measure="reference"`` for the law that the
    profile is relative to, where that is another one.

    Examples
    --------
    >>> import steradian as sr
    >>> fit = sr.profile([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1]], levels=1).fits[1]
    >>> round(fit.kappa, 4)
    1.151
    """

    hierarchy: Hierarchy
    level: int  # 0 is the uniform law
    lam: Array  # (q,) natural parameters
    psi: float  # log-partition
    deficit: float  # D_L, nats
    gap: float  # I_L = D_L - D_{L-1}, nats, with digits that subtraction would lose
    residual: float  # largest moment mismatch
    moments: Array  # (q,) the feature moments it matches
    status: Status

    def __repr__(self) -> str:
        name, where = type(self).__name__, self.space.name
        return f"{name}(level {self.level} on the {where}, deficit {self.deficit:.6g} nats)"

    @property
    def space(self) -> Space:
        """Where the law lives."""
        return self.hierarchy.space

    @cached_property
    def law(self) -> Law:
        """What evaluates and draws; level 0 needs none."""
        return self.hierarchy.family(self.level).law(self.lam, self.psi)

    def held_by(self, law: Law) -> MaxEntFit:
        """The same fit, evaluated and drawn from by a law that has digits lam has not."""
        self.__dict__["law"] = law  # where the cached property looks first
        return self

    def logpdf(self, x: ArrayLike | Directions, *, measure: Measure = "uniform") -> Array:
        """Log-density at unit vectors ``x`` (n, d), nats: (n,).

        ``measure`` is ``"uniform"`` (the uniform law has density one), ``"surface"``, or
        ``"reference"`` (the law that deficits are relative to has density one). How far a value
        may be off says `logpdf_error`.
        """
        at = self._points(x)
        values = self.law.logpdf(at.x) if self.level else np.zeros(at.n)
        return np.asarray(values + self._density(at.x, measure))

    def pdf(self, x: ArrayLike | Directions, *, measure: Measure = "uniform") -> Array:
        """Density at unit vectors ``x`` (n, d): (n,). The uniform law has density one."""
        return np.asarray(np.exp(self.logpdf(x, measure=measure)))

    def logpdf_error(self, x: ArrayLike | Directions) -> Array:
        """Nats that `logpdf` may be off by at unit vectors ``x`` (n, d), against exact arithmetic.

        The deficit of a fit hardly feels a small error of its parameters; a density far from the
        data does. Stated are what Newton's method leaves, the rounding of the moments and of the
        exponent, and the error of ψ; a reference is taken to be exact.

        Returns
        -------
        array, (n,)

        Raises
        ------
        InvalidArgument
            Where the covariance of the features, which it takes, is too large to be formed.

        Examples
        --------
        >>> import steradian as sr
        >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=4)
        >>> bool((p.fits[4].logpdf_error([[0, 0, 1], [0, 0, -1]]) < 1e-8).all())
        True
        """
        at = self._points(x)
        if self.level == 0:
            return np.zeros(at.n)
        if isinstance(self.law, StatesDensityErrors):
            return self.law.logpdf_errors(at.x)
        if len(self.lam) > _MOST_FORMED:
            raise InvalidArgument(
                f"the covariance of {len(self.lam)} features is too large to be formed, which the "
                "error of a log-density takes; ask a lower level"
            )
        return density_errors(self, at.x)

    def _points(self, x: ArrayLike | Directions) -> Directions:
        at = x if isinstance(x, Directions) else Directions(x, space=self._given)
        if at.d != self.space.d:
            raise InvalidDirections(f"x has dimension {at.d}; this fit has {self.space.d}")
        return at

    def modes(self) -> tuple[Mode, ...]:
        """Local maxima of the density against the uniform law, the highest first.

        On spaces that have a picture: circle, sphere, axes of them, torus of two angles.
        """
        return self._modes

    @cached_property
    def _modes(self) -> tuple[Mode, ...]:
        return modes_of(self.logpdf, underlying(self.space), len(self.lam))

    @cached_property
    def lowest(self) -> float:
        """The least density, as a multiple of the uniform law, where `modes` are known."""

        def depth(x: Array) -> Array:
            return np.minimum(-self.logpdf(x), DEEPEST)  # where a reference is zero too

        deepest = modes_of(depth, underlying(self.space), len(self.lam))[0].log_density
        return float(np.exp(-deepest)) if deepest < DEEPEST else 0.0

    @property
    def shape(self) -> str:
        """'uniform', 'unimodal', 'bipolar' or 'girdle': what the law looks like.

        Of levels that see a mean and axes and nothing finer: 1 and 2, of axes and rotations 1.
        Bipolar is a law with two tops above uniform, at the ends of an axis if nothing pulls them
        together; where the two ends are one point, as of axes and rotations, a single cluster. A
        girdle follows Woodcock's reading of the eigenvalues of B, takes three dimensions, and may
        be denser one way.

        Raises
        ------
        InvalidArgument
            Where no one word tells: higher levels, other features, laws relative to a reference.
        """
        if self.level == 0 and not reference_words(self.space):
            return UNIFORM
        if reference_words(self.space) or not isinstance(self.law, HasShape):
            raise InvalidArgument(
                f"no one word tells the shape of level {self.level} on the {self.space.name}; "
                "ask a level that sees no more than axes, or see modes and plot()"
            )
        return self.law.shape

    def plot(self, ax: Any = None) -> Any:
        """Draw its density on axes, new ones unless given, as its space is drawn."""
        from steradian.plots import density

        return density(self, ax)

    def entropy(self, *, measure: Measure = "uniform") -> float:
        """Differential entropy in nats: minus the deficit, against the uniform law."""
        known = one_of(measure, "measure", get_args(Measure))
        if known == "reference" or not isinstance(self.space, HasReference):
            return -self.deficit - float(self._density(np.empty((1, self.space.d)), measure)[0])
        points, mass = self.rule
        return -self.deficit - float(mass @ self._density(points, measure))

    @property
    def rule(self) -> tuple[Array, Array]:
        """Nodes (N, d) and masses (N,) that integrate against it, where the space has rules."""
        if self.level:
            return self.hierarchy.family(self.level).rule(self.lam, 0)
        rule = self.space.rule(self.space.rules() - 1)
        return rule.points, rule.weights

    def hpd(self, mass: float) -> HighestDensityRegion:
        """The smallest region that holds the share ``mass`` of the density.

        On spaces whose rules integrate the fit: circle, sphere, axes of them, torus, rotations.

        Examples
        --------
        >>> import steradian as sr
        >>> p = sr.profile(sr.examples.load("turtles"), levels=2)
        >>> half = p.fits[2].hpd(0.5)
        >>> round(half.area, 2), int(half.inside(sr.examples.load("turtles")).sum())
        (0.16, 35)
        """
        share = open_share(mass, "mass", 0.9)
        if self.level and not self.hierarchy.family(self.level).has_rule:
            raise InvalidArgument(
                f"no rule integrates level {self.level} on the {self.space.name}, which a region "
                "of highest density takes; ask on the circle, the sphere or a torus"
            )
        fine = underlying(self.space)
        rule = fine.rule(fine.rules() - 1)  # many nodes, where these integrate the density
        densities = self.pdf(Directions(rule.points, space=self._given))
        masses = rule.weights * densities
        if not abs(float(masses.sum()) - 1.0) <= USABLE_RULE:
            points, masses = self.rule
            densities = self.pdf(Directions(points, space=self._given))
        return highest_density_region(self.pdf, densities, masses / masses.sum(), share)

    def mean(self) -> Array:
        """E x, (d,); refused where points have none, as axes."""
        if self.level == 0:
            return np.zeros(self.space.d)
        mean = self.hierarchy.coordinates(self.moments)
        if mean is None:
            raise InvalidArgument(f"{a_point(self.space)} has no mean on the {self.space.name}")
        return mean

    @property
    def _given(self) -> Space | None:
        """The space for rows that somebody passes; None for unit vectors."""
        space = underlying(self.space)
        return None if space == unit_sphere(space.d) else space

    def sample(self, n: int, rng: np.random.Generator | int) -> Array:
        """``n`` exact independent draws, (n, d), from an explicit generator or seed."""
        count, generator = draws_asked(n, self.space.d, rng)
        if self.level == 0:
            return self.space.uniform(count, generator)
        drawn = self.law.sample(count, generator)
        if len(drawn) < count:
            cause = f"keeps too few of the proposals of its sampler (under {LEAST_RATE:g})"
            raise ResolutionError(self.level, cause, "draw from level 1, or from fewer dimensions")
        return drawn

    @property
    def kappa(self) -> float:
        """Length of the linear natural parameter; at level 1 the concentration."""
        if self.level == 0:
            return 0.0
        if self.hierarchy.coordinates(self.moments) is None or reference_words(self.space):
            raise InvalidArgument(f"there is no concentration of a mean on the {self.space.name}")
        return float(np.sqrt(self.space.d) * np.linalg.norm(self.lam[: self.space.d]))

    def _density(self, x: Array, measure: Measure) -> Array:
        """Log-density of the law of zero information at ``x`` (n, d) against a measure, (n,)."""
        if one_of(measure, "measure", get_args(Measure)) == "reference":
            return np.zeros(len(x))
        found = log_reference(self.space, x)
        if found is None:
            raise InvalidArgument(
                f"{reference_words(self.space)} has no density, and a fit has none but relative "
                "to it; pass measure='reference'"
            )
        return found - self.space.log_area if measure == "surface" else found
