"""One table holds every tolerance, with the reason beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import steradian
from steradian.numerics import tolerances

SOURCE = Path(steradian.__file__).parent
TABLE = Path(tolerances.__file__)
SMALL, LARGE = 1e-3, 1e6  # a float beyond them is a tolerance, or says below what else it is

METHOD = {  # numbers that steer a method and bound no error
    "adequacy/calibration.py:_LONGEST": "work that nobody waits for unasked",
    "adequacy/residuals.py:_MOST": "work",
    "adequacy/trust.py:_SOON": "work",
    "conformance/families.py:_STEP": "of differences",
    "inference/bias.py:_QUICK": "work",
    "inference/order.py:_MOST_HELD_OUT": "work",
    "existence/margin.py:WORK": "work",
    "families/meshes/rows.py:_MOST_WORK": "work",
    "families/meshes/rows.py:_LEAST_FOLLOWED": "work",
    "families/meshes/search.py:_MOST_ANCHORED": "work",
    "comparison.py:_QUICK": "work",
    "inference/group_steps.py:_MOST_WORK": "work",
    "inference/effort.py:SOON": "work",
    "inference/effort.py:A_SECOND": "work",
    "inference/effort.py:WAITING": "work",
    "inference/level_tests.py:_MOST_REFIT_WORK": "work",
    "inference/level_tests.py:_MOST_TILT_WORK": "work",
    "inference/gap_tests.py:_MOST_DRAWN": "work",
    "families/base.py:LEAST_KEPT": "rate of acceptance below which draws take too long",
    "inference/bootstrap.py:_A_SECOND": "work",
    "families/relative/family.py:_LEAST_KEPT": "rate of acceptance below which draws take too long",
    "fitting/newton.py:ARMIJO": "share of the promised rise, of the line search",
    "numerics/arrays.py:ROUNDOFF": "of the machine itself",
    "plots/level_layout.py:_PATIENCE": "work",
    "paper/auditing.py:RIDGE": "the paper's own regularisation",
}


def floats(node: ast.expr) -> Iterator[float]:
    """Float literals of a constant, those within a call or a mapping of a method left out."""
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield node.value
    elif isinstance(node, ast.Tuple):
        for part in node.elts:
            yield from floats(part)
    elif isinstance(node, ast.UnaryOp):
        yield from floats(node.operand)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        yield float(eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}}))


def constants(path: Path) -> Iterator[tuple[str, ast.expr]]:
    """Names and values that a module assigns at its top."""
    for line in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(line, ast.AnnAssign) and line.value is not None:
            yield ast.unparse(line.target), line.value
        elif isinstance(line, ast.Assign):
            target = line.targets[0]
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = line.value.elts if isinstance(line.value, ast.Tuple) else [line.value]
            if len(names) != len(values):
                values = [line.value] * len(names)
            yield from ((ast.unparse(n), v) for n, v in zip(names, values, strict=True))


def strays(path: Path) -> list[str]:
    """Constants of a module that look like tolerances."""
    name = path.relative_to(SOURCE).as_posix()
    return [
        f"{name}:{constant}"
        for constant, value in constants(path)
        if any(0.0 < x < SMALL or x > LARGE for x in floats(value))
    ]


@cache
def all_strays() -> frozenset[str]:
    """Those of all modules but the table."""
    return frozenset(s for path in SOURCE.rglob("*.py") if path != TABLE for s in strays(path))


def rows() -> list[tuple[str, str]]:
    """Names and reasons of the table."""
    text = TABLE.read_text(encoding="utf-8")
    return re.findall(r"^([A-Z_]+) = [^#\n]*(?:#[ ]*(.*))?$", text, re.MULTILINE)


def test_no_tolerance_stands_anywhere_else() -> None:
    assert sorted(all_strays() - set(METHOD)) == []


def test_the_exceptions_are_still_there() -> None:
    assert sorted(set(METHOD) - all_strays()) == []


@pytest.mark.parametrize(("name", "reason"), rows())
def test_every_tolerance_has_a_reason(name: str, reason: str) -> None:
    assert len(reason.split()) >= 4, f"{name}: say beside it what it bounds and why so much"


def test_every_tolerance_is_used() -> None:
    text = "\n".join(p.read_text(encoding="utf-8") for p in SOURCE.rglob("*.py") if p != TABLE)
    used = set(re.findall(r"\b[A-Z][A-Z_]+\b", text))
    assert [name for name, _ in rows() if name not in used] == []


def test_a_stray_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.SOURCE", tmp_path)
    module = tmp_path / "one.py"
    module.write_text("_NEAR, _STEPS = 1e-9, 4\n_FINE: float = 2.0**-40\n_MANY = 3\n")
    assert strays(module) == ["one.py:_NEAR", "one.py:_FINE"]


def test_those_that_follow_from_another_do() -> None:
    t = tolerances
    assert pytest.approx(t.RANK**2) == t.POINT
    assert pytest.approx(10.0 * t.CERTIFIED) == t.DEEP
    assert pytest.approx(0.1 * t.CERTIFIED) == t.SAFE
    assert pytest.approx(10.0 * t.SAFE) == t.MARGIN_PROGRAMME
    assert pytest.approx(0.01 * t.SAFE) == t.NODE_ACCURACY
    assert pytest.approx(t.TINY_ROOT**2) == t.TINY
    assert t.QUADRATURE_TOLERANCE < t.VERIFIED_AIM < t.VERIFIED_DIFFERENCE < t.USABLE_QUADRATURE
