"""What a picture of levels found, in the words that results share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steradian.diagnostics import Verdict, verdict_of
from steradian.numerics.arrays import Array
from steradian.text.numbers import capital, digits, levels_in_words, percent, to_be


def gaps_finding(names: Sequence[str], gaps: Array, pvalues: Array | None) -> str:
    """Which level holds the information, and which are clear."""
    total = float(gaps.sum())
    top = int(np.argmax(gaps))
    largest = f"{capital(names[top])} (level {top + 1})"
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
        what = "No level is testable" if unknown else "No level is significant"
        return f"{what} ({digits(total)} nats in all)"
    found = ((Verdict.CLEAR, clear), (Verdict.LIKELY, likely))
    parts = [f"{levels_in_words(k)} {to_be(k)} {sure.words}" for sure, k in found if k]
    return f"{share}; {', '.join(parts)}"
