"""The seam of a level: its `Family` of laws, and one `Law` of it.

A family of one's own says what its features are, `log_partition` and `expectations`. Densities,
draws, white features and fits follow from these; what a family knows in closed form it overrides.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from steradian.data.stacks import MomentStack, Support, centred_moments
from steradian.errors import InvalidArgument
from steradian.existence.certificate import Certificate
from steradian.existence.margin import Closest, Evidence
from steradian.existence.placement import Placement, Verdict
from steradian.families.whitening import Whitening, formed_whitening
from steradian.fitting.grouped import GroupedFits
from steradian.fitting.newton import DenseCurvature, judge, newton
from steradian.fitting.solution import NO_RUNG, DualSolution, Status
from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.rejection import CLEARANCE, drawn_below
from steradian.numerics.tolerances import VERIFIED_AIM, VERIFIED_DIFFERENCE

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy
    from steradian.spaces import Space

LEAST_KEPT = 1e-4  # share of uniform draws that a law must keep to be drawn from
_LOOKED_AT = 1 << 14  # uniform draws that show how high an exponent rises


class Law(Protocol):
    """One law of a family, ready for densities and draws."""

    def logpdf(self, x: Array) -> Array:
        """Log-density at unit vectors ``x`` (n, d): (n,)."""
        ...

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws, (n, d)."""
        ...


@runtime_checkable
class StatesDensityErrors(Protocol):
    """A law that says how far its log-density may be off, where parameters do not tell."""

    def logpdf_errors(self, x: Array) -> Array:
        """Nats at ``x`` (n, d), (n,)."""
        ...


@runtime_checkable
class HasShape(Protocol):
    """A law that one word describes."""

    @property
    def shape(self) -> str:
        """'uniform', 'unimodal', 'bipolar' or 'girdle'."""
        ...


@runtime_checkable
class BringsRule(Protocol):
    """A law that holds the nodes which integrate against it."""

    def rule(self) -> tuple[Array, Array]:
        """Nodes (N, d) and masses (N,) of sum one."""
        ...


class QuickRefits(Protocol):
    """Fits of many replicates that lie about one fit, to the digits a comparison needs."""

    @property
    def possible(self) -> bool:
        """Whether there are any: else all replicates are unsure."""
        ...

    @property
    def verifiable(self) -> bool:
        """Whether a verified fit of a replicate that is not sure is worth its time."""
        ...

    def expectations(self, m: Array, degree: int) -> tuple[Array, BoolArray]:
        """E φ of levels 1..degree of the fits to ``m`` (B, q): (B, q_degree), and which are sure.

        An unsure one is close to the fit, or NaN.
        """
        ...

    @property
    def thorough(self) -> bool:
        """Whether a replicate that `parameters` does not find is not worth a search of its own."""
        ...

    def parameters(self, m: Array) -> tuple[Array, BoolArray]:
        """λ (B, q) of the fits to ``m`` (B, q), and which of them are known."""
        ...


