"""When does a moment lie on the boundary? Every tolerance of that question, and why.

Singular values are those of rows scaled to the largest; eigenvalues of Gram matrices are their
squares, so that rounding near 1e-16 of the rows is seen as 1e-16 of an eigenvalue too, after the
sum over the rows has rounded it once more.
"""

from __future__ import annotations

GRAM_CLEAR = 1e-11  # Gram eigenvalue, from moments, beyond doubt whatever the rounding of sums
RANK = 1e-14  # singular value of the rows themselves below which they are dependent: 100 roundings
FLAT = 1e-14  # eigenvalue of a centred covariance that rounding cannot tell from zero: likewise
POINT = 1e-28  # squared spread of a repeated point: RANK, squared
LEVERAGE = 1.0 - 1e-12  # of an atom that carries a direction alone: 1 - RANK with room for a QR
CERTIFIED = 1e-8  # a certificate below zero, or above it on the support: the root of rounding
CONTACT_NULL = 4e-15  # singular value of contact conditions that a function meets to rounding
CONTACT_CLEAR = 2e-13  # … that no function meets, rounding or not; between the two none is claimed
DEEP = 1e-7  # every candidate dips so far, for ∫ f dν = 1: ten times CERTIFIED
SAFE = 1e-9  # a dip that counts as none: a tenth of CERTIFIED
MARGIN_ROUNDING = 1e-13  # of a margin in closed form from moments alone
NEARLY = 1e-8  # margin below which the fit exists but hardly: CERTIFIED, as a mean
NODE_ACCURACY = 1e-11  # of the programme on nodes: a hundredth of SAFE
