"""Few rows in many dimensions: noise is not called structure, and nothing shrunk is believed."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from coded import MULTIPLIER, codes, tail
from steradian.adequacy import calibration
from steradian.adequacy.calibration import Calibration
from steradian.adequacy.leftover import GriddedLeftover, debiased
from steradian.adequacy.residuals import harmonic_residuals
from steradian.adequacy.trust import Answer
from steradian.diagnostics import NOT_COMPUTED, Verdict
from steradian.inference.effort import Patience
from steradian.numerics.heights.bessel import von_mises_fisher


def noise(n: int, d: int, seed: int) -> sr.Directions:
    return sr.Directions(np.random.default_rng(seed).normal(size=(n, d)), normalize=True)


def test_noise_in_many_dimensions_leaves_no_structure() -> None:
    """Samples of the fit itself, which is noise, gave p = 0.001 in nearly all of these."""
    pvalues = [
        sr.profile(noise(10, 40, seed), levels=1).residuals(degree=2).pvalue[0]
        for seed in range(20)
    ]
    assert np.mean(np.array(pvalues) < 0.05) <= 0.2  # 4 of 20: one in forty by chance
    assert 0.3 < np.mean(pvalues) < 0.75
    answer = sr.profile(noise(20, 96, 1), levels=1).trust().structure.answer
    assert answer is Verdict.NOISE


@pytest.mark.parametrize(("d", "kappa", "rate"), [(5, 3.0, 4.0), (64, 40.0, 6.0), (4, 1e7, 3.0)])
def test_a_mean_is_too_long_by_what_noise_adds(d: int, kappa: float, rate: float) -> None:
    """E R̂² = R² + (1 - R²) / n of the law that is drawn from is what was seen."""
    seen = von_mises_fisher(d, kappa)
    law = von_mises_fisher(d, debiased(d, kappa, rate))
    missing = (law.defect / law.kappa) * (1.0 + law.ratio) * (1.0 - rate**-2)
    assert missing == pytest.approx((seen.defect / seen.kappa) * (1.0 + seen.ratio), rel=1e-9)


def test_a_mean_that_noise_explains_is_drawn_from_the_uniform_law() -> None:
    assert debiased(64, 4.0, 6.0) == 0.0
    assert debiased(64, 0.0, 6.0) == 0.0


def test_shrinkage_does_not_hide_that_rows_are_few() -> None:
    p = sr.profile(noise(12, 8, 0), levels=2, shrinkage=0.01)
    text = " ".join(p.summary().split())
    assert p.trust().data.answer is Answer.NO
    assert "Are there enough data? No: 12 rows for 43 fitted parameters" in text
    assert "nats cannot be distinguished from noise: 12 rows for 43 features" in text
    assert "The largest is" not in text
    many = sr.profile(noise(500, 4, 0), levels=2, shrinkage=0.01)
    assert many.trust().data.answer is Answer.UNKNOWN
    assert "The largest is" in many.summary()


def test_replicates_beyond_a_budget_are_not_computed_and_never_another_number() -> None:
    """Fits are counted when they come to be made: work, and no clock."""
    x = np.random.default_rng(1).normal([1.0, 0.0, 0.0], 1.0, (30, 3))
    sample = sr.profile(sr.Directions(x, normalize=True), levels=2).as_sample()
    quick = Calibration(patience=Patience(100.0, "residuals()"))
    left_off = harmonic_residuals(sample, 4, "unit", quick, from_level=2).judged[0]
    assert np.isnan(left_off.pvalue)
    assert left_off.method == NOT_COMPUTED
    assert left_off.diagnostics[0].code == "not_computed"
    assert left_off.diagnostics[0].level == 2
    whole = harmonic_residuals(sample, 4, "unit", Calibration(), from_level=2).judged[0]
    assert whole.method == MULTIPLIER
    asked = Calibration("bootstrap")
    drawn = harmonic_residuals(sample, 4, "unit", asked, from_level=2).judged[0]
    assert drawn.method == MULTIPLIER
    assert drawn.pvalue == whole.pvalue  # asked for or not, one number
    again = harmonic_residuals(sample, 4, "unit", quick, from_level=2).judged[0]
    assert again.pvalue == whole.pvalue  # what was found before is shown


def test_fits_beyond_what_anybody_waits_for_give_way_to_the_asymptotic_law(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By their number, the same whoever asks; a smaller budget says that nothing is computed."""
    monkeypatch.setattr(calibration, "_LONGEST", 1e3)
    monkeypatch.setattr(GriddedLeftover, "_quick", property(lambda _: None))
    monkeypatch.setattr(GriddedLeftover, "work", lambda *_: 0.0)
    x = np.random.default_rng(1).normal([1.0, 0.0, 0.0], 1.0, (30, 3))
    p = sr.profile(sr.Directions(x, normalize=True), levels=2)
    small = Calibration(patience=Patience(10.0, "residuals()"))
    few = harmonic_residuals(p.as_sample(), 4, "unit", small, from_level=2).judged[0]
    assert few.method == NOT_COMPUTED
    found = p.residuals(4).judged[1]
    assert found.rough
    assert found.method == tail("model")
    assert codes(found) == ["small_sample"]
