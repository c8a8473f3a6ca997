"""The twelve faces of HEALPix as squares of equal area, and rules on parts of them.

A point of a face has coordinates 0 <= x, y <= 1 from its southern corner; equal areas there are
equal areas on the sphere (K. M. Górski et al., ApJ 622, 2005, section 5; M. Calabretta and B.
Roukema, MNRAS 381, 2007). With r = r_f - x - y, r_f = 2, 3, 4 for the northern, equatorial and
southern faces, the height is z = (4 - 2r) / 3 where 1 <= r <= 3, and 1 - z = r²/3 in the northern
cap, 1 + z = (4 - r)²/3 in the southern one. These pieces meet along r = 1 and r = 3, the diagonals
of faces and of the squares they are divided into, and longitudes turn about the poles: squares on
such a diagonal or at a pole are halved into triangles, on each of which all is smooth.
"""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray

_RING = np.repeat([2.0, 3.0, 4.0], 4)
_LONGITUDE = np.array([1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7], dtype=np.float64)


def face_points(face: IntArray, x: Array, y: Array) -> Array:
    """Unit vectors (n, 3) of coordinates (n,) of faces (n,)."""
    r = _RING[face] - x - y
    north, south = r < 1.0, r > 3.0
    across = np.where(north, r, np.where(south, 4.0 - r, 1.0))
    cap = across * across / 3.0
    z = np.where(north, 1.0 - cap, np.where(south, cap - 1.0, (4.0 - 2.0 * r) / 3.0))
    radius = np.where(
        north | south, across * np.sqrt((2.0 - cap) / 3.0), np.sqrt((1.0 - z) * (1.0 + z))
    )
    turn = _LONGITUDE[face] * across + x - y
    angle = 0.25 * np.pi * turn / np.where(across > 0.0, across, 1.0)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), z])


def square_nodes(
    face: IntArray, x: Array, y: Array, side: float, nodes: int
) -> tuple[Array, Array]:
    """Points (k, m, 3) and shares (m,) of sum one of k squares of one size by their corners (k,).

    Gauss's rule in both directions; squares that `are_halved` need `triangle_nodes`.
    """
    at, weight = np.polynomial.legendre.leggauss(nodes)
    u, v = (each.ravel() for each in np.meshgrid(0.5 * (at + 1.0), 0.5 * (at + 1.0)))
    share = 0.25 * np.outer(weight, weight).ravel()
    return _placed(face, x, y, side, (u, v)), share


def triangle_nodes(
    face: IntArray, x: Array, y: Array, side: float, nodes: int
) -> tuple[Array, Array]:
    """The same by two triangles each, collapsed at the northern and the southern corner."""
    at, weight = np.polynomial.legendre.leggauss(nodes)
    at, weight = 0.5 * (at + 1.0), 0.5 * weight
    s, t = (each.ravel() for each in np.meshgrid(at, at, indexing="ij"))
    share = (weight[:, None] * weight).ravel() * s
    u = np.concatenate([1.0 - s * (1.0 - t), s * (1.0 - t)])
    v = np.concatenate([1.0 - s * t, s * t])
    return _placed(face, x, y, side, (u, v)), np.tile(share, 2)


def are_halved(face: IntArray, x: Array, y: Array, side: float) -> BoolArray:
    """Which squares, by their southern corners, lie on a diagonal r = 1, 3 or at a pole, (k,)."""
    middle = _RING[face] - x - y - side
    near = 0.25 * side
    diagonal = (np.abs(middle - 1.0) < near) | (np.abs(middle - 3.0) < near)
    return np.asarray(diagonal | (middle - side < near) | (middle + side > 4.0 - near))


def _placed(face: IntArray, x: Array, y: Array, side: float, spots: tuple[Array, Array]) -> Array:
    """Points (k, m, 3) at spots (m,) of squares (k,)."""
    u, v = spots
    at = (x[:, None] + side * u).ravel(), (y[:, None] + side * v).ravel()
    return face_points(np.repeat(face, len(u)), *at).reshape(len(x), len(u), 3)
