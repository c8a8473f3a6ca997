"""P-values about an axis or a basis that other rows chose, where there is nothing to find."""

from __future__ import annotations

import pytest
from scipy.stats import binom

from split_study import CELLS, NO_SPLIT

SAMPLES = 2000
MOST = 1.3  # times the nominal size
UNIFORM = [name for name in CELLS if name.startswith("uniform")]  # null exactly, at every level


@pytest.mark.slow
@pytest.mark.parametrize("name", UNIFORM)
@pytest.mark.parametrize(("repeats", "samples"), [(1, SAMPLES), (5, SAMPLES // 4)])
@pytest.mark.parametrize("level", [0.05, 0.1])
def test_size(name: str, repeats: int, samples: int, level: float) -> None:
    """Within 1.3 of nominal, but for the luck of so many samples (one in a thousand)."""
    below = (CELLS[name].pvalues(repeats, samples) < level).sum(axis=0)
    assert (below <= binom.ppf(0.999, samples, MOST * level)).all()
    if repeats == 1:  # one split is exact; the rule for several is on the safe side
        assert (below >= binom.ppf(0.001, samples, level / MOST)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", UNIFORM)
def test_without_a_split_something_is_all_but_certain_to_be_found(name: str) -> None:
    """What `sr.profile` refuses to report: nearly every sample without anything in it rejects."""
    assert (CELLS[name].pvalues(NO_SPLIT, 200).min(axis=1) < 0.05).mean() > 0.9
