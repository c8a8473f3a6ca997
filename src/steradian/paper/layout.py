"""Pieces as text, as Markdown and as a table of entries."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from steradian.paper.entries import FARTHEST, Bound, Comparison, Entry, Picture, Piece

if TYPE_CHECKING:
    from pathlib import PurePath

_LINES = ("ours", "paper", "apart")
_FIELDS = ("piece", "row", "column", "ours", "se", "paper", "paper_se", "unit", "limit", "agrees")

Lines = list[tuple[str, ...]]


def as_text(piece: Piece) -> str:
    """Title, what it shows, and our numbers above the paper's, for a terminal."""
    head, body = _grid(piece.entries)
    lines: Lines = [head]
    for cells in body:
        label, rest = cells[0], cells[1:]
        if len(head) == len(_LINES) + 1:
            lines.append(cells)
            continue
        if rest[0] == _LINES[0]:
            lines.append((label,))
        lines.append((f"  {rest[0]}", "", *rest[1:]))
    table = _aligned(lines)
    return "\n".join([piece.title, textwrap.fill(piece.story, 80), "", *table, "", verdict(piece)])


def _aligned(lines: Lines) -> list[str]:
    full = [line for line in lines if len(line) > 1]
    widths = [max(len(cell) for cell in column) for column in zip(*full, strict=True)]
    out = []
    for line in lines:
        label, cells = line[0].ljust(widths[0]), line[1:]
        numbers = [cell.rjust(w) for cell, w in zip(cells, widths[1:], strict=False) if w]
        out.append("  ".join([label, *numbers]).rstrip())
    return out


def as_markdown(piece: Piece, images: PurePath) -> str:
    """The same for a page, with the picture when there is one."""
    parts = [f"## {piece.title}", textwrap.fill(piece.story, 120)]
    if isinstance(piece, Picture):
        parts.append(f"![{piece.title}]({(images / image_name(piece)).as_posix()}.png)")
    head, body = _grid(piece.entries, errors=True)
    rows = [head, ("---",) * len(head), *body]
    parts.append("\n".join("| " + " | ".join(row) + " |" for row in rows))
    parts.append(verdict(piece))
    return "\n\n".join(parts) + "\n"


def image_name(piece: Piece) -> str:
    """The file of a picture, without its ending."""
    return f"paper_{piece.name}"


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


def _grid(entries: Sequence[Comparison], *, errors: bool = False) -> tuple[tuple[str, ...], Lines]:
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
    ours, paper, apart = entry.cells
    if not errors or isinstance(entry, Bound) or not entry.se:
        return ours, paper, apart
    digits = len(ours.partition(".")[2])
    return f"{ours} ({entry.se:.{digits}f})", paper, apart


def as_csv(pieces: Sequence[Piece]) -> str:
    """Every entry on a line, in full precision."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _FIELDS, restval="", lineterminator="\n")
    writer.writeheader()
    for piece in pieces:
        for e in piece.entries:
            known = {name: getattr(e, name) for name in _FIELDS[1:] if hasattr(e, name)}
            writer.writerow({"piece": piece.name, **known})
    return text.getvalue()


HOW_JUDGED = (
    "“apart” says *same* where every printed digit is the same, and otherwise ours less the paper's in "
    "units of √(se² + se′²). Deterministic numbers must be the same; Monte Carlo numbers may be apart "
    f"by {FARTHEST:g} of those units, beyond half a printed digit. se is our Monte Carlo standard "
    "error, in parentheses, and se′ the paper's: as it prints it, or ours where it prints none or "
    "0.000. Limits are ours, and the paper's own figure stands beside them."
)
