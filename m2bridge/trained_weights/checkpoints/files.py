"""The named arrays of numbers in files of NumPy, safetensors, PyTorch and JSON, and in Python.

They are described first and read one by one, so a file may hold more than fits into memory. Nothing
is unpickled: arrays of objects are refused, and PyTorch reads by ``weights_only=True``. Families
know which of the weights an array is.
"""

from __future__ import annotations

import io
import re
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy

from m2bridge.algebra.numbers import LARGE_PRIME, fraction
from m2bridge.convert import (
    MAX_ARRAY_DIMENSIONS,
    MAX_ARRAY_ENTRIES,
    MAX_ARRAYS_JSON_BYTES,
    MAX_NPY_HEADER_BYTES,
    MAX_NUMBER_DIGITS,
)
from m2bridge.convert.bounded_io import read_json, read_rational, read_text
from m2bridge.errors import ConversionError, InvalidCaseError, TooLargeError
from m2bridge.loading import library
from m2bridge.reading import check_readable, openable, opened, unquoted

_UNREADABLE = (
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

EXACT = "exact"
"""The kind of integers and fractions; other kinds are names of types of floating-point numbers."""
PRECISIONS = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    EXACT: 2.0**-52,
}
"""The distance from 1 to the next number of a type."""


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """An array with a name, which is read when it is needed.

    Parameters
    ----------
    name : str
    shape : tuple of int
    kind : str
        The type of its entries, in words.
    read : callable
        Returns the entries as a NumPy array, list, tensor, …
    sources : tuple of Tensor
        The arrays of a file from which it is made, if it is none itself.
    """

    name: str
    shape: tuple[int, ...]
    kind: str
    read: Callable[[], Any]
    sources: tuple[Tensor, ...] = ()

    @property
    def size_text(self) -> str:
        """``64 × 768``, as it is in the file."""
        shape = self.sources[0].shape if self.sources else self.shape
        return " × ".join(map(str, shape)) or "a number"

    @property
    def file_names(self) -> frozenset[str]:
        """The names of the arrays of a file that it is, or from which it is made."""
        if not self.sources:
            return frozenset((self.name,))
        return frozenset().union(*(source.file_names for source in self.sources))

    def changed(self, change: Callable[[Any], Any], shape: tuple[int, ...]) -> Tensor:
        """The array that a function makes of this one, when it is read."""
        return replace(self, shape=shape, read=lambda: change(self._entries()), sources=(self,))

    def _entries(self) -> Any:
        """The entries as an array, of NumPy."""
        return as_array(self.name, self.read())[0]

    def array(self) -> Any:
        """The entries as a NumPy array of floats, or of integers and fractions as objects.

        Raises
        ------
        TooLargeError
            If there are more than :data:`MAX_ARRAY_ENTRIES`.
        InvalidCaseError
            If an entry is no finite real number.
        """
        if prod(self.shape) > MAX_ARRAY_ENTRIES:
            raise TooLargeError(
                f"'{self.name}' is {self.size_text}; at most {MAX_ARRAY_ENTRIES} entries are read"
            )
        array, kind = as_array(self.name, self.read())
        if kind == EXACT:
            return array
        others = numpy.argwhere(~numpy.isfinite(array))
        if others.size:
            place = tuple(others[0])
            at = ", ".join(str(index + 1) for index in place)
            raise InvalidCaseError(
                "weights", f"entry ({at}) of '{self.name}' is {array[place]}: no finite number"
            )
        return array


def tensor(name: str, value: Any) -> Tensor:
    """A value of Python as a tensor; raises InvalidCaseError if it is none."""
    array, kind = as_array(name, value)
    return Tensor(name, array.shape, kind, partial(_itself, value))


def stack_of(name: str, parts: Sequence[Tensor]) -> Tensor:
    """Arrays of one shape as one, with a first index that counts them."""
    first = parts[0]

    def read() -> Any:
        return numpy.stack([as_array(part.name, part.read())[0] for part in parts])

    return Tensor(name, (len(parts), *first.shape), first.kind, read, tuple(parts))


def as_array(name: str, value: Any) -> tuple[Any, str]:
    """A NumPy array, a tensor of PyTorch, or lists, as an array; and the type of its entries.

    Raises
    ------
    InvalidCaseError
        If it is something else, or its rows have different lengths.
    """
    if hasattr(value, "detach"):  # PyTorch
        value = value.detach().cpu()
        kind = _torch_kind(value)
        if kind == "bfloat16":  # which NumPy lacks; floats hold it exactly
            value = value.float()
        return _checked(name, value.numpy(), kind)
    if hasattr(value, "tolist") and not isinstance(value, numpy.ndarray):  # SymPy, FLINT
        value = value.tolist()
    if isinstance(value, numpy.ndarray) and value.dtype != object:
        return _checked(name, value, value.dtype.name)
    return _from_lists(name, value)


