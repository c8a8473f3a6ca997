"""A profile in a notebook: the findings, the table and the three answers, without a script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from steradian.inference.effort import SOON
from steradian.plots.palette import level_colour
from steradian.profile.findings import findings
from steradian.profile.level_table import LevelTable
from steradian.wording import sentence

if TYPE_CHECKING:
    from steradian.profile.profile import Profile


def profile_html(profile: Profile) -> str:
    """A fragment of HTML that inherits the colours of whatever shows it."""
    table = LevelTable.of(profile, SOON)
    first, *then = (sentence(str(one)) for one in findings(table))
    said = "".join(f"<div>{escape(words)}</div>" for words in then)
    answers = "".join(
        f"<dt><b>{escape(one.question)}</b></dt><dd>{escape(one.words)}</dd>"
        for one in profile.trust().judgements
    )
    about = f"{profile.n:,} rows on the {profile.moments.hierarchy.space.name}"
    return (
        f"<div><div><b>{escape(first)}</b></div>{said}<small>{escape(about)}</small>"
        f"{_table(table)}<dl>{answers}</dl></div>"
    )


def _table(table: LevelTable) -> str:
    columns = table.columns()
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name, _ in columns)
    rows = []
    for k, cells in enumerate(zip(*(cells for _, cells in columns), strict=True), 1):
        level, *rest = (escape(cell) for cell in cells)
        mark = f"<span style='color:{level_colour(k)}'>■</span>"
        rows.append(
            f"<tr><th scope='row'>{mark} {level}</th>"
            + "".join(f"<td>{cell}</td>" for cell in rest)
            + "</tr>"
        )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
