"""Samples nobody chose, and what must hold for each of them; see `python -m fuzz --help`."""
