"""Containers: what the reader refuses, one fault each, with words that name it."""

from __future__ import annotations

import hashlib
import io
import json
import re
import struct
import zipfile

import numpy as np
import pytest

from costboost.errors import ModelFileError
from costboost.files import arrays, container, load, save
from costboost.files.container import FORMAT, Limits, pack, unpack
from files.models import fitted
from files.mutations import rewritten_manifest, run

MEMBERS = {"state.json": b'{"a": 1}', "arrays/0.npy": bytes(range(256)) * 9}
GOOD = pack({"class": "x"}, MEMBERS)


def zipped(entries, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


def declared(entries, table=None):
    """A container of any entries, whose manifest declares them rightly."""
    table = table or {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in entries
    }
    manifest = {"kind": container.KIND, "format": FORMAT, "members": table}
    return zipped([("manifest.json", json.dumps(manifest)), *entries])


def test_members_come_back():
    manifest, members = unpack(GOOD)
    assert members == MEMBERS
    assert manifest["class"] == "x" and manifest["format"] == FORMAT


def test_the_same_members_give_the_same_bytes():
    assert pack({"class": "x"}, dict(reversed(MEMBERS.items()))) == GOOD


def entries_overlapping():
    """Two names for the same bytes, as in the bombs that expand quadratically."""
    data = bytearray(declared([("a/0.txt", b"x" * 500), ("b/0.txt", b"x" * 500)]))
    places = [m.start() for m in re.finditer(b"PK\x01\x02", bytes(data))]
    data[places[2] + 42 : places[2] + 46] = data[places[1] + 42 : places[1] + 46]
    return bytes(data)


A = ("a/0.txt", b"hello")
BAD = {
    "nothing": (b"", "not a zip"),
    "text": (b"model = 1\n" * 100, "not a zip"),
    "half": (GOOD[: len(GOOD) // 2], "cut off"),
    "a byte more": (GOOD + b"\x00", "behind its end"),
    "a prefix": (b"PK" + GOOD, "does not lie"),
    "no manifest": (zipped([A]), "no manifest.json"),
    "another zip": (zipped([("manifest.json", "{}")]), "does not say so"),
    "manifest a list": (zipped([("manifest.json", "[1]")]), "does not say so"),
    "manifest not JSON": (zipped([("manifest.json", "{'a': 1}")]), "not valid JSON"),
    "manifest with NaN": (zipped([("manifest.json", '{"a": NaN}')]), "not valid JSON"),
    "a key twice": (zipped([("manifest.json", '{"a": 1, "a": 2}')]), "twice"),
    "deep JSON": (zipped([("manifest.json", "[" * 10**5)]), "not valid JSON"),
    "a newer format": (rewritten_manifest(GOOD, "format", FORMAT + 1), f"format {FORMAT + 1}"),
    "format 0": (rewritten_manifest(GOOD, "format", 0), "1 or more"),
    "format true": (rewritten_manifest(GOOD, "format", True), "1 or more"),
    "no table": (rewritten_manifest(GOOD, "members", []), "no table"),
    "a bad table": (rewritten_manifest(GOOD, "members", {"a": 3}), "must declare"),
    "a member missing": (declared([A], {"a/0.txt": {"bytes": 5, "sha256": ""}, **{
        "b.txt": {"bytes": 0, "sha256": ""}}}), "lacks b.txt"),
    "a member too many": (declared([A], {"state.json": {"bytes": 5, "sha256": ""}}), "lacks"),
    "unexpected": (rewritten_manifest(declared([A]), "members", {}), "unexpected member a/0.txt"),
    "a wrong size": (declared([A], {"a/0.txt": {"bytes": 4, "sha256": ""}}), "declares 4"),
    "a wrong hash": (declared([A], {"a/0.txt": {"bytes": 5, "sha256": "0"}}), "SHA-256"),
    "an absolute path": (declared([("/etc/passwd.txt", b"")]), "not allowed"),
    "a parent path": (declared([("a/../../b.txt", b"")]), "not allowed"),
    "a backslash": (declared([("a\\b.txt", b"")]), "not allowed"),
    "a folder": (declared([("a/", b"")]), "not allowed"),
    "unknown packing": (zipped([("manifest.json", "{}")], zipfile.ZIP_BZIP2), "packed in a way"),
    "a bomb": (declared([("a/0.txt", bytes(2**22))]), "would grow"),
    "overlapping": (entries_overlapping(), "Member b/0.txt|overlap"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_bad_containers_are_one_kind_of_error(case, tmp_path):
    data, words = BAD[case]
    with pytest.raises(ModelFileError, match=words):
        unpack(data)
    path = tmp_path / "bad.costboost"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=r"bad\.costboost: .*"):
        load(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice():
    with pytest.raises(ModelFileError, match="occurs 2 times"):
        unpack(declared([A, A]))


def test_limits_hold():
    with pytest.raises(ModelFileError, match="limit is 100"):
        unpack(GOOD, Limits(total=100))
    with pytest.raises(ModelFileError, match="at most 0"):
        unpack(GOOD, Limits(members=0))
    with pytest.raises(ModelFileError, match=r"manifest\.json has"):
        unpack(GOOD, Limits(manifest=10))


def test_a_large_array_of_zeros_is_no_bomb():
    members = {"arrays/0.npy": arrays.array_to_npy(np.zeros(10**6))}
    assert unpack(pack({}, members))[1] == members


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
    with pytest.raises((ModelFileError, IsADirectoryError)):
        load(tmp_path)


def npy(descr, shape, data, fortran=False):
    header = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape!r}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


ARRAYS = {
    "pickled objects": (npy("|O", (1,), b"\x80\x04N."), "type"),
    "a huge shape": (npy("<f8", (10**12,), b""), "needs 8000000000000 bytes"),
    "a shape that overflows": (npy("<f8", (2**39, 2**39), b""), "needs"),
    "a negative shape": (npy("<f8", (-1,), b""), "no array can have"),
    "a field type": (npy([("a", "<f8")], (1,), bytes(8)), "type"),
    "Fortran order": (npy("<f8", (1, 1), bytes(8), True), "Fortran"),
    "no header": (b"\x93NUMPY", "numpy's format"),
    "code for a header": (
        b"\x93NUMPY\x01\x00\x10\x00__import__('os')",
        "numpy's format",
    ),
    "strange booleans": (npy("|b1", (1,), b"\x07"), "neither 0 nor 1"),
    "strange text": (npy("<U1", (1,), b"\xff\xff\xff\x7f"), "do not exist"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_bad_arrays(case):
    data, words = ARRAYS[case]
    with pytest.raises(ModelFileError, match=words):
        arrays.array_from_npy(data, "Array")


def test_numpy_reads_our_arrays(tmp_path):
    model, _ = fitted("warm start")
    path = save(model, tmp_path / "m.costboost")
    with np.load(path, allow_pickle=False) as members:
        assert any(name.startswith("arrays/") for name in members.files) == bool(
            [name for name in container.read_manifest(path)["members"] if name.startswith("arr")]
        )


def test_mutated_files_are_refused_or_equal():
    """A sample; `python -m files.mutations 5000` runs them all."""
    outcomes, failures = run(240, start=7_000_000)
    assert not failures
    assert sum(outcomes.values()) == 240
