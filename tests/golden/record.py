"""The record on disk: one line of JSON for each case, in one file for each group of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from golden.cases import Case

FOLDER = Path(__file__).parent / "records"
_KERNEL = "kernel.json"

Records = dict[str, dict[str, Any]]


def kernel() -> dict[str, Any]:
    """What decides how sums are rounded, and which random numbers come from a seed."""
    found = [one for one in threadpool_info() if one["internal_api"] == "openblas"]
    simd = np.show_config(mode="dicts").get("SIMD Extensions", {})
    return {
        "openblas": sorted({one["architecture"] for one in found}),
        "simd": sorted(simd.get("found", [])),
        "numpy": np.__version__.rsplit(".", 1)[0],
    }


def recorded_kernel(folder: Path = FOLDER) -> dict[str, Any]:
    """The kernel that the record was made with."""
    path = folder / _KERNEL
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def plain(answers: dict[str, Any]) -> dict[str, Any]:
    """As JSON gives it back."""
    return dict(json.loads(json.dumps(answers)))


def read(folder: Path = FOLDER) -> Records:
    """Every record by the name of its case."""
    found: Records = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            found[one["case"]] = one["answers"]
    return found


def write(records: Records, cases: Iterable[Case], folder: Path = FOLDER) -> None:
    """Write the records of these cases, in their order; files that no case belongs to go."""
    folder.mkdir(exist_ok=True)
    lines: dict[str, list[str]] = {}
    for case in cases:
        one = {"case": case.name, "answers": records[case.name]}
        text = json.dumps(one, ensure_ascii=False, separators=(",", ":"))
        lines.setdefault(case.group, []).append(text + "\n")
    for path in folder.glob("*.jsonl"):
        if path.stem not in lines:
            path.unlink()
    for group, texts in lines.items():
        (folder / f"{group}.jsonl").write_text("".join(texts), encoding="utf-8")
    told = json.dumps(kernel(), indent=1) + "\n"
    (folder / _KERNEL).write_text(told, encoding="utf-8")
