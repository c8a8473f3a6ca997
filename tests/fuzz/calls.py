"""Every public question to a profile: answered, or refused in our own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import steradian as sr
from fuzz.invariants import Check
from fuzz.samples import Rng, Sample
from steradian.errors import SteradianError

MOST_LEVELS = 4  # that are asked for p-values


@dataclass(frozen=True, eq=False)
class Asked:
    """What a question is about."""

    profile: sr.results.Profile
    sample: Sample
    rng: Rng

    @property
    def inferential(self) -> sr.results.Profile:
        """The profile with a design that defines p-values, where weights leave it undefined.

        At levels up to four: replicates of small samples at higher ones take minutes.
        """
        levels = min(len(self.profile.levels), MOST_LEVELS)
        if self.sample.weights is None and levels == len(self.profile.levels):
            return self.profile
        if self.sample.weights is None:
            return sr.profile(self.sample.x, levels=levels)
        return sr.profile(self.sample.x, weights=self.sample.weights, levels=levels, design="fixed")


def checked(name: str, about: Asked) -> Iterator[Check]:
    """What is wrong with the answer to one question of `CALLS`."""
    try:
        answer = CALLS[name](about)
    except SteradianError as error:
        if not str(error).strip():
            yield Check(f"{name}: error without words", 0, type(error).__name__)
        return
    for p in np.ravel(getattr(answer, "pvalue", [])):
        if not (np.isnan(p) or 0.0 <= p <= 1.0):
            yield Check(f"{name}: p-value", 0, f"{p}")


def _boundary(about: Asked) -> object:
    levels = min(about.sample.levels, 4) if about.sample.d <= 3 else 2
    return sr.boundary(about.sample.x, levels=levels)


def _draws(about: Asked) -> object:
    fits = about.profile.fits
    return fits[int(about.rng.integers(1, len(fits)))].sample(20, about.rng)


CALLS: dict[str, Callable[[Asked], object]] = {
    "summary": lambda about: about.profile.summary(),
    "to_dict": lambda about: about.profile.to_dict(),
    "trust": lambda about: about.profile.trust(),
    "tests": lambda about: about.inferential.tests(replicates=99),
    "tests of the model": lambda about: about.inferential.tests(null="model"),
    "intervals": lambda about: about.inferential.intervals(),
    "uniformity": lambda about: about.inferential.uniformity(),
    "residuals": lambda about: about.inferential.residuals(replicates=19),
    "mmd": lambda about: about.inferential.mmd(replicates=19),
    "choose_order": lambda about: sr.choose_order(about.inferential),
    "bootstrap": lambda about: sr.bootstrap(about.inferential, replicates=5),
    "boundary": _boundary,
    "sample": _draws,
}
