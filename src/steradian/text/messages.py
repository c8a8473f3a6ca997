"""Messages as values: a template, the fields that go into it, and remedies in the reader's terms.

A message is put into words when somebody reads it and not when it is made, so that one error
names an argument in Python and an option at the command line.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from steradian.text.audience import Advice, Audience, audience, is_offered
from steradian.text.numbers import digits, duration, percent, power_of_ten, pvalue_words


def _instead_of(call: str) -> str:
    """What does at a command line what a call does in Python."""
    given = call in {"tests()", "intervals()"}
    return f"give {arguments(design=...)}" if given else f"`{call}` in Python does it"


Formats: TypeAlias = Mapping[str, Callable[[Any], str]]

_FORMATS: Formats = {
    "digits": digits,
    "two": lambda value: digits(value, 2),
    "percent": percent,
    "power": power_of_ten,
    "p": pvalue_words,
    "duration": duration,
    "option": _instead_of,
}
"""Formats of fields beyond Python's own: ``{share:percent}``, ``{size:digits}``.
``{rows:count row}`` is a number with its noun, one or several."""

_OPTIONS = {
    **{
        name: "--" + name.replace("_", "-")
        for name in (
            "bins", "by", "columns", "coords", "counts", "design", "distinct", "drop_unseen",
"hours", "levels",
            "normalize", "on_bad", "period", "reference", "report", "shares", "shrinkage", "table",
            "weights", "where",
        )
    },
    "epsilon": "--shrinkage",
}  # fmt: skip
"""Options of the command line that are called like an argument, or stand for one."""

_SWITCHES = {"degrees": ("--degrees", "--radians"), "axial": ("--axial", "--directed")}
"""Options for True and for False."""

_PLAIN_VALUE = re.compile(r"[\w,.:=+\-]+")  # what a shell takes as it is


def plural(noun: str) -> str:
    """Several of a thing.

    Examples
    --------
    >>> plural("row"), plural("stretch")
    ('rows', 'stretches')
    """
    return noun + ("es" if noun.endswith("ch") else "s")


def _count(value: float, noun: str) -> str:
    return f"{value:.0f} {noun if round(value) == 1 else plural(noun)}"


class _Formatter(string.Formatter):
    def __init__(self, more: Formats) -> None:
        self._formats = {**_FORMATS, **more}

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec.startswith("count "):
            return _count(value, format_spec.removeprefix("count "))
        special = self._formats.get(format_spec)
        return super().format_field(value, format_spec) if special is None else special(value)


def filled(template: str, fields: Mapping[str, Any], formats: Formats | None = None) -> str:
    """A template with its fields in it, for whoever reads; ``formats`` are others of fields.

    Examples
    --------
    >>> filled("{row} has norm {norm:.3g}; pass {remedy}",
    ...        {"row": Row(17), "norm": 0.93, "remedy": arguments(normalize=True)})
    'row 17 has norm 0.93; pass normalize=True'
    """
    return _Formatter(formats or {}).vformat(template, (), fields)


@dataclass(frozen=True, slots=True)
class Message:
    """A template with its fields: a part of an error or of a remark, made by `message`.

    Examples
    --------
    >>> print(message("leave out {option}", option=arguments(degrees=False)))
    leave out degrees=False
    """

    template: str
    fields: dict[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return filled(self.template, self.fields)


def message(template: str, /, **fields: Any) -> Message:
    """A message of a template and its fields."""
    return Message(template, fields)


@dataclass(frozen=True, slots=True)
class Joined:
    """Several things said one after the other, like remedies of which one will do."""

    parts: tuple[Any, ...]
    between: str = " or "

    def __str__(self) -> str:
        return self.between.join(str(part) for part in self.parts)


Said: TypeAlias = str | Message | Joined
"""Words, or what is put into words when somebody reads it."""


class Row(int):
    """The number of a row, which says "row 17"; where rows are lines of a file, they are named so.

    Examples
    --------
    >>> print(Row(17))
    row 17
    """

    def __str__(self) -> str:
        return f"row {int(self)}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


@dataclass(frozen=True, slots=True)
class Rows:
    """The numbers of some rows.

    Examples
    --------
    >>> print(Rows((3,)), Rows((3, 7)), sep="; ")
    row 3; rows 3, 7
    """

    numbers: tuple[int, ...]

    def __str__(self) -> str:
        return f"row{'s' * (len(self.numbers) > 1)} {', '.join(map(str, self.numbers))}"


@dataclass(frozen=True, slots=True)
class Name:
    """The name of an argument, in Python and as the option that stands for it.

    Examples
    --------
    >>> from steradian.text.audience import speaking_to
    >>> with speaking_to(Audience.COMMAND_LINE):
    ...     print(Name("on_bad"), Name("rng"))
    --on-bad rng
    """

    name: str

    def __str__(self) -> str:
        if audience() is not Audience.COMMAND_LINE:
            return self.name
        return _OPTIONS.get(self.name) or _SWITCHES.get(self.name, (self.name,))[0]


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments that help, with their values: made by `arguments`."""

    given: tuple[tuple[str, Any], ...] = field(hash=False)

    def __str__(self) -> str:
        if audience() is not Audience.COMMAND_LINE:
            return _call(self.given)
        options = [_option(name, value) for name, value in self.given]
        if None in options:
            return f"{_call(self.given)} in Python"
        return " ".join(option for option in options if option)


