"""The named arrays of numbers in files, in folders of files, and in Python.

A file is described first: a ``Tensor`` has a name, a shape, a type, and a function ``read`` that
returns its entries when they are needed. Formats are of NumPy, safetensors, PyTorch and JSON.
Nothing is unpickled: arrays of objects are refused, and PyTorch reads by ``weights_only=True``.
Arrays of types that are not read are refused only where their entries are needed.

What belongs together is read together: the files that an index names, and all *shards* of a model,
the several files into which it is divided, as ``model-00001-of-00002.safetensors``. A name may not
stand in two of them.

What cannot be read is a ConversionError, with the name of the file and what to give in its place;
a missing package a MethodUnavailableError. Readers of formats raise what :data:`_UNREADABLE` has.
"""

from __future__ import annotations

import io
import json
import re
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
from m2bridge.errors import ConversionError, InvalidCaseError, class_with_article
from m2bridge.limits import library
from m2bridge.reading import check_readable, openable, opened, unquoted
from m2bridge.trained_weights.checkpoints.arrays import Tensor, itself, tensor, torch_kind

_UNREADABLE: tuple[type[Exception], ...] = (
    OSError,
    ValueError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    ConversionError,
    # of zipfile: another compression, or a password is needed
    NotImplementedError,
    RuntimeError,
)
"""What readers raise about files that are damaged, or made to do harm."""

_OF_FOLDERS = (".safetensors", ".npy", ".npz")
"""The endings of files that are taken from a folder."""


def tensors(source: Any) -> dict[str, Tensor]:
    """Return by their names the arrays of a file, of a folder of files, or of a mapping from names
    to arrays, which may be nested; InvalidCaseError for any other source, or entries of a mapping.
    """
    if isinstance(source, Mapping):
        return _by_name(tensor(name, value) for name, value in flattened(source))
    if not isinstance(source, str | Path):
        kind = class_with_article(type(source))
        raise InvalidCaseError(
            "source",
            f"is a file, a model of PyTorch or a dictionary from names to arrays, not {kind}",
        )
    path = Path(source)
    check_readable(path)
    if path.is_dir():
        return _arrays_of_folder(path)
    if path.name.endswith(_INDEX):
        return _arrays_of_index(path)
    _check_is_whole(path)
    return _arrays_of_file(path)


def _arrays_of_folder(folder: Path) -> dict[str, Tensor]:
    """Return the arrays of the model in a folder: those that its index names, else those of its
    files .safetensors, .npz and .npy.
    """
    files_of_folder = sorted(folder.iterdir())
    indices = [file for file in files_of_folder if file.name.endswith(_INDEX_IN_FOLDER)]
    if len(indices) > 1:
        names = ", ".join(f"'{file.name}'" for file in indices)
        raise ConversionError(f"'{folder}' has several models, {names}: give one of these files")
    if indices:
        others = [file for file in files_of_folder if file.suffix == ".safetensors"]
        return _arrays_of_only_model(indices[0], others)
    files = _of_one_model([file for file in files_of_folder if file.suffix in _OF_FOLDERS])
    if not files:
        raise ConversionError(f"'{folder}' has no files .safetensors, .npz or .npy in it")
    return _arrays_of_files(files)


def _arrays_of_only_model(index: Path, files: Sequence[Path]) -> dict[str, Tensor]:
    """Return the arrays of the files that the index of a folder names, if none of its other
    ``files`` has arrays of the same names, as where a model was saved again.
    """
    named = _with_name_in_errors(index, partial(_read_index, index))
    shards = set(named.values())
    for file in files:
        if file.name in shards or _SECOND_COPY.fullmatch(file.name) or file.name == _ADAPTER:
            continue
        if not named.keys().isdisjoint(_arrays_of_file(file)):
            raise ConversionError(
                f"'{index.parent}' has the same arrays twice, in '{file.name:.60}' and in the files"
                f" that '{index.name:.60}' names, which may be of another time: give one of the two"
            )
    return _arrays_of_index(index)


_ADAPTER = "adapter_model.safetensors"
"""The file of an adapter beside a model."""
_INDEX = ".index.json"
"""The end of the name of an index, which says in which files the arrays of a model are."""
_INDEX_IN_FOLDER = ".safetensors.index.json"
"""The end of the name of an index that is taken from a folder."""
_SHARD = re.compile(r"(.*)-(\d+)-of-(?P<files>\d+)\.(safetensors|bin)")
"""The name of one of several files of a model: a beginning, its number, and how many there are."""
_SECOND_COPY = re.compile(r"consolidated.*\.safetensors")
"""The files in which Mistral and Meta give the same model under the names of its authors."""


