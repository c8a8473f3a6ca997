"""How many levels? Several answers side by side, none hidden as the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.directions import Directions
from steradian.errors import DesignError
from steradian.hierarchies import Harmonics
from steradian.inference.bias import information_traces
from steradian.inference.gap_tests import gap_tests
from steradian.inference.options import Options
from steradian.inference.sample import Sample
from steradian.inference.scores import scores_of
from steradian.inference.whitening import whitening
from steradian.moments import Moments
from steradian.nested import fit_levels
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.chi_square_mixture import mixture_sf

if TYPE_CHECKING:
    from steradian.profile import Profile

_ABOVE = 2  # levels above the highest that a residual looks at
_UNITS_PER_FEATURE = 10


@dataclass(frozen=True, eq=False, repr=False)
class OrderChoice:
    """The order each criterion chooses, 0 (uniform) to L, with what it is based on.

    Attributes
    ----------
    levels : array of int, (L + 1,)
        0..L.
    residual_pvalue : array, (L + 1,)
        Of the score test of everything above the level, up to two levels above the highest;
        the residual criterion takes the smallest level that is not rejected.
    holm_pvalue : array, (L + 1,)
        Holm-corrected p-values of the gaps (NaN at level 0); the criterion takes the highest
        level that is rejected.
    aic, bic, tic : arrays, (L + 1,)
        a² D less the number of features, half of it times log a², or tr(J⁻¹Σ), which is what
        the number of features becomes when the model is wrong. The largest wins.
    held_out, held_out_se : arrays, (L + 1,)
        Mean log-density of held-out units under fits to the others, nats, and the standard
        error of its difference to the best. The largest wins.
    chosen : dict of str to int or None
        The order by each criterion; None where it cannot be told.
    """

    levels: IntArray
    residual_pvalue: Array
    holm_pvalue: Array
    aic: Array
    bic: Array
    tic: Array
    held_out: Array
    held_out_se: Array
    chosen: dict[str, int | None]
    alpha: float

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        arrays = {k: getattr(self, k).tolist() for k in (*_CRITERIA, "levels", "held_out_se")}
        return {**arrays, "chosen": dict(self.chosen), "alpha": self.alpha}

    def __repr__(self) -> str:
        return f"OrderChoice({', '.join(f'{k}: {v}' for k, v in self.chosen.items())})"

    def __str__(self) -> str:
        names = ("residual", "holm", "aic", "bic", "tic", "held_out")
        lines = [
            f"Order by each criterion (tests at {self.alpha:g}); * marks the choice",
            f"{'level':>5} {'residual p':>12} {'Holm p':>12} {'AIC':>12} {'BIC':>12} {'TIC':>12} "
            f"{'held out':>12}",
        ]
        for k, level in enumerate(self.levels):
            cells = []
            for name, column in zip(names, _CRITERIA, strict=True):
                mark = "*" if self.chosen[name] == level else " "
                cells.append(f"{getattr(self, column)[k]:>11.4g}{mark}")
            lines.append(f"{level:>5} " + " ".join(cells))
        return "\n".join(lines)


_CRITERIA = ("residual_pvalue", "holm_pvalue", "aic", "bic", "tic", "held_out")


def choose_order(
    profile: Profile, *, alpha: float = 0.05, folds: int = 10, seed: int = 0
) -> OrderChoice:
    """How many levels the data support, by every criterion, side by side.

    Parameters
    ----------
    profile : Profile
        Of directions, with a design that has units.
    alpha : float
        Size of the tests among the criteria.
    folds : int
        Of the held-out log score; whole units are held out.
    seed : int
        Of the split into folds.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("turtles"), levels=3)
    >>> sr.choose_order(p).chosen["bic"]
    2
    """
    return order_choice(profile.as_sample(), alpha, folds, seed)


def order_choice(sample: Sample, alpha: float, folds: int, seed: int) -> OrderChoice:
    """Every criterion for the levels 0..L of a sample."""
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha is {alpha}; give a number between 0 and 1, like 0.05")
    units = sample.units
    if not 2 <= folds <= units.count:
        raise ValueError(f"folds is {folds}; give 2 to {units.count}, the number of units")
    top = len(sample.nested.solutions)
    deficits = np.concatenate([[0.0], sample.nested.deficits[0]])
    sizes = np.concatenate([[0.0], np.cumsum(sample.hierarchy.dims[:top])])
    rate2 = sample.rate**2
    residual = np.array([_residual_pvalue(sample, level) for level in range(top + 1)])
    holm = np.concatenate([[np.nan], gap_tests(sample, Options()).pvalue_holm])
    held_out, se = _held_out(sample, folds, seed)
    criteria = {
        "aic": rate2 * deficits - sizes,
        "bic": rate2 * deficits - 0.5 * sizes * np.log(rate2),
        "tic": rate2 * deficits - _traces(sample),
        "held_out": held_out,
    }
    chosen = {
        "residual": _first_not_rejected(residual, alpha),
        "holm": max(np.flatnonzero(holm < alpha).tolist(), default=0),
        **{name: _largest(values) for name, values in criteria.items()},
    }
    return OrderChoice(
        levels=np.arange(top + 1),
        residual_pvalue=residual,
        holm_pvalue=holm,
        held_out_se=se,
        chosen=chosen,
        alpha=alpha,
        **criteria,
    )


def _first_not_rejected(pvalues: Array, alpha: float) -> int | None:
    """Index of the first p-value that is not small; None when that is not known."""
    for index, pvalue in enumerate(pvalues.tolist()):
        if np.isnan(pvalue):
            return None
        if pvalue >= alpha:
            return index
    return None


def _largest(values: Array) -> int | None:
    return None if np.isnan(values).any() else int(np.argmax(values))


def _residual_pvalue(sample: Sample, level: int) -> float:
    """Score test of all features above ``level``, up to `_ABOVE` levels above the highest."""
    d, top = sample.hierarchy.d, len(sample.nested.solutions)
    highest = top + _ABOVE if d <= 3 else 2
    if level >= highest:
        return float("nan")
    units, wide = sample.units, Harmonics(d, highest)
    if d > 3 and level == 0:
        first = gap_tests(sample, Options()).pvalue[:1]
        both = [*first.tolist(), *([_residual_pvalue(sample, 1)] if top > 1 else [])]
        return float(min(1.0, len(both) * min(both)))  # level 2 is judged from level 1
    features = wide.space.size(highest) - 1
    if features >= units.count // 2:
        return float("nan")
    white = whitening(wide, highest, sample.parameters(level))
    scores = scores_of(sample.rows, units, white)
    tilted = features * _UNITS_PER_FEATURE <= units.count and units.strata is None
    coefficients = scores.coefficients("tilted" if tilted else "null")
    return float(mixture_sf(scores.statistic, coefficients, scores.dof)[0])


def _traces(sample: Sample) -> Array:
    """tr(J⁻¹ Σ) of each level, 0 first; NaN where the matrices are not formed."""
    return np.concatenate([[0.0], sample.rate**2 * information_traces(sample)])


def _held_out(sample: Sample, folds: int, seed: int) -> tuple[Array, Array]:
    """Mean held-out log-density of levels 0..L, and the error of each difference to the best."""
    units, rows = sample.units, sample.rows
    top = len(sample.nested.solutions)
    fold = np.random.default_rng(seed).permutation(np.arange(units.count) % folds)
    of_row = fold if units.labels is None else fold[units.labels]
    hierarchy = Harmonics(rows.d, top)
    logs = np.zeros((rows.n, top + 1))
    for k in range(folds):
        out = of_row == k
        kept = Directions(rows.x[~out], rows.weights[~out] if rows.weighted else None)
        moments = Moments.from_directions(kept, hierarchy)
        nested = fit_levels(hierarchy, moments.stack())
        if nested.failures:
            raise DesignError(
                f"a fold without {int(out.sum())} of the {rows.n} rows has no fit at level "
                f"{nested.failures[0].level}; use fewer folds or levels"
            )
        for level, solution in enumerate(nested.solutions, start=1):
            exponent = hierarchy.family(level).exponent(rows.x[out], solution.lam[0])
            logs[out, level] = exponent - solution.psi[0]
    means = units.weights @ logs
    best = int(np.argmax(means))
    return means, np.sqrt(units.variance(logs - logs[:, best : best + 1]))
