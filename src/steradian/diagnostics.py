"""What happened, as a value: a code, the level it is about, and the numbers that belong to it.

Results carry diagnostics and never sentences. `steradian.text.phrases` turns a code into words,
and nothing that decides looks at those words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from steradian.text.messages import in_plain_words
from steradian.text.phrases import say


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that a reader of a result should know.

    Attributes
    ----------
    code : str
        Which kind of thing; a key of the phrase book.
    level : int or None
        The level it is about; None where it is about all of them.
    data : dict
        Numbers and names that the sentence mentions.

    Examples
    --------
    >>> found = Diagnostic("null_centred", level=2)
    >>> found.code, found.level
    ('null_centred', 2)
    >>> print(found)
    level 2: tilting failed (null outside the data's hull): null-centred covariance used
    """

    code: str
    level: int | None = None
    data: dict[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        words = self.words
        return words if self.level is None else f"level {self.level}: {words}"

    @property
    def words(self) -> str:
        """The sentence without its level."""
        return say(self.code, **self.data)

    def to_dict(self) -> dict[str, Any]:
        """Code, level and data, with the sentence beside them, ready for JSON."""
        data = {name: in_plain_words(value) for name, value in self.data.items()}
        return {"code": self.code, "level": self.level, "data": data, "text": str(self)}


def distinct(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each once, in the order in which they came."""
    return tuple(dict.fromkeys(diagnostics))
