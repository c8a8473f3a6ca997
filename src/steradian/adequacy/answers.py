"""Questions about a profile with their answers, as people read them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from steradian.notebook import NotebookView
from steradian.wording import Verdict, in_lines, sentence

_WIDTH, _LABEL = 80, 26


class Answer(StrEnum):
    """Whether numbers are right, and data enough."""

    YES = "yes"
    CARE = "with care"
    NO = "no"
    UNKNOWN = "cannot be judged"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One question, its answer, why, and the details that only some people ask for.

    The answer about structure is a `Verdict`: how sure it is that there is more.
    """

    question: str
    answer: Answer | Verdict
    reasons: tuple[str, ...]
    details: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The answer in a sentence or two."""
        why = "; ".join(self.reasons)
        return sentence(why if self.answer is Verdict.OPEN else f"{self.answer}: {why}")

    def __str__(self) -> str:
        return self.shown(verbose=False)

    def shown(self, *, verbose: bool) -> str:
        """The question and its answer, with details on request."""
        said = [self.words, *(sentence(one) for one in self.details)] if verbose else [self.words]
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
        names = ("numbers", "data", "structure")
        return {
            name: {
                "question": one.question,
                "answer": str(one.answer),
                "reasons": list(one.reasons),
                "details": list(one.details),
            }
            for name, one in zip(names, self.judgements, strict=True)
        }
