"""The array types the whole package speaks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Double-precision array; every shape is stated where it is used."""

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]

ROUNDOFF = 2.0**-53
"""Unit roundoff of double precision."""
