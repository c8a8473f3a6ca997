"""What a reference that is itself a sample adds to scores, and to the variance of gaps.

With n₀ rows y in the place of p₀ the means of a fit p ∝ p₀ exp(λ·φ) are Σ_j φ(y_j) p/p₀ over the
rows. The score r of the added features is taken about them, and so gains the variance

    Var_{p₀}( (p / p₀)(y) ζ(y) ) / n₀,

ζ the white added features. They are white, and free of the b features below, by the same rows: as
in a regression, a row of high leverage h in the features below shows too little of its error, and
the fit below brings its own, so that ζ / (1 - h) stands for ζ, as in HC3 (MacKinnon and White, J.
Econometrics 29, 1985); and a covariance of q features from ν = n₀ - 1 - b degrees of freedom makes
of χ²_q Hotelling's law, ν / (ν - q + 1) with ν - q + 1 degrees of freedom. Only the share s of the
variance that is the reference's counts so: (ν - q + 1) / s² in all (Satterthwaite).

Groups that are compared share their reference: what it misses is the same for all that have one
law, so that it is felt above level 1 alone, where groups differ below.

**Deficits and gaps.** With n₀ rows in the place of p₀ the log-partition of a fit is log Σ_j
exp(λ·φ(y_j)) / n₀, whose error is that of the mean of p_L / p₀ over the rows: D_L gains the
variance Var_{p₀}(p_L / p₀) / n₀, and I_L gains Var_{p₀}((p_L - p_{L-1}) / p₀) / n₀.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError
from steradian.inference.basis_whitening import BasisWhitening
from steradian.inference.sample import GroupedSample, Sample
from steradian.inference.scores import FEWEST_ROWS, Covariance, Scores
from steradian.numerics.arrays import Array
from steradian.numerics.linalg import eigenvalues
from steradian.references.base import reference_rows
from steradian.spaces import Space

_PER_FEATURE = 20  # rows of a reference below which tests were seen to reject too often
_LEAST_KEPT = 0.1  # of the error of a row of the reference that a fit rests on alone


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceSpread:
    """The part of the covariance of a r that is the reference's."""

    added: Array  # (q, q)
    own_share: float  # of the sample's own part, as it is estimated, in that covariance
    dof: float  # of the added part

    def coefficients(self, scores: Scores, kind: Covariance) -> tuple[Array, float]:
        """Eigenvalues (q,) of ½ Ω in descending order, and degrees of freedom of its scale."""
        rows = scores.spread_out(kind)[0]
        whole = self.own_share * (rows.T @ rows) + self.added
        share = float(np.trace(self.added) / np.trace(whole))
        dof = self.dof / share**2 if share > 0.0 else np.inf
        found = np.maximum(eigenvalues(0.5 * whole[None])[0, ::-1], 0.0)
        return found, min(dof, scores.tail_dof(kind))


def of_sample(sample: Sample, level: int) -> ReferenceSpread | None:
    """For the test of one level of a sample; None for a reference that is known exactly."""
    space = sample.hierarchy.space
    rows = reference_rows(space)
    if np.isinf(rows):
        return None
    rule = space.rule(space.rules() - 1)
    white, lam = sample.whitening(level), sample.parameters(level - 1)
    check_rows(rows, white.below + white.q)
    zeta = white.rows(rule.points[None])[0]
    phi = np.asarray(sample.hierarchy.features(rule.points))[:, : lam.shape[1]]
    h = _errors(rule.weights, phi @ lam[0], zeta, white.below)
    added, dof = _small(rule.weights, h, rows, white.below)
    return ReferenceSpread(sample.rate**2 * added, sample.own_share, dof)


def of_groups(sample: GroupedSample, lam: Array, white: BasisWhitening) -> ReferenceSpread | None:
    """For a step of a comparison with laws ``lam`` (G, q) of the groups below it."""
    space = sample.hierarchy.space
    rows = reference_rows(space)
    if np.isinf(rows):
        return None
    rule = space.rule(space.rules() - 1)
    below = white.step.own
    check_rows(rows, below + white.step.added)
    phi = np.asarray(sample.hierarchy.features(rule.points))
    h = np.zeros((len(phi), white.added))
    for group, share in enumerate(sample.shares):
        zeta = white.rows(phi[None], np.full(len(phi), group))[0]
        h += share * _errors(rule.weights, phi @ lam[group], zeta, white.below, share)
    added, dof = _small(rule.weights, h, rows, below)
    return ReferenceSpread(sample.rate**2 * added, 1.0, dof)


