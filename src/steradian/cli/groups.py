"""A profile of each group of rows, one line each."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from steradian.cli.output import as_csv, as_json, as_markdown
from steradian.errors import InvalidDirections, LevelError, SteradianError
from steradian.numerics.tolerances import POINTS_NOWHERE
from steradian.profile import profile
from steradian.profile.principal_axes import axis_in_words
from steradian.profile.summary import in_words
from steradian.progress import tracked
from steradian.wording import digits

if TYPE_CHECKING:
    from steradian.data.directions import Directions
    from steradian.data.moments import Moments
    from steradian.profile import Profile

_NOT_THERE = "–"
_WIDTH = 80
_NOISE = 0.05  # p-value of uniformity above which a mean direction is not told
_UNNAMED = "(empty)"  # a group of rows whose label is missing


def group_records(
    groups: Mapping[Any, tuple[int, Callable[[], Directions | Moments]]],
    levels: int | str | None,
    shrinkage: float | None,
    reference: Any = None,
) -> list[Any]:
    """What is told of each group, of how many rows it has and what makes its sample."""
    records = []
    for label, (count, sample) in tracked(groups.items(), len(groups), "groups"):
        name = str(label).strip() or _UNNAMED
        try:
            found = profile(sample(), levels=levels, shrinkage=shrinkage, reference=reference)
        except (LevelError, InvalidDirections) as error:
            records.append({"group": name, "n": count, "error": str(error)})
        else:
            records.append(_record(name, found))
    return records


def _record(name: str, found: Profile) -> dict[str, Any]:
    record: dict[str, Any] = {"group": name, "n": found.n}
    pointing = found.has_mean and _points(found)
    if found.has_mean:
        record["resultant_length"] = found.resultant
        record["mean"] = in_words(found).lstrip(": ") if pointing else ""
    if not pointing and (axis := axis_in_words(found)):
        record["axis"] = axis
    record["total"] = float(found.deficits[-1])
    record["gaps"] = found.gaps.tolist()
    return record | ({} if found.stopped is None else {"stopped": found.stopped.to_dict()})


def _points(found: Profile) -> bool:
    """Whether a group has a mean direction: significant, where a p-value is defined."""
    if found.resultant < POINTS_NOWHERE:
        return False
    try:
        pvalue = float(found.uniformity().pvalue[0])
    except SteradianError:
        return True
    return not pvalue > _NOISE


def group_text(records: list[Any], read: str, form: str) -> str:
    """The groups in one of the formats."""
    if form == "json":
        return as_json({"read": read, "groups": records})
    levels = max((len(record.get("gaps", ())) for record in records), default=0)
    rows = [_row(record, levels) for record in records]
    if form == "csv":
        return as_csv(rows)
    if form == "markdown":
        return f"{read}\n\n{as_markdown(rows)}"
    notes = [f"{r['group']}: {r['error']}" for r in records if "error" in r]
    return "\n".join(
        [
            *textwrap.wrap(read, _WIDTH),
            "",
            *_aligned(rows),
            "",
            *textwrap.wrap(_LEGEND, _WIDTH),
            *notes,
        ]
    )


_LEGEND = (
    "R mean resultant length, D information in all levels, I what each level adds (nats); "
    f"no mean where it is not significant (Rayleigh's p above {_NOISE})."
)


def _row(record: dict[str, Any], levels: int) -> dict[str, Any]:
    row = {"group": record["group"], "n": record["n"]}
    row["R"] = record.get("resultant_length", _NOT_THERE)
    row["D"] = record.get("total", _NOT_THERE)
    gaps = record.get("gaps", [])
    row |= {f"I{k + 1}": gaps[k] if k < len(gaps) else _NOT_THERE for k in range(levels)}
    mean, axis = record.get("mean") or _NOT_THERE, record.get("axis")
    return row | ({"mean": mean} if axis is None else {"mean": f"axis {axis}"})


def _aligned(rows: list[dict[str, Any]]) -> list[str]:
    names = list(rows[0])
    cells = [[_shown(row[name]) for name in names] for row in rows]
    widths = [max(len(line[k]) for line in [names, *cells]) for k in range(len(names))]
    last = len(names) - 1
    return [
        "  ".join(
            cell.ljust(widths[k]) if k in (0, last) else cell.rjust(widths[k])
            for k, cell in enumerate(line)
        ).rstrip()
        for line in [names, *cells]
    ]


def _shown(value: Any) -> str:
    return digits(value) if isinstance(value, float) else str(value)
