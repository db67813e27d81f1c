"""The tensors of a layer of self-attention, with its biases and its norm, cut into heads.

Tokens are columns here. A linear layer of PyTorch acts on rows, x Wᵀ with W of shape (out, in), so
W_q, W_k, W_v are Q, K, V as they are stored. A *part* of a layer is one of its matrices, by its
letter K, Q, V, O, or A = KᵀQ in place of K and Q, and has the shape (out, in).

With a rows of Q and K for each head, v rows of V, and d entries of a token, all heads together have
Q: (heads·a, d), K: (heads·a, d), V: (heads·v, d) and O: (d', heads·v): head h has the rows h·a, …,
and the columns h·v, … of O, so that its values are O_h V_h. Or the heads are the first index:
Q: (heads, a, d), K: (heads, a, d), V: (heads, v, d), O: (heads, d', v). K and V have fewer rows
where heads share their key and value; a *group* is all heads with the same. Biases are cut as the
rows of their matrices.

Where Q, K and V are *stacked*, one array has the rows of all three, under each of their letters,
and its *cut* is the order of these rows, one of ``CUTS``. A wrong shape is an InvalidCaseError,
before anything is computed. A ``Tensor`` is read when its ``array()`` is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.arrays import EXACT, PRECISIONS, Tensor, needed_bias
from m2bridge.trained_weights.checkpoints.norms import Norm, NormTensors

CUTS = ("q-k-v", "by-head", "by-group", "by-row", "by-quarter", "by-eighth")
"""How the rows of Q, K and V follow one another in one array. In this order:

* all rows of Q, all of K, all of V;
* for each head the rows of its q, of its k, of its v;
* for each group of heads that share a key the rows of all of their q, then of k, then of v;
* for each row of each head a row of its q, one of its k, one of its v;
* and twice: four parts, or eight, each with the rows of Q, of V, and of K of equally many heads.
"""
_PARTS_OF_CUT = {"by-quarter": 4, "by-eighth": 8}
"""The number of parts of an array, by its cut."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadArrays:
    """The matrices of one head, as arrays: A = KᵀQ, or A alone; the values are V, or OV."""

    layer: int  # counted from 1, as the head
    head: int
    matrices: Mapping[str, Any]  # K, Q: (a, d), or A: (d, d); V: (v, d); perhaps O: (d', v)
    kind: str  # the type of the entries; if it differs from matrix to matrix, the least precise
    K_bias: Any = None  # of length a, as Q_bias; ``None`` where there is no bias
    Q_bias: Any = None
    V_bias: Any = None  # of length v
    O_bias: Any = None  # of length d', the same for all heads of the layer
    norm: Norm | None = None
    sharing: int = 1  # the number of heads in a row that have the same K and V

    @property
    def biases(self) -> dict[str, Any]:
        """The biases of K, Q and V that there are, by these letters."""
        own = {"K": self.K_bias, "Q": self.Q_bias, "V": self.V_bias}
        return {letter: bias for letter, bias in own.items() if bias is not None}


