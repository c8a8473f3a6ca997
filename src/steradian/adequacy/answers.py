"""Questions about a profile with their answers, as people read them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from steradian.diagnostics import Diagnostic, Verdict
from steradian.notebook import NotebookView
from steradian.text.phrases import say
from steradian.wording import in_lines, sentence

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
