"""Gamma-function pieces that library functions lose to cancellation."""

from __future__ import annotations

from math import lgamma, log, pi

_SERIES_FROM = 16.0


def stirling_error(x: float) -> float:
    """Log Γ(x) minus its leading Stirling form (x - ½) log x - x + ½ log 2π.

    Equally log Γ(x + 1) minus (x + ½) log x - x + ½ log 2π.
    """
    if x < _SERIES_FROM:
        return lgamma(x) - ((x - 0.5) * log(x) - x + 0.5 * log(2.0 * pi))
    inverse = 1.0 / (x * x)
    tail = 1 / 1260 - inverse * (1 / 1680 - inverse * (1 / 1188 - inverse * 691 / 360360))
    return (1 / 12 - inverse * (1 / 360 - inverse * tail)) / x
