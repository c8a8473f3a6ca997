"""Lines about a profile: every method answers, or refuses in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from steradian.batches import Profiles, profiles
from steradian.conformance.specimen import FittedSpecimen
from steradian.contract import Line, NotOffered
from steradian.data.moments import Moments
from steradian.decomposition import Profile, profile
from steradian.errors import SteradianError
from steradian.existence.boundary import boundary
from steradian.inference.bootstrap import bootstrap
from steradian.inference.order import choose_order
from steradian.plots.canvas import new_figure

Call = Callable[[Profile], Any]
_BRIEF = 1e4  # work of p-values that print may begin: those that take longer are of "tests"


def _two_weightings(p: Profile) -> Profiles:
    """The same rows twice, in one solve."""
    rows: Any = p.directions
    return profiles(rows, weights=np.ones((2, p.n)), hierarchy=p.moments.hierarchy)


def _drawn(p: Profile) -> Any:
    """The plot on a figure of its own, which no session keeps open."""
    return p.plot(new_figure(4.0, 3.0).subplots())


CALLS: dict[str, Call] = {
    "print": lambda p: p.summary(patience=_BRIEF),
    "to_dict": lambda p: json.loads(json.dumps(p.to_dict())),
    "to_frame": lambda p: p.to_frame(),
    "tests": lambda p: p.tests(replicates=19),
    "model": lambda p: p.tests(null="model"),
    "intervals": lambda p: p.intervals(),
    "uniformity": lambda p: p.uniformity(),
    "residuals": lambda p: p.residuals(replicates=9),
    "mmd": lambda p: p.mmd(replicates=9),
    "beyond": lambda p: p.beyond(draws=100),
    "left_out": lambda p: p.left_out(p),
    "trust": lambda p: p.trust(),
    "sensitivity": lambda p: p.sensitivity((0.0, 0.03), rotations=1),
    "choose_order": lambda p: choose_order(p, folds=3),
    "bootstrap": lambda p: bootstrap(p, replicates=3).gaps,
    "parametric": lambda p: bootstrap(p, "parametric", replicates=3),
    "boundary": lambda p: boundary(p.as_sample().rows, hierarchy=p.moments.hierarchy),
    "profiles": _two_weightings,
    "sample": lambda p: p.fits[-1].sample(5, 0),
    "mean": lambda p: p.fits[-1].mean(),
    "moments": lambda p: profile(Moments.from_dict(p.moments.to_dict())),
    "sums": lambda p: profile(p.moments).tests(),
    "plot": _drawn,
}
"""Every method of a profile, and every function that takes one."""

ANSWERED = frozenset({"print", "to_dict", "tests", "intervals", "uniformity", "trust", "sample"}
                     | {"bootstrap", "profiles"})  # fmt: skip
"""What no hierarchy may refuse."""


def answers(s: FittedSpecimen) -> Iterator[str]:
    """Every method of its profile answers, or refuses in words."""
    yield from wrong_answers(s.profile, CALLS)


def wrong_answers(p: Profile, calls: dict[str, Call]) -> Iterator[str]:
    """Calls that break, refuse what none may refuse, or give p-values that are none."""
    for name, call in calls.items():
        try:
            answer = call(p)
        except SteradianError as error:
            if name in ANSWERED or not str(error).strip():
                yield f"`{name}` refuses, and none may: {error}"
            continue
        except Exception as error:  # whatever somebody else's code raises
            yield f"`{name}` raised {type(error).__name__}: {error}"
            continue
        for value in np.ravel(getattr(answer, "pvalue", [])):
            if not (np.isnan(value) or 0.0 <= value <= 1.0):
                yield f"`{name}` gives the p-value {value:.3g}."


def additive(s: FittedSpecimen) -> Iterator[str]:
    """Moments add: the profile of two halves pooled is that of the whole."""
    h, rows = s.hierarchy, s.rows
    odd = np.arange(rows.n) % 2 == 1
    halves = [Moments.from_directions(rows.take(part), h) for part in (odd, ~odd)]
    off = float(np.abs(profile(halves[0] + halves[1]).gaps - s.profile.gaps).max())
    if off > 1e-8:
        yield f"The gaps differ by {off:.2g} nats."


def read_again(s: FittedSpecimen) -> Iterator[str]:
    """Moments that were written down and read again give the same profile, or refuse in words."""
    written = json.loads(json.dumps(s.profile.moments.to_dict()))
    try:
        again = Moments.from_dict(written)
    except SteradianError as error:
        raise NotOffered(str(error)) from None
    off = float(np.abs(profile(again).gaps - s.profile.gaps).max())
    if off > 1e-8:
        yield f"The gaps differ by {off:.2g} nats."


LINES: tuple[Line[FittedSpecimen], ...] = (additive, read_again, answers)
