"""Harmonics, rules and minima on circles and spheres."""
