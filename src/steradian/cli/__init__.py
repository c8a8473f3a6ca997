"""The command line: parse, call, print.

Exit codes: 0 done, 2 bad input, 1 a fit that does not exist or does not converge, or a number
that differs from the paper, 130 interrupted.
"""

from __future__ import annotations

import os
import sys

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
    try:
        from steradian.cli.app import run

        code = run(sys.argv[1:])
    except ImportError as error:
        if error.name not in {"typer", "rich"}:
            raise
        print(
            f"steradian: the command line needs {error.name}; "
            "install it with: pip install 'steradian[cli]'",
            file=sys.stderr,
        )
        code = 2
    except KeyboardInterrupt:  # while modules are imported
        print("steradian: interrupted", file=sys.stderr)
        code = INTERRUPTED
    sys.exit(code)
