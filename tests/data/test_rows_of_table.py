"""Which rows of a table directions are from, where some were left out or counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import steradian as sr

RNG = np.random.default_rng(6)
N = 60
HEADING = np.concatenate([RNG.normal(40.0, 20.0, N // 2), RNG.normal(200.0, 20.0, N // 2)])
TABLE = pd.DataFrame({"heading": HEADING, "treatment": np.repeat(["a", "b"], N // 2)})
BAD = [3, 10, 41]


def holed() -> pd.DataFrame:
    """The table with three rows that cannot be read."""
    table = TABLE.copy()
    table.loc[BAD, "heading"] = np.nan
    return table


def test_groups_are_compared_after_rows_were_left_out() -> None:
    table = holed()
    kept = sr.read_directions(table, on_bad="skip")
    np.testing.assert_array_equal(kept.rows, np.delete(np.arange(N), BAD))
    found = sr.compare(kept, by=table["treatment"].iloc[kept.rows], levels=1)
    expected = sr.compare(TABLE.drop(index=BAD), by="treatment", levels=1)
    assert found.names == expected.names
    np.testing.assert_allclose(found.between, expected.between, rtol=1e-12)


def test_labels_that_do_not_fit_say_what_does() -> None:
    table = holed()
    kept = sr.read_directions(table, on_bad="skip")
    with pytest.raises(sr.InvalidArgument) as caught:
        sr.compare(kept, by="treatment")
    assert "by=table['treatment'].to_numpy()[directions.rows]" in str(caught.value)
    directions = kept
    assert len(table["treatment"].to_numpy()[directions.rows]) == kept.n
    with pytest.raises(sr.InvalidArgument, match=r"by has 60 labels for 57 rows: 3 of the table"):
        sr.compare(kept, by=table["treatment"])


def test_rows_of_what_is_taken_and_counted() -> None:
    kept = sr.read_directions(holed(), on_bad="skip")
    assert kept.take(np.array([0, 3, 4])).rows.tolist() == [0, 4, 5]
    assert sr.read_directions(TABLE).rows.tolist() == list(range(N))
    table = pd.DataFrame({"heading": [10.0, np.nan, 30.0], "n": [2, 1, 1]})
    assert sr.read_directions(table, counts="n", on_bad="skip").rows.tolist() == [0, 0, 2]
    counted = sr.Directions.from_azimuth([10.0, 20.0], counts=[1, 2])
    assert counted.rows.tolist() == [0, 1, 1]


def test_rows_of_an_array_in_a_file(tmp_path: Path) -> None:
    x = RNG.normal(size=(5, 3))
    x[2] = 0.0
    np.save(tmp_path / "x.npy", x)
    kept = sr.read_directions(tmp_path / "x.npy", normalize=True, on_bad="skip")
    assert kept.rows.tolist() == [0, 1, 3, 4]
    assert kept.within_span().rows.tolist() == [0, 1, 3, 4]
