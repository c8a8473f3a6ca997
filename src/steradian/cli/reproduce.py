"""The paper's tables and figures from the command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from steradian.errors import InvalidArgument
from steradian.paper.catalogue import ALL, chosen
from steradian.paper.output import write
from steradian.plots.canvas import require

DIFFERS = 1


def reproduce_command(what: str, out: Path) -> int:
    """Make the paper's tables and figures again, beside the printed numbers.

    Exits with 1 if any number differs.
    """
    what = what.lower()
    makers = chosen(what)
    if out.exists() and not out.is_dir():
        raise InvalidArgument(f"{out} is a file; give --out a directory")
    standing = next(path for path in (out, *out.resolve().parents) if path.exists())
    if not os.access(standing, os.W_OK):  # said before the work, not after it
        raise InvalidArgument(f"{standing} cannot be written to; give --out another directory")
    if what == ALL or what.startswith("figure"):
        require()  # before the work, not after it
    pieces = []
    for make in makers:
        piece = make()
        pieces.append(piece)
        print(piece, end="\n\n", flush=True)
    for path in write(pieces, out, what=what):
        print(f"wrote {path}")
    differing = [f"{p.name} ({e.row}, {e.column})" for p in pieces for e in p.differing]
    if not differing:
        return 0
    print(f"steradian: differs from the paper: {'; '.join(differing)}", file=sys.stderr)
    return DIFFERS
