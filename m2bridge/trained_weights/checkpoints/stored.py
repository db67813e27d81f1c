"""Arrays of a file that are not weights as they stand: second copies, integers with scales, changes
of low rank, and factors of outputs.

Copies that training keeps are not layers of their own. Integers of bitsandbytes are multiplied by
their scales, and adapters (LoRA) are added to the matrices that they change, both exactly, as
fractions. Other forms are refused by their names, with what to convert.

LayerScale multiplies the outputs of a layer by diag(γ): diag(γ)·(Σ_h O_h V_h … + b) has the
matrices diag(γ)·O_h and the bias γ∘b, so that the layer with its factors is a layer of this model.

``available`` are all arrays by their names. What cannot be read exactly is an InvalidCaseError, a
file that cannot be read a ConversionError, and too many fractions are a TooLargeError when an array
is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import isqrt, prod
from pathlib import Path
from typing import Any

import numpy

from m2bridge.convert.bounded_io import read_json, read_text
from m2bridge.errors import ConversionError, InvalidCaseError, TooLargeError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.array_names import NAMES
from m2bridge.trained_weights.checkpoints.arrays import EXACT, Tensor, as_fractions
from m2bridge.trained_weights.checkpoints.files import tensors
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors

MAX_FRACTIONS = 2**24
"""The largest number of entries of a matrix that are computed as fractions."""


def without_copies(available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the arrays without the state of an optimizer, and without averages of the weights
    where the weights themselves are there.
    """

    def without(found: Mapping[str, Tensor], kind: str) -> dict[str, Tensor]:
        expression = NAMES["others"][kind]
        return {name: part for name, part in found.items() if not re.search(expression, name)}

    found = without(available, "states of an optimizer")
    weights = without(found, "averages of the weights")
    # In a file without other matrices the averages are the weights.
    has_matrix = any(len(part.shape) > 1 for part in weights.values())
    return weights if has_matrix else found


def refused_form(names: Mapping[str, Any]) -> str:
    """Return a clause on the first array in a form that is refused by its name; or empty."""
    for form in NAMES["refused"]:
        for name in names:
            if re.search(form["names"], name):
                return f"'{visible(name):.60}' {form['reason']}"
    return ""


