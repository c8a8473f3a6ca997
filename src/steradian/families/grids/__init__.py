"""Harmonics on the circle and the two-sphere, integrated on verified grids."""
