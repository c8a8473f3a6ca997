"""What stands round a sample: references with peaks, damaged files of moments, blocks of streams.

Each is drawn like a sample, from one number, and must end in the right number, within the error
that is stated, or in a refusal in our words; a damaged file and a block of another form must be
refused.
"""

from __future__ import annotations

import json
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import steradian as sr
from fuzz.invariants import Check
from fuzz.outcomes import EPS
from fuzz.samples import Array, Rng, Sample, unit
from oracles_peaks import first_deficit, half_peaked
from steradian.errors import LevelError, SteradianError

ORACLE = 1e-10  # nats that the minimum of a dual by values alone is good to
MOST_ROWS = 400


def peaks(_: Sample, rng: Rng) -> Iterator[Check]:
    """D₁ relative to a law with a peak of any width, of rows on the peak and off it."""
    d = int(rng.integers(2, 4))
    kappa = float(10.0 ** rng.uniform(0.0, 9.0))
    centre = unit(rng.standard_normal((1, d)))[0]
    many, near = int(rng.integers(10, MOST_ROWS)), int(rng.integers(0, 60))
    on = unit(centre + rng.standard_normal((near, d)) / np.sqrt(kappa))
    x = np.concatenate([unit(rng.standard_normal((many, d))), on])
    density = half_peaked(kappa, centre)
    name = f"peak of kappa {kappa:.3g} in R^{d}, {near} of {many + near} rows on it"
    try:
        p = sr.profile(x, levels=1, reference=density)
    except LevelError:
        return
    told = p.numerics
    stated = float(told.quadrature[0] + told.moment_rounding[0]) + ORACLE
    off = abs(float(p.deficits[0]) - first_deficit(x.mean(axis=0), kappa, centre))
    if near == 0 and kappa > NARROW[d]:
        return  # what no node and no row meets cannot be known
    yield Check(
        "peak of a reference", 1, f"{name}: off {off:.1e}, stated {stated:.1e}", off / stated
    )


NARROW = {2: 1e6, 3: 1e4}  # concentrations that the nodes of all rules may miss


def damage(sample: Sample, rng: Rng) -> Iterator[Check]:
    """A file of moments that is changed anywhere is refused; of before, it contradicts nothing."""
    levels = 1 if sample.d > 12 else min(sample.levels, 2)
    data = sr.Directions(sample.x[:MOST_ROWS], _first(sample.weights))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.moments"
        sr.Moments.from_directions(data, sr.Harmonics(sample.d, levels)).save(path)
        content = path.read_bytes()
        kind = str(rng.choice(list(DAMAGES)))
        damaged = DAMAGES[kind](content, rng)
        if damaged == content:
            return
        path.write_bytes(damaged)
        try:
            loaded = sr.Moments.load(path)
        except SteradianError as error:
            if not str(error).strip():
                yield Check(f"{kind}: error without words", 0, type(error).__name__)
            return
        if kind in FORGED:
            yield from _sound(loaded, kind)
        else:
            yield Check(f"{kind}: read as other moments", 0, repr(loaded))


def _first(weights: Array | None) -> Array | None:
    return None if weights is None else weights[:MOST_ROWS]


def _sound(moments: sr.Moments, kind: str) -> Iterator[Check]:
    """Gaps of moments that a file contradicts nothing about are no smaller than their errors."""
    try:
        p = sr.profile(moments)
    except LevelError:
        return
    told = p.numerics
    stated = told.quadrature + told.moment_rounding + told.decrement**2 + 64.0 * EPS
    for level, gap in enumerate(p.gaps, 1):
        allowed = float(stated[: level + 1].sum()) * 4.0 + 1e-9
        if not gap >= -allowed:
            yield Check(f"{kind}: gap below zero", level, f"{gap:.2e}, stated {allowed:.1e}")


