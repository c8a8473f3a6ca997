"""The command line: parse, call, print.

Exit codes: 0 done, 2 bad input, 1 a fit that does not exist or does not converge, or a number
that differs from the paper, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType

INTERRUPTED = 130
# Matrices are small: threads of BLAS mostly wait for each other, and on a busy machine a command
# takes ten times the processor. Whoever wants them says so in the environment.
_BLAS_THREADS = "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"


def main() -> None:
    """Entry point; names the extra that is missing instead of a traceback."""
    if sys.argv[1:] == ["--version"]:  # nothing else is imported for it
        from steradian import __version__

        print(f"steradian {__version__}")
        sys.exit(0)
    for name in _BLAS_THREADS:
        os.environ.setdefault(name, "1")  # read when NumPy is imported
    with _interrupts() as seen:
        code = _run(sys.argv[1:], seen)
    sys.exit(code)


def _run(arguments: list[str], interrupts: list[int]) -> int:
    try:
        from steradian.cli.app import run

        code = run(arguments)
    except (Exception, KeyboardInterrupt) as error:
        if interrupts or isinstance(error, KeyboardInterrupt):  # while modules are imported
            print("steradian: interrupted", file=sys.stderr)
            return INTERRUPTED
        if not isinstance(error, ImportError) or error.name not in {"typer", "rich"}:
            raise
        print(
            f"steradian: the command line needs {error.name}; "
            "install it with: pip install 'steradian[cli]'",
            file=sys.stderr,
        )
        return 2
    return INTERRUPTED if interrupts and code else code


@contextlib.contextmanager
def _interrupts() -> Iterator[list[int]]:
    """The interrupts so far: a compiled module that is interrupted says it cannot be imported."""
    seen: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # told to ignore it
        yield seen
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
