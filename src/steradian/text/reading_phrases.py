"""Phrases on what was read of a table."""

from __future__ import annotations

from steradian.text.audience import Advice

READING: dict[str, str | Advice] = {
    "repeated_rows": (
        "{repeated} of {rows} rows repeat an earlier one exactly, where rounding explains about "
        "{expected} ({remedy} keeps one of each)"
    ),
    "unseen_rows_left_out": "{rows:count row} where the reference is zero left out",
    "few_distinct_rows": (
        "{rows} rows have only {distinct} distinct values of {names}: are these places rather "
        "than directions? (other columns: {remedy})"
    ),
}