class Family(ABC):
    """The exponential family of one level; everything takes and gives stacks.

    Demanded are `q`, `features`, `log_partition` and `expectations`; `sample` asks for `domain`
    too, unless a family draws in a way of its own. What a family has no closed form for it leaves
    as it stands here: None, NaN or nothing, and the caller does without or refuses in one sentence.
    """

    __slots__ = ()

    # --- demanded -------------------------------------------------------------------------

    @property
    @abstractmethod
    def q(self) -> int:
        """Number of features."""

    @abstractmethod
    def features(self, x: AnyArray) -> AnyArray:
        """All features of the level at ``x`` (n, d): (n, q)."""

    @abstractmethod
    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ (B,), mean (B, q) and covariance (B, q, q) of the features at ``lam`` (B, q)."""

    @abstractmethod
    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """E φ of the laws ``lam`` (B, q) for all features of ``wide``: (B, q_wide)."""

    @property
    def domain(self) -> Space:
        """Where its laws live, for draws by rejection from the uniform law there."""
        raise NotImplementedError(f"{type(self).__name__} has neither `domain` nor draws")

    # --- densities and draws --------------------------------------------------------------

    def exponent(self, x: Array, lam: Array) -> Array:
        """λ·φ(x) of one law ``lam`` (q,) at ``x`` (n, d): (n,)."""
        return np.asarray(self.features(x) @ lam)

    def law(self, lam: Array, psi: float = np.nan) -> Law:
        """The law exp(lam · φ - psi), ``lam`` (q,)."""
        known = float(self.log_partition(lam[None])[0][0]) if math.isnan(psi) else psi
        return FamilyLaw(self, lam, known)

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws from one law ``lam`` (q,): (n, d); by rejection from the uniform law.

        As high as at so many draws, and a clearance, nearly every exponent rises; one that rises
        higher raises the bound, and all begins again.
        """
        law = self.law(lam)
        if not isinstance(law, FamilyLaw):  # it draws in a way of its own
            return law.sample(n, rng)
        looked_at = self.domain.uniform(_LOOKED_AT, np.random.default_rng(0))
        bound = float(self.exponent(looked_at, lam).max()) + CLEARANCE
        share = float(np.exp(law.psi - bound))
        if share < LEAST_KEPT:
            raise InvalidArgument(
                f"the law is too sharp to draw from: of uniform proposals {share:.0e} would be "
                "kept; draw from a lower level"
            )
        return law.drawn_below(bound, self.domain, n, rng)

    def natural(self, lam: Array) -> tuple[Array, Array] | None:
        """η (d,) and B (d, d) of one law exp(η·x + xᵀBx) of unit vectors; None for other laws."""
        return None

    # --- integrals ------------------------------------------------------------------------

    @property
    def forms_matrices(self) -> bool:
        """Whether q × q matrices of this level are formed: there are not too many features."""
        return True

    def whitening(self, below: Array) -> Whitening:
        """White features of this level under the fits ``below`` (B, q_below) of the level below.

        ``below`` has no columns where that is the reference law itself.
        """
        return formed_whitening(self, self.features, below)

    def stated_errors(self, lam: Array) -> tuple[Array, Array]:
        """By how much ψ (B,) and the means (B, q) of the laws ``lam`` (B, q) may be off.

        Three standard errors, where they are sampled; nothing where they are good to rounding.
        """
        return np.zeros(len(lam)), np.zeros_like(lam)

    @property
    def has_rule(self) -> bool:
        """Whether `rule` integrates against its laws."""
        return False

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        """Nodes (N, d) and masses (N,) of sum one: what integrates against one law ``lam`` (q,).

        Good for features up to level ``degree`` times the density.
        """
        raise NotImplementedError(f"{type(self).__name__} has no rule")

    def resolved_by(self, rung: int) -> Family:
        """The same family, asked only about laws that ``rung`` of its ladder of rules resolves.

        That is what `DualSolution.rungs` holds of a fit; nothing climbs the ladder again. Itself
        for `NO_RUNG`, and where there is no ladder.
        """
        return self

    def resolves(self, lam: Array, psi: Array) -> bool:
        """Whether its rung resolves all laws ``lam`` (B, q), of which it says ``psi`` (B,)."""
        apart = self.resolved_by(NO_RUNG).log_partition(lam)[0] - psi
        return bool(np.abs(apart).max() <= VERIFIED_AIM)

    def wide_covariance(self, lam: Array, wide: Hierarchy) -> tuple[Array, Array] | None:
        """Mean (q_wide,) and covariance (q_wide, q_wide) of all features of ``wide``.

        Under one law ``lam`` (q,), without their values at nodes. None where `rule` serves as
        well, or better.
        """
        return None

    @property
    def closed_leftover(self) -> bool:
        """Whether its laws are exp(η·x) on a unit sphere where no `rule` is needed or at hand.

        What they leave over in the next level is then known in closed form about their axis.
        """
        return False

    # --- fits -----------------------------------------------------------------------------

    def solve(
        self,
        moments: MomentStack,
        start: Array,
        support: Support | None = None,
    ) -> DualSolution:
        """Natural parameters of the rows of ``moments``, from ``start`` (B, q): Newton's method.

        ``support`` gives the directions behind a row, for those that moments do not determine.
        """

        def evaluated(lam: Array, _: IntArray | None = None) -> DenseCurvature:
            return DenseCurvature(*self.log_partition(lam))

        m = moments.features[:, : self.q]
        path = newton(evaluated, m, start)
        out = judge(path, m, evaluated(path.lam))
        out.quadrature[:] = self.stated_errors(path.lam)[0]
        out.status[out.quadrature > VERIFIED_DIFFERENCE] = Status.UNRESOLVED
        return out

    def refits(self, lam: Array) -> QuickRefits | None:
        """Quick fits of replicates about the law ``lam`` (q,); None where each takes a `solve`."""
        return None

    def deficit_on(self, reach: float, m: Array, lam: Array) -> float:
        """Deficit of the fit to ``m`` (q,) on a rule ``reach`` times as fine as what served it.

        From ``lam`` (q,). NaN where there is no such rule, or none of a ladder: see `resolved_by`.
        """
        return float("nan")

    def shared_fit(self, moments: MomentStack, shares: Array, own: int) -> GroupedFits | None:
        """The laws of samples of G groups that have the first ``own`` features for themselves.

        ``moments`` are those of all groups, sample by sample; no covariances are formed. None where
        it cannot tell these features from the others; see `fitting.grouped`.
        """
        return None

    # --- what noise gives -----------------------------------------------------------------

    def noise(self, rows: float) -> float:
        """Mean deficit of a sample of so many independent rows with nothing to find, nats.

        Of so many features that it is more than their number per 2n; NaN where it is not known.
        """
        return float("nan")

    @property
    def noise_share(self) -> float:
        """Share of features / 2n that its integration error may be; endless where it is exact.

        Less than that for a family that integrates only roughly, though well enough for samples
        that are not large.
        """
        return np.inf

    @property
    def noise_remedy(self) -> str:
        """What to do where it is more."""
        return ""

    def chi_square_lead(self, rate: float) -> float:
        """Standard deviations by which 2 a² I of this level leads its χ² law; 0 if hardly any.

        A fitted gap runs ahead of its limit where there are many features for the ``rate`` a.
        """
        return 0.0

    def draw_work(self, rows: int) -> float:
        """Work of fitting, or of making white, one drawn sample of so many rows by itself.

        In the units of `inference.effort`: ten million a second. Nothing where samples are
        fitted by the hundred on one grid, or in closed form.
        """
        return 0.0

    # --- existence ------------------------------------------------------------------------

    def contains(self, moments: MomentStack) -> IntArray:
        """A `Verdict` per row, from the moments alone: the solver decides, unless it is known."""
        return np.full(len(moments), int(Verdict.UNSURE))

    @property
    def needs_support(self) -> bool:
        """Whether the support must be looked at first, however clear the moments are.

        Where they may miss a boundary that the support shows, and the solver would be long to find
        out. One that asks `examine` itself before it searches for long needs nothing.
        """
        return False

    @property
    def examines_quickly(self) -> bool:
        """Whether `examine` takes no longer than a fit, so that every drawn sample may have it."""
        return True

    def examine(self, x: Array, weights: Array) -> Placement:
        """The exact verdict for distinct directions ``x`` (n, d) of positive ``weights``.

        That of their moments, unless it is known better.
        """
        means = (weights @ np.asarray(self.features(x)))[None]
        seen = MomentStack(means, *centred_moments(x[None], weights[None]))
        return Placement(Verdict(int(self.contains(seen)[0])))

    def examine_failed(self, x: Array) -> Placement:
        """A second look at distinct points ``x`` (n, d), by every means there is.

        For when the solver has failed. UNSURE without words: there is no more to say than at the
        first look.
        """
        return Placement(Verdict.UNSURE)

    def closest_face(self, known: Evidence, below: Closest | None) -> Closest | None:
        """The margin of the level; ``below`` is that of the level below. None where not known."""
        return None

    def margin_bound(self, known: Evidence) -> tuple[float, bool] | None:
        """At most so much is the margin, quickly, and whether it is exactly that."""
        return None

    def peak(self, f: Certificate) -> Array | None:
        """Where ``f`` of this level is largest, (d,); None where nobody looks."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class FamilyLaw:
    """One law of a family, by its exponent and its draws."""

    family: Family
    lam: Array  # (q,)
    psi: float

    def logpdf(self, x: Array) -> Array:
        """Log-density at ``x`` (n, d): (n,)."""
        return self.family.exponent(x, self.lam) - self.psi

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws, (n, d)."""
        return self.family.sample(self.lam, n, rng)

    def drawn_below(self, bound: float, space: Space, n: int, rng: np.random.Generator) -> Array:
        """``n`` draws by rejection, (n, d), where the exponent is hardly anywhere above ``bound``.

        A proposal that exceeds it all the same raises it, and all begins again.
        """

        def propose(count: int) -> tuple[Array, Array]:
            x = space.uniform(count, rng)
            return x, self.family.exponent(x, self.lam)

        return drawn_below(propose, bound, n, rng, share=float(np.exp(self.psi - bound)))
