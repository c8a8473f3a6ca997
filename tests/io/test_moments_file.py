"""Files of moments: exact round trips, and hostile files that end in one sentence."""

from __future__ import annotations

import errno
import json
import os
import pickle
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steradian as sr
from conformance.skeleton import Mirrored
from conformance.test_shipped import HIERARCHIES
from steradian.hierarchies import Hierarchy
from steradian.io.moments_file import is_moments_file, read_moments

FIELDS = ("n", "weight", "weight_sq", "total", "total_sq", "mean", "scatter", "exponent")


def assert_equal(a: sr.Moments, b: sr.Moments) -> None:
    assert a.hierarchy == b.hierarchy
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def some(hierarchy: Hierarchy, weighted: bool = True) -> sr.Moments:
    rng = np.random.default_rng(5)
    x = hierarchy.space.uniform(40, rng)
    w = rng.gamma(1.0, size=40) if weighted else None
    rows = sr.Directions(x, w, space=hierarchy.space)
    return sr.Moments.from_directions(rows, hierarchy)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "site.moments"
    some(sr.Harmonics(3, 2)).save(path)
    return path


@pytest.mark.parametrize("hierarchy", HIERARCHIES, ids=repr)
def test_every_shipped_hierarchy_comes_back(hierarchy: Hierarchy, tmp_path: Path) -> None:
    path = tmp_path / "a.moments"
    whole = some(hierarchy)
    whole.save(path)
    if isinstance(hierarchy, sr.Custom):
        with pytest.raises(sr.InvalidArgument, match="holds functions"):
            sr.Moments.load(path)
        again = sr.Moments.load(path, hierarchy=hierarchy)
    else:
        again = sr.Moments.load(path)
        assert_equal(sr.Moments.load(path, hierarchy=hierarchy), whole)
    assert_equal(again, whole)
    assert (again + whole).n == 80


def test_a_hierarchy_from_outside(tmp_path: Path) -> None:
    some(Mirrored(3)).save(tmp_path / "a.moments")
    assert_equal(sr.Moments.load(tmp_path / "a.moments", hierarchy=Mirrored(3)), some(Mirrored(3)))
    with pytest.raises(sr.InvalidArgument, match="give the one they were made with"):
        sr.Moments.load(tmp_path / "a.moments", hierarchy=Mirrored(2))


def test_weights_of_any_scale(tmp_path: Path) -> None:
    x = np.eye(3)
    whole = sr.moments(x, sr.Harmonics(3, 1), weights=[1e-300, 2e-300, 3e-300])
    assert whole.exponent < 0
    whole.save(tmp_path / "a.moments")
    assert_equal(sr.Moments.load(tmp_path / "a.moments"), whole)


def test_the_format_is_the_one_documented(file: Path) -> None:
    """Read without the library, as docs/streams.md does."""
    first, header, body = file.read_bytes().split(b"\n", 2)
    assert first == b"steradian-moments 2 %08x" % zlib.crc32(header + b"\n" + body)
    record = json.loads(header)
    assert record["hierarchy"] == {"kind": "Harmonics", "d": 3, "levels": 2}
    numbers = struct.unpack(f"<{len(body) // 8}d", body)
    sizes = {name: int(np.prod(shape)) for name, shape in record["arrays"]}
    assert list(sizes) == ["total", "total_sq", "mean", "scatter"]
    assert sum(sizes.values()) == len(numbers)
    np.testing.assert_array_equal(numbers[: sizes["total"]], some(sr.Harmonics(3, 2)).total)


def test_the_suffix() -> None:
    assert is_moments_file("a.moments")
    assert is_moments_file(Path("a.moments"))
    assert not is_moments_file("a.parquet")
    assert not is_moments_file(3)


# --- writing ------------------------------------------------------------------------------


