"""Moments: the weighted sums a fit sees. They add."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import real_number, shown, whole_number
from steradian.data.directions import Directions
from steradian.data.notation import Reading, pooled_reading
from steradian.data.stacks import MomentStack
from steradian.data.validation import as_numeric
from steradian.errors import InvalidArgument, InvalidDirections
from steradian.hierarchies import Hierarchy, hierarchy_from_dict
from steradian.hierarchies.contract import refuse_unproven, tells_signs_apart
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import CONTRACT_SAME, MEAN_LENGTH, UNIT_LENGTH

_FEW_COLUMNS = 8  # whose products strided access would slow down
_SEEN_ROWS = 4  # at which features are asked whether they tell x from -x


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Moments:
    """Weighted feature sums; ``a + b`` are those of the pooled sample.

    Weights enter with the scale they were given, so that pooling two weighted samples
    means what concatenating their rows would mean. Everything a fit uses is a ratio. Sums of
    weights beyond 1e±100 are held divided by ``2**exponent`` (its square for w²).

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> x = np.eye(3)
    >>> h = sr.Harmonics(3, 2)
    >>> whole = sr.Moments.from_directions(sr.Directions(x), h)
    >>> parts = [sr.Moments.from_directions(sr.Directions(x[k : k + 1]), h) for k in range(3)]
    >>> bool(np.allclose((parts[2] + parts[0] + parts[1]).features, whole.features))
    True
    """

    hierarchy: Hierarchy  # sums of different features never mix
    n: int
    weight: float  # Σ w
    weight_sq: float  # Σ w²
    total: Array  # Σ w φ(x), to twice the top degree where the covariance needs it
    total_sq: Array  # Σ w² φ(x), likewise
    mean: Array  # Σ w x / Σ w, (d,)
    scatter: Array  # Σ w (x - mean)(x - mean)ᵀ, (d, d): centred, so that nothing cancels
    exponent: int = 0  # weights were divided by two to this power
    reading: Reading | None = None  # what was understood of the source, where that was a table

    @classmethod
    def from_directions(cls, directions: Directions, hierarchy: Hierarchy) -> Moments:
        """Sum over the rows, a block at a time: memory does not grow with n."""
        if not isinstance(directions, Directions):
            raise InvalidArgument(f"directions are {shown(directions)}; give steradian.Directions")
        refuse_unproven(hierarchy)
        _check_space(directions, hierarchy)
        return cls.summed(directions, hierarchy)

    @classmethod
    def summed(cls, directions: Directions, hierarchy: Hierarchy) -> Moments:
        """`from_directions` of a hierarchy that was made for these rows, and need not be asked."""
        pooled: Moments | None = None
        for x, w in directions.blocks():
            part = cls._from_block(x, w, hierarchy, directions.weighted)
            pooled = part if pooled is None else pooled + part
        assert pooled is not None
        exponent = directions.weight_exponent
        return replace(pooled, exponent=exponent) if exponent else pooled

    @classmethod
    def _from_block(cls, x: Array, w: Array, hierarchy: Hierarchy, weighted: bool) -> Moments:
        weight, weight_sq = (float(w.sum()), float(w @ w)) if weighted else (float(len(x)),) * 2
        total = hierarchy.sums(x, w if weighted else None)
        centre = hierarchy.space.centre(x, w / weight) if weight else x[0]
        return cls(
            hierarchy=hierarchy,
            n=len(x),
            weight=weight,
            weight_sq=weight_sq,
            total=total,
            total_sq=hierarchy.sums(x, w * w) if weighted else total,
            mean=centre,
            scatter=_scatter(x, centre, w if weighted else None),
        )

    @classmethod
    def from_expectations(cls, hierarchy: Hierarchy, features: ArrayLike, *, n: int = 1) -> Moments:
        """Moments of a law known through its feature expectations (circle and two-sphere).

        Parameters
        ----------
        hierarchy : Hierarchy
            The features.
        features : array_like
            E φ of the features of all levels of ``hierarchy``, constant left out; for one
            level, of the harmonics of degree 2 as well.
        n : int
            Sample size to report.
        """
        refuse_unproven(hierarchy)
        expected = np.asarray(as_numeric(features, "features"), dtype=np.float64)
        n = whole_number(n, "n", least=1)
        levels = max(hierarchy.second_moment_levels, hierarchy.levels)
        seen = hierarchy.wider(levels) or hierarchy
        if seen.held < seen.q(seen.levels):
            raise InvalidArgument(
                "from_expectations is for the circle and the two-sphere, and spaces with rules: "
                f"{hierarchy} is not known by the means of its features"
            )
        needed = seen.q(seen.levels)
        if expected.ndim != 1 or len(expected) < needed:
            raise InvalidArgument(
                f"features have shape {expected.shape}; give at least {needed} numbers"
            )
        if not np.isfinite(expected).all():
            raise InvalidArgument("features must be finite")
        _check_mean(hierarchy, expected)
        stack = seen.stack_of_means(expected[None])
        return cls(
            hierarchy=hierarchy,
            n=n,
            weight=float(n),
            weight_sq=float(n),
            total=n * expected,
            total_sq=n * expected,
            mean=stack.mean[0],
            scatter=n * stack.scatter[0],
        )

    @property
    def features(self) -> Array:
        """E φ under the weighted sample, lowest level first."""
        return self.total / self.weight

    @property
    def degree(self) -> int:
        """Highest degree of the harmonics whose moments are held."""
        known = self.hierarchy.second_moment_levels  # through the centred second moment
        for level in range(self.hierarchy.held_levels, known, -1):
            wide = self.hierarchy.wider(level)
            if wide is not None and wide.q(level) <= len(self.total):
                return level
        return known

    def up_to_level(self, level: int) -> Array:
        """E φ of the features of levels 1..level, (q,)."""
        return self.hierarchy.expectations(self.stack(), level)[0]

    @property
    def ess(self) -> float:
        """Kish's (Σw)² / Σw²: a measure of weight concentration, not of sampling precision."""
        return self.weight * self.weight / self.weight_sq

    def up_to(self, levels: int) -> Moments:
        """The same sample seen through the first ``levels`` levels only."""
        if whole_number(levels, "levels") > self.hierarchy.levels:
            raise InvalidArgument(
                f"these moments hold {self.hierarchy.levels} levels, not {levels}; "
                "accumulate them again with more"
            )
        smaller = self.hierarchy.up_to(levels)
        kept = smaller.held
        return replace(
            self, hierarchy=smaller, total=self.total[:kept], total_sq=self.total_sq[:kept]
        )

    def stack(self) -> MomentStack:
        """These moments as a stack of one, normalised."""
        return MomentStack(self.features[None], self.mean[None], (self.scatter / self.weight)[None])

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if self.hierarchy != other.hierarchy or len(self.total) != len(other.total):
            raise InvalidArgument(
                f"cannot pool moments of {self.hierarchy} ({len(self.total)} sums) with "
                f"{other.hierarchy} ({len(other.total)} sums)"
            )
        exponent = max(self.exponent, other.exponent)
        if self.exponent != other.exponent:
            return self._held(exponent) + other._held(exponent)
        weight = self.weight + other.weight
        share = other.weight / weight if weight else 0.0
        apart = other.mean - self.mean
        return Moments(
            hierarchy=self.hierarchy,
            n=self.n + other.n,
            weight=weight,
            weight_sq=self.weight_sq + other.weight_sq,
            total=self.total + other.total,
            total_sq=self.total_sq + other.total_sq,
            mean=self.mean + share * apart,
            scatter=self.scatter + other.scatter + (self.weight * share) * np.outer(apart, apart),
            exponent=exponent,
            reading=pooled_reading((self.reading, other.reading)),
        )

    def _held(self, exponent: int) -> Moments:
        """The same sums of weights divided by two to a higher power."""
        down = self.exponent - exponent
        return replace(
            self,
            weight=math.ldexp(self.weight, down),
            weight_sq=math.ldexp(self.weight_sq, 2 * down),
            total=np.ldexp(self.total, down),
            total_sq=np.ldexp(self.total_sq, 2 * down),
            scatter=np.ldexp(self.scatter, down),
            exponent=exponent,
        )

    def __radd__(self, other: object) -> Moments:
        return self if other == 0 else NotImplemented  # so that sum() works

    def __repr__(self) -> str:
        scale = f" 2^{self.exponent}" if self.exponent else ""
        return f"Moments(n={self.n}, weight={self.weight:g}{scale}, {self.hierarchy})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON; `from_dict` reads them back exactly."""
        return {
            "hierarchy": self.hierarchy.to_dict(),
            "n": self.n,
            "weight": self.weight,
            "weight_sq": self.weight_sq,
            "total": self.total.tolist(),
            "total_sq": self.total_sq.tolist(),
            "mean": self.mean.tolist(),
            "scatter": self.scatter.tolist(),
            "exponent": self.exponent,
        } | ({} if self.reading is None else {"reading": self.reading.to_dict()})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Moments:
        """The inverse of `to_dict`."""
        if not isinstance(data, dict):
            raise InvalidArgument(f"not a dictionary of moments: {shown(data)}")
        if "hierarchy" not in data:
            raise InvalidArgument("not a dictionary of moments: 'hierarchy' is missing")
        hierarchy = hierarchy_from_dict(data["hierarchy"])
        refuse_unproven(hierarchy)
        return cls._from_record(data, hierarchy)

    @classmethod
    def _from_record(cls, data: dict[str, Any], hierarchy: Hierarchy) -> Moments:
        missing = {*_NUMBERS, *_SHAPES} - set(data)
        if missing:
            raise InvalidArgument(f"not a dictionary of moments: {sorted(missing)[0]!r} is missing")
        numbers = {k: real_number(data[k], k, "give a finite number") for k in _NUMBERS}
        if not (numbers["weight"] > 0.0 and numbers["weight_sq"] > 0.0):
            raise InvalidArgument("moments need a positive weight and weight_sq")
        arrays = {k: _read(data[k], k, hierarchy) for k in _SHAPES}
        if len(arrays["total"]) != len(arrays["total_sq"]):
            raise InvalidArgument("not a dictionary of moments: total and total_sq differ in size")
        read = cls(
            hierarchy=hierarchy,
            n=whole_number(data["n"], "n", least=1),
            weight=numbers["weight"],
            weight_sq=numbers["weight_sq"],
            exponent=whole_number(data.get("exponent", 0), "exponent", least=-(1 << 20)),
            reading=Reading.from_dict(data["reading"]) if data.get("reading") else None,
            **arrays,
        )
        _check_sums(read)
        return read

    def save(self, path: str | Path) -> None:
        """Write them to a file that `load` and `steradian merge` read; no row is in it.

        What stands at ``path`` is replaced whole or not at all. The format is documented in
        `steradian.io.moments_file`: a line that names it, a line of JSON, plain doubles.
        """
        record = self.to_dict()
        from steradian.io.moments_file import write_moments

        write_moments(
            path,
            {name: value for name, value in record.items() if name not in _SHAPES},
            {name: getattr(self, name) for name in _SHAPES},
        )

    @classmethod
    def load(cls, path: str | Path, *, hierarchy: Hierarchy | None = None) -> Moments:
        """Read what `save` wrote, exactly.

        Parameters
        ----------
        path : str or Path
            The file.
        hierarchy : Hierarchy, optional
            Only where the file cannot tell it, as with `Custom`, which holds functions: the one
            the moments were made with.

        Raises
        ------
        InvalidArgument
            It is no file of moments, of another version, truncated or damaged.
        """
        from steradian.io.moments_file import read_moments

        record = read_moments(path)
        if hierarchy is None:
            return cls.from_dict(record)
        refuse_unproven(hierarchy)
        written = json.loads(json.dumps(hierarchy.to_dict()))
        if record.get("hierarchy") != written:
            raise InvalidArgument(
                f"{Path(path).name} holds moments of {shown(record.get('hierarchy'))}, and "
                f"hierarchy is {hierarchy}; give the one they were made with"
            )
        return cls._from_record(record, hierarchy)


