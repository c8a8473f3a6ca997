"""Texts as people read them, each in a file of ``tests/text/``; one command writes them anew.

What differs from machine to machine is masked: times, versions, folders. On the kernel of the
record every character counts; on another one numbers may differ in the last digit that is shown.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
import warnings
from pathlib import Path

from golden import record
from golden.text_list import TEXTS

FOLDER = Path(__file__).resolve().parent.parent / "text"

_MASKS = (
    (re.compile(r"\S+ s for the fits"), "<time> for the fits"),
    (re.compile(r"\(\S+ s\)$", re.MULTILINE), "(<time>)"),
    (re.compile(r"^on .*-.*$", re.MULTILINE), "on <machine>"),
    (re.compile(r'("elapsed": )[^,\n]+'), r"\1<time>"),
    (re.compile(r"\b(\w+) \d+\.\d+\.\d+\w*\b"), r"\1 <version>"),
)
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:[eE][-−+]?\d+)?")
_ROUNDING = 1e-7  # numbers this small are errors and tails: their size is in the record


def text_of(name: str) -> str:
    """One text, masked."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("error")
        return masked(TEXTS[name]())


def masked(text: str) -> str:
    """The same without what differs between machines and runs."""
    for pattern, word in _MASKS:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def file_of(name: str) -> Path:
    """Where a text is kept."""
    return FOLDER / f"{name}.txt"


def difference(name: str, *, same_kernel: bool) -> str:
    """The unified diff of what is kept and what is said now; empty where they agree."""
    path = file_of(name)
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    said = text_of(name)
    if kept == said or (not same_kernel and agree(kept, said)):
        return ""
    before, now = (text.splitlines(keepends=True) for text in (kept, said))
    return "".join(difflib.unified_diff(before, now, f"{name}, kept", f"{name}, now"))


def agree(kept: str, said: str) -> bool:
    """Whether two texts have the same words, and numbers that agree but for their last digit."""
    if _NUMBER.sub("", kept).split() != _NUMBER.sub("", said).split():
        return False
    pairs = zip(_NUMBER.findall(kept), _NUMBER.findall(said), strict=False)
    return all(_close(one, other) for one, other in pairs)


def _close(one: str, other: str) -> bool:
    first, second = (float(each.replace("−", "-")) for each in (one, other))
    unit = max(_last_place(one), _last_place(other))
    size = max(abs(first), abs(second))
    return abs(first - second) <= 1.001 * unit + _ROUNDING * size or size < _ROUNDING


def _last_place(number: str) -> float:
    """What one in the last digit is worth; nothing of whole numbers, which count."""
    digits, _, exponent = number.replace("−", "-").lower().partition("e")
    decimals = len(digits.partition(".")[2])
    if not (decimals or exponent):
        return 0.0
    return float(10.0 ** (int(exponent or 0) - decimals))


def compared(only: str = "", *, update: bool) -> bool:
    """Print what changed in the texts, write them anew on request; whether any changed."""
    same_kernel, changed = record.kernel() == record.recorded_kernel(), 0
    names = [name for name in TEXTS if only in name]
    for name in names:
        told = difference(name, same_kernel=same_kernel)
        if told:
            changed += 1
            print(told if file_of(name).exists() else f"{name}: not kept yet")
            if update:
                FOLDER.mkdir(exist_ok=True)
                file_of(name).write_text(text_of(name), encoding="utf-8")
    for path in [] if only else FOLDER.glob("*.txt"):
        if path.stem not in TEXTS:
            changed += 1
            print(f"{path.stem}: kept, and nothing says it any more")
            if update:
                path.unlink()
    print(f"{len(names)} texts: {changed} changed")
    return bool(changed)
