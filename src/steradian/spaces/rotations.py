"""Rotations of space: unit quaternions, which are axes of the three-sphere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steradian.arguments import shown
from steradian.errors import InvalidArgument, InvalidDirections
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import ORTHOGONAL_MATRIX
from steradian.spaces.axes import Axes
from steradian.spaces.classical import Classical


@dataclass(frozen=True, slots=True)
class Rotations(Axes):
    """Rotations of R³ as unit quaternions (x, y, z, w), scalar last; q and -q are the same.

    The uniform law of the axes of R⁴ is the invariant (Haar) law of rotations, and its rules and
    symmetries, q → p q r with unit quaternions p and r, are those of the axes. Its area is π²:
    a turn by the angle ω has the length ω/2.

    Examples
    --------
    >>> import numpy as np
    >>> import steradian as sr
    >>> from steradian.spaces.rotations import as_quaternions
    >>> as_quaternions(np.eye(3)[None])
    array([[0., 0., 0., 1.]])
    >>> sr.Rotations().point_name
    'rotation'
    """

    d: int = field(default=4, repr=False)

    def __post_init__(self) -> None:
        if self.d != 4:
            raise InvalidArgument(
                f"rotations are axes of R^4, and d is {shown(self.d)}; leave it out, or use "
                "sr.Axes(d)"
            )

    @property
    def name(self) -> str:
        return "rotations"

    @property
    def point_name(self) -> str:
        return "rotation"

    def classical(self, n: int, mean: Array, second: Array) -> tuple[Classical, ...]:  # noqa: ARG002
        """None are printed."""
        return ()

    def rows_of(self, points: Any) -> Any:
        """Quaternions of matrices (n, 3, 3) and of SciPy's ``Rotation``; rows as they are."""
        return as_quaternions(points) if _are_no_rows(points) else points


def as_quaternions(rotations: Any) -> Array:
    """Unit quaternions (n, 4), scalar last, of whatever holds rotations.

    Parameters
    ----------
    rotations : scipy Rotation, array (n, 3, 3) or array (n, 4)
        SciPy's ``Rotation`` objects, rotation matrices, or quaternions, scalar last.
    """
    if hasattr(rotations, "as_quat"):
        return np.atleast_2d(np.asarray(rotations.as_quat(), dtype=np.float64))
    values = _numbers(rotations)
    if values.ndim == 3 and values.shape[1:] == (3, 3):
        return quaternions_from_matrices(values)
    if values.ndim == 2 and values.shape[1] == 4:
        return values
    raise InvalidDirections(
        f"rotations of shape {values.shape}; give matrices (n, 3, 3), quaternions (n, 4) with the "
        "scalar last, or a scipy Rotation"
    )


def _are_no_rows(points: Any) -> bool:
    try:
        return hasattr(points, "as_quat") or np.ndim(points) == 3
    except Exception:  # ragged: said where rows are read
        return False


def _numbers(rotations: Any) -> Array:
    try:
        return np.asarray(rotations, dtype=np.float64)
    except Exception as error:  # whatever a foreign object does, the message is ours
        raise InvalidDirections(
            f"rotations are a {type(rotations).__name__} that does not turn into an array of "
            "numbers; give matrices, quaternions or a scipy Rotation"
        ) from error


def quaternions_from_matrices(matrices: Array) -> Array:
    """Unit quaternions q (n, 4), scalar last, of rotation matrices R (n, 3, 3).

    The entries of R are linear in those of 4 q qᵀ; of its columns, all multiples of q, the one of
    the largest diagonal entry is the most exact (Shepperd 1978).
    """
    _refuse_others(matrices)
    r = matrices
    trace = r[:, 0, 0] + r[:, 1, 1] + r[:, 2, 2]
    outer = np.empty((len(r), 4, 4))
    outer[:, :3, :3] = r + np.swapaxes(r, 1, 2)
    outer[:, range(3), range(3)] += (1.0 - trace)[:, None]
    outer[:, 3, 3] = 1.0 + trace
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        outer[:, i, 3] = outer[:, 3, i] = r[:, k, j] - r[:, j, k]
    best = np.argmax(np.einsum("nii->ni", outer), axis=1)
    column = outer[np.arange(len(r)), best]
    return np.asarray(column / np.linalg.norm(column, axis=1, keepdims=True))


def _refuse_others(matrices: Array) -> None:
    gram = matrices @ np.swapaxes(matrices, 1, 2)
    off = np.abs(gram - np.eye(3)).max(axis=(1, 2))
    bad = ~(off <= ORTHOGONAL_MATRIX)  # what is not a number too
    bad[~bad] = np.linalg.det(matrices[~bad]) < 0.0
    if bad.any():
        row = int(np.argmax(bad))
        why, remedy = f"misses it by {off[row]:.3g}", "fix or drop it"
        if off[row] <= ORTHOGONAL_MATRIX:
            why, remedy = "is a reflection", "turn the sign of one axis of its frame, or drop it"
        raise InvalidDirections(
            f"matrix {row} is no rotation: R Rᵀ must be the identity and det R = 1, and it {why}; "
            f"{remedy}"
        )
