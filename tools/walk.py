"""Through which modules one profile goes: `python tools/walk.py [--steps] [pyproject.toml]`.

Prints the modules of the package in the order in which ``sr.profile(x, levels=4)`` on the
two-sphere first enters them, then how many steps from one module to another there are, repeats
collapsed, how many of them are different, and which lead *back*: to a module that stands above
the one that calls it in the import contract. Another pyproject.toml may be named, for the walk
through another tree on PYTHONPATH.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import steradian as sr

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def module_of(frame: FrameType | None) -> str | None:
    """The module of a frame, relative to the package; None outside it."""
    name = "" if frame is None else str(frame.f_globals.get("__name__", ""))
    return name.removeprefix("steradian.") if name.startswith("steradian.") else None


def walk(work: Any) -> list[tuple[str, str]]:
    """Steps (from, to) between modules while ``work`` runs, consecutive repeats collapsed."""
    steps: list[tuple[str, str]] = []

    def entered(frame: FrameType, event: str, _argument: object) -> None:
        to, back = module_of(frame), frame.f_back
        while back is not None and module_of(back) is None:
            back = back.f_back
        came = module_of(back)
        moved = event == "call" and to and came and came != to
        if moved and (not steps or steps[-1] != (came, to)):
            steps.append((str(came), str(to)))

    sys.setprofile(entered)
    try:
        work()
    finally:
        sys.setprofile(None)
    return steps


def heights(pyproject: Path) -> dict[str, int]:
    """How high each module or folder stands in the first import contract, the lowest at 0."""
    contract = tomllib.loads(pyproject.read_text())["tool"]["importlinter"]["contracts"][0]
    out = {}
    for height, layer in enumerate(reversed(contract["layers"])):
        for name in re.split(r"[\s:|()]+", layer):
            out[name.removeprefix("steradian.")] = height
    return out


def leads_back(step: tuple[str, str], known: dict[str, int]) -> bool:
    """Whether a step leads to a module that stands higher; not known of those in no layer."""
    found = []
    for module in step:
        parts = module.split(".")
        names = (".".join(parts[:k]) for k in range(len(parts), 0, -1))
        found.append(next((known[name] for name in names if name in known), -1))
    return -1 < found[0] < found[1]


def sample() -> Any:
    x = np.random.default_rng(0).normal(size=(500, 3)) + np.array([1.0, 0.0, 0.0])
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def main() -> None:
    x = sample()
    sr.profile(x, levels=4)  # grids and integrals that live for the whole run are made here
    steps = walk(lambda: sr.profile(x, levels=4))
    pairs = Counter(steps)
    entered = list(dict.fromkeys(to for _, to in steps))
    known = heights(next((Path(name) for name in sys.argv[1:] if name != "--steps"), PYPROJECT))
    back = [step for step in pairs if leads_back(step, known)]
    if "--steps" in sys.argv:
        print("\n".join(f"{a} -> {b}" for a, b in steps))
    print("modules, in the order of their first entry:\n  " + "\n  ".join(entered))
    print(f"{len(steps)} steps, {len(pairs)} different ones, {len(entered)} modules")
    print(f"{len(back)} of them lead back" + "".join(f"\n  {a} -> {b}" for a, b in back))


if __name__ == "__main__":
    main()
