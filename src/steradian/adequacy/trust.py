"""Three questions about a profile, answered in a sentence each.

Are the numbers right? Are there enough data? Is there more structure? Everything else that decided
an answer is kept as its details, for those who ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.adequacy.beyond import beyond_data
from steradian.adequacy.calibration import Calibration
from steradian.adequacy.leftover import levels_through, moments_to_degree
from steradian.adequacy.mmd import has_contours
from steradian.adequacy.residuals import (
    ABOVE,
    Residuals,
    default_degree,
    harmonic_residuals,
    names_of_levels,
    remaining_information,
)
from steradian.diagnostics import LIKELY_BELOW, Diagnostic, MethodCode, Verdict, verdict_of
from steradian.errors import BoundaryError, SteradianError
from steradian.existence.margin import Evidence
from steradian.families.quadratics.polar_whitening import polar_whitening
from steradian.inference import concerns
from steradian.inference.bias import model_noise
from steradian.inference.effort import Patience
from steradian.inference.sample import Sample
from steradian.notebook import NotebookView
from steradian.numerics.tolerances import (
    BEYOND_DOUBT,
    COLLINEAR,
    GOOD_DEFICIT,
    LEAST_ERROR,
    MARGIN_THIN,
    USABLE_DEFICIT,
)
from steradian.text.numbers import in_lines, sentence
from steradian.text.phrases import say

if TYPE_CHECKING:
    from steradian.decomposition import Profile


_WIDTH, _LABEL = 80, 26


class Answer(StrEnum):
    """Whether numbers are right, and data enough."""

    YES = "yes"
    CARE = "with_care"
    NO = "no"
    UNKNOWN = "unknown"

    @property
    def words(self) -> str:
        """How it is said."""
        return say(f"answer_{self}")


@dataclass(frozen=True, slots=True)
class Judgement:
    """One question, its answer, why, and the details that only some people ask for.

    Attributes
    ----------
    about : {"numbers", "data", "structure"}
        What is asked.
    answer : Answer or Verdict
        About structure a `Verdict`: how sure it is that there is more.
    reasons, details : tuples of Diagnostic
    """

    about: str
    answer: Answer | Verdict
    reasons: tuple[Diagnostic, ...]
    details: tuple[Diagnostic, ...] = ()

    @property
    def question(self) -> str:
        """The question as people read it."""
        return say(f"question_{self.about}")

    @property
    def words(self) -> str:
        """The answer in a sentence or two."""
        why = "; ".join(one.words for one in self.reasons)
        return sentence(why if self.answer is Verdict.OPEN else f"{self.answer.words}: {why}")

    def __str__(self) -> str:
        return self.shown(verbose=False)

    def shown(self, *, verbose: bool) -> str:
        """The question and its answer, with details on request."""
        said = (
            [self.words, *(sentence(one.words) for one in self.details)]
            if verbose
            else [self.words]
        )
        return "\n".join(in_lines(" ".join(said), _WIDTH, f"{self.question:<{_LABEL}}"))


@dataclass(frozen=True, slots=True)
class Trust(NotebookView):
    """Whether a profile can be trusted; ``print`` shows the three answers.

    Attributes
    ----------
    numbers : Judgement
        Are the numbers right? Arithmetic, and whether the fits exist with room to spare.
    data : Judgement
        Are there enough data, and does none of them decide alone?
    structure : Judgement
        Is there more structure above the highest level, how much, and what shows it?

    Examples
    --------
    >>> import steradian as sr
    >>> print(sr.profile(sr.examples.load("mcmurdo"), levels=1).trust().structure.answer)
    clear
    """

    numbers: Judgement
    data: Judgement
    structure: Judgement

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """All three."""
        return self.numbers, self.data, self.structure

    def __str__(self) -> str:
        return self.shown(verbose=False)

    def shown(self, *, verbose: bool) -> str:
        """The three answers, with details on request."""
        return "\n".join(one.shown(verbose=verbose) for one in self.judgements)

    def to_dict(self) -> dict[str, Any]:
        """Questions, answers, reasons and details, ready for JSON."""
        return {
            one.about: {
                "question": one.question,
                "answer": str(one.answer),
                "reasons": [reason.to_dict() for reason in one.reasons],
                "details": [detail.to_dict() for detail in one.details],
            }
            for one in self.judgements
        }


NUMBERS, DATA, STRUCTURE = "numbers", "data", "structure"
_ROWS_PER_FEATURE = 10.0  # below which gaps are mostly bias
_SHARE_OF_NOISE = 0.01  # of the sampling noise of a gap that numerical error may reach
_SURELY = 3.1  # standard deviations: one in a thousand by chance
_SOON = 3e7  # work: three seconds at most
_SHRUNK = Diagnostic("fits_of_shrunk_data")
_Reasons = list[tuple[Answer, Diagnostic]]

_WORST = (Answer.NO, Answer.CARE, Answer.UNKNOWN, Answer.YES)


def trust_of(profile: Profile) -> Trust:
    """Answer the three questions for a profile."""
    return Trust(_numbers(profile), _data(profile), _structure(profile))


def _judgement(about: str, found: _Reasons, details: tuple[Diagnostic, ...] = ()) -> Judgement:
    """The worst answer, with the reasons for it first."""
    ranked = sorted(found, key=lambda one: _WORST.index(one[0]))
    return Judgement(about, ranked[0][0], tuple(reason for _, reason in ranked), details)


# --- are the numbers right? -------------------------------------------------------------------


def _numbers(profile: Profile) -> Judgement:
    n = profile.numerics
    error = float((n.quadrature + n.moment_rounding + 0.5 * n.decrement**2).max())
    family = profile.moments.hierarchy.family(int(profile.levels[-1]))
    usable = error <= USABLE_DEFICIT or family.noise_share < np.inf  # else there is no profile
    answer = Answer.YES if error <= GOOD_DEFICIT else Answer.CARE if usable else Answer.NO
    found = [(answer, Diagnostic("arithmetic", data={"error": max(error, LEAST_ERROR)}))]
    if n.condition.max() > COLLINEAR:
        found.append((Answer.CARE, Diagnostic("collinear_features")))
    if profile.design.defines_inference and profile.shrinkage is None:
        noise = 0.5 / profile.as_sample().rate ** 2
        if error > _SHARE_OF_NOISE * noise:
            noise = max(float(noise), LEAST_ERROR)
            found.append((Answer.CARE, Diagnostic("error_near_noise", data={"noise": noise})))
    margin, detail = _margin(profile)
    certificates = {
        "residual": float(n.residual.max()),
        "condition": float(n.condition.max()),
        "nodes": int(n.nodes.max()),
    }
    details = (Diagnostic("certificates", data=certificates), detail)
    return _judgement(NUMBERS, [*found, *margin, *_changed(profile)], details)


def _margin(profile: Profile) -> tuple[_Reasons, Diagnostic]:
    """How far inside the moment body the highest level lies, as its family says."""
    top = int(profile.levels[-1])
    if profile.shrinkage is not None:
        return [], Diagnostic("margin_of_shrunk_data")
    family = profile.moments.hierarchy.family(top)
    known = family.margin_bound(Evidence.of(profile.moments.stack(), None))
    if known is None:
        return [], Diagnostic("margin_not_computed")
    margin, exact = known
    place = "inside" if margin >= MARGIN_THIN else "close"
    code = f"margin_{place}" if exact else f"margin_{place}_at_most"
    detail = Diagnostic(code, data={"margin": float(margin), "of_level": top})
    if margin >= MARGIN_THIN:
        return [], detail
    return [(Answer.CARE, Diagnostic("rows_hardly_suffice", data={"of_level": top}))], detail


def _changed(profile: Profile) -> _Reasons:
    """Whether other data were fitted than were given."""
    found = []
    if profile.shrinkage is not None:
        found.append((Answer.CARE, profile.shrinkage.diagnostic))
    if profile.ambient > profile.d:
        data = {"d": int(profile.d), "ambient": int(profile.ambient)}
        found.append((Answer.CARE, Diagnostic("within_span", data=data)))
    return found


# --- are there enough data? -------------------------------------------------------------------


def _data(profile: Profile) -> Judgement:
    stopped = _stopped(profile)
    if profile.shrinkage is not None:
        what = "row" if profile.design.equal_weights else "effective row"
        rows = _enough(profile, profile.ess, what)
        few = [rows] if rows[0] is not Answer.YES else []
        return _judgement(DATA, [(Answer.UNKNOWN, _SHRUNK), *few, *stopped])
    found = [*stopped, *((Answer.CARE, one) for one in _beyond(profile))]
    if not profile.design.defines_inference:
        silent = Diagnostic("design_without_inference", data={"design": profile.design.name})
        return _judgement(DATA, [(Answer.UNKNOWN, silent), *found])
    sample = profile.as_sample()
    found += [(Answer.CARE, one) for one in concerns.of_weights(sample)]
    return _judgement(DATA, [*_noise(profile, sample), *found, _rows(profile, sample)])


def _stopped(profile: Profile) -> _Reasons:
    stopped = profile.stopped
    if stopped is None:
        return []
    nowhere = stopped.data.get("error") == BoundaryError.__name__
    code = "level_does_not_exist" if nowhere else "level_not_fitted"
    data = {"of_level": int(profile.levels[-1]) + 1}
    return [(Answer.CARE, Diagnostic(code, data=data))]


def _beyond(profile: Profile) -> tuple[Diagnostic, ...]:
    """Gaps that come from where there are no data, of levels that a rule integrates."""
    families = [profile.moments.hierarchy.family(int(level)) for level in profile.levels]
    if profile.directions is None or not any(family.has_rule for family in families):
        return ()
    return beyond_data(profile.as_sample(), draws=0, seed=0).diagnostics


def _noise(profile: Profile, sample: Sample) -> _Reasons:
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
    data = {"gap": float(profile.gaps[1]), "noise": float(model_noise(sample)[1])}
    few = rate**2 < _ROWS_PER_FEATURE * q
    if score - q < _SURELY * np.sqrt(2.0 * q):
        return [(Answer.NO if few else Answer.YES, Diagnostic("all_noise", data=data))]
    if few and score < 2.0 * q:
        return [(Answer.CARE, Diagnostic("mostly_noise", data=data))]
    return []


def _rows(profile: Profile, sample: Sample) -> tuple[Answer, Diagnostic]:
    """Independent units for the features."""
    return _enough(profile, *rows_that_count(profile, sample))


def _enough(profile: Profile, count: float, what: str) -> tuple[Answer, Diagnostic]:
    """Whether so many rows suffice for the features, whatever was fitted."""
    features = int(profile.dims.sum())
    enough = _ROWS_PER_FEATURE * features
    data = {"rows": float(count), "what": what, "features": features, "safe": enough}
    if count >= enough:
        return Answer.YES, Diagnostic("rows_suffice", data=data)
    if round(count) < features:  # as it is printed
        return Answer.NO, Diagnostic("rows_too_few", data=data)
    return Answer.CARE, Diagnostic("rows_few", data=data)


def rows_that_count(profile: Profile, sample: Sample) -> tuple[float, str]:
    """How many independent units there are, and what they are called."""
    if sample.has_rows and sample.units.labels is not None:
        return float(sample.units.effective), "unit"
    count = profile.ess if profile.design.random_weights else sample.rate**2
    return count, "row" if profile.design.equal_weights else "effective row"


# --- is there more structure? -----------------------------------------------------------------


def left_above(profile: Profile) -> tuple[Diagnostic, ...]:
    """What the highest level leaves over."""
    return _structure(profile).reasons


def _structure(profile: Profile) -> Judgement:
    if profile.shrinkage is not None:
        return Judgement(STRUCTURE, Verdict.UNJUDGED, (_SHRUNK,))
    answer, reasons, details = _look_above(profile, profile.as_sample())
    return Judgement(STRUCTURE, answer, reasons, details)


_Found = tuple[Verdict, tuple[Diagnostic, ...], tuple[Diagnostic, ...]]


def _look_above(profile: Profile, sample: Sample) -> _Found:
    """What the highest level leaves over."""
    top = int(profile.levels[-1])
    if levels_through(sample.hierarchy, top + 1) is None:
        contours = has_contours(sample.hierarchy)
        code = "nothing_above_but_discrepancy" if contours else "nothing_above_on_space"
        data = {"of_level": top, "space": sample.hierarchy.space.name}
        return Verdict.UNJUDGED, (Diagnostic(code, data=data),), ()
    degree = default_degree(sample)
    untold = sample.untold(top + ABOVE)
    if degree <= top and untold is not None:
        return Verdict.UNJUDGED, (untold,), ()
    if degree <= top:
        kind = "level" if names_of_levels(sample.hierarchy) else "degree"
        held = Diagnostic("nothing_held_above", data={"kind": kind, "of_level": top})
        return Verdict.UNJUDGED, (held,), ()
    try:
        how = Calibration(patience=Patience(_SOON, "residuals()"))
        r = harmonic_residuals(sample, degree, "unit", how, from_level=top)
    except SteradianError as error:
        return Verdict.UNJUDGED, (error.diagnostic,), ()
    answer, reasons = _judged(profile, sample, r)
    return answer, (*reasons, *([] if untold is None else [untold])), _details(r)


def _judged(
    profile: Profile, sample: Sample, r: Residuals
) -> tuple[Verdict, tuple[Diagnostic, ...]]:
    """How sure it is that there is more, and the reasons."""
    size = _size(sample, r)
    if profile.design.defines_inference:
        return _answer(profile, sample, r, size)
    data = {"of_level": int(r.levels[-1]), "size": size.nested, "design": profile.design.name}
    return Verdict.UNJUDGED, (Diagnostic("left_above_untested", data=data),)


def _details(r: Residuals) -> tuple[Diagnostic, ...]:
    """The residual of the highest level and how it was judged, or why there is none."""
    value = float(r.values[-1])
    if np.isnan(value):
        return r.diagnostics[-1:]
    told = {"value": value, "through": r.through, "method": r.methods[-1].nested}
    return (Diagnostic("residual_value", data=told),)


def _size(sample: Sample, r: Residuals) -> Diagnostic:
    """What is left in nats, and what of it noise gives where that is known."""
    wide = levels_through(sample.hierarchy, r.degree)
    assert wide is not None  # its residuals are known
    top = int(r.levels[-1])
    seen = wide.expectations(moments_to_degree(sample, r.degree).stack(), r.degree)[0]
    nats = float(remaining_information(sample, wide, top, seen))
    data: dict[str, Any] = {"through": r.through}
    if np.isnan(nats):
        return Diagnostic("left_residual", data={**data, "value": float(r.values[-1])})
    data["nats"] = nats
    if not (sample.design.defines_inference and sample.design.rows_of_one_law):
        return Diagnostic("left_nats", data=data)
    noise = 0.5 * (wide.q(r.degree) - wide.q(top)) / sample.rate**2
    return Diagnostic("left_nats_and_noise", data={**data, "noise": float(noise)})


def _answer(
    profile: Profile, sample: Sample, r: Residuals, size: Diagnostic
) -> tuple[Verdict, tuple[Diagnostic, ...]]:
    """What the p-value of the highest level says."""
    top, pvalue, judged = int(r.levels[-1]), float(r.pvalue[-1]), r.judged[-1]
    if np.isnan(pvalue):
        later = judged.method.code is MethodCode.NOT_COMPUTED
        return Verdict.OPEN if later else Verdict.UNJUDGED, (r.diagnostics[-1],)
    data: dict[str, Any] = {"of_level": top, "pvalue": pvalue}
    if judged.resting is not None and pvalue >= BEYOND_DOUBT:
        data["why"] = judged.resting.nested
        return Verdict.UNJUDGED, (Diagnostic("left_above_rests_on_few", data=data),)
    data["size"] = size.nested
    n = float(sample.rate**2)
    rough = (Diagnostic("residuals_rough", data={"n": n}),) if judged.rough else ()
    answer = verdict_of(pvalue)
    if pvalue >= LIKELY_BELOW:
        return answer, (Diagnostic("nothing_found_above", data=data), *rough)
    found = Diagnostic("found_above", data={**data, "most": _most(r)})
    return answer, (found, _remedy(profile, sample, r), *rough)


def _remedy(profile: Profile, sample: Sample, r: Residuals) -> Diagnostic:
    """More levels as far as they can be fitted and rows suffice, else how many rows would."""
    top, most = int(r.levels[-1]), int(np.argmax(r.contributions[-1])) + 1
    wide = levels_through(sample.hierarchy, most)
    most = most if wide is None else min(wide.most_fitted, most)
    rows, _ = rows_that_count(profile, sample)
    needs = {
        level: _ROWS_PER_FEATURE * _features(sample, level) for level in range(top + 1, most + 1)
    }
    within = [level for level, need in needs.items() if need <= rows]
    if most <= top or (within and profile.stopped is not None):
        return Diagnostic("no_levels_above", data={"of_level": top})
    if within:
        return Diagnostic("try_levels", data={"levels": within[-1]})
    data = {"of_level": top + 1, "rows": float(needs[top + 1])}
    return Diagnostic("rows_for_level", data=data)


def _features(sample: Sample, level: int) -> int:
    wide = levels_through(sample.hierarchy, level)
    assert wide is not None  # its residuals are known
    return wide.q(level)


def _most(r: Residuals) -> str:
    return r.at(int(np.argmax(r.contributions[-1])) + 1)
