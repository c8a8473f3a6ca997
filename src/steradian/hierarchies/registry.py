"""Hierarchies written down and made again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steradian.arguments import shown
from steradian.errors import InvalidArgument
from steradian.hierarchies.axial import Axial
from steradian.hierarchies.base import Hierarchy
from steradian.hierarchies.harmonics import Harmonics
from steradian.hierarchies.interactions import Interactions
from steradian.hierarchies.torus_harmonics import TorusHarmonics
from steradian.spaces import Rotations


def hierarchy_from_dict(data: Any) -> Hierarchy:
    """The hierarchy that ``to_dict`` wrote as ``data``."""
    if not isinstance(data, dict):
        raise InvalidArgument(f"not a dictionary of a hierarchy: {shown(data)}")
    kind = data.get("kind")
    if isinstance(kind, str) and kind == "Custom":
        raise InvalidArgument(
            "a Custom hierarchy holds functions, which cannot be read again; make it as before"
        )
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidArgument(
            f"moments of a {shown(kind)} hierarchy cannot be read; known: {', '.join(_KINDS)}"
        )
    arguments = {str(name): value for name, value in data.items() if name != "kind"}
    try:
        return _KINDS[kind](**arguments)
    except TypeError as error:  # names that it does not take, or lacks
        raise InvalidArgument(f"not a dictionary of {kind}: {error}") from None


def _axial(d: int, levels: int, space: str = "axes") -> Axial:
    return Axial.on(Rotations(), levels) if space == "rotations" else Axial(d, levels)


_KINDS: dict[str, Callable[..., Hierarchy]] = {
    "Harmonics": Harmonics,
    "Axial": _axial,
    "Interactions": Interactions,
    "TorusHarmonics": TorusHarmonics,
}
