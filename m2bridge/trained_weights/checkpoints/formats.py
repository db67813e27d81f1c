"""The arrays of one file: formats of NumPy, safetensors, PyTorch and JSON.

Nothing is unpickled: arrays of objects are refused, and PyTorch reads by ``weights_only=True``. A
``Tensor`` has a name, a shape, a type, and a function ``read`` that returns its entries, so that a
file is described without its entries being read.
"""

from __future__ import annotations

import io
import json
import tokenize
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy

from m2bridge.convert import (
    MAX_ARRAY_DIMENSIONS,
    MAX_ARRAYS_JSON_BYTES,
    MAX_NPY_HEADER_BYTES,
    MAX_NUMBER_DIGITS,
)
from m2bridge.convert.bounded_io import read_json, read_text
from m2bridge.errors import ConversionError
from m2bridge.limits import library
from m2bridge.reading import openable, opened
from m2bridge.trained_weights.checkpoints.arrays import Tensor, itself, tensor, torch_kind


def _npy(path: Path) -> Iterator[Tensor]:
    """Yield the one array of a file .npy, by its header, with the name of the file without .npy;
    its entries are read later. ConversionError if the header is not one of NumPy.
    """
    with open(opened(path), "rb") as stream:
        header = _read_header(stream)
        whole = stream.tell() + prod(header.shape) * header.dtype.itemsize
    size = path.stat().st_size
    if size < whole and header.dtype.kind in _OF_NUMBERS:
        raise ConversionError(_incomplete(size, str(whole)))
    read = _reader_of_numbers(path.stem, header.dtype, partial(_mapped, path))
    yield Tensor(path.stem, header.shape, header.dtype.name, read)


def _mapped(path: Path) -> Any:
    """Return the array of a file .npy, mapped into memory: only those of its entries are read from
    the file that are used.
    """
    with openable(path) as name:
        return numpy.load(name, mmap_mode="r", allow_pickle=False)


def _npz(path: Path) -> Iterator[Tensor]:
    """Yield the arrays of a file .npz, a ZIP archive of files .npy, by the headers of these; their
    entries are read later. ConversionError if a header is not one of NumPy.
    """
    _check_is_whole_archive(path)
    with open(opened(path), "rb") as file, zipfile.ZipFile(file) as archive:
        for member in archive.namelist():
            with archive.open(member) as stream:
                header = _read_header(stream)
            name = member.removesuffix(".npy")
            read = _reader_of_numbers(name, header.dtype, partial(_member, path, name))
            yield Tensor(name, header.shape, header.dtype.name, read)


def _check_is_whole_archive(path: Path) -> None:
    """Check that a file that begins as a ZIP archive does also ends as one, with the table of its
    members; ConversionError if not.
    """
    with open(opened(path), "rb") as file:
        begin = file.read(2)
        if begin == b"PK" and not zipfile.is_zipfile(file):
            raise ConversionError(
                "the download is incomplete: the archive has no table of its members at its end"
            )


def _member(path: Path, name: str) -> Any:
    """Return the entries of the array of this name in a file .npz."""
    with open(opened(path), "rb") as file, numpy.load(file, allow_pickle=False) as archive:
        return archive[name]


_OF_NUMBERS = "biufc"
"""The kinds of types of NumPy of Booleans, integers, floats and complex numbers."""


def _reader_of_numbers(name: str, dtype: Any, read: Callable[[], Any]) -> Callable[[], Any]:
    """Return the function ``read`` for an array of numbers; for an array of another type, as texts,
    a function that raises ConversionError, so that it is refused only where it is needed.

    Booleans and complex numbers are refused when they are read, too, but by their entries.
    """
    return read if dtype.kind in _OF_NUMBERS else partial(_refuse, name, dtype.name)


def _refuse(name: str, kind: str) -> Any:
    """Raise ConversionError about an array of this ``kind``, a type that is not read. It is
    ``read`` of the tensor of such an array, and so raises only if its entries are needed.
    """
    kinds = "float16, bfloat16, float32, float64 and integers are read"
    advice = "; convert the model to bfloat16, with its scales" if kind.startswith("F8") else ""
    raise ConversionError(f"'{name:.60}' holds {kind}; {kinds}{advice}")


class _Header(NamedTuple):
    """What the header of a file .npy says: the shape, and the type of NumPy, of the array."""

    shape: tuple[int, ...]
    dtype: Any


