"""What a result says, by its codes: tests never look at sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from steradian.diagnostics import Diagnostic, MethodCode, PvalueMethod, Recalibration


class HasDiagnostics(Protocol):
    """Any result."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]: ...


def codes(said: HasDiagnostics | Iterable[Diagnostic], level: int | None = None) -> list[str]:
    """Codes of a result or of diagnostics, of one level where it is given."""
    every = said if isinstance(said, Iterable) else said.diagnostics
    return [one.code for one in every if level is None or one.level == level]


def coded(
    said: HasDiagnostics | Iterable[Diagnostic], code: str, level: int | None = None
) -> Diagnostic:
    """The first diagnostic of a code, which must be there."""
    every = [*(said if isinstance(said, Iterable) else said.diagnostics)]
    known = [one for one in every if one.code == code and level in (None, one.level)]
    assert known, f"no {code} among {[(one.code, one.level) for one in every]}"
    return known[0]


def tail(covariance: str, *, redrawn: bool = False, simulated: bool = False) -> PvalueMethod:
    """The tail of a covariance, recalibrated on draws or not."""
    code = MethodCode.SIMULATED_TAIL if simulated else MethodCode.EXACT_TAIL
    drawn = Recalibration.DRAWS if redrawn else Recalibration.NONE
    return PvalueMethod(code, covariance, drawn)


PARAMETRIC = PvalueMethod(MethodCode.PARAMETRIC_BOOTSTRAP)
MULTIPLIER = PvalueMethod(MethodCode.MULTIPLIER_BOOTSTRAP)
