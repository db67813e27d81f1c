"""How the arrays of a layer are called and stored: the table of layouts, and the option ``layout``.

The table is ``names.toml``. How arrays are stored is decided by the first of these that says it: a
user, by the option; shapes; the names of arrays, with the table. The functions here return arrays
of the shape (out, in), or with the heads as their first index.

A linear map with the shape (out, in) has a row for each output and a column for each entry of a
token; with (in, out) it is the transpose. Of three indices, ``heads a d`` stands for the head, its
a rows, and the d entries of a token. ``parts`` are the matrices of a layer by the letters Q, K, V,
KV, A, O; where one array holds Q, K and V, all three letters have it: they are *stacked*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.cutting import CUTS
from m2bridge.trained_weights.checkpoints.tensors import NAMES

_OF_KERNELS = ("d heads a", "heads a d")
"""The orders of the three indices of kernels of Flax and Keras: that of Q, K and V, and that of O.
"""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Layout:
    """How the arrays of a layer are called and stored.

    Parameters
    ----------
    names : dict
        The names of arrays by the letters Q, K, V, O or A, and KV for one array with K and V; ``*``
        stands for what they have in common.
    star : str
        A regular expression that what ``*`` stands for has to fit.
    columns : bool or None
        Whether arrays have the shape (in, out); ``None`` if their names say it: ``kernel`` is
        (in, out), and every other name (out, in).
    cut : str
        How one array with Q, K and V is cut, one of :data:`CUTS`, or ``unknown``.
    index_orders : pair of str or None
        Where arrays have three indices, the order of those of Q, K and V, and of those of O, as
        ``("heads a d", "heads d a")``; ``None`` if their names say it. In the table the key
        ``three`` has this pair.
    biases : dict
        The names of biases by letters, where these are not usual ones.
    columns_said : bool
        Whether a user says ``columns``: then shapes do not decide it.
    index_orders_said : bool
        Whether a user says ``index_orders``: then shapes and biases do not decide them.
    one_head : bool
        Whether matrices are those of one head if nobody says a number of heads.
    beside : str
        The name of an array, with ``*`` as in ``names``, without which names do not count; empty if
        no such array is needed.
    readings : str
        In words, how models of these names cut one array with Q, K and V, where they differ; else
        empty.
    as_rows : str
        In words, how models of these names that store the array with Q, K and V as (out, in) cut
        it, where they differ from the others or among each other; else empty.
    assumed : str
        What is taken for granted of layers with these names, as a clause; empty if nothing is.
    """

    names: Mapping[str, str]
    star: str = ""
    columns: bool | None = None
    columns_said: bool = False
    cut: str = "q-k-v"
    index_orders: tuple[str, str] | None = None
    index_orders_said: bool = False
    biases: Mapping[str, str] = field(default_factory=dict)
    one_head: bool = False
    beside: str = ""
    readings: str = ""
    as_rows: str = ""
    assumed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAs:
    """How arrays are stored, as a user says it; ``None`` where the names or the shapes say it.

    Parameters
    ----------
    is_in_out : bool or None
        Whether arrays have the shape (in, out), and not (out, in).
    cut : str or None
        How one array with Q, K and V is cut, one of :data:`CUTS`.
    index_orders : pair of str or None
        The order of the three indices of Q, K and V, and the order of those of O: one of the pairs
        in :data:`ORDERS`.
    """

    is_in_out: bool | None = None
    cut: str | None = None
    index_orders: tuple[str, str] | None = None

    def applied(self, layout: Layout) -> Layout:
        """Return the layout with what a user says in place of what the table says: whether
        matrices are (in, out), which is its ``columns``, the cut, and the order of indices.
        """
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


ORDERS = {
    "heads-a-d": ("heads a d", "heads d a"),
    "heads-d-a": ("heads d a", "heads a d"),
    "d-heads-a": _OF_KERNELS,
}
"""For each word of the option ``layout`` about arrays with three indices: the order of the indices
of Q, K and V, and the order of those of O.
"""
SIDES = ("rows", "columns")
"""The words for matrices of the shape (out, in), with a row for each output, and (in, out)."""
LAYOUT_WORDS = (*SIDES, *CUTS, *ORDERS)
"""The words of the option ``layout``."""


def stored_as(layout: str | None) -> StoredAs:
    """Return what the words of the option ``layout``, separated by commas, say of how arrays are
    stored: at most one of :data:`SIDES`, one of :data:`CUTS`, and one of :data:`ORDERS`; ``None``
    is an option that is not given.

    Raises
    ------
    InvalidCaseError
        If it has another word, or two that exclude each other.

    Examples
    --------
    >>> stored_as("columns, heads-a-d")
    StoredAs(is_in_out=True, cut=None, index_orders=('heads a d', 'heads d a'))
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
    cut = _word_among(CUTS, words)
    order = _word_among(ORDERS, words)
    return StoredAs(
        is_in_out=None if side is None else side == "columns",
        cut=cut,
        index_orders=None if order is None else ORDERS[order],
    )


