"""The phrase book: the one place where a code becomes a sentence.

A phrase is a template whose fields are the data of a diagnostic. Where the command line needs other
words than Python, the phrase has both. Rewording a phrase changes nothing but the words. Phrases
stand in files by topic: `significance_phrases` (p-values), `finding_phrases` (profiles, intervals,
orders), `reading_phrases` (tables), `adequacy_phrases` (what a fit leaves over), `group_phrases`
(comparisons), `covariate_phrases` (regressions).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from steradian.text.adequacy_phrases import ADEQUACY
from steradian.text.audience import Advice
from steradian.text.covariate_phrases import COVARIATES
from steradian.text.finding_phrases import FINDINGS
from steradian.text.group_phrases import GROUPS
from steradian.text.messages import filled, plural
from steradian.text.numbers import (
    capital,
    digits,
    levels_in_words,
    listed,
    percent,
    pvalue_words,
    to_be,
)
from steradian.text.reading_phrases import READING
from steradian.text.significance_phrases import TESTS

_NAMED = 4  # levels that are named one by one
_LARGE = 1e4  # from which nobody reads all digits of an estimated number of rows

PHRASES: dict[str, str | Advice] = {
    "no_fit": "{cause}; {remedy}",
    "not_computed": Advice(
        "not computed (about {seconds:duration}); call `{call}`",
        "not computed (about {seconds:duration}); {call:option}",
    ),
    "refused_by_error": "{message}",
    "enumeration": "{parts:enumeration}",
    **READING,
    **TESTS,
    **ADEQUACY,
    **FINDINGS,
    **GROUPS,
    **COVARIATES,
}


GO_ON = frozenset({"no_fit"})
"""Phrases that begin with a verb: the level that they are about is its subject."""


def say(code: str, /, **data: Any) -> str:
    """The sentence of a code, for whoever reads.

    Examples
    --------
    >>> say("null_centred")
    "tilting failed (null outside the data's hull): null-centred covariance used"
    """
    return filled(str(PHRASES[code]), data, _FORMATS)


def _nested(value: Mapping[str, Any]) -> str:
    """A sentence within another."""
    return say(value["code"], **value["data"])


def _unit(value: Mapping[str, Any]) -> str:
    """One unit: by the user's name for it, or where its rows stand."""
    if "rows" in value:
        first, last = value["rows"]
        return f"{value['what']} {value['name']} (rows {first} to {last}, counted from 0)"
    counted = " (counted from 0)" if value["counted"] else ""
    return f"{value['what']} {value['name']}{counted}"


def _units(values: Sequence[Mapping[str, Any]]) -> str:
    """Several units; of rows it is said once how they are counted."""
    if all(value["counted"] and "rows" not in value for value in values):
        names = ", ".join(f"{value['what']} {value['name']}" for value in values)
        return f"{names}; counted from 0"
    return ", ".join(_unit(value) for value in values)


def _enumeration(values: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(_nested(value) for value in values)


def _level(value: Mapping[str, Any]) -> str:
    own = f"level {value['level']}"
    return own if value["name"] == own else f"{own} ({value['name']})"


def _levels(values: Sequence[Mapping[str, Any]]) -> str:
    """Levels with their names; of many, neighbours as a range."""
    if len(values) > _NAMED:
        return levels_in_words([value["level"] for value in values])
    return listed([_level(value) for value in values])


def _sizes(values: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(
        f"{_level(one)}, {digits(one['nats'])} nats ({percent(one['share'])})" for one in values
    )


def _pvalues(values: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(f"{_level(one)}, {pvalue_words(one['pvalue'])}" for one in values)


def _noises(values: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(
        f"{_level(one)}, {digits(one['nats'])} nats"
        + ("" if math.isnan(one["noise"]) else f" (noise level {digits(one['noise'], 2)})")
        for one in values
    )


def _places(values: Sequence[Mapping[str, Any]]) -> str:
    first, *others = values
    told = f"{first['place']} ({digits(first['density'])} × uniform)"
    return listed([told, *(f"{one['place']} ({digits(one['density'])} ×)" for one in others)])


def _difference(one: Mapping[str, Any]) -> str:
    """A level or a part of one; the second is shape, beyond direction and concentration."""
    return say("shape_of_level", name=one["name"]) if one["shape"] else str(one["name"])


def _found(values: Sequence[Mapping[str, Any]]) -> str:
    said = [
        f"{say('difference_' + one['sure'])} {_difference(one)} "
        f"({_nested(one['size'])}, {pvalue_words(one['pvalue'])})"
        for one in values
    ]
    return ", and ".join(said)


def _found_briefly(values: Sequence[Mapping[str, Any]]) -> str:
    ways: dict[str, list[str]] = {}
    for one in values:
        ways.setdefault(say(f"difference_{one['sure']}"), []).append(_difference(one))
    return ", ".join(f"{how} {listed(names)}" for how, names in ways.items())


def _missing(values: Sequence[Mapping[str, Any]]) -> list[str]:
    return [f"{_difference(one)} ({pvalue_words(one['pvalue'])})" for one in values]


def _pairs(values: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(f"{listed(one['groups'])} ({pvalue_words(one['pvalue'])})" for one in values)


def _about(value: float) -> str:
    """Two digits of a large number."""
    return f"{float(f'{value:.1e}'):,.0f}" if value >= _LARGE else f"{value:.0f}"


_FORMATS: dict[str, Callable[[Any], str]] = {
    "nested": _nested,
    "unit": _unit,
    "units": _units,
    "plural": plural,
    "enumeration": _enumeration,
    "about": _about,
    "levels": _levels,
    "be": to_be,
    "listed": listed,
    "capital": capital,
    "error": lambda value: "" if value is None else f" ± {value:.1g}",
    "found": _found,
    "found_briefly": _found_briefly,
    "missing": lambda values: ", ".join(_missing(values)),
    "missing_or": lambda values: " or ".join(_missing(values)),
    "missing_names": lambda values: ", ".join(_difference(one) for one in values),
    "pairs": _pairs,
    "sizes": _sizes,
    "noises": _noises,
    "pvalues": _pvalues,
    "level_list": levels_in_words,
    "places": _places,
}
"""Formats of fields beyond those of messages: ``{unit:unit}``, ``{why:nested}``."""
