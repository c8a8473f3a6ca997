"""Pieces to files: pictures, numbers and a page. All of them appear, or none."""

from __future__ import annotations

import csv
import io
import os
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path, PurePath

from steradian.paper.entries import FARTHEST
from steradian.paper.layout import grid, verdict
from steradian.paper.pieces import Picture, Piece
from steradian.plots.canvas import new_figure

IMAGES = PurePath("images")
_DPI = 150
_FIELDS = ("piece", "row", "column", "ours", "se", "paper", "paper_se", "unit", "limit", "agrees")
_PAGE = """# The paper, made again

Every table and figure of "Geometric Information Decomposition for Weighted Empirical Measures on
the Sphere", and the audit of its appendix, beside the printed numbers. This page, its pictures and
its numbers ([{stem}.csv]({stem}.csv)) were written by

    steradian reproduce {what} --out DIRECTORY

which exits with 1 if any of them differs.

The paper states its seed, 123, but not its code. The order in which NumPy's default generator is
consumed was found by trying: with it the samples of Tables 1 to 3 and Figure 3 are the paper's own.
Should another NumPy draw other numbers, the standard errors below say how far they may be apart.

{how}
"""
_FROM_PYTHON = """## From Python

Each piece is a function that returns its numbers; those that draw samples take a seed.

```python
>>> from steradian import paper
>>> piece = paper.table4()
>>> piece.agrees
True
>>> entry = piece.entries[1]
>>> entry.row, entry.column, round(entry.ours, 3), entry.paper
('query 0', 'I1', 1.695, 1.695)

```
"""
_HOW_JUDGED = (
    "“apart” says *same* where every printed digit is the same, and otherwise ours less the "
    "paper's in units of √(se² + se′²). Deterministic numbers must be the same; Monte Carlo "
    f"numbers may be apart by {FARTHEST:g} of those units, beyond half a printed digit. se is "
    "our Monte Carlo standard error, in parentheses, and se′ the paper's: as it prints it, or "
    "ours where it prints none or 0.000. Limits are ours, and the paper's own figure stands "
    "beside them."
)


def write(pieces: Sequence[Piece], directory: Path, *, what: str) -> list[Path]:
    """Write pictures (PNG and PDF), ``.csv`` and ``.md`` into a directory; their paths.

    Everything is made first, written aside and then moved: a failure leaves nothing behind.
    """
    stem = "paper" if what == "all" else what
    files = {path: data for piece in pieces for path, data in _pictures(piece).items()}
    files[PurePath(f"{stem}.csv")] = as_csv(pieces).encode()
    files[PurePath(f"{stem}.md")] = _page(pieces, stem, what).encode()
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".steradian-", dir=directory) as aside:
        for path, data in files.items():
            staged = Path(aside, path)
            staged.parent.mkdir(exist_ok=True)
            staged.write_bytes(data)
        for path in files:
            (directory / path).parent.mkdir(exist_ok=True)
            os.replace(Path(aside, path), directory / path)
    return [directory / path for path in files]


def _pictures(piece: Piece) -> dict[PurePath, bytes]:
    """A drawn piece as PNG and PDF, the same bytes every time."""
    if not isinstance(piece, Picture):
        return {}
    figure = new_figure(*piece.size)
    piece.draw(figure)
    found = {}
    for kind, undated in (("png", "Software"), ("pdf", "CreationDate")):
        data = io.BytesIO()
        figure.savefig(data, format=kind, dpi=_DPI, metadata={undated: None})
        found[IMAGES / f"{image_name(piece)}.{kind}"] = data.getvalue()
    return found


def _page(pieces: Sequence[Piece], stem: str, what: str) -> str:
    parts = [_PAGE.format(stem=stem, what=what, how=textwrap.fill(_HOW_JUDGED, 100))]
    parts += [as_markdown(piece) for piece in pieces]
    if what == "all":
        parts.append(_FROM_PYTHON)
    return "\n".join(parts)


def as_markdown(piece: Piece) -> str:
    """The same for a page, with the picture when there is one."""
    parts = [f"## {piece.title}", textwrap.fill(piece.story, 120)]
    if isinstance(piece, Picture):
        parts.append(f"![{piece.title}]({(IMAGES / image_name(piece)).as_posix()}.png)")
    head, body = grid(piece.entries, errors=True)
    rows = [head, ("---",) * len(head), *body]
    parts.append("\n".join("| " + " | ".join(row) + " |" for row in rows))
    parts.append(verdict(piece))
    return "\n\n".join(parts) + "\n"


def image_name(piece: Piece) -> str:
    """The file of a picture, without its ending."""
    return f"paper_{piece.name}"


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
