"""Files of weights that are made to do harm, and names of arrays that are no names."""

from __future__ import annotations

import json
from io import BytesIO

import numpy

NASTY = ('}; run "touch x"; y = {', "\\", "a\nb", "\x1b[2J\x07\r\u202e", "λ\x85", "\ud800")
"""Names of arrays that say something to Macaulay2, or to a terminal."""


def header(shape: str, kind: str = "'<f8'", version: int = 1) -> bytes:
    """The header of a file .npy that says this, and a hundred bytes."""
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + bytes(100)


def eight_bits(kind: str) -> bytes:
    """A file of safetensors with the numbers K, Q, V of a type that NumPy does not have."""
    parts = {
        x: {"dtype": kind, "shape": [4, 4], "data_offsets": [16 * i, 16 * i + 16]}
        for i, x in enumerate("KQV")
    }
    if kind == "F4":
        parts = {x: part | {"shape": [4, 8]} for x, part in parts.items()}
    text = json.dumps(parts).encode()
    return len(text).to_bytes(8, "little") + text + bytes(48)


def member(place: int, value: int) -> bytes:
    """A file .npz with one byte changed in both headers of its member, which begins 2 bytes later
    in the second.
    """
    file = BytesIO()
    numpy.savez(file, K=numpy.eye(3))
    data = bytearray(file.getvalue())
    data[data.find(b"PK\x03\x04") + place] = data[data.find(b"PK\x01\x02") + place + 2] = value
    return bytes(data)


HOSTILE: dict[str, tuple[bytes, str]] = {
    "negative.npy": (header("(-1, 3)"), r"its shape is \(-1, 3\), which no array has"),
    "truth.npy": (header("(True, 3)"), r"its shape is \(True, 3\), which no array has"),
    "wide.npy": (header("(3, 1)", "'|V1000000000'"), "holds void"),
    "version.npy": (header("(3, 3)", version=9), "the version 9; versions 1 to 3 are read"),
    "dimensions.npy": (header(f"({'1,' * 65})"), "65 dimensions; at most 32"),
    "long.npy": (b"\x93NUMPY\x02\0\xff\xff\xff\xff", "header has 4294967295 bytes"),
    "brackets.npy": (header("(" * 4000), "header"),
    "signs.npy": (header("-" * 9000 + "1"), "header"),
    "short.npy": (header("(9, 3)"), "cannot be read"),
    "encrypted.npz": (member(6, 1), "encrypted"),
    "compression.npz": (member(8, 77), "compression"),
    **{
        f"{kind}.safetensors": (eight_bits(kind), f"holds {kind}")
        for kind in ("F8_E4M3", "F8_E5M2", "F4")
    },
}
"""Files by their names, and the pattern of what is said of them."""
