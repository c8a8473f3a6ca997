"""The tilts of all levels of one sample of very many rows, as one Newton search.

A tilt is looked for on few nodes that have the sums of the rows, where the space offers them, and
else over the rows themselves, a block at a time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from steradian.data.directions import Directions
from steradian.families.whitening import FormedWhitening
from steradian.fitting.newton import DenseCurvature, newton
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import SMOOTH_ENOUGH, TILT_SWEPT_STEP
from steradian.significance.many_rows.feature_blocks import FeatureBlocks
from steradian.spaces.base import Condenses

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


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Few nodes that have the sums of the rows, and the same to a lower degree."""

    phi: Array  # (p, N) features
    masses: Array  # (2, N)

    @classmethod
    def of(cls, rows: FeatureBlocks, masses: Array) -> Nodes | None:
        """For rows with these masses (n,); None where the space has no such nodes."""
        space, points = rows.hierarchy.space, rows.points
        if not (isinstance(space, Condenses) and isinstance(points, Directions)):
            return None
        at, condensed = space.condensed(points.x, masses)
        return cls(np.ascontiguousarray(np.asarray(rows.hierarchy.features(at)).T), condensed)

    @property
    def parts(self) -> list[tuple[Array, Array]]:
        """As blocks, to either degree."""
        return [(self.phi, one) for one in self.masses]


@dataclass(frozen=True, slots=True)
class Tilts:
    """The tilt of every level, as it was found."""

    tau: Array  # (L, p); zero where there is none
    log_total: Array  # (L,) of Σ b exp(τ·ζ)
    curvature: Array  # (L, p, p) of log_total
    found: BoolArray  # (L,) where there is a tilt
    nodes: Nodes | None  # on which all were found, and the lower degree sees the same

    @classmethod
    def search(cls, levels: WhiteLevels, rows: FeatureBlocks) -> Tilts:
        """On nodes where there are some; over the rows for what these do not find."""
        count, p = len(levels), levels.p
        eye = np.broadcast_to(np.eye(p), (count, p, p)).copy()
        found = np.zeros(count, dtype=np.bool_)
        out = cls(np.zeros((count, p)), np.zeros(count), eye, found, Nodes.of(rows, rows.masses))
        if out.nodes is not None:
            out._look(TiltedLaws(levels, out.nodes.parts[:1]), np.arange(count))
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

    def smooth(self, levels: WhiteLevels) -> bool:
        """Whether the nodes know the tilted means: those of a lower degree see the same."""
        if self.nodes is None:
            return False
        known = np.flatnonzero(self.found)
        if not len(known):
            return True
        seen = TiltedLaws(levels, self.nodes.parts[1:])(self.tau[known], known)
        away = np.abs(seen.psi - self.log_total[known]).max(), np.abs(seen.mean).max()
        return bool(max(away) <= SMOOTH_ENOUGH)


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