def _read_header(stream: Any) -> _Header:
    """Return the shape and the type of an array by the header of a file .npy, which is read from
    the binary ``stream``; the entries behind it need not be there.

    Raises
    ------
    ConversionError
        If it is not a header, or no array can have its shape or type.
    """
    # Six bytes that say that it is such a file, then the two numbers of the version.
    start = stream.read(8)
    if start[:6] != b"\x93NUMPY":
        raise ConversionError("it is not an array of NumPy")
    version = start[6]
    if version not in (1, 2, 3):
        raise ConversionError(f"its format has the version {version}; versions 1 to 3 are read")
    # Next is the length of the header, in 2 bytes, or in 4 from version 2 on.
    size = stream.read(2 if version == 1 else 4)
    length = int.from_bytes(size, "little")
    if length > MAX_NPY_HEADER_BYTES:
        raise ConversionError(
            f"its header has {length} bytes; at most {MAX_NPY_HEADER_BYTES} are read"
        )
    # The function of NumPy that parses the header reads its length, too.
    header = _parsed_header(size + stream.read(length), version)
    _check_header(header)
    return header


def _parsed_header(content: bytes, version: int) -> _Header:
    """Return the header that ``content`` is, its length in bytes and then its text, in a version of
    the format, 1, 2 or 3; ConversionError if it is not a header.
    """
    read = numpy.lib.format.read_array_header_1_0
    # Version 3 differs from 2 only in that the text is UTF-8.
    if version > 1:
        read = numpy.lib.format.read_array_header_2_0
    try:
        shape, _is_by_columns, dtype = read(io.BytesIO(content))
    except (SyntaxError, tokenize.TokenError, RecursionError, MemoryError, TypeError):
        # The header is a Python expression: what its parser says of other text, or of deep
        # brackets.
        raise ConversionError("its header is not one of NumPy") from None
    return _Header(shape, dtype)


def _check_header(header: _Header) -> None:
    """Check that arrays can have the shape and the type of a header; ConversionError if not, if the
    entries are Python objects, and if there are more than :data:`MAX_ARRAY_DIMENSIONS` indices.
    """
    shape = header.shape
    if header.dtype.hasobject:
        raise ConversionError("it holds Python objects, which are never unpickled")
    if len(shape) > MAX_ARRAY_DIMENSIONS:
        raise ConversionError(
            f"it has {len(shape)} dimensions; at most {MAX_ARRAY_DIMENSIONS} are read"
        )
    if any(type(number) is not int or number < 0 for number in shape):
        raise ConversionError(f"its shape is {shape!s:.60}, which no array has")


_READ_OF_SAFETENSORS = {"F16", "BF16", "F32", "F64"}
_READ_OF_SAFETENSORS |= {"I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64"}
"""The types that NumPy has, with ml_dtypes; not the floating-point types of 8, 6 and 4 bits."""


