"""Which columns of a table are the directions: by name, and never when there are two answers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steradian.data.conventions import CONVENTIONS, Convention, Unit
from steradian.errors import InvalidDirections
from steradian.text.messages import Arguments, Joined, arguments

UNITS: Mapping[str, Unit] = {
    "deg": "degrees", "degs": "degrees", "degree": "degrees", "degrees": "degrees", "°": "degrees",
    "rad": "radians", "rads": "radians", "radian": "radians", "radians": "radians",
    "h": "hours", "hr": "hours", "hrs": "hours", "hour": "hours", "hours": "hours",
}  # fmt: skip
NO_UNIT = frozenset({"", "-", "--", "---", "none", "1", "n/a", "unitless", "dimensionless"})
OTHER_UNITS = frozenset({
    "arcmin", "arcsec", "mas", "uas", "mas/yr", "mag", "jy", "mjy", "pc", "kpc", "mpc", "au",
    "km", "m", "cm", "mm", "um", "nm", "ft", "s", "sec", "min", "ms", "d", "day", "days", "yr",
    "year", "years", "ma", "ka", "km/s", "m/s", "kn", "kg", "g", "a/m", "am2", "t", "mt", "nt", "k",
    "hz", "ghz", "ev", "kev", "gev", "tev", "eev", "%", "dex", "str", "string", "text", "int",
    "float", "h:m:s", "d:m:s", '"h:m:s"', '"d:m:s"', "hms", "dms",
})  # fmt: skip
_WITH_UNIT = re.compile(
    r"^(?P<base>.*?)(?:\s*[\[(]\s*(?P<a>[a-z°]+)\s*[\])]|[\s_.\-]+(?P<b>[a-z]+)|(?P<c>°))$"
)
_PARTS = re.compile(r"[\s_.\-:]+")
_KNOWN = frozenset(n for c in CONVENTIONS.values() for names in c.names for n in names)
_BESIDE = frozenset({  # what turns an angle of the plane into half a direction
    "zenith", "elevation", "altitude", "alt", "el", "tilt", "pitch", "rake", "hade", "depression",
})  # fmt: skip
_NO_DIRECTION = frozenset({  # beside a coordinate's name: of its error, or of its motion
    "error", "err", "sigma", "std", "stdev", "sd", "se", "unc", "uncertainty", "e", "pm",
})  # fmt: skip
_DECORATIONS = frozenset({  # around a coordinate's name, and no word on which angle it is
    "rhr", "true", "mag", "magnetic", "grid", "angle", "measured", "value",
})  # fmt: skip
_SPEAKS_OF_DIRECTION = frozenset({
    "dir", "dirs", "direction", "directions", "orientation", "orient", "bearing", "heading",
    "course", "azimuth", "azi", "az", "aspect", "facing",
})  # fmt: skip
_SPEAKS_OF_LINES = frozenset({"strike", "dip", "dipdir", "trend", "plunge", "angle"})
_LABELS = frozenset({"id", "no", "nr", "n", "count", "code", "type", "flag", "class", "kappa"})
_WORDS = re.compile(r"[A-Z]*[a-z]+|[A-Z]+|°")  # of a name, at its marks, digits and capitals
PERIODS = {
    "month": 12, "weekday": 7, "dayofweek": 7, "dow": 7, "dayofyear": 365.25, "doy": 365.25,
    "yday": 365.25, "minute": 60, "second": 60,
}  # fmt: skip
TIMES = frozenset({"time", "times", "hour", "hours", "clock", "timestamp", "datetime"})
EULER = (frozenset({"roll", "pitch", "yaw"}), frozenset({"phi1", "phi", "phi2"}))
_ANGLE_PARTS: Mapping[str, str] = {
    word: part
    for part, words in {
        "h": "h hr hour hours", "d": "d deg degs degree degrees", "m": "m min mins minutes",
        "s": "s sec secs seconds", "-": "- sign sgn", "largest": "max maximum",
    }.items()
    for word in words.split()
}  # fmt: skip
COUNTS = frozenset({"count", "counts", "n", "freq", "frequency", "frequencies"})
WEIGHTS = frozenset({"weight", "weights", "wt"})
_EDGES = (
    ("from", "to"), ("start", "end"), ("begin", "end"), ("lower", "upper"), ("low", "high"),
    ("min", "max"), ("left", "right"),
)  # fmt: skip
_FEWEST_NUMBERED = 3  # columns of one name with numbers that are vectors
_QUATERNION = 4
_MOST_SEARCHED = 2000  # columns of a table in which names with something before or after count
_MOST_SETS = 4  # sets of columns that a message lists
_MOST_NAMED = 12  # columns that a message lists


@dataclass(frozen=True, slots=True)
class Candidate:
    """Columns whose names say that they are a direction."""

    convention: Convention
    columns: tuple[str, ...]
    unit: Unit | None  # where the names say it

    @property
    def arguments(self) -> Arguments:
        """What reads them so."""
        return arguments(columns=list(self.columns), coords=self.convention.name)


@dataclass(frozen=True, slots=True)
class _Name:
    """A column's name taken apart: a name that is known, with what stands around it."""

    core: str
    around: tuple[str, str]
    unit: Unit | None


