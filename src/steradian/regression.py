"""Regression: what depends on a covariate, and by how much. A façade over conditional fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import is_frame, real_number, shown, whole_number
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.notation import Reading
from steradian.data.source import as_source
from steradian.designs import Design
from steradian.designs.base import unit_labels
from steradian.designs.registry import design_of_rows
from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError, InvalidArgument
from steradian.fitting.covariate_basis import (
    Basis,
    Codes,
    Coordinates,
    CovariateRows,
    Own,
    Phase,
    Polynomials,
    Ranks,
    Scaled,
    Shape,
    Spline,
    Waves,
)
from steradian.fitting.covariate_levels import CovariateLevels, covariate_levels
from steradian.fitting.nested import fit_levels
from steradian.groups import Groups
from steradian.hierarchies import Hierarchy
from steradian.inference.covariate_intervals import Curve, along_curve, along_intervals, along_noise
from steradian.inference.covariate_tests import CovariateSample, RegressionTests, regression_tests
from steradian.inference.group_intervals import BetweenIntervals
from steradian.inference.monte_carlo import Replicates
from steradian.inference.sample import GroupedRows, Memo, SharedMemo
from steradian.io.frames import column, frame_of_columns
from steradian.io.records import without_nan
from steradian.notebook import NotebookView
from steradian.numerics.arrays import Array, IntArray
from steradian.references.base import reference_words, underlying
from steradian.text.messages import Row, arguments
from steradian.text.numbers import capital
from steradian.text.regression_summary import any_verdict, default_tests, headline, summarise

_CURVE = 101  # values of the covariate, unless others are given
_RARE = 2  # samples as extreme, up to which more are drawn
_LEVERAGE = 0.2  # of one row in the functions of the covariate, from which it is told
_BLOCK = 100_000  # rows whose features are summed at once
BASES = "ranks:2, degree:2, spline:4, fourier:2 (with a period), labels"


@dataclass(frozen=True, eq=False, repr=False)
class Regression(NotebookView):
    """What depends on a covariate: the information decomposition of p(x | z).

    Attributes
    ----------
    on : str
        The covariate.
    between : array, (L,)
        C_l in nats: what the dependence of level l on the covariate adds.
    total : float
        J = Σ C_l = E KL(p(x | z) ‖ p(x)) of the fits of level L.
    level1 : mapping
        C_1 in two parts, as "direction" and "concentration" on spheres; empty where it has none.
    noise : array, (L,)
        What noise alone adds to each C on average.
    fits : CovariateLevels
        The conditional fits.
    """

    sample: CovariateSample
    on: str
    covariate: Array  # (n, k)

    @property
    def hierarchy(self) -> Hierarchy:
        """The nested features."""
        return self.sample.hierarchy

    @property
    def levels(self) -> IntArray:
        """1..L."""
        return np.arange(1, self.hierarchy.levels + 1)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.sample.directions.n

    @property
    def basis(self) -> Basis:
        """The functions of the covariate."""
        return self.fits.rows.basis

    @property
    def design(self) -> Design:
        """How the rows came about."""
        return self.sample.design

    @property
    def fits(self) -> CovariateLevels:
        """The conditional fits W_0 … W_L."""
        return self.sample.levels

    @property
    def between(self) -> Array:
        """C_l, (L,), nats. Never clipped."""
        return self.fits.between

    @property
    def total(self) -> float:
        """J = Σ C_l, nats."""
        return float(self.fits.deficits[-1] - self.fits.deficits[0])

    @property
    def level1(self) -> dict[str, float]:
        """C_1 in two parts: across the mean of all rows, and along it; empty without these."""
        parts, names = self.fits.level1, self.hierarchy.level_one_parts
        if parts is None or names is None:
            return {}
        return dict(zip(names, parts.tolist(), strict=True))

    @property
    def noise(self) -> Array:
        """What noise alone adds to each C on average, (L,); NaN where nothing tells."""
        return self._answers.once("noise", self._noise)

    def _noise(self) -> Array:
        try:
            return along_noise(self.sample)
        except DesignError:
            return np.full(len(self.levels), np.nan)

    @property
    def debiased(self) -> Array:
        """C less its `noise`, (L,); not above zero where noise explains it."""
        return self.between - self.noise

    @cached_property
    def simplest(self) -> float:
        """J with the functions of lowest order alone (a line, one wave), nats."""
        return _with_functions(self.sample, self.simplest_functions)

    @property
    def simplest_functions(self) -> int:
        """How many of the K functions are of the lowest order."""
        return int(np.count_nonzero(self.basis.orders == self.basis.orders.min()))

    def tests(
        self, *, permutations: int = 9999, replicates: int = 999, seed: int = 0
    ) -> RegressionTests:
        """Test whether direction depends on the covariate, and in what.

        Parameters
        ----------
        permutations : int
            Permutations of whole units; fewer where they would take long.
        replicates, seed : int
            Samples of the bootstrap of levels above the first, where rows are few, and where all
            draws start from.

        Raises
        ------
        DesignError
            The design defines no p-value.
        """
        whole_number(permutations, "permutations", least=19)
        whole_number(replicates, "replicates", least=19)
        many = Replicates(permutations, replicates, whole_number(seed, "seed", least=0), rare=_RARE)
        return self._answers.once(many, lambda: regression_tests(self.sample, many))

    @property
    def pvalue(self) -> Array:
        """P-value of each level, (L,), by the default tests."""
        return self.tests().pvalue

    @property
    def any_pvalue(self) -> float:
        """P-value of "direction does not depend on the covariate"; NaN where it is refused."""
        return self.tests().any_pvalue

    def intervals(self, confidence: float = 0.95) -> BetweenIntervals:
        """Standard errors, intervals and debiased values of C and J."""
        return self._answers.once(
            ("intervals", confidence), lambda: along_intervals(self.sample, confidence, self.on)
        )

    def curve(self, z: ArrayLike | None = None, *, confidence: float = 0.95) -> Curve:
        """The fit of level L along the covariate: I_l, D_L, mean direction and resultant length.

        Parameters
        ----------
        z : array_like, (m,) or (m, 2), optional
            Values of the covariate; by default those of the rows; 101 from the least to
            the largest where one covariate has more.
        confidence : float
            Of the pointwise bands.
        """
        return along_curve(self.sample, self._values(z), confidence)

    def _values(self, z: ArrayLike | None) -> Array:
        basis = self.basis
        distinct = self.fits.rows.distinct[0]
        if z is None and (len(distinct) <= _CURVE or len(basis.least) > 1):
            return distinct
        if z is None:
            return np.linspace(basis.least, basis.largest, _CURVE)
        values = np.asarray(z, dtype=np.float64)
        values = values.reshape(-1, 1) if len(basis.least) == 1 else np.atleast_2d(values)
        if values.shape[1:] != basis.least.shape or not np.isfinite(values).all():
            raise InvalidArgument(
                f"z is {shown(z)}; give finite values, {len(basis.least)} for each point"
            )
        beyond = (values < basis.least) | (values > basis.largest)
        if beyond.any() and basis.bounded:
            first = float(values[beyond][0])
            raise InvalidArgument(
                f"z = {first:g} is beyond the rows, whose {self.on} is from "
                f"{basis.least[0]:g} to {basis.largest[0]:g}; the basis says nothing there"
            )
        return values

    @property
    def reading(self) -> Reading | None:
        """What was understood of the source of the rows, None where that was an array."""
        return self.sample.directions.reading

    @property
    def relative_to(self) -> str:
        """What information is relative to, in words; empty where that is the uniform law."""
        return reference_words(self.hierarchy.space)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What speaks against trusting the fits."""
        rows = self.fits.rows
        leverage = float((rows.weights * (rows.b**2).sum(axis=1)).max() - rows.weights.max())
        if leverage <= _LEVERAGE * self.basis.size:
            return ()
        data = {"leverage": leverage / self.basis.size, "on": self.on}
        return (Diagnostic("basis_leverage", data=data),)

    @cached_property
    def _answers(self) -> Memo:
        return SharedMemo()

    def named(self, on: str) -> Regression:
        """The same with a name of the covariate, for print."""
        return replace(self, on=on)

    def summary(self) -> str:
        """What ``print`` shows: what depends on the covariate, how sure that is, and a table."""
        return self._answers.once("summary", lambda: summarise(self))

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain lists, ready for JSON; NaN is None."""
        return regression_record(self)

    def to_frame(self) -> Any:
        """One row per level as a pandas frame (pandas must be installed)."""
        tests, _ = default_tests(self)
        table: dict[str, Any] = {
            "level": self.levels,
            "name": list(self.hierarchy.level_names),
            "features": list(self.hierarchy.dims),
            "between": self.between,
            "noise": self.noise,
            "debiased": self.debiased,
        }
        if tests is not None:
            found = self.intervals()
            table |= {"se": found.se, "low": found.low, "high": found.high}
            table |= {"pvalue": tests.pvalue, "pvalue_holm": tests.pvalue_holm}
        return frame_of_columns(table)

    @property
    def headline(self) -> str:
        """In what the distribution depends on the covariate, without the numbers of `summary`."""
        return self._answers.once("headline", lambda: capital(headline(self).words))

    def plot(self, ax: Any = None) -> Any:
        """Draw C of every level, and without axes the information of the fit along the covariate.

        Needs matplotlib.
        """
        from steradian.plots import along

        return along(self, ax)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        between = ", ".join(f"{c:.4g}" for c in self.between)
        return f"Regression(on {self.on}, C = [{between}] nats)"


def regression_record(r: Regression) -> dict[str, Any]:
    """Every number of a regression, ready for JSON."""
    tests, refused = default_tests(r)
    record: dict[str, Any] = {
        "on": r.on,
        "basis": r.basis.words,
        "functions": r.basis.size,
        "n": r.n,
        "space": underlying(r.hierarchy.space).name,
        "reference": r.relative_to or "uniform",
        "d": r.hierarchy.space.d,
        "hierarchy": r.hierarchy.to_dict()["kind"],
        "levels": r.levels.tolist(),
        "level_names": list(r.hierarchy.level_names),
        "dims": list(r.hierarchy.dims),
        "between": r.between.tolist(),
        "noise": r.noise.tolist(),
        "debiased": r.debiased.tolist(),
        "total": r.total,
        "simplest": r.simplest,
        "level1": r.level1,
        "error": r.fits.error,
        "design": r.design.name,
        "tests": None if tests is None else tests.to_dict(),
        "refused": None if refused is None else refused.to_dict(),
        "intervals": r.intervals().to_dict() if tests is not None else None,
        "verdict": [one.to_dict() for one in any_verdict(r, tests)],
        "diagnostics": [one.to_dict() for one in r.diagnostics],
        "read": "" if r.reading is None else r.reading.words,
        "unit": "nats",
    }
    return without_nan(record)


def regress(  # noqa: PLR0913 - one for each thing people say about rows and a covariate
    data: Any,
    *,
    on: Any,
    basis: str | int | Callable[[Any], Any] | None = None,
    period: float | None = None,
    levels: int | None = None,
    hierarchy: Hierarchy | None = None,
    weights: ArrayLike | str | None = None,
    design: Design | str | None = None,
    reference: Any = None,
) -> Regression:
    """What depends on a covariate, and by how many nats.

    Parameters
    ----------
    data : rows
        Anything `profile` takes, but moments.
    on : array_like (n,) or (n, 2), or column names
        The covariate of each row, or two of them; or labels of groups.
    basis : str, int or callable, optional
        Functions of the covariate that parameters are linear in: ``"ranks:2"`` (polynomials of
        degree 2 in mid-ranks, the default), ``"degree:2"`` or ``2`` (in its values),
        ``"spline:4"`` (natural, of ranks), ``"fourier:2"`` (needs ``period``, and is the default
        with one), ``"labels"``, or a function from values (n,) to columns (n, K).
    period : float, optional
        Of the covariate: 24 for hours.
    levels : int, optional
        Highest level; by default 2.
    weights, hierarchy, design, reference
        As in `profile`.

    Returns
    -------
    Regression

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> rng = np.random.default_rng(0)
    >>> depth = rng.uniform(0, 1, 300)
    >>> x = sr.Directions.from_angles(rng.vonmises(2 * depth, 4))
    >>> r = sr.regress(x, on=depth)
    >>> bool(abs(r.between.sum() - r.total) < 1e-9), bool(r.any_pvalue < 0.001)
    (True, True)
    """
    source = as_source(data, weights)
    if isinstance(source, Moments):
        raise InvalidArgument("moments have no rows with a covariate; give the directions")
    plan = design_of_rows(design, data, source)
    name, z, is_label = _covariate(on, data, source)
    one = Groups(("all",), GroupedRows(source, np.zeros(source.n, dtype=np.int64)), (), plan)
    wanted = one.hierarchy(levels, hierarchy, reference)
    w = _weights(source)
    rows = CovariateRows(_basis(basis, period, z, w, is_label=is_label), z, w)
    whole = fit_levels(wanted, one.moments(wanted), one.support())
    if whole.failures:
        raise whole.failures[0].error(mixing=False)
    fits = covariate_levels(wanted, whole, _moments(wanted, source, rows), rows, float(one.ess[0]))
    sample = CovariateSample(source, fits, whole, plan)
    return Regression(sample, name, z)


def _weights(source: Directions) -> Array:
    return np.asarray(source.weights / source.weights.sum(), dtype=np.float64)


def _moments(hierarchy: Hierarchy, source: Directions, rows: CovariateRows) -> Array:
    """Σ w b ⊗ φ, (K + 1, q)."""
    b, total = rows.weights[:, None] * rows.b, np.zeros((rows.basis.size + 1, 0))
    for first in range(0, source.n, _BLOCK):
        part = slice(first, first + _BLOCK)
        found = b[part].T @ np.asarray(hierarchy.features(source.x[part]))
        total = total + found if total.size else found
    return total


def _with_functions(sample: CovariateSample, count: int) -> float:
    """J of the first functions of the basis alone."""
    levels = sample.levels
    start = levels.fits[0].theta[0]
    free = np.zeros_like(levels.fits[-1].free)
    free[: 1 + count] = True
    problem = replace(levels.problem, free=free)
    found = problem.solve(levels.moments[None], start[None])
    return float(found.deficit[0] - levels.deficits[0])


# --- the covariate ----------------------------------------------------------------------------


def _covariate(on: Any, data: Any, source: Directions) -> tuple[str, Array, bool]:
    """Its name, its values (n, k), and whether they are codes of labels."""
    if _names_two(on):
        parts = [_column(one, data, source) for one in on]
        names = [one if isinstance(one, str) else f"covariate {k}" for k, one in enumerate(on, 1)]
        values = [_numbers(part, name, source.n) for part, name in zip(parts, names, strict=True)]
        if any(value is None for value in values):
            raise InvalidArgument("labels go with no second covariate; give two columns of numbers")
        return " and ".join(names), np.column_stack(values), False  # type: ignore[arg-type]
    found = np.asarray(_column(on, data, source))
    name = on if isinstance(on, str) else "the covariate"
    if found.ndim == 2 and found.shape[1] in (1, 2):
        columns = [_numbers(part, name, source.n) for part in found.T]
        return name, np.column_stack([c for c in columns if c is not None]), False
    numbers = _numbers(found, name, source.n)
    if numbers is not None:
        return name, numbers[:, None], False
    return name, unit_labels(found, source.n, name)[:, None].astype(np.float64), True


def _names_two(on: Any) -> bool:
    """Whether two covariates are given as a pair."""
    pair = isinstance(on, Sequence) and not isinstance(on, str) and len(on) == 2
    return pair and all(isinstance(one, str) or np.ndim(one) == 1 for one in on)


def _column(on: Any, data: Any, source: Directions) -> Any:
    """Values of the rows, from a column or as they are."""
    if isinstance(on, str):
        if not is_frame(data):
            raise InvalidArgument(
                f"on={on!r} names a column, but data is not a frame; pass the values themselves: "
                f"on=table[{on!r}].to_numpy()[directions.rows] for directions read from a table"
            )
        on = column(data, on)
    skipped = 0 if source.reading is None else source.reading.skipped
    if skipped and np.ndim(on) and len(on) == source.n + skipped:
        on = np.asarray(on)[source.rows]
    return on


def _numbers(values: Any, name: str, n: int) -> Array | None:
    """Finite numbers (n,); None where the values are labels."""
    found = np.asarray(values)
    if found.ndim != 1 or len(found) != n:
        raise InvalidArgument(f"{name} has shape {found.shape}; give one value per row, ({n},)")
    if found.dtype.kind == "M":
        found = np.where(np.isnat(found), np.nan, found.astype("datetime64[s]").astype(np.float64))
    if found.dtype.kind == "O":
        plain = [v is None or isinstance(v, int | float | np.number) for v in found.tolist()]
        found = found.astype(np.float64) if all(plain) else found
    if found.dtype.kind not in "fiu":
        return None
    numbers = found.astype(np.float64)
    missing = ~np.isfinite(numbers)
    if missing.any():
        count, first = int(missing.sum()), Row(int(np.argmax(missing)))
        raise InvalidArgument(
            "{name} is missing or not finite in {count} of {n} rows, {row} the first; leave these "
            "rows out",
            name=name, count=count, n=n, row=first,
        )  # fmt: skip
    return numbers


def _basis(asked: Any, period: float | None, z: Array, w: Array, *, is_label: bool) -> Basis:
    """The basis that was asked for, on these rows."""
    if (z == z[0]).all():
        raise InvalidArgument("the covariate is the same in all rows: nothing can depend on it")
    if is_label or asked == "labels":
        return _labels(asked, period, z, w)
    if callable(asked):
        own = Own.fitted(asked, z)
        return Basis.fitted(own, Polynomials(1, own.of(z[:1]).shape[1]), z, w, own.words)
    kind, size = _kind(asked, period)
    count = z.shape[1]
    if count > 1 and kind in {"spline", "fourier"}:
        raise InvalidArgument(f"basis {kind} is for one covariate; use ranks or degree for two")
    coordinates: Coordinates
    shape: Shape
    if kind == "fourier":
        coordinates, shape = Phase(_period(period)), Waves(size)
    elif kind == "spline":
        coordinates, shape = Ranks.fitted(z, w), Spline(size)
    else:
        make: Any = Ranks if kind == "ranks" else Scaled
        coordinates, shape = make.fitted(z, w), Polynomials(size, count)
    words = f"{kind}:{size}" + (f", period {period:g}" if kind == "fourier" else "")
    return Basis.fitted(coordinates, shape, z, w, words)


def _kind(asked: Any, period: float | None) -> tuple[str, int]:
    """Which functions, and how many degrees of them."""
    if asked is None:
        asked = "ranks:2" if period is None else "fourier:2"
    if isinstance(asked, int | np.integer) and not isinstance(asked, bool):
        asked = f"degree:{asked}"
    kind, _, size = str(asked).partition(":")
    default = {"ranks": 2, "degree": 2, "spline": 4, "fourier": 2}
    if kind not in default or not (size or str(default[kind])).isdigit() or size == "0":
        raise InvalidArgument(f"basis is {shown(asked)}; choose one of {BASES}, or a function")
    if (kind == "fourier") != (period is not None):
        raise InvalidArgument(
            "{period} goes with basis fourier, and fourier with a period: give both, as 24 for "
            "hours, or neither", period=arguments(period=...),
        )  # fmt: skip
    count = int(size) if size else default[kind]
    if kind == "spline" and count < 2:
        raise InvalidArgument("a spline has 2 functions or more; use ranks:1 for one")
    return kind, count


def _period(period: Any) -> float:
    found = real_number(period, "period", "give a positive number, as 24 for hours")
    if found <= 0.0:
        raise InvalidArgument(f"period is {shown(period)}; give a positive number, as 24 for hours")
    return found


def _labels(asked: Any, period: float | None, z: Array, w: Array) -> Basis:
    """Indicators of labels."""
    if asked not in (None, "labels") or period is not None or z.shape[1] > 1:
        raise InvalidArgument(
            "labels have no basis but their own; leave basis and period out, or give numbers"
        )
    seen = np.unique(z)
    return Basis.fitted(Codes(seen), Polynomials(1, len(seen) - 1), z, w, "labels")
