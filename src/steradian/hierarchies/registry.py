"""Hierarchies by name: written down and made again, and the one of a space that names none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steradian.arguments import shown
from steradian.errors import InvalidArgument, SteradianError
from steradian.hierarchies.axial import Axial
from steradian.hierarchies.base import Hierarchy
from steradian.hierarchies.custom import Custom
from steradian.hierarchies.harmonics import Harmonics
from steradian.hierarchies.low_rank import LowRank
from steradian.hierarchies.quadratics import Blocks, Diagonal, Quadratics
from steradian.hierarchies.relative import Against, Shifted
from steradian.hierarchies.sketch import Sketch
from steradian.hierarchies.stacked import Stacked
from steradian.hierarchies.torus import Interactions, TorusHarmonics
from steradian.hierarchies.zonal import BoundedZonal, Zonal
from steradian.spaces import (
    SHIPPED_SPACES,
    Axes,
    Circle,
    Hypersphere,
    Rotations,
    Space,
    Sphere,
    Torus,
)
from steradian.text.audience import Advice
from steradian.text.messages import arguments

_FEW, _MANY = 2, 4  # levels in many and in few dimensions
_SPHERES = Circle, Sphere, Hypersphere  # made once: every profile asks


def default_hierarchy(space: Space, levels: int | None = None) -> Hierarchy:
    """Harmonics of every degree on spheres and tori, of even ones on axes and rotations."""
    if isinstance(space, _SPHERES):
        many = _MANY if space.d <= 3 else _FEW
        return Harmonics(space.d, many if levels is None else levels)
    if isinstance(space, Axes | Rotations):
        return Axial.on(space, _axial_levels(space.d) if levels is None else levels)
    if isinstance(space, Torus):
        return TorusHarmonics(space.k, _FEW if levels is None else levels)
    raise InvalidArgument(
        "nothing is known to measure on the {space}; pass {remedy}",
        space=space.name,
        remedy=Advice("hierarchy=sr.Custom(space, blocks)", "a hierarchy of your own in Python"),
    )


def _axial_levels(d: int) -> int:
    """Two where the second is integrated in little time."""
    return 2 if d <= 4 else 1


def register_hierarchy(kind: str, make: Callable[..., Hierarchy]) -> None:
    """Let dictionaries of a hierarchy from outside the package be read again.

    Parameters
    ----------
    kind : str
        What its ``to_dict`` writes as ``"kind"``.
    make : callable
        Makes the hierarchy from the other entries of that dictionary, by name: mostly the class.

    Raises
    ------
    InvalidArgument
        ``kind`` is one of this package, or somebody else has taken it.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.register_hierarchy("Harmonics", sr.Harmonics)
    Traceback (most recent call last):
    steradian.errors.InvalidArgument: kind 'Harmonics' is taken; choose another name
    """
    if not isinstance(kind, str) or not kind.strip():
        raise InvalidArgument(f"kind is {shown(kind)}; give the name that to_dict writes")
    if not callable(make):
        raise InvalidArgument(f"make is {shown(make)}; give what makes the hierarchy, its class")
    if kind in _SHIPPED or not _same_maker(_REGISTERED.get(kind, make), make):
        raise InvalidArgument(f"kind {kind!r} is taken; choose another name")
    _REGISTERED[kind] = make


def is_shipped(hierarchy: Any) -> bool:
    """Whether hierarchy, functions and space are all of this package, whose tests prove them."""
    if isinstance(hierarchy, Stacked):
        return all(is_shipped(part) for part in hierarchy.parts)
    if isinstance(hierarchy, Against):  # orthonormal by construction, whatever the reference
        return is_shipped(hierarchy.base)
    if isinstance(hierarchy, Shifted):
        return is_shipped(hierarchy.whole)
    return type(hierarchy) in _PROVEN and type(hierarchy.space) in SHIPPED_SPACES


def hierarchy_from_dict(data: Any) -> Hierarchy:
    """The hierarchy that ``to_dict`` wrote as ``data``."""
    if not isinstance(data, dict):
        raise InvalidArgument(f"not a dictionary of a hierarchy: {shown(data)}")
    kind = data.get("kind")
    known = {**_SHIPPED, **_REGISTERED}
    if not isinstance(kind, str) or kind not in known:
        raise InvalidArgument(
            f"moments of a {shown(kind)} hierarchy cannot be read; known: {', '.join(known)}; "
            "others are made known by sr.register_hierarchy(kind, make)"
        )
    arguments = {str(name): value for name, value in data.items() if name != "kind"}
    try:
        return known[kind](**arguments)
    except SteradianError:
        raise
    except Exception as error:  # names that it does not take, or whatever somebody's maker raises
        said = f"{type(error).__name__}: {error}"
        raise InvalidArgument(f"not a dictionary of {kind}: {said}") from None


def _axial(d: int, levels: int, space: str = "axes") -> Axial:
    if space not in {"axes", "rotations"}:
        raise InvalidArgument(f"space is {shown(space)}; give 'axes' or 'rotations'")
    return Axial(d, levels, Rotations() if space == "rotations" else None)


def _custom(**_: Any) -> Custom:
    raise InvalidArgument(
        "a Custom hierarchy holds functions, which cannot be read again; make it as before"
    )


def _against(**_: Any) -> Against:
    raise InvalidArgument(
        "what a profile is relative to cannot be read again; profile the data with {remedy} as "
        "before",
        remedy=arguments(reference=...),
    )


def _stacked(parts: Any) -> Stacked:
    if not isinstance(parts, list):
        raise InvalidArgument(f"parts is {shown(parts)}; give a list of dictionaries")
    return Stacked([hierarchy_from_dict(part) for part in parts])


def _same_maker(one: Callable[..., Hierarchy], other: Callable[..., Hierarchy]) -> bool:
    """Whether two are the same object, or the same name of a module that was loaded twice."""
    names = [
        (getattr(each, "__module__", ""), getattr(each, "__qualname__", ""))
        for each in (one, other)
    ]
    named = bool(names[0][1]) and "<" not in names[0][1]  # lambdas all have one name
    return one is other or (names[0] == names[1] and named)


_MAKERS: dict[type, Callable[..., Hierarchy]] = {  # what makes each kind from its dictionary
    Harmonics: Harmonics,
    Axial: _axial,
    Interactions: Interactions,
    Quadratics: Quadratics,
    Diagonal: Diagonal,
    Blocks: Blocks,
    Zonal: Zonal,
    BoundedZonal: BoundedZonal,
    LowRank: LowRank,
    Sketch: Sketch,
    TorusHarmonics: TorusHarmonics,
    Custom: _custom,
    Stacked: _stacked,
    Against: _against,
    Shifted: _against,
}
# those that hold other people's functions, parts or references are proven by what they hold
_PROVEN = set(_MAKERS) - {Against, Custom, Shifted, Stacked}
_SHIPPED = {each.__name__: make for each, make in _MAKERS.items()}
_REGISTERED: dict[str, Callable[..., Hierarchy]] = {}  # from outside the package
