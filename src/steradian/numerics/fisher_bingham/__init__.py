"""Fisher-Bingham laws as plain arrays: integral, fit, gap, pairs and draws."""