def _word_among(choices: Iterable[str], words: Iterable[str]) -> str | None:
    """Return the only word of ``words`` that is among the choices; ``None`` if no word is.

    Raises
    ------
    InvalidCaseError
        If two different words are.
    """
    # A word that is said twice says the same.
    chosen = [word for word in dict.fromkeys(words) if word in choices]
    if len(chosen) > 1:
        raise InvalidCaseError("layout", f"{' and '.join(chosen)} exclude each other")
    return chosen[0] if chosen else None


LETTERS = ("Q", "K", "V", "KV", "A", "O")
"""The letters of matrices in the table, in the order in which a layer has them."""
KERNEL = re.compile(r"(?<![^._/])kernel(:0)?$")
"""The names that Flax, Keras and TensorFlow give to matrices, of the shape (in, out)."""


def _layout(row: Mapping[str, Any]) -> Layout:
    """Return the layout that a row of the table says. Its keys are the letters of matrices, with
    the names of their arrays, and the names of fields of :class:`Layout`; but the field
    ``index_orders`` has the key ``three``, and ``of`` is a comment.
    """
    names = {letter: row[letter] for letter in LETTERS if letter in row}
    # The comment ``of`` names the models that have these names.
    fields = {key: value for key, value in row.items() if key not in (*LETTERS, "of", "three")}
    index_orders = tuple(row["three"]) if "three" in row else None
    return Layout(names=names, index_orders=index_orders, **fields)


LAYOUTS = tuple(map(_layout, NAMES["usual"]))
"""The layouts that are known."""


