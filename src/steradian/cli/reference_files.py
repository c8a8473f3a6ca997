"""References in files: maps of the sky, profiles that were written, samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from steradian.errors import InvalidArgument, MissingExtra
from steradian.fitting.maxent import MaxEntFit
from steradian.fitting.solution import Status
from steradian.hierarchies.registry import default_hierarchy
from steradian.references.healpix import HealpixMap
from steradian.spaces import unit_sphere

_MAPS = (".fits", ".fit", ".fits.gz", ".fit.gz")


def is_map_file(path: Path) -> bool:
    """Whether a file is one of maps, by its name."""
    return path.name.lower().endswith(_MAPS)


def read_map(path: Path) -> HealpixMap:
    """The first HEALPix map of a FITS file, whole or of some pixels, in its own order.

    Needs astropy: the conventions of such files are its business.
    """
    try:
        from astropy.io import fits
    except ImportError as error:
        raise MissingExtra(
            "maps in FITS files need astropy: pip install 'steradian[astro]'"
        ) from error
    try:
        with fits.open(path) as tables:
            found = [hdu for hdu in tables if "ORDERING" in hdu.header and hdu.data is not None]
            if not found:
                raise InvalidArgument(f"{path.name} holds no HEALPix map: no table has an ORDERING")
            return _map(found[0].header, found[0].data)
    except OSError as error:
        raise InvalidArgument(f"{path.name} cannot be read as FITS: {error}") from error


def _map(header: Any, data: Any) -> HealpixMap:
    names = [name for name in data.names if name.upper() != "PIXEL"]
    values = np.asarray(data[names[0]], dtype=np.float64).ravel()
    partial = len(names) < len(data.names)
    if partial:
        whole = np.zeros(12 * int(header["NSIDE"]) ** 2)
        pixel = next(name for name in data.names if name.upper() == "PIXEL")
        whole[np.asarray(data[pixel], dtype=np.int64)] = values
        values = whole
    nested = str(header["ORDERING"]).strip().upper().startswith("NEST")
    return HealpixMap(values, "nested" if nested else "ring")


def read_fit(path: Path, level: int = 0) -> MaxEntFit:
    """The fit of a level, by default the highest, of a profile that was written as JSON."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        count, d = len(record["levels"]), int(record["d"])
        if record["hierarchy"] != "Harmonics" or record.get("reference", "uniform") != "uniform":
            raise InvalidArgument(
                f"{path.name} is a profile of other functions than harmonics, or relative to a "
                "reference itself; use the library, with one of its fits"
            )
        if not 0 <= level <= count:
            raise InvalidArgument(f"{path.name} has levels 1 to {count}, not {level}")
        chosen = (level or count) - 1
        lam = np.array(record["lam"][chosen], dtype=np.float64)
        psi, deficit = float(record["psi"][chosen]), float(record["deficits"][chosen])
        gap = float(record["gaps"][chosen])
    except (KeyError, IndexError, TypeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InvalidArgument(
            f"{path.name} is no profile as `steradian profile --json --out {path.name}` writes it"
        ) from error
    hierarchy = default_hierarchy(unit_sphere(d), chosen + 1)
    if hierarchy.q(chosen + 1) != len(lam):
        raise InvalidArgument(f"{path.name} has {len(lam)} parameters at level {chosen + 1}")
    moments = hierarchy.family(chosen + 1).expectations(lam[None], hierarchy)[0]
    found = (lam, psi, deficit, gap, 0.0, moments, Status.CONVERGED)
    return MaxEntFit(hierarchy, chosen + 1, *found)
