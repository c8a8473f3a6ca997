"""What a picture of levels found, in the words that results share.

"clear" is p < 0.001 after Holm's correction, "likely" p < 0.05; else a level is not told apart from
noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steradian.numerics.arrays import Array
from steradian.plots.palette import number

CLEAR, LIKELY = 0.001, 0.05
WORDS = ("clear", "likely", "not told apart from noise", "cannot be judged")
"""All that is said of a level, the surest first."""


def verdict(pvalue: float) -> str:
    """One p-value, corrected, in a word or two.

    >>> verdict(1e-6), verdict(0.01), verdict(0.4), verdict(float("nan"))
    ('clear', 'likely', 'not told apart from noise', 'cannot be judged')
    """
    if np.isnan(pvalue):
        return "cannot be judged"
    if pvalue < CLEAR:
        return "clear"
    return "likely" if pvalue < LIKELY else "not told apart from noise"


def levels_in_words(levels: Sequence[int]) -> str:
    """Levels as people list them.

    >>> levels_in_words([2]), levels_in_words([1, 2]), levels_in_words([1, 2, 3, 5])
    ('level 2', 'levels 1 and 2', 'levels 1, 2, 3 and 5')
    """
    if len(levels) == 1:
        return f"level {levels[0]}"
    first = ", ".join(str(level) for level in levels[:-1])
    return f"levels {first} and {levels[-1]}"


def gaps_finding(names: Sequence[str], gaps: Array, pvalues: Array | None) -> str:
    """Which level holds the information, and which are clear."""
    total = float(gaps.sum())
    top = int(np.argmax(gaps))
    largest = f"{_capital(names[top])} (level {top + 1})"
    if not total > 0.0:
        return "No level adds information"
    share = f"{largest} holds {gaps[top] / total:.0%} of {number(total)} nats"
    if pvalues is None:
        return share
    said = [verdict(float(p)) for p in pvalues]
    clear = [k + 1 for k, word in enumerate(said) if word == "clear"]
    likely = [k + 1 for k, word in enumerate(said) if word == "likely"]
    if not clear and not likely:
        unknown = all(word == "cannot be judged" for word in said)
        what = "No level can be judged" if unknown else "No level is told apart from noise"
        return f"{what} ({number(total)} nats in all)"
    parts = [f"{levels_in_words(clear)} {_be(clear)} clear"] if clear else []
    parts += [f"{levels_in_words(likely)} {_be(likely)} likely"] if likely else []
    return f"{share}; {', '.join(parts)}"


def _be(levels: Sequence[int]) -> str:
    return "is" if len(levels) == 1 else "are"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
