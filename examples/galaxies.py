"""How galaxies lie on the sky, and how much of that is the Milky Way in front of them.

``pip install 'steradian[sky]'`` brings the catalogue (PyOngc, the New General Catalogue).
"""

from __future__ import annotations

import numpy as np

import steradian as sr

GALACTIC_POLE = (192.85948, 27.12825)  # right ascension and declination, J2000


def galaxies() -> sr.Directions:
    """Directions of all objects that the catalogue calls a galaxy."""
    from pyongc import data

    table = data.all()
    rows = table[table["type"] == "G"]
    ra, dec = (rows[name].to_numpy(dtype=np.float64) for name in ("ra", "dec"))
    return sr.Directions.from_radec(ra, dec, degrees=False)


def milky_way(half_width: float) -> sr.Mask:
    """The band of galactic latitudes below so many degrees, where dust hides what is behind."""
    return sr.Mask(bands=[(-half_width, half_width)], pole=GALACTIC_POLE)


def main() -> None:
    """Profiles against the whole sky, and against what is left of it."""
    every = galaxies()
    print(f"whole sky       n = {every.n:6d}  I = {sr.profile(every).gaps.round(3)}")
    for width in (10, 20, 30):
        mask = milky_way(width)
        seen = every.take(mask.sees(every.x))
        found = sr.profile(seen, reference=mask)
        error = found.numerics.quadrature.max()
        print(f"|b| < {width}° masked n = {seen.n:6d}  I = {found.gaps.round(3)}  ±{error:.0e}")


if __name__ == "__main__":
    main()