def _arrays_of_files(files: Sequence[Path]) -> dict[str, Tensor]:
    """Return the arrays of several files by their names."""
    found: dict[str, Tensor] = {}
    file_of: dict[str, str] = {}
    for file in files:
        for name, item in _arrays_of_file(file).items():
            if name in found:
                places = f"'{file_of[name]}' and in '{file.name}'"
                raise ConversionError(f"'{name:.60}' is in {places}: give one of these files")
            found[name] = item
            file_of[name] = file.name
    return found


def _of_one_model(files: Sequence[Path]) -> list[Path]:
    """Return those ``files`` of a folder that are one model: without a second copy of it under
    other names, and without an adapter, unless nothing else is there. If one shard of the model is
    among them, all have to be.
    """
    chosen = [file for file in files if not _SECOND_COPY.fullmatch(file.name)]
    # An adapter changes another model, and is merged only if the option ``adapter`` names it. A
    # folder with nothing else is the adapter's.
    without_adapter = [file for file in chosen if file.name != _ADAPTER]
    if without_adapter:
        chosen = without_adapter
    # Without another file .safetensors what looks like a second copy is the model.
    if not any(file.suffix == ".safetensors" for file in chosen):
        chosen = list(files)
    present = {file.name for file in chosen}
    for file in chosen:
        for shard in _names_of_shards(file.name):
            if shard not in present:
                raise ConversionError(_missing(shard, file.parent))
    return chosen


def _names_of_shards(name: str) -> Iterator[str]:
    """Yield the names of all files, at most 10 000, among which a model is divided, by the name of
    one of them; nothing for the name of a file that is not a shard.
    """
    match = _SHARD.fullmatch(name)
    if match is None:
        return
    beginning, number, total, ending = match.groups()
    for other in range(1, min(int(total), 10_000) + 1):
        # Numbers have as many digits as in the name of this file, with zeros in front.
        yield f"{beginning}-{other:0{len(number)}}-of-{total}.{ending}"


def _missing(shard: str, folder: Path) -> str:
    """Return the message about a file of a model, ``shard``, that is not in this folder."""
    return (
        f"the file '{shard:.60}' of the model is not in '{folder}': download it too, as layers"
        " would be left out without it"
    )


def _check_is_whole(path: Path) -> None:
    """Check that a file is not one of several among which a model is divided."""
    # Each of several such files has some rows, or columns, of all matrices.
    if re.fullmatch(r"consolidated\.\d+\.pth", path.name):
        parts = sorted(path.parent.glob("consolidated.[0-9]*.pth"))
        if len(parts) > 1:
            raise ConversionError(
                f"'{path.name}' is one of {len(parts)} files among which each matrix is divided:"
                " put them together, as with convert_llama_weights_to_hf.py of transformers"
            )
    match = _SHARD.fullmatch(path.name)
    if match and int(match["files"]) > 1:
        raise ConversionError(
            f"'{path.name}' is one of {int(match['files'])} files of a model, whose layers may be"
            " cut in two: give the folder, or the file that ends in .index.json"
        )


def _arrays_of_index(index: Path) -> dict[str, Tensor]:
    """Return the arrays of the files that an index names, all of which stand in its folder. Arrays
    in these files that the index does not name are returned, too.
    """
    # The name of the file of each array.
    file_of: dict[str, str] = _with_name_in_errors(index, partial(_read_index, index))
    shards = sorted(set(file_of.values()))
    for shard in shards:
        # An index may not lead to other folders.
        if Path(shard).name != shard:
            raise ConversionError(f"'{index}' names '{shard:.60}', which is not a file beside it")
        check_readable(index.parent / shard)
        if not (index.parent / shard).exists():
            raise ConversionError(_missing(shard, index.parent))
    found = _arrays_of_files([index.parent / shard for shard in shards])
    for name, shard in file_of.items():
        if name not in found:
            raise ConversionError(f"'{index.name}' says that '{name:.60}' is in '{shard:.60}': no")
    return found


def _read_index(index: Path) -> dict[str, str]:
    """Return the names of files by the names of the arrays in them, as an index says."""
    content = read_json(read_text(index, MAX_ARRAYS_JSON_BYTES))
    files = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not all(isinstance(file, str) for file in files.values()):
        raise ConversionError("it is not an index of the files of a model: 'weight_map' is missing")
    return files


