"""How arrays are cut: one array into Q, K and V, and these into the matrices of heads.

Arrays have the shape (out, in) here. With a rows of Q and K for each head, v rows of V, and d
entries of a token, those of all heads together are Q: (heads·a, d), K: (heads·a, d),
V: (heads·v, d) and O: (d', heads·v); K and V have fewer rows where heads share their keys and
values. Or the heads are the first index: Q: (heads, a, d), K: (heads, a, d), V: (heads, v, d) and
O: (heads, d', v).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.arrays import Tensor

CUTS = ("q-k-v", "by-head", "by-group", "by-row", "by-quarter", "by-eighth")
"""How the rows of Q, K and V follow one another in one array. In this order:

* all rows of Q, all of K, all of V;
* for each head the rows of its q, of its k, of its v;
* for each group of heads that share a key the rows of all of their q, then of k, then of v;
* for each row of each head a row of its q, one of its k, one of its v;
* and twice: four parts, or eight, each with the rows of Q, of V, and of K of equally many heads.
"""
PARTS_OF_CUT = {"by-quarter": 4, "by-eighth": 8}
"""The number of parts of an array, by its cut."""


def split_q_then_k_then_v(stacked: Any, output: Any, heads: int, part: Tensor) -> dict[str, Any]:
    """Return Q, K, V by these letters, each with the rows of all heads, of one array with all of Q,
    then all of K, then all of V.

    Parameters
    ----------
    stacked : array
        A matrix, whose rows are those of Q, K and V; or of shape (3, ·, ·): the three of them.
    output : array or None
        O. If it is a matrix, it has as many columns as Q has rows, and K and V have half of the
        other rows each. If it is ``None``, or has the heads as its first index, Q, K and V have a
        third of the rows each.
    heads : int
        The number of heads, which has to divide the number of rows of Q in a matrix.
    part : Tensor
        The array of the file, for messages.

    Raises
    ------
    InvalidCaseError
        If the array is neither a matrix nor three of them; if its rows cannot be divided so; or if
        the number of heads does not divide the number of rows of Q.
    """
    if stacked.ndim == 3 and len(stacked) == 3:
        return dict(zip("QKV", stacked, strict=True))
    named = f"'{visible(part.name):.60}' is {part.size_text}"
    if stacked.ndim != 2:
        raise InvalidCaseError(
            "weights", f"{named}: Q, K and V in one array must be a matrix, or three"
        )
    rows = stacked.shape[0]
    rows_of_Q = _rows_of_Q(rows, output)
    if rows_of_Q is None:
        raise InvalidCaseError(
            "weights", f"{named}: {rows} is not the number of rows of Q, K and V, 3·a·heads"
        )
    if rows_of_Q % heads:
        raise InvalidCaseError(
            "heads", f"{named}: {heads} heads do not divide the {rows_of_Q} rows of Q"
        )
    # K and V have half of the other rows each.
    end_of_K = rows_of_Q + (rows - rows_of_Q) // 2
    return {"Q": stacked[:rows_of_Q], "K": stacked[rows_of_Q:end_of_K], "V": stacked[end_of_K:]}


def _rows_of_Q(rows: int, output: Any) -> int | None:
    """Return how many of the ``rows`` rows of one array with Q, K and V are those of Q: as many as
    a matrix O, ``output``, has columns; a third of them if O is ``None`` or has three indices.

    ``None`` is returned if the other rows are not those of K and V, as many of each.
    """
    if output is None or output.ndim != 2:
        return rows // 3 if rows > 0 and rows % 3 == 0 else None
    # For each head O has v columns, and Q has a rows; in one array a = v. Where heads share their
    # keys, Q has more than a third of the rows.
    rows_of_Q: int = output.shape[1]
    rows_of_K_and_V = rows - rows_of_Q
    is_split = rows_of_Q > 0 and rows_of_K_and_V > 0 and rows_of_K_and_V % 2 == 0
    return rows_of_Q if is_split else None


def split_alternating(stacked: Any, cut: str, groups: int, size: int) -> dict[str, Any]:
    """Return Q, K, V by these letters, each with the rows of all heads, of a matrix in which their
    rows alternate.

    Parameters
    ----------
    stacked : array
        A matrix of shape ((heads + 2·groups)·size, d).
    cut : str
        One of :data:`CUTS`, but not ``q-k-v``.
    groups : int
        The number of keys, and of values: that of heads, unless these share keys.
    size : int
        The number of rows of the query of one head, of each key, and of each value.
    """
    columns = stacked.shape[1]
    # In the lengths of arrays −1 stands for what is left over.
    if cut in PARTS_OF_CUT:
        # Each part has the rows of Q, then of V, then of K of its heads. The indices are the part,
        # the place in this order, the row and the column.
        in_parts = stacked.reshape(PARTS_OF_CUT[cut], 3, -1, columns)
        parts = {"Q": in_parts[:, 0], "K": in_parts[:, 2], "V": in_parts[:, 1]}
    elif cut == "by-row":
        # Three rows in turn are those of Q, K and V.
        threes = stacked.reshape(-1, 3, columns)
        parts = {letter: threes[:, place] for place, letter in enumerate("QKV")}
    else:
        # Each group has its queries, then its key, then its value. The indices are the group, the
        # place of query, key or value in it, the row and the column.
        blocks = stacked.reshape(groups, -1, size, columns)
        parts = {"Q": blocks[:, :-2], "K": blocks[:, -2], "V": blocks[:, -1]}
    return {letter: part.reshape(-1, columns) for letter, part in parts.items()}


def cut_into_heads(arrays: Mapping[str, Any], count: int | None) -> Iterator[dict[str, Any]]:
    """Yield the matrices of each head by their letters.

    Parameters
    ----------
    arrays : dict
        Q, K, V and perhaps O, or A, V and perhaps O, by these letters: matrices with the rows, of O
        the columns, of all heads, or arrays with the heads as their first index.
    count : int or None
        The number of heads; ``None`` if it is not known: then it is the length of the first index
        of arrays with three, and 1 for matrices.

    Raises
    ------
    InvalidCaseError
        If the arrays are not those of this number of heads; when the first head is asked for.
    """
    arrays = _with_heads_first(arrays)
    dimensions = {array.ndim for array in arrays.values()}
    if dimensions == {2}:
        arrays = _with_index_of_heads(arrays, count or 1)
    elif dimensions != {3}:
        raise InvalidCaseError(
            "weights",
            f"{shapes_in_words(arrays)}: give matrices, or all with the heads as first index",
        )
    # By the first index of each array.
    counts = {len(array) for array in arrays.values()}
    head_count = min(counts)
    if len(counts) > 1 or count not in (None, head_count):
        raise InvalidCaseError(
            "heads",
            f"{shapes_in_words(arrays)}: the first number must be that of the heads in all of them",
        )
    for h in range(head_count):
        yield {letter: array[h] for letter, array in arrays.items()}


def _with_heads_first(arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arrays by their letters; where Q has the heads as its first index, K, V and O are
    changed so that they have all heads as their first index, too.

    With fewer keys and values than queries each of them is repeated for the heads that share it. A
    matrix O is cut into equally many columns for each head. Arrays that do not fit are returned as
    they are, and refused by :func:`cut_into_heads`.
    """
    if "Q" not in arrays or arrays["Q"].ndim != 3:
        return arrays
    heads = len(arrays["Q"])
    found = dict(arrays)
    for letter in "KV":
        array = arrays[letter]
        if array.ndim == 3 and len(array) and heads % len(array) == 0:
            found[letter] = array.repeat(heads // len(array), axis=0)
    if "O" in arrays and arrays["O"].ndim == 2 and arrays["O"].shape[1] % heads == 0:
        found["O"] = numpy.stack(numpy.split(arrays["O"], heads, axis=1))
    return found


def _with_index_of_heads(matrices: Mapping[str, Any], heads: int) -> dict[str, Any]:
    """Return arrays with the heads as first index, Q: (heads, a, d), …, of matrices with the rows
    of all heads, Q: (heads·a, d), …, by their letters.

    With fewer keys and values than queries, each key and value is repeated for all heads that share
    it, which stand in a row.

    Raises
    ------
    InvalidCaseError
        If the rows of Q, K and V, or the columns of O, do not fit the number of heads.
    """
    # One head has all rows, also of A. Whether its shapes fit together is seen later.
    if heads == 1:
        return {letter: matrix[None] for letter, matrix in matrices.items()}
    if "A" in matrices:
        raise InvalidCaseError(
            "heads", "A is that of one head: give K and Q, or A and V with the heads as first index"
        )
    groups = _count_of_keys(matrices, heads)
    # O has v columns for each head, and V has v rows for each group of heads.
    if "O" in matrices and matrices["O"].shape[1] * groups != heads * matrices["V"].shape[0]:
        raise InvalidCaseError(
            "weights",
            f"{shapes_in_words(matrices)}: O must have a column for each row of V of each head",
        )
    found = {"Q": _in_blocks(matrices["Q"], heads)}
    for letter in "KV":
        blocks = _in_blocks(matrices[letter], groups)
        found[letter] = blocks.repeat(heads // groups, axis=0)
    if "O" in matrices:
        found["O"] = numpy.stack(numpy.split(matrices["O"], heads, axis=1))
    return found


def _count_of_keys(matrices: Mapping[str, Any], heads: int) -> int:
    """Return the number of keys, which is also that of values, of ``heads`` heads: K has as many
    rows for each key as Q has for each head.

    ``matrices`` are Q, K and V of all heads by their letters.

    Raises
    ------
    InvalidCaseError
        If the rows of Q do not fit the number of heads, or those of K and V not those of keys and
        values that equally many heads share.
    """
    rows = {letter: matrices[letter].shape[0] for letter in "QKV"}
    if rows["Q"] % heads or not rows["Q"]:
        raise InvalidCaseError(
            "heads", f"Q has {rows['Q']} rows, which are not those of {heads} heads"
        )
    a = rows["Q"] // heads
    # 0 stands for rows of K that are not those of a number of keys with a rows each.
    groups = rows["K"] // a if rows["K"] % a == 0 else 0
    if not groups or heads % groups or rows["V"] % groups:
        raise InvalidCaseError(
            "heads",
            f"{shapes_in_words(matrices)}: K and V have no rows for {heads} heads with a = {a}",
        )
    return groups


def _in_blocks(matrix: Any, number: int) -> Any:
    """Return a matrix as an array with three indices: the block, the row in the block, the column,
    for ``number`` blocks of equally many rows, one below the other. ``number`` divides the number
    of rows.
    """
    rows, columns = matrix.shape
    return matrix.reshape(number, rows // number, columns)


def heads_sharing_a_key(arrays: Mapping[str, Any]) -> int:
    """Return the number of heads in a row that have the same K and V; 1 if none share them.

    ``arrays`` are by their letters: Q and K of all heads, of shapes (heads·a, d) and (keys·a, d),
    or (heads, a, d) and (keys, a, d); or A in their place. The quotient of the first numbers of
    these shapes is the number of heads for each key.
    """
    if "A" in arrays:
        return 1
    size_of_Q, size_of_K = arrays["Q"].shape[0], arrays["K"].shape[0]
    # Sizes that do not fit are refused elsewhere.
    return max(int(size_of_Q // max(size_of_K, 1)), 1)


def rule_that_shapes_violate(shapes: Mapping[str, tuple[int, int]]) -> str:
    """Return the rule that the shapes of the matrices of one head violate, with advice, as a
    clause; empty if they violate none.

    ``shapes`` are (rows, columns) by letter. The rules are that K and Q are (a, d), or A (d, d),
    that V is (v, d), and O (d', v).
    """
    scores = "A" if "A" in shapes else "K and Q"
    shape_of_scores = shapes["A"] if "A" in shapes else shapes["K"]
    V = shapes["V"]
    d = shape_of_scores[1]
    if any(0 in shape for shape in shapes.values()):
        return "a matrix has no entries"
    if "A" in shapes and shape_of_scores != (d, d):
        return "A = KᵀQ must be square, d × d"
    if "K" in shapes and shapes["Q"] != shapes["K"]:
        rule = "K and Q must have the same shape, a × d"
        return rule + _why_keys_differ(shapes["K"], shapes["Q"])
    if V[1] != d:
        rule = f"V must have as many columns as {scores}, the dimension d of the tokens"
        return rule + _which_is_transposed(shape_of_scores, V)
    if "O" in shapes and shapes["O"][1] != V[0]:
        return "O must have as many columns as V has rows"
    return ""


def _why_keys_differ(K: tuple[int, int], Q: tuple[int, int]) -> str:
    """Return advice that ends a message on K and Q of different shapes (rows, columns), both
    positive: one may be transposed, or several heads may share a key; empty if neither explains
    these shapes.
    """
    if Q[::-1] == K:
        return "; is one of them transposed?"
    if K[1] == Q[1] and Q[0] % K[0] == 0:
        return "; where heads share keys and values, say how many heads there are"
    return ""


def _which_is_transposed(scores: tuple[int, int], V: tuple[int, int]) -> str:
    """Return a question that ends a message: whether V, or K and Q, are transposed; empty if
    neither would make the numbers of columns equal.

    ``scores`` is the shape (a, d) of K and Q, or the shape (d, d) of A; ``V`` is the shape of V,
    whose number of columns is not d.
    """
    columns_fit_if_scores_are_transposed = scores[0] == V[1]
    columns_fit_if_V_is_transposed = V[0] == scores[1]
    if columns_fit_if_scores_are_transposed and columns_fit_if_V_is_transposed:
        return "; is V transposed, or are K and Q?"
    if columns_fit_if_scores_are_transposed:
        return "; are K and Q transposed?"
    if columns_fit_if_V_is_transposed:
        return "; is V transposed?"
    return ""


def shapes_in_words(arrays: Mapping[str, Any]) -> str:
    """Return the shapes of arrays by their letters: ``K is 2 × 3, Q is 2 × 3``."""
    sizes = []
    for letter, array in sorted(arrays.items()):
        size = " × ".join(map(str, array.shape)) or "a number"
        sizes.append(f"{letter} is {size}")
    return ", ".join(sizes)