def _taken_apart(column: str, affixes: bool) -> list[_Name]:
    lower = column.strip().strip("_").lower()
    if not affixes:
        return [_Name(lower, ("", ""), None)] if lower in _KNOWN else []
    wholes: list[tuple[str, Unit | None]] = [(lower, None)]
    found = _WITH_UNIT.match(lower)
    if found and (unit := UNITS.get(found["a"] or found["b"] or found["c"])):
        wholes.append((found["base"].strip(), unit))
    names = [_Name(whole, ("", ""), unit) for whole, unit in wholes]
    for whole, unit in wholes:
        parts = [part for part in _PARTS.split(whole) if part]
        if len(parts) > 1:
            names.append(_Name("_".join(parts), ("", ""), unit))
        for k in range(1, len(parts)):
            names.append(_Name("_".join(parts[k:]), ("_".join(parts[:k]), ""), unit))
            names.append(_Name("_".join(parts[:k]), ("", "_".join(parts[k:])), unit))
    return names


def candidates(columns: Sequence[str], within: Sequence[Convention] = ()) -> list[Candidate]:
    """Every set of columns whose names say a convention, what is part of a larger set left out."""
    found = _by_names(columns, within)
    return _largest([*found, *_by_bare_names(columns, within, found)])


def _by_names(columns: Sequence[str], within: Sequence[Convention]) -> list[Candidate]:
    affixes = len(columns) <= _MOST_SEARCHED
    known: dict[str, dict[tuple[tuple[str, str], Unit | None], str]] = {}
    for column in columns:
        for name in _taken_apart(column, affixes):
            known.setdefault(name.core, {}).setdefault((name.around, name.unit), column)
    found = [
        Candidate(convention, tuple(known[role][around] for role in names), around[1])
        for convention in within or tuple(c for c in CONVENTIONS.values() if c.recognised)
        for names in convention.names
        for around in known.get(names[0], {})
        if all(around in known.get(role, {}) for role in names)
    ]
    return found + _hours_and_degrees(known, within)


def _by_bare_names(
    columns: Sequence[str], within: Sequence[Convention], known: Sequence[Candidate]
) -> list[Candidate]:
    """Sets of which each name has its own decoration, like Strike_RHR beside Dip_angle."""
    if len(columns) > _MOST_SEARCHED:
        return []
    taken = {name for one in known if len(one.columns) > 1 for name in one.columns}
    bare: dict[str, list[str]] = {}
    for column in columns:
        if column not in taken:
            bare.setdefault(_bare(column), []).append(column)
    return [
        Candidate(one.convention, names, one.unit or _said_degrees(names))
        for one in _by_names(list(bare), within)
        if len(one.columns) > 1 and one.convention.angular
        for names in itertools.product(*(bare[name] for name in one.columns))
    ]