def _flipped(content: bytes, rng: Rng) -> bytes:
    out = bytearray(content)
    for bit in rng.integers(0, 8 * len(content), int(rng.integers(1, 4))):
        out[bit // 8] ^= 1 << int(bit % 8)
    return bytes(out)


def _truncated(content: bytes, rng: Rng) -> bytes:
    return content[: int(rng.integers(0, len(content)))]


def _lengthened(content: bytes, rng: Rng) -> bytes:
    return content + rng.bytes(int(rng.integers(1, 64)))


def _moved(content: bytes, rng: Rng) -> bytes:
    """Two stretches of eight bytes change places."""
    if len(content) < 64:
        return content
    out = bytearray(content)
    one, other = (8 * int(k) for k in rng.choice(len(content) // 8 - 1, 2, replace=False))
    out[one : one + 8], out[other : other + 8] = out[other : other + 8], out[one : one + 8]
    return bytes(out)


def _parts(content: bytes) -> tuple[dict[str, Any], bytes]:
    _, header, body = content.split(b"\n", 2)
    return json.loads(header), body


def _sealed(record: dict[str, Any], body: bytes) -> bytes:
    """A file with the checksum that it has to have."""
    rest = json.dumps(record).encode() + b"\n" + body
    return b"steradian-moments 2 %08x\n" % zlib.crc32(rest) + rest


def _swapped_fields(content: bytes, rng: Rng) -> bytes:
    """Two numbers of the header change places, and the checksum is made anew."""
    record, body = _parts(content)
    one, other = rng.choice(["n", "weight", "weight_sq", "exponent"], 2, replace=False)
    record[one], record[other] = record.get(other), record.get(one)
    return _sealed(record, body)


def _swapped_sums(content: bytes, rng: Rng) -> bytes:
    """Two of the arrays change names."""
    record, body = _parts(content)
    names = [name for name, _ in record["arrays"]]
    one, other = rng.choice(len(names), 2, replace=False)
    record["arrays"][one][0], record["arrays"][other][0] = names[other], names[one]
    return _sealed(record, body)


def _of_before(content: bytes, rng: Rng) -> bytes:
    """In the format of before, whose header no checksum covers, with a digit of it changed."""
    record, body = _parts(content)
    header = bytearray(json.dumps({**record, "crc32": zlib.crc32(body)}).encode())
    digits = [k for k, byte in enumerate(header) if chr(byte).isdigit()]
    header[int(rng.choice(digits))] = ord(str(int(rng.integers(0, 10))))
    return b"steradian-moments 1\n" + bytes(header) + b"\n" + body


DAMAGES: dict[str, Callable[[bytes, Rng], bytes]] = {
    "flipped bits": _flipped,
    "truncated": _truncated,
    "lengthened": _lengthened,
    "moved": _moved,
    "swapped fields": _swapped_fields,
    "swapped sums": _swapped_sums,
    "format of before": _of_before,
}
FORGED = {"swapped fields", "swapped sums", "format of before"}
"""Damages that a checksum does not tell: what is read must be moments of something."""


def blocks(_: Sample, rng: Rng) -> Iterator[Check]:
    """Blocks of one form add up, and one of another form is refused by its number."""
    import pandas as pd

    x = unit(rng.standard_normal((int(rng.integers(20, 200)), 3)))
    lon, lat = np.degrees(np.arctan2(x[:, 1], x[:, 0])), np.degrees(np.arcsin(x[:, 2]))
    table = pd.DataFrame({"lon": lon, "lat": lat})
    forms: dict[str, Any] = {
        "degrees": table,
        "radians": np.radians(table),
        "weighted": table.assign(weight=rng.random(len(x)) + 0.1),
        "other weights": table.assign(wt=rng.random(len(x)) + 0.1),
        "counted": table.assign(count=rng.integers(1, 5, len(x))),
        "vectors": pd.DataFrame(x, columns=["x", "y", "z"]),
        "rows": x,
        "pairs": (x, np.ones(len(x))),
        "directions": sr.Directions(x),
        "weighted directions": sr.Directions(x, rng.random(len(x)) + 0.1),
        "longer rows": unit(rng.standard_normal((len(x), 4))),
        "nothing": None,
        "text": "block",
    }
    refused = {"radians", "longer rows", "nothing", "text"}  # by themselves
    readable = [name for name in forms if name not in refused]
    first = str(rng.choice(readable))
    before, after = (int(k) for k in rng.integers(0, 3, 2))
    h = sr.Harmonics(3, 2)
    whole = sr.moments(iter([forms[first]] * (1 + before + after)), h)
    share = sr.moments(iter([forms[first]]), h)
    off = float(np.abs(whole.features - share.features).max())
    yield Check("blocks of one form", 0, f"{first}: off {off:.1e}", off / 1e-11)
    alike = next((one for one in ALIKE if first in one), frozenset({first}))
    idle = {"degrees"} if first in IDLE else set()
    other = str(rng.choice([name for name in forms if name not in {first, *alike, *idle}]))
    mixed = [forms[first]] * (1 + before) + [forms[other]] + [forms[first]] * after
    try:
        sr.moments(iter(mixed), h)
    except SteradianError as error:
        if f"block {2 + before}" not in str(error):
            yield Check("blocks: not by its number", 0, f"{first} then {other}: {error}")
        return
    yield Check("blocks: read as others", 0, f"{first} then {other}, block {2 + before}")


ALIKE = (frozenset({"rows", "directions"}), frozenset({"pairs", "weighted directions"}))
"""Forms that are one: rows without weights, and rows with them."""

IDLE = {"weighted", "other weights", "counted"}  # with a column that is read only where it is named

DOORS: dict[str, Callable[[Sample, Rng], Iterator[Check]]] = {
    "peaks": peaks,
    "damage": damage,
    "blocks": blocks,
}
