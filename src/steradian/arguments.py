"""Checks of plain arguments, each refused in one sentence that says the remedy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steradian.errors import InvalidArgument
from steradian.numerics.tolerances import LEAST_SHARE
from steradian.text.messages import Message, Name

if TYPE_CHECKING:
    from steradian.decomposition import Profile

MOST_NUMBERS = 1 << 30
"""Numbers that one result may hold: eight gigabytes in double precision."""

_LARGEST = 1 << 62
_TRUTHS, _WHOLES = (bool, np.bool_), (int, np.integer)  # made once: every profile asks


def wrong_value(
    name: str, value: Any, remedy: Message | str, kind: type[InvalidArgument] = InvalidArgument
) -> InvalidArgument:
    """The error of an argument with a value that means nothing, and what to give instead.

    Examples
    --------
    >>> print(wrong_value("levels", 0, "give 1 or more"))
    levels is 0; give 1 or more
    """
    fields = {"argument": Name(name), "value": shown(value), "remedy": remedy}
    return kind("{argument} is {value}; {remedy}", **fields)


def whole_number(value: Any, name: str, *, least: int | None = None) -> int:
    """``value`` as an int; bools, fractions and everything else are refused."""
    if isinstance(value, _TRUTHS) or not isinstance(value, _WHOLES):
        limit = "" if least is None else f" from {least} on"
        raise wrong_value(name, value, f"give a whole number{limit}")
    number = int(value)
    if least is not None and number < least:
        raise wrong_value(name, number, f"give {least} or more")
    if abs(number) > _LARGEST:
        raise wrong_value(name, number, "give a number that a machine can count")
    return number


def real_number(value: Any, name: str, remedy: str) -> float:
    """``value`` as a finite float."""
    plain = not isinstance(value, bool | np.bool_)
    if not (plain and isinstance(value, int | float | np.integer | np.floating)):
        raise wrong_value(name, value, remedy)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise wrong_value(name, value, remedy)
    return number


def truth(value: Any, name: str) -> bool:
    """``value`` as a bool; nothing else stands for one."""
    if not isinstance(value, _TRUTHS):
        raise wrong_value(name, value, "give True or False")
    return bool(value)


def number_array(values: Any, name: str, remedy: str) -> NDArray[np.float64]:
    """``values`` as an array of real numbers, a copy; what does not turn into one is refused."""
    try:
        if np.ma.is_masked(values):
            raise TypeError("masked entries")
        found = np.asarray(values)
        if found.dtype.kind not in "fiubO":
            raise TypeError(f"entries of type {found.dtype}")
        return np.array(found, dtype=np.float64)
    except Exception as error:  # whatever a foreign object does, the message is ours
        raise wrong_value(name, values, remedy) from error


def one_of(value: Any, name: str, known: Iterable[str]) -> str:
    """``value`` if it is among the names ``known``."""
    names = tuple(known)
    if not isinstance(value, str) or value not in names:
        *most, last = (repr(known_name) for known_name in names)
        choice = f"{', '.join(most)} or {last}" if most else last
        raise wrong_value(name, value, f"choose {choice}")
    return value


def random_generator(rng: Any, name: str = "rng") -> np.random.Generator:
    """A generator as it is, or one begun from a seed: nothing random is hidden."""
    if isinstance(rng, np.random.Generator):
        return rng
    plain = isinstance(rng, int | np.integer) and not isinstance(rng, bool | np.bool_)
    if not plain or rng < 0:
        raise wrong_value(name, rng, "give a numpy Generator or a seed like 0")
    return np.random.default_rng(int(rng))


def draws_asked(n: Any, d: int, rng: Any) -> tuple[int, np.random.Generator]:
    """How many draws of ``d`` coordinates, and the generator, from one or from a seed."""
    count = whole_number(n, "n", least=0)
    refuse_too_many(count, d, f"{shown(count)} draws")
    return count, random_generator(rng)


def seed_number(value: Any, name: str = "seed") -> int:
    """A seed of random numbers, which is never hidden: a whole number from 0 on."""
    return whole_number(value, name, least=0)


def open_share(value: Any, name: str, example: float) -> float:
    """``value`` as a float between 0 and 1, both left out."""
    remedy = f"give a number between 0 and 1, like {example:g}"
    share = real_number(value, name, remedy)
    if not LEAST_SHARE < share < 1.0:
        raise wrong_value(name, value, remedy)
    return share


def checked_profile(value: Any) -> Profile:
    """``value`` itself, when it is a profile."""
    if not hasattr(value, "as_sample"):
        kind = type(value).__name__
        raise InvalidArgument(f"a profile is needed, not {kind}; make one with sr.profile(data)")
    profile: Profile = value
    return profile


def checked_result(value: Any, mark: str, made_by: str) -> None:
    """Refuse what is not a result of the call ``made_by``, which has an attribute ``mark``."""
    if not hasattr(value, mark):
        kind = type(value).__name__
        raise InvalidArgument(f"a result of {made_by} is needed, not {kind}")


def longitude_latitude(value: Any, name: str) -> tuple[float, float]:
    """``value`` as a longitude and a latitude in degrees."""
    remedy = "give a longitude and a latitude in degrees, like (30, 35)"
    if not isinstance(value, tuple | list | np.ndarray) or np.shape(value) != (2,):
        raise wrong_value(name, value, remedy)
    return real_number(value[0], name, remedy), real_number(value[1], name, remedy)


def refuse_too_many(rows: int, columns: int, what: str) -> None:
    """Refuse what no machine would hold, before it is asked for."""
    if rows * columns > MOST_NUMBERS:
        raise InvalidArgument(
            f"{what} of {columns} coordinates are {rows * columns:.3g} numbers, more than the "
            f"{MOST_NUMBERS:.2g} (8 GB) that are held at once; work in parts"
        )


def shown(value: Any) -> str:
    """What somebody passed, short enough for a message."""
    try:
        text = repr(value)
    except Exception:  # whatever a foreign object does, the message is ours
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_frame(data: Any) -> bool:
    """Whether ``data`` has named columns (pandas, polars, astropy and anything alike)."""
    kind = type(data)  # asked of the class: a lazy frame would go and look
    named = hasattr(kind, "columns") or hasattr(kind, "colnames")
    return named and hasattr(kind, "__getitem__") and not isinstance(data, dict)