def check_rows(rows: float, features: int) -> None:
    """Refuse a reference that tells too little about so many features."""
    if rows < FEWEST_ROWS * features + 1:
        raise DesignError(
            f"the reference is a sample worth {rows:.0f} rows, and the level has {features} "
            "features: too few to know what it is tested against; give a larger reference, or ask "
            "for fewer levels"
        )


def few_rows(level: int, space: Space, features: int) -> tuple[Diagnostic, ...]:
    """Where the law of a test rests on few rows of the reference for each feature."""
    rows = reference_rows(space)
    if rows >= _PER_FEATURE * features:
        return ()
    needed = _PER_FEATURE * features
    data = {"rows": float(rows), "features": int(features), "each": _PER_FEATURE}
    return (Diagnostic("few_reference_rows", level, {**data, "needed": int(needed)}),)


def _errors(weights: Array, exponent: Array, zeta: Array, below: int, share: float = 1.0) -> Array:
    """(p / p₀)(y) (ζ(y) - E_p ζ) / (1 - h) of rows with weights of sum one, (n₀, q)."""
    mass = weights * np.exp(exponent - exponent.max())
    mass /= mass.sum()
    first, added = zeta[:, :below], zeta[:, below:]
    leverage = share * mass * (1.0 + np.einsum("np,np->n", first, first))
    kept = np.maximum(1.0 - leverage, _LEAST_KEPT)
    return np.asarray((mass / weights / kept)[:, None] * (added - mass @ added))


def _small(weights: Array, h: Array, rows: float, below: int) -> tuple[Array, float]:
    """Var(h) / n₀ with its factors for small n₀, and its degrees of freedom."""
    left = rows - 1.0 - below
    dof = max(left - h.shape[1] + 1.0, 1.0)
    away = h - weights @ h
    return left / dof / rows * (away.T @ (weights[:, None] * away)), dof


def reference_variance(sample: Sample) -> tuple[Array, Array]:
    """Of the gaps and of the deficits, (L,) each; nothing where the reference is known."""
    levels, space = len(sample.nested.solutions), sample.hierarchy.space
    rows = reference_rows(space)
    if np.isinf(rows):
        return np.zeros(levels), np.zeros(levels)
    rule = space.rule(space.rules() - 1)
    phi = np.asarray(sample.hierarchy.features(rule.points))
    ratios = [np.ones(len(phi))]
    for solution in sample.nested.solutions:
        lam = solution.lam[0]
        ratios.append(np.exp(phi[:, : len(lam)] @ lam - solution.psi[0]))
    ratio = np.column_stack(ratios)
    steps = np.diff(ratio, axis=1)
    return _variance(rule.weights, steps) / rows, _variance(rule.weights, ratio[:, 1:]) / rows


def between_variance(sample: GroupedSample) -> tuple[Array, float]:
    """Of C_l (L,) and of J = Σ C_l: Var_{p₀}(Σ_g π_g (p_{l,g} - p_{l-1,g}) / p₀) / n₀.

    p_{l,g} are the laws of the groups in W_l (`fitting.label_levels`), whose Σ_g π_g ψ_g the rows
    of the reference change by the mean of Σ_g π_g p_{l,g} / p₀ over them.
    """
    space, fits = sample.hierarchy.space, sample.levels.fits
    rows = reference_rows(space)
    if np.isinf(rows):
        return np.zeros(len(fits) - 1), 0.0
    rule = space.rule(space.rules() - 1)
    phi = np.asarray(sample.hierarchy.features(rule.points))
    ratio = np.column_stack([
        np.exp(phi @ fit.lam[0].T - fit.psi[0]) @ sample.shares for fit in fits
    ])  # fmt: skip
    steps, whole = np.diff(ratio, axis=1), ratio[:, -1:] - ratio[:, :1]
    return _variance(rule.weights, steps) / rows, float(_variance(rule.weights, whole)[0] / rows)


def _variance(weights: Array, values: Array) -> Array:
    """Of the columns of ``values`` (n, k) under weights (n,) of sum one: (k,)."""
    away = values - weights @ values
    return np.asarray(weights @ (away * away))