def _safetensors(path: Path) -> Iterator[Tensor]:
    """Yield the arrays of a file .safetensors, by its header; entries are read later."""
    import ml_dtypes  # noqa: F401  (NumPy knows bfloat16 then)
    import safetensors

    try:
        with openable(path) as place, safetensors.safe_open(place, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118  (no mapping)
                part = file.get_slice(name)
                kind = part.get_dtype()
                # Other types are refused only where their array is needed.
                read = partial(_refuse, name, kind)
                if kind in _READ_OF_SAFETENSORS:
                    # F16 is called float16, and BF16 bfloat16.
                    kind = kind.replace("BF", "bfloat").replace("F", "float")
                    read = partial(_entries_in_safetensors, path, name)
                yield Tensor(name, tuple(part.get_shape()), kind, read)
    except safetensors.SafetensorError as reason:
        raise ConversionError(_what_is_missing(path) or str(reason)) from None


def _what_is_missing(path: Path) -> str:
    """Return a clause on how many bytes are missing at the end of a file .safetensors, which begins
    with the length of its header and the header, by which its arrays end; empty if none are.
    """
    size = path.stat().st_size
    with open(opened(path), "rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        header = stream.read(min(length, MAX_SAFETENSORS_HEADER_BYTES))
    # Other files begin with other bytes.
    if size > 8 and header[:1] != b"{":
        return ""
    if length <= MAX_SAFETENSORS_HEADER_BYTES and size < 8 + length:
        return _incomplete(size, f"{8 + length} of its header alone")
    try:
        parts = json.loads(header)
        ends = [part["data_offsets"][1] for name, part in parts.items() if name != "__metadata__"]
        whole = 8 + length + max(ends, default=0)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return ""
    return _incomplete(size, str(whole)) if size < whole else ""


def _incomplete(size: int, whole: str) -> str:
    """Return the message about a file of ``size`` bytes that should have more of them."""
    return f"the download is incomplete: the file has {size} bytes, and should have {whole}"


MAX_SAFETENSORS_HEADER_BYTES = 100_000_000
"""The largest header of a file .safetensors, by its format."""


def _entries_in_safetensors(path: Path, name: str) -> Any:
    """Return the entries of the array of this name in a file .safetensors."""
    import safetensors

    with openable(path) as place, safetensors.safe_open(place, framework="numpy") as file:
        return file.get_tensor(name)


def _pytorch(path: Path) -> Iterator[Tensor]:
    """Yield the tensors of a state dict of PyTorch, which is all of a file, or stands with other
    things in a checkpoint of training; numbers and texts are left out.

    Raises
    ------
    ConversionError
        If it is no such file, or holds something else.
    MethodUnavailableError
        If PyTorch is missing.
    """
    content = _weights_first(_unpickled_tensors(path))
    if not isinstance(content, dict):
        raise ConversionError(f"it holds a {type(content).__name__} and no state dict")
    for name, value in flattened(content):
        # Only tensors of PyTorch are taken, as a checkpoint has numbers and texts beside them.
        if hasattr(value, "detach"):
            yield Tensor(name, tuple(value.shape), torch_kind(value), partial(itself, value))


def _unpickled_tensors(path: Path) -> Any:
    """Return what a file of PyTorch holds, tensors in nested dictionaries and lists; nothing but
    tensors, numbers and texts is unpickled.

    Raises
    ------
    ConversionError
        If it is no such file, or holds objects of other types.
    MethodUnavailableError
        If PyTorch is missing.
    """
    need = "files of PyTorch need the package torch; or save as .safetensors or .npz"
    torch = library("torch", need)
    with open(opened(path), "rb") as stream:
        begin = stream.read(2)
    if begin not in (b"PK", b"\x80\x02"):
        raise ConversionError("it is not a file of torch.save")
    _check_is_whole_archive(path)
    mapped = True if begin == b"PK" else None  # the older form cannot be read in parts
    try:
        with openable(path) as name:
            return torch.load(name, map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as reason:  # torch raises errors of many kinds
        message = (
            "torch.load(weights_only=True) refuses it: save model.state_dict(), which holds tensors"
            " alone"
        )
        raise ConversionError(f"{message} ({type(reason).__name__})") from None


def _weights_first(content: Any) -> Any:
    """Return the content of a file of PyTorch. In checkpoints of training weights stand under
    ``state_dict`` or ``model``, as a dictionary: its entries are put in place of this key, by their
    own names. A content without such a key is returned as it is.
    """
    for key in ("state_dict", "model"):
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            others = {name: part for name, part in content.items() if name != key}
            content = {**others, **content[key]}
    return content


def _json(path: Path) -> Iterator[Tensor]:
    """Yield the arrays of a JSON object from names to lists, which may be nested; decimals are
    exactly the numbers that are written, and not floats. ConversionError if it is not such a file.
    """
    content = read_json(
        read_text(path, MAX_ARRAYS_JSON_BYTES), parse_float=str, digits=MAX_NUMBER_DIGITS
    )
    if not isinstance(content, dict):
        raise ConversionError(
            'it is no JSON object from names to lists of rows: {"K": [[1, 2]], …}'
        )
    for name, value in flattened(content):
        yield tensor(name, value)


def flattened(content: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield pairs of a name and a value from nested mappings: the name is ``prefix`` and the keys
    on the way to the value, with dots between them. A list of mappings, if it is not empty, counts
    as a mapping from 0, 1, … to them.

    So {"layers": [{"Q": value}]} gives the name ``layers.0.Q``.
    """
    for key, value in content.items():
        name = f"{prefix}{key}"
        if isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
            value = dict(enumerate(value))
        if isinstance(value, Mapping):
            yield from flattened(value, f"{name}.")
        else:
            yield name, value


READERS: dict[str, Callable[[Path], Iterator[Tensor]]] = {
    ".npz": _npz,
    ".npy": _npy,
    ".safetensors": _safetensors,
    ".json": _json,
    **dict.fromkeys((".pt", ".pth", ".bin", ".ckpt"), _pytorch),
}
"""For the endings of files, in small letters: the function that yields the arrays of such a file,
whose entries are read later.
"""
