"""Errors as values: what, where and the remedy, put into words for whoever reads."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steradian as sr
from steradian import errors
from steradian.errors import COUNTED, LevelError
from steradian.text.audience import Advice, Audience, speaking_to
from steradian.text.messages import (
    Arguments,
    Joined,
    Name,
    Row,
    Rows,
    arguments,
    message,
    named_arguments,
)

SOURCE = Path(inspect.getfile(sr)).parent
X = np.random.default_rng(0).normal(size=(12, 3))


def raised(call: Callable[[], object]) -> sr.SteradianError:
    with pytest.raises(sr.SteradianError) as caught:
        call()
    return caught.value


BAD: dict[str, Callable[[], object]] = {
    "norm": lambda: sr.Directions(X),
    "plane": lambda: sr.Directions([[120.0, 30.0]]),
    "zero": lambda: sr.Directions([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
    "array": lambda: sr.profile(X),
    "degrees": lambda: sr.Directions.from_lonlat([0.1] * 6, [0.2, 0.3, 0.4, 0.5, 0.6, 0.7]),
    "limits": lambda: sr.Directions.from_lonlat([10.0], [95.0]),
    "hours": lambda: sr.Directions.from_radec([25.0], [5.0], hours=True),
    "midnight": lambda: sr.Directions.from_times(["2024-01-03", "2024-03-05"]),
    "seconds": lambda: sr.Directions.from_times([77000.0, 300.0]),
    "period": lambda: sr.Directions.from_times(["2024-01-03"], period="month"),
    "counts": lambda: sr.Directions(np.eye(3), counts=[1.5, 1, 1]),
    "own weights": lambda: sr.profile(sr.Directions(np.eye(3)), weights=[1, 1, 1]),
    "iid": lambda: sr.profile(sr.Directions(np.eye(3), [1, 2, 3]), levels=1, design="iid"),
    "descriptive": lambda: sr.profile(
        sr.Directions(X, np.arange(1, 13), normalize=True), levels=1
    ).tests(),
    "boundary": lambda: sr.profile(np.eye(3), levels=3),
    "levels": lambda: sr.profile(np.eye(3), levels=0),
    "auto": lambda: sr.profile(np.eye(3), levels="auto", shrinkage=0.1),
    "epsilon": lambda: sr.profile(np.eye(3), shrinkage=2.0),
    "space": lambda: sr.Directions([[2.0, 0.0]], space=sr.Torus(1)),
    "labels": lambda: sr.compare(3, levels=1),
    "cluster": lambda: sr.profile(np.eye(3), levels=1, design=sr.designs.Clusters([1, 1, 1])),
    "column": lambda: sr.profile({"a": [1.0], "b": [2.0]}),
}


@pytest.fixture(params=list(BAD))
def error(request: pytest.FixtureRequest) -> sr.SteradianError:
    return raised(BAD[request.param])


def test_errors_cross_processes_and_are_copied(error: sr.SteradianError) -> None:
    for again in (
        pickle.loads(pickle.dumps(error)),
        copy.copy(error),
        copy.deepcopy(error),
        error.changed(),
    ):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert str(again.fields) == str(error.fields)
        with speaking_to(Audience.COMMAND_LINE):
            assert str(again) == str(error)


def test_a_copy_with_other_fields_leaves_the_first_as_it_was(error: sr.SteradianError) -> None:
    before = str(error)
    assert "row 77" not in str(error.placed(lambda _: "line 5"))
    error.changed(remedy="nothing")
    if isinstance(error, sr.InvalidArgument):
        assert error.within("a.csv").args != error.args
    assert str(error) == before


OPTIONS = (
    "axial bins columns coords counts degrees design hours levels normalize on_bad period "
    "reference shrinkage table weights"
)
SIGNATURES = (
    sr.Directions,
    sr.Directions.from_lonlat,
    sr.Directions.from_radec,
    sr.Directions.from_times,
    sr.read_directions,
    sr.moments,
    sr.profile,
    sr.profiles,
    sr.compare,
)


def test_remedies_name_arguments_that_there_are(error: sr.SteradianError) -> None:
    known = {name for each in SIGNATURES for name in inspect.signature(each).parameters}
    assert error.advised <= known
    for name in error.advised:
        assert f"{name}=" in str(error) or "sr.Directions(" in str(error)


@pytest.mark.parametrize(
    ("remedy", "python", "option"),
    [
        (arguments(normalize=True), "normalize=True", "--normalize"),
        (arguments(levels=3), "levels=3", "--levels 3"),
        (arguments(shrinkage=0.01), "shrinkage=0.01", "--shrinkage 0.01"),
        (arguments(degrees=True), "degrees=True", "--degrees"),
        (arguments(degrees=False), "degrees=False", "--radians"),
        (arguments(axial=False), "axial=False", "--directed"),
        (arguments(on_bad="skip"), "on_bad='skip'", "--on-bad skip"),
        (arguments(columns=...), "columns=", "--columns"),
        (arguments(columns=["a", "b"], coords="xyz"), "columns=['a', 'b'], coords='xyz'",
         "--columns a,b --coords xyz"),
        (arguments(columns=["a b", "c"]), "columns=['a b', 'c']", '--columns "a b,c"'),
        (arguments(weights='w"'), "weights='w\"'", '--weights "w\\""'),
        (arguments(method="exact"), "method='exact'", "method='exact' in Python"),
        (Joined((arguments(period="day"), arguments(period="week"))),
         "period='day' or period='week'", "--period day or --period week"),
        (Name("on_bad"), "on_bad", "--on-bad"),
        (Name("epsilon"), "epsilon", "--shrinkage"),
        (Name("rng"), "rng", "rng"),
        (Advice("tests()", "--design"), "tests()", "--design"),
        (message("pass {it}", it=arguments(hours=True)), "pass hours=True", "pass --hours"),
    ],
)  # fmt: skip
def test_a_remedy_is_said_in_the_terms_of_whoever_reads(
    remedy: Any, python: str, option: str
) -> None:
    assert str(remedy) == python
    with speaking_to(Audience.COMMAND_LINE):
        assert str(remedy) == option
    assert pickle.loads(pickle.dumps(remedy)) == remedy


def test_what_a_command_does_not_offer_is_said_to_be_elsewhere() -> None:
    with speaking_to(Audience.COMMAND_LINE, {"--levels"}):
        assert str(arguments(levels=2)) == "--levels 2"
        assert str(arguments(shrinkage=0.01)) == "--shrinkage 0.01 of steradian profile"


def test_rows_are_named_by_their_place() -> None:
    error = sr.InvalidDirections(
        "{row} differs ({why}), unlike {rows}",
        row=Row(3), why=message("see {row}", row=Row(4)), rows=Rows((5, 6)),
    )  # fmt: skip
    assert str(error) == "row 3 differs (see row 4), unlike rows 5, 6" + COUNTED
    assert error.fields["row"] == 3
    placed = error.placed(lambda row: f"line {row + 2}")
    assert str(placed) == "line 5 differs (see line 6), unlike line 7, line 8"
    assert str(error.within("a.csv")) == f"a.csv: {error}"


def test_braces_of_a_value_are_no_fields() -> None:
    assert str(sr.InvalidArgument("no column '{x}'")) == "no column '{x}'"
    assert str(sr.InvalidArgument("no column {name!r}", name="{y}")) == "no column '{y}'"
    said = sr.InvalidArgument("no column '{x}'").within("{z}")
    assert str(said) == "{z}: no column '{x}'"


def test_an_error_of_a_level_says_why_and_what_helps() -> None:
    error = raised(BAD["boundary"])
    assert isinstance(error, sr.BoundaryError)
    assert str(error) == f"level {error.level} {error.cause}; {error.remedy}"
    assert error.advised == {"levels", "shrinkage"}
    with speaking_to(Audience.COMMAND_LINE):
        assert f"--levels {error.level - 1} is sound" in error.remedy
        assert "(--shrinkage 0.01)" in error.remedy
    named = pickle.loads(pickle.dumps(error.of_group("north")))
    assert f"level {error.level} of group 'north' " in str(named)
    assert named.profile is not None
    assert named.certificate is not None


def test_groups_are_not_told_to_be_shrunk() -> None:
    """`compare` mixes nothing in, so that it is no remedy there."""
    with pytest.raises(LevelError) as caught:
        sr.compare(np.vstack([np.eye(3)] * 2), by=[1, 1, 1, 2, 2, 2], levels=3)
    assert "shrinkage" not in caught.value.advised


# --- how the library is written -----------------------------------------------------------


def made_from_fields() -> Iterator[tuple[str, ast.Call]]:
    """Calls that make an error or a message of a template and fields, with where they stand."""
    makers = {*errors.__all__, "message"}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in makers:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def test_templates_have_the_fields_that_are_given() -> None:
    seen = 0
    for where, call in made_from_fields():
        given = [word.arg for word in call.keywords]
        if not given or None in given or not call.args:
            continue
        template = call.args[0]
        assert not isinstance(template, ast.JoinedStr), f"{where}: a template is no f-string"
        if isinstance(template, ast.Constant):
            parsed = string.Formatter().parse(str(template.value))
            fields = {name for _, name, _, _ in parsed if name}
            assert fields <= set(given), where
            seen += 1
    assert seen > 80


def test_nothing_in_errors_is_advised_in_words_of_python_alone() -> None:
    """Words like ``levels=2`` in an f-string or a constant of an error would reach the shell."""
    options = set(OPTIONS.split())
    wrong = []
    for where, call in made_from_fields():
        for part in ast.walk(call.args[0]) if call.args else ():
            text = part.value if isinstance(part, ast.Constant) else None
            words = text if isinstance(text, str) else ""
            wrong += [f"{where}: {name}=" for name in options if f"{name}=" in words]
    assert not wrong


def test_named_arguments_are_found_wherever_they_stand() -> None:
    remedy = message("{a}", a=Joined((arguments(levels=2), message("{b}", b=arguments(by="x")))))
    assert set(named_arguments({"remedy": remedy, "value": [1, 2]})) == {"levels", "by"}
    assert isinstance(arguments(levels=2), Arguments)
