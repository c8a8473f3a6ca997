"""How many levels? Several answers side by side, none hidden as the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steradian.adequacy.calibration import Calibration
from steradian.adequacy.residuals import Residuals, harmonic_residuals
from steradian.arguments import checked_profile, open_share, seed_number, whole_number
from steradian.data.moments import Moments
from steradian.data.source import support_of
from steradian.diagnostics import Diagnostic
from steradian.errors import InvalidArgument, SteradianError
from steradian.fitting.nested import fit_levels
from steradian.inference.bias import information_traces
from steradian.inference.effort import WAITING, Patience
from steradian.inference.gap_tests import gap_tests
from steradian.inference.sample import Sample
from steradian.inference.score_tests import Options
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import BEYOND_DOUBT
from steradian.progress import tracked
from steradian.text.table import Column, Table

if TYPE_CHECKING:
    from steradian.decomposition import Profile


_FOLDS = 10
_MOST_HELD_OUT = 2e8  # of folds that are fitted on meshes, see `Sample.refit_work`: ten seconds


@dataclass(frozen=True, eq=False, repr=False)
class OrderChoice(LevelFrame):
    """The order each criterion chooses, 0 (uniform) to L, with what it is based on.

    Attributes
    ----------
    levels : array of int, (L + 1,)
        0..L.
    residual_pvalue : array, (L + 1,)
        Those of `Profile.residuals`, with level 0 (uniform) before them: is anything left above
        the level? The residual criterion takes the smallest level that is not rejected.
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
    diagnostics : tuple of Diagnostic
        What speaks against trusting a p-value.
    """

    _columns: ClassVar[tuple[str, ...]] = (
        "residual_pvalue",
        "holm_pvalue",
        "aic",
        "bic",
        "tic",
        "held_out",
        "held_out_se",
    )

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
    diagnostics: tuple[Diagnostic, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        arrays = {k: getattr(self, k).tolist() for k in (*_CRITERIA, "levels", "held_out_se")}
        said = [one.to_dict() for one in self.diagnostics]
        return {**arrays, "chosen": dict(self.chosen), "diagnostics": said, "alpha": self.alpha}

    def __repr__(self) -> str:
        return f"OrderChoice({', '.join(f'{k}: {v}' for k, v in self.chosen.items())})"

    def plot(self, ax: Any = None) -> Any:
        """Draw what each criterion chooses on axes, new ones unless given (needs matplotlib)."""
        from steradian.plots import order_criteria

        return order_criteria(self, ax)

    def __str__(self) -> str:
        names = ("residual", "holm", "aic", "bic", "tic", "held_out")
        titles = ("residual p", "Holm p", "AIC", "BIC", "TIC", "held out")
        table = Table(
            Column("level", self.levels, width=5),
            *(
                Column(title, self._marked(name, getattr(self, column)), width=12)
                for title, name, column in zip(titles, names, _CRITERIA, strict=True)
            ),
        )
        title = f"Order by each criterion (tests at {self.alpha:g}); * marks the choice"
        return "\n".join([title, str(table), *(f"! {one}" for one in self.diagnostics)])

    def _marked(self, name: str, values: Array) -> list[str]:
        """Numbers, of which the one of the level that is chosen has a star."""
        marks = ("*" if self.chosen[name] == level else " " for level in self.levels)
        return [f"{value:.4g}{mark}" for value, mark in zip(values, marks, strict=True)]


_CRITERIA = ("residual_pvalue", "holm_pvalue", "aic", "bic", "tic", "held_out")


def choose_order(
    profile: Profile, *, alpha: float = 0.05, folds: int | None = None, seed: int = 0
) -> OrderChoice:
    """How many levels the data support, by every criterion, side by side.

    Parameters
    ----------
    profile : Profile
        Of directions, with a design that has units.
    alpha : float
        Size of the tests among the criteria.
    folds : int, optional
        Of the held-out log score; whole units are held out. By default 10, or as many as there
        are units.
    seed : int
        Of the split into folds.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("turtles"), levels=3)
    >>> sr.choose_order(p).chosen["bic"]
    2
    """
    return order_choice(checked_profile(profile).as_sample(), alpha, folds, seed)


def order_choice(sample: Sample, alpha: float, folds: int | None, seed: int) -> OrderChoice:
    """Every criterion for the levels 0..L of a sample."""
    alpha, seed = open_share(alpha, "alpha", 0.05), seed_number(seed)
    units = sample.units
    folds = min(_FOLDS, units.count) if folds is None else whole_number(folds, "folds", least=0)
    if not 2 <= folds <= units.count:
        raise InvalidArgument(f"folds is {folds}; give 2 to {units.count}, the number of units")
    top = len(sample.nested.solutions)
    deficits = np.concatenate([[0.0], sample.nested.deficits[0]])
    sizes = np.concatenate([[0.0], np.cumsum(sample.hierarchy.dims[:top])])
    rate2 = sample.rate**2
    residuals = harmonic_residuals(sample, None, "unit", Calibration(), from_level=0)
    corrected, said = _holm(sample)
    held_out, se, left_out = _held_out(sample, folds, seed)
    criteria = {
        "aic": rate2 * deficits - sizes,
        "bic": rate2 * deficits - 0.5 * sizes * np.log(rate2),
        "tic": rate2 * deficits - _traces(sample),
        "held_out": held_out,
    }
    told = [level for level in range(top + 1) if sample.untold(level) is None]
    chosen = {
        "residual": _first_adequate(residuals, alpha),
        "holm": None if np.isnan(corrected).all() else _highest_proven(corrected, alpha),
        **{name: _largest(values[: len(told)]) for name, values in criteria.items()},
    }
    untold = sample.untold(top)
    first = () if untold is None else (untold,)
    return OrderChoice(
        levels=np.arange(top + 1),
        residual_pvalue=residuals.pvalue,
        holm_pvalue=np.concatenate([[np.nan], corrected]),
        held_out_se=se,
        chosen=chosen,
        alpha=alpha,
        diagnostics=(*first, *said, *left_out, *residuals.diagnostics),
        **criteria,
    )


def _first_adequate(residuals: Residuals, alpha: float) -> int | None:
    """The first level whose residual is not rejected; None when that cannot be told."""
    for level, one in zip(residuals.levels.tolist(), residuals.judged, strict=True):
        if np.isnan(one.pvalue) or (one.resting is not None and one.pvalue >= BEYOND_DOUBT):
            return None
        if one.pvalue >= alpha:
            return int(level)
    return None


def _highest_proven(corrected: Array, alpha: float) -> int:
    return max((np.flatnonzero(corrected < alpha) + 1).tolist(), default=0)


def _holm(sample: Sample) -> tuple[Array, list[Diagnostic]]:
    """Holm-corrected p-values of the gaps, (L,): those of `Profile.tests`; NaN, with the work that
    they take, where that is more than somebody waits for.
    """
    top = len(sample.nested.solutions)
    try:
        found = gap_tests(sample, Options(patience=Patience(WAITING)))
    except SteradianError as error:
        return np.full(top, np.nan), [error.diagnostic]
    except np.linalg.LinAlgError:
        return np.full(top, np.nan), [Diagnostic("no_corrected_pvalue")]
    if not found.later:
        return found.pvalue_holm, []
    data = {"why": found.left_open.nested}
    return found.pvalue_holm, [Diagnostic("corrected_pvalue_left_open", data=data)]


def _largest(values: Array) -> int | None:
    return None if np.isnan(values).any() else int(np.argmax(values))


def _traces(sample: Sample) -> Array:
    """tr(J⁻¹ Σ) of each level, 0 first; NaN where the matrices are not formed."""
    return np.concatenate([[0.0], sample.rate**2 * information_traces(sample)])


def _held_out(sample: Sample, folds: int, seed: int) -> tuple[Array, Array, list[Diagnostic]]:
    """Mean held-out log-density of levels 0..L, and the error of each difference to the best.

    NaN with the reason where a fold has no fit, or too many take long.
    """
    units, rows = sample.units, sample.rows
    top = len(sample.nested.solutions)
    none = np.full(top + 1, np.nan)
    if folds * sum(sample.refit_work(level) for level in range(top + 1)) > _MOST_HELD_OUT:
        return none, none, [Diagnostic("held_out_not_computed", data={"folds": int(folds)})]
    fold = np.random.default_rng(seed).permutation(np.arange(units.count) % folds)
    of_row = fold if units.labels is None else fold[units.labels]
    hierarchy = sample.moments.hierarchy.up_to(top)
    logs = np.zeros((rows.n, top + 1))
    for k in tracked(range(folds), folds, "held-out scores"):
        out = of_row == k
        kept = rows.take(~out)
        moments = Moments.from_directions(kept, hierarchy)
        nested = fit_levels(hierarchy, moments.stack(), support_of(kept))
        if nested.failures:
            level = int(nested.failures[0].level)
            data = {"rows": int(out.sum()), "of": int(rows.n), "of_level": level}
            return none, none, [Diagnostic("fold_without_fit", data=data)]
        for level, solution in enumerate(nested.solutions, start=1):
            law = solution.laws[0] or hierarchy.family(level).law(
                solution.lam[0], float(solution.psi[0])
            )
            logs[out, level] = law.logpdf(rows.x[out])
    means = units.weights @ logs
    best = int(np.argmax(means))
    return means, np.sqrt(units.variance(logs - logs[:, best : best + 1])), []