def arrays_called(
    names: Mapping[str, str], star: str, available: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return by their letters the arrays that have these names, with the text ``star`` for ``*``;
    a letter whose array is not among the ``available`` ones is left out.

    So for ``{"Q": "*q_proj.weight"}`` and the star ``layers.0.`` the result has the array
    ``layers.0.q_proj.weight`` under Q.
    """
    full_names = {letter: name.replace("*", star) for letter, name in names.items()}
    return {letter: available[name] for letter, name in full_names.items() if name in available}


def oriented(
    parts: Mapping[str, Tensor], biases: Mapping[str, Tensor], layout: Layout
) -> dict[str, Tensor]:
    """Return the matrices by their letters, transposed where needed: of the shape (out, in), or,
    where they have three indices, Q, K and V of the shape (heads, a, d), and O (heads, d, a).

    Parameters
    ----------
    parts : dict
        The matrices as they are stored, by their letters.
    biases : dict
        The biases by their letters; that of Q, of shape (heads, a), shows which index is a.
    layout : Layout
        What is known of how they are stored.

    Raises
    ------
    InvalidCaseError
        If Q has three indices, and nothing shows which one counts the entries of a token.
    """
    query = parts.get("Q")
    # One array with Q, K and V is under each of these letters.
    if query is not None and "K" in parts and query.name == parts["K"].name:
        return _oriented_stack(parts, query, layout)
    # The orders of three indices. A layer with A has no Q, by which the orders are checked: there
    # those of the layout are taken, and without them the first index is that of the heads.
    orders = layout.index_orders
    if query is not None:
        orders = _orders_of_indices(query, biases.get("Q"), layout)
    found = {}
    for letter, part in parts.items():
        if len(part.shape) == 3 and orders is not None:
            found[letter] = _with_heads_first(part, letter, orders)
        else:
            found[letter] = _with_sides(part, layout)
    return found


def _oriented_stack(
    parts: Mapping[str, Tensor], stacked: Tensor, layout: Layout
) -> dict[str, Tensor]:
    """Return the matrices of a layer by their letters, transposed where needed, so that they have
    the shape (out, in), where one array, ``stacked``, has Q, K and V: it is a matrix, or has the
    three as its first index.
    """
    if len(stacked.shape) != 2:
        # The last two indices of each array are (out, in), or (in, out) by layout or name.
        return {letter: _with_sides(part, layout) for letter, part in parts.items()}
    # O is stored in the same way as ``stacked``, whose shape is a better sign, as O may be square.
    if _stacked_has_columns(stacked, parts.get("O"), layout):
        return {letter: _transposed(part) for letter, part in parts.items()}
    return dict(parts)


def _with_sides(part: Tensor, layout: Layout) -> Tensor:
    """Return an array with the last two indices (out, in): it is transposed if these are (in, out)
    by the layout, or else by the name of the array.
    """
    return _transposed(part) if _has_columns(part, layout) else part


def _orders_of_indices(query: Tensor, bias: Tensor | None, layout: Layout) -> tuple[str, str]:
    """Return the order of three indices of Q, K and V, and the order of those of O: as a user says
    it, else as the layout or the name of Q says it, unless its ``bias``, which may be ``None``,
    shows another order.

    InvalidCaseError if Q, ``query``, has three indices, and nothing shows which one counts the
    entries of a token.
    """
    orders = layout.index_orders
    if orders is None:
        orders = _OF_KERNELS if KERNEL.search(query.name) else ORDERS["heads-a-d"]
    if layout.index_orders_said:
        return orders
    return _checked_orders(query, bias, orders)


def _stacked_has_columns(stacked: Tensor, output: Tensor | None, layout: Layout) -> bool:
    """Return whether one matrix with Q, K and V has the shape (in, out): as a user says it, else by
    its shape, else by that of O, ``output``, else by its name.
    """
    if layout.columns_said:
        return bool(layout.columns)
    # nanoGPT has the names of GPT-2 with the shapes of PyTorch: the shape decides where it can.
    for shown in (in_out_by_shape(stacked), in_out_by_output(stacked, output)):
        if shown is not None:
            return shown
    return _has_columns(stacked, layout)


def _has_columns(part: Tensor, layout: Layout) -> bool:
    """Return whether an array has the shape (in, out), by its layout and its name; its shape is not
    looked at.
    """
    # ``kernel`` is the name of matrices (in, out) in Flax, Keras and TensorFlow.
    is_kernel = KERNEL.search(part.name) is not None
    if layout.columns is None:
        return is_kernel
    if layout.columns_said:
        return layout.columns
    # The table says it for ``weight``, of which ``kernel`` is the transpose: each ``weight`` of
    # GPT-2 is (in, out); its ``kernel`` in Flax is transposed twice, by model and Flax, (out, in).
    # So of the two, exactly one has to be true for (in, out).
    return layout.columns is not is_kernel


def in_out_by_output(stacked: Tensor, output: Tensor | None) -> bool | None:
    """Return whether one matrix with Q, K and V, ``stacked``, has the shape (in, out).

    A square output matrix O shows ``in``, the number of entries of a token, which outputs have too.
    If ``stacked`` has so many rows, and not so many columns, its shape is (in, out); if it has so
    many columns, and not so many rows, (out, in). Else, and if O is missing or not square, ``None``
    is returned.
    """
    if output is None or len(output.shape) != 2 or output.shape[0] != output.shape[1]:
        return None
    width = output.shape[0]
    rows_fit = stacked.shape[0] == width
    columns_fit = stacked.shape[1] == width
    if rows_fit is columns_fit:
        return None
    return rows_fit


def _transposed(part: Tensor) -> Tensor:
    """Return the tensor with its last two indices exchanged; a vector is returned as it is, and
    refused later.
    """
    if len(part.shape) < 2:
        return part
    *first, rows, columns = part.shape
    return part.changed(lambda array: numpy.swapaxes(array, -1, -2), (*first, columns, rows))


def _checked_orders(query: Tensor, bias: Tensor | None, orders: tuple[str, str]) -> tuple[str, str]:
    """Return the order of the indices of Q, K and V, and the order of those of O, by the first of
    these that says it: the name, if it is used with one order only; the bias of Q, of shape
    (heads, a); and the orders that are expected, if by them a head has no more rows than tokens
    have entries.

    Parameters
    ----------
    query : Tensor
        Q as it is stored, with the heads as its first index if it has three.
    bias : Tensor or None
        The bias of Q; ``None`` if there is none.
    orders : pair of str
        The orders that are expected, such as ``("heads a d", "heads d a")``.

    Raises
    ------
    InvalidCaseError
        If none of them says it.
    """
    # Names of kernels, and those of XLNet, in which O and Q have one order, are used with one order
    # only. Without three indices there is nothing to check.
    is_said_by_name = orders == _OF_KERNELS or orders[0] == orders[1]
    if len(query.shape) != 3 or is_said_by_name:
        return orders
    by_bias = _orders_by_bias(query, bias)
    if by_bias is not None:
        return by_bias
    # By the expected order, which is one of two here: a, the rows of a head, and d, the entries of
    # a token.
    _, middle, last = query.shape
    a, d = (middle, last) if orders == ORDERS["heads-a-d"] else (last, middle)
    # A head with more rows than tokens have entries is rare: then the indices may be exchanged.
    if a <= d:
        return orders
    raise InvalidCaseError(
        "layout",
        f"'{visible(query.name):.60}' is {query.size_text}: which index is that of the tokens is"
        " not seen; give the layout, heads-d-a (as in TransformerLens) or heads-a-d",
    )


def _orders_by_bias(query: Tensor, bias: Tensor | None) -> tuple[str, str] | None:
    """Return the order of the indices of Q, K and V, and the order of those of O, that the bias of
    Q shows, as it has the shape (heads, a); ``None`` if there is no bias, or its shape fits both
    orders or neither.

    Q, ``query``, has the shape (heads, a, d) or (heads, d, a).
    """
    heads, middle, last = query.shape
    if bias is None or middle == last:
        return None
    by_shape: dict[tuple[int, ...], tuple[str, str]] = {
        (heads, middle): ORDERS["heads-a-d"],
        (heads, last): ORDERS["heads-d-a"],
    }
    return by_shape.get(bias.shape)


def _with_heads_first(part: Tensor, letter: str, orders: tuple[str, str]) -> Tensor:
    """Return the tensor of Q, K or V, as ``letter`` says, with the indices (heads, a, d), or the
    tensor of O with (heads, d, a).

    ``orders`` are the order in which Q, K and V have their indices now, and the order for O.
    """
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
    """Return the arrays by their letters, with K and V in place of KV, which has all rows of K,
    then all rows of V; without KV they are returned as they are.

    ``parts`` are matrices, or biases, and ``kind`` is ``matrix`` or ``bias``, for messages. Raises
    InvalidCaseError if the number of rows is odd.
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
    shape = (half, *both.shape[1:])
    K = both.changed(itemgetter(slice(0, half)), shape)
    V = both.changed(itemgetter(slice(half, 2 * half)), shape)
    found["K"] = replace(K, name=f"{both.name} (K)")
    found["V"] = replace(V, name=f"{both.name} (V)")
    return found


def in_out_by_shape(part: Tensor) -> bool | None:
    """Return whether one array with Q, K and V is stored as (in, out), by its shape: True for
    (d, 3d), with the three beside each other; False for (3d, d), with them on top of each other;
    and ``None`` for other shapes, which do not show it.
    """
    if len(part.shape) != 2 or 0 in part.shape:
        return None
    rows, columns = part.shape
    if rows == 3 * columns:
        return False
    if columns == 3 * rows:
        return True
    return None
