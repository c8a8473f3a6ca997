"""What happened, as values: diagnostics of a result, and how a p-value was found.

Results carry these and never sentences. `steradian.text.phrases` turns a code into words,
and nothing that decides looks at those words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from steradian.text.messages import in_plain_words
from steradian.text.phrases import GO_ON, say

CLEAR_BELOW, LIKELY_BELOW = 0.001, 0.05  # p-values after Holm's correction


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that a reader of a result should know.

    Attributes
    ----------
    code : str
        Which kind of thing; a key of the phrase book.
    level : int or None
        The level it is about; None where it is about all of them.
    data : dict
        Numbers and names that the sentence mentions; under ``"part"`` the name of the part of the
        level that it is about, where it is not about all of it.

    Examples
    --------
    >>> found = Diagnostic("null_centred", level=2)
    >>> found.code, found.level
    ('null_centred', 2)
    >>> print(found)
    level 2: tilting failed (null outside the data's hull): null-centred covariance used
    """

    code: str
    level: int | None = None
    data: dict[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        level = "" if self.level is None else f"level {self.level}"
        about = self.data.get("part", level)
        between = " " if self.code in GO_ON else ": "
        return f"{about}{between}{self.words}" if about else self.words

    @property
    def words(self) -> str:
        """The sentence without its level."""
        return say(self.code, **self.data)

    @property
    def nested(self) -> dict[str, Any]:
        """Code and data, for another diagnostic whose sentence contains this one."""
        return {"code": self.code, "data": self.data}

    def to_dict(self) -> dict[str, Any]:
        """Code, level and data, with the sentence beside them, ready for JSON."""
        data = {name: in_plain_words(value) for name, value in self.data.items()}
        return {"code": self.code, "level": self.level, "data": data, "text": str(self)}


def at_level(level: int, found: Diagnostic) -> Diagnostic:
    """The same about a level, unless it says which."""
    return found if found.level is not None else replace(found, level=level)


def distinct(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each once, in the order in which they came."""
    return tuple(dict.fromkeys(diagnostics))


class Verdict(StrEnum):
    """How sure it is that something is there, as a code; `words` are those of the phrase book."""

    CLEAR = "clear"
    LIKELY = "likely"
    NOISE = "not_significant"
    UNJUDGED = "not_testable"
    OPEN = "not_computed"

    @property
    def words(self) -> str:
        """How it is said."""
        return say(f"verdict_{self}")


def verdict_of(pvalue: float, *, judged: bool = True) -> Verdict:
    """What a p-value says, after a correction for all that were looked at.

    Examples
    --------
    >>> print(verdict_of(1e-6), verdict_of(0.02), verdict_of(0.4), sep=", ")
    clear, likely, not_significant
    """
    if not judged or math.isnan(pvalue):
        return Verdict.UNJUDGED
    if pvalue < CLEAR_BELOW:
        return Verdict.CLEAR
    return Verdict.LIKELY if pvalue < LIKELY_BELOW else Verdict.NOISE


class MethodCode(StrEnum):
    """How a p-value was found; the word for each is in the phrase book."""

    EXACT_TAIL = "exact_tail"
    SIMULATED_TAIL = "simulated_tail"
    CHI_SQUARE = "chi_square"
    SIMULATED_CHI_SQUARE = "simulated_chi_square"
    MULTIPLIER_BOOTSTRAP = "multiplier_bootstrap"
    PARAMETRIC_BOOTSTRAP = "parametric_bootstrap"
    OFF_DIAGONAL = "off_diagonal"
    SCORE_TAIL = "score_tail"
    LABELLED_SCORE_BOOTSTRAP = "labelled_score_bootstrap"
    LABELLED_GAP_BOOTSTRAP = "labelled_gap_bootstrap"
    COVARIATE_BOOTSTRAP = "covariate_bootstrap"
    PERMUTATION = "permutation"
    PERMUTATION_WITHIN = "permutation_within"
    SIGNS_WITHIN = "signs_within"
    STUDENTISED_PERMUTATION = "studentised_permutation"
    LENGTHS_F = "lengths_f"
    LENGTHS_PERMUTATION = "lengths_permutation"
    UNDEFINED = "undefined"
    NOTHING = "nothing"
    NOT_COMPUTED = "not_computed"
    REFUSED = "refused"

    @property
    def words(self) -> str:
        """How it is said."""
        return say(f"method_{self}", replicates=0)


_BOOTSTRAPS = frozenset({
    MethodCode.MULTIPLIER_BOOTSTRAP,
    MethodCode.PARAMETRIC_BOOTSTRAP,
    MethodCode.LABELLED_SCORE_BOOTSTRAP,
    MethodCode.LABELLED_GAP_BOOTSTRAP,
    MethodCode.COVARIATE_BOOTSTRAP,
})  # fmt: skip


class Recalibration(StrEnum):
    """What a p-value was placed among after it was found."""

    NONE = ""
    DRAWS = "draws"
    UNITS = "units"


@dataclass(frozen=True, slots=True)
class PvalueMethod:
    """How a p-value was found.

    Attributes
    ----------
    code : MethodCode
        The distribution that the statistic is referred to, or that there is no p-value.
    covariance : str
        Of the tail: damped, tilted, null, empirical, known, model, units or sums; or empty.
    recalibration : Recalibration
        Whether it was placed among those of draws of the fit below, or of resampled units.
    replicates : int
        Permutations that were drawn, where their number is part of the method; else 0.

    Examples
    --------
    >>> print(PvalueMethod(MethodCode.EXACT_TAIL, "damped", Recalibration.DRAWS))
    exact tail, damped, recalibrated
    """

    code: MethodCode
    covariance: str = ""
    recalibration: Recalibration = Recalibration.NONE
    replicates: int = 0

    @property
    def by_bootstrap(self) -> bool:
        """Whether the statistic stands among those of replicates."""
        return self.code in _BOOTSTRAPS

    @property
    def of_own_lengths(self) -> bool:
        """Whether the groups' own mean resultant lengths were compared."""
        return self.code in {MethodCode.LENGTHS_F, MethodCode.LENGTHS_PERMUTATION}

    @property
    def recalibrated(self) -> bool:
        """Whether the p-value was placed among those of draws or of resampled units."""
        return self.recalibration is not Recalibration.NONE

    @property
    def nested(self) -> dict[str, Any]:
        """For a diagnostic whose sentence names the method."""
        parts = [{"code": f"method_{self.code}", "data": {"replicates": self.replicates}}]
        if self.covariance:
            parts.append({"code": f"covariance_{self.covariance}", "data": {}})
        if self.recalibrated:
            parts.append({"code": f"recalibrated_on_{self.recalibration}", "data": {}})
        return {"code": "enumeration", "data": {"parts": parts}}

    def __str__(self) -> str:
        return say("enumeration", **self.nested["data"])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, with the words beside them, ready for JSON."""
        return {
            "code": str(self.code),
            "covariance": self.covariance,
            "recalibration": str(self.recalibration),
            "replicates": self.replicates,
            "text": str(self),
        }


REFUSED = PvalueMethod(MethodCode.REFUSED)
NOT_COMPUTED = PvalueMethod(MethodCode.NOT_COMPUTED)
