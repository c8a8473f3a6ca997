"""Shared fixtures, and what holds of a whole run."""

from __future__ import annotations

import pytest

from work_tree import unknown_files

BEFORE = pytest.StashKey[set[str]]()


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):  # once, not in every worker
        session.config.stash[BEFORE] = unknown_files()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that wrote a file into the repository."""
    before = session.config.stash.get(BEFORE, None)
    left = [] if before is None else sorted(unknown_files() - before)
    if left:
        names = ", ".join(left)
        print(f"\nthe tests wrote into the repository: {names}; write to tmp_path instead")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
