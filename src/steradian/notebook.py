"""How results show themselves in a notebook, and as frames: what every one of them shares."""

from __future__ import annotations

from html import escape
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from steradian.text.numbers import digits

_SINGULAR = {
    "dims": "features",
    "gaps": "gap",
    "deficits": "deficit",
    "methods": "method",
    "margins": "margin",
    "values": "value",
    "verdicts": "verdict",
}
"""Names of columns, where those of attributes are plural."""
_STYLE = "white-space:pre-wrap;line-height:1.35;margin:0"


class NotebookView:
    """A result that a notebook shows as it prints."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Its text, whatever it holds, as text."""
        return f'<pre style="{_STYLE}">{escape(str(self))}</pre>'


class LevelAnswer(SimpleNamespace):
    """What a result says of one level: its columns, as attributes.

    Examples
    --------
    >>> print(LevelAnswer(level=2, dof=5, pvalue=3.2e-05))
    level 2: dof 5, pvalue 3.2e-5
    """

    def __str__(self) -> str:
        rest = ((name, value) for name, value in vars(self).items() if name != "level")
        said = (f"{name} {digits(v) if isinstance(v, float) else v}" for name, v in rest)
        return f"level {self.level}: {', '.join(said)}"


class LevelFrame(NotebookView):
    """A result with one row per level: ``result[2]`` is that of level 2, and all are a frame."""

    __slots__ = ()
    _columns: ClassVar[tuple[str, ...]]

    def __getitem__(self, level: int) -> LevelAnswer:
        """What it says of a level, by the names of its frame."""
        from steradian.arguments import shown
        from steradian.errors import InvalidArgument

        table = self._table()
        known = [int(one) for one in table["level"]]
        if isinstance(level, bool) or level not in known:
            raise InvalidArgument(f"level is {shown(level)}; give {known[0]} to {known[-1]}")
        k = known.index(level)
        return LevelAnswer(**{name: _plain(column[k]) for name, column in table.items()})

    def _table(self) -> dict[str, Any]:
        from steradian.errors import DesignError

        own: Any = self
        table: dict[str, Any] = {"level": own.levels}
        for name in self._columns:
            try:
                table[_SINGULAR.get(name, name)] = list(getattr(own, name))
            except DesignError:  # the design defines none
                table[_SINGULAR.get(name, name)] = np.full(len(own.levels), np.nan)
        return table

    def to_frame(self) -> Any:
        """One row per level as a pandas frame (pandas must be installed)."""
        from steradian.io.frames import frame_of_columns

        return frame_of_columns(self._table())


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value