def _bare(column: str) -> str:
    """A name without what decorates it: degrees, the right-hand rule, true or magnetic north."""
    parts = [part for part in re.split(r"[\s_.\-:()\[\]]+", column.strip().lower()) if part]
    while len(parts) > 1 and (parts[-1] in _DECORATIONS or UNITS.get(parts[-1]) == "degrees"):
        parts.pop()
    while len(parts) > 1 and parts[0] in _DECORATIONS:
        parts.pop(0)
    return "_".join(parts)


def _said_degrees(names: Sequence[str]) -> Unit | None:
    said = any(UNITS.get(word) == "degrees" for name in names for word in _words(name))
    return "degrees" if said else None


def _words(column: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(column)]


def _hours_and_degrees(
    known: Mapping[str, Mapping[tuple[tuple[str, str], Unit | None], str]],
    within: Sequence[Convention],
) -> list[Candidate]:
    """Right ascension in hours beside a declination in degrees, told by their names."""
    convention = CONVENTIONS["radec"]
    if within and convention not in within:
        return []
    return [
        Candidate(convention, (column, known[names[1]][beside]), "hours")
        for names in convention.names
        for (around, hours), column in known.get(names[0], {}).items()
        if hours == "hours"
        for beside in _in_degrees(around)
        if beside in known.get(names[1], {})
    ]


def _in_degrees(around: tuple[str, str]) -> list[tuple[tuple[str, str], Unit | None]]:
    """What may stand around a name that is in degrees; Dec_d beside RA_h says so by its letter."""
    return [(around, "degrees"), (around, None), ((around[0], "d"), None)]


def _largest(found: Sequence[Candidate]) -> list[Candidate]:
    kept: list[Candidate] = []
    for one in found:
        mine = set(one.columns)
        covered = any(mine < set(other.columns) for other in found)
        again = any(mine == set(other.columns) for other in kept)
        if not covered and not again:
            kept.append(one)
    return kept


def recognised(
    columns: Sequence[str], convention: Convention | None, angles: Sequence[str] = ()
) -> Candidate | None:
    """The one set of columns that names a direction, None where there is none.

    ``angles`` are the columns whose cells may be angles: one that is recognised does not win
    over one of them whose name speaks of a direction too.

    Raises
    ------
    InvalidDirections
        There are several, or there is a column beside them that changes what they mean.
    """
    found = candidates(columns, () if convention is None else (convention,))
    if len(found) > 1:
        found = [one for one in found if not _is_beside(one)] or found
    if not found:
        return None
    if convention is None and len(found) == len(found[0].columns) == 1:
        _refuse_half(found[0], columns)
    found = _in_order(columns, [*found, *_rivals(found, angles, stated=convention is not None)])
    if len(found) > 1:
        raise InvalidDirections(
            "{count} sets of columns could be the directions; say which: {remedy}{more}",
            count=len(found), remedy=Joined(tuple(one.arguments for one in found[:_MOST_SETS])),
            more=" or others" if len(found) > _MOST_SETS else "",
        )  # fmt: skip
    return found[0]


def _rivals(found: Sequence[Candidate], angles: Sequence[str], *, stated: bool) -> list[Candidate]:
    """Columns of unknown names that speak of a direction, beside what may be another matter.

    That is a single angle, of the wind or the sun perhaps, or the places of observations.
    """
    single = any(len(one.columns) == 1 and one.convention.frame != "clock" for one in found)
    places = not stated and any(one.convention.frame == "geographic" for one in found)
    if not single and not places:
        return []
    taken = {name for one in found for name in one.columns}
    free = [name for name in angles if name not in taken]
    return [
        one
        for one in directions_by_word(free, lines=single and not stated)
        if single or _words(one.columns[0])[-1] in _SPEAKS_OF_DIRECTION
    ]


