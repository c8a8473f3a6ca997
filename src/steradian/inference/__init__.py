"""Inference that respects how the weights arose."""
