"""Arrays of a file that are not weights as they stand: second copies, integers with scales, and
changes of low rank.

Copies that training keeps are not layers of their own. Integers of bitsandbytes are multiplied by
their scales, and adapters (LoRA) are added to the matrices that they change, both exactly. Other
forms are refused by their names, with what to convert.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, prod
from pathlib import Path
from typing import Any

import numpy

from m2bridge.convert.bounded_io import read_json, read_text
from m2bridge.errors import ConversionError, InvalidCaseError, TooLargeError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.arrays import EXACT, Tensor, as_fractions
from m2bridge.trained_weights.checkpoints.files import tensors
from m2bridge.trained_weights.checkpoints.tensors import NAMES

MOST_FRACTIONS = 2**24
"""The largest number of entries of a matrix that are computed as fractions."""
MOST_CONFIGURATION = 1_000_000
"""The largest number of bytes of a config.json."""


def without_copies(available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the arrays by their names, without the state of an optimizer, and without averages of
    the weights where the weights themselves are there.
    """
    found = {name: part for name, part in available.items() if not _is_copy(name, "optimizers")}
    weights = {name: part for name, part in found.items() if not _is_copy(name, "averages")}
    # In a file without other matrices the averages are the weights.
    has_matrix = any(len(part.shape) > 1 for part in weights.values())
    return weights if has_matrix else found


def _is_copy(name: str, kind: str) -> bool:
    """Return whether an array is a copy of a kind, ``optimizers`` or ``averages``, by its name."""
    return re.search(NAMES["copies"][kind], name) is not None


def refused_form(names: Mapping[str, Any]) -> str:
    """Return a clause on why arrays with these names are not read as weights, with the name of the
    first array in a form that is refused; empty if there is none.
    """
    for form in NAMES["refused"]:
        for name in names:
            if re.search(form["names"], name):
                return f"'{visible(name):.60}' {form['reason']}"
    return ""