def directions_by_word(columns: Sequence[str], *, lines: bool = True) -> list[Candidate]:
    """Columns with a word of direction in their names, as the azimuths they may be."""
    wanted = _SPEAKS_OF_DIRECTION | (_SPEAKS_OF_LINES if lines else frozenset())
    no = _NO_DIRECTION | _LABELS
    return [
        Candidate(CONVENTIONS["azimuth"], (column,), None)
        for column in columns
        if (words := set(_words(column))) & wanted and not words & no
    ]


def _in_order(columns: Sequence[str], found: list[Candidate]) -> list[Candidate]:
    """Single columns as they stand in the table; sets of several before them, as they were."""
    place = {column: k for k, column in enumerate(columns)}
    return sorted(found, key=lambda one: -1 if len(one.columns) > 1 else place[one.columns[0]])


def _is_beside(one: Candidate) -> bool:
    """Whether columns are errors or motions of coordinates rather than coordinates."""
    return all(_NO_DIRECTION.intersection(_PARTS.split(name.lower())) for name in one.columns)


def numbered(columns: Sequence[str]) -> tuple[str, ...]:
    """Columns of one name with numbers that follow each other, as vectors are written.

    Raises
    ------
    InvalidDirections
        There are two such sets, or four that may be quaternions.
    """
    stems: dict[str, list[tuple[int, str]]] = {}
    for column in columns:
        stem = column.rstrip("0123456789")
        if len(stem) < len(column):
            stems.setdefault(stem, []).append((int(column[len(stem) :]), column))
    runs = [
        tuple(name for _, name in run)
        for stem, run in stems.items()
        if _follows(run) and len(run) >= (2 if stem.endswith(".") else _FEWEST_NUMBERED)
    ]
    if len(runs) > 1:
        which = tuple(arguments(columns=[vector(run[0])]) for run in runs[:_MOST_SETS])
        raise InvalidDirections(
            "{count} sets of columns could be the directions; say which: {remedy}",
            count=len(runs), remedy=Joined(which),
        )  # fmt: skip
    if not runs:
        return ()
    if len(runs[0]) == _QUATERNION and runs[0][0].lower().startswith("q"):
        raise InvalidDirections(
            "columns {names} may be quaternions; name them in the order x, y, z, w, scalar last "
            "({columns}), with {quaternions}, or say {vectors} if they are vectors",
            names=", ".join(runs[0]), columns=arguments(columns=...),
            quaternions=arguments(coords="quaternions"),
            vectors=arguments(columns=list(runs[0]), coords="xyz"),
        )  # fmt: skip
    return runs[0]


def vector(column: str) -> str:
    """The name that stands for all columns of a numbered set."""
    return column.rstrip("0123456789").removesuffix(".")


def _follows(run: Sequence[tuple[int, str]]) -> bool:
    numbers = [number for number, _ in run]
    whole = list(range(numbers[0], numbers[0] + len(numbers)))
    return numbers == whole and numbers[0] <= 1


def _refuse_half(one: Candidate, columns: Sequence[str]) -> None:
    """Refuse a single angle beside a column that may be the other half of a direction."""
    halves = _BESIDE | {
        name
        for convention in CONVENTIONS.values()
        for names in convention.names
        if len(names) == 2 and convention.angular
        for name in names
    }
    around = {name.around for name in _taken_apart(one.columns[0], True) if name.core in _KNOWN}
    beside = [
        column
        for column in columns
        if column not in one.columns
        and any(
            name.core in halves and (name.around in around or name.around == ("", ""))
            for name in _taken_apart(column, len(columns) <= _MOST_SEARCHED)
        )
    ]
    if beside:
        raise InvalidDirections(
            "column {name!r} alone would be a direction of the plane, and there is {beside!r} "
            "beside it; say which columns ({columns}) and convention ({coords}) to use",
            name=one.columns[0], beside=beside[0], columns=arguments(columns=...),
            coords=arguments(coords=...),
        )  # fmt: skip


