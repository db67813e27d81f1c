"""How the arrays of a layer are called and stored: the table of layouts, and the option ``layout``.

The table is ``names.toml``. How arrays are stored is decided by the first of these that says it: a
user, by the option; shapes; the names of arrays, with the table. What nothing says is an
InvalidCaseError. The functions here return arrays of the shape (out, in), or with the heads as
their first index.

A linear map with the shape (out, in) has a row for each output and a column for each entry of a
token; with (in, out), ``columns``, it is the transpose. Of three indices, ``heads a d`` stands for
the head, its a rows, and the d entries of a token; an *order* is a pair, the order of the indices
of Q, K and V, and of those of O. ``parts`` are the matrices of a layer by the letters Q, K, V, KV
(K above V), A, O; where one array holds Q, K and V, all three letters have it: they are *stacked*,
and ``cut`` is one of :data:`CUTS`, or ``unknown``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import Sheet, Table, visible
from m2bridge.trained_weights.checkpoints.array_names import NAMES, full_name
from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.tensors import CUTS

IndexOrder = tuple[str, str]
ORDERS: dict[str, IndexOrder] = {
    "heads-a-d": ("heads a d", "heads d a"),
    "heads-d-a": ("heads d a", "heads a d"),
    "d-heads-a": ("d heads a", "heads a d"),
}
"""The orders by the words of the option ``layout``; the last one is of kernels."""
_OF_KERNELS = ORDERS["d-heads-a"]
SIDES = ("rows", "columns")
"""The words for matrices of the shape (out, in), with a row for each output, and (in, out)."""
LAYOUT_WORDS = (*SIDES, *CUTS, *ORDERS)
"""The words of the option ``layout``."""
LETTERS = ("Q", "K", "V", "KV", "A", "O")
"""The letters of matrices in the table, in the order in which a layer has them."""
KERNEL = re.compile(r"(?<![^._/])kernel(:0)?$")
"""The names that Flax, Keras and TensorFlow give to matrices, of the shape (in, out)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Layout:
    """How the arrays of a layer are called and stored; each text is empty where nothing is said."""

    names: Mapping[str, str]  # by letters; * stands for what the arrays of a layer have in common
    whose: str = ""
    star: str = ""  # a regular expression that what * stands for has to fit
    columns: bool | None = None  # ``None``: only ``kernel`` is (in, out)
    columns_said: bool = False  # by a user: then shapes do not decide it
    cut: str = "q-k-v"
    index_orders: IndexOrder | None = None  # of arrays with three indices; ``None``: by their names
    index_orders_said: bool = False  # by a user: then shapes and biases do not decide them
    biases: Mapping[str, str] = field(default_factory=dict)  # by letters, where not usual ones
    one_head: bool = False  # whether matrices are of one head if nobody says a number
    beside: str = ""  # the name of an array without which the names do not count
    readings: str = ""  # how models of these names cut one array, where they differ
    as_rows: str = ""  # the same of arrays (out, in) with Q, K and V
    assumed: str = ""  # what is taken for granted of layers with these names, as a clause

    @property
    def is_stacked(self) -> bool:
        """Whether Q, K and V are one array."""
        return "Q" in self.names and self.names["Q"] == self.names.get("K")


_IN_PLACE_OF_Q = {
    "queries": ("keys", "values"),
    "query": ("key", "value"),
    "q": ("k", "v"),
    "Q": ("K", "V"),
}
"""What names of K and V have in place of the last such word in the name of Q."""


def _layout(row: Mapping[str, Any]) -> Layout:
    """Return the layout of a row of the table, with all names in full."""
    own = {letter: full_name(row[letter]) for letter in LETTERS if letter in row}
    if "QKV" in row:
        own |= dict.fromkeys("QKV", full_name(row["QKV"]))
    elif "Q" in own and not {"K", "KV"} & own.keys():
        match = re.fullmatch(rf"(.*)({'|'.join(_IN_PLACE_OF_Q)})(.*)", own["Q"])
        assert match is not None
        before, word, after = match.groups()
        for letter, other in zip("KV", _IN_PLACE_OF_Q[word], strict=True):
            own[letter] = f"{before}{other}{after}"
    names = {letter: own[letter] for letter in LETTERS if letter in own}
    not_fields = (*LETTERS, "QKV", "of", "three")
    fields = {key: value for key, value in row.items() if key not in not_fields}
    index_orders = tuple(row["three"]) if "three" in row else None
    return Layout(names=names, whose=row["of"], index_orders=index_orders, **fields)


LAYOUTS = tuple(map(_layout, NAMES["usual"]))
"""The layouts that are known."""