def test_what_was_there_stays_when_writing_fails(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(sr.InvalidArgument, match="no space left on device; make room there, or"):
        some(sr.Harmonics(2, 1)).save(file)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_files_are_readable_by_others(file: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.parametrize(("where", "words"), [
    ("no/such/a.moments", "make it first"),
    ("", "is a directory"),
    ("a\0b", "give the name of a file"),
    (None, "give the name of a file"),
])  # fmt: skip
def test_places_that_cannot_be_written(where: Any, words: str, tmp_path: Path) -> None:
    path: Any = where if where is None else f"{tmp_path}/{where}"
    with pytest.raises(sr.InvalidArgument, match=words):
        some(sr.Harmonics(2, 1)).save(path)


# --- hostile ------------------------------------------------------------------------------


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (3,)


FOREIGN = {
    "empty": b"",
    "text": b"x,y,z\n1,0,0\n",
    "a pickle": pickle.dumps(Bomb()),
    "an NPY array": b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
    "no newline": b"steradian-moments 2",
    "binary": bytes(range(256)) * 4,
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_foreign_files(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.moments").write_bytes(content)
    with pytest.raises(sr.InvalidArgument, match=r"^a\.moments is no file of moments; write one"):
        sr.Moments.load(tmp_path / "a.moments")


@pytest.mark.parametrize("version", ["3", "0", "1.0", "", "1 ", "2 12", "2 ABCDEF01", "x" * 40])
def test_unknown_versions(version: str, file: Path) -> None:
    rest = file.read_bytes().partition(b"\n")[2]
    file.write_bytes(f"steradian-moments {version}\n".encode() + rest)
    with pytest.raises(sr.InvalidArgument, match="versions 1 and 2 are known"):
        sr.Moments.load(file)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(sr.InvalidArgument, match=r"^no file .*; check the path$"):
        sr.Moments.load(tmp_path / "b.moments")


@settings(max_examples=60, deadline=None)
@given(share=st.floats(0.0, 1.0))
def test_every_truncation_is_told(share: float, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("cut") / "a.moments"
    some(sr.Harmonics(3, 2)).save(path)
    whole = path.read_bytes()
    cut = min(int(share * len(whole)), len(whole) - 1)
    path.write_bytes(whole[:cut])
    with pytest.raises(sr.InvalidArgument, match=r"truncated|no file of moments"):
        sr.Moments.load(path)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_flipped_bit_is_told(weighted: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.moments"
    some(sr.Harmonics(2, 1), weighted).save(path)
    content = path.read_bytes()
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(sr.InvalidArgument):
            sr.Moments.load(path)


@settings(max_examples=80, deadline=None)
@given(place=st.floats(0.0, 1.0, exclude_max=True), value=st.integers(1, 255))
def test_every_changed_byte_is_told(
    place: float, value: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("flip") / "a.moments"
    some(sr.Harmonics(3, 2)).save(path)
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= value
    path.write_bytes(content)
    with pytest.raises(sr.InvalidArgument):
        sr.Moments.load(path)


def as_version_1(content: bytes, crc32: int | None = None, **changes: Any) -> bytes:
    """The same file in the format of before, with other entries in its header."""
    _, header, body = content.split(b"\n", 2)
    record = json.loads(header) | {"crc32": zlib.crc32(body) if crc32 is None else crc32}
    return b"\n".join([b"steradian-moments 1", json.dumps({**record, **changes}).encode(), body])


@pytest.mark.parametrize("hierarchy", [sr.Harmonics(3, 2), sr.Axial(3, 1), sr.Harmonics(5, 2)])
def test_files_of_before_are_read(hierarchy: Hierarchy, tmp_path: Path) -> None:
    path, whole = tmp_path / "a.moments", some(hierarchy)
    whole.save(path)
    path.write_bytes(as_version_1(path.read_bytes()))
    assert_equal(sr.Moments.load(path), whole)


@pytest.mark.parametrize("hierarchy", [sr.Harmonics(3, 2), sr.Axial(3, 1), sr.Harmonics(5, 2)])
@pytest.mark.parametrize("share", [0.125, 0.5, 0.875, 1.001, 2.0, 16.0])
@pytest.mark.parametrize("name", ["weight", "weight_sq", "n"])
def test_headers_of_before_are_held_against_the_sums(
    name: str, share: float, hierarchy: Hierarchy, tmp_path: Path
) -> None:
    """What contradicts the sums is told: no weight but that of the rows, and Σw² ≥ (Σw)²/n."""
    path, whole = tmp_path / "a.moments", some(hierarchy)
    whole.save(path)
    record: dict[str, Any] = {"weight": whole.weight, "weight_sq": whole.weight_sq, "n": whole.n}
    value = record[name] * share
    record[name] = int(value) if name == "n" else value
    least, most = record["weight"] ** 2 / record["n"], record["weight"] ** 2
    path.write_bytes(as_version_1(path.read_bytes(), **record))
    if name == "weight" or not least <= record["weight_sq"] <= most:
        with pytest.raises(sr.InvalidArgument, match="contradict themselves"):
            sr.Moments.load(path)
    else:
        assert getattr(sr.Moments.load(path), name) == record[name]


@pytest.mark.parametrize(("name", "change"), [
    ("mean", lambda m: 0.5 * m),
    ("mean", lambda m: m / np.linalg.norm(m) * 1.2),
    ("scatter", lambda s: 1.1 * s),
    ("scatter", lambda s: s + 3.0 * np.diag([1.0, -1.0, 0.0]) * s[0, 0]),
    ("scatter", lambda s: s + np.triu(s, 1)),
    ("total", lambda t: 2.0 * t),
    ("total_sq", lambda t: 40.0 * t),
])  # fmt: skip
def test_sums_that_no_points_have(name: str, change: Any) -> None:
    record = some(sr.Harmonics(3, 2)).to_dict()
    record[name] = change(np.array(record[name])).tolist()
    with pytest.raises(sr.InvalidArgument, match="contradict themselves"):
        sr.Moments.from_dict(record)


def rewritten(file: Path, **changes: Any) -> Path:
    """The file with another header, and the body as it was."""
    _, header, body = file.read_bytes().split(b"\n", 2)
    record = {**json.loads(header), **changes}
    return checked(file, json.dumps(record).encode(), body)


def checked(file: Path, header: bytes, body: bytes) -> Path:
    """A file of this header and body, with the checksum that they have."""
    rest = header + b"\n" + body
    file.write_bytes(b"steradian-moments 2 %08x\n" % zlib.crc32(rest) + rest)
    return file


@pytest.mark.parametrize(("changes", "words"), [
    ({"n": -1}, "n is -1"),
    ({"n": 1e300}, "n is 1e"),
    ({"weight": float("nan")}, "give a finite number"),
    ({"weight": "a" * 10_000}, "give a finite number"),
    ({"weight_sq": 0.0}, "positive weight"),
    ({"exponent": 1.5}, "exponent is 1.5"),
    ({"hierarchy": {"kind": "os.system", "command": "false"}}, "cannot be read; known"),
    ({"hierarchy": {"kind": "Harmonics", "d": 3, "levels": 10**9}}, "at most 100"),
    ({"hierarchy": {"kind": "Harmonics", "d": 4, "levels": 2}}, "these are not moments of"),
    ({"hierarchy": {"kind": "Custom"}}, "holds functions"),
    ({"hierarchy": None}, "not a dictionary of a hierarchy"),
    ({"arrays": [["total", [10**15]]]}, "does not say which sums"),
    ({"arrays": [["total", [2**24, 2**24]]]}, "truncated"),
    ({"arrays": [["total", [-1]]]}, "does not say which sums"),
    ({"arrays": [["total", [True]]]}, "does not say which sums"),
    ({"arrays": "total"}, "does not say which sums"),
    ({"arrays": [["total", [60]]]}, "'mean' is missing"),
])  # fmt: skip
def test_headers_that_lie(changes: dict[str, Any], words: str, file: Path) -> None:
    with pytest.raises(sr.InvalidArgument, match=words) as caught:
        sr.Moments.load(rewritten(file, **changes))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("header", [
    b"[" * 100_000,
    b"{" + b'"a":{' * 50_000,
    b"[]",
    b"1",
    b'{"n": ' + b"9" * 10_000 + b"}",
    b'{"hierarchy": "\xff"}',
])  # fmt: skip
def test_headers_that_are_none(header: bytes, file: Path) -> None:
    body = file.read_bytes().split(b"\n", 2)[2]
    checked(file, header, body)
    with pytest.raises(sr.InvalidArgument, match="its header cannot be read; copy it again"):
        sr.Moments.load(file)


def test_more_than_it_says(file: Path) -> None:
    _, header, body = file.read_bytes().split(b"\n", 2)
    checked(file, header, body + b"x")
    with pytest.raises(sr.InvalidArgument, match="longer than it says"):
        read_moments(file)


def test_sums_that_are_not_finite(file: Path) -> None:
    _, header, body = file.read_bytes().split(b"\n", 2)
    checked(file, header, struct.pack("<d", float("inf")) + body[8:])
    with pytest.raises(sr.InvalidArgument, match="not finite"):
        sr.Moments.load(file)