def _torch_kind(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.")


def _checked(name: str, array: Any, kind: str) -> tuple[Any, str]:
    if array.dtype.kind in "iu":
        return array.astype(object), EXACT
    if kind not in PRECISIONS:
        raise InvalidCaseError(
            "weights", f"'{name}' holds {kind}: give float16, bfloat16, float32 or float64"
        )
    return array, kind


def _from_lists(name: str, value: Any) -> tuple[Any, str]:
    """Floats as they are, with integers among them that floats can be; fractions of all else."""
    try:
        array = numpy.array(value, dtype=object)
        others = [entry for entry in array.flat if not isinstance(entry, float)]
        if len(others) < array.size and all(map(_is_float, others)):
            return array.astype(float), "float64"
        exact = numpy.empty(array.shape, dtype=object)
        exact.flat[:] = [_exact(entry) for entry in array.flat]
    except (ValueError, TypeError, AttributeError, OverflowError, ConversionError) as reason:
        said = f": {reason}" if isinstance(reason, ConversionError) else ""
        message = f"'{name:.60}' is no list of rows of numbers, all of one length{said}"
        raise InvalidCaseError("weights", message) from None
    return exact, EXACT


def _is_float(entry: Any) -> bool:
    """Whether it is an integer that a float holds exactly."""
    return type(entry) is int and abs(entry) < 2**53


def _exact(entry: Any) -> Fraction:
    if isinstance(entry, str):
        return read_rational(entry)
    if isinstance(entry, bool):
        raise TypeError
    return Fraction(entry) if isinstance(entry, int | float) else fraction(entry)


_OF_FOLDERS = (".safetensors", ".npy", ".npz")
"""The endings of files that are taken from a folder."""


def tensors(source: Any) -> dict[str, Tensor]:
    """The arrays of a file, of a folder of files, or of a mapping from names to arrays.

    Raises
    ------
    ConversionError
        If a file cannot be read, or holds something else, or two arrays have one name.
    InvalidCaseError
        If the source is none of these, or its ending is not known.
    """
    if isinstance(source, Mapping):
        return _by_name(tensor(name, value) for name, value in _flattened(source))
    if not isinstance(source, str | Path):
        kind = type(source).__name__
        raise InvalidCaseError(
            "source", f"is a file or a dictionary from names to arrays, not a {kind}"
        )
    path = Path(source)
    check_readable(path)
    if not path.is_dir():
        if path.name.endswith(_INDEX):
            return _shards(path)
        _check_is_whole(path)
        return _file(path)
    if indices := [file for file in sorted(path.iterdir()) if file.name.endswith(_INDEX_HERE)]:
        if len(indices) > 1:
            names = ", ".join(f"'{file.name}'" for file in indices)
            raise ConversionError(f"'{path}' has several models, {names}: give one of these files")
        return _shards(indices[0])
    files = _of_one_model([x for x in sorted(path.iterdir()) if x.suffix in _OF_FOLDERS])
    if not files:
        raise ConversionError(f"'{path}' has no files .safetensors, .npz or .npy in it")
    return _together(files)


_INDEX = ".index.json"
_INDEX_HERE = ".safetensors.index.json"
"""The end of an index, and of the one that is taken from a folder."""
_SHARD = re.compile(r"(.*)-(\d+)-of-(\d+)\.(safetensors|bin)")
_SECOND_COPY = re.compile(r"consolidated.*\.safetensors")
"""The files in which Mistral and Meta give the same model under the names of its authors."""


def _together(files: Sequence[Path]) -> dict[str, Tensor]:
    """The arrays of several files; ConversionError if two have one name."""
    found: dict[str, Tensor] = {}
    file_of: dict[str, str] = {}
    for file in files:
        for name, item in _file(file).items():
            if name in found:
                places = f"'{file_of[name]}' and in '{file.name}'"
                raise ConversionError(f"'{name:.60}' is in {places}: give one of these files")
            found[name] = item
            file_of[name] = file.name
    return found


def _of_one_model(files: Sequence[Path]) -> list[Path]:
    """The files of a folder without a second copy of the model, all of its shards among them.

    Raises
    ------
    ConversionError
        If a shard is missing.
    """
    chosen = [file for file in files if not _SECOND_COPY.fullmatch(file.name)]
    # An adapter changes another model, and is merged where it is asked for.
    chosen = [file for file in chosen if file.name != "adapter_model.safetensors"] or chosen
    if not any(file.suffix == ".safetensors" for file in chosen):
        chosen = list(files)
    present = {file.name for file in chosen}
    for file in chosen:
        if match := _SHARD.fullmatch(file.name):
            name, number, total, ending = match.groups()
            for other in range(1, min(int(total), MOST_SHARDS) + 1):
                shard = f"{name}-{other:0{len(number)}}-of-{total}.{ending}"
                if shard not in present:
                    raise ConversionError(_missing(shard, file.parent))
    return chosen


MOST_SHARDS = 10_000
"""Files of one model."""


def _missing(shard: str, folder: Path) -> str:
    return (
        f"the file '{shard:.60}' of the model is not in '{folder}': download it too, as layers"
        " would be left out without it"
    )


def _check_is_whole(path: Path) -> None:
    """Check that a file is not one of several in which a model is."""
    # Each of several such files has some rows, or columns, of all matrices.
    if re.fullmatch(r"consolidated\.\d+\.pth", path.name):
        parts = sorted(path.parent.glob("consolidated.[0-9]*.pth"))
        if len(parts) > 1:
            raise ConversionError(
                f"'{path.name}' is one of {len(parts)} files among which each matrix is divided:"
                " put them together, as with convert_llama_weights_to_hf.py of transformers"
            )
    match = _SHARD.fullmatch(path.name)
    if match and int(match[3]) > 1:
        raise ConversionError(
            f"'{path.name}' is one of {int(match[3])} files of a model, whose layers may be cut in"
            " two: give the folder, or the file that ends in .index.json"
        )


def _shards(index: Path) -> dict[str, Tensor]:
    """The arrays of the files that an index names.

    Raises
    ------
    ConversionError
        If it is no index, one of the files is missing, or an array in it.
    """

    def read() -> dict[str, str]:
        content = read_json(read_text(index, MAX_ARRAYS_JSON_BYTES))
        files = content.get("weight_map") if isinstance(content, dict) else None
        if not isinstance(files, dict) or not all(isinstance(x, str) for x in files.values()):
            raise ConversionError("it is no index of the files of a model: 'weight_map' is missing")
        return files

    file_of: dict[str, str] = _said_of(index, read)
    shards = sorted(set(file_of.values()))
    for shard in shards:
        if Path(shard).name != shard:
            raise ConversionError(f"'{index}' names '{shard:.60}', which is no file beside it")
        check_readable(index.parent / shard)
        if not (index.parent / shard).exists():
            raise ConversionError(_missing(shard, index.parent))
    found = _together([index.parent / shard for shard in shards])
    for name, shard in file_of.items():
        if name not in found:
            raise ConversionError(f"'{index.name}' says that '{name:.60}' is in '{shard:.60}': no")
    return found


def _by_name(items: Iterable[Tensor]) -> dict[str, Tensor]:
    """The arrays by their names; ConversionError if two have the same one."""
    found: dict[str, Tensor] = {}
    for item in items:
        if item.name in found:
            # Which of them is meant cannot be seen.
            raise ConversionError(f"two arrays have the name '{item.name:.60}'")
        found[item.name] = item
    return found


def _file(path: Path) -> dict[str, Tensor]:
    """The arrays of a file."""
    check_readable(path)
    if not path.exists():
        raise ConversionError(f"there is no file '{path}'")
    if not path.is_file():
        raise ConversionError(f"'{path}' is not a file")
    reader = READERS.get(path.suffix.lower())
    if advice := _OTHER_FILES.get(path.suffix.lower()):
        raise ConversionError(f"'{path.name}' {advice}")
    if path.name in _CONFIGURATIONS:
        raise ConversionError(
            f"'{path.name}' says what a model is, and has no weights: give the file beside it"
        )
    if reader is None:
        raise ConversionError(f"'{path.name}' does not end in {', '.join(READERS)}")
    if not path.stat().st_size:
        raise ConversionError(f"'{path}' is empty")
    _said_of(path, lambda: _check_is_no_pointer(path))
    found: dict[str, Tensor] = _said_of(path, lambda: _by_name(reader(path)))
    for name, item in found.items():
        # The entries are read later, and may be damaged where the header is not.
        found[name] = replace(item, read=partial(_said_of, path, item.read))
    if not found:
        raise ConversionError(f"'{path}' holds no arrays")
    return found


_CONFIGURATIONS = ("config.json", "params.json", "adapter_config.json")
_OTHER_FILES = {
    ".gguf": "is of llama.cpp, in blocks of few bits: give the model from which it was made, as"
    " .safetensors",
    ".h5": "is of Keras: save the weights as .npz, by their names",
    ".keras": "is of Keras: save the weights as .npz, by their names",
    ".msgpack": "is of Flax: save the parameters as .safetensors or .npz",
    ".onnx": "is of ONNX: give the model from which it was made, as .safetensors",
}
"""What to do with files of other programs."""


def _check_is_no_pointer(path: Path) -> None:
    """Check that a file is not what git has in place of a large file."""
    with open(opened(path), "rb") as stream:
        begin = stream.read(64)
    if begin.startswith(b"version https://git-lfs"):
        raise ConversionError("it is a pointer of git-lfs and no weights: run git lfs pull there")
    if begin.startswith(b"GGUF"):
        raise ConversionError(f"it {_OTHER_FILES['.gguf']}")


def _said_of(path: Path, read: Callable[[], Any]) -> Any:
    """What is read from a file; ConversionError, in one line, if it cannot be."""
    try:
        with unquoted():
            return read()
    except _UNREADABLE as reason:
        said = str(reason).partition("\n")[0] or type(reason).__name__
        raise ConversionError(f"'{path}' cannot be read: {said:.200}") from None


def _npy(path: Path) -> Iterator[Tensor]:
    with open(opened(path), "rb") as stream:
        shape, dtype = _header(stream)
    read = partial(_mapped, path)
    yield Tensor(path.stem, shape, dtype.name, _of_numbers(path.stem, dtype, read))


def _mapped(path: Path) -> Any:
    with openable(path) as name:
        return numpy.load(name, mmap_mode="r", allow_pickle=False)


def _npz(path: Path) -> Iterator[Tensor]:
    with open(opened(path), "rb") as file, zipfile.ZipFile(file) as archive:
        for member in archive.namelist():
            with archive.open(member) as stream:
                shape, dtype = _header(stream)
            name = member.removesuffix(".npy")
            read = _of_numbers(name, dtype, partial(_member, path, name))
            yield Tensor(name, shape, dtype.name, read)


def _member(path: Path, name: str) -> Any:
    with open(opened(path), "rb") as file, numpy.load(file, allow_pickle=False) as archive:
        return archive[name]


def _of_numbers(name: str, dtype: Any, read: Callable[[], Any]) -> Callable[[], Any]:
    """The reader of an array, or one that refuses what is no number, of whatever size."""
    return read if dtype.kind in "biufc" else partial(_refused, name, dtype.name)


def _refused(name: str, kind: str) -> Any:
    kinds = "float16, bfloat16, float32, float64 and integers are read"
    advice = "; convert the model to bfloat16, with its scales" if kind.startswith("F8") else ""
    raise ConversionError(f"'{name:.60}' holds {kind}; {kinds}{advice}")


def _header(stream: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and type, without the entries, which need not be there.

    Raises
    ------
    ConversionError
        If it is no header, or says what no array has.
    """
    start = stream.read(8)
    if start[:6] != b"\x93NUMPY":
        raise ConversionError("it is no array of NumPy")
    version = start[6]
    if version not in (1, 2, 3):
        raise ConversionError(f"its format has the version {version}; versions 1 to 3 are read")
    size = stream.read(2 if version == 1 else 4)
    length = int.from_bytes(size, "little")
    if length > MAX_NPY_HEADER_BYTES:
        raise ConversionError(
            f"its header has {length} bytes; at most {MAX_NPY_HEADER_BYTES} are read"
        )
    content = io.BytesIO(size + stream.read(length))
    read = numpy.lib.format.read_array_header_1_0
    if version > 1:
        read = numpy.lib.format.read_array_header_2_0
    try:
        shape, _, dtype = read(content)
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
    return shape, dtype


_READ_OF_SAFETENSORS = {"F16", "BF16", "F32", "F64"}
_READ_OF_SAFETENSORS |= {"I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64"}
"""The types whose entries NumPy has, with ml_dtypes; not those of 8, 6 and 4 bits."""


def _safetensors(path: Path) -> Iterator[Tensor]:
    import ml_dtypes  # noqa: F401  (NumPy knows bfloat16 then)
    import safetensors

    def load(name: str) -> Any:
        with openable(path) as place, safetensors.safe_open(place, framework="numpy") as file:
            return file.get_tensor(name)

    try:
        with openable(path) as place, safetensors.safe_open(place, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118  (no mapping)
                part = file.get_slice(name)
                kind = part.get_dtype()
                read = partial(_refused, name, kind)
                if kind in _READ_OF_SAFETENSORS:
                    kind = kind.replace("BF", "bfloat").replace("F", "float")
                    read = partial(load, name)
                yield Tensor(name, tuple(part.get_shape()), kind, read)
    except safetensors.SafetensorError as reason:
        raise ConversionError(str(reason)) from None


def _pytorch(path: Path) -> Iterator[Tensor]:
    need = "files of PyTorch need the package torch; or save as .safetensors or .npz"
    torch = library("torch", need)
    with open(opened(path), "rb") as stream:
        begin = stream.read(2)
    if begin not in (b"PK", b"\x80\x02"):
        raise ConversionError("it is no file of torch.save")
    mapped = True if begin == b"PK" else None  # the older form cannot be read in parts
    try:
        with openable(path) as name:
            content = torch.load(name, map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as reason:  # torch raises errors of many kinds
        message = (
            "torch.load(weights_only=True) refuses it: save model.state_dict(), which holds tensors"
            " alone"
        )
        raise ConversionError(f"{message} ({type(reason).__name__})") from None
    content = _weights_first(content)
    if not isinstance(content, dict):
        raise ConversionError(f"it holds a {type(content).__name__} and no state dict")
    for name, value in _flattened(content):
        if hasattr(value, "detach"):
            yield Tensor(name, tuple(value.shape), _torch_kind(value), partial(_itself, value))


def _weights_first(content: Any) -> Any:
    """The weights of a checkpoint with their own names, beside all else that is in it."""
    for key in ("state_dict", "model"):
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            others = {name: part for name, part in content.items() if name != key}
            content = {**others, **content[key]}
    return content


def _itself(value: Any) -> Any:
    return value


def _json(path: Path) -> Iterator[Tensor]:
    """Decimals are taken as they are written."""
    content = read_json(
        read_text(path, MAX_ARRAYS_JSON_BYTES), parse_float=str, digits=MAX_NUMBER_DIGITS
    )
    if not isinstance(content, dict):
        raise ConversionError(
            'it is no JSON object from names to lists of rows: {"K": [[1, 2]], …}'
        )
    for name, value in _flattened(content):
        yield tensor(name, value)


def _flattened(content: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The names of parts are joined by dots; a list of objects has their numbers."""
    for key, value in content.items():
        name = f"{prefix}{key}"
        if isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
            value = dict(enumerate(value))
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{name}.")
        else:
            yield name, value


READERS: dict[str, Callable[[Path], Iterator[Tensor]]] = {
    ".npz": _npz,
    ".npy": _npy,
    ".safetensors": _safetensors,
    ".json": _json,
    **dict.fromkeys((".pt", ".pth", ".bin", ".ckpt"), _pytorch),
}


# Entries as exact numbers: each floating-point number is a dyadic rational.


def dyadic(array: Any) -> tuple[Any, Any]:
    """Return integers w and e with the entries w·2^e: a float64 has a mantissa of 53 bits."""
    mantissa, exponent = numpy.frexp(array.astype(float))
    return numpy.ldexp(mantissa, 53).astype(numpy.int64), exponent.astype(numpy.int64) - 53


def modular(array: Any) -> Any:
    """Return the entries modulo :data:`LARGE_PRIME`, as integers of 64 bits.

    Raises
    ------
    InvalidCaseError
        If the prime divides a denominator.
    """
    if array.dtype == object:
        entries = [_residue(number) for number in array.flat]
        return numpy.array(entries, dtype=numpy.int64).reshape(array.shape)
    whole, exponent = dyadic(array)
    # The prime is 2^31 − 1, modulo which 2^31 is 1.
    shifted = whole % LARGE_PRIME << exponent % 31
    return shifted % LARGE_PRIME


def _residue(number: Any) -> int:
    try:
        inverse = pow(number.denominator, -1, LARGE_PRIME)
    except ValueError:
        reason = f"a denominator is divisible by {LARGE_PRIME}"
        raise InvalidCaseError("weights", reason) from None
    return int(number.numerator * inverse % LARGE_PRIME)


def as_fractions(array: Any) -> Any:
    """Return the entries as an array of fractions."""
    if array.dtype != object:
        array = array.astype(float)
    return numpy.frompyfunc(Fraction, 1, 1)(array)
