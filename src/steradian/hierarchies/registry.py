"""Hierarchies by name: written down and made again, and the one of a space that names none."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from steradian.arguments import shown
from steradian.errors import InvalidArgument, SteradianError
from steradian.hierarchies.base import Hierarchy
from steradian.spaces import Axes, Circle, Hypersphere, Rotations, Space, Sphere, Torus
from steradian.text.audience import Advice
from steradian.text.messages import arguments

if TYPE_CHECKING:
    from steradian.hierarchies.axial import Axial
    from steradian.hierarchies.custom import Custom
    from steradian.hierarchies.relative import Against
    from steradian.hierarchies.stacked import Stacked

_FEW, _MANY = 2, 4  # levels in many and in few dimensions
_SPHERES = Circle, Sphere, Hypersphere  # made once: every profile asks


def default_hierarchy(space: Space, levels: int | None = None) -> Hierarchy:
    """Harmonics of every degree on spheres and tori, of even ones on axes and rotations."""
    if isinstance(space, _SPHERES):
        from steradian.hierarchies.harmonics import Harmonics

        many = _MANY if space.d <= 3 else _FEW
        return Harmonics(space.d, many if levels is None else levels)
    if isinstance(space, Axes | Rotations):
        from steradian.hierarchies.axial import Axial

        return Axial.on(space, _axial_levels(space.d) if levels is None else levels)
    if isinstance(space, Torus):
        from steradian.hierarchies.torus import TorusHarmonics

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
    if not _is_ours(hierarchy) or not isinstance(hierarchy, Hierarchy):
        return False
    return _is_ours(hierarchy.space) and all(is_shipped(part) for part in hierarchy.built_of)


def _is_ours(thing: object) -> bool:
    return type(thing).__module__.startswith("steradian.")


def hierarchy_from_dict(data: Any) -> Hierarchy:
    """The hierarchy that ``to_dict`` wrote as ``data``."""
    if not isinstance(data, dict):
        raise InvalidArgument(f"not a dictionary of a hierarchy: {shown(data)}")
    kind = data.get("kind")
    known = [*_HOMES, *(kind for kind in _SPECIAL if kind not in _HOMES), *_REGISTERED]
    if not isinstance(kind, str) or kind not in known:
        raise InvalidArgument(
            f"moments of a {shown(kind)} hierarchy cannot be read; known: {', '.join(known)}; "
            "others are made known by sr.register_hierarchy(kind, make)"
        )
    arguments = {str(name): value for name, value in data.items() if name != "kind"}
    try:
        return _maker(kind)(**arguments)
    except SteradianError:
        raise
    except Exception as error:  # names that it does not take, or whatever somebody's maker raises
        said = f"{type(error).__name__}: {error}"
        raise InvalidArgument(f"not a dictionary of {kind}: {said}") from None


def _axial(d: int, levels: int, space: str = "axes") -> Axial:
    if space not in {"axes", "rotations"}:
        raise InvalidArgument(f"space is {shown(space)}; give 'axes' or 'rotations'")
    from steradian.hierarchies.axial import Axial

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
    from steradian.hierarchies.stacked import Stacked

    return Stacked([hierarchy_from_dict(part) for part in parts])


def _same_maker(one: Callable[..., Hierarchy], other: Callable[..., Hierarchy]) -> bool:
    """Whether two are the same object, or the same name of a module that was loaded twice."""
    names = [
        (getattr(each, "__module__", ""), getattr(each, "__qualname__", ""))
        for each in (one, other)
    ]
    named = bool(names[0][1]) and "<" not in names[0][1]  # lambdas all have one name
    return one is other or (names[0] == names[1] and named)


_HOMES = {  # of the class that each kind makes, with the names of its dictionary
    "Harmonics": "harmonics",
    "Axial": "axial",
    "Interactions": "torus",
    "Quadratics": "quadratics",
    "Diagonal": "quadratics",
    "Blocks": "quadratics",
    "Zonal": "zonal",
    "BoundedZonal": "zonal",
    "LowRank": "low_rank",
    "Sketch": "sketch",
    "TorusHarmonics": "torus",
}
_SPECIAL: dict[str, Callable[..., Hierarchy]] = {
    "Axial": _axial,
    "Custom": _custom,
    "Stacked": _stacked,
    "Against": _against,
    "Shifted": _against,
}
_SHIPPED = {*_HOMES, *_SPECIAL}
_REGISTERED: dict[str, Callable[..., Hierarchy]] = {}  # from outside the package


def _maker(kind: str) -> Callable[..., Hierarchy]:
    """What makes a hierarchy of that kind from the other entries of its dictionary."""
    known = {**_REGISTERED, **_SPECIAL}
    if kind in known:
        return known[kind]
    made: Callable[..., Hierarchy] = getattr(
        import_module(f"steradian.hierarchies.{_HOMES[kind]}"), kind
    )
    return made