def _scatter(x: Array, centre: Array, w: Array | None) -> Array:
    """Σ w (x - c)(x - c)ᵀ (d, d) of rows (n, d); few coordinates become rows of their own."""
    if x.shape[1] <= _FEW_COLUMNS:
        columns = np.subtract(x.T, centre[:, None], order="C")
        return np.asarray((columns if w is None else columns * w) @ columns.T)
    y = x - centre
    return np.asarray((y if w is None else w[:, None] * y).T @ y)


_NUMBERS = ("n", "weight", "weight_sq")
_SHAPES = ("total", "total_sq", "mean", "scatter")


def _read(values: Any, name: str, hierarchy: Hierarchy) -> Array:
    """One array of a dictionary of moments, of the shape that it must have."""
    array = np.asarray(as_numeric(values, name), dtype=np.float64)
    d, least = hierarchy.space.d, min(hierarchy.held, hierarchy.q(hierarchy.levels))
    shapes = {"mean": (d,), "scatter": (d, d)}
    fits = (
        array.shape == shapes[name] if name in shapes else array.ndim == 1 and len(array) >= least
    )
    if not fits or not np.isfinite(array).all():
        raise InvalidArgument(
            f"{name} has shape {array.shape} or entries that are not finite; these are not moments "
            f"of {hierarchy}"
        )
    return array


