"""What no picture can show is refused in one sentence of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import steradian as sr
from steradian import plots
from steradian.errors import InvalidArgument

X = sr.examples.load("mcmurdo")
P = sr.profile(X, levels=2)
ANGLES = sr.profile(sr.examples.load("turtles"), levels=2)
WRONG: dict[str, Any] = {"nothing": None, "text": "x", "array": np.eye(3)}
MADE_BY = {
    "between": "compare()",
    "bootstrap_replicates": "bootstrap()",
    "gap_intervals": "Profile.intervals()",
    "gap_pvalues": "Profile.tests()",
    "group_gaps": "compare()",
    "nats_per_degree": "Profile.spectrum()",
    "order_criteria": "choose_order()",
    "residual_spectrum": "Profile.residuals()",
    "sensitivity_curves": "Profile.sensitivity()",
    "split_gaps": "profile() over splits",
    "weighting_gaps": "profiles()",
}
SCENES = ("circle_densities", "density", "globe", "mollweide", "ramachandran", "rose", "stereonet")


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("name", plots.__all__)
def test_what_is_no_result_is_refused(name: str, value: str) -> None:
    with pytest.raises(InvalidArgument, match=r"needed, not|is no profile, fit or set"):
        getattr(plots, name)(WRONG[value])


@pytest.mark.parametrize("name", MADE_BY)
def test_a_profile_is_told_which_call_has_the_picture(name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        getattr(plots, name)(P)
    assert str(caught.value) == f"a result of {MADE_BY[name]} is needed, not Profile"


@pytest.mark.parametrize("name", [*SCENES, "gaps", "overview"])
def test_other_results_are_no_profile(name: str) -> None:
    comparison = sr.compare(X, by=np.arange(X.n) % 2, levels=1)
    with pytest.raises(InvalidArgument, match="a profile is needed, not Comparison"):
        getattr(plots, name)(comparison)


@pytest.mark.parametrize("view", ["x", 30.0, (1.0,), (1.0, "x"), (0.0, np.nan), (True, 0)])
def test_an_eye_stands_at_a_longitude_and_a_latitude(view: Any) -> None:
    said = r"view is .*give a longitude and a latitude in"
    with pytest.raises(InvalidArgument, match=said):
        plots.globe(P, view=view)
    with pytest.raises(InvalidArgument, match=said):
        plots.globe(X, view=view)


@pytest.mark.parametrize("level", ["x", 1.0, True])
def test_a_level_is_a_whole_number(level: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"level is .*; give a whole number"):
        plots.globe(P, level=level)


@pytest.mark.parametrize("levels", ["x", 1, (True,), (3,)])
def test_levels_are_some_of_a_profile(levels: Any) -> None:
    for draw in (plots.rose, plots.circle_densities):
        with pytest.raises(InvalidArgument, match=r"levels is .*; give some of 0 to 2"):
            draw(ANGLES, levels=levels)


def test_the_middle_of_a_map_is_a_longitude() -> None:
    with pytest.raises(InvalidArgument, match="centre is 'x'; give a longitude in degrees"):
        plots.mollweide(P, centre="x")  # type: ignore[arg-type]
