"""Levels of linear and quadratic features in any dimension, exactly."""
