"""Plain-array numerics: special functions, harmonics, quadrature rules.

Nothing here knows what a direction, a level or a fit is.
"""
