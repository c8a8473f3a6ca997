"""Every text is the one that is kept. ``make golden-update`` keeps those that are said now."""

from __future__ import annotations

import pytest

from golden import record, texts
from golden.text_list import TEXTS


@pytest.mark.parametrize("name", TEXTS)
def test_says_what_is_kept(name: str) -> None:
    same_kernel = record.kernel() == record.recorded_kernel()
    told = texts.difference(name, same_kernel=same_kernel)
    if told:
        pytest.fail(f"{told}\nIf this is meant, run make golden-update.", pytrace=False)


def test_every_file_is_said_by_something() -> None:
    assert {path.stem for path in texts.FOLDER.glob("*.txt")} == set(TEXTS)


def test_masks_times_and_versions() -> None:
    said = "made by steradian 0.3.1 with numpy 2.4.6; 0.031 s for the fits; about 40 s \n"
    said += '"elapsed": 0.2\n'
    assert texts.masked(said) == (
        "made by steradian <version> with numpy <version>; <time> for the fits; about 40 s\n"
        '"elapsed": <time>\n'
    )


@pytest.mark.parametrize(("kept", "said", "agrees"), [
    ("p = 0.043, I = 1.63", "p = 0.044, I = 1.63", True),
    ("p = 0.043, I = 1.63", "p = 0.045, I = 1.63", False),
    ("good to 1e-14 nats", "good to 3e-15 nats", True),
    ("p = 2e-6", "p = 4e-6", False),
    ("level 3 of 4", "level 2 of 4", False),
    ("clear, p = 0.01", "likely, p = 0.01", False),
    ("−0.5 to 1", "-0.5 to 1", True),
])  # fmt: skip
def test_numbers_agree_but_for_their_last_digit(kept: str, said: str, agrees: bool) -> None:
    assert texts.agree(kept, said) is agrees
