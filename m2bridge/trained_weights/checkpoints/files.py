"""The named arrays of numbers in files, in folders of files, and in Python.

What belongs together is read together: the files that an index names, and all *shards* of a model,
the several files into which it is divided, as ``model-00001-of-00002.safetensors``. A ``Tensor`` is
an array with its name and shape; its entries are read when they are needed.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from m2bridge.convert import MAX_ARRAYS_JSON_BYTES
from m2bridge.convert.bounded_io import read_json, read_text
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.reading import check_readable, opened, unquoted
from m2bridge.trained_weights.checkpoints.arrays import Tensor, tensor
from m2bridge.trained_weights.checkpoints.formats import READERS, flattened

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
    to arrays, which may be nested. Entries of files are read later.

    Raises
    ------
    ConversionError
        If a file cannot be read, its ending is not known, it holds something else, or two arrays
        have one name.
    InvalidCaseError
        If the source is none of these, or an entry of a mapping is no array of numbers.
    MethodUnavailableError
        If a package is missing that reads such files.
    """
    if isinstance(source, Mapping):
        return _by_name(tensor(name, value) for name, value in flattened(source))
    if not isinstance(source, str | Path):
        kind = type(source).__name__
        raise InvalidCaseError(
            "source", f"is a file or a dictionary from names to arrays, not a {kind}"
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
    """Return by their names the arrays of the model in a folder: those that its index names, else
    those of its files .safetensors, .npz and .npy.

    Raises
    ------
    ConversionError
        If the folder has several indices, or neither an index nor such files, or a file of the
        model is missing or cannot be read.
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
    """Return by their names the arrays of the files that the index of a folder names, if none of
    its other ``files`` has arrays of the same names.

    Raises
    ------
    ConversionError
        If one has, as where a model was saved again and its former index stayed; or a file that the
        index names is missing.
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
    """Return the arrays of several files by their names; ConversionError if a file cannot be read,
    or two arrays have the same name.
    """
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
    among them, all are.

    Raises
    ------
    ConversionError
        If a shard is missing.
    """
    chosen = [file for file in files if not _SECOND_COPY.fullmatch(file.name)]
    # An adapter changes another model, and is merged only if the option ``adapter`` names it. A
    # folder with nothing else is that of the adapter.
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
    """Yield the names of all files among which a model is divided, by the name of one of them, as
    ``model-00001-of-00002.safetensors``; nothing for the name of a file that is not a shard.

    At most :data:`MOST_SHARDS` names are yielded.
    """
    match = _SHARD.fullmatch(name)
    if match is None:
        return
    beginning, number, total, ending = match.groups()
    for other in range(1, min(int(total), MOST_SHARDS) + 1):
        # Numbers have as many digits as that of this file, with zeros in front.
        yield f"{beginning}-{other:0{len(number)}}-of-{total}.{ending}"


MOST_SHARDS = 10_000
"""The largest number of files of one model that are looked for."""


def _missing(shard: str, folder: Path) -> str:
    """Return the message about a file of a model, ``shard``, that is not in this folder."""
    return (
        f"the file '{shard:.60}' of the model is not in '{folder}': download it too, as layers"
        " would be left out without it"
    )


def _check_is_whole(path: Path) -> None:
    """Check that a file is not one of several among which a model is divided; ConversionError if it
    is, with what to give in its place.
    """
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
    """Return by their names the arrays of the files that an index names, all of which stand in its
    folder. Arrays in these files that the index does not name are returned, too.

    Raises
    ------
    ConversionError
        If the file is not an index, or names a file elsewhere, or one of the files, or an array
        that should be in it, is missing.
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
    """Return the names of files by the names of the arrays in them, as an index says;
    ConversionError if the file is not an index.
    """
    content = read_json(read_text(index, MAX_ARRAYS_JSON_BYTES))
    files = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not all(isinstance(file, str) for file in files.values()):
        raise ConversionError("it is not an index of the files of a model: 'weight_map' is missing")
    return files


MAX_ARRAY_NAME_CHARS = 100_000
"""Characters of the name of an array: the rules for names take a time that grows with them."""


def _by_name(items: Iterable[Tensor]) -> dict[str, Tensor]:
    """Return the arrays by their names; ConversionError if two have the same name, as it is not
    known which of them is meant, or if a name is very long.
    """
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
    """Return the arrays of a file by their names; entries are read later.

    Raises
    ------
    ConversionError
        If there is no such file, its kind is not read, or it is damaged or holds no arrays. An
        array whose entries are damaged raises it later, when it is read.
    """
    check_readable(path)
    reader = _reader_of(path)
    _with_name_in_errors(path, lambda: _check_is_no_pointer(path))
    found: dict[str, Tensor] = _with_name_in_errors(path, lambda: _by_name(reader(path)))
    for name, item in found.items():
        # The entries are read later, and may be damaged although the header is not: then, too,
        # errors have the name of the file.
        found[name] = replace(item, read=partial(_with_name_in_errors, path, item.read))
    if not found:
        raise ConversionError(f"'{path}' holds no arrays")
    return found


def _reader_of(path: Path) -> Callable[[Path], Iterator[Tensor]]:
    """Return the function that yields the arrays of a file of this kind, by the ending of its name.

    Raises
    ------
    ConversionError
        If there is no such file, it is empty, or it is of a kind that is not read; with what to
        give in its place where that is known.
    """
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
    return reader


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
    of a large file, nor a page of a server, nor in the format of llama.cpp or PyTorch under another
    ending; ConversionError if it is.
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
    """Return what the function ``read``, which reads the file ``path``, returns; if it raises one
    of :data:`_UNREADABLE`, raise a ConversionError in one line with the name of the file.
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
