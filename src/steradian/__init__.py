"""steradian: what a mean direction hides.

Geometric information decomposition of weighted directions: nested maximum-entropy fits
(von Mises-Fisher, Fisher-Bingham, spherical harmonics) and the information in nats that
each level adds.
"""

# ruff: noqa: F405 - the names are those of steradian.api, one import line each there

import typing as _typing

if _typing.TYPE_CHECKING:
    import steradian.conformance as conformance  # noqa: PLR0402 - mypy knows no attribute yet
    from steradian.api import *  # noqa: F403 - one line for each name is there

__version__ = "0.1.0"

__all__ = [
    "Axes",
    "Axial",
    "Blocks",
    "BoundaryError",
    "Circle",
    "ConvergenceError",
    "Custom",
    "DesignError",
    "Diagonal",
    "Directions",
    "FisherBingham",
    "Harmonics",
    "HealpixMap",
    "Hypersphere",
    "Interactions",
    "InvalidArgument",
    "InvalidDirections",
    "LowRank",
    "Mask",
    "MissingExtra",
    "Moments",
    "Permutation",
    "Quadratics",
    "ResolutionError",
    "Rotations",
    "Shrinkage",
    "Sketch",
    "Space",
    "Sphere",
    "Stacked",
    "SteradianError",
    "Torus",
    "TorusHarmonics",
    "Zonal",
    "bootstrap",
    "boundary",
    "choose_order",
    "compare",
    "conformance",
    "designs",
    "examples",
    "kernels",
    "moments",
    "plots",
    "profile",
    "profiles",
    "read_directions",
    "register_hierarchy",
    "results",
]

if not _typing.TYPE_CHECKING:  # a checker would take every name for one of ours

    def __getattr__(name: str) -> object:
        """Public names are imported when somebody asks for the first of them."""
        from importlib import import_module

        if name == "conformance":
            return import_module("steradian.conformance")
        if name not in __all__:
            raise AttributeError(f"module 'steradian' has no attribute {name!r}")
        api = import_module("steradian.api")
        globals().update({each: getattr(api, each) for each in api.__all__})
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
