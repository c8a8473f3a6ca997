"""Modes of a fitted density in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.text.numbers import counted, digits

if TYPE_CHECKING:
    from steradian.modes import Modes


def modes_in_words(modes: Modes) -> str:
    """A sentence, and a line for each mode."""
    if modes.level == 0:
        return "No modes: no level is significant."
    lines = [f"Density of level {modes.level}: {counted(len(modes), 'mode')}."]
    for k, one in enumerate(modes.found, 1):
        where = ", ".join(f"{name} {value:.4g}" for name, value in one.coordinates.items())
        rows = "" if modes.assigned is None else f"{counted(one.rows, 'row')}, "
        back = "" if np.isnan(one.support) else f", in {one.support:.0%} of draws"
        lines.append(
            f"  {k}. near {where}: {rows}{one.mass:.0%} of the density, "
            f"{digits(one.density)} times uniform{back}"
        )
    if not np.isnan(modes.same):
        sure = "sure" if modes.sure else "not sure"
        lines.append(
            f"The number is {sure}: {modes.same:.0%} of {modes.draws} samples of the fit have it."
        )
    return "\n".join(lines)