def layouts_sheet() -> Sheet:
    """Return the table of known layouts: whose they are, their names of arrays, and how one array
    with Q, K and V is cut.
    """
    rows = []
    for layout in LAYOUTS:
        names = ", ".join(name.removeprefix("*") for name in dict.fromkeys(layout.names.values()))
        cut = layout.cut if layout.is_stacked else ""
        rows.append((layout.whose, names, "as --layout says" if cut == "unknown" else cut))
    columns = ("whose", "Q, K, V, O", "one array is cut")
    return Sheet("Names of arrays that are found", [Table(columns, rows)])


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAs:
    """How arrays are stored, as a user says it; ``None`` where the names or the shapes say it."""

    is_in_out: bool | None = None
    cut: str | None = None
    index_orders: IndexOrder | None = None

    def applied(self, layout: Layout) -> Layout:
        """Return the layout with what a user says in place of what the table says."""
        # A cut that is said leaves nothing open: ``readings`` and ``as_rows``, which say how models
        # of these names differ in the cut, become empty.
        return replace(
            layout,
            columns=layout.columns if self.is_in_out is None else self.is_in_out,
            columns_said=self.is_in_out is not None,
            cut=self.cut or layout.cut,
            readings="" if self.cut else layout.readings,
            as_rows="" if self.cut else layout.as_rows,
            index_orders=self.index_orders or layout.index_orders,
            index_orders_said=self.index_orders is not None,
        )


def stored_as(layout: str | None) -> StoredAs:
    """Return what the words of the option ``layout``, separated by commas, say: at most one of
    :data:`SIDES`, one of :data:`CUTS`, and one of :data:`ORDERS`.
    """
    if layout is None:
        return StoredAs()
    # What is no text is refused as an unknown word.
    words = [word.strip() for word in layout.split(",")] if isinstance(layout, str) else [layout]
    for word in words:
        if not isinstance(word, str) or word not in LAYOUT_WORDS:
            known = f"{', '.join(LAYOUT_WORDS[:-1])} or {LAYOUT_WORDS[-1]}"
            raise InvalidCaseError("layout", f"{word!r:.60} is not {known}")
    side = _word_among(SIDES, words)
    order = _word_among(ORDERS, words)
    return StoredAs(
        is_in_out=None if side is None else side == "columns",
        cut=_word_among(CUTS, words),
        index_orders=None if order is None else ORDERS[order],
    )


def _word_among(choices: Iterable[str], words: Iterable[str]) -> str | None:
    """Return the only word among the choices; ``None`` if no word is."""
    # A word that is said twice says the same.
    chosen = [word for word in dict.fromkeys(words) if word in choices]
    if len(chosen) > 1:
        raise InvalidCaseError("layout", f"{' and '.join(chosen)} exclude each other")
    return chosen[0] if chosen else None


