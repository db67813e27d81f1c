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
from os.path import commonprefix
from pathlib import Path
from typing import Any

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import enumeration, visible
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
    kind : str
        The kind of an array that is left out, as ``MLPs``; its name in quotation marks if that
        shows no kind; empty if it is used.
    reason : str
        Why an array of this kind changes nothing of what is said; empty if it is used.
    """

    name: str
    size: str
    used_for: str
    kind: str = ""
    reason: str = ""

    @property
    def left_out_because(self) -> str:
        """The kind and the reason of an array that is left out, as ``MLPs: each layer …``; empty if
        the array is used.
        """
        if not self.kind:
            return ""
        kind = "other" if self.kind.startswith("'") else self.kind
        return f"{kind}: {self.reason}"

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
    roles: dict[str, list[str]] = {}  # by the name of an array all of its roles, "Q of layer 1"
    for number, layer in enumerate(layers, 1):
        for name, role in _roles(layer):
            roles.setdefault(name, []).append(f"{role} of layer {number}")
    uses = []
    for name, part in available.items():
        used_for = "; ".join(roles.get(name, ()))
        kind, reason = ("", "") if used_for else _why_left_out(name, options)
        uses.append(
            ArrayUse(name=name, size=part.size_text, used_for=used_for, kind=kind, reason=reason)
        )
    return tuple(uses)


def _roles(layer: LayerTensors) -> Iterator[tuple[str, str]]:
    """Yield pairs: the name of an array of the file that a layer uses, and what it is in the layer:
    ``Q``, ``bias of O``, or ``Q, K and V`` where these are one array.
    """
    for parts, what in ((layer.parts, ""), (layer.biases, "bias of ")):
        letters: dict[str, list[str]] = {}
        for letter, part in parts.items():
            for name in sorted(part.file_names):
                letters.setdefault(name, []).append(letter)
        yield from ((name, what + enumeration(found)) for name, found in letters.items())
    norm = layer.norm
    # A norm after the layer has remarks of its own, and is not part of what the layer determines.
    if norm is not None and norm.place == "pre":
        for letter, entries in (("γ", norm.gamma), ("β", norm.beta)):
            for name in sorted(entries.file_names) if entries is not None else ():
                yield name, f"{letter} of the norm before the heads"


def _why_left_out(name: str, options: StoredOptions) -> tuple[str, str]:
    """Return the kind of an array that no layer uses, as its name or the option ``ignore`` says it,
    and why it is left out.
    """
    kinds = kinds_of(name)
    kinds += [kind for kind, part in NAMES["beside"].items() if re.search(part, name)]
    # A mask of GPT-2 is called ``bias``, too.
    if not options.biases and "biases" in kinds and "masks" not in kinds:
        kinds = ["biases"]
    if options.ignored.fullmatch(name):
        kinds = ["ignored arrays"]
    if not kinds:
        return f"'{visible(name)}'", NAMES["reasons"]["other"]
    kind = kinds[0]
    is_said = {"biases": not options.biases, "norms": options.norm == "none"}
    table = NAMES["reasons_by_options" if is_said.get(kind, False) else "reasons"]
    return kind, table[kind]


def kinds_left_out(uses: Iterable[ArrayUse]) -> tuple[str, ...]:
    """Return the kinds of the arrays that are left out, each with the number of its arrays, as
    ``MLPs (4)``; and each array of no known kind by its name in quotation marks.
    """
    counts = Counter(use.kind for use in uses if use.kind)
    return tuple(_with_count(kind, number) for kind, number in counts.items())


def left_out_words(uses: Iterable[ArrayUse]) -> str:
    """Return the kinds of the arrays that are left out, each with its reason; kinds with the same
    reason stand together: ``MLPs (3), norms (4): each layer determines …``.
    """
    counts_by_reason: dict[str, Counter[str]] = {}
    for use in uses:
        if use.kind:
            counts_by_reason.setdefault(use.reason, Counter())[use.kind] += 1
    clauses = []
    for reason, counts in counts_by_reason.items():
        kinds = [_with_count(kind, number) for kind, number in counts.items()]
        clauses.append(f"{', '.join(kinds)}: {reason}")
    return "; ".join(clauses)


def _with_count(kind: str, number: int) -> str:
    """Return a kind with the number of its arrays; the name of one array, in quotation marks, needs
    no number.
    """
    return kind if kind.startswith("'") else f"{kind} ({number})"


def check_accounted(
    layers: Sequence[LayerTensors],
    available: Mapping[str, Tensor],
    options: StoredOptions,
    *,
    known: Sequence[LayerTensors] = (),
) -> None:
    """Check that each array that belongs to a layer is read, or is one that changes nothing of what
    is said, and that no layer of attention is missed; InvalidCaseError else.

    By its name an array belongs to a layer in three cases: it is in the module of the layer, or in
    that of one of its matrices; it stands beside the matrices, and its name shows no kind; or it is
    in the block around the module, and is a factor of the outputs, or of a kind that makes the
    layer another function.

    Where the names of matrices are given, ``known`` are the layers with usual names, whose arrays
    are understood though they are not read; other layers are not looked for then.
    """
    ignored = options.ignored
    _check_no_head_is_missed(layers, [name for name in available if not ignored.fullmatch(name)])
    used = file_names(part for layer in (*layers, *known) for part in layer.all_tensors())
    unread = [name for name in available if name not in used and not ignored.fullmatch(name)]
    for layer in layers:
        modules = modules_of(layer)
        blocks = blocks_around(modules)
        # A layer that is taken for one head has matrices that are called Q, K and V, or as a user
        # says: these may stand beside any other arrays.
        beside = "" if layer.is_one_head else common_module(layer)
        for name in unread:
            is_factor = name.startswith(blocks) and re.search(NAMES["factors"], name)
            may_belong = (
                name.startswith(modules)
                or (name.startswith(blocks) and _row_not_in_model(name) is not None)
                or _is_sibling(name, beside)
            )
            if is_factor or (may_belong and not _changes_nothing(name, options)):
                raise InvalidCaseError("ignore", _not_understood(available[name], layer))
    if not known:
        _check_no_layer_is_missed(unread, available, layers)


def _row_not_in_model(name: str) -> Mapping[str, str] | None:
    """Return the row of the table on what makes a layer another function by an array's name."""
    return next((row for row in NAMES["not_in_model"] if re.search(row["names"], name)), None)


