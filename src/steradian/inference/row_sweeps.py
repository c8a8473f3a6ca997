"""The default test of every level for very many rows of one law, by passes over blocks of them.

Nothing is held but sums. The tilts of all levels are one Newton search, on few nodes that have the
sums of the rows where the space offers them, and else over the rows themselves (on nodes tests of
10⁶ rows take 0.3-1.5 s where passes alone take 0.7-3.9, and rows that are held 1.4-10.9). A pass
adds up the covariance of the damped tilt, Σ b² κ ζζᵀ, and tells whether the tilted means vanish
over the rows; while they do not, the tilts are moved and the pass is made again. What would be
looked up row by row, like the shares of single rows in the variance, is bounded: a level whose
bounds leave a doubt is left to `Scores`, which looks at every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from steradian.data.directions import Directions
from steradian.errors import ResolutionError
from steradian.families.whitening import FormedWhitening
from steradian.fitting.newton import DenseCurvature, newton
from steradian.hierarchies import Hierarchy
from steradian.inference.effort import SOON, of_rows
from steradian.inference.sample import Sample
from steradian.inference.scores import LEVERAGE, damping
from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.linalg import eigenvalues, solve_positive
from steradian.numerics.tolerances import (
    COLLINEAR_SWEPT,
    NO_LEVERAGE,
    TILT_SWEPT_MISMATCH,
    TILT_SWEPT_STEP,
)
from steradian.spaces.base import Condenses

MANY_ROWS = 10_000  # from which passes over blocks are quicker than features that are held
_BLOCK_ENTRIES = 1 << 17  # features at a time: they stay in the processor's cache
_FEWEST = 1024  # rows of a block, however many features there are


@dataclass(frozen=True, slots=True)
class FeatureBlocks:
    """Points with their masses, and the features of all levels there.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> x = sr.Sphere().uniform(3000, np.random.default_rng(0))
    >>> blocks = FeatureBlocks(sr.Harmonics(3, 8), x, np.full(3000, 1.0 / 3000.0))
    >>> [phi.shape for phi, _ in blocks]
    [(80, 1638), (80, 1362)]
    """

    hierarchy: Hierarchy
    points: Directions | Array  # n of them
    masses: Array  # (n,)

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        """Features (q, rows) and masses (rows,)."""
        size = max(_FEWEST, _BLOCK_ENTRIES // self.hierarchy.q(self.hierarchy.levels))
        first = 0
        for x in self._parts(size):
            phi = np.asarray(self.hierarchy.features(x)).T
            yield np.ascontiguousarray(phi), self.masses[first : first + len(x)]
            first += len(x)

    def _parts(self, size: int) -> Iterator[Array]:
        points = self.points
        if isinstance(points, Directions):
            return (x for x, _ in points.blocks(size))
        return (points[k : k + size] for k in range(0, len(points), size))


_MOST_STEPS = 60


class WhiteLevels:
    """White features ζ = C⁻¹(φ - μ) of several levels, a stack padded to the highest."""

    def __init__(self, whites: list[FormedWhitening]) -> None:
        self.below = [white.below for white in whites]
        self.sizes = [white.mean.shape[1] for white in whites]
        self.p = self.sizes[-1]
        self.inverse = np.zeros((len(whites), self.p, self.p))
        self.mean = np.zeros((len(whites), self.p))
        for k, (white, p) in enumerate(zip(whites, self.sizes, strict=True)):
            self.inverse[k, :p, :p], self.mean[k, :p] = white.inverse[0], white.mean[0]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def added(self) -> list[slice]:
        """Where the features that each level adds stand."""
        return [slice(*ends) for ends in zip(self.below, self.sizes, strict=True)]

    def exponents(self, tau: Array, of: IntArray) -> tuple[Array, Array]:
        """τ·ζ = θ·φ - c for τ (b, p) of the levels ``of`` (b,): θ (b, p) and c (b,)."""
        theta = np.einsum("bi,bij->bj", tau, self.inverse[of])
        return theta, np.einsum("bj,bj->b", theta, self.mean[of])

    def means(self, phi: Array, of: IntArray) -> Array:
        """E ζ from E φ (b, p)."""
        return np.einsum("bij,bj->bi", self.inverse[of], phi - self.mean[of])

    def covariances(self, covariance: Array, of: IntArray) -> Array:
        """Cov ζ from Cov φ (b, p, p), with ones for what is padded."""
        inverse = self.inverse[of]
        out = inverse @ covariance @ np.swapaxes(inverse, 1, 2)
        for k, level in enumerate(of):
            beyond = np.arange(self.sizes[level], self.p)
            out[k, beyond, beyond] = 1.0
        return np.asarray(out)


@dataclass(frozen=True, slots=True)
class TiltedLaws:
    """Laws ``t ∝ b exp(τ·ζ)`` of several levels at once: what Newton's method asks for."""

    levels: WhiteLevels
    blocks: Iterable[tuple[Array, Array]]  # features (p, rows) and masses b (rows,)

    def __call__(self, tau: Array, of: IntArray) -> DenseCurvature:
        sizes, p = self.levels.sizes, self.levels.p
        theta, shift = self.levels.exponents(tau, of)
        total, first, second = np.zeros(len(of)), np.zeros((len(of), p)), np.zeros((len(of), p, p))
        for phi, masses in self.blocks:
            t = theta @ phi
            t -= shift[:, None]
            np.exp(t, out=t)
            t *= masses
            total += t.sum(axis=1)
            first += t @ phi.T
            for k, level in enumerate(of):
                some = phi[: sizes[level]]
                second[k, : sizes[level], : sizes[level]] += (some * t[k]) @ some.T
        mean = first / total[:, None]
        covariance = second / total[:, None, None] - mean[:, :, None] * mean[:, None, :]
        white = self.levels.covariances(covariance, of)
        return DenseCurvature(np.log(total), self.levels.means(mean, of), white)