def arrays_called(
    names: Mapping[str, str], star: str, available: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return by their letters the available arrays that have these names, with ``star`` for *."""
    full_names = {letter: name.replace("*", star) for letter, name in names.items()}
    return {letter: available[name] for letter, name in full_names.items() if name in available}


def oriented(
    parts: Mapping[str, Tensor], biases: Mapping[str, Tensor], layout: Layout
) -> dict[str, Tensor]:
    """Return the matrices by their letters, transposed where needed: of the shape (out, in), or,
    where they have three indices, Q, K and V of the shape (heads, a, d), and O (heads, d, a).

    ``biases`` are by their letters; the bias of Q, of shape (heads, a), shows which index is a.
    """
    query = parts.get("Q")
    # The orders of three indices. A layer with A has no Q, by which the orders are checked: there
    # the layout says them, and without them the first index counts heads.
    orders = layout.index_orders
    if query is not None and "K" in parts and query.name == parts["K"].name:
        if len(query.shape) == 2:
            # O is stored in the same way; its shape may show less, as it may be square.
            has_columns = _stacked_has_columns(query, parts.get("O"), layout)
            return {x: _transposed(part) if has_columns else part for x, part in parts.items()}
        # Q, K and V are the first of three indices.
        orders = None
    elif query is not None:
        orders = _orders_of_indices(query, biases.get("Q"), layout)
    found = {}
    for letter, part in parts.items():
        if len(part.shape) == 3 and orders is not None:
            found[letter] = _with_heads_first(part, letter, orders)
        else:
            found[letter] = _transposed(part) if _has_columns(part, layout) else part
    return found


def _stacked_has_columns(stacked: Tensor, output: Tensor | None, layout: Layout) -> bool:
    """Return whether one matrix with Q, K and V has the shape (in, out): as a user says it, else by
    its shape, else by the shape of O, else by its name.
    """
    if layout.columns_said:
        return bool(layout.columns)
    # nanoGPT has the names of GPT-2 with the shapes of PyTorch: the shape decides where it can.
    for shown in (in_out_by_shape(stacked), in_out_by_output(stacked, output)):
        if shown is not None:
            return shown
    return _has_columns(stacked, layout)


def _has_columns(part: Tensor, layout: Layout) -> bool:
    """Return whether an array has the shape (in, out), by its layout and its name alone."""
    is_kernel = KERNEL.search(part.name) is not None
    if layout.columns is None:
        return is_kernel
    if layout.columns_said:
        return layout.columns
    # The table says it for ``weight``, of which ``kernel`` is the transpose: each ``weight`` of
    # GPT-2 is (in, out); its ``kernel`` in Flax is transposed twice, by model and Flax, (out, in).
    # So of the two, exactly one has to be true for (in, out).
    return layout.columns is not is_kernel


def in_out_by_shape(part: Tensor) -> bool | None:
    """Return whether one array with Q, K and V is stored as (in, out): True for (d, 3d), False for
    (3d, d), ``None`` for other shapes, which do not show it.
    """
    if len(part.shape) != 2 or 0 in part.shape:
        return None
    rows, columns = part.shape
    if rows == 3 * columns:
        return False
    return True if columns == 3 * rows else None


def in_out_by_output(stacked: Tensor, output: Tensor | None) -> bool | None:
    """Return whether one matrix with Q, K and V is stored as (in, out), as a square O shows the
    number of entries of a token; ``None`` if it shows nothing.
    """
    if output is None or len(output.shape) != 2 or output.shape[0] != output.shape[1]:
        return None
    width = output.shape[0]
    rows_fit = stacked.shape[0] == width
    columns_fit = stacked.shape[1] == width
    return None if rows_fit is columns_fit else rows_fit


def _transposed(part: Tensor) -> Tensor:
    """Return the tensor with its last two indices exchanged; a vector is returned as it is, and
    refused later.
    """
    if len(part.shape) < 2:
        return part
    *first, rows, columns = part.shape
    return part.changed(lambda array: numpy.swapaxes(array, -1, -2), (*first, columns, rows))


def _orders_of_indices(query: Tensor, bias: Tensor | None, layout: Layout) -> IndexOrder:
    """Return the orders of three indices, by the first of these that says it: a user; a name that
    is used with one order only; the bias of Q, of shape (heads, a); and the order of the layout, if
    by it a head has no more rows than tokens have entries.
    """
    orders = layout.index_orders
    if orders is None:
        orders = _OF_KERNELS if KERNEL.search(query.name) else ORDERS["heads-a-d"]
    # Names of kernels, and those of XLNet, in which O and Q have one order, are used with one order
    # only. Without three indices there is nothing to check.
    is_said_by_name = orders == _OF_KERNELS or orders[0] == orders[1]
    if layout.index_orders_said or len(query.shape) != 3 or is_said_by_name:
        return orders
    heads, middle, last = query.shape
    if bias is not None and middle != last:
        if bias.shape == (heads, middle):
            return ORDERS["heads-a-d"]
        if bias.shape == (heads, last):
            return ORDERS["heads-d-a"]
    # By the expected order, which is one of two here: a, the rows of a head, and d, the entries of
    # a token.
    a, d = (middle, last) if orders == ORDERS["heads-a-d"] else (last, middle)
    # A head with more rows than tokens have entries is rare: then the indices may be exchanged.
    if a <= d:
        return orders
    raise InvalidCaseError(
        "layout",
        f"'{visible(query.name):.60}' is {query.size_text}: which index is of the tokens is"
        " not seen; give the layout, heads-d-a (as in TransformerLens) or heads-a-d",
    )


def _with_heads_first(part: Tensor, letter: str, orders: IndexOrder) -> Tensor:
    """Return the tensor of Q, K or V with the indices (heads, a, d), or of O with (heads, d, a)."""
    of_inputs, of_output = orders
    stored, wanted = of_inputs.split(), ["heads", "a", "d"]
    if letter == "O":
        stored, wanted = of_output.split(), ["heads", "d", "a"]
    axes = [stored.index(index) for index in wanted]
    if axes == [0, 1, 2]:
        return part
    shape = tuple(part.shape[axis] for axis in axes)
    return part.changed(lambda array: numpy.transpose(array, axes), shape)


def halved(parts: Mapping[str, Tensor], kind: str) -> dict[str, Tensor]:
    """Return matrices or biases, as ``kind`` says in messages, with K and V in place of KV, which
    has all rows of K, then all rows of V.
    """
    found = {letter: part for letter, part in parts.items() if letter != "KV"}
    both = parts.get("KV")
    if both is None:
        return found
    if not both.shape or both.shape[0] % 2:
        raise InvalidCaseError(
            "weights",
            f"'{visible(both.name):.60}' is {both.size_text}: a {kind} of K and V must have an even"
            " number of outputs",
        )
    half = both.shape[0] // 2
    for letter, rows in (("K", slice(0, half)), ("V", slice(half, 2 * half))):
        part = both.changed(itemgetter(rows), (half, *both.shape[1:]))
        found[letter] = replace(part, name=f"{both.name} ({letter})")
    return found
