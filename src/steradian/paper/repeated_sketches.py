"""Many sketches of one sample: what depends on the axes drawn, and p-values that do not."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from steradian.arguments import seed_number, whole_number
from steradian.data.directions import Directions
from steradian.data.source import as_rows
from steradian.decomposition import Profile, profile
from steradian.designs import Design
from steradian.errors import LevelError
from steradian.hierarchies.sketch import INVARIANCE, Sketch
from steradian.inference.gap_tests import holm
from steradian.io.records import without_nan
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, IntArray
from steradian.text.table import Column, Table

_COMBINED = (
    "p is twice the median over the sketches: valid however they depend on each other, as p-values "
    "of the same data do, and no smaller for more sketches. Holm: over the levels."
)


@dataclass(frozen=True, slots=True, eq=False)
class Sketches(LevelFrame):
    """Profiles of one sample under several sketches.

    Attributes
    ----------
    hierarchies : tuple of Sketch
        The sketches, R of them.
    deficits, gaps, quadrature : arrays, (R, L)
        Of each sketch, with its integration error; NaN where it has no fit.
    pvalues : array, (R, L)
        Of each sketch alone; NaN where the design defines none.
    design : str
        How the sample came about.

    Notes
    -----
    `pvalue` is min(1, 2 median): whatever the dependence of p-values that are each valid, twice
    their median is one (Rüschendorf 1982; Meinshausen, Meier and Bühlmann 2009). The smallest, even
    after Holm's correction over R sketches, would reward drawing axes until some fit.
    """

    _columns: ClassVar[tuple[str, ...]] = ("median", "spread", "pvalue", "pvalue_holm")

    hierarchies: tuple[Sketch, ...]
    deficits: Array
    gaps: Array
    quadrature: Array
    pvalues: Array
    design: str

    @property
    def levels(self) -> IntArray:
        """1..L."""
        return np.arange(1, self.gaps.shape[1] + 1)

    @property
    def median(self) -> Array:
        """Median gap of each level, (L,), nats."""
        return _of_columns(self.gaps, 0.5)

    @property
    def spread(self) -> Array:
        """Standard deviation of the gap over sketches, (L,), nats."""
        with np.errstate(invalid="ignore"):
            sound = np.isfinite(self.gaps)
            mean = np.where(sound, self.gaps, 0.0).sum(axis=0) / sound.sum(axis=0)
            square = np.where(sound, (self.gaps - mean) ** 2, 0.0).sum(axis=0)
            return np.asarray(np.sqrt(square / (sound.sum(axis=0) - 1.0)))

    @property
    def pvalue(self) -> Array:
        """Twice the median p-value, at most one, (L,); a sketch without a fit counts as one."""
        if np.isnan(self.pvalues).all():
            return np.full(len(self.levels), np.nan)
        return np.minimum(1.0, 2.0 * np.median(np.nan_to_num(self.pvalues, nan=1.0), axis=0))

    @property
    def pvalue_holm(self) -> Array:
        """The same after Holm's correction over the levels, (L,)."""
        return holm(self.pvalue)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        return without_nan({
            "hierarchies": [one.to_dict() for one in self.hierarchies],
            "deficits": self.deficits.tolist(),
            "gaps": self.gaps.tolist(),
            "quadrature": self.quadrature.tolist(),
            "pvalues": self.pvalues.tolist(),
            "pvalue": self.pvalue.tolist(),
            "pvalue_holm": self.pvalue_holm.tolist(),
            "design": self.design,
            "invariance": INVARIANCE,
        })  # fmt: skip

    def __str__(self) -> str:
        first = self.hierarchies[0]
        worst = [float(np.nanmax(column, initial=0.0)) for column in self.quadrature.T]
        table = Table(
            Column("level", self.levels, width=5),
            Column("features", first.dims, width=8),
            Column("median I", self.median, ".5f", 10),
            Column("", _of_columns(self.gaps, 0.25), ".5f", 10),
            Column("quartiles", _of_columns(self.gaps, 0.75), ".5f", 10),
            Column("spread", self.spread, ".2g", 9),
            Column("quad.err", worst, ".0e", 9),
            Column("p", self.pvalue, ".3g", 9),
            Column("Holm", self.pvalue_holm, ".3g", 9),
        )
        lines = [
            f"{len(self.gaps)} sketches of {first.size} random axes per degree in dimension "
            f"{first.d}, in nats; design {self.design}",
            *table.lines(),
        ]
        lost = int((~np.isfinite(self.gaps)).any(axis=1).sum())
        said = [f"{lost} sketches have no fit of every level."] if lost else []
        return "\n".join([*lines, *(textwrap.fill(s, 80) for s in (INVARIANCE, _COMBINED, *said))])

    def __repr__(self) -> str:
        return f"Sketches({len(self.gaps)} of {self.hierarchies[0]})"


def sketches(
    data: Any,
    *,
    size: int,
    levels: int = 3,
    repeats: int = 20,
    seed: int = 0,
    design: Design | str | None = None,
) -> Sketches:
    """Profile a sample under several independent sketches.

    Parameters
    ----------
    data : (n, d) array_like or Directions
        Unit vectors of four dimensions or more.
    size, levels : int
        Axes for each degree, and levels, of every `Sketch`.
    repeats : int
        Number of sketches.
    seed : int
        Of the first sketch; the others follow it.
    design : Design or str, optional
        How the sample came about, as for `profile`.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> from steradian.paper import sketches
    >>> z = np.random.default_rng(0).standard_normal((300, 4)) + [0.0, 0.0, 0.0, 0.5]
    >>> found = sketches(sr.Directions(z, normalize=True), size=3, levels=2, repeats=3)
    >>> found.gaps.shape
    (3, 2)
    """
    rows = data if isinstance(data, Directions) else as_rows(data)
    count = whole_number(repeats, "repeats", least=1)
    first = seed_number(seed)
    chosen = tuple(Sketch(rows.d, size, levels, first + k) for k in range(count))
    shape = count, levels
    deficits, gaps, errors, pvalues = (np.full(shape, np.nan) for _ in range(4))
    name = ""
    for k, one in enumerate(chosen):
        found = _profiled(rows, one, design)
        if found is None:
            continue
        name, top = found.design.name, len(found.levels)
        deficits[k, :top], gaps[k, :top] = found.deficits, found.gaps
        errors[k, :top] = found.numerics.quadrature
        if found.design.defines_inference:
            pvalues[k, :top] = found.tests().pvalue
    return Sketches(chosen, deficits, gaps, errors, pvalues, name)


def _profiled(rows: Directions, sketch: Sketch, design: Design | str | None) -> Profile | None:
    """The profile, of fewer levels where higher ones have no fit."""
    try:
        return profile(rows, hierarchy=sketch, design=design)
    except LevelError as error:
        return error.profile


def _of_columns(values: Array, share: float) -> Array:
    """Quantiles of the finite entries of each column, NaN without any."""
    columns = [column[np.isfinite(column)] for column in values.T]
    return np.array([np.quantile(each, share) if len(each) else np.nan for each in columns])
