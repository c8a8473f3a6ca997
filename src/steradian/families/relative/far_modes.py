"""Modes of a law where it has no nodes.

A cubic that is small where the data are may rise without any bound but that of the sphere on the
far side of it. Nodes that are distributed like a law of level 2 have no point there, and agree
with each other about an integral that misses nearly everything. The exponent shows such a mode:
climbing from points scattered over the whole sphere finds it, and its height and curvature tell
how much it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from steradian.families.nodes.rules import Nodes
from steradian.numerics.arrays import Array
from steradian.numerics.quasi_random import quasi_normal
from steradian.numerics.tolerances import COMPLEX_STEP, FAINT_MODE, SLOPE_STEP

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

_LOG_SCATTERED, _SEED = 8, 7  # points, each with its antipode
_BY_RATIO, _BY_HEIGHT = 6, 2  # starts of a climb
_CLIMBED, _FIRST, _LONGER, _SHORTER = 60, 0.1, 2.0, 0.25  # radians; steps over the slope
_SAFETY = 2.0  # times what the curvature at its top says that a mode holds
_ROWS = 32  # laws whose modes are looked for at once
_CARRYING = 30.0  # effective nodes by which a mode is seen


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """A local maximum of a density on the sphere."""

    point: Array  # (d,)
    curvature: Array  # (d, d), of minus the log of the density, across the point; positive
    log_mass: float  # of the normal law with this height and curvature

    def holds(self, x: Array) -> Array:
        """Whether points (n, d) are within what holds nearly all of it, (n,)."""
        away = x - self.point
        squares = np.einsum("ni,ij,nj->n", away, self.curvature, away)
        return np.asarray((squares <= 2.0 * len(self.point)) & (x @ self.point > 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Laws:
    """Densities exp(λ·φ - ψ) on one sphere, each with a law of level 2 that is near the data."""

    hierarchy: Hierarchy
    lam: Array  # (B, q)
    psi: Array  # (B,)
    below: Array  # (B, q)

    def missed(self, nodes: Nodes, theta: Array) -> Array:
        """Upper estimates of log Z/Z' (B,), Z' being what ``nodes`` see as ``theta`` (B, q)."""
        out = np.empty(len(self.lam))
        for first in range(0, len(out), _ROWS):
            rows = slice(first, first + _ROWS)
            part = Laws(self.hierarchy, self.lam[rows], self.psi[rows], self.below[rows])
            found = [
                _unseen(modes, nodes, at)
                for modes, at in zip(part._modes(), theta[rows], strict=True)
            ]
            out[rows] = np.logaddexp(0.0, np.log(_SAFETY) + np.array(found))
        return out

    def _modes(self) -> list[list[Mode]]:
        """Those that climbs from all over the sphere find, and that are not negligible."""
        tops, heights = _climb(self.hierarchy, self.lam, self._starts())
        return [self._modes_at(b, tops[b], heights[b]) for b in range(len(tops))]

    def _starts(self) -> Array:
        """Where climbs begin: the highest points, and the highest over level 2, (B, s, d)."""
        points, phi = _scattered(self.hierarchy)
        phi = phi[:, : self.lam.shape[1]]
        ratios, heights = (self.lam - self.below) @ phi.T, self.lam @ phi.T
        best = (np.argsort(ratios)[:, -_BY_RATIO:], np.argsort(heights)[:, -_BY_HEIGHT:])
        return np.asarray(points[np.concatenate(best, axis=1)])

    def _modes_at(self, b: int, tops: Array, heights: Array) -> list[Mode]:
        out: list[Mode] = []
        for k in np.argsort(-heights):
            if any(mode.holds(tops[k : k + 1])[0] for mode in out):
                continue
            mode = _mode_at(self.hierarchy, self.lam[b], tops[k], float(heights[k] - self.psi[b]))
            if mode.log_mass > np.log(FAINT_MODE):
                out.append(mode)
        return out


def _unseen(modes: list[Mode], nodes: Nodes, theta: Array) -> float:
    """Log of the mass of modes of one law that too few nodes carry."""
    masses = nodes.masses(theta[None])[1][0] if modes else np.empty(0)
    total = -np.inf
    for mode in modes:
        share = masses[mode.holds(nodes.points)]
        carried = share.sum() ** 2 / (share @ share) if share.any() else 0.0
        if not carried >= _CARRYING:
            total = np.logaddexp(total, mode.log_mass)
    return float(total)


@lru_cache(maxsize=4)
def _scattered(hierarchy: Hierarchy) -> tuple[Array, Array]:
    """Points all over the sphere and the features there."""
    z = quasi_normal(hierarchy.space.d, _LOG_SCATTERED, 1, _SEED)
    x = z / np.linalg.norm(z, axis=1)[:, None]
    x = np.concatenate([x, -x])
    return x, np.asarray(hierarchy.features(x))


def _climb(hierarchy: Hierarchy, lam: Array, starts: Array) -> tuple[Array, Array]:
    """Ends (B, s, d) of steepest ascents of lam · φ from ``starts``, and the heights there."""
    each, x = np.repeat(lam, starts.shape[1], axis=0), starts.reshape(-1, starts.shape[2])
    height, slope = _slopes(hierarchy, each, x)
    step = _FIRST / np.maximum(np.linalg.norm(slope, axis=1), 1.0)
    for _ in range(_CLIMBED):
        tried = x + step[:, None] * slope
        tried /= np.linalg.norm(tried, axis=1)[:, None]
        there, new = _slopes(hierarchy, each, tried)
        up = there >= height
        x, slope = np.where(up[:, None], tried, x), np.where(up[:, None], new, slope)
        height = np.where(up, there, height)
        step = step * np.where(up, _LONGER, _SHORTER)
    return x.reshape(starts.shape), height.reshape(starts.shape[:2])


def _slopes(hierarchy: Hierarchy, lam: Array, x: Array) -> tuple[Array, Array]:
    """Lam · φ (n,) and its gradient along the sphere (n, d) at points (n, d) on it."""
    height, slope = _gradients(hierarchy, lam, x)
    return height, slope - np.einsum("ni,ni->n", slope, x)[:, None] * x


def _gradients(hierarchy: Hierarchy, lam: Array, x: Array) -> tuple[Array, Array]:
    """The same with the gradient in space."""
    n, d = x.shape
    steps = x[:, None, :] + 1j * COMPLEX_STEP * np.eye(d)
    phi = hierarchy.features(steps.reshape(-1, d))[:, : lam.shape[1]].reshape(n, d, -1)
    at = np.einsum("ndq,nq->nd", phi, lam)
    return at[:, 0].real, at.imag / COMPLEX_STEP


def _mode_at(hierarchy: Hierarchy, lam: Array, x: Array, height: float) -> Mode:
    """The mode with its top ``x`` (d,) and log-density there, by the Hessian on the sphere.

    It is taken to be at most as wide as the sphere.
    """
    d = len(x)
    moved = x + SLOPE_STEP * np.concatenate([np.zeros((1, d)), np.eye(d), -np.eye(d)])
    _, slopes = _gradients(hierarchy, np.tile(lam, (len(moved), 1)), moved)
    slope, ahead, behind = slopes[0], slopes[1 : d + 1], slopes[d + 1 :]
    hessian = (ahead - behind) / (2.0 * SLOPE_STEP)
    across = np.eye(d) - np.outer(x, x)
    bent = across @ (0.5 * (hessian + hessian.T) - (slope @ x) * np.eye(d)) @ across
    log_area = np.log(2.0) + 0.5 * d * np.log(np.pi) - gammaln(0.5 * d)
    widest = 2.0 * np.pi * np.exp(-2.0 * log_area / (d - 1.0))
    basis = np.linalg.svd(across)[0][:, : d - 1]
    values, axes = np.linalg.eigh(basis.T @ -bent @ basis)
    values = np.maximum(values, widest)
    axes = basis @ axes
    log_volume = 0.5 * (d - 1.0) * np.log(2.0 * np.pi) - 0.5 * np.log(values).sum() - log_area
    return Mode(x, (axes * values) @ axes.T, height + float(log_volume))
