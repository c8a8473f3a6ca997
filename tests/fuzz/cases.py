"""One case from beginning to end: its sample, its runs, everything that must hold."""

from __future__ import annotations

import linecache
import signal
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

import numpy as np

import steradian as sr
from fuzz import calls, doors, invariants
from fuzz.invariants import TWINS, Check
from fuzz.outcomes import Outcome, fitted
from fuzz.samples import Case, Sample, draw
from steradian.errors import SteradianError

TWINS_PER_CASE = 2
NEAR = 0.5  # share of an allowance above which a check is told though it holds
SLOW, SLOW_COMPARED = 1.0, 0.2  # seconds of a profile, and share of such that are compared at all
PACKAGE = str(Path(sr.__file__).parent)
_UNUSED = Check("", 0, "", 0.0)


class TookTooLong(BaseException):
    """The time a step of a case may take is over; not an `Exception`, so that nothing eats it."""


@dataclass
class Record:
    """What became of one case."""

    case: Case
    words: str = ""
    refused: str = ""  # kind and level of the first refusal
    violations: list[Check] = field(default_factory=list)
    closest: dict[str, Check] = field(default_factory=dict)  # to its allowance, of each kind
    flips: list[str] = field(default_factory=list)  # a level exists one way and not another
    seconds: dict[str, float] = field(default_factory=dict)  # of the processor, for each step

    def note(self, checks: Iterable[Check]) -> None:
        """What was looked at: promises that do not hold, and how near the others came."""
        for check in checks:
            if check.violated:
                self.violations.append(check)
            elif check.share > self.closest.get(check.kind, _UNUSED).share:
                self.closest[check.kind] = check

    @property
    def near(self) -> list[Check]:
        """Promises that held by less than half: where the next violation is to be looked for."""
        return [check for check in self.closest.values() if check.share > NEAR]


def checked(case: Case, limit: float = 60.0, *, questions: bool = True) -> Record:
    """Run one case; no step of it may use the processor for longer than ``limit`` seconds."""
    sample = draw(case)
    record = Record(case, str(sample))
    rng = np.random.default_rng([case.seed, 1])
    runs: list[Outcome] = []
    with _step(record, "profile", limit):
        runs.append(fitted(sample))
    if not runs:
        return record
    base = runs[0]
    record.refused = base.refused
    _judge(record, sample, base, limit)
    twins = rng.choice(list(TWINS), TWINS_PER_CASE, replace=False)
    slow = record.seconds["profile"] > SLOW
    for name in [] if slow and rng.random() > SLOW_COMPARED else twins:
        with _step(record, str(name), limit):
            _compare(record, sample, base, str(name), rng)
    if questions and base.profile is not None:
        _question(record, base.profile, sample, rng, limit)
    if questions:
        door = str(np.random.default_rng([case.seed, 2]).choice(list(doors.DOORS)))
        with _step(record, door, limit):
            record.note(doors.DOORS[door](sample, np.random.default_rng([case.seed, 3])))
    return record


def _judge(record: Record, sample: Sample, base: Outcome, limit: float) -> None:
    record.note(invariants.within(base))
    with _step(record, "mean log-density", limit):
        record.note(invariants.mean_logpdf(sample, base))
    with _step(record, "contour", limit):
        record.note(invariants.contour(sample, base))


def _compare(
    record: Record, sample: Sample, base: Outcome, name: str, rng: np.random.Generator
) -> None:
    twin = TWINS[name](sample, rng)
    levels = sample.levels
    if name == "fewer levels" and twin.outcome.refusal is None:
        levels = len(twin.outcome.deficits)
    record.note(invariants.compare(sample, base, twin))
    if invariants.flips(base, twin, levels):
        ways = (base.refused or "solved", twin.outcome.refused or "solved")
        record.flips.append(f"{name}: {ways[0]} / {ways[1]}")


def _question(
    record: Record,
    profile: sr.results.Profile,
    sample: Sample,
    rng: np.random.Generator,
    limit: float,
) -> None:
    if rng.random() < 0.3:
        with _step(record, "KL by draws", limit):
            outcome = Outcome(profile, None, 0.0)
            record.note(invariants.kullback_leibler(sample, outcome, rng))
        return
    name = str(rng.choice(list(calls.CALLS)))
    with _step(record, name, limit):
        record.note(calls.checked(name, calls.Asked(profile, sample, rng)))


@contextmanager
def _step(record: Record, name: str, limit: float) -> Iterator[None]:
    """Time a step, stop it after ``limit`` seconds of the processor, catch what is not ours."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TookTooLong

    began = time.process_time()
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except TookTooLong:
        record.note([Check(f"{name}: time", 0, f"over {limit:g} s")])
    except Exception as error:
        if not _is_ours(error):
            kind = f"{name}: {type(error).__name__}"
            record.note([Check(kind, 0, f"{_where(error)}: {error}")])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
        record.seconds[name] = time.process_time() - began


def _is_ours(error: Exception) -> bool:
    """Whether this error was raised on purpose, in our words."""
    if isinstance(error, SteradianError):
        return bool(str(error).strip())
    if not isinstance(error, ValueError | TypeError):
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(last.filename, last.lineno or 0)
    return last.filename.startswith(PACKAGE) and line.lstrip().startswith("raise ")


def _where(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(PACKAGE)]
    last = ours[-1] if ours else frames[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def shrunk(record: Record, limit: float) -> Record:
    """The same first violation with fewer levels and rows, where a few tries find it."""
    kind, best = record.violations[0].kind, record
    if kind.endswith(": time"):
        return best
    for _ in range(12):
        for smaller in _smaller(best):
            tried = checked(smaller, limit)
            if any(violation.kind == kind for violation in tried.violations):
                best = tried
                break
        else:
            return best
    return best


def _smaller(record: Record) -> list[Case]:
    sample = draw(record.case)
    level = max(violation.level for violation in record.violations)
    tries = []
    if 0 < level < sample.levels:
        tries.append(replace(record.case, rows=sample.n, levels=level))
    if sample.n > 3:
        fewer = (sample.n // 2, 3 * sample.n // 4)
        tries += [replace(record.case, rows=rows, levels=sample.levels) for rows in fewer]
    return tries
