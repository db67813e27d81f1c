"""What each array of a file is used for, or why it is left out.

An array that belongs to a layer and is not understood is refused: what is proved of a layer is
proved of all of it. Every other array of a file is listed, with the reason why it changes nothing
of what is said.

A layer has ``parts``, the arrays of its matrices by their letters. Kinds of arrays, and the module
and the block of a layer, are those of ``array_names``. ``available`` are all arrays of a file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import enumeration, visible
from m2bridge.trained_weights.checkpoints.array_names import (
    NAMES,
    blocks_around,
    common_module,
    kinds_beside,
    kinds_of,
    modules_of,
)
from m2bridge.trained_weights.checkpoints.arrays import Tensor, file_names
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOptions:
    """The options about how weights are stored, and what of a file is left out, as ``options`` of
    the command has them; ``biases`` is whether biases count.
    """

    layout: str | None = None
    ignore: str | None = None
    adapter: str | Path | None = None
    biases: bool = True
    norm: str | None = None  # with ``none`` norms of queries and keys are left out, too

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
    """What an array of a file is used for, or why it is left out; the other text is empty."""

    name: str
    size: str  # the shape in words, as ``64 × 768``
    used_for: str  # as ``Q of layer 1``
    kind: str = ""  # as ``MLPs``; its name in quotation marks if that shows no kind
    reason: str = ""  # why an array of this kind changes nothing of what is said

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


REASONS = {kind: row["because"] for row in NAMES["reasons"] for kind in row["of"]}
"""Why arrays of a kind that no layer uses change nothing of what is said."""
REASONS_BY_OPTIONS = {
    kind: row["because"] for row in NAMES["reasons_by_options"] for kind in row["of"]
}
"""The same where an option says that they are left out."""


def array_uses(
    available: Mapping[str, Tensor], layers: Sequence[LayerTensors], options: StoredOptions
) -> tuple[ArrayUse, ...]:
    """Return for each array, in the order of the file, what it is used for, or why it is left out;
    ``layers`` are all layers of the file.
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
    kinds = kinds_of(name) + kinds_beside(name)
    # A mask of GPT-2 is called ``bias``, too.
    if not options.biases and "biases" in kinds and "masks" not in kinds:
        kinds = ["biases"]
    if options.ignored.fullmatch(name):
        kinds = ["ignored arrays"]
    if not kinds:
        return f"'{visible(name)}'", REASONS["other"]
    kind = kinds[0]
    is_said = {"biases": not options.biases, "norms": options.norm == "none"}
    return kind, REASONS_BY_OPTIONS[kind] if is_said.get(kind, False) else REASONS[kind]


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
        modules = modules_of(layer.parts)
        blocks = blocks_around(modules)
        # A layer that is taken for one head has matrices that are called Q, K and V, or as a user
        # says: these may stand beside any other arrays.
        beside = "" if layer.is_one_head else common_module(layer.parts)
        for name in unread:
            is_factor = name.startswith(blocks) and re.search(rf"[./]({NAMES['factors']})", name)
            may_belong = (
                name.startswith(modules)
                or (name.startswith(blocks) and _row_not_in_model(name) is not None)
                or _is_sibling(name, beside)
            )
            if is_factor or (may_belong and not _changes_nothing(name, options)):
                raise InvalidCaseError("ignore", _not_understood(available[name], layer))
    if not known:
        _check_no_layer_is_missed(unread, available, layers)


def _row_not_in_model(name: str) -> dict[str, str] | None:
    """Return the row of the table on what makes a layer another function by an array's name."""
    rows: list[dict[str, str]] = NAMES["not_in_model"]
    for row in rows:
        expression = row.get("names", rf"(^|\.)({NAMES['factors']})$")
        if re.search(expression, name):
            return row
    return None


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
        is_known = kinds_of(name) or kinds_beside(name)
        if is_known or (of_texts and re.search(NAMES["images"], name)) or len(part.shape) < 2:
            continue
        if re.search(NAMES["matrices_of_attention"], name):
            raise InvalidCaseError(
                "ignore",
                f"{part.quoted} ({part.size_text}) is of attention by its name, and belongs to no"
                " layer that is understood: give the names of query, key and value, or say that it"
                " is ignored",
            )


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
        bool(kinds_beside(name))
        or "attention to other tokens" in kinds
        or ("biases" in kinds and not options.biases)
        or ("norms" in kinds and options.norm == "none")
    )
