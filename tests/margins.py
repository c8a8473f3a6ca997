"""How near each numeric assertion comes to its bound: ``make margins``.

A bound that holds with a factor to spare on one machine may fail on the next, where the linear
algebra rounds differently. With this plugin every passing ``assert_allclose``, ``a < bound``
and ``a == approx(b)`` whose two sides are numbers is written down as error over bound, and the
end of the run lists those above a third.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

NEAR = 1.0 / 3.0
SMALL = 1e-3  # bounds above this are about statistics or sizes, not about rounding
NUMBER = r"(?:np\.float64\()?(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\)?"
LESS = re.compile(rf"^(?:assert )?{NUMBER} <=? {NUMBER}(?:\s|$)")
CHAIN = re.compile(rf"^(?:assert )?-?{NUMBER} <=? {NUMBER} <=? {NUMBER}(?:\s|$)")
APPROX = re.compile(rf"Obtained: {NUMBER}\s+Expected: {NUMBER} ± {NUMBER}")

_running: list[str] = [""]
_found: dict[str, tuple[float, str]] = {}


def _note(ratio: float, bound: float, where: str) -> None:
    if np.isfinite(ratio) and bound <= SMALL:
        key = f"{_running[0]} {where}"
        _found[key] = max(_found.get(key, (0.0, "")), (ratio, f"bound {bound:.1e}"))


def _allclose(original: Any) -> Any:
    def assert_allclose(actual: Any, desired: Any, *args: Any, **options: Any) -> None:
        original(actual, desired, *args, **options)
        rtol = args[0] if args else options.get("rtol", 1e-7)
        atol = args[1] if len(args) > 1 else options.get("atol", 0.0)
        error = np.abs(np.asarray(actual) - np.asarray(desired)).astype(float)
        allowed = atol + rtol * np.abs(np.asarray(desired)) + np.zeros_like(error)
        ratio = np.divide(error, allowed, out=np.zeros_like(error), where=allowed > 0)
        if ratio.size:
            scale = max(1.0, float(np.abs(np.asarray(desired)).max()))
            _note(float(np.nanmax(ratio)), float(max(rtol, atol / scale)), "assert_allclose")

    return assert_allclose


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    _running[0] = item.nodeid
    return (yield)


def pytest_assertion_pass(item: pytest.Item, lineno: int, orig: str, expl: str) -> None:
    first = expl.splitlines()[0]
    where = f"line {lineno}: {orig.splitlines()[0]}"
    if (found := APPROX.search(expl)) is not None:
        value, expected, allowed = map(float, found.groups())
        if allowed > 0:
            relative = allowed / max(abs(expected), 1.0)
            _note(abs(value - expected) / allowed, relative, where)
    elif CHAIN.match(first) is None and (found := LESS.match(first)) is not None:
        value, allowed = map(float, found.groups())
        if allowed > 0:
            _note(value / allowed, allowed, where)


def pytest_configure(config: pytest.Config) -> None:
    np.testing.assert_allclose = _allclose(np.testing.assert_allclose)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    near = sorted(((v, k) for k, v in _found.items() if v[0] > NEAR), reverse=True)
    terminalreporter.section(f"{len(near)} of {len(_found)} bounds above a third")
    for (ratio, bound), where in near:
        terminalreporter.write_line(f"{ratio:5.2f} of {bound}  {where}")
    if "MARGINS" in os.environ:
        lines = [f"{ratio:.4f}\t{bound}\t{where}" for where, (ratio, bound) in _found.items()]
        Path(os.environ["MARGINS"]).write_text("\n".join(lines))
