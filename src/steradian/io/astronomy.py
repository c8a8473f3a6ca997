"""Tables of astronomy, read by astropy: FITS, VOTable, ECSV, and its own `Table`."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np

from steradian.data.conventions import Unit
from steradian.errors import InvalidDirections, MissingExtra
from steradian.io.frames import Table, spread
from steradian.io.recognition import UNITS
from steradian.numerics.arrays import AnyArray
from steradian.text.messages import arguments


def astropy_table(data: bytes, kind: str, name: str, part: str | None) -> Table:
    """The table of a file, or that of several which is called ``part``."""
    try:
        from astropy.io import fits, votable
        from astropy.table import Table as OfAstropy
    except ImportError as error:
        raise MissingExtra(
            f"{name} is a table of astronomy ({kind}), which needs astropy: "
            "pip install 'steradian[astro]'"
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of standards that a file does not keep
            if kind == "ECSV":
                return table_of_astropy(OfAstropy.read(data.decode(), format="ascii.ecsv"))
            if kind == "VOTable":
                each = list(votable.parse(io.BytesIO(data), verify="ignore").iter_tables())
                tables = {t.name or t.ID or str(k): t for k, t in enumerate(each, 1)}
                return table_of_astropy(_one(tables, name, part).to_table())
            with fits.open(io.BytesIO(data)) as parts:
                held = {
                    hdu.name or str(k): hdu
                    for k, hdu in enumerate(parts)
                    if isinstance(hdu, fits.BinTableHDU | fits.TableHDU)
                }
                return table_of_astropy(OfAstropy.read(_one(held, name, part), format="fits"))
    except InvalidDirections:
        raise
    except Exception as error:  # whatever a damaged file does inside astropy
        raise InvalidDirections(f"{name} cannot be read as {kind}: {error}") from error


def _one(tables: dict[str, Any], name: str, part: str | None) -> Any:
    known = ", ".join(tables)
    if not tables:
        raise InvalidDirections(f"{name} holds no table; give one")
    if part is not None and part not in tables:
        raise InvalidDirections(f"{name} holds no table {part!r}, but {known}")
    if part is None and len(tables) > 1:
        raise InvalidDirections(
            "{name} holds the tables {known}; say which to read: {remedy}",
            name=name, known=known, remedy=arguments(table=next(iter(tables))),
        )  # fmt: skip
    return tables[part or next(iter(tables))]


def table_of_astropy(table: Any) -> Table:
    """The columns of astropy's table, with the units of angles; positions in their own frame."""
    data: dict[str, AnyArray] = {}
    units: dict[str, Unit] = {}
    for name in table.colnames:
        cells = table[name]
        if hasattr(cells, "spherical"):  # a column of SkyCoord
            names = cells.representation_component_names
            for role in (key for key, value in names.items() if value in ("lon", "lat")):
                data[f"{name}.{role}"] = np.asarray(getattr(cells, role).deg)
                units[f"{name}.{role}"] = "degrees"
            continue
        unit = str(getattr(cells, "unit", None) or "").lower().replace("hourangle", "hour")
        if unit in UNITS:
            units[name] = UNITS[unit]
        data[name] = _plain(cells)
    return Table(spread(data), units=units)


def _plain(cells: Any) -> AnyArray:
    """A column as an array; what is masked is missing."""
    values = np.asarray(getattr(cells, "value", cells))
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8")
    mask = np.broadcast_to(np.asarray(getattr(cells, "mask", False)), values.shape)
    if not mask.any():
        return values.astype(object) if values.dtype.kind in "US" else values
    if values.dtype.kind in "fiu":
        return np.where(mask, np.nan, values.astype(np.float64))
    found = values.astype(object)
    found[mask] = None
    return found
