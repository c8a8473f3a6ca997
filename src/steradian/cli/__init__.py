"""The command line: parse, call, print.

Exit codes: 0 done, 2 bad input, 1 a fit that does not exist or does not converge, or a number
that differs from the paper.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point; names the extra that is missing instead of a traceback."""
    try:
        from steradian.cli.app import run
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(
            f"steradian: the command line needs {error.name}; "
            "install it with: pip install 'steradian[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    sys.exit(run(sys.argv[1:]))