def dequantized(available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the arrays by their names, with the weights in place of the integers that LLM.int8()
    of bitsandbytes stores: each row of integers times its scale, divided by 127. Other arrays stay
    as they are, and the arrays of scales are removed.

    Raises
    ------
    InvalidCaseError
        If there is not a scale for each row of a matrix, or the integers do not stand row by row.
    """
    found = dict(available)
    for name, scales in available.items():
        if not re.search(r"(^|\.)SCB$", name):
            continue
        module = name.removesuffix("SCB")
        weight = available.get(f"{module}weight")
        if weight is None or len(weight.shape) != 2 or scales.shape != weight.shape[:1]:
            raise InvalidCaseError(
                "weights", f"'{visible(name):.60}' has no matrix of integers with as many rows"
            )
        order = available.get(f"{module}weight_format")
        if order is not None:
            _check_rows_are_in_order(order)
            del found[order.name]
        del found[scales.name]
        found[weight.name] = _scaled(weight, scales, order)
    return found


def _check_rows_are_in_order(order: Tensor) -> None:
    """Check that the integers of a matrix stand row by row, as the number 0 in ``order``, the array
    ``weight_format`` beside the matrix, says; InvalidCaseError for other numbers, which mean tiles.
    """
    if order.array().tolist() not in (0, [0]):
        raise InvalidCaseError(
            "weights",
            f"'{visible(order.name):.60}' says that the integers are in tiles: save the model in"
            " float16",
        )


def _scaled(weight: Tensor, scales: Tensor, order: Tensor | None) -> Tensor:
    """Return the matrix of the integers in ``weight`` times the scales of their rows, divided by
    127, exactly, as fractions: a scale is the largest absolute value in the row, for which the
    integer 127 stands.

    ``order`` is the array that says the order of the integers; ``None`` if there is none. As it is
    used to read the weights, it is among the sources of the result.
    """
    sources = [weight, scales]
    if order is not None:
        sources.append(order)

    def read() -> Any:
        """Return integers·scales/127, row by row, as an array of fractions."""
        check_few_fractions(weight)
        scale = as_fractions(scales.array()) / 127
        return as_fractions(weight.array()) * scale[:, None]

    return Tensor(weight.name, weight.shape, EXACT, read, sources=tuple(sources))


def check_few_fractions(part: Tensor) -> None:
    """Check that an array has at most :data:`MOST_FRACTIONS` entries; TooLargeError if it has more:
    as fractions they would take too much memory.
    """
    if prod(part.shape) > MOST_FRACTIONS:
        raise TooLargeError(
            f"'{visible(part.name):.120}' is {part.size_text}; at most {MOST_FRACTIONS} entries are"
            " computed as fractions, each of which takes more than a hundred bytes: save the model"
            " with these weights merged, or dequantized, in float32, which rounds them"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Adapter:
    """A LoRA adapter, which has W + factor·B·A in place of a matrix W.

    Parameters
    ----------
    arrays : dict
        The arrays of the adapter, A and B for each changed matrix, by their names.
    alpha : Fraction
        α: the factor is α/r, or α/√r, where r is the rank, the number of rows of A.
    by_root : bool
        Whether the factor is α/√r, and not α/r.
    columns : bool
        Whether the matrices that it changes have the shape (in, out), and not (out, in).
    """

    arrays: Mapping[str, Tensor]
    alpha: Fraction
    by_root: bool
    columns: bool

    def factor(self, rank: int, name: str) -> Fraction:
        """Return the factor, α/r, or α/√r; InvalidCaseError if r is not a square for the latter, so
        that it is not rational.

        ``rank`` is r, at least 1, and ``name`` the name of an array of the adapter, for messages.
        """
        if not self.by_root:
            return self.alpha / rank
        root = isqrt(rank)
        if root * root != rank:
            raise InvalidCaseError(
                "adapter", f"'{visible(name):.60}' is multiplied by α/√{rank}, which is not exact"
            )
        return self.alpha / root


def merged(available: Mapping[str, Tensor], path: str | Path) -> dict[str, Tensor]:
    """Return the arrays of a model by their names, with W + (α/r)·B·A, exactly, in place of each
    matrix W that an adapter changes; or with α/√r, if the adapter says so. ``path`` is the file or
    the folder of the adapter.

    Raises
    ------
    InvalidCaseError
        If the adapter has other arrays than A and B, changes a matrix twice, or one that the model
        lacks, or changes weights in another way than this.
    ConversionError
        If the adapter cannot be read.
    """
    adapter = _read_adapter(Path(path))
    found = dict(available)
    used = set()
    for name, A in adapter.arrays.items():
        module = _module_changed_by(name)
        # Arrays B are found by their A; all others are refused below.
        if module is None:
            continue
        B = adapter.arrays.get(name.replace("lora_A", "lora_B"))
        weight = _weight_of(module, available)
        if weight is None or B is None:
            raise InvalidCaseError(
                "adapter",
                f"'{visible(name):.60}' changes '{visible(module):.60}.weight', which"
                f" {'the model lacks' if B is not None else 'needs lora_B'}",
            )
        # By names with and without a prefix an adapter may have two changes of one matrix.
        if found[weight.name] is not weight:
            raise InvalidCaseError(
                "adapter",
                f"'{visible(name):.60}' changes '{visible(weight.name):.60}', which another array"
                " of the adapter changes",
            )
        found[weight.name] = _changed(weight, A, B, adapter)
        used |= {A.name, B.name}
    if others := sorted(adapter.arrays.keys() - used):
        raise InvalidCaseError(
            "adapter", f"'{visible(others[0]):.60}' is not understood: lora_A and lora_B are read"
        )
    return found


def _module_changed_by(name: str) -> str | None:
    """Return the module of the model whose matrix an adapter changes, by the name of an array A, as
    ``layers.0.q_proj`` for ``base_model.model.layers.0.q_proj.lora_A.weight``; ``None`` for the
    names of other arrays.
    """
    match = re.fullmatch(r"(.*)\.lora_A(\.default)?\.weight", name)
    return None if match is None else re.sub(r"^base_model\.model\.", "", match[1])


def _weight_of(module: str, available: Mapping[str, Tensor]) -> Tensor | None:
    """Return the matrix ``weight`` of the module with this path in the adapter. In the file of the
    model its name may have a prefix more or less, as ``transformer.`` for GPT-2. ``None`` if there
    is no such matrix, or several have such names.
    """
    name = f"{module}.weight"
    if name in available:
        return available[name]
    # Names of which one is the other with a prefix.
    similar = [x for x in available if name.endswith(f".{x}") or x.endswith(f".{name}")]
    return available[similar[0]] if len(similar) == 1 else None


_KEEP_THE_WEIGHTS = (None, True, False, "gaussian", "eva", "orthogonal")
"""The values of ``init_lora_weights`` with which training begins at W itself; with others, as
``pissa``, ``olora``, ``corda``, ``loftq`` and ``lora_ga``, a part of W is subtracted from it.
"""

_OTHER_CHANGES = (
    "alpha_pattern",
    "rank_pattern",
    "use_dora",
    "bias",
    "lora_bias",
    "modules_to_save",
    "megatron_config",
    "alora_invocation_tokens",
    "arrow_config",
    "layer_replication",
    "monteclora_config",
    "use_bdlora",
    "use_qalora",
    "velora_config",
)
"""Keys of adapter_config.json that make the matrix another one than W + (α/r)·B·A, if their values
are not those of :data:`_UNSET`.
"""

_UNSET: tuple[Any, ...] = (None, False, {}, [], "none")
"""The values of keys of adapter_config.json that change nothing."""


def _read_adapter(path: Path) -> _Adapter:
    """Return the adapter in a folder, with the files adapter_model.safetensors and
    adapter_config.json; or in a file with its adapter_config.json beside it.

    Raises
    ------
    ConversionError
        If a file cannot be read, or the configuration does not say α.
    InvalidCaseError
        If the adapter changes matrices in another way than W + (α/r)·B·A.
    """
    folder = path if path.is_dir() else path.parent
    arrays = tensors(_file_of_adapter(path))
    for form in NAMES["refused_adapters"]:
        for name in arrays:
            if re.search(form["names"], name):
                raise InvalidCaseError("adapter", f"'{visible(name):.60}' {form['reason']}")
    file = folder / "adapter_config.json"
    config = _adapter_configuration(file)
    _check_is_plain(config, file)
    # JSON's true is an int in Python, and no number here.
    if type(config.get("lora_alpha")) not in (int, float):
        raise ConversionError(f"'{file}' does not say lora_alpha")
    return _Adapter(
        arrays=arrays,
        alpha=Fraction(config["lora_alpha"]),
        by_root=config.get("use_rslora") is True,
        columns=config.get("fan_in_fan_out") is True,
    )


def _file_of_adapter(path: Path) -> Path:
    """Return the file with the arrays of an adapter, ``path`` or the one in this folder."""
    if not path.is_dir():
        return path
    names = ("adapter_model.safetensors", "adapters.safetensors", "adapter_model.bin")
    present = [path / name for name in names if (path / name).exists()]
    return present[0] if present else path / names[0]


def _adapter_configuration(file: Path) -> dict[str, Any]:
    """Return the content of an adapter_config.json; ConversionError if it cannot be read."""
    if not file.exists():
        raise ConversionError(
            f"the adapter has no '{file}', which says by which factor it is multiplied"
        )
    try:
        content = read_json(read_text(file, MOST_CONFIGURATION))
    except ConversionError as reason:
        raise ConversionError(f"'{file}' cannot be read: {reason}") from None
    if not isinstance(content, dict):
        raise ConversionError(f"'{file}' is no JSON object")
    return content


def _check_is_plain(config: Mapping[str, Any], file: Path) -> None:
    """Check by the configuration of an adapter that it adds factor·B·A to the weights of the model
    as they are, and does nothing else. ``file`` is that of the configuration, for messages.

    Raises
    ------
    InvalidCaseError
        If the adapter is of another kind, or of one that is not known; or if it belongs to weights
        that were changed when training began.
    """
    kind = config.get("peft_type")
    if kind not in (None, "LORA"):
        raise InvalidCaseError(
            "adapter", f"'{file.name}' says {kind!r:.40}: adapters of the type LORA are read"
        )
    for key in _OTHER_CHANGES:
        if config.get(key) not in _UNSET:
            raise InvalidCaseError(
                "adapter", f"'{key}' in '{file.name}' is not understood: merge the adapter first"
            )
    start = config.get("init_lora_weights")  # how A and B began
    if start not in _KEEP_THE_WEIGHTS:
        raise InvalidCaseError(
            "adapter",
            f"'init_lora_weights' in '{file.name}' is {start!r:.40}, so that the adapter belongs to"
            " weights that were changed when training began: merge it there first",
        )


def _changed(weight: Tensor, A: Tensor, B: Tensor, adapter: _Adapter) -> Tensor:
    """Return the tensor W + factor·B·A, or W + factor·(B·A)ᵀ where W has the shape (in, out); it is
    computed when it is read.

    ``weight`` is W, A has the shape (r, in), and B the shape (out, r). InvalidCaseError if their
    shapes do not fit, or r = 0, for which α/r is not a number; TooLargeError, when the tensor is
    read, if W has too many entries for fractions.
    """
    are_matrices = len(A.shape) == len(B.shape) == 2
    can_be_multiplied = are_matrices and 0 < A.shape[0] == B.shape[1]
    # The shape that W has to have, (out, in) or (in, out); ``None`` if there is no product.
    shape = None
    if can_be_multiplied:
        shape = (B.shape[0], A.shape[1])
        if adapter.columns:
            shape = shape[::-1]
    if weight.shape != shape:
        raise InvalidCaseError(
            "adapter",
            f"'{visible(weight.name):.60}' is {weight.size_text}, and its change is {B.size_text}"
            f" times {A.size_text}",
        )
    factor = adapter.factor(A.shape[0], A.name)

    def read() -> Any:
        """Return W + factor·B·A, or W + factor·(B·A)ᵀ, as an array of fractions."""
        check_few_fractions(weight)
        product = numpy.dot(as_fractions(B.array()), as_fractions(A.array())) * factor
        return as_fractions(weight.array()) + (product.T if adapter.columns else product)

    return Tensor(weight.name, weight.shape, EXACT, read, sources=(weight, A, B))
