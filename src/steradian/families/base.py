"""The seam of a level: its `Family` of laws, and one `Law` of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.existence.certificate import Certificate
from steradian.existence.margin import Closest, Evidence
from steradian.existence.placement import Placement
from steradian.families.whitening import Whitening
from steradian.fitting.grouped import GroupedFits, LogPartition
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import Array, BoolArray, IntArray

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy


@runtime_checkable
class HeldToNoise(Protocol):
    """A family that integrates only roughly, though well enough for samples that are not large."""

    @property
    def noise_share(self) -> float:
        """Share of features / 2n that its integration error may be."""
        ...

    @property
    def noise_remedy(self) -> str:
        """What to do where it is more."""
        ...


@runtime_checkable
class StatesErrors(Protocol):
    """A family whose integrals are off by more than rounding, and that says by how much."""

    def stated_errors(self, lam: Array) -> tuple[Array, Array]:
        """Three standard errors of ψ (B,) and of the means (B, q) of the laws ``lam`` (B, q)."""
        ...


class FitsPlainly(Protocol):
    """A family that fits most single samples at once, and verifies what it finds.

    A fit that was found and verified exists, so that nobody need look at existence before.
    """

    def plain_fit(self, moments: MomentStack, below: DualSolution | None) -> DualSolution | None:
        """The fit to a stack of one, from that of the level ``below``; None at the lowest.

        Converged and verified. None where that takes more, as where there may be no fit.
        """
        ...


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


@runtime_checkable
class KnowsNoise(Protocol):
    """A family with so many features that what noise gives is more than its number per 2n."""

    def noise(self, rows: float) -> float:
        """Mean deficit of a sample of so many independent rows with nothing to find, nats.

        NaN where it is not known.
        """
        ...


@runtime_checkable
class WideCovariance(Protocol):
    """A family that knows the covariance of many wider features without their values at nodes."""

    def wide_covariance(self, lam: Array, wide: Hierarchy) -> tuple[Array, Array] | None:
        """Mean (q_wide,) and covariance (q_wide, q_wide) of all features of ``wide``.

        Under one law ``lam`` (q,). None where `Family.rule` serves as well, or better.
        """
        ...


@runtime_checkable
class SharesParameters(Protocol):
    """A family that fits several groups with common parameters without forming its covariance."""

    def shared_fit(self, moments: MomentStack, shares: Array, own: int) -> GroupedFits | None:
        """The laws of G groups that have the first ``own`` features for themselves.

        None where it cannot tell these features from the others; see `fitting.grouped`.
        """
        ...

    def shared_deficits(self, moments: MomentStack, shares: Array, own: int) -> Array:
        """Deficits (S,) of such fits to S samples of G groups each, sample by sample in a stack.

        Good to what a comparison of samples needs; NaN where no quick way finds one.
        """
        ...


@runtime_checkable
class LooksRoughly(Protocol):
    """A family of one rung (`Family.resolved_by`) with quicker integrals for first steps."""

    def roughly(self) -> LogPartition | None:
        """Integrals of a few digits; None where they would not be quicker."""
        ...

    def resolves(self, lam: Array, psi: Array) -> bool:
        """Whether its rung resolves all laws ``lam`` (B, q) of ``psi`` (B,)."""
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


class Family(Protocol):
    """The exponential family of one level; everything takes and gives stacks.

    What a family cannot do it says: `has_rule`, `closed_leftover` and the methods that may answer
    None are capabilities, and the caller does without or refuses in one sentence. `BareFamily`
    (`families/bare.py`) answers for a family that has none of the closed forms.
    """

    @property
    def q(self) -> int:
        """Number of features."""
        ...

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ (B,), mean (B, q) and covariance (B, q, q) of the features at ``lam`` (B, q)."""
        ...

    def contains(self, moments: MomentStack) -> IntArray:
        """A `Verdict` per row, from the moments alone."""
        ...

    @property
    def needs_support(self) -> bool:
        """Whether the support must be looked at first, however clear the moments are.

        Where they may miss a boundary that the support shows, and the solver would be long to find
        out. One that asks `examine` itself before it searches for long needs nothing.
        """
        ...

    def examine(self, x: Array, weights: Array) -> Placement:
        """The exact verdict for distinct directions ``x`` (n, d) of positive ``weights``."""
        ...

    def exponent(self, x: Array, lam: Array) -> Array:
        """λ·φ(x) of one law ``lam`` (q,) at ``x`` (n, d): (n,)."""
        ...

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws from one law ``lam`` (q,): (n, d)."""
        ...

    @property
    def forms_matrices(self) -> bool:
        """Whether q × q matrices of this level are formed: there are not too many features."""
        ...

    def whitening(self, below: Array) -> Whitening:
        """White features of this level under the fits ``below`` (B, q_below) of the level below.

        ``below`` has no columns where that is the reference law itself. A family that forms its
        covariance has them from `formed_whitening`.
        """
        ...

    @property
    def examines_quickly(self) -> bool:
        """Whether `examine` takes no longer than a fit, so that every drawn sample may have it."""
        ...

    def chi_square_lead(self, rate: float) -> float:
        """Standard deviations by which 2 a² I of this level leads its χ² law; 0 if hardly any.

        A fitted gap runs ahead of its limit where there are many features for the ``rate`` a.
        """
        ...

    def draw_work(self, rows: int) -> float:
        """Work of fitting, or of making white, one drawn sample of so many rows by itself.

        In the units of `inference.effort`: ten million a second. Nothing where samples are
        fitted by the hundred on one grid, or in closed form.
        """
        ...

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """Natural parameters of the rows of ``moments``, from ``start`` (B, q).

        ``support`` gives the directions behind a row, for those that moments do not determine.
        """
        ...

    @property
    def has_rule(self) -> bool:
        """Whether `rule` integrates against its laws."""
        ...

    def resolved_by(self, rung: int) -> Family:
        """The same family, asked only about laws that ``rung`` of its ladder of rules resolves.

        That is what `DualSolution.rungs` holds of a fit; nothing climbs the ladder again. Itself
        for `NO_RUNG`, and where there is no ladder.
        """
        ...

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        """Nodes (N, d) and masses (N,) of sum one: what integrates against one law ``lam`` (q,).

        Good for features up to level ``degree`` times the density.
        """
        ...

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """E φ of the laws ``lam`` (B, q) for all features of ``wide``: (B, q_wide)."""
        ...

    def deficit_on(self, reach: float, m: Array, lam: Array) -> float:
        """Deficit of the fit to ``m`` (q,) on a rule ``reach`` times as fine as what served it.

        From ``lam`` (q,). NaN where there is no such rule, or none of a ladder: see `resolved_by`.
        """
        ...

    def refits(self, lam: Array) -> QuickRefits | None:
        """Quick fits of replicates about the law ``lam`` (q,); None where each takes a `solve`."""
        ...

    @property
    def closed_leftover(self) -> bool:
        """Whether its laws are exp(η·x) on a unit sphere where no `rule` is needed or at hand.

        What they leave over in the next level is then known in closed form about their axis.
        """
        ...

    def natural(self, lam: Array) -> tuple[Array, Array] | None:
        """η (d,) and B (d, d) of one law exp(η·x + xᵀBx) of unit vectors; None for other laws."""
        ...

    def examine_failed(self, x: Array) -> Placement:
        """A second look at distinct points ``x`` (n, d), by every means there is.

        For when the solver has failed. UNSURE without words: there is no more to say than at the
        first look.
        """
        ...

    def closest_face(self, known: Evidence, below: Closest | None) -> Closest | None:
        """The margin of the level; ``below`` is that of the level below. None where not known."""
        ...

    def margin_bound(self, known: Evidence) -> tuple[float, bool] | None:
        """At most so much is the margin, quickly, and whether it is exactly that."""
        ...

    def peak(self, f: Certificate) -> Array | None:
        """Where ``f`` of this level is largest, (d,); None where nobody looks."""
        ...