def edges(columns: Sequence[str]) -> tuple[str, str] | None:
    """Columns whose names are those of edges of bins: from and to, azimuth_min and _max."""
    if len(columns) > _MOST_SEARCHED:
        return None
    lower = {name.strip().lower(): name for name in columns}
    for begin, end in _EDGES:
        for name, column in lower.items():
            if name == begin or name.endswith(("_" + begin, " " + begin)):
                other = lower.get(name[: len(name) - len(begin)] + end)
                if other is not None:
                    return column, other
    return None


def within_name(column: str) -> tuple[Convention | None, Unit | None]:
    """The convention of the circle that a name has in it, like azimuth_min, and its unit."""
    for name in _taken_apart(column, True):
        for convention in CONVENTIONS.values():
            if len(convention.roles) == 1 and (name.core,) in convention.names:
                return convention, name.unit
    return None, None


def named_convention(
    columns: Sequence[str], stated: Convention | None, *, strict: bool = True
) -> Candidate | None:
    """The convention that the names of chosen columns say.

    Columns that are turned round are refused, unless their names have no say.
    """
    wanted = tuple(columns)
    sets = [one for one in candidates(columns) if set(one.columns) == set(wanted)]
    if stated is not None:
        sets = [one for one in candidates(columns, (stated,)) if set(one.columns) == set(wanted)]
    for one in sets:
        if one.columns == wanted:
            return one
    if strict and sets and sets[0].convention.angular:
        raise InvalidDirections(
            f"columns {', '.join(wanted)} are in the wrong order; give {', '.join(sets[0].columns)}"
        )
    return None


def listed(columns: Sequence[str]) -> str:
    """Names of columns for a message."""
    some = [name if len(name) <= 40 else name[:37] + "..." for name in columns[:_MOST_NAMED]]
    rest = len(columns) - _MOST_NAMED
    return ", ".join(some) + (f" and {rest} more" if rest > 0 else "")


# --- angles in parts, like RA_h, RA_m, RA_s --------------------------------------------------

_ANGLES = sorted(
    {
        name
        for each in CONVENTIONS.values()
        if each.angular and each.frame != "clock"
        for names in each.names
        for name in names
    }
)
_SPLIT = re.compile(
    rf"_?(?P<angle>{'|'.join(_ANGLES)})[\s_.]*(?P<part>{'|'.join(_ANGLE_PARTS)})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SplitAngle:
    """Columns that are one angle together."""

    angle: str  # as the names begin, in lower case
    columns: tuple[str, ...]
    hours: bool

    @property
    def joined(self) -> str:
        """How to write it in one column, in words."""
        return f"{'05h34m31.9s' if self.hours else '-00d00m36s'} in {self.angle!r}"


def split_angles(columns: Sequence[str]) -> list[SplitAngle]:
    """Angles in parts, like RA_h, RA_m, RA_s or lat_deg, lat_min."""
    angles: dict[str, dict[str, str]] = {}
    for column in columns:
        if (found := _SPLIT.fullmatch(column.strip())) is not None:
            parts = angles.setdefault(found["angle"].lower(), {})
            parts[_ANGLE_PARTS[found["part"].lower()]] = column
    return [
        SplitAngle(name, tuple(parts[each] for each in "-hdms" if each in parts), "h" in parts)
        for name, parts in angles.items()
        if "m" in parts and ("h" in parts or "d" in parts) and "largest" not in parts
    ]


def refuse_split(angles: Sequence[SplitAngle]) -> None:
    """Refuse angles in parts, with how to join them."""
    named = " and ".join(", ".join(each.columns) for each in angles)
    joined = " and ".join(each.joined for each in angles)
    raise InvalidDirections(
        f"columns {named} are the parts of {'one angle' if len(angles) == 1 else 'angles'}; join "
        f"them in one column for each, as text like {joined}, a sign before the whole"
    )
