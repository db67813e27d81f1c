"""What each array of a file is used for, or why it is left out.

An array that belongs to a layer and is not understood is refused: what is proved of a layer is
proved of all of it. Every other array of a file is listed, with the reason why it changes nothing
of what is said.

Names are seen as paths: in ``layers.0.attn.q_proj.weight`` the *module* of attention is
``layers.0.attn.``, and ``layers.0.`` is the *block* around it, in which MLPs and norms stand beside
the module. A layer has ``parts``, the arrays of its matrices by their letters. The *kind* of an
array is what its name says of it, such as ``norms`` or ``MLPs``. ``NAMES`` are the tables of
regular expressions in ``names.toml``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Self

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.arrays import Tensor, without_last_word
from m2bridge.trained_weights.checkpoints.names import file_names, kinds_of
from m2bridge.trained_weights.checkpoints.tensors import NAMES, LayerTensors


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOptions:
    """The options about how weights are stored, and what of a file is left out.

    Parameters
    ----------
    layout : str or None
        How arrays are stored, in words of :data:`~.layouts.LAYOUT_WORDS`.
    ignore : str or None
        The names of arrays that are left out, separated by commas; ``*`` stands for any text.
    adapter : path or None
        A LoRA adapter that is merged.
    biases : bool
        Whether biases count; else arrays that are biases by their names are left out.
    norm : str or None
        The option ``norm``. With ``none`` all arrays beside a layer that are norms by their names
        are left out, norms of queries and keys, too; any other value changes nothing here.
    """

    layout: str | None = None
    ignore: str | None = None
    adapter: str | Path | None = None
    biases: bool = True
    norm: str | None = None

    @property
    def ignored(self) -> re.Pattern[str]:
        """A regular expression that the whole name of an array fits if it is ignored: the names of
        the option, in which a star stands for any text.
        """
        names = [name.strip() for name in (self.ignore or "").split(",") if name.strip()]
        expression = "|".join(map(re.escape, names)).replace(r"\*", ".*")
        fits_nothing = r"(?!)"
        return re.compile(expression or fits_nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayUse:
    """What an array of a file is used for, or why it is left out.

    Parameters
    ----------
    name : str
    size : str
        The shape in words, as ``64 × 768``.
    used_for : str
        What it is used for, as ``Q of layer 1``; empty if the array is left out.
    left_out_because : str
        Why it is left out, and changes nothing of what is said; empty if it is used.
    """

    name: str
    size: str
    used_for: str
    left_out_because: str

    def to_json(self) -> dict[str, Any]:
        """Return name and use for ``json.dumps``; an empty text is ``None``."""
        return {
            "name": self.name,
            "used_for": self.used_for or None,
            "left_out_because": self.left_out_because or None,
        }


def array_uses(
    available: Mapping[str, Tensor], layers: Sequence[LayerTensors], options: StoredOptions
) -> tuple[ArrayUse, ...]:
    """Return for each array, in the order of the file, what it is used for, or why it is left out.

    ``available`` are all arrays of the file by their names, and ``layers`` the layers that were
    found in it, in their order.
    """
    # By the name of an array all that it is used for, as ["Q of layer 1"].
    roles: dict[str, list[str]] = {}
    for number, layer in enumerate(layers, 1):
        for name, role in _roles(layer):
            roles.setdefault(name, []).append(f"{role} of layer {number}")
    of_norms_after = _names_of_norms_after(layers)
    uses = []
    for name, part in available.items():
        used_for = "; ".join(roles.get(name, ()))
        because = ""
        # Arrays of norms after layers have no role, but a reason of their own.
        if name in of_norms_after:
            because = f"norms: {NAMES['norm_after']}"
        elif used_for == "":
            because = _why_left_out(name, options)
        uses.append(
            ArrayUse(name=name, size=part.size_text, used_for=used_for, left_out_because=because)
        )
    return tuple(uses)


def _names_of_norms_after(layers: Iterable[LayerTensors]) -> frozenset[str]:
    """Return the names of the arrays of norms that stand after their layers, which change nothing
    of what is said of the layers.
    """
    found: frozenset[str] = frozenset()
    for layer in layers:
        if layer.norm is not None and layer.norm.place == "post":
            found |= file_names(layer.norm.tensors())
    return found


def _roles(layer: LayerTensors) -> Iterator[tuple[str, str]]:
    """Yield pairs: the name of an array of the file that a layer uses, and what it is in the layer:
    ``Q``, ``bias of O``, or ``Q, K and V`` where these are one array.
    """
    for name, letters in _letters_by_name(layer.parts).items():
        yield name, letters
    for name, letters in _letters_by_name(layer.biases).items():
        yield name, f"bias of {letters}"
    norm = layer.norm
    # A norm after the layer has remarks of its own, and is not part of what the layer determines.
    if norm is None or norm.place == "post":
        return
    for letter, entries in (("γ", norm.gamma), ("β", norm.beta)):
        if entries is not None:
            for name in sorted(entries.file_names):
                yield name, f"{letter} of the norm before the heads"


def _letters_by_name(parts: Mapping[str, Tensor]) -> dict[str, str]:
    """Return, by the name of each array of the file, the letters of the matrices, or biases, that
    are made from it, in words: ``Q``, or ``Q, K and V``.

    ``parts`` are the matrices, or biases, by their letters. Several of them may be made from one
    array, and one of them from several arrays.
    """
    found: dict[str, list[str]] = {}
    for letter, part in parts.items():
        for name in sorted(part.file_names):
            found.setdefault(name, []).append(letter)
    return {name: _listed_letters(letters) for name, letters in found.items()}


def _listed_letters(letters: Sequence[str]) -> str:
    """Return one or more letters in words: ``Q``, ``Q and K``, ``Q, K and V``."""
    *others, last = letters
    return f"{', '.join(others)} and {last}" if others else last


def _why_left_out(name: str, options: StoredOptions) -> str:
    """Return why an array that no layer has is left out: the option ``ignore``, if that names the
    array; else a kind that its name shows, with a reason, as ``MLPs: each layer …``.

    A name may show several kinds: the first one with a reason of its own in the table is taken. If
    there is none, the reason is that of ``other``, after the first kind, or after ``other`` if the
    name shows no kind.
    """
    if options.ignored.fullmatch(name):
        return "left out by the option ignore"
    kinds = list(kinds_of(name))
    for kind, expression in _kinds_that_change_nothing():
        if re.search(expression, name):
            kinds.append(kind)
    reasons: Mapping[str, str] = NAMES["reasons"]
    for kind in kinds:
        if kind in reasons:
            return f"{kind}: {reasons[kind]}"
    first = kinds[0] if kinds else "other"
    return f"{first}: {reasons['other']}"


def _kinds_that_change_nothing() -> Iterable[tuple[str, str]]:
    """Return pairs: a kind of arrays beside the matrices of a layer that change nothing, such as
    masks, and a regular expression that fits a part of the names of such arrays.
    """
    beside: Mapping[str, str] = NAMES["beside"]
    return beside.items()


def left_out(available: Iterable[str], layers: Iterable[LayerTensors]) -> tuple[str, ...]:
    """Return the kinds of the arrays that do not determine the results, each with the number of its
    arrays, as ``MLPs (4)``; and each array of no known kind by its name in quotation marks.

    ``available`` are the names of all arrays, and ``layers`` the layers that are analysed. An array
    of several kinds is counted under the first.
    """
    used = file_names(part for layer in layers for part in layer.analysed_tensors())
    counts: Counter[str] = Counter()
    for name in available:
        if name in used:
            continue
        kinds = kinds_of(name)
        counts[kinds[0] if kinds else f"'{visible(name)}'"] += 1
    found = []
    for kind, number in counts.items():
        # Quotation marks are around the name of one array, which needs no number.
        is_name = kind.startswith("'")
        found.append(kind if is_name else f"{kind} ({number})")
    return tuple(found)


def check_accounted(
    layers: Sequence[LayerTensors],
    available: Mapping[str, Tensor],
    options: StoredOptions,
    *,
    known: Sequence[LayerTensors] = (),
) -> None:
    """Check that each array that belongs to a layer is read, or is one that changes nothing of what
    is said, and that no layer of attention is missed.

    By its name an array belongs to a layer in three cases:

    * it is in the module of the layer, or in that of one of its matrices;
    * it stands beside the matrices, and its name shows no kind;
    * it is in the block around the module, and is a factor of the outputs, or of a kind that makes
      the layer another function.

    Parameters
    ----------
    layers : sequence of LayerTensors
        The layers that are read.
    available : dict
        All arrays by their names.
    options : StoredOptions
    known : sequence of LayerTensors
        Where the names of matrices are given, the layers with usual names, whose arrays are
        understood though they are not read. Other layers are not looked for then.

    Raises
    ------
    InvalidCaseError
        If an array that belongs to a layer is not understood, or a layer is missed.
    """
    ignored = options.ignored
    used: set[str] = set()
    for layer in (*layers, *known):
        used |= file_names(layer.all_tensors())
    unread = [name for name in available if name not in used and not ignored.fullmatch(name)]
    for layer in layers:
        names = _NamesOfLayer.of(layer)
        for name in unread:
            if names.include(name, options):
                raise InvalidCaseError("ignore", _not_understood(available[name], layer))
    if not known:
        _check_no_layer_is_missed(unread, available, layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _NamesOfLayer:
    """How the names of the arrays begin that belong to a layer, or may do so.

    Parameters
    ----------
    modules : tuple of str
        The module of the layer, and those of its matrices: names that begin so are of the layer.
    blocks : tuple of str
        The blocks around these modules: a name that begins so may be of the layer by its kind.
    module_of_siblings : str
        The module in which all matrices stand: an array of no known kind beside them may be of the
        layer. Empty if siblings of the matrices are not looked for.
    """

    modules: tuple[str, ...]
    blocks: tuple[str, ...]
    module_of_siblings: str

    @classmethod
    def of(cls, layer: LayerTensors) -> Self:
        """Return the beginnings of the names for a layer, by the names of its matrices."""
        modules = modules_of(layer)
        # A layer that is taken for one head has matrices that are called Q, K and V, or as a user
        # says: these may stand beside any other arrays.
        siblings = "" if layer.is_one_head else common_module(layer)
        return cls(modules=modules, blocks=blocks_around(modules), module_of_siblings=siblings)

    def include(self, name: str, options: StoredOptions) -> bool:
        """Return whether an array belongs to the layer by its name, and may change what is said of
        the layer with these options.

        In the modules every array is of the layer; in the blocks around them factors of the outputs
        are, and arrays that make the layer another function; and beside its matrices their
        siblings.
        """
        if name.startswith(self.modules) and not _changes_nothing(name, options):
            return True
        if name.startswith(self.blocks):
            is_factor = re.search(NAMES["factors"], name) is not None
            if is_factor or _is_not_in_model(name, options):
                return True
        return _is_sibling(name, self.module_of_siblings, options)


def _is_not_in_model(name: str, options: StoredOptions) -> bool:
    """Return whether the name of an array in the block around a layer says that the layer computes
    what the model here does not, and the options do not leave the array out.
    """
    is_known = any(re.search(row["names"], name) for row in NAMES["not_in_model"])
    return is_known and not _changes_nothing(name, options)


def _not_understood(part: Tensor, layer: LayerTensors) -> str:
    """Return the message about an array of a layer that is not read: its name, size and layer, and
    what it does in the layer where its name says it.
    """
    # A layer is named by its V, which each layer has.
    subject = f"'{visible(part.name):.120}' ({part.size_text}) belongs to the layer of"
    subject += f" '{visible(layer.parts['V'].name):.120}'"
    for row in NAMES["not_in_model"]:
        if re.search(row["names"], part.name):
            return (
                f"{subject} and {row['reason']}, which is not in the model here; {row['option']}"
                " for the layer without it"
            )
    return (
        f"{subject} and is not understood, so that nothing is said of it; if it changes nothing,"
        " say that it is ignored"
    )


def blocks_around(modules: Iterable[str]) -> tuple[str, ...]:
    """Return the beginnings of the names of all that stands beside modules in their blocks:
    ``layers.0.`` for ``layers.0.attn.``.
    """
    found = set()
    for module in modules:
        # A module ends with a dot or a slash; other beginnings of names have no block around them.
        block = without_last_word(module) if module[-1] in "./" else ""
        # Where one module of attention is around another one, both are in the block. The pattern
        # fits the last word of a path and the one separator after it, which are taken away each
        # time, so that the loop ends.
        while re.search(NAMES["attention"], block):
            block = without_last_word(block)
        found.add(block)
    # Without a block around a module, what is beside it is not seen.
    return tuple(found - {""})


def _check_no_layer_is_missed(
    names: Iterable[str], available: Mapping[str, Tensor], layers: Iterable[LayerTensors]
) -> None:
    """Check that no matrix is left over whose name is that of a matrix in a module of attention.

    ``names`` are the names of the arrays that no layer has, ``available`` has all arrays by their
    names, and ``layers`` are the layers that were found.

    Raises
    ------
    InvalidCaseError
        If there is such a matrix: it is of another layer, of which nothing would be said.
    """
    # Where some layers are of texts, only these were read, and layers of images are left out.
    is_of_texts = not all(re.search(NAMES["images"], layer.name) for layer in layers)
    for name in names:
        is_matrix = len(available[name].shape) >= 2
        if not is_matrix or not re.search(NAMES["matrices_of_attention"], name):
            continue
        is_of_images = is_of_texts and re.search(NAMES["images"], name) is not None
        # A name of a known kind, as ``attention to other tokens``, is listed as left out; and an
        # array such as a mask is no matrix of weights.
        if kinds_of(name) or _is_kind_that_changes_nothing(name) or is_of_images:
            continue
        raise InvalidCaseError(
            "ignore",
            f"'{visible(name):.120}' ({available[name].size_text}) is of attention by its name, and"
            " belongs to no layer that is understood: give the names of query, key and value, or"
            " say that it is ignored",
        )


def _is_kind_that_changes_nothing(name: str) -> bool:
    """Return whether an array is by its name of a kind that changes nothing, such as a mask."""
    return any(re.search(expression, name) for _, expression in _kinds_that_change_nothing())


def modules_of(layer: LayerTensors) -> tuple[str, ...]:
    """Return the beginnings of names such that all arrays whose names begin so belong to a layer:
    its module, as ``layers.0.attn.``, if that is one of attention by its name, and the modules of
    its matrices, as ``layers.0.attn.q_proj.``.
    """
    found: set[str] = set()
    for name in file_names(layer.parts.values()):
        found.update(_beginnings_of_matrix(name))
    module = common_module(layer)
    beginnings = [module]
    if "O" not in layer.parts:
        # The output matrix may stand beside the module of Q, K and V, as in BERT: in the module
        # around that.
        beginnings.append(without_last_word(module))
    found |= {beginning for beginning in beginnings if re.search(NAMES["attention"], beginning)}
    return tuple(found)


def _beginnings_of_matrix(name: str) -> Iterator[str]:
    """Yield the beginnings of the names of arrays that belong to the matrix with this name: its
    module, as ``attn.q_proj.`` for ``attn.q_proj.weight``, or for a matrix of PyTorch's
    nn.MultiheadAttention its biases, as ``attn.in_proj_bias`` for ``attn.q_proj_weight``. For other
    names nothing is yielded.
    """
    matrix = re.fullmatch(r"(.*[./])(weight|kernel)(:0)?", name)
    if matrix:
        yield matrix[1]
    # nn.MultiheadAttention has arrays of these names, and beside them ``bias_k`` and ``bias_v``, or
    # one bias for three matrices; it may stand alone, without a module around it.
    if name.endswith("in_proj_weight"):
        yield name.removesuffix("in_proj_weight") + "bias_"
    if name.endswith("q_proj_weight"):
        yield name.removesuffix("q_proj_weight") + "in_proj_bias"


def common_module(layer: LayerTensors) -> str:
    """Return the beginning that the names of all matrices of a layer have in common, up to the last
    dot or slash in it, as ``layers.0.attn.``; empty if there is none.
    """
    names = sorted(file_names(layer.parts.values()))
    # The names are sorted: what the first and the last begin with, all of them begin with.
    first, last = names[0], names[-1]
    # Of names of different lengths only as many letters are compared as the shorter one has.
    equal = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    common = "".join(letter for letter, _ in equal)
    end = max(common.rfind("."), common.rfind("/"))
    return common[: end + 1]


def _is_sibling(name: str, module: str, options: StoredOptions) -> bool:
    """Return whether an array is a *sibling* of the matrices of a layer: it stands in the same
    module, has no known kind, and may change the layer, as it is not left out by the options.

    ``module`` is that of the matrices, as ``layers.0.attn.``; if it is empty, no array is a
    sibling.
    """
    if not module or not name.startswith(module) or kinds_of(name):
        return False
    own_name = re.sub(r"[./](weight|kernel)(:0)?$", "", name.removeprefix(module))
    # An array whose own name has a dot is in a module inside this one, not beside the matrices.
    is_beside = not re.search(r"[./]", own_name)
    return is_beside and not _changes_nothing(name, options)


def _changes_nothing(name: str, options: StoredOptions) -> bool:
    """Return whether an array beside a layer changes nothing of what is said of the layer, by its
    name: as a buffer, a position, an array of attention to other tokens, or a bias or norm that the
    options leave out.
    """
    if _is_kind_that_changes_nothing(name):
        return True
    kinds = kinds_of(name)
    # K and Q of other tokens are a layer of their own.
    if "attention to other tokens" in kinds:
        return True
    if "biases" in kinds and not options.biases:
        return True
    return "norms" in kinds and options.norm == "none"