def _not_understood(part: Tensor, layer: LayerTensors) -> str:
    """Return the message about an array of a layer that is not read, and what it does there."""
    subject = f"{part.quoted} ({part.size_text}) belongs to the layer of {layer.parts['V'].quoted}"
    if row := _row_not_in_model(part.name):
        return (
            f"{subject} and {row['reason']}, which is not in the model here; {row['option']}"
            " for the layer without it"
        )
    return (
        f"{subject} and is not understood, so that nothing is said of it; if it changes nothing,"
        " say that it is ignored"
    )


_OF_ONE_HEAD = re.compile(r"(?P<before>.*\bheads[./])\d+(?P<after>[./].*)")
"""Names of arrays of a head that is a module of its own, as ``heads.0.query.weight``."""


def _check_no_head_is_missed(layers: Sequence[LayerTensors], names: Iterable[str]) -> None:
    """Check that with a head that is a module of its own all other heads of its module are read."""
    used = file_names(part for layer in layers for part in layer.parts.values())
    matches = [match for name in sorted(used) if (match := _OF_ONE_HEAD.fullmatch(name))]
    read = {match.group("before", "after"): match[0] for match in matches}
    for name in names:
        match = _OF_ONE_HEAD.fullmatch(name)
        if match is None or name in used or match.group("before", "after") not in read:
            continue
        first = read[match.group("before", "after")]
        raise InvalidCaseError(
            "query",
            f"names one head, with '{visible(first):.120}', and '{visible(name):.120}' is of"
            " another head of this layer: without query, key and value all heads are read; for"
            " one head alone say that the others are ignored",
        )


