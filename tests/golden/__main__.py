"""Compare with the record, or record anew: ``make golden``, ``make golden-update``.

What changed is printed, by how much, and how much is allowed. A record that agrees is left as it
is, so that small changes do not add up unseen.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

from golden import record, texts
from golden.cases import Case
from golden.lists import all_cases
from golden.rules import Change, changes


@dataclass
class Found:
    """What the cases answer now, and which answers are not those of the record."""

    answers: record.Records = field(default_factory=dict)
    changed: dict[str, list[Change]] = field(default_factory=dict)
    new: list[str] = field(default_factory=list)


def main() -> int:
    asked = _arguments()
    cases = {name: case for name, case in all_cases().items() if asked.only in name}
    recorded, same_kernel = record.read(), record.kernel() == record.recorded_kernel()
    found = _asked(cases, recorded, same_kernel=same_kernel, streams=asked.streams)
    gone = [] if asked.only else sorted(recorded.keys() - cases.keys())
    print(_told(found, gone, len(cases), same_kernel=same_kernel))
    rewritten = texts.compared(asked.only, update=asked.update)
    if asked.update:
        _update(found, recorded, same_kernel=same_kernel)
        return 0
    return 1 if found.changed or found.new or gone or rewritten else 0


def _asked(
    cases: dict[str, Case], recorded: record.Records, *, same_kernel: bool, streams: bool
) -> Found:
    found = Found()
    for name, case in cases.items():
        now = found.answers[name] = record.plain(case.record())
        if name not in recorded:
            found.new.append(name)
            continue
        changed = changes(recorded[name], now, kernel=same_kernel, streams=streams)
        if changed:
            found.changed[name] = changed
    return found


def _told(found: Found, gone: list[str], asked: int, *, same_kernel: bool) -> str:
    lines = [f"{name}\n    {change}" for name, some in found.changed.items() for change in some]
    lines += [f"{name}: not recorded yet" for name in found.new]
    lines += [f"{name}: recorded, and no case any more" for name in gone]
    where = "on the kernel of the record" if same_kernel else "on another kernel than the record's"
    lines.append(f"{asked} cases {where}: {len(found.changed)} changed, {len(found.new)} new")
    return "\n".join(lines)


def _update(found: Found, recorded: record.Records, *, same_kernel: bool) -> None:
    """Write what changed; everything where the record is of another kernel."""
    keep = recorded.keys() - found.changed.keys() if same_kernel else set()
    cases = all_cases()
    kept = {name: recorded[name] for name in keep if name in cases}
    records = {**recorded, **found.answers, **kept}
    record.write(records, (case for case in cases.values() if case.name in records))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="golden", description=__doc__)
    parser.add_argument("--update", action="store_true", help="record what is answered now")
    parser.add_argument("--only", default="", help="cases and texts whose name has this in it")
    parser.add_argument(
        "--streams", action="store_true", help="random streams changed: drawn numbers to 4 sd"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
