"""``python -m steradian``."""

from steradian.cli import main

main()
