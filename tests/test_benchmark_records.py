"""What a benchmark tells about an earlier one: only what noise does not explain."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    return importlib.import_module("records")


def line(ratio: float, noise: float = 0.0, *, cost: bool = False, agrees: bool = True) -> Any:
    return {"name": "a", "ratio": ratio, "noise": noise, "is_cost": cost, "agrees": agrees}


def test_a_lower_ratio_is_told_and_a_higher_cost(records: Any) -> None:
    assert "1.50 times worse" in records.regressions([line(10.0)], [line(15.0)])[0]
    assert records.regressions([line(15.0)], [line(10.0)]) == []
    assert "1.50 times worse" in records.regressions([line(3.0, cost=True)],
                                                     [line(2.0, cost=True)])[0]  # fmt: skip
    assert records.regressions([line(2.0, cost=True)], [line(3.0, cost=True)]) == []


def test_noise_is_not_told(records: Any) -> None:
    assert records.regressions([line(10.0)], [line(10.9)]) == []
    assert records.regressions([line(10.0, 0.1)], [line(13.0, 0.1)]) == []
    assert records.regressions([line(10.0, 0.1)], [line(17.0, 0.1)])
    assert records.regressions([{**line(1.0), "name": "new"}], [line(9.0)]) == []


def test_an_answer_that_now_differs_is_told(records: Any) -> None:
    assert "differs" in records.regressions([line(1.0, agrees=False)], [line(1.0)])[0]


def test_results_go_to_json_and_back(records: Any, tmp_path: Path) -> None:
    timing = importlib.import_module("timing")
    result = timing.Result("a", 2.0, 1.0, 3.0, in_units_of_peer=True,
                           limit=timing.Limit("one pass", 0.5))  # fmt: skip
    path = tmp_path / "deep" / "one.json"
    records.save([result], path)
    (found,) = records.load(path)
    assert found == json.loads(json.dumps(result.to_dict()))
    assert found["from_limit"] == 4.0
    assert records.compare([found], path) == 0
    assert result.cells()[-2:] == ("one pass (500 ms)", "4.0×")
