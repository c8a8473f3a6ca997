"""Many weightings of the same points at once: attention heads, queries, replicates."""

from __future__ import annotations

import os
import textwrap
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import seed_number, whole_number
from steradian.data.directions import Directions
from steradian.data.source import as_rows, first_levels, refuse_unfittable
from steradian.data.stacks import MomentStack, SharedPoints, support_of_weighting
from steradian.data.weightings import GivenRows, WeightingBlock, block_count, given_rows, rows_of
from steradian.errors import InvalidArgument, InvalidDirections, SteradianError
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.fitting.shrinkage import Shrinkage, as_shrinkage
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.registry import default_hierarchy
from steradian.io.frames import frame_of_columns
from steradian.notebook import NotebookView
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import CLEAR_RISE
from steradian.progress import tracked
from steradian.relative import relative_hierarchy
from steradian.spaces import Space
from steradian.text.messages import arguments
from steradian.text.numbers import sentence
from steradian.text.table import Column, Table

_ALPHA = 0.05  # of the p-values that are counted in print


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profiles(NotebookView):
    """Profiles of B weightings; row b is NaN from its failing level on.

    Attributes
    ----------
    deficits, gaps, uncertainty : arrays, (B, L)
        D, I and U = exp(-D), in nats.
    ess : array, (B,)
        Kish's effective sample size of each weighting (weight concentration).
    residual, quadrature : arrays, (B, L)
        Largest moment mismatch, and estimated numerical error in nats.
    failures : mapping from row to SteradianError
        Rows whose levels do not all exist, and rows that are no weighting, and why.
    dims : array of int, (L,)
        Features each level adds.
    shrinkage : Shrinkage or None
        What was mixed into every weighting.
    null : Permutation or None
        What the gaps were compared with.
    pvalue, null_mean : arrays, (B, L)
        Share of shuffles with a gap at least as large, itself counted, and the mean of their gaps;
        NaN without a null.
    """

    deficits: Array
    gaps: Array
    uncertainty: Array
    ess: Array
    residual: Array
    quadrature: Array
    failures: Mapping[int, SteradianError]
    dims: IntArray
    shrinkage: Shrinkage | None
    null: Permutation | None
    pvalue: Array
    null_mean: Array

    @property
    def noise(self) -> Array:
        """Nats that as many independent rows as ``ess`` says show of nothing: features / 2 ESS.

        (B, L), to first order in 1 / ESS.
        """
        return np.asarray(self.dims / (2.0 * self.ess[:, None]))

    @property
    def enough(self) -> BoolArray:
        """Whether a weighting is worth a row for every feature up to each level, (B, L)."""
        return np.asarray(self.ess[:, None] >= np.cumsum(self.dims))

    @property
    def flagged(self) -> IntArray:
        """Rows with a fit of some level that their effective size is too small for."""
        short = np.isfinite(self.gaps) & ~self.enough
        return np.flatnonzero(short.any(axis=1))

    @property
    def debiased(self) -> Array:
        """Gaps less their noise, (B, L): NaN where the weighting is not `enough` or is shrunk."""
        defined = self.enough if self.shrinkage is None else np.zeros_like(self.enough)
        return np.where(defined, self.gaps - self.noise, np.nan)

    def __len__(self) -> int:
        return len(self.deficits)

    def __repr__(self) -> str:
        return f"Profiles({len(self)} rows, {self.deficits.shape[1]} levels)"

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain lists, ready for JSON; NaN is None."""
        return {
            "dims": self.dims.tolist(),
            "ess": _plain(self.ess),
            **{name: _plain(getattr(self, name)) for name in _TABLE if name != "enough"},
            "enough": self.enough.tolist(),
            "failures": {str(row): str(error) for row, error in self.failures.items()},
            "shrinkage": asdict(self.shrinkage) if self.shrinkage else None,
            "null": asdict(self.null) if self.null else None,
            "unit": "nats",
        }

    def to_frame(self) -> Any:
        """One row per weighting and level as a pandas frame (pandas must be installed)."""
        rows, levels = self.gaps.shape
        table: dict[str, Any] = {
            "row": np.repeat(np.arange(rows), levels),
            "level": np.tile(np.arange(1, levels + 1), rows),
            "features": np.tile(self.dims, rows),
            "ess": np.repeat(self.ess, levels),
            **{name: getattr(self, attribute).ravel() for attribute, name in _TABLE.items()},
        }
        return frame_of_columns(table)

    def plot(self, ax: Any = None) -> Any:
        """Draw the gaps of all rows as colours, on new axes unless given (needs matplotlib)."""
        from steradian.plots import weighting_gaps

        return weighting_gaps(self, ax)

    def __str__(self) -> str:
        return "\n".join([*self._table(), *self._notes()])

    def _table(self) -> list[str]:
        rows, levels = self.deficits.shape
        sound = np.isfinite(self.gaps)
        small = Column(f"p <= {_ALPHA:g}", (self.pvalue <= _ALPHA).sum(axis=0), width=10)
        table = Table(
            Column("level", np.arange(1, levels + 1), width=5),
            Column("features", self.dims, width=8),
            Column("sound", sound.sum(axis=0), width=8),
            Column("median I", _medians(self.gaps, sound), ".5f", 10),
            Column("noise", _medians(self.noise, sound), ".5f", 10),
            Column("enough", (self.enough & sound).sum(axis=0), width=8),
            *([small] if self.null else []),
        )
        return [f"{rows} profiles of {levels} levels, in nats", *table.lines()]

    def _notes(self) -> list[str]:
        lines: list[str] = []
        if len(self.flagged):
            lines.append(
                f"{len(self.flagged)} rows are worth fewer rows than a level has features: much of "
                "their I is noise (.flagged, .enough)."
            )
        if self.shrinkage:
            lines.append(sentence(f"shrunk: {self.shrinkage.diagnostic.words}"))
        if self.null:
            lines.append(
                "p: of weights that have nothing to do with the directions, by "
                f"{self.null.replicates} shuffles, not corrected for the number of rows."
            )
        if self.failures:
            row, error = next(iter(self.failures.items()))
            lines.append(f"{len(self.failures)} rows stop early; row {row}: {error}")
        return [textwrap.fill(line, 80) for line in lines]


_TABLE = {
    "deficits": "deficit",
    "gaps": "gap",
    "uncertainty": "uncertainty",
    "noise": "noise",
    "enough": "enough",
    "debiased": "debiased",
    "pvalue": "pvalue",
    "null_mean": "null_mean",
    "residual": "residual",
    "quadrature": "quadrature",
}
"""Arrays (B, L), and their columns in a frame."""


def _plain(values: Array) -> list[Any]:
    """As lists, in which what is not a number is None."""
    plain = values.astype(object)
    plain[~np.isfinite(values)] = None
    return list(plain.tolist())


def _medians(values: Array, sound: BoolArray) -> list[float]:
    """Of the sound entries of each column, NaN without any."""
    columns = [column[kept] for column, kept in zip(values.T, sound.T, strict=True)]
    return [float(np.median(column)) if len(column) else np.nan for column in columns]


def profiles(  # noqa: PLR0913 - what people say of weightings
    x: ArrayLike | Directions,
    *,
    weights: Any,
    levels: int | None = None,
    hierarchy: Hierarchy | None = None,
    shrinkage: Shrinkage | float | None = None,
    null: Permutation | str | None = None,
    reference: Any = None,
) -> Profiles:
    """Profile the same directions under many weightings, in batched solves of bounded memory.

    Parameters
    ----------
    x : (n, d) array_like or Directions without weights
        The points.
    weights : (B, n) array_like, memory map or SciPy sparse matrix, or an iterator of them
        One weighting per row, non-negative, any scale. Read in blocks of rows and never copied
        whole; sparse rows stay sparse. An iterator yields blocks (k, n).
    levels : int, optional
        Highest level; 2 unless said.
    hierarchy : Hierarchy, optional
        The nested features; replaces ``levels``.
    shrinkage : Shrinkage or float, optional
        As in `profile`, for every weighting: a number is the share of the uniform law.
    null : {"permute"} or Permutation, optional
        Compare each gap with those of the same weights on shuffled points.
    reference : optional
        The law of zero information for all of them, as in `profile`.

    Returns
    -------
    Profiles
        Arrays (B, levels). A weighting without a fit at some level, or a row that is no weighting
        (zero, negative, not finite), loses no other row.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> x = sr.Directions.from_angles(np.linspace(0, 6, 40))
    >>> heads = np.exp(np.outer([0.0, 1.0, 2.0], x.x[:, 0]))
    >>> sr.profiles(x, weights=heads, levels=2).gaps.shape
    (3, 2)
    """
    points = x if isinstance(x, Directions) else as_rows(x)
    if points.weighted:
        raise InvalidDirections(
            "these directions carry weights; multiply them into {said}",
            said=arguments(weights=...),
        )
    default = 2 if levels is None else levels
    if hierarchy is None:
        chosen = default_hierarchy(points.space, default)
    else:
        chosen = first_levels(hierarchy, levels)
    chosen = relative_hierarchy(reference, points, None, chosen) or chosen
    refuse_unfittable(chosen)
    how = as_shrinkage(shrinkage), as_permutation(null)
    fits = WeightedFits(points.x, points.space, chosen, *how)
    return _collect(fits, list(fits.of(weights)))


def _collect(fits: WeightedFits, parts: list[BlockFits]) -> Profiles:
    def all_of(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in parts])

    deficits = all_of("deficits")
    failures = {row: error for part in parts for row, error in sorted(part.failures.items())}
    return Profiles(
        deficits=deficits,
        gaps=all_of("gaps"),
        uncertainty=np.exp(-deficits),
        ess=all_of("ess"),
        residual=all_of("residual"),
        quadrature=all_of("quadrature"),
        failures=failures,
        dims=np.array(fits.hierarchy.dims),
        shrinkage=fits.shrinkage,
        null=fits.null,
        pvalue=all_of("pvalue"),
        null_mean=all_of("null_mean"),
    )


_ENTRIES = 1 << 20  # numbers of weights and moments of one stack,
_STACK_ENTRIES = 1 << 18  # or of its covariances where these are small: calls cost as much as rows
_READ_ENTRIES = 1 << 17  # weights that are read at once and stay near the processor
_ARRAYS = "deficits", "gaps", "residual", "quadrature", "pvalue", "null_mean"
_MOST_WORKERS = 8  # blocks that are fitted side by side


@dataclass(frozen=True, slots=True)
class Permutation:
    """The null of weights that have nothing to do with the directions, by shuffling.

    The points stay, and so do the weights of every weighting; which weight goes to which point is
    drawn anew. If that assignment was as good as random, a gap is one of ``replicates`` + 1
    values in random order, so that the share of those at least as large, with itself counted,
    is a p-value whatever the points and the weights: ``P(p <= a) <= a``.

    One shuffle serves all weightings: each sees a uniformly random permutation, and that is all
    its own p-value needs. P-values of different weightings of the same points are dependent with or
    without it.

    Parameters
    ----------
    replicates : int
        Shuffles; the smallest p-value is 1 / (replicates + 1).
    seed : int
        Of the shuffles.
    """

    replicates: int = 199
    seed: int = 0

    def __post_init__(self) -> None:
        whole_number(self.replicates, "replicates", least=19)
        seed_number(self.seed)

    def orders(self, n: int) -> Iterator[IntArray]:
        """Random orders of ``n`` points, the same for every block."""
        for k in range(self.replicates):
            yield np.random.default_rng([self.seed, k]).permutation(n)


def as_permutation(given: Permutation | str | None) -> Permutation | None:
    """``"permute"`` means that with its defaults."""
    if given is None or isinstance(given, Permutation):
        return given
    if isinstance(given, str) and given == "permute":
        return Permutation()
    raise InvalidArgument(
        f"null is {given!r}; give 'permute', or sr.Permutation(replicates, seed), or nothing"
    )


@dataclass(frozen=True, slots=True)
class BlockFits:
    """What was found of one block: arrays (rows, levels), NaN where there is no fit."""

    deficits: Array
    gaps: Array
    residual: Array
    quadrature: Array
    pvalue: Array
    null_mean: Array
    ess: Array  # (rows,)
    failures: dict[int, SteradianError] = field(default_factory=dict)  # row, of all, → why


@dataclass(frozen=True)
class WeightedFits:
    """How the weightings of some points are fitted."""

    x: Array  # (n, d) the points,
    space: Space  # of these
    hierarchy: Hierarchy
    shrinkage: Shrinkage | None
    null: Permutation | None

    def of(self, weights: Any) -> Iterator[BlockFits]:
        """Stack after stack, several side by side."""
        parts = given_rows(weights, len(self.x), self.rows_at_once)
        known = rows_of(weights)
        total = 1 if known is None else block_count(known, self.rows_at_once)
        return tracked(_side_by_side(self.of_rows, parts), total, "weightings")

    @property
    def rows_at_once(self) -> int:
        """Weightings of about one stack: their weights and their moments, and some room.

        More where weights need not be kept and laws are small.
        """
        q = self.hierarchy.q(self.hierarchy.levels)
        return self._rows_kept if self.null else max(self._rows_kept, _STACK_ENTRIES // q**2)

    @property
    def _rows_kept(self) -> int:
        """Weightings that are held with their moments."""
        d, q = self.hierarchy.space.d, self.hierarchy.q(self.hierarchy.levels)
        traced = self.hierarchy.centred_moments == "trace"
        moments = q + (d if traced else d * d)
        return max(1, _ENTRIES // (2 * len(self.x) + 4 * moments))

    @property
    def _rows_read(self) -> int:
        """Weightings that are read at once: few, unless each time takes a walk over the points."""
        near = max(1, _READ_ENTRIES // len(self.x))
        return min(near, self._rows_kept) if self._points.held else self._rows_kept

    def of_rows(self, given: GivenRows) -> BlockFits:
        """All levels of the weightings of one stack."""
        blocks: Iterable[WeightingBlock] = given.blocks(self._rows_read)
        if self.null is not None:
            blocks = list(blocks)  # every shuffle asks for the weights
        out = self._empty(len(given))
        rows, moments = self._read(given, blocks, out)
        if not len(rows):
            return out

        def support(place: int) -> tuple[Array, Array]:
            points, weights = support_of_weighting(self.x, given.weighting(int(rows[place])), 0)
            return Directions(points, weights, space=self.space).support()

        nested = fit_levels(self.hierarchy, moments, support, self.shrinkage)
        _write(nested, given, rows, out)
        return out if self.null is None else self._compared(blocks, rows, out)

    def _read(
        self, given: GivenRows, blocks: Iterable[WeightingBlock], out: BlockFits
    ) -> tuple[IntArray, MomentStack]:
        """The rows that are weightings, counted from the first, and their moments."""
        rows, moments = [], []
        for block in blocks:
            place = block.first - given.first
            out.ess[place : place + block.count] = block.ess
            out.failures.update(block.refused)
            rows.append(place + block.rows)
            moments.append(self._points.moments(block.weights, block.totals))
        return np.concatenate(rows), MomentStack.concatenated(moments)

    @cached_property
    def _points(self) -> SharedPoints:
        return SharedPoints(self.x, self.hierarchy)

    def _empty(self, count: int) -> BlockFits:
        shape = count, self.hierarchy.levels
        arrays = {name: np.full(shape, np.nan) for name in _ARRAYS}
        return BlockFits(**arrays, ess=np.full(count, np.nan), failures={})

    def _compared(
        self, blocks: Iterable[WeightingBlock], rows: IntArray, found: BlockFits
    ) -> BlockFits:
        """With what shuffled points give; a shuffle without a fit counts as larger."""
        null = self.null or Permutation()
        seen = found.gaps[rows]
        reached, sums = np.ones_like(seen), np.zeros_like(seen)
        sound = np.zeros_like(seen)
        for order in null.orders(len(self.x)):
            shuffled = SharedPoints(self.x[order], self.hierarchy)
            parts = [shuffled.moments(block.weights, block.totals) for block in blocks]
            moments = MomentStack.concatenated(parts).unsought()
            gaps = fit_levels(self.hierarchy, moments, None, self.shrinkage).gaps
            reached += ~(gaps < seen - CLEAR_RISE)  # equal but for rounding is equal
            fitted = np.isfinite(gaps)
            sums += np.where(fitted, gaps, 0.0)
            sound += fitted
        found.pvalue[rows] = np.where(np.isfinite(seen), reached / (null.replicates + 1.0), np.nan)
        found.null_mean[rows] = np.where(sound > 0, sums / np.maximum(sound, 1.0), np.nan)
        return found


def _write(nested: NestedFits, given: GivenRows, rows: IntArray, out: BlockFits) -> None:
    out.deficits[rows], out.gaps[rows] = nested.deficits, nested.gaps
    out.residual[rows] = np.stack([s.residual for s in nested.solutions], axis=1)
    out.quadrature[rows] = np.stack([s.quadrature for s in nested.solutions], axis=1)
    for row, failure in nested.failures.items():
        out.failures[given.first + int(rows[row])] = failure.error()


def _side_by_side(
    fitted: Callable[[GivenRows], BlockFits], parts: Iterable[GivenRows]
) -> Iterator[BlockFits]:
    """In order, with as many parts in hand as there are processors: linear algebra lets go of
    the interpreter.
    """
    workers = min(_MOST_WORKERS, os.cpu_count() or 1)
    if workers == 1:
        yield from map(fitted, parts)
        return
    waiting: deque[Future[BlockFits]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for part in parts:
            waiting.append(pool.submit(fitted, part))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