def dequantized(available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the arrays with the weights in place of the integers that LLM.int8() of bitsandbytes
    stores: each row of integers times its scale, divided by 127. The scale is the largest absolute
    value in the row, for which the integer 127 stands.
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
        # As it is used to read the weights, the array on the order is among their sources.
        sources = [weight, scales]
        order = available.get(f"{module}weight_format")
        if order is not None:
            # 0 says that the integers stand row by row; other numbers mean tiles.
            if order.array().tolist() not in (0, [0]):
                raise InvalidCaseError(
                    "weights",
                    f"'{visible(order.name):.60}' says that the integers are in tiles: save the"
                    " model in float16",
                )
            del found[order.name]
            sources.append(order)
        del found[scales.name]
        read = partial(_scaled, weight, scales)
        found[weight.name] = Tensor(weight.name, weight.shape, EXACT, read, sources=tuple(sources))
    return found


def _scaled(weight: Tensor, scales: Tensor) -> Any:
    """Read and return integers·scales/127, row by row, as an array of fractions."""
    check_few_fractions(weight)
    scale = as_fractions(scales.array()) / 127
    return as_fractions(weight.array()) * scale[:, None]


def check_few_fractions(part: Tensor) -> None:
    """Check that the entries of an array do not take too much memory as fractions."""
    if prod(part.shape) > MAX_FRACTIONS:
        raise TooLargeError(
            f"'{visible(part.name):.120}' is {part.size_text}; at most {MAX_FRACTIONS} entries are"
            " computed as fractions, each of which takes more than a hundred bytes: save the model"
            " with these weights merged, or dequantized, in float32, which rounds them"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """A LoRA adapter, which has W + factor·B·A in place of a matrix W: A of shape (r, in) and B of
    shape (out, r), of rank r.
    """

    arrays: Mapping[str, Tensor]  # A and B for each changed matrix, by their names
    alpha: Fraction
    by_root: bool  # whether the factor is α/√r, and not α/r
    columns: bool  # whether W has the shape (in, out), and not (out, in)

    def factor(self, rank: int, name: str) -> Fraction:
        """Return the factor for this rank, at least 1; it has to be rational."""
        if not self.by_root:
            return self.alpha / rank
        root = isqrt(rank)
        if root * root != rank:
            raise InvalidCaseError(
                "adapter", f"'{visible(name):.60}' is multiplied by α/√{rank}, which is not exact"
            )
        return self.alpha / root


def merged(available: Mapping[str, Tensor], path: str | Path) -> dict[str, Tensor]:
    """Return the arrays of a model with W + (α/r)·B·A, exactly, in place of each matrix W that the
    adapter in a file or folder changes; or with α/√r, if the adapter says so.
    """
    adapter = _read_adapter(Path(path))
    found = dict(available)
    used = set()
    for name, A in adapter.arrays.items():
        # Arrays B are found by their A; all others are refused below.
        match = re.fullmatch(r"(.*)\.lora_A(\.default)?\.weight", name)
        if match is None:
            continue
        module = re.sub(r"^base_model\.model\.", "", match[1])
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
        found[weight.name] = changed(weight, A, B, adapter)
        used |= {A.name, B.name}
    if others := sorted(adapter.arrays.keys() - used):
        raise InvalidCaseError(
            "adapter", f"'{visible(others[0]):.60}' is not understood: lora_A and lora_B are read"
        )
    return found


def _weight_of(module: str, available: Mapping[str, Tensor]) -> Tensor | None:
    """Return the matrix ``weight`` of the module with this path in the adapter. In the file of the
    model its name may have a prefix more or less, as ``transformer.`` for GPT-2. ``None`` if there
    is no such matrix, or several have such names.
    """
    name = f"{module}.weight"
    if name in available:
        return available[name]
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


def _read_adapter(path: Path) -> Adapter:
    """Return the adapter in a folder, or in a file with its adapter_config.json beside it, if it
    adds factor·B·A to the weights of the model as they are, and does nothing else.
    """
    file = path
    if path.is_dir():
        names = ("adapter_model.safetensors", "adapters.safetensors", "adapter_model.bin")
        present = [path / name for name in names if (path / name).exists()]
        file = present[0] if present else path / names[0]
    arrays = tensors(file)
    for form in NAMES["refused_adapters"]:
        for name in arrays:
            if re.search(form["names"], name):
                raise InvalidCaseError("adapter", f"'{visible(name):.60}' {form['reason']}")
    config_file = (path if path.is_dir() else path.parent) / "adapter_config.json"
    config = _adapter_configuration(config_file)
    kind = config.get("peft_type")
    if kind not in (None, "LORA"):
        raise InvalidCaseError(
            "adapter", f"'{config_file.name}' says {kind!r:.40}: adapters of the type LORA are read"
        )
    for key in _OTHER_CHANGES:
        if config.get(key) not in _UNSET:
            raise InvalidCaseError(
                "adapter",
                f"'{key}' in '{config_file.name}' is not understood: merge the adapter first",
            )
    start = config.get("init_lora_weights")  # how A and B began
    if start not in _KEEP_THE_WEIGHTS:
        raise InvalidCaseError(
            "adapter",
            f"'init_lora_weights' in '{config_file.name}' is {start!r:.40}, so that the adapter"
            " belongs to weights that were changed when training began: merge it there first",
        )
    # JSON's true is an int in Python, and no number here.
    if type(config.get("lora_alpha")) not in (int, float):
        raise ConversionError(f"'{config_file}' does not say lora_alpha")
    return Adapter(
        arrays=arrays,
        alpha=Fraction(config["lora_alpha"]),
        by_root=config.get("use_rslora") is True,
        columns=config.get("fan_in_fan_out") is True,
    )


def read_configuration(file: Path) -> Any:
    """Return the content of a file such as config.json, of at most a megabyte."""
    return read_json(read_text(file, 1_000_000))


def _adapter_configuration(file: Path) -> dict[str, Any]:
    """Return the content of an adapter_config.json."""
    if not file.exists():
        raise ConversionError(
            f"the adapter has no '{file}', which says by which factor it is multiplied"
        )
    try:
        content = read_configuration(file)
    except ConversionError as reason:
        raise ConversionError(f"'{file}' cannot be read: {reason}") from None
    if not isinstance(content, dict):
        raise ConversionError(f"'{file}' is no JSON object")
    return content


def changed(weight: Tensor, A: Tensor, B: Tensor, adapter: Adapter) -> Tensor:
    """Return the tensor W + factor·B·A, or W + factor·(B·A)ᵀ where W has the shape (in, out);
    InvalidCaseError if the shapes do not fit, or r = 0, for which α/r is not a number.
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
        check_few_fractions(weight)
        product = numpy.dot(as_fractions(B.array()), as_fractions(A.array())) * factor
        return as_fractions(weight.array()) + (product.T if adapter.columns else product)

    return Tensor(weight.name, weight.shape, EXACT, read, sources=(weight, A, B))


_SHORT = ("float16", "bfloat16", "float32")
"""The types of which a product of two is exact in double precision."""


def with_factors(layer: LayerTensors, available: Mapping[str, Tensor]) -> LayerTensors:
    """Return the layer with the factors γ of its outputs multiplied into O and its bias.

    Factors beside a layer without O, or with another number of entries than its outputs have, are
    refused later, as arrays that belong to the layer.
    """
    output = layer.parts.get("O")
    if output is None or len(output.shape) < 2:
        return layer
    gamma = _factors_beside(output, available)
    # O has the shape (d', heads·v), or (heads, d', v).
    outputs = output.shape[-2]
    if gamma is None or gamma.shape != (outputs,):
        return layer
    parts = {**layer.parts, "O": _scaled_rows(output, gamma, is_matrix=True)}
    biases = dict(layer.biases)
    if "O" in biases:
        biases["O"] = _scaled_rows(biases["O"], gamma, is_matrix=False)
    return replace(layer, parts=parts, biases=biases, has_factors=True)


def _factors_beside(output: Tensor, available: Mapping[str, Tensor]) -> Tensor | None:
    """Return the array of factors beside O, by its name: the only one in the innermost block around
    O that has any. ``None`` if no block has one, or this block has several.
    """
    # The name of one array, also where O is made from several: these are in the same blocks.
    name = min(output.file_names)
    # The beginnings of the name up to each dot or slash: ``layers.``, ``layers.0.``, ….
    blocks = [name[: match.start() + 1] for match in re.finditer(r"[./]", name)]
    # The innermost block comes first: an outer one holds other layers too.
    for block in reversed(blocks):
        found = []
        for other, part in available.items():
            if other.startswith(block) and re.fullmatch(NAMES["factors"], other[len(block) :]):
                found.append(part)
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _scaled_rows(part: Tensor, gamma: Tensor, *, is_matrix: bool) -> Tensor:
    """Return the tensor with γ_i times row i of a matrix, of all heads, or times entry i of a bias.

    Products of two numbers of 24 bits or fewer are exact in double precision; else they are
    fractions.
    """
    is_short = part.kind in _SHORT and gamma.kind in _SHORT

    def read() -> Any:
        entries, factors = part.array(), gamma.array()
        if is_short:
            entries, factors = entries.astype(float), factors.astype(float)
        else:
            check_few_fractions(part)
            entries, factors = as_fractions(entries), as_fractions(factors)
        # As a column, the factors multiply the rows of the last two indices.
        product = entries * (factors[:, None] if is_matrix else factors)
        return numpy.asarray(product)

    return Tensor(part.name, part.shape, part.kind, read, sources=(part, gamma))
