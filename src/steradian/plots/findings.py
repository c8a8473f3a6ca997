"""What a picture of levels found, in the words that results share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steradian.numerics.arrays import Array
from steradian.wording import Verdict, digits, listed, percent, verdict_of


def levels_in_words(levels: Sequence[int]) -> str:
    """Levels as people list them.

    >>> levels_in_words([2]), levels_in_words([1, 2]), levels_in_words([1, 2, 3, 5])
    ('level 2', 'levels 1 and 2', 'levels 1, 2, 3 and 5')
    """
    names = [str(level) for level in levels]
    return f"level {names[0]}" if len(names) == 1 else f"levels {listed(names)}"


def gaps_finding(names: Sequence[str], gaps: Array, pvalues: Array | None) -> str:
    """Which level holds the information, and which are clear."""
    total = float(gaps.sum())
    top = int(np.argmax(gaps))
    largest = f"{_capital(names[top])} (level {top + 1})"
    if not total > 0.0:
        return "No level adds information"
    share = f"{largest} holds {percent(float(gaps[top]) / total)} of {digits(total)} nats"
    if pvalues is None:
        return share
    said = [verdict_of(float(p)) for p in pvalues]
    clear, likely = (
        [k + 1 for k, word in enumerate(said) if word is sure]
        for sure in (Verdict.CLEAR, Verdict.LIKELY)
    )
    if not clear and not likely:
        unknown = all(word is Verdict.UNJUDGED for word in said)
        what = "No level can be judged" if unknown else "No level is told apart from noise"
        return f"{what} ({digits(total)} nats in all)"
    parts = [f"{levels_in_words(clear)} {_be(clear)} clear"] if clear else []
    parts += [f"{levels_in_words(likely)} {_be(likely)} likely"] if likely else []
    return f"{share}; {', '.join(parts)}"


def _be(levels: Sequence[int]) -> str:
    return "is" if len(levels) == 1 else "are"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
