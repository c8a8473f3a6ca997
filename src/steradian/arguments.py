"""Numbers people hand over, checked once and in words: counts, seeds, shares, profiles."""

from __future__ import annotations

import numbers
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.errors import InvalidArgument

if TYPE_CHECKING:
    from steradian.profile import Profile


def whole_number(name: str, value: Any, least: int) -> int:
    """``value`` as an int of at least ``least``.

    Raises
    ------
    InvalidArgument
        For anything else, true and false and 2.0 included.
    """
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        raise InvalidArgument(f"{name} is {_shown(value)}; give a whole number from {least} on")
    try:
        number = operator.index(value)
    except TypeError:  # an array of several
        said = f"{name} is {_shown(value)}; give a whole number from {least} on"
        raise InvalidArgument(said) from None
    if number < least:
        raise InvalidArgument(f"{name} is {number}; give at least {least}, a whole number")
    return number


def seed_number(value: Any, name: str = "seed") -> int:
    """A seed of random numbers, which is never hidden: a whole number from 0 on."""
    return whole_number(name, value, 0)


def generator(rng: Any) -> np.random.Generator:
    """A generator, or one made from a seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(seed_number(rng, "rng"))


def open_share(name: str, value: Any, example: float) -> float:
    """``value`` as a float between 0 and 1, both left out."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0.0 < float(value) < 1.0:
        raise InvalidArgument(
            f"{name} is {_shown(value)}; give a number between 0 and 1, like {example:g}"
        )
    return float(value)


def named_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless ``value`` is one of the names."""
    if not (isinstance(value, str) and value in choices):
        known = ", ".join(choices)
        raise InvalidArgument(f"{name} is {_shown(value)}; choose {known}")


def checked_profile(value: Any) -> Profile:
    """``value`` itself, when it is a profile."""
    if not hasattr(value, "as_sample"):
        kind = type(value).__name__
        raise InvalidArgument(f"a profile is needed, not {kind}; make one with sr.profile(data)")
    profile: Profile = value
    return profile


def _shown(value: Any) -> str:
    """A value, or its kind where it would fill the screen."""
    text = repr(value)
    return text if len(text) <= 40 and "\n" not in text else f"of type {type(value).__name__}"
