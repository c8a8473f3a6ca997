"""Names of a package that are imported when somebody asks for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def names_on_demand(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package whose ``homes`` say which names each module has.

    A name that is a module itself stands with an empty list. What was asked for stays.
    """
    home = {name: module for module, names in homes.items() for name in names or [module]}

    def found(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home[name]}")
        value = getattr(module, name, module)
        setattr(sys.modules[package], name, value)
        return value

    return found
