"""Three questions about a profile, answered in a sentence each.

Are the numbers right? Are there enough data? Is there more structure? Everything else that decided
an answer is kept as its details, for those who ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.adequacy.above import levels_through, moments_to_degree
from steradian.adequacy.answers import Answer, Judgement, Trust
from steradian.adequacy.beyond import beyond_data
from steradian.adequacy.calibration import Calibration
from steradian.adequacy.mmd_any_dimension import has_contours
from steradian.adequacy.remaining import remaining_information
from steradian.adequacy.residuals import (
    ABOVE,
    Residuals,
    default_degree,
    harmonic_residuals,
    names_of_levels,
)
from steradian.data.source import most_fitted
from steradian.errors import SteradianError
from steradian.existence.margin import Evidence
from steradian.families.base import HeldToNoise
from steradian.families.quadratics.polar_whitening import polar_whitening
from steradian.numerics.tolerances import (
    BEYOND_DOUBT,
    COLLINEAR,
    GOOD_DEFICIT,
    MARGIN_THIN,
    USABLE_DEFICIT,
)
from steradian.significance import concerns
from steradian.significance.effort import LATER, Patience
from steradian.significance.noise import model_noise
from steradian.significance.sample import Sample
from steradian.wording import (
    LIKELY_BELOW,
    Verdict,
    digits,
    power_of_ten,
    pvalue_words,
    verdict_of,
)

if TYPE_CHECKING:
    from steradian.profile import Profile

NUMBERS, DATA, STRUCTURE = (
    "Are the numbers right?",
    "Are there enough data?",
    "Is there more structure?",
)
_ROWS_PER_FEATURE = 10.0  # below which gaps are mostly bias
_SHARE_OF_NOISE = 0.01  # of the sampling noise of a gap that numerical error may reach
_SURELY = 3.1  # standard deviations: one in a thousand by chance
_SOON = 3e7  # work: three seconds at most
_ROUGH = (
    ", roughly: by a law for more rows than these; in Python, residuals() draws samples instead"
)
_SHRUNK = "the fits are of shrunk data, so nothing tells about the data themselves"


_WORST = (Answer.NO, Answer.CARE, Answer.UNKNOWN, Answer.YES)


def trust_of(profile: Profile) -> Trust:
    """Answer the three questions for a profile."""
    return Trust(_numbers(profile), _data(profile), _structure(profile))


def _judgement(
    question: str, found: list[tuple[Answer, str]], details: tuple[str, ...] = ()
) -> Judgement:
    """The worst answer, with the reasons for it first."""
    ranked = sorted(found, key=lambda one: _WORST.index(one[0]))
    return Judgement(question, ranked[0][0], tuple(words for _, words in ranked), details)


# --- are the numbers right? -------------------------------------------------------------------


def _numbers(profile: Profile) -> Judgement:
    n = profile.numerics
    error = float((n.quadrature + n.moment_rounding + 0.5 * n.decrement**2).max())
    family = profile.moments.hierarchy.family(int(profile.levels[-1]))
    usable = error <= USABLE_DEFICIT or isinstance(family, HeldToNoise)  # else there is no profile
    answer = Answer.YES if error <= GOOD_DEFICIT else Answer.CARE if usable else Answer.NO
    found = [(answer, f"the arithmetic is good to {_power(error)} nats")]
    if n.condition.max() > COLLINEAR:
        said = "some features are nearly the same function where the data lie, which costs digits"
        found.append((Answer.CARE, said))
    if profile.design.defines_inference and profile.shrinkage is None:
        noise = 0.5 / profile.as_sample().rate ** 2
        if error > _SHARE_OF_NOISE * noise:
            said = f"that is not small against sampling noise ({_power(noise)} nats)"
            found.append((Answer.CARE, said))
    margin, detail = _margin(profile)
    details = (
        f"moment residual {n.residual.max():.0e}, condition {n.condition.max():.0e}, "
        f"{int(n.nodes.max())} nodes",
        detail,
    )
    return _judgement(NUMBERS, [*found, *margin, *_changed(profile)], details)


def _power(error: float) -> str:
    return power_of_ten(max(error, 1e-15))


def _margin(profile: Profile) -> tuple[list[tuple[Answer, str]], str]:
    """How far inside the moment body the highest level lies, as its family says."""
    top = int(profile.levels[-1])
    if profile.shrinkage is not None:
        return [], "the moment body was not looked at, since shrunk data lie inside"
    family = profile.moments.hierarchy.family(top)
    known = family.margin_bound(Evidence.of(profile.moments.stack(), None))
    if known is None:
        return [], "a fit exists; how far inside the moment body is not computed here"
    margin, exact = known
    said = f"margin {'' if exact else 'at most '}{margin:.2g} at level {top}"
    if margin >= MARGIN_THIN:
        return [], f"inside the moment body, {said}"
    thin = (
        f"the rows hardly suffice for a fit of level {top} (see boundary()): read its nats as a "
        "lower bound"
    )
    return [(Answer.CARE, thin)], f"close to the boundary of the moment body, {said}"


def _changed(profile: Profile) -> list[tuple[Answer, str]]:
    """Whether other data were fitted than were given."""
    found = []
    if profile.shrinkage is not None:
        found.append((Answer.CARE, f"the data were {profile.shrinkage.words}"))
    if profile.ambient > profile.d:
        found.append((Answer.CARE, f"within {profile.d} of {profile.ambient} dimensions"))
    return found


# --- are there enough data? -------------------------------------------------------------------


def _data(profile: Profile) -> Judgement:
    stopped = _stopped(profile)
    if profile.shrinkage is not None:
        what = "rows" if profile.design.equal_weights else "effective rows"
        rows = _enough(profile, profile.ess, what)
        few = [rows] if rows[0] is not Answer.YES else []
        return _judgement(DATA, [(Answer.UNKNOWN, _SHRUNK), *few, *stopped])
    found = [*stopped, *((Answer.CARE, words) for words in _beyond(profile))]
    if not profile.design.defines_inference:
        said = f"design {profile.design.name} says nothing of how the rows came about"
        return _judgement(DATA, [(Answer.UNKNOWN, said), *found])
    sample = profile.as_sample()
    found += [(Answer.CARE, words) for words in concerns.of_weights(sample)]
    return _judgement(DATA, [*_noise(profile, sample), *found, _rows(profile, sample)])


def _stopped(profile: Profile) -> list[tuple[Answer, str]]:
    if not profile.stopped:
        return []
    gone = "there is no" if "does not exist" in profile.stopped else "no fit was found of"
    return [(Answer.CARE, f"{gone} level {int(profile.levels[-1]) + 1}")]


def _beyond(profile: Profile) -> tuple[str, ...]:
    """Gaps that come from where there are no data, of levels that a rule integrates."""
    families = [profile.moments.hierarchy.family(int(level)) for level in profile.levels]
    if profile.directions is None or not any(family.has_rule for family in families):
        return ()
    return beyond_data(profile.as_sample(), draws=0, seed=0).warnings


def _noise(profile: Profile, sample: Sample) -> list[tuple[Answer, str]]:
    """How much of level 2 in high dimension is what noise gives.

    Fitted gaps run ahead of their limit there; the score ``a² |r|²``, which for noise is about
    its number of features q give or take √(2q), does not, and needs no more than E xxᵀ.
    """
    closed = sample.hierarchy.family(1).closed_leftover
    if not closed or len(profile.levels) < 2 or not profile.design.rows_of_one_law:
        return []
    white = polar_whitening(profile.d, sample.parameters(1))
    m, rate, q = sample.moments, sample.rate, white.q
    second = m.scatter / m.weight + np.outer(m.mean, m.mean)
    score = rate**2 * float(white.score_of(m.mean[None], second[None])[0])
    against = f"({profile.gaps[1]:.3g} against {model_noise(sample)[1]:.3g} expected)"
    few = rate**2 < _ROWS_PER_FEATURE * q
    if score - q < _SURELY * np.sqrt(2.0 * q):
        return [(Answer.NO if few else Answer.YES, f"all of I₂ is what noise gives {against}")]
    if few and score < 2.0 * q:
        return [(Answer.CARE, f"most of I₂ is what noise gives {against}")]
    return []


def _rows(profile: Profile, sample: Sample) -> tuple[Answer, str]:
    """Independent units for the features."""
    return _enough(profile, *rows_that_count(profile, sample))


def _enough(profile: Profile, count: float, what: str) -> tuple[Answer, str]:
    """Whether so many rows suffice for the features, whatever was fitted."""
    features = int(profile.dims.sum())
    said = f"{count:.0f} {what} for {features} fitted parameter{'s' * (features > 1)}"
    enough = _ROWS_PER_FEATURE * features
    if count >= enough:
        return Answer.YES, said
    safe = f"{said}, where {enough:.0f} would be safe"
    if round(count) < features:  # as it is printed
        return Answer.NO, f"{safe}; rely on no more than levels far above their noise"
    return Answer.CARE, f"{safe}; rely on levels far above their noise"


def rows_that_count(profile: Profile, sample: Sample) -> tuple[float, str]:
    """How many independent units there are, and what they are called."""
    if sample.has_rows and sample.units.labels is not None:
        return float(sample.units.effective), "units"
    count = profile.ess if profile.design.random_weights else sample.rate**2
    return count, "rows" if profile.design.equal_weights else "effective rows"


# --- is there more structure? -----------------------------------------------------------------


def left_above(profile: Profile) -> str:
    """What the highest level leaves over, in words."""
    return "; ".join(_structure(profile).reasons)


def _structure(profile: Profile) -> Judgement:
    if profile.shrinkage is not None:
        return Judgement(STRUCTURE, Verdict.UNJUDGED, (_SHRUNK,))
    answer, reasons, details = _look_above(profile, profile.as_sample())
    return Judgement(STRUCTURE, answer, reasons, details)


_Found = tuple[Verdict, tuple[str, ...], tuple[str, ...]]


def _look_above(profile: Profile, sample: Sample) -> _Found:
    """What the highest level leaves over."""
    top = int(profile.levels[-1])
    if levels_through(sample.hierarchy, top + 1) is None:
        said = f"nothing above level {top} is looked at on the {sample.hierarchy.space.name}"
        more = "; in Python, mmd() tests it" if has_contours(sample.hierarchy) else ""
        return Verdict.UNJUDGED, (said + more,), ()
    degree = default_degree(sample)
    untold = sample.untold(top + ABOVE)
    if degree <= top and untold:
        return Verdict.UNJUDGED, (untold,), ()
    if degree <= top:
        said = f"moments or design hold nothing above {_named(sample, top)}"
        return Verdict.UNJUDGED, (said,), ()
    try:
        how = Calibration(patience=Patience(_SOON, "residuals()"))
        r = harmonic_residuals(sample, degree, "unit", how, from_level=top)
    except SteradianError as error:
        return Verdict.UNJUDGED, (str(error),), ()
    told = f"{r.letter} = {r.values[-1]:.3g} through {r.through}, {r.methods[-1]}"
    details = r.warnings[-1:] if np.isnan(r.values[-1]) else (told,)
    size = _size(sample, r)
    found: tuple[Verdict, tuple[str, ...]]
    if not profile.design.defines_inference:
        said = f"level {top} leaves {size}, and a {profile.design.name} design has no tests"
        found = Verdict.UNJUDGED, (said,)
    else:
        found = _answer(profile, sample, r, size)
    return found[0], (*found[1], *([untold] if untold else [])), details


def _size(sample: Sample, r: Residuals) -> str:
    """What is left in nats, and what of it noise gives where that is known."""
    wide = levels_through(sample.hierarchy, r.degree)
    assert wide is not None  # its residuals are known
    top = int(r.levels[-1])
    seen = wide.expectations(moments_to_degree(sample, r.degree).stack(), r.degree)[0]
    nats = remaining_information(sample, wide, top, seen)
    through = f"through {r.through}"
    if np.isnan(nats):
        return f"{r.letter} = {r.values[-1]:.3g} {through}"
    if not (sample.design.defines_inference and sample.design.rows_of_one_law):
        return f"about {digits(nats, 2)} nats {through}"
    noise = 0.5 * (wide.q(r.degree) - wide.q(top)) / sample.rate**2
    return f"about {digits(nats, 2)} nats {through}, where noise gives {digits(noise, 2)}"


def _answer(
    profile: Profile, sample: Sample, r: Residuals, size: str
) -> tuple[Verdict, tuple[str, ...]]:
    """What the p-value of the highest level says."""
    top, pvalue, judged = int(r.levels[-1]), float(r.pvalue[-1]), r.judged[-1]
    if np.isnan(pvalue):
        verdict = Verdict.OPEN if judged.method == LATER else Verdict.UNJUDGED
        return verdict, (r.warnings[-1].removeprefix(f"level {top}: "),)
    words = pvalue_words(pvalue) + (_ROUGH if judged.rough else "")
    if judged.resting and pvalue >= BEYOND_DOUBT:
        said = f"what level {top} leaves over cannot be judged: {judged.resting} ({words})"
        return Verdict.UNJUDGED, (said,)
    answer = verdict_of(pvalue)
    if pvalue >= LIKELY_BELOW:
        return answer, (f"nothing found above level {top} ({size}; {words})",)
    found = f"above level {top} {size} ({words}), most at {_most(r)}"
    return answer, (found, _remedy(profile, sample, r))


def _remedy(profile: Profile, sample: Sample, r: Residuals) -> str:
    """More levels as far as they can be fitted and rows suffice, else how many rows would."""
    top, most = int(r.levels[-1]), int(np.argmax(r.contributions[-1])) + 1
    wide = levels_through(sample.hierarchy, most)
    most = most if wide is None else most_fitted(wide, most)
    rows, _ = rows_that_count(profile, sample)
    needs = {
        level: _ROWS_PER_FEATURE * _features(sample, level) for level in range(top + 1, most + 1)
    }
    within = [level for level, need in needs.items() if need <= rows]
    if most <= top or (within and profile.stopped):
        return f"levels above {top} cannot be fitted here"
    if within:
        return f"try {within[-1]} levels"
    return f"level {top + 1} would take about {digits(needs[top + 1], 2)} rows"


def _features(sample: Sample, level: int) -> int:
    wide = levels_through(sample.hierarchy, level)
    assert wide is not None  # its residuals are known
    return wide.q(level)


def _most(r: Residuals) -> str:
    return r.at(int(np.argmax(r.contributions[-1])) + 1)


def _named(sample: Sample, level: int) -> str:
    return f"{'level' if names_of_levels(sample.hierarchy) else 'degree'} {level}"
