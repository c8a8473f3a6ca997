"""One run of `steradian.profile`: numbers with the errors it states, or its refusal."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import steradian as sr
from fuzz.samples import Array, Sample
from steradian.errors import LevelError

EPS = float(np.finfo(np.float64).eps)
ROUNDINGS = 64.0  # of the printed number itself, in units of its last digit


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one call returned: levels that are there, and why there are no more."""

    profile: sr.results.Profile | None
    refusal: LevelError | None
    seconds: float

    @property
    def deficits(self) -> Array:
        return np.zeros(0) if self.profile is None else self.profile.deficits

    @property
    def refused(self) -> str:
        """Kind and level of the refusal, or nothing."""
        return "" if self.refusal is None else f"{type(self.refusal).__name__} {self.refusal.level}"

    @property
    def errors(self) -> Array:
        """Stated error of each deficit, nats, and the rounding of the number itself."""
        if self.profile is None:
            return np.zeros(0)
        told = self.profile.numerics
        stated = told.quadrature + told.decrement**2 + told.moment_rounding
        return np.asarray(stated + ROUNDINGS * EPS * (1.0 + np.abs(self.profile.deficits)))


def fitted(sample: Sample, levels: int = 0) -> Outcome:
    """Profile of a sample; a level that is refused ends it."""
    return run(lambda: sr.profile(sample.x, weights=sample.weights, levels=levels or sample.levels))


def fitted_from_moments(sample: Sample) -> Outcome:
    """The same from sums without rows."""
    directions = sr.Directions(sample.x, sample.weights)
    hierarchy = sr.Harmonics(sample.d, sample.levels)
    return run(lambda: sr.profile(sr.Moments.from_directions(directions, hierarchy)))


def run(call: object) -> Outcome:
    """Time ``call`` and tell its refusals from its results."""
    assert callable(call)
    began = time.perf_counter()
    try:
        profile, refusal = call(), None
    except LevelError as error:
        profile, refusal = error.profile, error
    return Outcome(profile, refusal, time.perf_counter() - began)
