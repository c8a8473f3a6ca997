"""Exact draws from Fisher-Bingham laws in any dimension.

With the saddle ŝ of the normaliser, p = ŝ + θ and c = b/2p, the density is, on |x| = 1,
proportional to the Gaussian density N(c, diag 1/2p). That Gaussian has E|y|² = 1, so its
radial projection y/|y| is close to the law, ever closer as d grows. Along the ray of x the
Gaussian is exp(-P (r² - 1) + L (r - 1)) with P = Σ p x², L = Σ b x, so the ratio of law to
proposal is

    w(P, g) = 1 / ∫ r^{d-1} exp{g (r - 1) - P (r - 1)²} dr,   g = L - 2P = -2 Σ p x (x - c),

bounded over P in [min p, max p] and |L| <= |b|. For b = 0 this is the angular central
Gaussian envelope of Kent, Ganeiber and Mardia (2018) for Bingham laws.

Where some coordinates are pinned far more than others away from the origin (a thin small
circle), rays leave the law at once. Then the pinned coordinates are kept as drawn and only the
k others are scaled, to the length ϱ = (1 - |pinned|²)^½ that is left; the ratio is
``ϱ⁻² w_k(ϱ² P, g)`` with P and g of the others. Which split to use is tried out.

On the circle and the two-sphere `cells` keeps three proposals of four however
sharp the law, and is used instead.

References
----------
Kent, Ganeiber and Mardia (2018), J. Comput. Graph. Stat. 27, 291-301.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.fisher_bingham.cells import draw_from_cells

LEAST_RATE = 1e-3  # of acceptance: below it no draws are made
_RAY_NODES = 96
_RAY_DROP = 42.0  # the integrand along a ray is followed down to exp(-42) of its peak
_BATCH = 1 << 19  # entries proposed at a time
_SCAN = 96  # values of P, each with thirteen of g, over which the ratio is maximised
_SHIFTS = np.linspace(-3.0, 3.0, 13)
_LENGTHS = 7  # values of ϱ
_SLACK = 0.02  # nats above the largest ratio found between them
_TRIED = 512  # proposals by which splits are compared
_APART = 4.0  # ratio of neighbouring p that is worth a split
_SPLITS = 4
_PINNED_REACH = 9.0  # standard deviations that pinned coordinates are followed
_PATIENCE = 50_000  # proposals before a rate is judged too low


def draw(p: Array, b: Array, n: int, rng: np.random.Generator) -> tuple[Array, float]:
    """``n`` draws (n, d) in the eigenbasis, and the acceptance rate.

    ``p`` (d,) are ŝ + θ and ``b`` (d,) is η in the eigenbasis. Where fewer than `LEAST_RATE` of
    the proposals are kept, fewer than ``n`` draws are returned.
    """
    if len(p) <= 3:
        return draw_from_cells(p, b, n, rng)
    envelope = _best_envelope(p, b, rng)
    while True:
        kept: list[Array] = []
        have, proposed = 0, 0
        highest = -np.inf
        while have < n and highest <= envelope.ceiling:
            if proposed >= _PATIENCE and have < LEAST_RATE * proposed:
                break
            rate = max((have + 1) / (proposed + 1), LEAST_RATE) if proposed else 1.0
            count = int(max(16, min(_BATCH // len(p), 1.2 * (n - have) / rate)))
            x, log_ratio = envelope.propose(rng.standard_normal((count, len(p))))
            highest = max(highest, float(log_ratio.max()))
            take = x[np.log(rng.random(count)) <= log_ratio - envelope.ceiling]
            kept.append(take)
            have, proposed = have + len(take), proposed + count
        if highest <= envelope.ceiling:
            break
        envelope = envelope.raised(highest)  # the scan had missed a little: begin again
    return np.concatenate([np.empty((0, len(p))), *kept])[:n], have / max(proposed, 1)


def weighted_points(p: Array, b: Array, normal: Array) -> tuple[Array, Array]:
    """Points (n, d) in the eigenbasis from standard normal numbers (n, d), and their log-weights.

    Weighted so they stand for the law: the proposals of `draw`, none of which is rejected.
    """
    return _best_envelope(p, b, np.random.default_rng(0)).propose(normal.copy())


@dataclass(frozen=True, slots=True)
class _Envelope:
    """Proposals of which the coordinates ``pinned`` stay as drawn and ``free`` are scaled."""

    p: Array  # (d,)
    b: Array  # (d,)
    pinned: IntArray
    free: IntArray
    lengths: tuple[float, float]  # least and largest ϱ that is followed
    ceiling: float

    @classmethod
    def of(cls, p: Array, b: Array, pinned: IntArray, free: IntArray) -> _Envelope:
        lengths = _lengths(p[pinned], b[pinned])
        ceiling = _log_bound(p[free], b[free], lengths)
        return cls(p, b, pinned, free, lengths, ceiling + _SLACK)

    def raised(self, ceiling: float) -> _Envelope:
        return _Envelope(self.p, self.b, self.pinned, self.free, self.lengths, ceiling + _SLACK)

    def propose(self, normal: Array) -> tuple[Array, Array]:
        """Proposals (n, d) and the log of law over proposal, but for a constant.

        From independent standard normal numbers (n, d), which are overwritten.
        """
        p, b = self.p, self.b
        centre = 0.5 * b / p
        y = normal
        y *= np.sqrt(0.5 / p)
        y += centre
        left = 1.0 - np.einsum("ni,ni->n", y[:, self.pinned], y[:, self.pinned])
        length = np.sqrt(np.clip(left, self.lengths[0] ** 2, self.lengths[1] ** 2))
        free = y[:, self.free]
        free *= (length / np.sqrt(np.einsum("ni,ni->n", free, free)))[:, None]
        y[:, self.free] = free
        near = p[self.free]
        big_p = (free * free) @ near
        g = -2.0 * np.einsum("ni,ni,i->n", free, free - centre[self.free], near)
        log_ratio = _log_ratio(len(near), big_p, g) - 2.0 * np.log(length)
        beyond = (left < self.lengths[0] ** 2) | (left > self.lengths[1] ** 2)
        y /= np.sqrt(np.einsum("ni,ni->n", y, y))[:, None]
        return y, np.where(beyond, -np.inf, log_ratio)


def _lengths(p: Array, b: Array) -> tuple[float, float]:
    """Lengths that the pinned coordinates leave to the others, but for what never happens."""
    if not len(p):
        return 1.0, 1.0
    centre, reach = np.abs(0.5 * b / p), _PINNED_REACH * np.sqrt(0.5 / p)
    far = ((centre + reach) ** 2).sum()
    near = (np.maximum(centre - reach, 0.0) ** 2).sum()
    return float(np.sqrt(max(1.0 - far, 0.0))), float(np.sqrt(max(1.0 - near, 0.0)))


def _best_envelope(p: Array, b: Array, rng: np.random.Generator) -> _Envelope:
    """No coordinate pinned, or those above one of the widest gaps in p: what keeps most."""
    order = np.argsort(-p, kind="stable")
    steps = np.log(p[order[:-1]] / p[order[1:]])[: len(p) - 2]  # at least two stay free
    widest = [int(k) for k in np.argsort(-steps)[:_SPLITS] if steps[k] > np.log(_APART)]
    best, most = _Envelope.of(p, b, order[:0], order), -np.inf
    for count in [0, *(k + 1 for k in widest)] if widest else []:
        trial = _Envelope.of(p, b, order[:count], order[count:])
        if trial.lengths[0] <= 0.0 and count:
            continue
        _, log_ratio = trial.propose(rng.standard_normal((_TRIED, len(p))))
        kept = float(np.exp(np.minimum(log_ratio - trial.ceiling, 0.0)).mean())
        if kept > most:
            best, most = trial, kept
    return best


def _log_ratio(d: int, big_p: Array, g: Array) -> Array:
    """Log w(P, g), the ray integral by the trapezoidal rule in u = log r.

    The integrand is exp(h), ``h(u) = d u + g (e^u - 1) - P (e^u - 1)²``.
    """
    linear = 2.0 * big_p + g
    r = (linear + np.sqrt(linear**2 + 8.0 * d * big_p)) / (4.0 * big_p)  # the only maximum of h
    peak = np.log(r)
    top = _height(d, big_p, g, peak)
    bend = 2.0 * big_p * r * r + d  # -h'' at the maximum
    reach = np.sqrt(2.0 * _RAY_DROP / bend)
    # h falls off at least like exp(d u) to the left: widen until it is followed down.
    left, right = (_grown(d, big_p, g, peak, sign * reach) for sign in (-1.0, 1.0))
    at = np.linspace(0.0, 1.0, _RAY_NODES)
    u = peak[:, None] + left[:, None] + (right - left)[:, None] * at
    h = _height(d, big_p[:, None], g[:, None], u) - top[:, None]
    total = np.exp(h).sum(axis=1) * (right - left) / (_RAY_NODES - 1)
    return np.asarray(-top - np.log(total))


def _height(d: int, big_p: Array, g: Array, u: Array) -> Array:
    away = np.expm1(u)
    return np.asarray(d * u + (g - big_p * away) * away)


def _grown(d: int, big_p: Array, g: Array, peak: Array, u: Array) -> Array:
    """Stretch ``u`` until the log-integrand that far from its peak is 42 below it."""
    top = _height(d, big_p, g, peak)
    for _ in range(40):
        short = _height(d, big_p, g, peak + u) - top > -_RAY_DROP
        if not short.any():
            break
        u = np.where(short, 1.25 * u, u)
    return u


def _log_bound(p: Array, b: Array, lengths: tuple[float, float]) -> float:
    """Largest log of ϱ⁻² w(ϱ² P, ϱ L - 2 ϱ² P) over P in [min p, max p], |L| <= |b|.

    For fixed P, w is unimodal in g with its peak near g = -d, where the ray integrand is
    centred at r = 1.
    """
    d, limit = len(p), float(np.linalg.norm(b))
    scan = np.geomspace(p.min(), p.max(), _SCAN) if p.max() > p.min() else p[:1]
    best = -np.inf
    for length in np.geomspace(max(lengths[0], 1e-3 * lengths[1]), lengths[1], _LENGTHS):
        big_p = np.repeat(length**2 * scan, len(_SHIFTS))
        wide = np.sqrt(2.0 * big_p + d)
        ideal = -d + np.tile(_SHIFTS, len(scan)) * np.minimum(1.0, wide)
        reach = length * limit
        g = np.clip(ideal, -reach - 2.0 * big_p, reach - 2.0 * big_p)
        best = max(best, float(_log_ratio(d, big_p, g).max()) - 2.0 * np.log(length))
        if lengths[0] == lengths[1]:
            break
    return best