def _check_sums(m: Moments) -> None:
    """Refuse sums that no weighted points have: each of them is held against the others.

    (Σw)²/n ≤ Σw² ≤ (Σw)²; Σ w |x|² follows from the mean and the scatter, which is positive
    semidefinite; features of degree one give the mean again; without weights both totals are one.
    """
    space, square = m.hierarchy.space, m.weight * m.weight
    if not square / m.n <= m.weight_sq * (1.0 + CONTRACT_SAME):
        raise _contradiction(f"weight {m.weight:g} and weight_sq {m.weight_sq:g} of {m.n} rows")
    if not m.weight_sq <= square * (1.0 + CONTRACT_SAME):
        raise _contradiction(f"weight_sq {m.weight_sq:g} and weight {m.weight:g}")
    sizes = np.linalg.norm(space.uniform(_SEEN_ROWS, np.random.default_rng(0)), axis=1)
    long, spread = float(sizes.max()), np.trace(m.scatter) / m.weight
    if np.ptp(sizes) <= UNIT_LENGTH * long:
        apart = abs(spread + m.mean @ m.mean - long * long)
        if not apart <= 2.0 * UNIT_LENGTH * long * long:
            raise _contradiction("weight, mean and scatter")
    rounding = CONTRACT_SAME * m.weight * long * long
    if not np.abs(m.scatter - m.scatter.T).max() <= rounding:
        raise _contradiction("scatter and its transpose")
    if not np.linalg.eigvalsh(m.scatter)[0] >= -rounding:
        raise _contradiction("scatter and any points, as it has a negative eigenvalue")
    if m.weight == m.weight_sq == m.n and not np.array_equal(m.total, m.total_sq):
        raise _contradiction("total and total_sq of rows without weights")
    for name, total, weight in (
        ("total", m.total, m.weight), ("total_sq", m.total_sq, m.weight_sq)
    ):  # fmt: skip
        told = m.hierarchy.coordinates(total / weight)
        if told is None:
            return
        if name == "total" and not np.abs(told - m.mean).max() <= CONTRACT_SAME * long:
            raise _contradiction("total, weight and mean")
        if not np.linalg.norm(told) <= long * (1.0 + MEAN_LENGTH):
            raise _contradiction(f"{name} and its weight, as the mean is longer than any point")


