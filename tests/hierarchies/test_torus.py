"""Sharp laws of several angles."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr


@pytest.mark.parametrize("kappa", [100.0, 1000.0])
def test_angles_alone_are_fits_of_single_angles(kappa: float) -> None:
    """Level 1 is a product of laws on circles, however sharp they are; its deficit is their sum.

    Both stand within 1e-11 of the fit to the moments they are given, which differ by rounding:
    2⁻⁵³ times the sum of |λ|, below 1e-9 here.
    """
    rng = np.random.default_rng(5)
    angles = rng.vonmises([0.0, 1.0], kappa, (300, 2))
    both = sr.profile(sr.Directions.from_dihedrals(*angles.T), hierarchy=sr.Interactions(2, 1))
    alone = [sr.profile(sr.Directions.from_angles(one), levels=1).deficits[0] for one in angles.T]
    assert both.deficits[0] == pytest.approx(sum(alone), abs=1e-9)
    assert both.gaps[1] > 0.0
