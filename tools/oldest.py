"""Pin every dependency to the oldest version that pyproject.toml allows: ``make test-oldest``.

Prints constraints for pip, one ``name==version`` per ``name>=version``; where two extras ask for
the same library, the newer of their bounds.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?>=([0-9]+(?:\.[0-9]+)*)$")


def wanted(project: dict[str, Any], extras: list[str]) -> list[str]:
    """The core dependencies and those of ``extras``, with the extras that they are made of."""
    lines = list(project["dependencies"])
    for extra in extras:
        for line in project["optional-dependencies"][extra]:
            others = re.fullmatch(rf"{project['name']}\[(.+)\]", line)
            lines += wanted(project, others[1].split(",")) if others else [line]
    return lines


def constraints(project: dict[str, Any], extras: list[str]) -> list[str]:
    """The lower bounds of all of them, as pins."""
    oldest: dict[str, str] = {}
    for line in wanted(project, extras):
        found = REQUIREMENT.match(line)
        if found is None:
            sys.exit(f"pyproject.toml: {line!r} has no lower bound of the form name>=version")
        name, version = found.groups()
        oldest[name] = max(oldest.get(name, "0"), version, key=numbers)
    return [f"{name}=={version}" for name, version in oldest.items()]


def numbers(version: str) -> tuple[int, ...]:
    """A version as it is ordered."""
    return tuple(int(part) for part in version.split("."))


def main() -> None:
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    print("\n".join(constraints(tomllib.loads(text)["project"], sys.argv[1:])))


if __name__ == "__main__":
    main()