def condensed_nodes(rows: FeatureBlocks) -> list[tuple[Array, Array]]:
    """Few nodes that have the sums of the rows, as a block; none where the space has none."""
    space, points = rows.hierarchy.space, rows.points
    if not (isinstance(space, Condenses) and isinstance(points, Directions)):
        return []
    at, masses = space.condensed(points.x, rows.masses)
    return [(np.ascontiguousarray(np.asarray(rows.hierarchy.features(at)).T), masses[0])]


@dataclass(frozen=True, slots=True)
class Tilts:
    """The tilt of every level, as it was found."""

    tau: Array  # (L, p); zero where there is none
    log_total: Array  # (L,) of Σ b exp(τ·ζ)
    curvature: Array  # (L, p, p) of log_total
    found: BoolArray  # (L,) where there is a tilt

    @classmethod
    def search(cls, levels: WhiteLevels, rows: FeatureBlocks) -> Tilts:
        """On nodes where there are some; over the rows for what these do not find."""
        count, p = len(levels), levels.p
        eye = np.broadcast_to(np.eye(p), (count, p, p)).copy()
        found = np.zeros(count, dtype=np.bool_)
        out = cls(np.zeros((count, p)), np.zeros(count), eye, found)
        nodes = condensed_nodes(rows)
        if nodes:
            out._look(TiltedLaws(levels, nodes), np.arange(count))
        lost = np.flatnonzero(~out.found)
        if len(lost) and not _all_on_one_side(levels, rows, out.tau[lost], lost):
            out._look(TiltedLaws(levels, rows), lost)
        out.tau[~out.found], out.log_total[~out.found] = 0.0, 0.0  # the rows as they are
        return out

    def _look(self, laws: TiltedLaws, of: IntArray) -> None:
        """Look for the tilts of some levels, from none."""
        none = np.zeros((len(of), self.tau.shape[1]))
        with np.errstate(all="ignore"):
            path = newton(
                lambda tau, rows: laws(tau, of[rows]),
                none,
                none,
                max_steps=_MOST_STEPS,
                last_step=TILT_SWEPT_STEP,
            )
            end = laws(path.lam, of)
        self.tau[of], self.log_total[of], self.curvature[of] = path.lam, end.psi, end.covariance
        self.found[of] = np.abs(end.mean).max(axis=1) <= TILT_SWEPT_STEP


def _all_on_one_side(levels: WhiteLevels, rows: FeatureBlocks, tau: Array, of: IntArray) -> bool:
    """Whether τ·ζ < 0 at every row of positive mass, of each of some levels: there is no tilt."""
    if not (np.isfinite(tau).all() and tau.any(axis=1).all()):
        return False
    theta, shift = levels.exponents(tau, of)
    for phi, masses in rows:
        values = theta @ phi - shift[:, None]
        if not (values[:, masses > 0.0] < 0.0).all():
            return False
    return True


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
    sums = damped.sums(rows, tilts)
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

    def sums(self, rows: FeatureBlocks, tilts: Tilts) -> _Sums | None:
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
            parts = [y[part] for part in self.levels.added]
            leverage = squared * np.array([np.einsum("pn,pn->n", each, each) for each in parts])
            out.seen(leverage, ratio)
            kept = damping(leverage, self.even[:, None], rows=True)
            kept *= np.maximum(1.0 - ratio, 0.0)
            kept += ratio
            kept *= squared
            for k, (each, weights) in enumerate(zip(parts, kept, strict=True)):
                out.omega[k] += (each * weights) @ each.T
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
