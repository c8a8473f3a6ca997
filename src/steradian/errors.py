"""What can go wrong, each with what happened, where, and the remedy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from steradian.diagnostics import Diagnostic
from steradian.text.messages import (
    Message,
    Row,
    Said,
    filled,
    message,
    named_arguments,
    names_rows,
    placed,
)

if TYPE_CHECKING:
    from steradian.decomposition import Profile
    from steradian.existence.certificate import Certificate
    from steradian.numerics.arrays import IntArray

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


class SteradianError(Exception):
    """Base of every error this package raises on purpose.

    It is made from words, from a `Diagnostic`, or from a template with its fields, which are put
    into words when somebody reads: remedies are arguments in Python and options at the command
    line.

    Attributes
    ----------
    fields : dict
        What, where and the remedy, as values.

    Examples
    --------
    >>> from steradian.text.messages import Row, arguments
    >>> error = InvalidArgument("{row} has norm {norm:.3g}; pass {remedy}",
    ...                         row=Row(17), norm=0.93, remedy=arguments(normalize=True))
    >>> print(error)
    row 17 has norm 0.93; pass normalize=True (rows are counted from 0)
    >>> error.fields["row"] == 17
    True
    >>> DesignError(Diagnostic("null_centred", level=2)).diagnostic.code
    'null_centred'
    >>> DesignError("no such design").diagnostic.code
    'refused_by_error'
    """

    def __init__(
        self, words: str | Message | Diagnostic = "", /, *rest: Any, **fields: Any
    ) -> None:
        super().__init__(words, *rest)
        self.fields = fields

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, dict(self.__dict__)

    def __str__(self) -> str:
        words = filled(str(self.args[0]), self.fields) if self.fields else super().__str__()
        return words + COUNTED * names_rows(self.fields)

    @property
    def diagnostic(self) -> Diagnostic:
        """What happened, as a value that a result may carry."""
        made = self.args[0] if self.args else None
        if isinstance(made, Diagnostic):
            return made
        data = {"error": type(self).__name__, "message": self.message}
        return Diagnostic("refused_by_error", data=data)

    @property
    def message(self) -> Message | str:
        """What is said, to be put into words for whoever reads."""
        return Message(str(self.args[0]), self.fields) if self.fields else str(self)

    @property
    def advised(self) -> frozenset[str]:
        """The arguments that its remedies name."""
        return frozenset(named_arguments(self.fields))

    def changed(self, **fields: Any) -> Self:
        """The same error with other fields."""
        same = copy.copy(self)
        same.fields = self.fields | fields
        return same

    def placed(self, place: Callable[[int], Row | Message | str]) -> Self:
        """The same error with lines of a file in place of rows of an array."""
        same = copy.copy(self)
        same.fields = placed(self.fields, place)
        return same


class InvalidArgument(SteradianError, ValueError):
    """An argument has a value that means nothing here, or one beyond what is possible.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.profile([[1.0, 0.0], [0.0, 1.0]], levels=1).fits[1].sample(2.5, 0)
    Traceback (most recent call last):
    steradian.errors.InvalidArgument: n is 2.5; give a whole number from 0 on
    """

    def within(self, where: str) -> Self:
        """The same error, said to have happened within something named first."""
        return type(self)(
            "{within}: {said}", **self.fields | {"within": where, "said": self.message}
        )


class InvalidDirections(InvalidArgument):
    """The input is not a set of weighted unit vectors; says how the row that it names is counted.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Directions([[1.0, 0.0], [0.0, 0.9]])
    Traceback (most recent call last):
    steradian.errors.InvalidDirections: row 1 has norm 0.9; pass normalize=True or fix it (rows are counted from 0)
    """  # noqa: E501


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

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.subject, self.violations)


class LevelError(SteradianError):
    """A level has no usable fit; what lies below it is kept.

    Attributes
    ----------
    level : int
        The first level without a fit.
    cause, remedy : str
        Why, and what helps, in words.
    profile : Profile or None
        The profile of the levels below, when there is one.
    """

    def __init__(
        self,
        level: int,
        cause: Said,
        remedy: Said,
        profile: Profile | None = None,
    ) -> None:
        words = "level {level} {cause}; {remedy}"
        super().__init__(words, level=level, cause=cause, remedy=remedy)
        self.level = level
        self.profile = profile

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self.fields.values()), dict(self.__dict__)

    @property
    def cause(self) -> str:
        """Why, in words."""
        return str(self.fields["cause"])

    @property
    def remedy(self) -> str:
        """What helps, in words."""
        return str(self.fields["remedy"])

    @property
    def diagnostic(self) -> Diagnostic:
        """Which level has no fit, why, and what helps."""
        said = {name: self.fields[name] for name in ("cause", "remedy")}
        return Diagnostic("no_fit", self.level, {"error": type(self).__name__, **said})

    def of_group(self, name: str) -> Self:
        """The same, with the group of a comparison that it is about."""
        cause = message("of group {group!r} {cause}", group=name, cause=self.fields["cause"])
        return self.changed(cause=cause)


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
        cause: Said,
        remedy: Said,
        profile: Profile | None = None,
        certificate: Certificate | None = None,
    ) -> None:
        super().__init__(level, cause, remedy, profile)
        self.certificate = certificate


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
