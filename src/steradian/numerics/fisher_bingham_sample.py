"""Exact draws from Fisher-Bingham laws in any dimension.

With the saddle ŝ of the normaliser, p = ŝ + θ and c = b/2p, the density is, on |x| = 1,
proportional to the Gaussian density N(c, diag 1/2p). That Gaussian has E|y|² = 1, so its
radial projection y/|y| is close to the law, ever closer as d grows. Along the ray of x the
Gaussian is exp(-P r² + L r) with P = Σ p x², L = Σ b x, so the ratio of law to proposal is

    w(P, L) = exp(-P + L) / ∫ r^{d-1} exp(-P r² + L r) dr,

bounded over P in [min p, max p] and |L| <= |b|. For b = 0 this is the angular central
Gaussian envelope of Kent, Ganeiber and Mardia (2018) for Bingham laws.

References
----------
Kent, Ganeiber and Mardia (2018), J. Comput. Graph. Stat. 27, 291-301.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from steradian.numerics.arrays import Array

_RAY_NODES = 96
_RAY_DROP = 42.0  # the integrand along a ray is followed down to exp(-42) of its peak
_BATCH = 1 << 20  # entries proposed at a time
_SCAN = 400


def draw(p: Array, b: Array, n: int, rng: np.random.Generator) -> tuple[Array, float]:
    """``n`` draws (n, d) in the eigenbasis, and the acceptance rate.

    ``p`` (d,) are ŝ + θ and ``b`` (d,) is η in the eigenbasis.
    """
    d = len(p)
    ceiling = _log_bound(d, p, b)
    centre, scale = 0.5 * b / p, np.sqrt(0.5 / p)
    kept: list[Array] = []
    have, proposed, accepted = 0, 0, 0
    while have < n:
        count = max(16, min(_BATCH // d, int(1.2 * (n - have) * (proposed + 1) / (accepted + 1))))
        y = rng.standard_normal((count, d))
        y = y * scale + centre
        x = y / np.linalg.norm(y, axis=1, keepdims=True)
        log_ratio = _log_ratio(d, (x * x) @ p, x @ b)
        take = x[np.log(rng.random(count)) <= log_ratio - ceiling]
        kept.append(take)
        have, proposed, accepted = have + len(take), proposed + count, accepted + len(take)
    return np.concatenate([np.empty((0, d)), *kept])[:n], accepted / max(proposed, 1)


def _log_ratio(d: int, big_p: Array, big_l: Array) -> Array:
    """Log w(P, L), the ray integral by the trapezoidal rule in log r."""
    # h(u) = d u - P e^{2u} + L e^u has its only maximum at e^u = r.
    r = (big_l + np.sqrt(big_l**2 + 8.0 * d * big_p)) / (4.0 * big_p)
    top = d * np.log(r) - big_p * r * r + big_l * r
    bend = 4.0 * big_p * r * r - big_l * r  # -h'' at the maximum, positive
    reach = np.sqrt(2.0 * _RAY_DROP / bend)
    # h falls off at least like exp(d u) to the left: widen until it is followed down.
    left, right = -_grown(d, big_p, big_l, r, top, -reach), _grown(d, big_p, big_l, r, top, reach)
    u = -left[:, None] + (left + right)[:, None] * np.linspace(0.0, 1.0, _RAY_NODES)
    e = r[:, None] * np.exp(u)
    h = d * (np.log(r)[:, None] + u) - big_p[:, None] * e * e + big_l[:, None] * e - top[:, None]
    total = np.exp(h).sum(axis=1) * (left + right) / (_RAY_NODES - 1)
    return np.asarray(-big_p + big_l - top - np.log(total))


def _grown(d: int, big_p: Array, big_l: Array, r: Array, top: Array, u: Array) -> Array:
    """Stretch ``u`` until the log-integrand there is 42 below its peak."""
    for _ in range(40):
        e = r * np.exp(u)
        short = d * (np.log(r) + u) - big_p * e * e + big_l * e - top > -_RAY_DROP
        if not short.any():
            break
        u = np.where(short, 1.25 * u, u)
    return u


def _log_bound(d: int, p: Array, b: Array) -> float:
    """Largest log w over P in [min p, max p], |L| <= |b|.

    For fixed P, w is unimodal in L with its peak where the ray integrand is centred at
    r = 1; a scan over P is refined around its best point.
    """
    limit = float(np.linalg.norm(b))

    def best(log_p: float) -> float:
        big_p = np.array([np.exp(log_p)])
        ideal = 2.0 * big_p - d

        def at(shift: float) -> float:
            return float(_log_ratio(d, big_p, np.clip(ideal + shift, -limit, limit))[0])

        found = minimize_scalar(lambda s: -at(s), bounds=(-3.0, 3.0), method="bounded")
        return max(at(0.0), -float(found.fun))

    low, high = float(np.log(p.min())), float(np.log(p.max()))
    scan = np.linspace(low, high, _SCAN) if high > low else np.array([low])
    big_p = np.exp(scan)
    rough = _log_ratio(d, big_p, np.clip(2.0 * big_p - d, -limit, limit))
    k = int(np.argmax(rough))
    around = scan[max(k - 1, 0)], scan[min(k + 1, len(scan) - 1)]
    if around[0] == around[1]:
        return best(float(scan[k])) + 1e-9
    found = minimize_scalar(
        lambda q: -best(q), bounds=around, method="bounded", options={"xatol": 1e-10}
    )
    return max(-float(found.fun), best(float(scan[k])), best(low), best(high)) + 1e-6
