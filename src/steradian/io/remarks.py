"""What is said of the columns beside those that directions are read from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from steradian.errors import InvalidDirections
from steradian.io.frames import Table
from steradian.io.recognition import listed
from steradian.io.request import Chosen
from steradian.text.messages import Message, arguments, message

COUNTS = frozenset({"count", "counts", "n", "freq", "frequency", "frequencies"})
WEIGHTS = frozenset({"weight", "weights", "wt"})
_QUADRANT = re.compile(r"^\s*[NSEW]{1,3}\s*$", re.IGNORECASE)
_CORRECTION = "tilt_correction"
_LOOKED_AT = 20  # rows


def remarks(table: Table, chosen: Chosen, free: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of columns that nobody named, ``free``, and nothing reads."""
    read = set(chosen.read)
    idle = [name for name in free if name not in read]
    said = _unused(idle) if chosen.tells_unused else ()
    if chosen.counts is None and not chosen.counts_name:
        said += _idle_counts(idle) if table.header else _idle_decimals(table, idle)
        unweighted = chosen.weights is None and not chosen.weights_name
        said += _idle_weights(idle) if unweighted else ()
    return said + _corrections(table, chosen, idle)


def _unused(idle: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of columns beside those of vectors."""
    return (f"not used: {listed([f'`{name}`' for name in idle])}",) if idle else ()


def _idle_weights(names: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of a column that may hold weights and that nobody named."""
    found = [name for name in names if name.strip().lower() in WEIGHTS]
    return tuple(
        message("column `{name}` not used ({remedy})", name=n, remedy=arguments(weights=n))
        for n in found[:1]
    )


def _idle_counts(names: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of a column that may count observations and that nobody named."""
    return tuple(
        message(
            "column `{name}` not used ({remedy} if rows are bins)",
            name=name,
            remedy=arguments(counts=name),
        )
        for name in names
        if name.strip().lower() in COUNTS
    )[:1]


def _idle_decimals(table: Table, names: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of a second column without a name, which may be what follows a comma."""
    if len(table.columns) != 2 or names != ["2"]:
        return ()
    return ("column `2` not used (if it is the decimals after a comma, add a header line)",)


def _corrections(table: Table, chosen: Chosen, idle: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of directions before and after a correction for tilt that stand together."""
    for name in idle if "inclination" in chosen.convention.roles else ():
        if name.lower().endswith(_CORRECTION):
            values = dict.fromkeys(str(value).strip() for value in table[name])
            kinds = [value.removesuffix(".0") for value in values if value not in ("", "nan")]
            if len(kinds) > 1:
                remark = message(
                    "`{name}` is {kinds}: rows of different corrections are pooled ({remedy} keeps "
                    "them apart)",
                    name=name, kinds=" and ".join(sorted(kinds)[:3]), remedy=arguments(by=name),
                )  # fmt: skip
                return (remark,)
    return ()


def quadrants(
    table: Table, free: Sequence[str], chosen: Chosen, *, named: bool
) -> tuple[Message | str, ...]:
    """Refuse a column of compass letters beside strikes, or say that it is not used."""
    if "strike" not in chosen.convention.roles:
        return ()
    for name in free:
        cells = table[name][:_LOOKED_AT]
        if name in chosen.columns or cells.dtype.kind not in "OUST" or not len(cells):
            continue
        if all(_QUADRANT.match(str(cell)) for cell in cells):
            said = f"column `{name}` holds compass letters like {str(cells[0]).strip()}"
            if named:
                return (f"{said}, not used: a plane dips to the right of its strike",)
            raise InvalidDirections(
                "{said}, and strikes are read by the right-hand rule: a plane dips to the right of "
                "its strike; write the letters beside the dips, like 41SE, or add 180 to the "
                "strikes of those that dip to the left and say {remedy}",
                said=said,
                remedy=arguments(columns=list(chosen.columns), coords="strike_dip"),
            )
    return ("a plane dips to the right of its strike",)
