"""The hierarchy that the docs show, taken from the page itself: it lives there once."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "hierarchies.md"


def docs_hierarchy() -> Any:
    """The class of the skeleton in docs/hierarchies.md."""
    names: dict[str, Any] = {"__name__": __name__}
    for example in doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8")):
        exec(compile(example.source, str(PAGE), "exec", dont_inherit=True), names)
        if example.source.startswith("sr.register_hierarchy("):
            return names["Mirrored"]
    raise AssertionError(f"{PAGE} registers no hierarchy")


Mirrored = docs_hierarchy()
