"""Whether groups differ, and in which level."""