def _contradiction(which: str) -> InvalidArgument:
    return InvalidArgument(
        f"these moments contradict themselves ({which}); copy them again, or sum the rows again"
    )


def _check_space(directions: Directions, hierarchy: Hierarchy) -> None:
    """Refuse rows that are points of one space and are to be measured on another."""
    here, there = directions.space, hierarchy.space
    if here.d != there.d:
        raise InvalidDirections(
            f"directions of dimension {here.d} with a hierarchy of dimension {there.d}; make the "
            "hierarchy for the data"
        )
    if hasattr(here, "one_form"):  # else signs mean something, and no row need be looked at
        _check_signs(directions, hierarchy)
    if here == there:
        return
    wrong = there.refusal(directions.x)
    if wrong:
        raise InvalidDirections(
            "{wrong}, no {point} of the {space}; make the hierarchy for the data",
            wrong=wrong, point=there.point_name, space=there.name,
        )  # fmt: skip


def _check_signs(directions: Directions, hierarchy: Hierarchy) -> None:
    """Refuse features that tell x from -x where the space of the data does not."""
    here = directions.space
    if tells_signs_apart(hierarchy, here, next(directions.blocks(_SEEN_ROWS))[0]):
        raise InvalidArgument(
            f"the sign of a row means nothing on the {here.name}, and {hierarchy} tells x from -x; "
            "measure them by even functions, like steradian.Axial"
        )


def _check_mean(hierarchy: Hierarchy, expected: Array) -> None:
    """Refuse means of features that no law has, where points have a mean."""
    mean = hierarchy.coordinates(np.clip(expected, -1e3, 1e3))
    if mean is None:
        return
    longest = float(np.linalg.norm(hierarchy.space.uniform(1, np.random.default_rng(0))))
    if float(np.linalg.norm(mean)) > longest * (1.0 + MEAN_LENGTH):
        raise InvalidArgument(
            "the features of degree one are those of a mean longer than one, which no law has"
        )
