"""What can go wrong, each with what happened, where, and the remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from steradian.diagnostics import Diagnostic

if TYPE_CHECKING:
    from steradian.existence.certificate import Certificate
    from steradian.numerics.arrays import IntArray
    from steradian.profile import Profile

__all__ = [
    "BoundaryError",
    "ConformanceError",
    "ConvergenceError",
    "DesignError",
    "InvalidArgument",
    "InvalidDirections",
    "LevelError",
    "MissingExtra",
    "ResolutionError",
    "SteradianError",
]


COUNTED = " (rows are counted from 0)"
"""Said wherever a row is named by its number; files have lines, counted from 1, named so."""

_NAMES_A_ROW = re.compile(r"\brow \d")


class SteradianError(Exception):
    """Base of every error this package raises on purpose, made from words or from a `Diagnostic`.

    Examples
    --------
    >>> DesignError(Diagnostic("null_centred", level=2)).diagnostic.code
    'null_centred'
    >>> DesignError("no such design").diagnostic.code
    'refused_by_error'
    """

    @property
    def diagnostic(self) -> Diagnostic:
        """What happened, as a value that a result may carry; what was said in words, as said."""
        made = self.args[0] if self.args else None
        if isinstance(made, Diagnostic):
            return made
        data = {"error": type(self).__name__, "message": str(self)}
        return Diagnostic("refused_by_error", data=data)


class InvalidArgument(SteradianError, ValueError):
    """An argument has a value that means nothing here, or one beyond what is possible.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.profile([[1.0, 0.0], [0.0, 1.0]], levels=1).fits[1].sample(2.5, 0)
    Traceback (most recent call last):
    steradian.errors.InvalidArgument: n is 2.5; give a whole number from 0 on
    """


class InvalidDirections(InvalidArgument):
    """The input is not a set of weighted unit vectors; says how the row that it names is counted.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Directions([[1.0, 0.0], [0.0, 0.9]])
    Traceback (most recent call last):
    steradian.errors.InvalidDirections: row 1 has norm 0.9; pass normalize=True or fix it (rows are counted from 0)
    """  # noqa: E501

    def __init__(self, words: str = "") -> None:
        said = "counted from" in words or not _NAMES_A_ROW.search(words)
        super().__init__(words if said else words + COUNTED)


class MissingExtra(SteradianError, ImportError):
    """An optional dependency is not installed."""


class DesignError(SteradianError, ValueError):
    """The sampling design does not fit the data, or does not define what was asked for."""


class ConformanceError(SteradianError, ValueError):
    """An object does not keep the contract of its seam, so that no number is made with it.

    Attributes
    ----------
    subject : str
        The object, as it prints.
    violations : tuple of str
        One sentence for every line of the contract that is broken: what, where, by how much, and
        the remedy.
    """

    def __init__(self, subject: str, violations: tuple[str, ...]) -> None:
        lines = "\n".join(f"  - {each}" for each in violations)
        super().__init__(f"{subject} does not keep its contract:\n{lines}")
        self.subject = subject
        self.violations = violations

    def __reduce__(self) -> tuple[type[ConformanceError], tuple[Any, ...]]:
        return type(self), (self.subject, self.violations)


class LevelError(SteradianError):
    """A level has no usable fit; what lies below it is kept.

    Attributes
    ----------
    level : int
        The first level without a fit.
    cause : str
        Why, in words.
    profile : Profile or None
        The profile of the levels below, when there is one.
    """

    def __init__(self, level: int, cause: str, remedy: str, profile: Profile | None = None) -> None:
        super().__init__(f"level {level} {cause}; {remedy}")
        self.level = level
        self.cause = cause
        self.remedy = remedy
        self.profile = profile

    def __reduce__(self) -> tuple[type[LevelError], tuple[Any, ...]]:
        return type(self), (self.level, self.cause, self.remedy, self.profile)

    @property
    def diagnostic(self) -> Diagnostic:
        """Which level has no fit, why, and what helps."""
        error = {"error": type(self).__name__}
        data = {**error, "cause": str(self.cause), "remedy": str(self.remedy)}
        return Diagnostic("no_fit", self.level, data)

    def of_group(self, name: str) -> LevelError:
        """The same, with the group of a comparison that it is about."""
        kind, (level, cause, *others) = self.__reduce__()
        return kind(level, f"of group {name!r} {cause}", *others)


class BoundaryError(LevelError):
    """The moments lie on the boundary of the moment body: no finite fit exists.

    Attributes
    ----------
    certificate : Certificate or None
        The function that is nowhere negative and vanishes on all the data, when the data
        were there to find it; see `steradian.boundary`.
    """

    def __init__(
        self,
        level: int,
        cause: str,
        remedy: str,
        profile: Profile | None = None,
        certificate: Certificate | None = None,
    ) -> None:
        super().__init__(level, cause, remedy, profile)
        self.certificate = certificate

    def __reduce__(self) -> tuple[type[LevelError], tuple[Any, ...]]:
        kind, arguments = super().__reduce__()
        return kind, (*arguments, self.certificate)


class ResolutionError(LevelError):
    """Double precision or the node budget cannot resolve the fit.

    Attributes
    ----------
    rows : IntArray or None
        Which of several fits that were asked for together cannot be resolved, where that is known.
    """

    rows: IntArray | None = None


class ConvergenceError(LevelError):
    """The solver stopped before it reached its tolerance."""
