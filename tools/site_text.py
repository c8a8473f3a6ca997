"""Pages that run as doctests, made readable: without what only doctest needs."""

from __future__ import annotations

import re

_SESSION = re.compile(r"^( *)```python\n(?= *>>>)", re.MULTILINE)
_DIRECTIVE = re.compile(r" *# doctest: \+[A-Z_, +]+$", re.MULTILINE)
_BLANK_LINE = re.compile(r"^ *<BLANKLINE>$", re.MULTILINE)
_FAR_COMMENT = re.compile(r"^(?=.{89})(.*?\S) {3,}(?=# )", re.MULTILINE)
_EMPTY_END = re.compile(r"\n\n( *```)$", re.MULTILINE)


def readable(markdown: str) -> str:
    """Sessions are highlighted as such, and lose directives, blank marks, wide gaps, empty ends."""
    for pattern, instead in (
        (_SESSION, r"\1```pycon\n"),
        (_DIRECTIVE, ""),
        (_BLANK_LINE, ""),
        (_FAR_COMMENT, r"\1  "),  # a column of comments is wider than a page
    ):
        markdown = pattern.sub(instead, markdown)
    return _within_blocks(markdown)


def _within_blocks(markdown: str) -> str:
    """Take the empty line off the end of every session, and of nothing else."""
    parts = re.split(r"(^ *```pycon\n.*?^ *```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        _EMPTY_END.sub(r"\n\1", part) if part.lstrip().startswith("```pycon") else part
        for part in parts
    )
