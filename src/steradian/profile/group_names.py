"""Names of groups that somebody typed."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPELLED = re.compile(r"[\s_]+")
_MOST_ALIKE = 4  # names that a note lists


def spelling_note(names: Iterable[str]) -> list[str]:
    """Groups that may be one: their names differ in capitals, spaces or underscores only."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_SPELLED.sub("", name).casefold(), []).append(repr(name))
    same = [", ".join(some[:_MOST_ALIKE]) for some in alike.values() if len(some) > 1]
    if not same:
        return []
    more = f", and {len(same) - 1} more such names" if len(same) > 1 else ""
    return [f"are {same[0]} one group? Their names differ only in how they are written{more}"]
