"""How numbers and verdicts are put into words, the same in tables, sentences and the report."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence

from steradian.numerics.tolerances import PLAIN_DECIMALS, SMALLEST_PVALUE

NOTHING_KNOWN = "–"
_NAMED = 4  # levels that are listed one by one
_EXPONENT_BELOW = 0.001  # p-values that are written with an exponent
_EQUATION = re.compile(r"\b(\w+) ([=<]) ")
_MANY = 1_000_000  # from which numbers are written with an exponent


def digits(value: float, count: int = 3) -> str:
    """A number with so many significant digits, without an exponent unless it is tiny or huge.

    Examples
    --------
    >>> [digits(v) for v in (1.63296, 0.0669, 0.21, 123.4, 4321.0, 2.3e-15, 0.0)]
    ['1.63', '0.0669', '0.210', '123', '4321', '2.3e-15', '0']
    """
    if not math.isfinite(value):
        return NOTHING_KNOWN if math.isnan(value) else ("∞" if value > 0 else "-∞")
    if value == 0.0:
        return "0"
    if abs(value) < PLAIN_DECIMALS or abs(value) >= _MANY:
        return _short_exponent(f"{value:.{count - 2}e}")
    rounded = float(f"{value:.{count - 1}e}")  # 0.9996 has its digits where 1.00 has them
    return f"{value:.{max(0, count - 1 - math.floor(math.log10(abs(rounded))))}f}"


def _short_exponent(text: str) -> str:
    mantissa, exponent = text.split("e")
    plain = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{plain}e{int(exponent)}"


def power_of_ten(value: float) -> str:
    """A size of which one digit matters.

    Examples
    --------
    >>> power_of_ten(4.7e-13), power_of_ten(6e-4)
    ('5e-13', '6e-4')
    """
    return _short_exponent(f"{value:.0e}")


def pvalue_number(pvalue: float) -> str:
    """A p-value as a number: never 0.000, never a star.

    Examples
    --------
    >>> [pvalue_number(p) for p in (2e-6, 0.0412, 0.31, 1.0, 0.0)]
    ['2e-6', '0.041', '0.31', '1', '< 1e-300']
    """
    if math.isnan(pvalue):
        return NOTHING_KNOWN
    if pvalue < SMALLEST_PVALUE:
        return f"< {SMALLEST_PVALUE:.0e}"
    if pvalue < _EXPONENT_BELOW:
        return _short_exponent(f"{pvalue:.0e}")
    return f"{pvalue:.2g}"


def pvalue_words(pvalue: float) -> str:
    """The same in a sentence: ``p = 2e-6``.

    Examples
    --------
    >>> pvalue_words(2e-6), pvalue_words(0.0)
    ('p = 2e-6', 'p < 1e-300')
    """
    number = pvalue_number(pvalue)
    return f"p {number}" if number.startswith("<") else f"p = {number}"


def percent(share: float) -> str:
    """A share, in per cent: whole numbers from ten on.

    Examples
    --------
    >>> percent(0.834), percent(0.034), percent(0.0004)
    ('83%', '3.4%', '0.040%')
    """
    points = 100.0 * share
    if abs(points) >= 9.95:
        return f"{points:.0f}%"
    return f"{digits(points, 2) if abs(points) < 0.095 else f'{points:.1f}'}%"


def duration(seconds: float) -> str:
    """How long something takes, to one or two digits.

    Examples
    --------
    >>> [duration(s) for s in (0.3, 4.4, 41.0, 130.0, 9500.0, float("inf"))]
    ['1 s', '4 s', '40 s', '2 min', '3 h', 'days']
    """
    for limit, size, unit in ((90.0, 1.0, "s"), (5400.0, 60.0, "min"), (2e5, 3600.0, "h")):
        if seconds < limit:
            count = max(1.0, seconds / size)
            return f"{float(f'{count:.0e}'):.0f} {unit}"
    return "days"


def listed(parts: Sequence[str]) -> str:
    """Several things in a sentence.

    Examples
    --------
    >>> listed(["1"]), listed(["1", "2", "3"])
    ('1', '1, 2 and 3')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def levels_in_words(levels: Sequence[int]) -> str:
    """Levels as people list them; of many, neighbours as a range.

    Examples
    --------
    >>> levels_in_words([2]), levels_in_words([1, 2, 3, 5]), levels_in_words([3, *range(5, 25)])
    ('level 2', 'levels 1, 2, 3 and 5', 'levels 3 and 5 to 24')
    """
    names = [str(level) for level in levels] if len(levels) <= _NAMED else _runs(levels)
    return f"level {levels[0]}" if len(levels) == 1 else f"levels {listed(names)}"


def _runs(levels: Sequence[int]) -> list[str]:
    starts = [k for k in levels if k - 1 not in levels]
    ends = [k for k in levels if k + 1 not in levels]
    pairs = zip(starts, ends, strict=True)
    return [str(a) if a == b else f"{a} to {b}" for a, b in pairs]


def counted(count: int, name: str) -> str:
    """So many things of a name.

    Examples
    --------
    >>> counted(1, "axis"), counted(88, "axis"), counted(14026, "direction")
    ('1 axis', '88 axes', '14,026 directions')
    """
    several = f"{name[:-2]}es" if name.endswith("is") else f"{name}s"
    return f"{count:,} {name if count == 1 else several}"


def to_be(things: Sequence[object]) -> str:
    """The verb for one thing or several."""
    return "is" if len(things) == 1 else "are"


def capital(words: str) -> str:
    """With a capital letter."""
    return words[:1].upper() + words[1:]


def unbroken(words: str) -> str:
    """Words whose equations ("p = 2e-6") no line may end within: their blanks do not break.

    Examples
    --------
    >>> len(unbroken("Rayleigh 2.01 (p = 0.57)").split(" "))
    3
    """
    return _EQUATION.sub("\\1\u00a0\\2\u00a0", words)


def in_lines(words: str, width: int, head: str = "") -> list[str]:
    """Lines of a width, the first after a head and the others below its end.

    Examples
    --------
    >>> in_lines("Bingham 232 (p = 5e-48)", 17)
    ['Bingham 232', '(p = 5e-48)']
    """
    lines = textwrap.wrap(
        unbroken(words), width, initial_indent=head, subsequent_indent=" " * len(head),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [line.replace("\u00a0", " ") for line in lines]


def sentence(words: str) -> str:
    """With a capital letter and a full stop."""
    begun = capital(words)
    return begun if begun.endswith((".", "!", "?")) else f"{begun}."
