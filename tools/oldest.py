"""Pin every dependency to the oldest version that pyproject.toml allows: ``make test-oldest``.

Prints constraints for pip, one ``name==version`` per ``name>=version``.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)>=([0-9][0-9a-z.]*)$")


def constraints(project: dict[str, object], extras: list[str]) -> list[str]:
    """The lower bounds of the core dependencies and of ``extras``, as pins."""
    core, optional = project["dependencies"], project["optional-dependencies"]
    assert isinstance(core, list)
    assert isinstance(optional, dict)
    wanted = [*core, *(line for extra in extras for line in optional[extra])]
    pins = []
    for line in wanted:
        if line.startswith(f"{project['name']}["):
            continue  # an extra made of others
        found = REQUIREMENT.match(line)
        if found is None:
            sys.exit(f"pyproject.toml: {line!r} has no lower bound of the form name>=version")
        pins.append(f"{found[1]}=={found[2]}")
    return pins


def main() -> None:
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    print("\n".join(constraints(tomllib.loads(text)["project"], sys.argv[1:])))


if __name__ == "__main__":
    main()
