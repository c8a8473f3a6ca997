"""Many weightings of the same points at once: attention heads, queries, replicates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.directions import Directions
from steradian.data.source import first_levels, refuse_unfittable
from steradian.data.stacks import moments_of_weightings
from steradian.data.validation import as_numeric
from steradian.errors import InvalidDirections, LevelError
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.default import default_hierarchy
from steradian.numerics.arrays import Array


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profiles:
    """Profiles of B weightings; row b is NaN from its failing level on.

    Attributes
    ----------
    deficits, gaps, uncertainty : arrays, (B, L)
        D, I and U = exp(-D), in nats.
    ess : array, (B,)
        Kish's effective sample size of each weighting (weight concentration).
    residual, quadrature : arrays, (B, L)
        Largest moment mismatch, and estimated quadrature error in nats.
    failures : mapping from row to LevelError
        Rows whose levels do not all exist, and why.
    """

    deficits: Array
    gaps: Array
    uncertainty: Array
    ess: Array
    residual: Array
    quadrature: Array
    failures: Mapping[int, LevelError]

    def __len__(self) -> int:
        return len(self.deficits)

    def __repr__(self) -> str:
        return f"Profiles({len(self)} rows, {self.deficits.shape[1]} levels)"

    def __str__(self) -> str:
        rows, levels = self.deficits.shape
        sound = np.isfinite(self.deficits).sum(axis=0)
        lines = [
            f"{rows} profiles of {levels} levels, in nats",
            f"{'level':>5} {'sound':>7} {'median I':>10}",
        ]
        for k in range(levels):
            median = np.nanmedian(self.gaps[:, k]) if sound[k] else np.nan
            lines.append(f"{k + 1:>5} {sound[k]:>7} {median:>10.5f}")
        if self.failures:
            row, error = next(iter(self.failures.items()))
            lines.append(f"{len(self.failures)} rows stop early; row {row}: {error}")
        return "\n".join(lines)


def profiles(
    x: ArrayLike | Directions,
    *,
    weights: ArrayLike,
    levels: int | None = None,
    hierarchy: Hierarchy | None = None,
) -> Profiles:
    """Profile the same directions under many weightings, in one batched solve.

    Parameters
    ----------
    x : (n, d) array_like or Directions without weights
        The points.
    weights : (B, n) array_like
        One weighting per row, non-negative, any scale.
    levels : int, optional
        Highest level; 2 unless said.
    hierarchy : Hierarchy, optional
        The nested features; replaces ``levels``.

    Returns
    -------
    Profiles
        Arrays (B, levels). A weighting without a fit at some level loses no other row.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> x = sr.Directions.from_angles(np.linspace(0, 6, 40))
    >>> heads = np.exp(np.outer([0.0, 1.0, 2.0], x.x[:, 0]))
    >>> sr.profiles(x, weights=heads, levels=2).gaps.shape
    (3, 2)
    """
    points = x if isinstance(x, Directions) else Directions(x)
    if points.weighted:
        raise InvalidDirections("these directions carry weights; multiply them into weights=")
    w = _weightings(weights, points.n)
    default = 2 if levels is None else levels
    if hierarchy is None:
        chosen = default_hierarchy(points.space, default)
    else:
        chosen = first_levels(hierarchy, levels)
    refuse_unfittable(chosen)
    unit = points.x
    stack = moments_of_weightings(unit, w, chosen)

    def support(row: int) -> tuple[Array, Array]:
        return Directions(unit, w[row], space=points.space).support()

    return _collect(fit_levels(chosen, stack, support), w)


def _weightings(weights: ArrayLike, n: int) -> Array:
    """Rows scaled to sum one."""
    w = np.asarray(as_numeric(weights, "weights"), dtype=np.float64)
    if w.ndim != 2 or w.shape[1] != n or not len(w):
        raise InvalidDirections(
            f"weights have shape {w.shape}; give (B, {n}), one weighting of the {n} points per row"
        )
    if not (w.min() >= 0.0 and w.max() < np.inf):
        bad = ~(np.isfinite(w) & (w >= 0))
        row, column = (int(k) for k in np.argwhere(bad)[0])
        raise InvalidDirections(
            f"weight of point {column} in weighting {row} is {w[row, column]:g}; "
            "weights are finite and not negative"
        )
    largest = w.max(axis=1)
    if (largest == 0).any():
        row = int(np.argmax(largest == 0))
        raise InvalidDirections(f"weighting {row} is zero everywhere; give it a positive weight")
    w = np.ldexp(w, -np.frexp(largest)[1][:, None])  # sums of the largest stay finite
    return np.asarray(w / w.sum(axis=1, keepdims=True))


def _collect(nested: NestedFits, w: Array) -> Profiles:
    return Profiles(
        deficits=nested.deficits,
        gaps=nested.gaps,
        uncertainty=nested.uncertainty,
        ess=1.0 / np.einsum("bn,bn->b", w, w),
        residual=np.stack([s.residual for s in nested.solutions], axis=1),
        quadrature=np.stack([s.quadrature for s in nested.solutions], axis=1),
        failures={row: f.error() for row, f in sorted(nested.failures.items())},
    )
