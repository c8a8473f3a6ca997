"""Pieces to files: pictures, numbers and a page. All of them appear, or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePath

from steradian.paper.entries import Picture, Piece
from steradian.paper.layout import HOW_JUDGED, as_csv, as_markdown, image_name
from steradian.plots.canvas import new_figure

IMAGES = PurePath("images")
_DPI = 150
_PAGE = """# The paper, made again

Every table and figure of "Geometric Information Decomposition for Weighted Empirical Measures on the
Sphere", and the audit of its appendix, beside the printed numbers. This page, its pictures and its
numbers ([{stem}.csv]({stem}.csv)) were written by

    steradian reproduce {what} --out DIRECTORY

which exits with 1 if any of them differs.

{how}
"""
_FROM_PYTHON = """## From Python

Each piece is a function without arguments that returns its numbers.

```python
>>> from steradian import paper
>>> piece = paper.table4()
>>> piece.agrees
True
>>> piece.entries[1]
Entry(row='query 0', column='I1', ours=1.69..., se=0.0, paper=1.695, paper_se=0.0, unit=0.001)

```
"""


def write(pieces: Sequence[Piece], directory: Path, *, what: str) -> list[Path]:
    """Write pictures (PNG and PDF), ``.csv`` and ``.md`` into a directory; their paths.

    Everything is made aside first and then moved, so that a failure leaves nothing behind.
    """
    stem = "paper" if what == "all" else what
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".steradian-", dir=directory) as name:
        aside = Path(name)
        (aside / IMAGES).mkdir()
        for piece in pieces:
            if isinstance(piece, Picture):
                _draw(piece, aside / IMAGES)
        (aside / f"{stem}.csv").write_text(as_csv(pieces), encoding="utf-8")
        (aside / f"{stem}.md").write_text(_page(pieces, stem, what), encoding="utf-8")
        made = sorted(p.relative_to(aside) for p in aside.rglob("*") if p.is_file())
        for file in made:
            (directory / file).parent.mkdir(exist_ok=True)
            os.replace(aside / file, directory / file)
    return [directory / file for file in made]


def _draw(piece: Picture, directory: Path) -> None:
    figure = new_figure(*piece.size)
    piece.draw(figure)
    stamps = {"png": {"Software": None}, "pdf": {"CreationDate": None}}  # the same every time
    for kind, metadata in stamps.items():
        path = directory / f"{image_name(piece)}.{kind}"
        figure.savefig(path, format=kind, dpi=_DPI, metadata=metadata)


def _page(pieces: Sequence[Piece], stem: str, what: str) -> str:
    parts = [_PAGE.format(stem=stem, what=what, how=HOW_JUDGED)]
    parts += [as_markdown(piece, IMAGES) for piece in pieces]
    if what == "all":
        parts.append(_FROM_PYTHON)
    return "\n".join(parts)