def arguments(**given: Any) -> Arguments:
    """Arguments to pass together; ``...`` is a value that the reader has to find.

    Examples
    --------
    >>> from steradian.text.audience import speaking_to
    >>> remedy = arguments(columns=["dir dec", "dir inc"], coords="radec", degrees=False)
    >>> print(remedy)
    columns=['dir dec', 'dir inc'], coords='radec', degrees=False
    >>> with speaking_to(Audience.COMMAND_LINE):
    ...     print(remedy)
    --columns "dir dec,dir inc" --coords radec --radians
    >>> print(arguments(weights=...))
    weights=
    """
    return Arguments(tuple(given.items()))


def _argument(name: str, value: Any) -> str:
    if value is ...:
        return f"{name}="
    return f"{name}={list(value) if isinstance(value, tuple) else value!r}"


TESTS = Advice("tests()", arguments(design=...))
"""What has p-values and intervals in full."""


def _call(given: tuple[tuple[str, Any], ...]) -> str:
    return ", ".join(_argument(name, value) for name, value in given)


def _option(name: str, value: Any) -> str | None:
    """An option of the command in use, or of `steradian profile`; None where there is none."""
    switches = _SWITCHES.get(name)
    option = _OPTIONS.get(name) if switches is None else switches[0 if value else 1]
    if option is None or (value is False and switches is None):
        return None
    told = value is not ... and not isinstance(value, bool)
    words = f"{option} {_typed(value)}" if told else option
    return words if is_offered(option) else f"{words} of steradian profile"


def _typed(value: Any) -> str:
    """A value as one types it."""
    several = isinstance(value, list | tuple)
    text = ",".join(map(str, value)) if several else str(value)
    return text if _PLAIN_VALUE.fullmatch(text) else '"' + text.replace('"', r"\"") + '"'


def named_arguments(value: Any) -> Iterator[str]:
    """The names of all arguments that fields, messages and remedies name as a help."""
    if isinstance(value, Arguments):
        yield from (name for name, _ in value.given)
    for part in _parts(value):
        yield from named_arguments(part)


def names_rows(value: Any) -> bool:
    """Whether fields or messages name a row by its number."""
    return isinstance(value, Row | Rows) or any(names_rows(part) for part in _parts(value))


def placed(value: Any, place: Callable[[int], Any]) -> Any:
    """The same fields or message with places of a file instead of numbers of rows."""
    if isinstance(value, Row):
        return place(int(value))
    if isinstance(value, Rows):
        return Joined(tuple(place(number) for number in value.numbers), ", ")
    if isinstance(value, Message):
        return Message(value.template, placed(value.fields, place))
    if isinstance(value, Joined):
        return Joined(tuple(placed(part, place) for part in value.parts), value.between)
    if isinstance(value, dict):
        return {name: placed(part, place) for name, part in value.items()}
    return value


def _parts(value: Any) -> tuple[Any, ...]:
    if isinstance(value, Message):
        value = value.fields
    if isinstance(value, dict):
        return tuple(value.values())
    return value.parts if isinstance(value, Joined) else ()


def in_plain_words(value: Any) -> Any:
    """What is said with remedies as text, for whoever reads; everything else as it is.

    Within dictionaries and lists too.
    """
    if isinstance(value, dict):
        return {name: in_plain_words(part) for name, part in value.items()}
    if isinstance(value, list):
        return [in_plain_words(part) for part in value]
    said = isinstance(value, Message | Joined | Name | Arguments | Rows)
    return str(value) if said else value
