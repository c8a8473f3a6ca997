"""What must hold for every sample, within the error that the results themselves state.

A deficit changes by ``Σ w ∇log p(x)·δx`` when its rows move by δx, to first order. A rotation
rounds every row, so two runs about rotated rows may differ by that much more: `row_rounding`.
Everything else here (mirrors, permutations, repetitions, scales) leaves the rows as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import steradian as sr
from fuzz.outcomes import EPS, Outcome, fitted, fitted_from_moments
from fuzz.samples import Array, Rng, Sample, rotation, unit
from steradian.families.base import BringsRule

CONTOUR = 1e-12  # what `FisherBingham` promises, relative to 1 + D
ALIASES = 4.0  # error of a moment of degree 2 over that of ψ: waves two degrees before the first
# that a grid takes for another, each twice as large as the next
DRAWS = 400, 40_000  # few, and where they disagree many
SELDOM = 10  # draws in places that so few are expected in may all be missing
LOOKED_AT = 48  # rows at which the steepness of a fit is measured
CLOSE = 1.0 / 3.0  # share of an allowance from which all that may cost is counted


@dataclass(frozen=True)
class Check:
    """A promise that was looked at: how much of what it allows was used, and how to say so."""

    kind: str
    level: int
    words: str
    share: float = np.inf  # of the allowance; above one the promise does not hold

    @property
    def violated(self) -> bool:
        return not self.share <= 1.0

    def __str__(self) -> str:
        where = f" (level {self.level})" if self.level else ""
        return f"{self.kind}{where}: {self.words}"


@dataclass(frozen=True, eq=False)
class Twin:
    """Another way to say the same sample, and what it may cost in rounding."""

    kind: str
    outcome: Outcome
    exact: bool = True  # whether the rows are the same numbers


def within(outcome: Outcome) -> Iterator[Check]:
    """What one result must satisfy by itself."""
    profile = outcome.profile
    if profile is None:
        return
    errors = outcome.errors
    for level, (gap, deficit) in enumerate(zip(profile.gaps, profile.deficits, strict=True), 1):
        allowed = errors[level - 1] + (errors[level - 2] if level > 1 else 0.0)
        if not np.isfinite(deficit) or not np.isfinite(errors[level - 1]):
            yield Check("not finite", level, f"D {deficit} with error {errors[level - 1]}")
        elif not gap >= 0.0:
            words = f"gap {gap:.3e}, stated error {allowed:.1e}"
            yield Check(f"gap below zero at {_group(level)}", level, words, -gap / allowed)


def mean_logpdf(sample: Sample, outcome: Outcome) -> Iterator[Check]:
    """Σ w log p(x) = D at every level, and so its differences are the gaps."""
    profile = outcome.profile
    if profile is None:
        return
    w = shares(sample)
    for level, fit in enumerate(profile.fits[1:], 1):
        value = fit.logpdf(sample.x)
        mean = float(w @ value)
        # A feature of degree l is known to l roundings, the stated error counts one of each.
        allowed = (1.0 + level) * outcome.errors[level - 1] + 8.0 * EPS * float(w @ np.abs(value))
        off = abs(mean - fit.deficit)
        if off > CLOSE * allowed:
            allowed += row_rounding(sample, outcome, level)  # of the rows' lengths
        words = f"{mean:.12g} for D {fit.deficit:.12g}, off {off:.1e}, stated {allowed:.1e}"
        yield Check(f"mean log-density at {_group(level)}", level, words, off / allowed)


def contour(sample: Sample, outcome: Outcome) -> Iterator[Check]:
    """D₂ of a grid, or of Newton's method, against the contour integral of the same law.

    The dual value is off by half the squared decrement, the deficit of the law itself to first
    order: by λ·(m − E φ) = λ' Cov step, at most the decrement times the spread of log p. So it is
    by what the grid of the fit misses of E φ, which its own mismatch does not show.
    """
    profile = outcome.profile
    if profile is None or len(profile.fits) < 3:
        return
    fit = profile.fits[2]
    assert isinstance(fit, sr.FisherBingham)
    again = sr.FisherBingham(fit.eta, fit.B)
    value = fit.logpdf(sample.x)
    deviation = np.sqrt(shares(sample) @ (value - fit.deficit) ** 2)
    allowed = outcome.errors[1] + CONTOUR * (1.0 + abs(fit.deficit))
    allowed += 2.0 * profile.numerics.decrement[1] * max(deviation, 1.0)
    allowed += ALIASES * profile.numerics.quadrature[1] * np.abs(fit.lam).sum()
    # The parameters are rounded: δD = λ' Cov δλ, at most rounding × spread of log p × size of λ.
    size = np.linalg.norm(fit.eta) + 2.0 * np.abs(np.linalg.eigvalsh(fit.B)).max()
    spread = np.sqrt(np.linalg.eigvalsh(fit.covariance())[-1])
    allowed += 4.0 * EPS * size * spread * np.sqrt(fit.space.d)
    off = abs(again.deficit - fit.deficit)
    words = f"{again.deficit:.12g} for D {fit.deficit:.12g}, off {off:.1e}, stated {allowed:.1e}"
    yield Check("contour against fit", 2, words, off / allowed)


def kullback_leibler(sample: Sample, outcome: Outcome, rng: Rng) -> Iterator[Check]:
    """KL(p_L ‖ p_{L-1}) by draws from p_L is the gap, to six standard errors.

    The spread of the log ratio is that of the draws or of the data, whichever is larger: rare
    modes hold information that few draws see. Where few disagree many are asked, and what lies
    where even many seldom come is allowed for.
    """
    profile = outcome.profile
    if profile is None:
        return
    level = int(rng.integers(1, len(profile.fits)))
    upper, lower = profile.fits[level], profile.fits[level - 1]
    gap = float(profile.gaps[level - 1])
    rows = upper.logpdf(sample.x) - lower.logpdf(sample.x)
    of_data = float(np.sqrt(shares(sample) @ (rows - gap) ** 2))
    for count in DRAWS:
        x = upper.sample(count, rng)
        if not np.abs(np.linalg.norm(x, axis=1) - 1.0).max() < 1e-9:
            yield Check("draws off the sphere", level, "norms are not one")
            return
        ratio = upper.logpdf(x) - lower.logpdf(x)
        spread = max(float(ratio.std()), of_data)
        allowed = 6.0 * spread / np.sqrt(len(x)) + outcome.errors[: level + 1].sum() + 1e-9
        if abs(ratio.mean() - gap) <= allowed:
            return
    allowed += seldom_drawn(upper, lower, gap, SELDOM / len(x))
    if abs(ratio.mean() - gap) <= allowed:
        return
    words = f"draws give {ratio.mean():.6g} ± {allowed / 6:.1e}, the gap is {gap:.6g}"
    yield Check("KL by draws", level, words)


def seldom_drawn(
    upper: sr.results.MaxEntFit, lower: sr.results.MaxEntFit, gap: float, share: float
) -> float:
    """Nats of the gap in the places of so small a share where the log ratio is furthest from it.

    A level may put a mode of 10⁻⁷ of its mass far from all rows, where the level below has a
    density of exp(−10⁶): a tenth of a nat that no number of draws one can wait for will show.
    Only laws that bring nodes of their own, those too sharp for grids, are asked.
    """
    if not isinstance(upper.law, BringsRule):
        return 0.0
    x, mass = upper.law.rule()
    off = np.abs(upper.logpdf(x) - lower.logpdf(x) - gap)
    order = np.argsort(-off)
    rare = np.cumsum(mass[order]) <= share
    return float(mass[order][rare] @ off[order][rare])


def _group(level: int) -> str:
    return f"level {level}" if level < 3 else "level 3 or more"


def shares(sample: Sample) -> Array:
    """Weights of sum one, whatever their scale."""
    if sample.weights is None:
        return np.full(sample.n, 1.0 / sample.n)
    w = sample.weights / sample.weights.max()
    return np.asarray(w / w.sum())


def compare(sample: Sample, base: Outcome, twin: Twin) -> Iterator[Check]:
    """Deficits of two ways to say the same sample, level by level."""
    both = min(len(base.deficits), len(twin.outcome.deficits))
    for k in range(both):
        allowed = base.errors[k] + twin.outcome.errors[k]
        off = abs(base.deficits[k] - twin.outcome.deficits[k])
        if off > CLOSE * allowed and not twin.exact:
            allowed += row_rounding(sample, base, k + 1)
        words = f"D {base.deficits[k]:.12g} and {twin.outcome.deficits[k]:.12g}, "
        words += f"off {off:.1e}, stated {allowed:.1e}"
        yield Check(f"{twin.kind} at {_group(k + 1)}", k + 1, words, off / allowed)


def flips(base: Outcome, twin: Twin, levels: int) -> bool:
    """Whether one of two exact ways to say a sample has a level and the other refuses it."""
    if not twin.exact:
        return False
    return min(len(base.deficits), levels) != min(len(twin.outcome.deficits), levels)


def row_rounding(sample: Sample, outcome: Outcome, level: int) -> float:
    """What rounding the rows may move a deficit by: rounding over the length scale of log p.

    The scale is the largest step across which log p changes by less than one on average.
    """
    assert outcome.profile is not None
    fit, d = outcome.profile.fits[level], sample.d
    w = shares(sample)
    rows = np.argsort(-w, kind="stable")[:LOOKED_AT]
    x, w = sample.x[rows], w[rows] / w[rows].sum()
    across = np.random.default_rng(0).standard_normal(x.shape)
    across = unit(across - np.einsum("ij,ij->i", across, x)[:, None] * x)
    here = fit.logpdf(x)
    step = 1.0
    while step > 1e-12:
        if float(w @ np.abs(fit.logpdf(unit(x + step * across)) - here)) < 1.0:
            break
        step /= 4.0
    return float(16.0 * EPS * np.sqrt(d) / step)


def _rotated(sample: Sample, rng: Rng) -> Twin:
    turned = unit(sample.x @ rotation(rng, sample.d).T)
    return Twin("rotation", fitted(sample.with_rows(turned, sample.weights)), exact=False)


def _mirrored(sample: Sample, rng: Rng) -> Twin:
    signs = rng.choice([-1.0, 1.0], sample.d)
    return Twin("mirror", fitted(sample.with_rows(sample.x * signs, sample.weights)))


def _axes_permuted(sample: Sample, rng: Rng) -> Twin:
    order = rng.permutation(sample.d)
    turned = np.ascontiguousarray(sample.x[:, order])
    return Twin("axes permuted", fitted(sample.with_rows(turned, sample.weights)))


def _rows_permuted(sample: Sample, rng: Rng) -> Twin:
    order = rng.permutation(sample.n)
    weights = None if sample.weights is None else sample.weights[order]
    return Twin("rows permuted", fitted(sample.with_rows(sample.x[order], weights)))


def _repeated(sample: Sample, rng: Rng) -> Twin:
    times = int(rng.integers(2, 4))
    weights = None if sample.weights is None else np.tile(sample.weights, times)
    return Twin("rows repeated", fitted(sample.with_rows(np.tile(sample.x, (times, 1)), weights)))


def _scaled(sample: Sample, rng: Rng) -> Twin:
    weights = np.ones(sample.n) if sample.weights is None else sample.weights
    positive = weights[weights > 0.0]
    low = -300.0 - float(np.log10(positive.min()))
    high = 308.0 - float(np.log10(positive.max()))
    scale = 10.0 ** rng.uniform(max(low, -300.0), min(high, 300.0)) if low < high else 1.0
    return Twin("weights scaled", fitted(sample.with_rows(sample.x, weights * scale)))


def _padded(sample: Sample, rng: Rng) -> Twin:
    """Rows of weight zero say nothing."""
    more = unit(rng.standard_normal((3, sample.d)))
    weights = np.ones(sample.n) if sample.weights is None else sample.weights
    padded = sample.with_rows(
        np.concatenate([more, sample.x]), np.concatenate([np.zeros(3), weights])
    )
    return Twin("rows of weight zero", fitted(padded))


def _fewer_levels(sample: Sample, rng: Rng) -> Twin:
    return Twin("fewer levels", fitted(sample, int(rng.integers(1, sample.levels + 1))))


def _moments_only(sample: Sample, rng: Rng) -> Twin:
    return Twin("moments without rows", fitted_from_moments(sample))


TWINS: dict[str, Callable[[Sample, Rng], Twin]] = {
    "rotation": _rotated,
    "mirror": _mirrored,
    "axes permuted": _axes_permuted,
    "rows permuted": _rows_permuted,
    "rows repeated": _repeated,
    "weights scaled": _scaled,
    "rows of weight zero": _padded,
    "fewer levels": _fewer_levels,
    "moments without rows": _moments_only,
}
