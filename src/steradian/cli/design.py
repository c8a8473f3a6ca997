"""Designs as words on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steradian import designs
from steradian.cli.options import DESIGN_HELP
from steradian.designs import Design, as_design
from steradian.errors import DesignError

if TYPE_CHECKING:
    from steradian.cli.options import Data


def parse_design(words: str, data: Data) -> Design:
    """``name`` or ``name:columns``; columns are those of the table the data are from."""
    name, _, given = words.partition(":")
    if not given:
        if name in {"clusters", "survey"}:
            raise DesignError(f"--design {name} needs columns, like {_LIKE[name]}")
        return as_design(name, weighted=True)
    if data.table is None:
        raise DesignError(f"{data.name} is no table with columns; --design {name}:COLUMN needs one")
    plan = _with_columns(name, [part.strip() for part in given.split(",")])
    return plan.with_columns(data.column)


def design_columns(words: str) -> list[str]:
    """The columns that a design names in its words."""
    _, _, given = words.partition(":")
    return [part.rpartition("=")[2].strip() for part in given.split(",") if part.strip()]


_LIKE = {"clusters": "clusters:site", "survey": "survey:psu=block,strata=region"}


def _with_columns(name: str, parts: list[str]) -> Design:
    if name in {"clusters", "chain"} and len(parts) == 1:
        return designs.Clusters(parts[0]) if name == "clusters" else designs.Chain(parts[0])
    if name == "survey":
        pairs = dict(part.split("=", 1) for part in parts if "=" in part)
        if len(pairs) == len(parts) and set(pairs) <= {"psu", "strata", "fraction"}:
            return designs.Survey(**pairs)
    raise DesignError(f"--design {name}:{','.join(parts)} is not understood; {DESIGN_HELP}")
