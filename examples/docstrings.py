"""Text for examples: the sentences in the docstrings of Python's standard library.

They come with every Python and are the same for everybody who has the same version of it.
"""

from __future__ import annotations

import ast
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np

FEWEST_WORDS, MOST_WORDS = 5, 60
LEFT_OUT = {"test", "tests", "encodings", "idlelib", "lib2to3", "site-packages", "dist-packages"}
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_CODE = re.compile(r"^\s*(>>>|\.\.\.|[-=~*+|#:]|\w+\s*[-=:]{1,2}[\s>])")
_PLAIN = re.compile(r"[A-Z][A-Za-z0-9 ,;:'\"()./_-]*[.!?]")


def sentences(most: int) -> list[str]:
    """Distinct sentences of 5 to 60 words from the standard library's docstrings."""
    found: dict[str, None] = {}
    for docstring in _docstrings(Path(sysconfig.get_path("stdlib"))):
        found.update(dict.fromkeys(_split(docstring)))
    everything = list(found)
    order = np.random.default_rng(1).permutation(len(everything))
    return [everything[k] for k in order[:most]]


def _docstrings(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        if LEFT_OUT.intersection(path.relative_to(folder).parts):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield ast.get_docstring(node) or ""


def _split(docstring: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", docstring):
        lines = paragraph.splitlines()
        if any(_CODE.match(line) for line in lines):
            continue
        for sentence in _END.split(" ".join(" ".join(lines).split())):
            words = len(sentence.split())
            if FEWEST_WORDS <= words <= MOST_WORDS and _PLAIN.fullmatch(sentence):
                yield sentence
