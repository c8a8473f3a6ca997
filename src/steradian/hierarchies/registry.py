"""Hierarchies written down and made again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from steradian.errors import InvalidArgument
from steradian.hierarchies.axial import Axial
from steradian.hierarchies.base import Hierarchy
from steradian.hierarchies.harmonics import Harmonics
from steradian.hierarchies.interactions import Interactions
from steradian.hierarchies.torus_harmonics import TorusHarmonics
from steradian.spaces import Rotations


def hierarchy_from_dict(data: Mapping[str, Any]) -> Hierarchy:
    """The hierarchy that ``to_dict`` wrote as ``data``."""
    arguments = dict(data)
    kind = arguments.pop("kind", None)
    if kind == "Custom":
        raise InvalidArgument(
            "a Custom hierarchy holds functions, which cannot be read again; make it as before"
        )
    if kind not in _KINDS:
        raise InvalidArgument(f"no hierarchy is called {kind!r}; known are {', '.join(_KINDS)}")
    return _KINDS[kind](**arguments)


def _axial(d: int, levels: int, space: str = "axes") -> Axial:
    return Axial.on(Rotations(), levels) if space == "rotations" else Axial(d, levels)


_KINDS: dict[str, Callable[..., Hierarchy]] = {
    "Harmonics": Harmonics,
    "Axial": _axial,
    "Interactions": Interactions,
    "TorusHarmonics": TorusHarmonics,
}
