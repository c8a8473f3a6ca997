"""Three questions about a profile, answered in a line each.

Statistically: is structure left over, and are there rows enough? Numerically: are the digits
right? Structurally: how far inside the moment body do the data lie?
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.adequacy.above import levels_through
from steradian.adequacy.beyond import beyond_data
from steradian.adequacy.calibration import Calibration
from steradian.adequacy.mmd_any_dimension import has_contours
from steradian.adequacy.residuals import (
    Residuals,
    default_degree,
    harmonic_residuals,
    names_of_levels,
)
from steradian.errors import SteradianError
from steradian.existence.margin import Evidence
from steradian.families.base import HeldToNoise
from steradian.families.polar_whitening import polar_whitening
from steradian.numerics.tolerances import (
    BEYOND_DOUBT,
    COLLINEAR,
    GOOD_DEFICIT,
    MARGIN_THIN,
    USABLE_DEFICIT,
)
from steradian.significance import concerns
from steradian.significance.noise import model_noise
from steradian.significance.sample import Sample

if TYPE_CHECKING:
    from steradian.profile import Profile

REJECTED, DOUBTFUL = 0.01, 0.05  # p-values of the residual
_ROWS_PER_FEATURE = 10.0  # below which gaps are mostly bias
_SHARE_OF_NOISE = 0.01  # of the sampling noise of a gap that numerical error may reach
_CLEAR = 3.1  # standard deviations: one in a thousand by chance
_SOON = 5e7  # numbers drawn, a second or so, that nobody minds
_QUICK = 2e9  # multiplications that nobody notices
_WIDTH, _LABEL = 80, 15
_SHRUNK = "the fits are of shrunk data, so no residual tells about the data themselves"


class Answer(StrEnum):
    """How far one may trust."""

    YES = "yes"
    CARE = "with care"
    NO = "no"
    UNKNOWN = "not assessed"


_WORST = (Answer.NO, Answer.CARE, Answer.UNKNOWN, Answer.YES)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One answer, and why."""

    question: str
    answer: Answer
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        head = f"{self.question + ':':<{_LABEL}}"
        text = f"{self.answer}; {'; '.join(self.reasons)}"
        return textwrap.fill(text, _WIDTH, initial_indent=head, subsequent_indent=" " * _LABEL)


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether a profile can be trusted; ``print`` shows the three answers with their reasons.

    Attributes
    ----------
    statistical : Judgement
        Is structure left above the highest level, and are there rows enough?
    numerical : Judgement
        Are the digits right?
    structural : Judgement
        Do the data lie well inside the moment body?

    Examples
    --------
    >>> import steradian as sr
    >>> print(sr.profile(sr.examples.load("turtles"), levels=1).trust().statistical.answer)
    no
    """

    statistical: Judgement
    numerical: Judgement
    structural: Judgement

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """All three."""
        return self.statistical, self.numerical, self.structural

    def __str__(self) -> str:
        return "\n".join(str(one) for one in self.judgements)

    def to_dict(self) -> dict[str, Any]:
        """Answers and reasons, ready for JSON."""
        return {
            one.question: {"answer": str(one.answer), "reasons": list(one.reasons)}
            for one in self.judgements
        }


def trust_of(profile: Profile) -> Trust:
    """Answer the three questions for a profile."""
    return Trust(_statistical(profile), _numerical(profile), _structural(profile))


def _judgement(question: str, found: list[tuple[Answer, str]]) -> Judgement:
    """The worst answer, with the reasons for it first."""
    ranked = sorted(found, key=lambda one: _WORST.index(one[0]))
    return Judgement(question, ranked[0][0], tuple(words for _, words in ranked))


def left_above(profile: Profile) -> str:
    """What the highest level leaves over, in words."""
    return _SHRUNK if profile.shrinkage else _residual(profile, profile.as_sample())[1]


def _statistical(profile: Profile) -> Judgement:
    if profile.shrinkage is not None:
        return Judgement("statistically", Answer.UNKNOWN, (_SHRUNK,))
    sample = profile.as_sample()
    found = [_residual(profile, sample)]
    if profile.design.defines_inference:
        found += [(Answer.CARE, words) for words in concerns.of_weights(sample)]
        found += _noise(profile, sample)
        found += _rows(profile, sample)
    return _judgement("statistically", found)


def _residual(profile: Profile, sample: Sample) -> tuple[Answer, str]:
    """What the highest level leaves over."""
    top = int(profile.levels[-1])
    if levels_through(sample.hierarchy, top + 1) is None:
        said = f"nothing above level {top} is looked at on the {sample.hierarchy.space.name}"
        return Answer.UNKNOWN, said + ("; mmd() tests it" if has_contours(sample.hierarchy) else "")
    degree = default_degree(sample)
    if degree <= top:
        return Answer.UNKNOWN, f"moments or design hold nothing above {_named(sample, top)}"
    if not _quick(profile, sample, degree):
        return Answer.UNKNOWN, f"{profile.n} rows take a while: see residuals()"
    try:
        r = harmonic_residuals(sample, degree, "unit", Calibration(patience=_SOON), from_level=top)
    except SteradianError as error:
        return Answer.UNKNOWN, str(error)
    if not profile.design.defines_inference:
        said = f"level {top} leaves {r.letter} = {r.values[-1]:.3g} through {r.through}"
        return Answer.UNKNOWN, f"a {profile.design.name} design has no tests; {said}"
    return _answer(r)


def _quick(profile: Profile, sample: Sample, degree: int) -> bool:
    """Whether the covariance over the units, where the design asks for it, is soon had."""
    if profile.design.rows_of_one_law or not profile.design.defines_inference:
        return True
    wide = levels_through(sample.hierarchy, degree)
    return wide is None or profile.n * (1 + wide.q(degree)) ** 2 <= _QUICK


def _answer(r: Residuals) -> tuple[Answer, str]:
    """What the p-value of the highest level says."""
    top, pvalue, rough = r.levels[-1], float(r.pvalue[-1]), r.judged[-1].rough
    resting = r.judged[-1].resting
    if np.isnan(pvalue):
        return Answer.UNKNOWN, r.warnings[-1]
    words = f"{r.letter} = {r.values[-1]:.3g} through {r.through}, "
    words += f"p = {pvalue:.2g}" if pvalue > 0.0 else "p < 1e-300"
    words += "; roughly, see residuals()" if rough else ""
    if resting and pvalue >= BEYOND_DOUBT:
        said = f"what level {top} leaves over cannot be judged: {resting} ({words})"
        return (Answer.UNKNOWN if pvalue >= DOUBTFUL else Answer.CARE), said
    if pvalue >= DOUBTFUL:
        return (Answer.CARE if rough else Answer.YES), f"nothing found above level {top} ({words})"
    answer = Answer.NO if pvalue < REJECTED else Answer.CARE
    return answer, f"structure is left above level {top}, most at {_most(r)} ({words})"


def _most(r: Residuals) -> str:
    return r.at(int(np.argmax(r.contributions[-1])) + 1)


def _named(sample: Sample, level: int) -> str:
    return f"{'level' if names_of_levels(sample.hierarchy) else 'degree'} {level}"


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
    if score - q < _CLEAR * np.sqrt(2.0 * q):
        return [(Answer.NO if few else Answer.YES, f"all of I₂ is what noise gives {against}")]
    if few and score < 2.0 * q:
        return [(Answer.CARE, f"most of I₂ is what noise gives {against}")]
    return []


def _rows(profile: Profile, sample: Sample) -> list[tuple[Answer, str]]:
    """Few independent units for the features."""
    features = int(profile.dims.sum())
    if sample.has_rows and sample.units.labels is not None:
        count, what = float(sample.units.effective), "units"
    elif profile.design.random_weights:
        count, what = profile.ess, "effective rows"
    else:
        count, what = sample.rate**2, "effective rows"
    if count >= _ROWS_PER_FEATURE * features:
        return []
    return [(Answer.CARE, f"{count:.0f} {what} for {features} features")]


def _numerical(profile: Profile) -> Judgement:
    n = profile.numerics
    error = float((n.quadrature + n.moment_rounding + 0.5 * n.decrement**2).max())
    detail = (
        f"gaps good to {max(error, 1e-15):.0e} nats (moment residual {n.residual.max():.0e}, "
        f"condition {n.condition.max():.0e}, {int(n.nodes.max())} nodes)"
    )
    family = profile.moments.hierarchy.family(int(profile.levels[-1]))
    usable = error <= USABLE_DEFICIT or isinstance(family, HeldToNoise)  # else there is no profile
    answer = Answer.YES if error <= GOOD_DEFICIT else Answer.CARE if usable else Answer.NO
    found = [(answer, detail)]
    if n.condition.max() > COLLINEAR:
        found.append((Answer.CARE, "the features are nearly collinear under the fit"))
    if profile.design.defines_inference and profile.shrinkage is None:
        noise = 0.5 / profile.as_sample().rate ** 2
        if error > _SHARE_OF_NOISE * noise:
            found.append((Answer.CARE, f"that is not small against sampling noise {noise:.0e}"))
    return _judgement("numerically", found)


def _margin(profile: Profile, top: int) -> tuple[Answer, str]:
    """How far inside the moment body the highest level lies, as its family says."""
    family = profile.moments.hierarchy.family(top)
    known = family.margin_bound(Evidence.of(profile.moments.stack(), None))
    if known is None:
        return Answer.UNKNOWN, "a fit exists; how far inside the moment body is not computed here"
    margin, exact = known
    answer = Answer.YES if margin >= MARGIN_THIN else Answer.CARE
    where = "inside the moment body" if answer is Answer.YES else "close to the boundary"
    return answer, f"{where}, margin {'' if exact else 'at most '}{margin:.2g} at level {top}"


def _beyond(profile: Profile) -> tuple[str, ...]:
    """Gaps that come from where there are no data, of levels that a rule integrates."""
    families = [profile.moments.hierarchy.family(int(level)) for level in profile.levels]
    if profile.directions is None or not any(family.has_rule for family in families):
        return ()
    return beyond_data(profile.as_sample(), draws=0, seed=0).warnings


def _structural(profile: Profile) -> Judgement:
    found: list[tuple[Answer, str]] = []
    top = int(profile.levels[-1])
    if profile.shrinkage is not None:
        found.append((Answer.CARE, f"the data were {profile.shrinkage.words}"))
    else:
        found.append(_margin(profile, top))
        found += [(Answer.CARE, words) for words in _beyond(profile)]
    if profile.stopped:
        gone = "there is no" if "does not exist" in profile.stopped else "no fit was found of"
        found.append((Answer.CARE, f"{gone} level {top + 1}"))
    if profile.ambient > profile.d:
        found.append((Answer.CARE, f"within {profile.d} of {profile.ambient} dimensions"))
    return _judgement("structurally", found)
