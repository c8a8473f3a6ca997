"""Whether what a level adds is more than sampling explains."""