MAX_ARRAY_NAME_CHARS = 100_000
"""Characters of the name of an array: the rules for names take a time that grows with them."""


def _by_name(items: Iterable[Tensor]) -> dict[str, Tensor]:
    """Return the arrays by their names, if no two have the same one and none is very long."""
    found: dict[str, Tensor] = {}
    for item in items:
        if len(item.name) > MAX_ARRAY_NAME_CHARS:
            raise ConversionError(
                f"the name '{item.name:.60}…' of an array has {len(item.name)} characters; at most"
                f" {MAX_ARRAY_NAME_CHARS} are read"
            )
        if item.name in found:
            raise ConversionError(f"two arrays have the name '{item.name:.60}'")
        found[item.name] = item
    return found


def _arrays_of_file(path: Path) -> dict[str, Tensor]:
    """Return the arrays of a file by their names, by the ending of its name."""
    check_readable(path)
    if not path.exists():
        raise ConversionError(f"there is no file '{path}'")
    if not path.is_file():
        raise ConversionError(f"'{path}' is not a file")
    if advice := _OTHER_FILES.get(path.suffix.lower()):
        raise ConversionError(f"'{path.name}' {advice}")
    if path.name in _CONFIGURATIONS:
        raise ConversionError(
            f"'{path.name}' says what a model is, and has no weights: give the file beside it"
        )
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ConversionError(f"'{path.name}' does not end in {', '.join(READERS)}")
    if not path.stat().st_size:
        raise ConversionError(f"'{path}' is empty")
    _with_name_in_errors(path, lambda: _check_is_no_pointer(path))
    found: dict[str, Tensor] = _with_name_in_errors(path, lambda: _by_name(reader(path)))
    for name, item in found.items():
        # The entries are read later, and may be damaged although the header is not: then, too,
        # errors have the name of the file.
        found[name] = replace(item, read=partial(_with_name_in_errors, path, item.read))
    if not found:
        raise ConversionError(f"'{path}' holds no arrays")
    return found


_CONFIGURATIONS = ("config.json", "params.json", "adapter_config.json")
"""Files that stand beside weights, and may be given in their place by mistake."""
_OTHER_FILES = {
    ".gguf": "is of llama.cpp, in blocks of few bits: give the model from which it was made, as"
    " .safetensors",
    ".h5": "is of Keras: save the weights as .npz, by their names",
    ".keras": "is of Keras: save the weights as .npz, by their names",
    ".msgpack": "is of Flax: save the parameters as .safetensors or .npz",
    ".onnx": "is of ONNX: give the model from which it was made, as .safetensors",
}
"""For files of other programs, by their endings: what they are, and what to give in their place."""


def _check_is_no_pointer(path: Path) -> None:
    """Check by its first bytes that a file is neither a pointer of git-lfs, which git has in place
    of a large file, nor a page of a server, nor of another format than its ending says.
    """
    with open(opened(path), "rb") as stream:
        begin = stream.read(512)
    if begin.startswith(b"version https://git-lfs"):
        raise ConversionError("it is a pointer of git-lfs and no weights: run git lfs pull there")
    if begin.startswith(b"GGUF"):
        raise ConversionError(f"it {_OTHER_FILES['.gguf']}")
    if re.match(rb"\s*<(!doctype|html|head|\?xml)", begin, re.IGNORECASE):
        raise ConversionError(
            "it is a page of HTML and no weights: download the file itself, logged in where the"
            " model asks for it"
        )
    # A file .safetensors begins with the length of its header, any eight bytes, and a brace.
    if path.suffix.lower() == ".safetensors" and begin[8:9] != b"{":
        if begin.startswith((b"PK\x03\x04", b"\x80\x02")):
            raise ConversionError("it is a file of PyTorch: its name should end in .bin or .pt")
        if begin.isascii() and b"\0" not in begin:
            raise ConversionError(
                "it is a text and no weights, as a server answers that it has no such file:"
                " download the file again"
            )


def _with_name_in_errors(path: Path, read: Callable[[], Any]) -> Any:
    """Return what ``read`` returns; what it raises about the file becomes a ConversionError in one
    line with the name of the file.
    """
    try:
        # In a process that may read some folders only, errors do not quote what is in files.
        with unquoted():
            return read()
    except _UNREADABLE as reason:
        first_line, _, _ = str(reason).partition("\n")
        # An error without a message is said by its type.
        message = first_line or type(reason).__name__
        raise ConversionError(f"'{path}' cannot be read: {message:.200}") from None


