"""Polynomials and rules of a few coordinates: integrals over a ball."""
