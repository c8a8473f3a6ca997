"""Very many points of the circle or the two-sphere as few nodes with masses of either sign.

The masses are the values of the sample's own expansion to degree K at the nodes of a rule that is
exact to degree 2K, times the weights of the rule: ``Σ_j W_j f(y_j) = Σ_i w_i f(x_i)`` for every f
of degree at most K, and nearly so for every smooth f. One pass over the points, whatever n is.
Beside them stand the masses to degree ¾K: what differs by more than rounding was not smooth.
"""

from __future__ import annotations

import ducc0
import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.spheres.circle_sums import circle_modes
from steradian.numerics.tolerances import CONDENSED_ACCURACY

_ROWS = 1 << 13  # points at a time: their angles stay in the processor's cache


def condensed_on_circle(x: Array, weights: Array, degree: int) -> tuple[Array, Array]:
    """Nodes (N, 2) and masses (2, N) for points ``x`` (n, 2) of ``weights`` (n,)."""
    count = 2 * degree + 1
    spectrum = circle_modes(x, weights, degree)
    fewer = np.where(np.arange(degree + 1) <= _share(degree), spectrum, 0.0)
    masses = np.fft.irfft(np.stack([spectrum, fewer]).conj(), count)
    turn = np.arange(count) * (2.0 * np.pi / count)
    return np.stack([np.cos(turn), np.sin(turn)], axis=1), np.asarray(masses)


def condensed_on_sphere(x: Array, weights: Array, degree: int) -> tuple[Array, Array]:
    """Nodes (N, 3) and masses (2, N) for points ``x`` (n, 3) of ``weights`` (n,)."""
    alm = ducc0.sht.adjoint_synthesis_general(
        lmax=degree, map=weights[None], loc=_angles(x), spin=0, epsilon=CONDENSED_ACCURACY
    )
    rings = degree + 1
    longitudes = 2 * rings
    fewer = np.where(_degrees(degree) <= _share(degree), alm, 0.0)
    values = [
        ducc0.sht.synthesis_2d(
            alm=one, spin=0, lmax=degree, geometry="GL", ntheta=rings, nphi=longitudes
        )[0]
        for one in (alm, fewer)
    ]
    area = ducc0.misc.GL_weights(rings, longitudes)  # of one node; they add up to 4π
    masses = np.stack(values) * area[:, None]
    colatitude = ducc0.misc.GL_thetas(rings)
    turn = np.arange(longitudes) * (2.0 * np.pi / longitudes)
    nodes = np.empty((rings, longitudes, 3))
    nodes[..., 0] = np.sin(colatitude)[:, None] * np.cos(turn)
    nodes[..., 1] = np.sin(colatitude)[:, None] * np.sin(turn)
    nodes[..., 2] = np.cos(colatitude)[:, None]
    return nodes.reshape(-1, 3), masses.reshape(2, -1)


def _share(degree: int) -> int:
    return 3 * degree // 4


def _degrees(degree: int) -> IntArray:
    """The degree of every coefficient, order after order."""
    return np.concatenate([np.arange(m, degree + 1) for m in range(degree + 1)])


def _angles(x: Array) -> Array:
    """Colatitudes and longitudes of points of the sphere, (n, 2), a block at a time.

    The arc cosine loses digits only within a thousandth of the poles, where few points lie.
    """
    out = np.empty((len(x), 2))
    for first in range(0, len(x), _ROWS):
        part = slice(first, first + _ROWS)
        across, up, height = np.ascontiguousarray(x[part].T)
        turn = np.arctan2(up, across)
        turn[turn < 0.0] += 2.0 * np.pi
        out[part, 0], out[part, 1] = np.arccos(np.clip(height, -1.0, 1.0)), turn
    return out