@dataclass(frozen=True, slots=True, eq=False)
class LayerTensors:
    """The tensors of a layer."""

    name: str  # what the names of its arrays have in common; sorted by it, layers are in order
    parts: Mapping[str, Tensor]
    biases: Mapping[str, Tensor] = field(default_factory=dict)  # by the letters of the matrices
    norm: NormTensors | None = None
    cut: str = "q-k-v"  # or ``unknown``, where models of these names differ
    key_value_heads: int | None = None  # as config.json says it
    own_heads: int | None = None  # the number of heads, where an array beside the layer shows it
    is_one_head: bool = False  # whether it is taken for one head if nobody says a number
    readings: str = ""  # in words, how models of these names cut one array, where they differ
    has_factors: bool = False  # whether O has been multiplied by factors (LayerScale)
    assumed: str = ""  # what is taken for granted where only names say it

    @property
    def is_stacked(self) -> bool:
        """Whether Q, K and V are one array: their letters have the same tensor."""
        return "K" in self.parts and self.parts["K"].name == self.parts["V"].name

    def with_options(self, *, biases: bool, norm: str | None) -> LayerTensors:
        """Return the layer as the options of a user say: with or without its biases, of which the
        norm's β is one, and with the norm of :meth:`NormTensors.with_option`.
        """
        own = None if self.norm is None else self.norm.with_option(norm)
        if own is not None and not biases:
            own = replace(own, beta=None)
        return replace(self, biases=self.biases if biases else {}, norm=own)

    def analysed_tensors(self) -> Iterator[Tensor]:
        """Yield the tensors that determine the results on a layer: a norm after it does not."""
        yield from self.parts.values()
        yield from self.biases.values()
        if self.norm is not None and self.norm.place == "pre":
            yield from self.norm.tensors()

    def all_tensors(self) -> Iterator[Tensor]:
        """Yield the tensors of the matrices, of the biases and of the norm."""
        yield from self.parts.values()
        yield from self.biases.values()
        if self.norm is not None:
            yield from self.norm.tensors()

    def head_count(self, count: int | None) -> int:
        """Return the number of heads, by shapes alone: the shape of Q, or of V beside A; an array
        beside the layer; ``count``, the number that is given for all layers; else one head.
        """
        # Q has all heads; several may share K and V. Without Q there are A and V.
        shape = self.parts["Q" if "Q" in self.parts else "V"].shape
        # Three indices are heads, rows and columns; only one array with Q, K and V of shape
        # (3, ·, ·) has these three as its first index.
        if len(shape) == 3 and not self.is_stacked:
            return shape[0]
        return self.own_heads or count or 1

    def heads(self, layer: int, count: int | None) -> Iterator[HeadArrays]:
        """Yield the heads of the layer with this number; all of its arrays are read when the first
        one is asked for. ``count`` is the number of heads that is given for all layers.
        """
        count = self.own_heads or count
        # An array that holds Q, K and V is read once.
        by_name: dict[str, Any] = {}
        for part in self.parts.values():
            if part.name not in by_name:
                by_name[part.name] = part.array()
        arrays = {letter: by_name[part.name] for letter, part in self.parts.items()}
        # First Q, K and V as arrays of their own, each of all heads; then each head.
        separate = self._separate(arrays, arrays.get("O"), count)
        matrices_of_heads = list(_cut_into_heads(separate, count))
        for matrices in matrices_of_heads:
            _check_shapes_of_head(matrices)
        # Arrays with the heads as first index may have none.
        if not matrices_of_heads:
            return
        first = matrices_of_heads[0]
        biases = self._biases(arrays, count)
        # Without an output matrix the outputs of the heads are concatenated.
        outputs = len(matrices_of_heads) * first["V"].shape[0]
        if "O" in first:
            outputs = first["O"].shape[0]
        output_bias = norm = None
        if "O" in self.biases:
            output_bias = needed_bias(self.parts["O"]).read(self.biases["O"], (outputs,))
        if self.norm is not None:
            tokens = first["V"].shape[1]
            norm = self.norm.read(tokens if self.norm.place == "pre" else outputs)
        # The least precise type has the largest distance between numbers. Of equally precise types
        # the first one in the table is taken: float64, and not exact, if there are both.
        kinds = {part.kind for part in self.parts.values()}
        known = [kind for kind in PRECISIONS if kind in kinds]
        kind = max(known, key=lambda kind: PRECISIONS[kind], default=EXACT)
        # Sizes that do not fit have been refused.
        sharing = 1
        if "A" not in separate:
            sharing = separate["Q"].shape[0] // separate["K"].shape[0]
        for number, matrices in enumerate(matrices_of_heads, 1):
            own_biases = {letter: of_heads[number - 1] for letter, of_heads in biases.items()}
            yield HeadArrays(
                layer=layer,
                head=number,
                matrices=matrices,
                kind=kind,
                K_bias=own_biases.get("K"),
                Q_bias=own_biases.get("Q"),
                V_bias=own_biases.get("V"),
                O_bias=output_bias,
                norm=norm,
                sharing=sharing,
            )

    def _biases(self, arrays: Mapping[str, Any], count: int | None) -> dict[str, list[Any]]:
        """Return the biases of Q, K and V that there are, by these letters: a list with a vector
        for each head. ``arrays`` are the matrices of the layer.
        """
        own = {letter: bias for letter, bias in self.biases.items() if letter != "O"}
        if not own:
            return {}
        # A bias is cut as its matrix is, as a matrix of one column: (rows, 1), or (heads, rows, 1).
        # The cut takes Q, K and V together: for a bias that is missing the first column of its
        # matrix stands in, which is not returned.
        columns = {letter: array[..., :1] for letter, array in arrays.items() if letter != "O"}
        for letter, bias in own.items():
            # A bias has the shape of its matrix without the last index: (rows,) or (heads, rows).
            entries = needed_bias(self.parts[letter]).read(bias, arrays[letter].shape[:-1])
            columns[letter] = entries[..., None]
        separate = self._separate(columns, arrays.get("O"), count)
        columns_of_heads = list(_cut_into_heads(separate, count))
        return {letter: [head[letter][:, 0] for head in columns_of_heads] for letter in own}

    def _separate(
        self, arrays: Mapping[str, Any], output: Any, count: int | None
    ) -> dict[str, Any]:
        """Return the arrays, matrices or biases as columns, by their letters, with Q, K and V as
        arrays of their own. ``output`` is O, or ``None``, whose columns show how many rows Q has.
        """
        if not self.is_stacked:
            return dict(arrays)
        stacked = arrays["Q"]
        # One head has its q, then its k, then its v in the cuts ``q-k-v``, ``by-head`` and
        # ``by-group``: where the cut is not known, this order is taken for one head.
        is_unknown_of_one_head = self.cut == "unknown" and (count or 1) == 1
        if self.cut == "q-k-v" or is_unknown_of_one_head or stacked.ndim == 3:
            parts = self._in_a_row(stacked, output, count or 1)
        else:
            parts = self._alternating(stacked, output, count)
        return {**arrays, **parts}

    @property
    def _stack_in_words(self) -> str:
        """The one array with Q, K and V in a message: ``'attn.qkv.weight' is 96 × 32``."""
        part = self.parts["Q"]
        return f"'{visible(part.name):.60}' is {part.size_text}"

    def _in_a_row(self, stacked: Any, output: Any, heads: int) -> dict[str, Any]:
        """Return Q, K, V of one array with all of Q, then all of K, then all of V: a matrix, or
        three of them.
        """
        if stacked.ndim == 3 and len(stacked) == 3:
            return dict(zip("QKV", stacked, strict=True))
        named = self._stack_in_words
        if stacked.ndim != 2:
            raise InvalidCaseError(
                "weights", f"{named}: Q, K and V in one array must be a matrix, or three"
            )
        rows = len(stacked)
        # For each head O has v columns, and Q has a rows; in one array a = v. Where heads share
        # their keys, Q has more than a third of the rows.
        rows_of_Q = rows // 3 if rows % 3 == 0 else 0
        if output is not None and output.ndim == 2:
            rows_of_Q = output.shape[1]
        rows_of_K_and_V = rows - rows_of_Q
        if not (rows_of_Q > 0 and rows_of_K_and_V > 0 and rows_of_K_and_V % 2 == 0):
            raise InvalidCaseError(
                "weights", f"{named}: {rows} is not the number of rows of Q, K and V, 3·a·heads"
            )
        if rows_of_Q % heads:
            raise InvalidCaseError(
                "heads", f"{named}: {heads} heads do not divide the {rows_of_Q} rows of Q"
            )
        end_of_K = rows_of_Q + rows_of_K_and_V // 2
        return {"Q": stacked[:rows_of_Q], "K": stacked[rows_of_Q:end_of_K], "V": stacked[end_of_K:]}

    def _alternating(self, stacked: Any, output: Any, heads: int | None) -> dict[str, Any]:
        """Return Q, K, V, each with the rows of all heads, of a matrix in which they alternate."""
        named = self._stack_in_words
        if heads is None:
            raise InvalidCaseError(
                "heads",
                f"{named}, in which Q, K and V alternate from head to head: the number of heads has"
                " to be given",
            )
        if self.cut == "unknown":
            # Of a model that is known by its config.json the cut was set by that.
            how = "in several ways by models of this name, or by those of other names"
            raise InvalidCaseError(
                "layout",
                f"{named}, which is cut {self.readings or how}: give the layout,"
                f" {', '.join(CUTS[:-1])} or {CUTS[-1]}",
            )
        if stacked.ndim != 2:
            raise InvalidCaseError("layout", f"{named}: Q, K and V that alternate must be a matrix")
        rows, columns = stacked.shape
        # The number of keys, and of values: one for each head, unless heads share them.
        groups = heads
        if self.cut == "by-group":
            groups = self._count_of_keys(stacked.shape, output, heads)
        size = rows // (heads + 2 * groups)
        if not size or rows % (heads + 2 * groups) or heads % groups:
            raise InvalidCaseError(
                "heads",
                f"{named}: {rows} is not the number of rows of {heads} queries and"
                f" {groups} keys and values",
            )
        number = _PARTS_OF_CUT.get(self.cut, 1)
        if heads % number:
            raise InvalidCaseError(
                "layout",
                f"{named}, and is taken for {number} parts, each with Q, V and K of as many heads:"
                f" {number} does not divide {heads} heads",
            )
        # In the lengths of arrays −1 stands for what is left over.
        if self.cut in _PARTS_OF_CUT:
            # The indices are the part, the place of Q, V, K in it, the row and the column.
            in_parts = stacked.reshape(number, 3, -1, columns)
            parts = {"Q": in_parts[:, 0], "K": in_parts[:, 2], "V": in_parts[:, 1]}
        elif self.cut == "by-row":
            # Three rows in turn are of Q, K and V.
            threes = stacked.reshape(-1, 3, columns)
            parts = {letter: threes[:, place] for place, letter in enumerate("QKV")}
        else:
            # Each group has its queries, then its key, then its value. The indices are the group,
            # the place of query, key or value in it, the row and the column.
            blocks = stacked.reshape(groups, -1, size, columns)
            parts = {"Q": blocks[:, :-2], "K": blocks[:, -2], "V": blocks[:, -1]}
        return {letter: part.reshape(-1, columns) for letter, part in parts.items()}

    def _count_of_keys(self, shape: tuple[int, int], output: Any, heads: int) -> int:
        """Return the number of keys in one array of this shape with Q of all heads: as a matrix O
        shows it, else as config.json says it, or as many as heads if it is three squares.
        """
        rows, columns = shape
        configured = self.key_value_heads
        if output is None or output.ndim != 2:
            if configured is None and rows != 3 * columns:
                raise InvalidCaseError(
                    "output",
                    "is needed: it shows how many heads share a key in one array by groups",
                )
            return heads if configured is None else configured
        # O has as many columns as Q has rows. The other rows are those of as many keys as values,
        # ``size`` for each; a wrong number is refused where rows are counted.
        rows_of_Q = output.shape[1]
        size = rows_of_Q // heads
        groups = max((rows - rows_of_Q) // (2 * size), 1) if size else 1
        if configured not in (None, groups):
            raise InvalidCaseError(
                "heads",
                f"'{visible(self.parts['Q'].name):.60}' has keys and values for {groups} heads, and"
                f" config.json says {configured}",
            )
        return groups


def _cut_into_heads(arrays: Mapping[str, Any], count: int | None) -> Iterator[dict[str, Any]]:
    """Yield the matrices of each head by their letters, of Q, K, V, or A, V, and perhaps O of all
    heads. If ``count`` is ``None``, it is the length of the first of three indices, or 1.
    """
    if "Q" in arrays and arrays["Q"].ndim == 3:
        arrays = _with_heads_first(arrays)
    dimensions = {array.ndim for array in arrays.values()}
    if dimensions == {2}:
        arrays = _with_index_of_heads(arrays, count or 1)
    elif dimensions != {3}:
        raise InvalidCaseError(
            "weights",
            f"{_shapes_in_words(arrays)}: give matrices, or all with the heads as first index",
        )
    # By the first index of each array.
    counts = {len(array) for array in arrays.values()}
    head_count = min(counts)
    if len(counts) > 1 or count not in (None, head_count):
        raise InvalidCaseError(
            "heads",
            f"{_shapes_in_words(arrays)}: the first number must be that of the heads in all of"
            " them",
        )
    for h in range(head_count):
        yield {letter: array[h] for letter, array in arrays.items()}


def _with_heads_first(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays, of which Q has the heads as its first index, with all heads as the first
    index of K, V and O, too: keys and values are repeated for the heads that share them, and a
    matrix O is cut. Arrays that do not fit stay as they are.
    """
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
    """Return arrays with the heads as first index, of matrices with the rows of all heads; each key
    and value is repeated for the heads in a row that share it.
    """
    # One head has all rows, also of A. Whether its shapes fit together is seen later.
    if heads == 1:
        return {letter: matrix[None] for letter, matrix in matrices.items()}
    if "A" in matrices:
        raise InvalidCaseError(
            "heads", "A is of one head: give K and Q, or A and V with the heads as first index"
        )
    rows = {letter: matrix.shape[0] for letter, matrix in matrices.items()}
    if rows["Q"] % heads or not rows["Q"]:
        raise InvalidCaseError(
            "heads", f"Q has {rows['Q']} rows, which are not those of {heads} heads"
        )
    # K has as many rows for each key as Q has for each head.
    a = rows["Q"] // heads
    groups = rows["K"] // a if rows["K"] % a == 0 else 0
    if not groups or heads % groups or rows["V"] % groups:
        raise InvalidCaseError(
            "heads",
            f"{_shapes_in_words(matrices)}: K and V have no rows for {heads} heads with a = {a}",
        )
    # O has v columns for each head, and V has v rows for each group of heads.
    if "O" in matrices and matrices["O"].shape[1] * groups != heads * rows["V"]:
        raise InvalidCaseError(
            "weights",
            f"{_shapes_in_words(matrices)}: O must have a column for each row of V of each head",
        )
    found = {}
    for letter, number in (("Q", heads), ("K", groups), ("V", groups)):
        matrix = matrices[letter]
        found[letter] = matrix.reshape(number, rows[letter] // number, matrix.shape[1])
        # A copy in the order of rows, also where no keys are shared: rounding depends on the order.
        if letter != "Q":
            found[letter] = found[letter].repeat(heads // number, axis=0)
    if "O" in matrices:
        found["O"] = numpy.stack(numpy.split(matrices["O"], heads, axis=1))
    return found


def _check_shapes_of_head(matrices: Mapping[str, Any]) -> None:
    """Check that the matrices of one head, by their letters, can be multiplied: K and Q are (a, d),
    or A (d, d); V is (v, d), and O (d', v).
    """
    shapes = {letter: array.shape for letter, array in matrices.items()}
    scores = "A" if "A" in shapes else "K and Q"
    shape_of_scores = shapes["A"] if "A" in shapes else shapes["K"]
    V = shapes["V"]
    d = shape_of_scores[1]
    rule = ""
    if any(0 in shape for shape in shapes.values()):
        rule = "a matrix has no entries"
    elif "A" in shapes and shape_of_scores != (d, d):
        rule = "A = KᵀQ must be square, d × d"
    elif "K" in shapes and shapes["Q"] != shapes["K"]:
        rule = "K and Q must have the same shape, a × d"
        rule += _why_keys_differ(shapes["K"], shapes["Q"])
    elif V[1] != d:
        rule = f"V must have as many columns as {scores}, the dimension d of the tokens"
        rule += _which_is_transposed(shape_of_scores, V)
    elif "O" in shapes and shapes["O"][1] != V[0]:
        rule = "O must have as many columns as V has rows"
    if rule:
        raise InvalidCaseError("weights", f"{_shapes_in_words(matrices)}: {rule}")


def _why_keys_differ(K: tuple[int, int], Q: tuple[int, int]) -> str:
    """Return advice on K and Q of these different shapes; empty if nothing explains them."""
    if Q[::-1] == K:
        return "; is one of them transposed?"
    if K[1] == Q[1] and Q[0] % K[0] == 0:
        return "; where heads share keys and values, say how many heads there are"
    return ""


def _which_is_transposed(scores: tuple[int, int], V: tuple[int, int]) -> str:
    """Return the question whether V, or K and Q, or A, of shape ``scores``, are transposed; empty
    if neither would make the numbers of columns equal.
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


def _shapes_in_words(arrays: Mapping[str, Any]) -> str:
    """Return the shapes of arrays by their letters: ``K is 2 × 3, Q is 2 × 3``."""
    sizes = []
    for letter, array in sorted(arrays.items()):
        size = " × ".join(map(str, array.shape)) or "a number"
        sizes.append(f"{letter} is {size}")
    return ", ".join(sizes)
