"""The default test of every level for very many rows of one law, by passes over blocks of them.

Nothing is held but sums. The covariance of the damped tilt is that of the tilt, a sum of smooth
functions over the rows, which few nodes give as well (`level_tilts`), and what damping adds:
``Σ b² (1 - ρ)₊ min(1, c e) ζζᵀ``, smaller by the leverage of a single row, which a pass in single
precision gives to more digits than are seen. Where nodes do not have the sums, or leverages are
not that small, a pass in double precision adds up all of it and tells whether the tilted means
vanish over the rows themselves; while they do not, the tilts are moved and the pass is made again.
What would be looked up row by row, like the shares of single rows in the variance, is bounded: a
level whose bounds leave a doubt is left to `Scores`, which looks at every row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steradian.errors import ResolutionError
from steradian.families.whitening import FormedWhitening
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.linalg import eigenvalues, solve_positive
from steradian.numerics.tolerances import (
    COLLINEAR_SWEPT,
    NO_LEVERAGE,
    SINGLE_ROUNDING,
    SMOOTH_ENOUGH,
    TILT_SWEPT_MISMATCH,
)
from steradian.significance.effort import SOON, of_rows
from steradian.significance.many_rows.feature_blocks import MANY_ROWS, FeatureBlocks
from steradian.significance.many_rows.level_tilts import Nodes, Tilts, WhiteLevels
from steradian.significance.redrawn.judgement import LEVERAGE
from steradian.significance.sample import Sample
from steradian.significance.scores import damping

_MOST_SWEEPS = 8
_QUICK = 0.25 * SOON  # work of levels that are found in a pass of their own


@dataclass(frozen=True, slots=True)
class SweptLevel:
    """What very many rows say about one level."""

    coefficients: Array  # eigenvalues of ½ Ω, damped, descending
    tilted: bool  # whether a tilt exists
    added_leverage: float  # the largest of a row in the added features
    leverage: float  # no row has more in all features of the level, if that is not much
    carried: float  # no row has a larger share of the trace of Ω


def swept_level(sample: Sample, level: int) -> SweptLevel | None:
    """One level of very many rows of one law; None where `Scores` must look at them."""
    top = swept_together(sample, level)
    if not top:
        return None
    return sample.memo.once(("swept levels", top), lambda: _swept_levels(sample, top)).get(level)


def swept_together(sample: Sample, level: int) -> int:
    """The highest level that is found in one pass with this one; 0 where none is found so.

    One pass for all costs far less than one for each, but as much as the highest of them: those
    that are soon had do not wait for the others.
    """
    if not sample.units.rows_of_one_law or sample.rows.n < MANY_ROWS:
        return 0
    levels = range(1, len(sample.nested.solutions) + 1)
    quick = [k for k in levels if of_rows(sample.rows.n, sample.hierarchy.q(k)) <= _QUICK]
    return quick[-1] if level in quick else levels[-1]


def _swept_levels(sample: Sample, top: int) -> dict[int, SweptLevel]:
    """Those of the levels to ``top``, from the first, whose features are far from collinear."""
    whites = _whitenings(sample, top)
    if not whites:
        return {}
    levels, units = WhiteLevels(whites), sample.units
    rows = FeatureBlocks(sample.hierarchy.up_to(len(levels)), sample.rows, units.weights)
    damped = _Damped(levels, _squares(sample, rows), units.effective)
    if not damped.sound:
        return {}
    tilts = Tilts.search(levels, rows)
    sums = damped.quickly(rows, tilts) or damped.carefully(rows, tilts)
    if sums is None:
        return {}
    most = damped.bounds(sums, float(rows.masses.max()))
    if most.max() > LEVERAGE:
        most = damped.top_leverages(rows)
    found = [damped.level(k, sums, bool(tilts.found[k]), most[k]) for k in range(len(levels))]
    return dict(enumerate(found, start=1))


def _whitenings(sample: Sample, top: int) -> list[FormedWhitening]:
    found: list[FormedWhitening] = []
    for level in range(1, top + 1):
        try:
            white = sample.whitening(level).formed
        except ResolutionError:
            break
        if white is None or not np.linalg.cond(white.inverse[0]) <= COLLINEAR_SWEPT:
            break
        found.append(white)
    return found


def _squares(sample: Sample, rows: FeatureBlocks) -> Array:
    """Σ b² (1, φ)(1, φ)ᵀ, by the sums that were held or by a pass, (p + 1, p + 1)."""
    m = sample.moments
    held = np.concatenate([[m.weight_sq], m.total_sq])
    known = sample.hierarchy.second_moments(rows.hierarchy.levels, held)
    if known is not None:
        return np.asarray(known / m.weight**2)
    q = rows.hierarchy.q(rows.hierarchy.levels)
    out = np.zeros((q + 1, q + 1))
    for phi, b in rows:
        both = b * np.vstack([np.ones(len(b)), phi])
        out += both @ both.T
    return out


@dataclass(slots=True)
class _Sums:
    """What a pass over the rows has added up."""

    omega: list[Array]  # Σ b² κ yyᵀ of every level, y = V^-½ ζ of the added features
    total: Array  # (L,) Σ t
    first: Array  # (L, p) Σ t φ
    leverage: Array  # (L,) the largest in the added features
    ratio: Array  # (L,) the largest t / b

    @classmethod
    def none(cls, dims: IntArray, p: int) -> _Sums:
        """Before the first row."""
        zeros = np.zeros(len(dims))
        omega = [np.zeros((int(q), int(q))) for q in dims]
        return cls(omega, zeros.copy(), np.zeros((len(dims), p)), zeros.copy(), zeros.copy())

    def seen(self, leverage: AnyArray, ratio: AnyArray) -> None:
        """Remember what is largest."""
        np.maximum(self.leverage, leverage.max(axis=1), out=self.leverage)
        np.maximum(self.ratio, ratio.max(axis=1), out=self.ratio)


class _Damped:
    """Damped covariances of all levels, and what bounds single rows."""

    def __init__(self, levels: WhiteLevels, squares: Array, count: int) -> None:
        """``squares`` is Σ b² (1, φ)(1, φ)ᵀ, ``count`` how many rows have a positive weight."""
        self.levels, self.squares = levels, squares
        self.dims = np.array(levels.sizes) - np.array(levels.below)
        self.even = self.dims / np.maximum(count, self.dims + 1.0)
        self.scatter = [self._about(k) for k in range(len(levels))]  # V of all features of a level
        parts = zip(self.scatter, levels.below, strict=True)
        self.roots = [np.linalg.eigh(v[below:, below:]) for v, below in parts]

    def _about(self, k: int) -> Array:
        """Σ b² ζζᵀ of a level, (p, p)."""
        p = self.levels.sizes[k]
        inverse, mean = self.levels.inverse[k, :p, :p], self.levels.mean[k, :p]
        shift = inverse @ np.hstack([-mean[:, None], np.eye(p)])
        return np.asarray(shift @ self.squares[: p + 1, : p + 1] @ shift.T)

    @property
    def sound(self) -> bool:
        """Whether every V has an inverse."""
        return all(values[0] > NO_LEVERAGE * values[-1] for values, _ in self.roots)

    def maps(self, tau: Array, log_total: Array) -> tuple[Array, Array]:
        """From φ to V^-½ ζ of the added features of all levels, then to the exponents."""
        levels = self.levels
        theta, shift = levels.exponents(tau, np.arange(len(levels)))
        matrix, offset = np.zeros((levels.p, levels.p)), np.zeros(levels.p)
        for k, part in enumerate(levels.added):
            values, axes = self.roots[k]
            matrix[part] = (axes / np.sqrt(values)).T @ levels.inverse[k, part]
            offset[part] = matrix[part] @ levels.mean[k]
        return np.vstack([matrix, theta]), np.concatenate([offset, shift + log_total])

    def quickly(self, rows: FeatureBlocks, tilts: Tilts) -> _Sums | None:
        """By nodes, and a pass in single precision for what damping adds; None if not sure."""
        matrix, _ = self.maps(tilts.tau, tilts.log_total)
        most = TILT_SWEPT_MISMATCH / SINGLE_ROUNDING / np.linalg.cond(matrix[: self.levels.p])
        if tilts.nodes is None or 3.0 * self.even.max() > most or not tilts.smooth(self.levels):
            return None
        sums = self._added(replace(rows, single=True), tilts)
        if damping(sums.leverage, self.even, rows=True).max() > most:
            return None
        b = rows.masses
        even = bool(b.min() == b.max())
        nodes = replace(tilts.nodes, masses=tilts.nodes.masses * b[0]) if even else None
        smooth = self._smooth(nodes or Nodes.of(rows, b * b), tilts)
        if smooth is None:
            return None
        sums.omega = [one + more for one, more in zip(sums.omega, smooth, strict=True)]
        return sums

    def _smooth(self, nodes: Nodes | None, tilts: Tilts) -> list[Array] | None:
        """Σ b² ρ yyᵀ of every level by nodes; None where a lower degree sees another sum."""
        if nodes is None:
            return None
        matrix, offset = self.maps(tilts.tau, tilts.log_total)
        y = matrix @ nodes.phi - offset[:, None]
        ratio, out = np.exp(y[self.levels.p :]), []
        for k, part in enumerate(self.levels.added):
            two = [(y[part] * (one * ratio[k])) @ y[part].T for one in nodes.masses]
            if np.abs(two[0] - two[1]).max() > SMOOTH_ENOUGH * np.abs(two[0]).max():
                return None
            out.append(two[0])
        return out

    def _added(self, rows: FeatureBlocks, tilts: Tilts) -> _Sums:
        """What damping adds, Σ b² (1 - ρ)₊ min(1, c e) yyᵀ, in the precision of the rows."""
        kind = np.float32 if rows.single else np.float64
        matrix, offset = (a.astype(kind) for a in self.maps(tilts.tau, tilts.log_total))
        even, p = self.even[:, None].astype(kind), self.levels.p
        out = _Sums.none(self.dims, p)
        for phi, b in rows:
            y: Any = matrix @ phi
            y -= offset[:, None]
            squared: Any = (b * b).astype(kind)
            ratio = np.exp(y[p:], out=y[p:])
            leverage = self._leverages(y, squared)
            out.seen(leverage, ratio)
            kept = damping(leverage, even, rows=True)
            np.subtract(1.0, ratio, out=ratio)
            kept *= np.maximum(ratio, 0.0, out=ratio)
            kept *= squared
            self._add(out, y, kept)
        return out

    def _leverages(self, y: AnyArray, squared: Array) -> Array:
        """b² |y|² of every level, (L, rows)."""
        out = np.array([np.einsum("pn,pn->n", y[part], y[part]) for part in self.levels.added])
        out *= squared
        return out

    def _add(self, out: _Sums, y: AnyArray, weights: AnyArray) -> None:
        for k, part in enumerate(self.levels.added):
            out.omega[k] += (y[part] * weights[k]) @ y[part].T

    def carefully(self, rows: FeatureBlocks, tilts: Tilts) -> _Sums | None:
        """Passes over the rows until their tilted means vanish; None where they do not.

        Each mean that is off moves its tilt by a step of Newton's method with the curvature that
        the search ended with, which is that of the end but for as much as the two differ.
        """
        levels, every = self.levels, np.arange(len(self.levels))
        tau, log_total, last = tilts.tau.copy(), tilts.log_total.copy(), np.inf
        for _ in range(_MOST_SWEEPS):
            sums = self._all(rows, tau, log_total)
            mean = levels.means(sums.first / sums.total[:, None], every)
            mean[~tilts.found] = 0.0
            off = float(max(np.abs(mean).max(), np.abs(sums.total - 1.0).max()))
            if off <= TILT_SWEPT_MISMATCH:
                return sums
            if not off < last:
                return None
            last, step = off, solve_positive(tilts.curvature, mean)
            tau -= step
            log_total += np.log(sums.total) - 0.5 * np.einsum("kp,kp->k", mean, step)
        return None

    def _all(self, rows: FeatureBlocks, tau: Array, log_total: Array) -> _Sums:
        """All of Σ b² κ yyᵀ, and the tilted means."""
        matrix, offset = self.maps(tau, log_total)
        p = self.levels.p
        out = _Sums.none(self.dims, p)
        for phi, b in rows:
            y = matrix @ phi
            y -= offset[:, None]
            ratio, squared = np.exp(y[p:], out=y[p:]), b * b
            leverage = self._leverages(y, squared)
            out.seen(leverage, ratio)
            kept = damping(leverage, self.even[:, None], rows=True)
            kept *= np.maximum(1.0 - ratio, 0.0)
            kept += ratio
            kept *= squared
            self._add(out, y, kept)
            ratio *= b
            out.total += ratio.sum(axis=1)
            out.first += ratio @ phi.T
        return out

    def bounds(self, sums: _Sums, heaviest: float) -> Array:
        """No row has a larger leverage in all features of each level, (L,).

        All features are linear in the y of all levels, whose squared lengths are leverages.
        """
        count, p = len(self.levels), self.levels.p
        matrix, offset = self.maps(np.zeros((count, p)), np.zeros(count))
        back = np.linalg.inv(matrix[:p])
        length = np.linalg.norm(back, 2) * np.sqrt(sums.leverage.sum())  # b |φ - A⁻¹ offset|
        out = []
        for k, root in enumerate(self._whole_roots()):
            size = len(root)
            apart = np.linalg.norm((back @ offset[:p])[:size] - self.levels.mean[k, :size])
            out.append((np.linalg.norm(root, 2) * (length + heaviest * apart)) ** 2)
        return np.array(out)

    def _whole_roots(self) -> list[Array]:
        """V^-½ C⁻¹ of all features of each level, (p, p)."""
        sizes, inverse = self.levels.sizes, self.levels.inverse
        roots = [np.linalg.inv(np.linalg.cholesky(v)) for v in self.scatter]
        return [roots[k] @ inverse[k, :size, :size] for k, size in enumerate(sizes)]

    def top_leverages(self, rows: FeatureBlocks) -> Array:
        """The largest leverage of a row in all features of each level, (L,)."""
        roots, out = self._whole_roots(), np.zeros(len(self.levels))
        for phi, b in rows:
            for k, root in enumerate(roots):
                y = root @ (phi[: len(root)] - self.levels.mean[k, : len(root), None])
                out[k] = max(out[k], float((np.einsum("pn,pn->n", y, y) * (b * b)).max()))
        return out

    def level(self, k: int, sums: _Sums, tilted: bool, top: float) -> SweptLevel:
        """What the sums say about one level."""
        values, axes = self.roots[k]
        back = axes * np.sqrt(values)
        added = back @ sums.omega[k] @ back.T  # Σ b² κ ζζᵀ of the added features
        weight = float(self.squares[0, 0])  # Σ b²
        carried = max(1.0, float(sums.ratio[k])) * values[-1] * sums.leverage[k]
        return SweptLevel(
            coefficients=np.maximum(eigenvalues(0.5 / weight * added[None])[0, ::-1], 0.0),
            tilted=tilted,
            added_leverage=float(sums.leverage[k]),
            leverage=float(top),
            carried=float(carried / np.trace(added)),
        )
