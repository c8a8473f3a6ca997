"""Words at the edge: the phrase book, and whom it speaks to."""
