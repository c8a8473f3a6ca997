"""Designs as words on the command line."""

from __future__ import annotations

from pathlib import Path

from steradian import designs
from steradian.designs import Design, as_design
from steradian.errors import DesignError
from steradian.io.frames import column
from steradian.io.tables import read_table

DESIGN_HELP = (
    "How the rows came about: iid, fixed, importance, chain, chain:COLUMN, clusters:COLUMN, "
    "survey:psu=COLUMN,strata=COLUMN,fraction=COLUMN, or descriptive. Adds tests and intervals."
)


def parse_design(words: str, file: str) -> Design:
    """``name`` or ``name:columns``; columns are read from ``file``."""
    name, _, given = words.partition(":")
    if not given:
        if name in {"clusters", "survey"}:
            raise DesignError(f"--design {name} needs columns, like {_LIKE[name]}")
        return as_design(name, weighted=True)
    if not Path(file).exists():
        raise DesignError(f"{file} is no table with columns; --design {name}:COLUMN needs one")
    plan = _with_columns(name, [part.strip() for part in given.split(",")])
    table = read_table(file)
    return plan.with_columns(lambda wanted: column(table, wanted))


_LIKE = {"clusters": "clusters:site", "survey": "survey:psu=block,strata=region"}


def _with_columns(name: str, parts: list[str]) -> Design:
    if name in {"clusters", "chain"} and len(parts) == 1:
        return designs.Clusters(parts[0]) if name == "clusters" else designs.Chain(parts[0])
    if name == "survey":
        pairs = dict(part.split("=", 1) for part in parts if "=" in part)
        if len(pairs) == len(parts) and set(pairs) <= {"psu", "strata", "fraction"}:
            return designs.Survey(**pairs)
    raise DesignError(f"--design {name}:{','.join(parts)} is not understood; {DESIGN_HELP}")
