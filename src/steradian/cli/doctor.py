"""What is installed, and whether it computes what it should."""

from __future__ import annotations

import platform
import time
from importlib import metadata
from importlib.util import find_spec

import steradian

_CORE = ("numpy", "scipy", "ducc0")
_EXTRAS = {
    "cli": ("typer", "rich"),
    "tables": ("narwhals", "pyarrow", "pandas"),
    "plots": ("matplotlib",),
    "report": ("jinja2", "plotly"),
    "digits": ("scikit-learn",),
}
_IMPORTED_AS = {"scikit-learn": "sklearn"}
_KNOWN_GAP = 1.63296  # of level 2 of the McMurdo sites, as README prints it


def doctor_command() -> int:
    """Show versions and extras, and check one profile. Exits with 1 if it is wrong."""
    print(f"steradian {steradian.__version__}, Python {platform.python_version()}")
    print(f"on {platform.platform()}")
    for name in _CORE:
        print(f"  {name} {metadata.version(name)}")
    for extra, names in _EXTRAS.items():
        print(f"extra {extra}: {', '.join(_state(name) for name in names)}")
        if any(find_spec(_IMPORTED_AS.get(name, name)) is None for name in names):
            print(f"  install it with: pip install 'steradian[{extra}]'")
    return _self_test()


def _state(name: str) -> str:
    if find_spec(_IMPORTED_AS.get(name, name)) is None:
        return f"{name} missing"
    return f"{name} {metadata.version(name)}"


def _self_test() -> int:
    from steradian.examples import load
    from steradian.profile import profile

    began = time.perf_counter()
    gap = float(profile(load("mcmurdo"), levels=2).gaps[1])
    sound = abs(gap - _KNOWN_GAP) < 0.5e-5
    took = time.perf_counter() - began
    print(f"self-test: I2 of mcmurdo is {gap:.5f}, {'as' if sound else 'NOT as'} it should be")
    print(f"           ({took:.2f} s)")
    return 0 if sound else 1