def _npy(path: Path) -> Iterator[Tensor]:
    """Yield the one array of a file .npy, with the name of the file without .npy."""
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
    """Yield the arrays of a file .npz, a ZIP archive of files .npy."""
    _check_is_whole_archive(path)
    with open(opened(path), "rb") as file, zipfile.ZipFile(file) as archive:
        for member in archive.namelist():
            with archive.open(member) as stream:
                header = _read_header(stream)
            name = member.removesuffix(".npy")
            read = _reader_of_numbers(name, header.dtype, partial(_member, path, name))
            yield Tensor(name, header.shape, header.dtype.name, read)


def _check_is_whole_archive(path: Path) -> None:
    """Check that a file that begins as a ZIP archive ends as one, with a table of its members."""
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
    """Return the function ``read`` for an array of numbers, and else one that refuses the type;
    Booleans and complex numbers are refused by their entries.
    """
    return read if dtype.kind in _OF_NUMBERS else partial(_refuse, name, dtype.name)


def _refuse(name: str, kind: str) -> Any:
    """Refuse an array of a type that is not read: ``read`` of its tensor."""
    kinds = "float16, bfloat16, float32, float64 and integers are read"
    advice = "; convert the model to bfloat16, with its scales" if kind.startswith("F8") else ""
    raise ConversionError(f"'{name:.60}' holds {kind}; {kinds}{advice}")


class _Header(NamedTuple):
    """What the header of a file .npy says: the shape, and the type of NumPy, of the array."""

    shape: tuple[int, ...]
    dtype: Any


def _read_header(stream: Any) -> _Header:
    """Return what the header of a file .npy, read from this stream, says; the entries behind it
    need not be there.
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
    # Version 3 differs from 2 only in that the text is UTF-8.
    read = numpy.lib.format.read_array_header_1_0
    if version > 1:
        read = numpy.lib.format.read_array_header_2_0
    try:
        # The function of NumPy that parses the header reads its length, too.
        shape, _is_by_columns, dtype = read(io.BytesIO(size + stream.read(length)))
    except (SyntaxError, tokenize.TokenError, RecursionError, MemoryError, TypeError):
        # The header is a Python expression: what its parser says of other text, or of deep
        # brackets.
        raise ConversionError("its header is not one of NumPy") from None
    if dtype.hasobject:
        raise ConversionError("it holds Python objects, which are never unpickled")
    if len(shape) > MAX_ARRAY_DIMENSIONS:
        raise ConversionError(
            f"it has {len(shape)} dimensions; at most {MAX_ARRAY_DIMENSIONS} are read"
        )
    if any(type(number) is not int or number < 0 for number in shape):
        raise ConversionError(f"its shape is {shape!s:.60}, which no array has")
    return _Header(shape, dtype)


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
    with the length of its header and the header, which says where arrays end; or empty.
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
    """
    content = _weights_first(_unpickled_tensors(path))
    if not isinstance(content, dict):
        raise ConversionError(f"it holds {class_with_article(type(content))} and no state dict")
    for name, value in flattened(content):
        # Only tensors of PyTorch are taken, as a checkpoint has numbers and texts beside them.
        if hasattr(value, "detach"):
            yield Tensor(name, tuple(value.shape), torch_kind(value), partial(itself, value))


def _unpickled_tensors(path: Path) -> Any:
    """Return what a file of PyTorch holds: tensors, numbers and texts in nested dictionaries and
    lists; nothing else is unpickled.
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
    """Return the content of a file of PyTorch with the weights, which checkpoints of training have
    under ``state_dict`` or ``model``, by their own names.
    """
    for key in ("state_dict", "model"):
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            others = {name: part for name, part in content.items() if name != key}
            content = {**others, **content[key]}
    return content


def _json(path: Path) -> Iterator[Tensor]:
    """Yield the arrays of a JSON object from names to lists, which may be nested; decimals are
    exactly the numbers that are written, and not floats.
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
    """Yield pairs of a name and a value from nested mappings and lists of mappings, as
    ``layers.0.Q`` and the value for {"layers": [{"Q": value}]}.
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
"""The functions that yield the arrays of a file, by its ending in small letters."""
