"""Our numbers above the paper's, as a grid of texts."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from steradian.paper.entries import Bound, Comparison, Entry

if TYPE_CHECKING:
    from steradian.paper.pieces import Piece

_LINES = ("ours", "paper", "apart")

Lines = list[tuple[str, ...]]


def as_text(piece: Piece) -> str:
    """Title, what it shows, and our numbers above the paper's, for a terminal."""
    head, body = grid(piece.entries)
    lines: Lines = [head]
    for cells in body:
        label, rest = cells[0], cells[1:]
        if len(head) == len(_LINES) + 1:
            lines.append(cells)
            continue
        if rest[0] == _LINES[0]:
            lines.append((label,))
        lines.append((f"  {rest[0]}", "", *rest[1:]))
    story, end = (textwrap.fill(text, 80) for text in (piece.story, verdict(piece)))
    return "\n".join([piece.title, story, "", *_aligned(lines), "", end])


def _aligned(lines: Lines) -> list[str]:
    full = [line for line in lines if len(line) > 1]
    widths = [max(len(cell) for cell in column) for column in zip(*full, strict=True)]
    out = []
    for line in lines:
        label, cells = line[0].ljust(widths[0]), line[1:]
        numbers = [cell.rjust(w) for cell, w in zip(cells, widths[1:], strict=False) if w]
        out.append("  ".join([label, *numbers]).rstrip())
    return out


def verdict(piece: Piece) -> str:
    """One sentence."""
    judged = [e for e in piece.entries if isinstance(e, Bound) or e.paper == e.paper]
    if not piece.agrees:
        names = "; ".join(f"{e.row}, {e.column}" for e in piece.differing)
        return f"{len(piece.differing)} of {len(judged)} numbers differ from the paper: {names}."
    printed = [e for e in judged if isinstance(e, Entry)]
    if not printed:
        return f"All {len(judged)} numbers keep their limits."
    apart = [abs(e.off) for e in printed if not e.same]
    if not apart:
        return f"All {len(printed)} numbers agree with the paper in every printed digit."
    return (
        f"All {len(printed)} numbers agree with the paper, {len(printed) - len(apart)} of them in "
        f"every printed digit; the farthest are {max(apart):.1f} standard errors apart."
    )


def grid(entries: Sequence[Comparison], *, errors: bool = False) -> tuple[tuple[str, ...], Lines]:
    """Head and body. One line per entry when there are few columns, else three per row."""
    columns = list(dict.fromkeys(e.column for e in entries))
    rows = list(dict.fromkeys(e.row for e in entries))
    if len(columns) <= 3:
        named = [(e.row if len(columns) == 1 else f"{e.row}: {e.column}", e) for e in entries]
        return ("", *_LINES), [(name, *_cells(e, errors)) for name, e in named]
    found = {(e.row, e.column): _cells(e, errors) for e in entries}
    none = ("", "", "")
    body: Lines = []
    for row in rows:
        for k, kind in enumerate(_LINES):
            cells = tuple(found.get((row, column), none)[k] for column in columns)
            if k == 0 or set(cells) - {"", "–"}:
                body.append((row if k == 0 else "", kind, *cells))
    return ("", "", *columns), body


def _cells(entry: Comparison, errors: bool) -> tuple[str, ...]:
    return entry.cells if errors else tuple(cell.partition(" (")[0] for cell in entry.cells)
