"""What --reference names: bands, maps of the sky, profiles that were written, samples."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from steradian.cli.options import Data, Source
from steradian.errors import InvalidArgument, MissingExtra

if TYPE_CHECKING:
    from steradian.fitting.maxent import MaxEntFit
    from steradian.references.healpix import HealpixMap

REFERENCE_HELP = (
    "What information is relative to, instead of uniform: all but the latitudes that nobody looked "
    "at (unseen:-90..-20, or several with commas), a HEALPix map (FITS), a profile written by "
    "--json (fit.json, or fit.json:2 for its level 2), or a table with a sample, read like FILE."
)
_MAPS = (".fits", ".fit", ".fits.gz", ".fit.gz")
_UNSEEN = "unseen:"
_DEGREES = r"([-+]?(?:\d+(?:\.\d+)?|\.\d+))"
_BAND = re.compile(rf"\s*{_DEGREES}\s*\.\.\s*{_DEGREES}\s*")
_OF_ROWS = ("weights", "counts", "where", "distinct")  # said of FILE alone


Reference = Annotated[str, typer.Option(help=REFERENCE_HELP)]
DropUnseen = Annotated[
    bool, typer.Option("--drop-unseen", help="Leave out rows where the reference is zero.")
]


@dataclass(frozen=True, slots=True)
class Against:
    """What --reference says, and whether rows where it is zero are left out."""

    text: str
    drop_unseen: bool

    def __post_init__(self) -> None:
        if self.drop_unseen and not self.text:
            raise InvalidArgument("--drop-unseen needs a --reference, whose zeros it is about")

    def law(self, where: Source) -> Any:
        """The reference, None where there is none."""
        return parse_reference(self.text, where) if self.text else None

    def read(self, where: Source, *used: str) -> tuple[Data, Any]:
        """The rows of a source, and the reference."""
        data, law = where.read(*used), self.law(where)
        return (data.seen(law) if self.drop_unseen else data), law


def parse_reference(text: str, where: Source) -> Any:
    """The reference that ``text`` names."""
    if text.startswith(_UNSEEN):
        return _mask(text.removeprefix(_UNSEEN))
    name, level = text, 0
    if found := re.fullmatch(r"(.+\.json):(\d+)", text, re.IGNORECASE):
        name, level = found[1], int(found[2])
        if not level:
            raise InvalidArgument(f"--reference {text}: levels of a profile are counted from 1")
    path = Path(name)
    if not path.is_file():
        raise InvalidArgument(
            f"--reference {name}: there is no such file, and no band like {_UNSEEN}-90..-20"
        )
    if is_map_file(path):
        return read_map(path)
    if path.suffix.lower() == ".json":
        return read_fit(path, level)
    said = {key: value for key, value in where.said.items() if key not in _OF_ROWS}
    return Source((name,), said).read().directions


def _mask(text: str) -> Any:
    """A sky without bands of latitude, in degrees."""
    from steradian.references.mask import Mask

    bands = []
    for part in text.split(","):
        found = _BAND.fullmatch(part)
        if found is None:
            raise InvalidArgument(
                f"--reference {_UNSEEN}{text}: {part!r} is no band of latitudes; write two degrees "
                f"like {_UNSEEN}-90..-20"
            )
        bands.append((float(found[1]), float(found[2])))
    return Mask(bands=bands)


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
    from steradian.references.healpix import HealpixMap

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
    from steradian.fitting.maxent import MaxEntFit
    from steradian.fitting.solution import Status
    from steradian.hierarchies.registry import default_hierarchy
    from steradian.spaces import unit_sphere

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
