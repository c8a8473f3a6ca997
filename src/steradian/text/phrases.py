"""The phrase book: the one place where a code becomes a sentence.

A phrase is a template whose fields are the data of a diagnostic. Where the command line needs other
words than Python, the phrase has both. Rewording a phrase changes nothing but the words.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

from steradian.text.audience import Advice
from steradian.wording import digits, duration, percent, power_of_ten, pvalue_words


def _option(call: str) -> str:
    """What does at a command line what a call does in Python."""
    given = call in {"tests()", "intervals()"}
    return "give --design" if given else f"`{call}` in Python does it"


_FORMATS: dict[str, Callable[[Any], str]] = {
    "digits": digits,
    "two": lambda value: digits(value, 2),
    "percent": percent,
    "power": power_of_ten,
    "p": pvalue_words,
    "duration": duration,
    "option": _option,
}
"""Formats of fields beyond Python's own: ``{share:percent}``, ``{size:digits}``."""

PHRASES: dict[str, str | Advice] = {
    "null_centred": ("tilting failed (null outside the data's hull): null-centred covariance used"),
    "no_fit": "{cause}; {remedy}",
    "not_computed": Advice(
        "not computed (about {seconds:duration}); call `{call}`",
        "not computed (about {seconds:duration}); {call:option}",
    ),
    "refused_by_error": "{message}",
}


class _Formatter(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        special = _FORMATS.get(format_spec)
        return super().format_field(value, format_spec) if special is None else special(value)


def say(code: str, /, **data: Any) -> str:
    """The sentence of a code, for whoever reads.

    Examples
    --------
    >>> say("null_centred")
    "tilting failed (null outside the data's hull): null-centred covariance used"
    """
    return _Formatter().vformat(str(PHRASES[code]), (), data)
