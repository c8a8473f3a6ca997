"""Errors that name a row: all of them say how rows are counted."""

from __future__ import annotations

import re

from steradian.errors import COUNTED


def without_count(words: str) -> str:
    """The words of an error, once it is seen that they end as those that name a row must."""
    assert words.endswith(COUNTED) == bool(re.search(r"\brows? \d", words)), words
    return words.removesuffix(COUNTED)