def _check_no_layer_is_missed(
    names: Iterable[str], available: Mapping[str, Tensor], layers: Iterable[LayerTensors]
) -> None:
    """Check that none of the arrays ``names``, which no layer has, is a matrix in a module of
    attention by its name: of its layer nothing would be said.
    """
    # Where some layers are of texts, only these were read, and layers of images are left out.
    of_texts = not all(re.search(NAMES["images"], layer.name) for layer in layers)
    for name in names:
        part = available[name]
        is_known = kinds_of(name) or any(
            re.search(known, name) for known in NAMES["beside"].values()
        )
        if is_known or (of_texts and re.search(NAMES["images"], name)) or len(part.shape) < 2:
            continue
        if re.search(NAMES["matrices_of_attention"], name):
            raise InvalidCaseError(
                "ignore",
                f"{part.quoted} ({part.size_text}) is of attention by its name, and belongs to no"
                " layer that is understood: give the names of query, key and value, or say that it"
                " is ignored",
            )


def blocks_around(modules: Iterable[str]) -> tuple[str, ...]:
    """Return the beginnings of the names of all that stands beside modules in their blocks:
    ``layers.0.`` for ``layers.0.attn.``. Where one module of attention is around another one, both
    are in the block; without a block around a module, what is beside it is not seen.
    """
    found = set()
    for module in modules:
        block = without_last_word(module) if module[-1] in "./" else ""
        # The pattern fits the last word of a path, which is taken away each time.
        while re.search(NAMES["attention"], block):
            block = without_last_word(block)
        found.add(block)
    return tuple(found - {""})


def modules_of(layer: LayerTensors) -> tuple[str, ...]:
    """Return the beginnings of names such that all arrays whose names begin so belong to a layer:
    its module, as ``layers.0.attn.``, if that is one of attention by its name, and the modules of
    its matrices, as ``layers.0.attn.q_proj.``.
    """
    found: set[str] = set()
    for name in file_names(layer.parts.values()):
        if matrix := re.fullmatch(r"(.*[./])(weight|kernel)(:0)?", name):
            found.add(matrix[1])
        # nn.MultiheadAttention has ``bias_k`` and ``bias_v`` beside its matrices, or one bias for
        # three of them; it may stand alone, without a module around it.
        if name.endswith("in_proj_weight"):
            found.add(name.removesuffix("in_proj_weight") + "bias_")
        if name.endswith("q_proj_weight"):
            found.add(name.removesuffix("q_proj_weight") + "in_proj_bias")
    module = common_module(layer)
    # Without O among the matrices, it may stand in the module around that of Q, K and V (BERT).
    around = [] if "O" in layer.parts else [without_last_word(module)]
    return (*found, *(one for one in (module, *around) if re.search(NAMES["attention"], one)))


def common_module(layer: LayerTensors) -> str:
    """Return the beginning that the names of all matrices of a layer have in common, up to the last
    dot or slash in it, as ``layers.0.attn.``; empty if there is none.
    """
    common = commonprefix(sorted(file_names(layer.parts.values())))  # noqa: RUF071
    return common[: max(common.rfind("."), common.rfind("/")) + 1]


def _is_sibling(name: str, module: str) -> bool:
    """Return whether an array stands beside the matrices of a layer, in ``module`` and in no module
    inside it, and its name shows no kind; if ``module`` is empty, no array does.
    """
    if not module or not name.startswith(module) or kinds_of(name):
        return False
    own_name = re.sub(r"[./](weight|kernel)(:0)?$", "", name.removeprefix(module))
    return not re.search(r"[./]", own_name)


def _changes_nothing(name: str, options: StoredOptions) -> bool:
    """Return whether an array beside a layer changes nothing of what is said of it, by its name: a
    buffer, a position, of attention to other tokens, or a bias or norm that is left out.
    """
    kinds = kinds_of(name)
    return (
        any(re.search(known, name) for known in NAMES["beside"].values())
        or "attention to other tokens" in kinds
        or ("biases" in kinds and not options.biases)
        or ("norms" in kinds and options.norm == "none")
    )
