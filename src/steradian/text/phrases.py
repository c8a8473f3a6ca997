"""The phrase book: the one place where a code becomes a sentence.

A phrase is a template whose fields are the data of a diagnostic. Where the command line needs other
words than Python, the phrase has both. Rewording a phrase changes nothing but the words.
"""

from __future__ import annotations

from typing import Any

from steradian.text.audience import Advice
from steradian.text.messages import filled

PHRASES: dict[str, str | Advice] = {
    "null_centred": ("tilting failed (null outside the data's hull): null-centred covariance used"),
    "no_fit": "{cause}; {remedy}",
    "not_computed": Advice(
        "not computed (about {seconds:duration}); call `{call}`",
        "not computed (about {seconds:duration}); {call:option}",
    ),
    "refused_by_error": "{message}",
}


def say(code: str, /, **data: Any) -> str:
    """The sentence of a code, for whoever reads.

    Examples
    --------
    >>> say("null_centred")
    "tilting failed (null outside the data's hull): null-centred covariance used"
    """
    return filled(str(PHRASES[code]), data)
