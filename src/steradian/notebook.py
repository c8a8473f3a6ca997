"""How results show themselves in a notebook, and as frames: what every one of them shares."""

from __future__ import annotations

from html import escape
from typing import Any, ClassVar

import numpy as np

_STYLE = "white-space:pre-wrap;line-height:1.35;margin:0"


class NotebookView:
    """A result that a notebook shows as it prints."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Its text, whatever it holds, as text."""
        return f'<pre style="{_STYLE}">{escape(str(self))}</pre>'


class LevelFrame(NotebookView):
    """A result with one row per level, which is also a frame."""

    __slots__ = ()
    _columns: ClassVar[tuple[str, ...]]

    def to_frame(self) -> Any:
        """One row per level as a pandas frame (pandas must be installed)."""
        from steradian.errors import DesignError
        from steradian.io.frames import frame_of_columns

        own: Any = self
        table: dict[str, Any] = {"level": own.levels}
        for name in self._columns:
            try:
                table[name] = list(getattr(own, name))
            except DesignError:  # the design defines none
                table[name] = np.full(len(own.levels), np.nan)
        return frame_of_columns(table, index="level")
